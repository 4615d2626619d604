"""OpenAI chat completions: lists of messages, records with messages, responses."""

from __future__ import annotations

from typing import Any

import pytest
from foreign import foreign

from quickchecks import Message, Run, Text, Usage, load_run, load_runs
from quickchecks._run import Other, Reasoning, ToolResult
from quickchecks.errors import RecordingError

Foreign = Any  # JSON and the objects of SDKs have no types


def call(id: str | None, name: str, arguments: Foreign = "{}") -> dict[str, Foreign]:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def asks(*calls: Foreign, content: Foreign = None) -> dict[str, Foreign]:
    return {"role": "assistant", "content": content, "tool_calls": list(calls)}


def answers(id: str | None, content: Foreign, **more: Foreign) -> dict[str, Foreign]:
    return {"role": "tool", "tool_call_id": id, "content": content, **more}


def chat(*messages: Foreign, **options: Foreign) -> Run:
    return load_run(list(messages), format="openai_chat", **options)


def says(content: Foreign) -> Run:
    return chat({"role": "assistant", "content": content})


def test_a_conversation_is_read_whole() -> None:
    run = load_run(
        [
            {"role": "system", "content": "Be short."},
            {"role": "user", "content": "Tide in Bergen?"},
            asks(call("c1", "get_tide", '{"port":"Bergen"}'), content="One moment."),
            answers("c1", "1.4 m"),
            {"role": "assistant", "content": "1.4 metres."},
        ]
    )
    assert run.format == "openai_chat"
    assert [message.role for message in run.messages] == ["system", "user", "assistant", "assistant"]
    assert run.text == "One moment. 1.4 metres."
    (tide,) = run.tool_calls
    assert (tide.name, tide.arguments, tide.result, tide.state) == ("get_tide", {"port": "Bergen"}, "1.4 m", "completed")
    assert run.gaps == ()


def test_building_a_run_leaves_what_the_caller_gave_as_it_was() -> None:
    messages = [
        asks(call("c1", "f")),
        answers("c1", "ok", status="error", extra=1),
        {"role": "assistant", "content": "a", "x": 1},
    ]
    before = repr(messages)
    load_run(messages)
    assert repr(messages) == before


# Content


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("Sunny.", "Sunny."),
        ("", ""),
        (None, ""),
        ([], ""),
        ([{"type": "text", "text": "It is "}, {"type": "text", "text": "sunny"}], "It is sunny"),
        ([{"type": "output_text", "text": "Sunny"}], "Sunny"),
        ([{"type": "text", "text": {"value": "Sunny", "annotations": []}}], "Sunny"),
        ([{"type": "text", "text": None}, "plain"], "plain"),
        ([{"type": "widget_v9", "payload": 1}, {"type": "text", "text": "shown"}], "shown"),
        ([{"type": "reasoning", "text": "secret"}, {"type": "text", "text": "No."}], "No."),
        ([{"type": "refusal", "refusal": "I cannot."}], "I cannot."),
    ],
)
def test_content_is_text_a_list_of_parts_or_nothing(content: Foreign, text: str) -> None:
    assert says(content).text == text


def test_an_assistant_message_without_content_says_nothing() -> None:
    run = chat({"role": "user", "content": "q"}, {"role": "assistant"})
    assert (run.text, run.tool_calls) == ("", ())


def test_parts_of_unknown_kinds_are_kept() -> None:
    picture = {"type": "image_url", "image_url": {"url": "x.png"}}
    run = chat({"role": "user", "content": [picture, {"type": "text", "text": "What is it?"}]})
    assert run.messages[0].parts == (Other("image_url", picture), Text("What is it?"))


def test_reasoning_beside_the_content_is_no_text() -> None:
    run = chat({"role": "assistant", "content": "No.", "reasoning_content": "the code is 7781"})
    assert run.messages[0].parts == (Reasoning("the code is 7781"), Text("No."))


def test_a_refusal_is_what_the_agent_said() -> None:
    assert chat({"role": "assistant", "content": None, "refusal": "I cannot do that."}).text == "I cannot do that."


def test_the_words_of_a_spoken_answer_are_text() -> None:
    assert chat({"role": "assistant", "content": None, "audio": {"id": "a", "transcript": "Hello."}}).text == "Hello."


