"""Whatever a recording holds, reading it gives runs or errors that name the place: it never crashes, hangs or executes."""

from __future__ import annotations

import copy
import json
import runpy
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quickchecks import Run, _wire, checks
from quickchecks.adapters import formats, read
from quickchecks.adapters._load import load_run
from quickchecks.errors import RecordingError

Foreign = Any  # JSON and the objects of SDKs have no types


TEXTS = st.text(st.characters(), max_size=12) | st.sampled_from(
    [
        "",
        "\0",
        "\ud83d",
        "assistant",
        "user",
        "tool",
        "text",
        "tool-invocation",
        "{",
        "Error: x",
        "quickchecks.run/1",
        "__proto__",
    ]
)
#: The keys that some format reads, so that arbitrary values get past the first look at them.
KEYS = st.sampled_from(
    "args arguments choices content duration error errorText format function function_call id input isError is_error message "
    "messages name output parts refusal result reward role schema state status suite_name task_id text toolCallId "
    "toolInvocation toolInvocations toolName tool_call tool_call_id tool_calls traj type usage user_task_id".split()
)
SCALARS = st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | TEXTS
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS | TEXTS, inner, max_size=5), max_leaves=25
)

CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
INVOCATION = {"state": "result", "toolCallId": "c1", "toolName": "f", "args": {}, "result": {"ok": True}}
CHAT = [
    {"role": "system", "content": "Be short."},
    {"role": "user", "content": [{"type": "text", "text": "q"}]},
    {"role": "assistant", "content": None, "tool_calls": [CALL], "function_call": None, "refusal": None},
    {"role": "tool", "tool_call_id": "c1", "name": "f", "content": "ok", "status": "success"},
    {"role": "assistant", "content": "a", "reasoning_content": "r", "audio": {"transcript": "t"}, "name": "n"},
]

#: A valid value of each format, that uses most of what the format has.
VALID: dict[str, Foreign] = {
    "agentdojo": {
        "suite_name": "s",
        "user_task_id": "u",
        "messages": [
            {"role": "user", "content": [{"type": "text", "content": "q"}]},
            {"role": "assistant", "content": None, "tool_calls": [{"function": "f", "args": {}, "id": "c1"}]},
            {
                "role": "tool",
                "content": "ok",
                "tool_call_id": "c1",
                "tool_call": {"function": "f", "id": "c1"},
                "error": "ValueError: x",
            },
        ],
        "error": None,
        "duration": 1.0,
    },
    "openai_chat": {
        "id": "r",
        "messages": CHAT,
        "usage": {"prompt_tokens": 1, "prompt_tokens_details": {"cached_tokens": 1}},
        "error": None,
    },
    "quickchecks": {
        "schema": "quickchecks.run/1",
        "messages": [
            {"role": "user", "parts": [{"type": "text", "text": "q"}]},
            {"role": "assistant", "parts": [{"type": "tool_call", "name": "f", "arguments": {}, "error": {"message": "x"}}]},
        ],
        "gaps": [{"kind": "calls", "note": "n"}],
        "usage": {"input_tokens": 1},
    },
    "reference": [
        {"role": "user", "content": "q"},
        {
            "role": "assistant",
            "content": {
                "format": 2,
                "parts": [
                    {"type": "text", "text": "a"},
                    {"type": "tool-invocation", "toolInvocation": INVOCATION},
                    {"type": "step-start"},
                ],
                "toolInvocations": [INVOCATION],
                "content": "a",
            },
        },
        {"role": "tool", "content": [{"type": "tool-result", "toolCallId": "c1", "output": {"type": "text", "value": "ok"}}]},
    ],
    "tau_bench": {"task_id": 0, "reward": 1.0, "traj": CHAT},
    "values": {
        "output": {"n": 1},
        "tool_calls": [{"name": "f", "args": {}, "result": 1}],
        "usage": {"input_tokens": 1},
        "metadata": {"a": 1},
    },
}


# Formats of frameworks and of other providers keep theirs beside their samples; those that read no JSON have none.
for path in sorted((Path(__file__).parent / "samples").glob("*.py")):
    if (value := runpy.run_path(str(path)).get("VALID")) is not None:
        VALID[path.stem] = value

FORMATS = sorted(name for name, format in formats().items() if not format.objects_only)

#: A value of every type that JSON has, and the odd ones of each.
WRONG: list[Foreign] = [None, True, 5, 1.5, 2**70, "", "x", "\0\ud83d", [], [[]], [5], [None], {}, {"a": 1}, {"type": 5}]


def used(run: Run) -> None:
    """Ask a run for all that checks ask for, and write it down."""
    assert isinstance(run.text, str)
    assert isinstance(run.final_text, str)
    for call in run.all_tool_calls:
        call.failure()
        assert call.arguments_note is not None
    assert run.call_sites is not None
    assert run.gap_kinds is not None
    _wire.dumps(run)


