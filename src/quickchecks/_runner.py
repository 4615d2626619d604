"""Runs the items of an evaluation: at most so many at once, each within its time, none ever losing another.

Workers take one item after the other, so that the number of workers is a true upper bound. A target that blocks runs in
the worker's thread; a thread that does not come back is left behind and replaced. What an item raises is that item's
error, whatever it is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from threading import Lock
from time import perf_counter
from typing import Any

from msgspec import Struct

from quickchecks._attempt import Attempt, Job, described
from quickchecks._crew import Crew, Steps, must_pass, own_cancellation
from quickchecks._loops import AbandonableThread
from quickchecks._mocks import current_mocks
from quickchecks._results.evaluation import ItemError, ItemResult
from quickchecks._run import Run
from quickchecks._targets import Target

__all__ = ("Job", "Runner", "Settings")

#: The first pause before a retry, in seconds; each further one is twice as long, and all vary at random.
FIRST_PAUSE = 0.2
LONGEST_PAUSE = 30.0
#: How often it is looked whether an item has run out of time, in seconds.
TICK = 0.05
#: What a loop may be held without giving way before the others get the time back, in seconds.
PATIENCE = 0.25
#: What a cancelled item gets to end, in seconds.
GRACE = 1.0


class Settings(Struct, frozen=True):
    """How items are run.

    Args:
        concurrency: The most items at once.
        timeout: Seconds that one attempt at an item may take, its scoring included; None for no limit.
        retries: How often a target that raised is called again.
        retry_timeouts: Whether a timeout is retried too.
        raise_errors: Whether the first error ends the evaluation.
    """

    concurrency: int = 8
    timeout: float | None = None
    retries: int = 0
    retry_timeouts: bool = False
    raise_errors: bool = False


class Runner:
    """Runs jobs; `results` has what is finished at any time, in the order of the jobs.

    Args:
        jobs: What to run.
        target: What is asked; None when every item brings what was answered.
        settings: How.
        finished: Called with each result as it is finished, in the order of finishing.
        look: Called with each run after it was scored.
    """

    def __init__(
        self,
        jobs: Sequence[Job],
        target: Target | None,
        settings: Settings,
        finished: Callable[[ItemResult], Awaitable[None] | None] | None = None,
        *,
        look: Callable[[Run], None] | None = None,
    ) -> None:
        self.jobs = jobs
        self.results: list[ItemResult | None] = [None] * len(jobs)
        self.warnings: list[str] = []
        self.started: dict[int, float] = {}
        self.error: BaseException | None = None
        self.stopping = False
        self.blockers: list[str] = []
        self.restarted = 0
        self.callback_errors = 0
        self.callback_error = ""
        self._look = look
        self._waiting = list(range(len(jobs) - 1, -1, -1))
        self._untold: list[ItemResult] = []
        self._target = target
        self._settings = settings
        self._finished = finished
        self._crew = Crew()
        self._lock = Lock()

    async def run(self, *, alone: bool = False) -> None:
        """Run everything that waits; returns when all of it is finished.

        Args:
            alone: Whether nobody but the target and the scorers can cancel this task before `stopping` is set, so that
                it goes on when they do.
        """
        crew = self._crew = Crew()
        ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        crew.serve(None if alone else asyncio.current_task(), ended)
        for _ in range(min(self._settings.concurrency, max(len(self._waiting), bool(self._untold)))):
            self._hire(crew)
        limit = self._settings.timeout
        if limit is not None:
            self._keep_watch(limit, crew)
        try:
            if crew.workers:
                await (self._whatever_is_cancelled(ended) if alone else ended)
        finally:
            crew.dismissed = True
            if crew.watch is not None:
                crew.watch.cancel()
            for worker in crew.workers:
                worker.cancel()
            if crew.workers:
                await asyncio.wait(set(crew.workers), timeout=GRACE)

    async def _whatever_is_cancelled(self, ended: asyncio.Future[None]) -> None:
        """Wait for the end; a cancellation that nobody asked for comes from an item that cancels every task there is."""
        while not ended.done():
            try:
                await asyncio.wait((ended,))
            except asyncio.CancelledError:
                if self.stopping:
                    raise
                _forget_cancellation()
        ended.result()

    def finished_items(self) -> tuple[ItemResult, ...]:
        """What is finished, in the order of the jobs."""
        return tuple(result for result in self.results if result is not None)

    def blocking_job(self, loop: asyncio.AbstractEventLoop) -> int | None:
        """The job whose code a loop is stuck in, asked from another thread; None while it is in other code."""
        try:
            task = asyncio.current_task(loop)
        except RuntimeError:
            return None
        return self._crew.doing.get(task) if task is not None else None

    def give_up(self, stuck: int) -> bool:
        """Take the jobs away from workers whose loop is stuck: the one that blocks it ran out of time, the rest wait again.

        Args:
            stuck: The job that blocks the loop.

        Returns:
            Whether they were taken away; not when that job has just come to its end.
        """
        with self._lock:
            if stuck not in self.started:
                return False
            self._crew = Crew()
            seconds = perf_counter() - self.started[stuck]
            others = [index for index in sorted(self.started, reverse=True) if index != stuck]
            self._waiting.extend(others)
            self.started.clear()
            self._ran_out(stuck, f"took longer than {self._settings.timeout:g} s and blocked the event loop", seconds)
        self.blockers.append(self.jobs[stuck].item.id or "")
        self.restarted += len(others)
        return True

    def _ran_out(self, index: int, message: str, seconds: float) -> None:
        """Write down that a job ran out of time whose worker cannot say so itself."""
        job = self.jobs[index]
        error = ItemError("timeout", message, "TimeoutError")
        result = ItemResult(job.item, job.index, job.repetition, None, job.plan, (), error, seconds)
        self.results[index] = result
        self._untold.append(result)

    def _hire(self, crew: Crew) -> None:
        worker = asyncio.get_running_loop().create_task(self._work(crew))
        crew.workers.add(worker)
        worker.add_done_callback(partial(self._left, crew))

    def _left(self, crew: Crew, worker: asyncio.Task[None]) -> None:
        busy = crew.doing.pop(worker, None) is not None
        lost = worker.cancelled() and not busy and worker in crew.workers and not crew.is_dismissed
        if lost and (self._waiting or self._untold):
            self._hire(crew)
        crew.left(worker, busy=busy)

    async def _work(self, crew: Crew) -> None:
        task = asyncio.current_task()
        assert task is not None
        crew.workers.add(task)  # an eager loop starts it before whoever made it gets to do so
        thread = AbandonableThread()
        current_mocks.set(None)  # what scorers and callbacks call is no call of an item
        try:
            while self._untold:
                await self._tell(self._untold.pop(0), crew, task)
            while self._waiting and not self.stopping:
                with self._lock:
                    if crew is not self._crew:
                        return
                    index = self._waiting.pop()
                    self.started[index] = perf_counter()
                crew.doing[task] = index
                result, thread = await self._run_job(index, thread, crew, task)
                crew.doing[task] = None
                with self._lock:
                    if crew is not self._crew or task not in crew.workers:
                        return  # somebody else has this job by now
                    del self.started[index]
                    self.results[index] = result
                if self._finished is not None:
                    await self._tell(result, crew, task)
        finally:
            thread.close()

    async def _tell(self, result: ItemResult, crew: Crew, task: asyncio.Task[Any]) -> None:
        if self._finished is None:
            return
        try:
            waiting = self._finished(result)
            if waiting is not None and hasattr(waiting, "__await__"):
                await waiting
        except BaseException as error:
            if must_pass(error, crew, task):
                raise
            self._note_callback_error(result, error)
        if task.cancelling() and (cancelled := await own_cancellation(crew, task)) is not None:
            self._note_callback_error(result, cancelled)

    def _note_callback_error(self, result: ItemResult, error: BaseException) -> None:
        self.callback_errors += 1
        self.callback_error = self.callback_error or f"for item {result.id}: {described(error)}"

    async def _run_job(
        self, index: int, thread: AbandonableThread, crew: Crew, task: asyncio.Task[Any]
    ) -> tuple[ItemResult, AbandonableThread]:
        job = self.jobs[index]
        start = perf_counter()
        attempt = 0
        while True:
            attempt += 1
            made = Attempt(job, self._target, crew, task, self._look)
            if await self._attempt(made, thread, crew, task):
                thread.close()
                thread = AbandonableThread()
            if task.cancelling():
                await own_cancellation(crew, task)
            error = made.error
            again = error is not None and (
                error.kind == "exception" or (error.kind == "timeout" and self._settings.retry_timeouts)
            )
            if not again or attempt > self._settings.retries or self.stopping:
                if self._settings.raise_errors:
                    self._raise_first(made, crew)
                return made.result(perf_counter() - start, attempt), thread
            from random import random

            try:
                await asyncio.sleep(min(FIRST_PAUSE * 2 ** (attempt - 1), LONGEST_PAUSE) * (0.5 + random() / 2))
            except asyncio.CancelledError as cancelled:
                if must_pass(cancelled, crew, task):
                    raise
                _forget_cancellation()
            self.started[index] = perf_counter()

    def _raise_first(self, made: Attempt, crew: Crew) -> None:
        """Keep the first error, which ends the evaluation: the exception itself where there is one."""
        raised = made.broken()
        if raised is not None and self.error is None:
            raised.add_note(f"while item {made.job.item.id!r} was evaluated")
            self.error = raised
            self.stopping = True
            if crew.ended is not None and not crew.ended.done():
                crew.ended.set_result(None)

    async def _attempt(self, made: Attempt, thread: AbandonableThread, crew: Crew, task: asyncio.Task[Any]) -> bool:
        """Run a job once; says whether it ran out of time, so that its thread may not come back."""
        limit = self._settings.timeout
        if limit is None:
            await made.run(thread)
            return False
        crew.deadlines[task] = perf_counter() + limit
        steps = Steps(made.run(thread))
        try:
            await steps
        except asyncio.CancelledError:
            if task not in crew.late:
                raise
        finally:
            crew.deadlines.pop(task, None)
        if task in crew.late:
            crew.late.discard(task)
            while task.uncancel():
                pass
            if crew.is_dismissed:
                raise asyncio.CancelledError
            made.ran_out(f"took longer than {limit:g} s")
            return True
        if steps.longest > limit and made.error is None:
            held = f"{steps.longest:.2g} s"
            made.ran_out(
                f"took longer than {limit:g} s and blocked the event loop for {held}, so that nothing could end it: "
                "make the target a plain function, or use run_evals_sync"
            )
        return False

    def _keep_watch(self, limit: float, crew: Crew) -> None:
        def ended(watch: asyncio.Task[None]) -> None:
            if watch.cancelled() and not crew.is_dismissed:  # by an item that cancels every task there is
                self._keep_watch(limit, crew)

        crew.watch = asyncio.get_running_loop().create_task(self._end_late_ones(limit, crew))
        crew.watch.add_done_callback(ended)

    async def _end_late_ones(self, limit: float, crew: Crew) -> None:
        """Cancel every worker whose item has run out of time, and replace those that do not heed it.

        One look at all of them every now and then costs nothing an item; a timer for each would cost more than most checks.
        """
        pause = min(TICK, limit / 4)
        deadlines = crew.deadlines
        while True:
            due = perf_counter() + pause
            await asyncio.sleep(pause)
            now = perf_counter()
            if now - due > PATIENCE:  # something blocked the loop, which is not the fault of the others
                for task in deadlines:
                    deadlines[task] += now - due
            for task in [task for task, deadline in deadlines.items() if now > deadline]:
                if task not in crew.late:
                    crew.late.add(task)
                    task.cancel()
                elif now > deadlines[task] + GRACE:
                    self._replace(task, crew, limit)

    def _replace(self, task: asyncio.Task[None], crew: Crew, limit: float) -> None:
        """Leave behind a worker whose item swallows the cancellation."""
        index = crew.doing.get(task)
        with self._lock:
            if index is None or crew is not self._crew:
                return
            crew.workers.discard(task)
            crew.deadlines.pop(task, None)
            seconds = perf_counter() - self.started.pop(index)
            self._ran_out(index, f"took longer than {limit:g} s and ignores that it was cancelled", seconds)
        self._hire(crew)


def _forget_cancellation() -> None:
    """Let the running task go on as if nobody had cancelled it."""
    task = asyncio.current_task()
    while task is not None and task.uncancel():
        pass
