"""The report that a terminal shows."""

from __future__ import annotations

from collections.abc import Sequence

from quickchecks import checks
from quickchecks._results.flips import Flips
from quickchecks._results.result import FailOn
from quickchecks._results.tally import Tally, entry_of
from quickchecks._run import Gap, Run
from quickchecks._scorer.checks_file import CheckEntry
from quickchecks._scorer.pipeline import Scorer
from quickchecks._scorer.thresholds import Bounds
from quickchecks.errors import RecordingError
from quickchecks.reports.terminal import MAX_GROUPS, lines_of
from quickchecks.testing import call, run


def shown(
    entries: Sequence[CheckEntry | Scorer],
    runs: Sequence[Run | RecordingError],
    *,
    old: Sequence[Scorer] = (),
    fail_on: FailOn = "any",
) -> list[str]:
    given = [entry_of(one) if isinstance(one, Scorer) else one for one in entries]
    flips = Flips([entry_of(one) for one in old], given, "old.yaml") if old else None
    tally = Tally(given, flips=flips)
    for one in runs:
        if isinstance(one, Run):
            tally.add(one, [scorer.score(one) for scorer in tally.scorers])
        else:
            tally.add(None, (), one)
    lines = lines_of(tally.result(seconds=0.42), fail_on=fail_on)
    return [(" " * line.indent + line.text + line.right).rstrip() for line in lines]


def test_everything_about_a_failed_result() -> None:
    runs = [run(call("lookup", order="A-10", error="order not found")), run("It is sunny."), run(call("lookup", error="gone"))]
    assert shown([checks.no_tool_errors(), checks.did_not_call("refund")], runs) == [
        "3 runs (quickchecks)0.4 s",
        "",
        "  no_tool_errors()         1 passed   2 failed",
        "  did_not_call('refund')   3 passed",
        "",
        "  ✗ run 1  no_tool_errors()",
        '      call 1 of 1, lookup(order="A-10"), failed: "order not found"',
        "      1 more of this kind: run 3",
        "",
        "  warning: no run here ever called 'refund'",
        "",
        "failed: 2 of 3 runs · exit 1",
    ]


def test_counts_stand_in_columns() -> None:
    runs = [run(call("lookup", error="gone"))] * 10 + [run("hi")]
    lines = shown([checks.no_tool_errors(), checks.did_not_call("x")], runs)
    assert lines[2:4] == ["  no_tool_errors()     1 passed   10 failed", "  did_not_call('x')   11 passed"]


def test_what_else_there_is_follows_the_columns() -> None:
    runs = [run("hi", gaps=(Gap("calls", "an answer does not show calls"),)), run("hi")]
    lines = shown([checks.did_not_call("x"), checks.when(checks.called_tool("x"), checks.includes("y"))], runs)
    assert lines[2] == "  did_not_call('x')                       1 passed   1 no evidence (an answer does not show calls)"
    assert lines[3].startswith("  when(called_tool('x'), includes('y'))   1 not applicable   1 no evidence (the condition: ")


def test_a_long_check_stands_above_its_counts() -> None:
    check = checks.includes("x" * 60)
    lines = shown([check, checks.includes("hi")], [run("hi")])
    assert lines[2:5] == [f"  includes('{'x' * 60}')", "                   0 passed   1 failed", "  includes('hi')   1 passed"]


def test_a_threshold_shows_its_mean_and_the_furthest_run() -> None:
    entry = CheckEntry(checks.similarity("It is sunny.", why="as agreed"), "threshold", Bounds(0.9))
    lines = shown([entry], [run("It is sunny."), run("zzz")])
    assert "2 graded (mean 0.5, needs ≥ 0.9)" in lines[2]
    assert "  ✗ similarity('It is sunny.')  mean 0.5, needs ≥ 0.9" in lines
    assert "      why: as agreed" in lines
    assert any(line.startswith("      furthest off: run 2  likeness 0.00") for line in lines)
    assert lines[-1] == "scored: similarity('It is sunny.') has the mean 0.5, not ≥ 0.9 · exit 1"


def test_what_is_watched_is_marked_and_decides_nothing() -> None:
    lines = shown([CheckEntry(checks.includes("sunny"), "watch")], [run("rain")])
    assert "1 failed (watched)" in lines[2]
    assert "  ✗ run 1  includes('sunny')  (watched)" in lines
    assert lines[-1] == "nothing asserted: the check is only watched · exit 0"


def test_shadow_checks_are_not_shown() -> None:
    lines = shown([CheckEntry(checks.includes("sunny"), "shadow"), checks.includes("rain")], [run("rain")])
    assert not [line for line in lines if "sunny" in line]
    assert "  1 shadow check not shown: -o FILE records what they say" in lines


def test_a_broken_run_and_a_broken_record_are_told_apart() -> None:
    lines = shown([checks.includes("a")], [run("a", error="timed out"), RecordingError("no JSON", file="r.jsonl", line=2)])
    assert lines[0].startswith("1 run (quickchecks), 1 run broke off, 1 record cannot be read")
    assert "  ✗ r.jsonl:2  cannot be read" in lines
    assert "  ✗ run 1  the run itself broke off" in lines
    assert lines[-1] == "failed: 1 run broke off, 1 record cannot be read · exit 1"


def test_no_runs_at_all() -> None:
    assert shown([checks.includes("a")], []) == ["0 runs0.4 s", "", "nothing scored: there are no runs · exit 3"]


def test_many_kinds_of_failure_are_cut_short() -> None:
    runs = [run(call(f"tool{n}", error="gone")) for n in range(MAX_GROUPS + 2)]
    assert "  … and 2 more kinds of failure: -o FILE.md shows them" in shown([checks.no_tool_errors()], runs)


def test_a_comparison_shows_both_ways() -> None:
    lines = shown([checks.includes("sunny")], [run("rain"), run("sunny")], old=[checks.includes("rain")])
    start = lines.index("  compared with old.yaml")
    assert lines[start + 1 : start + 6] == [
        "    includes('sunny')",
        "      was includes('rain')",
        "      1 run: passed → failed",
        '        run 1  "sunny" is not in the answer; nothing like it is in "rain"',
        '          before: "rain" is in the answer, at 0: "rain"',
    ]
    assert "      1 run: failed → passed" in lines


def test_fail_on_shows_in_the_exit_code() -> None:
    assert shown([checks.includes("a")], [run("b")], fail_on="never")[-1] == "failed: 1 of 1 run · exit 0"


def test_hostile_names_reach_no_line() -> None:
    lines = shown([checks.no_tool_errors()], [run(call("x\x1b[2J\u202e", error="a\x07\nb"))])
    assert [c for c in "".join(lines) if not c.isprintable()] == []


def test_a_gate_that_a_number_fails_says_what_it_needs() -> None:
    mixed = checks.includes("sunny") & checks.similarity("It is sunny.")
    lines = shown([mixed], [run("It is sunny."), run("It was sunny."), run("It rains.")])
    assert "1 failed   2 graded (mean 0." in lines[2]
    assert "; a gate needs 1 on every run)" in lines[2]
    assert any(line.startswith("      graded 0.") and "and a gate needs 1; the lowest value is 0." in line for line in lines)
    assert lines[-1] == "failed: 2 of 3 runs · exit 1"


def test_a_shadow_check_alone_is_not_called_watched() -> None:
    lines = shown([CheckEntry(checks.includes("sunny"), "shadow")], [run("rain")])
    assert lines[-1] == "nothing asserted: the check is only recorded (shadow) · exit 0"
