"""Plain values as answers, and envelopes around them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgspec
import pytest
from foreign import foreign

from quickchecks import Run, Usage, load_run
from quickchecks.adapters import as_run
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


@dataclass
class Answer:
    text: object
    error: object = None


class AnswerStruct(msgspec.Struct):
    text: object
    error: object | msgspec.UnsetType = msgspec.UNSET


class AnswerModel:
    """What a pydantic model looks like from outside."""

    def __init__(self, text: object, error: object = None) -> None:
        self.text, self.error = text, error

    def model_dump(self, mode: str = "python") -> dict[str, object]:
        return {"text": self.text, "error": self.error}


@dataclass
class Talk:
    messages: list[dict[str, str]]
    error: str | None = None


@pytest.mark.parametrize("make", [Answer, AnswerStruct, AnswerModel])
def test_an_object_with_the_fields_of_an_envelope_is_one(make: Callable[..., object]) -> None:
    run = load_run(make("sunny", "502"))
    assert run.error is not None
    assert (run.text, run.error.message) == ("sunny", "502")
    raised = load_run(make("sunny", TimeoutError("slow"))).error
    assert raised is not None
    assert (raised.message, raised.type) == ("slow", "TimeoutError")
    assert load_run(make("sunny")).error is None
    assert load_run(make("sunny")).text == "sunny"


def test_an_object_with_messages_is_the_conversation() -> None:
    said = [{"role": "user", "content": "weather?"}, {"role": "assistant", "content": "sunny"}]
    run = load_run(Talk(said, "502"))
    assert run.error is not None
    assert (run.text, run.error.message) == ("sunny", "502")
    with pytest.raises(RecordingError, match="a list of messages"):
        load_run(Talk([{"a": "b"}]))


def test_an_object_with_other_fields_is_the_answer() -> None:
    assert load_run(Weather("Oslo", 3)).output == {"city": "Oslo", "degrees": 3}


class Silent:
    """An object of which Python itself makes the text."""


async def later() -> str:
    return "sunny"


HELD: list[Callable[[], object]] = [TimeoutError, lambda: ValueError("sorry"), Silent, lambda: print, lambda: iter("ab")]


@pytest.mark.parametrize("held", HELD)
@pytest.mark.parametrize(
    "around",
    [
        lambda held: ["fine", held],
        lambda held: ("fine", held),
        lambda held: {"a": {"b": [held]}},
        lambda held: {"output": ["fine", held]},
        lambda held: Answer(["fine", held]),
        lambda held: {"weather": Answer("fine", held)},
    ],
)
def test_what_says_nothing_of_itself_is_no_answer_anywhere(
    around: Callable[[object], object], held: Callable[[], object]
) -> None:
    with pytest.raises(UnknownFormatError, match="it stands in"):
        load_run(around(held()))


def test_what_was_not_awaited_is_no_answer_in_a_list() -> None:
    waiting = later()
    with pytest.raises(UnknownFormatError, match="not awaited"):
        load_run(["fine", waiting])
    waiting.close()


def test_an_exception_as_the_result_of_a_tool_is_a_failed_call() -> None:
    for came in ({"result": ValueError("boom")}, {"error": ValueError("boom")}):
        (call,) = load_run({"text": "fine", "tool_calls": [{"name": "search", **came}]}).tool_calls
        failure = call.failure()
        assert failure is not None
        assert failure.type == "ValueError"
        assert "boom" in failure.message


@pytest.mark.parametrize(
    "value",
    [
        {"object": "chat.completion", "choices": []},
        {"object": "chat.completion", "choices": None, "model": "m"},
        {"object": "chat.completion", "choices": [{"message": None}]},
        {"object": "text_completion", "choices": []},
        {"object": "response", "status": "failed"},
        {"id": "1", "model": "m", "choices": []},
        {"candidates": [], "usageMetadata": {}},
        {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
        [{"object": "chat.completion", "choices": []}],
    ],
    ids=str,
)
def test_a_response_without_an_answer_is_none(value: object) -> None:
    with pytest.raises(RecordingError, match="an answer"):
        as_run(value)


def test_an_answer_may_have_the_words_of_a_response() -> None:
    values: list[dict[str, object]] = [{"choices": []}, {"candidates": []}, {"object": "chair"}, {"type": "error"}]
    for value in values:
        assert as_run(value).output == value


@pytest.mark.parametrize(
    "event",
    [
        "agents.stream_events:RunItemStreamEvent",
        "agno.run.agent:RunContentEvent",
        "crewai.types.streaming:StreamChunk",
        "haystack.dataclasses.streaming_chunk:StreamingChunk",
        "langchain_core.tracers.log_stream:RunLogPatch",
        "langgraph.types:Interrupt",
        "pydantic_ai._agent_graph:CallToolsNode",
    ],
)
def test_events_that_no_format_reads_are_no_answers(event: str) -> None:
    made = foreign(event, __dataclass_fields__={}, content="It is sunny")
    for value in (("note", made), ["text", made], {"said": made}, {"output": "ok", "said": made}):
        with pytest.raises(RecordingError, match="not an answer|knows this shape"):
            load_run(value)


@pytest.mark.parametrize(
    "event",
    [
        {"event_kind": "part_delta", "index": 0, "delta": {"content_delta": "sunny"}},
        {"type": "run_item_stream_event", "item": {}},
        {"type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": "sunny"},
        {"type": "text-delta", "id": "t", "delta": "sunny"},
        {"event": "on_chain_stream", "run_id": "r", "data": {"chunk": "sunny"}},
    ],
)
def test_events_as_json_are_no_answers(event: object) -> None:
    with pytest.raises(RecordingError):
        load_run([event, event])


def test_what_a_project_calls_events_is_an_answer() -> None:
    @dataclass
    class ConcertEvent:
        name: str

    for module in ("agents.concerts", "workflows", "events"):
        ConcertEvent.__module__ = module
        assert load_run([ConcertEvent("jazz")]).text == '[{"name":"jazz"}]'
