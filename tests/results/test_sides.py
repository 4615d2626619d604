"""How an item moved between two results, by the shares of its repetitions that stand."""

from __future__ import annotations

from itertools import product

import pytest

from quickchecks._results.sides import step


@pytest.mark.parametrize(
    ("before", "after", "direction"),
    [
        ((1, 1), (0, 1), "broke"),
        ((1, 1), (2, 3), "broke"),
        ((3, 3), (2, 3), "broke"),
        ((2, 3), (0, 3), "broke"),
        ((2, 3), (0, 1), "broke"),
        ((3, 5), (2, 5), "worse"),
        ((2, 3), (3, 5), "worse"),
        ((0, 3), (2, 3), "better"),
        ((0, 3), (3, 3), "mended"),
        ((2, 3), (1, 1), "mended"),
        ((1, 3), (2, 6), None),
        ((0, 0), (0, 3), None),
        ((3, 3), (0, 0), None),
    ],
)
def test_a_step(before: tuple[int, int], after: tuple[int, int], direction: str | None) -> None:
    assert step(before, after) == direction


def test_no_fall_is_silent_and_no_rise_is_a_fall() -> None:
    shares = [(good, of) for of in range(1, 6) for good in range(of + 1)]
    for (was, of), (now, now_of) in product(shares, shares):
        difference = now / now_of - was / of
        found = step((was, of), (now, now_of))
        assert (found in ("broke", "worse")) is (difference < -1e-12)
        assert (found in ("mended", "better")) is (difference > 1e-12)
