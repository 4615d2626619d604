"""Anthropic messages: responses, lists of messages, records with both; dicts and objects of the SDK."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from foreign import foreign
from scenarios import assert_none, assert_two

from quickchecks import Message, Run, Text, Usage, checks, load_run
from quickchecks._run import Gap, Other, Reasoning, ToolError, ToolResult
from quickchecks.errors import RecordingError

Foreign = Any  # JSON and the objects of SDKs have no types

USER = {"role": "user", "content": "Plan my trip"}


def use(id: str, name: str, **input: Foreign) -> dict[str, Foreign]:
    return {"type": "tool_use", "id": id, "name": name, "input": input}


def answer(id: str, content: Foreign = None, **more: Foreign) -> dict[str, Foreign]:
    return {"type": "tool_result", "tool_use_id": id, "content": content, **more}


def text(words: str) -> dict[str, Foreign]:
    return {"type": "text", "text": words}


def says(*content: Foreign, **more: Foreign) -> dict[str, Foreign]:
    return {"role": "assistant", "content": list(content), **more}


def hears(*content: Foreign) -> dict[str, Foreign]:
    return {"role": "user", "content": list(content)}


def response(*content: Foreign, **more: Foreign) -> dict[str, Foreign]:
    return {"id": "m", "type": "message", "model": "m", "stop_reason": "end_turn", **says(*content), **more}


def sdk(path: str, value: dict[str, Foreign]) -> Foreign:
    return foreign(path, model_dump=lambda **options: value)


TWO: list[Foreign] = [
    USER,
    says(use("t1", "get_weather", city="Paris")),
    hears(answer("t1", "Sunny")),
    says(use("t2", "book_hotel", city="Paris")),
    hears(answer("t2", "no rooms left", is_error=True)),
    says(text("Sunny; "), text("booking failed.")),
]


def test_a_list_of_messages() -> None:
    run = assert_two(TWO)
    assert [message.role for message in run.messages] == ["user", "assistant", "assistant", "assistant"]
    assert run.tool_calls[1].error == ToolError("no rooms left")


def test_objects_of_the_sdk_are_mixed_with_dicts() -> None:
    mixed = [
        TWO[0],
        {"role": "assistant", "content": [sdk("anthropic.types.tool_use_block:ToolUseBlock", TWO[1]["content"][0])]},
        TWO[2],
        sdk("anthropic.types.message:Message", response(use("t2", "book_hotel", city="Paris"), stop_reason="tool_use")),
        TWO[4],
        sdk("anthropic.types.beta.beta_message:BetaMessage", response(text("Sunny; booking failed."))),
    ]
    run = assert_two(mixed)
    assert run.messages[-1].metadata == {"id": "m", "model": "m", "stop_reason": "end_turn"}


def test_a_record_holds_the_request_and_the_answer_beside_it() -> None:
    record = {"system": "Be short.", "messages": TWO[:-1], "max_tokens": 9, "response": response(text("Sunny; booking failed."))}
    run = assert_two(record)
    assert run.messages[0] == Message("system", (Text("Be short."),))
    assert run.metadata == {"max_tokens": 9}


def test_an_answer_that_the_messages_hold_is_not_read_twice() -> None:
    last = response(text("Sunny; booking failed."))
    assert_two({"messages": [*TWO[:-1], last], "output": last})


def test_one_response_shows_what_was_asked_for_and_no_results() -> None:
    assert_none(response(text("Hello there.")))
    run = load_run(response(use("t1", "get_weather"), usage={"input_tokens": 2}))
    assert run.id == "m"
    assert run.gap_kinds == {"input", "results"}
    assert checks.called_tool("get_weather").score(run).outcome == "passed"
    assert checks.no_tool_errors().score(run).outcome == "no_evidence"


def test_usage_counts_what_the_cache_gave_and_took_as_input() -> None:
    usage = {"input_tokens": 20, "cache_read_input_tokens": 3, "cache_creation_input_tokens": 4, "output_tokens": 7}
    one = response(text("a"), usage={**usage, "output_tokens_details": {"thinking_tokens": 2}})
    assert load_run(one).usage == Usage(27, 7, 3, 2, requests=1)
    two = load_run([USER, one, USER, response(text("b"), use("t", "f"), usage=usage)])
    assert two.usage == Usage(54, 14, 6, 2, requests=2)
    assert load_run([USER, one, USER, says(use("t", "f"))]).usage is None


def test_a_cut_message_is_told_of_and_its_call_is_partial() -> None:
    run = load_run([USER, response(text("Let me"), use("t1", "get_weather"), stop_reason="max_tokens")])
    note = "the answer was cut off in the middle of a call of get_weather"
    told = Gap("other", "the model was cut off by the limit of tokens (max_tokens)")
    assert run.gaps == (told, Gap("calls", note, "get_weather"))
    assert [call.state for call in run.all_tool_calls] == ["partial"]
    for check in (checks.no_tool_errors(), checks.used_no_tools(), checks.called_tool("get_weather")):
        assert (check.score(run).outcome, check.score(run).reason) == ("no_evidence", note)


def test_what_the_provider_ran_has_its_result_in_the_same_message() -> None:
    run = load_run(
        [
            says(
                {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "q"}},
                {"type": "web_search_tool_result", "tool_use_id": "s1", "content": [{"type": "web_search_result", "url": "u"}]},
                {"type": "server_tool_use", "id": "s2", "name": "web_fetch", "input": {}},
                {
                    "type": "web_fetch_tool_result",
                    "tool_use_id": "s2",
                    "content": {"type": "web_fetch_tool_result_error", "error_code": "url_not_accessible"},
                },
                {"type": "mcp_tool_use", "id": "m1", "name": "find", "server_name": "shop", "input": {}},
                {"type": "mcp_tool_result", "tool_use_id": "m1", "is_error": False, "content": [text("Error: a title")]},
                {"type": "mcp_tool_use", "id": "m2", "name": "find", "server_name": "shop", "input": {}},
                {"type": "mcp_tool_result", "tool_use_id": "m2", "is_error": True, "content": [text("gone")]},
                text("Done."),
            )
        ]
    )
    search, fetch, found, lost = run.tool_calls
    assert {call.kind for call in run.tool_calls} == {"provider"}
    assert (search.state, search.failure()) == ("completed", None)
    assert fetch.error == ToolError("url_not_accessible", "url_not_accessible")
    assert (found.failure(), found.metadata) == (None, {"server_name": "shop"})
    assert lost.error == ToolError("gone")


@pytest.mark.parametrize(
    ("result", "source"),
    [
        (answer("t", "Error: x"), "text"),
        (answer("t", "Error: x", is_error=False), None),
        (answer("t", '{"error": "x"}', is_error=False), "payload"),
        (answer("t", [text("ValueError: x")]), "text"),
        (answer("t", [text("x")], is_error=True), "flag"),
        (answer("t", [{"type": "image", "source": {}}, text("boom")], is_error=True), "flag"),
        (answer("t"), None),
    ],
)
def test_how_a_failure_is_known(result: Foreign, source: str | None) -> None:
    (call,) = load_run([says(use("t", "f")), hears(result, text("and now?"))]).tool_calls
    failure = call.failure()
    assert (failure.source if failure else None) == source


def test_words_beside_a_result_stay_the_users() -> None:
    run = load_run([says(use("t", "f")), hears(answer("t", "ok"), text("and now?"))])
    assert run.messages[1] == Message("user", (Text("and now?"),))


def test_ids_repeat_between_messages() -> None:
    run = load_run([says(use("t", "f", n=1)), hears(answer("t", "1")), says(use("t", "f", n=2)), hears(answer("t", "2"))])
    assert [(call.arguments, call.result) for call in run.tool_calls] == [({"n": 1}, "1"), ({"n": 2}, "2")]


def test_a_result_without_its_call_is_kept_and_told_of() -> None:
    run = load_run([USER, hears(answer("gone", "ok")), says(text("x"))])
    assert run.messages[1] == Message("tool", (ToolResult("ok", "gone"),))
    assert run.gap_kinds == {"orphan_result"}


def test_thoughts_and_other_blocks() -> None:
    run = load_run(
        [
            says(
                {"type": "thinking", "thinking": "hm", "signature": "s"},
                {"type": "redacted_thinking", "data": "x"},
                use("t", "f"),
                {"type": "container_upload", "file_id": "f"},
                {"type": "mcp_tool_listing", "mcp_server_name": "s", "tools": [{"name": "t"}]},
                {"type": "text", "text": '{"n": 1}', "parsed_output": {"n": 1}},
            ),
            hears(answer("t", "ok"), {"type": "image", "source": {}}),
        ]
    )
    assert [type(part) for part in run.messages[0].parts[:2]] == [Reasoning, Reasoning]
    assert [part.kind for part in run.messages[0].parts if type(part) is Other] == ["container_upload", "mcp_tool_listing"]
    assert (run.output, run.gaps) == ({"n": 1}, ())


@pytest.mark.parametrize("block", [{"type": "tool_plan", "name": "f"}, {"functionCall": {"name": "f"}}, {"type": 5}])
def test_a_block_that_may_be_a_call_leaves_no_evidence(block: Foreign) -> None:
    run = load_run([USER, says(use("t", "f"), block), hears(answer("t", "ok"))])
    assert "calls" in run.gap_kinds
    assert checks.did_not_call("refund").score(run).outcome == "no_evidence"


def test_words_in_an_unknown_block_are_told_of() -> None:
    assert load_run([says(use("t", "f"), {"type": "answer_v2", "text": "x"})]).gap_kinds == {"text"}


def test_a_conversation_without_an_answer_shows_no_calls() -> None:
    assert load_run({"messages": [USER, hears(answer("t", "x"))]}).gap_kinds == {"orphan_result", "calls"}


def test_the_last_turn() -> None:
    run = load_run([*TWO, hears(text("And tomorrow?")), says(text("Rain."))], part="last_turn")
    assert (run.text, run.tool_calls) == ("Rain.", ())


def test_blocks_alone_are_those_of_one_message() -> None:
    block = sdk("anthropic.types.tool_use_block:ToolUseBlock", use("t", "f", a=1))
    run: Run = load_run([block])
    assert run.tool_calls[0].arguments == {"a": 1}


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ([USER, says(use("t", ""))], "[1].content[0].name"),
        ([says(use("t", "f")), {"role": "robot", "content": []}], "[1].role"),
        ([says(use("t", "f")), 5], "[1]"),
        ([says(use("t", "f")), says({"type": "text", "text": 5})], "[1].content[0].text"),
        ([says(use("t", "f"), 5)], "[0].content[1]"),
        ({"messages": [says(use("t", "f")), {"role": "user", "content": 5}]}, "messages[1].content"),
        ([says(use("t", "f"), tool_calls=[{"function": {"name": "g"}}])], "[0].tool_calls"),
        (response(text("x"), {"type": "tool_use"}), "content[1].name"),
    ],
)
def test_what_is_malformed_names_the_place(value: Foreign, path: str) -> None:
    with pytest.raises(RecordingError) as caught:
        load_run(value)
    assert caught.value.path == path


def without_classes(value: Foreign) -> Foreign:
    if isinstance(value, dict):
        return {key: without_classes(item) for key, item in value.items() if key != "__class__"}
    return [without_classes(item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize("name", ["two_messages", "tool_runner_messages", "cut_messages", "none_last", "two_last"])
def test_what_the_sdk_gave(name: str, shared: Path) -> None:
    value = without_classes(json.loads((shared / "cases/frameworks/raw" / f"anthropic_{name}.json").read_text()))
    run = load_run(value)
    assert run.format == "anthropic"
    failed = [call.name for call in run.tool_calls if call.failure() is not None]
    if name in ("two_messages", "tool_runner_messages"):
        assert (failed, run.final_text) == (["book_hotel"], "Sunny in Paris; booking failed.")
        assert run.tool_calls[1].arguments == {"city": "Paris", "nights": 2}
    elif name == "cut_messages":
        assert failed == ["get_weather"]
    else:
        assert (run.tool_calls, run.usage) == ((), Usage(23, 7, 3, requests=1))
