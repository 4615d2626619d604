"""AgentDojo's runs."""

from __future__ import annotations

from typing import Any

import pytest

from quickchecks import Run, load_run
from quickchecks.errors import RecordingError

Foreign = Any  # JSON and the objects of SDKs have no types


def says(text: str) -> list[dict[str, str]]:
    return [{"type": "text", "content": text}]


def call(name: str, id: str | None = "c1", **args: Foreign) -> dict[str, Foreign]:
    return {"function": name, "args": args, "id": id, "placeholder_args": None}


def result(text: str, id: str | None = "c1", name: str = "find", error: str | None = None) -> dict[str, Foreign]:
    repeated: Foreign = {"function": name, "args": {}, "id": id}
    return {"role": "tool", "content": says(text), "tool_call_id": id, "tool_call": repeated, "error": error}


def record(*messages: Foreign, **more: Foreign) -> dict[str, Foreign]:
    return {
        "suite_name": "shop",
        "user_task_id": "user_task_1",
        "messages": list(messages),
        "error": None,
        "utility": True,
        **more,
    }


def asks(*calls: Foreign, content: Foreign = None) -> dict[str, Foreign]:
    return {"role": "assistant", "content": content, "tool_calls": list(calls)}


def loaded(*messages: Foreign, **more: Foreign) -> Run:
    return load_run(record(*messages, **more))


def test_a_run_is_read_whole() -> None:
    run = loaded(
        {"role": "system", "content": says("Help.")},
        {"role": "user", "content": says("Find it")},
        asks(call("find", what="it")),
        result("found"),
        {"role": "assistant", "content": says("Here."), "tool_calls": None},
        duration=1.5,
    )
    assert (run.format, run.text, run.duration) == ("agentdojo", "Here.", 1.5)
    assert [(c.name, c.arguments, c.result) for c in run.tool_calls] == [("find", {"what": "it"}, "found")]
    assert run.metadata is not None
    assert (run.metadata["suite_name"], run.metadata["utility"]) == ("shop", True)


@pytest.mark.parametrize(("content", "text"), [(None, ""), ("plain", "plain"), (says(""), ""), (says("a") + says("b"), "ab")])
def test_content_is_null_text_or_parts(content: Foreign, text: str) -> None:
    assert loaded({"role": "assistant", "content": content, "tool_calls": None}).text == text


def test_an_error_is_stated_and_text_is_not_judged() -> None:
    run = loaded(
        asks(call("find", "a"), call("find", "b")), result("", "a", error="ValueError: none"), result("Error: a title", "b")
    )
    failures = [c.failure() for c in run.tool_calls]
    assert failures[0] is not None
    assert (failures[0].message, failures[0].source, failures[0].type) == ("ValueError: none", "flag", "ValueError")
    assert failures[1] is None


@pytest.mark.parametrize("id", [None, ""])
def test_calls_without_ids_get_their_results_in_order(id: str | None) -> None:
    run = loaded(asks(call("find", id), call("find", id)), result("1", id), result("2", id))
    assert [c.result for c in run.tool_calls] == ["1", "2"]


def test_a_run_that_broke_off_has_an_error() -> None:
    run = loaded(error="API error")
    assert run.error is not None
    assert run.error.message == "API error"


def test_a_result_without_its_call_is_a_gap() -> None:
    assert [(gap.kind, gap.name) for gap in loaded(result("x", "zz")).gaps][:1] == [("orphan_result", "find")]


@pytest.mark.parametrize(
    ("message", "path"),
    [
        (5, "messages[0]"),
        ({"role": "robot", "content": None}, "messages[0].role"),
        ({"role": "assistant", "content": 5}, "messages[0].content"),
        ({"role": "assistant", "content": [5]}, "messages[0].content[0]"),
        ({"role": "assistant", "content": says(5)}, "messages[0].content[0].content"),  # type: ignore[arg-type]
        ({"role": "assistant", "content": None, "tool_calls": "x"}, "messages[0].tool_calls"),
        (asks(5), "messages[0].tool_calls[0]"),
        (asks({"function": {"name": "f"}}), "messages[0].tool_calls[0].function"),
    ],
)
def test_a_malformed_message_is_an_error_that_says_where(message: Foreign, path: str) -> None:
    with pytest.raises(RecordingError) as caught:
        loaded(message)
    assert caught.value.path == path
