"""Values of OpenAI's Responses API, and one that uses most of what the format has."""

from __future__ import annotations

from typing import Any

from foreign import foreign

USER = {"role": "user", "content": "Weather?"}
CALL = {"type": "function_call", "call_id": "c1", "name": "get_weather", "arguments": '{"city": "Paris"}', "status": "completed"}
RESULT = {"type": "function_call_output", "call_id": "c1", "output": "Sunny"}
SAID = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Sunny.", "annotations": []}]}
THOUGHT = {"type": "reasoning", "id": "r1", "summary": [{"type": "summary_text", "text": "hm"}]}


def item(name: str, value: dict[str, Any]) -> Any:
    """An object of the SDK, which shows itself as a dict as pydantic's models do."""
    return foreign(f"openai.types.responses.{name}", model_dump=lambda **options: value, **value)


SAMPLES: list[Any] = [
    [USER, CALL, RESULT, SAID],
    [CALL],
    [RESULT],
    [THOUGHT, SAID],
    [USER, item("response_function_tool_call:ResponseFunctionToolCall", CALL), RESULT],
    [item("response_reasoning_item:ResponseReasoningItem", THOUGHT), item("response_output_message:ResponseOutputMessage", SAID)],
    [USER, {"type": "web_search_call", "id": "w", "status": "completed", "action": {"type": "search", "query": "q"}}],
    {"object": "response", "output": []},
    [{"type": "response.created", "response": {}}, {"type": "response.completed", "response": {"output": [SAID]}}],
    {"id": "resp_1", "output": [CALL], "usage": {}},
    {"messages": [USER, CALL, RESULT]},
    item("response:Response", {"object": "response", "output": [SAID]}),
    foreign(
        "litellm.types.llms.openai:ResponsesAPIResponse",
        model_dump=lambda **options: {"object": "response", "output": [SAID]},
    ),
]

VALID: Any = {
    "id": "resp_1",
    "object": "response",
    "instructions": "Be short.",
    "status": "completed",
    "error": None,
    "input": [
        USER,
        {"type": "function_call", "call_id": "h", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "h", "output": [{"type": "input_text", "text": "x"}]},
        USER,
    ],
    "output": [
        THOUGHT,
        SAID,
        CALL,
        {"type": "custom_tool_call", "call_id": "c2", "name": "shell", "input": "ls"},
        {"type": "mcp_approval_request", "id": "a1", "name": "wipe", "arguments": "{}", "server_label": "s"},
        {"type": "mcp_approval_response", "approval_request_id": "a1", "approve": False},
        {"type": "mcp_call", "id": "m1", "name": "find", "arguments": "{}", "output": None, "error": {"content": []}},
        {"type": "web_search_call", "id": "w", "status": "completed", "action": {"type": "search", "query": "q"}},
        RESULT,
        {"type": "item_reference", "id": "x"},
        {"type": "message", "role": "assistant", "content": [{"type": "refusal", "refusal": "No."}, {"type": "output_image"}]},
    ],
    "usage": {
        "input_tokens": 20,
        "output_tokens": 7,
        "input_tokens_details": {"cached_tokens": 3},
        "output_tokens_details": {"reasoning_tokens": 2},
    },
}
