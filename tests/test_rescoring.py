"""Scoring the runs of a result again, and choosing what failed in one."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from quickchecks import Item, Threshold, checks, from_item, load_result, run_evals_sync
from quickchecks._items import items_of
from quickchecks._rescoring import failed_items, rescored
from quickchecks._results.evaluation import EvalResult
from quickchecks.errors import RecordingError, ScorerDefinitionError

DATA = [{"id": "1", "input": "a", "expected": "A"}, {"id": "2", "input": "b", "expected": "C"}]


def shout(text: str) -> str:
    if text == "boom":
        raise ValueError("no")
    return text.upper()


@pytest.fixture
def before(tmp_path: Path) -> EvalResult:
    """A saved result."""
    file = tmp_path / "result.json"
    run_evals_sync(DATA, shout, gates=[checks.includes("z")]).save(file)
    return load_result(file)


def test_other_checks_judge_the_same_runs(before: EvalResult) -> None:
    result = rescored(before, items_of(DATA), [checks.includes(from_item("expected"))], [])
    assert [score.outcome for item in result.items for score in item.scores] == ["passed", "failed"]
    assert [item.seconds for item in result.items] == [item.seconds for item in before.items]


def test_what_is_expected_is_taken_from_the_present_data(before: EvalResult) -> None:
    data = items_of([DATA[0], {**DATA[1], "expected": "B"}])
    assert rescored(before, data, [checks.includes(from_item("expected"))], []).verdict == "passed"


def test_an_item_that_asks_something_else_is_judged_as_it_was_and_told(before: EvalResult) -> None:
    data = items_of([{"id": "1", "input": "other", "expected": "x"}, Item(input="c", id="3")])
    result = rescored(before, data, [checks.includes(from_item("expected"))], [])
    assert [item.item.expected for item in result.items] == ["A", "C"]
    assert result.warnings == (
        "items without a run in the result, which are not judged: 3",
        "items that only the result has: 2",
        "items that ask something else by now, judged as they were: 1",
    )


def test_an_item_that_broke_stays_broken() -> None:
    before = run_evals_sync(["a", "boom"], shout, gates=[checks.includes("A")])
    result = rescored(before, [], [checks.includes("A")], [])
    assert [item.errored for item in result.items] == [False, True]
    assert result.verdict == "failed"


def test_a_conversation_is_judged_as_a_whole_and_nothing_passes_for_lack_of_its_turns() -> None:
    data = items_of([{"id": "1", "turns": [{"input": "a", "gates": [checks.includes("A")]}, {"input": "b"}]}])
    before = run_evals_sync(data, lambda text, history: text.upper(), gates=[checks.includes("B")])
    result = rescored(before, data, [checks.includes("A")], [])
    assert [(gate.label, gate.verdict) for gate in result.gate_results] == [
        ("includes('A')", "passed"),
        ("turn 0: includes('A')", "undecided"),
    ]
    assert result.failures[0].reason == "the turns of a recorded conversation cannot be judged apart"


def test_runs_that_are_kept_nowhere_cannot_be_scored(tmp_path: Path) -> None:
    run_evals_sync(DATA, shout, gates=[checks.includes("A")], record=tmp_path / "runs.jsonl").save(tmp_path / "result.json")
    (tmp_path / "runs.jsonl").unlink()
    with pytest.raises(RecordingError, match=r"does not hold the run of item '1'[^\n]*\n  they are kept in runs\.jsonl"):
        rescored(load_result(tmp_path / "result.json"), items_of(DATA), [checks.includes("A")], [])


def test_without_checks_there_is_nothing_to_score_with(before: EvalResult) -> None:
    with pytest.raises(ScorerDefinitionError, match="nothing to score with"):
        rescored(before, items_of(DATA), [], [])


def test_a_tool_that_no_run_called_is_told() -> None:
    from quickchecks import testing

    before = run_evals_sync([{"id": "1", "run": testing.run(testing.call("search"), "Done.")}], None, [checks.includes("a")])
    result = rescored(before, [], [], [checks.called_tool("serach")])
    assert result.warnings[-1] == "no run here ever called 'serach'; near: 'search' (1 run)"


def test_what_failed() -> None:
    result = run_evals_sync(
        [{"id": one, "input": one} for one in ("sunny", "sunni", "boom", "rain")],
        shout,
        [Threshold(checks.similarity("sunny"), min=0.9)],
        [checks.excludes("rain")],
    )
    assert failed_items(result) == ("sunni", "boom", "rain")


def test_a_result_that_was_broken_off_stays_undecided_when_it_is_scored_again() -> None:
    whole = run_evals_sync(
        [{"id": "a", "input": "a"}, {"id": "b", "input": "b"}], lambda q: f"ok {q}", gates=[checks.includes("ok")]
    )
    part = replace(whole, items=whole.items[:1], interrupted=True)
    items = items_of([{"id": "a", "input": "a"}])
    again = rescored(part, items, [checks.includes("ok")], [])
    assert (again.verdict, again.incomplete) == ("undecided", "the result was broken off before every item was run")


@pytest.mark.parametrize("data", [[{"id": "z", "input": "z"}], [{"id": "a", "input": "a"}, {"id": "new", "input": "n"}]])
def test_items_that_were_never_run_leave_a_rescoring_undecided(data: list[object]) -> None:
    whole = run_evals_sync([{"id": "a", "input": "a"}], lambda q: f"ok {q}", gates=[checks.includes("ok")])
    again = rescored(whole, items_of(data), [checks.includes("ok")], [])
    assert again.verdict == "undecided"
    assert "1 item of the data not run" in again.explain()


def test_an_item_without_evidence_is_one_to_run_again() -> None:
    result = run_evals_sync([{"id": "a", "input": "a"}], lambda q: "ok", gates=[checks.used_no_tools()])
    assert failed_items(result) == ("a",)
