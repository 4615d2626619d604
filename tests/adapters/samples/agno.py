"""Values that are Agno's, and one that uses most of what the format has."""

from __future__ import annotations

from typing import Any

from foreign import foreign

_CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
_MESSAGES = [
    {"role": "system", "content": "Be short."},
    {"role": "user", "content": "q", "from_history": True},
    {"role": "assistant", "reasoning_content": "hm", "content": [{"type": "text", "text": "x"}], "tool_calls": [_CALL]},
    {"role": "tool", "tool_call_id": "c1", "tool_name": "f", "content": "no", "tool_call_error": True},
    {"role": "assistant", "content": "a"},
]
_RUN = {
    "run_id": "r",
    "agent_id": "a",
    "agent_name": "travel",
    "status": "COMPLETED",
    "content": "a",
    "messages": _MESSAGES,
    "tools": [{"tool_call_id": "c1", "tool_name": "f", "tool_args": {}, "result": "no", "tool_call_error": True}],
    "metrics": {"input_tokens": 1, "output_tokens": 2, "duration": 0.5},
}

SAMPLES: list[Any] = [
    _RUN,
    {"run_id": "r", "team_id": "t", "status": "COMPLETED", "content": "a", "messages": _MESSAGES, "member_responses": [_RUN]},
    {"run_id": "r", "workflow_id": "w", "status": "COMPLETED", "content": {"n": 1}, "step_executor_runs": [_RUN]},
    foreign("agno.run.agent:RunOutput", status="COMPLETED", content="a", messages=[]),
    foreign("agno.run.team:TeamRunOutput", status="COMPLETED"),
    foreign("agno.run.workflow:WorkflowRunOutput", status="COMPLETED"),
]

VALID = {
    "run_id": "r",
    "team_id": "t",
    "team_name": "office",
    "status": "COMPLETED",
    "content": {"n": 1},
    "messages": [
        *_MESSAGES,
        {"role": "assistant", "tool_calls": [{"id": "c2", "function": {"name": "delegate_task_to_member", "arguments": "{}"}}]},
        {"role": "tool", "tool_calls": [{"tool_call_id": "c2", "tool_name": "delegate_task_to_member", "content": "a"}]},
        {"role": "assistant", "content": '{"n":1}'},
    ],
    "tools": [{"tool_call_id": "c2", "tool_name": "delegate_task_to_member", "result": "a", "child_run_id": "r"}],
    "member_responses": [_RUN],
    "metrics": {"input_tokens": 1, "output_tokens": 2, "cost": 0.1},
}
