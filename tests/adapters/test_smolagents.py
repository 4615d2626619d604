"""Results and steps of smolagents, without it."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import pytest
from foreign import foreign

from quickchecks import checks, load_run
from quickchecks.errors import RecordingError

Foreign = Any  # JSON and the objects of SDKs have no types

made = runpy.run_path(str(Path(__file__).parent / "samples" / "smolagents.py"))
RESULT, TASK, LOOK, ANSWER, WEATHER = (made[name] for name in ("RESULT", "TASK", "LOOK", "ANSWER", "WEATHER"))
function, step = made["function"], made["step"]
ROME = function("get_weather", {"city": "Rome"}, "c3")
HOTEL = function("book_hotel", {"city": "Oslo"}, "c4")


def failed(kind: str, message: str) -> dict[str, str]:
    return {"type": kind, "message": message}


NO_ROOMS = failed(
    "AgentToolExecutionError",
    "Error executing tool 'book_hotel' with arguments {'city': 'Oslo'}: ValueError: no rooms left\n"
    "Please try again or use another tool",
)


def states(*calls: Foreign, **fields: Foreign) -> list[str]:
    return [call.state for call in load_run([TASK, step(1, *calls, **fields), ANSWER]).tool_calls]


def test_a_result() -> None:
    run = load_run(RESULT)
    assert run.format == "smolagents"
    assert [message.role for message in run.messages] == ["user", "assistant", "assistant", "assistant"]
    assert run.text == "It rains."
    [call] = run.tool_calls
    assert (call.name, call.arguments, call.result, call.id) == ("get_weather", {"city": "Oslo"}, "Rain", "c1")
    assert [call.kind for call in run.all_tool_calls] == ["tool", "output"]
    assert run.usage is not None
    assert (run.usage.input_tokens, run.usage.output_tokens, run.usage.requests) == (10, 4, 2)
    assert run.duration == 1.5
    assert run.gap_kinds == {"nested_possible"}


def test_earlier_tasks_are_history() -> None:
    run = load_run({**RESULT, "steps": [TASK, LOOK, ANSWER, {**TASK, "task": "And now?"}, ANSWER]})
    assert [message.text for message in run.messages[run.history_length :]] == ["And now?", "", "It rains."]
    assert run.tool_calls == ()
    assert run.usage is not None
    assert run.usage.requests == 1


def test_the_error_of_a_step_is_that_of_the_call_it_names() -> None:
    assert states(HOTEL, error=NO_ROOMS) == ["failed"]
    assert states(WEATHER, HOTEL, error=NO_ROOMS) == ["requested", "failed"]
    unknown = failed("AgentToolExecutionError", "Unknown tool no_tool, should be one of: get_weather.")
    assert states(WEATHER, function("no_tool", {}, "c9"), error=unknown) == ["requested", "failed"]
    assert states(WEATHER, ROME, error=failed("AgentToolCallError", "Argument x is not known")) == ["failed", "failed"]
    call = load_run([TASK, step(1, WEATHER, HOTEL, error=NO_ROOMS), ANSWER]).tool_calls[1]
    failure = call.failure()
    assert failure is not None
    assert (failure.message, failure.type, failure.source) == ("no rooms left", "ValueError", "flag")


def test_of_equal_names_the_arguments_decide() -> None:
    error = failed("AgentToolExecutionError", "Error executing tool 'get_weather' with arguments {'city': 'Rome'}: KeyError: 'x'")
    assert states(WEATHER, ROME, error=error) == ["requested", "failed"]


def test_results_that_stand_in_one_text_are_not_told_apart() -> None:
    run = load_run([TASK, step(1, WEATHER, ROME, observations="Rain\nSun"), ANSWER])
    assert [call.state for call in run.tool_calls] == ["completed", "completed"]
    assert "results" in run.gap_kinds


def test_code_hides_its_calls() -> None:
    coded = step(1, code_action="get_weather('Oslo')", model_output="Thought: x", observations="Rain")
    run = load_run([TASK, coded, ANSWER])
    assert run.tool_calls == ()
    assert run.text == "It rains."
    for check in (checks.called_tool("get_weather"), checks.used_no_tools(), checks.no_tool_errors()):
        assert check.score(run).outcome == "no_evidence"


def test_text_beside_a_call_is_text_and_text_that_is_a_call_is_not() -> None:
    assert load_run([TASK, {**LOOK, "model_output": "Looking."}, ANSWER]).text == "Looking. It rains."
    assert load_run([TASK, {**LOOK, "model_output": 'Action: {"name": "get_weather"}'}, ANSWER]).text == "It rains."
    wrong = step(1, model_output="Hello", error=failed("AgentParsingError", "no JSON"))
    assert load_run([TASK, wrong, ANSWER]).text == "It rains."


def test_steps_without_an_end_and_without_a_task() -> None:
    run = load_run([LOOK])
    assert run.gap_kinds == {"text", "input", "nested_possible"}
    assert checks.includes("rains").score(run).outcome == "no_evidence"


def test_a_limit() -> None:
    last = step(2, error=failed("AgentMaxStepsError", "Reached max steps."), action_output="I gave up.")
    run = load_run([TASK, LOOK, last])
    assert run.text == "I gave up."
    assert run.error is not None
    assert run.error.type == "AgentMaxStepsError"


def test_objects_read_as_dicts_do() -> None:
    memory_step = made["MEMORY_STEP"]
    action = foreign("smolagents.memory:ActionStep", memory_step, **{**LOOK, "error": ValueError("no")})
    task = foreign("smolagents.memory:TaskStep", memory_step, task="Weather?")
    end = foreign("smolagents.memory:FinalAnswerStep", memory_step, output={"n": 1})
    run = load_run([task, action, action, end])
    assert [call.state for call in run.tool_calls] == ["failed"]
    assert run.output == {"n": 1}
    memory = foreign("smolagents.memory:AgentMemory", steps=[task, action])
    assert load_run(memory).messages[0].text == "Weather?"


def test_what_a_stream_gave_of_each_call() -> None:
    output = foreign("smolagents.agents:ToolOutput", id="c3", output={"sun": True})
    run = load_run([output, foreign("smolagents.memory:ActionStep", made["MEMORY_STEP"], **step(1, WEATHER, ROME))])
    assert run.tool_calls[1].result == {"sun": True}


@pytest.mark.parametrize(
    ("steps", "path"),
    [
        (5, "steps"),
        ([TASK, 5], "steps[1]"),
        ([TASK, {"odd": 1}], "steps[1]"),
        ([{**TASK, "task": 5}], "steps[0].task"),
        ([{**LOOK, "model_output": 5}], "steps[0].model_output"),
        ([{**LOOK, "model_output_message": {"tool_calls": 5}}], "steps[0].tool_calls"),
        ([step(1, {"function": {"name": ""}})], "steps[0].tool_calls[0].name"),
    ],
)
def test_what_is_malformed_is_named(steps: Foreign, path: str) -> None:
    with pytest.raises(RecordingError) as caught:
        load_run({**RESULT, "steps": steps}, format="smolagents")
    assert caught.value.path == path


@pytest.mark.parametrize(
    ("name", "calls", "text"),
    [
        ("none", [], "Hello there."),
        ("par2", ["get_weather", "get_weather"], "Sunny in Paris; booking failed."),
        ("bad", ["no_such_tool"], ""),
        ("plain", [], "no tool call here"),
        ("managed", ["sub"], "ok"),
    ],
)
def test_the_recorded_results(shared: Path, name: str, calls: list[str], text: str) -> None:
    path = shared / "cases" / "frameworks" / "smolagents" / f"{name}.json"
    recorded = json.loads(path.read_text(encoding="utf-8"))
    del recorded["__class__"]
    run = load_run(recorded, format="smolagents")
    assert list(run.tool_names) == calls
    assert text in run.final_text
    assert (not calls or name in ("par2", "managed")) is (run.tool_calls == () or run.tool_calls[0].failure() is None)
