"""Values that are LlamaIndex's, and one that uses most of what the format has."""

from __future__ import annotations

from typing import Any

from foreign import foreign

_AGENT = "llama_index.core.agent.workflow.workflow_events"
_TYPES = "llama_index.core.base.llms.types"


def _message(role: str, *blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": role, "additional_kwargs": {}, "blocks": list(blocks)}


_TEXT = {"block_type": "text", "text": "Sunny."}
_CALL = {"block_type": "tool_call", "tool_call_id": "c1", "tool_name": "f", "tool_kwargs": {"a": 1}}
_SELECTED = {"tool_name": "f", "tool_kwargs": {"a": 1}, "tool_id": "c1"}
_RESULT = {
    **_SELECTED,
    "tool_output": {"blocks": [_TEXT], "tool_name": "f", "raw_input": {}, "raw_output": "Sunny.", "is_error": True},
    "return_direct": False,
}
_INPUT = {"input": [_message("system", _TEXT), _message("user", _TEXT)], "current_agent_name": "a"}
_ASKS = {
    "response": _message("assistant", {"block_type": "thinking", "content": "hm"}, _CALL),
    "structured_response": None,
    "current_agent_name": "a",
    "tool_calls": [_SELECTED],
    "retry_messages": [],
    "raw": {"usage": {"prompt_tokens": 1, "completion_tokens": 2}},
}
_SAYS = {
    "response": _message("assistant", _TEXT),
    "structured_response": {"n": 1},
    "current_agent_name": "a",
    "tool_calls": [_RESULT],
}

SAMPLES: list[Any] = [
    [_INPUT, _ASKS, _SELECTED, _RESULT, _SAYS],
    _SAYS,
    [_message("user", _TEXT), _message("assistant", _CALL), _message("tool", _TEXT)],
    foreign(f"{_AGENT}:AgentOutput", response=_message("assistant", _TEXT), current_agent_name="a", tool_calls=[]),
    [foreign(f"{_AGENT}:AgentInput", **_INPUT), foreign(f"{_AGENT}:AgentOutput", **_ASKS)],
    [foreign(f"{_AGENT}:ToolCall", **_SELECTED)],
    [foreign(f"{_TYPES}:ChatMessage", role="user", blocks=[_TEXT])],
    foreign(f"{_TYPES}:ChatResponse", message=_message("assistant", _TEXT)),
    foreign("workflows.events:StopEvent", result="x"),
    [foreign("workflows.events:Event")],
    foreign("workflows.handler:WorkflowHandler"),
]

VALID = [_INPUT, _ASKS, _SELECTED, _RESULT, _SAYS]
