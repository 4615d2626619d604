"""The reference's messages: text, a list of parts, or `{format: 2, parts, content, toolInvocations}`.

Each call states how far it got, so the text of a result is not judged. A message repeats its calls in a list beside the
parts: that is the same call shown in two places, and the more advanced state holds. One message holds a whole run of
several model steps, which `step-start` parts divide.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from quickchecks._run import Gap, Message, Other, Part, Reasoning, Role, Run, Step, Text
from quickchecks.adapters._dialects import dialect, is_foreign_call
from quickchecks.adapters._invocations import Invocations, is_invocation, merged_places
from quickchecks.adapters._record import run_of
from quickchecks.adapters._shapes import as_mapping, expected, join, others
from quickchecks.adapters._strays import refuse_calls
from quickchecks.errors import RecordingError

__all__ = ("load", "recognises")

#: Context that the framework adds under roles of its own is no part of the conversation's two sides.
_ROLES: dict[str, Role] = {
    "assistant": "assistant",
    "data": "system",
    "signal": "system",
    "system": "system",
    "tool": "tool",
    "user": "user",
}
_MESSAGE_KEYS = frozenset(("role", "content"))
_CALLS_STAND = "in the parts or the toolInvocations of the content"
_CONTENT_KEYS = frozenset(("parts", "content", "text", "toolInvocations", "reasoning"))


def recognises(value: Any) -> bool:
    """Whether a value is a list of messages, or an object with one, some of which have parts or tool invocations."""
    messages = value
    if not isinstance(value, (list, tuple)):
        record = as_mapping(value)
        messages = record.get("messages") if record is not None else None
    if not isinstance(messages, (list, tuple)):
        return False
    # Only content that is more than text bears the marks of this format: mostly this spares the closer look.
    for message in messages:
        content = message.get("content") if type(message) is dict else message
        if content is not None and type(content) is not str:
            return dialect(messages) == "reference"
    return False


def load(value: Any) -> Run:
    """Read one run.

    Args:
        value: The list of messages, or an object with `messages`.

    Returns:
        The run.

    Raises:
        RecordingError: The value is malformed, or holds a call in a state that is not known.
    """
    if isinstance(value, (list, tuple)):
        messages, gaps = _read(value, "")
        return Run(tuple(messages), gaps=tuple(gaps))
    record = as_mapping(value)
    if record is None:
        raise expected("a list of messages, or an object with messages", value, "")
    messages, gaps = _read(record.get("messages"), "messages")
    return run_of(record, record.get("messages"), messages, gaps)


def _read(messages: Any, path: str) -> tuple[list[Message], list[Gap]]:
    if not isinstance(messages, (list, tuple)):
        raise expected("a list of messages", messages, path)
    calls = Invocations()
    read = [_message(message, f"{path}[{number}]", calls) for number, message in enumerate(messages)]
    return calls.settled(read), calls.gaps


def _message(value: Any, path: str, calls: Invocations) -> Message:
    message = as_mapping(value)
    if message is None:
        raise expected("a message, that is an object with a role", value, path)
    role = message.get("role")
    known = _ROLES.get(role) if isinstance(role, str) else None
    if known is None:
        raise expected(f"one of the roles {', '.join(sorted(_ROLES))}", role, join(path, "role"))
    content = message.get("content")
    metadata = others(message, _MESSAGE_KEYS)
    if known == "assistant":
        refuse_calls(metadata, path, _CALLS_STAND)
        beside = message.get("parts")
        for at, part in enumerate(beside if isinstance(beside, (list, tuple)) else ()):
            if (found := as_mapping(part)) is not None and is_foreign_call(found):
                raise expected(
                    f"calls {_CALLS_STAND}", part, f"{path}.parts[{at}]", "these parts are in the manner of another format"
                )
    if message.get("tool_call_id") is not None:
        problem = "a result with a tool_call_id is of OpenAI's format, and other messages here are of the reference's"
        raise RecordingError(problem, path=path, hint="a record in two formats cannot be read whole; adapter= makes it one")
    if role != known:
        metadata = {**(metadata or {}), "role": role}
    path = join(path, "content")
    calls.begin(known)
    if content is None:
        said = message.get("text")
        parts: list[Part] = [Text(said)] if isinstance(said, str) and said else []
    elif isinstance(content, str):
        parts = [Text(content)] if content else []
    elif isinstance(content, (list, tuple)):
        parts = _parts([(part, f"{path}[{at}]") for at, part in enumerate(content)], calls)
    else:
        found = as_mapping(content)
        if found is None:
            raise expected("text, a list of parts, an object with parts, or null", content, path)
        parts = _object_content(found, path, calls)
        if rest := others(found, _CONTENT_KEYS | {"format"}):
            if known == "assistant":
                refuse_calls(rest, path, _CALLS_STAND)
            metadata = {**(metadata or {}), **rest}
    return Message(known, tuple(parts), None, metadata)


def _object_content(content: Mapping[str, Any], path: str, calls: Invocations) -> list[Part]:
    """Parts that say something hold; else the summary that stands beside them is the text."""
    listed = content.get("parts")
    repeated = content.get("toolInvocations")
    for name, value in (("parts", listed), ("toolInvocations", repeated)):
        if value is not None and not isinstance(value, (list, tuple)):
            raise expected("a list", value, join(path, name))
    parts = _parts(merged_places(listed or (), repeated or (), path), calls)
    thoughts = content.get("reasoning")
    if isinstance(thoughts, str) and thoughts and not any(type(part) is Reasoning for part in parts):
        parts.insert(0, Reasoning(thoughts))
    if not any(type(part) is Text for part in parts):
        for key in ("content", "text"):
            summary = content.get(key)
            if isinstance(summary, str) and summary:
                parts.append(Text(summary))
                break
    return parts


def _parts(placed: list[tuple[Any, str]], calls: Invocations) -> list[Part]:
    read = (_part(value, path, calls) for value, path in placed)
    return [part for part in read if part is not None]


def _part(value: Any, path: str, calls: Invocations) -> Part | None:
    part = as_mapping(value)
    if part is None:
        raise expected("a part of a message, that is an object with a type", value, path)
    kind = part.get("type")
    if kind == "text":
        text = part.get("text")
        if text is not None and not isinstance(text, str):
            raise expected("text", text, join(path, "text"))
        return Text(text) if text else None
    if kind == "step-start":
        return Step()
    if kind in ("reasoning", "redacted-reasoning"):
        thoughts = part.get("text") or part.get("reasoning")
        return Reasoning(thoughts if isinstance(thoughts, str) else "")
    if is_invocation(kind):
        return calls.part(part, path)
    if is_foreign_call(part):
        raise expected("parts of this format", part, path, "this part is a tool call or a result in the manner of another one")
    return Other(kind if isinstance(kind, str) else "unknown", part)
