"""Conversations with agents of smolagents.

Each is held with a copy of the agent that has a memory of its own, and tools that are listened to; the tools themselves, the
model and the logger are those of the agent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from threading import Lock
from time import perf_counter
from typing import Any, ClassVar

from msgspec import UNSET
from msgspec.structs import replace

from quickchecks import _wire
from quickchecks._mocks import LIVE, ToolMocks
from quickchecks._run import Run, RunError
from quickchecks.adapters._agents import BrokenOff, Dialogue
from quickchecks.adapters._objects import field
from quickchecks.adapters._smolagents_steps import Seen, steps_run
from quickchecks.errors import TargetError, nearest_names

__all__ = ("SmolagentsDialogue",)

_OPTIONS = ("additional_args", "images", "max_steps")
_ANSWER = "final_answer"
_REMOTE = "the tools of this agent run in a sandbox elsewhere"


class SmolagentsDialogue(Dialogue):
    """A conversation with an agent.

    Args:
        agent: The agent.
        options: What its `run` takes beside the task.
        mocks: What answers in place of tools.
    """

    blocks: ClassVar[bool] = True

    def __init__(self, agent: Any, options: Mapping[str, Any], mocks: ToolMocks | None) -> None:
        for name in options:
            if name not in _OPTIONS:
                known = nearest_names(name, _OPTIONS)
                raise TargetError(f"an agent of smolagents takes no {name!r}, which target_options gives: {known}")
        self._options = options
        self._listener = _Listener(agent, mocks)
        self._begun = False

    def ask(self, asked: Any, session: Any = None) -> Run:
        """Ask one turn."""
        listener = self._listener
        agent = listener.agent
        start = len(agent.memory.steps) if self._begun else 0
        task = _task(asked)
        reset, self._begun = not self._begun, True
        listener.begin()
        begun = perf_counter()
        try:
            result = agent.run(task, reset=reset, return_full_result=True, **self._options)
        except Exception as error:
            run = listener.run(start, UNSET)
            failed = replace(run, error=RunError(_wire.as_text(error), type(error).__name__), duration=perf_counter() - begun)
            raise BrokenOff(failed) from error
        run = listener.run(start, result.output)
        return replace(run, duration=perf_counter() - begun, metadata={"state": result.state})


class _Listener:
    """A copy of an agent, and what its tools were seen to do in each of its steps."""

    def __init__(self, agent: Any, mocks: ToolMocks | None, name: str | None = None) -> None:
        self.agent = copied = copy(agent)
        self._name = name or field(agent, "name")
        self._mocks = mocks
        self._seen: dict[int, list[Seen]] = {}
        self._lock = Lock()
        copied.memory = copy(agent.memory)
        copied.memory.steps = []
        copied.monitor = copy(agent.monitor)
        copied.state = dict(agent.state)
        self._remote = field(agent, "executor_type", "local") != "local"
        if self._remote:
            if mocks is not None:
                raise TargetError(f"tool_mocks cannot stand in place of these tools: {_REMOTE}")
            return
        executor = field(agent, "python_executor")
        if isinstance(field(executor, "state"), dict):  # it holds the variables of a conversation
            copied.python_executor = copy(executor)
            copied.python_executor.state = dict(executor.state)
            copied.python_executor.custom_tools = dict(field(executor, "custom_tools") or {})
        copied.tools = {key: tool if key == _ANSWER else self._tool(key, tool) for key, tool in agent.tools.items()}
        if mocks is not None:
            mocks.placed(*copied.tools, *agent.managed_agents)
        copied.managed_agents = {key: self._member(key, member) for key, member in agent.managed_agents.items()}

    def begin(self) -> None:
        """Forget the run before."""
        self._seen = {}

    def run(self, start: int, output: Any) -> Run:
        """The run that the steps from `start` on hold."""

        def calls(at: int, step: Any) -> list[Seen]:
            return self._seen.get(field(step, "step_number"), []) if at >= start else []

        run = steps_run(self.agent.memory.steps, output, calls=None if self._remote else calls, start=start)
        return replace(run, agent=self._name)

    def _ask(self, name: str, arguments: object, answer: Callable[[], Any], run: Callable[[], Run] | None) -> Any:
        """Let a tool, or its mock, answer, and note what came of it."""
        seen = Seen(name, arguments)
        with self._lock:
            self._seen.setdefault(self.agent.step_number, []).append(seen)
        begun = perf_counter()
        live = self._mocks is None
        try:
            found = LIVE if self._mocks is None else self._mocks.answer(name, arguments)
            live = found is LIVE
            seen.result = answer() if live else found
            return seen.result
        except Exception as error:
            seen.error = error
            raise
        finally:
            seen.seconds = perf_counter() - begun
            if live and run is not None:
                seen.run = run()

    def _tool(self, name: str, tool: Any) -> Any:
        inputs = field(tool, "inputs")

        def called(_: Any, *values: Any, **named: Any) -> Any:
            given = {key: value for key, value in named.items() if key != "sanitize_inputs_outputs"}
            return self._ask(name, _by_name(inputs, values, given), lambda: tool(*values, **named), None)

        return _answering(copy(tool), called)

    def _member(self, name: str, member: Any) -> Any:
        """An agent that this one asks as it asks tools. It forgets everything between two calls."""
        inner = _Listener(member, self._mocks, name)
        ask = inner.agent.__call__

        def called(_: Any, *values: Any, **named: Any) -> Any:
            inner.begin()
            arguments = _by_name({"task": None}, values, named)
            return self._ask(name, arguments, lambda: ask(*values, **named), lambda: inner.run(0, UNSET))

        return _answering(inner.agent, called)


def _answering(thing: Any, called: Callable[..., Any]) -> Any:
    """Have a thing answer differently when it is called, which is a matter of its class."""
    kind = type(thing)
    thing.__class__ = type(kind.__name__, (kind,), {"__call__": called, "__module__": kind.__module__})
    return thing


def _by_name(inputs: Any, values: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any]:
    if len(values) == 1 and not named and isinstance(values[0], dict):
        return values[0]
    names = list(inputs) if isinstance(inputs, Mapping) else []
    keys = [names[at] if at < len(names) else str(at) for at in range(len(values))]
    return {**dict(zip(keys, values, strict=True)), **named}


def _task(asked: Any) -> Any:
    if isinstance(asked, list) and all(isinstance(one, Mapping) for one in asked):
        if len(asked) == 1 and isinstance(asked[0].get("content"), str):
            return asked[0]["content"]
        raise TargetError("an agent of smolagents takes one text; what was said before is given as earlier turns of the item")
    return asked
