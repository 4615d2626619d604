"""Tool mocks: which call gets which answer, what is refused, and that a tool with a mock never runs unseen."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from quickchecks import EvalResult, Score, checks, mockable, run_evals_sync
from quickchecks._mocks import LIVE, ToolMocks, mock_plan
from quickchecks.errors import ItemError, ToolMockError


def mocks_of(*mocks: object, **options: object) -> ToolMocks:
    return ToolMocks(mock_plan({"mocks": list(mocks), **options}, "item 'a'"))


def test_a_mock_answers_whatever_the_arguments_as_often_as_asked() -> None:
    mocks = mocks_of({"tool": "search", "result": {"hits": 0}})
    assert [mocks.answer("search", {"q": text}) for text in "abc"] == [{"hits": 0}] * 3


def test_arguments_choose_the_mock() -> None:
    mocks = mocks_of(
        {"tool": "weather", "arguments": {"city": "Oslo"}, "result": "cold"},
        {"tool": "weather", "arguments": {"city": "Rome"}, "result": "warm"},
    )
    assert mocks.answer("weather", {"city": "Rome"}) == "warm"
    assert mocks.answer("weather", {"city": "Oslo"}) == "cold"
    with pytest.raises(ToolMockError, match=r"no mock of weather is left for the arguments \{'?\"?city"):
        mocks.answer("weather", {"city": "Bern"})


def test_no_arguments_and_empty_arguments_are_the_same() -> None:
    assert mocks_of({"tool": "now", "arguments": {}, "result": 1}).answer("now", None) == 1


def test_ignored_arguments_are_not_compared() -> None:
    mocks = mocks_of({"tool": "weather", "arguments": {"city": "Oslo"}, "result": "cold"}, arguments="ignore")
    assert mocks.answer("weather", {"city": "Bern"}) == "cold"


def test_several_mocks_of_one_call_answer_in_turn_and_the_last_goes_on() -> None:
    mocks = mocks_of({"tool": "poll", "result": "wait"}, {"tool": "poll", "result": "done"})
    assert [mocks.answer("poll", {}) for _ in range(3)] == ["wait", "done", "done"]


def test_times_limits_how_often_a_mock_answers() -> None:
    mocks = mocks_of({"tool": "poll", "result": "wait", "times": 2}, {"tool": "poll", "result": "done", "times": 1})
    assert [mocks.answer("poll", {}) for _ in range(3)] == ["wait", "wait", "done"]
    with pytest.raises(ToolMockError, match="no mock of poll is left"):
        mocks.answer("poll", {})


def test_a_mock_can_fail() -> None:
    with pytest.raises(ToolMockError, match="^no rooms left$"):
        mocks_of({"tool": "book", "error": "no rooms left"}).answer("book", {})


def test_a_tool_without_mocks_runs_or_is_denied() -> None:
    assert mocks_of({"tool": "a", "result": 1}).answer("b", {}) is LIVE
    with pytest.raises(ToolMockError, match="b has no mock"):
        mocks_of({"tool": "a", "result": 1}, unknown_tools="deny").answer("b", {})


def test_the_report_says_what_was_served_unused_live_and_refused() -> None:
    mocks = mocks_of({"tool": "a", "arguments": {"n": 1}, "result": 1}, {"tool": "c", "result": None})
    mocks.answer("a", {"n": 1})
    mocks.answer("b", {})
    with pytest.raises(ToolMockError):
        mocks.answer("a", {"n": 2})
    assert mocks.report() == {
        "served": [{"tool": "a", "arguments": {"n": 1}}],
        "unused": [{"tool": "c"}],
        "live": ["b"],
        "refused": [{"tool": "a", "arguments": {"n": 2}}],
    }


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("search", "tool_mocks is a list of mocks"),
        (5, "tool_mocks is a list of mocks"),
        ([], "tool_mocks is empty"),
        ([5], r"tool_mocks\[0\] is a mapping"),
        ([{"tool": "a"}], "exactly one of result and error"),
        ([{"tool": "a", "result": 1, "error": "x"}], "exactly one of result and error"),
        ([{"result": 1}], "tool is the name of a tool, not null"),
        ([{"tool": "a", "error": ""}], "error is the message"),
        ([{"tool": "a", "result": 1, "times": 0}], "times is a whole number from 1 on, not 0"),
        ([{"tool": "a", "result": 1, "times": True}], "times is a whole number"),
        ([{"tool": "a", "result": 1, "arguments": "x"}], "arguments is a mapping"),
        ([{"tool": "a", "results": 1}], "has no 'results': did you mean 'result'"),
        ({"mock": []}, "has no 'mock': did you mean 'mocks'"),
        ({"mocks": [], "unknown_tools": "refuse"}, "unknown_tools of tool_mocks is 'allow' or 'deny'"),
    ],
)
def test_what_makes_no_sense_is_refused_with_its_place(value: object, message: str) -> None:
    with pytest.raises(ItemError, match=f"item 'a'.*{message}"):
        mock_plan(value, "item 'a'")


# Functions of the user's

ran: list[str] = []


@mockable
def get_weather(city: str, days: int = 1) -> str:
    """The weather."""
    ran.append(city)
    return f"Sunny in {city}"


@mockable
async def book(city: str) -> str:
    ran.append(city)
    return "booked"


def unwrapped(city: str) -> str:
    ran.append(city)
    return "Sunny"


def agent(tool: Any, *arguments: Any, **named: Any) -> Any:
    """An agent that calls one tool and says what it answered."""

    def ask(question: str) -> dict[str, object]:
        call: dict[str, object] = {"name": tool.__name__, "arguments": named}
        try:
            found = tool(*arguments, **named)
            call["result"] = asyncio.run(found) if asyncio.iscoroutine(found) else found
        except Exception as error:
            call["error"] = str(error)
        return {"output": str(call.get("result", "failed")), "tool_calls": [call]}

    return ask


def evaluated(target: Any, *mocks: object, **options: Any) -> EvalResult:
    ran.clear()
    data = [{"id": "a", "input": "Plan", "tool_mocks": {"mocks": list(mocks), **options}}]
    return run_evals_sync(data, target, gates=[checks.no_tool_errors()])


def test_outside_an_evaluation_a_mockable_function_is_itself() -> None:
    assert get_weather("Oslo") == "Sunny in Oslo"
    assert get_weather.__name__ == "get_weather"
    assert get_weather.__doc__ == "The weather."


def test_a_mock_answers_in_place_of_a_function() -> None:
    result = evaluated(agent(get_weather, city="Oslo"), {"tool": "get_weather", "result": "Rain"})
    assert (result.verdict, ran) == ("passed", [])
    run = result.items[0].run
    assert run is not None
    assert run.text == "Rain"
    assert run.metadata is not None
    assert run.metadata["tool_mocks"] == {
        "served": [{"tool": "get_weather", "arguments": {"city": "Oslo"}}],
        "unused": [],
        "live": [],
        "refused": [],
    }


def test_positional_arguments_are_compared_by_name() -> None:
    mock = {"tool": "get_weather", "arguments": {"city": "Oslo"}, "result": "Rain"}
    result = evaluated(agent(get_weather, "Oslo"), mock)
    assert result.items[0].run is not None
    assert result.items[0].run.text == "Rain"


def test_a_mock_answers_in_place_of_a_coroutine_function() -> None:
    assert evaluated(agent(book, city="Oslo"), {"tool": "book", "result": "ok"}).verdict == "passed"
    assert ran == []


def test_a_mock_that_fails_is_a_tool_that_fails() -> None:
    result = evaluated(agent(book, city="Oslo"), {"tool": "book", "error": "no rooms left"})
    assert (result.verdict, ran) == ("failed", [])
    assert "no rooms left" in result.items[0].scores[0].reason


def test_a_tool_that_ran_although_it_has_a_mock_is_an_error() -> None:
    result = evaluated(agent(unwrapped, city="Oslo"), {"tool": "unwrapped", "result": "Rain"})
    assert result.verdict == "failed"
    error = result.items[0].error
    assert error is not None
    assert error.kind == "mock"
    assert "unwrapped ran although the item mocks it" in error.message
    assert "quickchecks.mockable" in error.message


def test_mocks_that_nobody_asked_for_are_named() -> None:
    result = evaluated(lambda question: "Hello", {"tool": "book", "result": "ok"})
    assert "mocks of tools that no call asked for: a" in result.warnings


def test_items_do_not_share_their_mocks_and_repetitions_begin_anew() -> None:
    data = [
        {"id": str(n), "input": str(n), "tool_mocks": [{"tool": "get_weather", "result": str(n), "times": 1}]} for n in range(20)
    ]
    result = run_evals_sync(
        data, agent(get_weather, city="Oslo"), gates=[checks.no_tool_errors()], repetitions=2, concurrency=10, retries=0
    )
    assert [item.run.text for item in result.items if item.run is not None] == [str(n) for n in range(20) for _ in range(2)]


def test_mocks_that_make_no_sense_end_before_anything_is_asked() -> None:
    with pytest.raises(ItemError, match=r"item 'a': tool_mocks\[0\]"):
        run_evals_sync(
            [{"id": "a", "input": "x", "tool_mocks": [{"tool": "a"}]}], lambda text: text, gates=[checks.includes("x")]
        )


# Threads that do not know for which item they work


async def in_executor() -> str:
    return await asyncio.get_running_loop().run_in_executor(None, get_weather, "Oslo")


def in_pool() -> str:
    with ThreadPoolExecutor() as pool:
        return pool.submit(get_weather, "Oslo").result()


def mapped() -> str:
    with ThreadPoolExecutor() as pool:
        return next(iter(pool.map(get_weather, ["Oslo"])))


def in_thread() -> str:
    found: list[str] = []

    def call() -> None:
        try:
            found.append(get_weather("Oslo"))
        except Exception as error:
            found.append(str(error))

    thread = threading.Thread(target=call)
    thread.start()
    thread.join()
    return found[0]


WAYS: list[Callable[[], Any]] = [in_executor, in_pool, mapped, in_thread]


@pytest.mark.parametrize("way", WAYS)
def test_a_thread_of_the_only_item_finds_its_mock(way: Callable[[], Any]) -> None:
    ran.clear()
    item = {"input": "x", "tool_mocks": [{"tool": "get_weather", "result": "Rain"}]}
    result = run_evals_sync([item, item], lambda question: way(), gates=[checks.includes("Rain")], concurrency=1)
    assert (result.verdict, ran) == ("passed", [])
    assert result.items[0].run is not None
    assert result.items[0].run.text == "Rain"


@pytest.mark.parametrize("way", WAYS)
def test_a_thread_of_one_of_several_items_runs_nothing_and_is_an_error(way: Callable[[], Any]) -> None:
    both = threading.Barrier(2)

    def target(question: str) -> Any:
        both.wait(10)
        try:
            found = way()
            return asyncio.run(found) if asyncio.iscoroutine(found) else found
        except ToolMockError:
            return "swallowed"
        finally:
            both.wait(10)

    ran.clear()
    item = {"input": "x", "tool_mocks": [{"tool": "get_weather", "result": "Rain"}]}
    result = run_evals_sync([item, item], target, gates=[checks.excludes("Sunny")], concurrency=2)
    assert (result.verdict, ran) == ("failed", [])
    for one in result.items:
        assert one.error is not None
        assert one.error.kind == "mock"
        assert "get_weather was called where nothing says for which item" in one.error.message
        assert "contextvars.copy_context" in one.error.message


def test_a_thread_that_has_the_context_finds_its_mock() -> None:
    both = threading.Barrier(2)

    async def target(question: str) -> str:
        await asyncio.to_thread(both.wait, 10)
        found = await asyncio.to_thread(get_weather, "Oslo")
        await asyncio.to_thread(both.wait, 10)
        return found

    data = [{"input": "x", "tool_mocks": [{"tool": "get_weather", "result": answer}]} for answer in ("Rain", "Snow")]
    result = run_evals_sync(data, target, gates=[checks.no_tool_errors()], concurrency=2)
    assert [one.run.text for one in result.items if one.run is not None] == ["Rain", "Snow"]


def test_what_no_item_mocks_runs_in_threads_as_ever() -> None:
    def target(question: str) -> str:
        return in_pool()

    ran.clear()
    data = [{"input": "x", "tool_mocks": [{"tool": "book", "result": "ok"}]}, {"input": "y"}] * 3
    result = run_evals_sync(data, target, gates=[checks.includes("Sunny")])
    assert (result.verdict, ran) == ("passed", ["Oslo"] * 6)
    assert get_weather("Rome") == "Sunny in Rome"


def test_scorers_call_the_function_itself() -> None:
    def right(output: str) -> Score | bool:
        return get_weather("Oslo") == "Sunny in Oslo"

    item = {"input": "x", "tool_mocks": [{"tool": "get_weather", "result": "Rain"}]}
    result = run_evals_sync([item] * 4, agent(get_weather, city="Oslo"), gates=[right], concurrency=4)
    assert result.verdict == "passed"


# Tools that nobody has found


def test_a_mock_that_stands_before_nothing_is_an_error() -> None:
    result = evaluated(lambda question: "Hello", {"tool": "cancel_everything", "result": "ok"})
    error = result.items[0].error
    assert result.verdict == "failed"
    assert error is not None
    assert error.kind == "mock"
    assert "cancel_everything has a mock, and no tool of that name was found" in error.message


def test_tools_that_are_known_need_not_be_called() -> None:
    from quickchecks import Run

    mocks = mocks_of({"tool": "fly", "result": 1})
    assert mocks.trouble(Run())
    mocks.placed("fly", "walk")
    assert mocks.trouble(Run()) == ""
    mocks = mocks_of({"tool": "fly", "result": 1})
    mocks.wrapped("fly", lambda: 1)
    assert mocks.trouble(Run()) == ""


def test_a_call_below_that_no_mock_answered_is_trouble_even_when_the_tool_raised() -> None:
    from msgspec.structs import replace

    from quickchecks._run import Run, ToolCall, ToolError
    from quickchecks.testing import assistant, call, run

    mocks = mocks_of({"tool": "fly", "result": 1})
    mocks.placed("fly")
    raised = replace(call("fly"), state="failed", error=ToolError("no seats", "ValueError", "exception"))
    invalid = replace(call("fly"), state="failed", error=ToolError("no such city"))
    assert isinstance(raised, ToolCall)
    outer: Run = run(assistant("Done"))
    assert mocks.trouble(replace(outer, children=(run(assistant("", invalid)),))) == ""
    assert "fly ran although" in mocks.trouble(replace(outer, children=(run(assistant("", raised)),)))
