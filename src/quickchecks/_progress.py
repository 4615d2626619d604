"""A progress bar on a terminal; nothing anywhere else."""

from __future__ import annotations

import os
import sys
from time import perf_counter

__all__ = ("Bar",)

#: Seconds between two drawings.
PAUSE = 0.1
WIDTH = 30


class Bar:
    """A line on standard error that says how far an evaluation is.

    Args:
        total: How many steps there are.
        shown: Whether it is shown; None shows it on a terminal, unless the variable CI is set.
    """

    def __init__(self, total: int, shown: bool | None = None) -> None:
        self._total = total
        self._done = self._failed = 0
        self._start = self._last = perf_counter()
        stream = sys.stderr
        self.shown = bool(stream and stream.isatty() and not os.environ.get("CI")) if shown is None else shown
        self._drawn = False

    def advance(self, *, failed: bool = False) -> None:
        """Take one step."""
        self._done += 1
        self._failed += failed
        now = perf_counter()
        if self.shown and (now - self._last >= PAUSE or self._done == self._total):
            self._last = now
            self._draw(now - self._start)

    def _draw(self, seconds: float) -> None:
        filled = WIDTH * self._done // max(self._total, 1)
        broke = f", {self._failed} broke" if self._failed else ""
        sys.stderr.write(f"\r[{'#' * filled}{'.' * (WIDTH - filled)}] {self._done}/{self._total}{broke}, {seconds:.0f} s ")
        sys.stderr.flush()
        self._drawn = True

    def close(self) -> None:
        """Take the line away."""
        if self._drawn:
            sys.stderr.write("\r\x1b[2K")
            sys.stderr.flush()
            self._drawn = False
