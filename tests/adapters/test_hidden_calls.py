"""Objects that show a call, or say that there was one, where a reader could overlook it: no negative check passes on them."""

from __future__ import annotations

from typing import Any

import pytest
from foreign import foreign, foreign_class

from quickchecks import Run, checks, load_run
from quickchecks.errors import RecordingError

Foreign = Any  # JSON and the objects of SDKs have no types

BOOK = {"name": "book_hotel", "args": {"city": "Paris"}}
USER = {"role": "user", "content": "Plan"}
MESSAGE = foreign_class("langchain_core.messages.base:BaseMessage")


def shown(path: str, value: dict[str, Foreign]) -> Foreign:
    """An object of an SDK, which shows itself as a dict as pydantic's models do."""
    return foreign(path, model_dump=lambda **options: value)


def said(run: Run) -> dict[str, str]:
    """How the negative checks end."""
    asked = {
        "used_no_tools": checks.used_no_tools(),
        "did_not_call": checks.did_not_call("book_hotel"),
        "max_tool_calls": checks.max_tool_calls(0),
    }
    return {name: check.score(run).outcome for name, check in asked.items()}


def assert_told(run: Run, note: str = "") -> None:
    """Either the call is read, or a gap says that there may be one."""
    assert "passed" not in said(run).values(), said(run)
    if note:
        assert any(note in gap.note for gap in run.gaps_of("calls")), run.gaps


# Answers that were cut off


def chat_completion(arguments: str, reason: str, **more: Foreign) -> dict[str, Foreign]:
    call = {"id": "c", "type": "function", "function": {"name": "book_hotel", "arguments": arguments}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    return {"object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": reason}], **more}


AI = {"type": "ai", "content": ""}
INCOMPLETE = {"type": "function_call", "call_id": "c", "name": "book_hotel", "arguments": '{"ci', "status": "incomplete"}
SENT_INCOMPLETE = {key: item for key, item in INCOMPLETE.items() if key != "status"}
CUT: dict[str, Foreign] = {
    "chat": chat_completion('{"ci', "length"),
    "chat, filtered": chat_completion('{"ci', "content_filter"),
    "litellm": shown("litellm.types.utils:ModelResponse", chat_completion('{"ci', "length")),
    "chat, a choice": chat_completion('{"ci', "length")["choices"][0],
    "chat, in a list": [USER, shown("openai.types.chat.chat_completion:ChatCompletion", chat_completion('{"ci', "length"))],
    "responses": {"object": "response", "status": "incomplete", "output": [INCOMPLETE]},
    "responses, without a status": {"object": "response", "status": "incomplete", "output": [SENT_INCOMPLETE]},
    "responses, a list": [USER, INCOMPLETE],
    "anthropic": {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "tool_use", "id": "t", "name": "book_hotel", "input": {}}],
        "stop_reason": "max_tokens",
    },
    "gemini": [{"role": "model", "parts": [{"functionCall": {"name": "book_hotel", "args": {}, "willContinue": True}}]}],
    "langchain": [
        {
            **AI,
            "invalid_tool_calls": [{"name": "book_hotel", "args": '{"ci', "id": "c"}],
            "response_metadata": {"finish_reason": "length"},
        }
    ],
    "strands": foreign(
        "strands.agent.agent_result:AgentResult",
        stop_reason="max_tokens",
        message={"role": "assistant", "content": [{"toolUse": {"toolUseId": "t", "name": "book_hotel", "input": {}}}]},
    ),
}


@pytest.mark.parametrize("name", CUT)
def test_a_call_that_was_cut_off_is_partial_and_a_gap(name: str) -> None:
    run = load_run(CUT[name])
    assert [call.state for call in run.all_tool_calls] == ["partial"]
    note = "the answer was cut off in the middle of a call of book_hotel"
    assert note in [gap.note for gap in run.gaps_of("calls")]
    assert set(said(run).values()) == {"no_evidence"}
    assert checks.no_tool_errors().score(run).outcome == "no_evidence"
    assert checks.called_tool("book_hotel").score(run).outcome == "no_evidence"


