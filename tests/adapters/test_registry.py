"""Which format a value is in, and what happens when none is, or when the caller says which."""

from __future__ import annotations

import json
import runpy
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from quickchecks import Run, adapters, load_run, load_runs, testing
from quickchecks.adapters import _registry
from quickchecks.adapters._dialects import dialect
from quickchecks.adapters._hints import unknown
from quickchecks.adapters._objects import first_foreign
from quickchecks.adapters._registry import formats, recognise
from quickchecks.errors import RecordingError, UnknownFormatError, UnknownNameError

Foreign = Any  # JSON and the objects of SDKs have no types


USER = {"role": "user", "content": "Weather?"}
ANSWER = {"role": "assistant", "content": "Sunny."}
CALL = {"id": "c1", "type": "function", "function": {"name": "get_weather", "arguments": "{}"}}
TOOL_PART = {"type": "tool-invocation", "toolInvocation": {"state": "result", "toolCallId": "c", "toolName": "f", "result": 1}}
DOJO = {"suite_name": "shop", "user_task_id": "user_task_0"}

#: For each format, values that are in it. Each must be known to it, and to no other.
SAMPLES: dict[str, list[Foreign]] = {
    "openai_chat": [
        [USER],
        [USER, ANSWER],
        (USER, ANSWER),
        [{"role": "assistant", "content": None, "tool_calls": [CALL]}, {"role": "tool", "tool_call_id": "c1", "content": "x"}],
        [{"role": "user", "content": [{"type": "text", "text": "x"}, {"type": "image_url", "image_url": {}}]}],
        [USER, "not a message"],
        {"messages": [USER, ANSWER]},
        {"messages": [USER], "output": "Sunny."},
        {"messages": []},
        {"id": "1", "messages": [USER, ANSWER], "usage": {}, "suite_name": "mine"},
        {"choices": [{"message": ANSWER}], "object": "chat.completion"},
        ANSWER,
        [{"object": "chat.completion.chunk", "choices": []}],
        [{"choices": [{"index": 0, "delta": {"content": "x"}}]}],
    ],
    "reference": [
        [{"role": "assistant", "content": {"format": 2, "parts": [{"type": "text", "text": "x"}]}}],
        [USER, {"role": "assistant", "content": {"parts": [], "toolInvocations": []}}],
        [USER, {"role": "assistant", "content": {"text": "x"}}],
        [USER, {"role": "assistant", "content": [TOOL_PART]}],
        {"messages": [{"role": "assistant", "content": {"content": "x"}}]},
    ],
    "agentdojo": [
        {**DOJO, "messages": []},
        {**DOJO, "messages": [{"role": "assistant", "content": None, "tool_calls": [{"function": "f", "args": {}, "id": ""}]}]},
        {**DOJO, "messages": [{"role": "user", "content": [{"type": "text", "content": "x"}]}]},
    ],
    "tau_bench": [{"task_id": 0, "traj": [USER]}, {"reward": 1.0, "traj": []}],
    "quickchecks": [
        Run(),
        {"schema": "quickchecks.run/1"},
        {"schema": "quickchecks.run/1", "messages": [{"role": "assistant"}]},
        {"schema": "quickchecks.run/2"},
    ],
    "values": ["text", "", None, 5, 1.5, True, {"output": "x"}, {"answer": {"n": 1}, "usage": {}}, {"messages": "x"}],
}

# Formats of frameworks and of other providers keep their samples in files of their own.
SAMPLES.update(
    {path.stem: runpy.run_path(str(path))["SAMPLES"] for path in sorted((Path(__file__).parent / "samples").glob("*.py"))}
)

#: Values that no format may claim: calls in the manner of others, and things that are no runs.
STRANGERS: list[Foreign] = [
    [{"role": "assistant", "parts": [{"type": "text", "text": "x"}]}],
    [{"role": "assistant", "content": None, "tool_calls": [{"function": "f", "args": {}}]}],
    {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "x"}]},
    {"type": "agent.start", "messages": []},
    USER,
    {"role": "system", "content": "x"},
    {"a": 1},
    [],
    [1, 2],
    b"bytes",
    object(),
]


