"""What is decided on a comparison: whether one of the conditions of `--fail-on` holds."""

from __future__ import annotations

import re
from math import inf

from quickchecks._render import many
from quickchecks._results.changes import Decision, EvalComparison, MeasureChange
from quickchecks.reports._comparison_words import counted, differing, moved

__all__ = ("LIMIT", "decided")

#: A limit on growth, such as cost>+10%.
LIMIT = re.compile(r"(cost|tokens|seconds)\s*>\s*\+?(\d+(?:\.\d+)?)\s*%")


def decided(comparison: EvalComparison, conditions: tuple[str, ...] = ("regression",)) -> Decision:
    """Decide on a comparison.

    Args:
        comparison: The comparison.
        conditions: "regression", limits, or "never" alone.
    """
    code, said = _decided(comparison, conditions)
    return Decision(code, said, conditions)


def _decided(comparison: EvalComparison, conditions: tuple[str, ...]) -> tuple[int, str]:
    """The exit code, and what it says."""
    left_out = f"; beside these: {out}" if (out := differing(comparison)) else ""
    if not comparison.common:
        return 3, f"nothing compared: the results have no item in common that asks and expects the same{left_out}"
    limits = [_Limit(condition, comparison) for condition in conditions if LIMIT.fullmatch(condition)]
    wanted = "regression" in conditions
    holding = [said for said in (_regression(comparison) if wanted else "", *(one.exceeded for one in limits)) if said]
    if holding:
        return 1, f"regressed: {'; '.join(holding)}"
    compared = f"{counted(comparison)}, on {many(len(comparison.common), 'item')} in both{left_out}"
    if conditions == ("never",):
        return 0, f"nothing decided: {compared}"
    if wanted and not comparison.judged:
        return 3, f"nothing compared: no scorer judged an item in both{left_out}"
    unknown = [one.unknown for one in limits if one.unknown]
    if unknown:
        return 3, f"undecided: {'; '.join(unknown)}"
    if comparison.open_ended:
        return 3, f"undecided: {comparison.open_ended}"
    lower = [one.scorer for one in comparison.scorers if one.difference < 0]
    if lower:
        compared += f"; lower, by no more than chance can explain: {', '.join(lower)}"
    kept = "; ".join(one.kept for one in limits)
    if not wanted:
        return 0, f"within the limit: {kept}; nothing was asked about the rest: {compared}"
    return 0, f"no regression: {compared}{'; ' if kept else ''}{kept}"


def _regression(comparison: EvalComparison) -> str:
    """What makes it a regression, in words; empty when it is none."""
    if comparison.broke:
        return moved(comparison.broke, "broke")
    if comparison.verdict_fell:
        return f"the verdict fell to {comparison.verdicts[1]}"
    return f"{', '.join(comparison.fallen)} fell" if comparison.fallen else ""


class _Limit:
    """A limit on growth, such as cost>+10%, and what is known of it.

    Args:
        condition: The limit as it was written.
        comparison: What is known.
    """

    def __init__(self, condition: str, comparison: EvalComparison) -> None:
        found = LIMIT.fullmatch(condition)
        assert found is not None
        self._name, self._most = found[1], found[2]
        self._items = len(comparison.common)
        self._measure: MeasureChange | None = next((one for one in comparison.measures if one.name == self._name), None)

    @property
    def unknown(self) -> str:
        """Why the growth is not known, in words; empty when it is."""
        one = self._measure
        if one is None:
            return f"{self._name} is known on no item in common"
        if one.items == self._items:
            return ""
        known = f"{one.known_before} of the {self._items} items in common in the first, on {one.known_after} in the second"
        return f"{self._name} is known on {known}"

    @property
    def exceeded(self) -> str:
        """That it grew by more, in words; empty when it did not, or it is not known."""
        if self.unknown or self._measure is None or self._measure.growth <= float(self._most) / 100 + 1e-9:
            return ""
        growth = self._measure.growth
        grown = "grew from nothing" if growth == inf else f"grew by {100 * growth:.1f} %"
        return f"{self._name} {grown}, at most {self._most} % allowed"

    @property
    def kept(self) -> str:
        """By how much it changed, in words."""
        growth = 0.0 if self._measure is None else self._measure.growth
        return f"{self._name} changed by {100 * growth:+.1f} %, at most +{self._most} % allowed"
