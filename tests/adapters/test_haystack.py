"""The reader of Haystack, without the framework: JSON, and objects that look like its own."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from foreign import foreign

from quickchecks import checks, load_run
from quickchecks._targets.functions import unfolded
from quickchecks.adapters import agent_kind
from quickchecks.adapters import haystack as adapter
from quickchecks.errors import RecordingError

Foreign = Any

CALL = {"tool_name": "f", "arguments": {"n": 1}, "id": "c1"}
USER = {"role": "user", "content": [{"text": "q"}]}
ASKED = {"role": "assistant", "content": [{"text": "a"}, {"tool_call": CALL}]}
ANSWER = {"role": "assistant", "content": [{"text": "done"}]}


def result(value: Foreign, error: bool = False, **call: Foreign) -> Foreign:
    """A message of a tool."""
    answer = {"result": value, "origin": {**CALL, **call}, "error": error}
    return {"role": "tool", "content": [{"tool_call_result": answer}]}


def test_a_call_gets_its_result() -> None:
    (call,) = adapter.load([USER, ASKED, result("ok"), ANSWER]).tool_calls
    assert (call.name, call.arguments, call.result, call.state) == ("f", {"n": 1}, "ok", "completed")


@pytest.mark.parametrize("answer", [result("no", error=True), result("Failed to invoke Tool"), result('{"error": "no"}')])
def test_a_call_fails(answer: Foreign) -> None:
    assert checks.no_tool_errors().score(adapter.load([USER, ASKED, answer, ANSWER])).failed


def test_a_result_of_parts_is_its_text() -> None:
    (call,) = adapter.load([USER, ASKED, result([{"text": "o"}, {"text": "k"}])]).tool_calls
    assert call.result == "ok"


def test_a_result_without_its_call_is_an_orphan() -> None:
    run = adapter.load([USER, ASKED, result("ok", id="other"), ANSWER])
    assert run.gap_kinds == {"nested_possible", "orphan_result"}
    assert run.tool_calls[0].state == "requested"


@pytest.mark.parametrize("reason", ["length", "tool_calls"])
def test_a_model_that_was_cut_off_may_have_begun_a_call(reason: str) -> None:
    run = adapter.load([USER, {**ANSWER, "meta": {"finish_reason": reason}}])
    assert checks.used_no_tools().score(run).outcome == "no_evidence"


def test_an_unknown_part_that_may_be_a_call_is_a_gap() -> None:
    run = adapter.load([USER, {"role": "assistant", "content": [{"remote_call": {"name": "f"}}]}])
    assert "calls" in run.gap_kinds


def test_a_result_of_an_agent_has_history() -> None:
    first = [USER, ASKED, result("ok"), ANSWER]
    run = adapter.load({"messages": [*first, USER, ANSWER], "exit_reason": "text", "token_usage": {"prompt_tokens": 5}})
    assert run.tool_calls == ()
    assert len(run.history) == 3
    assert run.usage is not None
    assert (run.usage.input_tokens, run.usage.requests) == (5, 1)
    assert run.metadata == {"exit_reason": "text"}
    assert len(adapter.load([*first, USER, ANSWER]).tool_calls) == 1


def test_two_agents_of_a_pipeline_are_not_one_run() -> None:
    one = {"messages": [USER, ASKED, result("ok"), ANSWER]}
    assert adapter.recognises({"a": one, "b": {"documents": []}})
    assert not adapter.recognises({"a": one, "b": one})


def test_agents_are_known() -> None:
    kind = agent_kind(foreign("haystack.components.agents.agent:Agent"))
    assert kind is not None
    assert (kind.format, kind.mocks_tools, kind.stateful) == ("haystack", True, False)


@pytest.mark.parametrize(
    ("messages", "path"),
    [
        (["x"], "[0]"),
        ([{"role": "robot", "content": []}], "[0].role"),
        ([{"role": "user", "content": 5}], "[0].content"),
        ([{"role": "assistant", "content": [{"text": 5}]}], "[0].content[0]"),
        ([{"role": "assistant", "content": [{"tool_call": {"tool_name": ""}}]}], "[0].content[0]"),
        ([{"role": "tool", "content": [{"tool_call_result": {"result": "x"}}]}], "[0].content[0]"),
    ],
)
def test_a_malformed_message_is_an_error_that_says_where(messages: Foreign, path: str) -> None:
    with pytest.raises(RecordingError) as caught:
        adapter.load(messages)
    assert caught.value.path == path


# What the framework wrote itself


def revived(value: Foreign) -> Foreign:
    """A dump that names the classes, as objects of such classes."""
    if isinstance(value, list):
        return [revived(item) for item in value]
    if not isinstance(value, dict):
        return value
    fields = {key: revived(item) for key, item in value.items() if key != "__class__"}
    if "__class__" not in value:
        return fields
    module, _, name = value["__class__"].rpartition(".")
    shown = {key[1:]: item for key, item in fields.items() if key in ("_role", "_name", "_meta")}
    return foreign(f"{module}:{name}", **fields, **shown)


NAMES = {
    "bad": ["no_such_tool"],
    "cut": [],
    "loop": ["get_weather", "get_weather"],
    "none": [],
    "par": ["get_weather", "book_hotel"],
    "two": ["get_weather", "book_hotel"],
}


def test_recorded_runs(shared: Path) -> None:
    files = sorted((shared / "cases" / "frameworks" / "haystack").glob("*.json"))
    assert files
    for file in files:
        name = file.name.partition(".")[0].partition("_")[0]
        run = load_run(revived(json.loads(file.read_text())))
        assert set(run.tool_names) == set(NAMES[name]), file
        outcome = checks.no_tool_errors().score(run).outcome
        assert outcome == {"none": "passed", "cut": "no_evidence", "loop": "passed"}.get(name, "failed"), file
        assert run.format == "haystack", file


def test_a_stream_that_a_function_returns_is_read_to_its_end() -> None:
    async def pieces(stream: Foreign) -> AsyncIterator[Any]:
        stream.result = {"llm": "Done."}
        yield foreign("haystack.dataclasses.streaming_chunk:StreamingChunk", content="Do")

    handle = type("PipelineStreamHandle", (), {"__module__": "haystack.core.pipeline.pipeline", "__aiter__": pieces})
    assert asyncio.run(unfolded(handle())) == {"llm": "Done."}
