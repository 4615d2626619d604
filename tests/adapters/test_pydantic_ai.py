"""The reader of pydantic-ai, without the framework: JSON, and objects that look like its own."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from foreign import foreign

from quickchecks import Run, checks, load_run
from quickchecks._run import Other
from quickchecks.adapters import agent_kind
from quickchecks.adapters import pydantic_ai as adapter
from quickchecks.errors import RecordingError

Foreign = Any

CALL = {"part_kind": "tool-call", "tool_name": "f", "args": '{"n":1}', "tool_call_id": "c1"}
RETURN = {"part_kind": "tool-return", "tool_name": "f", "content": "ok", "tool_call_id": "c1"}
PROMPT = {"part_kind": "user-prompt", "content": "q"}


def request(*parts: Foreign, **more: Foreign) -> Foreign:
    """A request."""
    return {"kind": "request", "parts": list(parts), **more}


def response(*parts: Foreign, **more: Foreign) -> Foreign:
    """A response."""
    return {"kind": "response", "parts": list(parts), **more}


def text(said: str) -> Foreign:
    """A part with words."""
    return {"part_kind": "text", "content": said}


def calls(*answers: Foreign) -> Run:
    """A run with a call of f and what answers it."""
    return adapter.load([request(PROMPT), response(CALL), request(*answers), response(text("done"))])


@pytest.mark.parametrize(
    ("answer", "state", "message"),
    [
        (RETURN, "completed", None),
        ({**RETURN, "outcome": "success"}, "completed", None),
        ({**RETURN, "outcome": "failed", "content": "no"}, "failed", "no"),
        (
            {**RETURN, "outcome": "retried", "content": [{"msg": "Field required", "loc": ["a", 0]}]},
            "failed",
            "a.0: Field required",
        ),
        ({**RETURN, "outcome": "interrupted", "content": None}, "failed", "the run was interrupted"),
        ({**RETURN, "outcome": "denied", "content": "not now"}, "denied", None),
        ({"part_kind": "retry-prompt", "tool_name": "f", "content": "again", "tool_call_id": "c1"}, "failed", "again"),
    ],
)
def test_outcomes_of_a_call(answer: Foreign, state: str, message: str | None) -> None:
    (call,) = calls(answer).tool_calls
    assert call.state == state
    assert (call.error.message if call.error else None) == message


def test_what_is_said_by_a_successful_tool_is_judged() -> None:
    assert checks.no_tool_errors().score(calls({**RETURN, "content": "ValueError: no"})).failed
    assert checks.no_tool_errors().score(calls({**RETURN, "content": {"error": "no"}})).failed


def test_a_result_without_its_call_is_an_orphan() -> None:
    run = adapter.load([request(RETURN), response(text("done"))])
    assert run.gap_kinds == {"orphan_result"}
    assert checks.did_not_call("f").score(run).outcome == "no_evidence"


def test_a_call_without_an_answer_stays_requested() -> None:
    run = adapter.load([request(PROMPT), response(CALL)])
    assert run.tool_calls[0].state == "requested"


@pytest.mark.parametrize("part", [{"part_kind": "new-call-kind"}, {"part_kind": "novel", "tool_name": "f"}])
def test_an_unknown_part_that_may_be_a_call_is_a_gap(part: Foreign) -> None:
    run = adapter.load([request(PROMPT), response(part, text("a"))])
    assert checks.used_no_tools().score(run).outcome == "no_evidence"


def test_an_unknown_part_that_may_be_a_result_is_a_gap() -> None:
    assert calls({"part_kind": "novel-return", "tool_call_id": "c1"}).gap_kinds >= {"results"}


def test_other_parts_are_kept() -> None:
    run = adapter.load([request(PROMPT), response({"part_kind": "file", "content": {"kind": "binary"}}, text("a"))])
    assert type(run.messages[1].parts[0]) is Other
    assert run.text == "a"


def test_instructions_are_shown_once() -> None:
    run = adapter.load(
        [request(PROMPT, instructions="i"), response(text("a")), request(PROMPT, instructions="i"), response(text("b"))]
    )
    assert [message.role for message in run.messages] == ["system", "user", "assistant", "user", "assistant"]


def test_provider_tools() -> None:
    kinds = ("builtin-tool-call", "builtin-tool-return")
    asked, answered = ({**part, "part_kind": kind} for part, kind in zip((CALL, RETURN), kinds, strict=True))
    run = adapter.load([request(PROMPT), response(asked, answered, text("a"))])
    (call,) = run.tool_calls
    assert (call.kind, call.state, call.result) == ("provider", "completed", "ok")


PROCESSED = {**RETURN, "content": "Final result processed."}


def test_an_output_tool_in_a_list_of_messages() -> None:
    first = [request(PROMPT), response(CALL), request(PROCESSED)]
    for messages in (first, [*first, request(PROMPT), response(text("b"))]):
        run = adapter.load(messages)
        assert run.tool_calls == ()
        assert run.output == {"n": 1}


def test_a_sentence_alone_does_not_make_an_output_tool() -> None:
    assert calls(PROCESSED).tool_names == ("f",)


def test_a_result_as_json_knows_its_output_tool_and_its_history() -> None:
    earlier = [request(PROMPT), response(CALL), request(RETURN), response(text("a"))]
    new = [request(PROMPT), response({**CALL, "tool_name": "answer"})]
    record = {
        "messages": [*earlier, *new],
        "output": {"n": 1},
        "new_message_index": 4,
        "output_tool_name": "answer",
        "run_id": "r",
    }
    private = {"_new_message_index": 4, "_output_tool_name": "answer", "_state": {"message_history": [*earlier, *new]}}
    for value in (record, {"output": {"n": 1}, **private}):
        run = adapter.load(value)
        assert run.tool_calls == ()
        assert len(run.history) == 3
        assert run.text == '{"n":1}'
    assert adapter.load(record).id == "r"


def test_usage() -> None:
    spent = {"input_tokens": 5, "output_tokens": 2, "cache_read_tokens": 1, "details": {"reasoning_tokens": 1}, "cost": "0.5"}
    run = adapter.load([request(PROMPT), response(text("a"), usage=spent), response(text("b"), usage=spent)])
    assert run.usage is not None
    assert (run.usage.input_tokens, run.usage.output_tokens, run.usage.cached_tokens) == (10, 4, 2)
    assert (run.usage.reasoning_tokens, run.usage.cost, run.usage.requests) == (2, 1.0, 2)


def result(output: Foreign, *messages: Foreign, before: int = 0, usage: Foreign = None, **fields: Foreign) -> Foreign:
    """An object like a result of the framework."""
    methods = {"all_messages": lambda: list(messages), "new_messages": lambda: list(messages[before:])}
    return foreign("pydantic_ai.run:AgentRunResult", output=output, usage=usage, **methods, **fields)


def test_a_result_in_text_mode_takes_the_place_of_the_text() -> None:
    run = load_run(result({"n": 1}, request(PROMPT), response(text('{ "n": 1 }'))))
    assert run.text == '{"n":1}'
    assert run.output == {"n": 1}
    assert load_run(result("A", request(PROMPT), response(text("A")))).output == "A"


def test_usage_may_be_a_method() -> None:
    spent = foreign("pydantic_ai.usage:RunUsage", input_tokens=5, output_tokens=2, requests=1)
    for usage in (spent, lambda: spent):
        run = load_run(result("A", request(PROMPT), response(text("A")), usage=usage))
        assert run.usage is not None
        assert (run.usage.input_tokens, run.usage.requests) == (5, 1)


def test_calls_that_wait() -> None:
    part = foreign("pydantic_ai.messages:ToolCallPart", tool_call_id="c1")
    waiting = foreign("pydantic_ai.tools:DeferredToolRequests", approvals=[part], calls=[])
    run = load_run(result(waiting, request(PROMPT), response(CALL)))
    assert run.tool_calls[0].state == "awaiting"
    assert run.text == ""


def test_a_stream_that_was_not_read_shows_that() -> None:
    methods = {"all_messages": lambda: [request(PROMPT)], "new_messages": lambda: [request(PROMPT)]}
    run = load_run(foreign("pydantic_ai.result:StreamedRunResult", is_complete=False, usage=None, **methods))
    assert {"calls", "text"} <= run.gap_kinds


def test_agents_are_known() -> None:
    kind = agent_kind(foreign("pydantic_ai.agent.abstract:AbstractAgent"))
    assert kind is not None
    assert (kind.format, kind.mocks_tools, kind.stateful) == ("pydantic_ai", True, False)


@pytest.mark.parametrize(
    ("messages", "path"),
    [
        (["x"], "[0]"),
        ([{"kind": "other", "parts": []}], "[0]"),
        ([{"kind": "request", "parts": 5}], "[0].parts"),
        ([request({"part_kind": 5})], "[0].parts[0]"),
        ([response(None)], "[0].parts[0]"),
        ([response({**CALL, "tool_name": ""})], "[0].parts[0].tool_name"),
        ([response({"part_kind": "text", "content": 5})], "[0].parts[0].content"),
        ([response(CALL), request({**RETURN, "outcome": "odd"})], "[1].parts[0].outcome"),
        ([request({"part_kind": "user-prompt", "content": 5})], "[0].parts[0].content"),
        ([request({**RETURN, "tool_name": None})], "[0].parts[0].tool_name"),
    ],
)
def test_a_malformed_message_is_an_error_that_says_where(messages: Foreign, path: str) -> None:
    with pytest.raises(RecordingError) as caught:
        adapter.load(messages)
    assert caught.value.path == path


# What the framework wrote itself

NAMES = {
    "bad": ("no_such_tool",),
    "badargs": ("get_weather",),
    "cut": ("get_weather",),
    "delegation": ("ask",),
    "loop": ("get_weather",),
    "none": (),
    "par": ("get_weather", "book_hotel"),
    "structured": (),
    "two": ("get_weather", "book_hotel"),
}


@pytest.mark.parametrize("major", ["pydantic_ai", "pydantic_ai_v1"])
def test_recorded_runs(shared: Path, major: str) -> None:
    files = sorted((shared / "cases" / "frameworks" / major).glob("*.json"))
    assert files
    for file in files:
        value = json.loads(file.read_text())
        assert adapter.recognises(value), file
        before = copy.deepcopy(value)
        run = load_run(value)
        assert value == before
        names = NAMES[max((name for name in NAMES if file.name.startswith(name)), key=len)]
        assert set(run.tool_names) == set(names), file
        outcome = checks.no_tool_errors().score(run).outcome
        clean = file.name.startswith(("none", "structured", "delegation", "loop"))
        assert outcome == ("passed" if clean else "failed"), file


def test_the_recorded_scenario_two(shared: Path) -> None:
    run = load_run(json.loads((shared / "cases" / "frameworks" / "pydantic_ai" / "two_ModelRetry.json").read_text()))
    assert run.final_text == "Sunny in Paris; booking failed."
    weather, hotel = run.tool_calls
    assert (weather.arguments, weather.result) == ({"city": "Paris"}, "Sunny, 21C")
    assert hotel.error is not None
    assert hotel.error.message == "no rooms left"
    assert run.usage is not None
    assert (run.usage.input_tokens, run.usage.output_tokens, run.usage.requests) == (184, 39, 3)


def test_the_events_of_a_streamed_run() -> None:
    found = result("done", request(PROMPT), response(text("done")))
    events = [foreign(f"pydantic_ai.messages:{name}Event") for name in ("PartStart", "PartDelta", "PartEnd")]
    run = load_run([*events, foreign("pydantic_ai.run:AgentRunResultEvent", result=found)])
    assert (run.format, run.text, run.gaps) == ("pydantic_ai", "done", ())
    with pytest.raises(RecordingError, match="end with the result"):
        load_run(events)
