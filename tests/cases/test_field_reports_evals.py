"""What users of other tools reported of runners, verdicts and datasets: each case comes out right."""

from __future__ import annotations

import asyncio
import base64
import json
import re
from collections.abc import Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import Any

import pytest

from quickchecks import (
    EvalResult,
    Item,
    Scorer,
    Threshold,
    checks,
    create_scorer,
    load_run,
    not_applicable,
    run_evals,
    run_evals_sync,
)
from quickchecks._items import load_items
from quickchecks.errors import QuickchecksError

#: How many cases there are of each kind that is about evaluations.
CASES = {"runner": 15, "verdict": 10, "dataset_load": 4}


@pytest.fixture(scope="module")
def cases(shared: Path) -> Mapping[str, dict[str, Any]]:
    found = json.loads((shared / "cases/field-reports.json").read_text(encoding="utf-8"))
    return {case["id"]: case for case in found if case["kind"] in CASES}


def of_entry(cases: Mapping[str, dict[str, Any]], entry: str) -> Sequence[dict[str, Any]]:
    return [case for case in cases.values() if case["entry"] == entry]


def scorer_giving(outputs: Sequence[object], id: str = "scripted") -> Scorer:
    """A scorer that gives each item, by its number, what the case says."""

    def value(item: Item) -> object:
        assert isinstance(item.input, int)
        output = outputs[item.input]
        if output == "raise":
            raise RuntimeError("the scorer breaks")
        if output == "skip":
            return not_applicable("nothing to judge")
        return float("nan") if output == "nan" else output

    return create_scorer(id=id, description="Scripted.").generate_score(value)


def check_of(spec: Sequence[Any]) -> Scorer:
    name, arguments, options = spec
    made: Scorer = getattr(checks, name)(*arguments, **options)
    return made


def test_every_kind_has_its_cases(cases: Mapping[str, dict[str, Any]]) -> None:
    kinds = [case["kind"] for case in cases.values()]
    assert {kind: kinds.count(kind) for kind in CASES} == CASES


@pytest.mark.parametrize("entry", ["B31", "B32", "B33"])
def test_a_scorer_that_breaks_or_gives_no_number_is_counted_and_never_a_pass(
    entry: str, cases: Mapping[str, dict[str, Any]]
) -> None:
    for case in of_entry(cases, entry):
        outputs, expected = case["scorerOutputs"], case["expected"]
        expected = expected.get("anyOf", [expected])[0]
        scorer = scorer_giving(outputs)
        sibling = create_scorer(id="sibling", description="Always scores.").generate_score(lambda output: 1.0)
        result = run_evals_sync(range(len(outputs)), lambda number: "x", [Threshold(scorer, min=case["threshold"]), sibling])
        counts = result.summary.scorers["scripted"]
        assert counts.errors == expected.get("errored", expected.get("invalid"))
        assert counts.judged == expected["scored"]
        assert result.summary.scorers["sibling"].judged == len(outputs) == expected.get("itemsReported", len(outputs))
        assert result.verdict != "passed"
        assert f"{counts.errors} broke" in result.explain() or f"broke on {counts.errors}" in result.explain()
        if "erroredItemIndex" in expected:
            score = result.items[expected["erroredItemIndex"]].score("scripted")
            assert score is not None
            assert score.error is not None
            error = score.record().error
            assert error is not None
            assert "RuntimeError: the scorer breaks" in error.traceback
        if expected.get("meanFinite"):
            assert isfinite(result.scores["scripted"])
        if expected.get("meanAbsent"):
            assert "scripted" not in result.scores


@pytest.mark.parametrize("case_id", ["B33a", "B33b"])
def test_a_saved_result_is_strict_json(case_id: str, cases: Mapping[str, dict[str, Any]], tmp_path: Path) -> None:
    outputs = cases[case_id]["scorerOutputs"]
    result = run_evals_sync(range(len(outputs)), lambda number: "x", [scorer_giving(outputs)])
    result.save(tmp_path / "result.json")

    def refuse(constant: str) -> object:
        raise AssertionError(f"{constant} is no JSON")

    json.loads((tmp_path / "result.json").read_text(encoding="utf-8"), parse_constant=refuse)


def test_results_are_in_the_order_of_the_data(cases: Mapping[str, dict[str, Any]]) -> None:
    case = cases["B34a"]
    delays = dict(zip(case["itemIds"], case["targetDelaysMs"], strict=True))
    finished = []

    async def target(name: str) -> str:
        await asyncio.sleep(delays[name] / 1000)
        return name

    result = run_evals_sync(
        [{"id": name, "input": name} for name in delays],
        target,
        [checks.includes("i")],
        concurrency=case["concurrency"],
        on_item_complete=lambda item: finished.append((item.index, item.id)),
    )
    assert [item.id for item in result.items] == case["expected"]["order"]
    assert sorted(finished) == [(0, "i0"), (1, "i1"), (2, "i2")]


