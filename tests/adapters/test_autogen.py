"""AutoGen: results, responses and lists of messages, without the framework."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from foreign import foreign

from quickchecks import Run, checks, load_run
from quickchecks._run import Reasoning
from quickchecks.errors import RecordingError

Foreign = Any  # JSON and the objects of frameworks have no types


def message(kind: str, content: Foreign, source: str = "travel", **more: Foreign) -> Foreign:
    return {"type": kind, "source": source, "content": content, **more}


def asks(*names: str, source: str = "travel", arguments: str = "{}") -> Foreign:
    calls = [{"id": f"c{at}", "name": name, "arguments": arguments} for at, name in enumerate(names)]
    return message("ToolCallRequestEvent", calls, source)


def answers(*results: tuple[str, bool | None], source: str = "travel") -> Foreign:
    listed = [{"call_id": f"c{at}", "content": text, "is_error": failed} for at, (text, failed) in enumerate(results)]
    return message("ToolCallExecutionEvent", listed, source)


ASKED = message("TextMessage", "q", "user")
SAYS = message("TextMessage", "Sunny.", models_usage={"prompt_tokens": 20, "completion_tokens": 7})


def read(*messages: Foreign) -> Run:
    return load_run(list(messages), format="autogen")


def test_the_flag_says_whether_a_call_failed() -> None:
    run = read(ASKED, asks("f", "g", "h"), answers(("no", True), ("Error: none", False), ("Error: none", None)), SAYS)
    failures = [call.failure() for call in run.tool_calls]
    assert [failure and failure.source for failure in failures] == ["flag", None, "text"]
    assert run.usage is not None
    assert (run.usage.input_tokens, run.usage.requests) == (20, 1)


def test_a_thought_is_text_beside_calls_and_reasoning_elsewhere() -> None:
    thought = message("ThoughtEvent", "Checking.")
    assert read(ASKED, thought, asks("f"), answers(("ok", False)), SAYS).text == "Checking. Sunny."
    alone = read(ASKED, thought, SAYS)
    assert alone.text == "Sunny."
    assert type(alone.messages[1].parts[0]) is Reasoning


def test_a_summary_is_no_answer_and_its_calls_are_counted_once() -> None:
    summary = message(
        "ToolCallSummaryMessage",
        "ok",
        tool_calls=[{"id": "c0", "name": "f", "arguments": "{}"}],
        results=[{"call_id": "c0", "content": "ok", "is_error": False}],
    )
    for run in (read(ASKED, asks("f"), answers(("ok", False)), summary), read(ASKED, summary)):
        assert (run.tool_names, run.text) == (("f",), "")
        assert run.tool_calls[0].result == "ok"


def test_a_handoff_is_known_by_the_message_that_it_made() -> None:
    over = message("HandoffMessage", "To b.", target="b")
    run = read(ASKED, asks("give_to_b", "f"), answers(("To b.", False), ("ok", False)), over, message("TextMessage", "Hi.", "b"))
    assert [call.kind for call in run.all_tool_calls] == ["handoff", "tool"]
    assert run.text == "Hi."
    assert read(ASKED, asks("transfer_to_b"), answers(("ok", False)), SAYS).tool_names == ("transfer_to_b",)


def test_an_agent_that_a_call_started_is_a_nested_run() -> None:
    task = message("TextMessage", "Book.", "user")
    inner = [
        task,
        asks("f", source="booker"),
        answers(("no", True), source="booker"),
        message("TextMessage", "Booked.", "booker"),
    ]
    run = read(ASKED, asks("booker", arguments='{"task": "Book."}'), *inner, answers(("Booked.", False)), SAYS)
    assert [(call.name, call.kind) for call in run.tool_calls] == [("booker", "agent"), ("f", "tool")]
    assert run.text == "Sunny."
    assert checks.no_tool_errors().score(run).failed


def test_agents_that_speak_at_once_are_not_nested() -> None:
    run = read(ASKED, asks("f", source="a"), message("TextMessage", "Hi.", "b"), answers(("ok", False), source="a"), SAYS)
    assert (run.tool_names, run.text, run.tool_calls[0].kind) == (("f",), "Hi. Sunny.", "tool")


def test_who_is_a_person() -> None:
    wants = message("UserInputRequestedEvent", "", "ada")
    assert [one.role for one in read(ASKED, wants, message("TextMessage", "Yes.", "ada"), SAYS).messages] == [
        "user",
        "user",
        "assistant",
    ]
    assert [one.role for one in read(message("TextMessage", "q", "ada"), SAYS).messages] == ["user", "assistant"]
    assert read(message("TextMessage", "Hi.", "a"), message("TextMessage", "Bye.", "b")).text == "Hi. Bye."
    assert read(message("TextMessage", "Hi.", "a"), SAYS, message("TextMessage", "Bye.", "a")).text == "Hi. Sunny. Bye."


def test_an_unknown_message_may_be_a_call() -> None:
    run = read(ASKED, message("MagicEvent", [{"name": "f"}]), SAYS)
    assert checks.used_no_tools().score(run).outcome == "no_evidence"


def test_a_response_without_inner_messages_hides_calls() -> None:
    said = foreign("autogen_agentchat.messages:TextMessage", type="TextMessage", source="a", content="Sunny.", models_usage=None)
    response = foreign("autogen_agentchat.base._chat_agent:Response", chat_message=said, inner_messages=None)
    assert load_run(response).text == "Sunny."
    assert checks.used_no_tools().score(response).outcome == "no_evidence"


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ({"messages": [ASKED, 5]}, "messages[1]"),
        ({"messages": [ASKED, message("ToolCallRequestEvent", "x")]}, "messages[1].content"),
        ({"messages": [ASKED, message("ToolCallRequestEvent", [{"id": "1"}])]}, "messages[1].content[0].name"),
        ({"messages": [ASKED, message("ToolCallExecutionEvent", None)]}, "messages[1].content"),
        ({"chat_message": SAYS, "inner_messages": 5}, "inner_messages"),
        ({"messages": 5}, "messages"),
    ],
)
def test_what_is_malformed_is_named(value: Foreign, path: str) -> None:
    with pytest.raises(RecordingError) as caught:
        load_run(value, format="autogen")
    assert caught.value.path == path


def test_the_recorded_runs(shared: Path) -> None:
    folder = shared / "cases" / "frameworks" / "autogen"
    runs = {path.stem: load_run(json.loads(path.read_text())) for path in folder.glob("*.json")}
    assert {run.format for run in runs.values()} == {"autogen"}
    for name in ("two", "par", "response", "team"):
        assert [call.state for call in runs[name].tool_calls] == ["completed", "failed"], name
        assert runs[name].final_text == "Sunny in Paris; booking failed."
    assert checks.no_tool_errors().score(runs["cut"]).failed
    assert runs["two_max_tool_iterations1"].text == "Checking the weather."
    assert len(runs["loop_max_tool_iterations3"].tool_calls) == 3
