"""Foreign text in reports: nothing that a model or a tool wrote may drive a terminal, a spreadsheet or a web page."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from quickchecks import _render

__all__ = ("csv_cell", "lines", "markdown", "one_line", "path")

#: What a spreadsheet takes for the beginning of a formula; the wide forms too, which some programs fold.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def one_line(text: str) -> str:
    """Write a text on one line: line breaks, control characters and changes of direction as escapes, secrets masked.

    Example:
        >>> one_line("red: \\x1b[31m")
        'red: \\\\u001b[31m'
    """
    return _invisible_escaped(_render.quoted(text, len(text))[1:-1])


def path(text: str) -> str:
    """Write the name of a file; as `one_line`, but nothing in it is a secret."""
    return text if text.isascii() and text.isprintable() else _invisible_escaped(text)


def lines(text: str) -> Iterator[str]:
    """The lines of a text, each as `one_line` writes it, tabs as spaces."""
    for line in text.splitlines():
        yield one_line(line.expandtabs(4))


def _invisible_escaped(text: str) -> str:
    return text if text.isprintable() else "".join(c if _shows(c) else _escape(c) for c in text)


def _shows(character: str) -> bool:
    # Spaces of other kinds only take space; the two joiners belong to the writing of many languages and to emoji.
    return character.isprintable() or character in "\u200c\u200d" or unicodedata.category(character) == "Zs"


def _escape(character: str) -> str:
    return f"\\u{ord(character):04x}" if character < "\U00010000" else f"\\U{ord(character):08x}"


def csv_cell(text: str) -> str:
    """Write a text for a cell: what a spreadsheet would run as a formula gets an apostrophe before it.

    Example:
        >>> csv_cell("=1+1")
        "'=1+1"
    """
    shown = _render.quoted(text, len(text))[1:-1]
    return f"'{shown}" if text.lstrip(" \u00a0\u3000").startswith(_FORMULA) else shown


def markdown(text: str) -> str:
    """Write a text as a span of code, in which Markdown and web pages run, link and mention nothing.

    Example:
        >>> print(markdown("a | b"))
        `a \\| b`
    """
    shown = one_line(text).replace("|", "\\|")
    longest = max((len(ticks) for ticks in re.findall("`+", shown)), default=0)
    fence = "`" * (longest + 1)
    space = " " if shown.startswith("`") or shown.endswith("`") or not shown.strip() else ""
    return f"{fence}{space}{shown}{space}{fence}"
