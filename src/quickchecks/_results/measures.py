"""Cost, tokens and seconds of the items that two results have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import fsum
from typing import get_args

from quickchecks._results.changes import Measure, MeasureChange
from quickchecks._results.evaluation import ItemResult

__all__ = ("measures",)

#: No agent costs, reads or lasts so much: a number beyond it is no measurement.
_BEYOND = 1e100


def measures(
    common: Sequence[str], old: Mapping[str, list[ItemResult]], new: Mapping[str, list[ItemResult]]
) -> tuple[MeasureChange, ...]:
    """What is known of each measure on any of the items.

    Args:
        common: The ids of the items.
        old: The items before, by id, repetitions together.
        new: The items now.
    """
    found: list[MeasureChange] = []
    names: tuple[Measure, ...] = get_args(Measure)
    for name in names:
        before = {item: value for item in common if (value := _mean(name, old[item])) is not None}
        after = {item: value for item in common if (value := _mean(name, new[item])) is not None}
        both = [item for item in before if item in after]
        if before or after:
            totals = fsum(before[item] for item in both), fsum(after[item] for item in both)
            found.append(MeasureChange(name, len(both), *totals, len(before), len(after)))
    return tuple(found)


def _mean(name: Measure, items: Sequence[ItemResult]) -> float | None:
    """The mean over the repetitions; None unless it is known of each."""
    values = [value for item in items if (value := _measured(name, item)) is not None and 0 <= value < _BEYOND]
    return fsum(values) / len(values) if len(values) == len(items) else None


def _measured(name: Measure, item: ItemResult) -> float | None:
    if name == "seconds":
        return item.seconds
    usage = item.run.usage if item.run is not None else None
    if usage is None:
        return None
    if name == "cost":
        return usage.cost
    if usage.input_tokens is None and usage.output_tokens is None:
        return None
    return (usage.input_tokens or 0) + (usage.output_tokens or 0)
