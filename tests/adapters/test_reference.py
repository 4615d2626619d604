"""The reference's messages."""

from __future__ import annotations

from typing import Any

import pytest

from quickchecks import Reasoning, Run, Text, load_run
from quickchecks._run import Other, Step
from quickchecks.errors import RecordingError

Foreign = Any  # JSON and the objects of SDKs have no types


def invocation(name: str = "search", id: Foreign = "c1", state: Foreign = "result", **more: Foreign) -> dict[str, Foreign]:
    entry = {"state": state, "toolCallId": id, "toolName": name, "args": {"q": 1}, **more}
    return {**entry, "result": {"ok": True}} if state == "result" and "result" not in more else entry


def part(*args: Foreign, **more: Foreign) -> dict[str, Foreign]:
    return {"type": "tool-invocation", "toolInvocation": invocation(*args, **more)}


def text(words: str) -> dict[str, str]:
    return {"type": "text", "text": words}


def message(*parts: Foreign, role: str = "assistant", **content: Foreign) -> dict[str, Foreign]:
    return {"role": role, "content": {"format": 2, "parts": list(parts), **content}}


def loaded(*messages: Foreign) -> Run:
    return load_run(list(messages), format="reference")


def shown(run: Run) -> list[tuple[str, str]]:
    return [(call.name, call.state) for call in run.all_tool_calls]


def test_a_conversation_is_recognised_and_read_whole() -> None:
    run = load_run(
        [message(text("Weather?"), role="user"), message(text("Let me see."), part(), {"type": "step-start"}, text("Sunny."))]
    )
    assert (run.format, run.text, run.final_text) == ("reference", "Let me see. Sunny.", "Sunny.")
    assert run.messages[1].parts[2] == Step()
    (call,) = run.tool_calls
    assert (call.arguments, call.result, call.errors_shown_in) == ({"q": 1}, {"ok": True}, "state")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("Sunny.", "Sunny."),
        (None, ""),
        ([text("It is "), text("sunny.")], "It is sunny."),
        ({"parts": [text("parts")], "content": "summary"}, "parts"),
        ({"parts": [{"type": "step-start"}], "content": "summary"}, "summary"),
        ({"parts": None, "content": "", "text": "other"}, "other"),
        ({"text": "alone"}, "alone"),
        ({"parts": [{"type": "text", "text": None}]}, ""),
        ({"format": 3, "parts": [text("later")]}, "later"),
    ],
)
def test_parts_that_say_something_hold_else_the_summary(content: Foreign, said: str) -> None:
    assert loaded({"role": "assistant", "content": content}).text == said


def test_reasoning_is_no_text() -> None:
    assert loaded(message({"type": "reasoning", "reasoning": "hm"}, text("a"))).messages[0].parts == (Reasoning("hm"), Text("a"))
    assert loaded(message(reasoning="hm")).messages[0].parts == (Reasoning("hm"),)


# The two places of a message


def test_a_call_in_both_places_is_one() -> None:
    assert shown(loaded(message(part(), toolInvocations=[invocation()]))) == [("search", "completed")]


def test_calls_without_ids_in_both_places_are_the_same_by_name_and_turn() -> None:
    run = loaded(message(part(id=None), part(id=""), toolInvocations=[invocation(id=None), invocation(id=None)]))
    assert len(run.tool_calls) == 2


@pytest.mark.parametrize(("first", "second"), [("partial-call", "result"), ("call", "result"), ("result", "call")])
def test_of_two_places_the_more_advanced_state_holds(first: str, second: str) -> None:
    run = loaded(message(part(state=first), toolInvocations=[invocation(state=second)]))
    assert [(call.state, call.result) for call in run.tool_calls] == [("completed", {"ok": True})]


def test_a_call_that_only_the_list_has_stands_before_the_next_one_that_both_have() -> None:
    run = loaded(
        message(
            part("last", "c3"),
            part("first", "c1"),
            toolInvocations=[invocation("first", "c1"), invocation("extra", "c2"), invocation("last", "c3")],
        )
    )
    assert run.tool_names == ("extra", "last", "first")
    assert loaded(message(part("b", "p"), toolInvocations=[invocation("a", "l")])).tool_names == ("b", "a")


# The same call in several messages


def test_a_call_that_a_later_message_completes_is_one() -> None:
    run = loaded(message(part(state="call")), message(part("summarize", "c2")), message(part(state="result")))
    assert shown(run) == [("search", "completed"), ("summarize", "completed")]


def test_two_completed_calls_that_share_an_id_are_two() -> None:
    assert len(loaded(message(part()), message(part())).tool_calls) == 2
    assert len(loaded(message(part(), part())).tool_calls) == 2


