"""Long texts and values in pages: what fits is shown, what reasons speak of is marked, and what is left out is counted."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from quickchecks import _render, _wire
from quickchecks.reports._html import MAX_TEXT, Element, Node, el, more

__all__ = ("Mark", "Room", "marked", "text", "value", "words")

#: What is longer is folded away, and opens on a click.
MAX_OPEN = 1_200
#: So much is shown around a marked place of a long text, and of a marked place itself.
_AROUND = 200
_MAX_MARK = 600
_SHORT = 100


class Mark(Struct, frozen=True):
    """A place that a reason speaks of.

    Args:
        start: Its first character.
        end: The character after its last.
        labels: The numbers of the reasons, where there are several.
    """

    start: int
    end: int
    labels: tuple[str, ...] = ()


class Room(Struct):
    """How much text there is still room for.

    Args:
        left: So many characters.
    """

    left: int

    def take(self, wanted: int) -> int:
        """Take up to so many characters; returns how many there were."""
        given = max(min(wanted, self.left), 0)
        self.left -= given
        return given


def marked(labels: Sequence[str], *children: Node) -> Element:
    """Mark what a reason speaks of, with the numbers of the reasons."""
    numbers = (el("sup", ", ".join(labels)),) if labels else ()
    return el("mark", children, numbers)


def text(said: str, marks: Iterable[Mark] = (), *, room: Room, most_open: int = MAX_OPEN) -> Iterator[Node]:
    """Show a text: whole when it is short, else what is marked in it and around it, and the rest folded away."""
    found = list(marks)
    if len(said) <= most_open:
        yield el("div", words(said, found, room.take(len(said))), cls="words")
        return
    if found:
        yield el("div", words(said, found, room.take(most_open)), cls="words")
    preview = "the whole text" if found else said[:80].strip() + "…"
    size = el("span", f" ({len(said):,} characters)", cls="tag")
    whole = el("div", words(said, found, room.take(min(len(said), MAX_TEXT))), cls="words")
    yield el("details", el("summary", preview, size), whole)


def value(shown: object, *, room: Room) -> Iterator[Node]:
    """Show a value as JSON, a text as it is; a text that is JSON, as tools often return it, like any other value."""
    if isinstance(shown, str):
        parsed = _parsed(shown)
        if parsed is None:
            yield from text(shown, room=room)
            return
        shown = parsed
    written = _json(shown)
    most = room.take(min(len(written), MAX_TEXT))
    cut = el("span", " what follows is not shown", cls="left-out") if written.endswith("…") else ""
    block = el("div", words(written, (), most), cut, cls="words value")
    if len(written) <= MAX_OPEN:
        yield block
    else:
        size = el("span", f" ({len(written):,} characters)", cls="tag")
        yield el("details", el("summary", written[:80].strip() + "…", size), block)


def words(said: str, marks: Iterable[Mark], most: int) -> Iterator[Node]:
    """The pieces of a text, marked ones in `mark`; of a long one its beginning and what is around the marks.

    Args:
        said: The text.
        marks: What is marked.
        most: About how many characters are shown.

    Yields:
        The pieces, between them how many characters are left out.
    """
    flat = _apart(said, marks)
    at = 0
    for start, end in _windows(len(said), flat, most):
        if start > at:
            yield el("span", f" {more(start - at)} … ", cls="left-out")
        yield from _pieces(said, start, end, flat)
        at = end
    if at < len(said):
        yield el("span", f" {more(len(said) - at)}", cls="left-out")


def _apart(said: str, marks: Iterable[Mark]) -> list[Mark]:
    """The marks inside the text, in order, those that overlap as one."""
    found: list[Mark] = []
    for one in sorted(marks, key=lambda mark: (mark.start, mark.end)):
        start, end = max(one.start, 0), min(one.end, len(said))
        if start >= end:
            continue
        last = found[-1] if found else None
        if last is not None and start < last.end:
            labels = tuple(dict.fromkeys((*last.labels, *one.labels)))
            found[-1] = Mark(last.start, max(last.end, end), labels)
        else:
            found.append(Mark(start, end, one.labels))
    return found


def _windows(length: int, marks: Sequence[Mark], most: int) -> Iterator[tuple[int, int]]:
    """What is shown of a text: all of it, or its beginning and what is around the marks."""
    if length <= most:
        yield 0, length
        return
    wanted = [(0, most if not marks else min(most // 2, marks[0].start + _MAX_MARK))]
    for mark in marks:
        wanted.append((max(mark.start - _AROUND, 0), min(mark.start + _MAX_MARK, mark.end + _AROUND, length)))
        if mark.end - mark.start > _MAX_MARK:
            wanted.append((max(mark.end - _AROUND, 0), min(mark.end + _AROUND, length)))
    start, end = wanted[0]
    for begins, stops in wanted[1:]:
        if begins <= end:
            end = max(end, stops)
            continue
        most -= end - start
        yield start, end
        if most <= 0:
            return
        start, end = begins, stops
    yield start, end


def _pieces(said: str, start: int, end: int, marks: Sequence[Mark]) -> Iterator[Node]:
    at = start
    for mark in marks:
        if mark.end <= start or mark.start >= end:
            continue
        begins, stops = max(mark.start, start), min(mark.end, end)
        yield _render.masked(said, at, begins)
        yield marked(mark.labels if stops == mark.end else (), _render.masked(said, begins, stops))
        at = stops
    yield _render.masked(said, at, end)


def _parsed(said: str) -> object:
    """The value that a text is the JSON of; None when it is none."""
    if said.lstrip()[:1] not in ("{", "[") or len(said) > 10 * MAX_TEXT:
        return None
    try:
        found: object = _wire.loads(said)
    except (ValueError, RecursionError):
        return None
    return found


def _json(shown: object) -> str:
    """A value as JSON, on several lines when it is long; what lies under a key that names a secret is masked."""
    written = _render.value(shown, MAX_TEXT)
    if isinstance(shown, str):
        return written
    try:
        return json.dumps(_wire.loads(written), indent=None if len(written) <= _SHORT else 2, ensure_ascii=False)
    except (ValueError, RecursionError):  # it was cut, or is no JSON, as infinity is not
        return written
