"""The messages of Haystack, as objects and as their `to_dict` writes them. A result holds the call that it answers."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any

from msgspec import UNSET

from quickchecks._run import Gap, Message, Other, Part, Reasoning, Text, ToolCall, ToolError, ToolResult, Usage
from quickchecks.adapters._dialects import LOOK_AT, ROLES, is_haystack_message
from quickchecks.adapters._objects import field, is_a, plain
from quickchecks.adapters._pairing import Pairing, complete
from quickchecks.adapters._record import read_usage
from quickchecks.adapters._shapes import as_mapping, expected, join, text_id
from quickchecks.adapters._strays import gaps_beside, unread_calls

__all__ = ("MESSAGE", "MessageReader", "are_messages", "role_of", "usage_of")

MESSAGE = "haystack.dataclasses.chat_message:ChatMessage"
#: The parts of a message, by the key under which they are written, with the field that marks the object.
_MARKS = {"tool_call_result": "origin", "tool_call": "tool_name", "reasoning": "reasoning_text", "text": "text"}
_CALLS = ("tool_call", "tool_call_result")


def are_messages(value: Any) -> bool:
    """Whether a value is a list of messages of this library; of JSON, one whose keys, or a call or a result in it, say so."""
    if not isinstance(value, (list, tuple)) or not value:
        return False
    if type(value[0]) is not dict:
        return is_a(value[0], MESSAGE)
    if is_haystack_message(value[0]):
        return True
    for item in islice(value, LOOK_AT):
        content = item.get("content") if type(item) is dict and type(item.get("role")) is str else None
        if type(content) is list:
            for part in content:
                if type(part) is dict and "type" not in part and any(type(part.get(key)) is dict for key in _CALLS):
                    return True
    return False


def role_of(message: Any) -> Any:
    """The role of a message, as text."""
    role = message.get("role") if isinstance(message, Mapping) else field(message, "role")
    return field(role, "value", role)


class MessageReader:
    """Reads the messages of one run.

    Args:
        path: Where the list of messages stands inside the record.
    """

    def __init__(self, path: str = "") -> None:
        self._path = path
        self._pairing = Pairing()
        #: For each message of the source, how many messages were read before it.
        self.starts: list[int] = []
        self.messages: list[Message] = []
        self.gaps: list[Gap] = []

    def read(self, values: Any) -> None:
        """Read messages.

        Raises:
            RecordingError: A message is malformed; the path says which.
        """
        if not isinstance(values, (list, tuple)):
            raise expected("a list of messages", values, self._path)
        for number, value in enumerate(values):
            self.starts.append(len(self.messages))
            self._message(value, f"{self._path}[{number}]")

    def _message(self, value: Any, path: str) -> None:
        if not isinstance(value, Mapping) and not is_a(value, MESSAGE):
            raise expected("a message of Haystack", value, path)
        role = role_of(value)
        known = ROLES.get(role) if isinstance(role, str) else None
        if known is None:
            raise expected(f"one of the roles {', '.join(sorted(ROLES))}", role, join(path, "role"))
        content = value.get("content") if isinstance(value, Mapping) else field(value, "_content")
        if isinstance(content, str):
            content = [{"text": content}]
        if not isinstance(content, (list, tuple)):
            raise expected("a list of parts", content, join(path, "content"))
        parts: list[Part] = []
        for at, held in enumerate(content):
            part = self._part(held, join(path, f"content[{at}]"))
            if part is not None:
                parts.append(part)
        calls = [part for part in parts if type(part) is ToolCall]
        meta = as_mapping(value.get("meta") if isinstance(value, Mapping) else field(value, "meta")) or {}
        if known == "assistant":
            self._pairing.begin(calls)
            self.gaps += (*unread_calls(parts), *gaps_beside(value, path))
            ended = meta.get("finish_reason")
            if ended == "length" or (ended == "tool_calls" and not calls):
                note = "the model was cut off, and calls that it had begun are not recorded"
                self.gaps.append(Gap("calls", note))
        if known != "tool" or parts:
            named = value.get("name") if isinstance(value, Mapping) else field(value, "name")
            name = named if known == "assistant" and isinstance(named, str) and named else None
            self.messages.append(Message(known, tuple(parts), name))

    def _part(self, held: Any, path: str) -> Part | None:
        kind, part = _known(held)
        if kind == "text":
            text = part if isinstance(held, Mapping) else field(part, "text")
            if not isinstance(text, str):
                raise expected("text", text, path)
            return Text(text) if text else None
        if kind == "reasoning":
            thoughts = part if isinstance(part, str) else field(part, "reasoning_text")
            return Reasoning(thoughts if isinstance(thoughts, str) else "")
        if kind == "tool_call":
            name = field(part, "tool_name")
            if not isinstance(name, str) or not name:
                raise expected("a call with the name of the tool", part, path)
            id = text_id(field(part, "id"))
            return ToolCall(name, plain(field(part, "arguments")), id, "requested", errors_shown_in="text")
        if kind == "tool_call_result":
            return self._result(part, path)
        return Other(kind, plain(held))

    def _result(self, answer: Any, path: str) -> ToolResult | None:
        origin = field(answer, "origin")
        name = field(origin, "tool_name")
        if not isinstance(name, str) or not name:
            raise expected("a result with the call that it answers", answer, path)
        result = _value(field(answer, "result"))
        failed = field(answer, "error") is True
        error = ToolError(result if isinstance(result, str) else "") if failed else None
        id = text_id(field(origin, "id"))
        call = self._pairing.find(id, name)
        if call is None:
            self.gaps.append(Gap("orphan_result", f"a result of {name} is recorded without the call that it answers", name))
            return ToolResult(result, id, name, error)
        complete(call, result, error)
        return None


def _known(held: Any) -> tuple[str, Any]:
    """What kind of part this is, and the part."""
    if isinstance(held, Mapping):
        found = next(((key, held[key]) for key in _MARKS if held.get(key) is not None), None)
        return found or (next((str(key) for key in held), "unknown"), held)
    for kind, mark in _MARKS.items():
        if field(held, mark, UNSET) is not UNSET:
            return kind, held
    return type(held).__name__, held


def _value(result: Any) -> Any:
    """What a tool returned: text, or parts, of which those that are text are joined where there are no others."""
    if isinstance(result, (list, tuple)) and result:
        texts = [field(part, "text") for part in result]
        if all(isinstance(text, str) for text in texts):
            return "".join(texts)
    return plain(result)


def usage_of(messages: Any, whole: Any = None) -> Usage | None:
    """What a run cost: as the result says, else the sum of what its messages say. None when nothing is known."""
    answers = [message for message in messages if role_of(message) == "assistant"]
    usages = [read_usage(whole)] if whole else []
    if not whole:
        metas = [message.get("meta") if isinstance(message, Mapping) else field(message, "meta") for message in answers]
        usages = [read_usage((as_mapping(meta) or {}).get("usage")) for meta in metas]
    known = [usage for usage in usages if usage is not None]
    names = ("input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens")
    sent, written, cached, thought = (_sum([getattr(usage, name) for usage in known]) for name in names)
    return Usage(sent, written, cached, thought, None, len(answers)) if answers else None


def _sum(values: list[int | None]) -> int | None:
    found = [value for value in values if value is not None]
    return sum(found) if found else None
