"""AgentDojo runs, one a file: chat messages whose calls name the function directly and have parsed arguments.

A tool message always has an `error` key, null when the call went well: success and failure of each call are stated, so its
text is not judged.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import force_setattr

from quickchecks._run import Gap, Message, Other, Part, Run, Text, ToolCall, ToolResult
from quickchecks.adapters._chat import error_of, result_value
from quickchecks.adapters._dialects import ROLES
from quickchecks.adapters._pairing import Pairing, complete
from quickchecks.adapters._record import read_run_error, unheard
from quickchecks.adapters._shapes import as_mapping, expected, others, text_id
from quickchecks.adapters._strays import refuse_calls, unread_text

__all__ = ("load", "recognises")

_RUN_KEYS = frozenset(("messages", "duration"))
_MESSAGE_KEYS = frozenset(("role", "content", "tool_calls"))
_RESULT_KEYS = frozenset(("role", "content", "tool_call_id", "tool_call", "error"))
_CALL_KEYS = frozenset(("function", "args", "id"))


def recognises(value: Any) -> bool:
    """Whether a value is a run of AgentDojo: messages, with the suite and the task."""
    return (
        isinstance(value, dict) and "suite_name" in value and "user_task_id" in value and isinstance(value.get("messages"), list)
    )


def load(value: Any) -> Run:
    """Read one run.

    Args:
        value: The record.

    Returns:
        The run; suite, tasks, attack, `utility` and `security` are in its metadata.

    Raises:
        RecordingError: The record is malformed.
    """
    record = as_mapping(value)
    if record is None or not isinstance(record.get("messages"), list):
        raise expected("a run of AgentDojo, that is an object with messages", value, "")
    reader = _Reader()
    for number, item in enumerate(record["messages"]):
        reader.read(item, f"messages[{number}]")
    duration = record.get("duration")
    return Run(
        tuple(reader.messages),
        duration=duration if isinstance(duration, float) else None,
        error=read_run_error(record.get("error")),
        gaps=(*reader.gaps, *unheard(reader.messages)),
        metadata=others(record, _RUN_KEYS),
    )


class _Reader:
    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.gaps: list[Gap] = []
        self._pairing = Pairing()

    def read(self, value: Any, path: str) -> None:
        message = as_mapping(value)
        if message is None:
            raise expected("a message, that is an object with a role", value, path)
        role = message.get("role")
        known = ROLES.get(role) if isinstance(role, str) else None
        if known is None:
            raise expected("one of the roles assistant, system, tool, user", role, f"{path}.role")
        if known == "tool":
            self._result(message, path)
            return
        content = message.get("content")
        parts = _content(message.get("text") if content is None else content, f"{path}.content")
        metadata = others(message, _MESSAGE_KEYS)
        if known == "assistant":
            self.gaps += unread_text(parts)
            parts += self._calls(message.get("tool_calls"), f"{path}.tool_calls")
            refuse_calls(metadata, path, "in tool_calls")
        self.messages.append(Message(known, tuple(parts), None, metadata))

    def _calls(self, calls: Any, path: str) -> list[ToolCall]:
        if calls is None:
            return []
        if not isinstance(calls, list):
            raise expected("a list of tool calls", calls, path)
        read = [_call(call, f"{path}[{position}]") for position, call in enumerate(calls)]
        if read:
            self._pairing.begin(read)
        return read

    def _result(self, message: Mapping[str, Any], path: str) -> None:
        repeated = as_mapping(message.get("tool_call")) or {}
        name = repeated.get("function")
        name = name if isinstance(name, str) and name else None
        id = text_id(message.get("tool_call_id")) or text_id(repeated.get("id"))
        result = result_value(message.get("content"), "content")
        error = error_of(message.get("error"))
        call = self._pairing.find(id, name)
        if call is None:
            self.messages.append(Message("tool", (ToolResult(result, id, name, error),), None, others(message, _RESULT_KEYS)))
            note = f"a result of {name or 'a tool'} is recorded without the call that it answers"
            self.gaps.append(Gap("orphan_result", note, name))
            return
        complete(call, result, error)
        if "error" not in message:
            force_setattr(call, "errors_shown_in", "text")


def _call(value: Any, path: str) -> ToolCall:
    call = as_mapping(value)
    if call is None:
        raise expected("a tool call, that is an object with a function", value, path)
    name = call.get("function")
    if not isinstance(name, str) or not name:
        raise expected("the name of the function", name, f"{path}.function")
    metadata = others(call, _CALL_KEYS)
    return ToolCall(name, call.get("args"), text_id(call.get("id")), "requested", errors_shown_in="state", metadata=metadata)


def _content(content: Any, path: str) -> list[Part]:
    """The words of a message: null, text, or parts whose text stands under `content`."""
    if content is None or content == "":
        return []
    if isinstance(content, str):
        return [Text(content)]
    if not isinstance(content, list):
        raise expected("text, a list of parts, or null", content, path)
    parts: list[Part] = []
    for position, value in enumerate(content):
        part = as_mapping(value)
        if part is None:
            raise expected("a part of a message, that is an object with a type", value, f"{path}[{position}]")
        kind = part.get("type")
        if kind != "text":
            parts.append(Other(kind if isinstance(kind, str) else "unknown", part))
            continue
        text = part.get("content", part.get("text"))
        if text is not None and not isinstance(text, str):
            raise expected("text", text, f"{path}[{position}].content")
        if text:
            parts.append(Text(text))
    return parts
