"""AutoGen, with a scripted model."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

autogen_agentchat = pytest.importorskip("autogen_agentchat")

from autogen_agentchat.agents import AssistantAgent, BaseChatAgent  # noqa: E402
from autogen_agentchat.base import Response, TaskResult  # noqa: E402
from autogen_agentchat.conditions import MaxMessageTermination  # noqa: E402
from autogen_agentchat.messages import TextMessage  # noqa: E402
from autogen_agentchat.teams import RoundRobinGroupChat, Swarm  # noqa: E402
from autogen_agentchat.tools import AgentTool, TeamTool  # noqa: E402
from autogen_core import CancellationToken, FunctionCall  # noqa: E402
from autogen_core.model_context import UnboundedChatCompletionContext  # noqa: E402
from autogen_core.models import ChatCompletionClient, CreateResult, RequestUsage, UserMessage  # noqa: E402
from autogen_core.tools import FunctionTool, StaticWorkbench  # noqa: E402
from pydantic import BaseModel  # noqa: E402
from scenarios import NONE, TWO, assert_kept_when_late, assert_mocks_find, assert_none, assert_raised, assert_two, outcomes  # noqa: E402

from quickchecks import Run, checks, run_evals  # noqa: E402
from quickchecks._mocks import ToolMocks, mock_plan  # noqa: E402
from quickchecks.adapters import agent_kind, as_run  # noqa: E402
from quickchecks.errors import TargetError  # noqa: E402

Converse = Callable[..., list[Run]]
Turn = Any  # text, a list of (tool, arguments) pairs, or a function of the messages that gives one of them
PARIS = {"city": "Paris"}
SCRIPT: tuple[Turn, ...] = ([("get_weather", PARIS)], [("book_hotel", PARIS)], TWO)


class Scripted(ChatCompletionClient):
    """Says one thing after the other; what it says next is found by how often it has spoken since the user did."""

    def __init__(self, *turns: Turn) -> None:
        self.turns = turns

    async def create(self, messages: Any, **options: Any) -> CreateResult:
        spoken = 0
        for message in messages:
            spoken = 0 if message.type == "UserMessage" else spoken + (message.type == "AssistantMessage")
        turn = self.turns[min(spoken, len(self.turns) - 1)]
        turn = turn(messages) if callable(turn) else turn
        if isinstance(turn, Exception):
            raise turn
        await asyncio.sleep(0.001)
        usage = RequestUsage(prompt_tokens=20, completion_tokens=7)
        if isinstance(turn, str):
            return CreateResult(finish_reason="stop", content=turn, usage=usage, cached=False)
        calls = [
            FunctionCall(
                id=f"c{len(messages)}_{at}", name=one[0], arguments=one[1] if isinstance(one[1], str) else json.dumps(one[1])
            )
            for at, one in enumerate(turn)
            if not isinstance(one, str)
        ]
        thought = "".join(one for one in turn if isinstance(one, str)) or None
        return CreateResult(finish_reason="function_calls", content=calls, usage=usage, cached=False, thought=thought)

    async def create_stream(self, messages: Any, **options: Any) -> Any:
        yield await self.create(messages)

    async def close(self) -> None:
        pass

    def actual_usage(self) -> RequestUsage:
        return RequestUsage(0, 0)

    def total_usage(self) -> RequestUsage:
        return RequestUsage(0, 0)

    def count_tokens(self, messages: Any, **options: Any) -> int:
        return 0

    def remaining_tokens(self, messages: Any, **options: Any) -> int:
        return 0

    @property
    def capabilities(self) -> Any:
        return self.model_info

    @property
    def model_info(self) -> Any:
        return {"function_calling": True, "vision": False, "json_output": True, "family": "x", "structured_output": True}


ran: list[str] = []


async def get_weather(city: str) -> str:
    """Tell the weather."""
    ran.append("get_weather")
    return f"Sunny in {city}"


def book_hotel(city: str) -> str:
    """Book a hotel."""
    ran.append("book_hotel")
    raise ValueError("no rooms left")


def agent(*turns: Turn, name: str = "travel", **options: Any) -> Any:
    return AssistantAgent(name, Scripted(*turns), **{"tools": [get_weather, book_hotel], "max_tool_iterations": 5, **options})


def result_of(one: Any, task: Any = "Plan") -> TaskResult:
    return asyncio.run(one.run(task=task))


def test_two(converse: Converse) -> None:
    [run] = converse(agent(*SCRIPT), "Plan")
    assert_two(run)
    assert [message.role for message in run.messages] == ["user", "assistant", "assistant", "assistant"]
    assert run.messages[0].text == "Plan"
    assert (run.gaps, run.agent, run.format) == ((), "travel", "autogen")
    failure = run.tool_calls[1].failure()
    assert failure is not None
    assert (failure.message, failure.source) == ("no rooms left", "flag")
    assert run.usage is not None
    assert (run.usage.input_tokens, run.usage.output_tokens, run.usage.requests) == (60, 21, 3)


def test_the_results_themselves(converse: Converse) -> None:
    assert_none(converse(agent(NONE), "Hi")[0])
    assert_none(result_of(agent(NONE)))
    result = result_of(agent(*SCRIPT))
    assert_two(result)
    assert_two(result.messages)
    assert_two(json.loads(result.model_dump_json()))
    response: Response = asyncio.run(
        agent(*SCRIPT).on_messages([TextMessage(content="Plan", source="user")], CancellationToken())
    )
    assert_two(response)
    alone = Response(chat_message=response.chat_message)
    assert outcomes(alone)["used_no_tools()"] == "no_evidence"
    task = TextMessage(content="sunny?", source="Ada")
    assert as_run(result_of(agent(NONE), task)).text == NONE


def test_a_stream_of_messages_is_a_result() -> None:
    async def stream() -> list[Any]:
        return [message async for message in agent(*SCRIPT).run_stream(task="Plan")]

    assert_two(asyncio.run(stream()))


def test_what_a_model_says_beside_its_calls_is_text(converse: Converse) -> None:
    [run] = converse(agent(["Checking.", ("get_weather", PARIS)], "Sunny."), "Plan")
    assert run.text == "Checking. Sunny."


def test_with_the_default_settings_there_is_no_answer_of_the_model(converse: Converse) -> None:
    [run] = converse(agent([("get_weather", PARIS)], max_tool_iterations=1), "Plan")
    assert (run.text, run.tool_names) == ("", ("get_weather",))
    assert [gap.kind for gap in run.gaps] == ["other"]
    summary = as_run(Response(chat_message=result_of(agent([("get_weather", PARIS)], max_tool_iterations=1)).messages[-1]))
    assert [(call.name, call.result) for call in summary.tool_calls] == [("get_weather", "Sunny in Paris")]


def test_a_call_that_was_cut_off_is_answered_with_an_error(converse: Converse) -> None:
    [run] = converse(agent([("get_weather", '{"city": "Pa')], NONE), "Plan")
    [call] = run.tool_calls
    assert (call.state, call.arguments_note != "") == ("failed", True)


def test_a_model_that_raises_leaves_what_was_done(converse: Converse) -> None:
    [run] = converse(agent(*SCRIPT[:2], RuntimeError("no model")), "Plan")
    assert_raised(run)
    assert run.error is not None
    assert (run.error.message, run.error.type) == ("no model", "RuntimeError")


def test_a_conversation_remembers_and_leaves_no_trace(converse: Converse) -> None:
    def recall(messages: Any) -> str:
        return " ".join(message.content for message in messages if message.type == "UserMessage")

    context = UnboundedChatCompletionContext(initial_messages=[UserMessage(content="Hello.", source="user")])
    one = agent(recall, model_context=context)
    asyncio.run(one.run(task="Before."))
    for _ in range(2):
        first, second = converse(one, "I am Ada.", "Who am I?")
        assert (first.text, second.text) == ("Hello. I am Ada.", "Hello. I am Ada. Who am I?")
        assert [message.text for message in second.messages[second.history_length :]] == ["Who am I?", second.text]
    kept = asyncio.run(one.model_context.get_messages())
    assert [message.content for message in kept] == ["Hello.", "Before.", "Hello. Before."]
    kind = agent_kind(one)
    assert kind is not None
    assert kind.stateful


def test_chat_messages_are_what_was_said_before(converse: Converse) -> None:
    asked = [
        {"role": "user", "content": "I am Ada."},
        {"role": "assistant", "content": "Hello."},
        {"role": "user", "content": "Ok?"},
    ]
    [run] = converse(agent(lambda messages: str([message.content for message in messages[1:]])), asked)
    assert run.text == "['I am Ada.', 'Hello.', 'Ok?']"
    assert [message.text for message in run.messages[run.history_length :]] == ["Ok?", run.text]


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

    one = agent('{"city": "Paris"}', output_content_type=Weather)
    for run in (converse(one, "Plan")[0], as_run(result_of(one))):
        assert (run.output, run.text) == ({"city": "Paris"}, '{"city":"Paris"}')


def conversations(one: Any, *several: Any) -> list[Run]:
    """Conversations of one turn each, in one event loop, to which a team is bound; each with mocks or None."""
    kind = agent_kind(one)
    assert kind is not None

    async def talk() -> list[Run]:
        runs = []
        for mocks in several:
            dialogue = kind.converse(one, {}, mocks)
            runs.append(as_run(await dialogue.ask("Plan")))
            await dialogue.close()
        return runs

    return asyncio.run(talk())


def test_a_team_is_one_run_of_several_agents() -> None:
    team = RoundRobinGroupChat([agent(NONE, name="a"), agent(*SCRIPT, name="b")], termination_condition=MaxMessageTermination(3))
    for run in conversations(team, None, None):
        assert run.tool_names == ("get_weather", "book_hotel")
        assert {site.agent for site in run.call_sites} == {"b"}
        assert [message.agent for message in run.messages if message.text] == [None, "a", "b"]
        assert run.metadata is not None
        assert "Maximum number" in str(run.metadata["stop_reason"])


def test_a_handoff_is_no_call_that_counts(converse: Converse) -> None:
    first = agent([("transfer_to_b", {})], name="a", handoffs=["b"])
    second = agent([("get_weather", PARIS)], "Sunny.", name="b")
    team = Swarm([first, second], termination_condition=MaxMessageTermination(6))
    [run] = converse(team, "Plan")
    assert next((call.name, call.kind) for call in run.all_tool_calls) == ("transfer_to_b", "handoff")
    assert set(run.tool_names) == {"get_weather"}
    assert "Transferred" not in run.text


def test_an_agent_as_a_tool_is_a_nested_run(converse: Converse) -> None:
    inner = agent(*SCRIPT, name="booker")
    for tool, name in (
        (AgentTool(inner), "booker"),
        (TeamTool(RoundRobinGroupChat([inner], max_turns=1), name="office", description="x"), "office"),
    ):
        outer = agent([(name, {"task": "Book it"})], "All done.", tools=[tool])
        [run] = converse(outer, "Plan")
        assert run.tool_names == (name, "get_weather", "book_hotel")
        assert run.text == "All done."
        [call] = [call for call in run.all_tool_calls if call.kind == "agent"]
        assert call.run is not None
        assert call.run.text == TWO
        assert [site.agent for site in run.call_sites] == ["travel", "booker", "booker"]
        assert checks.called_tool("get_weather", agent="root").score(run).failed


def mocked(*mocks: dict[str, Any], **options: Any) -> ToolMocks:
    return ToolMocks(mock_plan({"mocks": list(mocks), **options}, "item 0"))


def test_mocks_answer_and_no_tool_runs() -> None:
    one = agent(*SCRIPT)
    for target in (one, RoundRobinGroupChat([one], max_turns=1)):
        ran.clear()
        mocks = mocked(
            {"tool": "get_weather", "arguments": PARIS, "result": "Sunny"}, {"tool": "book_hotel", "error": "no rooms left"}
        )
        served, live = conversations(target, mocks, None)
        assert_two(served)
        assert_two(live)
        assert served.tool_calls[0].result == "Sunny"
        assert (ran, mocks.report()["unused"]) == (["get_weather", "book_hotel"], [])


def test_a_workbench_is_mocked_without_a_copy_of_it(converse: Converse) -> None:
    class Once(StaticWorkbench):
        def __copy__(self) -> Any:
            raise AssertionError("it holds a connection")

    tools = [FunctionTool(tool, description="x") for tool in (get_weather, book_hotel)]
    one = agent(*SCRIPT, tools=None, workbench=Once(tools))
    ran.clear()
    assert_two(converse(one, "Plan", mocks=mocked({"tool": "get_weather", "result": "Sunny"}, unknown_tools="deny"))[0])
    assert ran == []
    assert_two(converse(one, "Plan", mocks=mocked({"tool": "get_weather", "result": "Sunny"}))[0])
    assert ran == ["book_hotel"]


class Own(BaseChatAgent):
    """An agent of one's own."""

    @property
    def produced_message_types(self) -> Any:
        return (TextMessage,)

    async def on_messages(self, messages: Any, cancellation_token: Any) -> Response:
        return Response(chat_message=TextMessage(content=NONE, source=self.name))

    async def on_reset(self, cancellation_token: Any) -> None:
        pass


