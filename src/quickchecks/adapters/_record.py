"""A run out of a record: what stands beside the messages, under the names that records commonly use.

The same names are the ones that `map=` gives to the parts of an envelope.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import force_setattr

from quickchecks import _wire
from quickchecks._run import UNSET, Gap, Message, Run, RunError, ToolCall, ToolError, Usage
from quickchecks.adapters._answers import answer_parts
from quickchecks.adapters._chat import ChatReader, error_of
from quickchecks.adapters._dialects import dialect, is_conversation
from quickchecks.adapters._objects import is_foreign, plain
from quickchecks.adapters._pairing import complete
from quickchecks.adapters._shapes import as_mapping, expected, join, text_id
from quickchecks.adapters._strays import are_calls, holds_calls
from quickchecks.errors import RecordingError

__all__ = ("ANSWER_KEYS", "ENVELOPE_KEYS", "is_envelope", "loose_calls", "read_run_error", "read_usage", "run_of", "unheard")

#: The keys under which a record holds the answer by itself.
ANSWER_KEYS = ("output", "text", "answer", "response")

#: A mapping with one of the first and nothing beside the others is an envelope, not an answer that happens to be a dict.
ENVELOPE_KEYS = frozenset((*ANSWER_KEYS, "messages", "tool_calls", "usage", "error", "metadata"))

#: Where a record with messages may hold the answer, beside those.
_BESIDE = ("choices", *ANSWER_KEYS, "completion", "final_answer", "final_output", "generation")
_ANY_BESIDE = frozenset(_BESIDE)

_READ_KEYS = ("messages", "id", "input")
_LOOSE_CALL_RESULTS = ("result", "output")
_FAILED = frozenset(("error", "errored", "failed", "failure", "exception", "timeout", "timed_out"))


def is_envelope(value: Any) -> bool:
    """Whether a value is a mapping around an answer or messages, rather than an answer itself."""
    if not isinstance(value, Mapping) or not ENVELOPE_KEYS.issuperset(value):
        return False
    answers = sum(key in value for key in ANSWER_KEYS)
    # An error alone is what many wrappers answer with when there is no answer: it must not be read as one.
    return answers == 1 or (answers == 0 and ("messages" in value or bool(value.get("error"))))


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
    ended = bool(messages) and (last := as_mapping(messages[-1])) is not None and last.get("role") == "assistant"
    for key in _append_answers(record, built, gaps, ended):
        metadata.pop(key, None)
    if record.get("tool_calls"):
        _append_calls(metadata.pop("tool_calls"), "tool_calls", built, gaps)
    for key in [key for key in metadata if are_calls(key) and metadata[key]]:
        _append_strays(key, metadata[key], built, gaps)
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


def unheard(messages: Sequence[Message]) -> tuple[Gap, ...]:
    """The gaps of a record in which the agent says and does nothing: it may have done so, and nobody wrote it down.

    Args:
        messages: The messages that were read.

    Returns:
        The gap about calls and the one about text; none when there is a message of the agent.
    """
    if messages and messages[-1].role == "assistant":
        return ()
    return () if any(message.role == "assistant" for message in messages) else _UNHEARD


_UNHEARD = (Gap("calls", "the record holds no message of the agent"), Gap("text", "the record holds no message of the agent"))


def _append_answers(record: Mapping[str, Any], built: list[Message], gaps: list[Gap], ended: bool) -> list[str]:
    """Many logs hold the messages of the request, and the answer beside them. Gives the keys of what was appended."""
    appended: list[str] = []
    if _ANY_BESIDE.isdisjoint(record):
        return appended
    for key in _BESIDE:
        answer = record.get(key)
        if answer is None or answer == "" or answer == []:
            continue
        read = _answer_messages(record if key == "choices" else answer, key, gaps)
        known = built if ended else [message for message in built if not _calls_in(message)]
        fresh = [message for message in read if not any(_repeats(message, other) for other in known)]
        if all(message.role != "assistant" or not message.parts for message in fresh):
            continue
        if len(fresh) == 1 and not _calls_in(fresh[0]) and _is_said(fresh[0].text, built):
            continue
        built += fresh
        appended.append(key)
    return appended


def _answer_messages(answer: Any, key: str, gaps: list[Gap]) -> list[Message]:
    """What stands under the key of an answer, as messages. Calls in it that cannot be read are a gap."""
    mapping = None if isinstance(answer, str) else as_mapping(answer)
    path = "choices[0].message" if key == "choices" else key
    if mapping is not None and isinstance(mapping.get("choices"), (list, tuple)):
        mapping = first_choice(mapping, "" if key == "choices" else key)
    if mapping is not None and _is_one_message(mapping):
        reader = ChatReader(path, alone=True)
        reader.read([{"role": "assistant", **mapping}])
    elif mapping is None and dialect(answer) == "chat":
        reader = ChatReader(path)
        reader.read(answer)
    else:
        if is_conversation(answer) or holds_calls(answer):
            gaps.append(Gap("calls", f"what stands at {key} beside the messages may hold calls in the manner of another format"))
        return [Message("assistant", answer_parts(answer, key))]
    gaps += reader.gaps
    return reader.messages


def _is_one_message(answer: Mapping[str, Any]) -> bool:
    if "role" in answer:
        return bool(answer["role"] == "assistant")
    return bool(answer.get("tool_calls")) or (isinstance(answer.get("content"), (list, tuple)) and holds_calls(answer["content"]))


def _calls_in(message: Message) -> list[ToolCall]:
    return [part for part in message.parts if type(part) is ToolCall]


def _repeats(message: Message, other: Message) -> bool:
    """Whether a message beside the conversation is one that the conversation holds."""
    if message.role != other.role:
        return False
    mine, its = _calls_in(message), _calls_in(other)
    if any(one.id != two.id and None not in (one.id, two.id) for one, two in zip(mine, its, strict=False)):
        return False
    if _squeezed(message.text) != _squeezed(other.text) and _value(message.text) != _value(other.text):
        return False
    return list(map(_content_of, mine)) == list(map(_content_of, its))


def _squeezed(text: str) -> str:
    return "".join(text.split())


def _value(text: str) -> object:
    """The structured answer that a text is, so that two ways of writing it are equal; else what equals nothing."""
    if text.lstrip()[:1] in ("{", "["):
        try:
            return _wire.loads(text)
        except ValueError:
            pass
    return object()


def _is_said(text: str, built: list[Message]) -> bool:
    """Whether a text beside the messages is one of them, whoever's (a log may repeat the question), or all of the agent's."""
    whole = "".join(message.text for message in built if message.role == "assistant")
    return _squeezed(text) in {_squeezed(whole), *(_squeezed(message.text) for message in built)}


def _append_strays(key: str, value: Any, built: list[Message], gaps: list[Gap]) -> None:
    """Calls beside the messages under other names than `tool_calls`."""
    try:
        _append_calls(value if isinstance(value, (list, tuple)) else [value], key, built, gaps)
    except RecordingError:
        gaps.append(Gap("calls", f"what stands at {key} beside the messages may be calls, and cannot be read"))


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


def _append_calls(calls: Any, path: str, built: list[Message], gaps: list[Gap]) -> None:
    """Calls that a list beside the messages holds: those that the messages show as well are the same calls."""
    shown = [part for message in built if message.role == "assistant" for part in message.parts if type(part) is ToolCall]
    by_id = {call.id for call in shown if call.id is not None}
    by_content = Counter(map(_content_of, shown))
    fresh: list[ToolCall] = []
    found, no_results = loose_calls(calls, path)
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
        result = next((found[key] for key in _LOOSE_CALL_RESULTS if key in found), UNSET)
        error = _loose_error(found, result)
        force_setattr(call, "errors_shown_in", "result")
        if error is not None or result is not UNSET:
            complete(call, plain(result) if is_foreign(result) and result is not UNSET else result, error)
        read.append(call)
    if not read or any(call.state != "requested" for call in read):
        return read, []
    return read, [Gap("results", "the results of the tools are not recorded")]


def _loose_error(call: Mapping[str, Any], result: Any) -> ToolError | None:
    """Read the marks by which people say that a call failed."""
    if (error := error_of(call.get("error")) or error_of(call.get("exception"))) is not None:
        return error
    if isinstance(result, BaseException):
        return ToolError(str(result), type(result).__name__)
    said = result if isinstance(result, str) else ""
    for key in ("status", "state", "outcome"):
        status = call.get(key)
        if isinstance(status, str) and status.lower() in _FAILED:
            return ToolError(said, source="state")
    marked = any(call.get(key) for key in ("is_error", "isError", "failed"))
    return ToolError(said) if marked or call.get("success") is False or call.get("ok") is False else None


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