def reads(value: Foreign, **options: Foreign) -> None:
    """Read a value, and use what comes of it. Anything but a run or an error about the recording is a failure."""
    try:
        used(load_run(value, **options))
    except RecordingError as error:
        assert str(error)


def places(value: Foreign) -> Iterator[tuple[Foreign, Foreign]]:
    """Every container in a value with each of its keys or indexes."""
    for key in list(value) if isinstance(value, dict) else range(len(value)):
        yield value, key
        if isinstance(value[key], (dict, list)) and value[key]:
            yield from places(value[key])


def test_every_format_has_a_valid_value() -> None:
    assert sorted(VALID) == FORMATS
    for name, value in VALID.items():
        assert load_run(value).format in (name, "quickchecks")


@pytest.mark.parametrize("name", [None, *FORMATS])
@given(value=JSON)
@settings(max_examples=60)
def test_arbitrary_json(name: str | None, value: Foreign) -> None:
    reads(value, format=name)


@pytest.mark.parametrize("name", FORMATS)
@given(value=JSON, data=st.data())
@settings(max_examples=60)
def test_any_value_in_any_field(name: str, value: Foreign, data: st.DataObject) -> None:
    record = copy.deepcopy(VALID[name])
    container, key = data.draw(st.sampled_from(list(places(record))))
    container[key] = value
    reads(record, format=name)
    reads(record)
    reads(record, part="last_turn")


@pytest.mark.parametrize("name", FORMATS)
def test_wrong_types_in_every_field(name: str) -> None:
    """Every field of a valid value, replaced by a value of every type, and left out."""
    count = len(list(places(copy.deepcopy(VALID[name]))))
    for at in range(count):
        for wrong in WRONG:
            record = copy.deepcopy(VALID[name])
            container, key = list(places(record))[at]
            container[key] = wrong
            reads(record, format=name)
            reads(record)
        record = copy.deepcopy(VALID[name])
        container, key = list(places(record))[at]
        del container[key]
        reads(record, format=name)


