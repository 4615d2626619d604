"""YAML as a tree of texts, lists and mappings, each with its place: the part of YAML that a checks file may use.

Nothing is guessed from how a scalar looks (`yes`, `12:30`, `0123` stay texts), and what makes a file mean something
else than it seems to say is refused: a key that stands twice, anchors, aliases and merge keys, tags, several documents.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NoReturn, Protocol

from msgspec import Struct

from quickchecks import _render
from quickchecks._scorer.binding import Place
from quickchecks.errors import CheckSyntaxError

if TYPE_CHECKING:
    from yaml.error import YAMLError
    from yaml.events import CollectionStartEvent, Event, NodeEvent, ScalarEvent

__all__ = ("MAX_CHARACTERS", "MAX_DEPTH", "YamlList", "YamlMapping", "YamlNode", "YamlScalar", "read_yaml")

#: Longer texts are refused; ten thousand checks are shorter.
MAX_CHARACTERS = 500_000
#: Lists and mappings may be nested this deeply.
MAX_DEPTH = 50


_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_COMMENT = re.compile(r"[ \t]+#")


class YamlNode(Struct, frozen=True):
    """A part of a YAML text, and where it begins."""

    place: Place


class YamlScalar(YamlNode, frozen=True):
    """A text.

    Args:
        text: What it says.
        plain: Whether it stands without quotes, so that `yes` may be meant as True.
        shift: Where its text begins behind its place, when it is written there as it is; None when it is folded or has
            escapes, so that a column inside the text is no column of the file.
        cut: Whether a comment begins right after it, which may have been meant as text.
    """

    text: str
    plain: bool = True
    shift: int | None = None
    cut: bool = False

    def inside(self, offset: int) -> Place:
        """The place of a character of the text."""
        if self.shift is None or self.place.column is None:
            return self.place
        return Place(self.place.file, self.place.line, self.place.column + self.shift + offset)

    @property
    def is_empty(self) -> bool:
        """Whether nothing at all is written here, as after `no_tool_errors:`."""
        return self.plain and not self.text

    @property
    def is_null(self) -> bool:
        """Whether nothing is written here, or YAML's words for nothing."""
        return self.plain and self.text.lower() in ("", "~", "null")


class YamlList(YamlNode, frozen=True):
    """A list."""

    items: tuple[YamlNode, ...] = ()


class YamlMapping(YamlNode, frozen=True):
    """A mapping, its keys in the order of the text."""

    items: tuple[tuple[YamlScalar, YamlNode], ...] = ()

    def get(self, key: str) -> YamlNode | None:
        """The value under a key."""
        return next((value for name, value in self.items if name.text == key), None)

    @property
    def keys(self) -> list[str]:
        """The keys."""
        return [name.text for name, _ in self.items]


def read_yaml(text: str, file: str | None = None, *, kind: str = "a checks file") -> YamlNode | None:
    """Read a YAML text.

    Args:
        text: The text.
        file: Its file, for errors.
        kind: What it is, for errors.

    Returns:
        The tree; None for a text without content.

    Raises:
        CheckSyntaxError: It is no YAML, or it uses what is refused here.
    """
    import yaml

    if len(text) > MAX_CHARACTERS:
        problem = f"{kind} has at most {MAX_CHARACTERS:,} characters, this one has {len(text):,}"
        raise CheckSyntaxError(problem, file=file)
    reader = _Reader(text.removeprefix("\ufeff"), file, kind)
    try:
        return reader.document(yaml.parse(reader.text, Loader=yaml.BaseLoader))
    except yaml.YAMLError as error:
        reader.not_yaml(error)


class _Mark(Protocol):
    """A place as PyYAML gives it, counted from 0."""

    line: int
    column: int
    index: int


