"""The wire form is published, and what is written follows what is published."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path

import msgspec
import pytest
from jsonschema import Draft202012Validator, ValidationError
from make_schemas import FOLDER, generated

import quickchecks
from quickchecks import Item, Threshold, _wire, checks, load_result, run_evals_sync
from quickchecks import testing as t
from quickchecks._gates import AssertionResult, Counts
from quickchecks._results.evaluation import ItemError
from quickchecks._results.records import EntryRecord, EvalRecord, ItemRecord
from quickchecks._run import (
    Gap,
    Message,
    Other,
    Reasoning,
    Run,
    RunError,
    Source,
    Step,
    Text,
    TextSpan,
    ToolCall,
    ToolError,
    ToolResult,
    Usage,
)
from quickchecks._score import CallRef, ScoreError, ScoreRecord
from quickchecks._scorer.thresholds import Bounds
from quickchecks.cli._app import cli

#: A run with every kind of part and every field that there is.
FULL_RUN = Run(
    messages=(
        Message("system", (Text("Be brief."),)),
        Message("user", (Text("Where is A-10?"), Other("image", {"url": "a.png"})), metadata={"at": 1}),
        Message(
            "assistant",
            (
                Reasoning("Look it up."),
                Step(),
                ToolCall("lookup", '{"order": "A-10"}', "c1", "failed", error=ToolError("not found", "KeyError", "flag")),
                ToolCall("ask_billing", {"q": 1}, kind="agent", result=[1], duration=0.5, run=Run(agent="billing")),
                ToolResult({"late": True}, "c0", "search", ToolError("gone")),
                Text('{"found":false}', {"found": False}),
            ),
            agent="support",
        ),
    ),
    input={"question": "Where is A-10?"},
    id="r1",
    history_length=1,
    usage=Usage(120, 30, 10, 5, 0.002, 2),
    duration=1.5,
    error=RunError("stopped", "TimeoutError"),
    agent="support",
    children=(Run(id="child"),),
    gaps=(Gap("nested", "inner calls are not recorded", "ask_billing"),),
    metadata={"model": "m"},
    format="openai_chat",
    source=Source("runs.jsonl", line=8, index=0),
)

FULL_SCORE = ScoreRecord(
    scorer="no_tool_errors()",
    id="check-no-tool-errors",
    outcome="error",
    value=0.25,
    reason="it broke",
    evidence=(TextSpan(1, 0, 2, 5, (0,)), CallRef(1, "lookup", 2, 2)),
    kind=("call failed", "lookup", "KeyError"),
    failure_key="no_tool_errors() | error | call failed",
    why="orders must be found",
    version="1",
    error=ScoreError("it broke", "KeyError", "analyze", ("preprocess",), "Traceback …"),
)

#: A result with every field that there is.
FULL_RESULT = EvalRecord(
    name="weather",
    verdict="scored",
    scores=(("similarity('sunny')", 0.25),),
    gates=(
        AssertionResult("no_tool_errors()", "failed", "it broke", Counts(1, 2, 3, 4, 5, 6, 7), 0.5, 1, None, (0.1, 0.9), ("a",)),
    ),
    thresholds=(AssertionResult("similarity('sunny')", "scored", "too low", Counts(graded=1), 0.25, None, Bounds(0.5, 0.9)),),
    repetitions=2,
    max_errors=1,
    warnings=("no run here ever called 'x'",),
    incomplete="1 item of the data not run as the data is now",
    seconds=1.5,
    usage=Usage(120, 30),
    environment={"python": "3.11"},
    interrupted=True,
    recording="runs.jsonl",
    entries=(
        EntryRecord("similarity('sunny')", "check-similarity", "gate", Bounds(0.5, 0.9), 0.9, 0.95, 1, "why", "1", "watch"),
    ),
    common=1,
    items=(
        ItemRecord(
            "a",
            0,
            1,
            "Weather?",
            ("Weather?", "And tomorrow?"),
            "sunny",
            {"city": "Rome"},
            ["a text"],
            ["look"],
            "1f0c",
            (0,),
            (FULL_SCORE,),
            ItemError("exception", "it broke", "KeyError", "Traceback …", 1),
            FULL_RUN,
            1,
            "2e1d",
            0.5,
            3,
        ),
    ),
)

#: Records as version 1 writes them: every later release must read them as the same values.
RUN_AS_FIRST_WRITTEN = (
    '{"schema":"quickchecks.run/1","messages":[{"role":"user","parts":[{"type":"text","text":"Weather?"}]},'
    '{"role":"assistant","parts":[{"type":"tool_call","name":"get_weather","arguments":{"city":"Rome"},"result":"sunny"},'
    '{"type":"text","text":"Sunny."}]}],"usage":{"input_tokens":12},"gaps":[{"kind":"usage","note":"no cost"}]}'
)
SCORE_AS_FIRST_WRITTEN = (
    '{"schema":"quickchecks.score/1","scorer":"includes(\'sunny\')","id":"check-includes","outcome":"passed","value":1.0,'
    '"reason":"found","evidence":[{"type":"text","message":1,"part":1,"start":0,"end":5}],"version":"1"}'
)
RESULT_AS_FIRST_WRITTEN = (
    '{"schema":"quickchecks.result/1","verdict":"passed","gates":[{"scorer":"includes(\'sunny\')","verdict":"passed",'
    '"explanation":"1 of 1 items passed","counts":{"passed":1},"score":1.0}],"seconds":0.5,'
    '"environment":{"python":"3.11.7"},"entries":[{"scorer":"includes(\'sunny\')","id":"check-includes","role":"gate"}],'
    f'"common":1,"items":[{{"id":"a","index":0,"input":"Weather?","content":"44ff","scores":[{SCORE_AS_FIRST_WRITTEN}],'
    f'"run":{RUN_AS_FIRST_WRITTEN},"seconds":0.1}}]}}'
)


def published(name: str) -> Draft202012Validator:
    schema = json.loads((FOLDER / name).read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def as_json(value: object) -> object:
    return json.loads(_wire.dumps(value))


@pytest.mark.parametrize("name", generated())
def test_the_published_schema_is_the_one_that_the_structs_give(name: str) -> None:
    committed = (FOLDER / name).read_text(encoding="utf-8")
    assert committed == generated()[name], "python scripts/make_schemas.py writes it anew"


def test_no_other_schema_is_published() -> None:
    assert {path.name for path in FOLDER.glob("*.json")} == set(generated())


@pytest.mark.parametrize("run", [Run(), FULL_RUN], ids=["empty", "full"])
def test_a_written_run_follows_the_schema(run: Run) -> None:
    published("run-1.json").validate(as_json(run))


def test_a_written_score_follows_the_schema() -> None:
    published("score-1.json").validate(as_json(FULL_SCORE))


def test_a_written_result_follows_the_schema(tmp_path: Path) -> None:
    schema = published("result-1.json")
    schema.validate(as_json(FULL_RESULT))
    schema.validate(as_json(EvalRecord()))
    data = [Item("a", id="1"), {"id": "2", "turns": [{"input": "b", "gates": [checks.includes("b")]}]}, {"input": "boom"}]

    def target(text: str) -> Run:
        if text == "boom":
            raise ValueError(text)
        return t.run(t.call("look"), text)

    gates = [checks.called_tool("look"), checks.includes("a") | checks.includes("b")]
    result = run_evals_sync(data, target, [Threshold(checks.similarity("a"), min=0.5)], gates, repetitions=2)
    result.save(tmp_path / "result.json")
    schema.validate(json.loads((tmp_path / "result.json").read_text(encoding="utf-8")))


def test_what_score_writes_follows_the_schema(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    records = [FULL_RUN, t.run(t.call("look"), "Hello"), {"schema": "quickchecks.run/9"}]
    Path("runs.jsonl").write_bytes(b"".join(_wire.dumps(one) + b"\n" for one in records))
    watched = "{check: 'called_tool(\"x\")', mode: watch}"
    checks_file = f"checks: [no_tool_errors, {{check: {{similarity: Hello}}, threshold: 0.5, why: polite}}, {watched}]"
    Path("checks.yaml").write_text(checks_file)
    arguments = ["score", "runs.jsonl", "--checks", "checks.yaml", "-o", "a.json", "-o", "a.jsonl", "--try", "includes('x')"]
    with pytest.raises(SystemExit):
        cli.main([*arguments, "--instead-of", "called_tool('x')"], prog_name="quickchecks")
    report = json.loads(Path("a.json").read_text())
    published("report-1.json").validate(report)
    published("runs_result-1.json").validate(report["result"])
    assert report["result"]["comparison"]["changed"]
    lines = [json.loads(line) for line in Path("a.jsonl").read_text().splitlines()]
    assert [set(line) - {"schema", "source", "scores"} for line in lines][1:] == [{"format"}, {"unreadable"}]
    for line in lines:
        published("scored_run-1.json").validate(line)
        with pytest.raises(ValidationError):
            published("scored_run-1.json").validate({**line, "scores": [{}]})


def test_what_run_writes_follows_the_schema(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("eval.yaml").write_text(
        "data: [{input: a, output: b}, {input: a, expected: [1], run: {messages: []}}]\ngates: [no_tool_errors]"
    )
    with pytest.raises(SystemExit):
        cli.main(["run", "eval.yaml", "-o", "a.jsonl", "-o", "a.json"], prog_name="quickchecks")
    lines = [json.loads(line) for line in Path("a.jsonl").read_text().splitlines()]
    assert [line["id"] for line in lines]
    for line in lines:
        published("item_run-1.json").validate(line)
        with pytest.raises(ValidationError):
            published("item_run-1.json").validate({**line, "index": "first"})
    published("result-1.json").validate(json.loads(Path("a.json").read_text()))


@pytest.mark.parametrize(("name", "sample"), [("run-1.json", FULL_RUN), ("result-1.json", FULL_RESULT)])
def test_every_field_and_part_is_in_the_sample(name: str, sample: Run | EvalRecord) -> None:
    """The samples above stay complete: a new part or field of the model must be added to them."""
    written = msgspec.json.encode(sample).decode()
    definitions = json.loads(generated()[name])["$defs"]
    names = {name for definition in definitions.values() for name in definition["properties"]}
    assert sorted(name for name in names if f'"{name}":' not in written) == ["errors_shown_in"]


@pytest.mark.parametrize("value", [FULL_RUN, FULL_SCORE, FULL_RESULT], ids=["run", "score", "result"])
def test_what_is_written_is_read_back_as_it_was(value: Run | ScoreRecord | EvalRecord) -> None:
    assert msgspec.json.decode(msgspec.json.encode(value), type=type(value)) == value


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"schema": "quickchecks.run/2"}, "quickchecks.run/2"),
        ({"messages": [{"role": "robot"}]}, "robot"),
        ({"messages": [{"role": "user", "parts": [{"type": "text"}]}]}, "text"),
        ({"history_length": "1"}, "'1'"),
    ],
)
def test_a_wrong_run_is_refused_by_the_schema(change: dict[str, object], problem: str) -> None:
    record = as_json(FULL_RUN)
    assert isinstance(record, dict)
    errors = list(published("run-1.json").iter_errors({**record, **change}))
    assert any(problem in error.message for error in errors)


def test_a_run_written_by_the_first_release_is_read() -> None:
    run = msgspec.json.decode(RUN_AS_FIRST_WRITTEN, type=Run)
    published("run-1.json").validate(as_json(run))
    assert (run.text, run.tool_names, run.tool_calls[0].arguments) == ("Sunny.", ("get_weather",), {"city": "Rome"})
    assert msgspec.json.encode(run).decode() == RUN_AS_FIRST_WRITTEN


def test_a_score_written_by_the_first_release_is_read() -> None:
    record = msgspec.json.decode(SCORE_AS_FIRST_WRITTEN, type=ScoreRecord)
    assert (record.to_score().passed, record.to_score().reason) == (True, "found")
    assert msgspec.json.encode(record).decode() == SCORE_AS_FIRST_WRITTEN


def test_a_result_written_by_the_first_release_is_read(tmp_path: Path) -> None:
    published("result-1.json").validate(json.loads(RESULT_AS_FIRST_WRITTEN))
    (tmp_path / "result.json").write_text(RESULT_AS_FIRST_WRITTEN, encoding="utf-8")
    result = load_result(tmp_path / "result.json")
    assert (result.verdict, result.items[0].id, result.items[0].scores[0].reason) == ("passed", "a", "found")
    assert result.items[0].run is not None
    assert result.items[0].run.text == "Sunny."
    record = msgspec.json.decode(RESULT_AS_FIRST_WRITTEN, type=EvalRecord)
    assert msgspec.json.encode(record).decode() == RESULT_AS_FIRST_WRITTEN


@pytest.mark.parametrize("folder", ["agentdojo", "tau_bench"])
def test_real_runs_and_their_scores_follow_the_schemas(folder: str, shared: Path) -> None:
    runs, scores = published("run-1.json"), published("score-1.json")
    check = checks.no_tool_errors()
    found = list(islice(quickchecks.load_runs(shared / "corpus" / folder, on_error="skip"), 20))
    assert len(found) == 20
    for run in found:
        runs.validate(as_json(run))
        scores.validate(as_json(check.score(run).record()))
