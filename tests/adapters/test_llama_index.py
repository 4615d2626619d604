"""LlamaIndex: outputs, events and messages, without the framework."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from foreign import foreign

from quickchecks import Run, checks, load_run
from quickchecks._run import Other, Reasoning
from quickchecks.errors import RecordingError

Foreign = Any  # JSON and the objects of frameworks have no types


def said(text: str, *blocks: Foreign) -> Foreign:
    return {"role": "assistant", "additional_kwargs": {}, "blocks": [{"block_type": "text", "text": text}, *blocks]}


def output(text: str, *calls: Foreign, **more: Foreign) -> Foreign:
    return {"response": said(text), "current_agent_name": "travel", "tool_calls": list(calls), **more}


def selected(name: str, id: str = "c1", **arguments: Foreign) -> Foreign:
    return {"tool_name": name, "tool_kwargs": arguments, "tool_id": id}


def ended(call: Foreign, raw: Foreign, *, failed: bool = False, direct: bool = False) -> Foreign:
    blocks = [{"block_type": "text", "text": str(raw)}]
    shown = {"blocks": blocks, "tool_name": call["tool_name"], "raw_output": raw, "is_error": failed}
    return {**call, "tool_output": shown, "return_direct": direct}


def read(*events: Foreign) -> Run:
    return load_run(list(events), format="llama_index")


def test_results_are_native_values_and_find_their_calls() -> None:
    one, two = selected("f", "c1", n=1), selected("f", "c2", n=2)
    run = read(output("x", one, two), one, two, ended(two, {"error": "no"}), ended(one, [1]), output("Done."))
    assert [(call.result, call.failure() is None) for call in run.tool_calls] == [([1], True), ({"error": "no"}, False)]
    assert run.text == "x Done."


def test_equal_ids_in_several_steps_are_several_calls() -> None:
    call = selected("f")
    events = [output("", call), call, ended(call, "a"), output("", call), call, ended(call, "b")]
    run = read(*events, output("Done.", ended(call, "a"), ended(call, "b")))
    assert [one.result for one in run.tool_calls] == ["a", "b"]


def test_results_that_only_the_last_output_holds_are_calls() -> None:
    run = read(output("Done.", ended(selected("f"), "a"), ended(selected("g"), "no", failed=True)))
    assert [(call.name, call.state) for call in run.tool_calls] == [("f", "completed"), ("g", "failed")]


def test_calls_and_results_that_no_output_announced() -> None:
    run = read(selected("f"), ended(selected("f"), "a"), ended(selected("g", "c2"), "b"))
    assert [(call.name, call.result) for call in run.tool_calls] == [("f", "a"), ("g", "b")]


def test_a_tool_called_handoff_is_one_by_its_shape_alone() -> None:
    real, other = selected("handoff", to_agent="b", reason="x"), selected("handoff", "c2", ticket=5)
    listed = read(output("", real, other), real, ended(real, "ok", direct=True), other, ended(other, "ok")).all_tool_calls
    assert [call.kind for call in listed] == ["handoff", "tool"]
    own = read(output("", real), ended(real, "ok", direct=False))
    assert own.all_tool_calls[0].kind == "tool"


def test_words_that_the_framework_could_not_read_are_no_answer() -> None:
    run = read(output("Thoughts?", retry_messages=[said("x")]), output("Sunny."))
    assert run.text == "Sunny."
    acted = read(output("Thought: x\nAction: f\nAction Input: {}", selected("f")), ended(selected("f"), "a"), output("Sunny."))
    assert acted.text == "Sunny."
    assert type(acted.messages[0].parts[0]) is Reasoning


def test_an_unknown_block_may_be_a_call() -> None:
    run = read({"response": said("x", {"block_type": "magic", "tool": "f"}), "current_agent_name": "a", "tool_calls": []})
    assert checks.used_no_tools().score(run).outcome == "no_evidence"
    harmless = read({"response": said("x", {"block_type": "image", "url": "u"}), "current_agent_name": "a", "tool_calls": []})
    assert checks.used_no_tools().score(harmless).passed
    assert type(harmless.messages[0].parts[-1]) is Other


def test_calls_beside_a_message_are_read_once() -> None:
    block = {"block_type": "tool_call", "tool_call_id": "c1", "tool_name": "f", "tool_kwargs": "{}"}
    beside = {
        "tool_calls": [{"id": "c1", "function": {"name": "f", "arguments": "{}"}}, {"id": "c2", "function": {"name": "g"}}, 5]
    }
    run = read({"role": "assistant", "additional_kwargs": beside, "blocks": [block]})
    assert [call.name for call in run.tool_calls] == ["f", "g"]
    assert "calls" in run.gap_kinds


def test_a_failed_workflow_is_a_failed_run() -> None:
    failed = foreign("workflows.events:WorkflowFailedEvent", exception=ValueError("too long"))
    run = load_run([foreign("llama_index.core.agent.workflow.workflow_events:ToolCall", **selected("f")), failed])
    assert run.error is not None
    assert (run.error.message, run.error.type) == ("too long", "ValueError")
    assert run.tool_calls[0].state == "requested"


def test_what_a_workflow_of_ones_own_gave_shows_no_calls() -> None:
    for result in ("Sunny.", {"weather": "Sunny."}):
        run = load_run(foreign("workflows.events:StopEvent", result=result))
        assert "Sunny." in run.text
        assert checks.used_no_tools().score(run).outcome == "no_evidence"


@pytest.mark.parametrize(
    ("events", "path"),
    [
        ([output(""), {**output(""), "response": {"role": "user", "blocks": []}}], "[1].response"),
        ([{**output(""), "tool_calls": "x"}], "[0].tool_calls"),
        ([{**output(""), "tool_calls": [{"tool_id": "c1"}]}], "[0].tool_calls[0].tool_name"),
        ([{"input": "x", "current_agent_name": "a"}], "[0].input"),
        ([{"role": "robot", "blocks": []}], "[0].role"),
        ([{"role": "user", "blocks": 5}], "[0].blocks"),
    ],
)
def test_what_is_malformed_is_named(events: Foreign, path: str) -> None:
    with pytest.raises(RecordingError) as caught:
        load_run(events, format="llama_index")
    assert caught.value.path == path


def test_the_recorded_outputs_events_and_memories(shared: Path) -> None:
    folder = shared / "cases" / "frameworks" / "llama_index"
    runs = {path.stem: load_run(json.loads(path.read_text())) for path in folder.glob("*.json") if path.stem != "loop"}
    for name in ("two", "two_events", "par", "par_events"):
        states = [(call.name, call.state) for call in runs[name].tool_calls]
        assert states == [("get_weather", "completed"), ("book_hotel", "failed")], name
        assert runs[name].format == "llama_index"
    assert runs["two_events"].text == "Checking Sunny in Paris; booking failed."
    assert "text" in runs["two"].gap_kinds
    assert [call.state for call in runs["loop_events"].tool_calls] == ["completed", "completed", "requested"]
    assert [call.failure() is None for call in runs["badargs_events"].tool_calls] == [False]
    assert runs["memory_messages"].tool_names == ("get_weather", "book_hotel")
