"""Messages as Google's contents have them, of Gemini and the Agent Development Kit: a role, and parts known by their key.

The keys are snake_case in objects and camelCase in JSON; both are read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from quickchecks import _wire
from quickchecks._failures import class_name, error_type
from quickchecks._run import CallKind, Gap, Message, Other, Part, Reasoning, Role, Text, ToolCall, ToolError, ToolResult, Usage
from quickchecks.adapters._objects import field, plain
from quickchecks.adapters._pairing import Pairing, complete
from quickchecks.adapters._shapes import as_mapping, expected, join, others, text_id
from quickchecks.adapters._strays import may_be_call

__all__ = ("CALL_KEYS", "PART_KEYS", "ContentReader", "camel", "named", "take", "usage_of")

#: Parts that are calls or results.
CALL_KEYS = ("function_call", "function_response", "executable_code", "code_execution_result", "tool_call", "tool_response")
_SILENT = (
    "audio_transcription",
    "file_data",
    "inline_data",
    "media_processing",
    "media_resolution",
    "part_metadata",
    "thought",
    "thought_signature",
    "video_metadata",
)
_CALL_WORDS = re.compile(r"(?i)tool|function|call|execut|action|invo")
_CODE = "code_execution"
_FAILED = frozenset(("error", "failed"))
_MESSAGES = ("error_message", "message", "detail", "report")


def camel(key: str) -> str:
    """A key as JSON has it.

    Example:
        >>> camel("function_call")
        'functionCall'
    """
    first, *rest = key.split("_")
    return first + "".join(word.capitalize() for word in rest)


_BOTH = {key: camel(key) for key in (*CALL_KEYS, *_SILENT, "text")}
#: What a part can be known by.
PART_KEYS = frozenset((*CALL_KEYS, *map(camel, CALL_KEYS), "text", "inline_data", "inlineData", "file_data", "fileData"))
_KNOWN = frozenset((*_BOTH, *_BOTH.values()))


def take(value: Mapping[str, Any], key: str) -> Any:
    """What stands under a key, whichever way it is written."""
    found = value.get(key)
    return value.get(camel(key)) if found is None else found


def named(value: Any) -> str:
    """The name of a member of an enumeration, which is text in JSON; empty when there is none."""
    found = value if type(value) is str else field(value, "value", value)
    return found if isinstance(found, str) else ""


class ContentReader:
    """Reads the contents of one run."""

    def __init__(self) -> None:
        self._pairing = Pairing()
        self._calls: list[ToolCall] = []
        self.messages: list[Message] = []
        self.gaps: list[Gap] = []

    def read(
        self, role: Role, parts: Any, path: str, *, agent: str | None = None, metadata: Mapping[str, Any] | None = None
    ) -> list[ToolCall]:
        """Read one message.

        Args:
            role: Who speaks. Results stand in messages of any role.
            parts: Its parts.
            path: Where they stand inside the record.
            agent: Which agent speaks, where several do.
            metadata: What else the message holds.

        Returns:
            The calls that it makes, and those that it answers.

        Raises:
            RecordingError: It is malformed.
        """
        if parts is None:
            parts = []
        if not isinstance(parts, (list, tuple)):
            raise expected("a list of parts", parts, path)
        touched: list[ToolCall] = []
        read: list[Part] = []
        answered = False
        for at, value in enumerate(parts):
            part = {"text": value} if isinstance(value, str) else as_mapping(value)
            where = f"{path}[{at}]"
            if part is None:
                raise expected("a part, that is an object", value, where)
            if "type" in part:
                raise expected("a part that is known by its key", value, where, "parts with a type are of another format")
            for key, camel_key in _BOTH.items():
                held = part.get(key)
                if held is None:
                    held = part.get(camel_key)
                if held is not None and key not in ("thought", "thought_signature", "part_metadata"):
                    answered = answered or key in ("function_response", "tool_response", "code_execution_result")
                    read += self._held(key, held, part, role, join(where, key), touched)
            for key, held in part.items():
                if key not in _KNOWN and held is not None:
                    if role == "assistant" and (_CALL_WORDS.search(str(key)) or may_be_call(None, held)):
                        self.gaps.append(Gap("calls", f"a part of the unknown kind {str(key)[:40]!r} may be a call"))
                    read.append(Other(str(key), plain(held)))
        self._settle()
        if read or not answered:
            only_results = bool(read) and all(type(part) is ToolResult for part in read)
            self.messages.append(Message("tool" if only_results else role, tuple(read), agent, metadata or None))
        return touched

    def made(self) -> list[ToolCall]:
        """The calls that were read so far."""
        return [part for message in self.messages for part in message.parts if type(part) is ToolCall]

    def _settle(self) -> None:
        if self._calls:
            self._pairing.begin(self._calls)
            self._calls = []

    def _held(self, key: str, held: Any, part: Mapping[str, Any], role: Role, path: str, touched: list[ToolCall]) -> list[Part]:
        if key == "text":
            if not isinstance(held, str):
                raise expected("text", held, path)
            if take(part, "thought"):
                return [Reasoning(held)]
            return [Text(held)] if held else []
        if key not in CALL_KEYS:
            return [Other(key, plain(held))]
        body = as_mapping(held)
        if body is None:
            raise expected("an object", held, path)
        if key in ("function_call", "tool_call", "executable_code"):
            if role != "assistant":
                return [Other(key, plain(body))]  # what the agent did not do is no call of its
            call = _call(key, body, path)
            self._calls.append(call)
            touched.append(call)
            return [call]
        self._settle()
        return self._result(key, body, touched)

    def _result(self, key: str, body: Mapping[str, Any], touched: list[ToolCall]) -> list[Part]:
        name: str | None
        if key == "code_execution_result":
            name, result = _CODE, body.get("output")
            outcome = named(body.get("outcome"))
            said = result if isinstance(result, str) else outcome
            error = None if outcome in ("OUTCOME_OK", "") else ToolError(said, source="state")
        else:
            name = named(take(body, "name" if key == "function_response" else "tool_type")) or None
            result = plain(body.get("response"))
            error = _payload_error(result)
            if isinstance(result, Mapping) and len(result) == 1 and error is None:
                result = next((result[only] for only in ("result", "output") if only in result), result)
        id = text_id(body.get("id"))
        call = self._pairing.find(id, name)
        if call is None:
            note = f"a result of {name or 'a tool'} is recorded without the call that it answers"
            self.gaps.append(Gap("orphan_result", note, name))
            return [ToolResult(result, id, name, error)]
        complete(call, result, error)
        touched.append(call)
        return []


def _call(key: str, body: Mapping[str, Any], path: str) -> ToolCall:
    kind: CallKind = "tool" if key == "function_call" else "provider"
    if key == "executable_code":
        return ToolCall(_CODE, plain(others(body, frozenset(("id",)))), text_id(body.get("id")), "requested", kind)
    where = "name" if key == "function_call" else "tool_type"
    name = named(take(body, where))
    if not name:
        raise expected("the name of the tool", take(body, where), join(path, where))
    unfinished = take(body, "will_continue") is True
    return ToolCall(name, plain(body.get("args")), text_id(body.get("id")), "partial" if unfinished else "requested", kind)


def _payload_error(result: Any) -> ToolError | None:
    """What Google's own examples return when a tool failed: an object whose status says so."""
    if not isinstance(result, Mapping) or result.get("error"):
        return None  # an object with an error is a failure wherever it comes from
    status = result.get("status")
    if not isinstance(status, str) or status.lower() not in _FAILED:
        return None
    said = next((text for key in _MESSAGES if isinstance(text := result.get(key), str)), "")
    message = said or _wire.shown(result)
    return ToolError(message, class_name(result.get("error_type")) or error_type(message), "payload")


def usage_of(value: Any) -> Usage | None:
    """Read the usage of one request: thoughts are counted beside the answer, and what tools sent beside the prompt."""
    found = as_mapping(value)
    if not found:
        return None

    def count(key: str) -> int | None:
        number = take(found, key)
        return number if type(number) is int else None

    sent, written, thought = count("prompt_token_count"), count("candidates_token_count"), count("thoughts_token_count")
    read = Usage(
        None if sent is None else sent + (count("tool_use_prompt_token_count") or 0),
        None if written is None and thought is None else (written or 0) + (thought or 0),
        count("cached_content_token_count"),
        thought,
    )
    return None if read == Usage() else read
