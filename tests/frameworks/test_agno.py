"""Agno, with a scripted model."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

agno = pytest.importorskip("agno")

from agno.agent import Agent  # noqa: E402
from agno.db.in_memory import InMemoryDb  # noqa: E402
from agno.metrics import MessageMetrics  # noqa: E402
from agno.models.base import Model  # noqa: E402
from agno.models.response import ModelResponse  # noqa: E402
from agno.team import Team  # noqa: E402
from agno.tools import tool  # noqa: E402
from agno.workflow import Step, Workflow  # noqa: E402
from pydantic import BaseModel  # noqa: E402
from scenarios import NONE, TWO, assert_mocks_find, assert_none, assert_raised, assert_two, outcomes  # noqa: E402

from quickchecks import Run, checks  # noqa: E402
from quickchecks._mocks import ToolMocks, mock_plan  # noqa: E402
from quickchecks.adapters import agent_kind, as_run  # noqa: E402
from quickchecks.errors import TargetError  # noqa: E402

Converse = Callable[..., list[Run]]
Turn = Any  # text, a list of (tool, arguments) pairs, or a function of the messages that gives one of them
PARIS = {"city": "Paris"}
SCRIPT: tuple[Turn, ...] = ([("get_weather", PARIS)], [("book_hotel", PARIS)], TWO)


class Scripted(Model):
    """Says one thing after the other; what it says next is found by how often it has spoken since the user did."""

    def __init__(self, *turns: Turn) -> None:
        super().__init__(id="scripted")
        self.turns = turns

    def invoke(self, messages: Any, *args: Any, **kwargs: Any) -> ModelResponse:
        spoken = 0
        for message in messages:
            spoken = 0 if message.role == "user" else spoken + (message.role == "assistant")
        turn = self.turns[min(spoken, len(self.turns) - 1)]
        turn = turn(messages) if callable(turn) else turn
        if isinstance(turn, Exception):
            raise turn
        said = ModelResponse(role="assistant", response_usage=MessageMetrics(input_tokens=20, output_tokens=7, total_tokens=27))
        if isinstance(turn, str):
            said.content = turn
            return said
        said.content = "".join(one for one in turn if isinstance(one, str)) or None
        said.tool_calls = [
            {
                "id": f"c{len(messages)}_{at}",
                "type": "function",
                "function": {"name": one[0], "arguments": one[1] if isinstance(one[1], str) else json.dumps(one[1])},
            }
            for at, one in enumerate(turn)
            if not isinstance(one, str)
        ]
        return said

    async def ainvoke(self, messages: Any, *args: Any, **kwargs: Any) -> ModelResponse:
        await asyncio.sleep(0.001)
        return self.invoke(messages)

    def invoke_stream(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
        yield self.invoke(messages)

    async def ainvoke_stream(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
        yield self.invoke(messages)

    def _parse_provider_response(self, response: Any, **kwargs: Any) -> Any:
        return response

    def _parse_provider_response_delta(self, response: Any) -> Any:
        return response


ran: list[str] = []


def get_weather(city: str) -> str:
    """Tell the weather."""
    ran.append("get_weather")
    return f"Sunny in {city}"


def book_hotel(city: str) -> str:
    """Book a hotel."""
    ran.append("book_hotel")
    raise ValueError("no rooms left")


def agent(*turns: Turn, **options: Any) -> Any:
    return Agent(model=Scripted(*turns), **{"name": "travel", "tools": [get_weather, book_hotel], "telemetry": False, **options})


def test_two(converse: Converse) -> None:
    one = agent(*SCRIPT, instructions="Be helpful.")
    [run] = converse(one, "Plan")
    assert_two(run)
    assert [message.role for message in run.messages] == ["system", "user", "assistant", "assistant", "assistant"]
    assert run.messages[1].text == "Plan"
    assert (run.gaps, run.agent, run.format) == ((), "travel", "agno")
    assert (one.db, one.tool_hooks, one.add_history_to_context) == (None, None, False)
    assert run.usage is not None
    assert (run.usage.input_tokens, run.usage.output_tokens) == (60, 21)
    assert run.duration
    assert run.tool_calls[0].duration is not None


def test_none_and_the_results_themselves(converse: Converse) -> None:
    assert_none(converse(agent(NONE), "Hi")[0])
    assert_none(agent(NONE).run("Hi"))
    result = agent(["Checking.", ("get_weather", PARIS)], *SCRIPT[1:]).run("Plan")
    assert as_run(result).text == f"Checking. {TWO}"
    assert_two(agent(*SCRIPT).run("Plan"))
    assert_two(json.loads(json.dumps(agent(*SCRIPT).run("Plan").to_dict())))


def test_a_call_that_was_cut_off_is_an_error_the_agent_goes_on_after(converse: Converse) -> None:
    [run] = converse(agent([("get_weather", '{"city": "Pa')], NONE), "Plan")
    [call] = run.tool_calls
    assert (call.name, call.arguments_note != "") == ("get_weather", True)
    assert call.failure() is not None
    assert checks.no_tool_errors().score(run).failed


def test_a_model_that_raises_leaves_what_was_done(converse: Converse) -> None:
    [run] = converse(agent(*SCRIPT[:2], RuntimeError("no model")), "Plan")
    assert_raised(run)
    assert run.error is not None
    assert run.error.message == "no model"
    assert run.text == ""


def test_a_conversation_remembers(converse: Converse) -> None:
    def recall(messages: Any) -> str:
        return " ".join(message.content for message in messages if message.role == "user")

    runs = converse(agent(recall), *(str(number) for number in range(6)))
    assert runs[-1].final_text == "0 1 2 3 4 5"
    assert [message.text for message in runs[-1].messages[runs[-1].history_length :]] == ["5", "0 1 2 3 4 5"]
    db = InMemoryDb()
    kept = converse(agent(recall, db=db, add_history_to_context=True), "I am Ada.", "Who am I?")
    assert kept[1].text == "I am Ada. Who am I?"
    assert len(db.get_sessions()) == 1
    assert converse(agent(recall, db=db), "a", "b")[1].text == "b"


def test_chat_messages_are_what_was_said_before(converse: Converse) -> None:
    asked = [
        {"role": "user", "content": "I am Ada."},
        {"role": "assistant", "content": "Hello."},
        {"role": "user", "content": "Ok?"},
    ]
    [run] = converse(agent(lambda messages: str([message.content for message in messages])), asked)
    assert run.text == "['I am Ada.', 'Hello.', 'Ok?']"
    assert [message.text for message in run.messages[run.history_length :]] == ["Ok?", run.text]


def test_calls_of_an_earlier_turn_are_history(converse: Converse) -> None:
    first, second = converse(agent([("get_weather", PARIS)], "Sunny."), "Plan", "Again")
    assert (first.tool_names, second.tool_names) == (("get_weather",), ("get_weather",))
    assert second.history_length == len(first.messages)


def test_parallel_calls_and_unknown_tools(converse: Converse) -> None:
    [run] = converse(agent([("get_weather", PARIS), ("no_such_tool", {}), ("book_hotel", PARIS)], "Done."), "Plan")
    assert [(call.name, call.failure() is None) for call in run.tool_calls] == [
        ("get_weather", True),
        ("no_such_tool", False),
        ("book_hotel", False),
    ]


def test_a_structured_answer_is_its_json(converse: Converse) -> None:
    class Weather(BaseModel):
        city: str

    for run in (converse(agent('{"city": "Paris"}', output_schema=Weather), "Plan")[0],):
        assert (run.output, run.text) == ({"city": "Paris"}, '{"city":"Paris"}')


def test_a_call_that_needs_a_person_waits(converse: Converse) -> None:
    @tool(requires_confirmation=True)
    def refund(order: str) -> str:
        """Refund."""
        return "done"

    [run] = converse(agent([("refund", {"order": "1"})], "Done.", tools=[refund]), "Refund")
    assert [(call.name, call.state) for call in run.tool_calls] == [("refund", "awaiting")]
    assert checks.no_tool_errors().score(run).outcome == "not_applicable"


def team(**options: Any) -> Any:
    member = agent(*SCRIPT, id="booker", name="booker")
    leader = Scripted([("delegate_task_to_member", {"member_id": "booker", "task": "Plan"})], "All done.")
    return Team(name="office", model=leader, members=[member], telemetry=False, **options)


def test_the_work_of_a_member_is_a_nested_run(converse: Converse) -> None:
    for run in (converse(team(), "Plan")[0], as_run(team().run("Plan"))):
        assert next((call.name, call.kind) for call in run.all_tool_calls) == ("delegate_task_to_member", "handoff")
        assert run.tool_names == ("get_weather", "book_hotel")
        assert run.text == "All done."
        assert [site.agent for site in run.call_sites][-1] == "booker"
        assert checks.no_tool_errors().score(run).failed
        assert run.children == ()
    bare = as_run(team(store_member_responses=False).run("Plan"))
    if not bare.nested_runs:
        assert checks.used_no_tools().score(bare).outcome == "no_evidence"


def test_a_team_remembers(converse: Converse) -> None:
    def recall(messages: Any) -> str:
        return " ".join(message.content for message in messages if message.role == "user")

    office = Team(name="office", model=Scripted(recall), members=[agent(NONE)], telemetry=False)
    first, second = converse(office, "I am Ada.", "Who am I?")
    assert (first.text, second.text) == ("I am Ada.", "I am Ada. Who am I?")
    assert office.db is None


def test_a_workflow_shows_what_its_agents_did(converse: Converse) -> None:
    flow = Workflow(name="plan", steps=[Step(name="one", agent=agent(*SCRIPT))], telemetry=False)
    [run] = converse(flow, "Plan")
    assert run.tool_names == ("get_weather", "book_hotel")
    assert run.text == TWO
    assert run.agent == "plan"
    kind = agent_kind(flow)
    assert kind is not None
    with pytest.raises(TargetError, match="mockable"):
        kind.converse(flow, {}, mocked({"tool": "x", "result": 1}))


def mocked(*mocks: dict[str, Any], **options: Any) -> ToolMocks:
    return ToolMocks(mock_plan({"mocks": list(mocks), **options}, "item 0"))


def test_mocks_answer_and_no_tool_runs(converse: Converse) -> None:
    one = agent(*SCRIPT)
    ran.clear()
    mocks = mocked(
        {"tool": "get_weather", "arguments": PARIS, "result": "Sunny"}, {"tool": "book_hotel", "error": "no rooms left"}
    )
    assert_two(converse(one, "Plan", mocks=mocks)[0])
    assert (ran, mocks.report()["unused"], one.tool_hooks) == ([], [], None)
    assert_two(converse(one, "Plan")[0])
    assert ran == ["get_weather", "book_hotel"]
    ran.clear()
    [run] = converse(team(), "Plan", mocks=mocked({"tool": "get_weather", "result": "Rain"}, unknown_tools="deny"))
    assert run.tool_calls[0].result == "Rain"
    assert run.tool_calls[1].failure() is not None
    assert ran == []


def test_a_stream_cannot_be_asked_for(converse: Converse) -> None:
    with pytest.raises(TargetError, match="stream"):
        converse(agent(NONE), "Hi", options={"stream": True})


def test_conversations_at_once_keep_apart() -> None:
    def recall(messages: Any) -> str:
        return " ".join(message.content for message in messages if message.role == "user")

    for one in (agent(recall), agent(recall, db=InMemoryDb(), add_history_to_context=True)):
        kind = agent_kind(one)
        assert kind is not None

        async def talk(name: str, one: Any = one, kind: Any = kind) -> str:
            dialogue = kind.converse(one, {}, None)
            await dialogue.ask(f"I am {name}.")
            return as_run(await dialogue.ask("Who am I?")).text

        async def all_of_them(talk: Any = talk) -> list[str]:
            return await asyncio.gather(*(talk(f"N{number}") for number in range(10)))

        assert asyncio.run(all_of_them()) == [f"I am N{number}. Who am I?" for number in range(10)]


def test_a_run_without_stored_messages_says_what_it_lacks() -> None:
    result = agent(*SCRIPT).run("Plan")
    result.messages = None
    run = as_run(result)
    assert run.tool_names == ("get_weather", "book_hotel")
    assert run.text == TWO
    assert outcomes(result)["did_not_call('refund')"] == "no_evidence"
    assert outcomes(result)["no_tool_errors()"] == "failed"


def test_the_events_of_a_streamed_run() -> None:
    events = list(agent(*SCRIPT).run("Plan", stream=True, stream_events=True))
    run = as_run(events)
    assert (run.text, run.tool_names, run.gap_kinds) == (TWO, ("get_weather", "book_hotel"), {"input", "calls"})
    assert run.tool_calls[1].failure() is not None
    assert run.usage is not None
    assert run.usage.input_tokens == 60
    stored = as_run(json.loads(json.dumps([event.to_dict() for event in events], default=str)))
    assert (stored.text, stored.tool_names) == (run.text, run.tool_names)
    assert as_run(events[:-1]).gap_kinds == {"input", "calls", "text"}
    words = as_run(list(agent(*SCRIPT).run("Plan", stream=True)))
    assert (words.text, words.gap_kinds) == (TWO, {"input", "calls"})
    assert_two(list(agent(*SCRIPT).run("Plan", stream=True, yield_run_output=True)))


def test_the_events_of_a_team() -> None:
    worker = agent([("get_weather", PARIS)], "Sunny", name="worker", id="worker")
    delegates = [("delegate_task_to_member", {"member_id": "worker", "task": "look"})]
    team = Team(model=Scripted(delegates, "Done."), members=[worker], name="team", telemetry=False)
    run = as_run(list(team.run("Plan", stream=True, stream_events=True)))
    assert (run.text, run.tool_names) == ("Done.", ("get_weather",))
    assert run.all_tool_calls[0].run is not None


def test_mocks_find_the_tools_that_are_not_called(converse: Converse) -> None:
    assert_mocks_find(converse, lambda: agent(NONE))
