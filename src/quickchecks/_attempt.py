"""One attempt at one item: the target is asked, the answer is scored, and whatever breaks is kept."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from threading import current_thread, main_thread
from typing import Any

import msgspec
from msgspec import Struct

from quickchecks import _wire
from quickchecks._crew import Crew, must_pass, own_cancellation
from quickchecks._gates import Assertion
from quickchecks._items import Item
from quickchecks._loops import AbandonableThread, RaisedInThread
from quickchecks._mocks import REPORT, RUNNING, MockPlan, ToolMocks
from quickchecks._read_only import UNCHANGEABLE, read_only
from quickchecks._results.evaluation import ItemError, ItemResult
from quickchecks._run import Run, RunError
from quickchecks._score import Score
from quickchecks._scorer.pipeline import Scorer
from quickchecks._scorer.read_only import read_only_run
from quickchecks._targets import Conversation, FunctionTarget, Talk, Target
from quickchecks.adapters import BrokenOff
from quickchecks.errors import MissingExtraError, QuickchecksError, RecordingError, ScorerDefinitionError, ScorerError

__all__ = ("Answered", "Attempt", "Job", "described", "read_only_item")

#: The fields of an item that may hold lists and dicts.
_MUTABLE = ("input", "inputs", "expected", "metadata", "context", "expected_trajectory", "tool_mocks", "output")


class Answered(Struct, frozen=True):
    """What a target answered before: it is taken instead of asking it again.

    Args:
        turns: The run of each turn; none where it raised at once.
        error: What broke then.
        scored: Whether what was said was scored, although something broke.
    """

    turns: tuple[Run, ...]
    error: ItemError | None = None
    scored: bool = True


class Job(Struct, frozen=True, gc=False):
    """An item to run, once.

    Args:
        item: The item.
        index: Its place in the data.
        repetition: Which of its repetitions this is.
        plan: The entries that judge it: those of the whole, then those of each turn.
        mocks: What its tools answer instead of running.
        answered: What the target answered before, when it is not asked.
    """

    item: Item
    index: int
    repetition: int
    plan: tuple[Assertion, ...]
    mocks: MockPlan | None = None
    answered: Answered | None = None


class Attempt:
    """One attempt at a job: what was said, and what came of it.

    Args:
        job: The job.
        target: What is asked.
        crew: The workers of the evaluation.
        worker: The one that makes the attempt.
        look: Called with the run after it was scored.
    """

    __slots__ = (
        "_conversation",
        "_crew",
        "_look",
        "_mocks",
        "_raised",
        "_target",
        "_worker",
        "error",
        "job",
        "scores",
    )

    def __init__(
        self, job: Job, target: Target | None, crew: Crew, worker: asyncio.Task[Any], look: Callable[[Run], None] | None
    ) -> None:
        self.job = job
        self._target = target
        self._crew = crew
        self._worker = worker
        self._look = look
        self._conversation = Conversation(keeps_track=target is not None and target.keeps_track)
        self._raised: BaseException | None = None
        self._mocks: ToolMocks | None = None
        self.scores: tuple[Score, ...] = ()
        self.error: ItemError | None = None

    async def run(self, thread: AbandonableThread) -> None:
        """Ask and score; what raises is the item's error."""
        try:
            await self._converse(thread)
        except BaseException as raised:
            error = self._own(raised)
            self._raised = error
            self.error = _error("answer" if isinstance(error, RecordingError) else "exception", error, self._turn())
        else:
            before = self.job.answered
            if before is None or (before.scored and before.turns):
                await self._score(thread)

    async def _converse(self, thread: AbandonableThread) -> None:
        item, conversation = self.job.item, self._conversation
        if self.job.answered is not None:
            conversation.take(*self.job.answered.turns)
            self.error = self.job.answered.error
            return
        if item.run is not None:
            conversation.take(item.run)
            return
        if item.output is not msgspec.UNSET:
            conversation.add(item.asked[0] if item.asked else None, item.output, recorded=True)
            return
        assert self._target is not None
        plan = self.job.mocks
        mocks = self._mocks = None if plan is None else ToolMocks(plan)
        with RUNNING.attempt(mocks):
            talk = self._target.begin(mocks)
            try:
                for asked in item.asked:
                    answer = await self._ask(talk, asked, thread)
                    if self._worker.cancelling() and (cancelled := await own_cancellation(self._crew, self._worker)) is not None:
                        raise cancelled
                    if conversation.add(asked, answer).error is not None or self._raised is not None:
                        return
            finally:
                await talk.end()

    async def _ask(self, talk: FunctionTarget | Talk, asked: object, thread: AbandonableThread) -> object:
        """Ask one turn. An agent that raised gives what it did until then, and the exception is the item's error."""
        try:
            return await talk.answer(asked, self._conversation, thread.run)
        except BrokenOff as broken:
            raised = broken.__cause__ or broken
            if must_pass(raised, self._crew, self._worker):  # its time is over
                until_then = msgspec.structs.replace(broken.run, error=RunError("stopped in the middle", type(raised).__name__))
                self._conversation.add(asked, until_then)
                raise raised from None
            self._raised = raised
            self.error = _error("exception", raised, self._turn())
            return broken.run

    async def _score(self, thread: AbandonableThread) -> None:
        turns, item = self._conversation.turns, self.job.item
        run = self._conversation.run()
        if self._mocks is not None:
            self._check_mocks(run, self._mocks)
        if run.error is not None and self.error is None:
            self.error = ItemError("run", run.error.message, run.error.type, turn=self._turn())
        if self.error is not None and not any(message.role == "assistant" for message in run.messages[run.history_length :]):
            return  # it failed before it said anything, so that there is nothing to score
        asked = None if item.input is msgspec.UNSET else item.input
        # A recording is one run, in which nothing says where a turn ends.
        known = 0 if len(item.turns) > 1 and (item.run is not None or item.output is not msgspec.UNSET) else len(turns)
        scores: list[Score] = []
        for one in self.job.plan:
            if one.turn is None:
                seen, given = run, asked
            elif one.turn < known:
                seen, given = turns[one.turn], item.asked[one.turn]
            else:
                scores.append(Score(one.scorer, "no_evidence", note=f"turn {one.turn} is not in the record"))
                continue
            try:
                scorer = one.scorer
                if scorer.quick is not None and not one.may_block:
                    scores.append(scorer.score(seen))
                else:
                    scores.append(await self._asked(one, seen, given, thread))
            except MissingExtraError:
                raise
            except BaseException as raised:
                scores.append(_broken(one.scorer, seen, self._own(raised)))
        self.scores = tuple(scores)
        if self._look is not None:
            self._look(run)
        run.forget()
        if len(turns) > 1:
            for turn in turns:
                turn.forget()

    def _check_mocks(self, run: Run, mocks: ToolMocks) -> None:
        """A tool that ran although it has a mock, or may have run, is the item's error."""
        trouble = mocks.trouble(run)
        if trouble and self.error is None:
            self.error = ItemError("mock", trouble)

    async def _asked(self, one: Assertion, run: Run, given: object, thread: AbandonableThread) -> Score:
        """Score with something that may wait, or has to be awaited."""
        item = self.job.item
        if one.may_block:
            try:
                return await thread.run(partial(one.scorer.score, run, input=given, expected=item.expected, item=item))
            except ScorerDefinitionError:
                pass  # what looks like a plain function may return something to await
        score = await one.scorer.score_async(run, input=given, expected=item.expected, item=item)
        if self._worker.cancelling() and (cancelled := await own_cancellation(self._crew, self._worker)) is not None:
            raise cancelled
        return score

    def _own(self, raised: BaseException) -> BaseException:
        """An exception that is this item's own; one that is not goes on its way."""
        if must_pass(raised, self._crew, self._worker):
            raise raised
        return raised.error if isinstance(raised, RaisedInThread) else raised

    def broken(self) -> BaseException | None:
        """The exception that stands for what broke: the target's or a scorer's own, where there is one."""
        if isinstance(self._raised, Exception):
            return self._raised
        if self.error is not None:
            found = TimeoutError(self.error.message) if self.error.kind == "timeout" else QuickchecksError(self.error.message)
            found.__cause__ = self._raised  # SystemExit and its like would end more than the evaluation
            return found
        return next(((score.error.__cause__ or score.error) for score in self.scores if score.error is not None), None)

    def ran_out(self, message: str) -> None:
        """Say that it took too long."""
        self.scores = ()
        self.error = ItemError("timeout", message, "TimeoutError", turn=self._turn())

    def result(self, seconds: float, attempts: int) -> ItemResult:
        """What came of it."""
        job = self.job
        run = self._conversation.run() if self._conversation.turns else None
        if run is not None and self._mocks is not None:
            run = msgspec.structs.replace(run, metadata=read_only({**(run.metadata or {}), REPORT: self._mocks.report()}))
        turns = tuple(self._conversation.turns) if len(self._conversation.turns) > 1 else ()
        return ItemResult(job.item, job.index, job.repetition, run, job.plan, self.scores, self.error, seconds, attempts, turns)

    def _turn(self) -> int | None:
        return len(self._conversation.turns) if len(self.job.item.asked) > 1 else None


