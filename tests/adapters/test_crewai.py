"""Outputs of CrewAI, without it."""

from __future__ import annotations

import asyncio
import json
import runpy
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from foreign import foreign

from quickchecks import checks, load_run
from quickchecks._targets.functions import unfolded
from quickchecks.errors import RecordingError

Foreign = Any  # JSON and the objects of SDKs have no types

made = runpy.run_path(str(Path(__file__).parent / "samples" / "crewai.py"))
CREW, TASK, AGENT, MESSAGES, FAILURE, CALL = (made[name] for name in ("CREW", "TASK", "AGENT", "MESSAGES", "FAILURE", "CALL"))


def said(*messages: Foreign, **fields: Foreign) -> dict[str, Foreign]:
    return {**AGENT, "messages": [*MESSAGES[:2], *messages], "tool_failures": [], **fields}


def test_an_agent() -> None:
    run = load_run(AGENT)
    assert run.format == "crewai"
    assert run.agent == "traveller"
    assert run.text == "It rains."
    weather, hotel = run.tool_calls
    assert (weather.result, weather.failure()) == ("Rain", None)
    failure = hotel.failure()
    assert failure is not None
    assert (failure.message, failure.type, failure.source) == ("no rooms left", "ValueError", "flag")
    assert run.usage is not None
    assert (run.usage.input_tokens, run.usage.output_tokens, run.usage.cached_tokens, run.usage.requests) == (20, 7, 3, 1)


def test_a_crew_has_a_run_for_each_task() -> None:
    second = {
        **TASK,
        "agent": "writer",
        "raw": "Done.",
        "messages": [{"role": "assistant", "content": "Done."}],
        "tool_failures": [],
    }
    run = load_run({**CREW, "raw": "Done.", "tasks_output": [TASK, second]})
    assert run.text == "Done."
    assert [(child.agent, child.text) for child in run.children] == [("traveller", "It rains."), ("writer", "Done.")]
    assert run.tool_names == ("get_weather", "book_hotel")
    assert run.gap_kinds == {"input"}
    assert checks.no_tool_errors().score(run).failed


def test_a_crew_without_tasks_is_no_evidence() -> None:
    run = load_run({**CREW, "tasks_output": []})
    assert checks.used_no_tools().score(run).outcome == "no_evidence"
    run = load_run({**CREW, "tasks_output": [{**TASK, "messages": [], "tool_failures": []}]})
    assert checks.used_no_tools().score(run).outcome == "no_evidence"


def test_nothing_counted_is_not_nothing_used() -> None:
    assert load_run({**AGENT, "usage_metrics": dict.fromkeys(made["USAGE"], 0)}).usage is None
    assert load_run({**AGENT, "usage_metrics": None}).usage is None


def test_earlier_turns_are_history() -> None:
    earlier = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "", "tool_calls": [CALL]}, MESSAGES[3]]
    run = load_run({**AGENT, "messages": [MESSAGES[0], *earlier, *MESSAGES[1:]]})
    assert run.tool_names == ("get_weather", "book_hotel")
    assert run.messages[run.history_length].text == "\nCurrent Task: Plan"


def test_without_records_of_failures_the_text_is_read() -> None:
    run = load_run({**AGENT, "tool_failures": []})
    failure = run.tool_calls[1].failure()
    assert failure is not None
    assert failure.source == "text"


def test_equal_calls_fail_in_the_order_of_the_records() -> None:
    calls = [{**CALL, "id": f"c{at}"} for at in range(3)]
    failures = [{**FAILURE, "tool_name": "get_weather"}] * 2
    run = load_run(said({"role": "assistant", "content": "", "tool_calls": calls}, tool_failures=failures))
    assert [call.state for call in run.tool_calls] == ["failed", "failed", "requested"]


def test_failures_of_calls_that_are_not_there_are_told() -> None:
    run = load_run(said(MESSAGES[-1], tool_failures=[FAILURE]))
    assert "calls" in run.gap_kinds
    assert checks.no_tool_errors().score(run).outcome == "no_evidence"
    run = load_run(said(MESSAGES[-1], tool_failures=[{**FAILURE, "agent_role": "coworker"}]))
    assert [(call.name, call.state) for call in run.tool_calls] == [("book_hotel", "failed")]
    assert [child.agent for child in run.children] == ["coworker"]