@pytest.mark.parametrize(("name", "sample"), [(name, sample) for name, samples in SAMPLES.items() for sample in samples])
def test_every_sample_has_exactly_one_format(name: str, sample: Foreign) -> None:
    claims = [format.name for format in formats().values() if format.recognises(sample)]
    assert claims == [name]
    found = recognise(sample)
    assert found is not None
    assert found.name == name


def test_a_list_of_chat_messages_is_claimed_by_no_other_format() -> None:
    """So they are known without asking the others."""
    lists = [(name, sample) for name, samples in SAMPLES.items() for sample in samples if type(sample) is list]
    chats = {name for name, sample in lists if first_foreign(sample) is None and dialect(sample) == "chat"}
    assert chats == {"openai_chat"}


@pytest.mark.parametrize("stranger", STRANGERS)
def test_no_format_claims_a_stranger(stranger: Foreign) -> None:
    assert [format.name for format in formats().values() if format.recognises(stranger)] == []


@pytest.mark.parametrize("name", sorted(formats()))
def test_every_format_has_samples_and_a_description(name: str) -> None:
    assert SAMPLES[name]
    assert formats()[name].description.endswith(".") or ":" in formats()[name].description


def test_recognition_imports_no_vendor() -> None:
    import subprocess

    code = (
        "import sys; from quickchecks.adapters import formats, load_run; formats()"
        "; load_run([{'role': 'user', 'content': 'x'}]); print(*sys.modules)"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"openai", "pydantic", "langchain_core"} & {name.split(".")[0] for name in loaded}


# What no format knows


def problem_of(value: Foreign, **options: Foreign) -> UnknownFormatError:
    with pytest.raises(UnknownFormatError) as caught:
        load_run(value, **options)
    return caught.value


@pytest.mark.parametrize("key", ["response", "payload"])
def test_messages_inside_an_envelope_are_pointed_at(key: str) -> None:
    error = problem_of({key: {"messages": [USER, ANSWER]}})
    assert "an object with the key " + key in error.problem
    path = f"{key}.messages"
    assert error.hint == f"messages found at {path}: try --map messages={path} (in Python: map={{'messages': '{path}'}})"


def test_request_and_response_are_both_pointed_at() -> None:
    error = problem_of({"request": {"messages": [USER]}, "response": {"choices": [{"message": ANSWER}]}, "question": "q"})
    assert "--map messages=request.messages,output=response,input=question" in error.hint


def test_what_the_hint_says_works() -> None:
    record = {"request": {"messages": [USER]}, "response": {"choices": [{"message": ANSWER}]}}
    run = load_run(record, map="messages=request.messages,output=response")
    assert (run.text, len(run.messages)) == ("Sunny.", 2)


ONE = {"messages": [USER, ANSWER]}


@pytest.mark.parametrize(
    ("record", "jq", "taken"),
    [
        ({"runs": [ONE, ONE]}, "'.runs[]'", "list(record['runs'])"),
        ({"data": {"runs": [ONE, ONE]}, "n": 2}, "'.data.runs[]'", "list(record['data']['runs'])"),
        ({"runs": {"a": ONE, "b": ONE}}, "'.runs[]'", "list(record['runs'].values())"),
        ({"a": ONE, "b": ONE}, "'.[]'", "list(record.values())"),
        ({"talks": [[USER, ANSWER], [USER, ANSWER]]}, "'.talks[]'", "list(record['talks'])"),
    ],
)
def test_several_runs_in_one_record_are_never_mapped_to_one(record: Foreign, jq: str, taken: str) -> None:
    hint = problem_of(record).hint
    assert "--map" not in hint
    assert jq in hint
    assert taken in hint
    assert len(list(load_runs([record], adapter=eval(f"lambda record: {taken}")))) == 2


def test_messages_as_json_in_a_text_are_pointed_at() -> None:
    text = json.dumps([USER, ANSWER])
    with pytest.raises(RecordingError) as caught:
        load_run({"messages": text})
    assert "--map messages=messages" in caught.value.hint
    assert load_run({"messages": text}, map="messages=messages").text == "Sunny."
    assert "--map messages=payload.log" in unknown({"payload": {"log": text}, "model": "m"}).hint


