"""Claude Agent SDK: its messages, stream-json, results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from foreign import foreign
from scenarios import assert_none, assert_two

from quickchecks import Usage, checks, load_run
from quickchecks._run import Gap, RunError, ToolError
from quickchecks.adapters import agent_kind
from quickchecks.errors import RecordingError

Foreign = Any  # JSON and the objects of SDKs have no types


def text(words: str) -> dict[str, Foreign]:
    return {"type": "text", "text": words}


def use(id: str, name: str, **input: Foreign) -> dict[str, Foreign]:
    return {"type": "tool_use", "id": id, "name": name, "input": input}


def answer(id: str, content: Foreign, **more: Foreign) -> dict[str, Foreign]:
    return {"type": "tool_result", "tool_use_id": id, "content": content, **more}


def item(role: str, *content: Foreign, id: str | None = None, **more: Foreign) -> dict[str, Foreign]:
    message = {"role": role, "model": "m", "content": list(content), **({"id": id} if id else {})}
    return {"type": role, "message": message, "session_id": "s", "parent_tool_use_id": None, **more}


def ended(**more: Foreign) -> dict[str, Foreign]:
    return {"type": "result", "subtype": "success", "is_error": False, "session_id": "s", **more}


TWO: list[Foreign] = [
    {"type": "system", "subtype": "init", "session_id": "s", "tools": ["Task"]},
    item("assistant", use("t1", "mcp__t__get_weather", city="Paris")),
    item("user", answer("t1", [text("Sunny")])),
    item("assistant", use("t2", "mcp__t__book_hotel", city="Paris")),
    item("user", answer("t2", "no rooms left", is_error=True)),
    item("assistant", text("Sunny; "), id="m1"),
    item("assistant", text("booking failed."), id="m1"),
    ended(result="Sunny; booking failed.", duration_ms=120, total_cost_usd=0.5, usage={"input_tokens": 60, "output_tokens": 21}),
]


def test_stream_json() -> None:
    run = assert_two(TWO)
    assert (run.id, run.duration, run.usage) == ("s", 0.12, Usage(60, 21, cost=0.5))
    assert run.gaps == (Gap("input", "the messages of the SDK do not show what was asked"),)
    assert run.tool_calls[1].metadata == {"server": "t", "qualified": "mcp__t__book_hotel"}


def test_objects_of_the_sdk() -> None:
    def block(cls: str, **fields: Foreign) -> Foreign:
        return foreign(f"claude_agent_sdk.types:{cls}", **fields)

    def said(*content: Foreign) -> Foreign:
        return foreign("claude_agent_sdk.types:AssistantMessage", content=list(content), parent_tool_use_id=None, error=None)

    def heard(*content: Foreign) -> Foreign:
        return foreign("claude_agent_sdk.types:UserMessage", content=list(content), parent_tool_use_id=None)

    run = assert_two(
        [
            foreign("claude_agent_sdk.types:UserMessage", content="Plan"),
            said(block("ThinkingBlock", thinking="hm", signature="s")),
            said(block("ToolUseBlock", id="t1", name="mcp__t__get_weather", input={"city": "Paris"})),
            heard(block("ToolResultBlock", tool_use_id="t1", content=[text("Sunny")], is_error=None)),
            said(block("ToolUseBlock", id="t2", name="mcp__t__book_hotel", input={"city": "Paris"})),
            heard(block("ToolResultBlock", tool_use_id="t2", content="no rooms left", is_error=True)),
            said(block("TextBlock", text="Sunny; booking failed.")),
            foreign("claude_agent_sdk.types:ResultMessage", subtype="success", is_error=False, result="Sunny; booking failed."),
        ]
    )
    assert (run.messages[0].text, run.gaps) == ("Plan", ())


def test_what_the_provider_ran() -> None:
    made = foreign("claude_agent_sdk.types:ServerToolUseBlock", id="w", name="web_search", input={})
    found = foreign("claude_agent_sdk.types:ServerToolResultBlock", tool_use_id="w", content={"type": "web_search_result"})
    run = load_run([foreign("claude_agent_sdk.types:AssistantMessage", content=[made, found])])
    assert [(call.name, call.kind, call.state) for call in run.tool_calls] == [("web_search", "provider", "completed")]


def test_a_sub_agent_is_the_run_of_its_call() -> None:
    run = load_run(
        [
            item("user", text("q")),
            item("assistant", use("a", "Task", subagent_type="reader", prompt="p")),
            item("user", text("p"), parent_tool_use_id="a"),
            item("assistant", use("b", "Agent"), parent_tool_use_id="a"),
            item("assistant", use("c", "Read"), parent_tool_use_id="b"),
            item("user", answer("c", "gone", is_error=True), parent_tool_use_id="b"),
            item("user", answer("b", "inner done"), parent_tool_use_id="a"),
            item("user", answer("a", "done")),
            item("assistant", text("x")),
            ended(result="x"),
        ]
    )
    (call, *_) = run.all_tool_calls
    assert (call.kind, call.result) == ("handoff", "done")
    assert call.run is not None
    assert (call.run.agent, call.run.messages[0].text) == ("reader", "p")
    assert run.tool_names == ("Read",)
    assert run.gaps == ()
    assert checks.no_tool_errors().score(run).failed


def test_a_sub_agent_that_is_not_shown_is_a_gap() -> None:
    run = load_run(
        [
            item("user", text("q")),
            item("assistant", use("a", "Task")),
            item("user", answer("a", "x")),
            item("assistant", text("y")),
            ended(result="y"),
        ]
    )
    assert [gap.kind for gap in run.gaps] == ["nested"]
    assert checks.did_not_call("refund").score(run).outcome == "no_evidence"


def test_a_sub_agent_that_still_works_is_a_gap() -> None:
    def told(subtype: str, **more: Foreign) -> dict[str, Foreign]:
        return {"type": "system", "subtype": subtype, "task_id": "t", "session_id": "s", **more}

    begun = [
        item("user", text("q")),
        item("assistant", use("a", "Task")),
        told("task_started", is_backgrounded=True, tool_use_id="a", task_type="local_agent"),
        item("user", answer("a", "launched")),
        item("assistant", use("c", "Read"), parent_tool_use_id="a"),
        item("user", answer("c", "x"), parent_tool_use_id="a"),
    ]
    cut = load_run([*begun, item("assistant", text("y")), ended(result="y")])
    assert cut.tool_names == ("Read",)
    assert checks.did_not_call("refund").score(cut).outcome == "no_evidence"
    for end in (told("task_notification", status="completed"), told("task_updated", patch={"status": "killed"})):
        whole = load_run([*begun, end, item("assistant", text("y")), ended(result="y")])
        assert checks.did_not_call("refund").score(whole).passed
    server = told("task_started", is_backgrounded=True, task_type="local_bash")  # ends when it likes, and calls nothing
    assert checks.did_not_call("refund").score(load_run([*begun[:1], server, item("assistant", text("y")), ended()])).passed


def test_a_sub_agent_whose_call_is_not_recorded_is_a_run_beside() -> None:
    run = load_run([item("assistant", use("c", "Read"), parent_tool_use_id="gone"), item("assistant", text("x"))])
    assert [child.tool_names for child in run.children] == [("Read",)]
    assert run.tool_names == ("Read",)


def test_sub_agents_that_call_each_other_in_a_circle_end() -> None:
    run = load_run([item("assistant", use("a", "Task"), parent_tool_use_id="a"), item("assistant", text("x"))])
    assert run.text == "x"


def test_a_result_alone_has_no_calls() -> None:
    run = assert_result_text(ended(result="Hello there."))
    assert checks.used_no_tools().score(run).outcome == "no_evidence"


def assert_result_text(value: Foreign) -> Foreign:
    run = load_run(value)
    assert run.text == "Hello there."
    return run


def test_an_answer_that_only_the_result_holds() -> None:
    run = load_run([item("user", text("Hi")), ended(result="Hello there.")])
    assert run.text == "Hello there."
    assert [gap.note for gap in run.gaps_of("calls")] == ["a result alone does not show which tools were called"]
    assert_none([item("user", text("Hi")), item("assistant", text("Hello there.")), ended(result="Hello there.")])


def test_a_structured_answer_is_the_output_and_no_call() -> None:
    run = load_run(
        [
            item("assistant", use("o", "StructuredOutput", n=1)),
            item("user", answer("o", "ok")),
            ended(structured_output={"n": 1}),
        ]
    )
    assert (run.output, run.tool_calls, run.all_tool_calls[0].kind) == ({"n": 1}, (), "output")


@pytest.mark.parametrize(
    ("more", "error"),
    [
        ({"subtype": "error_max_turns", "errors": ["too many turns"]}, RunError("too many turns", "error_max_turns")),
        ({"is_error": True, "result": "API Error"}, RunError("API Error", "")),
        ({"subtype": "error_during_execution"}, RunError("error_during_execution", "error_during_execution")),
    ],
)
def test_a_run_that_failed(more: Foreign, error: RunError) -> None:
    run = load_run([item("user", text("q")), item("assistant", use("t", "f")), ended(**more)])
    assert (run.error, run.text) == (error, "")
    assert checks.no_tool_errors().score(run).failed


def test_a_deferred_call_waits_for_a_person() -> None:
    run = load_run([item("assistant", use("t", "Bash")), ended(deferred_tool_use={"id": "t", "name": "Bash", "input": {}})])
    assert run.tool_calls[0].state == "awaiting"


def test_several_turns_add_up() -> None:
    usage = {"input_tokens": 2, "output_tokens": 3, "cache_read_input_tokens": 4}
    run = load_run(
        [
            item("user", text("a")),
            item("assistant", text("b")),
            ended(usage=usage, total_cost_usd=0.1, duration_ms=1000),
            item("user", text("c")),
            item("assistant", text("d")),
            ended(usage=usage, total_cost_usd=0.25, duration_ms=500),
        ]
    )
    assert (run.usage, run.duration) == (Usage(12, 6, 8, cost=0.25), 1.5)


def test_what_is_in_between_is_no_message_and_no_evidence_where_it_may_be_a_call() -> None:
    quiet = [{"type": "stream_event", "event": {}}, {"type": "tool_progress", "tool_name": "f"}, {"type": "rate_limit_event"}]
    assert load_run([*TWO[:2], *quiet, *TWO[2:]]).gap_kinds == {"input"}
    assert "calls" in load_run([*TWO, {"type": "server_tool_call", "name": "f"}]).gap_kinds


def test_failures_have_flags() -> None:
    run = load_run(TWO)
    assert run.tool_calls[1].error == ToolError("no rooms left")


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ([*TWO, 5], "[8]"),
        ([*TWO, item("assistant", use("t", ""))], "[8].message.content[0].name"),
        ([item("user", text("q")), item("user", {"type": "text", "text": 5})], "[1].message.content[0].text"),
    ],
)
def test_what_is_malformed_names_the_place(value: Foreign, path: str) -> None:
    with pytest.raises(RecordingError) as caught:
        load_run(value)
    assert caught.value.path == path


def test_options_and_clients_are_agents() -> None:
    for name in ("types:ClaudeAgentOptions", "client:ClaudeSDKClient"):
        kind = agent_kind(foreign(f"claude_agent_sdk.{name}"))
        assert kind is not None
        assert (kind.format, kind.mocks_tools, kind.stateful) == ("claude_agent_sdk", True, False)


def as_objects(value: Foreign) -> Foreign:
    """What was recorded of the SDK's objects, as objects of classes with the same names."""
    if isinstance(value, dict):
        fields = {key: as_objects(held) for key, held in value.items() if key != "__class__"}
        if "__class__" not in value:
            return fields
        module, _, name = value["__class__"].rpartition(".")
        return foreign(f"{module}:{name}", **fields)
    return [as_objects(held) for held in value] if isinstance(value, list) else value


@pytest.mark.parametrize("name", ["two", "none", "maxturns"])
def test_what_the_sdk_gave(name: str, shared: Path) -> None:
    run = load_run(as_objects(json.loads((shared / "cases/frameworks/claude_agent_sdk" / f"{name}.json").read_text())))
    failed = [call.name for call in run.tool_calls if call.failure() is not None]
    if name == "two":
        assert run.tool_names == ("get_weather", "book_hotel", "Read")
        assert (failed, run.final_text) == (["book_hotel", "Read"], "Sunny in Paris; booking failed.")
    elif name == "none":
        assert (run.tool_calls, run.text) == ((), "Hello there.")
    else:
        assert failed == ["get_weather"]
        assert run.error == RunError("Reached maximum number of turns (1)", "error_max_turns")