def read_only_item(item: Item) -> Item:
    """The item as an evaluation has it: what a scorer or the program changed, the next would see, and the file of the result."""
    values = (item.input, item.expected, item.metadata, item.context, item.expected_trajectory, item.tool_mocks, item.output)
    if UNCHANGEABLE.issuperset(map(type, values)) and not (item.inputs or item.turns or item.run is not None):
        return item  # most are like that
    found: dict[str, object] = {}
    for name in _MUTABLE:
        value = getattr(item, name)
        if type(value) not in UNCHANGEABLE and value:
            found[name] = read_only(value)
    if item.turns:
        found["turns"] = tuple([msgspec.structs.replace(turn, input=read_only(turn.input)) for turn in item.turns])
    if item.run is not None:
        found["run"] = read_only_run(item.run)
    return msgspec.structs.replace(item, **found) if found else item


def _broken(scorer: Scorer, run: Run, error: BaseException) -> Score:
    """The score of a scorer that raised what no scorer may, such as SystemExit."""
    wrapped = ScorerError(f"{scorer.identity} broke: {described(error)}", scorer=scorer.identity)
    wrapped.__cause__ = error
    return Score(scorer, "error", None, run, error=wrapped)


def _error(kind: str, error: BaseException, turn: int | None) -> ItemError:
    from traceback import format_exception

    message = described(error)
    if isinstance(error, SystemExit):
        message = f"the target ended the program: {message}"
    return ItemError(kind, message, type(error).__name__, "".join(format_exception(error)), turn)  # type: ignore[arg-type]


def described(error: BaseException) -> str:
    """The class of an exception and what it says; asking it is foreign code, which may itself try to end the program."""
    name = type(error).__name__
    try:
        text = _wire.as_text(error)
    except BaseException as worse:
        if isinstance(worse, KeyboardInterrupt) and current_thread() is main_thread():
            raise
        text = "it cannot be shown"
    return f"{name}: {text}" if text else name
