"""Pages of HTML, made of elements. The only way into a page is as a child of an element, where a text is escaped.

Only the elements and attributes that stand here can be in a page, and none of them runs, loads or sends anything: no
attribute takes a foreign text, and a link leads only to a place in the same page.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable, Iterator
from hashlib import sha256
from html import escape
from typing import Literal

from msgspec import Struct

from quickchecks import _render
from quickchecks.reports._html_style import STYLE
from quickchecks.reports._safe import one_line

__all__ = ("MAX_TEXT", "TAGS", "Element", "Node", "Tag", "document", "el", "element_id", "link", "more")

Tag = Literal[
    "article", "body", "code", "dd", "details", "div", "dl", "dt", "footer", "h1", "h2", "h3", "h4", "head", "header", "html",
    "li", "main", "mark", "ol", "p", "section", "span", "strong", "summary", "sup", "table", "tbody", "td", "th", "thead",
    "title", "tr", "ul", "a",
]  # fmt: skip

#: The elements of a page, but for `meta` and `style`, which `document` writes once.
TAGS: frozenset[str] = frozenset(Tag.__args__)  # type: ignore[attr-defined]

#: The most characters of one text. What is longer ends with a note of how many more there are.
MAX_TEXT = 20_000

_NAME = re.compile(r"[a-z][a-z0-9_-]*(?: [a-z][a-z0-9_-]*)*")


class Element(Struct, frozen=True, gc=False):
    """An element, with what is in it.

    Args:
        tag: Its name.
        children: Texts, which are escaped when the page is written, and elements.
        attributes: Its attributes. They are words of ours (see `el`).
    """

    tag: Tag
    children: tuple[Node, ...] = ()
    attributes: tuple[tuple[str, str], ...] = ()


Node = Element | str


def el(
    tag: Tag,
    *children: Node | Iterable[Node] | None,
    cls: str = "",
    id: str = "",
    label: str = "",
    column: str = "",
    open: bool = False,
    focusable: bool = False,
    columns: int = 1,
    scope: Literal["", "col", "row"] = "",
    role: Literal["", "group"] = "",
) -> Element:
    """Make an element.

    Args:
        tag: Its name.
        children: What is in it: texts and elements, or several of them; None is nothing.
        cls: Its classes.
        id: Its id in the page.
        label: The id of the element that names it.
        column: The title of its column, which stands before a cell where rows are stacked.
        open: Whether `details` are open.
        focusable: Whether the keyboard reaches it, as it must what scrolls.
        columns: Over how many columns a cell goes.
        scope: What a cell of a heading is the heading of.
        role: What it is to those who do not see the page.

    Raises:
        ValueError: An attribute is not one of our words: foreign text can only be a child.

    Example:
        >>> el("p", "a < b", cls="note").children
        ('a < b',)
    """
    found: list[tuple[str, str]] = []
    for name, value in (("class", cls), ("id", id), ("aria-labelledby", label), ("data-column", column)):
        if value:
            if not _NAME.fullmatch(value):
                raise ValueError(f"{value!r} is no name that {name} may have")
            found.append((name, value))
    found += [("open", "")] if open else []
    found += [("tabindex", "0")] if focusable else []
    found += [("colspan", str(int(columns)))] if columns > 1 else []
    found += [("scope", scope)] if scope else []
    found += [("role", role)] if role else []
    return Element(tag, tuple(_flat(children)), tuple(found))


def link(target: str, *children: Node) -> Element:
    """Make a link to an element of the same page, by its id."""
    if not _NAME.fullmatch(target):
        raise ValueError(f"{target!r} is no id of an element here")
    return Element("a", children, (("href", f"#{target}"),))


def element_id(kind: str, number: int) -> str:
    """The id of an element: never anything that a recording says."""
    return f"{kind}-{int(number)}"


def more(count: int, noun: str = "character") -> str:
    """What stands where something was left out: `… 1,200 more characters`."""
    return f"… {count:,} more {noun}{'' if count == 1 else 's'}"


def document(title: str, *body: Node | Iterable[Node]) -> bytes:
    """Write a page.

    Args:
        title: Its title.
        body: What is in it.

    Returns:
        The page, in UTF-8. It holds its style, and asks browsers to run, load and send nothing.
    """
    digest = b64encode(sha256(STYLE.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    head = (
        '<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        '<meta name="referrer" content="no-referrer">\n'
    )
    shown = "".join(_written(el("title", _render.capped(title, 200))))
    page = "".join(_written(el("body", *body)))
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n{head}{shown}\n<style>{STYLE}</style>\n</head>\n{page}\n</html>\n'
    ).encode()


def _flat(children: Iterable[Node | Iterable[Node] | None]) -> Iterator[Node]:
    for child in children:
        if isinstance(child, (str, Element)):
            yield child
        elif child is not None:
            yield from child


#: After these a line ends, so that the source of a page can be read and compared.
_ENDS_LINE = frozenset(
    "article dd details div dl footer header h1 h2 h3 h4 li main ol p section table tr ul".split(),
)


def _written(node: Node) -> Iterator[str]:
    if isinstance(node, str):
        yield _text(node)
        return
    if node.tag not in TAGS:
        raise ValueError(f"{node.tag!r} is no element that a page may have")
    attributes = "".join(f' {name}="{escape(value)}"' if value else f" {name}" for name, value in node.attributes)
    yield f"<{node.tag}{attributes}>"
    for child in node.children:
        yield from _written(child)
    yield f"</{node.tag}>" + ("\n" if node.tag in _ENDS_LINE else "")


def _text(text: str) -> str:
    """A text as it stands in a page: capped, secrets masked, what is invisible made visible; its lines stay."""
    rest = len(text) - MAX_TEXT
    text = _render.masked(text, 0, min(len(text), MAX_TEXT)) + (more(rest) if rest > 0 else "")
    lines = text.replace("\r\n", "\n").expandtabs(4).split("\n")
    return escape("\n".join(map(one_line, lines)))
