"""Values of CrewAI: outputs of crews, tasks and agents."""

from foreign import foreign

CALL = {"id": "c1", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Oslo"}'}}
HOTEL = {"id": "c2", "type": "function", "function": {"name": "book_hotel", "arguments": '{"city": "Oslo"}'}}
FAILURE = {
    "tool_name": "book_hotel",
    "failure": {"message": "no rooms left", "reason": "exception", "code": "ValueError", "retryable": False, "details": {}},
    "tool_args": {"city": "Oslo"},
    "agent_role": "traveller",
}
MESSAGES = [
    {"role": "system", "content": "You are a traveller."},
    {"role": "user", "content": "\nCurrent Task: Plan"},
    {"role": "assistant", "content": "", "tool_calls": [CALL, HOTEL]},
    {"role": "tool", "content": "Rain", "tool_call_id": "c1", "name": "get_weather"},
    {"role": "tool", "content": "Error executing tool: no rooms left", "tool_call_id": "c2", "name": "book_hotel"},
    {"role": "assistant", "content": "It rains."},
]
USAGE = {
    "total_tokens": 27,
    "prompt_tokens": 20,
    "cached_prompt_tokens": 3,
    "completion_tokens": 7,
    "reasoning_tokens": 2,
    "successful_requests": 1,
}
TASK = {
    "description": "Plan",
    "expected_output": "A plan",
    "raw": "It rains.",
    "pydantic": None,
    "json_dict": None,
    "agent": "traveller",
    "messages": MESSAGES,
    "tool_failures": [FAILURE],
}
CREW = {"raw": "It rains.", "pydantic": None, "json_dict": None, "tasks_output": [TASK], "token_usage": USAGE}
AGENT = {
    "raw": "It rains.",
    "pydantic": None,
    "agent_role": "traveller",
    "usage_metrics": USAGE,
    "messages": MESSAGES,
    "tool_failures": [FAILURE],
    "plan": None,
    "todos": [],
}

SAMPLES = [
    CREW,
    TASK,
    AGENT,
    {**CREW, "tasks_output": []},
    {"raw": "", "expected_output": "x", "messages": []},
    foreign("crewai.crews.crew_output:CrewOutput", **CREW),
    foreign("crewai.tasks.task_output:TaskOutput", **TASK),
    foreign("crewai.lite_agent_output:LiteAgentOutput", **AGENT),
]

VALID = CREW
