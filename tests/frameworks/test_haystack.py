"""Haystack, with scripted models."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Annotated, Any

import pytest

haystack = pytest.importorskip("haystack")

from haystack import Pipeline, component  # noqa: E402
from haystack.components.agents import Agent  # noqa: E402
from haystack.dataclasses import ChatMessage, StreamingChunk, ToolCall  # noqa: E402
from haystack.tools import ComponentTool, Toolset, tool  # noqa: E402
from scenarios import NONE, TWO, assert_mocks_find, assert_none, assert_raised, assert_two  # noqa: E402

from quickchecks import Run, checks, run_evals_sync  # noqa: E402
from quickchecks._mocks import ToolMocks, mock_plan  # noqa: E402
from quickchecks.adapters import agent_kind, as_run  # noqa: E402
from quickchecks.errors import RecordingError, TargetError  # noqa: E402

Converse = Callable[..., list[Run]]
USAGE = {"prompt_tokens": 20, "completion_tokens": 7, "total_tokens": 27, "prompt_tokens_details": {"cached_tokens": 3}}


@component
class Scripted:
    """Says one thing after the other; how often it has spoken since the user did says which is next."""

    def __init__(self, *turns: Any) -> None:
        self.turns = turns

    @component.output_types(replies=list[ChatMessage])
    def run(self, messages: list[ChatMessage], tools: Any = None, **more: Any) -> dict[str, Any]:
        """Answer."""
        since = 0
        for message in messages:
            since = 0 if message.role == "user" else since + (message.role == "assistant")
        turn = self.turns[since]
        turn = turn(messages) if callable(turn) else turn
        meta = {"usage": USAGE, "finish_reason": "stop"}
        return {"replies": [ChatMessage.from_assistant(turn, meta=meta) if isinstance(turn, str) else turn]}


def call(name: str, id: str, text: str | None = None, **arguments: Any) -> ChatMessage:
    """An answer with one call."""
    calls = [ToolCall(tool_name=name, arguments=arguments, id=id)]
    return ChatMessage.from_assistant(text, tool_calls=calls, meta={"usage": USAGE, "finish_reason": "tool_calls"})


WEATHER = call("get_weather", "w", city="Paris")
HOTEL = call("book_hotel", "h", city="Paris")
PLAN = (WEATHER, HOTEL, TWO)


@tool
def get_weather(city: Annotated[str, "the city"]) -> str:
    """Tell the weather."""
    return f"Sunny in {city}"


@tool
def book_hotel(city: Annotated[str, "the city"]) -> str:
    """Book a hotel."""
    raise ValueError("no rooms left")


def agent(*turns: Any, tools: Any = (get_weather, book_hotel), **options: Any) -> Any:
    """An agent with two tools."""
    tools = [*tools] if isinstance(tools, tuple) else tools
    return Agent(chat_generator=Scripted(*turns), tools=tools, system_prompt="Be helpful.", **options)


def test_two(converse: Converse) -> None:
    (run,) = converse(agent(*PLAN), "Plan")
    assert_two(run)
    assert (run.format, run.gaps) == ("haystack", ())
    assert [message.role for message in run.messages[:2]] == ["system", "user"]
    assert run.usage is not None
    assert (run.usage.input_tokens, run.usage.cached_tokens, run.usage.requests) == (60, 9, 3)
    weather, hotel = run.tool_calls
    assert weather.duration is not None
    assert hotel.error is not None
    assert hotel.error.type == "ValueError"
    assert "no rooms left" in hotel.error.message


def test_two_as_result_and_as_json() -> None:
    result = agent(*PLAN).run(messages=[ChatMessage.from_user("Plan")])
    run = assert_two(result)
    assert run.metadata is not None
    assert run.metadata["exit_reason"] == "text"
    assert_two(result["messages"])
    assert_two([message.to_dict() for message in result["messages"]])
    assert_two({"messages": [message.to_dict() for message in result["messages"]]})


def test_none(converse: Converse) -> None:
    assert_none(converse(agent(NONE), "Hi")[0])
    result = agent(NONE).run(messages=[ChatMessage.from_user("Hi")])
    assert_none(result)
    assert_none([message.to_dict() for message in result["messages"]])


def test_raised(converse: Converse) -> None:
    (run,) = converse(agent(*PLAN, raise_on_tool_invocation_failure=True), "Plan")
    assert_raised(run)
    assert run.error is not None
    assert (run.error.type, run.error.message) == ("ValueError", "no rooms left")
    failed = run.tool_calls[1].error
    assert failed is not None
    assert (failed.type, failed.source) == ("ValueError", "exception")


def test_a_model_that_raises_is_no_run(converse: Converse) -> None:
    def broken(messages: list[Any]) -> str:
        raise RuntimeError("overloaded")

    with pytest.raises(RuntimeError, match="overloaded"):
        converse(agent(broken), "Hi")
    (run,) = converse(agent(WEATHER, broken), "Hi")
    assert run.tool_names == ("get_weather",)
    assert run.error is not None
    assert run.error.message == "overloaded"


def both(*arguments: Any) -> ChatMessage:
    """An answer with several calls."""
    calls = [ToolCall(tool_name=name, arguments={"city": city}, id=f"{name}-{city}") for name, city in arguments]
    return ChatMessage.from_assistant(tool_calls=calls)


def test_parallel_calls(converse: Converse) -> None:
    (run,) = converse(agent(both(("get_weather", "Paris"), ("get_weather", "Rome")), "Sunny."), "Plan")
    assert [one.result for one in run.tool_calls] == ["Sunny in Paris", "Sunny in Rome"]
    assert checks.no_tool_errors().score(run).passed


def test_a_sibling_of_a_tool_that_raised_keeps_its_result(converse: Converse) -> None:
    turns = (both(("get_weather", "Paris"), ("book_hotel", "Paris")), TWO)
    (run,) = converse(agent(*turns, raise_on_tool_invocation_failure=True), "Plan")
    assert [one.state for one in run.tool_calls] == ["completed", "failed"]


def test_unknown_tool_and_wrong_arguments(converse: Converse) -> None:
    (run,) = converse(agent(call("no_such_tool", "1", x=1), call("get_weather", "2", x=1), "Sorry."), "Plan")
    assert [one.failure() is not None for one in run.tool_calls] == [True, True]
    assert run.text == "Sorry."


def test_cut(converse: Converse) -> None:
    (run,) = converse(agent(ChatMessage.from_assistant("Let me", meta={"finish_reason": "length"})), "Plan")
    assert checks.used_no_tools().score(run).outcome == "no_evidence"
    assert checks.did_not_call("get_weather").score(run).outcome == "no_evidence"
    assert run.text == "Let me"


def test_limit(converse: Converse) -> None:
    (run,) = converse(agent(*[WEATHER] * 9, max_agent_steps=2), "Plan")
    assert run.tool_names == ("get_weather", "get_weather")
    assert run.metadata is not None
    assert run.metadata["exit_reason"] == "max_agent_steps"


def remembering(messages: list[ChatMessage]) -> str:
    """Say all that the user said."""
    return ", ".join(str(message.text) for message in messages if message.role == "user")


def test_conversation(converse: Converse) -> None:
    asked = agent(lambda messages: call("get_weather", "w", city=messages[-1].text), remembering)
    first, second = converse(asked, "I am Ada", "Who am I?")
    assert first.text == "I am Ada"
    assert second.text == "I am Ada, Who am I?"
    assert [one.arguments for one in second.tool_calls] == [{"city": "Who am I?"}]
    assert sum(message.role == "system" for message in second.messages) == 1


def test_conversation_as_result() -> None:
    asked = agent(lambda messages: call("get_weather", "w", city=messages[-1].text), remembering)
    first = asked.run(messages=[ChatMessage.from_user("I am Ada")])
    second = asked.run(messages=[*first["messages"][1:], ChatMessage.from_user("Who am I?")])
    run = as_run(second)
    assert [one.arguments for one in run.tool_calls] == [{"city": "Who am I?"}]
    assert run.text == "I am Ada, Who am I?"


def test_earlier_messages_in_openai_form(converse: Converse) -> None:
    asked = [
        {"role": "user", "content": "I am Ada"},
        {"role": "assistant", "content": "Hello."},
        {"role": "user", "content": "Who am I?"},
    ]
    (run,) = converse(agent(remembering), asked)
    assert run.text.endswith("I am Ada, Who am I?")


def test_ten_at_once_share_nothing() -> None:
    asked = agent(remembering)
    kind = agent_kind(asked)
    assert kind is not None
    assert not kind.stateful

    async def one(number: int) -> str:
        dialogue = kind.converse(asked, {}, None)
        await dialogue.ask(f"I am {number}")
        return str((await dialogue.ask("Who am I?")).text)

    async def all_of_them() -> list[str]:
        return await asyncio.gather(*map(one, range(10)))

    assert asyncio.run(all_of_them()) == [f"I am {number}, Who am I?" for number in range(10)]


def test_an_agent_as_tool(converse: Converse) -> None:
    inner = agent(WEATHER, "Sunny.")
    asking = ComponentTool(
        component=inner, name="weather_agent", description="Ask about the weather.", outputs_to_string={"source": "last_message"}
    )
    asked = call("weather_agent", "a", messages=[{"role": "user", "content": [{"text": "Weather?"}]}])
    (run,) = converse(agent(asked, "ok", tools=[asking]), "Plan")
    assert run.text == "ok"
    assert run.tool_names == ("weather_agent", "get_weather")
    assert checks.did_not_call("get_weather").score(run).failed


def test_a_pipeline_with_an_agent() -> None:
    pipeline = Pipeline()
    pipeline.add_component("travel", agent(*PLAN))
    run = assert_two(pipeline.run({"travel": {"messages": [ChatMessage.from_user("Plan")]}}))
    assert run.agent == "travel"


def mocked(*mocks: Any, **options: Any) -> ToolMocks:
    """Mocks of one attempt."""
    return ToolMocks(mock_plan({"mocks": list(mocks), **options}, "item 0"))


@pytest.mark.parametrize("tools", [(get_weather, book_hotel), Toolset([get_weather, book_hotel])])
def test_mocks(converse: Converse, tools: Any) -> None:
    asked = agent(*PLAN, tools=tools)
    mocks = mocked({"tool": "book_hotel", "arguments": {"city": "Paris"}, "result": {"booked": True}})
    (run,) = converse(asked, "Plan", mocks=mocks)
    assert [one.result for one in run.tool_calls] == ["Sunny in Paris", '{"booked": true}']
    assert checks.no_tool_errors().score(run).passed
    assert mocks.report()["live"] == ["get_weather"]
    assert_two(converse(asked, "Plan")[0])


def test_mocks_that_fail(converse: Converse) -> None:
    def never(city: str) -> str:
        """Book a hotel."""
        raise AssertionError("it ran")

    asked = agent(*PLAN, tools=(get_weather, tool(never, name="book_hotel")))
    run = assert_two(converse(asked, "Plan", mocks=mocked({"tool": "book_hotel", "error": "no rooms left"}))[0])
    assert run.tool_calls[1].error is not None
    assert run.tool_calls[1].error.type == "ToolMockError"
    assert "it ran" not in run.tool_calls[1].error.message


def test_options(converse: Converse) -> None:
    with pytest.raises(TargetError, match="'generation_kwargs'"):
        converse(agent(NONE), "Hi", options={"generation_kwarg": {}})
    assert_none(converse(agent(NONE), "Hi", options={"generation_kwargs": {"temperature": 0}})[0])
    with pytest.raises(TargetError, match="takes text"):
        converse(agent(NONE), 5)


def test_mocks_find_the_tools_that_are_not_called(converse: Converse) -> None:
    assert_mocks_find(converse, lambda: agent(NONE))


def test_pieces_of_a_stream_are_no_answer_and_a_pipeline_that_streams_is_read_to_its_end() -> None:
    with pytest.raises(RecordingError, match="not an answer"):
        as_run([StreamingChunk(content="It is sunny", index=0)])
    pipeline = Pipeline()
    pipeline.add_component("agent", agent(*PLAN))

    async def target(asked: str) -> Any:
        return pipeline.stream({"agent": {"messages": [ChatMessage.from_user(asked)]}})

    result = run_evals_sync(
        data=[{"input": "Plan"}], target=target, scorers=[checks.equals(TWO), checks.called_tool("get_weather")]
    )
    assert list(result.scores.values()) == [1.0, 1.0]
