"""Values that are the ADK's, and one that uses most of what the format has."""

from __future__ import annotations

from typing import Any

from foreign import foreign

ASKED = {"author": "user", "invocationId": "e-1", "content": {"role": "user", "parts": [{"text": "Weather?"}]}}
ANSWER = {"author": "travel", "invocationId": "e-1", "content": {"role": "model", "parts": [{"text": "x"}]}}

SAMPLES: list[Any] = [
    [ASKED, ANSWER],
    [{"author": "travel", "invocation_id": "e-1", "content": None, "error_code": "X"}],
    {"id": "s", "appName": "a", "userId": "u", "state": {}, "events": [ASKED, ANSWER]},
    {"id": "s", "app_name": "a", "user_id": "u", "events": []},
    [foreign("google.adk.events.event:Event", model_dump=lambda **options: ANSWER)],
    foreign("google.adk.sessions.session:Session", model_dump=lambda **options: {"events": [ASKED, ANSWER]}),
]

VALID: Any = {
    "id": "s",
    "appName": "a",
    "userId": "u",
    "events": [
        ASKED,
        {
            "author": "travel",
            "invocationId": "e-1",
            "partial": None,
            "content": {
                "role": "model",
                "parts": [
                    {"text": "hm", "thought": True},
                    {"functionCall": {"id": "1", "name": "f", "args": {"city": "Paris"}}},
                    {"functionCall": {"id": "2", "name": "transfer_to_agent", "args": {"agent_name": "sub"}}},
                ],
            },
            "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 2, "thoughtsTokenCount": 1},
            "longRunningToolIds": ["1"],
            "finishReason": "STOP",
        },
        {
            "author": "travel",
            "invocationId": "e-1",
            "content": {
                "role": "user",
                "parts": [{"functionResponse": {"id": "2", "name": "transfer_to_agent", "response": {"status": "failed"}}}],
            },
            "actions": {"transferToAgent": "sub", "requestedToolConfirmations": {"1": {}}},
        },
        {"author": "sub", "invocationId": "e-1", "output": {"n": 1}, "errorCode": "X", "errorMessage": "y"},
    ],
}
