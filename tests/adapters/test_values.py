"""Plain values as answers, and envelopes around them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec
import pytest

from quickchecks import Run, Usage, load_run
from quickchecks.errors import RecordingError, UnknownFormatError

Foreign = Any  # JSON and the objects of SDKs have no types


@dataclass
class Weather:
    city: str
    degrees: int


class WeatherStruct(msgspec.Struct):
    city: str
    degrees: int


class WeatherModel:
    """What a pydantic model looks like from outside."""

    def model_dump(self, mode: str = "python") -> dict[str, object]:
        return {"city": "Oslo", "degrees": 3 if mode == "json" else object()}


def test_a_text_is_the_answer_and_shows_no_calls() -> None:
    run = load_run("It is sunny.")
    assert (run.text, run.format, run.tool_calls) == ("It is sunny.", "values", ())
    assert run.gap_kinds == {"calls"}


def test_none_is_no_answer() -> None:
    run = load_run(None)
    assert run.text == ""
    assert run.gap_kinds == {"calls", "text"}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (72, "72"),
        (7.5, "7.5"),
        (True, "true"),
        ({"city": "Zürich"}, '{"city":"Zürich"}'),
        (["a", 1], '["a",1]'),
        ((1, 2), "[1,2]"),
        ([], "[]"),
        ({}, "{}"),
        (float("inf"), "Infinity"),
    ],
)
def test_the_text_of_a_structured_value_is_its_json(value: object, text: str) -> None:
    assert load_run(value).text == text


@pytest.mark.parametrize("value", [Weather("Oslo", 3), WeatherStruct("Oslo", 3), WeatherModel()])
def test_the_value_of_an_object_stays_beside_its_text(value: object) -> None:
    run = load_run(value)
    assert (run.text, run.output) == ('{"city":"Oslo","degrees":3}', {"city": "Oslo", "degrees": 3})


def test_objects_inside_a_value_are_written_as_well() -> None:
    from pathlib import PurePosixPath

    assert load_run({"now": WeatherModel(), "at": PurePosixPath("a/b")}).output == {
        "now": {"city": "Oslo", "degrees": 3},
        "at": "a/b",
    }


@pytest.mark.parametrize(
    ("value", "advice"),
    [
        (object(), "pass the text"),
        (b"sunny", "decode it first"),
        (iter([1]), "load_runs"),
        (ValueError("boom"), "raised"),
        (Weather, "pass the text"),
    ],
)
def test_what_is_no_answer_is_refused_with_advice(value: object, advice: str) -> None:
    with pytest.raises(UnknownFormatError, match="neither a recorded run nor an answer") as caught:
        load_run(value)
    assert advice in caught.value.hint


def test_a_coroutine_was_not_awaited() -> None:
    async def agent() -> str:
        return "Sunny."

    waiting = agent()
    with pytest.raises(UnknownFormatError, match="not awaited"):
        load_run(waiting)
    waiting.close()


def test_a_value_that_contains_itself_is_refused() -> None:
    round_value: list[object] = []
    round_value += [round_value, round_value]
    with pytest.raises(UnknownFormatError):
        load_run(round_value)


# Envelopes


@pytest.mark.parametrize("key", ["output", "text", "answer", "response"])
def test_a_mapping_around_an_answer_is_an_envelope(key: str) -> None:
    run = load_run({key: "Sunny.", "usage": {"input_tokens": 3}, "metadata": {"trace": "t1"}})
    assert (run.text, run.usage, run.metadata) == ("Sunny.", Usage(3), {"usage": {"input_tokens": 3}, "trace": "t1"})


@pytest.mark.parametrize("value", [{"output": "x", "score": 1}, {"usage": {}}, {"text": "a", "answer": "b"}])
def test_any_other_mapping_is_the_answer_itself(value: dict[str, object]) -> None:
    assert load_run(value).output == value


def test_an_envelope_may_list_the_calls() -> None:
    run = load_run(
        {
            "output": "Booked.",
            "tool_calls": [
                {"name": "search", "args": {"q": "x"}, "result": ["a"]},
                {"function": {"name": "book", "arguments": "{}"}, "error": "no rooms left"},
                {"name": "pay", "result": {"error": "card refused"}},
            ],
        }
    )
    assert run.tool_names == ("search", "book", "pay")
    assert [failure.message if (failure := c.failure()) else None for c in run.tool_calls] == [
        None,
        "no rooms left",
        "card refused",
    ]
    assert run.gaps == ()


def test_calls_listed_without_any_result_leave_a_gap() -> None:
    run = load_run({"output": "Done.", "tool_calls": ["search", {"name": "book"}]})
    assert run.tool_names == ("search", "book")
    assert run.gap_kinds == {"results"}


def test_an_empty_list_of_calls_is_evidence_that_there_were_none() -> None:
    assert load_run({"output": "Done.", "tool_calls": []}).gaps == ()


def test_a_set_error_is_the_error_of_the_run() -> None:
    run = load_run({"output": None, "error": "rate limited"})
    assert run.error is not None
    assert run.error.message == "rate limited"
    assert load_run({"output": "x", "error": None}).error is None


def test_messages_in_an_envelope_are_the_run() -> None:
    run = load_run({"messages": [{"role": "assistant", "content": "Hi."}], "usage": {"input_tokens": 1}})
    assert (run.format, run.text) == ("openai_chat", "Hi.")


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ({"messages": "hello"}, "messages"),
        ({"output": "x", "tool_calls": "search"}, "tool_calls"),
        ({"output": "x", "tool_calls": [{"args": {}}]}, "tool_calls[0].name"),
        ({"output": "x", "metadata": 3}, "metadata"),
        ({"output": b"x"}, "output"),
    ],
)
def test_a_malformed_envelope_is_an_error(value: dict[str, object], path: str) -> None:
    with pytest.raises(RecordingError) as caught:
        load_run(value)
    assert caught.value.path == path


def test_a_run_is_itself() -> None:
    run = Run()
    assert load_run(run) is run
