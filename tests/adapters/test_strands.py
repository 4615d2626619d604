"""Results and messages of Strands, without it."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import pytest
from foreign import foreign

from quickchecks import checks, load_run
from quickchecks.errors import RecordingError

Foreign = Any  # JSON and the objects of SDKs have no types

made = runpy.run_path(str(Path(__file__).parent / "samples" / "strands.py"))
ASKED, CALLED, ANSWERED, SAID, STORED, USE = (made[name] for name in ("ASKED", "CALLED", "ANSWERED", "SAID", "STORED", "USE"))
result = made["result"]


def answer(status: str | None, *content: object, id: str = "t1") -> dict[str, Foreign]:
    found: dict[str, Foreign] = {"toolUseId": id, "content": list(content)}
    return {"role": "user", "content": [{"toolResult": found if status is None else {**found, "status": status}}]}


def test_messages() -> None:
    run = load_run([ASKED, CALLED, ANSWERED, SAID])
    assert run.format == "strands"
    assert [message.role for message in run.messages] == ["user", "assistant", "assistant"]
    assert [type(part).__name__ for part in run.messages[1].parts] == ["Reasoning", "Text", "ToolCall"]
    assert run.text == "Looking. It rains."
    [call] = run.tool_calls
    assert (call.name, call.arguments, call.result, call.state) == ("get_weather", {"city": "Oslo"}, "Rain", "completed")
    assert run.usage is not None
    assert (run.usage.input_tokens, run.usage.output_tokens, run.usage.cached_tokens, run.usage.requests) == (5, 2, 1, 1)


def test_tokens_that_the_input_leaves_out_are_added() -> None:
    usage = {"inputTokens": 5, "outputTokens": 2, "totalTokens": 17, "cacheReadInputTokens": 10}
    run = load_run([{**CALLED, "metadata": {"usage": usage}}])
    assert run.usage is not None
    assert run.usage.input_tokens == 15


@pytest.mark.parametrize(
    ("status", "content", "failed"),
    [
        ("success", {"text": "ValueError: this is a text about an error"}, False),
        ("error", {"text": "Error: no rooms left"}, True),
        ("error", {"json": {"rooms": 0}}, True),
        (None, {"text": "ValueError: no rooms left"}, True),
        (None, {"text": "Rain"}, False),
    ],
)
def test_a_state_is_believed_and_where_there_is_none_the_text_is_read(status: str | None, content: Foreign, failed: bool) -> None:
    run = load_run([CALLED, answer(status, content)])
    assert (run.tool_calls[0].failure() is not None) is failed


def test_results_of_one_value_and_of_several_blocks() -> None:
    assert load_run([CALLED, answer("success", {"json": {"n": 1}})]).tool_calls[0].result == {"n": 1}
    assert load_run([CALLED, answer("success", {"text": "a"}, {"text": "b"})]).tool_calls[0].result == "ab"
    mixed = [{"text": "a"}, {"json": 1}]
    assert load_run([CALLED, answer("success", *mixed)]).tool_calls[0].result == mixed


def test_a_result_without_its_call_is_told() -> None:
    run = load_run([CALLED, answer("success", {"text": "x"}, id="other")])
    assert run.gap_kinds == {"orphan_result"}
    assert run.tool_calls[0].state == "requested"


def test_what_the_provider_ran_and_what_nobody_knows() -> None:
    provided = {"toolUse": {"toolUseId": "s", "name": "search", "input": {}, "type": "server_tool_use"}}
    run = load_run([{"role": "assistant", "content": [provided, {"newBlock": {}}, {"image": {}}]}])
    assert [call.kind for call in run.tool_calls] == ["provider"]
    assert [gap.kind for gap in run.gaps] == ["calls"]
    assert checks.did_not_call("refund").score(run).outcome == "no_evidence"


def test_calls_of_the_user_are_not_the_agents() -> None:
    assert load_run([{"role": "user", "content": [USE]}, SAID]).tool_calls == ()


@pytest.mark.parametrize(
    ("messages", "path"),
    [
        ([CALLED, 5], "[1]"),
        ([CALLED, {"role": "tool", "content": []}], "[1].role"),
        ([CALLED, {"role": "user", "content": 5}], "[1].content"),
        ([CALLED, {"role": "user", "content": [5]}], "[1].content[0]"),
        ([CALLED, {"role": "user", "content": [{"type": "tool_result"}]}], "[1].content[0]"),
        ([{"role": "assistant", "content": [{"toolUse": {"name": ""}}]}], "[0].content[0].toolUse.name"),
        ([CALLED, answer("odd")], "[1].content[0].toolResult.status"),
    ],
)
def test_what_is_malformed_is_named(messages: Foreign, path: str) -> None:
    with pytest.raises(RecordingError) as caught:
        load_run(messages, format="strands")
    assert caught.value.path == path


def test_a_result() -> None:
    run = load_run(result((CALLED, ANSWERED), (SAID,)))
    assert run.format == "strands"
    assert run.text == "Looking. It rains."
    assert [call.result for call in run.tool_calls] == ["Rain"]
    assert run.gap_kinds == {"input", "nested_possible"}
    assert run.metadata == {"stop_reason": "end_turn"}


def test_a_result_whose_traces_do_not_show_it_is_no_evidence() -> None:
    for value in (result(), result((), (SAID,)), result((CALLED, ANSWERED)), json.loads(json.dumps(STORED))):
        run = load_run(value)
        assert run.text.endswith("It rains.")
        for check in (checks.used_no_tools(), checks.no_tool_errors(), checks.did_not_call("refund")):
            assert check.score(run).outcome in ("no_evidence", "failed"), value
        assert checks.did_not_call("refund").score(run).outcome == "no_evidence"


def test_a_structured_answer() -> None:
    class Weather:
        def model_dump(self, mode: str = "python") -> dict[str, int]:
            return {"rain": 1}

    call = {"role": "assistant", "content": [{"toolUse": {"toolUseId": "w", "name": "Weather", "input": {"rain": 1}}}]}
    cycles = (CALLED, ANSWERED), (call, answer("success", {"text": "ok"}, id="w"))
    run = load_run(result(*cycles, message=call, structured_output=Weather()))
    assert run.output == {"rain": 1}
    assert run.tool_names == ("get_weather",)


def test_what_waits_for_a_person() -> None:
    interrupt = foreign("strands.interrupt:Interrupt", id="v1:before_tool_call:t1:5c", name="approval")
    run = load_run(result((CALLED,), message=CALLED, interrupts=[interrupt], stop_reason="interrupt"))
    assert [call.state for call in run.tool_calls] == ["awaiting"]


@pytest.mark.parametrize("reason", ["limit_turns", "cancelled"])
def test_a_run_that_was_stopped_failed(reason: str) -> None:
    run = load_run(result((CALLED, ANSWERED), (SAID,), stop_reason=reason))
    assert run.error is not None
    assert reason in run.error.message


def node(name: str, **fields: Foreign) -> Foreign:
    return foreign("strands.multiagent.base:NodeResult", **fields)


def team(**fields: Foreign) -> Foreign:
    usage = {"inputTokens": 9, "outputTokens": 1, "totalTokens": 10}
    given = {"status": "completed", "accumulated_usage": usage, "execution_time": 1500}
    return foreign("strands.multiagent.base:MultiAgentResult", **{**given, **fields})


def test_a_team_has_the_run_of_each_node() -> None:
    first, second = node("a", result=result((CALLED, ANSWERED), (SAID,))), node("b", result=STORED)
    run = load_run(team(results={"a": first, "b": second}))
    assert [child.agent for child in run.children] == ["a", "b"]
    assert run.tool_names == ("get_weather",)
    assert run.text == "It rains."
    assert run.duration == 1.5
    assert "calls" in run.gap_kinds
    order = [foreign("strands.multiagent.graph:GraphNode", node_id=name) for name in ("a", "b", "a")]
    assert "nested" in load_run(team(results={"a": first, "b": second}, execution_order=order)).gap_kinds


def test_a_node_that_raised_is_the_error_of_the_team() -> None:
    run = load_run(team(results={"a": node("a", result=ValueError("broke"))}, status="failed"))
    assert run.error is not None
    assert run.error.type == "ValueError"
    assert checks.used_no_tools().score(run).outcome == "no_evidence"
    raised = {"result": {"type": "exception", "message": "x"}}
    stored = {"type": "multiagent_result", "status": "failed", "results": {"a": raised}}
    assert load_run(stored).error is not None
    with pytest.raises(RecordingError, match="results"):
        load_run(team(results=5))
    with pytest.raises(RecordingError, match="a result of Strands"):
        load_run(team(results={"a": node("a", result=5)}))


@pytest.mark.parametrize("name", ["bad", "badargs"])
def test_the_recorded_messages(shared: Path, name: str) -> None:
    path = shared / "cases" / "frameworks" / "strands" / f"{name}_messages.json"
    run = load_run(json.loads(path.read_text(encoding="utf-8")))
    assert run.format == "strands"
    [call] = run.tool_calls
    failure = call.failure()
    assert failure is not None
    assert failure.source == "flag"
    assert run.final_text == "Sunny in Paris; booking failed."


def test_the_events_of_a_streamed_run() -> None:
    found = result()
    piece = {"event": {"contentBlockDelta": {"delta": {"text": "It "}}}}
    events = [{"init_event_loop": True}, piece, {"data": "It ", "delta": {}, "agent": None}, {"message": SAID}]
    run = load_run([*events, {"result": found}])
    assert (run.format, run.text, run.tool_names) == ("strands", load_run(found).text, load_run(found).tool_names)
    for broken in (events, events[1:2]):
        with pytest.raises(RecordingError, match="end with the result"):
            load_run(broken)


def test_dicts_that_only_resemble_events_are_answers() -> None:
    for answered in ([{"event": "concert", "start": "8 pm"}], [{"data": "x", "message": "y"}], [{"event": {"name": "concert"}}]):
        assert load_run(answered).format == "values"
