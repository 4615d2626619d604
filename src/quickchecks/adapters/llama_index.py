"""LlamaIndex: outputs and events of agents and workflows, responses of models, and the messages of a memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from quickchecks import _wire
from quickchecks._mocks import ToolMocks
from quickchecks._run import Gap, Run, RunError
from quickchecks.adapters._agents import Dialogue
from quickchecks.adapters._llama_index_events import EventReader
from quickchecks.adapters._llama_index_kinds import kind_of, stop_result
from quickchecks.adapters._llama_index_runs import events_run, failure, result_run, structured
from quickchecks.adapters._objects import field, first_foreign, is_a
from quickchecks.adapters._shapes import expected

__all__ = ("AGENTS", "MOCKS_TOOLS", "converse", "load", "recognises")

AGENTS = (
    "llama_index.core.agent.workflow:BaseWorkflowAgent",
    "llama_index.core.agent.workflow:AgentWorkflow",
    "workflows.workflow:Workflow",
)
MOCKS_TOOLS = True

_HANDLER = "workflows.handler:WorkflowHandler"
_RESULTS = ("output", "response", "stop")


def recognises(value: Any) -> bool:
    """Whether a value is an output, an event, a response or a message of LlamaIndex, or a list of events or messages."""
    if type(value) is list or type(value) is tuple:
        found = first_foreign(value)
        if found is None:
            return bool(value) and type(value[0]) is dict and kind_of(value[0]) != ""
        return kind_of(found) != ""
    if type(value) is dict:
        return kind_of(value) == "output"
    return kind_of(value) in _RESULTS or is_a(value, _HANDLER)


def load(value: Any) -> Run:
    """Read one run.

    Args:
        value: What `recognises` accepts.

    Returns:
        The run.

    Raises:
        RecordingError: The value is malformed, or a workflow that has not ended.
    """
    if is_a(value, _HANDLER):
        return _ended(value)
    if isinstance(value, (list, tuple)):
        return events_run(value)
    kind = kind_of(value)
    if kind == "response":
        reader = EventReader()
        reader.message(field(value, "message"), "message")
        return _alone(reader, value)
    if kind == "stop":
        value = stop_result(value)
        kind = kind_of(value)
    if kind != "output":
        return result_run(value)
    reader = EventReader()
    reader.output(value, "")
    return structured(_alone(reader, value), value)


def _alone(reader: EventReader, value: Any) -> Run:
    """The run of one output or response: it shows neither the question nor what was said before the last message."""
    reader.gaps.append(Gap("input", "an output of an agent does not show what was asked"))
    if any(call.state == "requested" for call in reader.calls):
        reader.gaps.append(Gap("results", "this output shows which tools were asked for, not all of their results"))
    if reader.calls and kind_of(value) == "output":
        reader.gaps.append(Gap("text", "an output of an agent does not show what it said between its calls"))
    return reader.run()


def _ended(handler: Any) -> Run:
    """A workflow that has ended holds its result; its events are gone."""
    raised = field(handler, "_result_exception")
    ended = handler.get_stop_event() if callable(field(handler, "get_stop_event")) else None
    error = RunError(_wire.as_text(raised), type(raised).__name__) if isinstance(raised, BaseException) else None
    if error is None and kind_of(ended) == "failed":
        error = failure(ended)
    if error is not None:
        note = "what a workflow did before it failed stands in its events alone"
        return Run(gaps=(Gap("calls", note), Gap("text", note)), error=error)
    if ended is None:
        hint = "await it, or give the list of the events that its stream_events() gave"
        raise expected("a workflow that has ended", handler, "", hint)
    return load(ended)


def converse(agent: Any, options: Mapping[str, Any], mocks: ToolMocks | None) -> Dialogue:
    """Begin a conversation with an agent or a workflow; see `_agents`.

    An agent gets the input as `user_msg`. Another workflow gets a mapping as the fields of its start event, and anything
    else as the only field that the event needs, or as `input`.
    """
    from quickchecks.adapters._llama_index_dialogue import LlamaIndexDialogue

    return LlamaIndexDialogue(agent, options, mocks)
