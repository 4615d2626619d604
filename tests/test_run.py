"""The run model: what the agent said and did, as checks ask for it."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor

import msgspec
import pytest

from quickchecks import testing as t
from quickchecks._run import (
    CallKind,
    CallState,
    Gap,
    Message,
    Other,
    Part,
    Reasoning,
    Run,
    Source,
    Step,
    Text,
    ToolCall,
    ToolResult,
)

CALL = t.call("look")


@pytest.mark.parametrize(
    ("parts", "segments"),
    [
        (["one ", "two"], ["one two"]),
        (["one", CALL, "two"], ["one", "two"]),
        (["one", Reasoning("hm"), "two"], ["one", "two"]),
        (["one", Step(), "two"], ["one", "two"]),
        (["one", ToolResult("x"), "two"], ["one", "two"]),
        (["one", Other("source"), "two"], ["onetwo"]),
        (["", CALL, "two"], ["two"]),
        ([" ", CALL, "two"], [" ", "two"]),
        ([CALL], []),
        ([""], []),
        ([], []),
    ],
)
def test_adjacent_texts_are_one_segment_and_calls_divide(parts: list[str | Part], segments: list[str]) -> None:
    run = t.run(t.assistant(*parts))
    assert run.text == " ".join(segments)
    assert run.spoken_closed_up.raw == "".join(segments)


def test_messages_are_segments_of_their_own() -> None:
    run = t.run("foo", "bar", t.user("not this"), t.system("nor this"), Message("tool", (Text("nor this"),)), "baz")
    assert run.text == "foo bar baz"
    assert run.spoken_closed_up.raw == "foobarbaz"


@pytest.mark.parametrize(
    ("content", "final"),
    [
        (["one", "two"], "two"),
        (["one", " "], "one"),
        ([t.assistant("a", CALL, "b")], "ab"),
        ([t.assistant("a", Step(), "b")], "b"),
        ([t.assistant("a", Step(), CALL)], "a"),
        ([t.assistant("a", Step(), "b", Step(), " ")], "b"),
        (["one", CALL], "one"),
        (["one", t.user("more?")], "one"),
        ([t.user("hi")], ""),
        ([], ""),
    ],
)
def test_the_final_answer_is_the_last_step_that_says_anything(content: list[str | Part | Message], final: str) -> None:
    assert t.run(*content).final_text == final


def test_history_is_not_output() -> None:
    run = t.run(t.user("hi"), "Hello.", t.call("old"), t.user("weather?"), t.call("new"), "Cold.", history=3)
    assert run.text == "Cold."
    assert run.tool_names == ("new",)
    assert len(run.history) == 3
    assert run.call_sites[0].message == 3


@pytest.mark.parametrize(
    ("state", "kind", "counted"),
    [
        ("completed", "tool", True),
        ("failed", "tool", True),
        ("requested", "tool", True),
        ("awaiting", "tool", True),
        ("denied", "tool", True),
        ("partial", "tool", False),
        ("completed", "provider", True),
        ("completed", "agent", True),
        ("completed", "output", False),
        ("completed", "handoff", False),
    ],
)
def test_what_counts_as_a_call(state: CallState, kind: CallKind, counted: bool) -> None:
    run = t.run(t.assistant(ToolCall("look", state=state, kind=kind)))
    assert (run.tool_names == ("look",)) is counted
    assert bool(run.call_sites) is counted
    assert len(run.all_tool_calls) == 1


def nested() -> Run:
    """A root agent that calls two others, one of which calls a third; and one that nobody called."""
    deep = t.run(t.call("sql", id="deep"), agent="database")
    billing = t.run(t.call("refund"), t.call("ask_db", run=deep, kind="agent"), t.call("mail"), agent="billing")
    child = t.run(t.call("log"), agent="auditor")
    root = t.run(t.call("search"), t.call("billing", run=billing, kind="agent"), t.call("answer"), "Done.", agent="root agent")
    return msgspec.structs.replace(root, children=(child,))


def test_calls_of_nested_runs_count_in_their_place() -> None:
    run = nested()
    assert run.tool_names == ("search", "billing", "refund", "ask_db", "sql", "mail", "answer", "log")
    assert [site.call.name for site in run.call_sites] == list(run.tool_names)
    assert [site.number for site in run.call_sites] == list(range(1, 9))


def test_a_nested_call_says_whose_it_is_and_where() -> None:
    sites = {site.call.name: site for site in nested().call_sites}
    assert (sites["search"].agent, sites["search"].run) == ("root agent", ())
    assert (sites["refund"].agent, sites["refund"].run) == ("billing", (1,))
    assert (sites["sql"].agent, sites["sql"].run) == ("database", (1, 1))
    assert (sites["log"].agent, sites["log"].run) == ("auditor", (3,))


def test_an_agent_without_a_name_is_called_as_the_tool_was() -> None:
    run = t.run(t.call("billing", run=t.run(t.call("refund"))))
    assert run.call_sites[1].agent == "billing"


def test_the_words_of_nested_runs_are_not_output() -> None:
    assert t.run(t.call("billing", run=t.run("secret")), "Done.").text == "Done."


def test_calls_that_look_alike_are_never_merged() -> None:
    same = ToolCall("poll", id="c1")
    assert t.run(t.assistant(same, same), t.assistant(same)).tool_names == ("poll",) * 3


def test_gaps_of_nested_runs_are_gaps_of_the_run() -> None:
    inner = t.run(gaps=(Gap("results", "no results"),))
    run = t.run(t.call("billing", run=inner), gaps=(Gap("usage", "no usage"),))
    assert run.gap_kinds == {"usage", "results"}
    assert [gap.note for gap in run.gaps_of("results", "calls")] == ["no results"]


@pytest.mark.parametrize(
    ("raw", "arguments", "note"),
    [
        ('{"a": 1}', {"a": 1}, ""),
        ({"a": 1}, {"a": 1}, ""),
        (None, {}, ""),
        ("", {}, ""),
        ("null", None, ""),
        ('"text"', "text", ""),
        ('{"a": "cut', '{"a": "cut', "the arguments are not valid JSON"),
        ("[" * 5000, "[" * 5000, "the arguments are not valid JSON"),
        ('{"a": "\\ud83d"}', {"a": "\ud83d"}, ""),
    ],
)
def test_arguments_are_parsed_and_text_that_cannot_be_is_kept(raw: object, arguments: object, note: str) -> None:
    call = ToolCall("look", raw)
    assert call.arguments == arguments
    assert call.arguments_note == note


@pytest.mark.parametrize("value", [{"city": "Oslo"}, [1, 2], 5, False, None])
def test_a_structured_answer_has_its_json_as_text(value: object) -> None:
    run = t.run("First words.", t.answer(value))
    assert run.output == value
    assert run.text == "First words. " + {"True": "true"}.get(str(value), msgspec.json.encode(value).decode())


def test_the_output_is_the_text_where_there_is_no_value() -> None:
    assert t.run("a", "b").output == "a b"


@pytest.mark.parametrize(
    ("source", "shown"),
    [(Source("a.jsonl", 3), "a.jsonl:3"), (Source("a.json", index=0), "a.json[0]"), (Source("a.json"), "a.json")],
)
def test_a_source_is_written_as_an_editor_jumps_to_it(source: Source, shown: str) -> None:
    assert str(source) == shown


def test_a_run_is_frozen_and_equal_by_value() -> None:
    run = nested()
    with pytest.raises(AttributeError):
        run.messages = ()  # type: ignore[misc]
    assert run == nested()
    run.tool_names  # noqa: B018 - what was derived plays no part
    assert run == nested()


def test_a_run_survives_pickling_and_its_wire_form() -> None:
    run = nested()
    assert pickle.loads(pickle.dumps(run)) == run
    assert msgspec.json.decode(msgspec.json.encode(run), type=Run) == run


def test_threads_may_ask_one_run_at_once() -> None:
    run = nested()
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: (run.tool_names, run.text, run.final_text, len(run.call_sites)), range(64)))
    assert set(answers) == {(run.tool_names, "Done.", "Done.", 8)}


def test_a_scored_run_is_freed_without_the_collector() -> None:
    """A cycle between a run and its texts would keep every run of a large file alive until the collector comes."""
    import gc
    import weakref

    class Watched:
        pass

    gc.disable()
    try:
        mark = Watched()
        gone = weakref.ref(mark)
        run = t.run("hi", t.call("look"), metadata={"mark": mark})
        run.text, run.final_text, run.tool_names, run.call_sites, run.gap_kinds, run.spoken.folded  # noqa: B018
        del run, mark
        assert gone() is None
    finally:
        gc.enable()