def test_developer_messages_are_system_messages() -> None:
    assert chat({"role": "developer", "content": "Be short."}).messages == (
        Message("system", (Text("Be short."),), None, {"role": "developer"}),
    )


def test_the_name_of_an_assistant_is_the_agent() -> None:
    run = chat({"role": "assistant", "name": "planner", **{k: v for k, v in asks(call("c", "f")).items() if k != "role"}})
    assert [site.agent for site in run.call_sites] == ["planner"]


def test_other_fields_go_to_metadata() -> None:
    run = chat({"role": "assistant", "content": "a", "annotations": [1], "refusal": None})
    assert run.messages[0].metadata == {"annotations": [1]}


# Pairing of calls and results


def test_parallel_calls_get_their_results_by_id_in_any_order() -> None:
    run = chat(asks(call("a", "f"), call("b", "g")), answers("b", "second"), answers("a", "first"))
    assert [c.result for c in run.tool_calls] == ["first", "second"]


def test_a_result_belongs_to_the_nearest_earlier_call_of_its_id() -> None:
    run = chat(asks(call("f:0", "f")), {"role": "user", "content": "again"}, asks(call("f:0", "f")), answers("f:0", "ok"))
    assert [c.state for c in run.tool_calls] == ["requested", "completed"]


def test_two_calls_with_one_id_in_a_message_are_two_and_get_the_results_in_order() -> None:
    run = chat(asks(call("x", "f"), call("x", "f")), answers("x", "1"), answers("x", "2"))
    assert [c.result for c in run.tool_calls] == ["1", "2"]


def test_without_ids_results_belong_by_name_and_order() -> None:
    run = chat(
        asks(call(None, "f"), call("", "g"), call(None, "f")),
        answers(None, "g1", name="g"),
        answers(None, "f1", name="f"),
        answers(None, "f2"),
    )
    assert [c.result for c in run.tool_calls] == ["f1", "g1", "f2"]


def test_a_call_without_an_id_may_be_answered_by_a_result_that_has_one() -> None:
    assert chat(asks(call(None, "f")), answers("made-up", "ok")).tool_calls[0].result == "ok"


def test_a_call_without_a_result_stays_requested() -> None:
    (lost,) = chat(asks(call("c", "fetch"))).tool_calls
    failure = lost.failure()
    assert failure is not None
    assert failure.source == "unanswered"


def test_results_may_be_apart_from_their_calls() -> None:
    asked = asks(call("a", "f"), {"id": "b", "name": "g"}, call("c", "h"))
    marked = answers("c", "full", status="error")
    run = chat(asked, answers("a", "1"), {"role": "user", "content": "see the file"}, marked, answers("b", "2", odd=True))
    assert [(c.name, c.state, c.result) for c in run.tool_calls] == [
        ("f", "completed", "1"),
        ("g", "completed", "2"),
        ("h", "failed", "full"),
    ]
    assert run.tool_calls[1].metadata == {"result": {"odd": True}}
    assert [message.role for message in run.messages] == ["assistant", "user"]


def test_an_empty_result_and_a_null_result_are_results() -> None:
    run = chat(asks(call("a", "f"), call("b", "f")), answers("a", ""), answers("b", None))
    assert [c.state for c in run.tool_calls] == ["completed", "completed"]


def test_a_result_without_its_call_is_kept_and_is_a_gap() -> None:
    run = chat(asks(call("a", "f")), answers("zzz", "gone", name="refund"), {"role": "assistant", "content": "Done."})
    assert run.messages[1] == Message("tool", (ToolResult("gone", "zzz", "refund"),))
    assert [(gap.kind, gap.name) for gap in run.gaps] == [("orphan_result", "refund")]
    assert run.tool_names == ("f",)


