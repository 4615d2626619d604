"""CrewAI, with a scripted model behind a small local server that speaks OpenAI's chat completions."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

crewai = pytest.importorskip("crewai")

from crewai import LLM, Agent, Crew, Task  # noqa: E402
from crewai.llms.base_llm import BaseLLM  # noqa: E402
from crewai.tools import tool  # noqa: E402
from pydantic import BaseModel  # noqa: E402
from scenarios import NONE, TWO, assert_mocks_find, assert_none, assert_raised, assert_two, outcomes  # noqa: E402

from quickchecks import Run, checks, run_evals_sync  # noqa: E402
from quickchecks._mocks import ToolMocks, mock_plan  # noqa: E402
from quickchecks.adapters import agent_kind, as_run  # noqa: E402
from quickchecks.errors import RecordingError, TargetError  # noqa: E402

Converse = Callable[..., list[Run]]
Turn = Any  # text, a list of (tool, arguments) pairs, a number (an HTTP status), or a function of the messages

SCRIPTS: dict[str, tuple[Turn, ...]] = {}


def turn_of(model: str, messages: Any) -> Turn:
    spoken = 0
    for message in messages:
        spoken = 0 if message["role"] == "user" else spoken + (message["role"] == "assistant")
    script = SCRIPTS[model]
    turn = script[min(spoken, len(script) - 1)]
    return turn(messages) if callable(turn) else turn


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *args: Any) -> None:
        pass

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        turn = turn_of(asked["model"], asked["messages"])
        if isinstance(turn, int):
            self.answer({"error": {"message": "no model", "type": "x"}}, turn)
            return
        message: dict[str, Any] = {"role": "assistant", "content": turn if isinstance(turn, str) else None}
        if not isinstance(turn, str):
            message["tool_calls"] = [
                {
                    "id": f"c{len(asked['messages'])}_{at}",
                    "type": "function",
                    "function": {"name": name, "arguments": given if isinstance(given, str) else json.dumps(given)},
                }
                for at, (name, given) in enumerate(turn)
            ]
        reason = "stop" if isinstance(turn, str) else "tool_calls"
        details = {"prompt_tokens_details": {"cached_tokens": 3}, "completion_tokens_details": {"reasoning_tokens": 2}}
        usage = {"prompt_tokens": 20, "completion_tokens": 7, "total_tokens": 27, **details}
        choice = {"index": 0, "message": message, "finish_reason": reason}
        self.answer(
            {"id": "r", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}, 200
        )

    def answer(self, value: Any, status: int) -> None:
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture(scope="module", autouse=True)
def server() -> Iterator[None]:
    made = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=made.serve_forever, daemon=True).start()
    global address
    address = f"http://127.0.0.1:{made.server_address[1]}/v1"
    yield
    made.shutdown()


address = ""
ran: list[str] = []


@tool("get_weather")
def get_weather(city: str) -> str:
    """Tell the weather."""
    ran.append("get_weather")
    return f"Sunny in {city}"


@tool("book_hotel")
def book_hotel(city: str) -> str:
    """Book a hotel."""
    ran.append("book_hotel")
    raise ValueError("no rooms left")


PARIS = {"city": "Paris"}
SCRIPT: tuple[Turn, ...] = ([("get_weather", PARIS)], [("book_hotel", PARIS)], TWO)


def model(*turns: Turn) -> Any:
    name = f"m{len(SCRIPTS)}"
    SCRIPTS[name] = turns
    return LLM(model=name, provider="openai", base_url=address, api_key="x", max_retries=0)


def agent(*turns: Turn, **options: Any) -> Any:
    llm = options.pop("llm", None) or model(*turns)
    given = {"role": "traveller", "goal": "travel", "backstory": "Likes trains.", "tools": [get_weather, book_hotel]}
    return Agent(**{**given, **options}, llm=llm, verbose=False)


def crew(*agents: Any, description: str = "Plan a trip to {place}", **options: Any) -> Any:
    tasks = [Task(description=description, expected_output="A plan", agent=one, **options) for one in agents]
    return Crew(agents=list(agents), tasks=tasks, verbose=False)


def test_two(converse: Converse) -> None:
    run = assert_two(converse(agent(*SCRIPT), "Plan")[0])
    assert [message.text for message in run.messages if message.role == "user"] == ["Plan"]
    assert run.gaps == ()
    assert run.agent == "traveller"
    failure = run.tool_calls[1].failure()
    assert failure is not None
    assert (failure.message, failure.type, failure.source) == ("no rooms left", "ValueError", "exception")
    assert run.usage is not None
    usage = (run.usage.input_tokens, run.usage.output_tokens, run.usage.cached_tokens, run.usage.reasoning_tokens)
    assert usage == (60, 21, 9, 6)
    assert run.usage.requests == 3
    assert run.duration


def test_two_in_a_crew(converse: Converse) -> None:
    one = crew(agent(*SCRIPT))
    run = assert_two(converse(one, "Paris")[0])
    assert [child.agent for child in run.children] == ["traveller"]
    assert "Plan a trip to Paris" in run.children[0].messages[1].text
    assert run.usage is not None
    assert run.usage.input_tokens == 60
    assert one.tasks[0].description == "Plan a trip to {place}"
    assert one.tasks[0].output is None


def test_the_outputs_themselves() -> None:
    output = agent(*SCRIPT).kickoff("Plan")
    run = assert_two(output)
    failure = run.tool_calls[1].failure()
    assert failure is not None
    assert (failure.message, failure.type, failure.source) == ("no rooms left", "ValueError", "flag")
    assert run.usage is not None
    assert run.usage.input_tokens == 60
    assert_two(json.loads(output.model_dump_json()))
    output = crew(agent(*SCRIPT)).kickoff(inputs={"place": "Paris"})
    run = assert_two(output)
    assert run.gap_kinds == {"input"}
    assert_two(output.tasks_output[0])
    assert_two(json.loads(output.model_dump_json()))


def test_a_crew_that_streams(converse: Converse) -> None:
    def streaming() -> Any:
        one = agent(NONE)
        task = Task(description="Plan {place}", expected_output="A plan", agent=one)
        return Crew(agents=[one], tasks=[task], stream=True)

    assert_none(converse(streaming(), "Paris")[0])
    output = crewai.types.streaming.CrewStreamingOutput(sync_iterator=iter(()))
    with pytest.raises(RecordingError, match="read to its end"):
        as_run(output)
    list(output)
    output._set_result(crew(agent(*SCRIPT)).kickoff(inputs={"place": "Paris"}))
    assert_two(output)


def test_none(converse: Converse) -> None:
    assert_none(converse(agent(NONE), "Hi")[0])
    assert_none(agent(NONE).kickoff("Hi"))
    assert_none(converse(crew(agent(NONE)), "Paris")[0])


@pytest.mark.parametrize("alone", [True, False])
def test_a_model_that_fails_leaves_what_was_done(converse: Converse, alone: bool) -> None:
    one = agent(*SCRIPT[:2], 400, max_retry_limit=0)  # a crew begins again where the model failed
    run = assert_raised(converse(one if alone else crew(one), "Plan")[0])
    assert run.error is not None
    assert [call.name for call in run.tool_calls] == ["get_weather", "book_hotel"]


def test_a_failure_may_end_the_run(converse: Converse) -> None:
    run = assert_raised(converse(agent(*SCRIPT, tool_failure_policy="raise"), "Plan")[0])
    assert run.error is not None
    assert run.error.type == "ToolExecutionFailedError"


def remembered(messages: Any) -> str:
    names = [
        part.split()[0].strip(".")
        for message in messages
        if message["role"] == "user"
        for part in str(message["content"]).split("I am ")[1:]
    ]
    return f"You are {names[-1]}." if names else "I do not know you."


def test_a_conversation_remembers_and_leaves_nothing_behind(converse: Converse) -> None:
    one = agent(remembered)
    first, second, third = converse(one, "I am Ada", "Who am I?", "Again?")
    assert first.text == second.text == third.text == "You are Ada."
    assert [message.text for message in third.messages[third.history_length :]] == ["Again?", "You are Ada."]
    assert [message.text for message in third.history if message.role == "user"] == ["I am Ada", "Who am I?"]
    assert converse(one, "Who am I?")[0].text == "I do not know you."


def test_calls_of_earlier_turns_are_history(converse: Converse) -> None:
    first, second = converse(agent(*SCRIPT), "Plan", "Plan again")
    assert_two(first)
    assert_two(second)
    assert len([part for message in second.history for part in message.parts if hasattr(part, "arguments")]) == 2


def test_earlier_messages_may_be_given(converse: Converse) -> None:
    given = [{"role": "user", "content": "I am Eve"}, {"role": "assistant", "content": "Hi"}, {"role": "user", "content": "Me?"}]
    run = converse(agent(remembered), given)[0]
    assert run.text == "You are Eve."
    assert as_run(agent(remembered).kickoff(given)).text == "You are Eve."


def test_ten_conversations_at_once_do_not_leak() -> None:
    def once(messages: Any) -> Turn:
        if messages[-1]["role"] == "tool":
            return remembered(messages)
        return [("get_weather", {"city": remembered(messages).split()[-1]})]

    one = agent(once)
    kind = agent_kind(one)
    assert kind is not None
    assert not kind.stateful

    async def talk(name: str) -> list[Run]:
        dialogue = kind.converse(one, {}, None)
        return [await asyncio.to_thread(dialogue.ask, asked) for asked in (f"I am {name}", "Who am I?")]

    async def all_of_them() -> list[list[Run]]:
        return await asyncio.gather(*(talk(f"N{number}") for number in range(10)))

    for number, runs in enumerate(asyncio.run(all_of_them())):
        for run in runs:
            assert run.text == f"You are N{number}."
            assert [call.result for call in run.tool_calls] == [f"Sunny in N{number}."]
            assert run.usage is not None
            assert run.usage.requests == 2


def test_parallel_calls_and_an_unknown_tool(converse: Converse) -> None:
    for unknown in ([], [("no_such_tool", {"x": 1})]):
        script = ([("get_weather", PARIS), ("book_hotel", PARIS), *unknown], "Done.")
        for value in (converse(agent(*script), "Plan")[0], agent(*script).kickoff("Plan")):
            run = as_run(value)
            failed = [call.name for call in run.tool_calls if call.failure() is not None]
            assert failed == ["book_hotel", *(["no_such_tool"] if unknown else [])]
            assert len(run.tool_calls) == 2 + len(unknown)


def test_a_call_that_was_cut_off_is_a_failed_call(converse: Converse) -> None:
    script = ([("get_weather", '{"city": "Par')], "Done.")
    for value in (converse(agent(*script), "Plan")[0], agent(*script).kickoff("Plan")):
        run = as_run(value)
        [call] = run.tool_calls
        assert call.failure() is not None
        assert call.arguments == '{"city": "Par'
        assert run.text == "Done."


def test_arguments_that_do_not_fit(converse: Converse) -> None:
    script = ([("get_weather", {"town": "Paris"})], "Done.")
    for value in (converse(agent(*script), "Plan")[0], agent(*script).kickoff("Plan")):
        [call] = as_run(value).tool_calls
        assert call.failure() is not None


def test_mocks_answer_in_place_of_tools(converse: Converse) -> None:
    plan = [{"tool": "get_weather", "arguments": PARIS, "result": "Sunny"}, {"tool": "book_hotel", "error": "no rooms left"}]
    for one in (agent(*SCRIPT), crew(agent(*SCRIPT))):
        ran.clear()
        mocks = ToolMocks(mock_plan(plan, "item"))
        run = assert_two(converse(one, "Paris", mocks=mocks)[0])
        assert ran == []
        failure = run.tool_calls[1].failure()
        assert failure is not None
        assert failure.type == "ToolMockError"
        assert [served["tool"] for served in mocks.report()["served"]] == ["get_weather", "book_hotel"]
        converse(one, "Paris", mocks=ToolMocks(mock_plan({"mocks": [], "unknown_tools": "deny"}, "item")))
        assert ran == []
        converse(one, "Paris")
        assert ran == ["get_weather", "book_hotel"]


def test_what_is_cached_stands_in_for_no_mock(converse: Converse) -> None:
    both = ([("get_weather", PARIS)], [("get_weather", PARIS)], "Done.")
    for one in (agent(*both, cache=True), crew(agent(*both, cache=True))):
        ran.clear()
        run = converse(one, "Paris")[0]
        assert [call.result for call in run.tool_calls] == ["Sunny in Paris"] * 2
        assert ran == ["get_weather"]
        converse(one, "Paris")
        assert ran == ["get_weather"] * 2
        plan = [{"tool": "get_weather", "result": "Rain", "times": 1}, {"tool": "get_weather", "result": "Snow"}]
        run = converse(one, "Paris", mocks=ToolMocks(mock_plan(plan, "item")))[0]
        assert [call.result for call in run.tool_calls] == ["Rain", "Snow"]
        assert ran == ["get_weather"] * 2


class Answer(BaseModel):
    city: str
    sunny: bool


def test_structured_output(converse: Converse) -> None:
    value = json.dumps({"city": "Paris", "sunny": True})
    run = converse(agent(value), "Plan", options={"response_format": Answer})[0]
    assert run.output == {"city": "Paris", "sunny": True}
    assert run.tool_calls == ()
    output = crew(agent(value), output_pydantic=Answer).kickoff(inputs={"place": "Paris"})
    assert as_run(output).output == {"city": "Paris", "sunny": True}
    assert converse(crew(agent(value), output_pydantic=Answer), "Paris")[0].output == {"city": "Paris", "sunny": True}


class Writer(BaseLLM):
    """A model without tool calling: the framework has it write its calls."""

    turns: list[str]

    def call(self, messages: Any, *args: Any, **kwargs: Any) -> str:
        text = "\n".join(str(message["content"]) for message in messages[1:])
        return self.turns[min(text.count("Observation:"), len(self.turns) - 1)]

    def supports_function_calling(self) -> bool:
        return False


def written(name: str) -> str:
    return f'Thought: look\nAction: {name}\nAction Input: {{"city": "Paris"}}'


def test_calls_that_stand_in_the_text(converse: Converse) -> None:
    turns = [written("get_weather"), written("book_hotel"), f"Thought: I now know the final answer\nFinal Answer: {TWO}"]
    run = assert_two(converse(agent(llm=Writer(model="w", turns=turns)), "Plan")[0])
    assert run.usage is None
    assert_two(agent(llm=Writer(model="w", turns=turns)).kickoff("Plan"))
    assert_two(crew(agent(llm=Writer(model="w", turns=turns))).kickoff(inputs={"place": "Paris"}))


def test_several_tasks_and_a_coworker(converse: Converse) -> None:
    ask = ("delegate_work_to_coworker", {"task": "Plan", "context": "Paris", "coworker": "planner"})
    boss = agent([ask], "Done.", role="boss", tools=[], allow_delegation=True)
    planner = agent(*SCRIPT, role="planner")
    tasks = [Task(description="Lead {place}", expected_output="x", agent=boss)]
    one = Crew(agents=[boss, planner], tasks=tasks, verbose=False)
    run = converse(one, "Paris")[0]
    assert run.text == "Done."
    assert sorted(run.tool_names) == ["book_hotel", "delegate_work_to_coworker", "get_weather"]
    assert not checks.no_tool_errors().passes(run)
    seen = as_run(one.kickoff(inputs={"place": "Paris"}))
    assert seen.gap_kinds == {"input", "nested", "calls"}
    assert [call.name for call in seen.tool_calls] == ["delegate_work_to_coworker", "book_hotel"]  # it failed, which is told
    assert outcomes(seen)["did_not_call('refund')"] == "no_evidence"
    both = crew(agent(NONE, role="first"), agent(*SCRIPT, role="second"))
    run = converse(both, "Paris")[0]
    assert run.text == TWO
    assert [child.agent for child in run.children] == ["first", "second"]
    assert run.tool_names == ("get_weather", "book_hotel")


def test_what_a_crew_cannot_be_asked(converse: Converse) -> None:
    with pytest.raises(TargetError, match="no placeholder"):
        converse(crew(agent(NONE), description="Plan"), "Hi")
    with pytest.raises(TargetError, match="one turn"):
        converse(crew(agent(NONE)), "Hi", "Again")
    with pytest.raises(TargetError, match="input_key"):
        converse(crew(agent(NONE)), "Hi", options={"input_keys": "place"})
    with pytest.raises(TargetError, match="from, to"):
        converse(crew(agent(NONE), description="{from} {to}"), "Hi")
    assert_none(converse(crew(agent(NONE), description="{from} {to}"), {"from": "a", "to": "b"})[0])
    options = {"inputs": {"from": "a"}}
    assert_none(converse(crew(agent(NONE), description="{from} {to}"), "b", options=options)[0])
    assert_none(converse(crew(agent(NONE), description="Plan"), "b", options={"input_key": "x"})[0])


def test_mocks_find_the_tools_that_are_not_called(converse: Converse) -> None:
    assert_mocks_find(converse, lambda: agent(NONE))


def test_a_stream_that_a_function_returns_is_read_to_its_end() -> None:
    """The small server does not stream, so the crew has worked before the pieces come."""
    streaming = crewai.types.streaming
    piece = streaming.StreamChunk(content="Hello")

    def target(place: str) -> Any:
        def pieces() -> Iterator[Any]:
            yield piece
            output._set_result(crew(agent(NONE)).kickoff(inputs={"place": place}))

        output = streaming.CrewStreamingOutput(sync_iterator=pieces())
        return output

    result = run_evals_sync(data=[{"input": "Paris"}], target=target, scorers=[checks.equals(NONE), checks.used_no_tools()])
    assert list(result.scores.values()) == [1.0, 1.0]
    with pytest.raises(RecordingError, match="not an answer"):
        as_run([piece])