@pytest.mark.parametrize("name", ["delegate_work_to_coworker", "Ask question to coworker"])
def test_what_coworkers_did_is_not_recorded(name: str) -> None:
    call = {"id": "d", "type": "function", "function": {"name": name, "arguments": "{}"}}
    answer = {"role": "tool", "content": "ok", "tool_call_id": "d"}
    run = load_run(said({"role": "assistant", "content": "", "tool_calls": [call]}, answer, MESSAGES[-1]))
    assert checks.did_not_call("refund").score(run).outcome == "no_evidence"


def test_the_steps_of_a_plan_are_not_recorded() -> None:
    run = load_run({**AGENT, "todos": [{"step_number": 1, "tool_used": "refund"}]})
    assert checks.did_not_call("refund").score(run).outcome == "no_evidence"


def test_calls_that_a_model_wrote() -> None:
    written = 'Thought: look\nAction: get_weather\nAction Input: {"city": "Oslo"}\nObservation: Rain'
    asked = "Thought: again\nAction: get_weather\nAction Input: {}"
    final = "Thought: I now know\nFinal Answer: It rains."
    run = load_run(said(*({"role": "assistant", "content": text} for text in (written, asked, final))))
    first, second = run.tool_calls
    assert (first.name, first.arguments, first.result) == ("get_weather", {"city": "Oslo"}, "Rain")
    assert (second.state, second.arguments) == ("requested", {})
    assert run.text == "It rains."


def test_words_that_only_resemble_are_left() -> None:
    text = "My Final Answer: is yes.\nAction: none"
    assert load_run(said({"role": "assistant", "content": text}, raw=text)).text == text


def test_a_structured_answer() -> None:
    text = '{"rain": true}'
    run = load_run(said({"role": "assistant", "content": text}, raw=text, pydantic={"rain": True}))
    assert run.output == {"rain": True}
    assert run.text == text
    run = load_run({**CREW, "json_dict": {"rain": True}})
    assert run.output == {"rain": True}


def test_an_answer_that_is_not_the_last_message_is_added() -> None:
    assert load_run({**AGENT, "raw": "Corrected."}).final_text == "Corrected."


def test_objects_read_as_dicts_do() -> None:
    task = foreign("crewai.tasks.task_output:TaskOutput", **{**TASK, "tool_failures": [foreign("x:R", **FAILURE)]})
    run = load_run(foreign("crewai.crews.crew_output:CrewOutput", **{**CREW, "tasks_output": [task]}))
    assert [call.state for call in run.tool_calls] == ["completed", "failed"]


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ({**CREW, "tasks_output": [5]}, "tasks_output[0]"),
        ({**AGENT, "tool_failures": 5}, "tool_failures"),
        ({**AGENT, "messages": [5]}, "messages[0]"),
        ({**CREW, "tasks_output": [{**TASK, "messages": [{"role": "odd"}]}]}, "tasks_output[0].messages[0].role"),
    ],
)
def test_what_is_malformed_is_named(value: Foreign, path: str) -> None:
    with pytest.raises(RecordingError) as caught:
        load_run(value, format="crewai")
    assert caught.value.path == path


@pytest.mark.parametrize(
    ("name", "failed"), [("two", ["book_hotel"]), ("par", ["book_hotel"]), ("bad", ["no_such_tool"]), ("none", [])]
)
def test_the_recorded_outputs(shared: Path, name: str, failed: list[str]) -> None:
    path = shared / "cases" / "frameworks" / "crewai" / f"{name}.json"
    recorded = json.loads(path.read_text(encoding="utf-8"))
    run = load_run(recorded, format="crewai")
    assert [call.name for call in run.tool_calls if call.failure() is not None] == failed
    assert run.text == recorded["raw"]


def test_a_stream_that_a_function_returns_is_read_to_its_end() -> None:
    read: list[str] = []

    def pieces(stream: Foreign) -> Iterator[Foreign]:
        read.append("sync")
        stream.result, stream.is_completed = CREW, True
        yield foreign("crewai.types.streaming:StreamChunk", content="It ")

    async def later(stream: Foreign) -> AsyncIterator[Foreign]:
        for piece in pieces(stream):
            yield piece

    stream = type("CrewStreamingOutput", (), {"__module__": "crewai.types.streaming", "__iter__": pieces, "__aiter__": later})
    for iterator in (None, object()):
        made = stream()
        made._async_iterator = iterator
        run = load_run(asyncio.run(unfolded(made)))
        assert (run.format, run.text) == ("crewai", load_run(CREW).text)
        asyncio.run(unfolded(made))
    assert read == ["sync", "sync"]
