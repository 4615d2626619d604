"""Results of the OpenAI Agents SDK, as objects that only look like its own; tests/frameworks asks the real one."""

from __future__ import annotations

from typing import Any

import pytest
from foreign import foreign, foreign_class
from scenarios import TWO, assert_none, assert_two

from quickchecks import Run, ToolCall, Usage, checks, load_run
from quickchecks.adapters import agent_kind
from quickchecks.errors import RecordingError

Foreign = Any  # JSON and the objects of SDKs have no types

BASE = foreign_class("agents.result:RunResultBase")
AGENT = foreign("agents.agent:Agent", name="travel")
ORIGIN = foreign("agents.tool:ToolOrigin", type="function", agent_name=None)


def item(kind: str, raw: Foreign, **fields: Foreign) -> Foreign:
    return foreign(f"agents.items:{kind}", **{"agent": AGENT, "type": kind, "raw_item": raw, **fields})


def call(id: str, name: str, origin: Foreign = ORIGIN) -> Foreign:
    raw = {"type": "function_call", "call_id": id, "name": name, "arguments": '{"city": "Paris"}'}
    return item("tool_call_item", raw, tool_origin=origin)


def output(id: str, value: Foreign) -> Foreign:
    return item("tool_call_output_item", {"type": "function_call_output", "call_id": id, "output": str(value)}, output=value)


def says(text: str) -> Foreign:
    raw = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}
    return item("message_output_item", raw)


def result(*items: Foreign, name: str = "agents.result:RunResult", **fields: Foreign) -> Foreign:
    held = {"input": "Plan", "new_items": list(items), "raw_responses": [], "final_output": None, "interruptions": []}
    return foreign(name, BASE, **{**held, **fields})


def details(*items: Foreign, **fields: Foreign) -> Foreign:
    held = {"input": "Plan", "new_items": list(items), "raw_responses": [], "last_agent": AGENT}
    return foreign("agents.exceptions:RunErrorDetails", **{**held, **fields})


def context(**counts: Foreign) -> Foreign:
    return foreign("agents.run_context:RunContextWrapper", usage=foreign("agents.usage:Usage", **counts))


def only(run: Run) -> ToolCall:
    (found,) = run.all_tool_calls
    return found


REFUSED = "An error occurred while running the tool. Please try again."


def test_two() -> None:
    run = assert_two(
        result(
            call("c1", "get_weather"),
            output("c1", "Sunny"),
            call("c2", "book_hotel"),
            output("c2", REFUSED),
            says(TWO),
            final_output=TWO,
        )
    )
    assert (run.agent, run.format, run.gaps) == ("travel", "openai_agents", ())
    assert [message.agent for message in run.messages] == [None, "travel", "travel", "travel"]


def test_none() -> None:
    assert_none(result(says("Hello there."), final_output="Hello there."))


def test_what_was_said_before_is_history() -> None:
    earlier = [
        {"role": "user", "content": "Hi"},
        {"type": "function_call", "call_id": "h", "name": "old", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "h", "output": "x"},
        {"role": "assistant", "content": "Hello."},
        {"role": "user", "content": "Plan"},
    ]
    run = load_run(result(says("Done."), input=earlier, final_output="Done."))
    assert run.tool_calls == ()
    assert [message.text for message in run.messages[run.history_length :]] == ["Plan", "Done."]


def test_values_are_kept_as_values() -> None:
    assert only(load_run(result(call("c", "f"), output("c", {"error": "x"})))).failure().message == "x"  # type: ignore[union-attr]
    parts = [foreign("agents.tool:ToolOutputText", model_dump=lambda **options: {"type": "text", "text": "words"})]
    assert only(load_run(result(call("c", "f"), output("c", parts)))).result == "words"


