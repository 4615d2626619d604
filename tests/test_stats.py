"""The statistics: equal to SciPy's where SciPy has them, conservative where they must be, covering where they are shown."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import combinations
from math import comb, inf, isclose
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from quickchecks import _stats

SHARES = [tenth / 10 for tenth in range(1, 10)]
counts = st.integers(0, 300).flatmap(lambda count: st.tuples(st.integers(0, count), st.just(count)))


def binomial(count: int, passed: int, rate: float) -> float:
    return comb(count, passed) * rate**passed * (1 - rate) ** (count - passed)


@given(counts, st.sampled_from([0.5, 0.8, 0.9, 0.95, 0.99]))
def test_wilson_is_that_of_scipy(observed: tuple[int, int], confidence: float) -> None:
    passed, count = observed
    if not count:
        assert _stats.wilson_interval(passed, count, confidence) == (0, 1)
        return
    wanted = scipy_stats.binomtest(passed, count).proportion_ci(confidence, method="wilson")
    assert _stats.wilson_interval(passed, count, confidence) == pytest.approx((wanted.low, wanted.high), abs=1e-12)


@given(counts, st.sampled_from([0.5, 0.8, 0.9, 0.95, 0.99, 0.999]))
def test_the_lower_bound_is_that_of_clopper_and_pearson(observed: tuple[int, int], confidence: float) -> None:
    passed, count = observed
    if not count:
        assert _stats.lower_bound(passed, count, confidence) == 0
        return
    wanted = scipy_stats.binomtest(passed, count, alternative="greater").proportion_ci(confidence, method="exact")
    assert _stats.lower_bound(passed, count, confidence) == pytest.approx(wanted.low, abs=1e-11)


def test_the_lower_bound_of_many_items() -> None:
    assert _stats.lower_bound(999_000, 1_000_000, 0.95) == pytest.approx(scipy_stats.beta.ppf(0.05, 999_000, 1_001), rel=1e-10)


@pytest.mark.parametrize(("items", "rate", "confidence"), [(1, 0.05, 0.95), (2, 0.5, 0.75), (3, 0.5, 0.875), (2, 0.1, 0.99)])
def test_a_bound_that_is_exactly_the_rate_reaches_it(items: int, rate: float, confidence: float) -> None:
    assert _stats.lower_bound(items, items, confidence) >= rate
    assert _stats.clean_items_needed(items, items, rate, confidence) == 0


@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.99])
@pytest.mark.parametrize("count", [1, 5, 30, 59, 200])
def test_the_lower_bound_is_wrong_no_more_often_than_it_says(count: int, confidence: float) -> None:
    """P(bound > true rate) ≤ 1 - confidence, computed exactly over every outcome, at every rate."""
    bounds = [_stats.lower_bound(passed, count, confidence) for passed in range(count + 1)]
    for rate in [0.01, *SHARES, 0.95, 0.99]:
        wrong = sum(binomial(count, passed, rate) for passed, bound in enumerate(bounds) if bound > rate)
        assert wrong <= 1 - confidence + 1e-9


@given(st.floats(1e-6, 1 - 1e-6), st.integers(1, 10_000))
def test_student_is_that_of_scipy(probability: float, degrees: int) -> None:
    wanted = scipy_stats.t.ppf(probability, degrees)
    assert isclose(_stats.student_quantile(probability, degrees), wanted, rel_tol=1e-7, abs_tol=1e-7)


@pytest.mark.parametrize("degrees", [1, 2, 5, 29, 999, 99_999])
def test_student_for_intervals_is_that_of_scipy_closely(degrees: int) -> None:
    assert _stats.student_quantile(0.975, degrees) == pytest.approx(scipy_stats.t.ppf(0.975, degrees), rel=1e-9)


@given(st.floats(1e-9, 1 - 1e-9))
def test_normal_is_that_of_scipy(probability: float) -> None:
    assert _stats.normal_quantile(probability) == pytest.approx(scipy_stats.norm.ppf(probability), abs=1e-8)


@given(st.integers(0, 200), st.integers(0, 200))
def test_mcnemar_is_the_exact_binomial_test_of_scipy(broke: int, mended: int) -> None:
    wanted = scipy_stats.binomtest(broke, broke + mended).pvalue if broke + mended else 1.0
    assert _stats.mcnemar(broke, mended) == pytest.approx(wanted, rel=1e-9)


def test_mcnemar_of_many_items_is_quick_and_never_negative() -> None:
    start = time.perf_counter()
    assert _stats.mcnemar(5_000, 5_000) == 1
    assert 0 <= _stats.mcnemar(0, 10_000) < 1e-300
    assert time.perf_counter() - start < 2


@pytest.mark.parametrize("level", [0.01, 0.05, 0.1])
def test_mcnemar_is_conservative(level: float) -> None:
    """Where as many items break as mend, P(p ≤ level) ≤ level, computed exactly for every number of changed items."""
    for changed in range(1, 80):
        p_values = [_stats.mcnemar(broke, changed - broke) for broke in range(changed + 1)]
        found = sum(binomial(changed, broke, 0.5) for broke, p_value in enumerate(p_values) if p_value <= level)
        assert found <= level + 1e-12


def permutation_test(differences: Sequence[float]) -> float:
    """The same hypothesis as SciPy tests it: signs are flipped at random, over all combinations."""
    found = scipy_stats.permutation_test(
        (np.array(differences), np.zeros(len(differences))),
        lambda first, second, axis: np.mean(first - second, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=np.inf,
    )
    return float(found.pvalue)


@pytest.mark.parametrize("seed", range(15))
def test_the_permutation_test_is_that_of_scipy(seed: int) -> None:
    random = Random(seed)
    differences = [round(random.gauss(0.3, 1), 1 + seed % 3) for _ in range(3 + seed % 8)]
    assert _stats.sign_flip_test(differences) == pytest.approx(permutation_test(differences), abs=1e-12)


def test_sums_that_are_equal_on_paper_count_as_equal() -> None:
    assert _stats.sign_flip_test([0.1, 0.2, -0.3]) == 1
    assert _stats.sign_flip_test([0.1] * 3 + [-0.1] * 3) == 1


def test_differences_of_zero_change_nothing() -> None:
    assert _stats.sign_flip_test([0.0, 0.5, 0.5, 0.5, 0.0]) == _stats.sign_flip_test([0.5] * 3) == 0.25
    assert _stats.sign_flip_test([]) == _stats.sign_flip_test([0.0] * 50) == 1


def test_many_differences_are_drawn_at_random_and_the_same_each_time() -> None:
    random = Random(3)
    differences = [random.gauss(0.25, 1) for _ in range(60)]
    found = _stats.sign_flip_test(differences)
    wanted = scipy_stats.ttest_1samp(differences, 0).pvalue
    assert found == _stats.sign_flip_test(differences)
    assert found == pytest.approx(wanted, abs=0.01)
    assert _stats.sign_flip_test([1.0] * 60) == 1 / 10_001


def test_the_permutation_test_is_conservative() -> None:
    """P(p ≤ 0.05) ≤ 0.05 where nothing changed: 1,000 seeded samples, on both sides of where it begins to draw."""
    random = Random(11)
    for count in (8, 20):
        p_values = [_stats.sign_flip_test([random.uniform(-1, 1) for _ in range(count)], rounds=399) for _ in range(1_000)]
        assert sum(p_value <= 0.05 for p_value in p_values) / 1_000 <= 0.05 + 3 * (0.05 * 0.95 / 1_000) ** 0.5


@given(st.lists(st.floats(-1, 1).map(lambda value: round(value, 3)), min_size=2, max_size=40), st.sampled_from([0.8, 0.95]))
def test_the_mean_difference_is_that_of_students_interval(differences: list[float], confidence: float) -> None:
    mean, low, high = _stats.mean_difference(differences, confidence)
    error = scipy_stats.sem(differences)
    wanted = scipy_stats.t.interval(confidence, len(differences) - 1, np.mean(differences), error) if error > 1e-15 else None
    assert mean == pytest.approx(np.mean(differences), abs=1e-12)
    if wanted is not None:
        assert (low, high) == pytest.approx(wanted, abs=1e-9)


def test_the_mean_difference_of_less_than_two_is_unknown() -> None:
    assert _stats.mean_difference([]) == (0, -inf, inf)
    assert _stats.mean_difference([0.5]) == (0.5, -inf, inf)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_is_the_procedure_step_by_step(p_values: list[float]) -> None:
    """A hypothesis is rejected at a level exactly where its adjusted p-value is at most that level."""
    adjusted = _stats.holm(p_values)
    for level in (0.01, 0.05, 0.2, 0.5):
        rejected = set()
        for rank, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
            if p_values[index] * (len(p_values) - rank) > level:
                break
            rejected.add(index)
        assert {index for index, value in enumerate(adjusted) if value <= level} == rejected


def test_holm_of_one_changes_nothing() -> None:
    assert _stats.holm([0.03]) == [0.03]
    assert _stats.holm([]) == []


@pytest.mark.parametrize("runs", range(1, 7))
def test_pass_at_k_and_pass_hat_k_are_what_every_draw_of_k_runs_gives(runs: int) -> None:
    for passed in range(runs + 1):
        outcomes = [True] * passed + [False] * (runs - passed)
        for k in range(1, runs + 1):
            draws = list(combinations(outcomes, k))
            assert _stats.pass_at_k(passed, runs, k) == pytest.approx(sum(map(any, draws)) / len(draws))
            assert _stats.pass_hat_k(passed, runs, k) == pytest.approx(sum(map(all, draws)) / len(draws))


@pytest.mark.parametrize("rate", SHARES)
@pytest.mark.parametrize("runs", [1, 3, 5])
def test_pass_at_k_and_pass_hat_k_are_unbiased(runs: int, rate: float) -> None:
    """Their means over every outcome of the runs are what they estimate."""
    for k in range(1, runs + 1):
        at = sum(binomial(runs, passed, rate) * _stats.pass_at_k(passed, runs, k) for passed in range(runs + 1))
        every = sum(binomial(runs, passed, rate) * _stats.pass_hat_k(passed, runs, k) for passed in range(runs + 1))
        assert at == pytest.approx(1 - (1 - rate) ** k)
        assert every == pytest.approx(rate**k)


@given(counts, st.sampled_from([0.5, 0.8, 0.9, 0.95, 0.99]), st.sampled_from([0.8, 0.95, 0.99]))
def test_so_many_clean_items_are_enough_and_one_less_is_not(observed: tuple[int, int], rate: float, confidence: float) -> None:
    passed, count = observed
    more = _stats.clean_items_needed(passed, count, rate, confidence)
    assert more is not None
    assert _stats.lower_bound(passed + more, count + more, confidence) >= rate
    if more:
        assert _stats.lower_bound(passed + more - 1, count + more - 1, confidence) < rate


def test_what_too_many_items_would_be_needed_for_is_said_to_be_out_of_reach() -> None:
    assert _stats.clean_items_needed(40, 40, 1.0, 0.95) is None
    assert _stats.clean_items_needed(10, 1000, 0.999, 0.99, most=10_000) is None
    assert _stats.clean_items_needed(0, 0, 0.95, 0.95) == 59


def coverage_of_wilson(count: int, rate: float) -> float:
    """How likely it is that the 95 % interval holds the true rate: over all outcomes, without a simulation."""
    intervals = [_stats.wilson_interval(passed, count) for passed in range(count + 1)]
    return sum(binomial(count, passed, rate) for passed, (low, high) in enumerate(intervals) if low <= rate <= high)


@pytest.mark.parametrize("count", [30, 31, 40, 59, 100, 200])
def test_wilson_covers(count: int) -> None:
    """93 % to the nearest percent at every rate, though outcomes are whole numbers, and 95 % over all rates."""
    assert all(round(coverage_of_wilson(count, rate), 2) >= 0.93 for rate in SHARES)
    rates = [0.1 + 0.8 * step / 200 for step in range(201)]
    assert sum(coverage_of_wilson(count, rate) for rate in rates) / len(rates) == pytest.approx(0.95, abs=0.006)


@pytest.mark.parametrize("alike", [0, 0.3, 0.7, 1])
@pytest.mark.parametrize(("items", "repetitions"), [(30, 3), (60, 5)])
def test_the_clustered_interval_covers(items: int, repetitions: int, alike: float) -> None:
    """At least 93 %, however alike the repetitions of an item are: 0 for independent runs, 1 for runs that always agree.

    At each rate 1,000 samples have an error of 0.8 points, and over all rates one of 0.3.
    """
    random = np.random.default_rng(17)
    shares = []
    for rate in SHARES:
        if alike in (0, 1):
            own = np.full((1_000, items), rate) if alike == 0 else random.random((1_000, items)) < rate
        else:
            own = random.beta(rate * (1 / alike - 1), (1 - rate) * (1 / alike - 1), (1_000, items))
        samples = random.binomial(repetitions, own) / repetitions
        intervals = [_stats.clustered_interval(sample, repetitions) for sample in samples.tolist()]
        shares.append(sum(low <= rate <= high for low, high in intervals) / 1_000)
    assert min(shares) >= 0.93 - 2 * 0.008
    assert sum(shares) / len(shares) >= 0.94


def test_repetitions_that_always_agree_count_as_one_run_each() -> None:
    rates = [1.0] * 20 + [0.0] * 10
    low, high = _stats.clustered_interval(rates, 5)
    plain = _stats.wilson_interval(20, 30)
    assert low == pytest.approx(plain[0], abs=0.02)
    assert high == pytest.approx(plain[1], abs=0.02)


def test_the_clustered_interval_of_next_to_nothing() -> None:
    assert _stats.clustered_interval([], 3) == (0, 1)
    assert _stats.clustered_interval([1.0], 3) == _stats.wilson_interval(1, 1)
    assert _stats.clustered_interval([1.0] * 5, 3)[1] == 1


@pytest.mark.parametrize("count", [30, 50])
@pytest.mark.parametrize(("breaks", "mends"), [(0.05, 0.05), (0.1, 0.2), (0.3, 0.1), (0.25, 0.25), (0.01, 0.15), (0, 0.1)])
def test_the_paired_interval_covers(count: int, breaks: float, mends: float) -> None:
    inside = 0.0
    for broke in range(count + 1):
        for mended in range(count + 1 - broke):
            low, high = _stats.paired_interval(broke, mended, count)
            ways = comb(count, broke) * comb(count - broke, mended)
            chance = breaks**broke * mends**mended * (1 - breaks - mends) ** (count - broke - mended)
            inside += ways * chance * (low <= mends - breaks <= high)
    assert inside >= 0.93


def test_the_paired_interval_of_few_items_is_never_sure() -> None:
    low, high = _stats.paired_interval(0, 0, 2)
    assert low == -high < -0.4
    assert _stats.paired_interval(1, 0, 1)[0] == -1
