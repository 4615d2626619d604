"""Trimming the run that a scorer sees."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import get_args

import msgspec

from quickchecks import _render
from quickchecks._run import Message, Part, Run, ToolCall, ToolResult
from quickchecks.errors import ScorerDefinitionError

__all__ = ("filter_run",)

_DROPPABLE = ("history", "input", "metadata", "usage", "children")
_KINDS = tuple(str(kind.__struct_config__.tag) for kind in get_args(Part))


def filter_run(
    *,
    part_types: Iterable[str] | None = None,
    tool_names: Iterable[str] | None = None,
    max_history: int | None = None,
    max_output: int | None = None,
    drop: Iterable[str] = (),
) -> Callable[[Run], Run]:
    """Make a `prepare_run` that trims what a scorer sees, such as before a model reads it.

    Messages are kept or left out whole.

    Args:
        part_types: Keep only messages that hold a part of one of these kinds: "text", "reasoning", "tool_call",
            "tool_result", "step", "other" (a beginning such as "tool" is enough).
        tool_names: Of the messages that hold tool calls, keep only those with a call of one of these names (a
            beginning is enough); messages without calls stay.
        max_history: Keep at most this many of the messages that were there before the run, the last ones.
        max_output: Keep at most this many of the run's own messages, the last ones.
        drop: Parts of the run to leave out: "history", "input", "metadata", "usage", "children".

    Returns:
        A function from a run to a run.

    Raises:
        ScorerDefinitionError: A number is negative, a kind or a name in drop is unknown, or something that should be a
            list is one text, or empty.

    Example:
        >>> from quickchecks import testing
        >>> trim = filter_run(tool_names=["search"])
        >>> trim(testing.run(testing.call("refund"), testing.user("Hm."), testing.call("search"))).tool_names
        ('search',)
    """
    kinds = _words("part_types", part_types)
    names = _words("tool_names", tool_names)
    dropped = _words("drop", drop or None) or ()
    for name, count in (("max_history", max_history), ("max_output", max_output)):
        if count is not None and (isinstance(count, bool) or not isinstance(count, int) or count < 0):
            raise ScorerDefinitionError(
                f"filter_run() takes {name} as a whole number from 0 on (0 keeps none), not {_render.value(count)}"
            )
    for name in dropped:
        if name not in _DROPPABLE:
            raise ScorerDefinitionError(f"filter_run() cannot drop {name!r}; it can drop {', '.join(_DROPPABLE)}")
    for kind in kinds or ():
        if not any(known.startswith(kind) for known in _KINDS):
            raise ScorerDefinitionError(f"filter_run() knows no part of the kind {kind!r}; there are {', '.join(_KINDS)}")

    def trim(run: Run) -> Run:
        history = [] if "history" in dropped else _kept(run.history, kinds, names, max_history)
        output = _kept(run.messages[run.history_length :], kinds, names, max_output)
        return msgspec.structs.replace(
            run,
            messages=(*history, *output),
            history_length=len(history),
            input=None if "input" in dropped else run.input,
            metadata=None if "metadata" in dropped else run.metadata,
            usage=None if "usage" in dropped else run.usage,
            children=() if "children" in dropped else run.children,
        )

    return trim


def _words(parameter: str, given: Iterable[str] | None) -> tuple[str, ...] | None:
    """Require a list of words that is not empty."""
    if given is None:
        return None
    words = () if isinstance(given, str) else tuple(given)
    if not words or not all(isinstance(word, str) and word for word in words):
        raise ScorerDefinitionError(
            f"filter_run() takes {parameter} as a list of words, such as ['text'], not {_render.value(given)}"
        )
    return words


def _kept(
    messages: Collection[Message], kinds: tuple[str, ...] | None, names: tuple[str, ...] | None, most: int | None
) -> list[Message]:
    kept = [message for message in messages if _has_kind(message, kinds) and _has_tool(message, names)]
    if most is None:
        return kept
    return kept[len(kept) - most :] if most < len(kept) else kept


def _has_kind(message: Message, kinds: tuple[str, ...] | None) -> bool:
    return kinds is None or any(str(part.__struct_config__.tag).startswith(kinds) for part in message.parts)


def _has_tool(message: Message, names: tuple[str, ...] | None) -> bool:
    tools = [part.name or "" for part in message.parts if isinstance(part, (ToolCall, ToolResult))]
    return names is None or not tools or any(tool.startswith(names) for tool in tools)
