"""Tool mocks: what tools answer while an item runs, instead of doing what they do, and a report of what came of it.

A mock names a tool and what it answers. One with `arguments` answers only calls with equal arguments. Where several mocks fit
a call, they answer one after the other, and the last of them goes on answering; `times` limits how often one does. A tool
that has mocks never runs: a call that fits none of them is refused. A tool without mocks runs, or is refused where unknown
tools are denied.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from functools import wraps
from threading import Lock
from typing import Literal, TypeVar, cast

from msgspec import UNSET, Struct, UnsetType

from quickchecks import _render, _wire
from quickchecks._run import Run, ToolCall
from quickchecks.errors import ItemError, ToolMockError, nearest_names

__all__ = (
    "LIVE",
    "REPORT",
    "RUNNING",
    "MockPlan",
    "ToolMock",
    "ToolMocks",
    "current_mocks",
    "mock_plan",
    "mockable",
)

#: The key of a run's metadata under which the report of its mocks stands.
REPORT = "tool_mocks"

_F = TypeVar("_F", bound=Callable[..., object])

_ENTRY_KEYS = ("tool", "arguments", "result", "error", "times")
_PLAN_KEYS = ("mocks", "arguments", "unknown_tools")


class ToolMock(Struct, frozen=True, omit_defaults=True):
    """What a tool answers instead of running.

    Args:
        tool: The name of the tool.
        arguments: The arguments that it answers to; UNSET for any.
        result: What it answers.
        error: The message with which it fails instead.
        times: How often it answers; None for as often as it is asked.
    """

    tool: str
    arguments: object | UnsetType = UNSET
    result: object = None
    error: str | None = None
    times: int | None = None


class MockPlan(Struct, frozen=True, omit_defaults=True):
    """The mocks of an item.

    Args:
        mocks: The mocks, in the order in which they answer.
        arguments: "strict" compares the arguments of a call with those of a mock; "ignore" does not.
        unknown_tools: "allow" lets tools without mocks run; "deny" refuses them.
    """

    mocks: tuple[ToolMock, ...]
    arguments: Literal["strict", "ignore"] = "strict"
    unknown_tools: Literal["allow", "deny"] = "allow"

    def decides(self, tool: str) -> bool:
        """Whether it says what becomes of calls of a tool."""
        return self.unknown_tools == "deny" or any(mock.tool == tool for mock in self.mocks)


class _Live:
    """Stands for: the tool shall run."""

    def __repr__(self) -> str:
        return "LIVE"


#: What `ToolMocks.answer` gives when the tool shall run.
LIVE = _Live()


def mock_plan(value: object, where: str) -> MockPlan:
    """Read the `tool_mocks` of an item.

    Args:
        value: A list of mocks, each a mapping; or {"mocks": [...], "arguments": "ignore", "unknown_tools": "deny"}.
        where: What to call the item in errors.

    Raises:
        ItemError: It cannot be understood.

    Example:
        >>> mock_plan([{"tool": "get_weather", "result": "Sunny"}], "item 0").mocks[0].tool
        'get_weather'
    """
    if isinstance(value, MockPlan):
        return value
    options: Mapping[object, object] = {}
    if isinstance(value, Mapping):
        _refuse_unknown(value, _PLAN_KEYS, f"{where}: tool_mocks")
        options, value = value, value.get("mocks", ())
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        raise ItemError(
            f"{where}: tool_mocks is a list of mocks, such as [{{'tool': 'search', 'result': 'none'}}], "
            f"not {_render.value(value)}"
        )
    ignores = _is_second(options, "arguments", ("strict", "ignore"), where)
    denies = _is_second(options, "unknown_tools", ("allow", "deny"), where)
    mocks = tuple(_mock(one, f"{where}: tool_mocks[{at}]") for at, one in enumerate(value))
    if not mocks and not denies:
        raise ItemError(
            f"{where}: tool_mocks is empty; leave it out, or write {{'mocks': [], 'unknown_tools': 'deny'}} to let no tool run"
        )
    return MockPlan(mocks, "ignore" if ignores else "strict", "deny" if denies else "allow")


def _mock(value: object, where: str) -> ToolMock:
    if isinstance(value, ToolMock):
        return value
    if not isinstance(value, Mapping):
        raise ItemError(f"{where} is a mapping such as {{'tool': 'search', 'result': 'none'}}, not {_render.value(value)}")
    _refuse_unknown(value, _ENTRY_KEYS, where)
    tool, error, times = value.get("tool"), value.get("error"), value.get("times")
    if not isinstance(tool, str) or not tool:
        raise ItemError(f"{where}: tool is the name of a tool, not {_render.value(tool)}")
    if ("result" in value) == ("error" in value):
        raise ItemError(f"{where} has exactly one of result and error")
    if "error" in value and (not isinstance(error, str) or not error):
        raise ItemError(f"{where}: error is the message with which {tool} fails, not {_render.value(error)}")
    if times is not None and (isinstance(times, bool) or not isinstance(times, int) or times < 1):
        raise ItemError(f"{where}: times is a whole number from 1 on, not {_render.value(times)}")
    arguments = value.get("arguments", UNSET)
    if arguments is not UNSET and not isinstance(arguments, Mapping):
        raise ItemError(f"{where}: arguments is a mapping, not {_render.value(arguments)}")
    return ToolMock(tool, arguments, value.get("result"), cast("str | None", error), times)


def _refuse_unknown(value: Mapping[object, object], known: tuple[str, ...], where: str) -> None:
    for key in value:
        if key not in known:
            raise ItemError(f"{where} has no {key!r}: {nearest_names(str(key), known)}")


def _is_second(options: Mapping[object, object], name: str, choices: tuple[str, str], where: str) -> bool:
    """Whether an option is the second of its two words; the first is what it is when it is left out."""
    value = options.get(name, choices[0])
    if value not in choices:
        raise ItemError(f"{where}: {name} of tool_mocks is {choices[0]!r} or {choices[1]!r}, not {_render.value(value)}")
    return value == choices[1]


class ToolMocks:
    """The mocks of one attempt at an item, and what they were asked.

    Args:
        plan: The mocks.
    """

    def __init__(self, plan: MockPlan) -> None:
        self._plan = plan
        self._left = [mock.times for mock in plan.mocks]
        self._uses = [0] * len(plan.mocks)
        self._mocked = {mock.tool for mock in plan.mocks}
        self._served: list[dict[str, object]] = []
        self._live: list[str] = []
        self._refused: list[dict[str, object]] = []
        self._placed: set[str] = set()
        self._lost = ""
        self._lock = Lock()

    @property
    def tools(self) -> frozenset[str]:
        """The tools that have mocks."""
        return frozenset(self._mocked)

    def placed(self, *tools: str) -> None:
        """Take note of tools that the target has and that ask these mocks before they run."""
        with self._lock:
            self._placed.update(tools)

    def lose(self, tool: str) -> None:
        """Take note of a call that may be this item's, and of which nobody could say so."""
        if self._plan.decides(tool):
            self._lost = self._lost or tool

    def answer(self, tool: str, arguments: object) -> object:
        """Answer a call in place of the tool.

        Args:
            tool: The name of the tool.
            arguments: The arguments of the call.

        Returns:
            The result; `LIVE` when the tool shall run.

        Raises:
            ToolMockError: The mock fails, no mock fits the call, or tools without mocks are denied.
        """
        with self._lock:
            if tool not in self._mocked:
                if self._plan.unknown_tools == "allow":
                    self._live.append(tool)
                    return LIVE
                self._refused.append({"tool": tool, "arguments": _plain(arguments)})
                raise ToolMockError(f"{tool} has no mock, and the item lets no other tool run")
            found = self._fitting(tool, arguments)
            if found is None:
                self._refused.append({"tool": tool, "arguments": _plain(arguments)})
                raise ToolMockError(f"no mock of {tool} is left for the arguments {_render.value(_plain(arguments))}")
            self._uses[found] += 1
            left = self._left[found]
            if left is not None:
                self._left[found] = left - 1
            self._served.append({"tool": tool, "arguments": _plain(arguments)})
            mock = self._plan.mocks[found]
        if mock.error is not None:
            raise ToolMockError(mock.error)
        return mock.result

    def _fitting(self, tool: str, arguments: object) -> int | None:
        """The mock whose turn it is: the first that fits and was not used yet, else the last that fits."""
        fitting = [
            at
            for at, mock in enumerate(self._plan.mocks)
            if mock.tool == tool and self._left[at] != 0 and self._takes(mock, arguments)
        ]
        # One that says how often it answers does so before the next one is asked.
        return next((at for at in fitting if not self._uses[at] or self._left[at]), fitting[-1] if fitting else None)

    def _takes(self, mock: ToolMock, arguments: object) -> bool:
        if self._plan.arguments == "ignore" or mock.arguments is UNSET:
            return True
        return _plain(mock.arguments) == _plain({} if arguments is None else arguments)

    def wrapped(self, tool: str, function: _F) -> _F:
        """A function that asks the mocks before it runs; positional arguments are compared by their names.

        Args:
            tool: The name of the tool.
            function: The function of the tool, synchronous or not.
        """
        from inspect import iscoroutinefunction

        self.placed(tool)
        if iscoroutinefunction(function):

            @wraps(function)
            async def asked(*values: object, **named: object) -> object:
                found = self.answer(tool, _by_name(function, values, named))
                return await function(*values, **named) if found is LIVE else found

            return cast(_F, asked)

        @wraps(function)
        def called(*values: object, **named: object) -> object:
            found = self.answer(tool, _by_name(function, values, named))
            return function(*values, **named) if found is LIVE else found

        return cast(_F, called)

    def trouble(self, run: Run) -> str:
        """Why it is not sure that no tool with a mock ran; empty when it is, so far as anybody can see.

        Args:
            run: What came of the item.
        """
        if self._lost:
            return f"{self._lost} was {_NO_ITEM}"
        for tool in sorted(self._mocked):
            asked = sum(one["tool"] == tool for one in (*self._served, *self._refused))
            if sum(call.name == tool and _ran(call) for call in run.tool_calls) > asked:
                return (
                    f"{tool} ran although the item mocks it: a function can only be mocked when it is wrapped with "
                    "quickchecks.mockable, or when it is a tool of the agent that is the target, not of one that a tool asks"
                )
            if not asked and tool not in self._placed and tool not in _mockable:
                return (
                    f"{tool} has a mock, and no tool of that name was found to put it before, so that one may have run "
                    "unseen: if the name is right, the tool belongs to an agent or a function inside another one; wrap its "
                    "function with quickchecks.mockable"
                )
        return ""

    def report(self) -> dict[str, object]:
        """What was served, what was never asked for, which tools ran all the same, and which calls were refused."""
        with self._lock:
            unused = [mock for mock, uses in zip(self._plan.mocks, self._uses, strict=True) if not uses]
            return {
                "served": list(self._served),
                "unused": [_wire.to_builtins(mock) for mock in unused],
                "live": list(self._live),
                "refused": list(self._refused),
            }


