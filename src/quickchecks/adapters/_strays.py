"""Calls and words in places that a format does not know, so that none is taken for a remark beside the message.

Recordings of half-converted frameworks hold calls as `toolCalls`, `tool_uses`, `additional_kwargs.tool_calls` and the like.
Whoever keeps such a thing as metadata lets every negative check pass.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any

from quickchecks._run import Gap, Other, Part
from quickchecks.adapters._shapes import described, expected, join

__all__ = (
    "are_calls",
    "gaps_beside",
    "holds_calls",
    "is_call",
    "may_be_call",
    "refuse_calls",
    "stray_calls",
    "unread_calls",
    "unread_text",
)

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


def gaps_beside(held: Any, path: str, known: Collection[str] = ()) -> list[Gap]:
    """The gaps of calls that stand where a format has none.

    Args:
        held: A message, a part or a record; of objects nothing is found, because they hold what their class says.
        path: Where it stands inside the record.
        known: Names of calls under which the format reads them.
    """
    if not isinstance(held, Mapping):
        return []
    found = [key for key in held if are_calls(key) and key not in known and held[key]]
    return [Gap("calls", f"what stands at {join(path, key)} may be calls") for key in found]


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


def is_call(value: Mapping[str, Any]) -> bool:
    """Whether an object says itself that it is a call."""
    kind = value.get("type")
    return isinstance(kind, str) and kind.lower().endswith(_CALL_KINDS) and not _DOINGS.isdisjoint(value)


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


#: Words in the kinds of parts that do something.
_DOING = re.compile(r"(?i)tool|function|call|action|execut|invo|command|(?:^|_)use$")
#: Kinds of part that are known to do nothing, whatever they hold.
_STILL = re.compile(
    r"(?i)data-|tool-approval-|step-start|input_|output_|source|citation|annotation|reference|.*(?:image|audio|video|file|document)"
    r"|(?:text|refusal|compaction|container_upload|search_result|handoff)$"
)
_DOINGS = frozenset(("name", "tool", "function", *_ARGUMENTS))


def may_be_call(kind: object, held: object) -> bool:
    """Whether a part of a kind that a format does not know may be a call: it is called so, or it has what calls have.

    Args:
        kind: What the part calls itself, or the key by which it is known.
        held: What it holds.
    """
    if isinstance(kind, str):
        if kind.lower().endswith(("call", "tool_use", "tooluse")):
            return True
        if _STILL.match(kind):
            return False
        if _DOING.search(kind):
            return True
    return isinstance(held, Mapping) and not _DOINGS.isdisjoint(held)


def unread_calls(parts: Sequence[Part]) -> Iterator[Gap]:
    """Find parts of kinds that nobody knows which may be calls.

    Args:
        parts: The parts of one message of the agent.

    Yields:
        The gap of each.
    """
    for part in parts:
        if type(part) is Other and (may_be_call(part.kind, part.data) or (part.kind == "unknown" and part.data)):
            yield Gap("calls", f"a part of the unknown kind {part.kind[:40]!r} may be a call")


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
