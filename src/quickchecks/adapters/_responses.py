"""Items as OpenAI's Responses API has them: messages, thoughts, calls and results, each an entry of its own in one list."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from msgspec import UNSET
from msgspec.structs import force_setattr

from quickchecks._failures import content_text, error_type
from quickchecks._run import (
    CallKind,
    CallState,
    Gap,
    Message,
    Other,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolError,
    ToolResult,
    Usage,
)
from quickchecks.adapters._chat import error_of
from quickchecks.adapters._dialects import ROLES, is_foreign_call
from quickchecks.adapters._objects import plain
from quickchecks.adapters._pairing import Pairing, complete
from quickchecks.adapters._shapes import as_mapping, described, expected, join, others, text_id
from quickchecks.adapters._strays import are_calls, unread_calls, unread_text
from quickchecks.errors import RecordingError

__all__ = ("ItemReader", "response_usage")

_MESSAGE_KEYS = frozenset(("type", "role", "content", "status"))
_WORDS = ("output_text", "input_text", "text", "summary_text")

#: The calls that the client answers; any other kind of call the provider has run itself.
_CLIENT_CALLS = ("function_call", "custom_tool_call", "computer_call", "local_shell_call", "shell_call", "apply_patch_call")
_RESULTS = {"tool_search_output": "tools", "program_output": "result"}
#: Where a call holds what came of it.
_HELD_RESULTS = ("output", "outputs", "results", "result", "tools")
_CALL_KEYS = frozenset(
    (
        "id",
        "call_id",
        "type",
        "status",
        "name",
        "arguments",
        "parsed_arguments",
        "input",
        "error",
        "async_",
        "approval_request_id",
        *_HELD_RESULTS,
    )
)
#: What stands beside the arguments, in calls whose arguments are keys of their own.
_BESIDE_ARGUMENTS = _CALL_KEYS | {"caller", "namespace", "server_label", "created_by", "pending_safety_checks", "agent"}

#: Items that are neither calls nor results, and say nothing.
_SILENT = frozenset(("mcp_list_tools", "mcp_approval_response", "additional_tools"))
#: Items that stand for others which are not shown.
_STANDING_FOR_OTHERS = {
    "compaction": "earlier items are shown as a summary only",
    "item_reference": "an item is named and not shown",
}


class _Open(NamedTuple):
    """The message of the agent that is being read."""

    agent: str | None
    parts: list[Part]
    metadata: dict[str, Any]


class ItemReader:
    """Reads the items of one run. What the agent says and does between two results is one message of it."""

    def __init__(self) -> None:
        self._pairing = Pairing()
        self._open: _Open | None = None
        self._approvals: dict[str, ToolCall] = {}
        self.messages: list[Message] = []
        self.gaps: list[Gap] = []

    def read(self, items: Any, path: str) -> None:
        """Read a list of items, or text, which is what the user said.

        Raises:
            RecordingError: An item is malformed; the path says which.
        """
        if isinstance(items, str):
            items = [{"role": "user", "content": items}]
        elif not isinstance(items, (list, tuple)):
            raise expected("a list of items", items, path)
        for number, value in enumerate(items):
            self.item(value, f"{path}[{number}]")

    def item(self, value: Any, path: str, agent: str | None = None) -> ToolCall | None:
        """Read one item.

        Args:
            value: The item, an object of the SDK or a mapping.
            path: Where it stands inside the record.
            agent: Whose item it is, where that is known.

        Returns:
            The call, when it is one.

        Raises:
            RecordingError: It is malformed.
        """
        item = as_mapping(value)
        if item is None:
            raise expected("an item, that is an object with a type or a role", value, path)
        kind, role = item.get("type"), item.get("role")
        if kind in (None, "message") and isinstance(role, str):
            self._message(item, role, path, agent)
            return None
        if kind is None and item.get("object") == "response":  # a whole response, where its output was meant
            self.read(item.get("output"), join(path, "output"))
            return None
        if not isinstance(kind, str):
            raise expected("the type of an item", kind, join(path, "type"))
        if kind == "reasoning":
            self._append(agent, Reasoning(_thoughts(item)))
        elif kind.endswith("_call_output") or kind in _RESULTS:
            self.result(text_id(item.get("call_id")), _result(item, _RESULTS.get(kind, "output")), _flagged(item))
        elif kind == "mcp_approval_request":
            call = self._call(item, kind, path)
            force_setattr(call, "state", "awaiting")
            if call.id is not None:
                self._approvals[call.id] = call
            self._append(agent, call)
            return call
        elif kind.endswith("_call") or kind == "program":
            return self._made(item, kind, path, agent)
        else:
            self._other(item, kind, path, agent)
        return None

    def result(self, id: str | None, result: Any, error: ToolError | None = None) -> ToolCall | None:
        """Put a result on the call that it answers; one that answers none is kept, and a gap.

        Returns:
            The call.
        """
        self.close()
        call = self._pairing.find(id, None)
        if call is None:
            self.messages.append(Message("tool", (ToolResult(result, id, None, error),)))
            self.gaps.append(Gap("orphan_result", "a result of a tool is recorded without the call that it answers"))
        else:
            complete(call, result, error)
        return call

    def say(self, *parts: Part, agent: str | None = None) -> None:
        """Add what the agent said where no item holds it."""
        self.close()
        self.messages.append(Message("assistant", parts, agent))

    def close(self) -> None:
        """Finish the message of the agent that is being read."""
        if self._open is not None:
            agent, parts, metadata = self._open
            self._open = None
            self._pairing.begin([part for part in parts if type(part) is ToolCall])
            self.messages.append(Message("assistant", tuple(parts), agent, metadata or None))

    def _append(self, agent: str | None, *parts: Part, said: Mapping[str, Any] | None = None) -> None:
        """Add parts to the message that is being read. One that has its words already, or is another agent's, is finished."""
        held = self._open
        if held is not None and (held.agent != agent or (said is not None and any(type(part) is Text for part in held.parts))):
            self.close()
        if self._open is None:
            self._open = _Open(agent, [], {})
        self._open.parts.extend(parts)
        self._open.metadata.update(said or {})

    def _message(self, item: Mapping[str, Any], role: str, path: str, agent: str | None) -> None:
        known = ROLES.get(role)
        if known is None or known == "tool":
            raise expected("one of the roles assistant, developer, system, user", role, join(path, "role"))
        if stray := [key for key in item if are_calls(key) and item[key]]:
            raise RecordingError(
                "calls beside the words of a message are in the manner of chat completions",
                path=join(path, str(stray[0])),
                hint="in this format calls are items of their own",
            )
        parts = self._content(item.get("content"), join(path, "content"))
        metadata = plain(others(item, _MESSAGE_KEYS)) or {}
        if known == "assistant":
            self.gaps += (*unread_text(parts), *unread_calls(parts))
            self._append(agent, *parts, said=metadata)
            return
        self.close()
        if role != known:
            metadata = {**metadata, "role": role}
        self.messages.append(Message(known, tuple(parts), None, metadata or None))

    def _content(self, content: Any, path: str) -> list[Part]:
        if content is None or content == "":
            return []
        if isinstance(content, str):
            return [Text(content)]
        if not isinstance(content, (list, tuple)):
            raise expected("text, or a list of parts", content, path)
        parts = [self._part(value, f"{path}[{at}]") for at, value in enumerate(content)]
        return [part for part in parts if part is not None]

    def _part(self, value: Any, path: str) -> Part | None:
        part = as_mapping(value)
        if part is None:
            raise expected("a part of a message, that is an object with a type", value, path)
        kind = part.get("type")
        if kind in _WORDS or kind == "refusal":
            text = part.get("refusal" if kind == "refusal" else "text")
            if text is not None and not isinstance(text, str):
                raise expected("text", text, join(path, "text"))
            parsed = part.get("parsed")  # by the SDK, out of the words
            return Text(text, UNSET if parsed is None else plain(parsed)) if text else None
        if kind == "reasoning_text":
            return Reasoning(text if isinstance(text := part.get("text"), str) else "")
        if is_foreign_call(part):
            hint = "in this format calls and results are items of their own"
            raise RecordingError("a part of a message is a call in the manner of another format", path=path, hint=hint)
        return Other(kind if isinstance(kind, str) else "unknown", plain(part))

    def _made(self, item: Mapping[str, Any], kind: str, path: str, agent: str | None) -> ToolCall:
        call = self._call(item, kind, path)
        approved = self._approvals.pop(text_id(item.get("approval_request_id")) or "", None)
        if approved is None:
            self._append(agent, call)
            return call
        for name in ("state", "result", "error", "errors_shown_in", "metadata"):
            force_setattr(approved, name, getattr(call, name))
        return approved

    def _call(self, item: Mapping[str, Any], kind: str, path: str) -> ToolCall:
        name = item.get("name")
        if name is None and kind not in ("function_call", "custom_tool_call", "mcp_call", "mcp_approval_request"):
            name = kind.removesuffix("_call")
        if not isinstance(name, str) or not name:
            raise expected("the name of the tool", name, join(path, "name"))
        arguments = next((item[key] for key in ("arguments", "input") if item.get(key) is not None), None)
        metadata = others(item, _CALL_KEYS)
        if arguments is None:
            arguments = others(item, _BESIDE_ARGUMENTS)
            metadata = {key: value for key, value in (metadata or {}).items() if key not in (arguments or {})}
        if kind == "custom_tool_call" and isinstance(arguments, str):
            arguments = {"input": arguments}  # free text: it is not JSON that failed
        if kind != "function_call":
            metadata = {**(metadata or {}), "type": kind}
        client = kind in _CLIENT_CALLS or item.get("execution") == "client"
        error = None if client else _error(item.get("error"))
        result = UNSET
        if not client:
            result = next((plain(item[key]) for key in _HELD_RESULTS if item.get(key) is not None), UNSET)
        state = _state(item.get("status"), client=client, failed=error is not None, answered=result is not UNSET)
        who: CallKind = "tool" if client else "provider"
        shown = "text" if client else "state" if state == "completed" and item.get("status") else "result"
        id = text_id(item.get("call_id")) or text_id(item.get("id"))
        return ToolCall(name, plain(arguments), id, state, who, result, error, shown, metadata=plain(metadata) or None)  # type: ignore[arg-type]

    def _other(self, item: Mapping[str, Any], kind: str, path: str, agent: str | None) -> None:
        if (note := _STANDING_FOR_OTHERS.get(kind)) is not None:
            self.gaps.append(Gap("calls", note))
        elif kind == "mcp_approval_response":
            asked = self._approvals.get(text_id(item.get("approval_request_id")) or "")
            if asked is not None:
                force_setattr(asked, "state", "requested" if item.get("approve") else "denied")
        elif kind not in _SILENT:
            named = described(kind).removeprefix("the text ")
            self.gaps.append(Gap("calls", f"an item of the unknown kind {named} may be a call"))
        self._append(agent, Other(kind, plain(item)))


