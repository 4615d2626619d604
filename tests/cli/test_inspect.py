"""`quickchecks inspect`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from quickchecks import _wire
from quickchecks._run import Gap, Reasoning, Run, ToolResult
from quickchecks.testing import assistant, call, run, step, user

if TYPE_CHECKING:
    from tests.cli.conftest import Chat, Command, Write


def stored(name: str, *found: Run) -> Path:
    Path(name).write_bytes(b"".join(_wire.dumps(one) + b"\n" for one in found))
    return Path(name)


def test_what_was_recognised_and_the_first_run(quickchecks: Command, runs: Path) -> None:
    ended = quickchecks("inspect", runs)
    assert ended.code == 0
    assert ended.out.splitlines() == [
        "runs.jsonl  3 runs (openai_chat)",
        "",
        "run 1 of 3; --run N shows another",
        "runs.jsonl:1  openai_chat  id fine",
        "",
        "    1  user       Weather?",
        "    2  assistant  call 1  get_weather()",
        '                    → "sunny"',
        "    3  assistant  It is sunny.",
        "",
        "  3 messages, 1 call",
    ]


@pytest.mark.parametrize("arguments", [["runs.jsonl:2"], ["runs.jsonl", "--run", "2"]])
def test_one_run_with_its_failed_call(arguments: list[str], quickchecks: Command, runs: Path) -> None:
    ended = quickchecks("inspect", *arguments)
    assert '✗ failed: "Error: no such city" (judged by its text)' in ended.out
    assert ended.out.endswith("  3 messages, 1 call, 1 failed\n")


def test_a_place_in_an_array(quickchecks: Command, chat: Chat) -> None:
    Path("runs.json").write_text(json.dumps([chat("one"), chat("two")]))
    assert "two" in quickchecks("inspect", "runs.json[1]").out


def test_a_file_whose_name_looks_like_a_place(quickchecks: Command, write: Write, chat: Chat) -> None:
    write("odd:7", chat("It is sunny."))
    assert "1 run (openai_chat)" in quickchecks("inspect", "odd:7").out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["runs.jsonl:9"], "there is no run at runs.jsonl:9"),
        (["runs.jsonl:1", "--run", "2"], "there is no run at runs.jsonl:1 with the number 2"),
        (["runs.jsonl", "--run", "9"], "runs.jsonl holds 3 runs, so there is none with the number 9"),
        (["run.jsonl:1"], "there is no such file or folder"),
        (["runs.jsonl", "--map", "x"], "expected part=path"),
        (["runs.jsonl", "--format", "x"], "there is no format 'x'"),
    ],
)
def test_a_mistake_is_one_clean_message(arguments: list[str], message: str, quickchecks: Command, runs: Path) -> None:
    ended = quickchecks("inspect", *arguments)
    assert (ended.code, ended.out) == (2, "")
    assert message in ended.err


def test_records_that_cannot_be_read_are_shown_with_what_to_do(quickchecks: Command, write: Write, chat: Chat) -> None:
    file = write("runs.jsonl", {"payload": chat("x")}, chat("It is sunny."))
    ended = quickchecks("inspect", file)
    assert ended.code == 0
    assert ended.out.startswith("runs.jsonl  1 run (openai_chat), 1 record cannot be read\n")
    assert "try --map messages=payload.messages" in ended.out
    assert quickchecks("inspect", "runs.jsonl:1").code == 2


def test_a_file_without_a_run_is_an_error(quickchecks: Command, write: Write) -> None:
    ended = quickchecks("inspect", write("runs.jsonl", *(["3"] * 7)))
    assert ended.code == 2
    assert "… and 2 more that cannot be read" in ended.out
    assert "holds no run that can be read" in ended.err


def test_everything_that_a_run_can_hold(quickchecks: Command) -> None:
    nested = run("Which order?", call("refund", order="A-10"), agent="billing")
    whole = run(
        user("Hi"),
        assistant("Hello.", agent="greeter"),
        user("Refund A-10\nplease"),
        assistant(
            Reasoning("let me see"),
            call("ask_billing", run=nested, kind="agent"),
            call("search", unfinished=True),
            call("pay", awaiting=True),
            call("final_result", {"ok": True}, kind="output"),
            step(),
            ToolResult("lost", name="lookup"),
            "Done.",
        ),
        history=2,
        error="timed out",
        input={"ticket": 7},
        gaps=(Gap("other", "times are not recorded"),),
        duration=1.25,
    )
    text = quickchecks("inspect", stored("runs.jsonl", whole)).out
    for line in [
        '  input  {"ticket":7}',
        "    1  user       (history)",
        "    2  assistant  (greeter) (history)",
        "    3  user       Refund A-10",
        "                  please",
        "    4  assistant  (thinks) let me see",
        "                  call 1  ask_billing()  (another agent)",
        "                  run of billing",
        "                    1  assistant  Which order?",
        '                                  call 2  refund(order="A-10")',
        "                  call 3  search()",
        "                    ✗ no result",
        "                  call 4  pay()",
        "                    waits for a person's approval",
        "                  call  final_result(ok=true)  (returns the answer, not counted)",
        '                  result of lookup without its call: "lost"',
        "                  Done.",
        "  ✗ the run itself broke off: timed out",
        "  4 messages, 4 calls, 1 failed, 1.2 s",
        "  gap: times are not recorded",
    ]:
        assert line in text.splitlines()


def test_the_numbers_of_calls_are_those_of_the_reasons(quickchecks: Command) -> None:
    nested = run(call("a"), call("b", error="gone"), agent="inner")
    stored("runs.jsonl", run(call("outer", run=nested), call("c", error="gone too")))
    shown = quickchecks("inspect", "runs.jsonl").out
    reason = quickchecks("score", "runs.jsonl", "--check", "no_tool_errors()").out
    for number, name in ((3, "b"), (4, "c")):
        assert f"call {number}  {name}()" in shown
        assert f"call {number} of 4, {name}()" in reason


def test_long_texts_are_cut_unless_all_is_asked_for(quickchecks: Command) -> None:
    stored("runs.jsonl", run(call("read", result="r" * 5000), "word " * 1000))
    short = quickchecks("inspect", "runs.jsonl").out
    assert "… 3,500 characters more: --full shows them" in short
    assert len(short) < 2500
    assert "r" * 5000 in quickchecks("inspect", "runs.jsonl", "--full").out


def test_results_that_are_json_in_a_text_are_shown_as_json(quickchecks: Command) -> None:
    stored("runs.jsonl", run(call("read", result='{"password": "hunter2", "n": 1}')))
    assert '→ {"password":"***","n":1}' in quickchecks("inspect", "runs.jsonl").out


def test_hostile_text_drives_no_terminal(quickchecks: Command) -> None:
    evil = "\x1b[2J\u202e\x07"
    stored("runs.jsonl", run(user(evil), call(evil, {evil: evil}, result=evil), evil, error=evil, agent=evil, input=evil))
    shown = quickchecks("inspect", "runs.jsonl").out
    assert [c for c in shown if not c.isprintable() and c != "\n"] == []
