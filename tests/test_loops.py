"""The loop that all evaluations share, and threads that can be left behind."""

from __future__ import annotations

import asyncio
import contextvars
import threading
import time
from collections.abc import Iterator

import pytest

from quickchecks._loops import AbandonableThread, LoopThread, RaisedInThread

#: Seconds after which a test that hangs fails.
GUARD = 20


@pytest.fixture
def own_loop() -> Iterator[LoopThread]:
    """A loop that nobody else uses."""
    loop = LoopThread()
    yield loop
    loop.abandon()
    loop._thread.join(GUARD)
    assert not loop._thread.is_alive()


def test_one_loop_serves_everybody() -> None:
    assert LoopThread.shared() is LoopThread.shared()


def test_a_loop_that_was_abandoned_is_replaced_and_closed() -> None:
    first = LoopThread.shared()
    first.abandon()
    second = LoopThread.shared()
    assert second is not first
    first._thread.join(GUARD)
    assert first.loop.is_closed()

    async def answer() -> int:
        return 5

    assert second.start(answer()).result(GUARD) == 5


def test_a_blocked_loop_does_not_answer(own_loop: LoopThread) -> None:
    blocked, released = threading.Event(), threading.Event()

    async def block() -> None:
        blocked.set()
        released.wait(GUARD)

    assert own_loop.answers_within(GUARD)
    own_loop.start(block())
    assert blocked.wait(GUARD)
    assert not own_loop.answers_within(0.05)
    released.set()
    assert own_loop.answers_within(GUARD)


def test_a_task_that_ends_the_program_does_not_end_the_loop(own_loop: LoopThread) -> None:
    async def leave() -> None:
        raise SystemExit(3)

    with pytest.raises(SystemExit):
        own_loop.start(leave()).result(GUARD)
    assert own_loop.answers_within(GUARD)


def test_what_is_left_on_an_abandoned_loop_is_cancelled() -> None:
    loop = LoopThread()
    ended = threading.Event()

    async def wait() -> None:
        try:
            await asyncio.sleep(GUARD)
        finally:
            ended.set()

    loop.start(wait())
    assert loop.answers_within(GUARD)
    loop.abandon()
    assert ended.wait(GUARD)


class TestThreads:
    def test_functions_run_one_after_the_other_in_one_thread(self) -> None:
        async def run() -> list[int]:
            thread = AbandonableThread()
            found = [await thread.run(threading.get_ident) for _ in range(3)]
            thread.close()
            return found

        found = asyncio.run(run())
        assert len(set(found)) == 1
        assert found[0] != threading.get_ident()

    @pytest.mark.parametrize(
        "error", [ValueError("no"), SystemExit(1), KeyboardInterrupt(), GeneratorExit(), asyncio.CancelledError()]
    )
    def test_whatever_is_raised_is_the_callers(self, error: BaseException) -> None:
        def fail() -> object:
            raise error

        async def run() -> BaseException:
            thread = AbandonableThread()
            try:
                await thread.run(fail)
            except BaseException as raised:
                return raised
            finally:
                thread.close()
            pytest.fail("nothing was raised")

        found = asyncio.run(run())
        assert error is (found.error if isinstance(found, RaisedInThread) else found)
        assert isinstance(found, Exception), "one that is not would end the loop, or pass for Ctrl-C"

    def test_stop_iteration_is_named_because_no_future_takes_it(self) -> None:
        async def run() -> None:
            thread = AbandonableThread()
            try:
                await thread.run(lambda: next(iter(())))
            finally:
                thread.close()

        with pytest.raises(RuntimeError, match="the target raised StopIteration"):
            asyncio.run(run())

    def test_the_context_goes_along(self) -> None:
        variable = contextvars.ContextVar("variable", default="unset")

        async def run() -> object:
            variable.set("set")
            thread = AbandonableThread()
            found = await thread.run(variable.get)
            thread.close()
            return found

        assert asyncio.run(run()) == "set"

    def test_one_that_does_not_come_back_is_left_behind_and_ends_when_it_does(self) -> None:
        released, threads = threading.Event(), []

        def hang() -> None:
            threads.append(threading.current_thread())
            released.wait(GUARD)

        async def run() -> None:
            thread = AbandonableThread()
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(thread.run(hang), 0.05)
            thread.close()

        start = time.perf_counter()
        asyncio.run(run())
        assert time.perf_counter() - start < GUARD
        assert threads[0].daemon
        released.set()
        threads[0].join(GUARD)
        assert not threads[0].is_alive()
