"""Text as it is compared: Unicode normal form, case folding, and the way back to the text as it was written.

Two texts that a reader sees as equal must compare as equal, so both sides are brought to NFC, and to the case fold
when case is ignored (Unicode 15, sections 3.11 and 3.13; canonical caseless matching, definition D145). Folding can
change the length of a text, so offsets found in folded text are mapped back cluster by cluster, and only when somebody
asks for evidence.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from unicodedata import combining, is_normalized, name, normalize

#: Quotation marks, dashes and spaces that look alike but are different code points, each with its plain form.
TYPOGRAPHIC = {
    **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u02bc\u00b4\u0060", "'"),
    **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb", '"'),
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
    **dict.fromkeys("\u00a0\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000", " "),
}
_TYPOGRAPHIC_TABLE = str.maketrans(TYPOGRAPHIC)

#: The characters with the Unicode property White_Space. `str.isspace` also takes U+001C to U+001F, which are not.
WHITE_SPACE = (
    "\t\n\x0b\x0c\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
_NO_WHITE_SPACE = dict.fromkeys(map(ord, WHITE_SPACE))

#: Longer texts are normalised in pieces: `unicodedata` orders a row of n combining marks in n² steps, so that a
#: megabyte of them would take hours.
_PIECE = 256
#: The longest row of marks that is kept together. Unicode's stream-safe format allows 30; no language needs more.
_LONGEST_ROW = 1024
#: How far the way back from compared text to text as written goes in one step.
_STRIDE = 4096


def composed(text: str) -> str:
    """Bring a text to Unicode NFC.

    Example:
        >>> composed("cafe\\u0301") == "caf\\u00e9"
        True
    """
    if text.isascii() or is_normalized("NFC", text):
        return text
    if len(text) <= _PIECE:
        return normalize("NFC", text)
    return "".join([_composed_piece(piece) for piece in _pieces(text, _PIECE)])


def folded(text: str) -> str:
    """Bring a text to the form in which case and canonical spelling no longer matter.

    Example:
        >>> folded("STRASSE") == folded("Stra\\u00dfe")
        True
    """
    return text.lower() if text.isascii() else composed(composed(text).casefold())


def plain(text: str) -> str:
    """Replace typographic quotes, dashes and spaces by their ASCII forms, one character by one.

    Example:
        >>> plain("won\\u2019t")
        "won't"
    """
    return text.translate(_TYPOGRAPHIC_TABLE)


def without_white_space(text: str) -> str:
    """Remove every character that Unicode calls white space."""
    # For ASCII, str.split knows the same characters except U+001C to U+001F, which are rare enough to test for.
    if text.isascii() and not ("\x1c" in text or "\x1d" in text or "\x1e" in text or "\x1f" in text):
        return "".join(text.split())
    return text.translate(_NO_WHITE_SPACE)


def code_point(character: str) -> str:
    """Name a character for a reason, such as "U+2019 RIGHT SINGLE QUOTATION MARK"."""
    return f"U+{ord(character):04X} {name(character, 'unnamed')}"


def _pieces(text: str, size: int) -> Iterator[str]:
    """Split a text into pieces of about this size, so that normalising them one by one gives the same as the whole."""
    start = 0
    while start < len(text):
        end = start + size
        last = min(end + _LONGEST_ROW, len(text))
        while end < last and _joins(text, start, end):
            end += 1
        yield text[start:end]
        start = end


def _joins(text: str, start: int, position: int) -> bool:
    """Whether the character at a position may compose with those before it."""
    character = text[position]
    if character.isascii():
        return False
    if combining(character) or combining(normalize("NFD", character)[0]):
        return True
    # Some starters compose with what precedes them (Hangul syllables are the common case). A few characters decide.
    tail = text[max(start, position - 4) : position]
    return normalize("NFC", tail + character) != normalize("NFC", tail) + normalize("NFC", character)


def _composed_piece(piece: str) -> str:
    if len(piece) > 2 * _PIECE:  # a row of marks that no language has: put it in canonical order here, in n log n steps
        decomposed = piece.translate({ord(character): normalize("NFD", character) for character in set(piece)})
        rows = groupby(decomposed, lambda character: combining(character) > 0)
        piece = "".join(["".join(sorted(row, key=combining) if marks else row) for marks, row in rows])
    return normalize("NFC", piece)


def original_span(text: str, start: int, end: int, *, fold: bool) -> tuple[int, int]:
    """Map a span of the compared form of a text back to the text as it was written.

    Args:
        text: The text as it was written.
        start: Start of the span in the compared form, in code points.
        end: End of the span in the compared form, exclusive.
        fold: Whether the compared form is case-folded (`folded`) or only composed (`composed`).

    Returns:
        Start and end in `text`, in code points. A span that begins or ends inside a character that folds to several
        (such as the German sharp s) is widened to the whole of it.

    Example:
        >>> original_span("Stra\\u00dfe", 4, 6, fold=True)
        (4, 5)
    """
    if text.isascii():
        return start, end
    form = folded if fold else composed
    first = None
    here = there = 0
    for piece in _pieces(text, _STRIDE):
        width = len(form(piece))
        if there + width <= start or (first is not None and there + width < end):
            here += len(piece)
            there += width
            continue
        for cluster in _pieces(piece, 1):
            width = len(form(cluster))
            if first is None and there + width > start:
                if start == end:
                    return here, here
                first = here
            here += len(cluster)
            there += width
            if first is not None and there >= end:
                return first, here
    return (here if first is None else first), here
