"""The test of a difference, its interval, and that the words, the p-value and the interval never contradict each other."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import pytest
from scipy import stats

from quickchecks import _stats
from quickchecks._results.changes import ScorerChange
from quickchecks._results.differences import Paired, told


def flips(broke: int, mended: int, same: int) -> Paired:
    before, after = [1.0] * broke + [0.0] * mended + [1.0] * same, [0.0] * broke + [1.0] * mended + [1.0] * same
    return Paired.of("check", before, after, plain=True)


def numbers(differences: list[float]) -> Paired:
    return Paired.of("given", [0.0] * len(differences), differences, plain=False)


def agrees(one: ScorerChange) -> bool:
    """Whether the interval leaves 0 out exactly when the words call it a difference."""
    assert one.interval is not None
    low, high = one.interval
    called = ": worse (" in one.said or ": better (" in one.said
    reaches_0 = low < 0 < high or (not called and low <= 0 <= high)
    return called is (one.p_value < 0.05) and reaches_0 is not called and low <= one.difference <= high


@pytest.mark.parametrize("others", [0, 1, 3])
@pytest.mark.parametrize("same", [0, 1, 5, 40])
def test_the_interval_of_flips_agrees_with_the_test(same: int, others: int) -> None:
    for broke in range(15):
        for mended in range(15):
            if broke + mended + same > 1:
                found = told([flips(broke, mended, same), *[flips(0, 0, 9)] * others])[0]
                assert agrees(found), (found, broke, mended)


@pytest.mark.parametrize("seed", range(12))
def test_the_interval_of_numbers_agrees_with_the_test(seed: int) -> None:
    random = Random(seed)
    pairs = [
        numbers([random.gauss(shift, 1) ** power for _ in range(random.randint(2, 30))])
        for shift, power in ((0, 1), (0.5, 1), (1, 3), (-1, 3), (1, 7))
    ]
    assert all(map(agrees, told(pairs)))


def test_the_level_of_the_interval_is_that_of_holm() -> None:
    found = told([flips(9, 0, 9), flips(3, 0, 9), flips(1, 0, 9)])
    assert [one.confidence for one in found] == [pytest.approx(1 - 0.05 / n, abs=1e-6) for n in (3, 2, 1)]
    assert found[0].interval == pytest.approx(_stats.paired_interval(9, 0, 18, 1 - 0.05 / 3))
    assert "98.3 % interval" in found[0].said
    assert found[0].said.endswith("worse (p = 0.012, adjusted for 3 scorers)")


def test_equal_p_values_have_equal_levels() -> None:
    assert {one.confidence for one in told([flips(0, 0, 9)] * 4)} == {0.9875}


def test_one_scorer_has_the_interval_of_95_percent() -> None:
    (one,) = told([numbers([0.1, 0.4, 0.2, 0.3, 0.5, 0.2, 0.1])])
    wanted = stats.ttest_1samp([0.1, 0.4, 0.2, 0.3, 0.5, 0.2, 0.1], 0).confidence_interval(0.95)
    assert one.confidence == 0.95
    assert one.interval == pytest.approx(tuple(wanted))


def test_the_interval_of_numbers_is_students_at_the_level_of_holm() -> None:
    differences = [0.1, 0.4, 0.2, 0.3, 0.5, 0.2, 0.1, 0.3]
    one, _ = told([numbers(differences), flips(0, 0, 9)])
    wanted = stats.ttest_1samp(differences, 0).confidence_interval(0.975)
    assert one.interval == pytest.approx(tuple(wanted), rel=1e-6)


@pytest.mark.parametrize(
    ("pair", "why"),
    [
        (flips(1, 0, 0), "no interval can be told from 1 item"),
        (numbers([-0.8]), "no interval can be told from 1 item"),
        (numbers([-0.8] * 12), "no interval can be told: all differ by the same"),
        (Paired.of("given", [0.1, 0.3], [0.2, 0.4], plain=False), "no interval can be told: all differ by the same"),
        (numbers([0.0] * 4), "no interval can be told: all differ by the same"),
    ],
)
def test_where_no_interval_can_be_told_none_is_shown(pair: Paired, why: str) -> None:
    (one,) = told([pair])
    assert one.interval is None
    assert f"; {why})" in one.said


def test_an_interval_that_the_test_cuts_at_0_says_that_0_is_outside() -> None:
    """Six falls of very different size: the permutation test is sure of the direction, and Student's interval is not."""
    (down,), (up,) = told([numbers([-0.01] * 5 + [-1.0])]), told([numbers([0.01] * 5 + [1.0])])
    assert "interval -0.599 to below 0) on 6 items: worse (p = 0.031)" in down.said
    assert "interval above 0 to +0.599) on 6 items: better (p = 0.031)" in up.said


@pytest.mark.parametrize("size", [1e200, 1.7e308])
def test_gigantic_numbers_are_compared_as_others_are(size: float) -> None:
    before, after = [size] * 7 + [-size], [-size, *[size * (share / 10) for share in range(1, 7)], -size]
    (one,) = told([Paired.of("given", before, after, plain=False)])
    (small,) = told([Paired.of("given", [value / size for value in before], [value / size for value in after], plain=False)])
    assert (one.p_value, small.p_value) == (0.015625, 0.015625)
    assert one.difference == pytest.approx(small.difference * size)
    assert one.interval is not None
    assert all(abs(bound) < float("inf") for bound in one.interval)


def test_numbers_at_the_ends_of_what_can_be_written_stay_numbers() -> None:
    (one,) = told([Paired.of("given", [1.7e308] * 3, [-1.7e308, -1.7e308, 1.0], plain=False)])
    assert one.difference == -1.7976931348623157e308
    assert one.interval is not None
    assert one.interval[0] == -1.7976931348623157e308


def test_mcnemar_counts_values_and_the_test_of_more_flips_is_smaller() -> None:
    p_values = [flips(broke, 0, 20).change.p_value for broke in range(12)]
    assert p_values == [pytest.approx(stats.binomtest(0, n, 0.5).pvalue if n else 1) for n in range(12)]
    assert all(first >= second for first, second in pairwise(p_values))
