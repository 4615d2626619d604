"""Predictions of DSPy, without it."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import pytest
from foreign import foreign

from quickchecks import checks, load_run
from quickchecks.adapters._dspy_dialogue import dialogue_with
from quickchecks.errors import RecordingError

Foreign = Any  # JSON and the objects of SDKs have no types

made = runpy.run_path(str(Path(__file__).parent / "samples" / "dspy.py"))
FIELDS, TRAJECTORY, prediction = made["FIELDS"], made["TRAJECTORY"], made["prediction"]


def test_a_trajectory() -> None:
    for value in (FIELDS, prediction(**FIELDS)):
        run = load_run(value)
        assert run.format == "dspy"
        assert run.text == run.final_text == "It rains."
        weather, hotel = run.tool_calls
        assert (weather.arguments, weather.result, weather.failure()) == ({"city": "Oslo"}, "Rain", None)
        failure = hotel.failure()
        assert failure is not None
        assert failure.source == "text"
        assert [call.kind for call in run.all_tool_calls] == ["tool", "tool", "output"]
        assert run.gap_kinds == {"input"}


def test_a_trajectory_whose_beginning_was_left_out() -> None:
    run = load_run({**FIELDS, "trajectory": {"thought_3": "x", "tool_name_3": "get_weather", "tool_args_3": {}}})
    assert [call.state for call in run.tool_calls] == ["requested"]
    assert checks.did_not_call("refund").score(run).outcome == "no_evidence"


def test_what_is_not_known_of_a_trajectory_may_be_a_call() -> None:
    run = load_run({**FIELDS, "trajectory": {**TRAJECTORY, "odd": 1}})
    assert checks.did_not_call("refund").score(run).outcome == "no_evidence"


def test_no_trajectory_is_no_evidence() -> None:
    run = load_run(prediction(answer="It rains."))
    assert checks.equals("It rains.").passes(run)
    for check in (checks.used_no_tools(), checks.called_tool("x"), checks.no_tool_errors()):
        assert check.score(run).outcome == "no_evidence"


def test_answers() -> None:
    assert load_run(prediction(reasoning="r")).text == "r"
    assert load_run(prediction(reasoning="r", rain=True)).output is True
    run = load_run(prediction(city="Oslo", rain=True))
    assert run.output == {"city": "Oslo", "rain": True}
    assert json.loads(run.text) == run.output


def calls(*made: tuple[str, Foreign], errors: tuple[bool | None, ...] = (), values: tuple[Foreign, ...] = ()) -> Foreign:
    results = [
        foreign("x:R", call_id=f"c{at}", name=name, value=value, is_error=error)
        for at, ((name, _), error, value) in enumerate(zip(made, errors, values, strict=False))
    ]
    entries = [foreign("x:C", id=f"c{at}", name=name, args=arguments) for at, (name, arguments) in enumerate(made)]
    return foreign("x:Calls", tool_calls=entries, tool_call_results=foreign("x:Rs", tool_call_results=results))


def events(*entries: dict[str, Foreign], answer: str = "It rains.") -> Foreign:
    history = foreign("dspy.adapters.types.history:History", messages=list(entries))
    return prediction(answer=answer, history=history, termination_reason="submit")


SUBMIT = {"tool_calls": calls(("submit", {"answer": "It rains."}), errors=(False,), values=({},)), "answer": "It rains."}


def test_a_history_of_calls() -> None:
    both = calls(
        ("get_weather", {"city": "Oslo"}),
        ("book_hotel", {}),
        errors=(False, True),
        values=("Error: is a word", "Execution error in book_hotel: x\nValueError: no rooms left"),
    )
    run = load_run(events({"question": "Weather?", "next_thought": "look", "tool_calls": both}, SUBMIT))
    assert [message.role for message in run.messages] == ["user", "assistant", "assistant", "assistant"]
    assert run.messages[0].text == "Weather?"
    weather, hotel = run.tool_calls
    assert weather.failure() is None  # it is stated that it did not fail
    failure = hotel.failure()
    assert failure is not None
    assert (failure.message, failure.type, failure.source) == ("ValueError: no rooms left", "ValueError", "flag")
    assert run.text == "It rains."
    assert run.metadata == {"termination_reason": "submit"}
    assert run.gaps == ()


def test_earlier_turns_of_a_history() -> None:
    first = {"question": "Hi", "tool_calls": calls(("get_weather", {}))}
    run = load_run(events(first, SUBMIT, {"question": "And now?", **SUBMIT}))
    assert run.tool_calls == ()
    assert [message.text for message in run.messages[run.history_length :] if message.text] == ["And now?", "It rains."]


def test_a_call_without_its_result() -> None:
    run = load_run(events({"question": "Hi", "tool_calls": calls(("get_weather", {}))}, SUBMIT))
    assert [call.state for call in run.tool_calls] == ["requested"]


def test_calls_that_a_module_only_asks_for() -> None:
    asked = foreign("dspy.adapters.types.tool:ToolCalls", tool_calls=[foreign("x:C", name="refund", args={"id": 1})])
    run = load_run(prediction(outputs=asked))
    assert [(call.name, call.state, call.arguments) for call in run.tool_calls] == [("refund", "requested", {"id": 1})]
    assert run.text == ""
    assert not checks.did_not_call("refund").passes(run)
    assert checks.no_tool_errors().score(run).outcome == "no_evidence"


def test_usage() -> None:
    usage = {"one": {"prompt_tokens": 5, "completion_tokens": 2}, "two": {"prompt_tokens": 1, "completion_tokens": 1}}
    run = load_run(prediction(answer="x", _lm_usage=usage))
    assert run.usage is not None
    assert (run.usage.input_tokens, run.usage.output_tokens) == (6, 3)
    assert load_run(prediction(answer="x", _lm_usage={"one": {"prompt_tokens": 0, "completion_tokens": 0}})).usage is None


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ({**FIELDS, "trajectory": 5}, "trajectory"),
        ({**FIELDS, "trajectory": {"tool_name_0": 5}}, "trajectory.tool_name_0"),
        (5, ""),
        (events({"question": "x", "tool_calls": 5}), "history.messages.tool_calls"),
        (events(SUBMIT, 5), "history.messages"),  # type: ignore[arg-type]
    ],
)
def test_what_is_malformed_is_named(value: Foreign, path: str) -> None:
    with pytest.raises(RecordingError) as caught:
        load_run(value, format="dspy")
    assert caught.value.path == path


@pytest.mark.parametrize(
    ("name", "failed", "count"), [("two", ["book_hotel"], 2), ("badargs", ["get_weather"], 1), ("cut", [], 2), ("none", [], 0)]
)
def test_the_recorded_predictions(shared: Path, name: str, failed: list[str], count: int) -> None:
    path = shared / "cases" / "frameworks" / "dspy" / f"{name}.toDict.json"
    run = load_run(json.loads(path.read_text(encoding="utf-8")))
    assert run.format == "dspy"
    assert [call.name for call in run.tool_calls if call.failure() is not None] == failed
    assert len(run.tool_calls) == count


def test_a_module_is_not_asked_for_its_forward() -> None:
    class Module:
        __module__ = "dspy.primitives.module"

        def __getattribute__(self, name: str) -> object:
            assert name != "forward", "DSPy warns"
            return super().__getattribute__(name)

        def forward(self, question: str) -> str:
            return question

    assert dialogue_with(Module(), {}, None).blocks
