"""Ctrl-C: it waits for the end of a step that must be done whole or not at all."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = ("Interrupts",)


class Interrupts:
    """Within this context, Ctrl-C is a KeyboardInterrupt as ever, but not in the middle of a `whole` step.

    Where the process ignores Ctrl-C, or somebody else handles it, or this is not the main thread, nothing is changed.

    Attributes:
        seen: Whether Ctrl-C was pressed; a KeyboardInterrupt without that was raised by somebody's code.
        handled: Whether Ctrl-C comes here, so that `seen` says something.
        broken: Whether a step that must be whole was broken off all the same.
        stop: Called by the first Ctrl-C instead of raising, when there is something that can be stopped in good order.
    """

    def __init__(self) -> None:
        self.seen = False
        self.handled = False
        self.broken = False
        self.stop: Callable[[], None] | None = None
        self._held = self._waiting = self._stopped = False

    def __enter__(self) -> Interrupts:
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            try:
                signal.signal(signal.SIGINT, self._come)
                self.handled = True
            except ValueError:
                pass  # only the main thread may do that
        return self

    def __exit__(self, *_: object) -> None:
        if self.handled:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def _come(self, _signal: int, _frame: FrameType | None) -> None:
        self.seen = True
        if self.stop is not None and not self._stopped:
            self._stopped = True
            self.stop()
            return
        if self._held and not self._waiting:
            self._waiting = True  # the second one does not wait: the step may hang, as a write into a full pipe does
            return
        raise KeyboardInterrupt

    @contextmanager
    def whole(self) -> Iterator[None]:
        """A step that is not broken off; an interrupt that came meanwhile is raised at its end."""
        self._held, self._waiting = True, False
        try:
            yield
        except BaseException:
            self.broken = True
            raise
        finally:
            self._held = False
        if self._waiting:
            raise KeyboardInterrupt
