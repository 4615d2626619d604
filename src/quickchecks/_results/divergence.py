"""Where two runs of one item part."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import takewhile

from quickchecks import _render, _wire
from quickchecks._run import Run, ToolCall

__all__ = ("first_divergence",)


def first_divergence(before: Run, after: Run) -> str:
    """Say where two runs part: the first call, argument or word that differs.

    Args:
        before: The run as it was.
        after: The run as it is.

    Returns:
        A sentence such as "same until call 3: search → refund"; empty when they are the same.

    Example:
        >>> from quickchecks import testing
        >>> first_divergence(testing.run(testing.call("search")), testing.run(testing.call("refund")))
        'call 1: search → refund'
    """
    old, new = before.tool_calls, after.tool_calls
    answered = ""
    for number, (first, second) in enumerate(zip(old, new, strict=False), 1):
        same = f"same until call {number}: " if number > 1 else f"call {number}: "
        differs = _call_differs(first, second)
        if differs:
            return f"{same}{differs}{answered}"
        if not answered and not _same(first.result, second.result):
            answered = f" (call {number}, {_render.name(first.name)}, had returned something else)"
    if len(old) != len(new):
        number = min(len(old), len(new)) + 1
        same = f"same until call {number}: " if number > 1 else f"call {number}: "
        gone = _render.name(old[number - 1].name) if len(old) > len(new) else "no call"
        come = _render.name(new[number - 1].name) if len(new) > len(old) else "no call"
        return f"{same}{gone} → {come}{answered}"
    if before.text != after.text:
        calls = "same calls; " if old else ""
        at, first_words, second_words = _parting(before.text, after.text)
        return f"{calls}the answer differs from {at} on: {first_words} → {second_words}{answered}"
    return f"same calls and the same answer{answered}" if answered else ""


def _same(first: object, second: object) -> bool:
    """Whether two values are equal, or are written the same: NaN equals nothing, and foreign values may refuse to compare."""
    try:
        if first == second:
            return True
    except Exception:  # an array has no truth, a deep nesting exhausts the stack
        pass
    return _wire.dumps(first) == _wire.dumps(second)


def _call_differs(first: ToolCall, second: ToolCall) -> str:
    """How two calls differ, without their results; empty when they do not."""
    if first.name != second.name:
        return f"{_render.name(first.name)} → {_render.name(second.name)}"
    if not _same(first.arguments, second.arguments):
        return _arguments_differ(first, second)
    failed, fails = first.failure(), second.failure()
    if failed is not None and fails is None:
        return f"{_render.name(first.name)} failed before and does not now"
    if failed is None and fails is not None:
        return f"{_render.name(first.name)} fails now: {_render.quoted(fails.message)}"
    return ""


def _arguments_differ(first: ToolCall, second: ToolCall) -> str:
    old, new = first.arguments, second.arguments
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        keys = [key for key in {**old, **new} if (key in old) != (key in new) or not _same(old.get(key), new.get(key))]
        old, new = ({key: side[key] for key in keys if key in side} for side in (old, new))
        if len(keys) == 1 and keys[0] in old and keys[0] in new:
            was, now = old[keys[0]], new[keys[0]]
            if isinstance(was, str) and isinstance(now, str):  # long texts may be the same for long
                _, shown_was, shown_now = _parting(was, now)
                return f"{_render.name(first.name)}({_render.name(str(keys[0]))}={shown_was} → {shown_now})"
    name = _render.name(first.name)
    return f"{name}({_render.arguments(old)}) → {name}({_render.arguments(new)})"


def _parting(first: str, second: str) -> tuple[int, str, str]:
    """Where two texts part, and the words around it in both."""
    same = takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False))
    at = sum(1 for _ in same)
    start = max(at - 20, 0) if at > 40 else 0
    dots = "…" if start else ""
    return at, dots + _render.passage(first, start, len(first)), dots + _render.passage(second, start, len(second))
