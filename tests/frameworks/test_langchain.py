"""LangChain, LangGraph and deepagents, with scripted models."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, TypedDict

import pytest

pytest.importorskip("langchain")
pytest.importorskip("langgraph")

from crowds import assert_fifty_stay_apart
from deepagents import create_deep_agent
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware, wrap_tool_call
from langchain.agents.structured_output import ToolStrategy
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage, messages_to_dict
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.tools import BaseTool, ToolException, tool
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import GraphRecursionError
from langgraph.func import entrypoint
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, create_react_agent, tools_condition
from langgraph.types import interrupt
from pydantic import BaseModel
from scenarios import NONE, TWO, assert_kept_when_late, assert_mocks_find, assert_none, assert_raised, assert_two, outcomes

from quickchecks import Run, checks
from quickchecks._mocks import ToolMocks, mock_plan
from quickchecks.adapters import agent_kind, as_run
from quickchecks.errors import RecordingError, TargetError

Converse = Callable[..., list[Run]]
USAGE = {"input_tokens": 20, "output_tokens": 7, "total_tokens": 27, "input_token_details": {"cache_read": 3}}


class Scripted(BaseChatModel):
    """Says one thing after the other, the last again and again; how often it has spoken since the user did says which."""

    turns: list[Any]

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **more: Any) -> Any:
        return self

    def _generate(self, messages: list[Any], stop: Any = None, run_manager: Any = None, **more: Any) -> ChatResult:
        since = 0
        for message in messages:
            since = 0 if message.type == "human" else since + (message.type == "ai")
        turn = self.turns[min(since, len(self.turns) - 1)]
        turn = turn(messages) if callable(turn) else turn
        if isinstance(turn, str):
            turn = AIMessage(turn, usage_metadata=USAGE)
        return ChatResult(generations=[ChatGeneration(message=turn.model_copy(deep=True))])


def call(name: str, id: str, text: Any = "", **arguments: Any) -> AIMessage:
    """An answer with one call."""
    return AIMessage(text, tool_calls=[{"name": name, "args": arguments, "id": id}], usage_metadata=USAGE)


WEATHER = call("get_weather", "w", [{"type": "thinking", "thinking": "hm"}], city="Paris")
HOTEL = call("book_hotel", "h", city="Paris")
PLAN = [WEATHER, HOTEL, TWO]


@tool
def get_weather(city: str) -> str:
    """Tell the weather."""
    return f"Sunny in {city}"


@tool
async def book_hotel(city: str) -> str:
    """Book a hotel."""
    raise ValueError("no rooms left")


def handled() -> BaseTool:
    """A book_hotel whose error the model gets to hear."""

    @tool("book_hotel")
    def failing(city: str) -> str:
        """Book a hotel."""
        raise ToolException("no rooms left")

    failing.handle_tool_error = True
    return failing


def agent(*turns: Any, tools: Any = (get_weather, book_hotel), **options: Any) -> Any:
    """An agent of create_agent."""
    return create_agent(Scripted(turns=[*turns]), [*tools], system_prompt="Be helpful.", **options)


def ask(graph: Any, text: str = "Plan", **options: Any) -> Any:
    """The state that a graph ends with."""
    return asyncio.run(graph.ainvoke({"messages": [("user", text)]}, **options))


def test_two(converse: Converse) -> None:
    (run,) = converse(agent(*PLAN, tools=[get_weather, handled()], name="travel"), "Plan")
    assert_two(run)
    assert (run.agent, run.format, run.gaps) == ("travel", "langchain", ())
    assert run.usage is not None
    assert (run.usage.input_tokens, run.usage.cached_tokens, run.usage.requests) == (60, 9, 3)
    weather, hotel = run.tool_calls
    assert weather.duration is not None
    assert hotel.error is not None
    assert (hotel.error.message, hotel.error.source) == ("no rooms left", "flag")


def test_two_as_state_and_as_json() -> None:
    graph = agent(*PLAN, tools=[get_weather, handled()])
    state = ask(graph)
    assert_two(state)
    assert_two(state["messages"])
    assert_two(messages_to_dict(state["messages"]))
    assert_two({"messages": [message.model_dump(mode="json") for message in state["messages"]]})
    assert_two(ask(graph, version="v2"))
    from langchain_core.load import dumpd

    assert_two(dumpd(state["messages"]))


def test_none(converse: Converse) -> None:
    graph = agent(NONE)
    assert_none(converse(graph, "Hi")[0])
    assert_none(ask(graph, "Hi"))


@pytest.mark.parametrize("checkpointer", [None, InMemorySaver()])
def test_raised(converse: Converse, checkpointer: Any) -> None:
    (run,) = converse(agent(*PLAN, checkpointer=checkpointer), "Plan")
    assert_raised(run)
    assert run.error is not None
    assert (run.error.type, run.error.message) == ("ValueError", "no rooms left")
    failed = run.tool_calls[1].error
    assert failed is not None
    assert (failed.type, failed.message, failed.source) == ("ValueError", "no rooms left", "exception")


def test_raised_as_state_of_the_checkpointer() -> None:
    graph = agent(*PLAN, checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "1"}}
    with pytest.raises(ValueError, match="no rooms"):
        ask(graph, config=config)
    run = assert_raised(graph.get_state(config))
    assert run.error is not None
    assert run.error.type == "ValueError"


def test_a_sibling_of_a_tool_that_raised_keeps_its_result(converse: Converse) -> None:
    both = AIMessage("", tool_calls=[*WEATHER.tool_calls, *HOTEL.tool_calls])
    slow = tool("book_hotel")(_fails_late)
    (run,) = converse(agent(both, TWO, tools=[get_weather, slow]), "Plan")
    assert [one.state for one in run.tool_calls] == ["completed", "failed"]
    assert run.tool_calls[0].result == "Sunny in Paris"


async def _fails_late(city: str) -> str:
    """Book a hotel."""
    await asyncio.sleep(0.05)
    raise ValueError("no rooms left")


def test_parallel_calls(converse: Converse) -> None:
    both = AIMessage("", tool_calls=[{"name": "get_weather", "args": {"city": city}, "id": city} for city in ("Paris", "Rome")])
    (run,) = converse(agent(both, "Sunny."), "Plan")
    assert [one.result for one in run.tool_calls] == ["Sunny in Paris", "Sunny in Rome"]
    assert checks.no_tool_errors().score(run).passed


def test_unknown_tool_and_wrong_arguments(converse: Converse) -> None:
    (run,) = converse(agent(call("no_such_tool", "1", x=1), call("get_weather", "2", x=1), "Sorry."), "Plan")
    assert [one.state for one in run.tool_calls] == ["failed", "failed"]
    assert run.text == "Sorry."


def test_cut(converse: Converse) -> None:
    cut = AIMessage("Let me", invalid_tool_calls=[{"name": "get_weather", "args": '{"city": "Par', "id": "1", "error": "x"}])
    (run,) = converse(agent(cut), "Plan")
    found = outcomes(run)
    assert found["no_tool_errors()"] == found["used_no_tools()"] == "failed"
    assert run.tool_calls[0].arguments == '{"city": "Par'


def test_limit(converse: Converse) -> None:
    (run,) = converse(agent(*[WEATHER] * 50), "Plan", options={"config": {"recursion_limit": 7}})
    assert run.error is not None
    assert run.error.type == GraphRecursionError.__name__
    assert set(run.tool_names) == {"get_weather"}


def remembering(messages: list[Any]) -> str:
    """Say all that the user said."""
    return ", ".join(message.content for message in messages if message.type == "human")


@pytest.mark.parametrize("checkpointer", [None, InMemorySaver()])
def test_conversation(converse: Converse, checkpointer: Any) -> None:
    graph = agent(lambda messages: call("get_weather", "w", city=messages[-1].content), remembering, checkpointer=checkpointer)
    first, second = converse(graph, "I am Ada", "Who am I?")
    assert first.text == "I am Ada"
    assert second.text == "I am Ada, Who am I?"
    assert [one.arguments for one in second.tool_calls] == [{"city": "Who am I?"}]
    assert second.usage is not None
    assert second.usage.requests == 2
    assert converse(graph, "Who am I?")[0].text == "Who am I?"


def test_conversation_as_state() -> None:
    graph = agent(lambda messages: call("get_weather", "w", city=messages[-1].content), remembering, checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "1"}}
    ask(graph, "I am Ada", config=config)
    state = ask(graph, "Who am I?", config=config)
    for run in (as_run(state), as_run(graph.get_state(config))):
        assert run.text == "I am Ada, Who am I?"
        assert [one.arguments for one in run.tool_calls] == [{"city": "Who am I?"}]
        assert run.usage is not None
        assert run.usage.requests == 2
    assert len(as_run(state["messages"]).tool_calls) == 2


def test_earlier_messages_in_openai_form(converse: Converse) -> None:
    asked = [
        {"role": "user", "content": "I am Ada"},
        {"role": "assistant", "content": "Hello."},
        {"role": "user", "content": "Who am I?"},
    ]
    (run,) = converse(agent(remembering), asked)
    assert run.text.endswith("I am Ada, Who am I?")


def test_fifty_items_through_an_evaluation_stay_apart() -> None:
    assert_fifty_stay_apart(agent(remembering))
    assert_fifty_stay_apart(agent(remembering, checkpointer=InMemorySaver()))


@pytest.mark.parametrize("checkpointer", [None, InMemorySaver()])
def test_ten_at_once_share_nothing(checkpointer: Any) -> None:
    graph = agent(remembering, checkpointer=checkpointer)
    kind = agent_kind(graph)
    assert kind is not None
    assert not kind.stateful

    async def one(number: int) -> str:
        dialogue = kind.converse(graph, {}, None)
        await dialogue.ask(f"I am {number}")
        return str((await dialogue.ask("Who am I?")).text)

    async def all_of_them() -> list[str]:
        return await asyncio.gather(*map(one, range(10)))

    assert asyncio.run(all_of_them()) == [f"I am {number}, Who am I?" for number in range(10)]


class Trip(BaseModel):
    """Where to go."""

    city: str
    nights: int


def test_structured_answer(converse: Converse) -> None:
    graph = agent(WEATHER, call("Trip", "t", city="Paris", nights=2), response_format=ToolStrategy(Trip))
    for run in (converse(graph, "Plan")[0], as_run(ask(graph))):
        assert run.output == {"city": "Paris", "nights": 2}
        assert run.tool_names == ("get_weather",)
        assert run.text == '{"city":"Paris","nights":2}'


def asking(inner: Any) -> BaseTool:
    """A tool that asks another agent."""

    @tool
    async def weather_agent(question: str) -> str:
        """Ask about the weather."""
        state = await inner.ainvoke({"messages": [("user", question)]})
        return str(state["messages"][-1].content)

    return weather_agent


def test_an_agent_asked_by_a_tool(converse: Converse) -> None:
    inner = agent(WEATHER, "Sunny.", name="meteorologist")
    outer = agent(call("weather_agent", "a", question="Weather?"), "ok", tools=[asking(inner)])
    (run,) = converse(outer, "Plan")
    assert run.text == "ok"
    assert run.tool_names == ("weather_agent", "get_weather")
    nested = run.tool_calls[0].run
    assert nested is not None
    assert (nested.text, nested.agent) == ("Sunny.", "meteorologist")
    assert run.tool_calls[1].result == "Sunny in Paris"
    assert checks.called_tool("get_weather", agent="meteorologist").score(run).passed


def test_an_error_inside_an_agent_asked_by_a_tool(converse: Converse) -> None:
    outer = agent(call("weather_agent", "a", question="Weather?"), "ok", tools=[asking(agent(*PLAN))])
    (run,) = converse(outer, "Plan")
    assert_raised(run.tool_calls[0].run)
    assert run.error is not None


def test_a_node_that_keeps_its_messages_to_itself(converse: Converse) -> None:
    inner = agent(WEATHER, "Sunny.")

    async def node(state: MessagesState) -> dict[str, Any]:
        found = await inner.ainvoke({"messages": state["messages"]})
        return {"messages": [AIMessage(f"They say: {found['messages'][-1].content}")]}

    graph: Any = StateGraph(MessagesState).add_node("node", node).add_edge(START, "node").add_edge("node", END).compile()
    (run,) = converse(graph, "Plan")
    assert run.text == "They say: Sunny."
    assert run.tool_names == ("get_weather",)
    assert checks.did_not_call("get_weather").score(run).failed


def test_a_graph_of_nodes_and_a_subgraph(converse: Converse) -> None:
    model = Scripted(turns=PLAN)
    builder = StateGraph(MessagesState)
    builder.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
    builder.add_node("tools", ToolNode([get_weather, handled()]))
    builder.add_edge(START, "model").add_conditional_edges("model", tools_condition).add_edge("tools", "model")
    graph: Any = builder.compile()
    assert_two(converse(graph, "Plan")[0])
    outer: Any = StateGraph(MessagesState).add_node("inner", graph).add_edge(START, "inner").compile()
    assert_two(converse(outer, "Plan")[0])
    (run,) = converse(outer, "Plan", mocks=mocked({"tool": "book_hotel", "result": "booked"}))
    assert [one.result for one in run.tool_calls] == ["Sunny in Paris", "booked"]


class Order(TypedDict, total=False):
    """A state without messages."""

    question: str
    answer: str


def test_a_state_without_messages(converse: Converse) -> None:
    async def node(state: Order) -> Order:
        return {"answer": await get_weather.ainvoke({"city": state["question"]})}

    graph: Any = StateGraph(Order).add_node("node", node).add_edge(START, "node").add_edge("node", END).compile()
    (run,) = converse(graph, {"question": "Oslo"})
    assert run.output == {"question": "Oslo", "answer": "Sunny in Oslo"}
    assert run.tool_names == ("get_weather",)
    assert run.messages[0].text == '{"question":"Oslo"}'
    with pytest.raises(TargetError, match="mapping"):
        converse(graph, "Oslo")


def test_a_function_as_graph(converse: Converse) -> None:
    @entrypoint()
    async def flow(question: str) -> str:
        return str(await get_weather.ainvoke({"city": question}))

    (run,) = converse(flow, "Oslo")
    assert (run.text, run.tool_names) == ("Sunny in Oslo", ("get_weather",))


def test_a_person_is_asked(converse: Converse) -> None:
    middleware = [HumanInTheLoopMiddleware(interrupt_on={"book_hotel": True})]
    graph = agent(*PLAN, middleware=middleware, checkpointer=InMemorySaver())
    for run in (converse(graph, "Plan")[0], as_run(ask(graph, config={"configurable": {"thread_id": "1"}}))):
        assert [one.state for one in run.tool_calls] == ["completed", "awaiting"]
        assert checks.no_tool_errors().score(run).outcome == "not_applicable"


def test_a_tool_that_asks_a_person(converse: Converse) -> None:
    @tool("book_hotel")
    def asks(city: str) -> str:
        """Book a hotel."""
        return str(interrupt("really?"))

    (run,) = converse(agent(*PLAN, tools=[get_weather, asks], checkpointer=InMemorySaver()), "Plan")
    assert [one.state for one in run.tool_calls] == ["completed", "awaiting"]
    assert run.error is None


def mocked(*mocks: Any, **options: Any) -> ToolMocks:
    """Mocks of one attempt."""
    return ToolMocks(mock_plan({"mocks": list(mocks), **options}, "item 0"))


def test_mocks(converse: Converse) -> None:
    graph = agent(*PLAN)
    before = dict(graph.nodes)
    mocks = mocked({"tool": "book_hotel", "arguments": {"city": "Paris"}, "result": {"booked": True}})
    (run,) = converse(graph, "Plan", mocks=mocks)
    assert [one.result for one in run.tool_calls] == ["Sunny in Paris", '{"booked":true}']
    assert checks.no_tool_errors().score(run).passed
    assert mocks.report()["live"] == ["get_weather"]
    assert graph.nodes == before
    assert_raised(converse(graph, "Plan")[0])


def test_mocks_that_fail(converse: Converse) -> None:
    (run,) = converse(agent(*PLAN), "Plan", mocks=mocked({"tool": "book_hotel", "error": "fully booked"}))
    assert_raised(run)
    assert run.error is not None
    assert run.error.message == "fully booked"


def test_mocks_stand_below_the_users_middleware(converse: Converse) -> None:
    @wrap_tool_call
    async def forgiving(request: Any, handler: Any) -> Any:
        try:
            return await handler(request)
        except Exception as error:
            return ToolMessage(f"Error: {error}", tool_call_id=request.tool_call["id"])

    graph = agent(*PLAN, middleware=[forgiving])
    assert_two(converse(graph, "Plan", mocks=mocked({"tool": "book_hotel", "error": "no rooms left"}))[0])
    (run,) = converse(graph, "Plan")
    assert_two(run)
    assert run.tool_calls[1].error is not None
    assert run.tool_calls[1].error.type == "ValueError"


def test_a_mocked_tool_below_another_tool_does_not_run(converse: Converse) -> None:
    ran = []

    @tool("charge")
    def charge(amount: int) -> str:
        """Charge the card."""
        ran.append(amount)
        return "charged"

    inner = agent(call("charge", "c", amount=5), "done", tools=[charge])
    outer = agent(call("weather_agent", "a", question="Pay"), "ok", tools=[asking(inner)])
    (run,) = converse(outer, "Plan", mocks=mocked({"tool": "charge", "result": "mocked"}))
    assert ran == []
    assert run.error is not None
    assert "charge" in run.error.message


def test_deep_agents(converse: Converse) -> None:
    task = call("task", "t", description="Weather?", subagent_type="meteorologist")
    sub = {"name": "meteorologist", "description": "knows", "system_prompt": "x", "tools": [get_weather]}
    graph = create_deep_agent(
        model=Scripted(turns=[task, "ok"]), subagents=[{**sub, "model": Scripted(turns=[WEATHER, "Sunny."])}]
    )
    (run,) = converse(graph, "Plan")
    assert run.text == "ok"
    assert run.tool_names == ("task", "get_weather")
    assert checks.no_tool_errors().score(run).passed


def test_the_agent_of_the_graph_library(converse: Converse) -> None:
    graph = create_react_agent(Scripted(turns=PLAN), [get_weather, handled()])
    assert_two(converse(graph, "Plan")[0])
    assert_two(ask(graph))
    graph = create_react_agent(Scripted(turns=PLAN), [get_weather, book_hotel])
    assert_raised(converse(graph, "Plan")[0])
    (run,) = converse(graph, "Plan", mocks=mocked({"tool": "book_hotel", "result": "booked"}))
    assert run.tool_calls[1].result == "booked"


class SyncOnly(BaseCheckpointSaver[str]):
    """A checkpointer that only blocks, as some that keep files do."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = InMemorySaver()

    def get_tuple(self, config: Any) -> Any:
        return self.inner.get_tuple(config)

    def put(self, *values: Any) -> Any:
        return self.inner.put(*values)

    def put_writes(self, *values: Any) -> Any:
        return self.inner.put_writes(*values)

    def get_next_version(self, current: Any, channel: None) -> Any:
        return self.inner.get_next_version(current, channel)


