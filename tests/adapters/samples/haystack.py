"""Values of Haystack."""

from __future__ import annotations

from typing import Any

from foreign import foreign

Foreign = Any

CALL = {"tool_name": "get_weather", "arguments": {"city": "Paris"}, "id": "c1", "extra": None}
USER: Foreign = {"role": "user", "meta": {}, "name": None, "content": [{"text": "Weather?"}]}
ASKED = {"role": "assistant", "meta": {"usage": {"prompt_tokens": 5}}, "name": None, "content": [{"tool_call": CALL}]}
RESULT: Foreign = {
    "role": "tool",
    "meta": {},
    "name": None,
    "content": [{"tool_call_result": {"result": "Sunny", "origin": CALL, "error": False}}],
}
ANSWER = {"role": "assistant", "meta": {"finish_reason": "stop"}, "name": None, "content": [{"text": "Sunny."}]}

WORDS = foreign("haystack.dataclasses.chat_message:TextContent", text="Sunny.")
MESSAGE = foreign("haystack.dataclasses.chat_message:ChatMessage", role="assistant", _content=[WORDS], meta={}, name=None)

SAMPLES: list[Foreign] = [
    [USER, ASKED, RESULT, ANSWER],
    [ASKED],
    [USER, ANSWER],
    {"messages": [USER, ASKED, RESULT, ANSWER], "exit_reason": "text"},
    [MESSAGE],
    {"messages": [MESSAGE], "last_message": MESSAGE},
    {"agent": {"messages": [MESSAGE]}, "other": {"documents": []}},
]

VALID: Foreign = {
    "messages": [
        {**USER, "role": "system"},
        USER,
        {
            **ASKED,
            "content": [
                {"reasoning": {"reasoning_text": "hm"}},
                {"text": "a"},
                {"tool_call": CALL},
                {"tool_call": {**CALL, "id": "c2"}},
                {"image": {"base64_image": ""}},
            ],
        },
        RESULT,
        {
            **RESULT,
            "content": [{"tool_call_result": {"result": [{"text": "no"}], "origin": {**CALL, "id": "c2"}, "error": True}}],
        },
        {**RESULT, "content": [{"tool_call_result": {"result": "x", "origin": {**CALL, "id": "c9"}, "error": False}}]},
        ANSWER,
    ],
    "token_usage": {"prompt_tokens": 5, "completion_tokens": 2},
    "exit_reason": "text",
    "step_count": 2,
}
