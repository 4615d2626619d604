"""Tool invocations as the reference and the AI SDK write them: one entry is a call, how far it got, and its result."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import UNSET
from msgspec.structs import force_setattr

from quickchecks._run import CallState, Gap, Message, Other, Part, Role, ToolCall, ToolError, ToolResult
from quickchecks.adapters._chat import error_of
from quickchecks.adapters._pairing import Waiting, complete
from quickchecks.adapters._shapes import as_mapping, expected, join, others, text_id

__all__ = ("Invocations", "is_invocation", "merged_places")

_STATES: dict[str, CallState] = {
    "approval-requested": "awaiting",
    "approval-responded": "requested",
    "call": "requested",
    "input-available": "requested",
    "input-streaming": "partial",
    "output-available": "completed",
    "output-denied": "denied",
    "output-error": "failed",
    "partial-call": "partial",
    "result": "completed",
}
_RANK: dict[CallState, int] = {"partial": 0, "requested": 1, "awaiting": 1, "denied": 2, "completed": 2, "failed": 2}

_CALLS = frozenset(("tool-invocation", "tool-call", "dynamic-tool"))
_RESULTS = frozenset(("tool-result", "tool-error"))
#: Kinds of part that begin as `tool-NAME` does and name no tool.
_NO_CALLS = frozenset(("tool-approval-request", "tool-approval-response"))

_KEYS = frozenset(("type", "state", "toolCallId", "toolName", "args", "input", "result", "output", "errorText", "isError"))


def is_invocation(kind: object) -> bool:
    """Whether a part of this type is a call or a result."""
    return isinstance(kind, str) and kind.startswith(("tool-", "dynamic-tool")) and kind not in _NO_CALLS


def merged_places(parts: Sequence[Any], repeated: Sequence[Any], path: str) -> list[tuple[Any, str]]:
    """Put the two places where a message shows its calls together.

    An entry of the list that repeats one of the parts, by its id or, where it has none, by its name and turn, is the same
    call: the part keeps its place, and the more advanced of the two states holds. Entries that only the list has stand
    before the next call that both have.

    Args:
        parts: The parts of the message.
        repeated: The list of calls beside them.
        path: Where the two stand inside the record.

    Returns:
        Each part and each further call, with the path of what it was read from.
    """
    placed = [(part, f"{path}.parts[{at}]") for at, part in enumerate(parts)]
    if not repeated:
        return placed
    extra = [(as_mapping(entry), f"{path}.toolInvocations[{at}]") for at, entry in enumerate(repeated)]
    twins: dict[tuple[str, str | None], deque[int]] = {}
    for at, (entry, _) in enumerate(extra):
        if entry is not None:
            twins.setdefault(_twin_key(entry), deque()).append(at)
    merged: list[tuple[Any, str]] = []
    shared: set[int] = set()
    matches: list[int | None] = []
    for part, _ in placed:
        invocation = _invocation_of(part)
        found = twins.get(_twin_key(invocation)) if invocation is not None else None
        matches.append(found.popleft() if found else None)
    shared.update(at for at in matches if at is not None)
    ids = {text_id(invocation.get("toolCallId")) for part, _ in placed if (invocation := _invocation_of(part)) is not None}
    ids.discard(None)
    alone = [
        at
        for at, (entry, _) in enumerate(extra)
        if at not in shared and (entry is None or text_id(entry.get("toolCallId")) not in ids)
    ]
    cursor = 0
    for (part, where), match in zip(placed, matches, strict=True):
        if match is not None:
            while cursor < len(alone) and alone[cursor] < match:
                merged.append(_as_part(extra[alone[cursor]], repeated[alone[cursor]]))
                cursor += 1
            part = _more_advanced(part, extra[match][0])
        merged.append((part, where))
    merged += [_as_part(extra[at], repeated[at]) for at in alone[cursor:]]
    return merged


def _invocation_of(part: Any) -> Mapping[str, Any] | None:
    found = as_mapping(part)
    return as_mapping(found.get("toolInvocation")) if found is not None and found.get("type") == "tool-invocation" else None


def _twin_key(invocation: Mapping[str, Any]) -> tuple[str, str | None]:
    id = text_id(invocation.get("toolCallId"))
    name = invocation.get("toolName")
    return ("id", id) if id is not None else ("name", name if isinstance(name, str) else None)


def _as_part(entry: tuple[Mapping[str, Any] | None, str], came: Any) -> tuple[Any, str]:
    found, where = entry
    return {"type": "tool-invocation", "toolInvocation": found if found is not None else came}, where


def _more_advanced(part: Any, other: Mapping[str, Any] | None) -> Any:
    mine = _invocation_of(part)
    if mine is None or other is None or _rank(other) <= _rank(mine):
        return part
    return {**part, "toolInvocation": {**mine, **other, "toolName": mine.get("toolName")}}


def _rank(invocation: Mapping[str, Any]) -> int:
    state = invocation.get("state")
    return _RANK[_STATES[state]] if isinstance(state, str) and state in _STATES else 2 if "result" in invocation else 1


class Invocations:
    """The calls of one run, message by message."""

    def __init__(self) -> None:
        self.gaps: list[Gap] = []
        self._role: Role = "system"
        self._message = 0
        self._begun = Waiting("partial")
        self._unfinished = Waiting("requested", "awaiting")

    def begin(self, role: Role) -> None:
        """Say that the next message begins, and who speaks in it."""
        self._role = role
        self._message += 1

    def settled(self, messages: list[Message]) -> list[Message]:
        """Leave out the tool messages of which nothing is left, because all their results stand on the calls."""
        return [message for message in messages if message.parts or message.role != "tool"]

    def part(self, part: Mapping[str, Any], path: str) -> Part | None:
        """Read a part that `is_invocation`.

        Args:
            part: The part.
            path: Where it stands inside the record.

        Returns:
            The call; a result whose call is not recorded; or None when it belongs to a call that was read before.

        Raises:
            RecordingError: It has no name, or a state that is not known.
        """
        kind = part["type"]
        if kind in _RESULTS:
            return self._result(part)
        if self._role != "assistant":
            return Other(kind, part)  # what the agent did not do is no call of its
        body = part
        if kind == "tool-invocation":
            path = join(path, "toolInvocation")
            found = as_mapping(part.get("toolInvocation"))
            if found is None:
                raise expected("a tool invocation, that is an object", part.get("toolInvocation"), path)
            body = found
        name = body.get("toolName") if kind in _CALLS else kind.removeprefix("tool-")
        return self._call(body, name, path)

    def _call(self, body: Mapping[str, Any], name: Any, path: str) -> ToolCall | None:
        state = _state(body, path)
        if not isinstance(name, str) or not (name or state == "partial"):
            raise expected("the name of the tool", name, join(path, "toolName"))
        result = next((body[key] for key in ("result", "output") if key in body), UNSET)
        error = _error(body, state, result)
        if error is not None:
            state = "failed"
        arguments = next((body[key] for key in ("args", "input") if body.get(key) is not None), None)
        id = text_id(body.get("toolCallId"))
        earlier = self._earlier(id, name, state)
        if earlier is not None:
            force_setattr(earlier, "state", state)
            force_setattr(earlier, "result", result)
            force_setattr(earlier, "error", error)
            if arguments is not None:
                force_setattr(earlier, "raw_arguments", arguments)
            self._note(earlier)
            return None
        provider = body.get("providerExecuted") is True
        call = ToolCall(
            name, arguments, id, state, "provider" if provider else "tool", result, error, "state", metadata=others(body, _KEYS)
        )
        self._note(call)
        return call

    def _earlier(self, id: str | None, name: str, state: CallState) -> ToolCall | None:
        """The call that this entry is about, when an earlier one showed it less far: a request and its result are one."""
        if id is None or state == "partial":
            return None
        earlier = self._unfinished.take((id, name)) if _RANK[state] > 1 else None
        return earlier or self._begun.take((id, name))

    def _note(self, call: ToolCall) -> None:
        if call.state == "partial":
            self._begun.add((call.id, call.name), self._message, call)
        elif call.state in ("requested", "awaiting"):
            self._unfinished.add((call.id, call.name), self._message, call)
            self._unfinished.add(call.id, self._message, call)

    def _result(self, part: Mapping[str, Any]) -> ToolResult | None:
        """A result in a part of its own."""
        id = text_id(part.get("toolCallId"))
        name = part.get("toolName")
        name = name if isinstance(name, str) and name else None
        result = part["output"] if "output" in part else part.get("result")
        error = error_of(part.get("error"))
        typed = as_mapping(result)
        if typed is not None and isinstance(typed.get("type"), str) and "value" in typed:
            result = typed["value"]
            if typed["type"].startswith("error"):
                error = ToolError(result if isinstance(result, str) else "", source="state")
        if part["type"] == "tool-error" or part.get("isError"):
            error = error or ToolError("", source="state")
        call = self._unfinished.take(id if id is not None or name is None else (None, name))
        if call is None:
            note = f"a result of {name or 'a tool'} is recorded without the call that it answers"
            self.gaps.append(Gap("orphan_result", note, name))
            return ToolResult(result, id, name, error)
        complete(call, result, error)
        return None


def _state(body: Mapping[str, Any], path: str) -> CallState:
    state = body.get("state")
    if state is None:
        return "completed" if "result" in body or "output" in body else "requested"
    if not isinstance(state, str) or state not in _STATES:
        raise expected(f"one of the states {', '.join(_STATES)}", state, join(path, "state"))
    return _STATES[state]


def _error(body: Mapping[str, Any], state: CallState, result: Any) -> ToolError | None:
    text = body.get("errorText")
    said = text if isinstance(text, str) else ""
    if state == "failed":
        return ToolError(said, source="state")
    if said:
        return ToolError(said)
    if body.get("isError"):
        return ToolError(result if isinstance(result, str) else "")
    return None
