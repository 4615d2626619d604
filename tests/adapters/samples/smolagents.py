"""Values of smolagents: results and steps, as objects and as dicts."""

from foreign import foreign, foreign_class

MEMORY_STEP = foreign_class("smolagents.memory:MemoryStep")


def function(name: str, arguments: object, id: str) -> dict[str, object]:
    return {"function": {"name": name, "arguments": arguments, "description": None}, "id": id, "type": "function"}


def step(number: int, *calls: dict[str, object], **fields: object) -> dict[str, object]:
    given: dict[str, object] = {
        "step_number": number,
        "timing": {"start_time": 1.0, "end_time": 2.0, "duration": 1.0},
        "tool_calls": [],
        "error": None,
        "model_output_message": {"role": "assistant", "content": "", "tool_calls": list(calls)},
        "model_output": "",
        "code_action": None,
        "observations": None,
        "action_output": None,
        "token_usage": {"input_tokens": 5, "output_tokens": 2, "total_tokens": 7},
        "is_final_answer": False,
    }
    return {**given, **fields}


TASK = {"task": "Weather?", "task_images": None}
WEATHER = function("get_weather", {"city": "Oslo"}, "c1")
LOOK = step(1, WEATHER, observations="Rain")
ANSWER = step(2, function("final_answer", {"answer": "It rains."}, "c2"), observations="It rains.", is_final_answer=True)
RESULT = {
    "output": "It rains.",
    "state": "success",
    "steps": [TASK, LOOK, ANSWER],
    "token_usage": None,
    "timing": {"duration": 1.5},
}

SAMPLES = [
    RESULT,
    {**RESULT, "steps": []},
    [TASK, LOOK],
    [LOOK],
    ({"plan": "1. Look.", "model_output_message": {}},),
    foreign("smolagents.agents:RunResult", output="x", state="success", steps=[], timing=None),
    foreign("smolagents.memory:AgentMemory", steps=[]),
    [foreign("smolagents.memory:TaskStep", MEMORY_STEP, task="x")],
]

VALID = {
    **RESULT,
    "steps": [
        TASK,
        {"plan": "1. Look.", "model_output_message": {}, "token_usage": {"input_tokens": 1, "output_tokens": 1}},
        step(
            1, WEATHER, function("get_weather", {"city": "Rome"}, "c3"), observations="Rain\nSun", model_output=[{"text": "Hm"}]
        ),
        step(
            2,
            WEATHER,
            error={"type": "AgentToolExecutionError", "message": "Error executing tool 'get_weather' with arguments {}"},
        ),
        step(3, code_action="print(1)", observations="1", model_output="<code>print(1)</code>"),
        step(4, error={"type": "AgentMaxStepsError", "message": "Reached max steps."}, action_output="It rains."),
        ANSWER,
    ],
}
