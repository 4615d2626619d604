"""CrewAI: outputs of crews, tasks and agents, as objects or as dicts."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from quickchecks._mocks import ToolMocks
from quickchecks._run import Run
from quickchecks.adapters._agents import Dialogue
from quickchecks.adapters._crewai_outputs import kind_of, output_run
from quickchecks.adapters._objects import field, is_a
from quickchecks.adapters._shapes import expected

__all__ = ("AGENTS", "MOCKS_TOOLS", "converse", "load", "recognises")

AGENTS = ("crewai.agents:BaseAgent", "crewai.crew:Crew")
MOCKS_TOOLS = True

_STREAM = "crewai.types.streaming:CrewStreamingOutput"


def recognises(value: Any) -> bool:
    """Whether a value is the output of a crew, a task or an agent, as an object or as a dict."""
    return kind_of(value) != "" or is_a(value, _STREAM)


def load(value: Any) -> Run:
    """Read one run.

    Args:
        value: What `recognises` accepts.

    Returns:
        The run.

    Raises:
        RecordingError: The value is malformed.
    """
    if is_a(value, _STREAM):
        output = field(value, "result")
        if output is None:
            raise expected("a stream that was read to its end", value, "", "iterate over it first")
        value = output
    return output_run(value, None)


STREAMS = (_STREAM,)


async def drained(value: Any) -> Any:
    """Wait for the end of a crew that streams; what it gave stands in its output."""
    if field(value, "is_completed") is True:
        return value
    if field(value, "_async_iterator") is None:
        await asyncio.to_thread(list, value)  # the crew works while it is iterated over
    else:
        async for _ in value:
            pass
    return value


def converse(agent: Any, options: Mapping[str, Any], mocks: ToolMocks | None) -> Dialogue:
    """Begin a conversation with an agent, or give a crew its inputs; see `_agents`."""
    from quickchecks.adapters._crewai_dialogue import CrewDialogue

    return CrewDialogue(agent, options, mocks)
