"""Eval files: YAML and Python that say what is asked, of whom, and what must hold."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

from quickchecks import Gate, Threshold, checks, from_item
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
    assert found is not None
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
    assert first is not None
    assert second is not None
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
        (f"{SMALL}options: {{concurrency: many}}", ':3:24: concurrency is a whole number, not "many"'),
        (f"{SMALL}options: {{retry_timeouts: 2}}", ':3:27: retry_timeouts is yes or no, not "2"'),
        (f"{SMALL}options: 3", ":3:10: options is a mapping"),
        (f"{SMALL}target: agent", ":3:9: a target is module:attribute or module:factory()"),
        ("gates: [no_tool_errors]", "an eval file needs data"),
        ("data: [a]\ngates: no_tool_errors", ":2:8: a list was expected under `gates`"),
        ("data: [a]\ngates: [{include: x}]", "there is no check 'include': here it is called includes"),
        ("data: [a]\ngates: [{check: {includes: x}, threshold: 1}]", ":2:9: an entry with a threshold stands among the gates"),
        ("data: [a]\ngates: [{check: {includes: x}, mode: watch}]", ":2:38: `mode: watch` among the gates"),
        ("data: [a]\nscorers: [{check: {includes: x}, mode: gate}]", ":2:40: `mode: gate` among the scorers"),
        ("data: [a]\ngates: [{check: {includes: x}, pass_rate: 2}]", "pass_rate"),
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
    assert target is not None
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
