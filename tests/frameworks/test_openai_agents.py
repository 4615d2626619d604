"""The OpenAI Agents SDK: agents as targets, and results that a user already holds."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

agents = pytest.importorskip("agents")
mcp = pytest.importorskip("mcp")

from agents.testing import ScriptedModel, assistant_message, function_call  # noqa: E402
from crowds import COUNT, assert_fifty_stay_apart  # noqa: E402
from pydantic import BaseModel  # noqa: E402
from scenarios import NONE, TWO, assert_kept_when_late, assert_mocks_find, assert_none, assert_raised, assert_two  # noqa: E402

from quickchecks import Run, ToolCall, checks, load_run, run_evals_sync  # noqa: E402
from quickchecks._mocks import ToolMocks, mock_plan  # noqa: E402
from quickchecks.adapters import agent_kind  # noqa: E402
from quickchecks.errors import TargetError  # noqa: E402

Converse = Callable[..., list[Run]]
Foreign = Any  # the objects of SDKs have no types here


@pytest.fixture(autouse=True)
def no_tracing() -> None:
    agents.set_tracing_disabled(True)


@agents.function_tool
def get_weather(city: str) -> str:
    return "Sunny"


@agents.function_tool
def book_hotel(city: str) -> str:
    raise ValueError("no rooms left")


def strict_hotel() -> Foreign:
    """book_hotel, whose exception ends the run."""

    async def book_hotel(city: str) -> str:
        raise ValueError("no rooms left")

    return agents.function_tool(book_hotel, failure_error_function=None)


def calls(name: str, id: str, **arguments: Foreign) -> Foreign:
    return function_call(name, arguments or {"city": "Paris"}, call_id=id)


def two() -> list[list[Foreign]]:
    return [[calls("get_weather", "c1")], [calls("book_hotel", "c2")], [assistant_message(TWO)]]


def travel(*steps: Foreign, **more: Foreign) -> Foreign:
    given = {"name": "travel", "instructions": "Be helpful.", "tools": [get_weather, book_hotel], **more}
    return agents.Agent(model=ScriptedModel(list(steps)), **given)


def run(agent: Foreign, asked: Foreign = "Plan", **options: Foreign) -> Foreign:
    return asyncio.run(agents.Runner.run(agent, asked, **options))


def only(run: Run) -> ToolCall:
    (call,) = run.tool_calls
    return call


# The scenarios


def test_two_as_a_target(converse: Converse) -> None:
    (found,) = converse(travel(*two()), "Plan")
    assert_two(found)
    failure = found.tool_calls[1].failure()
    assert failure is not None
    assert (failure.message, failure.source, failure.type) == ("no rooms left", "exception", "ValueError")
    assert found.agent == "travel"
    assert found.usage is not None
    assert found.usage.requests == 3
    assert all(call.duration is not None for call in found.tool_calls)
    assert [message.role for message in found.messages] == ["user", "assistant", "assistant", "assistant"]
    assert found.gaps == ()


def test_two_as_a_result() -> None:
    found = assert_two(run(travel(*two())))
    failure = found.tool_calls[1].failure()
    assert failure is not None
    assert failure.source == "text"  # the exception is not in the result


def test_the_items_of_a_result_are_a_run_too() -> None:
    result = run(travel(*two()))
    assert_two(result.to_input_list())
    assert_two(json.loads(json.dumps(result.to_input_list())))


def test_two_as_a_stream_that_was_read() -> None:
    async def streamed() -> Foreign:
        result = agents.Runner.run_streamed(travel(*two()), "Plan")
        async for _ in result.stream_events():
            pass
        return result

    assert_two(asyncio.run(streamed()))


def test_a_stream_that_was_not_read_is_no_evidence() -> None:
    async def streamed() -> Foreign:
        result = agents.Runner.run_streamed(travel(*two()), "Plan")
        found = load_run(result)
        async for _ in result.stream_events():
            pass
        return found

    found = asyncio.run(streamed())
    assert checks.used_no_tools().score(found).outcome == "no_evidence"


def test_none(converse: Converse) -> None:
    assert_none(converse(travel([assistant_message(NONE)]), "Hi")[0])
    assert_none(run(travel([assistant_message(NONE)]), "Hi"))


def test_raised_with_the_default_settings(converse: Converse) -> None:
    (found,) = converse(travel(*two()), "Plan")
    assert assert_raised_until_the_end(found)


def assert_raised_until_the_end(found: Run) -> bool:
    """By default the exception goes to the model, and the run goes on."""
    return found.error is None and "book_hotel" in checks.no_tool_errors().score(found).reason


def test_a_tool_that_ends_the_run(converse: Converse) -> None:
    (found,) = converse(travel(*two(), tools=[get_weather, strict_hotel()]), "Plan")
    assert_raised(found)
    assert found.error is not None
    weather, hotel = found.tool_calls
    assert (weather.result, hotel.state, hotel.failure().type) == ("Sunny", "failed", "ValueError")  # type: ignore[union-attr]
    assert found.gaps == ()


def test_a_tool_that_ends_the_run_beside_one_that_answers(converse: Converse) -> None:
    both = [calls("get_weather", "c1"), calls("book_hotel", "c2")]
    (found,) = converse(travel(both, tools=[get_weather, strict_hotel()]), "Plan")
    weather, hotel = found.tool_calls
    assert (weather.state, weather.result, hotel.state) == ("completed", "Sunny", "failed")


def test_the_exception_alone_lacks_the_turn_that_failed() -> None:
    with pytest.raises(agents.AgentsException) as caught:
        run(travel(*two(), tools=[get_weather, strict_hotel()]))
    for held in (caught.value, caught.value.run_data):
        found = load_run(held)
        assert found.error is not None
        assert [call.name for call in found.tool_calls] == ["get_weather"]
        assert checks.did_not_call("book_hotel").score(found).outcome == "no_evidence"


def test_the_turn_limit(converse: Converse) -> None:
    steps = [[calls("get_weather", f"c{at}")] for at in range(5)]
    (found,) = converse(travel(*steps), "Plan", options={"max_turns": 2})
    assert found.error is not None
    assert found.error.type == "MaxTurnsExceeded"
    assert [call.state for call in found.tool_calls] == ["completed", "completed"]
    with pytest.raises(agents.MaxTurnsExceeded) as caught:
        run(travel(*steps), max_turns=2)
    assert [call.result for call in load_run(caught.value.run_data).tool_calls] == ["Sunny", "Sunny"]


def test_an_unknown_tool(converse: Converse) -> None:
    (found,) = converse(travel([calls("no_such_tool", "c1")]), "Plan")
    assert found.error is not None
    assert only(found).name == "no_such_tool"
    assert checks.no_tool_errors().score(found).failed


def test_arguments_that_are_cut_off(converse: Converse) -> None:
    cut = function_call("get_weather", '{"city": "Par', call_id="c1")
    (found,) = converse(travel([cut], [assistant_message(TWO)]), "Plan")
    assert only(found).raw_arguments == '{"city": "Par'
    assert checks.no_tool_errors().score(found).failed


def test_parallel_calls(converse: Converse) -> None:
    both = [calls("get_weather", "c1"), calls("book_hotel", "c2")]
    steps = (both, [assistant_message(TWO)])
    assert_two(converse(travel(*steps), "Plan")[0])
    assert_two(run(travel(*steps)))


def test_a_model_that_raises_before_it_answers_raises(converse: Converse) -> None:
    with pytest.raises(Exception, match="offline"):
        converse(travel(agents.testing.ModelStep.raise_error(ConnectionError("offline"))), "Plan")


# Several turns


def naming_model() -> Foreign:
    """Answers with the names that it was told so far."""

    def answer(call: Foreign) -> Foreign:
        told = [item["content"] for item in call.input if item.get("role") == "user"]
        names = [text.removeprefix("I am ") for text in told if text.startswith("I am ")]
        return [assistant_message(f"You are {', '.join(names)}.")]

    return answer


def remembering(turns: int) -> Foreign:
    return travel(*[agents.testing.ModelStep.respond(naming_model())] * turns)


def test_a_conversation_remembers(converse: Converse) -> None:
    first, second = converse(remembering(2), "I am Ada", "Who am I?")
    assert first.text == "You are Ada."
    assert second.text == "You are Ada."
    assert [message.text for message in second.messages[second.history_length :]] == ["Who am I?", "You are Ada."]
    assert [message.text for message in second.history] == ["I am Ada", "You are Ada."]


def test_a_result_with_a_session_counts_what_is_new() -> None:
    async def talk() -> Foreign:
        session = agents.SQLiteSession("s")
        agent = travel(*two(), [calls("get_weather", "c9")], [assistant_message("Again sunny.")])
        await agents.Runner.run(agent, "Plan", session=session)
        return await agents.Runner.run(agent, "And again?", session=session)

    found = load_run(asyncio.run(talk()))
    assert [call.id for call in found.tool_calls] == ["c9"]
    assert found.text == "Again sunny."


def test_fifty_items_through_an_evaluation_stay_apart() -> None:
    assert_fifty_stay_apart(remembering(4 * COUNT))


def test_ten_conversations_at_once_stay_apart() -> None:
    agent = remembering(20)
    kind = agent_kind(agent)
    assert kind is not None
    assert not kind.stateful

    async def talk(name: str) -> list[str]:
        dialogue = kind.converse(agent, {}, None)
        runs = [await dialogue.ask(f"I am {name}"), await dialogue.ask("Who am I?")]
        await dialogue.close()
        return [one.text for one in runs]

    async def all_of_them() -> list[list[str]]:
        return await asyncio.gather(*(talk(f"N{at}") for at in range(10)))

    assert asyncio.run(all_of_them()) == [[f"You are N{at}."] * 2 for at in range(10)]
    assert type(agents.run.get_default_agent_runner()) is agents.run.AgentRunner


def test_chat_messages_as_input(converse: Converse) -> None:
    asked = [
        {"role": "user", "content": [{"type": "text", "text": "Weather?"}]},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "h1", "type": "function", "function": {"name": "get_weather", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "h1", "content": "Rain"},
        {"role": "assistant", "content": "Rain."},
        {"role": "user", "content": "Hello?"},
    ]
    (found,) = converse(travel([assistant_message(NONE)]), asked)
    assert_none(found)
    assert [call.result for message in found.history for call in message.parts if isinstance(call, ToolCall)] == ["Rain"]


# Handing over, and agents as tools


def test_a_handoff(converse: Converse) -> None:
    weather = travel([calls("get_weather", "c2")], [assistant_message("Sunny.")], name="weather")
    front = agents.Agent(
        name="front",
        model=ScriptedModel([[function_call("transfer_to_weather", {}, call_id="c1")]]),
        handoffs=[weather],
    )
    for found in (converse(front, "Plan")[0], load_run(run(front_again(weather)))):
        assert [call.name for call in found.tool_calls] == ["get_weather"]
        assert [call.kind for call in found.all_tool_calls] == ["handoff", "tool"]
        assert [site.agent for site in found.call_sites] == ["weather"]
        assert checks.no_tool_errors().score(found).passed
        assert found.agent == "front"


def front_again(target: Foreign) -> Foreign:
    target.model.extend([[calls("get_weather", "c2")], [assistant_message("Sunny.")]])
    handed = [[function_call("transfer_to_weather", {}, call_id="c1")]]
    return agents.Agent(name="front", model=ScriptedModel(handed), handoffs=[agents.handoff(target)])


def test_the_conversation_goes_on_with_the_agent_that_took_over(converse: Converse) -> None:
    weather = travel([assistant_message("Sunny.")], [assistant_message("Still sunny.")], name="weather")
    front = agents.Agent(
        name="front", model=ScriptedModel([[function_call("transfer_to_weather", {}, call_id="c1")]]), handoffs=[weather]
    )
    first, second = converse(front, "Plan", "And now?")
    assert (first.text, second.text, second.agent) == ("Sunny.", "Still sunny.", "weather")


def with_sub() -> Foreign:
    sub = travel([calls("get_weather", "c2")], [assistant_message("Rome is sunny")], name="sub")
    tool = sub.as_tool("ask_sub", "Asks sub.")
    steps = [[function_call("ask_sub", {"input": "Rome?"}, call_id="c1")], [assistant_message("Done.")]]
    return agents.Agent(name="top", model=ScriptedModel(steps), tools=[tool])


def test_an_agent_as_a_tool_is_seen_where_the_agent_is_the_target(converse: Converse) -> None:
    (found,) = converse(with_sub(), "Plan")
    assert [(call.name, call.kind) for call in found.tool_calls] == [("ask_sub", "agent"), ("get_weather", "tool")]
    assert found.text == "Done."
    (inner,) = found.nested_runs
    assert (inner.agent, inner.text, inner.tool_calls[0].arguments) == ("sub", "Rome is sunny", {"city": "Paris"})
    assert found.gaps == ()
    assert checks.did_not_call("refund").score(found).passed


def test_an_agent_as_a_tool_is_a_gap_in_a_result() -> None:
    found = load_run(run(with_sub()))
    assert [(call.name, call.kind) for call in found.tool_calls] == [("ask_sub", "agent")]
    assert checks.did_not_call("refund").score(found).outcome == "no_evidence"
    assert checks.did_not_call("refund", agent="root").score(found).passed


def test_a_run_that_a_function_starts_is_seen(converse: Converse) -> None:
    sub = travel([calls("book_hotel", "c2")], [assistant_message("No.")], name="sub")

    @agents.function_tool
    async def ask(question: str) -> str:
        return str((await agents.Runner.run(sub, question)).final_output)

    steps = [[function_call("ask", {"question": "?"}, call_id="c1")], [assistant_message("Done.")]]
    (found,) = converse(agents.Agent(name="top", model=ScriptedModel(steps), tools=[ask]), "Plan")
    assert [call.name for call in found.tool_calls] == ["ask", "book_hotel"]
    assert found.tool_calls[1].failure().source == "exception"  # type: ignore[union-attr]


# Servers of tools


class Server(agents.mcp.MCPServer):  # type: ignore[misc,name-defined,unused-ignore]
    """An MCP server in the same process, whose errors do not read like errors."""

    ran = 0

    @property
    def name(self) -> str:
        return "travel"

    async def connect(self) -> None: ...

    async def cleanup(self) -> None: ...

    async def list_tools(self, *values: Foreign, **named: Foreign) -> Foreign:
        schema = {"type": "object", "properties": {"city": {"type": "string"}}}
        tools = [{"name": name, "inputSchema": schema} for name in ("get_weather", "book_hotel")]
        return [mcp.types.Tool.model_validate(tool) for tool in tools]

    async def call_tool(self, tool_name: str, *values: Foreign, **named: Foreign) -> Foreign:
        self.ran += 1
        failed = tool_name == "book_hotel"
        content = [{"type": "text", "text": "no rooms left" if failed else "Sunny"}]
        return mcp.types.CallToolResult.model_validate({"content": content, "isError": failed})

    async def list_prompts(self) -> Foreign:
        raise NotImplementedError

    async def get_prompt(self, name: str, arguments: Foreign = None) -> Foreign:
        raise NotImplementedError


def test_the_flag_of_an_mcp_server_is_seen(converse: Converse) -> None:
    server = Server()
    found = assert_two(converse(travel(*two(), tools=[], mcp_servers=[server]), "Plan")[0])
    failure = found.tool_calls[1].failure()
    assert failure is not None
    assert (failure.message, failure.source, server.ran) == ("no rooms left", "flag", 2)


def test_tools_of_an_mcp_server_can_be_mocked(converse: Converse) -> None:
    server = Server()
    mocks = mocked({"tool": "get_weather", "result": "Sunny"}, {"tool": "book_hotel", "error": "no rooms left"})
    assert_two(converse(travel(*two(), tools=[], mcp_servers=[server]), "Plan", mocks=mocks)[0])
    assert server.ran == 0


# Answers that are values, tools that stop, approvals


class Trip(BaseModel):
    city: str
    days: int


def test_structured_output(converse: Converse) -> None:
    steps = [[calls("get_weather", "c1")], [assistant_message('{"city": "Paris",\n "days": 2}')]]
    for found in (converse(travel(*steps, output_type=Trip), "Plan")[0], load_run(run(travel(*steps, output_type=Trip)))):
        assert found.output == {"city": "Paris", "days": 2}
        assert json.loads(found.text) == found.output
        assert [call.name for call in found.all_tool_calls] == ["get_weather"]


def test_a_tool_whose_result_is_the_answer() -> None:
    found = load_run(run(travel([calls("get_weather", "c1")], tool_use_behavior="stop_on_first_tool")))
    assert found.text == "Sunny"
    assert only(found).result == "Sunny"


def test_a_call_that_waits_for_approval(converse: Converse) -> None:
    async def refund(city: str) -> str:
        return "done"

    tool = agents.function_tool(refund, needs_approval=True)
    steps = [[calls("refund", "c1")]]
    for found in (converse(travel(*steps, tools=[tool]), "Plan")[0], load_run(run(travel(*steps, tools=[tool])))):
        assert only(found).state == "awaiting"
        assert checks.no_tool_errors().score(found).outcome == "not_applicable"


def test_a_value_that_is_no_text_is_kept() -> None:
    @agents.function_tool
    def look(city: str) -> dict[str, Any]:
        return {"error": "disk full"}

    found = load_run(run(travel([calls("look", "c1")], [assistant_message("Hm.")], tools=[look])))
    assert only(found).result == {"error": "disk full"}
    assert checks.no_tool_errors().score(found).failed


# Mocks


def mocked(*mocks: Foreign, **plan: Foreign) -> ToolMocks:
    return ToolMocks(mock_plan({"mocks": list(mocks), **plan}, "the item"))


def test_mocks_answer_and_the_tools_never_run(converse: Converse) -> None:
    ran: list[str] = []

    @agents.function_tool
    def get_weather(city: str) -> str:
        ran.append(city)
        return "Real"

    @agents.function_tool
    def book_hotel(city: str) -> str:
        ran.append(city)
        return "Real"

    mocks = mocked(
        {"tool": "get_weather", "arguments": {"city": "Paris"}, "result": "Sunny"},
        {"tool": "book_hotel", "error": "no rooms left"},
    )
    agent = travel(*two(), tools=[get_weather, book_hotel])
    tools = list(agent.tools)
    found = assert_two(converse(agent, "Plan", mocks=mocks)[0])
    assert found.tool_calls[1].failure().message == "no rooms left"  # type: ignore[union-attr]
    assert ran == []
    assert agent.tools == tools
    assert type(agent) is agents.Agent
    assert [entry["tool"] for entry in mocks.report()["served"]] == ["get_weather", "book_hotel"]  # type: ignore[attr-defined]
    assert [
        call.result
        for call in converse(travel([calls("get_weather", "c1")], [assistant_message("x")], tools=tools), "Plan")[0].tool_calls
    ] == ["Real"]


def test_mocks_reach_agents_that_are_tools_and_those_that_take_over(converse: Converse) -> None:
    mocks = mocked({"tool": "get_weather", "result": "Mocked"}, unknown_tools="allow")
    (found,) = converse(with_sub(), "Plan", mocks=mocks)
    assert [call.result for call in found.tool_calls if call.name == "get_weather"] == ["Mocked"]
    weather = travel([calls("get_weather", "c2")], [assistant_message("Sunny.")], name="weather")
    weather.model.enqueue([assistant_message("unused")])
    front = agents.Agent(
        name="front",
        model=ScriptedModel([[function_call("transfer_to_weather", {}, call_id="c1")]]),
        handoffs=[agents.handoff(weather)],
    )
    (found,) = converse(front, "Plan", mocks=mocks)
    assert only(found).result == "Mocked"


def test_tools_without_mocks_can_be_refused(converse: Converse) -> None:
    mocks = mocked({"tool": "book_hotel", "result": "ok"}, unknown_tools="deny")
    (found,) = converse(travel(*two()), "Plan", mocks=mocks)
    weather, hotel = found.tool_calls
    assert "no mock" in weather.failure().message  # type: ignore[union-attr]
    assert hotel.result == "ok"


def test_a_tool_that_is_no_function_cannot_be_mocked(converse: Converse) -> None:
    agent = travel([assistant_message("x")], tools=[agents.WebSearchTool()])
    with pytest.raises(TargetError, match="web_search"):
        converse(agent, "Plan", mocks=mocked({"tool": agents.WebSearchTool().name, "result": "ok"}))


# Evaluations


def test_an_agent_is_evaluated_over_turns_with_mocks_and_errors() -> None:
    agent = travel(*two(), [assistant_message(NONE)], tools=[get_weather, strict_hotel()])
    item = {"turns": [{"input": "Plan"}, {"input": "Thanks"}], "tool_mocks": [{"tool": "book_hotel", "result": "booked"}]}
    result = run_evals_sync(data=[item], target=agent, scorers=[checks.no_tool_errors(), checks.includes("hello there")])
    assert set(result.scores.values()) == {1.0}
    raising = travel(*two(), tools=[get_weather, strict_hotel()])
    result = run_evals_sync(data=[{"input": "Plan"}], target=raising, scorers=[checks.no_tool_errors()])
    (found,) = result.items
    assert found.error is not None
    assert found.run is not None
    assert [call.state for call in found.run.tool_calls] == ["completed", "failed"]


# Options


def test_options_go_to_the_runner(converse: Converse) -> None:
    seen: list[str] = []
    agent = travel(*two())

    class Hooks(agents.RunHooks):  # type: ignore[misc,name-defined,unused-ignore]
        async def on_tool_start(self, context: Foreign, asked: Foreign, tool: Foreign) -> None:
            assert asked is agent
            seen.append(f"{tool.name} for {context.context}")

    assert_two(converse(agent, "Plan", options={"hooks": Hooks(), "context": "Ada"})[0])
    assert seen == ["get_weather for Ada", "book_hotel for Ada"]


def test_an_unknown_option_is_answered_with_near_names(converse: Converse) -> None:
    with pytest.raises(TargetError, match="did you mean 'max_turns'"):
        converse(travel([assistant_message("x")]), "Plan", options={"max_turn": 2})


def test_usage(converse: Converse) -> None:
    agent = travel(*two())
    agent.model.set_default_usage(agents.Usage(requests=1, input_tokens=20, output_tokens=7, total_tokens=27))
    (found,) = converse(agent, "Plan")
    assert found.usage is not None
    assert (found.usage.input_tokens, found.usage.output_tokens, found.usage.requests) == (60, 21, 3)


async def stream(agent: Foreign, asked: Foreign = "Plan") -> Foreign:
    async for event in agents.Runner.run_streamed(agent, asked).stream_events():
        yield event


def test_the_events_of_a_streamed_run() -> None:
    async def target(asked: str) -> Foreign:
        async for event in stream(travel(*two()), asked):
            yield event

    async def events(agent: Foreign) -> list[Foreign]:
        return [event async for event in stream(agent)]

    heard = asyncio.run(events(travel(*two())))
    found = load_run(heard)
    assert (found.text, found.tool_names, found.gap_kinds) == (TWO, ("get_weather", "book_hotel"), {"input"})
    assert found.usage is not None
    assert found.usage.requests == 3
    assert load_run([event for event in heard if event.type == "run_item_stream_event"]).gap_kinds == {"input", "calls", "text"}
    inner = travel([calls("get_weather", "c9")], [assistant_message("hot")]).as_tool("ask", "asks")
    outer = agents.Agent("outer", model=ScriptedModel([[calls("ask", "c1", input="x")], [assistant_message(TWO)]]), tools=[inner])
    assert load_run(asyncio.run(events(outer))).gap_kinds == {"input", "nested"}
    scorers = [checks.includes("an error occurred"), checks.equals(TWO)]
    result = run_evals_sync(data=[{"input": "Plan"}], target=target, scorers=scorers)
    assert list(result.scores.values()) == [0.0, 1.0]


def test_mocks_find_the_tools_that_are_not_called(converse: Converse) -> None:
    assert_mocks_find(converse, lambda: travel([assistant_message(NONE)], tools=[get_weather, strict_hotel()]))


def test_mocks_know_agents_that_are_never_reached(converse: Converse) -> None:
    inner = travel([assistant_message(NONE)], name="booker")
    for one in (inner, agents.handoff(inner)):
        mocks = mocked({"tool": "get_weather", "result": "ok"})
        (found,) = converse(travel([assistant_message(NONE)], tools=[], handoffs=[one]), "Hi", mocks=mocks)
        assert mocks.trouble(found) == ""


def test_an_agent_that_runs_out_of_time_leaves_what_it_did() -> None:
    @agents.function_tool
    async def wait() -> str:
        """Wait."""
        await asyncio.sleep(60)
        return "done"

    turns = [[calls("get_weather", "c1")], [function_call("wait", {}, call_id="c2")], [assistant_message(NONE)]]
    assert_kept_when_late(travel(*turns, tools=[get_weather, wait]))
