"""One event loop that serves all items and outlives them, and threads that can be left behind.

Clients of models keep connections that belong to the loop they were made in, so every item of every evaluation of a
program runs on the same one. A loop that an item blocks is abandoned, and the next one takes its place.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextlib import suppress
from queue import SimpleQueue
from typing import Any, TypeVar

from quickchecks import _wire

__all__ = ("AbandonableThread", "LoopThread", "RaisedInThread")

_T = TypeVar("_T")


class LoopThread:
    """An event loop in a thread of its own; `shared()` is the one that all evaluations use."""

    _shared: LoopThread | None = None
    _lock = threading.Lock()

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._abandoned = False
        self._thread = threading.Thread(target=self._serve, name="quickchecks", daemon=True)
        self._thread.start()

    @classmethod
    def shared(cls) -> LoopThread:
        """The loop that is in use; made when it is first needed, and again in a process that was forked."""
        with cls._lock:
            if cls._shared is None or not cls._shared._thread.is_alive():
                cls._shared = cls()
            return cls._shared

    @classmethod
    def free(cls) -> LoopThread:
        """The shared loop; one of its own for whoever runs on that loop and so must not wait for it."""
        shared = cls.shared()
        return cls() if threading.current_thread() is shared._thread else shared

    @property
    def is_shared(self) -> bool:
        """Whether it is the one that all evaluations use."""
        return LoopThread._shared is self

    def abandon(self) -> None:
        """Leave a loop behind that something blocks; the next evaluation gets another."""
        with self._lock:
            if LoopThread._shared is self:
                LoopThread._shared = None
        self._abandoned = True
        with suppress(RuntimeError):  # it is closed already
            self.loop.call_soon_threadsafe(self.loop.stop)

    def start(self, coroutine: Coroutine[Any, Any, _T]) -> Future[_T]:
        """Start a coroutine on the loop."""
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop)

    def answers_within(self, seconds: float) -> bool:
        """Whether the loop gets to other work within this time, or something blocks it."""
        answered = threading.Event()
        self.loop.call_soon_threadsafe(answered.set)
        return answered.wait(seconds)

    def _serve(self) -> None:
        asyncio.set_event_loop(self.loop)
        while not self._abandoned:
            try:
                self.loop.run_forever()
            except (SystemExit, KeyboardInterrupt):
                continue  # raised by a task that some target started, which ends neither the loop nor the program
        self._clear()

    def _clear(self) -> None:
        """End what is left on a loop that was abandoned, once it is no longer blocked."""
        left = asyncio.all_tasks(self.loop)
        for task in left:
            task.cancel()
        if left:
            self.loop.run_until_complete(asyncio.wait(left, timeout=1.0))
        if not asyncio.all_tasks(self.loop):
            self.loop.close()


class RaisedInThread(Exception):
    """A function in a thread raised what means something else where its future is awaited: Ctrl-C, a cancellation, an end.

    Args:
        error: What it raised.
    """

    def __init__(self, error: BaseException) -> None:
        super().__init__(error)
        self.error = error


class AbandonableThread:
    """A thread for blocking functions, one at a time. One that does not come back is left behind.

    The threads of `concurrent.futures` are waited for when the program ends, so that a target that hangs would hang it.
    """

    def __init__(self) -> None:
        self._jobs: SimpleQueue[tuple[Callable[[], object], asyncio.Future[Any]] | None] = SimpleQueue()
        self._started = False

    def run(self, function: Callable[[], _T]) -> asyncio.Future[_T]:
        """Start a function; the future is of the running loop."""
        future: asyncio.Future[_T] = asyncio.get_running_loop().create_future()
        context = contextvars.copy_context()
        self._jobs.put((lambda: context.run(function), future))
        if not self._started:
            self._started = True
            threading.Thread(target=self._serve, name="quickchecks target", daemon=True).start()
        return future

    def close(self) -> None:
        """Let the thread end when it is done with what it does."""
        self._jobs.put(None)

    def _serve(self) -> None:
        while (job := self._jobs.get()) is not None:
            function, future = job
            try:
                result = function()
            except BaseException as error:  # whatever the function raises belongs to the item
                self._answer(future, None, error)
            else:
                self._answer(future, result, None)

    @staticmethod
    def _answer(future: asyncio.Future[Any], result: object, error: BaseException | None) -> None:
        def settle() -> None:
            if future.done():
                return  # it was given up
            if error is None:
                future.set_result(result)
            elif isinstance(error, StopIteration):  # which a future refuses
                future.set_exception(RuntimeError(f"the target raised {type(error).__name__}: {_wire.as_text(error)}"))
            elif isinstance(error, Exception):
                future.set_exception(error)
            else:
                future.set_exception(RaisedInThread(error))

        with suppress(RuntimeError):  # the loop is gone: nobody waits for the answer any more
            future.get_loop().call_soon_threadsafe(settle)
