"""Lines that know their indentation and style, until they are printed on a terminal or into a pipe."""

from __future__ import annotations

from msgspec import Struct

__all__ = ("BLANK", "Line", "line")


class Line(Struct, frozen=True):
    """One line of a report.

    Args:
        parts: Its texts, each with a style such as "red" or "bold"; clean of control characters.
        indent: The spaces before it.
        hang: The spaces before what does not fit and goes on in the next line.
        right: What stands at the right edge.
        whole: Never broken into several, so that a path in it can be clicked and copied.
    """

    parts: tuple[tuple[str, str], ...] = ()
    indent: int = 0
    hang: int = 0
    right: str = ""
    whole: bool = False

    @property
    def text(self) -> str:
        """Its text without styles."""
        return "".join(text for text, _ in self.parts)


BLANK = Line()


def line(*parts: str | tuple[str, str], indent: int = 0, hang: int | None = None, right: str = "", whole: bool = False) -> Line:
    """Make a line of texts without a style and of pairs of a text and a style."""
    styled = tuple((part, "") if isinstance(part, str) else part for part in parts)
    return Line(styled, indent, indent if hang is None else hang, right, whole)
