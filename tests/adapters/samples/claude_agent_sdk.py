"""Values that are the Claude Agent SDK's, and one that uses most of what the format has."""

from __future__ import annotations

from typing import Any

from foreign import foreign


def item(role: str, *content: Any, **more: Any) -> dict[str, Any]:
    return {"type": role, "message": {"role": role, "model": "m", "content": list(content)}, "session_id": "s", **more}


INIT = {"type": "system", "subtype": "init", "session_id": "s", "tools": ["Task"], "model": "m"}
ENDED = {"type": "result", "subtype": "success", "is_error": False, "session_id": "s", "duration_ms": 9, "result": "x"}

SAMPLES: list[Any] = [
    [INIT, item("assistant", {"type": "text", "text": "x"}), ENDED],
    [item("user", {"type": "text", "text": "x"}), item("assistant", {"type": "text", "text": "x"})],
    [{"type": "rate_limit_event"}, item("assistant", {"type": "tool_use", "id": "t", "name": "f", "input": {}})],
    ENDED,
    [foreign("claude_agent_sdk.types:AssistantMessage", content=[])],
    [
        foreign("claude_agent_sdk.types:SystemMessage", subtype="init", data={}),
        foreign("claude_agent_sdk.types:ResultMessage", subtype="success", result="x"),
    ],
]

VALID: Any = [
    INIT,
    item("user", {"type": "text", "text": "q"}),
    item("assistant", {"type": "thinking", "thinking": "hm"}, {"type": "tool_use", "id": "1", "name": "mcp__t__f", "input": {}}),
    item("user", {"type": "tool_result", "tool_use_id": "1", "content": [{"type": "text", "text": "ok"}], "is_error": True}),
    item("assistant", {"type": "tool_use", "id": "2", "name": "Task", "input": {"subagent_type": "x"}}),
    item("assistant", {"type": "tool_use", "id": "3", "name": "Read", "input": {}}, parent_tool_use_id="2"),
    item("user", {"type": "tool_result", "tool_use_id": "2", "content": "done"}),
    item("assistant", {"type": "text", "text": "e"}, error="unknown"),
    {
        **ENDED,
        "errors": ["x"],
        "usage": {"input_tokens": 1, "output_tokens": 2},
        "total_cost_usd": 0.1,
        "structured_output": {"n": 1},
        "deferred_tool_use": {"id": "3"},
        "num_turns": 1,
    },
]
