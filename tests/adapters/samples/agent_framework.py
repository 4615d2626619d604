"""Values that are of the Microsoft Agent Framework, and one that uses most of what the format has."""

from __future__ import annotations

from typing import Any

from foreign import foreign

_TEXT = {"type": "text", "text": "Sunny."}
_CALL = {"type": "function_call", "call_id": "c1", "name": "f", "arguments": '{"a": 1}'}
_RESULT = {"type": "function_result", "call_id": "c1", "result": "Error: Function failed.", "exception": "ValueError"}


def _message(role: str, *contents: Any) -> dict[str, Any]:
    return {"type": "message", "role": role, "contents": list(contents), "author_name": "travel"}


def _object(role: str, *contents: Any) -> Any:
    return foreign("agent_framework._types:Message", role=role, contents=list(contents), author_name=None)


SAMPLES: list[Any] = [
    {"type": "agent_response", "messages": [_message("assistant", _TEXT)]},
    {"type": "chat_response", "messages": [_message("assistant", _CALL)]},
    foreign("agent_framework._types:AgentResponse", messages=[_object("assistant", _TEXT)]),
    foreign("agent_framework._types:ChatResponse", messages=[_object("assistant", _TEXT)]),
    foreign("agent_framework._types:ResponseStream"),
    [_object("user", _TEXT), _object("assistant", _TEXT)],
    [_message("user", _TEXT), _message("assistant", _CALL)],
    {"messages": [_message("assistant", _CALL)], "response_id": "r"},
    foreign("agent_framework._workflows._workflow:WorkflowRunResult"),
]

VALID = {
    "type": "agent_response",
    "response_id": "r",
    "messages": [
        _message("user", _TEXT),
        _message("assistant", {"type": "text_reasoning", "text": "hm"}, _TEXT, _CALL),
        _message("tool", _RESULT),
        _message("assistant", {"type": "function_approval_request", "id": "1", "function_call": {**_CALL, "call_id": "c2"}}),
        _message("user", {"type": "function_approval_response", "approved": False, "function_call": {**_CALL, "call_id": "c2"}}),
        _message("assistant", {"type": "mcp_server_tool_call", "call_id": "c3", "tool_name": "g", "server_name": "s"}),
        _message("assistant", {"type": "mcp_server_tool_result", "call_id": "c3", "output": [_TEXT]}),
        _message("assistant", {"type": "shell_tool_call", "call_id": "c4", "commands": ["ls"]}),
    ],
    "value": {"n": 1},
    "finish_reason": "stop",
    "usage_details": {"input_token_count": 1, "output_token_count": 2},
}