def test_a_checkpointer_that_blocks(converse: Converse) -> None:
    graph = agent(WEATHER, remembering, tools=[get_weather], checkpointer=SyncOnly())
    _, second = converse(graph, "I am Ada", "Who am I?")
    assert second.text == "I am Ada, Who am I?"
    assert second.tool_names == ("get_weather",)


def test_a_supervisor(converse: Converse) -> None:
    supervisor = pytest.importorskip("langgraph_supervisor")
    move = call("transfer_to_meteorologist", "m")  # the worker finds it in the conversation, as if it had said it
    worker = create_react_agent(Scripted(turns=[move, WEATHER, "Sunny."]), [get_weather], name="meteorologist")
    graph = supervisor.create_supervisor([worker], model=Scripted(turns=[move, "ok"]), output_mode="full_history").compile()
    for run in (converse(graph, "Plan")[0], as_run(ask(graph))):
        assert run.tool_names == ("get_weather",)
        assert {one.kind for one in run.all_tool_calls} == {"handoff", "tool"}
        assert run.text == "Sunny. ok"
        assert "nested" not in run.gap_kinds
        assert checks.called_tool("get_weather", agent="meteorologist").score(run).passed


def test_a_supervisor_that_keeps_only_the_last_words(converse: Converse) -> None:
    supervisor = pytest.importorskip("langgraph_supervisor")
    move = call("transfer_to_meteorologist", "m")
    worker = create_react_agent(Scripted(turns=[move, WEATHER, "Sunny."]), [get_weather], name="meteorologist")
    graph = supervisor.create_supervisor([worker], model=Scripted(turns=[move, "ok"]), output_mode="last_message").compile()
    (run,) = converse(graph, "Plan")
    assert run.tool_names == ("get_weather",)
    assert checks.called_tool("get_weather", agent="meteorologist").score(run).passed
    assert checks.used_no_tools().score(ask(graph)).outcome == "no_evidence"
    assert checks.did_not_call("get_weather").score(ask(graph)).outcome == "no_evidence"