def test_function_call_and_the_role_function_are_the_old_names() -> None:
    run = chat(
        {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": '{"n":1}'}},
        {"role": "function", "name": "f", "content": "ok"},
    )
    assert [(c.name, c.arguments, c.result) for c in run.tool_calls] == [("f", {"n": 1}, "ok")]


def test_a_call_in_the_old_and_the_new_place_is_one() -> None:
    run = chat({**asks(call("c", "f", "{}")), "function_call": {"name": "f", "arguments": "{}"}}, answers("c", "ok"))
    assert [(c.name, c.state) for c in run.tool_calls] == [("f", "completed")]


@pytest.mark.parametrize(
    "odd",
    [
        {"id": "c", "name": "f", "arguments": {"n": 1}},
        {"id": "c", "name": "f", "input": {"n": 1}},
        {"id": "c", "function": {"name": "f", "arguments": {"n": 1}}},
        {"id": "c", "type": "custom", "custom": {"name": "f", "input": '{"n":1}'}},
    ],
)
def test_calls_in_other_clear_shapes_are_read(odd: Foreign) -> None:
    (read,) = chat(asks(odd)).tool_calls
    assert (read.id, read.name, read.arguments) == ("c", "f", {"n": 1})


def test_arguments_that_are_cut_off_stay_text() -> None:
    (cut,) = chat(asks(call("c", "f", '{"q": "un')), answers("c", "ok")).tool_calls
    assert (cut.arguments, cut.failure()) == ('{"q": "un', None)


# Errors of tools


@pytest.mark.parametrize(
    ("mark", "source"),
    [
        ({"status": "error"}, "flag"),
        ({"status": "Failed"}, "flag"),
        ({"is_error": True}, "flag"),
        ({"isError": True}, "flag"),
        ({"error": {"type": "OSError", "message": "disk full"}}, "flag"),
    ],
)
def test_a_marked_result_is_a_failure(mark: dict[str, Foreign], source: str) -> None:
    failure = chat(asks(call("c", "f")), answers("c", "disk full", **mark)).tool_calls[0].failure()
    assert failure is not None
    assert (failure.message, failure.source) == ("disk full", source)


@pytest.mark.parametrize("content", ["Error: disk full", '{"error": "disk full"}', '{"isError": true, "content": []}'])
@pytest.mark.parametrize("mark", [{}, {"status": "success"}, {"is_error": None}])
def test_without_a_mark_the_text_is_judged(content: str, mark: dict[str, Foreign]) -> None:
    assert chat(asks(call("c", "f")), answers("c", content, **mark)).tool_calls[0].failure() is not None


def test_a_result_that_is_marked_as_no_error_is_not_judged_by_its_text() -> None:
    run = chat(
        asks(call("c", "f"), call("d", "f")),
        answers("c", "Error: a title", is_error=False),
        answers("d", '{"error": 1}', is_error=False),
    )
    assert [c.failure() is None for c in run.tool_calls] == [True, False]


def test_a_result_in_text_parts_is_their_text() -> None:
    content = [{"type": "text", "text": "Error: "}, {"type": "text", "text": "no rooms"}]
    assert chat(asks(call("c", "f")), answers("c", content)).tool_calls[0].result == "Error: no rooms"


# Records and responses


def test_what_stands_beside_the_messages_goes_to_metadata() -> None:
    run = load_run(
        {
            "id": "r1",
            "model": "m",
            "input": "Hi?",
            "messages": [{"role": "assistant", "content": "Hi."}],
            "usage": {"prompt_tokens": 3, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 1}},
            "error": {"type": "Timeout", "message": "too slow"},
        }
    )
    assert (run.id, run.input, run.usage) == ("r1", "Hi?", Usage(3, 2, 1))
    assert run.error is not None
    assert (run.error.type, run.error.message) == ("Timeout", "too slow")
    assert run.metadata is not None
    assert set(run.metadata) == {"model", "usage", "error"}


@pytest.mark.parametrize(
    "beside",
    [
        {"output": "Sunny."},
        {"response": "Sunny."},
        {"output": {"role": "assistant", "content": "Sunny."}},
        {"output": [{"role": "assistant", "content": "Sunny."}]},
        {"response": {"choices": [{"message": {"role": "assistant", "content": "Sunny."}}]}},
        {"choices": [{"message": {"role": "assistant", "content": "Sunny."}}]},
    ],
)
def test_an_answer_beside_the_messages_of_a_request_is_the_last_message(beside: dict[str, Foreign]) -> None:
    """Logs often hold the request's messages, and the answer by itself: without it, negative checks would pass on nothing."""
    run = load_run({"messages": [{"role": "user", "content": "Weather?"}], **beside})
    assert (run.text, run.format) == ("Sunny.", "openai_chat")


def test_an_answer_that_the_messages_hold_is_not_said_twice() -> None:
    messages = [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": "Sunny."},
        {"role": "user", "content": "thanks"},
    ]
    assert load_run({"messages": messages, "output": "Sunny."}).text == "Sunny."


