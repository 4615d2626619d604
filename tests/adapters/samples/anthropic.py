"""Values that are Anthropic's, and one that uses most of what the format has."""

from __future__ import annotations

from typing import Any

from foreign import foreign

USER = {"role": "user", "content": "Weather?"}
CALL = {"type": "tool_use", "id": "t1", "name": "get_weather", "input": {"city": "Paris"}}
RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": "Sunny"}


def shown(path: str, value: dict[str, Any]) -> Any:
    """An object of the SDK, which shows itself as a dict as pydantic's models do."""
    return foreign(path, model_dump=lambda **options: value)


def message(*content: Any, **more: Any) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "content": list(content), "stop_reason": "end_turn", **more}


SAMPLES: list[Any] = [
    [USER, {"role": "assistant", "content": [CALL]}],
    [USER, {"role": "user", "content": [RESULT]}],
    [{"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {}}]}],
    [{"role": "assistant", "content": [{"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}]}],
    {"messages": [{"role": "assistant", "content": [CALL]}], "model": "m", "max_tokens": 5},
    message({"type": "text", "text": "x"}),
    shown("anthropic.types.message:Message", message({"type": "text", "text": "x"})),
    shown("anthropic.types.beta.parsed_beta_message:ParsedBetaMessage", message({"type": "text", "text": "x"})),
    [USER, shown("anthropic.types.message:Message", message({"type": "text", "text": "x"}))],
    [USER, {"role": "assistant", "content": [shown("anthropic.types.text_block:TextBlock", {"type": "text", "text": "x"})]}],
    [shown("anthropic.types.tool_use_block:ToolUseBlock", CALL)],
]

VALID: Any = {
    "id": "r",
    "system": [{"type": "text", "text": "Be short."}],
    "messages": [
        USER,
        message(
            {"type": "thinking", "thinking": "hm", "signature": "s"},
            {"type": "text", "text": "a", "citations": None},
            CALL,
            {"type": "mcp_tool_use", "id": "m1", "name": "find", "server_name": "s", "input": {}},
            {"type": "mcp_tool_result", "tool_use_id": "m1", "is_error": False, "content": [{"type": "text", "text": "ok"}]},
            usage={
                "input_tokens": 1,
                "output_tokens": 2,
                "cache_read_input_tokens": 3,
                "output_tokens_details": {"thinking_tokens": 1},
            },
        ),
        {"role": "user", "content": [{**RESULT, "is_error": True}]},
    ],
    "response": message({"type": "text", "text": "b"}),
}
