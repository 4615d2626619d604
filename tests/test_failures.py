"""When a tool call failed: the one definition that every check uses."""

from __future__ import annotations

from typing import Literal

import pytest

from quickchecks._failures import TEXT_ERROR, Failure, class_name, error_type, payload_failure
from quickchecks._run import UNSET, CallState, ToolCall, ToolError

ShownIn = Literal["state", "result", "text"]


@pytest.mark.parametrize(
    "text",
    [
        "Error: order not found",
        "ValueError: bad",
        "  \n HTTPError : 404",
        "Exception: x",
        "MyException:",
        "ÜberError: x",
        "An error occurred while running the tool. Please try again.",
        "Failed to invoke search",
        "Execution error in tool",
        "Error executing tool search: x",
        "Tool 'search' not found",
        "Tool 'search' timed out after 5 s",
        "Error: Function failed.",
    ],
)
def test_a_text_that_begins_as_an_error_does_reads_like_one(text: str) -> None:
    assert TEXT_ERROR.match(text)
    call = ToolCall("look", result=text)
    assert call.failure() == Failure(text, "text", error_type(text))
    assert call.failure(text_errors=False) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "No Error: all fine",
        "Error",
        "Errors: none",
        "error: lower case",
        "The tool failed",
        "0 Exceptions found",
        "Tool 'search' found it",
        "requests.HTTPError: 404",
        "I hit a ValueError: bad",
    ],
)
def test_a_text_that_only_speaks_of_errors_does_not(text: str) -> None:
    assert ToolCall("look", result=text).failure() is None


@pytest.mark.parametrize(
    ("result", "failure"),
    [
        ({"error": "disk full"}, Failure("disk full", "payload")),
        ({"error": "OSError: disk full"}, Failure("OSError: disk full", "payload", "OSError")),
        ({"error": {"message": "full", "type": "OSError"}}, Failure("full", "payload", "OSError")),
        ({"error": {"message": "full", "type": "the words of the run"}}, Failure("full", "payload")),
        ({"error": {"message": "", "code": 5}}, Failure('{"message":"","code":5}', "payload")),
        ({"error": True, "why": "x"}, Failure('{"error":true,"why":"x"}', "payload")),
        ({"error": 5}, Failure('{"error":5}', "payload")),
        ({"error": ["a"]}, Failure('{"error":["a"]}', "payload")),
        ({"isError": True, "content": [{"type": "text", "text": "disk full"}]}, Failure("disk full", "flag")),
        ({"isError": True, "content": "disk full"}, Failure("disk full", "flag")),
        ({"isError": 1}, Failure('{"isError":1}', "flag")),
        ({"is_error": True, "content": []}, Failure('{"is_error":true,"content":[]}', "flag")),
        ({"isError": "false"}, Failure('{"isError":"false"}', "flag")),
        ({"error": "", "isError": False}, None),
        ({"error": None}, None),
        ({"error": 0, "ok": True}, None),
        ({"errors": ["x"]}, None),
        ({"result": {"error": "nested"}}, None),
        ({"success": False}, None),
        ([{"error": "x"}], None),
        (None, None),
        (False, None),
    ],
)
def test_an_object_with_a_truthy_error_is_a_failure(result: object, failure: Failure | None) -> None:
    assert payload_failure(result) == failure
    assert ToolCall("look", result=result).failure() == failure


@pytest.mark.parametrize(
    ("shown_in", "result", "source"),
    [
        ("state", "Error: x", None),
        ("state", '{"error": "x"}', None),
        ("state", {"error": "x"}, "payload"),
        ("result", "Error: x", "text"),
        ("result", '{"error": "x"}', None),
        ("result", {"error": "x"}, "payload"),
        ("text", "Error: x", "text"),
        ("text", ' {"error": "x"}', "payload"),
        ("text", '{"isError": true}', "flag"),
        ("text", '{"isError": false, "content": "Error: x"}', None),
        ("text", '{"error": "x"', None),
        ("text", '["error"]', None),
        ("text", "", None),
    ],
)
def test_where_the_source_shows_failures_decides_what_is_judged(shown_in: ShownIn, result: object, source: str | None) -> None:
    failure = ToolCall("look", result=result, errors_shown_in=shown_in).failure()
    assert (failure.source if failure else None) == source


@pytest.mark.parametrize(
    ("state", "failure"),
    [
        ("requested", Failure("no result", "unanswered")),
        ("failed", Failure("", "state")),
        ("completed", None),
        ("partial", None),
        ("awaiting", None),
        ("denied", None),
    ],
)
def test_the_state_of_a_call_says_whether_it_failed(state: CallState, failure: Failure | None) -> None:
    assert ToolCall("look", state=state, result=UNSET).failure() == failure


@pytest.mark.parametrize(
    ("result", "message", "kind"),
    [("ValueError: bad", "ValueError: bad", "ValueError"), ({"error": "bad"}, "bad", ""), ({"other": 1}, "", ""), (None, "", "")],
)
def test_a_call_in_an_error_state_tells_what_its_result_says(result: object, message: str, kind: str) -> None:
    assert ToolCall("look", state="failed", result=result).failure() == Failure(message, "state", kind)


def test_what_the_source_says_comes_first() -> None:
    call = ToolCall("look", result="fine", error=ToolError("KeyError: 'a'", source="exception"))
    assert call.failure() == Failure("KeyError: 'a'", "exception", "KeyError")
    assert ToolCall("look", error=ToolError("m", "a b c")).failure() == Failure("m", "flag", "")


def test_a_function_says_which_texts_are_errors() -> None:
    call = ToolCall("look", result="Fehler: kaputt")
    assert call.failure() is None
    assert call.failure(lambda text: text.startswith("Fehler")) == Failure("Fehler: kaputt", "text")
    assert ToolCall("look", result="Error: x").failure(lambda text: False) is None
    assert ToolCall("look", result="Fehler", errors_shown_in="state").failure(lambda text: True) is None


def test_an_empty_result_is_a_result() -> None:
    assert ToolCall("look", result="").failure() is None


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("ValueError: x", "ValueError"),
        (" Exception : x", "Exception"),
        ("no", ""),
        ("x" * 100 + "Error: y", ""),
        ("Error:", "Error"),
    ],
)
def test_the_class_of_an_error_is_read_from_its_message(message: str, kind: str) -> None:
    assert error_type(message) == kind


@pytest.mark.parametrize(
    ("given", "kind"), [("a.b.Error", "a.b.Error"), ("a b", ""), ("", ""), (5, ""), (None, ""), ("x" * 81, "")]
)
def test_only_what_can_be_a_class_is_taken_for_one(given: object, kind: str) -> None:
    assert class_name(given) == kind


@pytest.mark.parametrize("text", ["a" * 10_000_000, "Error" * 2_000_000, " " * 10_000_000, "Tool '" + "x" * 10_000_000])
def test_a_hostile_text_is_read_in_one_go(text: str) -> None:
    """A pattern that goes back and forth would take minutes here."""
    assert ToolCall("look", result=text, errors_shown_in="text").failure() is None
    assert error_type(text) == ""
