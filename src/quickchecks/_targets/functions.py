"""Functions as targets: anything callable that answers an input.

It is called with the input. One that takes `history` gets the earlier messages in OpenAI's form, tool calls
included; one that takes `session` gets a `Session`. Whatever it returns is awaited and drained as far as needed, and read
by the adapters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import CoroutineType
from typing import Any

from msgspec import Struct

from quickchecks import _render
from quickchecks._mocks import ToolMocks
from quickchecks._run import Run
from quickchecks._targets.conversation import Caller, Conversation
from quickchecks._targets.copies import own_copy
from quickchecks.adapters import draining
from quickchecks.errors import TargetError

__all__ = ("FunctionTarget", "drained", "name_of", "takes_nothing", "unfolded")


#: What most targets give: an answer for which nobody has to wait.
_COMPLETE = frozenset((Run, str))


class FunctionTarget(Struct, frozen=True):
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
    def of(cls, function: object, options: Mapping[str, object] | None = None) -> FunctionTarget:
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
            raise TargetError(f"the target {name_of(function)} takes no input: it must take one argument, the input")
        first = next(iter(parameters))
        if first in ("history", "session") and by_position[0].kind is not Parameter.VAR_POSITIONAL:
            raise TargetError(f"the target {name_of(function)} takes {first} first: its first argument is the input")
        if by_position[0].name in (options or {}) and by_position[0].kind is not Parameter.VAR_POSITIONAL:
            raise TargetError(
                f"target_options gives {by_position[0].name!r}, which is the input of the target {name_of(function)}; "
                "leave it out"
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
                f"the target {name_of(function)} needs {missing[0]!r} too; a target gets the input, and history and session "
                f"if it takes them; give the rest with target_options={{{missing[0]!r}: ...}}"
            )
        takes = {name: name in named and name not in (options or {}) for name in ("history", "session")}
        unknown = [name for name in options or () if name not in parameters and not any_name]
        if unknown:
            raise TargetError(f"the target {name_of(function)} takes no {unknown[0]!r}, which target_options gives")
        return cls(function, takes["history"], takes["session"], is_async, dict(options or {}))

    @property
    def name(self) -> str:
        """What to call it in messages."""
        return name_of(self.function)

    @property
    def keeps_track(self) -> bool:
        """Whether it can know the earlier turns of a conversation."""
        return self.takes_history or self.takes_session

    #: A function cannot be looked into: its tools ask the mocks themselves (`mockable`), which is checked afterwards.
    mocks_tools = True
    one_at_a_time = False

    def begin(self, mocks: ToolMocks | None) -> FunctionTarget:
        """A function has no conversation of its own: what was said is in the session."""
        return self

    async def end(self) -> None:
        """There is nothing to give back."""

    def close(self) -> None:
        """There is nothing to give back."""

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
            if type(found) is CoroutineType:
                found = await found
        else:
            found = await blocking(lambda: drained(function(asked, **keywords)))
        return found if type(found) in _COMPLETE else await unfolded(found)


async def unfolded(found: Any) -> Any:
    """Await and drain what a target gave, as far as needed."""
    while True:
        if type(found) is CoroutineType:
            found = await found
        elif (drain := draining(found)) is not None:
            return await drain(found)
        elif hasattr(found, "__await__"):
            found = await found
        else:
            break
    if hasattr(found, "__aiter__") and not hasattr(found, "__struct_fields__"):
        found = _joined([part async for part in found])
    return found


def takes_nothing(function: Any) -> bool:
    """Whether a callable takes no argument at all, so that it can only be what makes a target."""
    from inspect import signature

    if not callable(function) or isinstance(function, type):
        return False
    try:
        return not signature(function).parameters
    except (TypeError, ValueError):
        return False


def name_of(function: object) -> str:
    return str(getattr(function, "__qualname__", None) or type(function).__qualname__)


def drained(found: object) -> object:
    """A generator is drained where it may block."""
    if hasattr(found, "__next__") and not hasattr(found, "__await__"):
        return _joined(list(found))  # type: ignore[call-overload]
    return found


def _joined(parts: list[object]) -> object:
    """What a stream gave: texts are one answer, anything else is a list."""
    return "".join(map(str, parts)) if parts and all(isinstance(part, str) for part in parts) else parts
