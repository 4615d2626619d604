"""Two results side by side as a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from quickchecks import _render
from quickchecks._results.changes import Change, Direction, EvalComparison, ScorerChange
from quickchecks._results.result import many
from quickchecks.reports import _comparison_words as words
from quickchecks.reports import _html_found as found
from quickchecks.reports._decision import decided
from quickchecks.reports._html import Element, Node, document, el, more
from quickchecks.reports._html_evaluation import footer, headline

__all__ = ("comparison",)

#: The most changes of each kind that a page shows, and of their items those that are not folded away.
_MAX_CHANGES = 200
_MAX_OPEN = 20

#: How the heading is coloured, by exit code.
_TONES = {0: "passed", 1: "failed"}

_TITLES: dict[Direction, tuple[str, str]] = {
    "broke": ("What broke", "Passed before, and does not now."),
    "worse": ("What is worse", "Passed only some of its repetitions before, and passes fewer now: each by itself may be chance."),
    "better": ("What is better", "Passes more of its repetitions, but not all: each by itself may be chance."),
    "mended": ("What mended", "Did not pass before, and does now."),
}


def comparison(compared: EvalComparison) -> bytes:
    """Write a comparison. See `quickchecks.reports`."""
    decision = compared.decision or decided(compared)
    said, _, lead = decision.said.partition(": ")
    said = said[:1].upper() + said[1:]
    before, after = (verdict or "no verdict" for verdict in compared.verdicts)
    about = f"{many(len(compared.common), 'item')} in both · verdict before: {before} · now: {after}"
    scorers = words.scorers(compared)
    remarks = [compared.open_ended] if compared.open_ended else []
    remarks += [*compared.notes]
    return document(
        f"{said} – comparison",
        headline("Comparison of two results", _TONES.get(decision.exit_code, "undecided"), said, lead, about),
        el(
            "main",
            [_changes(direction, changes) for direction, changes in words.by_direction(compared).items() if changes],
            found.section("scorers", "Scorers", _scorers(scorers)) if scorers else None,
            found.section("measures", "Cost, tokens and time", _measures(compared)) if compared.measures else None,
            _not_compared(compared),
            found.section("notes", "Worth knowing", found.notes(remarks)) if remarks else None,
        ),
        footer({}),
    )


def _changes(direction: Direction, changes: Sequence[Change]) -> Element:
    title, about = _TITLES[direction]
    by_item: dict[str, list[Change]] = {}
    for one in changes[:_MAX_CHANGES]:
        by_item.setdefault(one.item, []).append(one)
    items = [_item(item, of_item) for item, of_item in by_item.items()]
    shown: list[Node] = [el("p", about, cls="quiet"), *items[:_MAX_OPEN]]
    if items[_MAX_OPEN:]:
        shown.append(el("details", el("summary", f"{len(items) - _MAX_OPEN:,} more"), items[_MAX_OPEN:]))
    if len(changes) > _MAX_CHANGES:
        shown.append(el("p", more(len(changes) - _MAX_CHANGES, "change"), " not shown", cls="left-out"))
    return found.section(direction, f"{title} ({_count(changes)})", shown)


def _count(changes: Sequence[Change]) -> str:
    items = len({one.item for one in changes})
    return f"{items:,}" if items == len(changes) else f"{many(len(changes), 'check')} on {many(items, 'item')}"


def _item(item: str, changes: Sequence[Change]) -> Element:
    name = el("code", _render.capped(item, 200) if item.strip() else f'"{item[:200]}"')
    # The runs differ in the same way whichever check looks at them.
    parted = dict.fromkeys(one.divergence for one in changes if one.divergence)
    where = [el("p", "How the runs differ: ", one, cls="quiet change") for one in parted]
    return el("div", el("h3", name), map(_change, changes), where, cls="case")


def _change(one: Change) -> Element:
    who = found.title_of("", _render.capped(one.scorer, 300)) if one.scorer else "the target"
    moved = el("p", el("strong", who), f": {one.before} → ", el("strong", one.after))
    return el("div", moved, el("p", one.reason) if one.reason else None, cls="change")


def _scorers(scorers: Sequence[ScorerChange]) -> Element:
    titles = [("scorer", ""), ("before", "number"), ("now", "number"), ("difference", "number"), ("in words", "wide")]
    rows: list[list[Node]] = []
    for one in scorers:
        tone = "failed" if one.fell else ""
        difference = el("span", f"{one.difference:+.3g}" if one.difference else "0", cls=tone)
        rows.append(
            [found.title_of("", _render.capped(one.scorer, 300)), f"{one.before:.3g}", f"{one.after:.3g}", difference, one.said]
        )
    return found.table("scorers", titles, rows)


def _measures(compared: EvalComparison) -> Element:
    return found.pairs((one.name, [words.measured(one, len(compared.common))]) for one in compared.measures)


def _not_compared(compared: EvalComparison) -> Element | None:
    shown = list(_left_out(compared))
    return found.section("left-out", "What is not compared", shown) if shown else None


def _left_out(compared: EvalComparison) -> Iterator[Node]:
    for said, ids in words.unmatched(compared):
        yield found.listed(said, ids)
    for said, names in words.other_scorers(compared):
        yield found.listed(said, names)
