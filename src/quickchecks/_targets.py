"""Targets: anything callable that answers an input, and how its answers become one run for each item.

A target is called with the input. One that takes `history` gets the earlier messages in OpenAI's form, tool calls
included; one that takes `session` gets a `Session`. Whatever it returns is awaited and drained as far as needed, and read
by the adapters.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol, cast

import msgspec
from msgspec import Struct

from quickchecks import _render, _wire
from quickchecks._run import Gap, GapKind, Message, Run, Text, ToolCall, Usage
from quickchecks.adapters import as_run
from quickchecks.errors import TargetError

__all__ = ("Conversation", "Session", "Target")


class Session(Struct):
    """What a target gets that takes `session`: it lives as long as the item.

    Args:
        id: An identity, new for each item and repetition.
        turn: The turn, from 0.
        history: The earlier messages in OpenAI's form.
        state: Whatever the target wants to keep from turn to turn.
    """

    id: str
    turn: int
    history: list[dict[str, object]]
    state: dict[str, object]


class Caller(Protocol):
    """Runs a blocking function elsewhere; given by whoever owns the threads."""

    def __call__(self, function: Callable[[], object]) -> Awaitable[object]: ...


class Target(Struct, frozen=True):
    """A callable and how it wants to be called.

    Args:
        function: The callable.
        takes_history: Whether it takes `history`.
        takes_session: Whether it takes `session`.
        is_async: Whether calling it only makes a coroutine or an async generator, so that it does not block.
        options: More keyword arguments for every call.
    """

    function: Callable[..., Any]
    takes_history: bool
    takes_session: bool
    is_async: bool
    options: Mapping[str, object]

    @classmethod
    def of(cls, function: object, options: Mapping[str, object] | None = None) -> Target:
        """Look at a callable.

        Raises:
            TargetError: It cannot be called, or not with one input.
        """
        from inspect import Parameter, isasyncgenfunction, iscoroutinefunction, signature

        if not callable(function):
            raise TargetError(f"a target is a function (or any callable) that takes the input, not {_render.value(function)}")
        if isinstance(function, type) and function.__module__ != "builtins":
            called = any("__call__" in vars(base) for base in function.__mro__)
            how = f"give an instance, {function.__name__}(...)" if called else "give a function that takes the input and uses one"
            raise TargetError(f"the target {function.__name__} is a class, and what it makes of an input is no answer: {how}")
        inner = function if hasattr(function, "__code__") else type(function).__call__
        is_async = any(check(one) for check in (iscoroutinefunction, isasyncgenfunction) for one in (function, inner))
        try:
            parameters = signature(function).parameters
        except (TypeError, ValueError):
            return cls(function, False, False, is_async, dict(options or {}))
        any_name = any(parameter.kind is Parameter.VAR_KEYWORD for parameter in parameters.values())
        named = {
            name for name, one in parameters.items() if one.kind in (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
        }
        by_position = [
            parameter
            for parameter in parameters.values()
            if parameter.kind in (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD, Parameter.VAR_POSITIONAL)
            and parameter.name not in ("history", "session")
        ]
        if not by_position:
            raise TargetError(f"the target {_named(function)} takes no input: it must take one argument, the input")
        first = next(iter(parameters))
        if first in ("history", "session") and by_position[0].kind is not Parameter.VAR_POSITIONAL:
            raise TargetError(f"the target {_named(function)} takes {first} first: its first argument is the input")
        if by_position[0].name in (options or {}) and by_position[0].kind is not Parameter.VAR_POSITIONAL:
            raise TargetError(
                f"target_options gives {by_position[0].name!r}, which is the input of the target {_named(function)}; leave it out"
            )
        known = {*({"history", "session"} & named), *(options or {}), by_position[0].name}
        missing = [
            parameter.name
            for parameter in parameters.values()
            if parameter.default is Parameter.empty
            and parameter.kind not in (Parameter.VAR_KEYWORD, Parameter.VAR_POSITIONAL)
            and parameter.name not in known
        ]
        if missing:
            raise TargetError(
                f"the target {_named(function)} needs {missing[0]!r} too; a target gets the input, and history and session "
                f"if it takes them; give the rest with target_options={{{missing[0]!r}: ...}}"
            )
        takes = {name: name in named and name not in (options or {}) for name in ("history", "session")}
        unknown = [name for name in options or () if name not in parameters and not any_name]
        if unknown:
            raise TargetError(f"the target {_named(function)} takes no {unknown[0]!r}, which target_options gives")
        return cls(function, takes["history"], takes["session"], is_async, dict(options or {}))

    @property
    def name(self) -> str:
        """What to call it in messages."""
        return _named(self.function)

    @property
    def keeps_track(self) -> bool:
        """Whether it can know the earlier turns of a conversation."""
        return self.takes_history or self.takes_session

    async def answer(self, asked: object, conversation: Conversation, blocking: Caller) -> object:
        """Call it, and wait for whatever it gives.

        Args:
            asked: The input.
            conversation: What was said before.
            blocking: Runs what may block.
        """
        keywords = {**self.options}
        asked = own_copy(asked)
        if self.takes_history:
            keywords["history"] = conversation.history()
        if self.takes_session:
            keywords["session"] = conversation.session
        function = self.function
        found: Any
        if self.is_async:
            found = function(asked, **keywords)
        else:
            found = await blocking(lambda: _drained(function(asked, **keywords)))
        while hasattr(found, "__await__"):
            found = await found
        if hasattr(found, "__aiter__") and not hasattr(found, "__struct_fields__"):
            found = _joined([part async for part in found])
        return found


def _named(function: object) -> str:
    return str(getattr(function, "__qualname__", None) or type(function).__qualname__)


def _drained(found: object) -> object:
    """A generator is drained where it may block."""
    if hasattr(found, "__next__") and not hasattr(found, "__await__"):
        return _joined(list(found))  # type: ignore[call-overload]
    return found


def _joined(parts: list[object]) -> object:
    """What a stream gave: texts are one answer, anything else is a list."""
    return "".join(map(str, parts)) if parts and all(isinstance(part, str) for part in parts) else parts


def own_copy(value: object) -> object:
    """A value that the target may change: the item keeps its own, for other repetitions and for whoever looks at it later.

    Lists, dicts, sets and what is made of fields are copied, at every depth; everything else stays what it is.

    Example:
        >>> asked = {"numbers": [1, 2]}
        >>> own_copy(asked) == asked, own_copy(asked) is asked
        (True, False)
    """
    if type(value) in _NEVER_CHANGE:
        return value
    try:
        return _copied(value, {})
    except RecursionError:
        return value


_NEVER_CHANGE = frozenset((str, int, float, bool, bytes, type(None)))
_MADE_OF_FIELDS = ("__dataclass_fields__", "__struct_fields__", "__attrs_attrs__", "model_dump")


def _copied(value: object, made: dict[int, object]) -> object:
    """`made` holds what is copied already, by id, so that a value that holds itself is copied into one that does."""
    kind = type(value)
    if kind in _NEVER_CHANGE:
        return value
    if id(value) in made:
        return made[id(value)]
    if kind is dict:
        mapping: dict[object, object] = {}
        made[id(value)] = mapping
        mapping.update((key, _copied(item, made)) for key, item in cast(dict[object, object], value).items())
        return mapping
    if kind is list:
        items: list[object] = []
        made[id(value)] = items
        items.extend(_copied(item, made) for item in cast(list[object], value))
        return items
    if kind is tuple:
        return tuple([_copied(item, made) for item in cast(tuple[object, ...], value)])
    if isinstance(value, (dict, list, set, bytearray)) or any(hasattr(kind, mark) for mark in _MADE_OF_FIELDS):
        from copy import deepcopy

        try:
            return deepcopy(value)
        except Exception:  # it holds a connection, a lock or the like
            return value
    return value


class Conversation:
    """The turns of one item so far, as runs for the scorers.

    Args:
        keeps_track: Whether the target asks for what was said before.
    """

    __slots__ = ("_keeps_track", "_said", "_session", "messages", "turns")

    def __init__(self, *, keeps_track: bool = False) -> None:
        self._keeps_track = keeps_track
        self._session: Session | None = None
        self._said: list[dict[str, object]] = []
        self.messages: list[Message] = []
        self.turns: list[Run] = []

    @property
    def session(self) -> Session:
        """The session of the item."""
        if self._session is None:
            self._session = Session(os.urandom(16).hex(), 0, [], {})
        return self._session

    def history(self) -> list[dict[str, object]]:
        """The earlier messages in OpenAI's form, in a list of its own: the target may do with it what it likes."""
        return cast(list[dict[str, object]], own_copy(self._said))

    def add(self, asked: object, answer: object, *, recorded: bool = False) -> Run:
        """Take the answer to one input.

        Args:
            asked: The input.
            answer: What the target returned.
            recorded: Whether the item brought it instead.

        Returns:
            The run of this turn alone; the earlier turns are its history.

        Raises:
            RecordingError: The answer is not understood.
        """
        run = as_run(answer)
        new = run.messages[run.history_length :]
        earlier = len(self.messages)
        if earlier and run.history_length == 0 and len(new) >= earlier and _same(new[:earlier], self.messages):
            new = new[earlier:]  # the target returned the whole conversation
        nothing = isinstance(answer, (list, tuple)) and not answer
        unsaid = _unsaid(() if nothing else new, run)
        if unsaid:
            note = f"{'the record holds' if recorded else 'the target returned'} {unsaid}"
            run = msgspec.structs.replace(run, gaps=(*run.gaps, *_missing(run, note)))
        if not (new and new[0].role in ("user", "system")):
            new = (*_question(asked), *new)
        turn = msgspec.structs.replace(
            run,
            messages=(*self.messages, *new),
            history_length=earlier,
            input=asked if run.input is None else run.input,
        )
        self.messages.extend(new)
        self.turns.append(turn)
        if self._keeps_track:
            self._said.extend(entry for message in new for entry in as_chat(message))
            self.session.turn = len(self.turns)
            self.session.history = self.history()
        return turn

    def take(self, run: Run) -> None:
        """Take a recorded run as all that was said."""
        self.messages = list(run.messages)
        self.turns = [run]

    def run(self) -> Run:
        """The whole conversation as one run."""
        if len(self.turns) == 1:
            return self.turns[0]
        last = self.turns[-1]
        return msgspec.structs.replace(
            last,
            messages=tuple(self.messages),
            history_length=0,
            input=self.turns[0].input,
            gaps=tuple(dict.fromkeys(gap for turn in self.turns for gap in turn.gaps)),
            children=tuple(child for turn in self.turns for child in turn.children),
            usage=_sum([turn.usage for turn in self.turns]),
            duration=None,
            error=next((turn.error for turn in self.turns if turn.error is not None), None),
        )


