"""What a comparison looks like, on a terminal and as a page."""

from __future__ import annotations

import pytest

from quickchecks._results.changes import Change, EvalComparison, MeasureChange, ScorerChange
from quickchecks.reports import form_of
from quickchecks.reports._comparison_words import counted, differing, measured
from quickchecks.reports.terminal_comparison import comparison_lines

FLAKY = Change("1", "includes('ok')", "2 × passed, 1 × failed", "1 × passed, 2 × failed", "it is not there")


def scorer(name: str, **options: bool) -> ScorerChange:
    return ScorerChange(name, 1, 1, 1, 0, 1, "mcnemar", said="no change", **options)  # type: ignore[arg-type]


def shown(comparison: EvalComparison) -> list[str]:
    return [one.text for one in comparison_lines(comparison, "a.json", "b.json") if one.text]


def page(comparison: EvalComparison) -> list[str]:
    return form_of("a.md", "comparison")(comparison).decode().splitlines()


def test_what_passes_less_is_shown_as_what_may_be_chance() -> None:
    lines = shown(EvalComparison(common=("1",), worse=(FLAKY,)))
    assert lines[2:] == [
        "worse (1)",
        "these passed only some of their repetitions before, and pass fewer now: each by itself may be chance",
        "1  includes('ok'): 2 × passed, 1 × failed → 1 × passed, 2 × failed",
        "it is not there",
    ]
    assert page(EvalComparison(worse=(FLAKY,)))[0] == "## 0 broke, 0 mended, 1 worse"
    assert "### Worse" in page(EvalComparison(worse=(FLAKY,)))


def test_every_direction_has_its_heading_and_the_worst_stands_first() -> None:
    lines = shown(EvalComparison(mended=(FLAKY,), better=(FLAKY,), worse=(FLAKY,), broke=(FLAKY,) * 21))
    headings = [text for text in lines if text.endswith(")")]
    assert headings == ["broke (21)", "worse (1)", "better (1)", "mended (1)"]
    assert "… and 1 more: -o FILE.md shows them" in lines


@pytest.mark.parametrize(
    ("item", "as_shown"),
    [
        ("two\nlines", "two\\nlines"),
        ("\x1b[31mred", "\\u001b[31mred"),
        ("\u202egnp", "\\u202egnp"),
        ("", '""'),
        (" \t", '" \\t"'),
        ("x" * 300, "x" * 79 + "…"),
    ],
)
def test_an_id_is_shown_on_its_line_and_drives_nothing(item: str, as_shown: str) -> None:
    change = Change(item, "", "answered", "broke: exception")
    lines = shown(EvalComparison(only_before=(item,), broke=(change,)))
    assert f"1 item only in the first: {as_shown}" in lines
    assert f"{as_shown}  the target: answered → broke: exception" in lines


def test_what_a_result_that_is_not_whole_lacks_is_not_called_removed() -> None:
    comparison = EvalComparison(only_before=("1",), only_after=("2",), unfinished=("is not whole: \x1b[1m", "was broken off"))
    lines = shown(comparison)
    assert "1 item missing from the second, which was broken off: 1" in lines
    assert "1 item missing from the first, which is not whole: \\u001b[1m: 2" in lines
    assert "- `1 item missing from the second, which was broken off`: `1`" in page(comparison)


def test_notes_and_what_is_open_are_on_the_page_too() -> None:
    comparison = EvalComparison(notes=("one | note",), open_ended="the second result was broken off")
    assert "note: one | note" in shown(comparison)
    assert {"- note: `one \\| note`", "- undecided: `the second result was broken off`"} <= set(page(comparison))


def test_how_often_items_were_answered_stands_beside_the_scorers() -> None:
    comparison = EvalComparison(scorers=(scorer("a"),), answered=scorer("answered"))
    assert shown(comparison)[2:] == ["a", "no change", "answered", "no change"]
    assert "| `answered` | `no change` |" in page(comparison)


@pytest.mark.parametrize(
    ("comparison", "said"),
    [
        (EvalComparison(), ""),
        (EvalComparison(only_after=("1", "2")), "2 items only in the second"),
        (EvalComparison(only_scorers_before=("a",)), "1 scorer only in the first"),
        (EvalComparison(scorers=(scorer("a", version_changed=True), scorer("b"))), "1 check that changed"),
        (
            EvalComparison(notes=("x", "y"), changed_items=("1",)),
            "1 item asked or expected something else, so not compared, 2 notes above",
        ),
    ],
)
def test_what_a_claim_leaves_out(comparison: EvalComparison, said: str) -> None:
    assert differing(comparison) == said


def test_how_many_moved() -> None:
    assert counted(EvalComparison()) == "0 broke, 0 mended"
    assert counted(EvalComparison(broke=(FLAKY,), better=(FLAKY, FLAKY))) == "1 broke, 0 mended, 1 item better in 2 checks"


@pytest.mark.parametrize(
    ("measure", "said"),
    [
        (MeasureChange("cost", 2, 1, 1.5, 2, 2), "$1.0000 → $1.5000 (+50.0 %)"),
        (MeasureChange("cost", 2, 1, 0.5, 2, 2), "$1.0000 → $0.5000 (-50.0 %)"),
        (MeasureChange("seconds", 1, 2, 2, 2, 1), "2.00 s → 2.00 s (+0.0 %), known in both on 1 of 2 items"),
        (MeasureChange("tokens", 1, 0, 1500, 1, 2), "0 → 1,500 (from nothing), known in both on 1 of 2 items"),
        (MeasureChange("cost", 0, 0, 0, 1, 0), "known on 1 of 2 items before and 0 now, on none in both"),
        (MeasureChange("tokens", 2, 1e99, 1e99, 2, 2), "1e+99 → 1e+99 (+0.0 %)"),
    ],
)
def test_a_measure_says_on_how_many_items_it_is_known(measure: MeasureChange, said: str) -> None:
    assert measured(measure, 2) == said
