"""Watching an agent of the OpenAI Agents SDK while it runs: what its result leaves out, and mocks in place of its tools.

The result of a run holds neither the turn in which it failed, nor what a tool raised, nor the runs that tools started. So a copy
of the agent runs, whose tools tell what became of each call, with hooks that tell what the model answered. A run that a tool
starts goes through the SDK's default runner, before which we stand while a conversation is held; other runs pass untouched.
"""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from inspect import isawaitable
from threading import Lock
from time import perf_counter
from types import new_class
from typing import Any

from quickchecks import _wire
from quickchecks._mocks import LIVE, ToolMocks
from quickchecks.adapters._objects import field, library
from quickchecks.errors import TargetError

__all__ = ("Outcome", "Watch", "listening")


class Outcome:
    """What became of one call of a tool."""

    __slots__ = ("error", "flagged", "nested", "result", "returned", "seconds")

    def __init__(self) -> None:
        self.returned = False
        self.result: Any = None
        self.error: Exception | None = None
        #: Whether an MCP server flagged its result as an error, which the SDK does not keep.
        self.flagged = False
        self.seconds = 0.0
        self.nested: list[Watch] = []


#: The call in whose tool the code runs; None outside of tools, and in what a nested run does for itself.
_place: ContextVar[tuple[Watch, Outcome] | None] = ContextVar("quickchecks_openai_agents_place", default=None)


