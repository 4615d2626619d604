"""What is counted, run by run, and what the counts say together."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from quickchecks import checks, create_scorer
from quickchecks._results.result import FailOn, RunsResult
from quickchecks._results.tally import MAX_EXAMPLES, MAX_GROUPS, Tally, entry_of
from quickchecks._run import Gap, Run
from quickchecks._scorer.checks_file import CheckEntry
from quickchecks._scorer.pipeline import Scorer
from quickchecks._scorer.thresholds import Bounds
from quickchecks.errors import RecordingError, ScorerDefinitionError
from quickchecks.testing import call, run

SUNNY = run("It is sunny.")
RAINY = run("It rains.")
UNREADABLE = RecordingError("expected an object, got 3", file="runs.jsonl", line=4)
STRING = run("It is sunny.", gaps=(Gap("calls", "a text does not show calls"),))
BROKE_OFF = run("It is sunny.", error="timed out")

includes = checks.includes("sunny")
half = create_scorer(id="half").generate_score(lambda run: 0.5)
broken = create_scorer(id="broken").generate_score(lambda run: 1 / 0)


def tallied(
    entries: Sequence[CheckEntry | Scorer],
    runs: Sequence[Run | RecordingError],
    *,
    max_errors: int = 0,
    interrupted: bool = False,
) -> RunsResult:
    tally = Tally([entry_of(one) if isinstance(one, Scorer) else one for one in entries], max_errors=max_errors)
    for one in runs:
        if isinstance(one, RecordingError):
            tally.add(None, (), one)
        else:
            tally.add(one, [scorer.score(one) for scorer in tally.scorers])
    return tally.result(interrupted=interrupted)


def threshold(scorer: Scorer, low: float) -> CheckEntry:
    return CheckEntry(scorer, "threshold", Bounds(low))


def watched(scorer: Scorer) -> CheckEntry:
    return CheckEntry(scorer, "watch")


@pytest.mark.parametrize(
    ("entries", "runs", "verdict", "code"),
    [
        ([includes], [SUNNY], "passed", 0),
        ([includes], [SUNNY, RAINY], "failed", 1),
        ([CheckEntry(broken, "gate")], [SUNNY], "failed", 1),
        ([includes], [], "undecided", 3),
        ([checks.did_not_call("refund")], [run("Hi."), STRING], "undecided", 3),
        ([checks.when(checks.called_tool("refund"), includes)], [SUNNY], "undecided", 3),
        ([checks.did_not_call("refund"), includes], [STRING, RAINY], "failed", 1),
        ([threshold(includes, 0.5)], [SUNNY, RAINY], "passed", 0),
        ([threshold(includes, 0.6)], [SUNNY, RAINY], "scored", 1),
        ([threshold(half, 0.7)], [SUNNY], "scored", 1),
        ([threshold(checks.called_tool("refund"), 0.1)], [run(call("refund")), STRING], "undecided", 3),
        ([threshold(includes, 0.6), includes], [SUNNY, RAINY], "failed", 1),
        ([threshold(broken, 0.6)], [SUNNY], "failed", 1),
        ([CheckEntry(half, "gate")], [SUNNY], "failed", 1),
        ([checks.similarity("It pours.")], [SUNNY], None, 0),
        ([half], [SUNNY], "failed", 1),  # nothing says that it grades, so it is asserted like any other
        ([watched(includes)], [RAINY], None, 0),
        ([watched(includes)], [SUNNY, UNREADABLE], "failed", 1),
        ([CheckEntry(includes, "shadow")], [RAINY], None, 0),
        ([includes], [SUNNY, UNREADABLE], "failed", 1),
        ([includes], [SUNNY, BROKE_OFF], "failed", 1),
    ],
)
def test_the_verdict_and_the_exit_code(
    entries: list[CheckEntry | Scorer], runs: list[Run | RecordingError], verdict: str | None, code: int
) -> None:
    result = tallied(entries, runs)
    assert (result.verdict, result.exit_code()) == (verdict, code)


@pytest.mark.parametrize(
    ("entry", "fail_on", "code"),
    [
        (threshold(includes, 0.6), "any", 1),
        (threshold(includes, 0.6), "gates", 0),
        (threshold(includes, 0.6), "never", 0),
        (entry_of(includes), "gates", 1),
        (entry_of(includes), "never", 0),
        (entry_of(checks.did_not_call("x") & checks.when(checks.called_tool("x"), includes)), "gates", 0),
        (entry_of(checks.when(checks.called_tool("x"), includes)), "gates", 3),
        (threshold(checks.when(checks.called_tool("x"), includes), 0.5), "gates", 3),
        (threshold(checks.when(checks.called_tool("x"), includes), 0.5), "never", 3),
        (entry_of(checks.when(checks.called_tool("x"), includes)), "never", 3),
    ],
)
def test_fail_on_decides_what_a_failure_is(entry: CheckEntry, fail_on: FailOn, code: int) -> None:
    assert tallied([entry], [SUNNY, RAINY]).exit_code(fail_on) == code


@pytest.mark.parametrize("fail_on", ["any", "gates", "never"])
def test_nothing_scored_is_never_success(fail_on: FailOn) -> None:
    assert tallied([includes], []).exit_code(fail_on) == 3
    assert tallied([half], []).exit_code(fail_on) == 3
    answers = [STRING]
    for mode in ("gate", "watch", "shadow"):
        result = tallied([CheckEntry(checks.used_no_tools(), mode)], answers)
        assert (result.nothing_scored, result.exit_code(fail_on)) == (True, 3)
    assert tallied([checks.used_no_tools(), CheckEntry(includes, "watch")], answers).exit_code(fail_on) == 3, "it is undecided"


@pytest.mark.parametrize("fail_on", ["any", "gates", "never"])
def test_an_interrupted_result_is_never_success(fail_on: FailOn) -> None:
    result = tallied([includes], [SUNNY], interrupted=True)
    assert (result.verdict, result.exit_code(fail_on)) == ("undecided", 130)


def test_max_errors_forgives_records_and_runs_that_broke_off() -> None:
    runs: list[Run | RecordingError] = [SUNNY, UNREADABLE, BROKE_OFF]
    assert tallied([includes], runs, max_errors=1).verdict == "failed"
    assert tallied([includes], runs, max_errors=2).verdict == "passed"


def test_max_errors_never_forgives_a_broken_gate() -> None:
    assert tallied([CheckEntry(broken, "gate")], [SUNNY], max_errors=9).verdict == "failed"
    assert tallied([threshold(broken, 0.5), includes], [SUNNY], max_errors=1).verdict == "undecided"


def test_a_check_does_not_pass_on_a_run_that_broke_off_but_fails_on_it() -> None:
    result = tallied([includes], [BROKE_OFF, run("It rains.", error="timed out")], max_errors=2)
    assert (result.scorers[0].passed, result.scorers[0].set_aside, result.scorers[0].failed) == (0, 1, 1)
    assert tallied([includes], [BROKE_OFF], max_errors=1).verdict == "undecided"


def test_every_outcome_is_counted_apart() -> None:
    both = checks.when(checks.called_tool("refund"), checks.includes("sunny"))
    runs = [run(call("refund"), "sunny"), run(call("refund"), "rain"), run("hi"), STRING]
    counted = tallied([both, half, broken], runs).scorers
    assert (counted[0].passed, counted[0].failed, counted[0].not_applicable, counted[0].no_evidence) == (1, 1, 1, 1)
    assert (counted[1].graded, counted[1].mean) == (4, 0.5)
    assert counted[2].error == 4


def test_two_entries_of_one_scorer_are_judged_apart_and_scored_once() -> None:
    entries = [threshold(includes, 0.4), threshold(includes, 0.9)]
    assert Tally(entries).scorers == (includes,)
    assert [one.verdict for one in tallied(entries, [SUNNY, RAINY]).scorers] == ["passed", "scored"]


def test_two_different_checks_of_one_name_are_refused() -> None:
    one, other = checks.includes("a", name="same"), checks.includes("b", name="same")
    with pytest.raises(ScorerDefinitionError, match="two different checks are called 'same'"):
        Tally([entry_of(one), threshold(other, 0.5)])


def test_failures_of_one_kind_are_one_group_with_the_first_places() -> None:
    failing = [run(call("lookup", order=str(n), error=f"order {n} not found")) for n in range(MAX_EXAMPLES + 3)]
    result = tallied([checks.no_tool_errors(why="users wait")], [*failing, run(call("lookup", unfinished=True))])
    groups = [(group.count, len(group.examples), group.examples[0].place) for group in result.failures]
    assert groups == [(MAX_EXAMPLES + 3, MAX_EXAMPLES, "run 1"), (1, 1, f"run {MAX_EXAMPLES + 4}")]
    assert result.failures[0].why == "users wait"
    assert "order 0 not found" in result.failures[0].examples[0].reason


def test_hostile_names_do_not_make_groups_without_end() -> None:
    runs = [run(call(f"tool_{n}", error="boom")) for n in range(MAX_GROUPS + 50)]
    result = tallied([checks.no_tool_errors()], runs)
    assert len(result.failures) == MAX_GROUPS + 1
    assert sum(group.count for group in result.failures) == len(runs)


def test_what_counts_comes_before_what_is_watched() -> None:
    result = tallied([watched(includes), checks.excludes("rain")], [RAINY, STRING])
    assert [(group.scorer, group.asserted) for group in result.failures] == [
        ("excludes('rain')", True),
        ("includes('sunny')", False),
    ]


def test_shadow_checks_are_counted_and_nothing_more() -> None:
    result = tallied([CheckEntry(includes, "shadow"), checks.excludes("hail")], [RAINY])
    assert (result.scorers[0].failed, result.failures, result.failing_runs) == (1, (), 0)


def test_records_that_cannot_be_read_are_grouped_by_what_is_wrong() -> None:
    errors = [
        RecordingError(f"expected a role, got 'r{n}'", file="runs.jsonl", line=n, path=f"messages[{n}].role") for n in (3, 4)
    ]
    group = tallied([includes], [*errors, SUNNY]).failures[0]
    assert (group.kind, group.count, group.examples[0].place) == ("unreadable", 2, "runs.jsonl:3")
    assert group.examples[0].reason == "at messages[3].role: expected a role, got 'r3'"


def test_the_hint_of_an_unreadable_record_is_kept() -> None:
    error = RecordingError("no format knows this", file="runs.jsonl", hint="try --map messages=a.b")
    assert tallied([includes], [error]).failures[0].examples[0].reason.endswith("; try --map messages=a.b")


def test_formats_and_gaps_are_counted() -> None:
    orphan = [Gap("orphan_result", f"a result of {name} has no call", name) for name in ("search", "refund")]
    result = tallied([includes], [SUNNY, STRING, *(run("sunny", gaps=(gap,)) for gap in orphan)])
    assert result.formats == {"quickchecks": 4}
    assert [(gap.note, gap.runs, gap.first) for gap in result.gaps] == [
        ("a result of a tool has no call", 2, "run 3"),
        ("a text does not show calls", 1, "run 2"),
    ]


def test_the_furthest_run_of_a_missed_threshold_is_named() -> None:
    similar = checks.similarity("It is sunny.")
    result = tallied([threshold(similar, 0.9)], [SUNNY, run("zzz qqq"), RAINY])
    assert result.scorers[0].furthest is not None
    assert result.scorers[0].furthest.place == "run 2"


def test_failing_runs_are_counted_once() -> None:
    result = tallied([includes, checks.called_tool("search")], [RAINY, SUNNY, run(call("search"), "sunny")])
    assert (result.failing_runs, result.explanation) == (2, "2 of 3 runs")


def test_an_explanation_names_what_is_undecided_or_missed() -> None:
    never = checks.when(checks.called_tool("x"), includes)
    assert tallied([never], [SUNNY]).explanation.endswith("could be judged on no run")
    undecided = tallied([checks.did_not_call("x")], [STRING, SUNNY])
    assert undecided.explanation == "did_not_call('x') has no evidence on 1 of 2 runs"
    assert tallied([threshold(includes, 0.9)], [SUNNY, RAINY]).explanation == "includes('sunny') has the mean 0.5, not ≥ 0.9"


def test_add_returns_the_scores_that_say_that_something_is_wrong() -> None:
    tally = Tally([entry_of(includes), watched(checks.excludes("rain")), CheckEntry(checks.equals("x"), "shadow")])
    wrong = tally.add(RAINY, [scorer.score(RAINY) for scorer in tally.scorers])
    assert [score.scorer.identity for score in wrong] == ["includes('sunny')", "excludes('rain')"]


def test_a_combination_is_a_gate_unless_all_of_it_is_graded() -> None:
    mixed = checks.includes("sunny") & checks.similarity("It is sunny.")
    result = tallied([mixed], [SUNNY, run("It was sunny."), RAINY])
    [counted] = result.scorers
    assert (counted.mode, counted.graded, counted.failed, counted.verdict) == ("gate", 2, 1, "failed")
    assert (result.verdict, result.failing_runs, result.explanation) == ("failed", 2, "2 of 3 runs")
    assert tallied([mixed], [SUNNY]).verdict == "passed"
    assert entry_of(checks.similarity("a") & checks.similarity("b")).mode == "watch"


def test_a_gate_says_that_a_number_below_one_fails_it() -> None:
    result = tallied([CheckEntry(half, "gate")], [SUNNY])
    assert result.failures[0].examples[0].reason.startswith("graded 0.5, and a gate needs 1; ")


@pytest.mark.parametrize(
    ("entries", "explanation"),
    [
        ([watched(includes)], "the check is only watched"),
        ([CheckEntry(includes, "shadow")], "the check is only recorded (shadow)"),
        ([CheckEntry(includes, "shadow"), CheckEntry(half, "shadow")], "the checks are only recorded (shadow)"),
        ([watched(includes), CheckEntry(half, "shadow")], "the checks are only watched, or only recorded (shadow)"),
    ],
)
def test_an_explanation_says_why_nothing_is_asserted(entries: list[CheckEntry], explanation: str) -> None:
    result = tallied(entries, [SUNNY])
    assert (result.verdict, result.explanation) == (None, explanation)
