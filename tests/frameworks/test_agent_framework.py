"""Microsoft Agent Framework, with a scripted model."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

agent_framework = pytest.importorskip("agent_framework")

from agent_framework import (  # noqa: E402
    Agent,
    AgentResponse,
    BaseAgent,
    BaseChatClient,
    ChatMiddlewareLayer,
    ChatResponse,
    ChatResponseUpdate,
    Content,
    FunctionInvocationLayer,
    Message,
    WorkflowBuilder,
    tool,
)
from pydantic import BaseModel  # noqa: E402
from scenarios import NONE, TWO, assert_kept_when_late, assert_mocks_find, assert_none, assert_raised, assert_two, outcomes  # noqa: E402

from quickchecks import Run, checks  # noqa: E402
from quickchecks._mocks import ToolMocks, mock_plan  # noqa: E402
from quickchecks.adapters import agent_kind, as_run  # noqa: E402
from quickchecks.errors import RecordingError, TargetError  # noqa: E402

Converse = Callable[..., list[Run]]
Turn = Any  # text, a list of (tool, arguments) pairs, or a function of the messages that gives one of them
PARIS = {"city": "Paris"}
SCRIPT: tuple[Turn, ...] = ([("get_weather", PARIS)], [("book_hotel", PARIS)], TWO)


class Scripted(FunctionInvocationLayer, ChatMiddlewareLayer, BaseChatClient):
    """Says one thing after the other; what it says next is found by how often it has spoken since the user did."""

    def __init__(self, *turns: Turn) -> None:
        super().__init__()
        self.turns = turns

    def _inner_get_response(self, *, messages: Any, stream: bool, options: Any, **more: Any) -> Any:
        async def whole() -> ChatResponse:
            await asyncio.sleep(0.001)
            usage = {"input_token_count": 20, "output_token_count": 7, "cache_read_input_token_count": 3}
            said = Message(role="assistant", contents=self.contents(messages))
            return ChatResponse(messages=[said], usage_details=usage, response_format=options.get("response_format"))

        async def parts() -> Any:
            yield ChatResponseUpdate(role="assistant", contents=self.contents(messages))

        return self._build_response_stream(parts()) if stream else whole()

    def contents(self, messages: Any) -> list[Any]:
        spoken = 0
        for message in messages:
            spoken = 0 if str(message.role) == "user" else spoken + (str(message.role) == "assistant")
        turn = self.turns[min(spoken, len(self.turns) - 1)]
        turn = turn(messages) if callable(turn) else turn
        if isinstance(turn, Exception):
            raise turn
        if isinstance(turn, str):
            return [Content.from_text(turn)]
        return [
            Content.from_text(one)
            if isinstance(one, str)
            else Content.from_function_call(
                call_id=f"c{len(messages)}_{at}", name=one[0], arguments=one[1] if isinstance(one[1], str) else json.dumps(one[1])
            )
            for at, one in enumerate(turn)
        ]


ran: list[str] = []


@tool(approval_mode="never_require")
def get_weather(city: str) -> str:
    """Tell the weather."""
    ran.append("get_weather")
    return f"Sunny in {city}"


@tool(approval_mode="never_require")
def book_hotel(city: str) -> str:
    """Book a hotel."""
    ran.append("book_hotel")
    raise ValueError("no rooms left")


def agent(*turns: Turn, **options: Any) -> Any:
    return Agent(client=Scripted(*turns), **{"name": "travel", "tools": [get_weather, book_hotel], **options})


def response_of(one: Any, **options: Any) -> Any:
    async def run() -> Any:
        return await one.run("Plan", **options)

    return asyncio.run(run())


def test_two(converse: Converse) -> None:
    [run] = converse(agent(*SCRIPT), "Plan")
    assert_two(run)
    assert [message.role for message in run.messages] == ["user", "assistant", "assistant", "assistant"]
    assert run.messages[0].text == "Plan"
    assert (run.gaps, run.agent, run.format) == ((), "travel", "agent_framework")
    failure = run.tool_calls[1].failure()
    assert failure is not None
    assert (failure.message, failure.source) == ("no rooms left", "flag")
    assert run.usage is not None
    assert (run.usage.input_tokens, run.usage.output_tokens, run.usage.cached_tokens) == (60, 21, 9)


def test_the_responses_themselves(converse: Converse) -> None:
    assert_none(converse(agent(NONE), "Hi")[0])
    assert_none(response_of(agent(NONE)))
    response = response_of(agent(["Checking.", ("get_weather", PARIS)], *SCRIPT[1:]))
    assert as_run(response).text == f"Checking. {TWO}"
    response = response_of(agent(*SCRIPT))
    assert_two(response)
    assert_two(response.messages)
    stored = json.loads(json.dumps(response.to_dict()))
    assert_two(stored)
    assert "Error: Function failed." in str(as_run(stored).tool_calls[1].failure())


def test_a_stream_is_a_response_when_it_was_read() -> None:
    async def run() -> tuple[Any, list[Any]]:
        stream = agent(*SCRIPT).run("Plan", stream=True)
        with pytest.raises(RecordingError, match="read to its end"):
            as_run(stream)
        updates = [update async for update in stream]
        await stream.get_final_response()
        return stream, updates

    stream, updates = asyncio.run(run())
    assert_two(stream)
    assert_two(updates)


def test_a_call_that_was_cut_off_is_answered_with_an_error(converse: Converse) -> None:
    [run] = converse(agent([("get_weather", '{"city": "Pa')], NONE), "Plan")
    [call] = run.tool_calls
    assert (call.state, call.arguments_note != "") == ("failed", True)


def test_a_model_that_raises_leaves_what_was_done(converse: Converse) -> None:
    [run] = converse(agent(*SCRIPT[:2], RuntimeError("no model")), "Plan")
    assert_raised(run)
    assert run.error is not None
    assert (run.error.message, run.error.type) == ("no model", "RuntimeError")
    failure = run.tool_calls[1].failure()
    assert failure is not None
    assert failure.message == "no rooms left"


class Plain(FunctionInvocationLayer, BaseChatClient):
    """A client without middleware for the model."""

    def _inner_get_response(self, **more: Any) -> Any:
        raise RuntimeError("no model")


def test_where_nobody_sees_what_was_done_no_check_passes(converse: Converse) -> None:
    [run] = converse(Agent(client=Plain(), tools=[get_weather]), "Plan")
    assert run.error is not None
    assert outcomes(run)["used_no_tools()"] == "no_evidence"
    assert outcomes(run)["excludes('no rooms left')"] == "no_evidence"


def test_a_conversation_remembers(converse: Converse) -> None:
    def recall(messages: Any) -> str:
        return " ".join(message.text for message in messages if str(message.role) == "user")

    first, second = converse(agent(recall), "I am Ada.", "Who am I?")
    assert (first.text, second.text) == ("I am Ada.", "I am Ada. Who am I?")
    assert [message.text for message in second.messages] == ["Who am I?", "I am Ada. Who am I?"]
    asked = [
        {"role": "user", "content": "I am Ada."},
        {"role": "assistant", "content": "Hello."},
        {"role": "user", "content": "Ok?"},
    ]
    [run] = converse(agent(recall), asked)
    assert (run.text, run.history_length) == ("I am Ada. Ok?", 2)


def test_parallel_calls_and_unknown_tools(converse: Converse) -> None:
    [run] = converse(agent([("get_weather", PARIS), ("no_such_tool", {}), ("book_hotel", PARIS)], "Done."), "Plan")
    assert [(call.name, call.state) for call in run.tool_calls] == [
        ("get_weather", "completed"),
        ("no_such_tool", "failed"),
        ("book_hotel", "failed"),
    ]


def test_a_structured_answer_is_its_json(converse: Converse) -> None:
    class Weather(BaseModel):
        city: str

    options = {"options": {"response_format": Weather}}
    for run in (
        converse(agent('{"city": "Paris"}'), "Plan", options=options)[0],
        as_run(response_of(agent('{"city": "Paris"}'), **options)),
    ):
        assert (run.output, run.text) == ({"city": "Paris"}, '{"city":"Paris"}')


def test_a_call_that_needs_approval_waits(converse: Converse) -> None:
    @tool(approval_mode="always_require")
    def refund(order: str) -> str:
        """Refund."""
        return "done"

    [run] = converse(agent([("refund", {"order": "1"})], "Done.", tools=[refund]), "Refund")
    assert [(call.name, call.state) for call in run.tool_calls] == [("refund", "awaiting")]
    assert checks.no_tool_errors().score(run).outcome == "not_applicable"


def test_what_an_agent_as_a_tool_called_is_not_visible(converse: Converse) -> None:
    outer = agent([("booker", {"task": "Book it"})], "All done.", tools=[agent(*SCRIPT, name="booker").as_tool()])
    [run] = converse(outer, "Plan")
    assert [(call.name, call.kind, call.result) for call in run.tool_calls] == [("booker", "agent", TWO)]
    assert checks.did_not_call("get_weather").score(run).outcome == "no_evidence"
    assert checks.did_not_call("get_weather", agent="root").score(run).passed
    assert "nested_possible" in as_run(response_of(outer)).gap_kinds


def test_a_workflow_shows_what_its_agents_did() -> None:
    first, second = agent(*SCRIPT, name="first"), agent(NONE, name="second", tools=[])
    flow = WorkflowBuilder(start_executor=first).add_edge(first, second).build()
    run = as_run(response_of(flow))
    assert run.tool_names == ("get_weather", "book_hotel")
    assert {site.agent for site in run.call_sites} == {"first"}
    assert NONE in run.text
    assert outcomes(run)["no_tool_errors()"] == "failed"


def mocked(*mocks: dict[str, Any], **options: Any) -> ToolMocks:
    return ToolMocks(mock_plan({"mocks": list(mocks), **options}, "item 0"))


def test_mocks_answer_and_no_tool_runs(converse: Converse) -> None:
    one = agent(*SCRIPT)
    ran.clear()
    mocks = mocked(
        {"tool": "get_weather", "arguments": PARIS, "result": "Sunny"}, {"tool": "book_hotel", "error": "no rooms left"}
    )
    [run] = converse(one, "Plan", mocks=mocks)
    assert_two(run)
    assert (ran, mocks.report()["unused"], run.tool_calls[0].result) == ([], [], "Sunny")
    assert_two(converse(one, "Plan")[0])
    assert ran == ["get_weather", "book_hotel"]


class Own(BaseAgent):
    """An agent of one's own."""

    async def run(self, messages: Any = None, **more: Any) -> Any:
        return AgentResponse(messages=[Message("assistant", [NONE])])


