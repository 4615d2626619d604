"""Gates and thresholds: how entries are read, and what they say of all items. The statistics are tested with theirs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quickchecks import Gate, Score, Threshold, create_scorer
from quickchecks._gates import AssertionResult, Counts, gates_of, judge, scorers_of, verdict_of
from quickchecks._score import Outcome
from quickchecks.errors import CheckArgumentError

graded = create_scorer(id="graded", description="A number.").generate_score(lambda output: len(output) / 10)

OUTCOMES: Mapping[float | str, tuple[Outcome, float | None]] = {
    1: ("passed", 1.0),
    0: ("failed", 0.0),
    "na": ("not_applicable", None),
    "ne": ("no_evidence", None),
    "error": ("error", None),
}


def score(told: float | str | None) -> Score | None:
    """A score of a short word; None stays None, which stands for an item that broke before."""
    if told is None:
        return None
    outcome, value = OUTCOMES.get(told, ("graded", told if isinstance(told, float) else None))
    return Score(graded, outcome, value)


def judged(entry: object, *items: float | str | list[float | str | None] | None, role: str = "gate") -> AssertionResult:
    """What an entry says of items, each told by one word or by one a repetition."""
    (assertion,) = gates_of([entry]) if role == "gate" else scorers_of([entry])
    scores = {}
    for number, told in enumerate(items):
        every = told if isinstance(told, list) else [told]
        scores[str(number)] = [score(one) for one in every]
    result = judge(assertion, scores)
    assert result is not None
    return result


class TestGates:
    def test_a_gate_passes_when_every_item_does(self) -> None:
        result = judged(graded, 1, 1, 1)
        assert result.passed
        assert result.explanation.startswith("3 of 3 items passed")

    def test_one_failure_fails_it_and_is_named(self) -> None:
        result = judged(graded, 1, 0, 1)
        assert (result.verdict, result.below) == ("failed", ("1",))
        assert result.explanation.startswith("2 of 3 items passed")

    @pytest.mark.parametrize("value", [0.9999999999999999, 0.999, 0.5])
    def test_there_is_no_tolerance(self, value: float) -> None:
        assert judged(graded, 1, value).verdict == "failed"

    def test_what_does_not_apply_is_left_out(self) -> None:
        assert judged(graded, 1, "na").passed

    @pytest.mark.parametrize("items", [("na", "na"), ("ne",), (1, "ne"), (None,)])
    def test_nothing_and_missing_evidence_are_undecided(self, items: Sequence[str | None]) -> None:
        assert judged(graded, *items).verdict == "undecided"

    def test_a_failure_beats_missing_evidence(self) -> None:
        assert judged(graded, 0, "ne").verdict == "failed"

    def test_a_scorer_that_broke_fails_its_gate(self) -> None:
        result = judged(graded, 1, "error")
        assert result.verdict == "failed"
        assert "the scorer broke on 1" in result.explanation

    def test_items_that_broke_are_told_beside_the_rate(self) -> None:
        assert judged(graded, 1, None).explanation.endswith("; 1 more broke before it could be judged")

    def test_every_repetition_has_to_pass(self) -> None:
        result = judged(graded, [1, 1], [1, 0])
        assert (result.verdict, result.below) == ("failed", ("1",))
        assert result.explanation.startswith("3 of 4 runs passed")
        assert result.score == 0.75

    def test_a_pass_rate_asks_less(self) -> None:
        assert judged(Gate(graded, pass_rate=0.75), 1, 1, 1, 0).passed
        result = judged(Gate(graded, pass_rate=0.8), 1, 1, 1, 0)
        assert result.verdict == "failed"
        assert result.explanation.endswith(", 80 % are wanted")

    def test_where_no_item_passes_the_gate_fails_however_little_it_asks(self) -> None:
        assert judged(Gate(graded, pass_rate=0.001), 0).verdict == "failed"
        assert judged(Gate(graded, pass_rate=0.001), *[0] * 999, 1).verdict == "passed"

    @pytest.mark.parametrize(
        ("rates", "said"),
        [
            ({"pass_rate": 1e-10}, "pass_rate from 0.001 up to 1, not 1e-10$"),
            ({"pass_rate": 95}, "not 95; for 95 % write 0.95$"),
            ({"pass_rate": 0.9, "confidence": 0.05}, "confidence from 0.5 to below 1, not 0.05$"),
        ],
    )
    def test_a_gate_that_could_hardly_fail_is_refused(self, rates: dict[str, float], said: str) -> None:
        with pytest.raises(CheckArgumentError, match=said):
            Gate(graded, **rates)

    def test_a_confidence_that_cannot_be_had_says_how_many_more_would_decide(self) -> None:
        result = judged(Gate(graded, pass_rate=0.9, confidence=0.95), *[1] * 20)
        assert result.verdict == "undecided"
        assert "9 more clean items would decide" in result.explanation
        assert judged(Gate(graded, pass_rate=0.9, confidence=0.95), *[1] * 29).passed

    @given(st.lists(st.sampled_from([0, 1, 0.5, "na", "ne", "error", None]), max_size=8))
    def test_it_passes_only_when_something_passed_and_nothing_else_happened(self, items: list[float | str | None]) -> None:
        result = judged(graded, *items)
        assert result.passed == (1 in items and not {0, 0.5, "ne", "error"} & set(items))

    def test_what_is_named_is_what_the_count_is_about(self) -> None:
        result = judged(Gate(graded, pass_rate=0.3), 1, 0, "ne", 0)
        assert (result.verdict, result.below) == ("undecided", ("2",))
        assert result.explanation.endswith("; no evidence on 1")
        result = judged(Gate(graded, pass_rate=0.3), 1, 0, "error", ["na", "error"])
        assert (result.verdict, result.below) == ("failed", ("2", "3"))
        assert judged(graded, 1, 0, "error").below == ("1", "2")


class TestThresholds:
    def test_what_is_named_is_what_the_count_is_about(self) -> None:
        result = judged(Threshold(graded, min=0.8), 1, 0, "ne", 0, role="scorer")
        assert (result.verdict, result.below) == ("undecided", ("2",))
        result = judged(Threshold(graded, min=0.8), "na", "ne", role="scorer")
        assert (result.explanation, result.below) == ("no evidence on 1", ("1",))
        result = judged(Threshold(graded, min=0.8), "na", "error", role="scorer")
        assert (result.verdict, result.below) == ("undecided", ("1",))

    def test_the_mean_decides_and_the_items_outside_are_named(self) -> None:
        result = judged(Threshold(graded, min=0.8), 1, 1, 1, 0.4, role="scorer")
        assert (result.verdict, result.below) == ("passed", ("3",))
        assert result.explanation == "the mean is 0.85, ≥ 0.8 is wanted; outside are '3'"

    def test_a_missed_one_is_scored(self) -> None:
        assert judged(Threshold(graded, min=0.8), 0.4, role="scorer").verdict == "scored"
        assert judged(Threshold(graded, max=0.2), 0.4, role="scorer").verdict == "scored"

    def test_the_noise_of_floats_is_forgiven_and_nothing_more(self) -> None:
        assert judged(Threshold(graded, min=0.9, max=0.9), 0.9, 0.9, 0.9, role="scorer").passed
        result = judged(Threshold(graded, min=0.7), 0.6999, role="scorer")
        assert result.explanation.startswith("the mean is 0.6999, ≥ 0.7 is wanted")

    def test_repetitions_of_an_item_are_averaged_first(self) -> None:
        assert judged(Threshold(graded, min=0.5), [1, 1, 1, 1], [0], role="scorer").score == 0.5

    @pytest.mark.parametrize(
        ("items", "said"),
        [
            (("na",), "it does not apply to 1"),
            (("ne",), "no evidence on 1"),
            ((1, "ne"), "no evidence on 1"),
            (("error",), "the scorer broke on 1"),
            ((None,), "1 broke"),
        ],
    )
    def test_nothing_and_missing_evidence_are_undecided(self, items: Sequence[str | None], said: str) -> None:
        result = judged(Threshold(graded, min=0), *items, role="scorer")
        assert result.verdict == "undecided"
        assert said in result.explanation

    def test_what_broke_is_told_beside_the_mean(self) -> None:
        assert "(2 broke and are left out)" in judged(Threshold(graded, min=0), 1, "error", None, role="scorer").explanation


def test_what_is_only_measured_is_not_judged() -> None:
    (assertion,) = scorers_of([graded])
    assert judge(assertion, {"a": [score(1)]}) is None


def test_counts_tell_every_outcome_apart() -> None:
    counts = Counts.of([score(told) for told in (1, 0, 0.5, "na", "ne", "error", None)])
    assert counts == Counts(1, 1, 1, 1, 1, 1, 1)
    assert counts.judged == 3


def test_the_verdict_is_the_first_that_holds() -> None:
    def result(verdict: str) -> AssertionResult:
        return AssertionResult("x", verdict, "", Counts())  # type: ignore[arg-type]

    every = [result(verdict) for verdict in ("passed", "scored", "undecided", "failed")]
    found = [verdict_of(every[: many + 1], errors=0, max_errors=0) for many in range(4)]
    assert found == ["passed", "scored", "undecided", "failed"]
    assert verdict_of([result("passed")], errors=1, max_errors=0) == "failed"
    assert verdict_of([result("passed")], errors=1, max_errors=1) == "passed"
    assert verdict_of([], errors=5, max_errors=0) is None
