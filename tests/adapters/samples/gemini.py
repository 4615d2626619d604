"""Values that are Gemini's, and one that uses most of what the format has."""

from __future__ import annotations

from typing import Any

from foreign import foreign

USER = {"role": "user", "parts": [{"text": "Weather?"}]}
CALL = {"functionCall": {"name": "get_weather", "args": {"city": "Paris"}}}
RESULT = {"functionResponse": {"name": "get_weather", "response": {"result": "Sunny"}}}


def shown(path: str, value: dict[str, Any]) -> Any:
    """An object of the SDK, which shows itself as a dict as pydantic's models do."""
    return foreign(path, model_dump=lambda **options: value)


RESPONSE = {"candidates": [{"content": {"role": "model", "parts": [{"text": "x"}]}, "finishReason": "STOP"}]}

SAMPLES: list[Any] = [
    [USER],
    [{"role": "model", "parts": [{"text": "x"}]}],
    [USER, {"role": "model", "parts": [{"function_call": {"name": "f", "args": {}}}]}],
    [{"parts": [CALL]}],
    {"messages": [{"role": "model", "parts": [{"text": "x"}]}]},
    {"contents": [USER], "generationConfig": {}},
    RESPONSE,
    {"candidates": [{"finishReason": "MALFORMED_FUNCTION_CALL"}]},
    shown("google.genai.types:GenerateContentResponse", RESPONSE),
    [shown("google.genai.types:Content", USER)],
    foreign("google.genai.chats:Chat", type(foreign("google.genai.chats:_BaseChat"))),
]

VALID: Any = {
    "system_instruction": {"parts": [{"text": "Be short."}]},
    "contents": [
        USER,
        {
            "role": "model",
            "parts": [
                {"text": "hm", "thought": True},
                {"text": "a"},
                CALL,
                {"executableCode": {"language": "PYTHON", "code": "1"}},
                {"codeExecutionResult": {"outcome": "OUTCOME_FAILED", "output": "x"}},
            ],
        },
        {"role": "user", "parts": [RESULT, {"inlineData": {"mimeType": "image/png", "data": "x"}}]},
    ],
    "candidates": [
        {
            "content": {"role": "model", "parts": [{"functionCall": {"id": "1", "name": "f", "args": {}}}]},
            "finishReason": "MAX_TOKENS",
        }
    ],
    "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 2, "thoughtsTokenCount": 1},
}
