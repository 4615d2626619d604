"""The builders of runs."""

from __future__ import annotations

import pytest

from quickchecks import testing as t
from quickchecks._run import UNSET, Message, Reasoning, Run, Step, Text, ToolCall, ToolError, Usage


@pytest.mark.parametrize(
    ("run", "messages"),
    [
        (t.run(), ()),
        (t.run("Hello."), (Message("assistant", (Text("Hello."),)),)),
        (t.run("a", "b"), (Message("assistant", (Text("a"),)), Message("assistant", (Text("b"),)))),
        (t.run(t.user("q"), "a"), (Message("user", (Text("q"),)), Message("assistant", (Text("a"),)))),
        (t.run(t.system("s")), (Message("system", (Text("s"),)),)),
        (t.run("a", t.call("f")), (Message("assistant", (Text("a"), t.call("f"))),)),
        (t.run(t.call("f"), "a"), (Message("assistant", (t.call("f"),)), Message("assistant", (Text("a"),)))),
        (t.run(t.call("f"), t.call("g")), (Message("assistant", (t.call("f"), t.call("g"))),)),
        (t.run(t.user("q"), t.call("f")), (Message("user", (Text("q"),)), Message("assistant", (t.call("f"),)))),
        (
            t.run(t.assistant("a", t.step(), t.reasoning("hm"), agent="x"), t.call("f")),
            (Message("assistant", (Text("a"), Step(), Reasoning("hm"), t.call("f")), "x"),),
        ),
    ],
)
def test_a_run_is_written_as_it_reads(run: Run, messages: tuple[Message, ...]) -> None:
    assert run.messages == messages


@pytest.mark.parametrize(
    ("call", "made"),
    [
        (t.call("f"), ToolCall("f", {}, result="ok")),
        (t.call("f", a=1), ToolCall("f", {"a": 1}, result="ok")),
        (t.call("f", {"name": 1, "error": 2}), ToolCall("f", {"name": 1, "error": 2}, result="ok")),
        (t.call("f", '{"a": 1'), ToolCall("f", '{"a": 1', result="ok")),
        (t.call("f", result=None), ToolCall("f", {}, result=None)),
        (t.call("f", error="boom"), ToolCall("f", {}, state="failed", result=UNSET, error=ToolError("boom"))),
        (t.call("f", error=""), ToolCall("f", {}, state="failed", result=UNSET, error=ToolError(""))),
        (t.call("f", unfinished=True), ToolCall("f", {}, state="requested", result=UNSET)),
        (t.call("f", awaiting=True), ToolCall("f", {}, state="awaiting", result=UNSET)),
        (t.call("f", kind="provider", id="c1"), ToolCall("f", {}, "c1", kind="provider", result="ok")),
        (t.call("f", run=t.run("x")), ToolCall("f", {}, result="ok", run=t.run("x"))),
    ],
)
def test_a_call_is_written_as_it_is_made(call: ToolCall, made: ToolCall) -> None:
    assert call == made


def test_a_run_carries_what_else_there_is() -> None:
    run = t.run("a", "b", agent="x", history=1, input="q", error="broke off", usage=Usage(5), duration=1.5, metadata={"k": 1})
    assert (run.agent, run.history_length, run.input, run.usage, run.duration, run.metadata) == (
        "x",
        1,
        "q",
        Usage(5),
        1.5,
        {"k": 1},
    )
    assert run.error is not None
    assert run.error.message == "broke off"


@pytest.mark.parametrize(("value", "text"), [({"a": 1}, '{"a":1}'), ([1], "[1]"), (True, "true"), ("x", '"x"'), (None, "null")])
def test_a_structured_answer_is_its_json(value: object, text: str) -> None:
    run = t.run(t.answer(value))
    assert (run.text, run.output) == (text, value)


def test_building_changes_nothing_that_was_given() -> None:
    message = t.assistant("a")
    arguments = {"a": [1]}
    t.run(message, t.call("f", arguments))
    assert message == t.assistant("a")
    assert arguments == {"a": [1]}