def test_a_format_that_is_not_read_is_told_apart_from_an_answer() -> None:
    error = problem_of(
        {"log": [{"messages": [{"role": "assistant", "content": None, "tool_calls": [{"function": "f", "args": {}}]}]}]}
    )
    assert "at log[0].messages it holds a conversation" in error.hint


@pytest.mark.parametrize("message", [USER, {"type": "message", **ANSWER}, {"role": "model", "parts": []}])
def test_one_message_alone_is_no_run(message: Foreign) -> None:
    assert "a run is the list of them" in problem_of(message).hint


def test_in_memory_any_other_dict_or_list_is_an_answer() -> None:
    assert load_run({"a": 1}).output == {"a": 1}
    assert load_run(["a", "b"]).output == ["a", "b"]


def test_a_list_of_runs_is_not_one_run() -> None:
    with pytest.raises(RecordingError, match="expected one run, got several") as caught:
        load_run([testing.run("a"), testing.run("b")])
    assert "load_runs" in caught.value.hint


# format=


def test_a_format_can_be_forced() -> None:
    assert load_run([USER, ANSWER], format="reference").format == "reference"
    assert load_run([USER, ANSWER], format="values").output == [USER, ANSWER]
    assert load_run([], format="reference") == Run(format="reference")


def test_a_forced_format_reads_an_array_of_its_records() -> None:
    assert len(list(load_runs(iter([[SAMPLES["tau_bench"][0]] * 2]), format="tau_bench"))) == 2


def test_an_unknown_format_is_answered_with_near_names() -> None:
    with pytest.raises(UnknownNameError, match=r"there is no format 'openai': did you mean 'openai_chat'\?|there are agentdojo"):
        load_run("x", format="openai")


# map=


def test_a_map_says_where_in_an_envelope_the_parts_stand() -> None:
    record = {"id": 7, "ts": 1, "payload": {"q": "Weather?", "log": [{"messages": [USER, ANSWER]}], "cost": {"input_tokens": 3}}}
    run = load_run(
        record,
        map={"messages": "payload.log[0].messages", "input": "payload.q", "id": "id", "usage": "payload.cost", "metadata": "ts"},
    )
    assert (run.text, run.input, run.id, run.format) == ("Sunny.", "Weather?", "7", "openai_chat")
    assert run.usage is not None
    assert run.usage.input_tokens == 3
    assert run.metadata == {"metadata": 1}


def test_what_the_map_does_not_touch_goes_to_metadata() -> None:
    run = load_run({"trace": "t1", "data": {"m": [USER, ANSWER]}}, map={"messages": "data.m"})
    assert run.metadata == {"trace": "t1"}


@pytest.mark.parametrize("path", ["a.b[-1].c", "a['b'][1].c", 'a["b"].1.c'])
def test_paths(path: str) -> None:
    assert load_run({"a": {"b": [0, {"c": "Sunny."}]}}, map={"output": path}).text == "Sunny."


def test_messages_that_are_json_in_a_text_are_decoded() -> None:
    record = {"attributes": {"messages": '[{"role": "assistant", "content": "Sunny."}]'}}
    assert load_run(record, map="messages=attributes.messages").text == "Sunny."


def test_a_whole_record_may_stand_inside_an_envelope() -> None:
    run = load_run({"data": SAMPLES["tau_bench"][0], "q": "Hi?"}, map="messages=data,input=q")
    assert (run.format, run.input) == ("tau_bench", "Hi?")


def test_an_error_inside_mapped_messages_names_the_place_in_the_record() -> None:
    with pytest.raises(RecordingError) as caught:
        load_run({"a": {"b": [USER, {"role": "robot"}]}}, map={"messages": "a.b"})
    assert caught.value.path == "a.b[1].role"


