"""Results of MCP tools: what a call of a tool of an MCP server gave, as an object of either version of the SDK or as JSON.

As the answer of a target it is a run: the content is what was said, and a result that is an error is the error of the run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from quickchecks._failures import content_text, error_type
from quickchecks._run import UNSET, Gap, Message, Other, Part, Run, RunError, Text
from quickchecks.adapters._answers import answer_parts
from quickchecks.adapters._objects import is_a, is_foreign, plain
from quickchecks.adapters._shapes import as_mapping, described, expected, join, others

__all__ = ("load", "recognises")

_CLASSES = ("mcp.types:CallToolResult", "mcp_types:CallToolResult")
_FLAGS = ("isError", "is_error")
_VALUES = ("structuredContent", "structured_content")
#: An object with content and one of these, and none of the others, is a result of an MCP tool.
_MARKS = frozenset((*_FLAGS, *_VALUES))
_OF_OTHERS = frozenset(("type", "role", "messages", "choices", "tool_use_id", "toolUseId", "status"))
_READ_KEYS = frozenset(("content", *_MARKS))


def recognises(value: Any) -> bool:
    """Whether a value is a result of an MCP tool: the SDK's object, or an object with content and the flag or the value."""
    if type(value) is dict:
        return "content" in value and not _MARKS.isdisjoint(value) and _OF_OTHERS.isdisjoint(value) and _has_blocks(value)
    return is_foreign(value) and is_a(value, *_CLASSES)


def _has_blocks(value: Mapping[str, Any]) -> bool:
    content = value["content"]
    return type(content) is list and all(type(block) is dict and type(block.get("type")) is str for block in content)


def load(value: Any) -> Run:
    """Read one run.

    Args:
        value: What `recognises` accepts.

    Returns:
        The run.

    Raises:
        RecordingError: The value is malformed.
    """
    result = as_mapping(value)
    if result is None:
        raise expected("a result of an MCP tool", value, "")
    content = result.get("content")
    if content is None:
        content = []
    if not isinstance(content, (list, tuple)):
        raise expected("a list of blocks of content", content, "content")
    parts = [part for at, block in enumerate(content) if (part := _part(block, f"content[{at}]")) is not None]
    answer = next((result[key] for key in _VALUES if result.get(key) is not None), None)
    if answer is not None:
        parts = _with_value(parts, plain(answer))
    failed = any(result.get(key) for key in _FLAGS)
    message = content_text(plain(content)) or described(result)
    return Run(
        (Message("assistant", tuple(parts)),),
        error=RunError(message, error_type(message)) if failed else None,
        gaps=(
            Gap("calls", "the result of an MCP tool does not show which tools were called"),
            Gap("input", "the result of an MCP tool does not show what was asked"),
        ),
        metadata=plain(others(result, _READ_KEYS)),
    )


def _part(value: Any, path: str) -> Part | None:
    block = as_mapping(value)
    if block is None:
        raise expected("a block of content, that is an object with a type", value, path)
    kind = block.get("type")
    if kind == "text":
        text = block.get("text")
        if text is not None and not isinstance(text, str):
            raise expected("text", text, join(path, "text"))
        return Text(text) if text else None
    if kind == "resource":
        text = (as_mapping(block.get("resource")) or {}).get("text")
        if isinstance(text, str) and text:
            return Text(text)
    return Other(kind if isinstance(kind, str) else "unknown", plain(block))


def _with_value(parts: list[Part], answer: Any) -> list[Part]:
    """Put the structured value beside the words that say the same. Servers wrap a value that is no object."""
    if isinstance(answer, dict) and answer.keys() == {"result"}:
        answer = answer["result"]
        if isinstance(answer, str):
            return parts if any(type(part) is Text for part in parts) else [*parts, *answer_parts(answer)]
    at = next((at for at, part in enumerate(parts) if type(part) is Text and part.value is UNSET), None)
    if at is None:
        return [*parts, *answer_parts(answer, "structuredContent")]
    said = parts[at]
    assert type(said) is Text
    return [*parts[:at], Text(said.text, answer), *parts[at + 1 :]]
