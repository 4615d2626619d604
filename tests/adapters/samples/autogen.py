"""Values that are AutoGen's, and one that uses most of what the format has."""

from __future__ import annotations

from typing import Any

from foreign import foreign, foreign_class

_MESSAGES = "autogen_agentchat.messages"
_BASE = foreign_class(f"{_MESSAGES}:BaseMessage")
_CALL = {"id": "c1", "name": "f", "arguments": "{}"}
_RESULT = {"call_id": "c1", "name": "f", "content": "no", "is_error": True}
_ASKED = {"source": "user", "type": "TextMessage", "content": "q"}
_ANSWER = {
    "source": "a",
    "type": "TextMessage",
    "content": "Sunny.",
    "models_usage": {"prompt_tokens": 1, "completion_tokens": 2},
}


def _object(kind: str, source: str, content: Any) -> Any:
    return foreign(f"{_MESSAGES}:{kind}", _BASE, type=kind, source=source, content=content, models_usage=None)


SAMPLES: list[Any] = [
    {"messages": [_ASKED, _ANSWER], "stop_reason": None},
    [_ASKED, _ANSWER],
    {"chat_message": _ANSWER, "inner_messages": []},
    foreign("autogen_agentchat.base._task:TaskResult", messages=[_object("TextMessage", "a", "x")], stop_reason=None),
    foreign("autogen_agentchat.base._chat_agent:Response", chat_message=_object("TextMessage", "a", "x"), inner_messages=None),
    [_object("TextMessage", "user", "q"), _object("ThoughtEvent", "a", "hm")],
]

VALID = {
    "messages": [
        _ASKED,
        {"source": "a", "type": "ThoughtEvent", "content": "Checking."},
        {"source": "a", "type": "ToolCallRequestEvent", "content": [_CALL]},
        {"source": "a", "type": "ToolCallExecutionEvent", "content": [_RESULT]},
        {"source": "a", "type": "ToolCallSummaryMessage", "content": "no", "tool_calls": [_CALL], "results": [_RESULT]},
        {"source": "a", "type": "HandoffMessage", "target": "b", "content": "to b"},
        {"source": "b", "type": "MultiModalMessage", "content": ["x", {"data": "y"}]},
        {"source": "b", "type": "StructuredMessage[Weather]", "content": {"n": 1}},
        _ANSWER,
    ],
    "stop_reason": "done",
}
