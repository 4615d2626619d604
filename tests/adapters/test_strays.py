"""Calls and words in places that a format does not know: none is passed over in silence."""

from __future__ import annotations

from typing import Any

import pytest

from quickchecks import Run, checks, load_run
from quickchecks.errors import RecordingError

Foreign = Any  # JSON has no types

USER = {"role": "user", "content": "Refund me."}
DONE = {"role": "assistant", "content": "Done."}
CALL = {"id": "c1", "type": "function", "function": {"name": "refund", "arguments": '{"n": 1}'}}
CALLED = {"role": "assistant", "content": None, "tool_calls": [CALL]}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "ok"}
DOJO = {"suite_name": "shop", "user_task_id": "user_task_0"}


def never_passes(value: Foreign) -> bool:
    """Whether a check that refund was not called does not pass: it fails, has no evidence, or the record is refused."""
    try:
        run = load_run(value)
    except RecordingError:
        return True
    return not checks.did_not_call("refund").score(run).passed


# Content that is an object


@pytest.mark.parametrize(
    "odd",
    [
        {"role": "tool", "tool_call_id": "c1", "content": {"isError": True, "content": [{"type": "text", "text": "no"}]}},
        {"role": "tool", "tool_call_id": "c1", "content": {"text": "ok", "parts": [], "format": 2}},
        {"role": "tool", "tool_call_id": "c1", "content": {"toolInvocations": []}},
        {"role": "user", "content": {"text": "hi"}},
        {"role": "user", "content": {"anything": 1}},
    ],
)
def test_an_object_as_content_does_not_make_a_conversation_another_format(odd: dict[str, Foreign]) -> None:
    run = load_run([USER, CALLED, odd, DONE])
    assert (run.format, run.tool_names, run.text) == ("openai_chat", ("refund",), "Done.")


@pytest.mark.parametrize(
    ("content", "fails"),
    [
        ({"isError": True, "content": [{"type": "text", "text": "no rooms"}]}, True),
        ({"error": "no rooms"}, True),
        ({"type": "text", "text": "Error: no rooms"}, True),
        ({"text": "Error: no rooms"}, True),
        ({"isError": False, "content": []}, False),
        ({"rooms": 3}, False),
    ],
)
def test_an_object_that_a_tool_returned_is_judged(content: dict[str, Foreign], fails: bool) -> None:
    run = load_run([USER, CALLED, {**RESULT, "content": content}, DONE])
    assert checks.no_tool_errors().score(run).failed is fails


@pytest.mark.parametrize(
    "messages",
    [
        [USER, CALLED, RESULT, {"role": "assistant", "content": {"format": 2, "parts": [{"type": "text", "text": "x"}]}}],
        [USER, {**CALLED, "content": {"format": 2, "parts": []}}],
        [USER, {**CALLED, "content": {"text": "x"}}],
        [USER, CALLED, {"role": "user", "content": [{"type": "tool-invocation", "toolInvocation": {}}]}],
        [USER, {"role": "assistant", "content": {"parts": []}, "toolInvocations": [{"toolName": "refund", "state": "call"}]}],
        [USER, {"role": "assistant", "content": {"parts": [], "tool_calls": [CALL]}}],
        [USER, {"role": "assistant", "content": {"parts": []}, "parts": [{"type": "tool-refund", "state": "input-available"}]}],
    ],
)
def test_a_record_with_the_marks_of_two_formats_loses_no_call(messages: list[Foreign]) -> None:
    assert never_passes(messages)
    assert never_passes({"messages": messages})


# Calls under other names


@pytest.mark.parametrize(
    "beside",
    [
        {"toolCalls": [CALL]},
        {"toolCalls": [{"toolName": "refund", "args": {"n": 1}, "toolCallId": "c1"}]},
        {"tool_uses": [{"id": "c1", "name": "refund", "input": {"n": 1}}]},
        {"function_calls": [{"name": "refund", "arguments": {"n": 1}}]},
        {"functionCall": {"name": "refund", "args": {"n": 1}}},
        {"invalid_tool_calls": [{"name": "refund", "args": "{", "id": "c1"}]},
        {"additional_kwargs": {"tool_calls": [CALL]}},
        {"kwargs": {"additional_kwargs": {"tool_calls": [CALL]}}},
        {"actions": [{"name": "refund", "arguments": {}}]},
        {"raw": {"choices": [{"message": {"tool_calls": [CALL]}}]}},
    ],
)
def test_calls_under_other_names_are_read(beside: dict[str, Foreign]) -> None:
    message = {"role": "assistant", "content": "Done.", **beside}
    for value in ([USER, message], {"task_id": 1, "traj": [USER, message]}, {"messages": [USER, message]}):
        assert load_run(value).tool_names == ("refund",)


