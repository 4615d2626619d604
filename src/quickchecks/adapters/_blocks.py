"""Messages whose content is a list of typed blocks, as Anthropic's Messages API and the Claude Agent SDK have them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import UNSET
from msgspec.structs import force_setattr

from quickchecks._failures import content_text
from quickchecks._run import Gap, Message, Other, Part, Reasoning, Role, Text, ToolCall, ToolError, ToolResult, Usage
from quickchecks.adapters._chat import result_value
from quickchecks.adapters._dialects import is_foreign_call
from quickchecks.adapters._objects import field, plain
from quickchecks.adapters._pairing import Pairing, complete
from quickchecks.adapters._shapes import as_mapping, expected, join, others, text_id
from quickchecks.adapters._strays import gaps_beside, may_be_call, unread_text

__all__ = ("BlockReader", "block_usage", "is_call_block", "summed")

_CALL_KEYS = frozenset(("type", "id", "name", "input"))
_RESULT_KEYS = frozenset(("type", "tool_use_id", "content", "is_error", "name", "cache_control", "caller"))
#: Blocks about tools that are neither calls nor results.
_ABOUT_TOOLS = frozenset(("mcp_tool_listing", "tool_addition", "tool_reference", "tool_removal"))

#: Blocks that say something else than words.
_KNOWN = frozenset(("compaction", "container_upload", "document", "image", "search_result"))


def is_call_block(block: Any) -> bool:
    """Whether a block is a call or a result of this format."""
    kind = block.get("type") if type(block) is dict else None
    return type(kind) is str and (_is_call(kind) or _is_result(kind))


def _is_call(kind: str) -> bool:
    return kind == "tool_use" or kind.endswith("_tool_use")


def _is_result(kind: str) -> bool:
    return kind == "tool_result" or kind.endswith("_tool_result")


class BlockReader:
    """Reads the messages of one run."""

    def __init__(self) -> None:
        self._pairing = Pairing()
        self._calls: list[ToolCall] = []
        self.messages: list[Message] = []
        self.gaps: list[Gap] = []

    def read(
        self, role: Role, content: Any, path: str, *, agent: str | None = None, metadata: Mapping[str, Any] | None = None
    ) -> list[ToolCall]:
        """Read one message.

        Args:
            role: Who speaks.
            content: Text, or the list of blocks.
            path: Where the content stands inside the record.
            agent: Which agent speaks, where several do.
            metadata: What else the message holds.

        Returns:
            The calls that the message makes.

        Raises:
            RecordingError: It is malformed.
        """
        if content is None or isinstance(content, str):
            content = [{"type": "text", "text": content}] if content else []
        elif not isinstance(content, (list, tuple)):
            raise expected("text, or a list of blocks", content, path)
        self._calls, made = [], []
        parts: list[Part] = []
        answered = False
        for at, value in enumerate(content):
            where = f"{path}[{at}]"
            block = {"type": "text", "text": value} if isinstance(value, str) else as_mapping(value)
            if block is None:
                raise expected("a block of content, that is an object with a type", value, where)
            kind = block.get("type")
            if role == "assistant":
                self.gaps += gaps_beside(block, where)
            if isinstance(kind, str) and _is_result(kind):
                self._settle()
                answered = True
                parts += self._result(block, kind, role)
                continue
            if isinstance(kind, str) and _is_call(kind) and role == "assistant":
                call = _call(block, kind, where)
                self._calls.append(call)
                made.append(call)
                parts.append(call)
            elif (part := self._part(block, field(value, "parsed_output"), role, where)) is not None:
                parts.append(part)
        self._settle()
        if role == "assistant":
            self.gaps += unread_text(parts)
        if parts or not answered:
            only_results = bool(parts) and all(type(part) is ToolResult for part in parts)
            self.messages.append(Message("tool" if only_results else role, tuple(parts), agent, metadata or None))
        return made

    def _settle(self) -> None:
        """Let the calls made so far be answered: what the provider ran has its result in the same message."""
        if self._calls:
            self._pairing.begin(self._calls)
            self._calls = []

    def _part(self, block: Mapping[str, Any], parsed: Any, role: Role, path: str) -> Part | None:
        kind = block.get("type")
        if kind == "text" or (kind is None and "text" in block):
            text = block.get("text")
            if text is not None and not isinstance(text, str):
                raise expected("text", text, join(path, "text"))
            return Text(text, UNSET if parsed is None else plain(parsed)) if text else None
        if kind in ("thinking", "redacted_thinking"):
            thoughts = block.get("thinking")
            return Reasoning(thoughts if isinstance(thoughts, str) else "")
        named = isinstance(kind, str)
        silent = named and kind in _ABOUT_TOOLS
        if role == "assistant" and not silent and (not named or is_foreign_call(block) or _may_be_call(kind, block)):
            shown = kind[:40] if isinstance(kind, str) else "no kind"
            self.gaps.append(Gap("calls", f"a block of the kind {shown!r}, which this format does not have, may be a call"))
        return Other(kind if isinstance(kind, str) else "unknown", plain(block))

    def _result(self, block: Mapping[str, Any], kind: str, role: Role) -> list[Part]:
        """Put a result on its call; gives what is left when no call is recorded."""
        content = block.get("content")
        result = plain(result_value(content))
        error = _error(block, content, result)
        id = text_id(block.get("tool_use_id"))
        call = self._pairing.find(id, None)
        if call is None:
            named = block.get("name")
            name = named if isinstance(named, str) and named else None
            self.gaps.append(
                Gap("orphan_result", f"a result of {name or 'a tool'} is recorded without the call that it answers", name)
            )
            return [ToolResult(result, id, name, error)]
        complete(call, result, error)
        if error is None and block.get("is_error") is False and not (isinstance(result, str) and result.lstrip()[:1] == "{"):
            force_setattr(call, "errors_shown_in", "state")
        if kept := others(block, _RESULT_KEYS):
            force_setattr(call, "metadata", {**(call.metadata or {}), "result": plain(kept)})
        return []


def _call(block: Mapping[str, Any], kind: str, path: str) -> ToolCall:
    name = block.get("name")
    if not isinstance(name, str) or not name:
        raise expected("the name of the tool", name, join(path, "name"))
    metadata = plain(others(block, _CALL_KEYS))
    return ToolCall(
        name,
        plain(block.get("input")),
        text_id(block.get("id")),
        "requested",
        "tool" if kind == "tool_use" else "provider",
        errors_shown_in="text",
        metadata=metadata,
    )


def _may_be_call(kind: Any, block: Mapping[str, Any]) -> bool:
    return may_be_call(kind, block) or (kind not in _KNOWN and "id" in block)


def _error(block: Mapping[str, Any], content: Any, result: Any) -> ToolError | None:
    """Results of the user's tools have a flag; those of the provider's have an object in place of the result."""
    if block.get("is_error"):
        return ToolError(result if isinstance(result, str) else content_text(result))
    found = as_mapping(content)
    kind = found.get("type") if found is not None else None
    if found is not None and isinstance(kind, str) and kind.endswith("_error"):
        code = found.get("error_code")
        said = found.get("error_message") or code
        return ToolError(said if isinstance(said, str) else "", code if isinstance(code, str) else "")
    return None


def block_usage(usage: Any) -> Usage | None:
    """Read the usage of one message: what was read from a cache and written to it is counted beside the input."""
    found = as_mapping(usage)
    if not found:
        return None

    def count(key: str, within: Mapping[str, Any] = found) -> int | None:
        number = within.get(key)
        return number if type(number) is int else None

    sent, cached, written = count("input_tokens"), count("cache_read_input_tokens"), count("cache_creation_input_tokens")
    details = as_mapping(found.get("output_tokens_details")) or {}
    total = None if sent is None else sent + (cached or 0) + (written or 0)
    read = Usage(total, count("output_tokens"), cached, count("thinking_tokens", details))
    return None if read == Usage() else read


def summed(usages: Sequence[Usage | None]) -> Usage | None:
    """The usage of several messages together; None where that of one of them is not known."""
    known = [usage for usage in usages if usage is not None]
    if not known or len(known) < len(usages):
        return None

    def total(name: str) -> int | None:
        counts = [getattr(usage, name) for usage in known]
        found = [count for count in counts if count is not None]
        return sum(found) if found else None

    return Usage(
        total("input_tokens"), total("output_tokens"), total("cached_tokens"), total("reasoning_tokens"), requests=len(known)
    )