class Watch:
    """One run of an agent, and what was seen of it.

    Args:
        mocks: What answers in place of tools.
    """

    def __init__(self, mocks: ToolMocks | None) -> None:
        self._mocks = mocks
        self._copies: dict[int, tuple[Any, Any]] = {}
        self._tools: dict[int, tuple[Any, Any]] = {}
        self._originals: dict[int, Any] = {}
        self.agent: Any = None
        self.input: Any = None
        self.result: Any = None
        self.error: BaseException | None = None
        #: What the models answered, each with the agent that asked.
        self.responses: list[tuple[Any, Any]] = []
        self.outcomes: dict[str | None, deque[Outcome]] = {}

    async def run(self, call: Callable[..., Awaitable[Any]], agent: Any, given: Any, options: Mapping[str, Any]) -> Any:
        """Run an agent and see what it does.

        Args:
            call: What runs it.
            agent: The agent.
            given: What it is asked.
            options: What else the runner takes.
        """
        try:
            self.result = await call(*self._begun(agent, given), **self._with_hooks(options))
        except BaseException as error:
            self.error = error
            raise
        return self.result

    def run_blocking(self, call: Callable[..., Any], agent: Any, given: Any, options: Mapping[str, Any]) -> Any:
        """The same for a runner that blocks, or that gives a stream at once."""
        try:
            self.result = call(*self._begun(agent, given), **self._with_hooks(options))
        except BaseException as error:
            self.error = error
            raise
        return self.result

    def original(self, agent: Any) -> Any:
        """The agent of which this one is our copy; itself when it is none."""
        return self._originals.get(id(agent), agent)

    def _begun(self, agent: Any, given: Any) -> tuple[Any, Any]:
        self.agent, self.input = agent, given
        return self._copy_of(agent), given

    def _with_hooks(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """The options, with our hooks before those of the user."""
        given = options.get("hooks")
        base = library("agents").RunHooks

        def forwarding(name: str) -> Callable[..., Awaitable[None]]:
            async def forward(_: Any, *values: Any, **named: Any) -> None:
                if name == "on_llm_end":
                    _, agent, response = (*values, *named.values())
                    self.responses.append((agent, response))
                if given is not None:
                    own = [self.original(value) for value in values]
                    await getattr(given, name)(*own, **{key: self.original(value) for key, value in named.items()})

            return forward

        methods = {name: forwarding(name) for name in dir(base) if name.startswith("on_")}
        hooks = new_class("Hooks", (base,), exec_body=lambda namespace: namespace.update(methods))
        return {**options, "hooks": hooks()}

    # Copies: the user's agent is shared by all items, so that nothing is ever put on it

    def _copy_of(self, agent: Any) -> Any:
        if id(agent) in self._originals:
            return agent
        if (made := self._copies.get(id(agent))) is not None:
            return made[0]
        watch, kind = self, type(agent)

        async def get_all_tools(agent: Any, *values: Any, **named: Any) -> list[Any]:
            return [watch._tool(tool) for tool in await kind.get_all_tools(agent, *values, **named)]

        copied = copy.copy(agent)
        copied.__class__ = type(kind.__name__, (kind,), {"get_all_tools": get_all_tools, "__module__": kind.__module__})
        self._copies[id(agent)] = (copied, agent)
        self._originals[id(copied)] = agent
        if self._mocks is not None:
            self._mocks.placed(*_tools_of(agent, set()))
        handoffs = field(agent, "handoffs")
        if isinstance(handoffs, list):
            copied.handoffs = [self._handoff(one) for one in handoffs]
        servers = field(agent, "mcp_servers")
        if isinstance(servers, list):
            copied.mcp_servers = [_before(server) for server in servers]
        return copied

    def _handoff(self, one: Any) -> Any:
        if not callable(field(one, "on_invoke_handoff")):
            return self._copy_of(one)
        watch, invoke = self, one.on_invoke_handoff

        @wraps(invoke)
        async def invoked(*values: Any, **named: Any) -> Any:
            return watch._copy_of(await invoke(*values, **named))

        copied = copy.copy(one)
        copied.on_invoke_handoff = invoked
        return copied

    def _tool(self, tool: Any) -> Any:
        made = self._tools.get(id(tool))
        if made is None:
            made = self._tools[id(tool)] = (self._watched(tool), tool)
        return made[0]

    def _watched(self, tool: Any) -> Any:
        name = field(tool, "name")
        if not callable(field(tool, "on_invoke_tool")):
            if self._mocks is not None and name in self._mocks.tools:
                raise TargetError(
                    f"the tool {name} of the agent cannot be mocked: it is no function, but a {type(tool).__name__}"
                )
            return tool
        if self._mocks is not None:
            self._mocks.placed(name)
        copied = copy.copy(tool)
        invoke = copied.on_invoke_tool
        inner = getattr(invoke, "_invoke_tool_impl", None)
        if callable(inner):  # what stands around it turns an exception into what the user has said for it
            invoke = copy.copy(invoke)
            invoke._invoke_tool_impl = self._telling(name, inner)
            copied.on_invoke_tool = invoke
        else:
            copied.on_invoke_tool = self._telling(name, invoke)
        return copied

    def _telling(self, name: str, invoke: Callable[..., Any]) -> Callable[..., Awaitable[Any]]:
        """A tool's function that tells what became of each call, and lets a mock answer."""

        @wraps(invoke)
        async def called(context: Any, arguments: Any, *values: Any, **named: Any) -> Any:
            outcome = Outcome()
            id = field(context, "tool_call_id")
            self.outcomes.setdefault(id if isinstance(id, str) else None, deque()).append(outcome)
            token = _place.set((self, outcome))
            begun = perf_counter()
            try:
                result = LIVE if self._mocks is None else self._mocks.answer(name, _parsed(arguments))
                if result is LIVE:
                    result = invoke(context, arguments, *values, **named)
                    if isawaitable(result):
                        result = await result
                outcome.result, outcome.returned = result, True
                return result
            except Exception as error:
                outcome.error = error
                raise
            finally:
                outcome.seconds = perf_counter() - begun
                _place.reset(token)

        return called

    def nested(self, outcome: Outcome) -> Watch:
        """Watch a run that a tool of this one starts."""
        inner = Watch(self._mocks)
        outcome.nested.append(inner)
        return inner


def _tools_of(agent: Any, seen: set[int]) -> Iterator[str]:
    """The names of the tools of an agent, and of the agents that it may hand over to or ask, as far as they are known now."""
    if id(agent) in seen:
        return
    seen.add(id(agent))
    for tool in field(agent, "tools") or ():
        if callable(field(tool, "on_invoke_tool")):
            yield tool.name
            if (asked := field(tool, "_agent_instance")) is not None:
                yield from _tools_of(asked, seen)
    for one in field(agent, "handoffs") or ():
        reference = field(one, "_agent_ref")
        yield from _tools_of(reference() if callable(reference) else one, seen)


def _before(server: Any) -> Any:
    """Stand before an MCP server, to see what its results say of themselves; all else is the server's own."""

    async def call_tool(*values: Any, **named: Any) -> Any:
        result = await server.call_tool(*values, **named)
        place = _place.get()
        if place is not None and (field(result, "isError") is True or field(result, "is_error") is True):
            place[1].flagged = True
        return result

    def read(_: Any, name: str) -> Any:
        return call_tool if name == "call_tool" else getattr(server, name)

    def write(_: Any, name: str, value: Any) -> None:
        setattr(server, name, value)

    kind = type(server)
    return object.__new__(type(kind.__name__, (kind,), {"__getattribute__": read, "__setattr__": write}))


def _parsed(arguments: Any) -> Any:
    try:
        return _wire.loads(arguments or "{}") if isinstance(arguments, str) else arguments
    except ValueError:
        return arguments


class _Listening:
    """Stands before the default runner of the SDK, for the runs that tools of watched agents start."""

    def __init__(self, runner: Any) -> None:
        self.runner = runner

    def __getattr__(self, name: str) -> Any:
        return getattr(self.runner, name)

    async def run(self, agent: Any, given: Any, **options: Any) -> Any:
        with _nested() as watch:
            if watch is None:
                return await self.runner.run(agent, given, **options)
            return await watch.run(self.runner.run, agent, given, options)

    def run_sync(self, agent: Any, given: Any, **options: Any) -> Any:
        return self._blocking(self.runner.run_sync, agent, given, options)

    def run_streamed(self, agent: Any, given: Any, **options: Any) -> Any:
        return self._blocking(self.runner.run_streamed, agent, given, options)

    def _blocking(self, call: Callable[..., Any], agent: Any, given: Any, options: dict[str, Any]) -> Any:
        with _nested() as watch:
            return call(agent, given, **options) if watch is None else watch.run_blocking(call, agent, given, options)


@contextmanager
def _nested() -> Iterator[Watch | None]:
    """The watch of the run that a tool starts here; what that run does beside its tools is no run of the tool's."""
    place = _place.get()
    if place is None:
        yield None
        return
    token = _place.set(None)
    try:
        yield place[0].nested(place[1])
    finally:
        _place.reset(token)


_lock = Lock()
_listeners = 0


@contextmanager
def listening() -> Iterator[None]:
    """Stand before the default runner while a question is asked; the last one to go takes us away again."""
    global _listeners
    module = library("agents.run")
    place = getattr(module, "set_default_agent_runner", None)
    if place is None:
        yield
        return
    with _lock:
        _listeners += 1
        if not isinstance(module.DEFAULT_AGENT_RUNNER, _Listening):
            place(_Listening(module.DEFAULT_AGENT_RUNNER))
    try:
        yield
    finally:
        with _lock:
            _listeners -= 1
            if not _listeners and isinstance(module.DEFAULT_AGENT_RUNNER, _Listening):
                place(module.DEFAULT_AGENT_RUNNER.runner)
