"""The report of a comparison that a terminal shows, as lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from quickchecks import _render
from quickchecks._results.changes import Change, Direction, EvalComparison
from quickchecks._results.result import many
from quickchecks.reports import _comparison_words as words
from quickchecks.reports._lines import BLANK, Line, line
from quickchecks.reports._safe import path, short

__all__ = ("comparison_lines",)

#: The most changes of each kind that a terminal shows, the most ids that it names in a row, and the longest that it shows of one.
_MAX_CHANGES = 20
_MAX_IDS = 5
_LONGEST_ID = 80

#: What stands over the items that moved so, their style, and what is to be said of all of them.
_TITLES: Mapping[Direction, tuple[str, str]] = {
    "broke": ("red", ""),
    "worse": ("yellow", "these passed only some of their repetitions before, and pass fewer now: each by itself may be chance"),
    "better": ("green", "these pass more of their repetitions, but not all: each by itself may be chance"),
    "mended": ("green", ""),
}


def comparison_lines(comparison: EvalComparison, before: str, after: str) -> Iterator[Line]:
    """The lines that show a comparison, but for the last one, which says what is decided.

    Args:
        comparison: The comparison.
        before: The file of the first result.
        after: The file of the second.

    Yields:
        The lines.
    """
    yield line((f"{many(len(comparison.common), 'item')} in both ", "bold"), path(before), " and ", path(after))
    first, second = (verdict or "no verdict" for verdict in comparison.verdicts)
    yield line(f"{first} → {second}", indent=2)
    for said, ids in words.unmatched(comparison):
        yield line(f"{short(said)}: {_ids(ids)}", indent=2, hang=4)
    for note in comparison.notes:
        yield line(("note: ", "yellow"), short(note), indent=2, hang=4)
    yield BLANK
    scorers = words.scorers(comparison)
    for one in scorers:
        yield line((short(one.scorer), "bold"), indent=2, hang=4)
        yield line(short(one.said), indent=6)
    for said, names in words.other_scorers(comparison):
        yield line((f"{said}: ", "dim"), short(", ".join(names)), indent=2, hang=4)
    if scorers or comparison.only_scorers_before or comparison.only_scorers_after:
        yield BLANK
    for direction, changes in words.by_direction(comparison).items():
        yield from _changes(direction, changes)
    for measure in comparison.measures:
        yield line(f"{measure.name:<8} {words.measured(measure, len(comparison.common))}", indent=2)
    if comparison.measures:
        yield BLANK


def _ids(ids: tuple[str, ...]) -> str:
    return ", ".join(map(_id, ids[:_MAX_IDS])) + (", …" if len(ids) > _MAX_IDS else "")


def _id(item: str) -> str:
    """An id as it is shown: one that is empty, or only spaces, would be invisible."""
    return _render.capped(short(item), _LONGEST_ID) if item.strip() else f'"{short(item)}"'


def _changes(direction: Direction, changes: tuple[Change, ...]) -> Iterator[Line]:
    if not changes:
        return
    style, about = _TITLES[direction]
    yield line((f"{direction} ({len(changes)})", f"bold {style}"), indent=2)
    if about:
        yield line((about, "dim"), indent=4)
    for one in changes[:_MAX_CHANGES]:
        who = short(one.scorer) if one.scorer else "the target"
        yield line((_id(one.item), "bold"), f"  {who}: {short(one.before)} → {short(one.after)}", indent=4, hang=6)
        if one.reason:
            yield line(short(one.reason), indent=8)
        if one.divergence:
            yield line(("diverges: ", "dim"), short(one.divergence), indent=8)
    if len(changes) > _MAX_CHANGES:
        yield line((f"… and {len(changes) - _MAX_CHANGES} more: -o FILE.md shows them", "dim"), indent=4)
    yield BLANK
