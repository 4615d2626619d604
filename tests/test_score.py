"""What a score says, and how it survives every boundary."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable

import msgspec
import pytest

from quickchecks import checks, create_scorer, no_evidence, not_applicable, not_scorable
from quickchecks import testing as t
from quickchecks._run import Run, TextSpan
from quickchecks._score import CallRef, Explanation, Score, ScoreRecord
from quickchecks.errors import NoVerdictError, ScorerError


def broken(run: Run) -> bool:
    raise KeyError("lost")


def unreadable(run: Run, score: Score) -> Explanation:
    raise KeyError("lost")


SCORERS = {
    "passed": checks.includes("sunny"),
    "failed": checks.includes("rain", why="people plan by it"),
    "graded": checks.similarity("sunny day"),
    "not_applicable": create_scorer(id="na").generate_score(lambda run: not_applicable("no recipe here")),
    "no_evidence": create_scorer(id="ne").generate_score(lambda run: no_evidence("nothing is recorded")),
    "error": create_scorer(id="broken").generate_score(broken),
}
RUN = t.run(t.user("weather?"), t.call("look"), "It is sunny.")


@pytest.mark.parametrize("outcome", SCORERS)
def test_every_outcome_stays_what_it_is(outcome: str) -> None:
    score = SCORERS[outcome].score(RUN)
    assert score.outcome == outcome
    assert score.passed is (outcome == "passed")
    assert score.failed is (outcome == "failed")
    assert (score.value is None) is (outcome in ("not_applicable", "no_evidence", "error"))
    assert (score.error is not None) is (outcome == "error")


@pytest.mark.parametrize(("outcome", "truth"), [("passed", True), ("failed", False)])
def test_a_verdict_can_be_used_as_a_bool(outcome: str, truth: bool) -> None:
    assert bool(SCORERS[outcome].score(RUN)) is truth


@pytest.mark.parametrize(
    ("outcome", "message"),
    [
        ("graded", r"graded 0\.\d+, which is neither passed nor failed: compare score\.value, or give the scorer a threshold"),
        ("not_applicable", r"na does not apply to this run.*\(no recipe here\)"),
        ("no_evidence", r"ne cannot be judged on this run.*\(nothing is recorded\)"),
        ("error", r"broken broke, which is neither passed nor failed: see score\.error .*KeyError"),
    ],
)
def test_what_is_no_verdict_refuses_to_be_a_bool(outcome: str, message: str) -> None:
    with pytest.raises(NoVerdictError, match=message):
        bool(SCORERS[outcome].score(RUN))


@pytest.mark.parametrize(
    ("outcome", "key"),
    [
        ("passed", ""),
        ("failed", "includes('rain') | failed | not found"),
        ("graded", ""),
        ("not_applicable", ""),
        ("no_evidence", "ne | no_evidence"),
        ("error", "broken | error | generate_score | KeyError"),
    ],
)
def test_the_failure_key_says_what_kind_of_failure_it_is(outcome: str, key: str) -> None:
    assert SCORERS[outcome].score(RUN).failure_key == key


def records() -> list[Score]:
    """A score of every outcome, and combined ones of several levels."""
    scores = [scorer.score(RUN) for scorer in SCORERS.values()]
    combined = checks.includes("rain") & checks.called_tool("look") | ~checks.includes("sunny") | SCORERS["error"]
    return [*scores, combined.score(RUN), checks.when(checks.includes("sunny"), combined).score(RUN)]


@pytest.mark.parametrize("score", records(), ids=lambda score: score.outcome)
@pytest.mark.parametrize(
    "carry", [lambda score: pickle.loads(pickle.dumps(score)), copy.deepcopy, lambda s: s.record().to_score()]
)
def test_a_score_is_carried_over_with_its_reason_and_all_its_branches(score: Score, carry: Callable[[Score], Score]) -> None:
    carried = carry(score)
    assert carried.run is None
    assert carried.record() == score.record()
    assert (carried.outcome, carried.value, carried.reason) == (score.outcome, score.value, score.reason)
    assert (carried.evidence, carried.failure_key) == (score.evidence, score.failure_key)
    assert [part.reason for part in carried.parts] == [part.reason for part in score.parts]
    assert (carried.scorer.id, carried.scorer.identity, carried.scorer.why) == (
        score.scorer.id,
        score.scorer.identity,
        score.scorer.why,
    )
    if score.error is not None:
        assert carried.error is not None
        assert (str(carried.error), carried.error.failed_step) == (str(score.error), score.error.failed_step)


@pytest.mark.parametrize("score", records(), ids=lambda score: score.outcome)
def test_a_record_survives_its_wire_form(score: Score) -> None:
    record = score.record()
    written = msgspec.json.encode(record)
    assert json.loads(written)["schema"] == "quickchecks.score/1"
    assert msgspec.json.decode(written, type=ScoreRecord) == record


def test_the_branches_of_a_combined_score_are_on_its_record() -> None:
    record = (checks.includes("rain") & checks.called_tool("look")).score(RUN).record()
    assert [(part.scorer, part.outcome) for part in record.parts] == [
        ("includes('rain')", "failed"),
        ("called_tool('look')", "passed"),
    ]
    assert record.parts[1].evidence == (CallRef(1, "look", 1, 0),)


def test_a_record_of_an_error_tells_the_whole_story() -> None:
    record = SCORERS["error"].score(RUN).record()
    assert record.error is not None
    assert record.error.message == "broken broke in generate_score: KeyError: 'lost'"
    assert (record.error.type, record.error.step, record.error.completed) == ("KeyError", "generate_score", ())
    assert "in broken" in record.error.traceback
    assert record.error.traceback.endswith("KeyError: 'lost'\n")


def test_the_original_exception_is_kept_as_the_cause() -> None:
    error = SCORERS["error"].score(RUN).error
    assert isinstance(error, ScorerError)
    assert isinstance(error.__cause__, KeyError)


def test_a_reason_is_made_when_it_is_read_and_only_once() -> None:
    asked = []

    def explain(run: Run, score: Score) -> Explanation:
        asked.append(score.value)
        return Explanation("because")

    score = create_scorer(id="s", explain=explain).generate_score(lambda run: 0.5).score(RUN)
    assert asked == []
    assert score.reason == score.reason == str(score) == "because"
    assert asked == [0.5]


def test_a_reason_that_cannot_be_made_loses_no_outcome() -> None:
    score = create_scorer(id="s", explain=unreadable).generate_score(lambda run: True).score(RUN)
    assert score.passed
    assert score.reason == "passed; the reason could not be made: KeyError: 'lost'"


@pytest.mark.parametrize(
    ("value", "reason"), [(True, "scored 1"), (False, "scored 0"), (0.25, "scored 0.25"), (not_applicable(), None)]
)
def test_a_score_without_a_reason_of_its_own_says_what_it_is(value: object, reason: str | None) -> None:
    score = create_scorer(id="s").generate_score(lambda run: value).score(RUN)
    assert score.reason == (reason or "there is nothing here to judge")


@pytest.mark.parametrize("reason", ["x" * 10_000_000, "\x1b" * 10_000, "\ud800" * 600, "word " * 200])
def test_a_reason_is_at_most_500_characters_and_harmless(reason: str) -> None:
    score = create_scorer(id="s").generate_score(lambda run: (0.5, reason)).score(RUN)
    assert len(score.reason) <= 500
    assert score.reason.endswith("…")
    assert "\x1b" not in score.reason
    assert score.reason.encode()


def test_the_line_breaks_of_a_reason_stay() -> None:
    assert create_scorer(id="s").generate_score(lambda run: (0.5, "one\ntwo")).score(RUN).reason == "one\ntwo"


@pytest.mark.parametrize("function", [not_applicable, not_scorable, no_evidence])
@pytest.mark.parametrize("reason", [None, 5, {"why": "x"}])
def test_the_reason_of_an_abstention_is_text(function: Callable[[object], object], reason: object) -> None:
    with pytest.raises(TypeError, match=rf"{function.__name__}\(\) takes its reason as text, not"):
        function(reason)


def test_not_scorable_is_the_name_that_the_reference_gives_not_applicable() -> None:
    assert not_scorable("x") == not_applicable("x")


def test_a_score_shows_itself() -> None:
    assert repr(SCORERS["failed"].score(RUN)).startswith("<Score failed, includes('rain'): \"rain\" is not in the answer")
    assert repr(SCORERS["graded"].score(RUN)).startswith("<Score graded 0.")


def test_a_score_is_frozen() -> None:
    with pytest.raises(AttributeError):
        SCORERS["passed"].score(RUN).outcome = "failed"  # type: ignore[misc]


def test_evidence_is_text_or_a_call() -> None:
    assert SCORERS["passed"].score(RUN).evidence == (TextSpan(2, 0, 6, 11),)
    assert checks.called_tool("look").score(RUN).evidence == (CallRef(1, "look", 1, 0),)