@pytest.mark.parametrize(
    ("map", "path", "problem"),
    [
        ("messages=a.x", "a", "expected the key x, got an object with the keys b, mesages"),
        ("messages=a.b[3]", "a.b", r"expected something at \[3\], got a list of 1"),
        ("messages=a.b.c", "a.b", "expected an object with c, got a list of 1"),
        ("messages=a.b[0].c.d", "a.b[0].c", "expected an object with d, got a number"),
        ("messages=a.b[0].c", "a.b[0].c", "no format knows this shape: a number"),
    ],
)
def test_a_map_that_leads_nowhere_says_how_far_it_got(map: str, path: str, problem: str) -> None:
    with pytest.raises(RecordingError, match=problem) as caught:
        load_run({"a": {"b": [{"c": 1}], "mesages": []}}, map=map)
    assert caught.value.path == path


def test_a_part_that_a_run_can_do_without_leaves_a_gap() -> None:
    run = load_run({"m": [USER, ANSWER]}, map="messages=m,input=question")
    assert (run.input, [gap.note[:20] for gap in run.gaps]) == (None, ["no input at question"])


@pytest.mark.parametrize("map", ["", "messages", "messages=", "messages=a..b", "messages=a[x]", "input=a", {"messages": 5}])
def test_a_map_that_cannot_be_read_is_refused(map: Foreign) -> None:
    with pytest.raises(ValueError, match=r"expected part=path|cannot read the path|must say where"):
        load_run({}, map=map)


def test_an_unknown_part_is_answered_with_near_names() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'messages'"):
        load_run({}, map="mesages=a")


# adapter=


def parse(record: Foreign) -> Foreign:
    return [{"role": "assistant", "content": record["said"]}]


def test_a_function_reads_what_no_format_knows() -> None:
    run = load_run({"said": "Sunny."}, adapter=parse)
    assert (run.text, run.format) == ("Sunny.", "parse")


@pytest.mark.parametrize(
    ("given", "texts"),
    [
        (testing.run("a"), ["a"]),
        ("a", ["a"]),
        ({"output": "a", "tool_calls": []}, ["a"]),
        ([testing.run("a"), testing.run("b")], ["a", "b"]),
        (iter([testing.run("a")]), ["a"]),
    ],
)
def test_an_adapter_gives_a_run_several_or_what_a_format_reads(given: Foreign, texts: list[str]) -> None:
    assert [run.text for run in load_runs(iter([{}]), adapter=lambda record: given)] == texts


@pytest.mark.parametrize(
    ("adapter", "problem"),
    [
        (lambda record: record["gone"], "raised KeyError: 'gone'"),
        (lambda record: None, "gave cannot be read: no format knows this shape: null"),
        (lambda record: [], "gave no run"),
        (lambda record: {"a": 1}, "gave cannot be read"),
    ],
)
def test_an_adapter_that_fails_is_an_error_of_the_record(adapter: Foreign, problem: str) -> None:
    with pytest.raises(RecordingError, match=problem):
        load_run({"said": "x"}, adapter=adapter)


def test_an_adapter_that_ends_the_program_is_an_error_of_the_record() -> None:
    def adapter(record: Foreign) -> Foreign:
        raise SystemExit("bye")

    with pytest.raises(RecordingError, match="raised SystemExit: bye"):
        load_run({"a": 1}, adapter=adapter)


def test_an_adapter_can_be_named_as_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_format_of_tests.py").write_text("class Reader:\n    @staticmethod\n    def parse(r): return r['said']\n")
    monkeypatch.chdir(tmp_path)
    assert load_run({"said": "Sunny."}, adapter="my_format_of_tests:Reader.parse").text == "Sunny."
    assert str(tmp_path) not in sys.path
    with pytest.raises(UnknownNameError, match="did you mean 'Reader'"):
        load_run({}, adapter="my_format_of_tests:Raeder")


@pytest.mark.parametrize(
    ("adapter", "error"),
    [("no_such_module_here:parse", UnknownNameError), ("json", ValueError), ("json:__name__", ValueError), (5, ValueError)],
)
def test_an_adapter_that_is_not_there_is_refused(adapter: Foreign, error: type[Exception]) -> None:
    with pytest.raises(error):
        load_run({}, adapter=adapter)


def test_an_adapter_excludes_a_format_and_a_map() -> None:
    with pytest.raises(ValueError, match="excludes"):
        load_run({}, adapter=parse, format="values")


# part=


