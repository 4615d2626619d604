"""Gates that ask for a share, or for confidence: what decides, and the sentence that says so."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from quickchecks import Gate, checks, run_evals_sync
from quickchecks import testing as t
from quickchecks._gates import AssertionResult


def judged(answers: Sequence[str], pass_rate: float, confidence: float | None = None, repetitions: int = 1) -> AssertionResult:
    """What comes of a gate on recorded answers; "ok" passes. With repetitions, each item's answers follow one another."""
    left = {
        f"i{item}": list(answers[item * repetitions : (item + 1) * repetitions]) for item in range(len(answers) // repetitions)
    }
    data = [{"id": item, "input": item} for item in left]
    gate = Gate(checks.includes("ok"), pass_rate=pass_rate, confidence=confidence)
    result = run_evals_sync(data, lambda item: left[item].pop(0), gates=[gate], repetitions=repetitions, concurrency=1)
    assert result.verdict == result.gate_results[0].verdict
    return result.gate_results[0]


def test_too_few_clean_items_leave_it_undecided_and_say_how_many_more_would_decide() -> None:
    found = judged(["ok"] * 40, 0.95, 0.95)
    assert found.verdict == "undecided"
    assert (
        found.explanation == "40 of 40 passed proves 92 %, 95 % with 95 % confidence is wanted; 19 more clean items would decide"
    )


def test_so_many_more_do_decide_and_one_less_does_not() -> None:
    assert judged(["ok"] * 59, 0.95, 0.95).verdict == "passed"
    assert judged(["ok"] * 59, 0.95, 0.95).explanation == "59 of 59 items passed, which proves 95 %"
    assert judged(["ok"] * 58, 0.95, 0.95).explanation.endswith("; 1 more clean item would decide")


def test_a_share_below_the_wanted_one_fails_whatever_the_confidence() -> None:
    found = judged(["ok"] * 37 + ["no"] * 3, 0.95, 0.95)
    assert found.verdict == "failed"
    assert found.explanation == "37 of 40 items passed (92.5 %, 95 % interval 80–97 %), 95 % are wanted"
    assert found.below == ("i37", "i38", "i39")


def test_a_share_above_the_wanted_one_is_undecided_until_it_is_proved() -> None:
    assert judged(["ok"] * 39 + ["no"], 0.95, 0.95).verdict == "undecided"
    assert judged(["ok"] * 99 + ["no"], 0.95, 0.95).verdict == "passed"


def test_without_confidence_the_share_alone_decides() -> None:
    assert judged(["ok"] * 19 + ["no"], 0.95).verdict == "passed"
    assert judged(["ok"] * 18 + ["no"] * 2, 0.95).verdict == "failed"
    assert judged(["ok"] * 9 + ["no"], 0.9).verdict == "passed"


def test_repetitions_of_an_item_are_no_more_evidence_than_the_item() -> None:
    found = judged(["ok"] * 60, 0.9, 0.95, repetitions=3)
    assert found.verdict == "undecided"
    assert found.explanation.startswith("20 of 20 passed proves 86 %")


def test_an_item_counts_as_clean_when_all_its_repetitions_pass() -> None:
    found = judged((["ok"] * 3) * 39 + ["ok", "no", "ok"], 0.9, 0.9, repetitions=3)
    assert found.verdict == "passed"
    assert found.explanation == "39 of 40 items passed, which proves 90 %"
    assert found.below == ("i39",)


def test_the_interval_of_repetitions_is_wider_than_that_of_as_many_items() -> None:
    repeated = judged((["ok"] * 5) * 9 + ["no"] * 5, 0.5, repetitions=5).interval
    single = judged(["ok"] * 45 + ["no"] * 5, 0.5).interval
    assert repeated is not None
    assert single is not None
    assert repeated[0] < single[0] - 0.1


def test_what_is_not_applicable_is_no_evidence_for_the_share() -> None:
    gate = Gate(checks.when(checks.called_tool("refund"), checks.includes("ok")), pass_rate=0.5, confidence=0.9)
    data = [{"id": str(number), "run": t.run(t.call("refund") if number < 2 else t.call("look"), "ok")} for number in range(50)]
    (found,) = run_evals_sync(data, None, gates=[gate]).gate_results
    assert found.verdict == "undecided"
    assert found.explanation.startswith("2 of 2 passed proves 31 %")


@pytest.mark.parametrize(
    ("pass_rate", "confidence"), [(0, None), (1.1, None), (1, 0.95), (0.9, 1), (0.9, 0), (float("nan"), None)]
)
def test_what_no_number_of_items_can_decide_is_refused(pass_rate: float, confidence: float | None) -> None:
    with pytest.raises(ValueError, match="a gate (takes|with a confidence)"):
        Gate(checks.includes("ok"), pass_rate=pass_rate, confidence=confidence)
