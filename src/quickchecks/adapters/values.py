"""Plain values: an answer as text, a number, a dict, a list, a dataclass, a pydantic or msgspec object, or None.

A mapping with one of `output`, `text`, `answer`, `response`, `messages` and otherwise only `tool_calls`, `usage`, `error`,
`metadata` is an envelope around an answer; any other mapping is the answer itself. An answer alone shows nothing of the
tools that were used, and the run says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from quickchecks._run import Gap, Message, Part, Run
from quickchecks.adapters._answers import answer_parts
from quickchecks.adapters._record import ANSWER_KEYS, is_envelope, loose_calls, read_run_error, read_usage
from quickchecks.adapters._shapes import as_mapping, expected, others, text_id

__all__ = ("load", "load_envelope", "recognises")

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
    if isinstance(value, Mapping) and is_envelope(value):
        return load_envelope(value)
    return _answer(answer_parts(value), value is None)


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
