"""The messages and events of AutoGen's agents: one flat list, in which a source says whose each is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import force_setattr

from quickchecks import _wire
from quickchecks._run import Gap, Message, Other, Part, Reasoning, Run, Text, ToolCall, ToolError, ToolResult, Usage
from quickchecks.adapters._objects import field, is_a, plain
from quickchecks.adapters._pairing import Pairing, complete
from quickchecks.adapters._shapes import expected, join, text_id
from quickchecks.adapters._strays import may_be_call, unread_calls

__all__ = ("TYPES", "MessageReader")

_WORDS = frozenset(("TextMessage", "StopMessage"))
#: Events about the run that are neither words nor calls.
_SILENT = frozenset(("ModelClientStreamingChunkEvent", "SelectSpeakerEvent", "SelectorEvent", "UserInputRequestedEvent"))
_KEPT = frozenset(("CodeExecutionEvent", "MemoryQueryEvent"))
_CALLS = frozenset(("HandoffMessage", "ToolCallExecutionEvent", "ToolCallRequestEvent", "ToolCallSummaryMessage"))
TYPES = _WORDS | _SILENT | _KEPT | _CALLS | {"CodeGenerationEvent", "MultiModalMessage", "ThoughtEvent"}


class MessageReader:
    """Reads the messages of one run.

    Args:
        asked: Whether the list begins with what was asked.
    """

    def __init__(self, *, asked: bool = True) -> None:
        self._asked = asked
        self._pairing = Pairing()
        self._messages: list[Message] = []
        self._gaps: list[Gap] = []
        self._calls: list[ToolCall] = []
        #: The calls of each source that have no result yet.
        self._pending: dict[str, list[ToolCall]] = {}
        #: The calls that are known to have started an agent, with the messages of it so far.
        self._inner: list[tuple[ToolCall, str, list[Any]]] = []

    def run(self, messages: Sequence[Any], path: str) -> Run:
        """Read a list of messages.

        Args:
            messages: The list.
            path: Where it stands inside the record.

        Raises:
            RecordingError: A message is malformed; the path says which.
        """
        users = _users(messages) if self._asked else {"user"}
        for number, message in enumerate(messages):
            where = f"{path}[{number}]"
            kind, source = field(message, "type"), field(message, "source")
            if not isinstance(kind, str):
                raise expected("a message, that is an object with a type", message, where)
            source = source if isinstance(source, str) else ""
            if self._is_inner(message, kind, source):
                continue
            after = field(messages[number + 1], "type") if number + 1 < len(messages) else None
            self._message(message, kind, source, where, by_user=source in users, before_calls=after == "ToolCallRequestEvent")
        for call, _, inner in self._inner:
            force_setattr(call, "kind", "agent")
            force_setattr(call, "run", MessageReader().run(inner, path))
        agents = {message.agent for message in self._messages if message.agent is not None}
        return Run(
            tuple(self._messages),
            usage=_usage(messages),
            agent=agents.pop() if len(agents) == 1 else None,
            gaps=tuple(self._gaps),
        )

    def _is_inner(self, message: Any, kind: str, source: str) -> bool:
        """Whether a message is one of an agent that a call started: such a run begins with its task."""
        if kind == "TextMessage" and source == "user":
            content = field(message, "content")
            for owner, calls in self._pending.items():
                for call in calls:
                    arguments = call.arguments
                    known = any(call is other for other, _, _ in self._inner)
                    if not known and isinstance(arguments, dict) and arguments.get("task") == content:
                        self._inner.append((call, owner, [message]))
                        return True
        running = [one for one in self._inner if one[0].state == "requested"]
        if not running or source == running[-1][1]:
            return False
        found = next((one for one in running if one[0].name == source), running[-1])
        found[2].append(message)
        return True

    def _message(self, message: Any, kind: str, source: str, path: str, *, by_user: bool, before_calls: bool) -> None:
        content = field(message, "content")
        if kind in _SILENT:
            return
        if kind == "ToolCallRequestEvent":
            self._request(content, source, join(path, "content"))
        elif kind == "ToolCallExecutionEvent":
            self._results(content, source, join(path, "content"))
        elif kind == "ToolCallSummaryMessage":
            self._summary(message, source, path)
        elif kind == "HandoffMessage":
            self._handoff(message, source, by_user=by_user)
        elif by_user:
            self._messages.append(Message("user", tuple(_words(content))))
        elif kind == "ThoughtEvent":
            said = content if isinstance(content, str) else ""
            # Beside calls, what the model said comes as a thought as well.
            self._say([Text(said) if before_calls else Reasoning(said)] if said else [], source)
        elif kind in _KEPT:
            self._say([Other(kind, plain(field(message, "result", content)))], source)
        elif kind.startswith("StructuredMessage"):
            value = plain(content)
            self._say([Text(_wire.shown(value), value)], source)
        elif kind in TYPES or is_a(message, "autogen_agentchat.messages:BaseTextChatMessage"):
            words = _words(content)
            self._gaps += unread_calls(words)
            self._say(words, source)
        else:
            self._say([Other(kind, plain(content))], source)
            self._gaps.append(Gap("calls", f"a message of the unknown kind {kind[:40]!r} may be a call"))

    def _say(self, parts: list[Part], source: str) -> None:
        self._messages.append(Message("assistant", tuple(parts), source or None))

    # Calls

    def _request(self, listed: Any, source: str, path: str) -> None:
        if not isinstance(listed, (list, tuple)):
            raise expected("a list of calls", listed, path)
        calls = [_call(one, f"{path}[{at}]") for at, one in enumerate(listed)]
        self._pairing.begin(calls)
        self._calls += calls
        self._pending[source] = calls
        self._say([*calls], source)

    def _results(self, listed: Any, source: str, path: str) -> None:
        if not isinstance(listed, (list, tuple)):
            raise expected("a list of results", listed, path)
        for one in listed:
            id, name = text_id(field(one, "call_id")), field(one, "name")
            name = name if isinstance(name, str) and name else None
            result = plain(field(one, "content"))
            failed = field(one, "is_error")
            error = ToolError(result if isinstance(result, str) else "") if failed is True else None
            call = self._pairing.find(id, name)
            if call is None:
                self._messages.append(Message("tool", (ToolResult(result, id, name, error),)))
                note = f"a result of {name or 'a tool'} is recorded without the call that it answers"
                self._gaps.append(Gap("orphan_result", note, name))
                continue
            complete(call, result, error)
            if failed is False:
                force_setattr(call, "errors_shown_in", "state")
        self._pending.pop(source, None)

    def _summary(self, message: Any, source: str, path: str) -> None:
        """What tools returned, in the place of an answer; the calls are mostly known from their events."""
        listed, results = field(message, "tool_calls"), field(message, "results")
        if listed is None:
            listed = ()
        if not isinstance(listed, (list, tuple)):
            raise expected("a list of calls", listed, join(path, "tool_calls"))
        read = [_call(one, join(path, f"tool_calls[{at}]")) for at, one in enumerate(listed)]
        known = [(call.id, call.name) for call in self._calls]
        if any((call.id, call.name) not in known for call in read):
            self._request(listed, source, join(path, "tool_calls"))
            self._results(results, source, join(path, "results"))
        self._say([Other("tool_call_summary", plain(field(message, "content")))], source)
        self._gaps.append(Gap("other", "the agent ended with what its tools returned, not with an answer of the model"))

    def _handoff(self, message: Any, source: str, *, by_user: bool) -> None:
        content = field(message, "content")
        if by_user:
            self._messages.append(Message("user", tuple(_words(content))))
            return
        for call in reversed(self._calls):
            if call.kind == "tool" and call.state == "completed" and call.result == content:
                force_setattr(call, "kind", "handoff")
                break
        self._say([Other("handoff", {"target": plain(field(message, "target")), "content": plain(content)})], source)


def _users(messages: Sequence[Any]) -> set[str]:
    """The sources that are people: `user`, whoever was asked for input, and whoever only gave the task."""
    users = {"user"}
    for message in messages:
        if field(message, "type") == "UserInputRequestedEvent" and isinstance(source := field(message, "source"), str):
            users.add(source)
    first = messages[0] if messages else None
    source = field(first, "source")
    if isinstance(source, str) and field(first, "type") in ("TextMessage", "MultiModalMessage"):
        alone = all(field(message, "source") != source for message in messages[1:])
        spoken = any(field(message, "models_usage") is not None for message in messages[1:])
        if alone and spoken and field(first, "models_usage") is None:
            users.add(source)
    return users


def _call(value: Any, path: str) -> ToolCall:
    name = field(value, "name")
    if not isinstance(name, str) or not name:
        raise expected("the name of the tool", name, join(path, "name"))
    return ToolCall(name, plain(field(value, "arguments")), text_id(field(value, "id")), "requested", errors_shown_in="text")


def _words(content: Any) -> list[Part]:
    if isinstance(content, str):
        return [Text(content)] if content else []
    if not isinstance(content, (list, tuple)):
        return [] if content is None else [Other("content", plain(content))]
    parts: list[Part] = []
    for part in content:
        if isinstance(part, Mapping):
            parts.append(Other("unknown" if may_be_call(part.get("type"), part) else "image", plain(part)))
        else:
            parts.append(Text(part) if isinstance(part, str) else Other("image"))
    return parts


def _usage(messages: Sequence[Any]) -> Usage | None:
    sent = written = requests = 0
    for message in messages:
        usage = field(message, "models_usage")
        counts = field(usage, "prompt_tokens"), field(usage, "completion_tokens")
        if usage is not None and type(counts[0]) is int and type(counts[1]) is int:
            sent += counts[0]
            written += counts[1]
            requests += 1
    return Usage(sent, written, requests=requests) if requests else None