def _thoughts(item: Mapping[str, Any]) -> str:
    found: list[str] = []
    for key in ("summary", "content"):
        listed = item.get(key)
        for part in listed if isinstance(listed, (list, tuple)) else ():
            text = (as_mapping(part) or {}).get("text")
            if isinstance(text, str):
                found.append(text)
    return "\n".join(found)


def _result(item: Mapping[str, Any], key: str) -> Any:
    """What a tool returned: text, also in parts of which all are text; else as it came."""
    output = item.get(key)
    if isinstance(output, (list, tuple)) and output:
        parts = [as_mapping(part) or {} for part in output]
        texts = [part.get("text") if part.get("type") in _WORDS else None for part in parts]
        if all(isinstance(text, str) for text in texts):
            return "".join(texts)  # type: ignore[arg-type]
    return plain(output)


def _flagged(item: Mapping[str, Any]) -> ToolError | None:
    """The error that a result states. A client writes such a status for tools that it runs for the provider."""
    if (error := _error(item.get("error"))) is not None:
        return error
    if item.get("status") == "failed":
        message = content_text(item.get("output"))
        return ToolError(message, error_type(message))
    return None


def _error(value: Any) -> ToolError | None:
    found = as_mapping(value) if value else None
    if found is not None and not isinstance(found.get("message"), str) and (text := content_text(plain(found.get("content")))):
        return ToolError(text, error_type(text))
    return error_of(value)


def _state(status: Any, *, client: bool, failed: bool, answered: bool) -> CallState:
    if failed or status == "failed":
        return "failed"
    if client:
        return "partial" if status in ("incomplete", "in_progress") else "requested"
    if status is None:
        return "completed" if answered else "requested"
    return "completed" if status == "completed" else "requested"


def response_usage(value: Any) -> Usage | None:
    """Read the usage of a response, whose details have names of their own. None when nothing is known."""
    found = as_mapping(value)
    if not found:
        return None
    counts = [_count(found.get(name)) for name in ("input_tokens", "output_tokens")]
    for outer, inner in (("input_tokens_details", "cached_tokens"), ("output_tokens_details", "reasoning_tokens")):
        counts.append(_count((as_mapping(found.get(outer)) or {}).get(inner)))
    return Usage(*counts) if any(count is not None for count in counts) else None


def _count(value: Any) -> int | None:
    return value if type(value) is int else None
