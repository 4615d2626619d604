"""What becomes of a comparison of two results: lines on a terminal, and a file for each suffix of `-o`."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping
from io import StringIO
from typing import Literal

from msgspec import Struct

from quickchecks import _wire
from quickchecks._results.comparison import Change, EvalComparison, MeasureChange
from quickchecks._results.result import many
from quickchecks.reports._lines import BLANK, Line, line
from quickchecks.reports._safe import csv_cell, markdown, one_line

__all__ = ("COMPARISON_FORMS", "ChangeLine", "comparison_lines")

#: The most changes of each kind that a terminal shows, and the most ids that it names in a row.
_MAX_CHANGES = 20
_MAX_IDS = 5

_COLUMNS = ("direction", "item", "scorer", "before", "after", "reason", "divergence")


class ChangeLine(Struct, frozen=True, omit_defaults=True, tag_field="schema", tag="quickchecks.change/1"):
    """What changed on one item, as a line of a `.jsonl` report.

    Args:
        direction: Whether it broke or mended.
        change: What changed.
    """

    direction: Literal["broke", "mended"]
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
    yield line((f"{many(len(comparison.common), 'item')} in both ", "bold"), one_line(before), " and ", one_line(after))
    first, second = (verdict or "no verdict" for verdict in comparison.verdicts)
    yield line(f"{first} → {second}", indent=2)
    for said, ids in _unmatched(comparison):
        yield line(f"{said}: {one_line(_ids(ids))}", indent=2, hang=4)
    yield BLANK
    for one in comparison.scorers:
        yield line((one_line(one.scorer), "bold"), indent=2, hang=4)
        yield line(one_line(one.said), indent=6)
    for said, scorers in _other_scorers(comparison):
        yield line((f"{said}: ", "dim"), one_line(", ".join(scorers)), indent=2, hang=4)
    if comparison.scorers or comparison.only_scorers_before or comparison.only_scorers_after:
        yield BLANK
    yield from _changes("broke", "red", comparison.broke)
    yield from _changes("mended", "green", comparison.mended)
    for measure in comparison.measures:
        yield line(f"{measure.name:<8} {measured(measure, len(comparison.common))}", indent=2)
    if comparison.measures:
        yield BLANK


def measured(measure: MeasureChange, common: int) -> str:
    """A measure before and now: `$0.0120 → $0.0100 (-16.7 %)`, and on how many of the items it is known when not on all."""
    style = {"cost": "${:.4f}", "tokens": "{:,.0f}", "seconds": "{:.2f} s"}.get(measure.name, "{:g}")
    grown = "from nothing" if measure.growth == float("inf") else f"{100 * measure.growth:+.1f} %"
    where = f", known on {measure.items} of {many(common, 'item')}" if measure.items < common else ""
    return f"{style.format(measure.before)} → {style.format(measure.after)} ({grown}){where}"


def _unmatched(comparison: EvalComparison) -> Iterator[tuple[str, tuple[str, ...]]]:
    found = (
        ("only in the first", comparison.only_before),
        ("only in the second", comparison.only_after),
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
    return ", ".join(ids[:_MAX_IDS]) + (", …" if len(ids) > _MAX_IDS else "")


def _changes(title: str, style: str, changes: tuple[Change, ...]) -> Iterator[Line]:
    if not changes:
        return
    yield line((f"{title} ({len(changes)})", f"bold {style}"), indent=2)
    for one in changes[:_MAX_CHANGES]:
        who = one_line(one.scorer) if one.scorer else "the target"
        yield line((one_line(one.item), "bold"), f"  {who}: {one.before} → {one.after}", indent=4, hang=6)
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
    yield from (ChangeLine("broke", one) for one in comparison.broke)
    yield from (ChangeLine("mended", one) for one in comparison.mended)


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
    yield f"## {len(comparison.broke)} broke, {len(comparison.mended)} mended"
    yield ""
    yield f"{many(len(comparison.common), 'item')} compared"
    yield ""
    for said, ids in _unmatched(comparison):
        yield f"- {said}: {', '.join(map(markdown, ids))}"
    for said, scorers in _other_scorers(comparison):
        yield f"- {said}: {', '.join(map(markdown, scorers))}"
    yield ""
    if comparison.scorers:
        yield "| scorer | |"
        yield "|---|---|"
        for one in comparison.scorers:
            yield f"| {markdown(one.scorer)} | {markdown(one.said)} |"
        yield ""
    for title, changes in (("Broke", comparison.broke), ("Mended", comparison.mended)):
        if changes:
            yield f"### {title}"
            yield ""
            for change in changes:
                who = markdown(change.scorer) if change.scorer else "the target"
                yield f"- {markdown(change.item)} {who}: {change.before} → {change.after}"
                yield from (f"  {markdown(text)}" for text in (change.reason, change.divergence) if text)
            yield ""
    for measure in comparison.measures:
        yield f"- {measure.name}: {measured(measure, len(comparison.common))}"


#: What a comparison can be written as, by suffix.
COMPARISON_FORMS: Mapping[str, Callable[[EvalComparison], bytes]] = {
    ".json": _json,
    ".jsonl": _jsonl,
    ".csv": _csv,
    ".md": _md,
}