def _unsaid(new: tuple[Message, ...], run: Run) -> str:
    """What came where an answer should be; empty where there is one. A text without a letter is one."""
    if not new or new[-1].role != "assistant":
        heard = run.children or any(message.role == "assistant" for message in new)
        return "" if heard else "no message of the agent"
    parts = new[-1].parts
    if len(parts) != 1 or type(parts[0]) is not Text or parts[0].value is msgspec.UNSET:
        return ""
    value = parts[0].value
    if value == {} or value == []:
        return f"an empty {'object' if value == {} else 'list'}, which says nothing"
    return "NaN, which says nothing" if isinstance(value, float) and value != value else ""


def _missing(run: Run, note: str) -> list[Gap]:
    known = {gap.kind for gap in run.gaps}
    kinds: tuple[GapKind, ...] = ("calls", "text")
    return [Gap(kind, note) for kind in kinds if kind not in known]


def _same(left: tuple[Message, ...], right: list[Message]) -> bool:
    return all(a.role == b.role and a.text == b.text for a, b in zip(left, right, strict=True))


def _question(asked: object) -> tuple[Message, ...]:
    """The input as a message of the user; a list of chat messages is read as it is."""
    if isinstance(asked, str):
        return (Message("user", (Text(asked),)),)
    if isinstance(asked, list) and asked and all(isinstance(one, Mapping) and "role" in one for one in asked):
        return as_run(asked).messages
    return (Message("user", (Text(_wire.shown(asked), asked),)),)


