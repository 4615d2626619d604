"""OpenAI responses: responses, lists of items, and both as objects of the SDK."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from foreign import foreign
from scenarios import assert_none, assert_two

from quickchecks import Run, ToolCall, Usage, checks, load_run, load_runs
from quickchecks._run import Other, Reasoning, ToolResult
from quickchecks.errors import RecordingError

Foreign = Any  # JSON and the objects of SDKs have no types

USER = {"role": "user", "content": "Plan"}


def call(id: str, name: str, arguments: str = '{"city": "Paris"}', **more: Foreign) -> dict[str, Foreign]:
    return {"type": "function_call", "call_id": id, "name": name, "arguments": arguments, **more}


def output(id: str, result: Foreign, **more: Foreign) -> dict[str, Foreign]:
    return {"type": "function_call_output", "call_id": id, "output": result, **more}


def says(text: str) -> dict[str, Foreign]:
    return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}


def items(*values: Foreign) -> Run:
    return load_run(list(values), format="openai_responses")


def response(*values: Foreign, **more: Foreign) -> Run:
    return load_run({"object": "response", "output": list(values), **more})


def only(run: Run) -> ToolCall:
    (found,) = run.all_tool_calls
    return found


TWO = (
    USER,
    call("c1", "get_weather"),
    output("c1", "Sunny"),
    call("c2", "book_hotel"),
    output("c2", "Error: no rooms left"),
    says("Sunny; booking failed."),
)


def test_a_list_of_items_is_read_whole() -> None:
    run = assert_two(list(TWO))
    assert (run.format, run.gaps) == ("openai_responses", ())
    assert assert_two({"messages": list(TWO), "id": "r"}).id == "r"


def test_objects_of_the_sdk_and_dicts_may_be_mixed() -> None:
    def shown(value: Foreign) -> Foreign:
        return foreign("openai.types.responses:Item", model_dump=lambda **options: value, **value)

    assert_two([TWO[0], shown(TWO[1]), TWO[2], shown(TWO[3]), TWO[4], shown(TWO[5])])


def test_a_response_in_a_list_of_items_gives_its_output() -> None:
    first = {"object": "response", "output": [TWO[1]]}
    assert_two([TWO[0], first, *TWO[2:]])


def test_a_list_of_responses_is_several_runs() -> None:
    responses = [{"object": "response", "output": [says(text)]} for text in ("a", "b")]
    assert [run.text for run in load_runs(responses)] == ["a", "b"]


def test_none() -> None:
    assert_none([USER, {"type": "reasoning", "summary": []}, says("Hello there.")])
    assert_none({"object": "response", "output": [says("Hello there.")]})


def test_messages_are_segments_and_parts_are_not() -> None:
    joined = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": one} for one in ("Sun", "ny.")]}
    run = items(USER, call("c", "f"), output("c", 1), says("First."), joined)
    assert (run.text, run.final_text) == ("First. Sunny.", "Sunny.")


def test_thoughts_and_refusals() -> None:
    thought = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "7781"}], "content": [{"text": "so"}]}
    refusal = {"type": "message", "role": "assistant", "content": [{"type": "refusal", "refusal": "I cannot."}]}
    run = items(thought, refusal)
    assert run.text == "I cannot."
    assert run.messages[0].parts[0] == Reasoning("7781\nso")


def test_parallel_calls_get_their_results_by_id_and_repeated_ids_in_order() -> None:
    run = items(call("a", "f"), call("b", "g"), output("b", "2"), output("a", "1"))
    assert [one.result for one in run.tool_calls] == ["1", "2"]
    run = items(call("a", "f"), call("a", "f"), output("a", "1"), output("a", "2"))
    assert [one.result for one in run.tool_calls] == ["1", "2"]


@pytest.mark.parametrize(
    ("result", "read"),
    [
        ([{"type": "input_text", "text": "a"}, {"type": "input_text", "text": "b"}], "ab"),
        ([{"type": "input_image", "image_url": "x"}], [{"type": "input_image", "image_url": "x"}]),
        ({"n": 1}, {"n": 1}),
        (None, None),
    ],
)
def test_results_are_text_parts_or_values(result: Foreign, read: Foreign) -> None:
    assert only(items(call("a", "f"), output("a", result))).result == read


def test_a_result_that_is_an_error_object_is_a_failure() -> None:
    assert only(items(call("a", "f"), output("a", '{"error": "disk full"}'))).failure().message == "disk full"  # type: ignore[union-attr]


def test_a_result_without_a_call_is_kept_and_a_gap() -> None:
    run = items(USER, output("x", "1"), says("a"))
    assert run.messages[1].parts == (ToolResult("1", "x"),)
    assert run.gap_kinds == {"orphan_result"}


def test_a_call_without_a_result_failed_in_a_list_and_is_a_gap_in_a_response() -> None:
    assert checks.no_tool_errors().score(items(USER, call("a", "f"), says("x"))).failed
    run = response(call("a", "f"))
    assert run.gap_kinds == {"input", "results"}
    assert checks.no_tool_errors().score(run).outcome == "no_evidence"
    assert checks.called_tool("f").score(run).passed


def test_a_call_that_was_cut_off_is_partial() -> None:
    run = response(
        says("Let me check"),
        call("c", "get_weather", '{"city": "Par', status="incomplete"),
        status="incomplete",
        incomplete_details={"reason": "max_output_tokens"},
    )
    assert only(run).state == "partial"
    assert run.tool_calls == ()
    assert run.metadata is not None
    assert run.metadata["status"] == "incomplete"


# Calls of other kinds


def test_a_custom_tool_takes_text() -> None:
    run = items(
        {"type": "custom_tool_call", "call_id": "c", "name": "sql", "input": "select 1"},
        {"type": "custom_tool_call_output", "call_id": "c", "output": "1"},
    )
    assert (only(run).arguments, only(run).result, only(run).kind, only(run).arguments_note) == (
        {"input": "select 1"},
        "1",
        "tool",
        "",
    )


def test_tools_that_the_client_runs_for_the_provider() -> None:
    action = {"type": "exec", "command": ["ls"]}
    run = items(
        {"type": "local_shell_call", "call_id": "c", "action": action, "status": "completed"},
        {"type": "local_shell_call_output", "call_id": "c", "output": "", "status": "failed"},
    )
    assert (only(run).name, only(run).arguments, only(run).state) == ("local_shell", {"action": action}, "failed")


@pytest.mark.parametrize(
    ("item", "name", "state", "result"),
    [
        ({"type": "web_search_call", "status": "completed", "action": {"query": "q"}}, "web_search", "completed", None),
        ({"type": "web_search_call", "status": "failed", "action": {"query": "q"}}, "web_search", "failed", None),
        ({"type": "web_search_call", "status": "searching"}, "web_search", "requested", None),
        ({"type": "file_search_call", "status": "completed", "queries": ["q"], "results": [1]}, "file_search", "completed", [1]),
        (
            {"type": "code_interpreter_call", "status": "completed", "code": "1", "outputs": []},
            "code_interpreter",
            "completed",
            [],
        ),
        ({"type": "mcp_call", "name": "find", "arguments": "{}", "output": "ok"}, "find", "completed", "ok"),
        ({"type": "mcp_call", "name": "find", "arguments": "{}", "error": "gone"}, "find", "failed", None),
        ({"type": "mcp_call", "name": "find", "arguments": "{}"}, "find", "requested", None),
        ({"type": "new_kind_call", "status": "completed"}, "new_kind", "completed", None),
    ],
)
def test_tools_that_the_provider_ran(item: Foreign, name: str, state: str, result: Foreign) -> None:
    found = only(response({"id": "x", **item}, says("a")))
    assert (found.name, found.state, found.kind) == (name, state, "provider")
    assert result is None or found.result == result


def test_the_error_of_a_remote_tool_may_be_content() -> None:
    error = {"type": "mcp_tool_execution_error", "content": [{"type": "text", "text": "ValueError: x"}]}
    failure = only(response({"type": "mcp_call", "name": "f", "arguments": "{}", "error": error})).failure()
    assert failure is not None
    assert (failure.message, failure.type) == ("ValueError: x", "ValueError")


def test_a_remote_call_waits_for_approval_and_is_one_call_with_what_came_of_it() -> None:
    asked = {"type": "mcp_approval_request", "id": "a", "name": "wipe", "arguments": "{}", "server_label": "s"}
    answer = {"type": "mcp_approval_response", "approval_request_id": "a"}
    done = {"type": "mcp_call", "id": "m", "approval_request_id": "a", "name": "wipe", "arguments": "{}", "output": "ok"}
    assert only(response(asked)).state == "awaiting"
    assert only(items(asked, {**answer, "approve": False})).state == "denied"
    assert only(items(asked, {**answer, "approve": True})).state == "requested"
    found = only(items(asked, {**answer, "approve": True}, done))
    assert (found.state, found.result) == ("completed", "ok")


@pytest.mark.parametrize("item", [{"type": "item_reference", "id": "x"}, {"type": "compaction"}, {"type": "odd_thing"}])
def test_items_that_may_hide_calls_are_gaps(item: Foreign) -> None:
    run = items(USER, call("a", "f"), output("a", 1), item, says("x"))
    assert checks.did_not_call("g").score(run).outcome == "no_evidence"
    assert any(type(part) is Other for message in run.messages for part in message.parts)


def test_lists_of_tools_are_no_calls() -> None:
    run = items(USER, {"type": "mcp_list_tools", "tools": [{"name": "f"}]}, says("x"))
    assert checks.used_no_tools().score(run).passed


# Responses


def test_what_was_asked_is_read_where_it_is_recorded() -> None:
    earlier = [USER, call("h", "old"), output("h", "1"), says("Done."), {"role": "user", "content": "And now?"}]
    run = response(says("Now."), input=earlier, instructions="Be short.", id="r", model="m")
    assert [message.text for message in run.messages[run.history_length :]] == ["And now?", "Now."]
    assert (run.tool_calls, run.gaps, run.id) == ((), (), "r")
    assert run.messages[0].role == "system"


def test_usage_counts_and_details() -> None:
    usage = {
        "input_tokens": 20,
        "output_tokens": 7,
        "input_tokens_details": {"cached_tokens": 3},
        "output_tokens_details": {"reasoning_tokens": 2},
    }
    assert response(says("a"), usage=usage).usage == Usage(20, 7, 3, 2)
    assert response(says("a")).usage is None


def test_a_response_that_failed_or_is_not_there_yet() -> None:
    failed = response(status="failed", error={"code": "server_error", "message": "boom"})
    assert failed.error is not None
    assert failed.error.message == "boom"
    assert response(status="failed").error is not None
    assert checks.used_no_tools().score(response(status="in_progress")).outcome == "no_evidence"


def test_cost_and_time_that_litellm_keeps_beside_a_response() -> None:
    value = {"object": "response", "output": [says("a")], "usage": {"input_tokens": 1}}
    kept = {"_hidden_params": {"response_cost": 0.5}, "_response_ms": 250.0}
    run = load_run(foreign("litellm.types.llms.openai:ResponsesAPIResponse", model_dump=lambda **options: value, **kept))
    assert (run.usage, run.duration) == (Usage(1, cost=0.5), 0.25)


def test_the_events_of_a_stream_are_the_response_that_ends_it() -> None:
    done = {"type": "response.output_item.done", "item": TWO[1]}
    begun = {"type": "response.created", "response": {"output": []}}
    whole = {"object": "response", "output": [TWO[1]], "usage": {"input_tokens": 1}, "status": "completed"}
    run = load_run([begun, done, {"type": "response.completed", "response": whole}])
    assert (only(run).state, run.usage) == ("requested", Usage(1))
    assert run.gap_kinds == {"input", "results"}
    broken = load_run([begun, done])
    assert only(broken).name == "get_weather"
    assert checks.did_not_call("refund").score(broken).outcome == "no_evidence"
    with pytest.raises(RecordingError, match="expected a response"):
        load_run([begun, {"type": "response.completed"}])


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ({"object": "response", "output": 5}, "output"),
        ({"object": "response", "output": [5]}, "output[0]"),
        ({"object": "response", "output": [{"type": 5}]}, "output[0].type"),
        ({"object": "response", "output": [{"type": "function_call", "arguments": "{}"}]}, "output[0].name"),
        ({"object": "response", "output": [{"role": "robot", "content": "x"}]}, "output[0].role"),
        ([{"role": "assistant", "content": [{"type": "output_text", "text": 5}]}], "[0].content[0].text"),
        ([{"role": "assistant", "content": [{"type": "tool_use", "name": "f"}]}], "[0].content[0]"),
        ([{"role": "assistant", "content": None, "tool_calls": [{"name": "f"}]}], "[0].tool_calls"),
        ([{"role": "tool", "tool_call_id": "a", "content": "x"}], "[0].role"),
    ],
)
def test_what_is_malformed_or_of_another_format_names_the_place(value: Foreign, path: str) -> None:
    with pytest.raises(RecordingError) as caught:
        load_run(value, format="openai_responses")
    assert caught.value.path == path


def test_the_recorded_responses(shared: Path) -> None:
    folder = shared / "cases/frameworks"

    def read(name: str) -> Run:
        run = load_run(json.loads((folder / name).read_text(encoding="utf-8")))
        assert run.format == "openai_responses"
        return run

    two = read("raw/openai_responses_two_input.json")
    assert [(one.name, one.failure() is None) for one in two.tool_calls] == [("get_weather", True), ("book_hotel", False)]
    assert two.final_text == "Sunny in Paris; booking failed."
    assert read("raw/openai_responses_none_last.json").text == "Hello there."
    assert read("raw/openai_responses_two_last.json").usage == Usage(20, 7, 3, 2)
    for name in ("raw/openai_responses_cut_last.json", "raw/openai_responses_cut_input.json"):
        assert [one.state for one in read(name).all_tool_calls] == ["partial"]
    assert [one.name for one in read("litellm/responses.json").tool_calls] == ["get_weather"]


def test_the_events_of_several_responses_are_not_one_run() -> None:
    events = [{"type": "response.created"}, {"type": "response.completed", "response": {"object": "response", "output": []}}]
    with pytest.raises(RecordingError, match="the events of one response"):
        load_run([*events, *events])
