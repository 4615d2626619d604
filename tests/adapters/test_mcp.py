"""Results of MCP tools: as the answer of a target, and inside the calls of other formats."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from foreign import foreign

from quickchecks import Run, ToolCall, checks, load_run
from quickchecks.errors import RecordingError

Foreign = Any  # JSON and the objects of SDKs have no types

TEXT = {"type": "text", "text": "no rooms left"}


def failed(**more: Foreign) -> Foreign:
    """A result that is an error, as an object of the SDK."""
    fields = {"content": [TEXT], "is_error": True, **more}
    return foreign("mcp_types._types:CallToolResult", model_dump=lambda **options: fields)


def test_the_content_is_the_answer() -> None:
    run = load_run({"content": [{"type": "text", "text": "Sunny"}, {"type": "image", "data": ""}], "isError": False})
    assert (run.text, run.error, run.format) == ("Sunny", None, "mcp")
    assert checks.used_no_tools().score(run).outcome == "no_evidence"


@pytest.mark.parametrize("flag", ["isError", "is_error"])
def test_an_error_is_the_error_of_the_run(flag: str) -> None:
    run = load_run({"content": [{"type": "text", "text": "ValueError: no rooms left"}], flag: True})
    assert run.error is not None
    assert (run.error.message, run.error.type) == ("ValueError: no rooms left", "ValueError")


def test_an_error_without_words_is_one() -> None:
    run = load_run({"content": [], "isError": True})
    assert run.error is not None
    assert run.error.message


@pytest.mark.parametrize("key", ["structuredContent", "structured_content"])
def test_a_structured_value_is_the_output(key: str) -> None:
    run = load_run({"content": [{"type": "text", "text": "21 degrees"}], key: {"t": 21}, "isError": False})
    assert (run.output, run.text) == ({"t": 21}, "21 degrees")
    assert load_run({"content": [], key: {"t": 21}}).text == '{"t":21}'


def test_a_value_that_servers_wrap_is_unwrapped() -> None:
    assert load_run({"content": [{"type": "text", "text": "5"}], "structuredContent": {"result": 5}}).output == 5
    assert load_run({"content": [], "structuredContent": {"result": "five"}}).text == "five"
    both = load_run({"content": [{"type": "text", "text": "five"}], "structuredContent": {"result": "five"}})
    assert (both.text, both.output) == ("five", "five")


def test_the_text_of_a_resource_is_text() -> None:
    run = load_run({"content": [{"type": "resource", "resource": {"uri": "a", "text": "words"}}], "isError": False})
    assert run.text == "words"


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ({"content": 5, "isError": False}, "content"),
        ({"content": [5]}, "content[0]"),
        ({"content": [{"type": "text", "text": 5}]}, "content[0].text"),
    ],
)
def test_a_malformed_result_names_the_place(value: Foreign, path: str) -> None:
    with pytest.raises(RecordingError) as caught:
        load_run(value, format="mcp")
    assert caught.value.path == path


def only(run: Run) -> ToolCall:
    (call,) = run.tool_calls
    return call


def test_as_the_result_of_a_call_it_says_whether_the_call_failed() -> None:
    asked = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
    }
    call = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}
    for recorded in (
        [asked, {"role": "tool", "tool_call_id": "c", "content": failed()}],
        [call, {"type": "function_call_output", "call_id": "c", "output": failed()}],
        {"output": "x", "tool_calls": [{"name": "f", "result": failed()}]},
        [asked, {"role": "tool", "tool_call_id": "c", "content": json.dumps({"content": [TEXT], "isError": True})}],
    ):
        failure = only(load_run(recorded)).failure()
        assert failure is not None
        assert (failure.message, failure.source) == ("no rooms left", "flag")


def test_the_recorded_results_of_both_versions(shared: Path) -> None:
    for folder in ("mcp", "mcp_v1"):
        for path in sorted((shared / "cases/frameworks" / folder).glob("*.json")):
            recorded = json.loads(path.read_text(encoding="utf-8"))
            run = load_run(recorded)
            assert run.format == "mcp"
            assert run.text == recorded["content"][0]["text"]
            assert (run.error is not None) is path.stem.startswith(("book_hotel", "nope"))
