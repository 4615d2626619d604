"""The messages of Agno's runs, and the executions of tools beside them: the order is that of the messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import force_setattr

from quickchecks._run import UNSET, Gap, Message, Other, Part, Reasoning, Role, Text, ToolCall, ToolError, ToolResult
from quickchecks.adapters._objects import field, plain
from quickchecks.adapters._pairing import Pairing, Waiting, complete
from quickchecks.adapters._shapes import expected, join, text_id
from quickchecks.adapters._strays import gaps_beside, unread_calls

__all__ = ("MessageReader",)

_ROLES: dict[str, Role] = {
    "assistant": "assistant",
    "developer": "system",
    "model": "assistant",
    "system": "system",
    "tool": "tool",
    "user": "user",
}


class MessageReader:
    """Reads the messages of one run."""

    def __init__(self) -> None:
        self._pairing = Pairing()
        self.messages: list[Message] = []
        self.calls: list[ToolCall] = []
        self.gaps: list[Gap] = []
        #: How many of the messages are of earlier runs.
        self.history = 0
        #: The run that a call started, by the identity of the call.
        self.children: dict[int, str] = {}

    def read(self, messages: Any, path: str) -> None:
        """Read a list of messages.

        Args:
            messages: The list, as it came.
            path: Where it stands inside the record.

        Raises:
            RecordingError: A message is malformed; the path says which.
        """
        if not isinstance(messages, (list, tuple)):
            raise expected("a list of messages", messages, path)
        for number, message in enumerate(messages):
            self._message(message, f"{path}[{number}]")
            if field(message, "from_history") is True:
                self.history = len(self.messages)
                self.calls.clear()

    def _message(self, message: Any, path: str) -> None:
        role = field(message, "role")
        known = _ROLES.get(role) if isinstance(role, str) else None
        if known is None:
            raise expected(f"one of the roles {', '.join(_ROLES)}", role, join(path, "role"))
        listed = field(message, "tool_calls")
        if listed is not None and not isinstance(listed, (list, tuple)):
            raise expected("a list of tool calls", listed, join(path, "tool_calls"))
        if known == "tool":
            # Some models take the results of a step in one message, which holds them where others hold calls.
            for one in listed or (message,):
                self._result(one, message)
            return
        parts: list[Part] = []
        thoughts = field(message, "reasoning_content")
        if isinstance(thoughts, str) and thoughts:
            parts.append(Reasoning(thoughts))
        parts += _content(field(message, "content"))
        if known == "assistant":
            self.gaps += (*unread_calls(parts), *gaps_beside(message, path, ("tool_calls",)))
            calls = [_call(one, join(path, f"tool_calls[{at}]")) for at, one in enumerate(listed or ())]
            self._pairing.begin(calls)
            self.calls += calls
            parts += calls
        self.messages.append(Message(known, tuple(parts)))

    def _result(self, answer: Any, message: Any) -> None:
        id = text_id(field(answer, "tool_call_id"))
        name = field(answer, "tool_name")
        name = name if isinstance(name, str) and name else None
        result = plain(field(answer, "content"))
        flag = field(answer, "tool_call_error", field(message, "tool_call_error"))
        error = ToolError(result if isinstance(result, str) else "") if flag is True else None
        call = self._pairing.find(id, name)
        if call is None:
            self.messages.append(Message("tool", (ToolResult(result, id, name, error),)))
            note = f"a result of {name or 'a tool'} is recorded without the call that it answers"
            self.gaps.append(Gap("orphan_result", note, name))
            return
        complete(call, result, error)
        if flag is False:
            force_setattr(call, "errors_shown_in", "state")

    def details(self, tools: Any, path: str) -> None:
        """Add what the executions of tools tell of the calls, and the calls that only they show.

        Args:
            tools: The list of executions, as it came; None when there is none.
            path: Where it stands inside the record.

        Raises:
            RecordingError: It is malformed.
        """
        if tools is None:
            tools = ()
        if not isinstance(tools, (list, tuple)):
            raise expected("a list of executions of tools", tools, path)
        by_id, by_name = Waiting("requested", "completed", "failed"), Waiting("requested", "completed", "failed")
        for at, call in enumerate(self.calls):
            by_id.add((call.id, call.name), -at, call)
            by_name.add(call.name, -at, call)
        taken: set[int] = set()
        for at, tool in enumerate(tools):
            name = field(tool, "tool_name")
            if not isinstance(name, str) or not name:
                raise expected("the name of the tool", name, f"{path}[{at}].tool_name")
            id = text_id(field(tool, "tool_call_id"))
            found = by_id.take((id, name)) if id is not None else by_name.take(name)
            while found is not None and _identity(found) in taken:
                found = by_id.take((id, name)) if id is not None else by_name.take(name)
            if found is None:
                found = ToolCall(name, plain(field(tool, "tool_args")), id, "requested", errors_shown_in="text")
                self.calls.append(found)
                self.messages.append(Message("assistant", (found,)))
            taken.add(_identity(found))
            self._execution(tool, found)
        for call in self.calls:
            if call.state == "completed" and _identity(call) not in taken and call.errors_shown_in != "state":
                # The framework answered in place of a tool that does not exist, or of arguments that cannot be read.
                said = call.result if isinstance(call.result, str) else ""
                complete(call, call.result, ToolError(said, source="state"))

    def _execution(self, tool: Any, call: ToolCall) -> None:
        child = text_id(field(tool, "child_run_id"))
        if child is not None:
            self.children[_identity(call)] = child
        duration = field(field(tool, "metrics"), "duration")
        if type(duration) in (int, float):
            force_setattr(call, "duration", float(duration))
        result = field(tool, "result")
        flag = field(tool, "tool_call_error")
        if field(tool, "confirmed") is False:
            force_setattr(call, "state", "denied")
            force_setattr(call, "error", None)
        elif result is None and flag is None and call.state == "requested" and _waits(tool):
            force_setattr(call, "state", "awaiting")
        elif flag is True and call.state != "failed":
            said = result if isinstance(result, str) else ""
            complete(call, plain(result) if call.result is UNSET else call.result, ToolError(said))
        elif call.state == "requested" and (result is not None or flag is False):
            complete(call, plain(result))
        if flag is False:
            force_setattr(call, "errors_shown_in", "state")


def _waits(tool: Any) -> bool:
    return any(field(tool, key) for key in ("requires_confirmation", "requires_user_input", "external_execution_required"))


def _identity(call: ToolCall) -> int:
    return id(call)


def _call(value: Any, path: str) -> ToolCall:
    body = field(value, "function", value)
    name = field(body, "name")
    if not isinstance(name, str) or not name:
        raise expected("the name of the tool", name, join(path, "name"))
    return ToolCall(name, plain(field(body, "arguments")), text_id(field(value, "id")), "requested", errors_shown_in="text")


def _content(content: Any) -> list[Part]:
    if isinstance(content, str):
        return [Text(content)] if content else []
    if content is None:
        return []
    parts: list[Part] = []
    for part in content if isinstance(content, (list, tuple)) else (content,):
        text = part.get("text") if isinstance(part, Mapping) else part
        kind = part.get("type") if isinstance(part, Mapping) else None
        parts.append(Text(text) if isinstance(text, str) else Other(kind if isinstance(kind, str) else "content", plain(part)))
    return parts