#: Lists of pieces of one run, which are not records of their own.
STREAMS: dict[str, Foreign] = {
    "openai_chat": [
        {
            "object": "chat.completion.chunk",
            "choices": [
                {
                    "index": 0,
                    "delta": {
                        "content": "a",
                        "tool_calls": [{"index": 0, "id": "c", "function": {"name": "f", "arguments": "{}"}}],
                        "function_call": {"name": "g", "arguments": "{}"},
                    },
                    "finish_reason": "length",
                }
            ],
        }
    ]
    * 2,
    "openai_responses": [
        {"type": "response.created", "response": {}},
        {"type": "response.output_item.done", "item": {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{"}},
        {"type": "response.completed", "response": {"object": "response", "output": [{"type": "reasoning", "summary": []}]}},
    ],
}


@pytest.mark.parametrize("name", sorted(STREAMS))
def test_wrong_types_in_every_field_of_a_stream(name: str) -> None:
    assert load_run(STREAMS[name]).format == name
    for at in range(len(list(places(copy.deepcopy(STREAMS[name]))))):
        for wrong in WRONG:
            stream = copy.deepcopy(STREAMS[name])
            container, key = list(places(stream))[at]
            container[key] = wrong
            reads(stream, format=name)
            reads(stream)


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("depth", [150, 900, 5000])
def test_deep_nesting_in_every_field(name: str, depth: int) -> None:
    deep: Foreign = "x"
    for level in range(depth):
        deep = [deep] if level % 2 else {"messages": deep}
    for at in range(len(list(places(copy.deepcopy(VALID[name]))))):
        record = copy.deepcopy(VALID[name])
        container, key = list(places(record))[at]
        container[key] = deep
        try:
            load_run(record, format=name)
        except RecordingError as error:
            assert str(error)


STRANGE_CALL = {"type": "mystery_call", "name": "book_hotel", "arguments": {}}
#: Places of a list in which nothing is a call of the agent, whatever it looks like.
NO_CALLS = {
    "arguments": "what a call was given",
    "commands": "what a call was given",
    "tools": "the tools that there are",
    "system": "what the agent was told",
    "input": "what the agent was sent",
    "retry_messages": "what the agent was told to do again",
    "citations": "the sources of an answer",
    "errors": "why a run failed",
    "longRunningToolIds": "ids",
    "todos": "the state of a graph",
    "loc": "the place of a mistake",
    "results": "what came of calls",
    "output": "what came of a call",
    "tool_output": "what came of a call",
    "toolResult": "what came of a call",
    "tool_call_result": "what came of a call",
}
#: Who speaks where an object says so, and it is not the agent; and kinds of part that hold what came of a call.
NOT_THE_AGENT = ("user", "system", "tool", "human", "request", "mcp_tool_result", "web_search_tool_result")


def lists(value: Foreign, path: tuple[Foreign, ...] = (), by_agent: bool = True) -> Iterator[tuple[Foreign, ...]]:
    """The path of every list in which a call of the agent may stand."""
    if isinstance(value, list):
        yield path
        for at, item in enumerate(value):
            yield from lists(item, (*path, at))
    elif isinstance(value, dict):
        if any(value.get(key) in NOT_THE_AGENT for key in ("role", "_role", "type", "kind", "author")):
            return
        for key, item in value.items():
            # In the output of a response the items of the agent stand.
            if key not in NO_CALLS or (key == "output" and "object" in value):
                yield from lists(item, (*path, key))


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("last", [True, False])
def test_a_strange_call_anywhere_is_refused_or_told_of(name: str, last: bool) -> None:
    seen = 0
    for path in lists(VALID[name]):
        record = copy.deepcopy(VALID[name])
        place = record
        for step in path:
            place = place[step]
        place.insert(len(place) if last else 0, dict(STRANGE_CALL))
        seen += 1
        try:
            run = load_run(record)
        except RecordingError:
            continue
        score = checks.did_not_call("book_hotel").score(run)
        assert not score.passed or run.gaps_of("calls"), (path, score.reason)
    assert seen or name == "dspy"  # in whose value there is no list


#: The messages of the agent in the values of formats that have no calls beside their words.
MESSAGES: dict[str, tuple[Foreign, ...]] = {
    "agentdojo": ("messages", 1),
    "agno": ("messages", 4),
    "anthropic": ("messages", 1),
    "claude_agent_sdk": (2, "message"),
    "gemini": ("contents", 1),
    "google_adk": ("events", 1),
    "haystack": ("messages", 6),
    "langchain": ("messages", 2),
    "llama_index": (1, "response"),
    "openai_chat": ("messages", 4),
    "reference": (1,),
    "strands": (7,),
    "tau_bench": ("traj", 4),
    "values": ("metadata",),
}


@pytest.mark.parametrize("name", sorted(MESSAGES))
@pytest.mark.parametrize("key", ["toolCalls", "function_calls", "tool_uses"])
def test_calls_under_a_strange_name_are_read_refused_or_told_of(name: str, key: str) -> None:
    record = copy.deepcopy(VALID[name])
    message = record
    for step in MESSAGES[name]:
        message = message[step]
    message[key] = [{"name": "book_hotel", "arguments": {}}]
    try:
        run = load_run(record)
    except RecordingError:
        return
    assert not checks.did_not_call("book_hotel").score(run).passed


@given(value=JSON, path=st.sampled_from(["a", "a.b", "a[0]", "messages", "messages[0].content", "output.choices[-1]"]))
@settings(max_examples=60)
def test_a_map_over_arbitrary_json(value: Foreign, path: str) -> None:
    reads(value, map={"messages": path, "input": path, "usage": path, "error": path, "metadata": path, "id": path})
    reads(value, map={"output": path, "tool_calls": path})


@given(
    content=st.binary(max_size=200) | JSON.map(lambda value: json.dumps(value).encode()),
    name=st.sampled_from(["r.jsonl", "r.json"]),
)
@settings(max_examples=60)
def test_arbitrary_bytes_in_a_file(content: bytes, name: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.getbasetemp() / name
    path.write_bytes(content)
    for found in read(path):
        assert isinstance(found, (Run, RecordingError))
        assert isinstance(found, Run) or found.file == str(path)


def test_a_deeply_nested_file_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "deep.jsonl"
    path.write_text("[" * 100_000 + "]" * 100_000 + "\n" + '{"output": "a"}\n')
    assert [type(found).__name__ for found in read(path)] == ["RecordingError", "Run"]


def seconds(value: Foreign, **options: Foreign) -> float:
    begun = time.perf_counter()
    reads(value, **options)
    return time.perf_counter() - begun


def test_many_equal_ids_do_not_hang() -> None:
    many = 20_000
    calls = {"role": "assistant", "content": None, "tool_calls": [CALL] * many}
    results = [{"role": "tool", "tool_call_id": "c1", "content": "x", "odd": 1}] * many
    assert seconds([calls, *results]) < 10
    parts = [
        {"type": "tool-invocation", "toolInvocation": {**INVOCATION, "state": state}}
        for state in ("call", "partial-call", "result")
    ]
    assert seconds([{"role": "assistant", "content": {"parts": parts * 7_000, "toolInvocations": [INVOCATION] * many}}]) < 10
    assert seconds({"messages": [calls], "tool_calls": [CALL] * many}) < 10


def test_a_wide_value_does_not_hang() -> None:
    assert seconds({"a": [{"b": [1]}] * 100_000, "c": {str(at): {} for at in range(100_000)}}) < 10
    assert seconds([{"x": 1}] * 100_000) < 20
    assert seconds([0.5] * 1_000_000) < 10