def test_an_executor(converse: Converse) -> None:
    agents = pytest.importorskip("langchain_classic.agents")
    messages = [("placeholder", "{chat_history}"), ("human", "{input}"), ("placeholder", "{agent_scratchpad}")]
    prompt = ChatPromptTemplate.from_messages(messages)
    tools = [get_weather, handled()]

    def executor(*turns: Any) -> Any:
        made = agents.create_tool_calling_agent(Scripted(turns=[*turns]), tools, prompt)
        return agents.AgentExecutor(agent=made, tools=tools, return_intermediate_steps=True, stream_runnable=False)

    (run,) = converse(executor(*PLAN), "Plan")
    assert run.tool_names == ("get_weather", "book_hotel")
    assert run.text == TWO
    result = executor(*PLAN).invoke({"input": "Plan"})
    assert as_run(result).tool_names == ("get_weather", "book_hotel")
    assert as_run(result).text == TWO
    first, second = converse(executor(remembering), "I am Ada", "Who am I?")
    assert (first.text, second.text) == ("I am Ada", "I am Ada, Who am I?")


def test_options(converse: Converse) -> None:
    with pytest.raises(TargetError, match="takes no 'contxt'.*'context'"):
        converse(agent(NONE), "Hi", options={"contxt": 1})


def test_a_model_alone(converse: Converse) -> None:
    _, second = converse(Scripted(turns=[remembering]), "I am Ada", "Who am I?")
    assert second.text == "I am Ada, Who am I?"
    (run,) = converse(Scripted(turns=[WEATHER]), "Plan")
    assert run.tool_names == ("get_weather",)
    assert "results" in run.gap_kinds
    assert "results" in as_run(WEATHER).gap_kinds