def test_a_call_of_another_name_is_never_the_same() -> None:
    assert shown(loaded(message(part("a", state="call")), message(part("b")))) == [("a", "requested"), ("b", "completed")]


# States and errors


@pytest.mark.parametrize(
    ("state", "read"),
    [
        ("partial-call", "partial"),
        ("call", "requested"),
        ("input-available", "requested"),
        ("approval-requested", "awaiting"),
        ("output-denied", "denied"),
        ("output-available", "completed"),
        ("output-error", "failed"),
    ],
)
def test_states(state: str, read: str) -> None:
    assert shown(loaded(message(part(state=state)))) == [("search", read)]


@pytest.mark.parametrize(
    "mark",
    [{"isError": True}, {"isError": 1}, {"errorText": "boom"}, {"result": {"error": "boom"}}, {"result": {"isError": True}}],
)
def test_marked_results_are_failures(mark: dict[str, Foreign]) -> None:
    assert loaded(message(part(**mark))).tool_calls[0].failure() is not None


@pytest.mark.parametrize("mark", [{"isError": None}, {"result": "Error: a title"}, {"error": "boom"}, {"result": {"error": []}}])
def test_the_state_says_success(mark: dict[str, Foreign]) -> None:
    assert loaded(message(part(**mark))).tool_calls[0].failure() is None


def test_only_the_agent_calls() -> None:
    run = loaded(message(part(), role="user"), message(role="tool", toolInvocations=[invocation()]))
    assert run.all_tool_calls == ()
    assert all(type(kept) is Other for spoken in run.messages for kept in spoken.parts)


def test_a_tool_that_the_provider_ran_counts() -> None:
    assert loaded(message(part(providerExecuted=True))).tool_calls[0].kind == "provider"


# Newer parts


def test_parts_named_after_their_tool() -> None:
    newer = {"type": "tool-search", "toolCallId": "c1", "state": "output-available", "input": {"q": 1}, "output": "ok"}
    dynamic = {
        "type": "dynamic-tool",
        "toolName": "book",
        "toolCallId": "c2",
        "state": "output-error",
        "input": {},
        "errorText": "full",
    }
    run = loaded(message(newer, dynamic))
    assert shown(run) == [("search", "completed"), ("book", "failed")]
    assert (run.tool_calls[0].arguments, run.tool_calls[0].result) == ({"q": 1}, "ok")


def test_calls_and_results_in_parts_of_their_own_are_paired() -> None:
    calls: list[Foreign] = [{"type": "tool-call", "toolCallId": id, "toolName": "f", "input": {}} for id in ("a", "b")]
    results = [
        {"type": "tool-result", "toolCallId": "b", "toolName": "f", "output": {"type": "error-text", "value": "full"}},
        {"type": "tool-result", "toolCallId": "a", "toolName": "f", "output": {"type": "json", "value": [1]}},
    ]
    run = loaded({"role": "assistant", "content": calls}, {"role": "tool", "content": results})
    assert [(call.state, call.result) for call in run.tool_calls] == [("completed", [1]), ("failed", "full")]
    assert len(run.messages) == 1


def test_a_result_without_its_call_is_a_gap() -> None:
    run = loaded({"role": "tool", "content": [{"type": "tool-result", "toolCallId": "zz", "toolName": "refund", "result": 1}]})
    assert [(gap.kind, gap.name) for gap in run.gaps] == [("orphan_result", "refund")]


def test_an_object_with_messages_is_read_too() -> None:
    run = load_run({"messages": [message(text("Hi."))], "threadId": "t"})
    assert (run.format, run.text, run.metadata) == ("reference", "Hi.", {"threadId": "t"})


@pytest.mark.parametrize(
    ("odd", "path"),
    [
        ("hello", "[0]"),
        ({"role": "robot", "content": "x"}, "[0].role"),
        ({"role": "assistant", "content": 5}, "[0].content"),
        ({"role": "assistant", "content": {"parts": {}}}, "[0].content.parts"),
        ({"role": "assistant", "content": {"toolInvocations": 5}}, "[0].content.toolInvocations"),
        (message(None), "[0].content.parts[0]"),
        (message({"type": "text", "text": 5}), "[0].content.parts[0].text"),
        (message({"type": "tool-invocation"}), "[0].content.parts[0].toolInvocation"),
        (message(part(state="done")), "[0].content.parts[0].toolInvocation.state"),
        (message(part("")), "[0].content.parts[0].toolInvocation.toolName"),
        (message(toolInvocations=[None]), "[0].content.toolInvocations[0].toolInvocation"),
        (message({"type": "tool_use", "name": "f"}), "[0].content.parts[0]"),
    ],
)
def test_a_malformed_message_is_an_error_that_says_where(odd: Foreign, path: str) -> None:
    with pytest.raises(RecordingError) as caught:
        loaded(odd)
    assert caught.value.path == path