def test_a_timeout_bites_whatever_the_target_does(cases: Mapping[str, dict[str, Any]]) -> None:
    case = cases["B35a"]
    import time

    async def forever(behaviour: str) -> str:
        await asyncio.Event().wait()
        return behaviour

    def target(behaviour: str) -> object:
        if behaviour == "block_sleep_60s":
            time.sleep(60)
        return forever(behaviour) if behaviour == "await_forever" else behaviour

    start = time.perf_counter()
    result = run_evals_sync(
        case["targetBehaviours"],
        target,
        gates=[checks.includes("ok")],
        timeout=case["itemTimeoutSeconds"],
        concurrency=case["concurrency"],
    )
    assert time.perf_counter() - start < case["expected"]["maxSeconds"]
    assert ["ok" if item.error is None else item.error.kind for item in result.items] == case["expected"]["statuses"]
    assert result.verdict == "failed"


@pytest.mark.parametrize("case_id", ["B37a", "B37b", "B37c", "B37d"])
def test_the_concurrency_is_what_it_says(case_id: str, cases: Mapping[str, dict[str, Any]]) -> None:
    case = cases[case_id]
    running: list[int] = []
    most: list[int] = []

    async def target(number: int) -> str:
        running.append(number)
        most.append(len(running))
        await asyncio.sleep(0.005)
        running.remove(number)
        return "x"

    def run() -> EvalResult:
        data = range(case["items"])
        return asyncio.run(run_evals(data, target, [checks.includes("x")], concurrency=case["concurrency"]))

    if "raises" in case["expected"]:
        with pytest.raises(ValueError, match="concurrency"):
            run()
        assert not most
    else:
        run()
        assert max(most) == case["expected"]["maxInFlight"]


def test_a_failure_that_the_target_returns_is_an_error(cases: Mapping[str, dict[str, Any]]) -> None:
    case = cases["B39a"]
    returns = case["targetReturns"]
    result = run_evals_sync(range(len(returns)), lambda number: returns[number], gates=[checks.used_no_tools()])
    assert ["ok" if item.error is None else "error" for item in result.items] == case["expected"]["statuses"]
    assert result.items[0].error is not None
    assert result.items[0].error.message == "502 from upstream"
    assert result.items[0].run is not None
    assert result.verdict == "failed"


@pytest.mark.parametrize("case_id", ["B40a", "B40b", "B40c", "B41a", "B41b", "B41c", "B41d", "B42a", "B42b", "B42c"])
def test_verdicts(case_id: str, cases: Mapping[str, dict[str, Any]]) -> None:
    case = cases[case_id]
    expected = case["expected"]
    series = [*case["gates"], *(one["scores"] for one in case["thresholds"])]
    gates = [scorer_giving(outputs, f"gate {number}") for number, outputs in enumerate(case["gates"])]
    scorers = [
        {"scorer": scorer_giving(one["scores"], f"threshold {number}"), "threshold": one["threshold"]}
        for number, one in enumerate(case["thresholds"])
    ]

    def run() -> EvalResult:
        return run_evals_sync(range(max(map(len, series))), lambda number: "x", scorers, gates)

    if "raises" in expected:
        with pytest.raises(ValueError, match="threshold"):
            run()
        return
    result = run()
    if "verdict" in expected:
        assert result.verdict == expected["verdict"]
    else:
        assert result.verdict not in ("passed", None)
    if "itemsBelow" in expected:
        below = [result.items[number].id for number in expected["itemsBelow"]]
        assert list(result.threshold_results[0].below) == below
        assert below[0] in result.explain()
    if "skipped" in expected:
        assert result.summary.scorers["threshold 0"].not_applicable == expected["skipped"]


def test_two_checks_of_one_kind_are_two_results(cases: Mapping[str, dict[str, Any]]) -> None:
    case = cases["B43a"]
    run = load_run(case["messages"], format="openai_chat")
    result = run_evals_sync([run], scorers=[check_of(spec) for spec in case["scorers"]])
    assert list(result.scores.values()) == case["expected"]["scores"]
    assert len(result.scores) == case["expected"]["distinctResults"]
    case = cases["B43b"]
    result = run_evals_sync([run], gates=[check_of(spec) for spec in case["gates"]])
    assert len(result.gate_results) == case["expected"]["gateResults"]
    assert result.verdict == case["expected"]["verdict"]


@pytest.mark.parametrize("case_id", ["B50a", "B50b", "B50c", "B51a"])
def test_a_dataset_is_read_or_refused_with_its_line(case_id: str, cases: Mapping[str, dict[str, Any]], tmp_path: Path) -> None:
    case = cases[case_id]
    expected = case["expected"]
    file = tmp_path / f"data.{case['format']}"
    file.write_bytes(base64.b64decode(case["bytesBase64"]))
    if "raises" not in expected:
        assert [item.input for item in load_items(file)] == expected["inputs"]
        return
    with pytest.raises(ValueError, match=re.escape(str(file))) as caught:
        run_evals_sync(file, lambda text: pytest.fail("nothing is asked"), [checks.includes("x")])
    assert isinstance(caught.value, QuickchecksError)
    assert all(word in str(caught.value) for word in expected["messageContains"])


def test_repetitions_are_runs_of_their_own() -> None:
    """B38: a repetition is never answered from another one, and a retry is a new call."""
    answers = iter(["broken", "one", "two", "three"])

    def target(text: str) -> str:
        answer = next(answers)
        if answer == "broken":
            raise ConnectionError(answer)
        return answer

    result = run_evals_sync(["x"], target, [checks.includes("o")], repetitions=3, retries=1, concurrency=1)
    assert [item.run.text for item in result.items if item.run is not None] == ["one", "two", "three"]
    assert [item.attempts for item in result.items] == [2, 1, 1]
