"""What becomes of a comparison of two results: lines on a terminal, and a file for each suffix of `-o`."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping
from io import StringIO

from msgspec import Struct

from quickchecks import _render, _wire
from quickchecks._results.changes import Change, Direction, EvalComparison, MeasureChange
from quickchecks._results.result import many
from quickchecks.reports._lines import BLANK, Line, line
from quickchecks.reports._safe import csv_cell, markdown, one_line, path

__all__ = ("COMPARISON_FORMS", "ChangeLine", "comparison_lines", "counted", "differing")

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

_COLUMNS = ("direction", "item", "scorer", "before", "after", "reason", "divergence")


class ChangeLine(Struct, frozen=True, omit_defaults=True, tag_field="schema", tag="quickchecks.change/1"):
    """What changed on one item, as a line of a `.jsonl` report.

    Args:
        direction: Whether it broke or mended, or passes less or more of its repetitions.
        change: What changed.
    """

    direction: Direction
    change: Change


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
    for said, ids in _unmatched(comparison):
        yield line(f"{one_line(said)}: {_ids(ids)}", indent=2, hang=4)
    for note in comparison.notes:
        yield line(("note: ", "yellow"), one_line(note), indent=2, hang=4)
    yield BLANK
    scorers = comparison.scorers if comparison.answered is None else (*comparison.scorers, comparison.answered)
    for one in scorers:
        yield line((one_line(one.scorer), "bold"), indent=2, hang=4)
        yield line(one_line(one.said), indent=6)
    for said, names in _other_scorers(comparison):
        yield line((f"{said}: ", "dim"), one_line(", ".join(names)), indent=2, hang=4)
    if scorers or comparison.only_scorers_before or comparison.only_scorers_after:
        yield BLANK
    for direction, changes in _by_direction(comparison).items():
        yield from _changes(direction, changes)
    for measure in comparison.measures:
        yield line(f"{measure.name:<8} {measured(measure, len(comparison.common))}", indent=2)
    if comparison.measures:
        yield BLANK


def differing(comparison: EvalComparison) -> str:
    """What a claim about the items in both leaves out, in few words: `2 items only in the first`; empty when nothing."""
    parts = [said for said, _ in _unmatched(comparison)]
    for names, where in ((comparison.only_scorers_before, "first"), (comparison.only_scorers_after, "second")):
        parts += [f"{many(len(names), 'scorer')} only in the {where}"] if names else []
    changed = sum(one.version_changed for one in comparison.scorers)
    parts += [f"{many(changed, 'check')} that changed"] if changed else []
    parts += [many(len(comparison.notes), "note") + " above"] if comparison.notes else []
    return one_line(", ".join(parts))


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


def _unmatched(comparison: EvalComparison) -> Iterator[tuple[str, tuple[str, ...]]]:
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


def _other_scorers(comparison: EvalComparison) -> Iterator[tuple[str, tuple[str, ...]]]:
    if comparison.only_scorers_before:
        yield "scorers only in the first", comparison.only_scorers_before
    if comparison.only_scorers_after:
        yield "scorers only in the second", comparison.only_scorers_after


def _ids(ids: tuple[str, ...]) -> str:
    return ", ".join(map(_id, ids[:_MAX_IDS])) + (", …" if len(ids) > _MAX_IDS else "")


def _id(item: str) -> str:
    """An id as it is shown: one that is empty, or only spaces, would be invisible."""
    return _render.capped(one_line(item), _LONGEST_ID) if item.strip() else f'"{one_line(item)}"'


def _by_direction(comparison: EvalComparison) -> Mapping[Direction, tuple[Change, ...]]:
    return {"broke": comparison.broke, "worse": comparison.worse, "better": comparison.better, "mended": comparison.mended}


def _changes(direction: Direction, changes: tuple[Change, ...]) -> Iterator[Line]:
    if not changes:
        return
    style, about = _TITLES[direction]
    yield line((f"{direction} ({len(changes)})", f"bold {style}"), indent=2)
    if about:
        yield line((about, "dim"), indent=4)
    for one in changes[:_MAX_CHANGES]:
        who = one_line(one.scorer) if one.scorer else "the target"
        yield line((_id(one.item), "bold"), f"  {who}: {one.before} → {one.after}", indent=4, hang=6)
        if one.reason:
            yield line(one_line(one.reason), indent=8)
        if one.divergence:
            yield line(("diverges: ", "dim"), one_line(one.divergence), indent=8)
    if len(changes) > _MAX_CHANGES:
        yield line((f"… and {len(changes) - _MAX_CHANGES} more: -o FILE.md shows them", "dim"), indent=4)
    yield BLANK


def _json(comparison: EvalComparison) -> bytes:
    return _wire.dumps(comparison) + b"\n"


def _all_changes(comparison: EvalComparison) -> Iterator[ChangeLine]:
    for direction, changes in _by_direction(comparison).items():
        yield from (ChangeLine(direction, one) for one in changes)


def _jsonl(comparison: EvalComparison) -> bytes:
    return b"".join(_wire.dumps(one) + b"\n" for one in _all_changes(comparison))


def _csv(comparison: EvalComparison) -> bytes:
    """A row for each item and scorer that says something else, safe to open in a spreadsheet."""
    text = StringIO(newline="")
    rows = csv.writer(text, lineterminator="\r\n")
    rows.writerow(_COLUMNS)
    for found in _all_changes(comparison):
        one = found.change
        cells = (one.item, one.scorer, one.before, one.after, one.reason, one.divergence)
        rows.writerow((found.direction, *map(csv_cell, cells)))
    return text.getvalue().encode("utf-8", "backslashreplace")


def _md(comparison: EvalComparison) -> bytes:
    return ("\n".join(_page(comparison)) + "\n").encode("utf-8", "backslashreplace")


def _page(comparison: EvalComparison) -> Iterator[str]:
    first, second = (verdict or "no verdict" for verdict in comparison.verdicts)
    yield f"## {counted(comparison)}"
    yield ""
    yield f"{many(len(comparison.common), 'item')} compared, {first} → {second}"
    yield ""
    if comparison.open_ended:
        yield f"- undecided: {markdown(comparison.open_ended)}"
    for said, ids in _unmatched(comparison):
        yield f"- {markdown(said)}: {', '.join(map(markdown, ids))}"
    for said, scorers in _other_scorers(comparison):
        yield f"- {said}: {', '.join(map(markdown, scorers))}"
    for note in comparison.notes:
        yield f"- note: {markdown(note)}"
    yield ""
    told = comparison.scorers if comparison.answered is None else (*comparison.scorers, comparison.answered)
    if told:
        yield "| scorer | |"
        yield "|---|---|"
        for one in told:
            yield f"| {markdown(one.scorer)} | {markdown(one.said)} |"
        yield ""
    for direction, changes in _by_direction(comparison).items():
        if changes:
            yield f"### {direction.capitalize()}"
            yield ""
            for change in changes:
                who = markdown(change.scorer) if change.scorer else "the target"
                yield f"- {markdown(change.item)} {who}: {change.before} → {change.after}"
                yield from (f"  {markdown(text)}" for text in (change.reason, change.divergence) if text)
            yield ""
    for measure in comparison.measures:
        yield f"- {measure.name}: {measured(measure, len(comparison.common))}"


def counted(comparison: EvalComparison) -> str:
    """How many items moved which way: `1 broke, 0 mended`, and `2 worse` where there are any."""
    some = {"worse": len(comparison.worse), "better": len(comparison.better)}
    more = "".join(f", {count} {direction}" for direction, count in some.items() if count)
    return f"{len(comparison.broke)} broke, {len(comparison.mended)} mended{more}"


#: What a comparison can be written as, by suffix.
COMPARISON_FORMS: Mapping[str, Callable[[EvalComparison], bytes]] = {
    ".json": _json,
    ".jsonl": _jsonl,
    ".csv": _csv,
    ".md": _md,
}
