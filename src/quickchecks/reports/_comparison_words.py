"""The words that reports of a comparison have in common."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from quickchecks._results.changes import Change, Direction, EvalComparison, MeasureChange, ScorerChange
from quickchecks._results.result import many

__all__ = ("by_direction", "counted", "differing", "measured", "moved", "other_scorers", "scorers", "unmatched")


def counted(comparison: EvalComparison) -> str:
    """How many items moved which way: `1 broke, 0 mended`, and `2 worse` where there are any."""
    shown = [moved(comparison.broke, "broke"), moved(comparison.mended, "mended")]
    some: Mapping[Direction, tuple[Change, ...]] = {"worse": comparison.worse, "better": comparison.better}
    return ", ".join([*shown, *(moved(changes, direction) for direction, changes in some.items() if changes)])


def moved(changes: tuple[Change, ...], direction: Direction) -> str:
    """How many items moved one way: `2 broke`; and how many checks say so where it is another number."""
    items = len({one.item for one in changes})
    return (
        f"{items} {direction}" if items == len(changes) else f"{many(items, 'item')} {direction} in {many(len(changes), 'check')}"
    )


def differing(comparison: EvalComparison) -> str:
    """What a claim about the items in both leaves out, in few words: `2 items only in the first`; empty when nothing."""
    parts = [said for said, _ in unmatched(comparison)]
    for names, where in ((comparison.only_scorers_before, "first"), (comparison.only_scorers_after, "second")):
        parts += [f"{many(len(names), 'scorer')} only in the {where}"] if names else []
    changed = sum(one.version_changed for one in comparison.scorers)
    parts += [f"{many(changed, 'check')} that changed"] if changed else []
    parts += [many(len(comparison.notes), "note") + " above"] if comparison.notes else []
    return ", ".join(parts)


def measured(measure: MeasureChange, common: int) -> str:
    """A measure before and now: `$0.0120 → $0.0100 (-16.7 %)`, and on how many of the items it is known when not on all."""
    style = {"cost": "${:.4f}", "tokens": "{:,.0f}", "seconds": "{:.2f} s"}[measure.name]
    if max(measure.before, measure.after) >= 1e15:
        style = "{:g}"  # nobody counts so many digits
    grown = "from nothing" if measure.growth == float("inf") else f"{100 * measure.growth:+.1f} %"
    if not measure.items:
        return f"known on {measure.known_before} of {many(common, 'item')} before and {measure.known_after} now, on none in both"
    where = f", known in both on {measure.items} of {many(common, 'item')}" if measure.items < common else ""
    return f"{style.format(measure.before)} → {style.format(measure.after)} ({grown}){where}"


def unmatched(comparison: EvalComparison) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Items that are not compared; one that a result which is not whole lacks is not called removed or new."""
    first, second = comparison.unfinished
    found = (
        (f"missing from the second, which {second}" if second else "only in the first", comparison.only_before),
        (f"missing from the first, which {first}" if first else "only in the second", comparison.only_after),
        ("asked or expected something else, so not compared", comparison.changed_items),
    )
    for said, ids in found:
        if ids:
            yield f"{many(len(ids), 'item')} {said}", ids


def other_scorers(comparison: EvalComparison) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Scorers that are not compared, because only one result has them."""
    if comparison.only_scorers_before:
        yield "scorers only in the first", comparison.only_scorers_before
    if comparison.only_scorers_after:
        yield "scorers only in the second", comparison.only_scorers_after


def scorers(comparison: EvalComparison) -> tuple[ScorerChange, ...]:
    """How each scorer came out, and how often the items were answered where some repetition broke."""
    return comparison.scorers if comparison.answered is None else (*comparison.scorers, comparison.answered)


def by_direction(comparison: EvalComparison) -> Mapping[Direction, tuple[Change, ...]]:
    """What changed, the worst first."""
    return {"broke": comparison.broke, "worse": comparison.worse, "better": comparison.better, "mended": comparison.mended}