def _sum(usages: list[Usage | None]) -> Usage | None:
    known = [usage for usage in usages if usage is not None]
    if not known:
        return None
    sums = {name: [value for usage in known if (value := getattr(usage, name)) is not None] for name in Usage.__struct_fields__}
    return Usage(**{name: sum(values) if values else None for name, values in sums.items()})


def as_chat(message: Message) -> list[dict[str, object]]:
    """Write a message in OpenAI's form; the results of its calls follow as messages of their own.

    Args:
        message: The message.
    """
    calls = [part for part in message.parts if type(part) is ToolCall]
    entry: dict[str, object] = {"role": message.role, "content": message.text or (None if calls else "")}
    found = [entry]
    if calls:
        ids = [call.id or f"call_{index}" for index, call in enumerate(calls)]
        entry["tool_calls"] = [
            {"id": identity, "type": "function", "function": {"name": call.name, "arguments": _arguments(call)}}
            for identity, call in zip(ids, calls, strict=True)
        ]
        for identity, call in zip(ids, calls, strict=True):
            if call.result is not msgspec.UNSET or call.error is not None:
                found.append({"role": "tool", "tool_call_id": identity, "content": _result(call)})
    return found


def _arguments(call: ToolCall) -> str:
    return call.raw_arguments if isinstance(call.raw_arguments, str) else _wire.shown(call.arguments)


def _result(call: ToolCall) -> str:
    if call.result is msgspec.UNSET:
        return call.error.message if call.error is not None else ""
    return call.result if isinstance(call.result, str) else _wire.shown(call.result)
