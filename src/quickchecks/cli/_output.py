"""How lines reach the user: in colour and wrapped on a terminal, whole into a pipe; and how progress is shown."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Iterator
from typing import TextIO

from quickchecks._results.result import many
from quickchecks.reports.terminal import Line

__all__ = ("Progress", "print_lines")

#: Where the right edge is when there is no terminal.
_PIPE_WIDTH = 100
#: What a terminal may say its width is; some say 0, and COLUMNS can say anything.
_WIDTHS = (20, 500)
#: It matters for nothing; but rich asks the terminal for both when it is not told both.
_HEIGHT = 25


def print_lines(lines: Iterable[Line]) -> None:
    """Print lines on standard output."""
    stream = sys.stdout
    if _is_terminal(stream):
        _print_styled(lines, stream)
        return
    for line in lines:
        text = f"{' ' * line.indent}{line.text}"
        if line.right:
            text = f"{text}  {line.right:>{max(_PIPE_WIDTH - len(text) - 2, 0)}}"
        stream.write(text.rstrip() + "\n")


def _is_terminal(stream: TextIO) -> bool:
    return stream.isatty() or _is_colour_forced()


def _is_colour_forced() -> bool:
    return os.environ.get("FORCE_COLOR", "").lower() not in ("", "0", "false") and not os.environ.get("NO_COLOR")


def _width() -> int:
    from shutil import get_terminal_size

    low, high = _WIDTHS
    return min(max(get_terminal_size().columns, low), high)


def _print_styled(lines: Iterable[Line], stream: TextIO) -> None:
    from rich.console import Console  # honours TERM

    class PipeConsole(Console):
        def on_broken_pipe(self) -> None:
            raise  # the BrokenPipeError; rich would end the process with 1, which here means that a check failed

    width = _width()
    # What is said here is not looked up by rich, which takes FORCE_COLOR=0 for a wish and COLUMNS=0 for a width.
    console = PipeConsole(
        file=stream,
        width=width,
        height=_HEIGHT,
        force_terminal=True,
        no_color=bool(os.environ.get("NO_COLOR")),
        highlight=False,
        markup=False,
        emoji=False,
        soft_wrap=True,
    )
    for line in lines:
        for piece in _wrapped(line, width):
            console.print(piece, end="\n")


def _wrapped(line: Line, width: int) -> Iterator[object]:
    """The pieces of a line that fit, the later ones at its hanging indentation."""
    from rich.console import Console
    from rich.text import Text

    text = Text.assemble(*line.parts)
    if line.right:
        space = max(width - line.indent - text.cell_len - len(line.right), 2)
        yield Text.assemble(" " * line.indent, text, " " * space, (line.right, "dim"))
        return
    if line.whole:
        yield Text.assemble(" " * line.indent, text)
        return
    indent, console = min(line.indent, width // 2), Console(width=width, height=_HEIGHT)
    while True:
        pieces = text.wrap(console, width - indent, overflow="fold")
        first = pieces[0] if pieces else text
        rest = text[len(first.plain) :]
        first.rstrip()
        yield Text.assemble(" " * indent, first)
        blank = len(rest.plain) - len(rest.plain.lstrip())
        text, indent = rest[blank:], min(max(line.hang, line.indent), width // 2)
        if not text.plain:
            return


class Progress:
    """Says on standard error how many runs have been scored, while a person is waiting for it.

    Nothing is shown when standard error is no terminal, or in CI; nor before a second has passed.
    """

    INTERVAL = 0.2

    def __init__(self) -> None:
        self._stream = sys.stderr
        self._shown = self._stream.isatty() and not os.environ.get("CI") and os.environ.get("TERM") != "dumb"
        self._next = time.monotonic() + 1.0
        self._written = False

    def update(self, count: int) -> None:
        """Say how many runs have been scored, when it is time to."""
        if self._shown and time.monotonic() >= self._next:
            self._stream.write(f"\r{many(count, 'run')} scored …")
            self._stream.flush()
            self._written = True
            self._next = time.monotonic() + self.INTERVAL

    def clear(self) -> None:
        """Take the line away before the result is printed."""
        if self._written:
            self._stream.write("\r\x1b[2K")
            self._stream.flush()
