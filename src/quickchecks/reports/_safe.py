"""Foreign text in reports: nothing that a model or a tool wrote may drive a terminal, a spreadsheet or a web page."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from quickchecks import _render

__all__ = (
    "MAX_SHOWN",
    "csv_cell",
    "lines",
    "markdown",
    "markdown_word",
    "one_line",
    "path",
    "short",
    "shortened",
)

#: What a spreadsheet takes for the beginning of a formula; the wide forms too, which some programs fold.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")

#: What Markdown cannot take for anything else.
_WORDS = re.compile(r"(?:[A-Za-z0-9]+(?:[×_, ]|: )*|× )+")

#: The most characters of one text in a report for people; a recording may hold a line of megabytes.
MAX_SHOWN = 2_000
#: Spreadsheets hold 32,767 characters in a cell, and put the rest of a longer one into the next cells and rows.
_MAX_CELL = 32_000


def one_line(text: str) -> str:
    """Write a text on one line: line breaks, control characters and changes of direction as escapes, secrets masked.

    Example:
        >>> one_line("red: \\x1b[31m")
        'red: \\\\u001b[31m'
    """
    return _invisible_escaped(_render.quoted(text, len(text))[1:-1])


def short(text: str) -> str:
    """Write a text as `one_line`, the middle left out when it is very long."""
    return shortened(one_line(shortened(text, MAX_SHOWN)), MAX_SHOWN)


def shortened(text: str, limit: int) -> str:
    """Leave out the middle of a text that is longer than so many characters, and say how much that is.

    Example:
        >>> shortened("0123456789" * 10, 12)
        '01234567 … 88 characters … 6789'
    """
    if len(text) <= limit:
        return text
    head = limit * 2 // 3
    tail = len(text) - (limit - head)
    return f"{_render.masked(text, 0, head)} … {tail - head:,} characters … {_render.masked(text, tail, len(text))}"


def path(text: str) -> str:
    """Write the name of a file; as `short`, but nothing in it is a secret."""
    text = shortened(text, MAX_SHOWN) if len(text) > MAX_SHOWN else text
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
    shown = shortened(one_line(shortened(text, _MAX_CELL)), _MAX_CELL)
    runs = text.lstrip(" \u00a0\u3000").startswith(_FORMULA) or text.lstrip().startswith(_FORMULA)
    return f"'{shown}" if runs else shown


def markdown(text: str) -> str:
    """Write a text as a span of code, in which Markdown and web pages run, link and mention nothing.

    Example:
        >>> print(markdown("a | b"))
        `a \\| b`
    """
    shown = short(text).replace("|", "\\|")
    longest = max((len(ticks) for ticks in re.findall("`+", shown)), default=0)
    fence = "`" * (longest + 1)
    space = " " if shown.startswith("`") or shown.endswith("`") or not shown.strip() else ""
    return f"{fence}{space}{shown}{space}{fence}"


def markdown_word(text: str) -> str:
    """Write a few words of ours as they are, and as `markdown` does where they turn out to be something else.

    Example:
        >>> markdown_word("2 × passed"), markdown_word("<b>")
        ('2 × passed', '`<b>`')
    """
    return text if _WORDS.fullmatch(text) and len(text) <= MAX_SHOWN else markdown(text)
