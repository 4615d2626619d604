"""Values of LangChain and LangGraph."""

from __future__ import annotations

from typing import Any

from foreign import foreign, foreign_class

Foreign = Any

USER = {"type": "human", "content": "Weather?", "additional_kwargs": {}, "id": "1"}
CALL = {"name": "get_weather", "args": {"city": "Paris"}, "id": "c1", "type": "tool_call"}
ASKED = {"type": "ai", "content": "", "tool_calls": [CALL], "usage_metadata": {"input_tokens": 5, "output_tokens": 2}}
RESULT = {"type": "tool", "content": "Sunny", "tool_call_id": "c1", "name": "get_weather", "status": "success"}
ANSWER = {"type": "ai", "content": [{"type": "text", "text": "Sunny."}], "tool_calls": []}

_BASE = foreign_class("langchain_core.messages.base:BaseMessage")
HUMAN = foreign("langchain_core.messages.human:HumanMessage", _BASE, type="human", content="Weather?", id="1")
AI = foreign("langchain_core.messages.ai:AIMessage", _BASE, type="ai", content="Sunny.", tool_calls=[], usage_metadata=None)
ACTION = foreign("langchain_core.agents:AgentAction", tool="get_weather", tool_input={"city": "Paris"}, log="")

SAMPLES: list[Foreign] = [
    [USER],
    [{"type": "system", "content": "s"}, USER, ASKED, RESULT, ANSWER],
    [{"type": "human", "data": {"content": "a"}}, {"type": "ai", "data": {"content": "b", "tool_calls": []}}],
    [{"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", "HumanMessage"], "kwargs": {"content": "a"}}],
    {"messages": [USER, ANSWER]},
    [HUMAN, AI],
    {"messages": [HUMAN, AI], "files": {}},
    {"__interrupt__": []},
    AI,
    foreign("langgraph.types:GraphOutput", value={"messages": [HUMAN, AI]}, interrupts=()),
    foreign("langgraph.types:StateSnapshot", values={"messages": [HUMAN, AI]}, tasks=()),
    {"input": "Weather?", "output": "Sunny.", "intermediate_steps": []},
    {"input": "Weather?", "output": "Sunny.", "intermediate_steps": [(ACTION, "Sunny")]},
]

VALID: Foreign = {
    "messages": [
        {"type": "system", "content": "s"},
        {"type": "human", "content": [{"type": "text", "text": "q"}, {"type": "image_url", "image_url": {}}]},
        {
            "type": "ai",
            "name": "travel",
            "content": [
                {"type": "thinking", "thinking": "hm"},
                {"type": "text", "text": "a"},
                {"type": "tool_use", "id": "c1", "name": "get_weather", "input": {}},
                {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}},
                {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []},
            ],
            "additional_kwargs": {"reasoning_content": "r"},
            "tool_calls": [CALL, {**CALL, "id": "c2"}],
            "invalid_tool_calls": [{"name": "get_weather", "args": '{"city": "Par', "id": "c3", "error": "x"}],
            "usage_metadata": {
                "input_tokens": 5,
                "output_tokens": 2,
                "input_token_details": {"cache_read": 1},
                "output_token_details": {"reasoning": 1},
            },
        },
        {**RESULT, "artifact": {"n": 1}},
        {**RESULT, "tool_call_id": "c2", "status": "error", "content": [{"type": "text", "text": "no"}]},
        {**RESULT, "tool_call_id": "c9"},
        {"type": "remove", "content": "", "id": "1"},
        ANSWER,
    ],
    "structured_response": {"n": 1},
    "todos": ["a"],
}
