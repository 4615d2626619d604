"""Messages as Bedrock's Converse has them, which Strands keeps: blocks of content that are known by their only key."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from itertools import islice
from typing import Any

from msgspec.structs import force_setattr

from quickchecks._failures import error_type
from quickchecks._run import Gap, Message, Other, Part, Reasoning, Role, Text, ToolCall, ToolError, ToolResult, Usage
from quickchecks.adapters._dialects import LOOK_AT
from quickchecks.adapters._objects import plain
from quickchecks.adapters._pairing import Pairing, complete
from quickchecks.adapters._shapes import as_mapping, expected, join, others, text_id
from quickchecks.adapters._strays import gaps_beside

__all__ = ("ConverseReader", "has_call_blocks", "summed", "usage_of")

_ROLES: dict[str, Role] = {"assistant": "assistant", "system": "system", "user": "user"}
_MESSAGE_KEYS = frozenset(("role", "content"))
_CALL_BLOCKS = frozenset(("toolUse", "toolResult"))
#: What Strands writes in place of a call that the limit of tokens has cut off.
_CUT_CALL = re.compile(r"The selected tool (.{1,80})'s tool use was incomplete due to maximum token limits")
#: Blocks that are neither words nor calls.
_SILENT = frozenset(("audio", "cachePoint", "document", "guardContent", "image", "searchResult", "video"))


def has_call_blocks(messages: Any) -> bool:
    """Whether one of the messages holds a call or a result in the manner of Converse: nothing else marks the format."""
    spoken = (one for one in islice(messages, LOOK_AT) if type(one) is dict and one.get("role") in ("user", "assistant"))
    first = next(spoken, None)
    if first is None or type(first.get("content")) is not list:
        return False  # all content is a list there, so that most conversations of others need no closer look
    for message in messages:
        content = message.get("content") if type(message) is dict else None
        if type(content) is list:
            for block in content:
                if type(block) is dict and "type" not in block and not _CALL_BLOCKS.isdisjoint(block):
                    return True
    return False


class ConverseReader:
    """Reads the messages of one run.

    Args:
        path: Where the list of messages stands inside the record.
        agents: The tools that are known to be agents.
        outputs: The tools that are known to take the answer.
    """

    def __init__(self, path: str = "", agents: Collection[str] = (), outputs: Collection[str] = ()) -> None:
        self._path = path
        self._agents = agents
        self._outputs = outputs
        self._pairing = Pairing()
        self.messages: list[Message] = []
        self.gaps: list[Gap] = []
        self.calls: list[ToolCall] = []

    def read(self, messages: Any) -> None:
        """Read messages.

        Raises:
            RecordingError: A message is malformed; the path says which.
        """
        if not isinstance(messages, (list, tuple)):
            raise expected("a list of messages", messages, self._path)
        for number, message in enumerate(messages):
            self._message(message, f"{self._path}[{number}]")

    def _message(self, value: Any, path: str) -> None:
        message = as_mapping(value)
        if message is None:
            raise expected("a message, that is an object with a role", value, path)
        role = message.get("role")
        known = _ROLES.get(role) if isinstance(role, str) else None
        if known is None:
            raise expected(f"one of the roles {', '.join(sorted(_ROLES))}", role, join(path, "role"))
        content = message.get("content")
        if known == "assistant":
            self.gaps += gaps_beside(message, path)
        path = join(path, "content")
        if isinstance(content, str):
            content = [{"text": content}] if content else []
        elif not isinstance(content, (list, tuple)):
            raise expected("a list of blocks", content, path)
        begun = len(self.calls)
        parts = [part for at, block in enumerate(content) for part in self._block(block, f"{path}[{at}]", known)]
        if len(self.calls) > begun:
            self._pairing.begin(self.calls[begun:])
        if parts or not content:
            self.messages.append(Message(known, tuple(parts), None, plain(others(message, _MESSAGE_KEYS))))

    def _block(self, value: Any, path: str, role: Role) -> list[Part]:
        if isinstance(value, str):
            return [Text(value)] if value else []
        block = as_mapping(value)
        if block is None:
            raise expected("a block of content, that is an object", value, path)
        if "type" in block:
            raise expected("a block that is known by its key", value, path, "blocks with a type are of another format")
        parts: list[Part] = []
        for kind, held in block.items():
            parts += self._held(kind, held, join(path, str(kind)), role)
        return parts

    def _held(self, kind: str, held: Any, path: str, role: Role) -> list[Part]:
        if kind == "text":
            if held is not None and not isinstance(held, str):
                raise expected("text", held, path)
            if held and role == "assistant" and (cut := _CUT_CALL.match(held)) is not None:
                self.gaps.append(Gap("calls", f"the answer was cut off in the middle of a call of {cut[1]}", cut[1]))
            return [Text(held)] if held else []
        if kind == "reasoningContent":
            thoughts = as_mapping((as_mapping(held) or {}).get("reasoningText")) or {}
            text = thoughts.get("text")
            return [Reasoning(text if isinstance(text, str) else "")]
        if kind == "citationsContent":
            said = (as_mapping(held) or {}).get("content")
            texts = [(as_mapping(one) or {}).get("text") for one in (said if isinstance(said, (list, tuple)) else ())]
            if role == "assistant" and not all(isinstance(text, str) for text in texts):
                self.gaps.append(Gap("calls", f"a block of the kind {kind!r} holds what may be a call"))
            return [Text("".join(text for text in texts if isinstance(text, str))), Other(kind, plain(held))]
        if kind == "toolUse":
            call = self._call(held, path)
            if role != "assistant":
                return [Other(kind, plain(held))]  # what the agent did not do is no call of its
            self.calls.append(call)
            return [call]
        if kind == "toolResult":
            return self._result(held, path)
        if role == "assistant" and kind not in _SILENT:
            self.gaps.append(Gap("calls", f"a block of the unknown kind {kind[:40]!r} may be a call"))
        return [Other(kind, plain(held))]

    def _call(self, value: Any, path: str) -> ToolCall:
        call = as_mapping(value)
        if call is None:
            raise expected("a call, that is an object with a name", value, path)
        name = call.get("name")
        if not isinstance(name, str) or not name:
            raise expected("the name of the tool", name, join(path, "name"))
        kind = call.get("type")
        provider = isinstance(kind, str) and kind.startswith("server_tool")
        return ToolCall(
            name,
            plain(call.get("input")),
            text_id(call.get("toolUseId")),
            "requested",
            "provider" if provider else "agent" if name in self._agents else "output" if name in self._outputs else "tool",
        )

    def _result(self, value: Any, path: str) -> list[Part]:
        answer = as_mapping(value)
        if answer is None:
            raise expected("a result, that is an object with content", value, path)
        status = answer.get("status")
        if status not in (None, "success", "error"):
            raise expected("one of the states success, error", status, join(path, "status"))
        result = _content(answer.get("content"), join(path, "content"))
        error = None
        if status == "error":
            message = result if isinstance(result, str) else ""
            error = ToolError(message, error_type(message))
        id = text_id(answer.get("toolUseId"))
        call = self._pairing.find(id, None)
        if call is None:
            note = "a result is recorded without the call that it answers"
            self.gaps.append(Gap("orphan_result", note))
            return [ToolResult(result, id, None, error)]
        complete(call, result, error)
        if status is not None:
            force_setattr(call, "errors_shown_in", "state")
        return []


def _content(content: Any, path: str) -> Any:
    """What a tool returned: its words, its one value, or the blocks as they came."""
    if content is None or isinstance(content, str):
        return content
    if not isinstance(content, (list, tuple)):
        raise expected("a list of blocks", content, path)
    blocks = [as_mapping(block) or {} for block in content]
    texts = [block.get("text") for block in blocks]
    if all(isinstance(text, str) for text in texts):
        return "".join(texts)  # type: ignore[arg-type]
    if len(blocks) == 1 and "json" in blocks[0]:
        return plain(blocks[0]["json"])
    return plain(content)


def usage_of(messages: Any) -> Usage | None:
    """Add up what the messages say of their cost; None when none does."""
    found = [(as_mapping(message) or {}).get("metadata") for message in messages]
    known = [usage for one in found if (usage := as_mapping((as_mapping(one) or {}).get("usage"))) is not None]
    return summed(known, len(known))


def summed(usages: Collection[Mapping[str, Any]], requests: int | None) -> Usage | None:
    """Add up usages as Converse gives them.

    Some models leave cached tokens out of their input: where the total is more than input and output, it tells.

    Args:
        usages: The usages.
        requests: How many calls of a model they are of.
    """
    sums = dict.fromkeys(("inputTokens", "outputTokens", "cacheReadInputTokens"), 0)
    seen: set[str] = set()
    for usage in usages:
        for key in sums:
            count = usage.get(key)
            if type(count) is int:
                seen.add(key)
                sums[key] += count
        sent, written, total = (usage.get(key) for key in ("inputTokens", "outputTokens", "totalTokens"))
        if type(sent) is int and type(written) is int and type(total) is int and total > sent + written:
            sums["inputTokens"] += total - sent - written
    read = [sums[key] if key in seen else None for key in sums]
    return Usage(read[0], read[1], read[2], requests=requests or None) if seen else None
