"""Google's ADK: events and sessions, as objects and as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from foreign import foreign, foreign_class
from scenarios import assert_none, assert_raised, assert_two

from quickchecks import Usage, checks, load_run
from quickchecks._run import Reasoning, RunError, ToolError
from quickchecks.adapters import agent_kind
from quickchecks.errors import RecordingError

Foreign = Any  # JSON and the objects of SDKs have no types


def event(*parts: Foreign, author: str = "travel", role: str = "model", **more: Foreign) -> dict[str, Foreign]:
    content = {"content": {"role": role, "parts": list(parts)}} if parts else {}
    return {"author": author, "invocationId": "e-1", **content, **more}


def call(id: str, name: str, **args: Foreign) -> dict[str, Foreign]:
    return {"functionCall": {"id": id, "name": name, "args": args}}


def answer(id: str, name: str, response: Foreign) -> dict[str, Foreign]:
    return {"functionResponse": {"id": id, "name": name, "response": response}}


ASKED = event({"text": "Plan"}, author="user", role="user")
TWO: list[Foreign] = [
    ASKED,
    event(call("1", "get_weather", city="Paris"), usageMetadata={"promptTokenCount": 20, "candidatesTokenCount": 7}),
    event(answer("1", "get_weather", {"result": "Sunny"}), role="user"),
    event(call("2", "book_hotel", city="Paris")),
    event(answer("2", "book_hotel", {"status": "error", "error_message": "no rooms left"}), role="user"),
    event({"text": "hm", "thought": True}, {"text": "Sunny; booking failed."}),
]


def test_events() -> None:
    run = assert_two(TWO)
    assert (run.agent, run.id, run.usage) == ("travel", "e-1", Usage(20, 7, requests=1))
    assert run.gap_kinds == {"nested_possible"}
    assert type(run.messages[-1].parts[0]) is Reasoning
    assert assert_two(TWO[1:]).gap_kinds == {"nested_possible", "input"}


def test_a_session() -> None:
    run = assert_two({"id": "s", "appName": "a", "userId": "u", "state": {}, "events": TWO})
    assert run.id == "s"
    session = foreign("google.adk.sessions.session:Session", model_dump=lambda **options: {"id": "s", "events": TWO})
    assert_two(session)


def test_objects_and_parts_of_a_streamed_answer() -> None:
    objects = [foreign("google.adk.events.event:Event", model_dump=lambda shown=one, **options: shown) for one in TWO]
    streamed = {**event({"text": "Sun"}), "partial": True}
    assert_two([*objects, streamed])


def test_none() -> None:
    assert_none([ASKED, event({"text": "Hello there."})])


def test_a_tool_that_raised() -> None:
    run = assert_raised([*TWO[:4], event(errorCode="ValueError", errorMessage="no rooms left")])
    assert run.error == RunError("no rooms left", "ValueError")
    assert run.tool_calls[1].error == ToolError("no rooms left", "ValueError", "exception")


def test_an_error_after_which_the_agent_went_on_is_none_of_the_run() -> None:
    assert load_run([ASKED, event(errorCode="X", errorMessage="y"), event({"text": "z"})]).error is None


def test_of_two_open_calls_nobody_knows_which_raised() -> None:
    run = load_run([ASKED, event(call("1", "f"), call("2", "g")), event(errorCode="ValueError", errorMessage="x")])
    assert [made.state for made in run.tool_calls] == ["requested", "requested"]
    assert checks.no_tool_errors().score(run).failed


def test_a_malformed_call_is_an_error_and_no_evidence() -> None:
    run = load_run([ASKED, event(errorCode="MALFORMED_FUNCTION_CALL", errorMessage="Malformed: f(")])
    assert run.error == RunError("Malformed: f(", "MALFORMED_FUNCTION_CALL")
    assert checks.used_no_tools().score(run).outcome == "no_evidence"


def test_a_transfer_is_a_handoff_where_the_framework_says_that_it_happened() -> None:
    asks = event(call("1", "transfer_to_agent", agent_name="sub"))
    done = event(answer("1", "transfer_to_agent", {"result": None}), role="user", actions={"transferToAgent": "sub"})
    run = load_run([ASKED, asks, done, event({"text": "x"}, author="sub")])
    assert (run.tool_calls, run.all_tool_calls[0].kind) == ((), "handoff")
    assert [message.agent for message in run.messages] == [None, "travel", "sub"]
    refused = event(answer("1", "transfer_to_agent", {"error": "no such agent"}), role="user")
    assert load_run([ASKED, asks, refused]).tool_names == ("transfer_to_agent",)


def test_a_structured_answer_and_the_pseudo_tool_that_took_it() -> None:
    run = load_run(
        [
            ASKED,
            event(call("1", "set_model_response", n=1)),
            event(answer("1", "set_model_response", {"n": 1}), role="user", actions={"setModelResponse": {"n": 1}}),
            event({"text": '{"n": 1}'}, output={"n": 1}),
        ]
    )
    assert (run.output, run.tool_calls) == ({"n": 1}, ())
    assert load_run([ASKED, event(output={"n": 2})]).output == {"n": 2}


def test_what_waits_for_a_person() -> None:
    confirmation = call("q", "adk_request_confirmation", originalFunctionCall={"id": "1", "name": "refund"})
    run = load_run(
        [
            ASKED,
            event(call("1", "refund")),
            event(confirmation, longRunningToolIds=["q"]),
            event(
                answer("1", "refund", {"error": "needs a confirmation"}),
                role="user",
                actions={"requestedToolConfirmations": {"1": {"hint": "ok?"}}},
            ),
        ]
    )
    assert [(made.name, made.state) for made in run.tool_calls] == [("refund", "awaiting")]
    later = load_run([ASKED, event(call("1", "ship"), longRunningToolIds=["1"]), event({"text": "x"})])
    assert checks.no_tool_errors().score(later).outcome == "not_applicable"


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ([*TWO, 5], "[6]"),
        ([ASKED, {**event({"text": "x"}), "author": 5}], "[1].author"),
        ([ASKED, {**event(), "content": 5}], "[1].content"),
        ([ASKED, event({"functionCall": {"args": {}}})], "[1].content.parts[0].function_call.name"),
    ],
)
def test_what_is_malformed_names_the_place(value: Foreign, path: str) -> None:
    with pytest.raises(RecordingError) as caught:
        load_run(value)
    assert caught.value.path == path


def test_agents_apps_and_runners_are_agents() -> None:
    agent = foreign("google.adk.agents.llm_agent:LlmAgent", foreign_class("google.adk.agents.base_agent:BaseAgent"))
    for target in (agent, foreign("google.adk.runners:InMemoryRunner", foreign_class("google.adk.runners:Runner"))):
        kind = agent_kind(target)
        assert kind is not None
        assert (kind.format, kind.mocks_tools, kind.stateful) == ("google_adk", True, False)


def without_classes(value: Foreign) -> Foreign:
    if isinstance(value, dict):
        return {key: without_classes(held) for key, held in value.items() if key != "__class__"}
    return [without_classes(held) for held in value] if isinstance(value, list) else value


@pytest.mark.parametrize(
    ("name", "failed"),
    [
        ("two_bh_err_nocb", ["book_hotel"]),
        ("two_bh_err2_nocb_session", ["book_hotel"]),
        ("two_bh_raise_nocb", ["book_hotel"]),
        ("two_bh_raise_nocb_session", ["book_hotel"]),
        ("par_bh_raise_cb", ["book_hotel"]),
        ("bad_bh_err_nocb", ["no_such_tool"]),
        ("badargs_bh_err_nocb_session", ["get_weather"]),
        ("loop_bh_err_nocb_session", []),
        ("transfer", []),
        ("agenttool", []),
        ("none_bh_err_nocb", []),
        ("cut_bh_err_nocb", []),
        ("malformed_bh_err_nocb", []),
    ],
)
def test_what_the_framework_gave(name: str, failed: list[str], shared: Path) -> None:
    run = load_run(without_classes(json.loads((shared / "cases/frameworks/google_adk" / f"{name}.json").read_text())))
    assert run.format == "google_adk"
    assert [made.name for made in run.tool_calls if made.failure() is not None] == failed
    if name.startswith(("two", "par")):
        assert run.tool_names == ("get_weather", "book_hotel")
    if "raise_nocb" in name:
        assert run.error == RunError("no rooms left", "ValueError")