def test_a_call_under_two_names_is_one() -> None:
    message = {**CALLED, "additional_kwargs": {"tool_calls": [CALL]}, "toolCalls": [{"name": "refund", "args": {"n": 1}}]}
    run = load_run([USER, message, RESULT, DONE])
    assert run.tool_names == ("refund",)
    assert checks.no_tool_errors().score(run).passed


@pytest.mark.parametrize("beside", [{"toolCalls": ["refund"]}, {"tool_uses": {"refund": 1}}, {"functionCall": {"x": 1}}])
def test_calls_that_cannot_be_read_are_refused(beside: dict[str, Foreign]) -> None:
    with pytest.raises(RecordingError) as caught:
        load_run([USER, {"role": "assistant", "content": "Done.", **beside}])
    assert caught.value.path.startswith("[1].")


def test_calls_deep_inside_that_cannot_be_read_are_a_gap() -> None:
    run = load_run([USER, {**DONE, "raw": {"tool_calls": ["refund"]}}])
    assert run.gap_kinds == {"calls"}
    assert "[1].raw.tool_calls" in run.gaps[0].note


@pytest.mark.parametrize("beside", [{"toolCalls": [CALL]}, {"function_call": {"name": "refund"}}, {"kw": {"tool_calls": [CALL]}}])
def test_agentdojo_has_calls_in_one_place(beside: dict[str, Foreign]) -> None:
    with pytest.raises(RecordingError, match="calls in tool_calls"):
        load_run({**DOJO, "messages": [USER, {**DONE, **beside}]})


@pytest.mark.parametrize(
    "beside",
    [
        {"usage": {"server_tool_use": {"web_search_requests": 1}, "tool_use_prompt_tokens": 3}},
        {"toolCallIds": ["c1"], "annotations": [{"type": "url_citation", "name": "x"}]},
        {"tool_calls": None, "function_call": None, "toolCalls": []},
        {"action": "submit", "thought": "I am done"},
        {"request": {"messages": [{"role": "assistant", "tool_calls": [CALL]}]}, "tools": [{"name": "refund", "parameters": {}}]},
    ],
)
def test_what_only_sounds_like_calls_is_none(beside: dict[str, Foreign]) -> None:
    run = load_run([USER, {**DONE, **beside}])
    assert (run.tool_names, run.gaps) == ((), ())


@pytest.mark.parametrize("key", ["toolCalls", "tool_uses", "function_calls"])
def test_calls_beside_the_messages_under_other_names_are_read(key: str) -> None:
    assert load_run({"messages": [USER, DONE], key: [CALL]}).tool_names == ("refund",)
    assert load_run({"messages": [USER, DONE], key: [5]}).gap_kinds == {"calls"}


# Answers beside messages that end with the agent


SAYS = {"role": "assistant", "content": "It is 7781."}


@pytest.mark.parametrize(
    "beside",
    [
        {"output": "It is 7781."},
        {"response": "It is 7781."},
        {"completion": "It is 7781."},
        {"completion": {"choices": [{"message": SAYS}]}},
        {"choices": [{"message": SAYS}]},
        {"output": "Done.", "response": "It is 7781."},
        {"output": [USER, DONE, SAYS]},
    ],
)
def test_an_answer_beside_messages_that_end_with_the_agent_is_its_last(beside: dict[str, Foreign]) -> None:
    run = load_run({"messages": [USER, DONE], **beside})
    assert run.final_text == "It is 7781."
    assert run.text.count("Done.") == 1
    assert checks.excludes("7781").score(run).failed


@pytest.mark.parametrize(
    "beside",
    [
        {"choices": [{"message": CALLED}]},
        {"response": {"content": [{"type": "tool_use", "id": "t", "name": "refund", "input": {}}]}},
        {"response": {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "refund", "input": {}}]}},
        {"response": {"output": [{"type": "function_call", "name": "refund", "arguments": "{}"}]}},
        {"response": {"tool_calls": [CALL]}},
        {"output": [{"type": "function_call", "name": "refund", "arguments": "{}"}]},
        {"output": [{"role": "model", "parts": [{"functionCall": {"name": "refund"}}]}]},
    ],
)
def test_calls_beside_messages_are_never_dropped(beside: dict[str, Foreign]) -> None:
    assert never_passes({"messages": [USER, DONE], **beside})
    assert never_passes({"messages": [USER], **beside})