def test_a_handoff_is_no_tool_call() -> None:
    raw = {"type": "function_call", "call_id": "c", "name": "transfer_to_b", "arguments": "{}"}
    done = {"type": "function_call_output", "call_id": "c", "output": '{"assistant": "b"}'}
    run = load_run(result(item("handoff_call_item", raw), item("handoff_output_item", done), says("x"), final_output="x"))
    assert run.tool_calls == ()
    assert (only(run).kind, only(run).state) == ("handoff", "completed")
    assert load_run(result(call("c", "transfer_to_b"), output("c", "x"))).tool_calls != ()


def test_an_agent_that_is_a_tool_is_a_gap() -> None:
    origin = foreign("agents.tool:ToolOrigin", type="agent_as_tool", agent_name="sub")
    run = load_run(result(call("c", "ask", origin), output("c", "x"), says("x"), final_output="x"))
    assert only(run).kind == "agent"
    assert [(gap.kind, gap.name) for gap in run.gaps] == [("nested", "sub")]
    assert checks.did_not_call("refund").score(run).outcome == "no_evidence"


def test_versions_that_do_not_say_which_tools_are_agents() -> None:
    raw = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}
    run = load_run(result(item("tool_call_item", raw), output("c", "x"), says("x"), final_output="x"))
    assert run.gap_kinds == {"nested_possible"}
    assert checks.did_not_call("refund").score(run).passed


def test_a_structured_answer_is_a_value_and_its_json() -> None:
    run = load_run(result(says('{"city":\n"Paris"}'), final_output={"city": "Paris"}))
    assert (run.output, run.text) == ({"city": "Paris"}, '{"city":"Paris"}')


def test_an_answer_that_no_message_holds_is_added() -> None:
    run = load_run(result(call("c", "f"), output("c", "Sunny"), final_output="Sunny"))
    assert run.text == "Sunny"
    assert load_run(result(call("c", "f"), output("c", 5), final_output=5)).output == 5


def test_a_call_that_waits_for_approval() -> None:
    waits = foreign("agents.items:ToolApprovalItem", type="tool_approval_item", raw_item=call("c", "f").raw_item)
    assert only(load_run(result(call("c", "f"), interruptions=[waits]))).state == "awaiting"
    other = foreign("agents.items:ToolApprovalItem", type="tool_approval_item", raw_item=call("x", "g").raw_item, agent=AGENT)
    assert [(one.name, one.state) for one in load_run(result(says("a"), interruptions=[other])).all_tool_calls] == [
        ("g", "awaiting")
    ]


def test_usage() -> None:
    counts = {
        "requests": 2,
        "total_tokens": 9,
        "input_tokens": 6,
        "output_tokens": 3,
        "input_tokens_details": {"cached_tokens": 1},
    }
    assert load_run(result(says("a"), context_wrapper=context(**counts))).usage == Usage(6, 3, 1, requests=2)
    assert load_run(result(says("a"), context_wrapper=context(requests=2, total_tokens=0))).usage == Usage(requests=2)
    assert load_run(result(says("a"), context_wrapper=context(requests=0))).usage is None


def test_a_stream_that_is_not_complete_is_no_evidence() -> None:
    run = load_run(result(says("a"), name="agents.result:RunResultStreaming", is_complete=False))
    assert run.gap_kinds == {"calls", "text"}
    failed = load_run(result(says("a"), is_complete=True, _stored_exception=ValueError("boom")))
    assert failed.error is not None
    assert (failed.error.message, failed.error.type) == ("boom", "ValueError")


# Runs that raised


def test_the_turn_that_failed_is_a_gap() -> None:
    held = details(call("c", "f"), output("c", "x"), raw_responses=[foreign("r:R", output=[call("c", "f").raw_item])])
    held.context_wrapper = context(requests=2, total_tokens=0)
    run = load_run(held)
    assert run.error is not None
    assert only(run).state == "completed"
    assert run.gap_kinds == {"calls"}
    held.context_wrapper = context(requests=1, total_tokens=0)
    assert load_run(held).gaps == ()


