"""The recorded evaluations of the reference: every one gives what it should, or is refused before anything is asked."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Unpack

import pytest

from quickchecks import EvalResult, Item, Scorer, checks, create_scorer, load_run, not_applicable, run_evals, run_evals_sync
from quickchecks._evaluation import EvalOptions

#: How many cases there are of each group, so that a file that lost its lines does not pass.
CASES = {
    "validation": 35,
    "thresholds": 21,
    "gates": 16,
    "duplicates": 16,
    "verdict": 15,
    "multi-turn": 15,
    "reserved-id": 12,
    "scores": 11,
    "concurrency": 11,
    "not-scorable": 7,
    "errors": 5,
}


@pytest.fixture(scope="module")
def cases(shared: Path) -> Sequence[dict[str, Any]]:
    return [json.loads(line) for line in (shared / "cases/reference/run_evals.jsonl").read_text(encoding="utf-8").splitlines()]


def snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)


def stub(responses: Mapping[str, Mapping[str, Any]], asked: list[str]) -> Callable[[str], Awaitable[object]]:
    """A target that answers as the case says, and notes what it was asked."""

    async def answer(text: str) -> object:
        asked.append(text)
        response = {**responses.get("*", {}), **responses.get(text, {})}
        if "delay_ms" in response:
            await asyncio.sleep(response["delay_ms"] / 1000)
        if "raise" in response:
            raise RuntimeError(response["raise"])
        if "messages" in response:
            return load_run(response["messages"], format="reference")
        return response.get("text", f"reply to {text}")

    return answer


def scorer_of(spec: Mapping[str, Any]) -> Scorer:
    """The scorer that a case describes."""
    if "check" in spec:
        options = {snake(name): value for name, value in spec["options"].items()}
        made: Scorer = getattr(checks, snake(spec["check"]))(*spec["args"], **options)
        return made

    def among(inputs: object, item: Item) -> bool:
        return inputs == "*" or (isinstance(inputs, list) and item.asked[0] in inputs)

    def value(item: Item) -> object:
        if among(spec.get("raise_on"), item):
            raise RuntimeError("the scorer breaks")
        if among(spec.get("not_scorable_on"), item):
            return not_applicable("nothing to judge")
        by_input = spec.get("by_input")
        return spec["score"] if by_input is None else by_input.get(item.asked[0], spec.get("default", 0))

    return create_scorer(id=spec["id"], description="A scorer of a case.").generate_score(value)


def entry_of(spec: Mapping[str, Any]) -> object:
    """The entry of `scorers` or `gates` that a case describes."""
    return {"scorer": scorer_of(spec), "threshold": spec["threshold"]} if "threshold" in spec else scorer_of(spec)


def item_of(spec: Mapping[str, Any]) -> object:
    """The item that a case describes, with the entries of its turns."""
    if not isinstance(spec.get("turns"), list):
        return spec
    turns = [
        {**turn, **{role: [entry_of(one) for one in turn[role]] for role in ("gates", "scorers") if role in turn}}
        for turn in spec["turns"]
    ]
    return {**spec, "turns": turns}


def outcome(case: Mapping[str, Any], run: Callable[..., EvalResult]) -> dict[str, Any]:
    """What we do with a case, in the words of `expected`."""
    asked: list[str] = []
    data = [item_of(item) for item in case["data"]]
    scorers, gates = ([entry_of(spec) for spec in case[role]] for role in ("scorers", "gates"))
    try:
        result = run(data, stub(case["responses"], asked), scorers, gates, concurrency=case["concurrency"])
    except (ValueError, TypeError) as error:
        assert str(error)
        return {"raises": "ValueError or TypeError", "when": "later" if asked else "before any target call"}
    assert [item.index for item in result.items] == list(range(len(case["data"])))
    return {
        "verdict": result.verdict,
        "scores": dict(result.scores),
        "errors": result.error_count,
        "gates": {one.label: one.passed for one in result.gate_results},
        "thresholds": {one.label: one.passed for one in result.threshold_results},
    }


def agrees(found: Mapping[str, Any], expected: Mapping[str, Any]) -> bool:
    """Scores to 1e-9; what was judged on nothing is false or absent."""
    if "raises" in expected:
        return all(found.get(key) == expected[key] for key in ("raises", "when"))
    if "raises" in found or any(found[key] != expected[key] for key in ("verdict", "errors")):
        return False
    scores = expected["scores"]
    if list(found["scores"]) != list(scores) or any(abs(found["scores"][key] - scores[key]) > 1e-9 for key in scores):
        return False
    return all(
        found[kind].get(key, False) == expected[kind].get(key, False)
        for kind in ("gates", "thresholds")
        for key in {*found[kind], *expected[kind]}
    )


def test_every_group_has_its_cases(cases: Sequence[dict[str, Any]]) -> None:
    assert Counter(case["group"] for case in cases) == CASES
    assert len(cases) == 164


def in_a_loop(
    data: str | Path | Iterable[object],
    target: Callable[..., object] | None = None,
    scorers: Iterable[object] = (),
    gates: Iterable[object] = (),
    **options: Unpack[EvalOptions],
) -> EvalResult:
    return asyncio.run(run_evals(data, target, scorers, gates, **options))


@pytest.mark.parametrize("run", [in_a_loop, run_evals_sync])
@pytest.mark.parametrize("group", CASES)
def test_every_case_gives_what_is_expected(group: str, run: Callable[..., EvalResult], cases: Sequence[dict[str, Any]]) -> None:
    of_group = [case for case in cases if case["group"] == group]
    wrong = [
        f"{case['id']} ({case['note']}): {found}, not {case['expected']}"
        for case in of_group
        if not agrees(found := outcome(case, run), case["expected"])
    ]
    assert not wrong, f"{len(wrong)} of {len(of_group)} cases differ:\n" + "\n".join(wrong)