def test_what_strands_leaves_of_a_call_that_was_cut_off() -> None:
    words = "The selected tool book_hotel's tool use was incomplete due to maximum token limits being reached."
    message = {"role": "assistant", "content": [{"text": words}]}
    stored = {"type": "agent_result", "message": message, "stop_reason": "max_tokens"}
    assert_told(load_run(stored), "in the middle of a call of book_hotel")
    called = {"role": "assistant", "content": [{"toolUse": {"toolUseId": "t", "name": "f", "input": {}}}]}
    run = load_run([called, {"role": "user", "content": [{"toolResult": {"toolUseId": "t", "content": []}}]}, message])
    assert checks.did_not_call("book_hotel").score(run).reason == "the answer was cut off in the middle of a call of book_hotel"


def test_a_call_that_is_whole_was_made_although_the_answer_was_cut_off() -> None:
    run = load_run(chat_completion('{"city": "Paris"}', "length"))
    assert [call.state for call in run.tool_calls] == ["requested"]
    assert not run.gaps_of("calls")


# Endings that tell of calls


def anthropic(*content: Foreign, reason: str | None = "end_turn") -> dict[str, Foreign]:
    return {"type": "message", "role": "assistant", "content": list(content), "stop_reason": reason}


TEXT = {"type": "text", "text": "Done."}
DONE = {"role": "assistant", "content": "Done."}
ENDINGS: dict[str, Foreign] = {
    "anthropic": anthropic(TEXT, reason="tool_use"),
    "anthropic, in a list": [USER, {"role": "user", "content": [{"type": "tool_result"}]}, anthropic(TEXT, reason="tool_use")],
    "chat": {"object": "chat.completion", "choices": [{"message": DONE, "finish_reason": "tool_calls"}]},
    "chat, the old name": {"choices": [{"message": DONE, "finish_reason": "function_call"}]},
    "chat, a message": [USER, {**DONE, "finish_reason": "tool_calls"}],
    "langchain": [{"type": "ai", "content": "Done.", "response_metadata": {"finish_reason": "tool_calls"}}],
    "langchain, anthropic": [{"type": "ai", "content": "Done.", "response_metadata": {"stop_reason": "tool_use"}}],
    "strands": foreign(
        "strands.agent.agent_result:AgentResult",
        stop_reason="tool_use",
        message={"role": "assistant", "content": [{"text": "Done."}]},
    ),
}


@pytest.mark.parametrize("name", ENDINGS)
def test_an_ending_with_calls_that_are_not_there_is_a_gap(name: str) -> None:
    assert_told(load_run(ENDINGS[name]), "the model ended with calls")


def test_what_the_usage_or_the_end_of_an_answer_tells_of_calls() -> None:
    ran = "the usage tells of tools that the provider ran"
    assert_told(load_run({**anthropic(TEXT), "usage": {"output_tokens": 1, "server_tool_use": {"web_search_requests": 2}}}), ran)
    assert not load_run({**anthropic(TEXT), "usage": {"server_tool_use": {"web_search_requests": 0}}}).gaps_of("calls")
    assert_told(load_run({"candidates": [{"content": SAID}], "usageMetadata": {"toolUsePromptTokenCount": 9}}), ran)
    assert_told(load_run(anthropic(TEXT, reason="pause_turn")), "pause_turn")
    broken = {"type": "ai", "content": "", "response_metadata": {"finish_reason": "MALFORMED_FUNCTION_CALL"}}
    assert_told(load_run([broken]), "cannot be read")
    message = {"role": "assistant", "content": [TEXT], "stop_reason": "tool_use"}
    ended = {"type": "result", "subtype": "success", "session_id": "s", "num_turns": 1, "result": "Done."}
    assert_told(load_run([{"type": "assistant", "message": message}, ended]), "the model ended with calls")


# Gemini

