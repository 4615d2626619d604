"""create_scorer, @scorer, and what steps may ask for."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from quickchecks import checks, create_scorer, no_evidence, not_applicable, scorer
from quickchecks import testing as t
from quickchecks._scorer.definition import as_scorer
from quickchecks.errors import ScorerDefinitionError

RUN = t.run(t.user("weather?"), "It is sunny.")


@pytest.mark.parametrize("id", ["", None, 0, 5, b"x"])
def test_a_scorer_has_an_id(id: object) -> None:
    with pytest.raises(ScorerDefinitionError, match="a scorer must have an id, as text that is not empty; got "):
        create_scorer(id=id)  # type: ignore[arg-type]


def test_the_identity_is_the_name_or_the_id() -> None:
    assert create_scorer(id="with space / slash").identity == "with space / slash"
    assert create_scorer(id="x", name="N").identity == "N"
    assert create_scorer(id="x", name=None).identity == "x"
    assert create_scorer(id="x").description == ""


@pytest.mark.parametrize(
    "score_range", [(1, 0), (0, 0), (0, float("inf")), (float("nan"), 1), (0,), (0, 1, 2), 10, "01", (True, 2), None]
)
def test_a_range_has_a_lowest_and_a_highest_value(score_range: object) -> None:
    with pytest.raises(ScorerDefinitionError, match=r"score_range is \(lowest, highest\), such as \(0, 10\), not "):
        create_scorer(id="s", score_range=score_range)  # type: ignore[arg-type]


#: What people ask for under the names of other tools, and what is said then.
WRONG_NAMES = {
    "out": "",
    "outputs": ": did you mean 'output'?",
    "text": ": here it is called 'output'",
    "answer": ": here it is called 'output'",
    "ground_truth": ": here it is called 'expected'",
    "groundTruth": ": here it is called 'expected'",
    "reference": ": here it is called 'expected'",
    "question": ": here it is called 'input'",
    "messages": ": here it is called 'run'",
    "context": ": here it is called 'item'",
    "expect": ": did you mean 'expected'?",
    "preprocessStepResult": ": here it is called 'results'",
}


@pytest.mark.parametrize(("name", "hint"), WRONG_NAMES.items())
def test_a_wrong_name_is_an_error_at_definition_with_a_hint(name: str, hint: str) -> None:
    step = eval(f"lambda {name}: True")
    with pytest.raises(ScorerDefinitionError) as caught:
        create_scorer(id="s").generate_score(step)
    names = "run, input, output, expected, item, results"
    assert str(caught.value) == (
        f"step 'generate_score' of scorer 's' asks for {name!r}, which it does not get{hint} (it may take {names})"
    )


def test_the_score_is_known_to_the_reason_step_only() -> None:
    create_scorer(id="s").generate_reason(lambda score: str(score))
    with pytest.raises(ScorerDefinitionError, match="asks for 'score', which it does not get"):
        create_scorer(id="s").analyze(lambda score: score)


class Method:
    def step(self, output: str) -> bool:
        return "sunny" in output

    @staticmethod
    def still(output: str) -> bool:
        return "sunny" in output

    def __call__(self, *, output: str) -> bool:
        return "sunny" in output


def everything(**given: object) -> bool:
    return given["output"] == "It is sunny." and "run" in given and "score" not in given


def with_defaults(output: str, limit: int = 3, expected: object = "kept when not given") -> bool:
    return limit == 3 and expected is None


@pytest.mark.parametrize(
    "step",
    [
        Method().step,
        Method.still,
        Method(),
        everything,
        with_defaults,
        lambda *positional, output: not positional and bool(output),
        lambda: True,
    ],
)
def test_any_callable_is_a_step(step: Callable[..., object]) -> None:
    assert create_scorer(id="s").generate_score(step).score(RUN).outcome == "passed"


def test_steps_are_called_by_name() -> None:
    with pytest.raises(ScorerDefinitionError, match=r"takes 'output' by position only; steps are called by name"):
        create_scorer(id="s").generate_score(eval("lambda output, /: True"))
    with pytest.raises(ScorerDefinitionError, match=r"the parameters of <class 'type'> cannot be read|by position only"):
        create_scorer(id="s").generate_score(type)


def test_the_decorator_makes_a_scorer_of_a_function() -> None:
    @scorer
    def polite(output: str) -> bool:
        """Says please.

        More about it.
        """
        return "please" in output

    assert (polite.id, polite.identity, polite.description) == ("polite", "polite", "Says please.")
    assert polite.score("Yes, please.").passed


def test_the_decorator_takes_the_same_as_create_scorer() -> None:
    @scorer(id="words", description="Counts", name="N", why="short is good", score_range=(0, 100), version="2")
    def count(output: str) -> int:
        return len(output.split())

    assert (count.id, count.identity, count.description, count.why, count.version) == (
        "words",
        "N",
        "Counts",
        "short is good",
        "2",
    )
    assert count.score("one two").value == 2.0


@pytest.mark.parametrize(
    ("answer", "outcome", "reason"),
    [
        (True, "passed", "scored 1"),
        (0.5, "graded", "scored 0.5"),
        ((False, "too long"), "failed", "too long"),
        (not_applicable("no recipe"), "not_applicable", "no recipe"),
        (no_evidence("no log"), "no_evidence", "no log"),
        (checks.includes("rain").score(RUN), "failed", '"rain" is not in the answer; nothing like it is in "It is sunny."'),
    ],
)
def test_what_a_scorer_function_may_return(answer: object, outcome: str, reason: str) -> None:
    score = as_scorer(lambda run: answer).score(RUN)
    assert (score.outcome, score.reason) == (outcome, reason)


def test_a_score_of_another_scorer_is_taken_over_with_its_branches() -> None:
    inner = (checks.includes("rain") & checks.includes("sunny")).score(RUN)
    score = as_scorer(lambda run: inner).score(RUN)
    assert (score.outcome, score.reason, score.evidence, score.parts) == ("failed", inner.reason, inner.evidence, inner.parts)


def test_an_assertion_that_does_not_hold_is_a_failure_with_its_message() -> None:
    @scorer
    def strict(output: str) -> bool:
        assert "rain" in output, "no rain in it"
        return True

    score = strict.score(RUN)
    assert (score.outcome, score.value) == ("failed", 0.0)
    assert score.reason.startswith("no rain in it")  # pytest adds the comparison to it
    assert strict.score("rain").passed


def test_an_assertion_without_a_message_is_a_failure_too() -> None:
    def strict(output: str) -> None:
        raise AssertionError

    assert as_scorer(strict).score(RUN).reason == "an assertion of the scorer does not hold"


def test_any_other_exception_is_the_scorers_error() -> None:
    score = as_scorer(lambda output: output["x"]).score(RUN)
    assert score.outcome == "error"
    assert "TypeError" in score.reason


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (5, "@scorer decorates a function, not 5"),
        ("id", '@scorer decorates a function, not "id"'),
        (lambda text: True, "asks for 'text', which it does not get: here it is called 'output'"),
    ],
)
def test_what_cannot_be_decorated_is_refused(function: object, message: str) -> None:
    with pytest.raises(ScorerDefinitionError, match=message):
        scorer(function)  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("includes('a')", "a scorer is a check, a scorer or a function, not "),
        (None, "a scorer is a check, a scorer or a function, not null"),
        (checks.includes, r"includes is the function that makes a check; call it: includes\(\.\.\.\)"),
        (checks.any_of, r"any_of is the function that makes a check; call it: any_of\(\.\.\.\)"),
    ],
)
def test_what_is_no_scorer_is_refused(value: object, message: str) -> None:
    with pytest.raises(ScorerDefinitionError, match=message):
        as_scorer(value)