def test_a_chain(converse: Converse) -> None:
    chain = ChatPromptTemplate.from_template("Tell me about {topic}") | Scripted(turns=[NONE])
    (run,) = converse(chain, {"topic": "Oslo"})
    assert run.text == NONE
    assert run.usage is not None
    with pytest.raises(TargetError, match="cannot be mocked"):
        converse(chain, {"topic": "Oslo"}, mocks=mocked({"tool": "f", "result": 1}))


def test_messages_of_a_user_alone_show_nothing_of_the_agent() -> None:
    run = as_run([HumanMessage("Hi")])
    assert checks.used_no_tools().score(run).outcome == "no_evidence"


STREAMS: list[tuple[dict[str, Any], set[str]]] = [
    ({"stream_mode": "values"}, set()),
    ({"stream_mode": "updates"}, {"input"}),
    ({"stream_mode": "messages"}, {"input"}),
    ({"stream_mode": ["updates", "messages"]}, {"input"}),
    ({"stream_mode": "updates", "subgraphs": True}, {"input"}),
    ({"stream_mode": "messages", "version": "v2"}, {"input"}),
]


@pytest.mark.parametrize(("options", "gaps"), STREAMS)
def test_what_a_graph_streams(options: dict[str, Any], gaps: set[str]) -> None:
    async def streamed() -> list[Any]:
        graph = agent(*PLAN, tools=[get_weather, handled()])
        return [piece async for piece in graph.astream({"messages": [("user", "Plan")]}, **options)]

    run = as_run(asyncio.run(streamed()))
    assert (run.text, run.tool_names, run.gap_kinds) == (TWO, ("get_weather", "book_hotel"), gaps | {"nested_possible"})
    assert run.tool_calls[1].failure() is not None