ASKED = {"role": "user", "parts": [{"text": "Plan"}]}
SAID = {"role": "model", "parts": [{"text": "Done."}]}
PART = {"functionCall": BOOK}
CANDIDATE = {"content": {"role": "model", "parts": [PART]}, "finishReason": "STOP"}
RESPONSE = {"candidates": [CANDIDATE]}
ENTRIES: dict[str, Foreign] = {
    "a response": RESPONSE,
    "an object of a response": shown("google.genai.types:GenerateContentResponse", RESPONSE),
    "an object of a candidate": shown("google.genai.types:Candidate", CANDIDATE),
    "a candidate": CANDIDATE,
    "a part": PART,
    "an object of a part": shown("google.genai.types:Part", {"function_call": BOOK, "text": None}),
    "a content without a role": {"parts": [PART]},
}


@pytest.mark.parametrize("objects", [True, False])
@pytest.mark.parametrize("last", [None, SAID, {"candidates": [{"content": SAID, "finishReason": "STOP"}]}])
@pytest.mark.parametrize("name", ENTRIES)
def test_whatever_stands_in_a_list_of_contents_is_read(name: str, last: Foreign, objects: bool) -> None:
    listed = [ASKED, SAID]
    if objects:
        listed = [shown("google.genai.types:Content", value) for value in listed]
    run = load_run([*listed, ENTRIES[name], *([last] if last else [])])
    assert run.tool_names == ("book_hotel",)
    assert [message.role for message in run.messages][:3] == ["user", "assistant", "assistant"]


@pytest.mark.parametrize(
    "entry", [{"banana": 1}, {}, {"name": "book_hotel", "args": {}}, {"type": "x"}, {"candidates": [SAID] * 2}]
)
def test_what_is_no_content_is_refused(entry: Foreign) -> None:
    with pytest.raises(RecordingError) as caught:
        load_run([ASKED, SAID, entry, SAID])
    assert caught.value.path.startswith("[2]")


def test_a_content_without_parts_that_holds_something_else_is_a_gap() -> None:
    assert_told(load_run([ASKED, {"role": "model", "steps": ["book_hotel"]}, SAID]), "a content without parts holds")


def test_a_list_that_ends_with_a_response_has_its_error() -> None:
    run = load_run([ASKED, SAID, {"candidates": [{"finishReason": "SAFETY"}]}])
    assert run.error is not None
    assert run.error.type == "SAFETY"


def grounded(**more: Foreign) -> Run:
    return load_run({"candidates": [{"content": SAID, "finishReason": "STOP", **more}]})


def test_what_the_provider_looked_up_is_its_call() -> None:
    run = grounded(groundingMetadata={"webSearchQueries": ["a", "b"]})
    assert [(call.name, call.arguments, call.kind, call.state) for call in run.tool_calls] == [
        ("google_search", {"query": "a"}, "provider", "completed"),
        ("google_search", {"query": "b"}, "provider", "completed"),
    ]
    assert run.text == "Done."
    assert checks.no_tool_errors().score(run).passed
    pages = [{"retrievedUrl": "u", "urlRetrievalStatus": "URL_RETRIEVAL_STATUS_ERROR"}]
    run = grounded(url_context_metadata={"url_metadata": pages})
    assert [(call.name, call.arguments, call.state) for call in run.tool_calls] == [("url_context", {"url": "u"}, "failed")]
    assert_told(grounded(groundingMetadata={"groundingChunks": [{"maps": {}}]}), "grounded in sources")
    event = {"author": "travel", "invocationId": "e", "content": SAID, "groundingMetadata": {"webSearchQueries": ["a"]}}
    assert load_run([event]).tool_names == ("google_search",)
    assert grounded(groundingMetadata={}).tool_names == ()


# The Claude Agent SDK


def stream(kind: str, **more: Foreign) -> Foreign:
    return foreign(f"claude_agent_sdk.types:{kind}", **more)


