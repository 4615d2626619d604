"""Microsoft Agent Framework: responses, messages and results of workflows, without the framework."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from foreign import foreign

from quickchecks import Run, checks, load_run
from quickchecks._run import Other
from quickchecks.errors import RecordingError

Foreign = Any  # JSON and the objects of frameworks have no types


def message(role: str, *contents: Foreign, **more: Foreign) -> Foreign:
    return {"type": "message", "role": role, "contents": list(contents), **more}


def text(said: str) -> Foreign:
    return {"type": "text", "text": said}


def call(name: str, id: str = "c1", **more: Foreign) -> Foreign:
    return {"type": "function_call", "call_id": id, "name": name, "arguments": "{}", **more}


def result(value: Foreign, id: str = "c1", **more: Foreign) -> Foreign:
    return {"type": "function_result", "call_id": id, "result": value, **more}


def read(*messages: Foreign, **more: Foreign) -> Run:
    return load_run({"type": "agent_response", "messages": list(messages), **more})


def test_an_exception_is_the_flag_and_tells_more_than_the_result() -> None:
    told, stored = result("Error: Function failed.", exception="no rooms left"), result("Error: x", exception="ValueError")
    for given, expected in ((told, ("no rooms left", "")), (stored, ("Error: x", "ValueError"))):
        failure = read(message("assistant", call("f")), message("tool", given)).tool_calls[0].failure()
        assert failure is not None
        assert (failure.message, failure.type, failure.source) == (*expected, "flag")
    silent = read(message("assistant", call("f")), message("tool", result("Error: none"))).tool_calls[0].failure()
    assert silent is not None
    assert silent.source == "text"


def test_a_result_of_several_contents_is_their_words() -> None:
    run = read(message("assistant", call("f")), message("tool", result([text("a"), text("b")])))
    assert run.tool_calls[0].result == "a\nb"
    mixed = read(message("assistant", call("f")), message("tool", result([text("a"), {"type": "uri", "uri": "u"}])))
    assert mixed.tool_calls[0].result == [text("a"), {"type": "uri", "uri": "u"}]


def test_a_call_that_needs_approval_is_one_call() -> None:
    request = {"type": "function_approval_request", "id": "1", "function_call": call("f")}
    for run in (read(message("assistant", request)), read(message("assistant", call("f"), request))):
        assert [(one.name, one.state) for one in run.tool_calls] == [("f", "awaiting")]
    refused = {"type": "function_approval_response", "approved": False, "function_call": call("f")}
    denied = read(message("assistant", request), message("user", refused))
    assert denied.tool_calls[0].state == "denied"


def test_calls_that_the_provider_ran() -> None:
    hosted = {"type": "mcp_server_tool_call", "call_id": "c1", "tool_name": "search", "server_name": "s", "arguments": {"q": 1}}
    answered = {"type": "mcp_server_tool_result", "call_id": "c1", "output": [text("found")]}
    shell = {"type": "shell_tool_call", "call_id": "c2", "commands": ["ls"]}
    run = read(message("assistant", hosted, answered, shell, call("g", "c3", hosted=True)))
    assert [(one.name, one.kind, one.arguments) for one in run.tool_calls] == [
        ("search", "provider", {"q": 1}),
        ("shell", "provider", {"commands": ["ls"]}),
        ("g", "provider", {}),
    ]
    assert run.tool_calls[0].result == "found"


def test_an_unknown_content_may_be_a_call() -> None:
    assert checks.used_no_tools().score(read(message("assistant", {"type": "magic_call"}))).outcome == "no_evidence"
    harmless = read(message("assistant", text("x"), {"type": "uri", "uri": "u"}))
    assert checks.used_no_tools().score(harmless).passed
    assert type(harmless.messages[0].parts[1]) is Other


def test_a_result_without_its_call_is_no_call() -> None:
    run = read(message("tool", result("x")), message("assistant", text("Sunny.")))
    assert (run.tool_names, "orphan_result" in run.gap_kinds) == ((), True)


def test_a_response_of_a_model_shows_no_results() -> None:
    response = {"type": "chat_response", "messages": [message("assistant", call("f"))]}
    assert load_run(response).tool_calls[0].state == "requested"
    found = foreign("agent_framework._types:ChatResponse", messages=response["messages"])
    assert checks.no_tool_errors().score(found).outcome == "no_evidence"


def test_a_response_that_had_not_ended_shows_not_all_of_it() -> None:
    run = read(message("assistant", text("Sunny.")), continuation_token={"id": "1"})
    assert checks.used_no_tools().score(run).outcome == "no_evidence"
    assert checks.excludes("rain").score(run).outcome == "no_evidence"


def test_a_structured_answer_replaces_the_text_it_was_read_from() -> None:
    run = read(message("assistant", text("Wait.")), message("assistant", text('{"n": 1}')), value={"n": 1})
    assert (run.output, run.text) == ({"n": 1}, 'Wait. {"n":1}')


class Events(list[Foreign]):
    """The result of a workflow is a list of its events."""


Events.__module__, Events.__name__ = "agent_framework._workflows._workflow", "WorkflowRunResult"


def test_a_workflow_holds_the_runs_of_its_agents() -> None:
    response = foreign("agent_framework._types:AgentResponse", messages=[message("assistant", call("f"), text("Hi."))])
    sent = foreign("x:AgentExecutorResponse", agent_response=response)
    events = [
        foreign("x:E", type="executor_completed", executor_id="first", data=[sent]),
        foreign("x:E", type="output", executor_id="first", data=response),
        foreign("x:E", type="failed", executor_id=None, data=None, details=foreign("x:D", message="no", error_type="ValueError")),
    ]
    run = load_run(Events(events))
    assert (run.tool_names, run.text, run.call_sites[0].agent) == (("f",), "Hi.", "first")
    assert run.error is not None
    assert run.error.type == "ValueError"
    assert checks.used_no_tools().score(Events([])).outcome == "no_evidence"


@pytest.mark.parametrize(
    ("messages", "path"),
    [
        ([5], "messages[0].role"),
        ([{"role": "robot", "contents": []}], "messages[0].role"),
        ([{"role": "user", "contents": None}], "messages[0].contents"),
        ([message("assistant", 5)], "messages[0].contents[0]"),
        ([message("assistant", {"type": "function_call"})], "messages[0].contents[0].name"),
        ([message("assistant", {"type": "text", "text": 5})], "messages[0].contents[0].text"),
        (5, "messages"),
    ],
)
def test_what_is_malformed_is_named(messages: Foreign, path: str) -> None:
    with pytest.raises(RecordingError) as caught:
        load_run({"type": "agent_response", "messages": messages}, format="agent_framework")
    assert caught.value.path == path


def test_the_recorded_responses(shared: Path) -> None:
    folder = shared / "cases" / "frameworks" / "agent_framework"
    runs = {path.name.partition(".")[0]: load_run(json.loads(path.read_text())) for path in folder.glob("*.json")}
    runs |= {f"{path.stem}": load_run(json.loads(path.read_text())) for path in folder.glob("*.to_dict.json")}
    assert {run.format for run in runs.values()} == {"agent_framework"}
    for name in ("two", "two.to_dict", "par", "par.to_dict"):
        assert [one.state for one in runs[name].tool_calls] == ["completed", "failed"], name
    for name in ("bad", "badargs", "cut"):
        assert checks.no_tool_errors().score(runs[name]).failed, name
    assert runs["none"].text == "Hello there."