def _ran(call: ToolCall) -> bool:
    """Whether a call reached its tool. One that failed may have had arguments that did not; an exception is the tool's own."""
    return call.failure(text_errors=False) is None or (call.error is not None and call.error.source == "exception")


def _plain(value: object) -> object:
    return _wire.to_builtins(value)


def _by_name(function: Callable[..., object], values: tuple[object, ...], named: dict[str, object]) -> dict[str, object]:
    if not values:
        return named
    from inspect import signature

    try:
        return dict(signature(function).bind(*values, **named).arguments)
    except (TypeError, ValueError):
        return {**{str(at): value for at, value in enumerate(values)}, **named}


class _Nowhere:
    """Stands for: nothing says for which item a function is called."""


_NOWHERE = _Nowhere()

#: The mocks of the item that runs, for tools that are functions of the user's; None where none shall be asked.
current_mocks: ContextVar[ToolMocks | _Nowhere | None] = ContextVar("quickchecks_tool_mocks", default=_NOWHERE)

#: The names of the functions that `mockable` was put around.
_mockable: set[str] = set()

_NO_ITEM = (
    "called where nothing says for which item, as in a thread of an executor: let the thread have the context "
    "(asyncio.to_thread does; else contextvars.copy_context().run), or run the items with concurrency 1"
)