def test_a_stream_of_claude_that_does_not_show_all() -> None:
    ended = stream("ResultMessage", subtype="success", result="Done.", num_turns=5, session_id="s")
    spoken = stream("AssistantMessage", content=[foreign("claude_agent_sdk.types:TextBlock", text="Done.")])
    assert_told(load_run([ended]), "5 turns")
    assert_told(load_run([ended]), "a result alone")
    assert_told(load_run([spoken, ended]), "5 turns")
    cut = load_run([spoken])
    assert_told(cut, "the stream ends before its result")
    assert checks.excludes("x").score(cut).outcome == "no_evidence"
    whole = load_run([spoken, stream("ResultMessage", subtype="success", result="Done.", num_turns=1)])
    assert set(said(whole).values()) == {"passed"}


def test_the_file_of_a_session_needs_no_result() -> None:
    entry = {"type": "assistant", "message": {"role": "assistant", "content": [TEXT]}, "parentUuid": None}
    assert not load_run([entry]).gaps_of("calls")


# Values

FAILED: list[Foreign] = [
    {"is_error": True},
    {"status": "failed"},
    {"status": "ERROR"},
    {"success": False},
    {"ok": False},
    {"result": ValueError("no rooms")},
    {"exception": ValueError("no rooms")},
]


@pytest.mark.parametrize("mark", FAILED)
def test_a_call_beside_an_answer_says_in_many_ways_that_it_failed(mark: Foreign) -> None:
    run = load_run({"output": "Booked.", "tool_calls": [{**BOOK, "result": "no rooms", **mark}]})
    assert checks.no_tool_errors().score(run).failed


@pytest.mark.parametrize("mark", [{}, {"is_error": False}, {"status": "ok"}, {"success": True}])
def test_a_call_beside_an_answer_says_that_it_did_not_fail(mark: Foreign) -> None:
    run = load_run({"output": "Booked.", "tool_calls": [{**BOOK, "result": "a room", **mark}]})
    assert checks.no_tool_errors().score(run).passed


@pytest.mark.parametrize(
    "call",
    [
        {"id": "c", "type": "function", "function": {"name": "book_hotel", "arguments": "{}"}},
        {"type": "tool_use", "id": "t", "name": "book_hotel", "input": {}},
    ],
)
def test_a_call_by_itself_is_no_answer(call: Foreign) -> None:
    for value in (call, shown("mine.calls:Call", call)):
        with pytest.raises(RecordingError, match="call of a tool"):
            load_run(value)


# Parts of kinds that a format does not have

CALLED = {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {}}]}
STRANGE: dict[str, Foreign] = {
    "agent_action": {"type": "agent_action", "name": "book_hotel", "input": {}},
    "with a name": {"type": "strange", "name": "book_hotel"},
    "with an id": {"type": "strange", "id": "x"},
    "called a use": {"type": "computer_use"},
}


@pytest.mark.parametrize("name", STRANGE)
def test_a_strange_block_of_anthropic_is_a_gap(name: str) -> None:
    for value in (anthropic(TEXT, STRANGE[name]), [USER, CALLED, anthropic(STRANGE[name])]):
        run = load_run(value)
        assert checks.did_not_call("book_hotel").score(run).outcome == "no_evidence"


def test_a_block_that_is_no_call_is_none() -> None:
    blocks = [{"type": "container_upload", "file_id": "f"}, {"type": "strange", "data": 1}, {"type": "image", "source": {}}]
    assert not load_run(anthropic(TEXT, *blocks)).gaps_of("calls")


def test_a_message_of_anthropic_without_content_is_a_gap() -> None:
    value = shown("anthropic.types.message:Message", {**anthropic(), "content": None})
    assert_told(load_run(value), "holds no content")
    assert checks.excludes("x").score(load_run(value)).outcome == "no_evidence"


@pytest.mark.parametrize(
    "part", [{"searchCall": {"q": "x"}}, {"type": "agent_action", "name": "book_hotel"}, {"type": "an_action"}]
)
def test_a_strange_part_of_a_chat_is_a_gap(part: Foreign) -> None:
    assert_told(
        load_run([{"role": "user", "content": "Plan"}, {"role": "assistant", "content": [{"text": "x"}, part]}]), "may be a call"
    )


