"""The recorded cases of the reference's scorer pipeline, and a test for each place where we differ on purpose."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from quickchecks import Score, Scorer, create_scorer, load_run, not_applicable, not_scorable
from quickchecks import testing as t
from quickchecks._run import Message, Run, Text
from quickchecks.errors import ScorerDefinitionError

STEPS = {"preprocess": "preprocess", "analyze": "analyze", "generateScore": "generate_score", "generateReason": "generate_reason"}
RESULTS = {f"{theirs}StepResult": ours for theirs, ours in STEPS.items()}
#: What is right where the reference is not, with the cases that show it. Each has a test below.
RIGHT = {
    "range: a score that is not a finite number in 0..1 (or a bool) is a scorer error": 10,
    "P4: require a string": 1,
    "P9: keep the thrown value as cause": 2,
    "P13: require a string": 3,
    "P6: always overwrite / remove result fields": 1,
}
UNDEFINED = {"$": "undefined"}
RUN = t.run(t.user("the input"), "the output")


@pytest.fixture(scope="module")
def cases(shared: Path) -> Sequence[dict[str, Any]]:
    lines = (shared / "cases/reference/pipeline.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def run_of(given: Mapping[str, Any]) -> Run:
    """The run of a case: its input and output, everything else as metadata."""
    output = given.get("output")
    run = load_run(output) if isinstance(output, Mapping) else Run((Message("assistant", (Text(str(output)),)),))
    return Run(
        run.messages, given.get("input"), metadata={name: given[name] for name in given if name not in ("input", "output")}
    )


def at(path: Sequence[str], step: Mapping[str, object]) -> object:
    """What lies at a path in what a step gets, by the reference's names."""
    value = step[path[0]]
    for name in path[1:]:
        name = RESULTS.get(name, name)
        if isinstance(value, Run):
            known: Mapping[str, object] = {"output": value.output, **(value.metadata or {})}
        else:
            assert isinstance(value, Mapping)
            known = value
        value = known[name]
    return value


def filled(template: str, step: Mapping[str, object]) -> str:
    """A template with its places filled in, as JSON writes them."""
    return re.sub(r"\{([\w.]+)\}", lambda place: json.dumps(at(place[1].split("."), step)), template)


def done(described: Mapping[str, Any], step: Mapping[str, object]) -> object:
    """What a step of a case does."""
    action = described["do"]
    if action == "return":
        return described["value"]
    if action == "get":
        return at(described["path"], step)
    if action == "template":
        return filled(described["text"], step)
    if action == "notScorable":
        reason = described.get("reason", UNDEFINED)
        return not_scorable() if reason == UNDEFINED else not_scorable(reason)
    assert action == "throw"
    raise RuntimeError(described["error"]["message"])


def made(case: Mapping[str, Any], ran: list[str]) -> Scorer:
    """The scorer of a case; it notes which steps ran, by the reference's names."""
    config = {name: value for name, value in case["scorer"]["config"].items() if name in ("id", "name", "description")}
    scorer = create_scorer(**config)
    for described in case["scorer"]["steps"]:
        stage = described["step"]

        def step(
            run: Run, results: object, stage: str = stage, described: Mapping[str, Any] = described, **more: object
        ) -> object:
            ran.append(stage)
            return done(described, {"run": run, "results": results, **more})

        async def slow_step(run: Run, results: object, step: Callable[..., object] = step, **more: object) -> object:
            await asyncio.sleep(0)
            return step(run, results, **more)

        scorer = getattr(scorer, STEPS[stage])(slow_step if described.get("async") else step)
    return scorer


def scored(case: Mapping[str, Any], scorer: Scorer, door: str) -> Score:
    run = run_of(case["run"])
    return scorer.score(run) if door == "score" else asyncio.run(scorer.score_async(run))


