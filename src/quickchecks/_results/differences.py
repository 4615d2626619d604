"""The difference of two means over the same items: the test, the interval, and the words that fit both."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from math import fsum, inf

from msgspec import Struct
from msgspec.structs import replace

from quickchecks import _stats
from quickchecks._render import many
from quickchecks._results.changes import SIGNIFICANT, ScorerChange

__all__ = ("Paired", "mean", "told")

#: Numbers beyond this are divided by the largest of them, so that their sums and squares stay numbers.
_LARGE = 1e100


def mean(values: Sequence[float]) -> float:
    """The mean of numbers, however large; there is at least one."""
    try:
        return fsum(values) / len(values)
    except OverflowError:
        return fsum(value / len(values) for value in values)


class Paired(Struct, frozen=True):
    """The values of one scorer on the items that both results judged.

    Args:
        change: What is known of it without the test.
        before: The value of each item before.
        after: The value of each item now.
        plain: Whether each item passes or fails, the same in every repetition.
    """

    change: ScorerChange
    before: Sequence[float]
    after: Sequence[float]
    plain: bool

    @classmethod
    def of(cls, scorer: str, before: Sequence[float], after: Sequence[float], *, plain: bool) -> Paired:
        """Pair the values of each item, and test their differences; there is at least one."""
        differences, unit = _differences(before, after)
        p_value = _stats.mcnemar(*_steps(differences)) if plain else _stats.sign_flip_test(differences)
        change = ScorerChange(
            scorer,
            len(differences),
            mean(before),
            mean(after),
            _finite(mean(differences) * unit),
            p_value,
            "mcnemar" if plain else "permutation",
        )
        return cls(change, before, after, plain)

    def interval(self, confidence: float, *, significant: bool) -> tuple[float, float] | None:
        """The interval of the mean difference, which leaves 0 out exactly when the difference is significant.

        The test is exact, and the interval is not: where they disagree on 0, the test holds. Reaching 0 makes it only
        wider; ending at 0 is what a test of both sides allows, which refuses every value beyond 0 too.

        Args:
            confidence: The level.
            significant: What the adjusted p-value says.

        Returns:
            The bounds; None for a single item, and for numbers that all differ by the same.
        """
        differences, unit = _differences(self.before, self.after)
        count = len(differences)
        if count < 2:
            return None
        if self.plain:
            low, high = _stats.paired_interval(*_steps(differences), count, confidence)
        else:
            if max(differences) - min(differences) <= 1e-9 * max(map(abs, differences)):
                return None
            _, *bounds = _stats.mean_difference(differences, confidence)
            # Between numbers from 0 to 1 no difference is larger than 1.
            limit = 1.0 if all(0 <= value <= 1 for value in (*self.before, *self.after)) else inf
            low, high = (_finite(min(max(bound * unit, -limit), limit)) for bound in bounds)
        if not significant:
            return min(low, 0.0), max(high, 0.0)
        return (low, min(high, 0.0)) if self.change.difference < 0 else (max(low, 0.0), high)


def _differences(before: Sequence[float], after: Sequence[float]) -> tuple[list[float], float]:
    """The differences in a unit, which is 1 but for numbers whose sums would be none."""
    largest = max(abs(value) for value in (*before, *after))
    unit = largest if largest > _LARGE else 1.0
    return [new / unit - old / unit for old, new in zip(before, after, strict=True)], unit


def _steps(differences: Sequence[float]) -> tuple[int, int]:
    return sum(one < 0 for one in differences), sum(one > 0 for one in differences)


def _finite(value: float) -> float:
    return min(max(value, -sys.float_info.max), sys.float_info.max)


def told(pairs: Sequence[Paired]) -> tuple[ScorerChange, ...]:
    """Adjust the p-values of several scorers for being several, and say each with an interval of the same level."""
    p_values = [pair.change.p_value for pair in pairs]
    adjusted = _stats.holm(p_values)
    # Holm multiplies a p-value by how many are not smaller; an interval at the level divided by that says the same.
    among = [sum(other >= p_value for other in p_values) for p_value in p_values]
    return tuple(_told(*one, len(pairs)) for one in zip(pairs, adjusted, among, strict=True))


def _told(pair: Paired, p_value: float, among: int, scorers: int) -> ScorerChange:
    confidence = 1 - SIGNIFICANT / among
    interval = pair.interval(confidence, significant=p_value < SIGNIFICANT)
    one = replace(pair.change, p_value=p_value, confidence=round(confidence, 6), interval=interval)
    moved = f"{one.before:.3g} → {one.after:.3g} ({one.difference:+.3g}; {_range(one)})"
    counts = {"broke": one.broke, "mended": one.mended, "worse": one.worse, "better": one.better}
    flips = ", ".join(f"{counts[name]} {name}" for name in counts if counts[name] or name in ("broke", "mended"))
    parts = [f"{moved} on {many(one.items, 'item')}: {_verdict(one, pair, scorers)}"]
    parts += [flips] if any(counts.values()) else []
    parts += ["the check itself changed"] if one.version_changed else []
    parts += [] if one.decides else ["only watched, so it decides nothing"]
    return replace(one, said="; ".join(parts))


def _verdict(one: ScorerChange, pair: Paired, scorers: int) -> str:
    if tuple(pair.before) == tuple(pair.after):
        return "no change"
    p_value = f"p = {one.p_value:.2g}" + (f", adjusted for {scorers} scorers" if scorers > 1 else "")
    if one.p_value < SIGNIFICANT:
        return f"{'worse' if one.difference < 0 else 'better'} ({p_value})"
    return f"over all items no more than chance explains ({p_value})"


def _range(one: ScorerChange) -> str:
    if one.interval is None:
        return "no interval can be told from 1 item" if one.items == 1 else "no interval can be told: all differ by the same"
    low, high = one.interval
    significant = one.p_value < SIGNIFICANT
    first = "above 0" if significant and low == 0 else f"{low:+.3g}"
    last = "below 0" if significant and high == 0 else f"{high + 0.0:+.3g}"
    return f"{100 * one.confidence:.3g} % interval {first} to {last}"
