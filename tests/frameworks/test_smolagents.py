"""smolagents, with a scripted model."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

smolagents = pytest.importorskip("smolagents")

from scenarios import NONE, TWO, assert_mocks_find, assert_none, assert_raised, assert_two, outcomes  # noqa: E402
from smolagents import CodeAgent, Model, ToolCallingAgent, tool  # noqa: E402
from smolagents.models import ChatMessage, ChatMessageToolCall, ChatMessageToolCallFunction, TokenUsage  # noqa: E402

from quickchecks import Run, checks  # noqa: E402
from quickchecks._mocks import ToolMocks, mock_plan  # noqa: E402
from quickchecks.adapters import agent_kind, as_run  # noqa: E402
from quickchecks.errors import TargetError  # noqa: E402

Converse = Callable[..., list[Run]]
Turn = Any  # text, a list of (tool, arguments) pairs, an exception, or a function of the messages that gives one of them


def texts_of(messages: Any) -> list[str]:
    found = []
    for message in messages:
        content = message.content
        parts = [content] if isinstance(content, str) else [part.get("text", "") for part in content]
        found += [(str(getattr(message.role, "value", message.role)), text) for text in parts]
    return [f"{role}: {text}" for role, text in found]


class Scripted(Model):
    """Says one thing after the other; what it says next is found by how often it has spoken since the last task."""

    def __init__(self, *turns: Turn) -> None:
        super().__init__()
        self.turns = turns

    def generate(self, messages: Any, **options: Any) -> ChatMessage:
        spoken = 0
        for text in texts_of(messages):
            new_task = text.startswith("user: ") and "New task:" in text
            spoken = 0 if new_task else spoken + (text.startswith("tool-response: "))
        turn = self.turns[min(spoken, len(self.turns) - 1)]
        turn = turn(texts_of(messages)) if callable(turn) else turn
        if isinstance(turn, Exception):
            raise turn
        usage = TokenUsage(20, 7)
        if isinstance(turn, str):
            return ChatMessage(role="assistant", content=turn, token_usage=usage)
        calls = [
            ChatMessageToolCall(ChatMessageToolCallFunction(name=name, arguments=arguments), f"c{spoken}_{at}", "function")
            for at, (name, arguments) in enumerate(turn)
        ]
        return ChatMessage(role="assistant", content="", tool_calls=calls, token_usage=usage)


ran: list[str] = []


@tool
def get_weather(city: str) -> str:
    """Tell the weather.

    Args:
        city: The city.
    """
    ran.append("get_weather")
    return f"Sunny in {city}"


@tool
def book_hotel(city: str) -> str:
    """Book a hotel.

    Args:
        city: The city.
    """
    ran.append("book_hotel")
    raise ValueError("no rooms left")


PARIS = {"city": "Paris"}


def answer(text: Any) -> Turn:
    return [("final_answer", {"answer": text})]


SCRIPT: tuple[Turn, ...] = ([("get_weather", PARIS)], [("book_hotel", PARIS)], answer(TWO))
CODE = (
    "Thought: look\n<code>\nprint(get_weather('Paris'))\n</code>",
    "Thought: book\n<code>\nbook_hotel(city='Paris')\n</code>",
    f"Thought: say\n<code>\nfinal_answer({TWO!r})\n</code>",
)


def agent(*turns: Turn, **options: Any) -> Any:
    return ToolCallingAgent(tools=[get_weather, book_hotel], model=Scripted(*turns), verbosity_level=-1, **options)


def code_agent(*turns: Turn, **options: Any) -> Any:
    return CodeAgent(tools=[get_weather, book_hotel], model=Scripted(*turns), verbosity_level=-1, **options)


def test_two(converse: Converse) -> None:
    run = assert_two(converse(agent(*SCRIPT), "Plan")[0])
    assert run.messages[0].text == "Plan"
    assert run.gaps == ()
    assert run.final_text == TWO
    failure = run.tool_calls[1].failure()
    assert failure is not None
    assert (failure.message, failure.type, failure.source) == ("no rooms left", "ValueError", "exception")
    assert run.usage is not None
    assert (run.usage.input_tokens, run.usage.output_tokens, run.usage.requests) == (60, 21, 3)
    assert run.duration
    assert run.tool_calls[0].duration is not None


def test_a_tool_that_raises_does_not_end_the_run_and_a_model_that_raises_does(converse: Converse) -> None:
    [run] = converse(agent(*SCRIPT[:2], RuntimeError("no model")), "Plan")
    assert_raised(run)
    assert run.error is not None
    assert run.error.type == "AgentGenerationError"


def test_the_result_itself_and_its_other_forms() -> None:
    one = agent(*SCRIPT)
    result = one.run("Plan", return_full_result=True)
    run = assert_two(result)
    assert run.gap_kinds == {"nested_possible"}
    failure = run.tool_calls[1].failure()
    assert failure is not None
    assert (failure.message, failure.type) == ("no rooms left", "ValueError")
    assert run.usage is not None
    assert run.usage.input_tokens == 60
    assert_two(result.dict())
    assert_two(json.loads(json.dumps(result.dict())))
    assert_two(one.memory)
    assert_two(one.memory.steps)
    assert_two(json.loads(json.dumps(one.memory.get_full_steps())))
    assert_two(list(agent(*SCRIPT).run("Plan", stream=True)))


def test_an_answer_alone_is_no_evidence_of_calls() -> None:
    for value in (agent(*SCRIPT).run("Plan"),):
        found = outcomes(value)
        assert found["includes('sunny')"] == "passed"
        assert found["used_no_tools()"] == found["no_tool_errors()"] == found["called_tool('get_weather')"] == "no_evidence"


def test_none(converse: Converse) -> None:
    assert_none(converse(agent(answer(NONE)), "Hi")[0])
    assert_none(agent(answer(NONE)).run("Hi", return_full_result=True))


def remembered(texts: list[str]) -> Turn:
    names = [line.split("I am ")[1].split()[0] for text in texts for line in text.splitlines() if "I am " in line]
    return answer(f"You are {names[-1]}." if names else "I do not know you.")


def test_a_conversation_remembers_and_leaves_nothing_behind(converse: Converse) -> None:
    one = agent(remembered)
    first, second = converse(one, "I am Ada", "Who am I?")
    assert first.text == second.text == "You are Ada."
    assert [message.text for message in second.messages[second.history_length :]][:1] == ["Who am I?"]
    assert second.usage is not None
    assert second.usage.requests == 1
    assert converse(one, "Who am I?")[0].text == "I do not know you."
    assert one.memory.steps == []


def test_the_second_result_of_a_conversation_speaks_of_its_own_turn() -> None:
    one = agent(*SCRIPT)
    one.run("Plan", return_full_result=True)
    run = assert_two(one.run("Plan again", reset=False, return_full_result=True))
    assert run.history_length > 0
    assert run.usage is not None
    assert run.usage.input_tokens == 60


def test_ten_conversations_at_once_do_not_leak() -> None:
    one = agent(remembered)
    kind = agent_kind(one)
    assert kind is not None
    assert not kind.stateful

    async def talk(name: str) -> list[str]:
        dialogue = kind.converse(one, {}, None)
        return [(await asyncio.to_thread(dialogue.ask, asked)).text for asked in ("Who am I?", f"I am {name}", "Who am I?")]

    async def all_of_them() -> list[list[str]]:
        return await asyncio.gather(*(talk(f"N{number}") for number in range(10)))

    for number, said in enumerate(asyncio.run(all_of_them())):
        assert said == ["I do not know you.", f"You are N{number}.", f"You are N{number}."]


def test_parallel_calls_of_which_one_fails(converse: Converse) -> None:
    script: tuple[Turn, ...] = (
        [("get_weather", PARIS), ("book_hotel", PARIS), ("get_weather", {"city": "Oslo"})],
        answer("Done."),
    )
    [run] = converse(agent(*script), "Plan")
    assert [(call.name, call.state, call.result) for call in run.tool_calls if call.error is None] == [
        ("get_weather", "completed", "Sunny in Paris"),
        ("get_weather", "completed", "Sunny in Oslo"),
    ]
    assert [call.name for call in run.tool_calls] == ["get_weather", "book_hotel", "get_weather"]
    seen = as_run(agent(*script).run("Plan", return_full_result=True))
    assert [call.state for call in seen.tool_calls] == ["requested", "failed", "requested"]
    assert not checks.no_tool_errors().passes(seen)
    assert "results" in seen.gap_kinds


def test_parallel_calls_that_succeed() -> None:
    script: tuple[Turn, ...] = ([("get_weather", PARIS), ("get_weather", {"city": "Oslo"})], answer("Done."))
    run = as_run(agent(*script).run("Plan", return_full_result=True))
    assert [call.state for call in run.tool_calls] == ["completed", "completed"]
    assert "results" in run.gap_kinds
    assert checks.no_tool_errors().passes(run)


@pytest.mark.parametrize("call", [("no_such_tool", {"x": 1}), ("get_weather", {"town": "Paris"})])
def test_an_unknown_tool_and_bad_arguments(converse: Converse, call: Any) -> None:
    for value in (
        converse(agent([call], answer("Done.")), "Plan")[0],
        agent([call], answer("Done.")).run("Plan", return_full_result=True),
        converse(agent([("get_weather", PARIS), call], answer("Done.")), "Plan")[0],
    ):
        run = as_run(value)
        assert run.tool_calls[-1].failure() is not None
        assert all(one.failure() is None for one in run.tool_calls[:-1])
        assert run.tool_calls[-1].name == call[0]


def test_a_limit_is_an_error_of_the_run(converse: Converse) -> None:
    turns: tuple[Turn, ...] = (SCRIPT[0], SCRIPT[0], "I gave up.")
    for value in (
        converse(agent(*turns), "Plan", options={"max_steps": 2})[0],
        agent(*turns).run("Plan", max_steps=2, return_full_result=True),
        list(agent(*turns).run("Plan", max_steps=2, stream=True)),
    ):
        run = as_run(value)
        assert run.error is not None
        assert run.error.type == "AgentMaxStepsError"
        assert run.text == "I gave up."
        assert len(run.tool_calls) == 2


def test_calls_that_stand_in_the_text(converse: Converse) -> None:
    def written(name: str, **arguments: Any) -> str:
        return "Action:\n" + json.dumps({"name": name, "arguments": arguments})

    turns = (written("get_weather", **PARIS), written("book_hotel", **PARIS), written("final_answer", answer=TWO))
    assert_two(converse(agent(*turns), "Plan")[0])
    assert_two(agent(*turns).run("Plan", return_full_result=True))


def test_an_agent_that_writes_code(converse: Converse) -> None:
    run = assert_two(converse(code_agent(*CODE), "Plan")[0])
    assert run.gaps == ()
    assert run.tool_calls[0].result == "Sunny in Paris"
    seen = outcomes(code_agent(*CODE).run("Plan", return_full_result=True))
    assert seen["includes('sunny')"] == "passed"
    assert seen["called_tool('get_weather')"] == seen["did_not_call('refund')"] == seen["no_tool_errors()"] == "no_evidence"


def test_variables_in_code_live_as_long_as_the_conversation(converse: Converse) -> None:
    def code(texts: list[str]) -> str:
        return (
            "<code>\nname = 'Ada'\nfinal_answer(name)\n</code>"
            if "Remember" in texts[-1]
            else "<code>\nfinal_answer(name)\n</code>"
        )

    one = code_agent(code, max_steps=1)
    assert [run.text for run in converse(one, "Remember", "Who?")] == ["Ada", "Ada"]
    assert "Ada" not in converse(one, "Who?")[0].final_text.replace("'Ada'", "")


def test_mocks_answer_in_place_of_tools(converse: Converse) -> None:
    plan = [{"tool": "get_weather", "arguments": PARIS, "result": "Sunny"}, {"tool": "book_hotel", "error": "no rooms left"}]
    for one in (agent(*SCRIPT), code_agent(*CODE)):
        ran.clear()
        mocks = ToolMocks(mock_plan(plan, "item"))
        run = assert_two(converse(one, "Plan", mocks=mocks)[0])
        assert ran == []
        failure = run.tool_calls[1].failure()
        assert failure is not None
        assert failure.type == "ToolMockError"
        assert [served["tool"] for served in mocks.report()["served"]] == ["get_weather", "book_hotel"]
        converse(one, "Plan", mocks=ToolMocks(mock_plan(plan[:1], "item")))
        assert ran == ["book_hotel"]
        ran.clear()
        converse(one, "Plan", mocks=ToolMocks(mock_plan({"mocks": [], "unknown_tools": "deny"}, "item")))
        assert ran == []
        converse(one, "Plan")
        assert ran == ["get_weather", "book_hotel"]


def nested(kind: Callable[..., Any], *turns: Turn) -> Any:
    inner = agent(*SCRIPT, name="planner", description="plans")
    return kind(tools=[], model=Scripted(*turns), managed_agents=[inner], verbosity_level=-1)


@pytest.mark.parametrize("kind", [ToolCallingAgent, CodeAgent])
def test_a_managed_agent(converse: Converse, kind: Any) -> None:
    script: tuple[Turn, ...] = ([("planner", {"task": "Paris"})], answer("Planned."))
    if kind is CodeAgent:
        script = ("<code>\nprint(planner('Paris'))\n</code>", "<code>\nfinal_answer('Planned.')\n</code>")
    one = nested(kind, *script)
    for run in converse(one, "Plan", "Again"):
        assert run.tool_names == ("planner", "get_weather", "book_hotel")
        assert run.tool_calls[0].kind == "agent"
        assert run.tool_calls[0].arguments == {"task": "Paris"}
        assert run.tool_calls[0].run is not None
        assert_two(run.tool_calls[0].run)
        assert run.text == "Planned."
        assert not checks.no_tool_errors().passes(run)
        assert checks.called_tool("get_weather", agent="planner").passes(run)
    [run] = converse(one, "Plan", mocks=ToolMocks(mock_plan([{"tool": "planner", "result": "ok"}], "item")))
    assert run.tool_names == ("planner",)
    [run] = converse(one, "Plan", mocks=ToolMocks(mock_plan([{"tool": "book_hotel", "result": "ok"}], "item")))
    assert run.tool_calls[2].result == "ok"


def test_a_structured_answer(converse: Converse) -> None:
    [run] = converse(agent(answer({"city": "Paris"})), "Plan")
    assert run.output == {"city": "Paris"}
    assert as_run(agent(answer({"city": "Paris"})).run("Plan", return_full_result=True)).output == {"city": "Paris"}


def test_plans_are_no_answers(converse: Converse) -> None:
    [run] = converse(agent("1. Do it.", answer("Done."), planning_interval=1), "Plan")
    assert run.text == "Done."


def test_what_cannot_be_asked_is_refused(converse: Converse) -> None:
    with pytest.raises(TargetError, match="max_steps"):
        converse(agent(answer(NONE)), "Hi", options={"max_step": 2})
    with pytest.raises(TargetError, match="one text"):
        converse(agent(answer(NONE)), [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}])
    assert converse(agent(answer(NONE)), [{"role": "user", "content": "a"}])[0].text == NONE


def test_the_steps_of_a_streamed_run() -> None:
    run = as_run(list(agent(*SCRIPT).run("Plan", stream=True)))
    assert (run.text, run.tool_names, run.gap_kinds) == (TWO, ("get_weather", "book_hotel"), {"input", "nested_possible"})
    run = as_run(list(code_agent(*CODE).run("Plan", stream=True)))
    assert (run.text, run.gap_kinds) == (TWO, {"input", "calls"})


def test_mocks_find_the_tools_that_are_not_called(converse: Converse) -> None:
    assert_mocks_find(converse, lambda: agent(answer(NONE)))
