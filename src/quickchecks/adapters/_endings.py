"""How an answer of a model ended, and what that says of calls: one that was cut off, and those that an ending tells of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec.structs import force_setattr

from quickchecks import _wire
from quickchecks._run import Gap, ToolCall
from quickchecks.adapters._shapes import as_mapping

__all__ = ("CUT", "cut_calls", "is_whole", "lost_calls", "mark_cut", "told_end", "unwrapped")

#: Why an answer may end before the model had finished it, in the words of several providers.
CUT = frozenset(("length", "max_tokens", "content_filter", "model_context_window_exceeded", "max_output_tokens", "MAX_TOKENS"))
#: Where messages say why they ended.
_REASONS = ("finish_reason", "stop_reason", "stopReason", "done_reason")
#: Endings that say that the model made calls.
_CALLING = frozenset(("tool_calls", "tool_use", "function_call", "toolUse", "pause_turn"))

#: Endings that say that a call could not be read.
_BROKEN = frozenset(("MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL"))


def is_whole(arguments: object) -> bool:
    """Whether the arguments of a call are all there: JSON that ends."""
    if not isinstance(arguments, str):
        return True
    try:
        _wire.loads(arguments)
    except ValueError:
        return False
    return True


def mark_cut(calls: Iterable[ToolCall], *, last: bool = False) -> None:
    """Mark the calls that an answer was cut off in.

    Args:
        calls: The calls of the answer, in order.
        last: Whether nothing follows the last of them, so that it is what was cut where arguments are never text.
    """
    listed = list(calls)
    for call in listed:
        if call.state == "requested" and (not is_whole(call.raw_arguments) or (last and call is listed[-1])):
            force_setattr(call, "state", "partial")


def cut_calls(calls: Iterable[ToolCall]) -> list[Gap]:
    """The gap of each call that is known in part: it was not made, and nobody knows what would have become of it."""
    return [
        Gap("calls", f"the answer was cut off in the middle of a call of {call.name}", call.name)
        for call in calls
        if call.state == "partial"
    ]


def lost_calls(reason: Any, calls: Iterable[ToolCall]) -> list[Gap]:
    """The gap of an answer that ended with calls, as it says itself, and shows none."""
    if isinstance(reason, str) and reason.upper() in _BROKEN:
        return [Gap("calls", f"the model made a call that cannot be read ({reason})")]
    if not isinstance(reason, str) or reason not in _CALLING or any(True for _ in calls):
        return []
    return [Gap("calls", f"the model ended with calls ({reason}), and none is recorded")]


def told_end(told: Any, calls: Sequence[ToolCall]) -> list[Gap]:
    """Judge why a message ended, where it says so.

    Args:
        told: What stands beside the message.
        calls: The calls of the message. Those that were cut off are marked; one that has its result was whole.

    Returns:
        The gaps about calls that are known in part, and about those that are not recorded.
    """
    gaps: list[Gap] = []
    for reason in map(told.get, _REASONS) if isinstance(told, Mapping) else ():
        if isinstance(reason, str) and reason in CUT:
            mark_cut(calls)
            gaps += cut_calls(calls)
        gaps += lost_calls(reason, calls)
    return gaps


def unwrapped(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """The message of a chat completion or of a choice of one, which programs put where the message belongs."""
    choices = value.get("choices")
    found = as_mapping(choices[0]) if isinstance(choices, (list, tuple)) and len(choices) == 1 else value
    message = as_mapping((found or {}).get("message"))
    if found is None or message is None or "role" not in message:
        return value
    return {**message, "finish_reason": found.get("finish_reason")}
