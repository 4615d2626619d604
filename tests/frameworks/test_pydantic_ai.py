"""pydantic-ai 2.x, with scripted models; the same tests run against 1.x (test_pydantic_ai_v1)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("pydantic_ai")

import pydantic_ai
from crowds import assert_fifty_stay_apart
from pydantic import BaseModel, TypeAdapter
from pydantic_ai import Agent, DeferredToolRequests, ModelRetry, RunContext, Tool, UsageLimits, capture_run_messages
from pydantic_ai.messages import ModelMessagesTypeAdapter, ModelResponse, TextPart, ThinkingPart, ToolCallPart, UserPromptPart
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.usage import RequestUsage
from scenarios import NONE, TWO, assert_kept_when_late, assert_mocks_find, assert_none, assert_raised, assert_two, score

from quickchecks import Run, checks
from quickchecks._mocks import ToolMocks, mock_plan
from quickchecks.adapters import agent_kind, as_run
from quickchecks.errors import RecordingError, TargetError

Converse = Callable[..., list[Run]]
MAJOR = "2."

WEATHER = ToolCallPart("get_weather", {"city": "Paris"})
HOTEL = ToolCallPart("book_hotel", '{"city":"Paris","nights":2}')


def scripted(*turns: Any, **options: Any) -> Any:
    """An agent with two tools whose model gives one list of parts after the other; the history says which is next."""

    def answer(messages: list[Any], info: Any) -> ModelResponse:
        since = 0
        for message in messages:
            asked = any(isinstance(part, UserPromptPart) for part in message.parts)
            since = 0 if asked else since + (message.kind == "response")
        return ModelResponse(parts=[*turns[since]])

    agent: Any = Agent(FunctionModel(answer), name="travel", instructions="Be helpful.", **options)

    @agent.tool_plain
    def get_weather(city: str) -> str:
        return f"Sunny in {city}"

    return agent


def two(error: Exception, *turns: Any) -> Any:
    """The agent of the scenario `two`; its book_hotel raises."""
    agent = scripted(*(turns or ([ThinkingPart("hm"), WEATHER], [HOTEL], [TextPart(TWO)])))

    @agent.tool_plain
    async def book_hotel(city: str, nights: int) -> str:
        raise error

    return agent


def result_of(agent: Any, *asked: str, **options: Any) -> Any:
    """The result of the last of several turns."""

    async def talk() -> Any:
        result = None
        for prompt in asked:
            result = await agent.run(prompt, message_history=result and result.all_messages(), **options)
        return result

    return asyncio.run(talk())


def test_version() -> None:
    assert pydantic_ai.__version__.startswith(MAJOR)


def test_two(converse: Converse) -> None:
    (run,) = converse(two(ModelRetry("no rooms left")), "Plan")
    assert_two(run)
    assert [message.role for message in run.messages] == ["system", "user", "assistant", "assistant", "assistant"]
    assert (run.agent, run.format, run.gap_kinds) == ("travel", "pydantic_ai", {"nested_possible"})
    assert run.duration is not None
    assert run.usage is not None
    assert run.usage.requests == 3
    assert run.usage.input_tokens
    hotel = run.tool_calls[1]
    assert hotel.error is not None
    assert (hotel.error.message, hotel.error.source) == ("no rooms left", "state")


def test_two_as_result_and_as_json() -> None:
    result = result_of(two(ModelRetry("no rooms left")), "Plan")
    run = assert_two(result)
    assert run.usage is not None
    assert run.usage.requests == 3
    assert_two(result.all_messages())
    assert_two(json.loads(result.all_messages_json()))
    assert_two(json.loads(TypeAdapter(type(result)).dump_json(result)))


def test_none(converse: Converse) -> None:
    agent = scripted([TextPart(NONE)])
    (run,) = converse(agent, "Hi")
    assert_none(run)
    assert run.gaps == ()
    assert_none(result_of(agent, "Hi"))


def test_raised(converse: Converse) -> None:
    (run,) = converse(two(ValueError("no rooms left")), "Plan")
    assert_raised(run)
    assert run.error is not None
    assert (run.error.type, run.error.message) == ("ValueError", "no rooms left")
    failed = run.tool_calls[1].error
    assert failed is not None
    assert (failed.type, failed.source) == ("ValueError", "exception")


def test_raised_as_captured_messages() -> None:
    async def talk() -> Any:
        with capture_run_messages() as messages:
            with pytest.raises(ValueError, match="no rooms"):
                await two(ValueError("no rooms left")).run("Plan")
            return messages

    assert_raised(asyncio.run(talk()))


def test_raised_among_parallel_calls(converse: Converse) -> None:
    (run,) = converse(two(ValueError("no rooms left"), [WEATHER, HOTEL, HOTEL], [TextPart(TWO)]), "Plan")
    states = {(call.name, call.state) for call in run.tool_calls}
    assert ("book_hotel", "failed") in states
    assert len(run.tool_calls) == 3
    assert score(run, "no_tool_errors()").failed


def test_parallel_calls(converse: Converse) -> None:
    (run,) = converse(scripted([WEATHER, ToolCallPart("get_weather", {"city": "Rome"})], [TextPart("Sunny.")]), "Plan")
    assert [call.result for call in run.tool_calls] == ["Sunny in Paris", "Sunny in Rome"]
    assert checks.no_tool_errors().score(run).passed


def test_unknown_tool_and_wrong_arguments(converse: Converse) -> None:
    turns = ([ToolCallPart("no_such_tool", {"x": 1})], [ToolCallPart("get_weather", {"x": 1})], [TextPart("Sorry.")])
    (run,) = converse(scripted(*turns), "Plan")
    unknown, wrong = run.tool_calls
    assert unknown.error is not None
    assert wrong.error is not None
    assert "no_such_tool" in unknown.error.message
    assert "city: Field required" in wrong.error.message
    assert run.text == "Sorry."


def test_cut(converse: Converse) -> None:
    cut = [TextPart("Let me"), ToolCallPart("get_weather", '{"city": "Par')]
    (run,) = converse(scripted(cut, cut, cut), "Plan")
    assert run.error is not None
    assert run.tool_calls[-1].arguments == '{"city": "Par'
    assert score(run, "no_tool_errors()").failed
    assert score(run, "used_no_tools()").failed


def test_limit(converse: Converse) -> None:
    (run,) = converse(scripted(*[[WEATHER]] * 9), "Plan", options={"usage_limits": UsageLimits(request_limit=2)})
    assert run.error is not None
    assert run.error.type == "UsageLimitExceeded"
    assert run.tool_names == ("get_weather", "get_weather")


def remembers(calls: bool = False) -> Any:
    """An agent that answers with all that the user said."""

    def answer(messages: list[Any], info: Any) -> ModelResponse:
        said = [part.content for message in messages for part in message.parts if isinstance(part, UserPromptPart)]
        if calls and messages[-1].parts[-1].part_kind == "user-prompt":
            return ModelResponse(parts=[ToolCallPart("get_weather", {"city": said[-1]})])
        return ModelResponse(parts=[TextPart(", ".join(said))], usage=RequestUsage(input_tokens=5, output_tokens=len(said)))

    agent: Any = Agent(FunctionModel(answer), instructions="Be helpful.")

    @agent.tool_plain
    def get_weather(city: str) -> str:
        return f"Sunny in {city}"

    return agent


def test_conversation(converse: Converse) -> None:
    first, second = converse(remembers(calls=True), "I am Ada", "Who am I?")
    assert second.text == "I am Ada, Who am I?"
    assert [call.arguments for call in second.tool_calls] == [{"city": "Who am I?"}]
    assert first.text == "I am Ada"
    assert second.usage is not None
    assert second.usage.requests == 2


def test_conversation_as_result() -> None:
    run = as_run(result_of(remembers(calls=True), "I am Ada", "Who am I?"))
    assert run.text == "I am Ada, Who am I?"
    assert len(run.tool_calls) == 1
    assert [call.arguments for message in run.history for call in message.parts if hasattr(call, "arguments")] == [
        {"city": "I am Ada"}
    ]


def test_earlier_messages_in_openai_form(converse: Converse) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Oslo"}'}}
    asked = [
        {"role": "system", "content": "Be short."},
        {"role": "user", "content": "I am Ada"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "Rain"},
        {"role": "assistant", "content": "It rains."},
        {"role": "user", "content": "Who am I?"},
    ]
    first, second = converse(remembers(), asked, "And now?")
    assert first.text == "I am Ada, Who am I?"
    assert first.tool_calls == ()
    assert second.text == "I am Ada, Who am I?, And now?"


def test_fifty_items_through_an_evaluation_stay_apart() -> None:
    assert_fifty_stay_apart(remembers())


def test_ten_at_once_share_nothing() -> None:
    agent = remembers()
    kind = agent_kind(agent)
    assert kind is not None
    assert not kind.stateful

    async def one(number: int) -> Run:
        dialogue = kind.converse(agent, {}, None)
        await dialogue.ask(f"I am {number}")
        await asyncio.sleep(0)
        found: Run = await dialogue.ask("Who am I?")
        await dialogue.close()
        return found

    async def all_of_them() -> list[Run]:
        return await asyncio.gather(*map(one, range(10)))

    assert [run.text for run in asyncio.run(all_of_them())] == [f"I am {number}, Who am I?" for number in range(10)]


class Trip(BaseModel):
    """Where to go."""

    city: str
    nights: int


def test_structured_output_by_a_tool(converse: Converse) -> None:
    agent = scripted([WEATHER], [ToolCallPart("final_result", {"city": "Paris", "nights": 2})], output_type=Trip)
    result = result_of(agent, "Plan")
    (run,) = converse(agent, "Plan")
    for found in (run, as_run(result), as_run(result.all_messages()), as_run(json.loads(result.all_messages_json()))):
        assert found.output == {"city": "Paris", "nights": 2}
        assert found.text == '{"city":"Paris","nights":2}'
        assert found.tool_names == ("get_weather",)
        assert [call.kind for call in found.all_tool_calls] == ["tool", "output"]


def test_structured_output_that_is_corrected_first(converse: Converse) -> None:
    wrong, right = ({"city": "Paris"}, {"city": "Paris", "nights": 2})
    agent = scripted([ToolCallPart("final_result", wrong)], [ToolCallPart("final_result", right)], output_type=Trip)
    (run,) = converse(agent, "Plan")
    assert run.tool_calls == ()
    assert run.output == right
    assert checks.no_tool_errors().score(run).passed


def test_a_tool_that_only_answers_like_an_output_tool_counts(converse: Converse) -> None:
    agent = scripted([ToolCallPart("delete_all", {})], [TextPart("Done.")])
    agent.tool_plain(lambda: "Final result processed.", name="delete_all")
    assert checks.did_not_call("delete_all").score(converse(agent, "x")[0]).failed
    assert checks.did_not_call("delete_all").score(result_of(agent, "x").all_messages()).failed


def test_a_tool_that_waits_for_approval(converse: Converse) -> None:
    agent = scripted([HOTEL], output_type=[str, DeferredToolRequests])

    async def book_hotel(city: str, nights: int) -> str:
        raise AssertionError("it must be approved first")

    agent.tool_plain(book_hotel, requires_approval=True)
    for run in (converse(agent, "Plan")[0], as_run(result_of(agent, "Plan"))):
        assert [call.state for call in run.tool_calls] == ["awaiting"]
        assert run.text == ""
        assert checks.no_tool_errors().score(run).outcome == "not_applicable"


def asking(inner: Any, *more: Any) -> Any:
    """An agent with a tool that asks others."""
    outer = scripted([ToolCallPart("ask", {"question": "Weather?"})], [TextPart("ok")])

    async def ask(ctx: RunContext[None], question: str) -> str:
        answers = [await agent.run(question, usage=ctx.usage) for agent in (inner, *more)]
        return " ".join(str(answer.output) for answer in answers)

    outer.tool(ask)
    return outer


def test_an_agent_asked_by_a_tool(converse: Converse) -> None:
    outer = asking(scripted([WEATHER], [TextPart("Sunny.")]))
    (run,) = converse(outer, "Plan")
    assert run.text == "ok"
    assert run.tool_names == ("ask", "get_weather")
    assert [child.text for child in run.children] == ["Sunny."]
    assert run.gap_kinds == {"nested_possible"}
    assert run.usage is not None
    assert run.usage.requests == 4
    assert checks.did_not_call("get_weather").score(run).failed
    assert "nested_possible" in as_run(result_of(outer, "Plan")).gap_kinds


def test_several_agents_asked_by_a_tool_that_ask_others(converse: Converse) -> None:
    inner = scripted([WEATHER], [TextPart("Sunny.")])
    (run,) = converse(asking(inner, inner, asking(inner)), "Plan")
    assert sorted(run.tool_names) == ["ask", "ask", "get_weather", "get_weather", "get_weather"]


def test_a_tool_that_raises_in_an_agent_asked_by_a_tool(converse: Converse) -> None:
    (run,) = converse(asking(two(ValueError("no rooms left"))), "Plan")
    assert run.tool_names == ("ask", "get_weather", "book_hotel")
    assert [call.state for call in run.tool_calls] == ["failed", "completed", "failed"]
    assert run.tool_calls[2].error is not None
    assert run.tool_calls[2].error.type == "ValueError"


def test_what_a_successful_tool_says_is_judged(converse: Converse) -> None:
    agent = scripted([ToolCallPart("f", {})], [TextPart("Done.")])
    agent.tool_plain(lambda: "Error: no such order", name="f")
    assert score(converse(agent, "x")[0], "no_tool_errors()").failed


def test_streamed_results() -> None:
    agent = Agent("test", output_type=str)

    async def talk() -> tuple[Any, Any]:
        async with agent.run_stream("Hi") as result:
            early = as_run(result)
            await result.get_output()
            return early, as_run(result)

    early, late = asyncio.run(talk())
    assert {"calls", "text"} <= early.gap_kinds
    assert late.text == "success (no tool calls)"
    assert late.gaps == ()
    assert checks.used_no_tools().score(early).outcome == "no_evidence"


def mocked(*mocks: Any, **options: Any) -> ToolMocks:
    """Mocks of one attempt."""
    return ToolMocks(mock_plan({"mocks": list(mocks), **options}, "item 0"))


def test_mocks(converse: Converse) -> None:
    ran = []
    agent = scripted([WEATHER], [HOTEL], [TextPart(TWO)])
    agent.tool_plain(lambda city, nights: ran.append(city), name="book_hotel")
    mocks = mocked({"tool": "book_hotel", "arguments": {"city": "Paris", "nights": 2}, "result": {"booked": True}})
    (run,) = converse(agent, "Plan", mocks=mocks)
    assert [call.result for call in run.tool_calls] == ["Sunny in Paris", {"booked": True}]
    assert ran == []
    assert mocks.report()["live"] == ["get_weather"]
    converse(agent, "Plan")
    assert ran == ["Paris"]


def test_mocks_that_fail_or_refuse(converse: Converse) -> None:
    (run,) = converse(two(ValueError("never")), "Plan", mocks=mocked({"tool": "book_hotel", "error": "no rooms left"}))
    assert_raised(run)
    assert run.error is not None
    assert run.error.message == "no rooms left"
    (run,) = converse(two(ValueError("never")), "Plan", mocks=mocked(unknown_tools="deny"))
    assert run.tool_calls[0].state == "failed"


def test_options(converse: Converse) -> None:
    agent: Any = Agent("test", deps_type=str)

    @agent.tool
    def whoami(ctx: RunContext[str]) -> str:
        return ctx.deps

    (run,) = converse(agent, "Hi", options={"deps": "Ada"})
    assert run.tool_calls[0].result == "Ada"
    with pytest.raises(TargetError, match="dep'.*did you mean 'deps'"):
        converse(agent, "Hi", options={"dep": "Ada"})


def test_what_no_agent_can_be_asked(converse: Converse) -> None:
    with pytest.raises(TargetError, match="takes text"):
        converse(Agent("test"), {"question": "Hi"})


def test_the_agent_stays_as_it_is(converse: Converse) -> None:
    agent = Agent("test", tools=[Tool(lambda: "x", name="f")])
    before = {name: value for name, value in vars(agent).items() if name != "_entered_count"}
    converse(agent, "Hi", mocks=mocked({"tool": "f", "result": "mocked"}))
    assert all(vars(agent)[name] is value or vars(agent)[name] == value for name, value in before.items())


def test_messages_round_trip() -> None:
    messages = result_of(two(ModelRetry("no rooms left")), "Plan").all_messages()
    assert as_run(ModelMessagesTypeAdapter.dump_python(messages)) == as_run(messages)


def test_the_events_of_a_streamed_run() -> None:
    agent = Agent("test")
    agent.tool_plain(lambda: "Sunny", name="get_weather")

    async def told() -> list[Any]:
        stream: Any = agent.run_stream_events("Plan")
        if hasattr(stream, "__aenter__"):
            async with stream as events:
                return [event async for event in events]
        return [event async for event in stream]

    async def nodes() -> list[Any]:
        async with agent.iter("Plan") as run:
            return [node async for node in run]

    events = asyncio.run(told())
    run = as_run(events)
    assert (run.text, run.tool_names, run.gap_kinds) == ('{"get_weather":"Sunny"}', ("get_weather",), {"nested_possible"})
    for wrong in (events[:-1], asyncio.run(nodes())):
        with pytest.raises(RecordingError):
            as_run(wrong)


def test_mocks_find_the_tools_that_are_not_called(converse: Converse) -> None:
    assert_mocks_find(converse, lambda: scripted([TextPart(NONE)]), "get_weather")


def test_a_tool_of_an_agent_that_a_tool_asks_is_missed_by_no_one(converse: Converse) -> None:
    mocks = mocked({"tool": "book_hotel", "result": "booked"})
    (run,) = converse(asking(two(ValueError("no rooms left"))), "Plan", mocks=mocks)
    assert "book_hotel ran although the item mocks it" in mocks.trouble(run)


def test_an_agent_that_runs_out_of_time_leaves_what_it_did() -> None:
    one = scripted([WEATHER], [ToolCallPart("wait", {})], [TextPart("Done.")])

    @one.tool_plain
    async def wait() -> str:
        """Wait."""
        await asyncio.sleep(60)
        return "done"

    assert_kept_when_late(one)