@pytest.mark.parametrize(
    "beside",
    [
        {"output": "Done."},
        {"output": " Done.\n", "response": "Done."},
        {"choices": [{"message": DONE}]},
        {"output": {"role": "assistant", "content": "Done."}},
        {"output": [DONE]},
        {"text": "Refund me."},
        {"expected": {"tool_calls": [CALL]}, "metadata": {"messages": [CALLED]}, "actions": [{"name": "x", "arguments": {}}]},
    ],
)
def test_an_answer_that_repeats_the_last_message_is_not_said_twice(beside: dict[str, Foreign]) -> None:
    run = load_run({"messages": [USER, CALLED, RESULT, DONE], **beside})
    assert (run.text, len(run.tool_calls), run.gaps) == ("Done.", 1, ())


def test_a_structured_answer_that_repeats_the_last_message_is_not_said_twice() -> None:
    said = {"role": "assistant", "content": '{"city": "Paris"}'}
    assert len(load_run({"messages": [USER, said], "output": {"city": "Paris"}}).messages) == 2


def test_several_choices_beside_messages_are_several_runs() -> None:
    from quickchecks import load_runs

    choices = [{"message": {"role": "assistant", "content": text}} for text in ("a", "b")]
    assert [run.text for run in load_runs([{"messages": [USER], "choices": choices}])] == ["a", "b"]


# Records without any message of the agent


@pytest.mark.parametrize(
    ("value", "kinds"),
    [
        ([USER], {"calls"}),
        ({"messages": [USER]}, {"calls"}),
        ({"messages": []}, {"calls", "text"}),
        ({"task_id": 1, "traj": []}, {"calls", "text"}),
        ({"task_id": 1, "traj": [USER]}, {"calls", "text"}),
        ({**DOJO, "messages": []}, {"calls", "text"}),
        ({**DOJO, "messages": [USER]}, {"calls", "text"}),
    ],
)
def test_without_a_message_of_the_agent_there_is_no_evidence(value: Foreign, kinds: set[str]) -> None:
    run = load_run(value)
    assert run.gap_kinds == kinds
    for check in (checks.used_no_tools(), checks.did_not_call("refund"), checks.max_tool_calls(1), checks.no_tool_errors()):
        assert not check.score(run).passed


def test_a_last_turn_without_a_message_of_the_agent_shows_nothing() -> None:
    run = load_run([USER, DONE, USER, {"role": "system", "content": "x"}], part="last_turn")
    assert run.gap_kinds == {"calls", "text"}


# Words in unknown places


@pytest.mark.parametrize("message", [{"text": "It is 7781."}, {"content": None, "text": "It is 7781."}])
def test_text_in_the_place_of_content_is_the_text(message: dict[str, Foreign]) -> None:
    said = {"role": "assistant", **message}
    for value in ([USER, said], {**DOJO, "messages": [USER, said]}, {"task_id": 1, "traj": [said]}):
        assert load_run(value).text == "It is 7781."
    assert load_run([USER, said], format="reference").text == "It is 7781."


@pytest.mark.parametrize("key", ["output_text", "message", "answer"])
def test_text_under_a_name_that_nobody_knows_is_a_gap(key: str) -> None:
    run = load_run([USER, {"role": "assistant", key: "It is 7781."}])
    assert run.gap_kinds == {"text"}
    assert f"[1].{key}" in run.gaps[0].note


def said(part: dict[str, Foreign], **record: Foreign) -> Run:
    messages = [USER, {"role": "assistant", "content": [part]}]
    return load_run({**record, "messages": messages} if record else messages)


@pytest.mark.parametrize("record", [{}, DOJO])
def test_words_in_a_part_of_an_unknown_kind_are_a_gap(record: dict[str, Foreign]) -> None:
    run = said({"type": "markdown", "text": "It is 7781."}, **record)
    assert run.gap_kinds == {"text"}
    assert 'kind "markdown"' in run.gaps[0].note
    assert not checks.excludes("7781").score(run).passed


@pytest.mark.parametrize("kind", ["widget_v9", "reasoning_text", "source", "data-note", "citation", "file"])
def test_other_parts_are_none(kind: str) -> None:
    part = {"type": kind, "payload": 1} if kind == "widget_v9" else {"type": kind, "text": "7781"}
    assert said(part).gaps == ()
