"""OpenAI chat completions: a list of messages, an object with `messages`, a response with `choices`, or its streamed chunks.

Most frameworks, gateways and benchmarks can write this shape. A list whose messages have roles and text only, which fits
several formats, is read as this one. Results carry no error flag on the wire, so a result's text is judged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from quickchecks._run import Gap, GapKind, Message, Run
from quickchecks.adapters._chat import ChatReader
from quickchecks.adapters._chunks import are_chunks, by_choice, joined
from quickchecks.adapters._dialects import dialect
from quickchecks.adapters._endings import CUT, cut_calls, lost_calls, mark_cut
from quickchecks.adapters._hidden import hidden_extras
from quickchecks.adapters._record import first_choice, is_envelope, run_of, unheard
from quickchecks.adapters._shapes import as_mapping, expected, others

__all__ = ("load", "recognises", "split")

#: What a message of a response holds. An object with other keys and a role is something else.
_MESSAGE_KEYS = frozenset(
    (
        "role",
        "content",
        "tool_calls",
        "function_call",
        "refusal",
        "annotations",
        "audio",
        "reasoning",
        "reasoning_content",
        "reasoning_details",
        "reasoning_items",
        "thinking_blocks",
        "images",
        "parsed",
        "provider_specific_fields",
        "name",
    )
)

#: What a stream that broke off may have gone on with.
_CUT_OFF: tuple[GapKind, ...] = ("calls", "text")


#: Keys one of which every record that is marked as another's has.
_MARKS = frozenset(("schema", "raw", "run_id", "type", "suite_name"))


def recognises(value: Any) -> bool:
    """Whether a value has the shape of chat messages, of a record with them, or of a chat completion."""
    if isinstance(value, (list, tuple)):
        return dialect(value) == "chat" or are_chunks(value)
    record = as_mapping(value)
    if record is None or _is_marked_as_another(record):
        return False
    messages = record.get("messages")
    if messages is None and _is_choice(record):
        return True
    if isinstance(messages, (list, tuple)):
        # Without a message there is nothing to know the shape by, but in an envelope, which has no other keys.
        return dialect(messages) == "chat" if messages else is_envelope(record)
    if messages is None and (choices := record.get("choices")) is not None:
        choice = as_mapping(choices[0]) if isinstance(choices, (list, tuple)) and choices else None
        return choice is not None and as_mapping(choice.get("message")) is not None
    return record.get("role") == "assistant" and _MESSAGE_KEYS.issuperset(record) and dialect([record]) == "chat"


def _is_choice(record: Mapping[str, Any]) -> bool:
    """Whether a record is one choice of a completion by itself."""
    if "finish_reason" not in record or "message" not in record:
        return False
    message = as_mapping(record["message"])
    return message is not None and message.get("role") == "assistant" and "choices" not in record


def _is_marked_as_another(record: Mapping[str, Any]) -> bool:
    """Records of our own and of several frameworks have messages too, and more than these beside them."""
    if _MARKS.isdisjoint(record):
        return False
    schema = record.get("schema")
    ours = isinstance(schema, str) and schema.startswith("quickchecks.")
    crew = "raw" in record and ("agent_role" in record or "expected_output" in record)
    agno = "run_id" in record and "status" in record and ("agent_id" in record or "team_id" in record)
    agent_framework = record.get("type") in ("agent_response", "chat_response")
    return ours or crew or agno or agent_framework or ("suite_name" in record and "user_task_id" in record)


def split(value: Any) -> list[tuple[str, Any]] | None:
    """A response with several choices holds several answers to one question: a run each."""
    if isinstance(value, (list, tuple)):
        found = by_choice(value) if are_chunks(value) else ()
        return [("", chunks) for chunks in found] if len(found) > 1 else None
    record = as_mapping(value)
    choices = record.get("choices") if record is not None else None
    if record is None or not isinstance(choices, (list, tuple)) or len(choices) < 2:
        return None
    return [("", {**record, "choices": [choice]}) for choice in choices]


def load(value: Any) -> Run:
    """Read one run.

    Args:
        value: What `recognises` accepts.

    Returns:
        The run.

    Raises:
        RecordingError: The value is malformed.
    """
    if isinstance(value, (list, tuple)):
        if are_chunks(value):
            return _completion(joined(value), streamed=True)
        reader = ChatReader()
        reader.read(value)
        return Run(tuple(reader.messages), gaps=(*reader.gaps, *_unheard(reader.messages)))
    record = as_mapping(value)
    if record is None:
        raise expected("a list of messages, or an object with messages", value, "")
    messages = record.get("messages")
    if messages is not None:
        reader = ChatReader("messages")
        reader.read(messages)
        run = run_of(record, messages, reader.messages, reader.gaps)
        gaps = _unheard(run.messages)
        return replace(run, gaps=(*run.gaps, *gaps)) if gaps else run
    if _is_choice(record):
        return _completion({"choices": [record]})
    if "choices" in record:
        return hidden_extras(value, _completion(record))
    if "role" in record:
        return _response({}, record, "")
    raise expected("a list of messages, or an object with messages", value, "")


def _unheard(messages: Sequence[Message]) -> tuple[Gap, ...]:
    """A conversation that ends with the question is one to which the agent said nothing; what it did is not known."""
    gaps = unheard(messages)
    return gaps[:1] if messages else gaps


def _completion(record: Mapping[str, Any], *, streamed: bool = False) -> Run:
    message = first_choice(record)
    choice = others(as_mapping(record["choices"][0]) or {}, frozenset(("message", "index"))) or {}
    rest = {key: item for key, item in record.items() if key != "choices"}
    gaps = _gaps_of_stream(message, choice) if streamed else []
    reason = choice.get("finish_reason")
    if reason == "length":
        gaps.append(Gap("other", "the model was cut off by the limit of tokens (length)"))
    run = _response({**choice, **rest}, message, "choices[0].message")
    calls = run.all_tool_calls
    if (isinstance(reason, str) and reason in CUT) or (streamed and reason is None):
        mark_cut(calls)
        gaps += cut_calls(calls)
    gaps += lost_calls(reason, calls)
    return replace(run, gaps=(*run.gaps, *gaps)) if gaps else run


def _gaps_of_stream(message: dict[str, Any], choice: Mapping[str, Any]) -> list[Gap]:
    """What a stream may have lacked. A call of which only pieces without a name came is left out of the message."""
    gaps: list[Gap] = []
    calls = message.get("tool_calls") or []
    named = [call for call in calls if call["function"]["name"]]
    if len(named) < len(calls):
        message["tool_calls"] = named
        gaps.append(Gap("calls", "the stream holds pieces of a call that names no tool"))
    if choice.get("finish_reason") is None:
        gaps += [Gap(kind, "the stream ends before the response does") for kind in _CUT_OFF]
    return gaps


def _response(record: Mapping[str, Any], message: Mapping[str, Any], path: str) -> Run:
    """One turn of the model: it shows what was asked for, never what came of it."""
    reader = ChatReader(path, alone=True)
    reader.read([message])
    gaps = [*reader.gaps, Gap("input", "a single response does not show what was asked")]
    run = run_of(record, [message], reader.messages, gaps)
    if run.all_tool_calls:
        gaps.append(Gap("results", "a single response shows which tools were asked for, never their results"))
        run = replace(run, gaps=tuple(gaps))
    return run
