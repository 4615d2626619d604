"""Running items: how many at once, how long, how often, and what becomes of what they raise.

Times are only guards against hanging; no test measures how fast something is.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Unpack

import pytest

from quickchecks import EvalResult, Gate, ItemResult, Threshold, checks, create_scorer, load_result, run_evals, run_evals_sync
from quickchecks import _runner as runner
from quickchecks._evaluation import EvalOptions
from quickchecks._items import Item, content_hash, items_of
from quickchecks._run import Message, Run, Text, ToolCall
from quickchecks._targets import Session
from quickchecks.errors import NoVerdictError, QuickchecksError, ScorerDefinitionError

#: Seconds that a target sleeps which must never be waited for.
LONG = 60
#: Seconds within which anything here is over, on a busy machine too.
GUARD = 20


@pytest.fixture(autouse=True)
def guard() -> Iterator[None]:
    start = time.perf_counter()
    yield
    assert time.perf_counter() - start < GUARD, "something waited for what it should have left behind"


def in_a_loop(
    data: str | Path | Iterable[object],
    target: Callable[..., object] | None = None,
    scorers: Iterable[object] = (),
    gates: Iterable[object] = (),
    **options: Unpack[EvalOptions],
) -> EvalResult:
    return asyncio.run(run_evals(data, target, scorers, gates, **options))


DOORS = pytest.mark.parametrize("run", [in_a_loop, run_evals_sync])
RunIt = Callable[..., EvalResult]
ANY = (checks.includes("x"),)


def kinds(result: EvalResult) -> list[str | None]:
    return [None if item.error is None else item.error.kind for item in result.items]


class TestConcurrency:
    @DOORS
    @pytest.mark.parametrize("limit", [1, 3, 100])
    def test_it_is_a_true_upper_bound_and_results_are_in_order(self, run: RunIt, limit: int) -> None:
        now = most = 0
        lock = threading.Lock()

        def enter(by: int) -> None:
            nonlocal now, most
            with lock:
                now += by
                most = max(most, now)

        async def wait(number: int) -> str:
            enter(1)
            await asyncio.sleep(0.003 * (5 - number % 5))
            enter(-1)
            return "x"

        def block(number: int) -> str:
            enter(1)
            time.sleep(0.003 * (5 - number % 5))
            enter(-1)
            return "x"

        for target in (wait, block):
            most = 0
            result = run(range(20), target, ANY, concurrency=limit)
            assert (1 if limit == 1 else 2) <= most <= limit
            assert [item.item.input for item in result.items] == list(range(20))

    @DOORS
    def test_one_at_a_time_is_in_the_order_of_the_data(self, run: RunIt) -> None:
        events: list[tuple[str, int]] = []

        async def target(number: int) -> str:
            events.append(("asked", number))
            await asyncio.sleep(0)
            return "x"

        def told(item: ItemResult) -> None:
            events.append(("told", item.index))

        run(range(3), target, ANY, concurrency=1, on_item_complete=told)
        assert events == [(what, number) for number in range(3) for what in ("asked", "told")]


class TestTimeouts:
    @DOORS
    def test_what_waits_for_ever_is_ended(self, run: RunIt) -> None:
        async def target(text: str) -> str:
            if text == "wait":
                await asyncio.Event().wait()
            return "x"

        result = run(["a", "wait", "b"], target, gates=ANY, timeout=0.1)
        assert kinds(result) == [None, "timeout", None]
        assert result.items[1].error is not None
        assert result.items[1].error.message == "took longer than 0.1 s"
        assert result.verdict == "failed"

    @DOORS
    def test_a_blocking_function_is_left_behind(self, run: RunIt) -> None:
        def target(text: str) -> str:
            if text == "sleep":
                time.sleep(LONG)
            return "x"

        result = run(["sleep", "a", "b"], target, ANY, timeout=0.1, concurrency=1)
        assert kinds(result) == ["timeout", None, None]

    def test_an_async_target_that_blocks_is_ended_too_and_costs_the_others_nothing(self) -> None:
        told: list[int] = []

        async def target(text: str) -> str:
            if text == "block":
                time.sleep(LONG)
            await asyncio.sleep(0.05)
            return "x"

        result = run_evals_sync(
            ["a", "block", "b", "c"], target, ANY, timeout=0.2, on_item_complete=lambda item: told.append(item.index)
        )
        assert kinds(result) == [None, "timeout", None, None]
        assert result.items[1].error is not None
        assert "blocked the event loop" in result.items[1].error.message
        (warning,) = result.warnings
        assert "had to be started again: make the target a plain function" in warning
        assert sorted(told) == [0, 1, 2, 3]

    @DOORS
    def test_a_scorer_that_blocks_is_left_behind_too(self, run: RunIt) -> None:
        def slow(output: str) -> bool:
            if output == "x1":
                time.sleep(LONG)
            return True

        result = run(["x0", "x1", "x2"], str, [slow], timeout=0.2, concurrency=1)
        assert kinds(result) == [None, "timeout", None]

    def test_an_async_scorer_that_blocks_is_ended_too(self) -> None:
        async def slow(output: str) -> bool:
            if output == "x1":
                time.sleep(LONG)
            return True

        result = run_evals_sync(["x0", "x1", "x2"], str, [slow], timeout=0.2)
        assert kinds(result) == [None, "timeout", None]

    @DOORS
    def test_scorers_that_wait_do_not_wait_for_each_other(self, run: RunIt) -> None:
        together = threading.Barrier(3, timeout=GUARD)

        def judge(output: str) -> bool:
            together.wait()
            return True

        assert run(["a", "b", "c"], str, gates=[judge], concurrency=3).passed

    def test_in_the_callers_own_loop_a_block_is_reported_as_such(self) -> None:
        async def target(text: str) -> str:
            if text == "block":
                time.sleep(0.5)
            else:
                await asyncio.sleep(0.05)
            return "x"

        result = in_a_loop(["a", "block", "b"], target, ANY, timeout=0.2)
        assert kinds(result) == [None, "timeout", None], "only the one that blocks is to blame"
        assert result.items[1].error is not None
        assert "blocked the event loop for 0." in result.items[1].error.message
        assert "make the target a plain function, or use run_evals_sync" in result.items[1].error.message

    @DOORS
    def test_one_that_swallows_the_cancellation_is_left_behind(self, run: RunIt, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(runner, "GRACE", 0.1)
        stubborn = True

        async def target(text: str) -> str:
            while text == "stubborn" and stubborn:
                try:
                    await asyncio.sleep(0.01)
                except asyncio.CancelledError:
                    continue
            return "x"

        def told(item: ItemResult) -> None:
            nonlocal stubborn
            stubborn = item.id != "end"

        data = ["a", "stubborn", "b", {"id": "end", "input": "c"}]
        result = run(data, target, ANY, timeout=0.1, concurrency=1, on_item_complete=told)
        assert kinds(result) == [None, "timeout", None, None]
        assert result.items[1].error is not None
        assert "ignores that it was cancelled" in result.items[1].error.message

    @DOORS
    def test_one_that_answers_after_the_cancellation_ran_out_of_time_all_the_same(self, run: RunIt) -> None:
        async def target(text: str) -> str:
            try:
                await asyncio.sleep(LONG if text == "late" else 0)
            except asyncio.CancelledError:
                return "x"
            return "x"

        result = run(["late", "a"], target, ANY, timeout=0.1, concurrency=1)
        assert kinds(result) == ["timeout", None]
        assert result.items[0].scores == ()

    def test_a_callback_that_blocks_is_no_items_fault(self) -> None:
        result = run_evals_sync(["x", "x", "x"], str, ANY, timeout=0.1, on_item_complete=lambda item: time.sleep(0.4))
        assert kinds(result) == [None, None, None]


class TestRetries:
    @pytest.fixture(autouse=True)
    def hurry(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(runner, "FIRST_PAUSE", 0.001)

    @DOORS
    def test_an_exception_is_tried_again(self, run: RunIt) -> None:
        calls: list[str] = []

        async def target(text: str) -> str:
            calls.append(text)
            if len(calls) < 3:
                raise ConnectionError("busy")
            return "x"

        result = run(["a"], target, ANY, retries=3)
        assert (kinds(result), result.items[0].attempts, len(calls)) == ([None], 3, 3)

    @DOORS
    def test_when_all_fail_the_last_error_stays(self, run: RunIt) -> None:
        calls: list[str] = []

        def target(text: str) -> str:
            calls.append(text)
            raise ConnectionError(f"busy {len(calls)}")

        result = run(["a"], target, ANY, retries=2)
        error = result.items[0].error
        assert error is not None
        assert error.message == "ConnectionError: busy 3"
        assert "raise ConnectionError" in error.traceback
        assert result.items[0].attempts == 3

    def test_pauses_grow_and_vary(self, monkeypatch: pytest.MonkeyPatch) -> None:
        pauses: list[float] = []

        async def sleep(seconds: float) -> None:
            pauses.append(seconds)

        monkeypatch.setattr(runner, "FIRST_PAUSE", 0.2)
        monkeypatch.setattr(asyncio, "sleep", sleep)

        def target(text: str) -> str:
            raise ConnectionError

        in_a_loop(["a"], target, ANY, retries=10)
        assert len(pauses) == 10
        longest = [min(0.2 * 2**number, runner.LONGEST_PAUSE) for number in range(10)]
        assert all(limit / 2 <= pause <= limit for pause, limit in zip(pauses, longest, strict=True))

    @pytest.mark.parametrize(("again", "calls"), [(False, 1), (True, 3)])
    def test_a_timeout_is_only_tried_again_when_asked(self, again: bool, calls: int) -> None:
        asked: list[str] = []

        async def target(text: str) -> str:
            asked.append(text)
            await asyncio.sleep(LONG)
            return "x"

        result = run_evals_sync(["a"], target, ANY, retries=2, timeout=0.05, retry_timeouts=again)
        assert kinds(result) == ["timeout"]
        assert len(asked) == calls

    def test_an_answer_that_is_not_understood_and_a_failing_check_are_not_tried_again(self) -> None:
        asked: list[object] = []

        def target(answer: object) -> object:
            asked.append(answer)
            return answer if isinstance(answer, str) else object()

        run_evals_sync(["no", 1], target, gates=ANY, retries=2)
        assert len(asked) == 2

    def test_each_attempt_is_a_new_session(self) -> None:
        sessions: list[tuple[str, int]] = []

        def target(text: str, session: Session) -> str:
            sessions.append((session.id, len(session.history)))
            if len(sessions) == 2:
                raise ConnectionError
            return "x"

        run_evals_sync([{"inputs": ["a", "b"]}], target, ANY, retries=1)
        assert [length for _, length in sessions] == [0, 2, 0, 2]
        assert len({identity for identity, _ in sessions}) == 2


class TestRaising:
    @DOORS
    @pytest.mark.parametrize(
        "error",
        [
            ValueError("boom"),
            SystemExit(3),
            GeneratorExit("end"),
            asyncio.CancelledError(),
            StopIteration("x"),
            pytest.fail.Exception("failed"),
        ],
        ids=lambda error: type(error).__name__,
    )
    def test_whatever_a_target_raises_is_its_items_error(self, run: RunIt, error: BaseException) -> None:
        def block(text: str) -> str:
            if text == "bad":
                raise error
            return "x"

        async def wait(text: str) -> str:
            return block(text)

        for target in (block, wait):
            result = run(["a", "bad", "b"], target, gates=ANY, concurrency=1)
            assert kinds(result) == [None, "exception", None]
            assert result.items[1].error is not None
            assert type(error).__name__ in result.items[1].error.message
            assert "Traceback" in result.items[1].error.traceback
            assert result.verdict == "failed"

    @DOORS
    def test_one_that_cancels_its_own_task_ends_nobody_else(self, run: RunIt) -> None:
        async def target(text: str) -> str:
            if text == "bad":
                task = asyncio.current_task()
                assert task is not None
                task.cancel()
                await asyncio.sleep(0)
            return "x"

        assert kinds(run(["bad", "a", "b"], target, ANY, concurrency=1)) == ["exception", None, None]

    @DOORS
    @pytest.mark.parametrize("after", ["returns", "raises"])
    @pytest.mark.parametrize("concurrency", [1, 3])
    def test_one_that_cancels_its_own_task_and_awaits_nothing_is_to_blame_alone(
        self, run: RunIt, after: str, concurrency: int
    ) -> None:
        async def target(text: str) -> str:
            if text == "bad":
                task = asyncio.current_task()
                assert task is not None
                task.cancel()
                if after == "raises":
                    raise ValueError("boom")
            return "x"

        for data, wanted in ((["bad", "a", "b"], ["exception", None, None]), (["a", "bad"], [None, "exception"])):
            result = run(data, target, ANY, concurrency=concurrency, timeout=GUARD)
            assert kinds(result) == wanted
            assert not result.warnings

    @DOORS
    def test_one_that_cancelled_itself_and_went_on_leaves_no_trace(self, run: RunIt) -> None:
        async def target(text: str) -> str:
            task = asyncio.current_task()
            assert task is not None
            if text == "odd":
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await asyncio.sleep(0)
            else:
                assert task.cancelling() == 0
            return "x"

        assert kinds(run(["odd", "a", "odd"], target, ANY, concurrency=1)) == [None, None, None]

    @DOORS
    def test_a_scorer_that_cancels_its_own_task_is_that_scores_error(self, run: RunIt) -> None:
        async def broken(output: str) -> bool:
            task = asyncio.current_task()
            assert task is not None
            task.cancel()
            return True

        result = run(["x", "x"], str, [broken, *ANY], concurrency=1)
        assert kinds(result) == [None, None]
        assert [score.outcome for item in result.items for score in item.scores] == ["error", "passed"] * 2

    @DOORS
    @pytest.mark.parametrize("error", [KeyboardInterrupt, GeneratorExit])
    def test_what_a_thread_raises_is_never_taken_for_ctrl_c(self, run: RunIt, error: type[BaseException]) -> None:
        def target(text: str) -> str:
            if text == "bad":
                raise error
            return "x"

        def broken(output: str) -> bool:
            raise error

        result = run(["a", "bad", "b"], target, [broken, *ANY], concurrency=1)
        assert kinds(result) == [None, "exception", None]
        assert result.items[1].error is not None
        assert (result.items[1].error.type, result.items[1].error.message) == (error.__name__, error.__name__)
        assert [score.outcome for score in result.items[2].scores] == ["error", "passed"]
        assert not result.interrupted

    @DOORS
    @pytest.mark.parametrize("worse", [RuntimeError("nothing to say"), SystemExit(3)], ids=lambda error: type(error).__name__)
    def test_an_exception_that_cannot_be_written_is_still_an_error(self, run: RunIt, worse: BaseException) -> None:
        class Mute(Exception):
            def __str__(self) -> str:
                raise worse

        def target(text: str) -> str:
            if text == "bad":
                raise Mute
            return "x"

        assert kinds(run(["bad", "a"], target, ANY)) == ["exception", None]

    @DOORS
    @pytest.mark.parametrize("error", [ValueError("boom"), SystemExit(3)], ids=lambda error: type(error).__name__)
    def test_what_a_scorer_raises_is_that_scores_error(self, run: RunIt, error: BaseException) -> None:
        def broken(output: str) -> bool:
            raise error

        result = run(["x"], str, [broken, *ANY])
        assert kinds(result) == [None]
        assert [score.outcome for score in result.items[0].scores] == ["error", "passed"]
        assert result.error_count == 1
        assert type(error).__name__ in result.items[0].scores[0].reason

    @DOORS
    def test_a_scorer_that_returns_something_to_await_is_awaited(self, run: RunIt) -> None:
        async def judged(text: str) -> bool:
            await asyncio.sleep(0)
            return text == "x"

        judge = create_scorer(id="judge").generate_score(lambda run: judged(run.text))
        assert dict(run(["x"], str, [judge]).scores) == {"judge": 1.0}

    @DOORS
    def test_the_first_error_is_raised_when_asked(self, run: RunIt) -> None:
        asked: list[int] = []
        error = ValueError("boom")

        async def target(number: int) -> str:
            asked.append(number)
            if number == 1:
                raise error
            await asyncio.sleep(0)
            return "x"

        with pytest.raises(ValueError, match="boom") as caught:
            run(range(100), target, ANY, on_error="raise", concurrency=1)
        assert caught.value is error
        assert "while item" in caught.value.__notes__[0]
        assert asked == [0, 1]

    @DOORS
    def test_the_first_error_of_a_scorer_is_raised_when_asked(self, run: RunIt) -> None:
        def broken(output: str) -> bool:
            raise ZeroDivisionError("by nothing")

        with pytest.raises(ZeroDivisionError, match="by nothing"):
            run(["x"], str, [broken], on_error="raise")

    @DOORS
    @pytest.mark.parametrize("error", [SystemExit(3), asyncio.CancelledError()], ids=lambda error: type(error).__name__)
    def test_what_would_end_more_than_the_evaluation_is_wrapped(self, run: RunIt, error: BaseException) -> None:
        def target(text: str) -> str:
            raise error

        with pytest.raises(QuickchecksError, match=type(error).__name__) as caught:
            run(["a"], target, ANY, on_error="raise")
        assert caught.value.__cause__ is error

    @DOORS
    def test_a_run_that_itself_failed_is_raised_too(self, run: RunIt) -> None:
        with pytest.raises(QuickchecksError, match="502"):
            run(["a"], lambda text: {"output": "", "error": "502"}, ANY, on_error="raise")

    @DOORS
    def test_the_others_do_not_delay_an_error_that_is_raised(self, run: RunIt) -> None:
        async def target(text: str) -> str:
            if text == "bad":
                raise ValueError("boom")
            await asyncio.sleep(LONG)
            return "x"

        with pytest.raises(ValueError, match="boom"):
            run(["a", "bad"], target, ANY, on_error="raise")

    def test_a_timeout_is_raised_as_one(self) -> None:
        async def target(text: str) -> str:
            await asyncio.sleep(LONG)
            return "x"

        with pytest.raises(TimeoutError, match="took longer than 0.05 s"):
            run_evals_sync(["a"], target, ANY, on_error="raise", timeout=0.05)


class TestTelling:
    @DOORS
    def test_each_item_is_told_in_the_order_of_finishing(self, run: RunIt) -> None:
        told: list[str] = []

        async def target(text: str) -> str:
            await asyncio.sleep(0.1 if text == "slow" else 0)
            return "x"

        async def listen(item: ItemResult) -> None:
            await asyncio.sleep(0)
            told.append(str(item.item.input))

        run(["slow", "fast"], target, ANY, on_item_complete=listen)
        assert told == ["fast", "slow"]

    @DOORS
    @pytest.mark.parametrize(
        "error",
        [ValueError("no"), SystemExit(1), GeneratorExit(), asyncio.CancelledError()],
        ids=lambda error: type(error).__name__,
    )
    @pytest.mark.parametrize("kind", ["sync", "async"])
    def test_a_callback_that_raises_disturbs_nothing_and_is_reported_once(
        self, run: RunIt, error: BaseException, kind: str
    ) -> None:
        def block(item: ItemResult) -> None:
            raise error

        async def wait(item: ItemResult) -> None:
            raise error

        result = run(["x", "x", "x"], str, gates=ANY, on_item_complete=block if kind == "sync" else wait)
        assert result.verdict == "passed"
        (warning,) = result.warnings
        assert "on_item_complete raised for 3 items, first for item" in warning
        assert type(error).__name__ in warning
        assert warning in result.explain()

    @DOORS
    def test_a_callback_that_cancels_its_own_task_disturbs_nothing(self, run: RunIt) -> None:
        def told(item: ItemResult) -> None:
            task = asyncio.current_task()
            assert task is not None
            task.cancel()

        async def target(text: str) -> str:
            return "x"

        result = run(["x", "x", "x"], target, gates=ANY, on_item_complete=told)
        assert result.verdict == "passed"
        (warning,) = result.warnings
        assert "on_item_complete raised for 3 items" in warning

    def test_a_callback_that_raises_ctrl_c_elsewhere_than_in_the_main_thread_disturbs_nothing(self) -> None:
        def told(item: ItemResult) -> None:
            raise KeyboardInterrupt

        result = run_evals_sync(["x", "x"], str, gates=ANY, on_item_complete=told)
        assert (result.verdict, result.interrupted) == ("passed", False)
        assert "on_item_complete raised for 2 items" in result.warnings[0]


class TestConversations:
    @DOORS
    def test_gates_of_a_turn_see_that_turn_alone(self, run: RunIt) -> None:
        turns = [
            {"input": "x", "gates": [checks.includes("x"), checks.excludes("y")]},
            {
                "input": "y",
                "gates": [checks.includes("y"), checks.excludes("x")],
                "scorers": [Threshold(checks.includes("y"), 1)],
            },
        ]
        result = run([{"turns": turns}], str, gates=[checks.includes("x"), checks.includes("y")])
        assert result.verdict == "passed"
        assert [turn.index for turn in result.turn_results] == [0, 1]
        assert [len(turn.gate_results) for turn in result.turn_results] == [2, 2]

    def test_a_scorer_of_a_turn_gets_what_was_asked_in_it(self) -> None:
        asked: list[object] = []

        def note(input: object) -> bool:
            asked.append(input)
            return True

        turns = [{"input": "one", "scorers": [note]}, {"input": "two", "scorers": [note]}]
        run_evals_sync([{"turns": turns}], str, [create_scorer(id="whole").generate_score(note)])
        assert asked == ["one", "one", "two"]

    def test_a_turn_that_was_never_reached_is_no_evidence(self) -> None:
        def target(text: str) -> dict[str, object]:
            return {"output": "x", "error": "502"}

        turns = [{"input": "a"}, {"input": "b", "gates": [checks.includes("x")]}]
        result = run_evals_sync([{"turns": turns}], target, max_errors=1)
        assert result.items[0].scores[0].reason == "turn 1 is not in the record"
        assert result.verdict == "undecided"

    def test_turns_of_a_recorded_item_are_no_evidence(self) -> None:
        turns = [{"input": "a", "gates": [checks.includes("x")]}, {"input": "b", "gates": [checks.includes("x")]}]
        result = run_evals_sync([{"turns": turns, "output": "x"}])
        assert result.verdict == "undecided"

    def test_an_error_names_its_turn(self) -> None:
        def target(text: str) -> str:
            if text == "b":
                raise ValueError("boom")
            return "x"

        result = run_evals_sync([{"inputs": ["a", "b", "c"]}], target, ANY)
        error = result.items[0].error
        assert error is not None
        assert error.turn == 1
        assert result.items[0].run is not None
        assert result.items[0].run.text == "x"

    def test_a_target_without_memory_is_warned_about(self) -> None:
        result = run_evals_sync([{"inputs": ["a", "b"]}], lambda text: "x", ANY)
        assert "takes neither history nor session" in result.warnings[0]
        assert not run_evals_sync([{"inputs": ["a", "b"]}], lambda text, history: "x", ANY).warnings


@DOORS
def test_a_recorded_item_is_not_asked(run: RunIt) -> None:
    result = run([{"input": "a", "output": "x"}], lambda text: pytest.fail("it is asked"), gates=ANY)
    assert result.verdict == "passed"
    assert run([{"input": "a", "output": "x"}], gates=ANY).verdict == "passed"


def test_a_run_that_itself_failed_is_shown_and_never_passes() -> None:
    result = run_evals_sync(["a"], lambda text: {"output": "x", "error": "502"}, gates=ANY, max_errors=1)
    assert kinds(result) == ["run"]
    assert [score.outcome for score in result.items[0].scores] == ["passed"]
    assert result.verdict == "undecided"
    assert "1 broke" in result.explain()


def test_repetitions_stand_side_by_side() -> None:
    answers: Iterator[str] = iter("xyxy")
    result = run_evals_sync(["a", "b"], lambda text: next(answers), [checks.includes("x")], repetitions=2, concurrency=1)
    assert [(item.index, item.repetition) for item in result.items] == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert result.scores["includes('x')"] == 0.5
    assert len(result.flaky["includes('x')"]) == 2
    assert result.summary.total_items == 2
    assert result.summary.total_runs == 4
    gate = run_evals_sync(["a"], lambda text: next(iter("x")), gates=[Gate(checks.includes("x"))], repetitions=3).gate_results[0]
    assert gate.explanation.startswith("3 of 3 runs passed")


@DOORS
def test_what_a_target_does_to_its_input_meets_no_other_repetition_and_no_file(run: RunIt, tmp_path: Path) -> None:
    def target(asked: dict[str, list[int]]) -> str:
        asked["numbers"].append(3)
        return str(len(asked["numbers"]))

    data = [{"id": "a", "input": {"numbers": [1, 2]}}]
    before = content_hash(items_of(data)[0])
    result = run(data, target, gates=[checks.equals("3")], repetitions=3)
    assert result.passed
    result.save(tmp_path / "result.json")
    (asked,) = {str(item.item.input) for item in load_result(tmp_path / "result.json").items}
    assert asked == "{'numbers': [1, 2]}"
    assert {content_hash(item.item) for item in result.items} == {before}


@DOORS
@pytest.mark.parametrize("field", ["input", "expected", "metadata", "context", "tool_mocks"])
def test_what_a_scorer_gets_of_the_item_is_read_only(run: RunIt, field: str) -> None:
    def change(item: Item) -> bool:
        next(iter(getattr(item, field).values())).append("more")
        return True

    async def change_later(item: Item) -> bool:
        return change(item)

    given: dict[str, object] = {"mocks": [{"tool": "a", "result": "b"}]} if field == "tool_mocks" else {"words": ["one"]}
    item: dict[str, object] = {"input": "q", field: given}
    result = run([item], lambda asked: "x", [change, change_later])
    assert [score.outcome for score in result.items[0].scores] == ["error", "error"]
    assert "read-only" in result.items[0].scores[0].reason
    assert item[field] == ({"mocks": [{"tool": "a", "result": "b"}]} if field == "tool_mocks" else {"words": ["one"]})


def test_clients_made_on_the_loop_serve_several_evaluations() -> None:
    loops: list[object] = []

    async def target(text: str) -> str:
        loops.append(asyncio.get_running_loop())
        return "x"

    run_evals_sync(["a", "b"], target, ANY)
    run_evals_sync(["a"], target, ANY)
    assert len(set(map(id, loops))) == 1


def test_a_worker_that_other_code_cancels_is_never_lost_silently() -> None:
    async def told(item: ItemResult) -> None:
        task = asyncio.current_task()
        assert task is not None
        task.get_loop().call_later(0.01, task.cancel)

    async def pause(text: str) -> str:
        await asyncio.sleep(0.05)
        return "x"

    result = in_a_loop(["a", "b"], pause, ANY, concurrency=1, on_item_complete=told)
    assert kinds(result) == [None, "exception"]


@pytest.mark.skipif(sys.version_info < (3, 12), reason="loops are not eager before Python 3.12")
def test_an_eager_loop_runs_everything_too() -> None:
    async def target(text: str) -> str:
        return "x"

    async def main() -> EvalResult:
        asyncio.get_running_loop().set_task_factory(getattr(asyncio, "eager_task_factory"))  # noqa: B009 - newer than 3.11
        return await run_evals(["a"] * 20, target, gates=ANY, timeout=5)

    assert len(asyncio.run(main()).items) == 20


def test_a_scorer_without_a_score_step_is_refused_before_anything_is_asked() -> None:
    with pytest.raises(ScorerDefinitionError, match="it has no score step"):
        run_evals_sync(["a"], lambda text: pytest.fail("it is asked"), [create_scorer(id="empty")])


ANSWERS: dict[str, Callable[[], object]] = {
    "chat": lambda: [
        {"role": "user", "content": "q"},
        {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "send", "arguments": {"secret": 1}}}]},
        {"role": "tool", "tool_call_id": "1", "content": "sent"},
        {"role": "assistant", "content": "x"},
    ],
    "envelope": lambda: {"output": "x", "tool_calls": [{"name": "send", "arguments": {"secret": 1}, "result": {"ok": [1]}}]},
    "run": lambda: Run((Message("assistant", (ToolCall("send", {"secret": 1}), Text("x"))),)),
    "run with text": lambda: Run((Message("assistant", (ToolCall("send", '{"secret": 1}'), Text("x"))),)),
}


def clear(run: Run | None) -> None:
    assert run is not None
    run.tool_calls[0].arguments.clear()  # type: ignore[attr-defined]


def keeps_the_secret(run: Run) -> bool:
    return run.tool_calls[0].arguments == {}


@DOORS
@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize("turns", [1, 2])
def test_no_scorer_and_no_callback_changes_what_is_judged_and_kept(run: RunIt, answer: str, turns: int, tmp_path: Path) -> None:
    def hide(run: Run) -> bool:
        clear(run)
        return True

    async def hide_later(run: Run) -> bool:
        return hide(run)

    def told(item: ItemResult) -> None:
        clear(item.run)

    result = run(
        [{"inputs": ["q"] * turns}],
        lambda text: ANSWERS[answer](),
        gates=[hide, hide_later, keeps_the_secret],
        on_item_complete=told,
    )
    assert [score.outcome for score in result.items[0].scores] == ["error", "error", "failed"]
    assert any("read-only" in warning for warning in result.warnings)
    result.save(tmp_path / "result.json")
    (item,) = load_result(tmp_path / "result.json").items
    assert item.run is not None
    assert item.run.tool_calls[0].arguments == {"secret": 1}


@DOORS
def test_what_a_target_does_to_what_it_has_returned_changes_no_run(run: RunIt) -> None:
    shared: dict[str, list[object]] = {"said": []}

    def target(text: str) -> object:
        shared["said"].append(text)
        return {"output": "x", "tool_calls": [{"name": "send", "arguments": shared}], "metadata": {"state": shared}}

    result = run(["a", "b", "c"], target, ANY, concurrency=1)
    shared["said"].clear()
    runs = [item.run for item in result.items if item.run is not None]
    assert [one.tool_calls[0].arguments for one in runs] == [{"said": [*"abc"[: count + 1]]} for count in range(3)]
    assert [one.metadata for one in runs] == [{"state": {"said": [*"abc"[: count + 1]]}} for count in range(3)]


@DOORS
def test_what_the_program_does_to_its_data_meanwhile_changes_no_result(run: RunIt) -> None:
    item: dict[str, dict[str, int]] = {"input": {"number": 1}, "metadata": {"number": 1}}

    def target(asked: object) -> str:
        item["metadata"]["number"] = item["input"]["number"] = 2
        return "x"

    (found,) = run([item], target, ANY).items
    assert (found.item.input, found.item.metadata) == ({"number": 1}, {"number": 1})


def cancel_everything() -> None:
    for task in asyncio.all_tasks():
        task.cancel()


@pytest.mark.parametrize("waits", [False, True])
@pytest.mark.parametrize("when", ["target", "scorer", "callback"])
@pytest.mark.parametrize(
    "options", [{}, {"concurrency": 1}, {"timeout": 10}, {"retries": 1}, {"repetitions": 3, "concurrency": 2}], ids=str
)
def test_an_item_that_cancels_every_task_ends_no_evaluation(when: str, waits: bool, options: EvalOptions) -> None:
    async def cancel(where: str, which: object) -> None:
        if where == when and which == "2":
            cancel_everything()
            if waits:
                await asyncio.sleep(0)

    async def target(text: str) -> str:
        await cancel("target", text)
        return "x"

    async def judge(output: str, input: object) -> bool:
        await cancel("scorer", input)
        return True

    async def told(item: ItemResult) -> None:
        await cancel("callback", item.item.input)

    data = [str(number) for number in range(5)]
    options = {**options, "on_item_complete": told}
    result = run_evals_sync(data, target, gates=[judge], **options)
    assert len(result.items) == len(data) * options.get("repetitions", 1)
    assert not result.interrupted
    broken = [item for item in result.items if item.errored or any(score.outcome == "error" for score in item.scores)]
    if when == "callback":
        assert "CancelledError" in result.warnings[0]
    else:
        assert result.verdict == ("passed" if when == "target" and "retries" in options and not broken else "failed")
    assert all(item.errored or item.scores for item in result.items)


def test_a_time_limit_is_kept_after_an_item_has_cancelled_every_task() -> None:
    async def target(text: str) -> str:
        if text == "a":
            cancel_everything()
        await asyncio.sleep(LONG if text == "b" else 0)
        return "x"

    result = run_evals_sync(["a", "b"], target, ANY, timeout=0.3, concurrency=1)
    assert kinds(result) == ["exception", "timeout"]


def test_whoever_awaits_an_evaluation_gets_what_was_finished_when_all_is_cancelled() -> None:
    async def target(text: str) -> str:
        if text == "b":
            cancel_everything()
        return "x"

    with pytest.raises(asyncio.CancelledError) as caught:
        in_a_loop(["a", "b", "c"], target, ANY, concurrency=1)
    partial = caught.value.partial  # type: ignore[attr-defined]
    assert partial.interrupted
    assert [item.item.input for item in partial.items][:1] == ["a"]


def test_a_result_is_neither_true_nor_false() -> None:
    failed = run_evals_sync(["a"], lambda text: "y", gates=ANY)
    for result in (failed, run_evals_sync(["a"], lambda text: "x", gates=ANY)):
        with pytest.raises(NoVerdictError, match=r"assert result\.passed"):
            bool(result)
        with pytest.raises(NoVerdictError, match=r"\.passed"):
            bool(result.gate_results[0])
    with pytest.raises(NoVerdictError, match="failed"):
        assert failed


def test_a_recording_is_where_it_was_said_wherever_the_target_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "elsewhere").mkdir()

    def target(text: str) -> str:
        os.chdir(tmp_path / "elsewhere")
        return "x"

    assert run_evals_sync(["a", "b"], target, gates=ANY, record="runs/all.jsonl").recording == "all.jsonl"
    assert sorted(path.name for path in tmp_path.rglob("*.*")) == ["all.jsonl"]
    assert (tmp_path / "runs" / "all.jsonl").read_text().count("\n") == 2