def test_a_call_that_the_details_lack_is_read_out_of_the_response() -> None:
    response = foreign("r:R", output=[call("c1", "f").raw_item, call("c2", "g").raw_item])
    run = load_run(details(call("c1", "f"), output("c1", "x"), raw_responses=[response]))
    assert [(one.name, one.state) for one in run.tool_calls] == [("f", "completed"), ("g", "requested")]


def test_the_exception_holds_the_details() -> None:
    error = foreign_class("agents.exceptions:AgentsException", Exception)("boom")
    vars(error)["run_data"] = details(call("c", "f"), output("c", "x"))
    run = load_run(error)
    assert run.error is not None
    assert (run.error.message, run.error.type, only(run).result) == ("boom", "AgentsException", "x")
    vars(error)["run_data"] = None
    assert load_run(error).gap_kinds == {"calls"}


def test_what_is_malformed_names_the_place() -> None:
    with pytest.raises(RecordingError) as caught:
        load_run(result(says("a"), item("tool_call_item", {"type": "function_call"})))
    assert caught.value.path == "new_items[1].raw_item.name"


def test_agents_are_known_by_module_and_name() -> None:
    kind = agent_kind(AGENT)
    assert kind is not None
    assert (kind.format, kind.stateful, kind.mocks_tools) == ("openai_agents", False, True)
    assert agent_kind(foreign("my.agents.agent:Agent")) is None
    assert agent_kind(foreign("agents.realtime.agent:RealtimeAgent", foreign_class("agents.agent:AgentBase"))) is None


def heard(*items: Foreign, asked: Foreign = (), ended: bool = True) -> list[Foreign]:
    """The events of a streamed run, with one answer of a model that asked for these calls."""
    begun = foreign("openai.types.responses.response_created_event:ResponseCreatedEvent", type="response.created")
    usage = {"input_tokens": 20, "output_tokens": 7}
    done = foreign(
        "openai.types.responses.response_completed_event:ResponseCompletedEvent",
        type="response.completed",
        response={"output": list(asked), "usage": usage},
    )
    raw = [foreign("agents.stream_events:RawResponsesStreamEvent", data=data) for data in ([begun, done] if ended else [begun])]
    changed = foreign("agents.stream_events:AgentUpdatedStreamEvent", new_agent=AGENT)
    return [changed, *raw, *(foreign("agents.stream_events:RunItemStreamEvent", item=item) for item in items)]


def test_the_events_of_a_streamed_run() -> None:
    run = load_run(heard(call("c1", "get_weather"), output("c1", "Sunny"), says("It is sunny.")))
    assert (run.format, run.agent, run.text) == ("openai_agents", "travel", "It is sunny.")
    assert run.gap_kinds == {"input"}
    assert (only(run).name, only(run).result) == ("get_weather", "Sunny")
    assert run.usage == Usage(20, 7, requests=1)
    assert checks.did_not_call("refund").passes(run)


def test_events_that_do_not_show_the_whole_run() -> None:
    said = says("It is sunny.")
    asked = {"type": "function_call", "call_id": "c9", "name": "refund", "arguments": "{}"}
    whole = heard(said)
    for events in (heard(said, ended=False), heard(said, asked=[asked]), [event for event in whole if hasattr(event, "item")]):
        run = load_run(events)
        assert checks.did_not_call("refund").score(run).outcome == "no_evidence"
    ends_with_a_tool = load_run(heard(call("c1", "get_weather"), output("c1", "Sunny")))
    assert ends_with_a_tool.gap_kinds == {"input", "text"}
    with pytest.raises(RecordingError, match="the items of a run"):
        load_run(whole[:3])
    with pytest.raises(RecordingError, match=r"\[4\]: expected an event"):
        load_run([*whole, "text"])


def test_one_event_is_no_answer() -> None:
    [*_, last] = heard(says("It is sunny."))
    with pytest.raises(RecordingError, match="not an answer"):
        load_run(last)
