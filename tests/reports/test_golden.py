"""One failing example as CI servers and terminals show it, held as it was when a person read it.

To write the files anew after a change, set QUICKCHECKS_WRITE_GOLDEN, run this, and read them before they are kept.
"""

from __future__ import annotations

import os
from pathlib import Path

import junit
import pytest
from msgspec.structs import replace

from quickchecks import EvalResult, Item, Run, Threshold, checks, run_evals_sync
from quickchecks._run import Source
from quickchecks.cli._output import print_lines
from quickchecks.reports import as_junit_xml
from quickchecks.reports.terminal_evaluation import eval_lines
from quickchecks.testing import call, run

GOLDEN = Path(__file__).parent / "golden"

ANSWERS = {
    "refund": run(
        call("find_order", {"order": "R-1012"}, result={"paid": 890}),
        call("refund", {"order": "R-1012"}, error="PaymentError: the card has expired"),
        "Your refund of € 890 is on its way.",
    ),
    "policy": run("As an AI language model, I cannot know our <b>policy</b>.\n::error::nor \x1b[31mshould\x1b[0m you"),
    "opening hours": run(call("find_hours", {}, result="9–17"), "We are open from 9 to 17."),
}


@pytest.fixture
def failing() -> EvalResult:
    """An evaluation in which two gates fail, a threshold is missed, and the target breaks on an item."""

    def answer(question: str) -> Run:
        if question not in ANSWERS:
            raise ConnectionError("the shop is closed:\nno route to host")
        return ANSWERS[question]

    result = run_evals_sync(
        [Item(input=one, id=one, source=Source("evals/shop.jsonl", 1 + at)) for at, one in enumerate((*ANSWERS, "stock"))],
        answer,
        gates=[
            checks.no_tool_errors(why="customers were told of refunds that had failed"),
            checks.excludes("AI language model"),
        ],
        scorers=[Threshold(checks.called_tool("find_order"), min=0.5), checks.max_tool_calls(1)],
        name="bicycle shop",
    )
    # What differs from run to run, or with the place of the sources.
    items = [
        replace(
            one, seconds=0.25, error=None if one.error is None else replace(one.error, traceback="Traceback (…)\n  in answer")
        )
        for one in result.items
    ]
    return replace(result, items=tuple(items), seconds=1.5)


def test_as_junit(failing: EvalResult) -> None:
    written = as_junit_xml.evaluation(failing)
    junit.read(written)
    assert written.decode() == _golden("failing.junit.xml", written.decode())


@pytest.mark.parametrize(("name", "colour"), [("terminal.txt", ""), ("terminal_coloured.txt", "1")])
def test_on_a_terminal(
    name: str, colour: str, failing: EvalResult, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Into a pipe, and in colours on a terminal of 80 columns, whose escape sequences stand as `\\e` in the file."""
    for variable, value in {"FORCE_COLOR": colour, "NO_COLOR": "", "TERM": "xterm", "COLUMNS": "80"}.items():
        monkeypatch.setenv(variable, value)
    print_lines(eval_lines(failing, 1))
    shown = capsys.readouterr().out.replace("\x1b", "\\e")
    assert shown == _golden(name, shown)


def _golden(name: str, shown: str) -> str:
    if os.environ.get("QUICKCHECKS_WRITE_GOLDEN"):
        (GOLDEN / name).write_text(shown, encoding="utf-8", newline="\n")
    return (GOLDEN / name).read_text(encoding="utf-8")
