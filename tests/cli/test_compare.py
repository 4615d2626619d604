"""`quickchecks compare`."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from quickchecks import Run, Usage, checks, run_evals_sync, testing

if TYPE_CHECKING:
    from tests.cli.conftest import Command

Save = Callable[..., str]


@pytest.fixture
def save(quickchecks: Command) -> Save:
    """Saves the result of an evaluation whose items were answered so, by id."""

    def write(name: str, answers: Mapping[str, Run | str], *, gates: object = None, input: str = "Weather?") -> str:
        data = [
            {"id": key, "input": input, "run" if isinstance(answer, Run) else "output": answer} for key, answer in answers.items()
        ]
        result = run_evals_sync(data, None, gates=[checks.includes("sunny")] if gates is None else gates)  # type: ignore[arg-type]
        result.save(name)
        return name

    return write


def answer(*calls: str, text: str = "It is sunny.", **usage: float) -> Run:
    run = testing.run(*(testing.call(name) for name in calls), text)
    from msgspec.structs import replace

    return replace(run, usage=Usage(**usage) if usage else None)  # type: ignore[arg-type]


def test_what_broke_is_shown_with_the_first_divergence(quickchecks: Command, save: Save) -> None:
    before = save("a.json", {"1": answer("search", "book"), "2": "rainy", "3": "sunny"})
    after = save("b.json", {"1": answer("search", "refund", text="Done."), "2": "sunny", "3": "sunny"})
    ended = quickchecks("compare", before, after)
    lines = [line.strip() for line in ended.out.splitlines()]
    assert lines[0] == "3 items in both a.json and b.json"
    assert "includes('sunny')" in lines
    at = lines.index("broke (1)")
    assert lines[at + 1 : at + 4] == [
        "1  includes('sunny'): passed → failed",
        '"sunny" is not in the answer; nothing like it is in "Done."',
        "diverges: same until call 2: book → refund",
    ]
    assert lines[lines.index("mended (1)") + 1] == "2  includes('sunny'): failed → passed"
    assert (ended.code, lines[-1], ended.err) == (1, "regressed: 1 broke · exit 1", "")


def test_without_a_regression_it_passes(quickchecks: Command, save: Save) -> None:
    ended = quickchecks("compare", save("a.json", {"1": "rainy"}), save("b.json", {"1": "sunny"}))
    assert (ended.code, ended.out.splitlines()[-1]) == (0, "no regression: 0 broke, 1 mended · exit 0")


def test_items_that_do_not_match_are_reported(quickchecks: Command, save: Save) -> None:
    before = save("a.json", {"1": "sunny", "2": "sunny"})
    after = save("b.json", {"1": "sunny", "3": "sunny"})
    ended = quickchecks("compare", before, after)
    assert "  1 item only in the first: 2\n" in ended.out
    assert "  1 item only in the second: 3\n" in ended.out


def test_scorers_that_only_one_has_are_reported(quickchecks: Command, save: Save) -> None:
    before = save("a.json", {"1": "sunny"}, gates=[checks.includes("sunny"), checks.excludes("rain")])
    ended = quickchecks("compare", before, save("b.json", {"1": "sunny"}))
    assert "scorers only in the first: excludes('rain')" in ended.out


@pytest.mark.parametrize(
    ("limit", "code", "last"),
    [
        ("cost>+10%", 1, "regressed: cost grew by 50.0 %, at most 10 % allowed · exit 1"),
        ("cost>50%", 0, "no regression: 0 broke, 0 mended · exit 0"),
        ("tokens > +0.5 %", 1, "regressed: tokens grew by 10.0 %, at most 0.5 % allowed · exit 1"),
        ("tokens>+10%", 0, "no regression: 0 broke, 0 mended · exit 0"),
    ],
)
def test_a_limit_on_growth(limit: str, code: int, last: str, quickchecks: Command, save: Save) -> None:
    before = save("a.json", {"1": answer(cost=1.0, input_tokens=100)})
    after = save("b.json", {"1": answer(cost=1.5, input_tokens=110)})
    ended = quickchecks("compare", before, after, "--fail-on", limit)
    assert "cost     $1.0000 → $1.5000 (+50.0 %)" in ended.out
    assert (ended.code, ended.out.splitlines()[-1]) == (code, last)


def test_a_limit_on_what_no_run_carries_decides_nothing(quickchecks: Command, save: Save) -> None:
    ended = quickchecks("compare", save("a.json", {"1": "sunny"}), save("b.json", {"1": "sunny"}), "--fail-on", "cost>+10%")
    assert ended.code == 3
    assert ended.out.splitlines()[-1] == "undecided: not every run carries what cost>+10% asks about · exit 3"


def test_several_conditions(quickchecks: Command, save: Save) -> None:
    before, after = save("a.json", {"1": answer(cost=1.0)}), save("b.json", {"1": answer(cost=2.0, text="rain")})
    ended = quickchecks("compare", before, after, "--fail-on", "regression", "--fail-on", "cost>+10%")
    assert ended.out.splitlines()[-1] == "regressed: 1 broke; cost grew by 100.0 %, at most 10 % allowed · exit 1"


def test_never(quickchecks: Command, save: Save) -> None:
    ended = quickchecks("compare", save("a.json", {"1": "sunny"}), save("b.json", {"1": "rain"}), "--fail-on", "never")
    assert (ended.code, ended.out.splitlines()[-1]) == (0, "nothing decided: 1 broke, 0 mended · exit 0")


def test_results_that_have_nothing_in_common(quickchecks: Command, save: Save) -> None:
    ended = quickchecks("compare", save("a.json", {"1": "sunny"}), save("b.json", {"2": "sunny"}))
    assert ended.code == 3
    assert ended.out.splitlines()[-1].startswith("nothing compared: the results have no item in common")


def test_items_that_ask_something_else_are_not_compared(quickchecks: Command, save: Save) -> None:
    before = save("a.json", {"1": "sunny"})
    ended = quickchecks("compare", before, save("b.json", {"1": "rain"}, input="What else?"))
    assert "1 item asked or expected something else, so not compared: 1" in ended.out
    assert ended.code == 3


def test_every_form_of_report(quickchecks: Command, save: Save) -> None:
    before, after = save("a.json", {"1": "sunny", "2": "rain"}), save("b.json", {"1": "rain", "2": "sunny"})
    names = ["c.json", "c.jsonl", "c.csv", "c.md"]
    ended = quickchecks("compare", before, after, *[part for name in names for part in ("-o", name)])
    assert ended.err.splitlines() == [f"wrote {name}" for name in names]
    assert json.loads(Path("c.json").read_text())["schema"] == "quickchecks.comparison/1"
    lines = [json.loads(line) for line in Path("c.jsonl").read_text().splitlines()]
    assert [(line["direction"], line["change"]["item"]) for line in lines] == [("broke", "1"), ("mended", "2")]
    rows = list(csv.DictReader(Path("c.csv").read_text().splitlines()))
    assert [(row["direction"], row["after"]) for row in rows] == [("broke", "failed"), ("mended", "passed")]
    assert Path("c.md").read_text().startswith("## 1 broke, 1 mended\n")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["a.json", "no.json"], "no.json: the result cannot be read"),
        (["a.json", "other.json"], "expected a saved result"),
        (["a.json", "a.json", "--fail-on", "cost>much"], "'cost>much' is none of regression, never"),
        (["a.json", "a.json", "--fail-on", "never", "--fail-on", "regression"], "--fail-on never stands alone"),
        (["a.json", "a.json", "-o", "a.json"], "is what is read here"),
        (["a.json", "a.json", "-o", "c.xls"], "there is no form of report"),
    ],
)
def test_wrong_usage(arguments: list[str], problem: str, quickchecks: Command, save: Save) -> None:
    save("a.json", {"1": "sunny"})
    Path("other.json").write_text("{}")
    ended = quickchecks("compare", *arguments)
    assert (ended.code, ended.out) == (2, "")
    assert problem in ended.err


def test_what_an_agent_said_cannot_drive_the_terminal(quickchecks: Command, save: Save) -> None:
    before, after = save("a.json", {"\x1b[31m": "sunny"}), save("b.json", {"\x1b[31m": "rain \x1b[31m"})
    ended = quickchecks("compare", before, after, "-o", "c.md")
    assert ended.code == 1
    assert "\x1b" not in ended.out + Path("c.md").read_text()
