"""Agno: runs of agents, teams and workflows, without the framework."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from foreign import foreign, foreign_class

from quickchecks import Run, checks, load_run
from quickchecks.errors import RecordingError

Foreign = Any  # JSON and the objects of frameworks have no types


def asks(name: str, id: str = "c1", arguments: str = "{}") -> Foreign:
    return {"role": "assistant", "tool_calls": [{"id": id, "function": {"name": name, "arguments": arguments}}]}


def answers(content: Foreign, id: str = "c1", **more: Foreign) -> Foreign:
    return {"role": "tool", "tool_call_id": id, "content": content, **more}


SAYS = {"role": "assistant", "content": "Sunny."}


def record(*messages: Foreign, **more: Foreign) -> Foreign:
    return {"run_id": "r", "agent_id": "a", "status": "COMPLETED", "content": "Sunny.", "messages": list(messages), **more}


def read(*messages: Foreign, **more: Foreign) -> Run:
    return load_run(record(*messages, **more))


def test_the_flag_says_whether_a_call_failed() -> None:
    failed = read(asks("f"), answers("no", tool_call_error=True), SAYS).tool_calls[0].failure()
    assert failed is not None
    assert (failed.message, failed.source) == ("no", "flag")
    assert read(asks("f"), answers("Error: none found", tool_call_error=False), SAYS).tool_calls[0].failure() is None


def test_a_call_that_no_tool_ran_failed() -> None:
    """The framework answers in place of a tool that does not exist, and flags nothing."""
    [call] = read(asks("f"), answers("There is no such tool."), SAYS).tool_calls
    assert call.failure() is not None
    executed = [{"tool_call_id": "c1", "tool_name": "f", "result": "ok"}]
    [call] = read(asks("f"), answers("ok"), SAYS, tools=executed).tool_calls
    assert call.failure() is None


def test_executions_that_no_message_shows_are_calls() -> None:
    tools = [{"tool_call_id": "c1", "tool_name": "f", "result": "ok", "tool_call_error": False, "metrics": {"duration": 0.5}}]
    run = read(SAYS, tools=tools)
    assert [(call.name, call.result, call.duration) for call in run.tool_calls] == [("f", "ok", 0.5)]


def test_equal_ids_are_several_calls() -> None:
    messages = (asks("f"), answers("a", tool_call_error=False), asks("f"), answers("b", tool_call_error=False), SAYS)
    tools = [{"tool_call_id": "c1", "tool_name": "f", "result": result, "tool_call_error": False} for result in "ab"]
    assert [call.result for call in read(*messages, tools=tools).tool_calls] == ["a", "b"]


def test_results_of_a_step_in_one_message() -> None:
    both = {"role": "tool", "tool_calls": [{"tool_name": "f", "content": "a"}, {"tool_name": "g", "content": "b"}]}
    calls = {"role": "model", "tool_calls": [{"function": {"name": "f"}}, {"function": {"name": "g"}}]}
    tools = [{"tool_name": name, "tool_call_error": False} for name in "fg"]
    assert [(call.name, call.result) for call in read(calls, both, SAYS, tools=tools).tool_calls] == [("f", "a"), ("g", "b")]


def test_what_a_person_decides() -> None:
    waits = {"tool_call_id": "c1", "tool_name": "f", "requires_confirmation": True}
    run = read(asks("f"), status="PAUSED", content="I have tools to execute.", tools=[waits])
    assert (run.tool_calls[0].state, run.text) == ("awaiting", "")
    denied = read(asks("f"), answers("rejected", tool_call_error=True), SAYS, tools=[{**waits, "confirmed": False}])
    assert (denied.tool_calls[0].state, denied.tool_calls[0].failure()) == ("denied", None)


@pytest.mark.parametrize("status", ["ERROR", "CANCELLED"])
def test_a_run_that_failed_says_no_answer(status: str) -> None:
    run = read(asks("f"), status=status, content="Connection error.")
    assert run.error is not None
    assert (run.error.message, run.text, run.tool_calls[0].state) == ("Connection error.", "", "requested")


def test_a_run_that_had_not_ended_shows_not_all_of_it() -> None:
    run = read(SAYS, status="RUNNING")
    assert checks.used_no_tools().score(run).outcome == "no_evidence"
    assert checks.excludes("rain").score(run).outcome == "no_evidence"


def test_earlier_turns_are_history() -> None:
    old = {"role": "user", "content": "Hi", "from_history": True}
    run = read(
        {"role": "system", "content": "s"}, old, {**asks("f"), "from_history": True}, {"role": "user", "content": "q"}, SAYS
    )
    assert (run.history_length, run.tool_names, run.text) == (3, (), "Sunny.")


def test_a_structured_answer_replaces_the_text_it_was_read_from() -> None:
    run = read({"role": "assistant", "content": '{"n": 1}'}, content={"n": 1})
    assert (run.text, run.output) == ('{"n":1}', {"n": 1})


def team(**more: Foreign) -> Run:
    member = record(asks("f"), answers("ok", tool_call_error=False), SAYS, agent_name="booker", run_id="m")
    arguments = json.dumps({"member_id": "a", "task": "x"})
    messages = [asks("delegate_task_to_member", arguments=arguments), answers("Sunny.", tool_call_error=False), SAYS]
    value = {"run_id": "r", "team_id": "t", "status": "COMPLETED", "messages": messages, "member_responses": [member], **more}
    return load_run({key: one for key, one in value.items() if one is not None})


def test_the_runs_of_members_stand_on_the_calls_that_started_them() -> None:
    execution = {"tool_call_id": "c1", "tool_name": "delegate_task_to_member", "tool_call_error": False}
    for run in (team(), team(tools=[{**execution, "child_run_id": "m"}])):
        assert run.tool_names == ("f",)
        assert run.children == ()
        assert run.text == "Sunny."
        assert [site.agent for site in run.call_sites] == ["booker"]
    assert checks.used_no_tools().score(team(member_responses=None)).outcome == "no_evidence"


def test_a_tool_of_an_agent_may_have_any_name() -> None:
    run = read(asks("delegate_task_to_member"), answers("ok", tool_call_error=False), SAYS)
    assert run.tool_names == ("delegate_task_to_member",)


def test_a_workflow_that_stores_no_runs_shows_no_calls() -> None:
    flow = {"run_id": "r", "workflow_id": "w", "status": "COMPLETED", "content": "Sunny.", "input": "q"}
    assert checks.used_no_tools().score(flow).outcome == "no_evidence"
    run = load_run({**flow, "step_executor_runs": [record(asks("f"), answers("ok", tool_call_error=False), SAYS)]})
    assert (run.tool_names, run.text) == (("f",), "Sunny.")


@pytest.mark.parametrize(
    ("value", "path"),
    [
        (record("x"), "messages[0].role"),
        (record({"role": "assistant", "tool_calls": 5}), "messages[0].tool_calls"),
        (record({"role": "assistant", "tool_calls": [{}]}), "messages[0].tool_calls[0].name"),
        (record(tools=[{"result": 1}]), "tools[0].tool_name"),
        (record(member_responses=[5]), "member_responses[0]"),
        (record(member_responses=[record("x")]), "member_responses[0].messages[0].role"),
    ],
)
def test_what_is_malformed_is_named(value: Foreign, path: str) -> None:
    with pytest.raises(RecordingError) as caught:
        load_run(value, format="agno")
    assert caught.value.path == path


def test_the_recorded_runs(shared: Path) -> None:
    folder = shared / "cases" / "frameworks" / "agno"
    runs = {path.stem: load_run(json.loads(path.read_text())) for path in folder.glob("*.json")}
    assert {run.format for run in runs.values()} == {"agno"}
    assert [call.state for call in runs["par"].tool_calls] == ["completed", "failed"]
    for name in ("bad", "cut", "loop"):
        assert checks.no_tool_errors().score(runs[name]).failed, name
    assert (runs["none"].text, runs["team"].text, runs["team"].tool_names) == ("Hello there.", "ok", ())


def event(kind: str, run_id: str = "r", of: str = "agent", **fields: Foreign) -> Foreign:
    base = foreign_class("agno.run.base:BaseRunOutputEvent")
    middle = foreign_class(f"agno.run.{of}:Base{'Team' if of == 'team' else 'Agent'}RunEvent", base)
    names = {"team_name": "team"} if of == "team" else {"agent_name": "travel"}
    return foreign(f"agno.run.{of}:{kind.removeprefix('Team')}Event", middle, event=kind, run_id=run_id, **{**names, **fields})


WEATHER = {"tool_call_id": "c1", "tool_name": "get_weather", "tool_args": {"city": "Oslo"}}
DONE = {**WEATHER, "result": "sunny", "tool_call_error": False}


def test_the_events_of_a_streamed_run() -> None:
    events = [
        event("RunStarted"),
        event("ToolCallStarted", tool=WEATHER),
        event("ToolCallCompleted", tool=DONE),
        event("RunContent", content="It is "),
        event("RunContent", content="fine."),
    ]
    run = load_run([*events, event("RunCompleted", content="It is fine.", metrics={"input_tokens": 3, "output_tokens": 4})])
    assert (run.format, run.agent, run.text) == ("agno", "travel", "It is fine.")
    assert run.gap_kinds == {"input", "calls"}
    assert [(call.name, call.arguments, call.result) for call in run.tool_calls] == [("get_weather", {"city": "Oslo"}, "sunny")]
    assert run.usage is not None
    assert run.usage.output_tokens == 4
    assert checks.includes("sunny").score(run).failed  # what a tool returned is no answer
    assert load_run(events).gap_kinds == {"input", "calls", "text"}
    raised = load_run([*events[:3], event("RunError", content="no model")])
    assert raised.error is not None
    assert (raised.error.message, raised.text) == ("no model", "")


def test_the_events_as_json() -> None:
    around = {"run_id": "r", "agent_id": "a", "agent_name": "travel"}
    run = load_run(
        [
            {**around, "event": "RunStarted"},
            {**around, "event": "ToolCallCompleted", "tool": DONE},
            {**around, "event": "RunCompleted", "content": "Fine."},
        ]
    )
    assert (run.format, run.text, run.tool_names) == ("agno", "Fine.", ("get_weather",))


def test_a_stream_of_words_alone() -> None:
    run = load_run([event("RunContent", content="It is "), event("RunContent", content="fine.")])
    assert run.text == "It is fine."
    assert run.gap_kinds == {"input", "calls"}
    output = foreign("agno.run.agent:RunOutput", run_id="r", status="COMPLETED", content="Fine.", messages=[SAYS])
    assert load_run([event("RunContent", content="Fi"), output]).text == "Sunny."


def test_the_events_of_a_team() -> None:
    task = {"tool_call_id": "t", "tool_name": "delegate_task_to_member", "tool_args": {"member_id": "travel"}, "result": "fine"}
    member = [
        event("RunStarted", "m", parent_run_id="r"),
        event("ToolCallCompleted", "m", parent_run_id="r", tool=DONE),
    ]
    run = load_run(
        [
            event("TeamRunStarted", of="team"),
            *member,
            event("RunCompleted", "m", parent_run_id="r", content="fine"),
            event("TeamToolCallCompleted", of="team", tool={**task, "tool_call_error": False}),
            event("TeamRunCompleted", of="team", content="Done."),
        ]
    )
    assert (run.agent, run.text, run.tool_names) == ("team", "Done.", ("get_weather",))
    [handoff, _] = run.all_tool_calls
    assert (handoff.kind, handoff.run is not None) == ("handoff", True)


def test_events_that_are_not_those_of_one_run() -> None:
    for events in ([event("RunStarted"), event("RunStarted", "other")], [event("RunStarted"), "text"]):
        with pytest.raises(RecordingError, match="expected"):
            load_run(events)
    base = foreign_class("agno.run.workflow:BaseWorkflowRunOutputEvent", foreign_class("agno.run.base:BaseRunOutputEvent"))
    with pytest.raises(RecordingError, match="without stream=True"):
        load_run([foreign("agno.run.workflow:WorkflowStartedEvent", base, event="WorkflowStarted", run_id="w")])
