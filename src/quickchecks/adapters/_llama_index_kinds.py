"""What a value of LlamaIndex is: the events of its workflows, messages and responses."""

from __future__ import annotations

from typing import Any

from quickchecks.adapters._objects import field, is_a, is_foreign

__all__ = ("kind_of", "stop_result")

_EVENTS = "llama_index.core.agent.workflow"
_CLASSES = (
    ("output", f"{_EVENTS}:AgentOutput"),
    ("result", f"{_EVENTS}:ToolCallResult"),
    ("call", f"{_EVENTS}:ToolCall"),
    ("input", f"{_EVENTS}:AgentInput"),
    ("silent", f"{_EVENTS}:AgentStream"),
    ("silent", f"{_EVENTS}:AgentStreamStructuredOutput"),
    ("silent", f"{_EVENTS}:AgentSetup"),
    ("message", "llama_index.core.base.llms:ChatMessage"),
    ("response", "llama_index.core.base.llms:ChatResponse"),
    ("failed", "workflows.events:WorkflowFailedEvent"),
    ("failed", "workflows.events:WorkflowTimedOutEvent"),
    ("failed", "workflows.events:WorkflowCancelledEvent"),
    ("stop", "workflows.events:StopEvent"),
    ("waits", "workflows.events:InputRequiredEvent"),
    ("silent", "workflows.events:StartEvent"),
)
_ANY_EVENT = "workflows.events:Event"


def kind_of(value: Any) -> str:
    """Say what a value is: a kind of event, a message or a response; "" for anything else.

    Of JSON only the events that are known by their keys are found.
    """
    if type(value) is dict:
        if "tool_kwargs" in value and "tool_name" in value and "tool_id" in value:
            return "result" if "tool_output" in value else "call"
        if "current_agent_name" not in value:
            return "message" if "role" in value and type(value.get("blocks")) is list and "content" not in value else ""
        if "delta" in value:
            return "silent"
        return "output" if "response" in value else "input" if "input" in value else ""
    if not is_foreign(value):
        return ""
    for kind, path in _CLASSES:
        if is_a(value, path):
            return kind
    return "other" if is_a(value, _ANY_EVENT) else ""


def stop_result(event: Any) -> Any:
    """Give what a workflow ended with; an event of the workflow's own is its result itself."""
    result = field(event, "result")
    return event if result is None and type(event).__name__ != "StopEvent" else result