class _Reader:
    def __init__(self, text: str, file: str | None, kind: str) -> None:
        self.text = text
        self.file = file
        self.kind = kind
        self.depth = 0

    def place(self, mark: _Mark | None) -> Place:
        assert mark is not None  # it is absent only from events that somebody made by hand
        return Place(self.file, mark.line + 1, mark.column + 1)

    def document(self, events: Iterator[Event]) -> YamlNode | None:
        from yaml.events import DocumentStartEvent, NodeEvent, StreamEndEvent

        found: YamlNode | None = None
        documents = 0
        for event in events:
            if isinstance(event, DocumentStartEvent):
                documents += 1
                if documents > 1:
                    raise self.place(event.start_mark).error(
                        f"a second document begins here; {self.kind} has one", "leave out the ---"
                    )
            elif isinstance(event, NodeEvent):
                found = self.node(event, events)
            elif isinstance(event, StreamEndEvent):
                break
        return None if isinstance(found, YamlScalar) and found.is_empty else found

    def node(self, event: NodeEvent, events: Iterator[Event]) -> YamlNode:
        from yaml.events import AliasEvent, MappingStartEvent, ScalarEvent, SequenceStartEvent

        place = self.place(event.start_mark)
        if isinstance(event, AliasEvent):
            raise place.error(
                f"an alias (*{event.anchor}) cannot stand in {self.kind}",
                f"write again what &{event.anchor} stands for; a text that begins with * stands in quotes",
            )
        if event.anchor is not None:
            text = isinstance(event, ScalarEvent) and not event.value
            raise place.error(
                f"an anchor (&{event.anchor}) cannot stand in {self.kind}",
                f'a text that begins with & stands in quotes: "&{event.anchor}"'
                if text
                else f"leave it out, and write at each *{event.anchor} what it stands for; a text with & stands in quotes",
            )
        assert isinstance(event, (ScalarEvent, MappingStartEvent, SequenceStartEvent))
        if event.tag is not None:
            tag = _render.capped(str(event.tag), 40)
            raise place.error(
                f"a tag ({tag}) cannot stand in {self.kind}", "put the text in quotes; the opposite of a check is {not: …}"
            )
        if isinstance(event, ScalarEvent):
            return self.scalar(event, place)
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise place.error(f"lists and mappings may be nested {MAX_DEPTH} deep, these are nested more deeply")
        inside = list(self.children(event, events))
        self.depth -= 1
        if isinstance(event, SequenceStartEvent):
            return YamlList(place, tuple(inside))
        return self.mapping(place, inside)

    def children(self, start: CollectionStartEvent, events: Iterator[Event]) -> Iterator[YamlNode]:
        from yaml.events import CollectionEndEvent, NodeEvent

        for event in events:
            if isinstance(event, CollectionEndEvent):
                return
            assert isinstance(event, NodeEvent)
            yield self.node(event, events)

    def mapping(self, place: Place, inside: list[YamlNode]) -> YamlMapping:
        lines: dict[str, int | None] = {}
        items: list[tuple[YamlScalar, YamlNode]] = []
        for key, value in zip(inside[::2], inside[1::2], strict=True):
            if not isinstance(key, YamlScalar):
                raise key.place.error("a key must be a text, not a list or a mapping", "put braces in a text in quotes")
            if key.text == "<<" and key.plain:
                raise key.place.error(f"a merge key (<<) cannot stand in {self.kind}", "write the keys again")
            shown = _render.quoted(key.text, 40)
            if key.text in lines:
                raise key.place.error(f"the key {shown} stands here a second time, after line {lines[key.text]}")
            lines[key.text] = key.place.line
            items.append((key, value))
        return YamlMapping(place, tuple(items))

    def scalar(self, event: ScalarEvent, place: Place) -> YamlScalar:
        assert event.start_mark is not None
        assert event.end_mark is not None
        start, end = event.start_mark.index, event.end_mark.index
        plain = event.style is None
        shift = 0 if plain else 1
        written = self.text[start + shift : end - shift]
        cut = plain and _COMMENT.match(self.text, end) is not None
        return YamlScalar(place, _paired(event.value), plain, shift if written == event.value else None, cut)

    def not_yaml(self, error: YAMLError) -> NoReturn:
        from yaml import MarkedYAMLError
        from yaml.reader import ReaderError

        if isinstance(error, ReaderError):
            position = error.position
            line = self.text.count("\n", 0, position) + 1
            place = Place(self.file, line, position - self.text.rfind("\n", 0, position))
            code = error.character if isinstance(error.character, int) else ord(error.character)
            raise place.error(
                f"the character U+{code:04X} cannot stand in YAML", 'inside double quotes it is written "\\u…"'
            ) from None
        problem, place = str(error), Place(self.file)
        if isinstance(error, MarkedYAMLError):
            problem = ", ".join(part for part in (error.context, error.problem) if part)
            mark = error.problem_mark or error.context_mark
            place = place if mark is None else self.place(mark)
        raise place.error(f"this is not YAML: {problem}", _hint(problem)) from None


def _paired(text: str) -> str:
    """Join the halves of surrogate pairs: JSON writes "\\ud83d\\ude00" for one character, and JSON is YAML."""
    if text.isascii() or not _PAIR.search(text):
        return text
    return _PAIR.sub(lambda found: found[0].encode("utf-16", "surrogatepass").decode("utf-16"), text)


def _hint(problem: str) -> str:
    if "'\\t'" in problem:
        return "indent with spaces, not with tabs"
    if "mapping values are not allowed" in problem:
        return "put a text that contains ': ' in quotes; keys of one mapping stand in one column"
    if "cannot start any token" in problem or "alias" in problem or "anchor" in problem or "tag" in problem:
        return "put the text in quotes"
    return ""