def test_an_agent_of_ones_own(converse: Converse) -> None:
    assert_none(converse(Own("own", "x"), "Hi")[0])
    with pytest.raises(TargetError, match="mockable"):
        converse(Own("own", "x"), "Hi", mocks=mocked({"tool": "x", "result": 1}))


def test_an_option_that_no_agent_takes_is_refused(converse: Converse) -> None:
    with pytest.raises(TargetError, match="cancellation_token"):
        converse(agent(NONE), "Hi", options={"cancelation_token": None})


def test_conversations_one_after_the_other_keep_apart(converse: Converse) -> None:
    one = agent(lambda messages: " ".join(message.content for message in messages if message.type == "UserMessage"))
    found = [converse(one, f"I am N{number}.", "Who am I?")[1].text for number in range(10)]
    assert found == [f"I am N{number}. Who am I?" for number in range(10)]


def test_mocks_find_the_tools_that_are_not_called(converse: Converse) -> None:
    assert_mocks_find(converse, lambda: agent(NONE))


def test_mocks_reach_into_agents_and_teams_that_are_tools(converse: Converse) -> None:
    inner = agent(*SCRIPT, name="booker")
    for tool, name in (
        (AgentTool(inner), "booker"),
        (TeamTool(RoundRobinGroupChat([inner], max_turns=1), name="office", description="x"), "office"),
    ):
        ran.clear()
        mocks = mocked({"tool": "get_weather", "result": "Sunny"}, {"tool": "book_hotel", "error": "no rooms left"})
        before = inner._workbench
        [run] = converse(agent([(name, {"task": "Book it"})], "Done.", tools=[tool]), "Plan", mocks=mocks)
        assert run.tool_names == (name, "get_weather", "book_hotel")
        assert (ran, mocks.report()["unused"], mocks.trouble(run)) == ([], [], "")
        assert inner._workbench is before


def test_two_evaluations_at_once_do_not_mix_what_an_agent_was_told() -> None:
    one = agent(lambda messages: " ".join(message.content for message in messages if message.type == "UserMessage"))

    async def both() -> list[Any]:
        data = [f"I am {number}." for number in range(3)]
        return await asyncio.gather(*(run_evals(data, one, gates=[checks.includes("I am")]) for _ in range(2)))

    first, second = asyncio.run(both())
    assert [item.run.text for item in first.items] == ["I am 0.", "I am 1.", "I am 2."]
    assert (first.verdict, second.verdict) == ("passed", "failed")
    assert "another evaluation or item uses it" in second.items[0].error.message


def test_an_agent_that_runs_out_of_time_leaves_what_it_did() -> None:
    async def wait() -> str:
        """Wait."""
        await asyncio.sleep(60)
        return "done"

    assert_kept_when_late(agent([("get_weather", PARIS)], [("wait", {})], "Done.", tools=[get_weather, wait]))
