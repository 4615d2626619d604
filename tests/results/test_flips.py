"""Which runs a changed check flips."""

from __future__ import annotations

from quickchecks import checks
from quickchecks._results.flips import MAX_NAMED, Comparison, Flips
from quickchecks._results.tally import entry_of
from quickchecks._run import Run
from quickchecks._scorer.checks_file import CheckEntry
from quickchecks._scorer.pipeline import Scorer
from quickchecks._scorer.thresholds import Bounds
from quickchecks.testing import call, run

RUNS = [run("It is sunny."), run("It is SUNNY."), run("It rains."), run(call("search"), "Sunny, then rain.")]


def compared(old: list[CheckEntry], new: list[CheckEntry], runs: list[Run] = RUNS) -> Comparison:
    flips = Flips(old, new, "old.yaml")
    for number, one in enumerate(runs, 1):
        flips.add(one, f"run {number}", [entry.scorer.score(one) for entry in new])
    return flips.result()


def entries(*scorers: Scorer) -> list[CheckEntry]:
    return [entry_of(scorer) for scorer in scorers]


def test_both_ways_are_told() -> None:
    [changed] = compared(entries(checks.includes("sunny")), entries(checks.includes("SUNNY", ignore_case=False))).changed
    assert [(flip.before, flip.after, flip.count) for flip in changed.flips] == [("passed", "failed", 2), ("failed", "passed", 0)]
    first = changed.flips[0].examples[0]
    assert first.place == "run 1"
    assert '"sunny" is in the answer' in first.before
    assert "differs in upper and lower case only" in first.after


def test_other_outcomes_are_told_when_they_occur() -> None:
    new = checks.when(checks.called_tool("search"), checks.includes("sunny"))
    [changed] = compared(entries(checks.includes("sunny")), entries(new)).changed
    assert {(flip.before, flip.after): flip.count for flip in changed.flips} == {
        ("passed", "failed"): 0,
        ("failed", "passed"): 0,
        ("passed", "not_applicable"): 2,
        ("failed", "not_applicable"): 1,
    }


def test_numbers_that_change_are_a_flip_of_their_own() -> None:
    [changed] = compared(entries(checks.similarity("sunny")), entries(checks.similarity("It rains."))).changed
    assert [(flip.before, flip.after, flip.count) for flip in changed.flips][2:] == [("graded", "graded", 4)]


def test_a_check_that_is_the_same_is_unchanged() -> None:
    comparison = compared(entries(checks.includes("sunny")), entries(checks.includes("sunny", ignore_case=True)))
    assert (comparison.unchanged, comparison.changed) == (1, ())


def test_checks_are_matched_by_name() -> None:
    old = entries(checks.includes("sunny", name="weather"), checks.used_no_tools())
    new = entries(checks.used_no_tools(), checks.matches("rain", name="weather"))
    comparison = compared(old, new)
    assert [(one.name, one.before, one.after) for one in comparison.changed] == [
        ("weather", "includes('sunny')", "matches('rain')")
    ]
    assert comparison.unchanged == 1


def test_checks_of_one_kind_are_matched_where_there_is_one_on_each_side() -> None:
    old = entries(checks.includes("sunny"), checks.max_tool_calls(3))
    new = entries(checks.max_tool_calls(0), checks.includes("rain"))
    assert [(one.before, one.after) for one in compared(old, new).changed] == [
        ("max_tool_calls(3)", "max_tool_calls(0)"),
        ("includes('sunny')", "includes('rain')"),
    ]


def test_the_only_two_that_are_left_belong_together() -> None:
    comparison = compared(
        entries(checks.includes("a"), checks.used_no_tools()), entries(checks.includes("a"), checks.equals("b"))
    )
    assert [(one.before, one.after) for one in comparison.changed] == [("used_no_tools()", "equals('b')")]


def test_what_cannot_be_matched_is_new_or_removed() -> None:
    comparison = compared(
        entries(checks.includes("a"), checks.includes("b")), entries(checks.includes("c"), checks.includes("d"))
    )
    assert comparison.new == ("includes('c')", "includes('d')")
    assert comparison.removed == ("includes('a')", "includes('b')")


def test_a_changed_mode_or_threshold_is_noted() -> None:
    similar = checks.similarity("It is sunny.")
    old = [CheckEntry(similar, "threshold", Bounds(0.5)), CheckEntry(checks.used_no_tools(), "gate")]
    new = [CheckEntry(similar, "threshold", Bounds(0.7)), CheckEntry(checks.used_no_tools(), "watch")]
    assert [one.notes for one in compared(old, new).changed] == [
        ("its threshold was ≥ 0.5 and is ≥ 0.7",),
        ("it was a gate and is a watch",),
    ]


def test_a_changed_why_is_no_change() -> None:
    assert compared(entries(checks.includes("a", why="x")), entries(checks.includes("a", why="y"))).unchanged == 1


def test_only_the_first_runs_of_a_flip_are_named() -> None:
    [changed] = compared(entries(checks.includes("a")), entries(checks.includes("b")), [run("a")] * 20).changed
    assert (changed.flips[0].count, len(changed.flips[0].examples)) == (20, MAX_NAMED)
