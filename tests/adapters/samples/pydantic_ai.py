"""Values of pydantic-ai."""

from __future__ import annotations

from typing import Any

from foreign import foreign

Foreign = Any

USER = {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "Weather?"}], "instructions": None}
CALL = {"part_kind": "tool-call", "tool_name": "get_weather", "args": '{"city":"Paris"}', "tool_call_id": "c1"}
ASKED = {"kind": "response", "parts": [CALL], "usage": {"input_tokens": 5, "output_tokens": 2}}
RETURN = {"part_kind": "tool-return", "tool_name": "get_weather", "content": "Sunny", "tool_call_id": "c1"}
ANSWER = {"kind": "response", "parts": [{"part_kind": "text", "content": "Sunny."}], "finish_reason": "stop"}

PART = foreign("pydantic_ai.messages:TextPart", part_kind="text", content="Sunny.")
RESPONSE = foreign("pydantic_ai.messages:ModelResponse", kind="response", parts=[PART], usage=None)
RESULT = foreign(
    "pydantic_ai.run:AgentRunResult",
    output="Sunny.",
    usage=None,
    all_messages=lambda: [RESPONSE],
    new_messages=lambda: [RESPONSE],
)

SAMPLES: list[Foreign] = [
    [USER],
    [USER, ASKED, {"kind": "request", "parts": [RETURN]}, ANSWER],
    {"messages": [USER, ANSWER], "output": "Sunny.", "new_message_index": 0, "output_tool_name": None},
    {"output": "Sunny.", "_output_tool_name": None, "_state": {"message_history": [USER, ANSWER]}},
    [RESPONSE],
    {"messages": [RESPONSE]},
    RESULT,
]

VALID: Foreign = {
    "messages": [
        {
            "kind": "request",
            "instructions": "Be helpful.",
            "run_id": "r",
            "parts": [
                {"part_kind": "system-prompt", "content": "s"},
                {
                    "part_kind": "user-prompt",
                    "content": ["q", {"kind": "text-content", "content": "t"}, {"kind": "image-url", "url": "u"}],
                },
            ],
        },
        {
            "kind": "response",
            "finish_reason": "length",
            "usage": {
                "input_tokens": 5,
                "output_tokens": 2,
                "cache_read_tokens": 1,
                "details": {"reasoning_tokens": 1},
                "cost": "0.5",
            },
            "parts": [
                {"part_kind": "thinking", "content": "hm"},
                {"part_kind": "text", "content": "a"},
                {"part_kind": "builtin-tool-call", "tool_name": "web_search", "args": {"q": "x"}, "tool_call_id": "b"},
                {"part_kind": "builtin-tool-return", "tool_name": "web_search", "content": {"ok": True}, "tool_call_id": "b"},
                CALL,
                {**CALL, "tool_call_id": "c2"},
                {**CALL, "tool_call_id": "c3", "args": None},
                {"part_kind": "file", "content": {"kind": "binary"}},
            ],
        },
        {
            "kind": "request",
            "parts": [
                {**RETURN, "outcome": "success"},
                {**RETURN, "tool_call_id": "c2", "outcome": "retried", "content": [{"msg": "Field required", "loc": ["city"]}]},
                {"part_kind": "retry-prompt", "tool_name": "get_weather", "content": "no", "tool_call_id": "c3"},
                {"part_kind": "retry-feedback", "content": "again"},
                {**RETURN, "tool_call_id": "c9"},
            ],
        },
        ANSWER,
    ],
    "output": {"n": 1},
    "new_message_index": 0,
    "output_tool_name": "final_result",
    "usage": {"input_tokens": 5, "output_tokens": 2, "requests": 2},
    "run_id": "r",
    "metadata": {"a": 1},
}
