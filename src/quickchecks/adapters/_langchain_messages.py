"""The messages of LangChain: objects, `messages_to_dict`, what its serialiser writes, and the flat JSON that servers send."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

from msgspec import UNSET
from msgspec.structs import force_setattr

from quickchecks._run import Gap, Message, Other, Part, Reasoning, Role, Text, ToolCall, ToolError, ToolResult, Usage
from quickchecks.adapters._chat import result_value
from quickchecks.adapters._dialects import LOOK_AT, ROLES
from quickchecks.adapters._endings import told_end
from quickchecks.adapters._objects import field, is_a, plain
from quickchecks.adapters._pairing import Pairing, complete
from quickchecks.adapters._shapes import as_mapping, expected, join, text_id
from quickchecks.adapters._strays import are_calls, gaps_beside, unread_calls

__all__ = ("MESSAGE", "MessageReader", "are_messages", "body_of", "usage_of")

MESSAGE = "langchain_core.messages.base:BaseMessage"
_ROLES: dict[str, Role] = {
    "AIMessageChunk": "assistant",
    "FunctionMessageChunk": "tool",
    "HumanMessageChunk": "user",
    "SystemMessageChunk": "system",
    "ToolMessageChunk": "tool",
    "ai": "assistant",
    "developer": "system",
    "function": "tool",
    "human": "user",
    "system": "system",
    "tool": "tool",
}
#: What the serialiser calls the classes, where it does not write their types.
_CLASSES = {
    "AIMessage": "ai",
    "HumanMessage": "human",
    "SystemMessage": "system",
    "ToolMessage": "tool",
    "FunctionMessage": "function",
}
_SPEAKERS = ("human", "ai", "AIMessageChunk", "HumanMessageChunk")
_THOUGHTS = ("reasoning", "reasoning_content", "redacted_thinking", "thinking")
#: Blocks of content that show a call which stands among the calls of the message too.
_SHOWN_CALLS = ("custom_tool_call", "function_call", "input_json_delta", "tool_call", "tool_call_chunk", "tool_use")
#: Where messages of this library hold calls.
_CALL_LISTS = ("tool_calls", "invalid_tool_calls", "tool_call_chunks")
_PROVIDER_CALLS = ("mcp_tool_use", "server_tool_call", "server_tool_call_chunk", "server_tool_use")
_PROVIDER_RESULTS = ("mcp_tool_result", "server_tool_result", "web_search_tool_result", "code_execution_tool_result")


def are_messages(value: Any) -> bool:
    """Whether a value is a list of messages of this library: the first says so, or of JSON the first that speaks."""
    if not isinstance(value, (list, tuple)) or not value:
        return False
    if type(value[0]) is not dict:
        return is_a(value[0], MESSAGE)
    for item in islice(value, LOOK_AT):
        body = body_of(item) if type(item) is dict else None
        if body is None:
            return False
        if body.get("type") in _SPEAKERS:
            return "content" in body and "role" not in body
    return False


def body_of(value: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """What a message as JSON holds, whichever way it was written; None when it is none."""
    kind, held = value.get("type"), value.get("data")
    if kind == "constructor" and type(held := value.get("kwargs")) is dict:
        path = value.get("id")
        name = path[-1] if isinstance(path, list) and path and isinstance(path[-1], str) else ""
        return {"type": _CLASSES.get(name, name), **held}
    if not isinstance(kind, str) or (kind not in _ROLES and kind not in ("chat", "remove")):
        return None
    if type(held) is dict and "content" not in value:
        return {"type": kind, **held}
    return value


class MessageReader:
    """Reads the messages of one run.

    Args:
        path: Where the list of messages stands inside the record.
    """

    def __init__(self, path: str = "") -> None:
        self._path = path
        self._pairing = Pairing()
        self.calls: list[ToolCall] = []
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
        message = body_of(value) if isinstance(value, Mapping) else value if is_a(value, MESSAGE) else None
        if message is None:
            raise expected("a message of LangChain", value, path)
        kind = field(message, "type")
        if kind == "remove":
            return
        spoken = field(message, "role") if kind == "chat" else None
        role = _ROLES.get(kind) if isinstance(kind, str) else None
        if isinstance(spoken, str):
            role = _ROLES.get(spoken) or ROLES.get(spoken) or "user"
        if role is None:
            raise expected(f"one of the types {', '.join(sorted(_ROLES))}", kind, join(path, "type"))
        named = field(message, "name")
        name = named if isinstance(named, str) and named else None
        if role == "tool":
            self._result(message, name)
        elif role == "assistant":
            self._answer(message, name, path)
        else:
            parts = _Content(self, path).read(field(message, "content"), {})
            self.messages.append(Message(role, tuple(parts)))

    def _answer(self, message: Any, name: str | None, path: str) -> None:
        calls = self._calls(message, path)
        beside = field(message, "additional_kwargs")
        thoughts = field(beside, "reasoning_content") if isinstance(beside, Mapping) else None
        parts: list[Part] = [Reasoning(thoughts)] if isinstance(thoughts, str) and thoughts else []
        content = _Content(self, path, calls)
        parts += content.read(field(message, "content"), {call.id: call for call in calls if call.id}, judged=True)
        placed = {id(part) for part in parts}
        parts += [call for call in calls if id(call) not in placed]
        if _is_handoff(field(message, "response_metadata")):  # words that a supervisor put in the mouth of its worker
            parts = [Other("handoff", part.text) if type(part) is Text else part for part in parts]
        self.calls += [*calls, *content.calls]
        self._pairing.begin(calls)
        self.gaps += told_end(field(message, "response_metadata"), [*calls, *content.calls])
        self.gaps += unread_calls(parts)
        self.messages.append(Message("assistant", tuple(parts), name))

    def _calls(self, message: Any, path: str) -> list[ToolCall]:
        found: list[ToolCall] = []
        for key in ("tool_calls", "invalid_tool_calls"):
            listed = field(message, key)
            if listed is None:
                continue
            if not isinstance(listed, (list, tuple)):
                raise expected("a list of calls", listed, join(path, key))
            for at, value in enumerate(listed):
                call = as_mapping(value)
                name = call.get("name") if call is not None else None
                if call is not None and key == "invalid_tool_calls" and not name:
                    self.gaps.append(Gap("calls", "the model began a call whose tool is not recorded"))
                    continue
                if call is None or not isinstance(name, str) or not name:
                    raise expected("a call, that is an object with the name of the tool", value, join(path, f"{key}[{at}]"))
                found.append(_call(name, call.get("args"), call.get("id")))
        self._raw_calls(field(message, "additional_kwargs"), found, join(path, "additional_kwargs"))
        chunks = field(message, "tool_call_chunks")
        if not found and isinstance(chunks, (list, tuple)) and chunks:
            self.gaps.append(Gap("calls", "the message holds pieces of a call, and no call"))
        self.gaps += gaps_beside(message, path, _CALL_LISTS)
        return found

    def _raw_calls(self, beside: Any, found: list[ToolCall], path: str) -> None:
        """Add the calls as the provider gave them, which messages hold beside their own; older ones hold these alone."""
        if not isinstance(beside, Mapping):
            return
        unmatched = list(found)
        for key in [key for key in beside if are_calls(key) and beside[key]]:
            raw = beside[key]
            for value in raw if isinstance(raw, (list, tuple)) else (raw,):
                entry = as_mapping(value) or {}
                body = as_mapping(entry.get("function")) or entry
                name, id = body.get("name"), text_id(entry.get("id"))
                if not isinstance(name, str) or not name:
                    self.gaps.append(Gap("calls", f"what stands at {join(path, str(key))} cannot be read"))
                    continue
                same = next((call for call in unmatched if id is not None and call.id == id), None)
                same = same or next((call for call in unmatched if call.name == name), None)
                if same is not None:
                    unmatched.remove(same)
                elif id is None or all(call.id != id for call in found):
                    found.append(_call(name, body.get("arguments", body.get("args")), id))

    def _result(self, message: Any, name: str | None) -> None:
        result = plain(result_value(field(message, "content")))
        failed = field(message, "status") == "error"
        error = ToolError(result if isinstance(result, str) else "") if failed else None
        id = text_id(field(message, "tool_call_id"))
        call = self._pairing.find(id, name)
        if call is None:
            note = f"a result of {name or 'a tool'} is recorded without the call that it answers"
            self.gaps.append(Gap("orphan_result", note, name))
            self.messages.append(Message("tool", (ToolResult(result, id, name, error),)))
            return
        complete(call, result, error)
        artifact = field(message, "artifact")
        if artifact is not None:
            force_setattr(call, "metadata", {"artifact": plain(artifact)})
        said = result if isinstance(result, str) else ""
        back = field(message, "response_metadata")
        marked = isinstance(back, Mapping) and (_is_handoff(back) or "__handoff_destination" in back)
        # Swarms leave no mark but their sentence.
        if marked or (call.name.startswith("transfer_to_") and said.startswith("Successfully transferred to ")):
            force_setattr(call, "kind", "handoff")


def _is_handoff(metadata: Any) -> bool:
    return isinstance(metadata, Mapping) and metadata.get("__is_handoff_back") is True


class _Content:
    """Reads the content of one message: text, or blocks, some of which show calls."""

    def __init__(self, reader: MessageReader, path: str, made: list[ToolCall] | None = None) -> None:
        self._reader = reader
        self._made = made or []
        self._path = join(path, "content")
        self.calls: list[ToolCall] = []

    def read(self, content: Any, calls: Mapping[str, ToolCall], *, judged: bool = False) -> list[Part]:
        if content is None or content == "":
            return []
        if isinstance(content, str):
            return [Text(content)]
        if not isinstance(content, (list, tuple)):
            raise expected("text, or a list of blocks", content, self._path)
        parts: list[Part] = []
        shown: set[str] = set()
        for at, value in enumerate(content):
            if isinstance(value, str):
                parts += [Text(value)] if value else []
                continue
            block = as_mapping(value)
            if block is None:
                raise expected("a block of content, that is an object with a type", value, f"{self._path}[{at}]")
            kind = block.get("type")
            kind = kind if isinstance(kind, str) else "unknown"
            id = next((id for key in ("id", "call_id") if (id := text_id(block.get(key))) in calls), None)
            if not judged:
                parts.append(_words(block, kind))
            elif id is not None and id not in shown and kind not in _PROVIDER_CALLS:
                shown.add(id)
                parts.append(calls[id])
            elif kind in _THOUGHTS:
                thoughts = block.get("text") or block.get("thinking") or block.get("reasoning")
                parts.append(Reasoning(thoughts if isinstance(thoughts, str) else ""))
            elif kind in _PROVIDER_CALLS or (kind.endswith("_call") and kind not in _SHOWN_CALLS):
                parts.append(self._provider_call(block, kind))
            elif kind in _PROVIDER_RESULTS:
                self._provider_result(block)
            elif kind in _SHOWN_CALLS:
                made, known = block.get("name"), {call.name for call in self._made}
                other = id is None and isinstance(made, str) and made not in known and text_id(block.get("id")) is not None
                if not self._made or other:
                    note = f"a block of the kind {kind} shows a call that the message does not hold"
                    self._reader.gaps.append(Gap("calls", note))
            else:
                parts.append(_words(block, kind))
        return parts

    def _provider_call(self, block: Mapping[str, Any], kind: str) -> ToolCall:
        name = block.get("name")
        arguments = block.get("args", block.get("input", block.get("action")))
        name = name if isinstance(name, str) and name else kind.removesuffix("_call")
        call = ToolCall(name, plain(arguments), text_id(block.get("id")), "completed", "provider", UNSET, None, "text")
        if block.get("status") in ("failed", "incomplete"):
            force_setattr(call, "state", "failed")
        self.calls.append(call)
        return call

    def _provider_result(self, block: Mapping[str, Any]) -> None:
        id = text_id(block.get("tool_call_id")) or text_id(block.get("tool_use_id"))
        call = next((call for call in self.calls if call.id == id and call.result is UNSET), None)
        result = plain(block.get("output", block.get("content")))
        failed = block.get("status") == "error" or block.get("is_error") is True
        error = ToolError(result if isinstance(result, str) else "") if failed else None
        if call is not None:
            complete(call, result, error)


def _words(block: Mapping[str, Any], kind: str) -> Part:
    text = block.get("text")
    return Text(text) if kind in ("text", "output_text", "unknown") and isinstance(text, str) else Other(kind, plain(block))


def _call(name: str, arguments: Any, id: Any) -> ToolCall:
    return ToolCall(name, plain(arguments), text_id(id), "requested", "tool", UNSET, None, "text")


def usage_of(messages: Iterable[Any]) -> Usage | None:
    """Add up what the answers of the models cost; None when none says."""
    answers = [message for value in messages if _ROLES.get(field(message := _body(value), "type") or "") == "assistant"]
    found = [usage for message in answers if (usage := as_mapping(field(message, "usage_metadata")))]
    if not found:
        return Usage(requests=len(answers)) if answers else None
    cached = _count([as_mapping(usage.get("input_token_details")) or {} for usage in found], "cache_read")
    thought = _count([as_mapping(usage.get("output_token_details")) or {} for usage in found], "reasoning")
    return Usage(_count(found, "input_tokens"), _count(found, "output_tokens"), cached, thought, None, len(answers))


def _body(value: Any) -> Any:
    return (body_of(value) or {}) if isinstance(value, Mapping) else value


def _count(usages: Iterable[Mapping[str, Any]], name: str) -> int | None:
    found = [value for usage in usages if type(value := usage.get(name)) is int]
    return sum(found) if found else None
