"""LlamaIndex, with a scripted model."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

llama_index = pytest.importorskip("llama_index.core")

from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent, ReActAgent  # noqa: E402
from llama_index.core.base.llms.types import ChatMessage, LLMMetadata, TextBlock, ToolCallBlock  # noqa: E402
from llama_index.core.llms.mock import MockFunctionCallingLLM  # noqa: E402
from llama_index.core.memory import Memory  # noqa: E402
from llama_index.core.tools import FunctionTool  # noqa: E402
from llama_index.core.workflow import (  # noqa: E402
    Context,
    HumanResponseEvent,
    InputRequiredEvent,
    StartEvent,
    StopEvent,
    Workflow,
    step,
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


class Model(MockFunctionCallingLLM):
    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(context_window=100_000, is_chat_model=True, is_function_calling_model=True)


def model(*turns: Turn) -> Model:
    """Says one thing after the other; what it says next is found by how often it has spoken since the user did."""

    def speak(messages: Any, **options: Any) -> ChatMessage:
        spoken = 0
        for message in messages:
            spoken = 0 if message.role.value == "user" else spoken + (message.role.value == "assistant")
        turn = turns[min(spoken, len(turns) - 1)]
        turn = turn(messages) if callable(turn) else turn
        if isinstance(turn, Exception):
            raise turn
        if isinstance(turn, str):
            return ChatMessage(role="assistant", blocks=[TextBlock(text=turn)])
        blocks = [
            TextBlock(text=one)
            if isinstance(one, str)
            else ToolCallBlock(tool_name=one[0], tool_kwargs=one[1], tool_call_id=f"c{len(messages)}_{at}")
            for at, one in enumerate(turn)
        ]
        return ChatMessage(role="assistant", blocks=blocks)

    return Model(response_generator=speak, is_chat_model=True)


ran: list[str] = []


def get_weather(city: str) -> str:
    """Tell the weather."""
    ran.append("get_weather")
    return f"Sunny in {city}"


async def book_hotel(city: str) -> str:
    """Book a hotel."""
    ran.append("book_hotel")
    raise ValueError("no rooms left")


def agent(*turns: Turn, **options: Any) -> Any:
    options = {"tools": [get_weather, book_hotel], "name": "travel", "system_prompt": "Be helpful.", **options}
    return FunctionAgent(llm=model(*turns), **options)


def awaited(one: Any, **asked: Any) -> Any:
    async def run() -> Any:
        return await one.run(**asked)

    return asyncio.run(run())


def events_of(one: Any, **asked: Any) -> list[Any]:
    async def run() -> list[Any]:
        return [event async for event in one.run(**asked).stream_events()]

    return asyncio.run(run())


def test_two(converse: Converse) -> None:
    [run] = converse(agent(*SCRIPT), "Plan")
    assert_two(run)
    assert [message.role for message in run.messages] == ["system", "user", "assistant", "assistant", "assistant"]
    assert run.messages[1].text == "Plan"
    assert (run.gaps, run.agent, run.format) == ((), "travel", "llama_index")
    failure = run.tool_calls[1].failure()
    assert failure is not None
    assert (failure.type, failure.source, failure.message) == ("ValueError", "flag", "no rooms left")


def test_none(converse: Converse) -> None:
    [run] = converse(agent(NONE), "Hi")
    assert_none(run)


def test_the_events_of_a_run_show_it_all() -> None:
    run = assert_two(events_of(agent(*SCRIPT), user_msg="Plan"))
    assert run.messages[1].text == "Plan"
    assert_none(events_of(agent(NONE), user_msg="Hi"))


def test_an_output_shows_calls_and_results_but_not_the_words_between() -> None:
    output = awaited(agent([*("Checking.",), ("get_weather", PARIS)], *SCRIPT[1:]), user_msg="Plan")
    found = outcomes(output)
    run = as_run(output)
    assert [(call.name, call.state) for call in run.tool_calls] == [("get_weather", "completed"), ("book_hotel", "failed")]
    assert found["no_tool_errors()"] == "failed"
    assert found[f"equals('{TWO}')"] == "passed"
    assert found["excludes('no rooms left')"] == "no_evidence"
    assert found["includes('hello there')"] == "no_evidence"
    assert_none(awaited(agent(NONE), user_msg="Hi"))


def test_a_handler_is_read_when_it_has_ended() -> None:
    async def run() -> tuple[Any, str]:
        handler = agent(NONE).run(user_msg="Hi")
        with pytest.raises(RecordingError, match="a workflow that has ended") as caught:
            as_run(handler)
        await handler
        return handler, caught.value.hint

    handler, hint = asyncio.run(run())
    assert "stream_events" in hint
    assert_none(handler)

    async def fail() -> Any:
        handler = agent(RuntimeError("no model")).run(user_msg="Hi")
        with pytest.raises(Exception, match="no model"):
            await handler
        return handler

    failed = as_run(asyncio.run(fail()))
    assert failed.error is not None
    assert "no model" in failed.error.message
    assert checks.used_no_tools().score(failed).outcome == "no_evidence"


def test_a_model_that_raises_leaves_what_was_done(converse: Converse) -> None:
    [run] = converse(agent(*SCRIPT[:2], RuntimeError("no model")), "Plan")
    assert_raised(run)
    assert run.error is not None
    assert "no model" in run.error.message


def test_a_workflow_that_takes_too_long_leaves_what_was_done(converse: Converse) -> None:
    async def slow(city: str) -> str:
        """Tell the weather slowly."""
        await asyncio.sleep(60)
        return "Sunny"

    [run] = converse(agent([("slow", PARIS)], "Done.", tools=[slow], timeout=0.3), "Plan")
    assert [(call.name, call.state) for call in run.tool_calls] == [("slow", "requested")]
    assert run.error is not None
    assert (run.text, run.gaps) == ("", ())


def test_a_limit_of_steps_leaves_the_last_call_unanswered(converse: Converse) -> None:
    [run] = converse(agent([("get_weather", PARIS)]), "Plan", options={"max_iterations": 3})
    assert [call.state for call in run.tool_calls] == ["completed", "completed", "requested"]
    assert run.error is not None
    assert (run.error.type, "Max iterations" in run.error.message) == ("WorkflowRuntimeError", True)
    with pytest.raises(AssertionError):
        assert checks.no_tool_errors().passes(run)


def test_a_conversation_remembers(converse: Converse) -> None:
    def recall(messages: Any) -> str:
        return "You are Ada." if any("Ada" in (message.content or "") for message in messages) else "Who are you?"

    first, second = converse(agent(recall), "I am Ada.", "Who am I?")
    assert (first.text, second.text) == ("You are Ada.", "You are Ada.")
    assert [message.text for message in second.messages[second.history_length :]] == ["Who am I?", "You are Ada."]
    [alone] = converse(agent(recall), "Who am I?")
    assert alone.text == "Who are you?"


def test_calls_of_an_earlier_turn_are_history(converse: Converse) -> None:
    first, second = converse(agent([("get_weather", PARIS)], "Sunny."), "Plan", "Again")
    assert (first.tool_names, second.tool_names) == (("get_weather",), ("get_weather",))
    assert [part.name for message in second.history for part in message.parts if hasattr(part, "name")] == ["get_weather"]


def test_chat_messages_are_what_was_said_before(converse: Converse) -> None:
    heard: list[Any] = []

    def speak(messages: Any) -> str:
        heard[:] = [(message.role.value, message.content) for message in messages]
        return "Yes."

    asked = [
        {"role": "user", "content": "I am Ada."},
        {"role": "assistant", "content": "Hello."},
        {"role": "user", "content": "Ok?"},
    ]
    [run] = converse(agent(speak), asked)
    assert heard == [("system", "Be helpful."), ("user", "I am Ada."), ("assistant", "Hello."), ("user", "Ok?")]
    assert run.text == "Yes."
    assert [message.text for message in run.messages[run.history_length :]] == ["Ok?", run.text]


def test_parallel_calls_get_their_own_results(converse: Converse) -> None:
    [run] = converse(agent([("get_weather", PARIS), ("book_hotel", PARIS), ("get_weather", {"city": "Rome"})], "Done."), "Plan")
    assert [(call.name, call.state, call.result) for call in run.tool_calls] == [
        ("get_weather", "completed", "Sunny in Paris"),
        ("book_hotel", "failed", "no rooms left"),
        ("get_weather", "completed", "Sunny in Rome"),
    ]


def test_an_unknown_tool_and_wrong_arguments_are_failed_calls(converse: Converse) -> None:
    [run] = converse(agent([("no_such_tool", {}), ("get_weather", {"x": 1})], "Sorry."), "Plan")
    assert [call.state for call in run.tool_calls] == ["failed", "failed"]
    assert "not found" in str(run.tool_calls[0].result)


def test_a_tool_that_returns_the_answer_directly(converse: Converse) -> None:
    tool = FunctionTool.from_defaults(get_weather, return_direct=True)
    one = agent([("get_weather", PARIS)], "never said", tools=[tool])
    [run] = converse(one, "Plan")
    assert (run.text, run.tool_names, run.tool_calls[0].state) == ("Sunny in Paris", ("get_weather",), "completed")
    output = awaited(one, user_msg="Plan")
    assert outcomes(output)["no_tool_errors()"] == "no_evidence"


def test_a_handoff_is_no_call_that_counts(converse: Converse) -> None:
    first = agent([("handoff", {"to_agent": "hotels", "reason": "x"})], name="travel", description="travels")
    second = agent("never said", [("get_weather", PARIS)], "Sunny.", name="hotels", description="books")
    [run] = converse(AgentWorkflow(agents=[first, second], root_agent="travel"), "Plan")
    assert [(call.name, call.kind) for call in run.all_tool_calls] == [("handoff", "handoff"), ("get_weather", "tool")]
    assert run.tool_names == ("get_weather",)
    assert [message.agent for message in run.messages if message.role == "assistant"] == ["travel", "hotels", "hotels"]
    assert [site.agent for site in run.call_sites] == ["hotels"]


def test_a_structured_answer_is_its_json(converse: Converse) -> None:
    class Weather(BaseModel):
        city: str

    one = agent([("get_weather", PARIS)], "Sunny.", structured_output_fn=lambda messages: {"city": "Paris"})
    for run in (converse(one, "Plan")[0], as_run(awaited(one, user_msg="Plan"))):
        assert run.output == {"city": "Paris"}
        assert run.text == '{"city":"Paris"}'


def test_an_agent_that_acts_in_words(converse: Converse) -> None:
    def speak(messages: Any) -> str:
        if any("Observation" in (message.content or "") for message in messages[1:]):
            return "Thought: I can answer now.\nAnswer: Sunny."
        return 'Thought: I need the weather.\nAction: get_weather\nAction Input: {"city": "Paris"}'

    one = ReActAgent(llm=model(speak), tools=[get_weather], name="travel")
    for run in (converse(one, "Plan")[0], as_run(events_of(one, user_msg="Plan"))):
        assert (run.text, run.tool_names) == ("Sunny.", ("get_weather",))
        assert run.tool_calls[0].result == "Sunny in Paris"


def test_a_tool_that_asks_a_person_waits(converse: Converse) -> None:
    async def refund(ctx: Context, order: str) -> str:
        """Refund."""
        answer = await ctx.wait_for_event(HumanResponseEvent, waiter_event=InputRequiredEvent(prefix="Sure?"))
        return str(answer)

    refund.__annotations__["ctx"] = Context  # the framework looks at the class itself
    [run] = converse(agent([("refund", {"order": "1"})], "Done.", tools=[refund]), "Refund")
    assert [(call.name, call.state) for call in run.tool_calls] == [("refund", "awaiting")]
    assert checks.no_tool_errors().score(run).outcome == "not_applicable"


def test_a_workflow_of_ones_own_answers_but_hides_its_calls(converse: Converse) -> None:
    class Asked(StartEvent):
        question: str

    class Flow(Workflow):
        @step
        async def answer(self, ctx: Context, ev: Asked) -> StopEvent:
            inner = agent(*SCRIPT).run(user_msg=ev.question)
            if ev.question == "show":
                async for event in inner.stream_events():
                    if not isinstance(event, StopEvent):
                        ctx.write_event_to_stream(event)
            return StopEvent(result=str(await inner))

    [hidden] = converse(Flow(), "hide")
    assert hidden.text == TWO
    assert checks.used_no_tools().score(hidden).outcome == "no_evidence"
    [shown] = converse(Flow(), {"question": "show"})
    assert shown.tool_names == ("get_weather", "book_hotel")


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
    assert ran == []
    assert mocks.report()["unused"] == []
    assert_two(converse(one, "Plan")[0])
    assert ran == ["get_weather", "book_hotel"]
    team = AgentWorkflow(agents=[one])
    for target in (one, team):  # also where it has run before
        assert_two(converse(target, "Plan")[0])
        ran.clear()
        assert_two(converse(target, "Plan", mocks=mocked({"tool": "get_weather", "result": "Sunny"}, unknown_tools="deny"))[0])
        assert ran == []


def test_tools_that_are_looked_for_are_mocked_too(converse: Converse) -> None:
    class Retriever:
        async def aretrieve(self, asked: str) -> list[Any]:
            return [FunctionTool.from_defaults(get_weather)]

    one = agent([("get_weather", PARIS)], "Done.", tools=None)
    one.tool_retriever = Retriever()
    ran.clear()
    assert converse(one, "Plan")[0].tool_calls[0].result == "Sunny in Paris"
    assert converse(one, "Plan", mocks=mocked({"tool": "get_weather", "result": "Rain"}))[0].tool_calls[0].result == "Rain"
    assert ran == ["get_weather"]


def test_a_workflow_may_end_with_an_event_of_its_own(converse: Converse) -> None:
    class Ended(StopEvent):
        weather: str

    class Flow(Workflow):
        @step
        async def answer(self, ev: StartEvent) -> Ended:
            return Ended(weather="Sunny")

    [run] = converse(Flow(), "x")
    assert run.output == {"weather": "Sunny"}
    assert as_run(awaited(Flow())).output == {"weather": "Sunny"}
    assert as_run(events_of(Flow())).output == {"weather": "Sunny"}


def test_a_workflow_of_ones_own_takes_no_mocks() -> None:
    class Flow(Workflow):
        @step
        async def answer(self, ev: StartEvent) -> StopEvent:
            return StopEvent(result="x")

    kind = agent_kind(Flow())
    assert kind is not None
    with pytest.raises(TargetError, match="mockable"):
        kind.converse(Flow(), {}, mocked({"tool": "x", "result": 1}))


def test_conversations_at_once_keep_apart() -> None:
    def recall(messages: Any) -> str:
        return " ".join(message.content for message in messages if message.role.value == "user")

    one = agent(recall)
    kind = agent_kind(one)
    assert kind is not None

    async def talk(name: str) -> str:
        dialogue = kind.converse(one, {}, None)
        await dialogue.ask(f"I am {name}.")
        return as_run(await dialogue.ask("Who am I?")).text

    async def all_of_them() -> list[str]:
        return await asyncio.gather(*(talk(f"N{number}") for number in range(10)))

    assert asyncio.run(all_of_them()) == [f"I am N{number}. Who am I?" for number in range(10)]


def test_the_messages_of_a_memory() -> None:
    async def run() -> Any:
        memory = Memory.from_defaults(session_id="x", token_limit=100_000)
        await agent(*SCRIPT).run(user_msg="Plan", memory=memory)
        return await memory.aget_all()

    run_ = as_run(asyncio.run(run()))
    assert run_.tool_names == ("get_weather", "book_hotel")
    assert run_.text == TWO
    assert run_.tool_calls[1].result == "no rooms left"


def test_what_a_model_costs(converse: Converse) -> None:
    class Priced(Model):
        async def astream_chat(self, messages: Any, **options: Any) -> Any:
            inner = await super().astream_chat(messages, **options)

            async def priced() -> Any:
                async for response in inner:
                    response.raw = {"usage": {"prompt_tokens": 20, "completion_tokens": 7}}
                    yield response

            return priced()

    one = agent(*SCRIPT)
    one.llm = Priced(response_generator=one.llm.response_generator, is_chat_model=True)
    [run] = converse(one, "Plan")
    assert run.usage is not None
    assert (run.usage.input_tokens, run.usage.output_tokens, run.usage.requests) == (60, 21, 3)


def test_the_answer_of_a_model_alone() -> None:
    response = model([("get_weather", PARIS)]).chat([ChatMessage(role="user", content="Plan")])
    run = as_run(response)
    assert run.tool_names == ("get_weather",)
    assert outcomes(response)["no_tool_errors()"] == "no_evidence"
    assert_none(model(NONE).chat([ChatMessage(role="user", content="Hi")]))


def test_mocks_find_the_tools_that_are_not_called(converse: Converse) -> None:
    assert_mocks_find(converse, lambda: agent(NONE))


def test_an_agent_that_runs_out_of_time_leaves_what_it_did() -> None:
    async def wait() -> str:
        """Wait."""
        await asyncio.sleep(60)
        return "done"

    assert_kept_when_late(agent([("get_weather", PARIS)], [("wait", {})], "Done.", tools=[get_weather, wait]))
