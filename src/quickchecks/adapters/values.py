"""Plain values: an answer as text, a number, a dict, a list, a dataclass, a pydantic or msgspec object, or None.

A mapping, or an object with fields, that has one of `output`, `text`, `answer`, `response`, `messages` and otherwise only
`tool_calls`, `usage`, `error`, `metadata` is an envelope around an answer; any other is the answer itself. An answer alone
shows nothing of the tools that were used, and the run says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from quickchecks._run import UNSET, Gap, Message, Part, Run
from quickchecks.adapters._answers import answer_parts
from quickchecks.adapters._foreign_events import refuse_events
from quickchecks.adapters._objects import field, plain
from quickchecks.adapters._record import ANSWER_KEYS, is_envelope, loose_calls, read_run_error, read_usage
from quickchecks.adapters._shapes import as_mapping, expected, others, text_id
from quickchecks.adapters._strays import gaps_beside, is_call

__all__ = ("load", "load_envelope", "recognises")

#: What OpenAI's responses and the pieces of a stream call themselves; those that hold something are read by other formats.
_RESPONSES = ("chat.completion", "chat.completion.chunk", "response")

#: What a response of Gemini holds when it has no candidate.
_OF_GEMINI = frozenset(
    ("promptFeedback", "prompt_feedback", "usageMetadata", "usage_metadata", "modelVersion", "model_version", "responseId")
)

_NO_CALLS = Gap("calls", "an answer alone does not show which tools were called")
_NO_TEXT = Gap("text", "there is no answer: the agent gave None")

#: What an envelope may hold beside these goes to `metadata`; `map=` brings `id` and `input`.
_KEYS = frozenset((*ANSWER_KEYS, "tool_calls", "error", "metadata", "id", "input"))


def recognises(value: Any) -> bool:
    """Whether a value is an answer or an envelope around one. Any other dict or list is one only if no format knows it."""
    if value is None or isinstance(value, (str, bool, int, float)):
        return True
    if isinstance(value, Mapping):
        return is_envelope(value) and not isinstance(value.get("messages"), (list, tuple))
    if isinstance(value, (list, tuple, Run, type)):
        return False
    cls = type(value)
    return any(hasattr(cls, mark) for mark in ("__struct_fields__", "__dataclass_fields__", "__attrs_attrs__", "model_dump"))


def load(value: Any) -> Run:
    """Read one answer.

    Args:
        value: The answer, or the envelope around it.

    Returns:
        A run with what was answered, and with the gaps that an answer alone has.

    Raises:
        RecordingError: The envelope is malformed, or the value cannot be written as JSON.
    """
    refuse_events(value)
    fields = value if isinstance(value, Mapping) else _fields(value)
    if fields is not None and is_envelope(fields):
        if fields is not value and isinstance(fields.get("messages"), (list, tuple)):
            return _load_conversation(value)
        return load_envelope(fields)
    for found in value if isinstance(value, (list, tuple)) else (fields,):
        _refuse_unanswered(found)
    return _answer(answer_parts(value), value is None)


def _fields(value: Any) -> dict[str, Any] | None:
    """The fields of a dataclass, a msgspec, attrs or pydantic object by name; None for what has none."""
    cls = type(value)
    if cls is str or value is None:
        return None
    names = getattr(cls, "__struct_fields__", None) or getattr(cls, "__dataclass_fields__", None)
    if names is None and (attributes := getattr(cls, "__attrs_attrs__", None)) is not None:
        names = [one.name for one in attributes]
    if names is None:
        shown = as_mapping(value)
        return None if shown is None else dict(shown)
    found = {name: field(value, name, UNSET) for name in names}
    return {name: given for name, given in found.items() if given is not UNSET}


def _load_conversation(value: Any) -> Run:
    """Read an object with messages as the mapping that it would be in JSON."""
    from quickchecks.adapters._registry import recognise

    record = plain(value)
    format = recognise(record)
    return load_envelope(record) if format is None else format.load(record)


def _refuse_unanswered(value: Any) -> None:
    """Refuse what says that it is the response of a model and holds no answer: as text of its JSON, much would pass on it.

    Raises:
        RecordingError: It is such a response.
    """
    if not isinstance(value, Mapping):
        return
    kind, choices = value.get("object"), value.get("choices")
    hint = "let the target raise when the model gave no answer"
    if kind in _RESPONSES or ("choices" in value and not choices and (kind == "text_completion" or "model" in value)):
        raise expected("a response with an answer", value, "choices" if "choices" in value else "", hint)
    if "candidates" in value and not value["candidates"] and not _OF_GEMINI.isdisjoint(value):
        raise expected("a response with an answer", value, "candidates", hint)
    function = as_mapping(value.get("function"))
    if is_call(value) or (function is not None and function.get("name") and "arguments" in function):
        hint = "pass the message that holds it, in a list; beside an answer, calls stand in tool_calls"
        raise expected("an answer", value, "", f"it is a call of a tool: {hint}")
    if value.get("type") == "error" and "error" in value:
        raise expected("an answer", value, "error", "it is an error of the service: let the target raise")


def _answer(parts: tuple[Part, ...], nothing: bool) -> Run:
    message = Message("assistant", parts)
    return Run((message,), gaps=(_NO_CALLS, _NO_TEXT) if nothing else (_NO_CALLS,))


def load_envelope(value: Mapping[str, Any]) -> Run:
    """Read an answer with what stands around it; `map=` gives one with `output`, and also `id` and `input`.

    Args:
        value: A mapping with one of the keys of an answer.

    Returns:
        The run. Where `tool_calls` is there, the calls are known, and there is no gap.

    Raises:
        RecordingError: It is malformed.
    """
    if "messages" in value:
        came = value["messages"]
        as_text = isinstance(came, str) and came.lstrip()[:1] in ("[", "{")
        hint = "it is JSON as text: --map messages=messages (in Python: map={'messages': 'messages'}) reads it" if as_text else ""
        raise expected("a list of messages", came, "messages", hint)
    key = next((key for key in ANSWER_KEYS if key in value), "")
    answer = value.get(key)
    calls = value.get("tool_calls")
    read, gaps = ([], [_NO_CALLS]) if calls is None else loose_calls(calls, "tool_calls")
    if answer is None:
        gaps = [*gaps, _NO_TEXT]
    metadata = value.get("metadata")
    if metadata is not None and (metadata := as_mapping(metadata)) is None:
        raise expected("an object", value["metadata"], "metadata")
    gaps = [*gaps, *gaps_beside(metadata, "metadata")]
    usage = read_usage(value.get("usage"))
    kept = {**(others(value, _KEYS) or {}), **(metadata or {})}
    return Run(
        (Message("assistant", (*read, *answer_parts(answer, key))),),
        value.get("input"),
        text_id(value.get("id")),
        usage=usage,
        error=read_run_error(value.get("error")),
        gaps=tuple(gaps),
        metadata=kept or None,
    )
