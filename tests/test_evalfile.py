"""Eval files: YAML and Python that say what is asked, of whom, and what must hold."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from quickchecks import Gate, Threshold, checks, from_item, run_evals_sync
from quickchecks._entries import Observed
from quickchecks._evalfile import EvalFile, load_eval_file
from quickchecks._evalfile.schema import eval_schema
from quickchecks.errors import CheckSyntaxError, ItemError, QuickchecksError, RecordingError, SettingsError, TargetError

SMALL = "data: [Hello]\ngates: [no_tool_errors]\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with an agent, which is not the current one."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    (tmp_path / "agent.py").write_text("def answer(text): return text + '!'\ndef make(): return answer\nnumber = 3\n")
    return tmp_path


def read(folder: Path, text: str, **variables: str) -> EvalFile:
    file = folder / "eval.yaml"
    file.write_text(text, encoding="utf-8")
    return load_eval_file(file, variables)


@pytest.mark.parametrize("target", ["agent:answer", "agent:make()"])
def test_the_target_is_imported_from_the_folder_of_the_file(target: str, folder: Path) -> None:
    found = read(folder, f"target: {target}\n{SMALL}").load_target()
    assert callable(found)
    assert found("Hello") == "Hello!"


def test_the_target_is_not_imported_before_it_is_asked_for(folder: Path) -> None:
    assert read(folder, f"target: nowhere:answer\n{SMALL}").items[0].input == "Hello"


@pytest.mark.parametrize(
    ("target", "problem"),
    [
        ("agnt:answer", "there is no module \"agnt\": did you mean 'agent'?"),
        ("agent:anwser", "agent has no \"anwser\": did you mean 'answer'?"),
        ("agent:number", "which cannot be called"),
        ("agent:number()", "leave out the ()"),
        ("agent:answer()", "answer() raised TypeError"),
        ("broken:answer", "broken.py:2: ZeroDivisionError"),
        ("needy:answer", '"no_such_package", which is not installed'),
    ],
)
def test_a_target_that_cannot_be_had_is_said_with_its_line(target: str, problem: str, folder: Path) -> None:
    (folder / "broken.py").write_text("x = 1\n1 / 0\n")
    (folder / "needy.py").write_text("import no_such_package\n")
    found = read(folder, f"{SMALL}target: {target}\n")
    with pytest.raises(TargetError) as caught:
        found.load_target()
    assert problem in str(caught.value)
    assert "eval.yaml:3:9" in str(caught.value)


def test_a_module_of_the_same_name_in_another_folder_is_another(folder: Path) -> None:
    other = folder / "other"
    other.mkdir()
    (other / "agent.py").write_text("def answer(text): return 'other'\n")
    first = read(folder, f"target: agent:answer\n{SMALL}").load_target()
    second = read(other, f"target: agent:answer\n{SMALL}").load_target()
    assert callable(first)
    assert callable(second)
    assert (first("a"), second("a")) == ("a!", "other")


def test_scalars_stay_what_they_are(folder: Path) -> None:
    found = read(folder, "data: [{input: yes, expected: 0123, id: 12:30}]\ngates: [no_tool_errors]")
    item = found.items[0]
    assert (item.input, item.expected, item.id) == ("yes", "0123", "12:30")


def test_data_is_read_from_a_file_beside_it_with_its_fields_mapped(folder: Path) -> None:
    (folder / "data.jsonl").write_text('{"question": "a", "answer": "b", "input": "c", "more": 1}\n')
    found = read(folder, "data: {file: data.jsonl, map: {input: question, expected: answer}}\ngates: [no_tool_errors]")
    item = found.items[0]
    assert (item.input, item.expected, item.metadata) == ("a", "b", {"more": 1})
    assert found.files == (folder / "eval.yaml", folder / "data.jsonl")


def test_a_mapped_field_that_is_missing_is_named(folder: Path) -> None:
    (folder / "data.csv").write_text("ask,answer\na,b\n")
    with pytest.raises(ItemError, match=r"data\.csv:2: there is no field 'question' for the input; there are ask, answer"):
        read(folder, "data: {file: data.csv, map: {input: question}}\ngates: [no_tool_errors]")


def test_gates_and_scorers(folder: Path) -> None:
    text = """
        data: [Hello]
        gates:
          - includes: $expected
          - {check: no_tool_errors, pass_rate: 0.9, confidence: 0.8}
        scorers:
          - similarity: $metadata.script
          - {check: {includes: $$expected}, threshold: {max: 0.5}}
    """
    found = read(folder, text)
    assert repr(found.gates) == repr([checks.includes(from_item("expected")), Gate(checks.no_tool_errors(), 0.9, 0.8)])
    measured = [checks.similarity(from_item("metadata.script")), Threshold(checks.includes("$expected"), max=0.5)]
    assert repr(found.scorers) == repr(measured)


def test_checks_are_gates_unless_their_mode_says_otherwise(folder: Path) -> None:
    text = """
        data: [Hello]
        checks:
          - includes: a
          - {check: {includes: b}, threshold: 0.5}
          - {check: {includes: c}, mode: watch}
          - {check: {includes: d}, mode: shadow}
          - similarity: e
    """
    found = read(folder, text)
    assert repr(found.gates) == "[includes('a')]"
    measured = [
        Threshold(checks.includes("b"), min=0.5),
        Observed(checks.includes("c"), "watch"),
        Observed(checks.includes("d"), "shadow"),
        Observed(checks.similarity("e"), "watch"),
    ]
    assert repr(found.scorers) == repr(measured)


def test_checks_may_stand_in_a_file_of_their_own(folder: Path) -> None:
    (folder / "checks.yaml").write_text("checks: [{includes: $expected}]")
    found = read(folder, "data: [Hello]\nchecks: checks.yaml")
    assert repr(found.gates) == "[includes(from_item('expected'))]"
    assert found.checks_in == (folder / "eval.yaml", folder / "checks.yaml")


def test_turns_bring_their_own_checks(folder: Path) -> None:
    text = "data: [{turns: [{input: a, gates: [{includes: b}]}, {input: c, scorers: [{similarity: d}]}]}]"
    turns = read(folder, text).items[0].turns
    assert repr((turns[0].gates, turns[1].scorers)) == "((includes('b'),), (similarity('d'),))"


def test_options_are_converted_by_their_type_and_paths_are_beside_the_file(folder: Path) -> None:
    options = "{concurrency: 4, timeout: 1.5, retry_timeouts: yes, name: 12, record: runs.jsonl, target_options: {model: m}}"
    found = read(folder, f"{SMALL}options: {options}").options
    assert found == {
        "concurrency": 4,
        "timeout": 1.5,
        "retry_timeouts": True,
        "name": "12",
        "record": folder / "runs.jsonl",
        "target_options": {"model": "m"},
    }


def test_variables_stand_only_where_they_are_the_whole_value(folder: Path) -> None:
    text = """
        vars: {model: small, city: }
        data: ["${city}", "in ${city}", "$${city}"]
        gates: [{includes: "${model}"}]
    """
    found = read(folder, text, city="Oslo")
    assert [item.input for item in found.items] == ["Oslo", "in ${city}", "${city}"]
    assert repr(found.gates) == "[includes('small')]"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "this eval file is empty"),
        ("- a", "an eval file is a mapping"),
        ("traget: a:b", ":1:1: an eval file has no key \"traget\"\n  did you mean 'target'?"),
        (f"{SMALL}timeout: 3", ':3:1: an eval file has no key "timeout"\n  timeout is one of the options'),
        (f"{SMALL}options: {{concurency: 3}}", ":3:11: options has no key \"concurency\"\n  did you mean 'concurrency'?"),
        (f"{SMALL}options: {{concurrency: many}}", ':3:24: concurrency is a whole number from 1 to 999999999, not "many"'),
        (f"{SMALL}options: {{concurrency: {9 * 10**19}}}", ':24: concurrency is a whole number from 1 to 999999999, not "9000'),
        (f"{SMALL}options: {{repetitions: 1000000000}}", ':3:24: repetitions is a whole number from 1 to 999999999, not "10000'),
        (f"{SMALL}options: {{repetitions: 0}}", ':3:24: repetitions is a whole number from 1 to 999999999, not "0"'),
        (f"{SMALL}options: {{max_errors: -1}}", ':3:23: max_errors is a whole number from 0 to 999999999, not "-1"'),
        (f"{SMALL}options: {{retries: 1.5}}", ':3:20: retries is a whole number from 0 to 999999999, not "1.5"'),
        (f"{SMALL}options: {{timeout: -1}}", ':3:20: timeout is a number of seconds above 0, or null, not "-1"'),
        (f"{SMALL}options: {{timeout: 0}}", ':3:20: timeout is a number of seconds above 0, or null, not "0"'),
        (f"{SMALL}options: {{timeout: 1e-9}}", ":3:20: timeout is in seconds, and 1e-09 is too short to be kept"),
        (f"{SMALL}options: {{model: small}}", ":3:11: model belongs to an endpoint as target, as in target: http://"),
        (f"target: a:b\n{SMALL}options: {{tools: [a:b]}}", "stands under options: {target_options: {tools: …}}"),
        (
            f"vars: {{t: ok}}\ntarget: slow:${{t}}\n{SMALL}",
            ':2:9: a variable is the whole value here, and "slow:${t}" has more around ${t}\n  put all of it into the variable',
        ),
        (f"vars: {{t: ok}}\ntarget: cmd:agent ${{t}}\n{SMALL}", ":2:9: a variable is the whole value here"),
        ("vars: {t: ok}\ndata: ${t}.jsonl\ngates: [no_tool_errors]", ":2:7: a variable is the whole value here"),
        ("vars: {t: ok}\ndata: {file: 'a/${t}'}\ngates: [no_tool_errors]", ":2:14: a variable is the whole value here"),
        (f"vars: {{t: ok}}\n{SMALL}options: {{record: '${{t}}.jsonl'}}", ":19: a variable is the whole value here"),
        ("vars: {t: ok}\ndata: [a]\nchecks: ${t}.yaml", ":3:9: a variable is the whole value here"),
        (
            "data: [a]\ngates:\n- includes: x\n- {check: {includes: x}, pass_rate: 0.5}",
            "eval.yaml:4:3: includes('x') stands here a second time, after ",
        ),
        (
            "data: [a]\nscorers:\n- {check: {includes: x}, threshold: 0.5}\nchecks:\n- {check: {includes: x}, mode: watch}",
            "eval.yaml:5:3: includes('x') stands here a second time, after ",
        ),
        (
            "data: [{turns: [{input: a, gates: [{includes: x}, {includes: x}]}]}]",
            "eval.yaml:1:51: includes('x') stands here a second time, after ",
        ),
        (
            "data: [a]\nscorers: [{check: {includes: x}, threshold: }]",
            ":2:44: a threshold is a number, or {min: …, max: …}, not nothing",
        ),
        (f"{SMALL}options: {{retry_timeouts: 2}}", ':3:27: retry_timeouts is yes or no, not "2"'),
        (f"{SMALL}options: 3", ":3:10: options is a mapping"),
        (f"{SMALL}target: agent", ":3:9: a target is module:attribute or module:factory()"),
        ("gates: [no_tool_errors]", "an eval file needs data"),
        ("data: [a]\ngates: no_tool_errors", ":2:8: a list was expected under `gates`"),
        ("data: [a]\ngates: [{include: x}]", "there is no check 'include': here it is called includes"),
        ("data: [a]\ngates: [{check: {includes: x}, threshold: 1}]", ":2:9: an entry with a threshold stands among the gates"),
        ("data: [a]\ngates: [{check: {includes: x}, mode: watch}]", ":2:38: `mode: watch` among the gates"),
        ("data: [a]\nscorers: [{check: {includes: x}, mode: gate}]", ":2:40: `mode: gate` among the scorers"),
        (
            "data: [a]\ngates: [{check: {includes: x}, pass_rate: 2}]",
            ":2:9: a gate takes pass_rate from 0.001 up to 1, not 2; for 2 % write 0.02",
        ),
        (
            "data: [a]\ngates: [{check: {includes: x}, confidence: 0.9}]",
            ":2:9: a gate with a confidence needs a pass_rate below 1",
        ),
        ("data: [a]\ngates: [{includes: '${m}'}]", ':2:20: there is no variable "m"\n  declare it'),
        ("vars: {m: }\ndata: [a]\ngates: [{includes: '${m}'}]", 'the variable "m" has no value\n  give it with --set m=…'),
        ("data: []", ":1:7: there is no data"),
        ("data: [{id: 1, input: a}, {id: 1, input: b}]", ":1:7: two items have the id '1'"),
        ("data: [{turns: [{input: a, gate: []}]}]", "a turn has no key \"gate\"\n  did you mean 'gates'?"),
        ("data: no.jsonl", ':1:7: there is no file "no.jsonl"'),
        ("data: {fiel: a}", "data from a file has no key \"fiel\"\n  did you mean 'file'?"),
        ("data: {file: eval.yaml, map: {inptu: a}}", "an item has no key \"inptu\"\n  did you mean 'input' or 'inputs'?"),
        (
            "data: [a]\ngates: [{includes: $expectd}]",
            ":2:20: $expectd names no field of an item and no variable\n  did you mean $expected?",
        ),
        ("data: [a]\ngates: [{called_tool: {name: $Input}}]", "did you mean $input? For the text itself write $$Input"),
        ("data: [a]\nchecks: [{check: {includes: $expectd}, mode: watch}]", "did you mean $expected?"),
        ("data: [a]\ngates: [{any_of: [{includes: [$expectd]}, no_tool_errors]}]", "did you mean $expected?"),
        ("data: [{input: a, city: Oslo}]\ngates: [{includes: $ctiy}]", "did you mean $metadata.city?"),
        ("data: [{input: a, metadata: {city: Oslo}}]\ngates: [{includes: $city}]", "did you mean $metadata.city?"),
        ("vars: {who: me}\ndata: [a]\ngates: [{includes: $w}]", "did you mean ${who}? For the text itself write $$w"),
        (
            "vars: {who: me}\ndata: [{input: a, expected: [$who]}]",
            ":2:30: $who is a text here, and no variable\n  did you mean ${who}?",
        ),
        ("data: [{turns: [{input: a, gates: [{includes: $expectd}]}]}]", "did you mean $expected?"),
        ("data: [a]\ngates: ['excludes(\"$expected\")']", ':2:19: "$expected" in an expression is a text'),
        ("data: [a]\ngates: [~called_tool('$metadata.tol')]", "there $$metadata.tol is the text itself"),
        ("vars: {who: me}\ndata: [a]\ngates: [excludes('$who')]", "write the check as a mapping, {name: value}, with ${who}"),
        ("data: null\ngates: [no_tool_errors]", ":1:7: data is a list of items, or the name of a file; this is nothing"),
        (
            "data: folder\ngates: [no_tool_errors]",
            '"folder" is a folder, and data is one file\n  name one of its files: folder/a.jsonl',
        ),
        ("data: fodler\ngates: [no_tool_errors]", 'there is no file "fodler"\n  the name of a file is relative'),
        ("data: &d [a]\ngates: [no_tool_errors]", "(&d) cannot stand in an eval file\n  leave it out, and write at each *d what"),
        ("data: [a]\ngates: [{includes: &co}]", 'a text that begins with & stands in quotes: "&co"'),
        ("data: [*a]", "an alias (*a) cannot stand in an eval file"),
        ("data: [a]\ndata: [b]", "stands here a second time"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(text: str, problem: str, folder: Path) -> None:
    (folder / "folder").mkdir()
    (folder / "folder" / "a.jsonl").write_text("{}")
    with pytest.raises(QuickchecksError) as caught:
        read(folder, text)
    assert problem in str(caught.value)


def test_what_a_gate_and_a_scorer_share_and_what_two_turns_share_is_no_second_time(folder: Path) -> None:
    turn = "{input: a, gates: [{includes: x}], scorers: [{includes: x}]}"
    found = read(folder, f"data: [{{turns: [{turn}, {turn}]}}]\ngates: [{{includes: x}}]\nscorers: [{{includes: x}}]")
    assert (len(found.gates), len(found.scorers), len(found.items[0].turns)) == (1, 1, 2)


def test_the_least_and_the_most_of_each_option_are_taken(folder: Path) -> None:
    options = "{concurrency: 1, retries: 0, repetitions: 999999999, max_errors: 0, timeout: 0.5}"
    assert read(folder, f"{SMALL}options: {options}").options == {
        "concurrency": 1,
        "retries": 0,
        "repetitions": 999_999_999,
        "max_errors": 0,
        "timeout": 0.5,
    }


def test_a_text_in_a_command_that_is_no_variable_of_the_file_stays(folder: Path) -> None:
    target: Any = read(folder, f"vars: {{t: ok}}\ntarget: cmd:agent ${{HOME}} $${{t}}\n{SMALL}").load_target
    assert target.target == "cmd:agent ${HOME} $${t}"


def test_null_is_nothing(folder: Path) -> None:
    found = read(folder, "target: null\nvars: ~\noptions: null\nscorers: null\nchecks: ~\ndata: [a]\ngates: [no_tool_errors]")
    assert (found.load_target(), found.options, found.scorers, len(found.gates)) == (None, {}, [], 1)
    assert read(folder, "data: [a]\ngates: null\nscorers: [used_no_tools]").gates == []


def test_a_text_with_a_dollar_that_is_near_nothing_stays_a_text(folder: Path) -> None:
    text = """
        vars: {who: me}
        data: [{input: $HOME}, {input: $$who}, {input: $$5, city: Oslo}, {turns: [{input: $x, gates: [{includes: $$who}]}]}]
        gates: [{includes: $5.00}, {excludes: $HOME}, {matches: $}, {includes: $$expectd}, {includes: $$ctiy}, {includes: a $who}]
    """
    found = read(folder, text)
    assert [item.asked for item in found.items] == [("$HOME",), ("$who",), ("$$5",), ("$x",)]
    assert repr(found.items[3].turns[0].gates) == "(includes('$who'),)"
    texts = ["includes('$5.00')", "excludes('$HOME')", "matches('$')", "includes('$expectd')", "includes('$ctiy')"]
    assert [repr(gate) for gate in found.gates] == [*texts, "includes('a $who')"]


def test_what_the_records_of_a_file_have_is_known_by_name_to_checks_in_a_file(folder: Path) -> None:
    (folder / "data.jsonl").write_text('{"input": "a", "city": "Oslo"}\n')
    (folder / "checks.yaml").write_text("checks: [{includes: $ctiy}]")
    with pytest.raises(CheckSyntaxError, match=r"checks.yaml:1:21: \$ctiy names no field.*\n.*did you mean \$metadata.city"):
        read(folder, "data: data.jsonl\nchecks: checks.yaml")


def test_a_variable_that_the_file_does_not_have_cannot_be_set(folder: Path) -> None:
    with pytest.raises(CheckSyntaxError, match="did you mean 'model'"):
        read(folder, f"vars: {{model: a}}\n{SMALL}", modle="b")


def test_what_is_beside_the_checks_tells_whether_runs_can_be_scored_again(folder: Path) -> None:
    one = read(folder, "data: [Hello]\ngates: [no_tool_errors]\n")
    other_check = read(folder, "data: [Hello]\nscorers: [used_no_tools]\n")
    other_data = read(folder, "data: [Goodbye]\ngates: [no_tool_errors]\n")
    assert one.beside_checks == other_check.beside_checks != other_data.beside_checks


PYTHON = "from agent import answer\nfrom quickchecks import checks\n"


@pytest.mark.parametrize(
    "definition",
    [
        "evaluation = dict(data=['Hello'], target=answer, gates=[checks.includes('Hello')], concurrency=2)",
        "def evaluation(text='Hello'):\n return dict(data=[text], target=answer, gates=[checks.includes(text)], concurrency=2)",
    ],
)
def test_an_eval_in_python(definition: str, folder: Path) -> None:
    file = folder / "my_eval.py"
    file.write_text(PYTHON + definition)
    found = load_eval_file(file)
    target = found.load_target()
    assert callable(target)
    assert (found.items[0].input, target("a"), repr(found.gates)) == ("Hello", "a!", "(includes('Hello'),)")
    assert found.options == {"concurrency": 2}
    assert set(found.files) >= {file}


def test_a_function_takes_variables(folder: Path) -> None:
    file = folder / "my_eval.py"
    file.write_text("def evaluation(city): return dict(data=[city])")
    assert load_eval_file(file, {"city": "Oslo"}).items[0].input == "Oslo"


@pytest.mark.parametrize(
    ("text", "variables", "problem"),
    [
        ("evaluaton = {}", {}, "it defines no `evaluation`\n  did you mean 'evaluaton'?"),
        ("evaluation = 3", {}, "evaluation is a dictionary, not 3"),
        ("evaluation = {'data': ['a'], 'gate': []}", {}, "the key 'gate', which run_evals does not take: did you mean 'gates'?"),
        ("evaluation = {'gates': []}", {}, "evaluation has no data"),
        ("evaluation = {'data': ['a'], 'gates': 3}", {}, "gates is a list, not 3"),
        ("evaluation = {'data': ['a']}", {"city": "Oslo"}, "--set needs a function"),
        ("def evaluation(city): return {}", {"ctiy": "Oslo"}, "takes no 'ctiy': did you mean 'city'?"),
        ("def evaluation(city): return {}", {}, "needs 'city': give it with --set city=…"),
        ("def evaluation(): 1 / 0", {}, "evaluation() raised ZeroDivisionError"),
        ("async def evaluation(): return {}", {}, "is asynchronous"),
        ("x = 1\nif", {}, "my_eval.py:2: it cannot be imported: SyntaxError"),
    ],
)
def test_an_eval_in_python_that_makes_no_sense(text: str, variables: dict[str, str], problem: str, folder: Path) -> None:
    file = folder / "my_eval.py"
    file.write_text(text)
    with pytest.raises((SettingsError, TargetError)) as caught:
        load_eval_file(file, variables)
    assert problem in str(caught.value)


@pytest.mark.parametrize("name", ["no.yaml", "no.py"])
def test_a_file_that_is_not_there(name: str, folder: Path) -> None:
    with pytest.raises(QuickchecksError, match="No such file"):
        load_eval_file(folder / name)


def test_data_that_cannot_be_read_is_said_with_its_line(folder: Path) -> None:
    (folder / "data.jsonl").write_text('"a"\n{"in')
    with pytest.raises(RecordingError, match=r"data\.jsonl:2"):
        read(folder, "data: data.jsonl\ngates: [no_tool_errors]")


def accepts(text: str) -> bool:
    vocabulary = {name: function for name, function in checks.vocabulary().items() if name in checks.__all__}
    return Draft202012Validator(eval_schema(vocabulary)).is_valid(yaml.safe_load(text))


@pytest.mark.parametrize(
    "text",
    [
        SMALL,
        "data: {file: a.csv, map: {input: q}}\nchecks: checks.yaml\nvars: {m: 1}\noptions: {concurrency: '${m}', timeout: 2.5}",
        "data: [{input: a, expected: 1}]\ngates: [{check: no_tool_errors, pass_rate: 0.9}]\nscorers: [{similarity: $expected}]",
    ],
)
def test_the_schema_accepts_what_is_read(text: str) -> None:
    assert accepts(text)


@pytest.mark.parametrize(
    "text",
    [
        "gates: []",
        f"{SMALL}timeout: 3",
        f"{SMALL}options: {{concurency: 3}}",
        "data: [a]\ngates: [{include: x}]",
        f"{SMALL}target: agent",
        "data: {file: a.csv, map: {inptu: q}}",
    ],
)
def test_the_schema_refuses_what_is_refused(text: str) -> None:
    assert not accepts(text)


def test_the_example_follows_the_schema(root: Path) -> None:
    text = (root / "examples" / "weather" / "eval.yaml").read_text(encoding="utf-8")
    assert accepts(text)
    assert json.dumps(yaml.safe_load(text))


# Endpoints and programs


def test_a_program_runs_beside_the_eval_file(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text("import json\nfor line in open(0): print(json.dumps({'output': 'sunny'}), flush=True)")
    path = tmp_path / "eval.yaml"
    path.write_text(f"target: 'cmd:{sys.executable} agent.py'\ndata: [Weather]\ngates: [includes: sunny]")
    found = load_eval_file(str(path), {})
    result = run_evals_sync(found.items, found.load_target(), found.scorers, found.gates, **found.options)
    assert result.verdict == "passed", result.explain()


def test_an_endpoint_has_a_model_and_tools(tmp_path: Path) -> None:
    (tmp_path / "endpoint_tools.py").write_text("def get_weather(city: str) -> str:\n    return 'sunny'")
    path = tmp_path / "eval.yaml"
    path.write_text(
        "target: http://127.0.0.1:1/v1\ndata: [Weather]\ngates: [includes: sunny]\n"
        "options: {model: small, tools: [endpoint_tools:get_weather], target_options: {settings: {temperature: 0, n: '1'}}}"
    )
    found = load_eval_file(str(path), {})
    target: Any = found.load_target()
    assert (target._service.model, list(target._service.tools)) == ("small", ["get_weather"])
    assert target._service.settings == {"temperature": 0, "n": "1"}
    assert found.options == {}


@pytest.mark.parametrize(
    ("target", "options", "said"),
    [
        ("http://127.0.0.1:1/v1", "{}", "eval.yaml:1:9: the target http://127.0.0.1:1/v1 needs the name of a model"),
        ("http://127.0.0.1:1/v1", "{model: m, target_options: {modle: x}}", "an endpoint takes no 'modle': did you mean 'model'"),
        ("'cmd:'", "{}", "names no program"),
    ],
)
def test_an_endpoint_or_program_that_cannot_be_is_refused_at_its_place(
    target: str, options: str, said: str, tmp_path: Path
) -> None:
    path = tmp_path / "eval.yaml"
    path.write_text(f"target: {target}\ndata: [a]\ngates: [includes: a]\noptions: {options}")
    with pytest.raises(TargetError, match=re.escape(said)):
        load_eval_file(str(path), {}).load_target()


def test_tool_mocks_of_an_item_have_types(tmp_path: Path) -> None:
    path = tmp_path / "eval.yaml"
    path.write_text(
        "data:\n  - input: a\n    tool_mocks:\n"
        "      - {tool: search, arguments: {limit: 3, exact: true, zip: '0123', when: 12:30}, result: null, times: 2}\n"
        "gates: [includes: a]"
    )
    assert load_eval_file(str(path), {}).items[0].tool_mocks == [
        {"tool": "search", "arguments": {"limit": 3, "exact": True, "zip": "0123", "when": "12:30"}, "result": None, "times": 2}
    ]
