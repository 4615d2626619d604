"""A run out of a record: what stands beside the messages, under the names that records commonly use.

The same names are the ones that `map=` gives to the parts of an envelope.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from msgspec.structs import force_setattr

from quickchecks import _wire
from quickchecks._run import UNSET, Gap, Message, Run, RunError, ToolCall, Usage
from quickchecks.adapters._answers import answer_parts
from quickchecks.adapters._chat import ChatReader, error_of
from quickchecks.adapters._dialects import dialect
from quickchecks.adapters._pairing import complete
from quickchecks.adapters._shapes import as_mapping, expected, join, text_id

__all__ = ("ANSWER_KEYS", "ENVELOPE_KEYS", "is_envelope", "loose_calls", "read_run_error", "read_usage", "run_of")

#: The keys under which a record holds the answer by itself.
ANSWER_KEYS = ("output", "text", "answer", "response")

#: A mapping with one of the first and nothing beside the others is an envelope, not an answer that happens to be a dict.
ENVELOPE_KEYS = frozenset((*ANSWER_KEYS, "messages", "tool_calls", "usage", "error", "metadata"))

_READ_KEYS = ("messages", "id", "input")
_LOOSE_CALL_RESULTS = ("result", "output")


def is_envelope(value: Any) -> bool:
    """Whether a value is a mapping around an answer or messages, rather than an answer itself."""
    if not isinstance(value, Mapping) or not ENVELOPE_KEYS.issuperset(value):
        return False
    answers = sum(key in value for key in ANSWER_KEYS)
    return answers == 1 or (answers == 0 and "messages" in value)


def run_of(record: Mapping[str, Any], messages: Any, built: list[Message], gaps: list[Gap]) -> Run:
    """Make the run of a record with messages.

    An answer that stands beside the messages, which do not hold it yet, becomes the last message; so do calls. What else
    the record holds goes to `metadata`.

    Args:
        record: The record.
        messages: Its messages, as they came.
        built: The same messages, read.
        gaps: What reading them has shown to be missing.

    Returns:
        The run.

    Raises:
        RecordingError: The answer or the calls beside the messages are malformed.
    """
    metadata = dict(record)
    if not messages or as_mapping(messages[-1]).get("role") != "assistant":  # type: ignore[union-attr]
        metadata.pop(_append_answer(record, built, gaps), None)
    if record.get("tool_calls"):
        _append_calls(metadata.pop("tool_calls"), built, gaps)
    for key in _READ_KEYS:
        metadata.pop(key, None)
    usage = record.get("usage")
    error = record.get("error")
    return Run(
        tuple(built),
        record.get("input"),
        text_id(record.get("id")),
        0,
        read_usage(usage) if usage is not None else None,
        None,
        read_run_error(error) if error is not None else None,
        None,
        (),
        tuple(gaps),
        metadata or None,
    )


def _append_answer(record: Mapping[str, Any], built: list[Message], gaps: list[Gap]) -> str:
    """Many logs hold the messages of the request, and the answer beside them. Gives the key of the answer."""
    if record.get("choices") is not None:
        reader = ChatReader("choices[0].message", alone=True)
        reader.read([first_choice(record)])
        built += reader.messages
        gaps += reader.gaps
        return "choices"
    for key in ANSWER_KEYS:
        answer = record.get(key)
        if answer is None or answer == "" or _is_said(answer, built):
            continue
        mapping = None if isinstance(answer, str) else as_mapping(answer)
        if mapping is not None and isinstance(mapping.get("choices"), list):
            mapping = first_choice(mapping, key)
        if mapping is not None and mapping.get("role") == "assistant":
            reader = ChatReader(key, alone=True)
            reader.read([mapping])
        elif dialect(answer) == "chat":
            reader = ChatReader(key)
            reader.read(answer)
        else:
            built.append(Message("assistant", answer_parts(answer, key)))
            return key
        built += reader.messages
        gaps += reader.gaps
        return key
    return ""


def _is_said(answer: Any, built: list[Message]) -> bool:
    return isinstance(answer, str) and any(message.role == "assistant" and message.text == answer for message in built)


def first_choice(completion: Mapping[str, Any], path: str = "") -> dict[str, Any]:
    """The message of the only choice of a chat completion."""
    choices = completion.get("choices")
    choice = as_mapping(choices[0]) if isinstance(choices, (list, tuple)) and choices else None
    if choice is None:
        raise expected("a list with the choice that the model made", choices, join(path, "choices"))
    message = as_mapping(choice.get("message"))
    if message is None:
        raise expected("a message", choice.get("message"), join(path, "choices[0].message"))
    return {"role": "assistant", **message}


def _append_calls(calls: Any, built: list[Message], gaps: list[Gap]) -> None:
    """Calls that a list beside the messages holds: those that the messages show as well are the same calls."""
    shown = [part for message in built if message.role == "assistant" for part in message.parts if type(part) is ToolCall]
    by_id = {call.id for call in shown if call.id is not None}
    by_content = Counter(map(_content_of, shown))
    fresh: list[ToolCall] = []
    found, no_results = loose_calls(calls, "tool_calls")
    for call in found:
        if call.id is not None and call.id in by_id:
            continue
        content = _content_of(call)
        if by_content[content]:
            by_content[content] -= 1
            continue
        fresh.append(call)
    if fresh:
        built.append(Message("assistant", tuple(fresh)))
        gaps += no_results


def _content_of(call: ToolCall) -> tuple[str, str]:
    try:
        return call.name, _wire.shown(call.arguments)
    except ValueError:  # arguments that cannot be written are equal to no others
        return call.name, f"#{id(call)}"


def loose_calls(calls: Any, path: str) -> tuple[list[ToolCall], list[Gap]]:
    """Read calls as people list them beside an answer: names, or objects with name, arguments, id, result and error.

    Args:
        calls: The list, as it came.
        path: Where it stands inside the record.

    Returns:
        The calls; and, when none of them has a result or an error, the gap that says so.

    Raises:
        RecordingError: It is no list, or one of them has no name.
    """
    if not isinstance(calls, (list, tuple)):
        raise expected("a list of tool calls", calls, path)
    reader = ChatReader(path)
    read: list[ToolCall] = []
    for position, value in enumerate(calls):
        if isinstance(value, str):
            value = {"name": value}
        call = reader.call(value, f"{path}[{position}]")
        found = as_mapping(value) or {}
        error = error_of(found.get("error"))
        result = next((found[key] for key in _LOOSE_CALL_RESULTS if key in found), UNSET)
        force_setattr(call, "errors_shown_in", "result")
        if error is not None or result is not UNSET:
            complete(call, result, error)
        read.append(call)
    if not read or any(call.state != "requested" for call in read):
        return read, []
    return read, [Gap("results", "the results of the tools are not recorded")]


def read_usage(usage: Any) -> Usage | None:
    """Read what the run cost, under the names of OpenAI and those of most others. None when nothing is known."""
    found = as_mapping(usage)
    if not found:
        return None
    sent = _count(found, "prompt_tokens", "input_tokens")
    written = _count(found, "completion_tokens", "output_tokens")
    cached = _detail(found, "prompt_tokens_details", "cached_tokens")
    thought = _detail(found, "completion_tokens_details", "reasoning_tokens")
    cost = found.get("cost")
    requests = found.get("requests")
    read = (sent, written, cached, thought, cost if type(cost) is float else None, requests if type(requests) is int else None)
    return None if read == _UNKNOWN_USAGE else Usage(*read)


_UNKNOWN_USAGE = (None,) * 6


def _count(found: Mapping[str, Any], key: str, other: str) -> int | None:
    count = found.get(key)
    if type(count) is not int:
        count = found.get(other)
    return count if type(count) is int else None


def _detail(found: Mapping[str, Any], details: str, key: str) -> int | None:
    inside = as_mapping(found[details]) if details in found else None
    count = (inside if inside is not None else found).get(key)
    return count if type(count) is int else None


def read_run_error(error: Any) -> RunError | None:
    """Read the `error` of a run: text, an object with a message, an exception, or anything that is true."""
    if isinstance(error, BaseException):
        return RunError(str(error), type(error).__name__)
    read = error_of(error)
    return RunError(read.message, read.type) if read is not None else None