def problems(case: Mapping[str, Any], door: str) -> list[str]:
    """How a case comes out otherwise than the reference."""
    reference = case["reference"]
    ran: list[str] = []
    if reference["outcome"] == "build-error":
        with pytest.raises(ScorerDefinitionError, match="must have an id"):
            made(case, ran)
        return []
    scorer = made(case, ran)
    if reference["outcome"] == "rejected" and "failedStep" not in reference["error"]:
        with pytest.raises(ScorerDefinitionError, match="it has no score step"):
            scored(case, scorer, door)
        return [f"steps ran: {ran}"] if ran else []
    score = scored(case, scorer, door)
    found: dict[str, object] = {"steps_run": ran}
    wanted: dict[str, object] = {"steps_run": reference["steps_run"]}
    results = dict(score.results or {})
    for theirs in ("preprocessStepResult", "analyzeStepResult"):
        if theirs in reference:
            found[theirs], wanted[theirs] = results.get(RESULTS[theirs]), reference[theirs]
    if reference["outcome"] == "rejected":
        error = score.error
        assert error is not None
        found["failed"], wanted["failed"] = error.failed_step, STEPS[reference["error"]["failedStep"]]
        found["completed"] = list(error.completed_steps)
        wanted["completed"] = [STEPS[stage] for stage in reference["error"]["completedSteps"]]
        message = reference["error"]["message"].removeprefix("Scorer Run Failed: ")
        found["message"], wanted["message"] = message in str(error) and message in str(error.__cause__), True
    elif "notScorable" in reference:
        found["outcome"], wanted["outcome"] = score.outcome, "not_applicable"
        found["value"], wanted["value"] = score.value, None
        if "reason" in reference["notScorable"]:
            found["reason"], wanted["reason"] = score.reason, reference["notScorable"]["reason"]
    else:
        found["value"], wanted["value"] = score.value, float(reference["score"])
        if "reason" in reference:
            found["reason"], wanted["reason"] = score.reason, reference["reason"]
        config = case["scorer"]["config"]
        found["identity"], wanted["identity"] = score.scorer.identity, config.get("name") or config["id"]
    return [] if found == wanted else [f"{found}, not {wanted}"]


def test_the_file_is_whole(cases: Sequence[dict[str, Any]]) -> None:
    assert len(cases) == 83
    assert sum(case["expected"] == "as reference" for case in cases) == 66
    words = [case["expected"]["right"] for case in cases if case["expected"] != "as reference"]
    assert {word: words.count(word) for word in words} == RIGHT


@pytest.mark.parametrize("door", ["score", "score_async"])
def test_every_case_without_a_deviation_is_as_the_reference(door: str, cases: Sequence[dict[str, Any]]) -> None:
    """The synchronous door cannot do those of which a step is asynchronous, and says so."""
    wrong = {}
    ran = 0
    for case in cases:
        waits = any(step.get("async") for step in case["scorer"]["steps"])
        if case["expected"] != "as reference" or (waits and door == "score"):
            continue
        ran += 1
        if found := problems(case, door):
            wrong[f"{case['id']} ({case['note']})"] = found
    assert not wrong, "\n".join(f"{name}: {found}" for name, found in wrong.items())
    assert ran == {"score": 53, "score_async": 66}[door]


def deviating(cases: Sequence[dict[str, Any]], right: str) -> list[dict[str, Any]]:
    return [case for case in cases if case["expected"] == {"right": right}]


def test_a_score_that_is_no_number_of_the_range_is_a_scorer_error(cases: Sequence[dict[str, Any]]) -> None:
    for case in deviating(cases, "range: a score that is not a finite number in 0..1 (or a bool) is a scorer error"):
        ran: list[str] = []
        score = scored(case, made(case, ran), "score")
        assert score.outcome == "error", case["id"]
        assert score.error is not None
        assert (score.error.failed_step, score.value, ran) == ("generate_score", None, ["generateScore"])


def test_a_reason_that_is_no_text_is_a_scorer_error(cases: Sequence[dict[str, Any]]) -> None:
    for case in deviating(cases, "P4: require a string"):
        score = scored(case, made(case, []), "score")
        assert score.outcome == "error"
        assert score.error is not None
        assert score.error.failed_step == "generate_reason"
        assert score.error.results["generate_score"] == 0.5
        assert "a reason is text, not null" in score.reason


