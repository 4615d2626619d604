"""Calls and words in places that a format does not know, so that none is taken for a remark beside the message.

Recordings of half-converted frameworks hold calls as `toolCalls`, `tool_uses`, `additional_kwargs.tool_calls` and the like.
Whoever keeps such a thing as metadata lets every negative check pass.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any

from quickchecks._run import Gap, Other, Part
from quickchecks.adapters._shapes import described, expected, join

__all__ = ("are_calls", "holds_calls", "refuse_calls", "stray_calls", "unread_text")

#: Names that can mean nothing but calls, without their underscores, hyphens and capitals.
_CALLS = frozenset(
    f"{before}{word}{end}"
    for before in ("", "invalid", "pending", "server")
    for word in ("toolcall", "tooluse", "functioncall", "toolinvocation", "functioninvocation", "toolrequest", "mcpcall")
    for end in ("", "s")
)
#: Names that mean calls where what they hold looks like calls.
_MAYBE_CALLS = frozenset(("calls", "actions", "action", "invocations", "toolsused"))
#: What a message or a record was asked with, or should have been: calls in there were not made in answer to it.
_OTHERS_CALLS = frozenset(("messages", "history", "request", "input", "prompt", "tools", "functions", "examples", "expected"))
_NAMES = ("name", "function", "tool", "toolName", "tool_name", "functionCall", "toolUse", "custom")
_ARGUMENTS = ("arguments", "args", "input", "parameters", "params", "function", "functionCall", "toolUse")
#: Kinds of part that are calls in some format, whatever stands before.
_CALL_KINDS = ("tool_use", "tool_call", "tool-call", "toolcall", "function_call", "functioncall", "tool-invocation", "tooluse")
_UNTYPED = ("toolUse", "functionCall", "tool_calls", "toolCalls", "function_call", "toolInvocations", "tool_uses")
_DEPTH = 3
_WIDTH = 50


def _plain(key: str) -> str:
    return key.replace("_", "").replace("-", "").lower()


@lru_cache(4096)
def are_calls(key: object) -> bool:
    """Whether what stands under this name can only be calls, whatever it looks like. Records share their few names."""
    return isinstance(key, str) and _plain(key) in _CALLS


def stray_calls(beside: Mapping[str, Any] | None, path: str) -> Iterator[tuple[str, Any, bool]]:
    """Find calls in what stands beside the keys that a format reads.

    Args:
        beside: What no format has read of a message or a record.
        path: Where it stands inside the record.

    Yields:
        Path and value of each thing that is calls, as it came; and whether it stands there directly, not inside another.
    """
    if beside:
        yield from _found(beside, path, 0)


def _found(value: Mapping[Any, Any], path: str, depth: int) -> Iterator[tuple[str, Any, bool]]:
    for key, item in value.items():
        if not isinstance(item, (Mapping, list, tuple)) or not item or not isinstance(key, str):
            continue
        here = join(path, key)
        plain = _plain(key)
        if plain in _OTHERS_CALLS:
            continue
        sure = plain in _CALLS and (depth == 0 or _hold_names(item))
        if sure or (plain in _MAYBE_CALLS and _look_like_calls(item)):
            yield here, item, depth == 0
        elif depth < _DEPTH:
            if isinstance(item, Mapping):
                yield from _found(item, here, depth + 1)
                continue
            for at, one in enumerate(item[:_WIDTH]):
                if isinstance(one, Mapping):
                    yield from _found(one, f"{here}[{at}]", depth + 1)


def _entries(value: Any) -> list[Any]:
    return list(value[:_WIDTH]) if isinstance(value, (list, tuple)) else [value]


def _hold_names(value: Any) -> bool:
    return any(one if isinstance(one, str) else _has_name(one) for one in _entries(value))


def _has_name(value: Any) -> bool:
    return isinstance(value, Mapping) and any(value.get(key) for key in _NAMES)


def _look_like_calls(value: Any) -> bool:
    return all(_has_name(one) and any(key in one for key in _ARGUMENTS) for one in _entries(value))


def refuse_calls(beside: Mapping[str, Any] | None, path: str, where: str) -> None:
    """Refuse a message that holds calls where its format has none.

    Args:
        beside: What the format has not read of the message.
        path: Where the message stands inside the record.
        where: Where calls stand in this format, for the error.

    Raises:
        RecordingError: There are calls in it.
    """
    for place, value, _ in stray_calls(beside, path):
        raise expected(f"calls {where}", value, place, "these are calls in the manner of another format")


def holds_calls(value: Any, depth: int = 6) -> bool:
    """Whether a value of unknown shape holds what some format calls a call."""
    if isinstance(value, Mapping):
        kind = value.get("type")
        if isinstance(kind, str) and kind.lower().endswith(_CALL_KINDS):
            return True
        if any(isinstance(value.get(key), (Mapping, list, tuple)) and value[key] for key in _UNTYPED):
            return True
        inner: Any = islice(value.values(), 200)
    elif isinstance(value, (list, tuple)):
        inner = value[:200]
    else:
        return False
    return depth > 0 and any(holds_calls(item, depth - 1) for item in inner)


#: Kinds of part that may hold text and are no answer: thoughts, and what the agent was shown.
_NO_ANSWERS = re.compile(
    r"(?i)data-|.*(?:reason|think|thought|source|citation|annotation|file|document|image|audio|video|input|tool)"
)


def unread_text(parts: Sequence[Part]) -> Iterator[Gap]:
    """Find words in parts of kinds that nobody knows: they may be the answer, and no check reads them.

    Args:
        parts: The parts of one message of the agent.

    Yields:
        The gap of each such kind.
    """
    for part in parts:
        if type(part) is Other and isinstance(part.data, Mapping) and not _NO_ANSWERS.match(part.kind):
            text = part.data.get("text")
            if isinstance(text, str) and text.strip():
                yield Gap("text", f"a part of the unknown kind {described(part.kind).removeprefix('the text ')} holds text")
