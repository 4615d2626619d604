"""Strands Agents, with a scripted model."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from typing import Any

import pytest

strands = pytest.importorskip("strands")

from pydantic import BaseModel  # noqa: E402
from scenarios import NONE, TWO, assert_kept_when_late, assert_mocks_find, assert_none, assert_raised, assert_two, outcomes  # noqa: E402
from strands import Agent, tool  # noqa: E402
from strands.models import Model  # noqa: E402
from strands.multiagent import GraphBuilder, Swarm  # noqa: E402

from quickchecks import Run, checks  # noqa: E402
from quickchecks._mocks import ToolMocks, mock_plan  # noqa: E402
from quickchecks.adapters import agent_kind, as_run  # noqa: E402
from quickchecks.errors import RecordingError, TargetError  # noqa: E402

Converse = Callable[..., list[Run]]
Turn = Any  # text, a list of (tool, arguments) pairs, or a function of the messages that gives one of them


class Scripted(Model):
    """Says one thing after the other; what it says next is found by how often it has spoken since the user did."""

    def __init__(self, *turns: Turn, cut: bool = False) -> None:
        self.turns = turns
        self.cut = cut

    def update_config(self, **model_config: Any) -> None:
        pass

    def get_config(self) -> Any:
        return {}

    async def structured_output(self, *args: Any, **kwargs: Any) -> AsyncGenerator[Any, None]:
        yield {}

    async def stream(self, messages: Any, *args: Any, **kwargs: Any) -> AsyncGenerator[Any, None]:
        spoken = 0
        for message in messages:
            asked = message["role"] == "user" and any("text" in block for block in message["content"])
            spoken = 0 if asked else spoken + (message["role"] == "assistant")
        turn = self.turns[min(spoken, len(self.turns) - 1)]
        turn = turn(messages) if callable(turn) else turn
        if isinstance(turn, Exception):
            raise turn
        await asyncio.sleep(0.001)
        yield {"messageStart": {"role": "assistant"}}
        if isinstance(turn, str):
            yield {"contentBlockStart": {"start": {}}}
            yield {"contentBlockDelta": {"delta": {"text": turn}}}
            yield {"contentBlockStop": {}}
        else:
            for at, (name, arguments) in enumerate(turn):
                yield {"contentBlockStart": {"start": {"toolUse": {"name": name, "toolUseId": f"t{len(messages)}_{at}"}}}}
                given = arguments if isinstance(arguments, str) else json.dumps(arguments)
                yield {"contentBlockDelta": {"delta": {"toolUse": {"input": given}}}}
                yield {"contentBlockStop": {}}
        reason = "max_tokens" if self.cut else "end_turn" if isinstance(turn, str) else "tool_use"
        yield {"messageStop": {"stopReason": reason}}
        usage = {"inputTokens": 20, "outputTokens": 7, "totalTokens": 27, "cacheReadInputTokens": 3}
        yield {"metadata": {"usage": usage, "metrics": {"latencyMs": 12}}}


ran: list[str] = []


@tool
def get_weather(city: str) -> str:
    """Tell the weather."""
    ran.append("get_weather")
    return f"Sunny in {city}"


@tool
def book_hotel(city: str) -> str:
    """Book a hotel."""
    ran.append("book_hotel")
    raise ValueError("no rooms left")


PARIS = {"city": "Paris"}
SCRIPT: tuple[Turn, ...] = ([("get_weather", PARIS)], [("book_hotel", PARIS)], TWO)


def agent(*turns: Turn, **options: Any) -> Any:
    cut = options.pop("cut", False)
    options = {"tools": [get_weather, book_hotel], "callback_handler": None, **options}
    return Agent(model=Scripted(*turns, cut=cut), **options)


def test_two(converse: Converse) -> None:
    [run] = converse(agent(*SCRIPT), "Plan")
    assert_two(run)
    assert run.messages[0].text == "Plan"
    assert run.gaps == ()
    failure = run.tool_calls[1].failure()
    assert failure is not None
    assert (failure.type, failure.source) == ("ValueError", "exception")
    assert run.usage is not None
    assert (run.usage.input_tokens, run.usage.output_tokens, run.usage.cached_tokens, run.usage.requests) == (60, 21, 9, 3)
    assert run.duration


def test_a_tool_that_raises_does_not_end_the_run(converse: Converse) -> None:
    assert_two(converse(agent(*SCRIPT), "Plan")[0])
    assert_raised(converse(agent(*SCRIPT[:2], RuntimeError("no model")), "Plan")[0])


def test_the_result_itself() -> None:
    one = agent(*SCRIPT)
    first = one("Plan")
    assert_two(first)
    later = one("Again")
    assert [call.arguments for call in as_run(later).tool_calls] == [PARIS, PARIS]
    assert_two(first)  # both share their metrics
    run = assert_two(later)
    assert run.usage is not None
    assert run.usage.input_tokens == 60
    assert {gap.kind for gap in run.gaps} == {"input", "nested_possible"}
    assert_none(agent(NONE)("Hi"))


def test_the_messages_and_the_stored_result() -> None:
    one = agent(*SCRIPT)
    result = one("Plan")
    assert_two(one.messages)
    assert_two(json.loads(json.dumps(one.messages)))
    stored = outcomes(json.loads(json.dumps(result.to_dict())))
    assert stored["includes('sunny')"] == "passed"
    assert stored["used_no_tools()"] == stored["no_tool_errors()"] == stored["called_tool('get_weather')"] == "no_evidence"


def test_none(converse: Converse) -> None:
    assert_none(converse(agent(NONE), "Hi")[0])


def test_cut(converse: Converse) -> None:
    [run] = converse(agent([("get_weather", '{"city": "Par')], cut=True), "Plan")
    assert run.error is not None
    assert run.error.type == "MaxTokensReachedException"
    assert [(call.name, call.state) for call in run.all_tool_calls] == [("get_weather", "partial")]
    assert run.tool_calls == ()
    assert run.text == ""


def test_a_model_that_raises_leaves_what_was_done(converse: Converse) -> None:
    [run] = converse(agent(SCRIPT[0], RuntimeError("no model")), "Plan")
    assert run.error is not None
    assert run.error.message == "no model"
    assert [call.result for call in run.tool_calls] == ["Sunny in Paris"]


def remembered(messages: Any) -> str:
    texts = [block["text"] for message in messages for block in message["content"] if "text" in block]
    names = [text.removeprefix("I am ") for text in texts if text.startswith("I am ")]
    return f"You are {names[-1]}." if names else "I do not know you."


def test_a_conversation_remembers_and_leaves_nothing_behind(converse: Converse) -> None:
    one = agent(remembered)
    first, second = converse(one, "I am Ada", "Who am I?")
    assert first.text == second.text == "You are Ada."
    assert [message.text for message in second.messages] == ["Who am I?", "You are Ada."]
    assert converse(one, "Who am I?")[0].text == "I do not know you."
    assert one.messages == []


def test_what_the_agent_held_is_held_again(converse: Converse) -> None:
    one = agent(remembered)
    one("I am Bob")
    before, hooks, metrics = list(one.messages), one.hooks, one.event_loop_metrics
    assert converse(one, "Who am I?")[0].text == "You are Bob."
    assert (one.messages, one.hooks, one.event_loop_metrics) == (before, hooks, metrics)


def test_earlier_messages_may_be_given(converse: Converse) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Oslo"}'}}
    given = [
        {"role": "user", "content": "I am Eve"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "Rain"},
        {"role": "assistant", "content": [{"type": "text", "text": "Hello"}]},
        {"role": "user", "content": "Who am I?"},
    ]
    [run] = converse(agent(remembered), given)
    assert run.text == "You are Eve."
    assert run.tool_calls == ()
    assert [message.text for message in run.history] == ["I am Eve", "", "Hello"]
    assert run.history[1].parts[0].result == "Rain"  # type: ignore[union-attr]


def test_ten_conversations_do_not_leak(converse: Converse) -> None:
    one = agent(remembered)
    kind = agent_kind(one)
    assert kind is not None
    assert kind.stateful  # so that whoever runs items holds one conversation after the other
    for name in [f"N{number}" for number in range(10)]:
        assert [run.text for run in converse(one, "Who am I?", f"I am {name}", "Who am I?")] == [
            "I do not know you.",
            f"You are {name}.",
            f"You are {name}.",
        ]


def test_parallel_calls_and_an_unknown_tool(converse: Converse) -> None:
    [run] = converse(agent([("get_weather", PARIS), ("book_hotel", PARIS), ("no_such_tool", {"x": 1})], "Done."), "Plan")
    weather, hotel, unknown = run.tool_calls
    assert weather.failure() is None
    assert weather.duration is not None
    assert hotel.failure() is not None
    failure = unknown.failure()
    assert failure is not None
    assert "no_such_tool" in failure.message
    assert_none(converse(agent(NONE), "Hi")[0])


def test_mocks_answer_in_place_of_tools(converse: Converse) -> None:
    ran.clear()
    plan = [{"tool": "get_weather", "arguments": PARIS, "result": "Sunny"}, {"tool": "book_hotel", "error": "no rooms left"}]
    mocks = ToolMocks(mock_plan(plan, "item"))
    one = agent(*SCRIPT)
    [run] = converse(one, "Plan", mocks=mocks)
    assert_two(run)
    assert ran == []
    assert run.tool_calls[1].error is not None
    assert run.tool_calls[1].error.type == "ToolMockError"
    assert [served["tool"] for served in mocks.report()["served"]] == ["get_weather", "book_hotel"]  # type: ignore[attr-defined]
    converse(one, "Plan", mocks=ToolMocks(mock_plan([{"tool": "get_weather", "result": {"sky": "clear"}}], "item")))
    assert ran == ["book_hotel"]


def test_unknown_tools_may_be_denied(converse: Converse) -> None:
    ran.clear()
    mocks = ToolMocks(mock_plan({"mocks": [], "unknown_tools": "deny"}, "item"))
    [run] = converse(agent(*SCRIPT), "Plan", mocks=mocks)
    assert ran == []
    assert all(call.failure() is not None for call in run.tool_calls)


class Answer(BaseModel):
    city: str
    sunny: bool


def test_structured_output(converse: Converse) -> None:
    script: tuple[Turn, ...] = (SCRIPT[0], [("Answer", {"city": "Paris", "sunny": True})])
    for value in (
        converse(agent(*script), "Plan", options={"structured_output_model": Answer})[0],
        agent(*script, structured_output_model=Answer)("Plan"),
    ):
        run = as_run(value)
        assert run.output == {"city": "Paris", "sunny": True}
        assert run.tool_names == ("get_weather",)
        assert checks.no_tool_errors().passes(run)
    mocks = ToolMocks(mock_plan({"mocks": [{"tool": "get_weather", "result": "x"}], "unknown_tools": "deny"}, "item"))
    [run] = converse(agent(*script), "Plan", options={"structured_output_model": Answer}, mocks=mocks)
    assert run.output == {"city": "Paris", "sunny": True}


def nested(*turns: Turn) -> Any:
    inner = Agent(model=Scripted(*SCRIPT), tools=[get_weather, book_hotel], callback_handler=None, name="planner")
    return agent(*turns, tools=[inner.as_tool(name="planner", description="plans")])


def test_an_agent_as_a_tool(converse: Converse) -> None:
    script: tuple[Turn, ...] = ([("planner", {"input": "Paris"})], "Planned.")
    one = nested(*script)
    [run] = converse(one, "Plan")
    assert run.tool_names == ("planner", "get_weather", "book_hotel")
    planner = run.tool_calls[0]
    assert planner.kind == "agent"
    assert planner.run is not None
    assert_two(planner.run)
    assert run.text == "Planned."
    assert not checks.no_tool_errors().passes(run)
    seen = as_run(nested(*script)("Plan"))
    assert seen.tool_names == ("planner",)
    assert "inner calls" in checks.called_tool("book_hotel").score(seen).reason
    mocks = ToolMocks(mock_plan([{"tool": "book_hotel", "result": "booked"}], "item"))
    [run] = converse(one, "Plan", mocks=mocks)
    assert run.tool_calls[2].result == "booked"
    mocks = ToolMocks(mock_plan([{"tool": "planner", "result": "planned"}], "item"))
    [run] = converse(one, "Plan", mocks=mocks)
    assert run.tool_names == ("planner",)
    assert run.gaps == ()


def test_an_agent_as_a_tool_in_two_turns_and_twice(converse: Converse) -> None:
    both = converse(nested([("planner", {"input": "a"})], [("planner", {"input": "b"})], "Planned."), "Plan", "Again")
    for run in both:
        assert run.tool_names == ("planner", "get_weather", "book_hotel") * 2
        assert [call.run.messages[0].text for call in run.tool_calls if call.run is not None] == ["a", "b"]


def graph() -> Any:
    builder = GraphBuilder()
    builder.add_node(agent(*SCRIPT, name="first"), "first")
    builder.add_node(agent(NONE, name="second"), "second")
    builder.add_edge("first", "second")
    builder.set_entry_point("first")
    return builder.build()


def test_a_graph(converse: Converse) -> None:
    one = graph()
    for value in (converse(one, "Plan")[0], one("Plan")):
        run = as_run(value)
        assert run.text == NONE
        assert [child.agent for child in run.children] == ["first", "second"]
        assert_two(run.children[0])
        assert run.tool_names == ("get_weather", "book_hotel")
        assert checks.called_tool("get_weather", agent="first").passes(run)
        assert run.usage is not None
        assert run.usage.input_tokens == 80
    assert converse(one, "Plan")[0].children[0].messages[0].text


def test_a_graph_that_fails(converse: Converse) -> None:
    builder = GraphBuilder()
    builder.add_node(agent(*SCRIPT[:2], RuntimeError("no model")), "first")
    [run] = converse(builder.build(), "Plan")
    assert run.error is not None
    assert run.tool_names == ("get_weather", "book_hotel")


def swarm() -> Any:
    first = agent(SCRIPT[0], [("handoff_to_agent", {"agent_name": "second", "message": "go on"})], "x", name="first")
    return Swarm([first, agent(*SCRIPT[1:], name="second")])


def test_a_swarm(converse: Converse) -> None:
    for value in (converse(swarm(), "Plan")[0], swarm()("Plan")):
        run = as_run(value)
        assert run.text == TWO
        assert run.tool_names == ("get_weather", "book_hotel")
        assert [call.name for call in run.all_tool_calls if call.kind == "handoff"] == ["handoff_to_agent"]
        assert [child.agent for child in run.children] == ["first", "second"]


def test_limits_and_interrupts(converse: Converse) -> None:
    [run] = converse(agent(SCRIPT[0]), "Plan", options={"limits": {"turns": 2}})
    assert run.error is not None
    assert len(run.tool_calls) == 2

    def ask_first(event: Any) -> None:
        if event.tool_use["name"] == "book_hotel":
            event.interrupt("approval", reason="costs money")

    one = agent(*SCRIPT)
    one.add_hook(ask_first, strands.hooks.BeforeToolCallEvent)
    [run] = converse(one, "Plan")
    assert [call.state for call in run.tool_calls] == ["completed", "awaiting"]
    assert checks.no_tool_errors().score(run).outcome == "not_applicable"
    assert checks.no_tool_errors().score(one("Plan")).outcome == "not_applicable"


def test_an_unknown_option_is_refused(converse: Converse) -> None:
    with pytest.raises(TargetError, match="limits"):
        converse(agent(NONE), "Hi", options={"limit": {}})


@pytest.mark.parametrize("make", [lambda: agent(*SCRIPT), graph, swarm])
def test_the_events_of_a_streamed_run(make: Any) -> None:
    async def events() -> list[Any]:
        return [event async for event in make().stream_async("Plan")]

    heard = asyncio.run(events())
    run = as_run(heard)
    assert run.format == "strands"
    assert {"get_weather", "book_hotel"} <= set(run.tool_names)
    assert "sunny in paris" not in run.text.lower()
    with pytest.raises(RecordingError, match="end with the result"):
        as_run(heard[:-1])


def test_mocks_find_the_tools_that_are_not_called(converse: Converse) -> None:
    assert_mocks_find(converse, lambda: agent(NONE))


def test_an_agent_that_runs_out_of_time_leaves_what_it_did() -> None:
    @tool
    async def wait() -> str:
        """Wait."""
        await asyncio.sleep(60)
        return "done"

    assert_kept_when_late(agent([("get_weather", PARIS)], [("wait", {})], "Done.", tools=[get_weather, wait]))
