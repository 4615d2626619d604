"""The messages of pydantic-ai, as objects and as JSON, of both majors: 1.x answers failing calls with a part of its own."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import UNSET
from msgspec.structs import force_setattr, replace

from quickchecks import _wire
from quickchecks._run import Gap, Message, Other, Part, Reasoning, Text, ToolCall, ToolError, ToolResult, Usage
from quickchecks.adapters._objects import is_a, plain
from quickchecks.adapters._pairing import Pairing, complete
from quickchecks.adapters._shapes import expected, join, text_id

__all__ = ("MessageReader", "field", "is_message", "shown_as", "usage_of")

#: What the framework answers for an output tool that gave the result of the run.
_PROCESSED = "Final result processed."
_CALLS = {"tool-call": "tool", "builtin-tool-call": "provider"}
_RETURNS = ("tool-return", "builtin-tool-return")
#: Outcomes of a call that did not succeed, and what they say where the content says nothing.
_FAILURES = {"failed": "the tool failed", "retried": "the call has to be made again", "interrupted": "the run was interrupted"}
_OUTCOMES = (None, "success", "denied", *_FAILURES)


def field(value: Any, name: str) -> Any:
    """A field of an object of the framework, or of its JSON; this is asked so often that it does without the care of others."""
    return value.get(name) if type(value) is dict else getattr(value, name, None)


def is_message(value: Any) -> bool:
    """Whether a value is a request or a response of this framework."""
    if type(value) is dict:
        return value.get("kind") in ("request", "response") and type(value.get("parts")) is list
    return is_a(value, "pydantic_ai.messages:ModelRequest", "pydantic_ai.messages:ModelResponse")


#: The path of a message and the number of a part of it: as text only where something is wrong.
_Where = tuple[str, int]


def _at(where: _Where, inner: str = "") -> str:
    path, at = where
    return join(join(path, f"parts[{at}]"), inner)


class MessageReader:
    """Reads the messages of one run.

    Args:
        path: Where the list of messages stands inside the record.
        outputs: The names of the tools by which the agent returned its result, where the source tells them.
    """

    def __init__(self, path: str = "", outputs: Iterable[str] = ()) -> None:
        self._path = path
        self._outputs = set(outputs)
        self._pairing = Pairing()
        self._instructions = ""
        self._calls: list[ToolCall] = []
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
            path = f"{self._path}[{number}]"
            self.starts.append(len(self.messages))
            kind, parts = field(value, "kind"), field(value, "parts")
            if kind not in ("request", "response"):
                raise expected("a message of the kind request or response", value, path)
            if not isinstance(parts, (list, tuple)):
                raise expected("a list of parts", parts, join(path, "parts"))
            if kind == "response":
                self._response(value, parts, path)
            else:
                self._request(value, parts, path, last=_is_end(values, number))
        for call in self._calls:
            if call.kind == "tool" and call.name in self._outputs:
                force_setattr(call, "kind", "output")

    def outcome(self) -> ToolCall | None:
        """The call of an output tool that the run ended with, when it ended with one."""
        return next((call for call in reversed(self._calls) if call.kind == "output" and call.state == "completed"), None)

    def _request(self, request: Any, parts: Iterable[Any], path: str, *, last: bool) -> None:
        instructions = field(request, "instructions")
        if isinstance(instructions, str) and instructions and instructions != self._instructions:
            self._instructions = instructions
            self.messages.append(Message("system", (Text(instructions),)))
        for at, part in enumerate(parts):
            where = (path, at)
            kind = _kind(part, where)
            if kind in _RETURNS:
                self._return(part, where, last=last)
            elif kind == "retry-prompt" and field(part, "tool_name") is not None:
                self._retry(part, where)
            elif kind == "user-prompt":
                self.messages.append(Message("user", tuple(_prompt(field(part, "content"), where))))
            elif kind == "speech":
                self.messages.append(Message("user", _speech(part)))
            elif kind in ("system-prompt", "retry-prompt", "retry-feedback", "compaction"):
                metadata = None if kind == "system-prompt" else {"kind": kind}
                self.messages.append(Message("system", (Text(_words(field(part, "content"))),), None, metadata))
            else:
                if "return" in kind or field(part, "tool_call_id") is not None:
                    self.gaps.append(Gap("results", f"a part of the unknown kind {kind[:40]!r} may be the result of a tool"))
                self.messages.append(Message("system", (Other(kind, plain(part)),)))

    def _response(self, response: Any, parts: Iterable[Any], path: str) -> None:
        read: list[Part] = []
        calls: list[ToolCall] = []
        for at, part in enumerate(parts):
            where = (path, at)
            kind = _kind(part, where)
            if kind in _CALLS:
                calls.append(_call(part, where))
                read.append(calls[-1])
                if kind == "builtin-tool-call":  # what the provider ran is answered in the same message
                    self._pairing.begin(calls[-1:])
            elif kind in _RETURNS:
                if (orphan := self._result(part, where)) is not None:
                    read.append(orphan)
            elif kind in ("text", "thinking"):
                content = field(part, "content")
                if content is not None and not isinstance(content, str):
                    raise expected("text", content, _at(where, "content"))
                if content or kind == "thinking":
                    read.append(Text(content or "") if kind == "text" else Reasoning(content or ""))
            elif kind == "speech":
                read += _speech(part)
            else:
                if "call" in kind or field(part, "tool_name") is not None:
                    self.gaps.append(Gap("calls", f"a part of the unknown kind {kind[:40]!r} may be a call"))
                read.append(Other(kind, plain(part)))
        self._calls += calls
        self._pairing.begin([call for call in calls if call.kind == "tool"])
        finish = field(response, "finish_reason")
        metadata = {"finish_reason": finish} if isinstance(finish, str) and finish not in ("stop", "tool_call") else None
        self.messages.append(Message("assistant", tuple(read), None, metadata))

    def _return(self, part: Any, where: _Where, *, last: bool) -> None:
        call = self._result(part, where)
        if call is not None:
            self.messages.append(Message("tool", (call,)))
        elif last and field(part, "content") == _PROCESSED and isinstance(name := field(part, "tool_name"), str):
            self._outputs.add(name)  # no answer of the model follows: this tool was the end of the run

    def _retry(self, part: Any, where: _Where) -> None:
        content = plain(field(part, "content"))
        self._put(part, where, content, ToolError(_words(content), source="state"))

    def _result(self, part: Any, where: _Where) -> ToolResult | None:
        content = plain(field(part, "content"))
        outcome = field(part, "outcome")
        if outcome not in _OUTCOMES:
            raise expected(f"one of the outcomes {', '.join(filter(None, _OUTCOMES))}", outcome, _at(where, "outcome"))
        if outcome in _FAILURES:
            return self._put(part, where, content, ToolError(_words(content) or _FAILURES[outcome], source="state"))
        return self._put(part, where, content, None, denied=outcome == "denied")

    def _put(self, part: Any, where: _Where, content: Any, error: ToolError | None, *, denied: bool = False) -> ToolResult | None:
        """Put a result on its call; gives the result when no recorded call fits."""
        name = field(part, "tool_name")
        if not isinstance(name, str) or not name:
            raise expected("the name of the tool", name, _at(where, "tool_name"))
        id = text_id(field(part, "tool_call_id"))
        call = self._pairing.find(id, name)
        if call is None:
            self.gaps.append(Gap("orphan_result", f"a result of {name} is recorded without the call that it answers", name))
            return ToolResult(content, id, name, error)
        complete(call, content, error)
        if denied:
            force_setattr(call, "state", "denied")
        return None


def _kind(part: Any, where: _Where) -> str:
    kind = field(part, "part_kind")
    if not isinstance(kind, str):
        raise expected("a part, that is an object with a part_kind", part, _at(where))
    return kind


def _call(part: Any, where: _Where) -> ToolCall:
    name = field(part, "tool_name")
    if not isinstance(name, str) or not name:
        raise expected("the name of the tool", name, _at(where, "tool_name"))
    provider = field(part, "part_kind") == "builtin-tool-call"
    id = text_id(field(part, "tool_call_id"))
    return ToolCall(name, plain(field(part, "args")), id, "requested", "provider" if provider else "tool", UNSET)


def _prompt(content: Any, where: _Where) -> list[Part]:
    if isinstance(content, str):
        return [Text(content)] if content else []
    if content is None:
        return []
    if not isinstance(content, (list, tuple)):
        raise expected("text, or a list of it", content, _at(where, "content"))
    parts: list[Part] = []
    for item in content:
        words = item if isinstance(item, str) else field(item, "content") if field(item, "kind") == "text-content" else None
        if isinstance(words, str):
            parts.append(Text(words))
        else:
            kind = field(item, "kind")
            parts.append(Other(kind if isinstance(kind, str) else "unknown", plain(item)))
    return parts


def _speech(part: Any) -> tuple[Part, ...]:
    said = field(part, "transcript")
    return (Text(said),) if isinstance(said, str) and said else (Other("speech"),)


def _words(content: Any) -> str:
    """What a part says: its text, or the errors of validation that it lists."""
    if isinstance(content, str):
        return content
    if (
        isinstance(content, list)
        and content
        and all(isinstance(one, dict) and isinstance(one.get("msg"), str) for one in content)
    ):
        where = (".".join(map(str, loc)) if isinstance(loc := one.get("loc"), (list, tuple)) else "" for one in content)
        return "; ".join(f"{place}: {one['msg']}" if place else one["msg"] for place, one in zip(where, content, strict=True))
    return "" if content is None else _wire.shown(plain(content))


def _is_end(values: Any, number: int) -> bool:
    """Whether no response of the model follows a request: the run ended there, and another may begin."""
    if number + 1 == len(values):
        return True
    follower = values[number + 1]
    parts = field(follower, "parts")
    prompts = isinstance(parts, (list, tuple)) and any(field(part, "part_kind") == "user-prompt" for part in parts)
    return field(follower, "kind") == "request" and prompts


def usage_of(values: Iterable[Any], whole: Any = None) -> Usage | None:
    """What a run cost: as the result says, or the sum of what its responses say. None when nothing is known.

    Args:
        values: The messages of the run.
        whole: The usage of the result, where there is one.
    """
    usages = [whole]
    if whole is None:
        usages = [field(value, "usage") for value in values if field(value, "kind") == "response"]
    sums = [_count(usages, name) for name in ("input_tokens", "output_tokens", "cache_read_tokens")]
    reasoning = _count(usages, "output_reasoning_tokens")
    if not reasoning:
        reasoning = _count([field(usage, "details") for usage in usages], "reasoning_tokens")
    costs = [cost for usage in usages if (cost := _number(field(usage, "cost"))) is not None]
    requests = len(usages) if whole is None else _count(usages, "requests")
    if not any((*sums[:2], costs)):
        return Usage(requests=requests) if requests else None
    cost = sum(costs) if len(costs) == len(usages) else None
    return Usage(sums[0], sums[1], sums[2], reasoning, cost, requests)


def _count(usages: Iterable[Any], name: str) -> int | None:
    found = [value for usage in usages if type(value := field(usage, name)) is int]
    return sum(found) if found else None


def _number(value: Any) -> float | None:
    if value is None or isinstance(value, bool):
        return None
    try:
        return float(value)  # a Decimal, or the text of one
    except (TypeError, ValueError, OverflowError):
        return None


def shown_as(messages: list[Message], value: Text | None, after: ToolCall | None) -> None:
    """Put the result of a run where it was said: behind the call that returned it, or in place of the text it was read from.

    Args:
        messages: The messages of the run; changed in place.
        value: The result as a part; None when there is none to show.
        after: The call by which the agent returned it.
    """
    if value is None:
        return
    for at in range(len(messages) - 1, -1, -1):
        message = messages[at]
        if message.role != "assistant":
            continue
        if after is None:
            if message.text == value.text and value.value is UNSET:
                return
            rest = [part for part in message.parts if type(part) is not Text]
            messages[at] = replace(message, parts=(*rest, value))
            return
        if any(part is after for part in message.parts):
            messages[at] = replace(message, parts=(*message.parts, value))
            return
    messages.append(Message("assistant", (value,)))
