"""An evaluation: what is done before and after the items run, behind both doors."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from os import PathLike
from os.path import basename
from threading import Event
from time import perf_counter
from typing import Any, Literal, TypedDict

import msgspec
from msgspec import Struct

from quickchecks import _render
from quickchecks._attempt import Answered, read_only_item
from quickchecks._entries import entries_of_turns
from quickchecks._gates import gates_of, scorers_of
from quickchecks._items import Item, items_of, load_items
from quickchecks._loops import LoopThread
from quickchecks._mocks import REPORT as MOCKS_REPORT
from quickchecks._mocks import RUNNING, MockPlan, mock_plan
from quickchecks._progress import Bar
from quickchecks._recording import UNFINISHED, Recording
from quickchecks._render import many
from quickchecks._results.evaluation import EvalResult, ItemResult
from quickchecks._results.names import NamesInRuns
from quickchecks._runner import GRACE, Job, Runner, Settings
from quickchecks._targets import is_address, target_of
from quickchecks.errors import ScorerDefinitionError, SettingsError, TargetError, nearest_names

__all__ = ("Answers", "EvalOptions", "Evaluation", "Options")

#: How often the thread that waits looks whether something blocks the loop, in seconds.
WATCH = 0.1
#: The shortest time limit, in seconds: below it nothing can be told apart from the turns of a loop.
SHORTEST = 0.001
#: What a loop gets to answer before it counts as blocked, in seconds.
PATIENCE = 0.25

OnItem = Callable[[ItemResult], Awaitable[None] | None]
#: Gives what the target answered before, for an item and its repetition.
Answers = Callable[[Item, int], Answered]


class EvalOptions(TypedDict, total=False):
    """The options of `run_evals`, for type checkers."""

    concurrency: int
    timeout: float | None
    retries: int
    retry_timeouts: bool
    repetitions: int
    max_errors: int
    on_item_complete: OnItem | None
    on_error: Literal["record", "raise"]
    progress: bool | None
    record: str | PathLike[str] | None
    name: str
    target_options: Mapping[str, object] | None
    model: str | None
    tools: Iterable[Callable[..., object]]


class Options(Struct, frozen=True, kw_only=True):
    """The options of `run_evals`; see there."""

    concurrency: int = 8
    timeout: float | None = None
    retries: int = 0
    retry_timeouts: bool = False
    repetitions: int = 1
    max_errors: int = 0
    on_item_complete: OnItem | None = None
    on_error: str = "record"
    progress: bool | None = None
    record: str | PathLike[str] | None = None
    name: str = ""
    target_options: Mapping[str, object] | None = None
    model: str | None = None
    tools: Iterable[Callable[..., object]] | None = None

    def for_target(self, target: object) -> dict[str, object]:
        """What the target takes beside the input.

        Raises:
            SettingsError: There is a model, or there are tools, for a target that is no endpoint.
        """
        given = {name: value for name, value in (("model", self.model), ("tools", self.tools)) if value is not None}
        if given and not is_address(target):
            first = next(iter(given))
            raise SettingsError(
                f"{first}= belongs to the address of an endpoint as target, such as target='http://127.0.0.1:8000/v1'; "
                f"what another target takes beside the input is given with target_options={{{first!r}: ...}}"
            )
        return {**(self.target_options or {}), **given}

    @classmethod
    def of(cls, given: Mapping[str, object]) -> Options:
        """The options that were given, once they are known to make sense.

        Args:
            given: The options by name.

        Raises:
            SettingsError: There is no such option, or one makes no sense.
        """
        for name in given:
            if name not in cls.__struct_fields__:
                near = nearest_names(name, cls.__struct_fields__)
                raise SettingsError(f"there is no option {name!r}: {near}")
        return cls(**given)._checked()  # type: ignore[arg-type]

    def _checked(self) -> Options:
        for name, least in (("concurrency", 1), ("retries", 0), ("repetitions", 1), ("max_errors", 0)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise SettingsError(f"{name} is a whole number from {least} on, not {_render.value(value)}")
        limit = self.timeout
        if limit is not None and (isinstance(limit, bool) or not isinstance(limit, (int, float)) or not 0 < limit < float("inf")):
            raise SettingsError(f"timeout is a number of seconds above 0, or None, not {_render.value(limit)}")
        if limit is not None and limit < SHORTEST:
            raise SettingsError(f"timeout is in seconds, and {limit:g} is too short to be kept: the shortest is {SHORTEST:g}")
        if self.on_error not in ("record", "raise"):
            raise SettingsError(f"on_error is 'record' or 'raise', not {_render.value(self.on_error)}")
        if self.on_item_complete is not None and not callable(self.on_item_complete):
            raise SettingsError(f"on_item_complete is a function, not {_render.value(self.on_item_complete)}")
        return self


class Running:
    """A coroutine on a loop in another thread: whether it is done, which a cancelled future does not tell.

    Args:
        loop: The loop.
    """

    def __init__(self, loop: LoopThread) -> None:
        self.loop = loop
        self.done = Event()
        self.error: BaseException | None = None
        self._task: asyncio.Task[Any] | None = None

    async def of(self, coroutine: Coroutine[Any, Any, None]) -> None:
        """Run the coroutine, and say when it is done."""
        self._task = asyncio.current_task()
        try:
            await coroutine
        except BaseException as error:
            self.error = error
        finally:
            self.done.set()

    def cancel(self) -> None:
        """Cancel it, from another thread."""
        if self._task is not None:
            self.loop.loop.call_soon_threadsafe(self._task.cancel)


class Evaluation:
    """An evaluation that is ready to run: everything is checked before the target is called once.

    Args:
        data: The items, or the file that holds them.
        target: What is asked.
        scorers: What is measured.
        gates: What must pass.
        options: How.
        answers: Gives what the target answered before, for each item that it would be asked: it is not asked then.
        scores: Whether there must be something to score with; False where the target is only asked.
    """

    def __init__(
        self,
        data: object,
        target: object,
        scorers: Iterable[object],
        gates: Iterable[object],
        options: Options,
        *,
        answers: Answers | None = None,
        scores: bool = True,
    ) -> None:
        self._options = options
        items = load_items(data) if isinstance(data, (str, PathLike)) else items_of(data)  # type: ignore[arg-type]
        self._plan = (*gates_of(gates), *scorers_of(scorers))
        turns = [entries_of_turns(item) for item in items]
        if scores and not self._plan and not any(turns):
            raise ScorerDefinitionError("there is nothing to score with: give gates=[...] or scorers=[...]")
        self._target = None if target is None or answers is not None else target_of(target, options.for_target(target))
        asking = next((item for item in items if _is_asked(item)), None)
        if self._target is None and asking is not None and answers is None:
            raise TargetError(f"item {asking.id!r} has to be asked, and there is no target: give target=..., or recorded outputs")
        brought = sum(not _is_asked(item) for item in items)
        mocks = self._mocks = [self._mocks_of(item) if answers is None else None for item in items]
        jobs = [
            Job(
                item,
                index,
                repetition,
                (*self._plan, *entries) if entries else self._plan,
                mocks[index],
                answers(item, repetition) if answers is not None and _is_asked(item) else None,
            )
            for index, (item, entries) in enumerate(zip(map(read_only_item, items), turns, strict=True))
            for repetition in range(options.repetitions)
        ]
        read = dict.fromkeys(item.source.file for item in items if item.source is not None)
        self._incomplete = next((_unfinished(file) for file in read if file.endswith(UNFINISHED)), "")
        self._recording = None if options.record is None else Recording(options.record, read)
        self._bar = Bar(len(jobs), options.progress)
        one_at_a_time = self._target is not None and self._target.one_at_a_time
        settings = Settings(
            1 if one_at_a_time else options.concurrency,
            options.timeout,
            options.retries if answers is None else 0,
            options.retry_timeouts,
            options.on_error == "raise",
        )
        self._names = NamesInRuns(one.scorer for one in self._plan)
        look = self._names.add if self._names.wanted else None
        tells = self._recording is not None or self._bar.shown or options.on_item_complete is not None
        self._runner = Runner(jobs, self._target, settings, self._finished if tells else None, look=look)
        self._start = perf_counter()
        self._running: Running | None = None
        self._interrupted = False
        if self._target is not None and one_at_a_time and options.concurrency > 1 and len(jobs) > 1:
            self._runner.warnings.append(
                f"the agent {self._target.name} keeps its conversation in the object itself, so that items ran one after "
                "another; a function that makes one, target=lambda: make_agent(), lets them run side by side"
            )
        talks = any(len(item.asked) > 1 for item in items)
        if self._target is not None and brought:
            self._runner.warnings.append(
                f"{brought} of {_render.many(len(items), 'item')} brought what was answered, and the target was not asked for it"
            )
        if self._target is not None and talks and not self._target.keeps_track:
            self._runner.warnings.append(
                f"the target {self._target.name} takes neither history nor session, so that it sees each turn of a "
                "conversation alone"
            )

    def _mocks_of(self, item: Item) -> MockPlan | None:
        """The mocks of an item that has to be asked.

        Raises:
            ItemError: They cannot be understood.
            TargetError: The tools of the target cannot be mocked, so that they would run.
        """
        if item.tool_mocks is None:
            return None
        plan = mock_plan(item.tool_mocks, f"item {item.id!r}" if item.source is None else str(item.source))
        if not _is_asked(item):
            return None
        if self._target is not None and not self._target.mocks_tools:
            raise TargetError(
                f"item {item.id!r} mocks tools, and those of the target {self._target.name} cannot be mocked: they would run; "
                "leave tool_mocks out, or give a function as target whose tools are wrapped with quickchecks.mockable"
            )
        return plan

    @property
    def asked(self) -> int:
        """How many runs there are for which the target is asked."""
        return sum(_is_asked(job.item) for job in self._runner.jobs)

    async def run(self) -> EvalResult:
        """Run in the loop that is running.

        Raises:
            asyncio.CancelledError: The evaluation was broken off; its `partial` is what was finished.
        """
        RUNNING.begin(self, self._mocks)
        try:
            await self._runner.run()
        except asyncio.CancelledError as error:
            error.partial = self._result(interrupted=True)  # type: ignore[attr-defined]
            raise
        except BaseException:
            self._abort()
            raise
        return self._result()

    def run_elsewhere(self) -> EvalResult:
        """Run in the loop that all evaluations share, and wait for it.

        Ctrl-C, and `interrupt`, break it off and give what was finished.
        """
        RUNNING.begin(self, self._mocks)
        try:
            self._wait()
            return self._result()
        except KeyboardInterrupt:
            self._break_off()
            return self._result(interrupted=True)
        except BaseException:
            self._abort()
            raise

    def interrupt(self) -> None:
        """Break it off, as Ctrl-C does; a signal handler that calls this raises nothing, so that no result is ever lost."""
        self._interrupted = True

    def _wait(self) -> None:
        running = self._start_on(LoopThread.free())
        try:
            while not running.done.wait(WATCH):
                if self._interrupted:
                    raise KeyboardInterrupt
                stuck = self._stuck(running.loop)
                if stuck is not None and self._runner.give_up(stuck):
                    running.loop.abandon()
                    running = self._start_on(LoopThread.free())
        finally:
            if not running.loop.is_shared:
                running.loop.abandon()
        if running.error is not None:
            raise running.error

    def _start_on(self, loop: LoopThread) -> Running:
        self._running = Running(loop)
        loop.start(self._running.of(self._runner.run(alone=True)))
        return self._running

    def _break_off(self) -> None:
        """Stop; what is in flight gets a moment to end, so that no result is half told when it is looked at."""
        self._runner.stopping = True
        if self._running is None:
            return
        try:
            self._running.cancel()
            ended = self._running.done.wait(2 * GRACE)
        except KeyboardInterrupt:  # somebody is in a hurry
            ended = False
        if not ended:
            self._running.loop.abandon()

    def _stuck(self, shared: LoopThread) -> int | None:
        """The job that blocks the loop beyond its time, if one does."""
        limit = self._options.timeout
        started = self._runner.started
        if limit is None or not any(perf_counter() - start > limit + PATIENCE for start in list(started.values())):
            return None
        if shared.answers_within(PATIENCE):
            return None
        stuck = self._runner.blocking_job(shared.loop)
        # Somebody else's time may be over while this one blocks the loop for a moment.
        return stuck if stuck is not None and perf_counter() - started.get(stuck, perf_counter()) > limit else None

    async def _finished(self, result: ItemResult) -> None:
        if self._recording is not None:
            try:
                self._recording.add(result)
            except Exception as error:
                self._runner.warnings.append(f"the run of item {result.id} could not be kept: {type(error).__name__}: {error}")
        self._bar.advance(failed=result.error is not None)
        if self._options.on_item_complete is not None:
            waiting = self._options.on_item_complete(result)
            if waiting is not None and hasattr(waiting, "__await__"):
                await waiting

    def _close(self) -> None:
        self._bar.close()
        RUNNING.end(self)
        if self._target is not None:
            self._target.close()

    def _abort(self) -> None:
        self._close()
        if self._recording is not None:
            self._recording.discard()

    def _result(self, *, interrupted: bool = False) -> EvalResult:
        self._close()
        runner = self._runner
        items = runner.finished_items()
        if self._recording is not None:
            try:
                self._recording.close(items, whole=not interrupted and runner.error is None)
            except Exception as error:
                runner.warnings.append(f"the runs are not recorded: {type(error).__name__}: {error}")
        if runner.error is not None:
            raise runner.error
        if interrupted:
            runner.warnings.append(f"broken off: {len(items)} of {len(runner.jobs)} runs were finished")
        return EvalResult(
            items,
            self._plan,
            self._options.name,
            self._options.max_errors,
            self._options.repetitions,
            self._warnings(),
            perf_counter() - self._start,
            interrupted,
            recording=None if self._recording is None else self._recording.name,
            incomplete=self._incomplete,
        )

    def _warnings(self) -> tuple[str, ...]:
        runner = self._runner
        found = list(dict.fromkeys(runner.warnings))
        if runner.blockers:
            again = f"; {many(runner.restarted, 'item')} had to be started again" if runner.restarted else ""
            found.append(
                f"{_render.listed(runner.blockers, limit=5)} blocked the event loop with code that does not await{again}: make "
                "the target a plain function, so that it gets a thread of its own"
            )
        if runner.callback_errors:
            times = f"for {many(runner.callback_errors, 'item')}, first " if runner.callback_errors > 1 else ""
            found.append(f"on_item_complete raised {times}{runner.callback_error}")
        unused = [item.id for item in runner.finished_items() if _has_unused_mocks(item)]
        if unused:
            found.append(f"mocks of tools that no call asked for: {_render.listed(list(dict.fromkeys(unused)), limit=5)}")
        return (*found, *self._names.warnings())


def _is_asked(item: Item) -> bool:
    """Whether the target is asked: the item does not bring what was answered."""
    return item.run is None and item.output is msgspec.UNSET


def _has_unused_mocks(item: ItemResult) -> bool:
    if item.item.tool_mocks is None or item.run is None:
        return False
    report = (item.run.metadata or {}).get(MOCKS_REPORT)
    return isinstance(report, dict) and bool(report.get("unused"))


def _unfinished(file: str) -> str:
    return f"{basename(file)} holds what was finished when an evaluation was broken off"
