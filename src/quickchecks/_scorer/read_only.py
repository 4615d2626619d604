"""Runs that nobody can change: what one scorer changed, the next would judge, and the file of the result would hold."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar, cast

from msgspec import Struct
from msgspec.structs import replace

from quickchecks._read_only import UNCHANGEABLE, read_only
from quickchecks._run import UNSET, Message, Other, Part, Reasoning, Run, Step, Text, ToolCall, ToolResult
from quickchecks._score import Explanation, Score

__all__ = ("guarded", "guarded_explain", "read_only_run")

_Fields = TypeVar("_Fields", bound=Struct)
_Explain = Callable[[Run, Score], Explanation]

#: Under this name a run keeps its read-only copy, with what else is derived from it; itself is kept as True.
_KEPT = "_read_only"


def read_only_run(run: Run) -> Run:
    """Copy the lists and dicts in a run, those of nested runs included, into ones that cannot be changed.

    Args:
        run: The run.

    Returns:
        A run that is equal to it; the run itself when nothing in it can be changed.

    Example:
        >>> from quickchecks import testing
        >>> run = read_only_run(testing.run(testing.call("search", {"words": ["rain"]})))
        >>> run.tool_calls[0].arguments["words"].append("sun")
        Traceback (most recent call last):
        TypeError: what a step gets is read-only: change a copy of it, and return that
    """
    kept = vars(run).get(_KEPT)
    if kept is not None:
        return run if kept is True else cast(Run, kept)
    if _holds_nothing_to_change(run):
        vars(run)[_KEPT] = True
        return run
    found = _with_read_only(run, "input", "metadata")
    messages = _each(run.messages, _message)
    children = _each(run.children, read_only_run)
    if messages is not run.messages or children is not run.children:
        found = replace(found, messages=messages, children=children)
    vars(found)[_KEPT] = True
    if found is not run:
        vars(run)[_KEPT] = found
    return found


def _holds_nothing_to_change(run: Run) -> bool:
    """Whether the run is seen at a glance to hold nothing but texts and numbers, as most do."""
    if run.metadata is not None or run.children or type(run.input) not in UNCHANGEABLE:
        return False
    for message in run.messages:
        if message.metadata is not None:
            return False
        for part in message.parts:
            if type(part) is Text:
                if part.value is not UNSET:
                    return False
            elif type(part) is ToolCall:
                owned = part.metadata is not None or part.run is not None
                if owned or type(part.raw_arguments) not in UNCHANGEABLE or type(part.result) not in UNCHANGEABLE:
                    return False
            elif type(part) is not Reasoning and type(part) is not Step:
                return False
    return True


def guarded(function: Callable[..., object]) -> Callable[[Run], object]:
    """A function of a user's that gets the run read-only."""
    return partial(_on_read_only, function)


def guarded_explain(explain: _Explain | None) -> _Explain | None:
    """The same for a function that makes a reason; those of this library change nothing."""
    if explain is None or str(getattr(explain, "__module__", "")).startswith("quickchecks."):
        return explain
    return partial(_on_read_only, explain)  # type: ignore[return-value]


def _on_read_only(function: Callable[..., object], run: Run, *others: object) -> object:
    return function(read_only_run(run), *others)


_Whole = TypeVar("_Whole", Message, Part, Run)


def _each(values: tuple[_Whole, ...], change: Callable[[_Whole], _Whole]) -> tuple[_Whole, ...]:
    """The values changed; the same tuple when none of them was."""
    changed = tuple([change(value) for value in values])
    return values if all(map(_same, changed, values)) else changed


def _same(one: object, other: object) -> bool:
    return one is other


def _message(message: Message) -> Message:
    found = _with_read_only(message, "metadata")
    parts = _each(message.parts, _part)
    return found if parts is message.parts else replace(found, parts=parts)


def _part(part: Part) -> Part:
    if type(part) is Text:
        return part if type(part.value) in UNCHANGEABLE else replace(part, value=read_only(part.value))
    if type(part) is ToolCall:
        found = _with_read_only(part, "raw_arguments", "result", "metadata")
        run = part.run
        return found if run is None or (inner := read_only_run(run)) is run else replace(found, run=inner)
    if type(part) is Other:
        return _with_read_only(part, "data")
    return _with_read_only(part, "result") if type(part) is ToolResult else part


def _with_read_only(value: _Fields, *names: str) -> _Fields:
    """The struct with these fields read-only; itself when they are."""
    found: dict[str, object] = {}
    for name in names:
        given = getattr(value, name)
        if type(given) not in UNCHANGEABLE and (copy := read_only(given)) is not given:
            found[name] = copy
    return replace(value, **found) if found else value
