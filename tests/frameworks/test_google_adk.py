"""Google's ADK, with a scripted model."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

adk = pytest.importorskip("google.adk")

from crowds import assert_fifty_stay_apart  # noqa: E402
from google.adk.agents import Agent, SequentialAgent  # noqa: E402
from google.adk.apps import App  # noqa: E402
from google.adk.models import BaseLlm, LlmResponse  # noqa: E402
from google.adk.runners import InMemoryRunner  # noqa: E402
from google.adk.tools import FunctionTool, LongRunningFunctionTool  # noqa: E402
from google.adk.tools.agent_tool import AgentTool  # noqa: E402
from google.adk.workflow import START, Workflow  # noqa: E402
from google.genai import types  # noqa: E402
from pydantic import BaseModel  # noqa: E402
from scenarios import NONE, TWO, assert_kept_when_late, assert_mocks_find, assert_none, assert_raised, assert_two, outcomes  # noqa: E402

from quickchecks import Run, Usage, checks, run_evals_sync  # noqa: E402
from quickchecks._mocks import ToolMocks, mock_plan  # noqa: E402
from quickchecks.adapters import BrokenOff, agent_kind, as_run  # noqa: E402
from quickchecks.errors import TargetError, ToolMockError  # noqa: E402

Converse = Callable[..., list[Run]]


def words_of(request: Any) -> list[str]:
    """What the user said, in order."""
    return [
        part.text
        for content in request.contents
        for part in content.parts
        if content.role == "user" and part.text and not part.text.startswith("For context:")
    ]


def results_since(request: Any) -> int:
    """How many results there are since the user spoke."""
    found = 0
    for content in request.contents:
        results = sum(part.function_response is not None for part in content.parts)
        found = found + results if results or content.role != "user" else 0
    return found


class Scripted(BaseLlm):
    """Answers what a function of the request says: text, or a list of (tool, arguments) pairs."""

    script: Any = None
    reason: Any = None

    async def generate_content_async(self, llm_request: Any, stream: bool = False) -> Any:
        said = self.script(llm_request)
        if isinstance(said, str):
            parts = [types.Part(text="hm", thought=True), types.Part(text=said)]
        else:
            parts = [types.Part(function_call=types.FunctionCall(name=name, args=arguments)) for name, arguments in said]
        usage = types.GenerateContentResponseUsageMetadata(
            prompt_token_count=20, candidates_token_count=7, thoughts_token_count=2, cached_content_token_count=3
        )
        yield LlmResponse(
            content=types.Content(role="model", parts=parts), usage_metadata=usage, finish_reason=self.reason or "STOP"
        )


RAN: list[str] = []


def get_weather(city: str) -> str:
    """The weather of a city."""
    RAN.append("get_weather")
    return "Sunny"


def book_hotel(city: str) -> dict[str, str]:
    """Book a hotel."""
    RAN.append("book_hotel")
    return {"status": "error", "error_message": "no rooms left"}


def raising(city: str) -> str:
    """Book a hotel."""
    raise ValueError("no rooms left")


raising.__name__ = "book_hotel"


def two(request: Any) -> Any:
    return ([("get_weather", {"city": "Paris"})], [("book_hotel", {"city": "Paris"})], TWO)[results_since(request)]


def parallel(request: Any) -> Any:
    return TWO if results_since(request) else [("get_weather", {"city": "Paris"}), ("book_hotel", {"city": "Paris"})]


def agent(script: Any, *tools: Any, name: str = "travel", **more: Any) -> Any:
    model = Scripted(model="scripted", script=script)
    return Agent(name=name, model=model, instruction="Be helpful.", tools=list(tools or (get_weather, book_hotel)), **more)


def mocks(*given: Any) -> ToolMocks:
    return ToolMocks(mock_plan(list(given), "item 0"))


@pytest.mark.parametrize("script", [two, parallel])
def test_two(converse: Converse, script: Any) -> None:
    (run,) = converse(agent(script), "Plan")
    assert_two(run)
    assert (run.agent, run.messages[0].text, run.gaps) == ("travel", "Plan", ())
    assert run.usage == Usage(*((60, 27, 9, 6) if script is two else (40, 18, 6, 4)), requests=3 if script is two else 2)


def events_and_session(target: Any, asked: str = "Plan") -> tuple[list[Any], Any]:
    async def run() -> tuple[list[Any], Any]:
        runner = InMemoryRunner(agent=target, app_name="app")
        session = await runner.session_service.create_session(app_name="app", user_id="u")
        message = types.Content(role="user", parts=[types.Part(text=asked)])
        events = [event async for event in runner.run_async(user_id="u", session_id=session.id, new_message=message)]
        return events, await runner.session_service.get_session(app_name="app", user_id="u", session_id=session.id)

    return asyncio.run(run())


def test_events_and_sessions_are_scored_as_they_are() -> None:
    events, session = events_and_session(agent(two))
    assert assert_two(events).gap_kinds == {"input", "nested_possible"}
    assert assert_two(session).messages[0].text == "Plan"
    assert_two(session.model_dump(mode="json", by_alias=True))
    assert_two([event.model_dump(mode="json", exclude_none=True) for event in events])
    assert_none(events_and_session(agent(lambda request: NONE))[1])


def test_none(converse: Converse) -> None:
    assert_none(converse(agent(lambda request: NONE), "Hi")[0])


def test_cut(converse: Converse) -> None:
    model = Scripted(model="scripted", script=lambda request: "Let me", reason="MAX_TOKENS")
    (run,) = converse(Agent(name="travel", model=model), "Plan")
    assert "the model was cut off by the limit of tokens (MAX_TOKENS)" in [gap.note for gap in run.gaps]
    assert run.text == "Let me"


@pytest.mark.parametrize("script", [two, parallel])
def test_a_tool_that_raises_ends_the_run(converse: Converse, script: Any) -> None:
    (run,) = converse(agent(script, get_weather, raising), "Plan")
    failed = next(call for call in run.tool_calls if call.name == "book_hotel")
    assert failed.error is not None
    assert (failed.error.message, failed.error.type, failed.error.source) == ("no rooms left", "ValueError", "exception")
    if script is two:
        assert_raised(run)


def test_what_was_raised_is_the_cause() -> None:
    async def talk() -> Any:
        kind = agent_kind(target := agent(two, get_weather, raising))
        assert kind is not None
        with pytest.raises(BrokenOff) as caught:
            await kind.converse(target, {}, None).ask("Plan")
        return caught.value.__cause__

    assert isinstance(asyncio.run(talk()), ValueError)


def test_a_session_in_which_a_tool_raised() -> None:
    async def run() -> Any:
        runner = InMemoryRunner(agent=agent(two, get_weather, raising), app_name="app")
        session = await runner.session_service.create_session(app_name="app", user_id="u")
        with pytest.raises(ValueError, match="no rooms left"):
            async for _ in runner.run_async(
                user_id="u", session_id=session.id, new_message=types.Content(role="user", parts=[types.Part(text="Plan")])
            ):
                pass
        return await runner.session_service.get_session(app_name="app", user_id="u", session_id=session.id)

    read = assert_raised(asyncio.run(run()))
    assert read.error is not None
    assert read.error.type == "ValueError"


def test_a_callback_of_the_user_makes_an_answer_of_an_exception(converse: Converse) -> None:
    def told(tool: Any, args: Any, tool_context: Any, error: Exception) -> dict[str, str]:
        return {"error": str(error)}

    assert_two(converse(agent(two, get_weather, raising, on_tool_error_callback=told), "Plan")[0])


def test_an_unknown_tool_fails(converse: Converse) -> None:
    (run,) = converse(agent(lambda request: TWO if results_since(request) else [("refund", {"order": 1})]), "Plan")
    assert [(call.name, call.failure() is not None) for call in run.tool_calls] == [("refund", True)]
    assert checks.did_not_call("refund").score(run).failed


def remembers(request: Any) -> str:
    said = words_of(request)
    return f"You are {said[0].split()[-1]}" if len(said) > 1 else "Noted."


def test_two_turns_remember(converse: Converse) -> None:
    first, second = converse(agent(remembers), "I am Ada", "Who am I?")
    assert (first.text, second.text, second.messages[0].text) == ("Noted.", "You are Ada", "Who am I?")


def test_earlier_messages_are_taken_along(converse: Converse) -> None:
    asked = [
        {"role": "user", "content": "I am Ada"},
        {"role": "assistant", "content": "Noted."},
        {"role": "user", "content": "Who am I?"},
    ]
    (run,) = converse(agent(remembers), asked)
    assert run.text == "You are Ada"
    assert [message.text for message in run.messages] == ["Who am I?", "You are Ada"]


def test_many_conversations_share_one_agent() -> None:
    assert_fifty_stay_apart(agent(remembers))


def test_a_transfer_is_a_handoff(converse: Converse) -> None:
    sub = agent(two, name="sub")
    top = agent(lambda request: [("transfer_to_agent", {"agent_name": "sub"})], name="top", sub_agents=[sub])
    (run,) = converse(top, "Plan")
    assert_two(run)
    assert next((call.name, call.kind) for call in run.all_tool_calls) == ("transfer_to_agent", "handoff")
    assert [site.agent for site in run.call_sites] == ["sub", "sub"]


def nested_agent() -> Any:
    return agent(
        lambda request: "ok" if results_since(request) else [("helper", {"request": "Plan"})],
        AgentTool(agent(two, name="helper")),
        name="top",
    )


def test_an_agent_as_a_tool_has_a_run_of_its_own(converse: Converse) -> None:
    (run,) = converse(nested_agent(), "Plan")
    (call, *_) = run.all_tool_calls
    assert (call.name, call.kind, run.text) == ("helper", "agent", "ok")
    assert call.run is not None
    assert call.run.tool_names == ("get_weather", "book_hotel")
    assert call.run.messages[-1].text == TWO
    assert run.tool_names == ("helper", "get_weather", "book_hotel")


def test_events_do_not_show_what_an_agent_as_a_tool_did() -> None:
    _, session = events_and_session(nested_agent())
    found = outcomes(session)
    assert found["called_tool('get_weather')"] != "passed"
    assert "nested_possible" in as_run(session).gap_kinds


def test_a_workflow_of_agents(converse: Converse) -> None:
    steps = [agent(two, name="one"), agent(lambda request: "Done.", name="two")]
    (run,) = converse(SequentialAgent(name="steps", sub_agents=steps), "Plan")
    assert run.tool_names == ("get_weather", "book_hotel")
    assert [message.agent for message in run.messages[1:]] == ["one", "one", "one", "two"]


class City(BaseModel):
    city: str


def test_a_structured_answer(converse: Converse) -> None:
    model = Scripted(model="scripted", script=lambda request: '{"city": "Paris"}')
    (run,) = converse(Agent(name="travel", model=model, output_schema=City), "Plan")
    assert (run.text, run.output) == ('{"city": "Paris"}', {"city": "Paris"})


def test_a_workflow_of_functions_gives_what_its_last_step_gave(converse: Converse) -> None:
    def first(node_input: Any) -> dict[str, int]:
        return {"n": 1}

    def second(node_input: Any) -> dict[str, int]:
        return {"n": 2}

    (run,) = converse(Workflow(name="steps", edges=[(START, first, second)]), "x")
    assert (run.text, run.output) == ('{"n":2}', {"n": 2})


def test_a_call_that_waits_for_a_person(converse: Converse) -> None:
    target = agent(
        lambda request: "ok" if results_since(request) else [("refund", {"order": 1})],
        FunctionTool(refund, require_confirmation=True),
    )
    (run,) = converse(target, "Refund")
    assert [(call.name, call.state) for call in run.tool_calls] == [("refund", "awaiting")]
    assert checks.no_tool_errors().score(run).outcome == "not_applicable"


def refund(order: int) -> str:
    """Refund an order."""
    RAN.append("refund")
    return "done"


def later(order: int) -> None:
    """Refund an order some day."""


def test_a_long_running_tool_waits(converse: Converse) -> None:
    target = agent(
        lambda request: "ok" if results_since(request) else [("later", {"order": 1})], LongRunningFunctionTool(func=later)
    )
    (run,) = converse(target, "Refund")
    assert run.tool_calls[0].state == "awaiting"


def test_apps_and_runners_are_targets(converse: Converse) -> None:
    app = App(name="mine", root_agent=agent(two))
    assert_two(converse(app, "Plan")[0])
    assert app.plugins == []
    runner = InMemoryRunner(app=App(name="mine", root_agent=agent(remembers)))
    assert [run.text for run in converse(runner, "I am Ada", "Who am I?")] == ["Noted.", "You are Ada"]
    assert [run.text for run in converse(runner, "I am Bo")] == ["Noted."]
    assert runner.plugin_manager.plugins == []


def test_mocks_answer_in_place_of_tools(converse: Converse) -> None:
    RAN.clear()
    given = mocks(
        {"tool": "get_weather", "result": "Sunny, mocked"}, {"tool": "book_hotel", "result": {"error": "no rooms left"}}
    )
    (run,) = converse(agent(two), "Plan", mocks=given)
    assert_two(run)
    assert (RAN, run.tool_calls[0].result) == ([], "Sunny, mocked")
    assert given.report()["unused"] == []


def test_mocks_of_an_item_reach_the_tools() -> None:
    RAN.clear()
    item = {
        "input": "Plan",
        "tool_mocks": [{"tool": "get_weather", "result": "Rain"}, {"tool": "book_hotel", "result": {"a": 1}}],
    }
    found = run_evals_sync(data=[item] * 2, target=nested_agent(), scorers=[checks.called_tool("book_hotel")], progress=False)
    assert ([item.error for item in found.items], RAN) == ([None, None], [])


def test_a_mock_that_fails_does_what_a_raising_tool_does(converse: Converse) -> None:
    RAN.clear()
    given = mocks({"tool": "book_hotel", "error": "no rooms left"})
    assert_raised(converse(agent(two), "Plan", mocks=given)[0])

    def told(tool: Any, args: Any, tool_context: Any, error: Exception) -> dict[str, str]:
        assert isinstance(error, ToolMockError)
        return {"error": str(error)}

    given = mocks({"tool": "book_hotel", "error": "no rooms left"})
    assert_two(converse(agent(two, on_tool_error_callback=told), "Plan", mocks=given)[0])
    assert "book_hotel" not in RAN


def test_mocks_reach_into_agents_used_as_tools(converse: Converse) -> None:
    RAN.clear()
    given = mocks({"tool": "get_weather", "result": "Sunny"}, {"tool": "book_hotel", "result": {"error": "no rooms left"}})
    (run,) = converse(nested_agent(), "Plan", mocks=given)
    assert (RAN, run.tool_names) == ([], ("helper", "get_weather", "book_hotel"))


def test_an_unknown_option_is_refused(converse: Converse) -> None:
    with pytest.raises(TargetError, match="did you mean 'run_config'"):
        converse(agent(two), "Plan", options={"runconfig": 1})


def test_options_reach_the_run_and_the_session(converse: Converse) -> None:
    from google.adk.agents.run_config import RunConfig

    (run,) = converse(agent(two), "Plan", options={"run_config": RunConfig(max_llm_calls=1), "state": {"a": 1}})
    assert run.error is not None
    assert run.error.type == "LlmCallsLimitExceededError"
    assert run.tool_names == ("get_weather",)


def test_an_agent_as_target_of_an_evaluation() -> None:
    found = run_evals_sync(
        data=[{"input": "Plan"}] * 3, target=agent(two), scorers=[checks.called_tool("book_hotel")], progress=False
    )
    assert found.scores == {"called_tool('book_hotel')": 1.0}


def test_mocks_find_the_tools_that_are_not_called(converse: Converse) -> None:
    assert_mocks_find(converse, lambda: agent(lambda request: NONE))


def test_mocks_know_agents_that_are_never_reached(converse: Converse) -> None:
    given = mocks({"tool": "book_hotel", "result": "ok"})
    inner = agent(lambda request: NONE, name="booker")
    outer = Agent(name="front", model=inner.model, sub_agents=[inner])
    (run,) = converse(outer, "Hi", mocks=given)
    assert given.trouble(run) == ""


def test_an_agent_that_runs_out_of_time_leaves_what_it_did() -> None:
    async def wait() -> str:
        """Wait."""
        await asyncio.sleep(60)
        return "done"

    def script(request: Any) -> Any:
        return ([("get_weather", {"city": "Paris"})], [("wait", {})], NONE)[results_since(request)]

    assert_kept_when_late(agent(script, get_weather, wait))
