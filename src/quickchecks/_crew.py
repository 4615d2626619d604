"""The workers of an evaluation in one loop, and what may end one of them."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Generator
from threading import current_thread, main_thread
from time import perf_counter
from typing import Any

__all__ = ("Crew", "Steps", "must_pass", "own_cancellation")


class Crew:
    """The workers that run in one loop. When the loop is abandoned, so are they, and another crew takes over."""

    __slots__ = ("_cancelled_before", "_owner", "deadlines", "dismissed", "doing", "ended", "late", "watch", "workers")

    def __init__(self) -> None:
        self.workers: set[asyncio.Task[None]] = set()
        self.doing: dict[asyncio.Task[Any], int | None] = {}
        self.deadlines: dict[asyncio.Task[None], float] = {}
        self.late: set[asyncio.Task[None]] = set()
        self.ended: asyncio.Future[None] | None = None
        self.watch: asyncio.Task[None] | None = None
        self.dismissed = False
        self._owner: asyncio.Task[Any] | None = None
        self._cancelled_before = 0

    def serve(self, owner: asyncio.Task[Any] | None, ended: asyncio.Future[None]) -> None:
        """Work for a task, until `ended` has a result."""
        self._owner = owner
        self._cancelled_before = owner.cancelling() if owner is not None else 0
        self.ended = ended

    @property
    def is_dismissed(self) -> bool:
        """Whether all of it is broken off, or about to be."""
        return self.dismissed or (self._owner is not None and self._owner.cancelling() > self._cancelled_before)

    def left(self, worker: asyncio.Task[None], *, busy: bool) -> None:
        """Take note that a worker has come to its end.

        Args:
            worker: The worker.
            busy: Whether it was in the middle of an item.
        """
        known = worker in self.workers
        self.workers.discard(worker)
        if worker.cancelled():
            # One that had not begun an item is no loss: some item cancelled every task there was.
            error = RuntimeError("something cancelled a worker of the evaluation") if busy else None
        else:
            error = worker.exception()  # type: ignore[assignment]
        if self.ended is None or self.ended.done() or not known or self.is_dismissed:
            return
        if error is not None:
            self.ended.set_exception(error)
        elif not self.workers:
            self.ended.set_result(None)


def must_pass(error: BaseException, crew: Crew, worker: asyncio.Task[Any]) -> bool:
    """Whether an exception is not the item's own: it was broken off, or somebody pressed Ctrl-C.

    A target may raise anything, SystemExit and CancelledError included, and that ends neither the others nor the loop.

    Args:
        error: The exception.
        crew: The workers of the evaluation.
        worker: The one whose item it came from.
    """
    if isinstance(error, asyncio.CancelledError):
        return worker in crew.late or crew.is_dismissed
    if isinstance(error, GeneratorExit):
        return not _runs(worker)  # then the worker is closed, because its loop is gone
    return isinstance(error, KeyboardInterrupt) and current_thread() is main_thread()


def _runs(worker: asyncio.Task[Any]) -> bool:
    try:
        return asyncio.current_task() is worker
    except RuntimeError:
        return False


async def own_cancellation(crew: Crew, worker: asyncio.Task[Any]) -> asyncio.CancelledError | None:
    """A cancellation that the worker's own item has asked for, and that would meet the next item if nobody waited for it.

    Args:
        crew: The workers of the evaluation.
        worker: The one that runs this.

    Raises:
        asyncio.CancelledError: Somebody else has cancelled the worker.
    """
    found = None
    try:
        await asyncio.sleep(0)
    except asyncio.CancelledError as error:
        if must_pass(error, crew, worker):
            raise
        found = error
    if worker not in crew.late and not crew.is_dismissed:
        while worker.uncancel():
            pass
    return found


class Steps:
    """Awaits a coroutine, and measures the longest that it held the loop without giving way."""

    __slots__ = ("_coroutine", "longest")

    def __init__(self, coroutine: Coroutine[Any, Any, None]) -> None:
        self._coroutine = coroutine
        self.longest = 0.0

    def __await__(self) -> Generator[Any, Any, None]:
        coroutine = self._coroutine
        raised: BaseException | None = None
        while True:
            start = perf_counter()
            try:
                waiting = coroutine.send(None) if raised is None else coroutine.throw(raised)
            except StopIteration:
                return
            finally:
                held = perf_counter() - start
                if held > self.longest:
                    self.longest = held
            raised = None
            try:
                yield waiting
            except BaseException as error:  # whatever it is, the coroutine gets it
                raised = error