def test_calls_listed_beside_the_messages_are_the_same_calls() -> None:
    messages = [asks(call("c1", "f", '{"n":1}')), answers("c1", "ok"), {"role": "assistant", "content": "a"}]
    listed = [{"name": "f", "arguments": {"n": 1}}, {"id": "c1", "name": "f"}, {"name": "g", "result": "ok"}]
    assert load_run({"messages": messages, "tool_calls": listed}).tool_names == ("f", "g")


def test_a_response_shows_one_turn_and_says_what_it_cannot_show() -> None:
    message = {"role": "assistant", "content": None, "refusal": None, "tool_calls": [call("c", "f")]}
    run = load_run(
        {"id": "x", "object": "chat.completion", "choices": [{"index": 0, "finish_reason": "tool_calls", "message": message}]}
    )
    assert [c.state for c in run.tool_calls] == ["requested"]
    assert {gap.kind for gap in run.gaps} == {"input", "results"}
    assert run.metadata == {"object": "chat.completion", "finish_reason": "tool_calls"}


def test_a_response_with_several_choices_is_several_runs() -> None:
    from quickchecks import load_runs

    choices = [{"index": at, "message": {"role": "assistant", "content": text}} for at, text in enumerate("ab")]
    assert [run.text for run in load_runs([{"choices": choices}])] == ["a", "b"]


def test_the_message_of_a_response_alone_is_a_run() -> None:
    assert load_run({"role": "assistant", "content": "Sunny.", "refusal": None, "annotations": []}).format == "openai_chat"


class SdkObject:
    """What a pydantic model, as the SDKs have them, looks like from outside."""

    def __init__(self, **fields: object) -> None:
        self._fields = fields

    def model_dump(self) -> dict[str, object]:
        return {"refusal": None, "audio": None, "function_call": None, **self._fields}


def test_sdk_objects_and_dicts_may_be_mixed() -> None:
    asked = SdkObject(role="assistant", content=None, tool_calls=[SdkObject(**call("c", "f"))])
    run = load_run([{"role": "user", "content": "q"}, asked, answers("c", "ok")])
    assert [(c.name, c.result) for c in run.tool_calls] == [("f", "ok")]


def test_the_response_object_of_an_sdk_is_read() -> None:
    message = {"role": "assistant", "content": "Sunny."}
    assert load_run(SdkObject(choices=[{"index": 0, "message": message}], object="chat.completion")).text == "Sunny."


def test_a_record_without_any_message_shows_nothing() -> None:
    assert load_run({"messages": []}).gap_kinds == {"calls", "text"}


# Malformed records


@pytest.mark.parametrize(
    ("message", "path"),
    [
        ("hello", "messages[1]"),
        ({"content": "no role"}, "messages[1].role"),
        ({"role": "Assistant", "content": "x"}, "messages[1].role"),
        ({"role": "assistant", "content": 5}, "messages[1].content"),
        ({"role": "assistant", "content": [5]}, "messages[1].content[0]"),
        ({"role": "assistant", "content": [{"type": "text", "text": 5}]}, "messages[1].content[0].text"),
        ({"role": "assistant", "content": None, "refusal": 5}, "messages[1].refusal"),
        (asks(call("c", "f"), 5), "messages[1].tool_calls[1]"),
        ({"role": "assistant", "content": None, "tool_calls": {}}, "messages[1].tool_calls"),
        (asks({"id": "c", "type": "function", "function": "f"}), "messages[1].tool_calls[0].function"),
        (asks({"id": "c", "type": "function", "function": {"arguments": "{}"}}), "messages[1].tool_calls[0].function.name"),
        ({"role": "assistant", "content": None, "function_call": []}, None),
        ({"role": "assistant", "content": None, "function_call": "f"}, "messages[1].function_call"),
    ],
)
def test_a_malformed_message_is_an_error_that_says_where(message: Foreign, path: str | None) -> None:
    record = {"messages": [{"role": "user", "content": "q"}, message]}
    if path is None:
        load_run(record, format="openai_chat")
        return
    with pytest.raises(RecordingError, match=r"expected .*, got ") as caught:
        load_run(record, format="openai_chat")
    assert caught.value.path == path