def test_the_last_turn_is_what_follows_the_last_user_message() -> None:
    run = load_run(
        [USER, ANSWER, {"role": "user", "content": "And tomorrow?"}, {"role": "assistant", "content": "Rain."}], part="last_turn"
    )
    assert (run.text, len(run.history), len(run.messages)) == ("Rain.", 3, 4)


def test_where_nothing_follows_the_last_question_there_is_no_evidence() -> None:
    run = load_run([USER, ANSWER, USER], part="last_turn")
    assert run.text == ""
    assert run.gap_kinds == {"text", "calls"}


def test_a_run_without_a_user_message_is_one_turn() -> None:
    assert load_run([ANSWER], part="last_turn").history_length == 0


def test_gaps_about_results_of_earlier_turns_are_left_behind() -> None:
    orphan = {"role": "tool", "tool_call_id": "x", "content": "1", "name": "early"}
    late = {**orphan, "name": "late"}
    run = load_run([orphan, USER, late, ANSWER], part="last_turn")
    assert [gap.name for gap in run.gaps] == ["late"]


def test_an_unknown_part_of_a_run_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="last_turn"):
        load_run("x", part="last_trun")  # type: ignore[arg-type]


# Formats of other distributions


class Point:
    def __init__(self, name: str, module: Foreign) -> None:
        self.name = name
        self.value = f"somewhere:{name}"
        self.dist = None
        self._module = module

    def load(self) -> Foreign:
        if isinstance(self._module, BaseException):
            raise self._module
        return self._module


def third_party(recognises: Foreign, load: Foreign) -> types.SimpleNamespace:
    return types.SimpleNamespace(__doc__="Theirs.", recognises=recognises, load=load)


@pytest.fixture
def points(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Point]]:
    import importlib.metadata

    found: list[Point] = []
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: found if group == "quickchecks.adapters" else [])
    monkeypatch.setattr(_registry, "_third_party", None)
    yield found
    _registry._third_party = None


def test_other_distributions_add_formats(points: list[Point]) -> None:
    points.append(Point("theirs", third_party(lambda v: isinstance(v, dict) and "said" in v, lambda v: testing.run(v["said"]))))
    run = load_run({"said": "Sunny."})
    assert (run.text, run.format) == ("Sunny.", "theirs")
    assert "theirs" in adapters.formats()


def test_two_formats_that_claim_one_value_are_told_of(points: list[Point]) -> None:
    points += [Point(name, third_party(lambda v: isinstance(v, dict), lambda v: Run())) for name in ("one", "two")]
    with pytest.raises(UnknownFormatError, match="both one and two read this shape"):
        load_run({"said": "x"})


def test_a_broken_format_does_not_take_the_others(points: list[Point], caplog: pytest.LogCaptureFixture) -> None:
    points.append(Point("broken", ImportError("no such thing")))
    points.append(Point("leaves", SystemExit(0)))
    points.append(Point("values", third_party(lambda v: True, lambda v: Run())))
    assert load_run({"a": 1}).format == "values"
    assert "broken = somewhere:broken cannot be loaded: ImportError: no such thing" in caplog.text
    with pytest.raises(
        UnknownNameError, match=r"no format 'leaves': .* leaves = somewhere:leaves cannot be loaded: SystemExit: 0"
    ):
        adapters.read("runs.jsonl", format="leaves")
    assert "quickchecks has one of that name" in caplog.text


def test_what_a_foreign_format_raises_is_an_error_of_the_record(points: list[Point], caplog: pytest.LogCaptureFixture) -> None:
    points.append(Point("theirs", third_party(lambda v: v["a"], lambda v: v["b"])))
    with pytest.raises(RecordingError, match="the format theirs raised KeyError: 'b'"):
        load_run({"a": 1})
    assert load_run({"c": 1}).format == "values"
    assert "raised KeyError when asked about a value" in caplog.text


def test_a_foreign_format_must_give_a_run(points: list[Point]) -> None:
    points.append(Point("theirs", third_party(lambda v: isinstance(v, dict), lambda v: "text")))
    with pytest.raises(RecordingError, match="gave a str, not a Run"):
        load_run({"a": 1})