class _Attempting:
    """A context in which an item is asked."""

    __slots__ = ("_attempts", "_given", "_mocks")

    def __init__(self, attempts: dict[object, ToolMocks | None], mocks: ToolMocks | None) -> None:
        self._attempts = attempts
        self._mocks = mocks

    def __enter__(self) -> None:
        self._attempts[self] = self._mocks
        self._given = current_mocks.set(self._mocks)

    def __exit__(self, *_: object) -> None:
        self._attempts.pop(self, None)
        current_mocks.reset(self._given)


class _Running:
    """What runs in this process now, for calls from threads that do not know for which item they work."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._evaluations: dict[int, tuple[MockPlan, ...]] = {}
        self._attempts: dict[object, ToolMocks | None] = {}

    def begin(self, evaluation: object, plans: Iterable[MockPlan | None]) -> None:
        """An evaluation begins."""
        with self._lock:
            self._evaluations[id(evaluation)] = tuple(plan for plan in plans if plan is not None)

    def end(self, evaluation: object) -> None:
        """An evaluation is over; what it left behind in threads that hang counts no more when it was the last."""
        with self._lock:
            self._evaluations.pop(id(evaluation), None)
            if not self._evaluations:
                self._attempts.clear()

    def attempt(self, mocks: ToolMocks | None) -> _Attempting:
        """An item is asked, for as long as the context is open; functions that it calls find its mocks."""
        return _Attempting(self._attempts, mocks)

    def mocks_of_the_only_item(self, tool: str) -> ToolMocks | None:
        """The mocks for a call of which nothing says for which item it is; None where no item can mean it.

        Raises:
            ToolMockError: It may be the call of an item that mocks the tool, or of another.
        """
        with self._lock:
            if not any(plan.decides(tool) for plans in self._evaluations.values() for plan in plans):
                return None
            attempts = list(self._attempts.values())
        if len(attempts) == 1:
            return attempts[0]
        for mocks in attempts:
            if mocks is not None:
                mocks.lose(tool)
        raise ToolMockError(f"{tool} was {_NO_ITEM}")


#: The evaluations of this process.
RUNNING = _Running()


def _found(name: str, function: Callable[..., object], values: tuple[object, ...], named: dict[str, object]) -> object:
    """What the mocks say of a call."""
    mocks = current_mocks.get()
    if isinstance(mocks, _Nowhere):
        mocks = RUNNING.mocks_of_the_only_item(name)
    return LIVE if mocks is None else mocks.answer(name, _by_name(function, values, named))


def mockable(function: _F) -> _F:
    """Let the `tool_mocks` of an item answer in place of a function that an agent uses as a tool.

    Outside an evaluation, and for items without mocks, the function is called as it is.

    Args:
        function: The function, synchronous or not; its name is that of the tool.

    Returns:
        The function with the mocks before it, with the same name, signature and docstring.

    Example:
        >>> from quickchecks import mockable
        >>> @mockable
        ... def get_weather(city: str) -> str:
        ...     return f"It is sunny in {city}."
        >>> get_weather("Oslo")
        'It is sunny in Oslo.'
    """
    name = getattr(function, "__name__", type(function).__name__)
    _mockable.add(name)
    from inspect import iscoroutinefunction

    if iscoroutinefunction(function):

        @wraps(function)
        async def asked(*values: object, **named: object) -> object:
            found = _found(name, function, values, named)
            return await function(*values, **named) if found is LIVE else found

        return cast(_F, asked)

    @wraps(function)
    def called(*values: object, **named: object) -> object:
        found = _found(name, function, values, named)
        return function(*values, **named) if found is LIVE else found

    return cast(_F, called)
