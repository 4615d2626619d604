"""Gemini: responses, contents in snake_case and camelCase, records with both, chats."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from foreign import foreign, foreign_class
from scenarios import assert_none, assert_two

from quickchecks import Message, Text, Usage, checks, load_run, load_runs
from quickchecks._run import Other, Reasoning, RunError, ToolError, ToolResult
from quickchecks.errors import RecordingError

Foreign = Any  # JSON and the objects of SDKs have no types


def asks(words: str) -> dict[str, Foreign]:
    return {"role": "user", "parts": [{"text": words}]}


def says(*parts: Foreign, **more: Foreign) -> dict[str, Foreign]:
    return {"role": "model", "parts": list(parts), **more}


def call(name: str, id: str | None = None, **args: Foreign) -> dict[str, Foreign]:
    return {"function_call": {"name": name, "args": args, **({"id": id} if id else {})}}


def answer(name: str, response: Foreign, id: str | None = None) -> dict[str, Foreign]:
    return {"function_response": {"name": name, "response": response, **({"id": id} if id else {})}}


def hears(*parts: Foreign) -> dict[str, Foreign]:
    return {"role": "user", "parts": list(parts)}


def candidate(*parts: Foreign, reason: str = "STOP") -> dict[str, Foreign]:
    return {"content": says(*parts), "finishReason": reason}


def in_json(value: Foreign) -> Foreign:
    """The same with the keys as JSON has them."""
    if isinstance(value, dict):
        return {
            key.replace("_call", "Call").replace("_response", "Response") if key.startswith("function") else key: in_json(item)
            for key, item in value.items()
        }
    return [in_json(item) for item in value] if isinstance(value, list) else value


TWO: list[Foreign] = [
    asks("Plan"),
    says(call("get_weather", city="Paris")),
    hears(answer("get_weather", {"result": "Sunny"})),
    says(call("book_hotel", city="Paris")),
    hears(answer("book_hotel", {"error": "no rooms left"})),
    says({"text": "Sunny; "}, {"text": "booking failed."}),
]


@pytest.mark.parametrize("contents", [TWO, in_json(TWO)])
def test_contents(contents: Foreign) -> None:
    run = assert_two(contents)
    assert run.tool_calls[0].result == "Sunny"
    assert [message.role for message in run.messages] == ["user", "assistant", "assistant", "assistant"]


def test_a_response_with_its_history_holds_the_turn() -> None:
    run = assert_two(
        {"candidates": [candidate({"text": "Sunny; booking failed."})], "automaticFunctionCallingHistory": in_json(TWO[:-1])}
    )
    assert run.gap_kinds == {"usage"}


def test_a_history_begins_with_what_was_said_before() -> None:
    before = [asks("Hi"), says(call("refund")), hears(answer("refund", {"result": 1})), says({"text": "Hello there."})]
    run = assert_two(
        {"candidates": [candidate({"text": "Sunny; booking failed."})], "automatic_function_calling_history": before + TWO[:-1]}
    )
    assert (run.history_length, run.messages[run.history_length].text) == (3, "Plan")


def test_a_response_alone_shows_no_results() -> None:
    assert_none({"candidates": [candidate({"text": "Hello there."})]})
    run = load_run({"candidates": [candidate(call("get_weather"))], "responseId": "r"})
    assert run.id == "r"
    assert run.gap_kinds == {"input", "results"}
    assert checks.no_tool_errors().score(run).outcome == "no_evidence"


def test_a_response_of_the_sdk_without_a_history_may_have_calls_before_it() -> None:
    answer = {"candidates": [candidate({"text": "Hello there."})]}
    assert load_run({**answer, "automatic_function_calling_history": []}).gap_kinds == {"input"}
    assert load_run({**answer, "automatic_function_calling_history": None}).gap_kinds == {"input", "calls"}


def test_a_request_and_its_response() -> None:
    record = {"systemInstruction": {"parts": [{"text": "Be short."}]}, "contents": in_json(TWO[:-1]), "model": "m"}
    run = assert_two({**record, "candidates": [candidate({"text": "Sunny; booking failed."})]})
    assert run.messages[0] == Message("system", (Text("Be short."),))
    assert run.metadata == {"model": "m"}
    assert_two({**record, "response": {"candidates": [candidate({"text": "Sunny; booking failed."})]}})


def test_several_candidates_are_several_runs() -> None:
    both = {"candidates": [candidate({"text": "a"}), candidate({"text": "b"})]}
    assert [run.text for run in load_runs([both])] == ["a", "b"]


def test_usage() -> None:
    usage = {"promptTokenCount": 20, "candidatesTokenCount": 7, "thoughtsTokenCount": 2, "cachedContentTokenCount": 3}
    run = load_run({"candidates": [candidate({"text": "a"})], "usageMetadata": {**usage, "toolUsePromptTokenCount": 5}})
    assert run.usage == Usage(25, 9, 3, 2, requests=1)


def test_a_chat_gives_its_history() -> None:
    chat = foreign("google.genai.chats:Chat", foreign_class("google.genai.chats:_BaseChat"), get_history=lambda: TWO)
    assert_two(chat)


def test_objects_are_mixed_with_dicts_and_texts() -> None:
    content = foreign("google.genai.types:Content", model_dump=lambda **options: TWO[1])
    assert_two(["Plan", content, *TWO[2:]])


@pytest.mark.parametrize(
    ("response", "source", "message"),
    [
        ({"error": "x"}, "payload", "x"),
        ({"status": "error", "error_message": "no rooms"}, "payload", "no rooms"),
        ({"status": "failed"}, "payload", '{"status":"failed"}'),
        ({"status": "success", "report": "Error: a title"}, None, None),
        ({"result": "ValueError: x"}, "text", "ValueError: x"),
        ({"result": {"isError": True, "content": "x"}}, "flag", "x"),
        ({"output": 1}, None, None),
        (None, None, None),
    ],
)
def test_how_a_failure_is_known(response: Foreign, source: str | None, message: str | None) -> None:
    (made,) = load_run([says(call("f")), hears(answer("f", response))]).tool_calls
    failure = made.failure()
    assert (failure and failure.source, failure and failure.message) == (source, message)


def test_results_without_ids_are_matched_by_name_in_order() -> None:
    run = load_run(
        [
            says(call("f", n=1), call("g"), call("f", n=2)),
            hears(answer("f", {"result": "one"}), answer("f", {"result": "two"}), answer("g", {"result": "three"})),
        ]
    )
    assert [made.result for made in run.tool_calls] == ["one", "three", "two"]


def test_ids_go_before_order() -> None:
    run = load_run(
        [says(call("f", "1"), call("f", "2")), hears(answer("f", {"result": "b"}, "2"), answer("f", {"result": "a"}, "1"))]
    )
    assert [made.result for made in run.tool_calls] == ["a", "b"]


def test_a_result_without_its_call_is_kept_and_told_of() -> None:
    run = load_run([asks("x"), hears(answer("f", {"result": 1})), says({"text": "y"})])
    assert run.messages[1] == Message("tool", (ToolResult(1, None, "f"),))
    assert run.gap_kinds == {"orphan_result"}


def test_thoughts_code_and_files() -> None:
    run = load_run(
        [
            says(
                {"text": "hm", "thought": True, "thoughtSignature": "s"},
                {"executableCode": {"language": "PYTHON", "code": "1/0"}},
                {"codeExecutionResult": {"outcome": "OUTCOME_FAILED", "output": "division by zero"}},
                {"toolCall": {"id": "s", "toolType": "GOOGLE_SEARCH_WEB", "args": {"q": "x"}}},
                {"toolResponse": {"id": "s", "toolType": "GOOGLE_SEARCH_WEB", "response": {"found": 1}}},
                {"inlineData": {"mimeType": "image/png", "data": "x"}},
            )
        ]
    )
    code, search = run.tool_calls
    assert (code.name, code.kind, code.error) == ("code_execution", "provider", ToolError("division by zero", source="state"))
    assert (search.name, search.kind, search.result) == ("GOOGLE_SEARCH_WEB", "provider", {"found": 1})
    assert [type(part) for part in run.messages[0].parts if type(part) in (Reasoning, Other)] == [Reasoning, Other]
    assert run.text == ""


def test_a_call_that_is_still_streamed_does_not_count() -> None:
    run = load_run([says({"functionCall": {"name": "f", "willContinue": True}}, {"text": "x"})])
    assert (run.tool_calls, run.all_tool_calls[0].state) == ((), "partial")


def test_a_malformed_call_is_an_error_and_no_evidence() -> None:
    run = load_run({"candidates": [{"finishReason": "MALFORMED_FUNCTION_CALL", "finishMessage": "Malformed: f("}]})
    assert run.error == RunError("Malformed: f(", "MALFORMED_FUNCTION_CALL")
    assert checks.used_no_tools().score(run).outcome == "no_evidence"


def test_a_cut_answer_is_told_of() -> None:
    run = load_run({"candidates": [candidate({"text": "Let me"}, call("f"), reason="MAX_TOKENS")]})
    assert "the model was cut off by the limit of tokens (MAX_TOKENS)" in [gap.note for gap in run.gaps]


def test_a_blocked_prompt_and_a_withheld_answer_are_errors() -> None:
    assert load_run({"promptFeedback": {"blockReason": "SAFETY"}}, format="gemini").error == RunError(
        "the prompt was blocked: SAFETY", "SAFETY"
    )
    assert load_run({"candidates": [{"finishReason": "SAFETY"}]}).error == RunError("the model ended with SAFETY", "SAFETY")


def test_a_structured_answer_keeps_its_value() -> None:
    dump = {"candidates": [candidate({"text": '{"n": 1}'})]}
    run = load_run(foreign("google.genai.types:GenerateContentResponse", model_dump=lambda **options: dump, parsed={"n": 1}))
    assert run.output == {"n": 1}


def test_an_unknown_part_that_may_be_a_call_leaves_no_evidence() -> None:
    run = load_run([says({"toolPlan": {"name": "f"}}, {"text": "x"})])
    assert checks.did_not_call("refund").score(run).outcome == "no_evidence"
    assert load_run([says({"confettiMetadata": {}}, {"text": "x"})]).gaps == ()


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ([says(call("f")), {"role": "robot", "parts": []}], "[1].role"),
        ([says(call("f")), 5], "[1]"),
        ([says({"function_call": {"args": {}}})], "[0].parts[0].function_call.name"),
        ([says({"text": 5})], "[0].parts[0].text"),
        ([says(call("f"), 5)], "[0].parts[1]"),
        ({"contents": [says(call("f")), {"role": "user", "parts": 5}]}, "contents[1].parts"),
        ([says(call("f"), tool_calls=[{"function": {"name": "g"}}])], "[0].tool_calls"),
        ({"candidates": [candidate({"function_call": 5})]}, "candidates[0].content.parts[0].function_call"),
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


@pytest.mark.parametrize("name", ["two", "par", "cut", "chat_history"])
def test_what_the_sdk_gave(name: str, shared: Path) -> None:
    value = without_classes(json.loads((shared / "cases/frameworks/raw" / f"genai_{name}.json").read_text()))
    run = load_run(value)
    assert (run.format, run.final_text) == ("gemini", "Sunny in Paris; booking failed.")
    failed = [made.name for made in run.tool_calls if made.failure() is not None]
    if name == "cut":
        assert set(run.tool_names) == {"get_weather"}
    else:
        assert (run.tool_names, failed) == (("get_weather", "book_hotel"), ["book_hotel"])
        assert run.tool_calls[0].result == "Sunny, 21C"
