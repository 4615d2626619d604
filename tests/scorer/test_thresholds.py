"""The bounds within which a value has to lie."""

from __future__ import annotations

import pytest

from quickchecks._scorer.thresholds import Bounds
from quickchecks.errors import CheckArgumentError, CheckArgumentTypeError


@pytest.mark.parametrize(
    ("bounds", "value", "met"),
    [
        (Bounds(0.7), 0.7, True),
        (Bounds(0.7), 0.7 - 1e-10, True),
        (Bounds(0.7), 0.69, False),
        (Bounds(max=0.2), 0.2 + 1e-10, True),
        (Bounds(max=0.2), 0.21, False),
        (Bounds(0.2, 0.4), 0.1, False),
        (Bounds(0.2, 0.4), 0.3, True),
        (Bounds(0), 0.0, True),
    ],
)
def test_both_bounds_are_included_but_for_the_noise_of_floats(bounds: Bounds, value: float, met: bool) -> None:
    assert bounds.met(value) is met


@pytest.mark.parametrize("limits", [{}, {"min": 2, "max": 1}, {"min": float("nan")}, {"max": float("inf")}])
def test_bounds_that_decide_nothing_are_refused(limits: dict[str, float]) -> None:
    with pytest.raises(CheckArgumentError):
        Bounds(**limits)


@pytest.mark.parametrize("limit", ["0.7", True])
def test_a_limit_is_a_number(limit: float) -> None:
    with pytest.raises(CheckArgumentTypeError, match="takes min as a number"):
        Bounds(limit)


def test_a_limit_outside_the_range_of_the_scorer_is_refused() -> None:
    assert Bounds(5).within((0.0, 10.0)) == Bounds(5)
    with pytest.raises(CheckArgumentError, match="for 70 % write 0.7"):
        Bounds(70).within((0.0, 1.0))


@pytest.mark.parametrize(("bounds", "shown"), [(Bounds(0.7), "≥ 0.7"), (Bounds(max=0.2), "≤ 0.2"), (Bounds(0, 1), "0–1")])
def test_bounds_are_written_for_people(bounds: Bounds, shown: str) -> None:
    assert str(bounds) == shown