def test_the_events_of_a_run_and_streams_that_show_none() -> None:
    graph, asked = agent(*PLAN, tools=[get_weather, handled()]), {"messages": [("user", "Plan")]}

    async def told() -> list[Any]:
        return [event async for event in graph.astream_events(asked, version="v2")]

    events = asyncio.run(told())
    assert_two(events)
    for wrong in (events[:-1], list(graph.stream(asked, stream_mode="debug")), list(graph.stream(asked, stream_mode="tasks"))):
        with pytest.raises(RecordingError):
            as_run(wrong)


def test_mocks_find_the_tools_that_are_not_called(converse: Converse) -> None:
    assert_mocks_find(converse, lambda: agent(NONE))


@pytest.mark.parametrize(
    ("handler", "said"),
    [(True, "no rooms left"), ("Try again.", "Try again."), (lambda error: f"Sorry: {error}", "Sorry: no rooms left")],
)
def test_a_tool_that_handles_its_errors_handles_those_of_its_mock(converse: Converse, handler: Any, said: str) -> None:
    hotel = handled()
    hotel.handle_tool_error = handler
    graph = agent(*PLAN, tools=[get_weather, hotel])
    (run,) = converse(graph, "Plan", mocks=mocked({"tool": "book_hotel", "error": "no rooms left"}))
    call = run.tool_calls[1]
    assert (run.error, run.text, call.state) == (None, TWO, "failed")
    assert call.error is not None
    assert call.error.message == said


def test_an_agent_that_runs_out_of_time_leaves_what_it_did() -> None:
    @tool
    async def wait() -> str:
        """Wait."""
        await asyncio.sleep(60)
        return "done"

    assert_kept_when_late(agent(WEATHER, call("wait", "b"), "Done.", tools=[get_weather, wait]))