@pytest.mark.parametrize(
    "part", [{"type": "tool_use", "name": "f"}, {"type": "server_tool_use"}, {"functionCall": {"name": "f"}}]
)
def test_calls_in_the_manner_of_another_format_are_never_dropped(part: Foreign) -> None:
    messages = [{"role": "user", "content": "q"}, {"role": "assistant", "content": [part, {"type": "text", "text": "a"}]}]
    with pytest.raises(RecordingError, match="another format") as caught:
        load_run(messages, format="openai_chat")
    assert caught.value.path == "[1].content[0]"
    try:
        run = load_run(messages)
    except RecordingError:
        return  # refused is not dropped
    assert run.format != "openai_chat"
    assert [found.name for found in run.all_tool_calls] == ["f"]


# Streamed responses


def delta(index: int = 0, finish: str | None = None, **held: Foreign) -> dict[str, Foreign]:
    return {"object": "chat.completion.chunk", "choices": [{"index": index, "delta": held, "finish_reason": finish}]}


def piece(arguments: str, name: str | None = None, id: str | None = None, **more: Foreign) -> dict[str, Foreign]:
    return {"index": 0, "id": id, "function": {"name": name, "arguments": arguments}, **more}


def test_a_streamed_response_is_read_as_the_response_that_it_is() -> None:
    run = load_run(
        [
            {"id": "r", "model": "m", **delta(role="assistant", content="")},
            delta(content="Sun"),
            delta(content="ny.", tool_calls=[piece("", "get_weather", "c1")]),
            delta(tool_calls=[piece("{}")]),
            delta(finish="tool_calls"),
            {"object": "chat.completion.chunk", "choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}},
        ]
    )
    assert (run.text, run.id, run.usage) == ("Sunny.", "r", Usage(3, 2))
    (found,) = run.tool_calls
    assert (found.name, found.id, found.arguments, found.state) == ("get_weather", "c1", {}, "requested")
    assert run.gap_kinds == {"input", "results"}


@pytest.mark.parametrize("finish", ["length", None])
def test_a_stream_that_is_cut_off_in_a_call_gives_a_partial_one(finish: str | None) -> None:
    run = load_run(
        [
            delta(tool_calls=[piece("{}", "whole", "c1")]),
            delta(tool_calls=[piece('{"city": "Par', "get_weather", "c2", index=1)]),
            delta(finish=finish),
        ]
    )
    assert [(found.name, found.state) for found in run.all_tool_calls] == [("whole", "requested"), ("get_weather", "partial")]
    assert [found.name for found in run.tool_calls] == ["whole"]
    assert run.gaps_of("calls")[-1].note == "the answer was cut off in the middle of a call of get_weather"
    assert len(run.gaps_of("calls")) == (2 if finish is None else 1)


def test_a_whole_response_that_is_cut_off_in_a_call_gives_a_partial_one() -> None:
    message = asks(call("c", "get_weather", '{"city": "Par'))
    assert load_run({"choices": [{"message": message, "finish_reason": "length"}]}).all_tool_calls[0].state == "partial"
    assert load_run({"choices": [{"message": message, "finish_reason": "tool_calls"}]}).all_tool_calls[0].state == "requested"
    assert load_run({"choices": [{"message": message}]}).all_tool_calls[0].state == "requested"


@pytest.mark.parametrize(
    ("pieces", "read"),
    [
        # Every call at the index 0, as some providers give them.
        ([piece("{}", "f", "a"), piece("{}", "g", "b")], [("f", "{}"), ("g", "{}")]),
        ([piece("{}", "f"), piece("{}", "f")], [("f", "{}"), ("f", "{}")]),
        # The name again with each piece.
        ([piece('{"a"', "f", "a"), piece(":1}", "f", "a")], [("f", '{"a":1}')]),
        ([piece('{"a"', "f"), piece(":1}", "f")], [("f", '{"a":1}')]),
        # No index.
        ([piece("{", "f", "a", index=None), piece("}", index=None)], [("f", "{}")]),
        (
            [piece("{", "f", "a", index=None), piece("{}", "g", "b", index=None), piece("}", id="a", index=None)],
            [("f", "{}"), ("g", "{}")],
        ),
        # The name after the first piece.
        ([piece("{"), piece("}", "f")], [("f", "{}")]),
    ],
)
def test_pieces_belong_to_the_call_that_is_open(pieces: list[Foreign], read: Foreign) -> None:
    run = load_run([*(delta(tool_calls=[one]) for one in pieces), delta(finish="tool_calls")])
    assert [(found.name, found.raw_arguments) for found in run.tool_calls] == read


def test_pieces_that_name_no_tool_are_a_gap() -> None:
    run = load_run([delta(tool_calls=[piece('{"a": 1}', id="c")]), delta(finish="tool_calls")])
    assert run.gap_kinds >= {"calls"}


def test_the_old_place_of_a_call_is_streamed_too() -> None:
    run = load_run(
        [delta(function_call={"name": "f", "arguments": "{"}), delta(function_call={"arguments": "}"}), delta(finish="stop")]
    )
    assert [(found.name, found.arguments) for found in run.tool_calls] == [("f", {})]


def test_thoughts_are_streamed_and_are_no_text() -> None:
    run = load_run([delta(reasoning_content="7"), delta(reasoning_content="7"), delta(content="No."), delta(finish="stop")])
    assert run.messages[0].parts == (Reasoning("77"), Text("No."))


def test_a_stream_of_several_answers_is_a_run_for_each() -> None:
    chunks = [delta(0, content="a"), delta(1, content="b"), delta(0, "stop", content="a"), delta(1, "stop")]
    assert [run.text for run in load_runs([chunks])] == ["aa", "b"]


@pytest.mark.parametrize(
    ("chunks", "path"),
    [
        ([delta(content="a"), 5], "[1]"),
        ([delta(content="a"), {"choices": 5}], "[1].choices"),
        ([delta(content="a"), {"choices": [{"delta": 5}]}], "[1].choices[0].delta"),
        ([delta(tool_calls=5)], "[0].choices[0].delta.tool_calls"),
        ([delta(tool_calls=[5])], "[0].choices[0].delta.tool_calls[0]"),
    ],
)
def test_a_malformed_chunk_names_its_place(chunks: Foreign, path: str) -> None:
    with pytest.raises(RecordingError) as caught:
        load_run(chunks)
    assert caught.value.path == path


# Objects of SDKs


def shown(
    value: dict[str, Foreign], name: str = "openai.types.chat.chat_completion:ChatCompletion", **fields: Foreign
) -> Foreign:
    """An object of an SDK, which shows itself as a dict as pydantic's models do."""
    return foreign(name, model_dump=lambda **options: value, **{**value, **fields})


def test_objects_of_an_sdk_and_dicts_may_be_mixed() -> None:
    run = chat(
        {"role": "user", "content": "q"},
        shown(asks(call("c1", "f")), "openai.types.chat.chat_completion_message:ChatCompletionMessage"),
        answers("c1", "ok"),
        shown({"role": "assistant", "content": "a", "tool_calls": None, "refusal": None}),
    )
    assert (run.text, run.tool_calls[0].result) == ("a", "ok")


def test_chunks_may_be_objects() -> None:
    run = load_run([shown(delta(content="a"), "openai.types.chat:ChatCompletionChunk"), shown(delta(finish="stop"))])
    assert (run.text, run.format) == ("a", "openai_chat")


def test_cost_and_time_that_litellm_keeps_beside_a_response() -> None:
    value = {"choices": [{"message": {"role": "assistant", "content": "a"}}], "usage": {"prompt_tokens": 1}}
    kept = {"_hidden_params": {"response_cost": 0.5}, "_response_ms": 250.0}
    run = load_run(shown(value, "litellm.types.utils:ModelResponse", **kept))
    assert (run.usage, run.duration) == (Usage(1, cost=0.5), 0.25)


def test_the_value_that_an_sdk_has_parsed_is_the_output() -> None:
    message = {"role": "assistant", "content": '{"city":  "Paris"}', "parsed": {"city": "Paris"}}
    run = load_run({"choices": [{"message": message}]})
    assert (run.output, run.text) == ({"city": "Paris"}, '{"city":  "Paris"}')
    assert load_run({"choices": [{"message": {**message, "content": None}}]}).text == '{"city":"Paris"}'


def test_a_result_that_is_an_object_is_kept_as_what_it_shows() -> None:
    run = chat(asks(call("c", "f")), answers("c", shown({"error": "disk full"}, "my.tools:Result")))
    assert run.tool_calls[0].result == {"error": "disk full"}
    assert run.tool_calls[0].failure() is not None
