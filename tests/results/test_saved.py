"""Results as files: what is saved comes back, and what is no result is refused."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any, Unpack

import pytest

from quickchecks import (
    EvalResult,
    Gate,
    Item,
    Run,
    Threshold,
    Usage,
    checks,
    create_scorer,
    from_item,
    load_result,
    no_evidence,
    run_evals_sync,
)
from quickchecks import testing as t
from quickchecks._evaluation import EvalOptions
from quickchecks._results.environment import environment
from quickchecks.errors import RecordingError

DATA: list[dict[str, object]] = [
    {"id": "good", "input": "a", "expected": "A", "metadata": {"city": "Rome"}, "context": ["from the manual"]},
    {"id": "bad", "input": "b", "expected": "no"},
    {"id": "raises", "input": "boom"},
    {"id": "unknown", "input": "hidden"},
]


def target(text: object) -> Run:
    if text == "boom":
        raise ValueError("the target broke")
    return t.run(t.call("look", {"q": text}, result="x"), str(text).upper(), usage=Usage(10, 5, cost=0.01))


def judge(output: str) -> object:
    if output == "HIDDEN":
        return no_evidence("it is hidden")
    return 0.75 if output == "A" else 1 / 0


def evaluated(**options: Unpack[EvalOptions]) -> EvalResult:
    scorers = [
        checks.includes(from_item("expected"), why="the item says so"),
        Threshold(checks.similarity("A", name="close"), min=0.5),
        create_scorer(id="judge").generate_score(judge),
    ]
    gates = [checks.called_tool("look"), Gate(checks.excludes("zzz"), pass_rate=0.5, confidence=0.9)]
    options["name"] = "weather"
    return run_evals_sync(DATA, target, scorers, gates, **options)


def facts(result: EvalResult) -> dict[str, object]:
    """Everything that a result says, but for its runs."""
    return {
        "verdict": result.verdict,
        "scores": dict(result.scores),
        "gates": result.gate_results,
        "thresholds": result.threshold_results,
        "turns": result.turn_results,
        "summary": result.summary,
        "failures": result.failures,
        "flaky": dict(result.flaky),
        "warnings": result.warnings,
        "name": result.name,
        "repetitions": result.repetitions,
        "max_errors": result.max_errors,
        "error_count": result.error_count,
        "interrupted": result.interrupted,
        "items": [
            (item.id, item.index, item.repetition, item.item.expected, item.error, item.attempts, round(item.seconds, 6))
            for item in result.items
        ],
        "plan": [[(one.key, one.scorer.id, one.scorer.why, one.scorer.version) for one in item.plan] for item in result.items],
        "recorded": [[score.record() for score in item.scores] for item in result.items],
        "explained": result.explain(),
    }


def again(result: EvalResult, folder: Path) -> EvalResult:
    result.save(folder / "result.json")
    return load_result(folder / "result.json")


def test_everything_that_a_result_says_comes_back(tmp_path: Path) -> None:
    result = evaluated(max_errors=2)
    assert {score.outcome for item in result.items for score in item.scores} >= {
        "passed",
        "failed",
        "graded",
        "error",
        "no_evidence",
    }
    found = again(result, tmp_path)
    assert facts(found) == facts(result)
    assert found.usage == result.usage
    assert [item.run for item in found.items] == [item.run for item in result.items]


def test_repetitions_come_back(tmp_path: Path) -> None:
    result = evaluated(repetitions=3)
    found = again(result, tmp_path)
    assert facts(found) == facts(result)
    assert found.pass_at("called_tool('look')") == result.pass_at("called_tool('look')")


def test_what_is_saved_again_is_the_same_file(tmp_path: Path) -> None:
    evaluated().save(tmp_path / "one.json")
    load_result(tmp_path / "one.json").save(tmp_path / "two.json")
    assert (tmp_path / "one.json").read_text() == (tmp_path / "two.json").read_text()


def test_a_conversation_with_checks_for_its_turns_comes_back(tmp_path: Path) -> None:
    turns = [{"input": "a", "gates": [checks.includes("A")]}, {"input": "b", "scorers": [checks.includes("x")]}]
    data = [{"id": "1", "turns": turns}, {"id": "2", "inputs": ["a", "b"]}, {"id": "3", "input": ["a", "b"]}]
    result = run_evals_sync(data, lambda text, history: str(text).upper(), gates=[checks.includes("A")])
    found = again(result, tmp_path)
    assert facts(found) == facts(result)
    assert found.turn_results == result.turn_results != ()
    assert [item.item.asked for item in found.items] == [("a", "b"), ("a", "b"), (["a", "b"],)]


def test_what_a_check_may_take_from_an_item_comes_back(tmp_path: Path) -> None:
    item = again(evaluated(), tmp_path).items[0].item
    assert (item.input, item.expected, item.metadata, item.context) == ("a", "A", {"city": "Rome"}, ["from the manual"])
    assert isinstance(item, Item)


@pytest.mark.parametrize(
    "hostile",
    [
        "\ud800 half a pair",
        "a\0b\x1b[31m",
        "\u2028\u202e",
        float("nan"),
        float("inf"),
        10**5000,
        2**70,
        "x" * 1_000_000,
        {"\udfff": {1: (2, {3})}},
        object(),
        b"\xff",
        {"$ref": "}\n ]\n}"},
    ],
    ids=lambda value: f"{type(value).__name__} {str(value)[:8]!r}" if not isinstance(value, int) else "large",
)
def test_hostile_content_is_kept_or_written_as_text_and_never_lost(hostile: object, tmp_path: Path) -> None:
    data = [{"id": "1", "input": hostile, "expected": hostile, "metadata": {"m": hostile}}]
    answer = t.run(t.call("look", {"q": hostile}, result=hostile), f"ok {hostile[:99] if isinstance(hostile, str) else ''}")
    result = run_evals_sync(data, lambda asked: answer, gates=[checks.includes("ok")])
    assert result.passed
    found = again(result, tmp_path)
    assert found.passed
    assert [score.reason for score in found.items[0].scores] == [score.reason for score in result.items[0].scores]
    run = found.items[0].run
    assert run is not None
    assert run.tool_names == ("look",)
    if isinstance(hostile, str):
        assert found.items[0].item.input == found.items[0].item.expected == run.tool_calls[0].result == hostile
    if not isinstance(hostile, float):  # NaN is null in JSON, and what is null may be left out
        found.save(tmp_path / "again.json")
        assert (tmp_path / "again.json").read_bytes() == (tmp_path / "result.json").read_bytes()


@pytest.mark.parametrize("hostile", ["\ud800", "a\0b\x1b", '"}\n ]\n}', "é\u2028"])
def test_hostile_names_come_back(hostile: str, tmp_path: Path) -> None:
    """The names of items and checks stand in the head of the file too."""
    result = run_evals_sync(
        [{"id": hostile, "input": "a"}], str, gates=[checks.includes("b", name=hostile, why=hostile)], name=hostile
    )
    found = again(result, tmp_path)
    assert facts(found) == facts(result)
    assert (found.name, found.items[0].id, found.gate_results[0].scorer, found.gate_results[0].below) == (hostile,) * 3 + (
        (hostile,),
    )


def test_a_file_that_was_changed_at_random_is_read_or_refused(tmp_path: Path) -> None:
    """It never raises anything else, and never passes where the result did not."""
    path = tmp_path / "result.json"
    evaluated(repetitions=2).save(path)
    base = path.read_text(encoding="utf-8")
    random = Random(5)
    values: list[object] = [None, True, -1, 10**30, float("nan"), "", "\ud800", [], {}, [[]], {"a": 1}, "passed"]
    refused = 0
    for _ in range(400):
        value = json.loads(base)
        inside, key = random.choice(list(_places(value)))
        inside[key] = random.choice(values)
        path.write_text(json.dumps(value))
        try:
            found = load_result(path)
        except RecordingError:
            refused += 1
        else:
            assert not found.passed
            found.save(tmp_path / "again.json")
            assert load_result(tmp_path / "again.json").explain() == found.explain()
    assert 200 < refused < 400


def _places(value: object) -> Iterator[tuple[Any, Any]]:
    """Every container in a value, with each of its keys."""
    items = list(value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ())
    for key, item in items:
        yield value, key
        yield from _places(item)


def test_a_hostile_error_comes_back(tmp_path: Path) -> None:
    def broken(text: str) -> str:
        raise ValueError("\ud800\0" + "x" * 10_000)

    result = run_evals_sync(["a"], broken, gates=[checks.includes("a")])
    assert again(result, tmp_path).items[0].error == result.items[0].error


def test_a_number_that_is_none_is_an_error_in_the_file_too(tmp_path: Path) -> None:
    result = run_evals_sync(["a"], str, [Threshold(create_scorer(id="nan").generate_score(lambda output: float("nan")), min=0.1)])
    found = again(result, tmp_path)
    assert found.verdict == result.verdict != "passed"
    assert "NaN" not in (tmp_path / "result.json").read_text()


def test_each_item_stands_on_a_line_of_its_own(tmp_path: Path) -> None:
    evaluated(repetitions=2).save(tmp_path / "result.json")
    lines = (tmp_path / "result.json").read_text(encoding="utf-8").splitlines()
    start = lines.index(' "items": [')
    items = [json.loads(line.rstrip(",")) for line in lines[start + 1 : -2]]
    assert [(item["id"], item.get("repetition", 0)) for item in items] == [(str(one["id"]), n) for one in DATA for n in (0, 1)]
    assert lines[-2:] == [" ]", "}"]
    assert json.loads("\n".join(lines))["schema"] == "quickchecks.result/1"


def test_the_file_says_to_its_readers_what_came_out(tmp_path: Path) -> None:
    result = evaluated()
    result.save(tmp_path / "result.json")
    written = json.loads((tmp_path / "result.json").read_text())
    assert written["verdict"] == result.verdict
    assert dict(written["scores"]) == dict(result.scores)
    assert [gate["explanation"] for gate in written["gates"]] == [gate.explanation for gate in result.gate_results]
    assert written["usage"] == {"input_tokens": 30, "output_tokens": 15, "cost": 0.03}
    assert written["environment"]["python"]


def test_a_result_without_entries_and_items_is_a_whole_file(tmp_path: Path) -> None:
    found = again(EvalResult((), environment={"python": "3"}), tmp_path)
    assert (found.items, found.plan, found.environment) == ((), (), {"python": "3"})


def test_a_file_is_replaced_as_a_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "deep" / "result.json"
    evaluated().save(path)
    before = path.read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="No space"):
        evaluated(repetitions=2).save(path)
    assert path.read_bytes() == before
    assert [one.name for one in path.parent.iterdir()] == ["result.json"]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "link.json").symlink_to(tmp_path / "real.json")
    evaluated().save(tmp_path / "link.json")
    assert (tmp_path / "link.json").is_symlink()
    assert load_result(tmp_path / "real.json").name == "weather"


def test_the_runs_come_back_from_a_recording_that_lies_beside(tmp_path: Path) -> None:
    result = evaluated(record=tmp_path / "runs.jsonl", repetitions=2)
    found = again(result, tmp_path)
    assert facts(found) == facts(result)
    for one, other in zip(found.items, result.items, strict=True):
        assert (one.run is None) is (other.run is None)
        if one.run is not None and other.run is not None:
            assert one.run.messages == other.run.messages
            assert one.run.usage == other.run.usage
            assert one.run.metadata == other.run.metadata
    assert '"messages"' not in (tmp_path / "result.json").read_text()


def test_hostile_runs_come_back_from_a_recording(tmp_path: Path) -> None:
    run = t.run(t.call("look", {"q": (1, {2}), "n": float("nan")}, result={"\ud800": object}), "a\ud800\0")
    result = run_evals_sync([{"run": run}], None, gates=[checks.called_tool("look")], record=tmp_path / "runs.jsonl")
    found = again(result, tmp_path).items[0].run
    assert found is not None
    assert found.text == run.text


def test_a_recording_that_is_not_there_is_missed_only_for_its_runs(tmp_path: Path) -> None:
    result = evaluated(record=tmp_path / "runs.jsonl")
    (tmp_path / "elsewhere").mkdir()
    found = again(result, tmp_path / "elsewhere")
    assert facts(found) == facts(result)
    assert found.usage == result.usage
    assert {item.run for item in found.items} == {None}


def test_the_runs_of_another_evaluation_are_not_taken_for_its_own(tmp_path: Path) -> None:
    """The recording was overwritten since: its runs would explain nothing."""
    evaluated(record=tmp_path / "runs.jsonl").save(tmp_path / "result.json")
    run_evals_sync(DATA, lambda text: "other", gates=[checks.excludes("zzz")], record=tmp_path / "runs.jsonl")
    assert {item.run for item in load_result(tmp_path / "result.json").items} == {None}


@pytest.mark.parametrize("name", ["../runs.jsonl", "/etc/hostname", ".", "..", "", "x\0y"])
def test_a_recording_lies_beside_the_result_and_nowhere_else(name: str, tmp_path: Path) -> None:
    evaluated(record=tmp_path / "runs.jsonl").save(tmp_path / "in" / "result.json")
    path = tmp_path / "in" / "result.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "recording": name}))
    assert {item.run for item in load_result(path).items} == {None}


def test_a_damaged_recording_costs_the_damaged_runs(tmp_path: Path) -> None:
    evaluated(record=tmp_path / "runs.jsonl").save(tmp_path / "result.json")
    lines = (tmp_path / "runs.jsonl").read_text().splitlines()
    (tmp_path / "runs.jsonl").write_text("\n".join([lines[0], "{", *lines[2:]]))
    runs = [item.run is None for item in load_result(tmp_path / "result.json").items]
    assert runs == [False, True, True, False]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "the file is empty"),
        (b" \n\n", "the file is empty"),
        (b"{", "not valid JSON"),
        (b"\xff\xfe", "not valid JSON"),
        (b"[" * 100_000, "nested too deeply"),
        (b"[]", "got list"),
        (b"{}", "got none"),
        (b'{"schema": "quickchecks.run/1"}', 'got "quickchecks.run/1"'),
        (b'{"schema": {"a": 1}}', 'got {"a":1}'),
    ],
)
def test_what_is_no_result_is_refused_with_the_file_and_what_writes_one(content: bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    path.write_bytes(content)
    with pytest.raises(RecordingError) as caught:
        load_result(path)
    assert said in str(caught.value)
    assert str(path) in str(caught.value)
    assert "-o result.json" in str(caught.value)


def test_a_result_of_a_later_release_is_refused_as_such(tmp_path: Path) -> None:
    (tmp_path / "result.json").write_text('{"schema": "quickchecks.result/2", "items": 3}')
    with pytest.raises(RecordingError, match="update quickchecks"):
        load_result(tmp_path / "result.json")


@pytest.mark.parametrize("name", ["missing.json", ".", "a\0b"])
def test_what_cannot_be_opened_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="the result cannot be read"):
        load_result(f"{tmp_path}/{name}")


def _changes() -> Iterator[tuple[str, Callable[[dict[str, Any]], object]]]:
    yield "Expected `int`", lambda value: value.update(common="2")
    yield "Expected `array`", lambda value: value.update(items={})
    yield "entries apply to every item", lambda value: value.update(common=99)
    yield "entries apply to every item", lambda value: value.update(common=-1)
    yield "the item names entry 99, and the result has 5 entries", lambda value: value["items"][0].update(entries=[0, 99])
    yield "the item names entry -1", lambda value: value["items"][0].update(entries=[-1])
    yield "the item has 4 scores, and one was expected for each of 5 entries", lambda value: value["items"][0]["scores"].pop()
    yield (
        "the item has 6 scores, and one was expected",
        lambda value: value["items"][0]["scores"].append(value["items"][0]["scores"][0]),
    )
    yield (
        "a score with the outcome 'failed' has the value 0, and this one has 1",
        lambda value: value["items"][0]["scores"][0].update(outcome="failed"),
    )
    yield (
        "a score with the outcome 'passed' has the value 1, and this one has none",
        lambda value: value["items"][0]["scores"][0].update(value=None),
    )
    yield "has the value 1, and this one has n", lambda value: value["items"][0]["scores"][0].update(value=float("nan"))
    yield "Invalid enum value", lambda value: value["items"][0]["scores"][0].update(outcome="great")
    yield "was expected here, as `$.entries[0]` says, and this is one of", lambda value: value["items"][0]["scores"].reverse()
    yield "accepts every value", lambda value: value["entries"][3].update(bounds={})
    yield (
        "the list begins with the entries that apply to every item",
        lambda value: value["items"][1].update(entries=[], scores=[]),
    )
    yield (
        "has each entry once; this one is [0,1,2,3,4,4] - at `$.items[0].entries`",
        lambda value: value["items"][0].update(entries=[0, 1, 2, 3, 4, 4]),
    )
    yield "`$.entries[1].pass_rate`", lambda value: value["entries"][1].update(pass_rate=0)
    yield "expected a number above 0 and up to 1, got -1", lambda value: value["entries"][1].update(pass_rate=-1)
    yield "`$.entries[1].pass_rate`", lambda value: value["entries"][1].update(pass_rate=float("nan"))
    yield "expected a number above 0 and below 1, got 5", lambda value: value["entries"][1].update(confidence=5)
    yield "a gate has neither bounds nor a mode - at `$.entries[0]`", lambda value: value["entries"][0].update(bounds={"min": 0})
    yield "a gate has neither bounds nor a mode", lambda value: value["entries"][0].update(mode="shadow")
    yield "a scorer with bounds decides", lambda value: value["entries"][3].update(mode="watch")
    yield "neither pass_rate nor confidence - at `$.entries[2]`", lambda value: value["entries"][2].update(pass_rate=0.5)
    yield "expected 0 or more, got -1 - at `$.max_errors`", lambda value: value.update(max_errors=-1)
    yield "`$.repetitions`", lambda value: value.update(repetitions=0)
    yield "item 0 is not whole: it has 1 of 2 runs", lambda value: value.update(repetitions=2)
    yield "expected one of 1, counted from 0, got 1", lambda value: value["items"][0].update(repetition=1)
    yield 'the id and the repetition of `$.items[0]`, "good" and 0', lambda value: value["items"][1].update(id="good")
    yield "item 1 is not whole: it has 0 of 1 run", lambda value: value["items"].pop(1)
    yield "a number of seconds", lambda value: value["items"][0].update(seconds=-1)
    yield "there is no key \"max_error\": did you mean 'max_errors'?", lambda value: value.update(max_error=1)
    yield "did you mean 'scores'? - at `$.items[2]`", lambda value: value["items"][2].update(score=[])
    yield "did you mean 'bounds'? - at `$.entries[3]`", lambda value: value["entries"][3].update(bound={"min": 0.1})
    yield (
        "no gates or scorers that judge them",
        lambda value: (
            value.update(entries=[], common=0),
            [item.update(scores=[]) for item in value["items"]],
        ),
    )
    yield (
        "a score with the outcome 'graded' has a number from 0 to 1 as its value, for a gate, and this one has 2",
        lambda value: value["items"][0]["scores"][0].update(outcome="graded", value=2),
    )
    yield (
        "a score with the outcome 'error' has no value, and this one has 1",
        lambda value: value["items"][0]["scores"][0].update(outcome="error"),
    )


@pytest.mark.parametrize(("said", "change"), list(_changes()), ids=lambda one: one[:30] if isinstance(one, str) else "")
def test_a_file_that_contradicts_itself_is_refused(said: str, change: Callable[[dict[str, Any]], object], tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    evaluated().save(path)
    value = json.loads(path.read_text())
    change(value)
    path.write_text(json.dumps(value))
    with pytest.raises(RecordingError) as caught:
        load_result(path)
    assert "the result is malformed" in str(caught.value)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            '"outcome":"passed",',
            '"outcome":"failed","value":0.0,"outcome":"passed",',
            ", at $.items[0].scores[0]: the result is malformed: the key 'outcome' stands twice in one object",
        ),
        ('"max_errors"', '"max_errors": 7, "max_errors"', ", at $: the result is malformed: the key 'max_errors' stands twice"),
        ('"messages":[', '"messages":[],"messages":[', ", at $.items[0].run: the result is malformed: the key 'messages'"),
        ("{", "{\n<<<<<<< HEAD", ":2: the result is malformed: git left a conflict here (<<<<<<<): finish the merge"),
        ("\n", "\n>>>>>>> other\n", ":2: the result is malformed: git left a conflict here (>>>>>>>): finish the merge"),
    ],
)
def test_what_a_bad_merge_leaves_is_refused_with_its_place(old: str, new: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    evaluated(max_errors=1).save(path)
    content = path.read_text()
    assert old in content
    path.write_text(content.replace(old, new, 1))
    with pytest.raises(RecordingError) as caught:
        load_result(path)
    assert said in str(caught.value)
    assert re.match(re.escape(str(path)) + r":\d+", str(caught.value))


def test_what_a_tool_returned_under_1_and_its_text_is_saved_so_that_it_can_be_read(tmp_path: Path) -> None:
    run = t.run(t.call("f", result={1: "a", "1": "b"}), "ok")
    run_evals_sync([{"input": "a", "run": run}], None, gates=[checks.includes("ok")]).save(tmp_path / "result.json")
    assert load_result(tmp_path / "result.json").verdict == "passed"


def test_what_a_later_release_adds_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    result = evaluated()
    result.save(path)
    value = json.loads(path.read_text())
    value["new"] = value["items"][0]["new"] = value["entries"][0]["new"] = {"a": 1}
    path.write_text(json.dumps(value))
    assert facts(load_result(path)) == facts(result)


def test_a_verdict_in_the_file_is_not_believed(tmp_path: Path) -> None:
    """It is made again from the scores, so that a changed word changes nothing; and it is told."""
    path = tmp_path / "result.json"
    evaluated().save(path)
    path.write_text(path.read_text().replace('"verdict": "failed"', '"verdict": "passed"', 1))
    found = load_result(path)
    assert found.verdict == "failed"
    assert found.warnings[-1].startswith("the file says passed, and its scores say failed: it was changed")


def test_the_commit_is_that_of_the_repository_around(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commit = "0123456789abcdef0123456789abcdef01234567"
    inside = tmp_path / "repository" / "deep"
    inside.mkdir(parents=True)
    monkeypatch.chdir(inside)
    assert "git" not in environment()
    git = tmp_path / "repository" / ".git"
    (git / "refs" / "heads").mkdir(parents=True)
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    assert "git" not in environment()
    (git / "packed-refs").write_text(f"# pack-refs\n{commit} refs/heads/main\n^{commit}\n")
    assert environment()["git"] == commit[:12]
    (git / "refs" / "heads" / "main").write_text("f" * 40 + "\n")
    assert environment()["git"] == "f" * 12
    (git / "HEAD").write_text(commit + "\n")
    assert environment()["git"] == commit[:12]
    (git / "HEAD").write_bytes(b"\xff" * 99)
    assert "git" not in environment()


def test_the_commit_of_a_worktree_is_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tmp_path / "main" / ".git" / "worktrees" / "w"
    own.mkdir(parents=True)
    (own / "HEAD").write_text("ref: refs/heads/topic\n")
    (own / "commondir").write_text("../..\n")
    (tmp_path / "main" / ".git" / "refs" / "heads").mkdir(parents=True)
    (tmp_path / "main" / ".git" / "refs" / "heads" / "topic").write_text("a" * 40)
    (tmp_path / "w").mkdir()
    (tmp_path / "w" / ".git").write_text(f"gitdir: {own}\n")
    monkeypatch.chdir(tmp_path / "w")
    assert environment()["git"] == "a" * 12
