"""Reads pages of HTML as a browser does, as far as a test needs it."""

from __future__ import annotations

import re
from html.parser import HTMLParser

__all__ = ("Page",)

_VOID = ("meta",)


class Page(HTMLParser):
    """What stands in a page.

    Args:
        written: The page.
    """

    def __init__(self, written: bytes) -> None:
        super().__init__(convert_charrefs=True)
        self.source = written.decode("utf-8", "strict")
        #: The elements, with their attributes, in order.
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        #: Whatever else there is: comments, instructions, declarations.
        self.others: list[str] = []
        #: The texts of elements of each name, in order.
        self.texts: dict[str, list[str]] = {}
        self._open: list[tuple[str, list[str]]] = []
        self.feed(self.source)
        self.close()
        assert not self._open, self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in _VOID:
            self._open.append((tag, []))

    def handle_endtag(self, tag: str) -> None:
        opened, pieces = self._open.pop()
        assert opened == tag, f"{opened} is closed as {tag}"
        text = "".join(pieces)
        self.texts.setdefault(tag, []).append(text)
        if self._open:
            self._open[-1][1].append(text)

    def handle_data(self, data: str) -> None:
        if self._open:
            self._open[-1][1].append(data)

    def handle_comment(self, data: str) -> None:
        self.others.append(data)

    def handle_decl(self, decl: str) -> None:
        if decl != "doctype html":
            self.others.append(decl)

    def handle_pi(self, data: str) -> None:
        self.others.append(data)

    def unknown_decl(self, data: str) -> None:
        self.others.append(data)

    @property
    def body(self) -> str:
        """All that is to be read in it, white space as one space."""
        return re.sub(r"\s+", " ", self.texts["body"][0])

    @property
    def attributes(self) -> set[tuple[str, str]]:
        """The attributes that there are, each with its element."""
        return {(tag, name) for tag, attributes in self.elements for name in attributes}
