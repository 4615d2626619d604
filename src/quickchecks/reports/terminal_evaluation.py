"""The report of an evaluation that a terminal shows, as lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from quickchecks._results.evaluation import EvalResult
from quickchecks.reports import _words
from quickchecks.reports._lines import BLANK, Line, line
from quickchecks.reports._safe import MAX_SHOWN, lines, shortened

__all__ = ("eval_lines",)

_STYLES: Mapping[str, str] = {
    "passed": "green",
    "failed": "red",
    "scored": "red",
    "undecided": "yellow",
    "measured": "dim",
    "watched": "dim",
    "shadow": "dim",
}


def eval_lines(result: EvalResult, code: int) -> Iterator[Line]:
    """The lines that show a result.

    Args:
        result: The result.
        code: The exit code of the command.

    Yields:
        The lines, from the verdict to the exit code.
    """
    for number, text in enumerate(shortened(one, MAX_SHOWN) for one in lines(result.explain())):
        yield line((text, "bold")) if number == 0 else _styled(text)
    yield BLANK
    style = _STYLES.get(result.verdict or "", "")
    yield line((_words.said(result), f"bold {style}".strip()), f" · exit {code}")


def _styled(text: str) -> Line:
    """A line of the explanation, with the verdict that it may begin with in colour."""
    stripped = text.lstrip()
    indent = len(text) - len(stripped)
    word, space, rest = stripped.partition(" ")
    style = "red" if word == "✗" else "yellow" if word == "warning:" else _STYLES.get(word, "")
    if not style:
        return line(stripped, indent=indent, hang=indent)
    return line((word, style), space + rest, indent=indent, hang=indent + 4)