def test_a_strange_part_of_a_response_is_a_gap() -> None:
    part = {"type": "mystery", "name": "book_hotel"}
    message = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "x"}, part]}
    assert_told(load_run({"object": "response", "output": [message]}), "may be a call")


# LangChain


@pytest.mark.parametrize(
    "beside",
    [
        {"function_call": {"name": "book_hotel", "arguments": "{}"}},
        {"tool_calls": [{"id": "c", "function": {"name": "book_hotel", "arguments": "{}"}}]},
        {"toolCalls": [{"name": "book_hotel", "args": {}}]},
    ],
)
def test_calls_beside_a_message_of_langchain_are_read(beside: Foreign) -> None:
    message = foreign("langchain_core.messages.ai:AIMessage", MESSAGE, type="ai", content="x", additional_kwargs=beside)
    other = {"name": "f", "args": {}, "id": "d"}
    for value in (message, [message], [{"type": "ai", "content": "x", "additional_kwargs": beside, "tool_calls": []}]):
        assert load_run(value).tool_names == ("book_hotel",)
    assert load_run([{"type": "ai", "content": "", "additional_kwargs": beside, "tool_calls": [other]}]).tool_names == (
        "f",
        "book_hotel",
    )
    same = {"name": "book_hotel", "args": {}, "id": "c"}
    assert load_run([{"type": "ai", "content": "", "additional_kwargs": beside, "tool_calls": [same]}]).tool_names == (
        "book_hotel",
    )


def test_what_a_message_of_langchain_may_hide_is_a_gap() -> None:
    assert_told(load_run([{**AI, "tool_call_chunks": [{"name": "book_hotel", "args": "{"}]}]), "pieces of a call")
    assert_told(load_run([{**AI, "toolUses": [BOOK]}]), "may be calls")
    assert_told(load_run([{**AI, "additional_kwargs": {"function_call": {}, "tool_calls": [{}]}}]), "cannot be read")
    block = {"type": "tool_use", "id": "x", "name": "book_hotel", "input": {}}
    run = load_run([{"type": "ai", "content": [block], "tool_calls": [{"name": "f", "args": {}, "id": "c"}]}])
    assert checks.did_not_call("book_hotel").score(run).outcome == "no_evidence"
    run = load_run([{"type": "ai", "content": [{"type": "agent_action", "name": "book_hotel"}]}])
    assert_told(run, "may be a call")


# Objects that stand where messages belong, and objects that cannot be asked


def test_completions_and_choices_among_messages_are_read() -> None:
    completion = chat_completion('{"city": "Paris"}', "tool_calls")
    for value in (completion, completion["choices"][0]):
        for entry in (value, shown("openai.types.chat.chat_completion:X", value)):
            run = load_run([USER, entry, {"role": "tool", "tool_call_id": "c", "content": "ok"}])
            assert [(call.name, call.result) for call in run.tool_calls] == [("book_hotel", "ok")]
    choice = shown("openai.types.chat.chat_completion:Choice", completion["choices"][0])
    assert load_run(choice).tool_names == ("book_hotel",)
    with pytest.raises(RecordingError):
        load_run([USER, {**completion, "choices": completion["choices"] * 2}])


class Evil:
    """An object of which nothing can be read."""

    def __getattr__(self, name: str) -> object:
        raise RuntimeError(name)


@pytest.mark.parametrize(
    "wrap", [lambda it: it, lambda it: [it], lambda it: [USER, it], lambda it: {"output": it}, lambda it: {"messages": [it]}]
)
def test_an_object_that_cannot_be_asked_is_an_error_of_the_recording(wrap: Foreign) -> None:
    with pytest.raises(RecordingError):
        load_run(wrap(Evil()))


@pytest.mark.parametrize(
    "format", ["openai_chat", "openai_responses", "anthropic", "gemini", "claude_agent_sdk", "strands", "langchain", "values"]
)
def test_an_object_that_cannot_be_asked_is_an_error_in_every_format(format: str) -> None:
    for value in (Evil(), [Evil()], {"messages": [Evil()]}):
        with pytest.raises(RecordingError):
            load_run(value, format=format)
