"""What may stand in gates and in scorers, and what is refused."""

from __future__ import annotations

import pytest

from quickchecks import Gate, Scorer, Threshold, checks, create_scorer
from quickchecks._entries import gates_of, scorers_of
from quickchecks._scorer.thresholds import Bounds
from quickchecks.errors import CheckArgumentError, CheckArgumentTypeError, ScorerDefinitionError

graded = create_scorer(id="graded", description="A number.").generate_score(lambda output: len(output) / 10)


def test_gates_are_scorers_functions_and_gates() -> None:
    def polite(output: str) -> bool:
        return "please" in output

    found = gates_of([checks.includes("a"), polite, Gate(checks.includes("b"), pass_rate=0.9), {"scorer": graded}])
    assert [one.identity for one in found] == ["includes('a')", "polite", "includes('b')", "graded"]
    assert [one.pass_rate for one in found] == [1, 1, 0.9, 1]


def test_scorers_are_scorers_functions_thresholds_and_mappings() -> None:
    entries = [checks.includes("a"), Threshold(graded, min=0.5), {"scorer": checks.includes("b"), "threshold": {"max": 0}}]
    assert [one.bounds for one in scorers_of(entries)] == [None, Bounds(0.5), Bounds(max=0)]


def test_a_threshold_of_zero_is_one_and_none_is_none() -> None:
    entries = [{"scorer": graded, "threshold": 0}, {"scorer": checks.includes("b"), "threshold": None}]
    assert [one.bounds for one in scorers_of(entries)] == [Bounds(0), None]


@pytest.mark.parametrize("entry", [Threshold(graded, min=0.5), {"scorer": graded, "threshold": 0.5}])
def test_a_threshold_is_no_gate(entry: object) -> None:
    with pytest.raises(ScorerDefinitionError, match=r"put it in scorers=\[...\], or ask for less with Gate"):
        gates_of([entry])


def test_a_gate_is_no_scorer() -> None:
    with pytest.raises(ScorerDefinitionError, match=r"put it in gates=\[...\]"):
        scorers_of([Gate(graded)])


@pytest.mark.parametrize("entries", [graded, "includes('a')", {"scorer": graded}, 5])
def test_entries_are_a_list(entries: object) -> None:
    with pytest.raises(ScorerDefinitionError, match=r"write gates=\[...\]"):
        gates_of(entries)  # type: ignore[arg-type]


@pytest.mark.parametrize("entry", [5, "includes('a')", None, checks.includes, create_scorer(id="empty")])
def test_what_can_never_score_is_refused(entry: object) -> None:
    for read in (gates_of, scorers_of):
        with pytest.raises(ScorerDefinitionError):
            read([entry])


@pytest.mark.parametrize("entry", [{"scorer": graded, "treshold": 1}, {"threshold": 1}])
def test_an_unknown_key_is_refused(entry: object) -> None:
    with pytest.raises(ScorerDefinitionError, match="an entry of scorers is"):
        scorers_of([entry])


@pytest.mark.parametrize("threshold", [1.5, -0.1, "0.5", True, {}, {"minimum": 0.5}, {"min": None}, {"min": 0.8, "max": 0.2}])
def test_a_threshold_that_makes_no_sense_is_refused(threshold: object) -> None:
    with pytest.raises(CheckArgumentError):
        scorers_of([{"scorer": graded, "threshold": threshold}])


def test_a_threshold_lies_within_the_range_of_its_scorer() -> None:
    stars = create_scorer(id="stars", score_range=(0, 5)).generate_score(lambda output: 3)
    assert Threshold(stars, min=4).min == 4
    with pytest.raises(CheckArgumentError, match=r"in 0..5, where the scores lie, not 6"):
        Threshold(stars, min=6)


def test_two_of_one_identity_are_refused() -> None:
    with pytest.raises(ScorerDefinitionError, match="two of the gates of turn 1 have the identity"):
        gates_of([graded, graded], turn=1)
    with pytest.raises(ScorerDefinitionError, match="give one a name="):
        scorers_of([graded, Threshold(graded, min=0.5)])


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"pass_rate": 0}, CheckArgumentError),
        ({"pass_rate": 1.1}, CheckArgumentError),
        ({"pass_rate": float("nan")}, CheckArgumentError),
        ({"pass_rate": "0.9"}, CheckArgumentTypeError),
        ({"pass_rate": 0.9, "confidence": 1}, CheckArgumentError),
        ({"confidence": 0.95}, CheckArgumentError),
    ],
)
def test_a_gate_asks_for_what_can_be_had(options: dict[str, float], error: type[Exception]) -> None:
    with pytest.raises(error, match="a gate (takes|with)"):
        Gate(graded, **options)


def test_a_gate_in_a_gate_is_refused() -> None:
    with pytest.raises(ScorerDefinitionError):
        Gate(Gate(graded))  # type: ignore[arg-type]


def test_a_label_names_the_turn() -> None:
    assert [one.label for one in gates_of([graded], turn=2)] == ["turn 2: graded"]
    assert isinstance(gates_of([graded])[0].scorer, Scorer)


def test_plain_functions_may_block_and_checks_do_not() -> None:
    async def judge(output: str) -> bool:
        return True

    entries = [lambda output: True, graded, judge, checks.includes("a"), ~checks.includes("a")]
    assert [one.may_block for one in scorers_of(entries)] == [True, True, False, False, False]
