"""The statistics that verdicts and comparisons rest on.

Everything here is computed without SciPy, which the tests compare with. Shown rates get two-sided intervals; a gate that
asks for confidence gets an exact one-sided bound, so that "95 % with 95 % confidence" is never claimed too early.

Sources: E. B. Wilson, "Probable inference, the law of succession, and statistical inference" (1927); C. J. Clopper and
E. S. Pearson, "The use of confidence or fiducial limits illustrated in the case of the binomial" (1934); Q. McNemar, "Note
on the sampling error of the difference between correlated proportions" (1947), in its exact form; S. Holm, "A simple
sequentially rejective multiple test procedure" (1979); M. Chen et al., "Evaluating large language models trained on
code" (2021) for pass@k; A. Agresti and Y. Min, "Simple improved confidence
intervals for comparing matched proportions" (2005); L. Kish, "Survey sampling" (1965) for the design effect.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from math import comb, exp, inf, lgamma, log, log1p, sqrt
from operator import getitem

__all__ = (
    "clean_items_needed",
    "clustered_interval",
    "holm",
    "lower_bound",
    "mcnemar",
    "mean_difference",
    "normal_quantile",
    "paired_interval",
    "pass_at_k",
    "pass_hat_k",
    "sign_flip_test",
    "student_quantile",
    "wilson_interval",
)


def normal_quantile(probability: float) -> float:
    """The quantile of the standard normal distribution."""
    from statistics import NormalDist

    return NormalDist().inv_cdf(probability)


def wilson_interval(passed: float, count: float, confidence: float = 0.95) -> tuple[float, float]:
    """The two-sided Wilson score interval of a rate.

    Args:
        passed: How many passed; may be a fraction when the count is an effective one.
        count: Of how many.
        confidence: The confidence, such as 0.95.

    Returns:
        The lowest and the highest rate that the observation is compatible with; (0, 1) when nothing was observed.

    Example:
        >>> [round(bound, 2) for bound in wilson_interval(38, 40)]
        [0.83, 0.99]
    """
    return _wilson(passed, count, normal_quantile(0.5 + confidence / 2))


def _wilson(passed: float, count: float, z: float) -> tuple[float, float]:
    if count <= 0:
        return 0.0, 1.0
    rate = passed / count
    spread = z * z / count
    centre = (rate + spread / 2) / (1 + spread)
    half = z / (1 + spread) * sqrt(rate * (1 - rate) / count + spread / (4 * count))
    low = 0.0 if passed == 0 else max(0.0, centre - half)
    high = 1.0 if passed == count else min(1.0, centre + half)
    return low, high


def clustered_interval(item_rates: Sequence[float], repetitions: int, confidence: float = 0.95) -> tuple[float, float]:
    """The interval of a pass rate when every item was run several times.

    Runs of one item are alike, so they count for less than independent ones. The variance between items tells how many
    independent runs they are worth (Kish's design effect); that number goes into Wilson's interval, with Student's
    quantile because it is itself estimated.

    Args:
        item_rates: The pass rate of each item over its repetitions.
        repetitions: How often each item was run.
        confidence: The confidence, such as 0.95.

    Returns:
        The lowest and the highest rate.

    Example:
        >>> low, high = clustered_interval([1.0, 0.5, 1.0, 0.0] * 10, repetitions=2)
        >>> low < 0.625 < high
        True
    """
    items = len(item_rates)
    if items < 2:
        return wilson_interval(sum(item_rates), items, confidence)
    rate = sum(item_rates) / items
    variance = sum((one - rate) ** 2 for one in item_rates) / (items - 1)
    worth = rate * (1 - rate) * items / variance if variance > 0 else items
    worth = min(max(worth, items), items * max(repetitions, 1))
    return _wilson(rate * worth, worth, student_quantile(0.5 + confidence / 2, items - 1))


def lower_bound(passed: int, count: int, confidence: float) -> float:
    """The exact one-sided lower bound of a rate (Clopper and Pearson).

    Args:
        passed: How many passed.
        count: Of how many.
        confidence: The confidence, such as 0.95.

    Returns:
        The highest rate r such that "the true rate is at least r" holds with this confidence.

    Example:
        >>> round(lower_bound(40, 40, 0.95), 3)
        0.928
    """
    if passed <= 0:
        return 0.0
    found = _bisect(lambda rate: _at_least(passed, count, rate), 1 - confidence)
    return round(found, 12)  # so that a bound that is exactly the rate that is wanted reaches it


def _at_least(passed: int, count: int, rate: float) -> float:
    """The chance that at least so many pass: the regularised incomplete beta function."""
    return _beta_cdf(rate, passed, count - passed + 1)


def clean_items_needed(passed: int, count: int, rate: float, confidence: float, most: int = 1_000_000) -> int | None:
    """How many more items, all passing, would prove a rate.

    Args:
        passed: How many passed so far.
        count: Of how many.
        rate: The rate to prove, below 1.
        confidence: The confidence.
        most: Give up beyond this many.

    Returns:
        The smallest such number, 0 when it is proved; None when it is more than `most`, or rate is 1.

    Example:
        >>> clean_items_needed(40, 40, 0.95, 0.95)
        19
    """
    if rate >= 1:
        return None

    if lower_bound(passed, count, confidence) >= rate:
        return 0
    doubt = (1 - confidence) * (1 + 1e-11)  # as forgiving as lower_bound is

    def proved(more: int) -> bool:
        return _at_least(passed + more, count + more, rate) <= doubt

    high = 1
    while not proved(high):
        high *= 2
        if high > most:
            return None
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if proved(middle) else (middle, high)
    return high


def pass_at_k(passed: int, count: int, k: int) -> float:
    """The chance that at least one of k runs passes, without bias.

    Args:
        passed: How many of the runs of an item passed.
        count: How many runs it had.
        k: How many are drawn, at most `count`.

    Example:
        >>> round(pass_at_k(1, 3, 2), 3)
        0.667
    """
    return 1 - comb(count - passed, k) / comb(count, k)


def pass_hat_k(passed: int, count: int, k: int) -> float:
    """The chance that all of k runs pass, without bias.

    Args:
        passed: How many of the runs of an item passed.
        count: How many runs it had.
        k: How many are drawn, at most `count`.

    Example:
        >>> round(pass_hat_k(2, 3, 2), 3)
        0.333
    """
    return comb(passed, k) / comb(count, k)


def mcnemar(broke: int, mended: int) -> float:
    """The exact two-sided McNemar test: do as many items break as mend?

    Args:
        broke: Items that passed before and fail now.
        mended: Items that failed before and pass now.

    Returns:
        The p-value.

    Example:
        >>> round(mcnemar(0, 6), 4)
        0.0312
    """
    count = broke + mended
    if count == 0:
        return 1.0
    tail = ways = 1
    for i in range(min(broke, mended)):
        ways = ways * (count - i) // (i + 1)
        tail += ways
    both: float = 2 * tail / 2**count
    return min(1.0, both)


def paired_interval(broke: int, mended: int, count: int, confidence: float = 0.95) -> tuple[float, float]:
    """The interval of the difference of two pass rates over the same items (Agresti and Min).

    Args:
        broke: Items that passed before and fail now.
        mended: Items that failed before and pass now.
        count: All items.
        confidence: The confidence.

    Returns:
        The lower and the upper bound, within -1 and 1.

    Example:
        >>> [round(bound, 2) for bound in paired_interval(broke=2, mended=10, count=50)]
        [0.02, 0.28]
    """
    items = count + 2  # half an item more of each of the four kinds: few items never look like certainty
    difference = (mended - broke) / items
    variance = ((broke + mended + 1) / items - difference**2) / items
    half = normal_quantile(0.5 + confidence / 2) * sqrt(variance)
    return max(-1.0, difference - half), min(1.0, difference + half)


def sign_flip_test(differences: Sequence[float], rounds: int = 10_000, seed: int = 0) -> float:
    """The two-sided paired permutation test of a mean difference.

    Under the hypothesis of no difference each sign could as well be the other. All combinations are tried for up to 14
    differences that are not 0; beyond that, random ones, counted so that the p-value is never too small.

    Args:
        differences: One difference an item.
        rounds: How many random combinations are tried.
        seed: Of the random numbers: the same data give the same p-value.

    Returns:
        The p-value.

    Example:
        >>> sign_flip_test([0.2] * 5)
        0.0625
    """
    moved = [difference for difference in differences if difference != 0]
    if not moved:
        return 1.0
    # Sums that are equal on paper differ in their last digits, and count as equal.
    limit = abs(sum(moved)) - 1e-12 * sum(map(abs, moved))
    if len(moved) <= 14:
        sums = [0.0]
        for difference in moved:
            sums = [total + sign * difference for total in sums for sign in (1, -1)]
        return sum(abs(total) >= limit for total in sums) / len(sums)
    from random import Random

    # The sums of eight differences under all their signs are looked up by one random byte.
    tables = [_signed_sums(moved[i : i + 8]) for i in range(0, len(moved), 8)]
    random = Random(seed)
    extreme = sum(abs(sum(map(getitem, tables, random.randbytes(len(tables))))) >= limit for _ in range(rounds))
    return (extreme + 1) / (rounds + 1)


def _signed_sums(differences: Sequence[float]) -> list[float]:
    """The sums of eight numbers, or fewer, under all combinations of signs."""
    sums = [0.0]
    for i in range(8):
        difference = differences[i] if i < len(differences) else 0.0
        sums = [total + sign * difference for total in sums for sign in (1, -1)]
    return sums


def mean_difference(differences: Sequence[float], confidence: float = 0.95) -> tuple[float, float, float]:
    """The mean of paired differences with Student's interval.

    Args:
        differences: One difference an item.
        confidence: The confidence.

    Returns:
        The mean, the lower and the upper bound; infinite bounds for fewer than two items.

    Example:
        >>> [round(value, 2) for value in mean_difference([0.1, 0.3, 0.2])]
        [0.2, -0.05, 0.45]
    """
    count = len(differences)
    if not count:
        return 0.0, -inf, inf
    mean = sum(differences) / count
    if count < 2:
        return mean, -inf, inf
    variance = sum((difference - mean) ** 2 for difference in differences) / (count - 1)
    half = student_quantile(0.5 + confidence / 2, count - 1) * sqrt(variance / count)
    return mean, mean - half, mean + half


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values for there being several (Holm), in the order given.

    Example:
        >>> [round(value, 3) for value in holm([0.01, 0.04, 0.03])]
        [0.03, 0.06, 0.06]
    """
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    adjusted = [1.0] * len(p_values)
    highest = 0.0
    for rank, index in enumerate(order):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = highest
    return adjusted


@cache
def student_quantile(probability: float, degrees: float) -> float:
    """The quantile of Student's t distribution.

    Args:
        probability: Between 0 and 1.
        degrees: Degrees of freedom, above 0.

    Example:
        >>> round(student_quantile(0.975, 29), 3)
        2.045
    """
    if probability == 0.5:
        return 0.0
    tail = 2 * min(probability, 1 - probability)
    # degrees / (degrees + t²) has a beta distribution.
    share = _bisect(lambda x: _beta_cdf(x, degrees / 2, 0.5), tail)
    t = sqrt(degrees * (1 - share) / share) if share > 0 else inf
    return t if probability > 0.5 else -t


def _bisect(function: Callable[[float], float], wanted: float) -> float:
    """Where a rising function on 0..1 takes a value."""
    low, high = 0.0, 1.0
    for _ in range(1100):  # halving reaches the smallest float
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if function(middle) > wanted:
            high = middle
        else:
            low = middle
    return (low + high) / 2


def _beta_cdf(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function, by its continued fraction (Lentz's method)."""
    if x <= 0:
        return 0.0
    if x >= 1:
        return 1.0
    if x > (a + 1) / (a + b + 2):
        return 1 - _beta_cdf(1 - x, b, a)
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x)) / a
    tiny = 1e-300
    c, d = 1.0, 1 / _nonzero(1 - (a + b) * x / (a + 1), tiny)
    fraction = d
    for m in range(1, 10_000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        d = 1 / _nonzero(1 + even * d, tiny)
        c = _nonzero(1 + even / c, tiny)
        fraction *= d * c
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        d = 1 / _nonzero(1 + odd * d, tiny)
        c = _nonzero(1 + odd / c, tiny)
        step = d * c
        fraction *= step
        if abs(step - 1) < 1e-15:
            break
    return front * fraction


def _nonzero(value: float, tiny: float) -> float:
    return value if abs(value) > tiny else tiny