def test_the_thrown_exception_itself_is_the_cause(cases: Sequence[dict[str, Any]]) -> None:
    kinds = {"TypeError": TypeError, "RangeError": IndexError}
    for case in deviating(cases, "P9: keep the thrown value as cause"):
        thrown = kinds[case["scorer"]["steps"][1]["error"]["kind"]]("kaput")

        def analyze(run: Run, thrown: Exception = thrown) -> None:
            raise thrown

        scorer = create_scorer(id="sc").preprocess(lambda run: {"p": 1}).analyze(analyze).generate_score(lambda run: 0.5)
        error = scorer.score(RUN).error
        assert error is not None
        assert error.__cause__ is thrown
        assert (error.failed_step, error.completed_steps) == ("analyze", ("preprocess",))
        assert "kaput" in str(error)


def test_the_reason_of_not_scorable_is_text(cases: Sequence[dict[str, Any]]) -> None:
    for case in deviating(cases, "P13: require a string"):
        reason = case["scorer"]["steps"][0]["reason"]
        with pytest.raises(TypeError, match="takes its reason as text"):
            not_scorable(reason)
        score = scored(case, made(case, []), "score")
        assert score.outcome == "error"
        assert score.error is not None
        assert score.error.failed_step == "preprocess"


def test_what_a_run_carries_is_never_taken_for_a_result(cases: Sequence[dict[str, Any]]) -> None:
    for case in deviating(cases, "P6: always overwrite / remove result fields"):
        score = scored(case, made(case, []), "score")
        assert (score.outcome, score.value, score.reason) == ("graded", 0.5, "scored 0.5")
        assert score.results is None


# What the table of the reference's defects says beyond the recorded cases.


def test_p1_the_order_is_fixed() -> None:
    scorer = create_scorer(id="sc").generate_reason(lambda score: f"was {score}").generate_score(lambda run: 0.5)
    assert scorer.score(RUN).reason == "was 0.5"


def test_p2_a_step_is_defined_once() -> None:
    with pytest.raises(ScorerDefinitionError, match="each step is defined once"):
        create_scorer(id="sc").analyze(lambda run: 1).analyze(lambda run: 2)


def test_p5_a_step_cannot_change_what_another_returned() -> None:
    scorer = create_scorer(id="sc").preprocess(lambda run: {"p": 1}).analyze(lambda results: results.preprocess.clear())
    score = scorer.generate_score(lambda results: 0.5).score(RUN)
    assert score.outcome == "error"
    assert score.error is not None
    assert score.error.results == {"preprocess": {"p": 1}}


def test_p7_an_abstention_of_the_reason_step_ends_the_pipeline_and_keeps_the_results() -> None:
    scorer = create_scorer(id="sc").preprocess(lambda run: 1).generate_score(lambda run: 0.5)
    score = scorer.generate_reason(lambda run: not_applicable("after all not")).score(RUN)
    assert (score.outcome, score.value, score.reason) == ("not_applicable", None, "after all not")
    assert score.results == {"preprocess": 1, "generate_score": 0.5}


@pytest.mark.parametrize("prepared", [None, 5, "text", []])
def test_p8_what_prepare_run_does_wrong_is_a_scorer_error(prepared: object) -> None:
    score = create_scorer(id="sc", prepare_run=lambda run: prepared).generate_score(lambda run: 0.5).score(RUN)
    assert score.error is not None
    assert score.error.failed_step == "prepare_run"


def test_p11_a_thrown_abstention_is_an_error_that_keeps_its_words() -> None:
    def step(run: Run) -> None:
        raise ValueError(not_applicable("thrown"))

    score = create_scorer(id="sc").generate_score(step).score(RUN)
    assert score.outcome == "error"
    assert "thrown" in score.reason


def test_p12_a_step_that_is_no_function_is_refused_when_it_is_chained() -> None:
    wrong: list[object] = [5, "text", [], {"description": "a prompt object of the reference"}]
    for step in wrong:
        with pytest.raises(ScorerDefinitionError, match="must be a function or a Prompt"):
            create_scorer(id="sc").generate_score(step)  # type: ignore[arg-type]
