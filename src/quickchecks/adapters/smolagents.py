"""smolagents: full results of runs, the memory of an agent, and its steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from quickchecks._mocks import ToolMocks
from quickchecks._run import Run
from quickchecks.adapters._agents import Dialogue
from quickchecks.adapters._objects import field, first_foreign, is_a, plain
from quickchecks.adapters._shapes import expected
from quickchecks.adapters._smolagents_steps import is_step, steps_run

__all__ = ("AGENTS", "MOCKS_TOOLS", "converse", "load", "recognises")

AGENTS = ("smolagents.agents:MultiStepAgent",)
MOCKS_TOOLS = True

_RESULT = "smolagents.agents:RunResult"
_MEMORY = "smolagents.memory:AgentMemory"
_EVENTS = (
    "smolagents.memory:MemoryStep",
    "smolagents.memory:ToolCall",
    "smolagents.agents:ToolOutput",
    "smolagents.agents:ActionOutput",
    "smolagents.models:ChatMessageStreamDelta",
    "smolagents.models:ChatMessageToolCall",
)
_RESULT_KEYS = ("output", "state", "steps", "timing")


def recognises(value: Any) -> bool:
    """Whether a value is a result, a memory, or a list of steps, as objects or as dicts."""
    if type(value) is dict:
        steps = value.get("steps")
        return type(steps) is list and all(key in value for key in _RESULT_KEYS) and (not steps or is_step(steps[0]))
    if type(value) is list or type(value) is tuple:
        first = value[0] if value else None
        return is_step(first) if type(first) is dict else is_a(first_foreign(value), *_EVENTS)
    return is_a(value, _RESULT, _MEMORY)


def load(value: Any) -> Run:
    """Read one run.

    Args:
        value: What `recognises` accepts.

    Returns:
        The run.

    Raises:
        RecordingError: The value is malformed.
    """
    if isinstance(value, (list, tuple)):
        return _from_steps(value, UNSET, "")
    if is_a(value, _MEMORY):
        return _from_steps(field(value, "steps"), UNSET, "steps")
    if not isinstance(value, Mapping) and not is_a(value, _RESULT):
        raise expected("a result of smolagents, or a list of steps", value, "")
    timing = field(value, "timing")
    state = field(value, "state")
    seconds = field(timing, "duration")
    run = _from_steps(field(value, "steps"), field(value, "output"), "steps")
    return replace(run, duration=seconds if type(seconds) is float else None, metadata={"state": plain(state)})


def _from_steps(steps: Any, output: Any, path: str) -> Run:
    if not isinstance(steps, (list, tuple)):
        raise expected("a list of steps", steps, path)
    return steps_run(steps, output, path=path)


def converse(agent: Any, options: Mapping[str, Any], mocks: ToolMocks | None) -> Dialogue:
    """Begin a conversation with an agent; see `_agents`."""
    from quickchecks.adapters._smolagents_dialogue import SmolagentsDialogue

    return SmolagentsDialogue(agent, options, mocks)
