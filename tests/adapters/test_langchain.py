"""The reader of LangChain and LangGraph, without them: JSON, and objects that look like theirs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from foreign import foreign, foreign_class

from quickchecks import Run, checks, load_run, load_runs
from quickchecks._run import Reasoning, Text, ToolCall
from quickchecks.adapters import agent_kind
from quickchecks.adapters import langchain as adapter
from quickchecks.errors import RecordingError

Foreign = Any
MESSAGE = foreign_class("langchain_core.messages.base:BaseMessage")

USER = {"type": "human", "content": "q"}
CALL = {"name": "f", "args": {"n": 1}, "id": "c1", "type": "tool_call"}
ANSWER = {"type": "ai", "content": "done"}


def ai(content: Foreign = "", *calls: Foreign, **more: Foreign) -> Foreign:
    """An answer of a model."""
    return {"type": "ai", "content": content, "tool_calls": list(calls), **more}


def result(content: Foreign, id: str = "c1", **more: Foreign) -> Foreign:
    """A message of a tool."""
    return {"type": "tool", "content": content, "tool_call_id": id, "name": "f", **more}


def only(run: Run) -> ToolCall:
    """The only call of a run."""
    (call,) = run.tool_calls
    return call


def test_a_call_gets_its_result() -> None:
    call = only(adapter.load([USER, ai("", CALL), result([{"type": "text", "text": "ok"}], artifact={"n": 1}), ANSWER]))
    assert (call.arguments, call.result, call.state, call.metadata) == ({"n": 1}, "ok", "completed", {"artifact": {"n": 1}})


@pytest.mark.parametrize(
    "answer", [result("no", status="error"), result("Error: no", status="success"), result('{"error": "no"}')]
)
def test_a_call_fails(answer: Foreign) -> None:
    assert checks.no_tool_errors().score(adapter.load([USER, ai("", CALL), answer, ANSWER])).failed


def test_a_call_that_is_not_json_counts_and_fails() -> None:
    broken = {"name": "f", "args": '{"n": ', "id": "c1", "error": "x"}
    call = only(adapter.load([USER, ai("", invalid_tool_calls=[broken])]))
    assert call.failure() is not None
    assert call.arguments == '{"n": '
    nameless = adapter.load([USER, ai("", invalid_tool_calls=[{**broken, "name": None}])])
    assert checks.used_no_tools().score(nameless).outcome == "no_evidence"


def test_the_calls_of_old_messages() -> None:
    raw = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    assert only(adapter.load([USER, ai("", additional_kwargs={"tool_calls": [raw]})])).id == "c1"
    run = adapter.load([USER, ai("x", additional_kwargs={"tool_calls": [{"odd": 1}]})])
    assert checks.used_no_tools().score(run).outcome == "no_evidence"


def test_blocks_keep_their_order() -> None:
    blocks = [
        {"type": "thinking", "thinking": "hm"},
        {"type": "text", "text": "a"},
        {"type": "tool_use", "id": "c1", "name": "f", "input": {}},
        {"type": "text", "text": "b"},
    ]
    run = adapter.load([USER, ai(blocks, CALL)])
    assert [type(part) for part in run.messages[1].parts] == [Reasoning, Text, ToolCall, Text]
    assert only(run).arguments == {"n": 1}


def test_a_block_that_shows_a_call_which_the_message_does_not_hold_is_a_gap() -> None:
    run = adapter.load([USER, ai([{"type": "tool_use", "id": "c1", "name": "f", "input": {}}])])
    assert checks.used_no_tools().score(run).outcome == "no_evidence"


def test_tools_of_the_provider() -> None:
    blocks = [
        {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"q": "x"}},
        {"type": "web_search_tool_result", "tool_use_id": "s", "content": [{"url": "u"}]},
        {"type": "image_generation_call", "id": "i", "status": "failed"},
    ]
    search, image = adapter.load([USER, ai(blocks)]).tool_calls
    assert (search.name, search.kind, search.result) == ("web_search", "provider", [{"url": "u"}])
    assert (image.name, image.state) == ("image_generation", "failed")


def test_a_handoff_is_no_call_when_the_framework_says_so() -> None:
    move = {"name": "transfer_to_sub", "args": {}, "id": "c1"}
    said = {**result("Successfully transferred to sub"), "name": "transfer_to_sub"}
    assert adapter.load([USER, ai("", move), said, ANSWER]).tool_calls == ()
    assert len(adapter.load([USER, ai("", move), {**said, "content": "moved"}, ANSWER]).tool_calls) == 1


def test_a_state_keeps_the_whole_conversation() -> None:
    messages = [USER, ai("", CALL), result("ok"), ANSWER, USER, ANSWER]
    run = adapter.load({"messages": messages, "todos": ["a"]})
    assert run.tool_calls == ()
    assert len(run.history) == 3
    assert run.metadata == {"todos": ["a"]}
    assert len(adapter.load(messages).tool_calls) == 1


def test_a_state_that_waits() -> None:
    state = {"messages": [USER, ai("", CALL)]}
    for value in (
        {**state, "__interrupt__": [{"value": "ok?"}]},
        foreign("langgraph.types:GraphOutput", value=state, interrupts=(1,)),
        foreign("langgraph.types:StateSnapshot", values=state, tasks=(foreign("x:Task", interrupts=(1,), error=None),)),
    ):
        assert only(load_run(value)).state == "awaiting"
    assert only(load_run(state)).state == "requested"


def test_a_snapshot_of_a_run_that_broke_off() -> None:
    tasks = (foreign("x:Task", interrupts=(), error="ValueError('no rooms left')"),)
    run = load_run(foreign("langgraph.types:StateSnapshot", values={"messages": [USER, ai("", CALL)]}, tasks=tasks))
    assert run.error is not None
    assert (run.error.type, run.error.message) == ("ValueError", "ValueError('no rooms left')")


def test_a_structured_answer_given_by_a_call() -> None:
    trip = foreign_class("my.models:Trip")()
    trip.model_dump = lambda **more: {"city": "Paris"}
    call = {"name": "Trip", "args": {"city": "Paris"}, "id": "c1"}
    messages = [USER, ai("", call), {**result("Returning structured response: x"), "name": "Trip"}]
    run = adapter.load({"messages": messages, "structured_response": trip})
    assert run.tool_calls == ()
    assert run.output == {"city": "Paris"}
    as_dict = adapter.load({"messages": messages, "structured_response": {"city": "Paris"}})
    assert (as_dict.tool_calls, as_dict.output) == ((), {"city": "Paris"})


def test_a_structured_answer_does_not_hide_another_call() -> None:
    messages = [USER, ai("", CALL), result("ok"), ai('{"n":1}')]
    run = adapter.load({"messages": messages, "structured_response": {"n": 1}})
    assert run.tool_names == ("f",)
    assert run.text == '{"n":1}'


def test_one_answer_shows_no_results() -> None:
    base = foreign_class("langchain_core.messages.base:BaseMessage")
    run = load_run(foreign("langchain_core.messages.ai:AIMessage", base, type="ai", content="", tool_calls=[CALL]))
    assert run.gap_kinds == {"input", "results"}


def test_a_graph_without_messages() -> None:
    run = load_run(foreign("langgraph.types:GraphOutput", value={"n": 1}, interrupts=()))
    assert run.output == {"n": 1}
    assert checks.used_no_tools().score(run).outcome == "no_evidence"


def test_usage() -> None:
    spent = {"input_tokens": 5, "output_tokens": 2, "input_token_details": {"cache_read": 1}}
    run = adapter.load([USER, ai("a", usage_metadata=spent), ai("b", usage_metadata=spent)])
    assert run.usage is not None
    assert (run.usage.input_tokens, run.usage.cached_tokens, run.usage.reasoning_tokens, run.usage.requests) == (10, 2, None, 2)


def test_the_agent_is_named() -> None:
    run = adapter.load([USER, ai("a", name="travel")])
    assert (run.agent, run.messages[1].agent) == ("travel", "travel")
    assert adapter.load([USER, ai("a", name="one"), ai("b", name="two")]).agent is None


# The results of AgentExecutor


def step(tool: str, observed: Foreign) -> Foreign:
    """A step, with the action of a tool."""
    return foreign("langchain_core.agents:AgentAction", tool=tool, tool_input={"n": 1}), observed


def test_the_steps_of_an_executor() -> None:
    steps = [step("f", {"ok": 1}), step("g", "g is not a valid tool, try one of [f]."), step("_Exception", "Invalid format")]
    run = load_run({"input": "q", "output": "done", "intermediate_steps": steps})
    good, unknown = run.tool_calls
    assert (good.name, good.arguments, good.result, good.state) == ("f", {"n": 1}, {"ok": 1}, "completed")
    assert unknown.state == "failed"
    assert (run.messages[0].text, run.text) == ("q", "done")


def test_agents_are_known() -> None:
    for path in ("langgraph.pregel.main:Pregel", "langchain_core.runnables.base:Runnable"):
        kind = agent_kind(foreign(path))
        assert kind is not None
        assert (kind.format, kind.mocks_tools, kind.stateful) == ("langchain", True, False)


@pytest.mark.parametrize(
    ("value", "path"),
    [
        (["x"], "[0]"),
        ([USER, {"type": "odd", "content": "x"}], "[1]"),
        ([{"type": "ai", "content": 5}], "[0].content"),
        ([{"type": "ai", "content": [5]}], "[0].content[0]"),
        ([ai("", {"name": ""})], "[0].tool_calls[0]"),
        ([{"type": "ai", "content": "", "tool_calls": 5}], "[0].tool_calls"),
        ({"messages": [USER, 5]}, "messages[1]"),
        ({"output": "x", "intermediate_steps": [5]}, "intermediate_steps[0]"),
    ],
)
def test_a_malformed_message_is_an_error_that_says_where(value: Foreign, path: str) -> None:
    with pytest.raises(RecordingError) as caught:
        adapter.load(value)
    assert caught.value.path == path


def test_recorded_runs(shared: Path) -> None:
    files = sorted((shared / "cases" / "frameworks" / "langgraph").glob("*.json"))
    assert files
    seen = set()
    for file in files:
        value = json.loads(file.read_text())
        state = value.get("values", value) if isinstance(value, dict) else value
        assert adapter.recognises(state), file
        run = load_run(state)
        assert run.format == "langchain"
        outcome = checks.no_tool_errors().score(run).outcome
        clean = any(word in file.name for word in ("none", "loop_te"))
        expected = "passed" if clean else "no_evidence" if "_cut_" in file.name else "failed"
        assert outcome == expected, (file, outcome)
        if "_two_" in file.name:
            assert run.tool_names == ("get_weather", "book_hotel"), file
        seen.add(outcome)
    assert seen == {"passed", "failed", "no_evidence"}


class Piece:
    """A piece of a message: what is added to it goes on with it."""

    __module__ = "langchain_core.messages.base"
    type = "AIMessageChunk"

    def __init__(self, content: str, id: str | None = "a1") -> None:
        self.content, self.id = content, id

    def __add__(self, other: Piece) -> Piece:
        return type(self)(self.content + other.content, self.id)


PIECE = type("AIMessageChunk", (Piece, foreign_class("langchain_core.messages.base:BaseMessageChunk", MESSAGE)), {})


def message(kind: str, content: str, id: str, **more: Foreign) -> Foreign:
    return foreign("langchain_core.messages:Message", MESSAGE, type=kind, content=content, id=id, **more)


ASKED = message("human", "Plan", "h1")
CALLS = message("ai", "", "a0", tool_calls=[CALL])
TOLD = message("tool", "sunny", "t1", tool_call_id="c1", name="f")
SAID = message("ai", "Done.", "a1")
UPDATES = [{"model": {"messages": [CALLS]}}, {"tools": {"messages": [TOLD]}}, {"other": None}, {"model": {"messages": [SAID]}}]
STATES = [{"messages": [ASKED, CALLS, TOLD, SAID][:count]} for count in (1, 2, 3, 4)]
PAIRS = [(CALLS, {"langgraph_node": "model"}), (TOLD, {"langgraph_node": "tools"}), (SAID, {"langgraph_node": "model"})]


@pytest.mark.parametrize(
    ("streamed", "gaps"),
    [
        (STATES, set()),
        (UPDATES, {"input"}),
        (PAIRS, {"input"}),
        ([("updates", update) for update in UPDATES], {"input"}),
        ([*(("updates", update) for update in UPDATES), *(("values", state) for state in STATES)], set()),
        ([((), update) for update in UPDATES], {"input"}),
        ([((), "updates", update) for update in UPDATES], {"input"}),
        ([(("tools:1",), {"model": {"messages": [ASKED]}}), *(((), update) for update in UPDATES)], {"input", "nested"}),
        ([{"type": "messages", "ns": (), "data": pair} for pair in PAIRS], {"input"}),
    ],
)
def test_what_a_graph_streams(streamed: Foreign, gaps: set[str]) -> None:
    run = load_run(streamed)
    assert (run.format, run.text) == ("langchain", "Done.")
    assert (only(run).name, only(run).result) == ("f", "sunny")
    assert run.gap_kinds == gaps | {"nested_possible"}
    assert checks.includes("sunny").score(run).failed


def test_pieces_of_messages_are_put_together() -> None:
    pieces = [PIECE("Do"), PIECE("ne."), PIECE("", "a2")]
    assert load_run([(piece, {"langgraph_node": "model"}) for piece in pieces]).messages[0].text == "Done."
    alone = load_run([PIECE("Do", None), PIECE("ne.", None)])
    assert alone.text == "Done."
    assert alone.gap_kinds == {"input"}


def test_words_of_a_model_inside_a_tool_are_not_the_agents() -> None:
    inside = (PIECE("It is sunny", "x"), {"langgraph_node": "tools"})
    run = load_run([PAIRS[0], inside, *PAIRS[1:]])
    assert run.text == "Done."
    assert run.gap_kinds == {"input", "nested", "nested_possible"}


def test_states_of_several_runs_are_several_runs() -> None:
    other = {"messages": [message("human", "Again", "h2"), message("ai", "Yes.", "a9")]}
    assert [run.text for run in load_runs([STATES[-1], other])] == ["Done.", "Yes."]
    later = {"messages": [*STATES[-1]["messages"], message("human", "Again", "h2"), message("ai", "Yes.", "a9")]}
    assert [run.text for run in load_runs([STATES[-1], later])] == ["Done.", "Yes."]


def test_updates_replace_remove_and_wait() -> None:
    removed = foreign("langchain_core.messages.modifier:RemoveMessage", MESSAGE, type="remove", id="a0")
    run = load_run([*UPDATES[:1], {"trim": {"messages": [removed]}}, {"model": [{"messages": SAID, "n": 1}]}])
    assert (run.text, run.tool_calls, run.metadata) == ("Done.", (), {"n": 1})
    run = load_run([UPDATES[0], {"__interrupt__": ({"value": "really?"},)}])
    assert only(run).state == "awaiting"


def test_the_events_of_a_run() -> None:
    begun = {"event": "on_chain_start", "run_id": "r", "data": {"input": {"messages": [ASKED]}}}
    inner = {"event": "on_chain_end", "run_id": "s", "data": {"output": {"messages": [TOLD]}}}
    ended = {"event": "on_chain_end", "run_id": "r", "data": {"output": STATES[-1]}}
    assert load_run([begun, inner, ended]).text == "Done."
    with pytest.raises(RecordingError, match="until the end"):
        load_run([begun, inner])


def test_streams_that_show_no_run_are_refused() -> None:
    for piece in (("custom", SAID), ("debug", {"payload": SAID})):
        with pytest.raises(RecordingError, match="stream_mode='values'"):
            load_run([piece])