def test_an_agent_of_ones_own(converse: Converse) -> None:
    assert_none(converse(Own(name="own"), "Hi")[0])
    with pytest.raises(TargetError, match="mockable"):
        converse(Own(name="own"), "Hi", mocks=mocked({"tool": "x", "result": 1}))
    with pytest.raises(TargetError, match="stream"):
        converse(agent(NONE), "Hi", options={"stream": True})
    with pytest.raises(TargetError, match="middleware"):
        converse(agent(NONE), "Hi", options={"midleware": []})


def test_conversations_at_once_keep_apart() -> None:
    one = agent(lambda messages: " ".join(message.text for message in messages if str(message.role) == "user"))
    kind = agent_kind(one)
    assert kind is not None

    async def talk(name: str) -> str:
        dialogue = kind.converse(one, {}, None)
        await dialogue.ask(f"I am {name}.")
        return as_run(await dialogue.ask("Who am I?")).text

    async def all_of_them() -> list[str]:
        return await asyncio.gather(*(talk(f"N{number}") for number in range(10)))

    assert asyncio.run(all_of_them()) == [f"I am N{number}. Who am I?" for number in range(10)]


def test_mocks_find_the_tools_that_are_not_called(converse: Converse) -> None:
    assert_mocks_find(converse, lambda: agent(NONE))


def test_a_mock_that_fails_with_one_word_keeps_it(converse: Converse) -> None:
    [run] = converse(agent(*SCRIPT), "Plan", mocks=mocked({"tool": "book_hotel", "error": "full"}))
    error = run.tool_calls[1].error
    assert error is not None
    assert (error.message, error.type) == ("full", "")


def test_an_agent_that_runs_out_of_time_leaves_what_it_did() -> None:
    @tool(approval_mode="never_require")
    async def wait() -> str:
        """Wait."""
        await asyncio.sleep(60)
        return "done"

    assert_kept_when_late(agent([("get_weather", PARIS)], [("wait", {})], "Done.", tools=[get_weather, wait]))
