"""Composition: the table of outcomes, the expression, the reasons."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from itertools import product

import pytest

from quickchecks import Run, Score, Scorer, all_of, any_of, checks, create_scorer, no_evidence, none_of, not_applicable, when
from quickchecks import testing as t
from quickchecks.errors import CheckArgumentError, ScorerDefinitionError

RUN = t.run("It is sunny.")


def broken(run: Run) -> bool:
    raise KeyError("lost")


ANSWERS: dict[str, object] = {
    "passed": True,
    "failed": False,
    "low": 0.25,
    "high": 0.75,
    "not_applicable": not_applicable("does not apply here"),
    "no_evidence": no_evidence("is not recorded"),
    "error": None,
}
OUTCOMES = list(ANSWERS)


def branch(kind: str, *, slow: bool = False) -> Scorer:
    """A scorer with this outcome; a slow one must be awaited."""
    empty = create_scorer(id=kind)
    if kind == "error":
        return empty.generate_score(broken)
    if slow:

        async def step(run: Run) -> object:
            await asyncio.sleep(0)
            return ANSWERS[kind]

        return empty.generate_score(step)
    return empty.generate_score(lambda run: ANSWERS[kind])


def judge(scorer: Scorer, door: str) -> Score:
    return scorer.score(RUN) if door == "score" else asyncio.run(scorer.score_async(RUN))


def every(kinds: Sequence[str]) -> tuple[str, float | None]:
    """`&`, written as the documentation says it: the first line that holds decides."""
    if "error" in kinds:
        return "error", None
    if "failed" in kinds:
        return "failed", 0.0
    if "no_evidence" in kinds:
        return "no_evidence", None
    if set(kinds) == {"not_applicable"}:
        return "not_applicable", None
    if "low" in kinds or "high" in kinds:
        return "graded", 0.25 if "low" in kinds else 0.75
    return "passed", 1.0


def some(kinds: Sequence[str]) -> tuple[str, float | None]:
    """`|`."""
    if "error" in kinds:
        return "error", None
    if "passed" in kinds:
        return "passed", 1.0
    if "no_evidence" in kinds:
        return "no_evidence", None
    if set(kinds) == {"not_applicable"}:
        return "not_applicable", None
    if "low" in kinds or "high" in kinds:
        return "graded", 0.75 if "high" in kinds else 0.25
    return "failed", 0.0


def none(kinds: Sequence[str]) -> tuple[str, float | None]:
    """`~` and none_of."""
    outcome, value = some(kinds)
    flipped = {"passed": "failed", "failed": "passed"}.get(outcome, outcome)
    return flipped, None if value is None else 1 - value


COMBINATIONS = [kinds for count in (1, 2, 3) for kinds in product(OUTCOMES, repeat=count)]
DOORS = pytest.mark.parametrize("door", ["score", "score_async", "slow"])


@DOORS
@pytest.mark.parametrize(("combine", "expected"), [(all_of, every), (any_of, some), (none_of, none)])
def test_every_combination_of_outcomes_is_as_the_table_says(
    door: str, combine: Callable[..., Scorer], expected: Callable[[Sequence[str]], object]
) -> None:
    """Three branches of seven kinds, through both doors: 1197 combinations."""
    for kinds in COMBINATIONS:
        score = judge(combine(*(branch(kind, slow=door == "slow") for kind in kinds)), door)
        assert (score.outcome, score.value) == expected(kinds), kinds


@DOORS
def test_when_judges_only_where_the_condition_passes(door: str) -> None:
    for condition, check in product(OUTCOMES, repeat=2):
        score = judge(when(branch(condition, slow=door == "slow"), branch(check, slow=door == "slow")), door)
        if condition == "passed":
            alone = judge(branch(check, slow=door == "slow"), door)
            assert (score.outcome, score.value) == (alone.outcome, alone.value)
        elif condition in ("low", "high"):  # a grade is no condition
            assert score.outcome == "error"
            assert "the condition of when() must pass or fail" in score.reason
        else:
            assert score.outcome == ("not_applicable" if condition == "failed" else condition)


def test_an_error_or_missing_evidence_never_becomes_a_pass() -> None:
    """Not by `~`, not by a branch that passed, not by `when`, and not by doing it twice."""
    good = [branch(other) for other in ("passed", "not_applicable", "high")]
    for bad in (branch("error"), branch("no_evidence")):
        once = [bad, ~bad, bad | branch("failed"), *(bad & one for one in good), *(when(bad, one) for one in good)]
        for scorer in [*once, *(~one for one in once), *(one & one for one in once)]:
            assert scorer.score(RUN).outcome == bad.id, scorer


def test_only_a_branch_that_decides_alone_outweighs_missing_evidence() -> None:
    """Whatever the missing record would show, the outcome were the same; an error outweighs even that."""
    unseen = branch("no_evidence")
    assert (unseen & branch("failed")).score(RUN).failed
    assert (unseen | branch("passed")).score(RUN).passed
    assert "is not recorded" in (unseen | branch("passed")).score(RUN).reason


def test_an_error_is_never_lost() -> None:
    bad = branch("error")
    for other in map(branch, OUTCOMES):
        for scorer in (bad & other, bad | other, ~bad, ~(bad | other), when(bad, other), other & bad, other | bad):
            score = scorer.score(RUN)
            assert score.outcome == "error"
            assert score.error is not None
            assert isinstance(score.error.__cause__, KeyError)
            assert "KeyError: 'lost'" in score.reason


def test_every_branch_of_a_score_keeps_its_reason() -> None:
    for kinds in product(OUTCOMES, repeat=2):
        score = any_of(*map(branch, kinds)).score(RUN)
        assert [part.scorer.id for part in score.parts] == list(kinds)
        assert [part.reason for part in score.parts] == [branch(kind).score(RUN).reason for kind in kinds]
        assert all(kind in score.reason for kind in kinds)


A, B, C = checks.includes("a"), checks.includes("b"), checks.includes("c")
a, b, c = "includes('a')", "includes('b')", "includes('c')"


@pytest.mark.parametrize(
    ("scorer", "text"),
    [
        (A & B, f"{a} & {b}"),
        (A & B & C, f"{a} & {b} & {c}"),
        (A & (B & C), f"{a} & {b} & {c}"),
        (A | B | C, f"{a} | {b} | {c}"),
        (A & B | C, f"{a} & {b} | {c}"),
        (A & (B | C), f"{a} & ({b} | {c})"),
        ((A | B) & (B | C), f"({a} | {b}) & ({b} | {c})"),
        (~A, f"~{a}"),
        (~~A, f"~~{a}"),
        (~(A & B), f"~({a} & {b})"),
        (~(A | B), f"~({a} | {b})"),
        (~(A & B | C), f"~({a} & {b} | {c})"),
        (~A & ~B, f"~{a} & ~{b}"),
        (none_of(A, B), f"~({a} | {b})"),
        (none_of(A & B, C), f"~({a} & {b} | {c})"),
        (none_of(A | B, C), f"~({a} | {b} | {c})"),
        (all_of(A), a),
        (any_of(A), a),
        (all_of(A, name="n"), "includes('a', name='n')"),
        (all_of(A, B, name="n", why="w"), f"all_of({a}, {b}, name='n', why='w')"),
        (any_of(A, B, why="w"), f"any_of({a}, {b}, why='w')"),
        (none_of(A, name="n"), f"none_of({a}, name='n')"),
        (all_of(A, B, name="n") & C, f"all_of({a}, {b}, name='n') & {c}"),
        (~all_of(A, B, name="n"), f"~all_of({a}, {b}, name='n')"),
        (all_of(A, any_of(B, C, name="n")), f"{a} & any_of({b}, {c}, name='n')"),
        (when(A, B | C), f"when({a}, {b} | {c})"),
        (when(A, B) & C, f"when({a}, {b}) & {c}"),
        (~when(A, B), f"~when({a}, {b})"),
        (when(A, B, name="n"), f"when({a}, {b}, name='n')"),
        (checks.includes("a", name="n") & B, f"includes('a', name='n') & {b}"),
    ],
)
def test_the_repr_is_the_expression_that_makes_the_scorer(scorer: Scorer, text: str) -> None:
    from quickchecks._scorer.expression import parse

    assert repr(scorer) == text
    again = parse(text, checks.vocabulary())
    assert repr(again) == text
    for answer in ("a", "b", "c", "a b", "b c", "a b c", ""):
        assert again.score(answer).outcome == scorer.score(answer).outcome


def test_flattening_changes_no_outcome_and_keeps_names() -> None:
    flat = (A & B) & C
    assert [part.scorer.identity for part in flat.score("a").parts] == [a, b, c]
    named = (A & B).named("both") & C
    assert [part.scorer.identity for part in named.score("a").parts] == ["both", c]
    reasoned = (A & B).named(why="so") & C
    assert len(reasoned.score("a").parts) == 2


def test_the_id_is_the_kind_and_the_identity_the_expression() -> None:
    assert ((A & B).id, (A & B).identity) == ("all_of", f"{a} & {b}")
    assert (A & B).named("both").identity == "both"


@pytest.mark.parametrize("combine", [all_of, any_of, none_of])
def test_a_combination_of_nothing_is_refused(combine: object) -> None:
    assert callable(combine)
    with pytest.raises(CheckArgumentError, match=r"without checks could never fail: give it at least one"):
        combine()
    with pytest.raises(CheckArgumentError, match=r"takes the checks one after the other: \w+\(a, b\), or \w+\(\*checks\)"):
        combine([A, B])


@pytest.mark.parametrize("other", ["includes('a')", None, 5])
def test_only_scorers_and_functions_combine(other: object) -> None:
    with pytest.raises(ScorerDefinitionError, match="a scorer is a check, a scorer or a function, not "):
        all_of(A, other)  # type: ignore[arg-type]


def test_a_check_that_was_not_called_is_refused() -> None:
    for function in (checks.includes, checks.all_of, checks.no_tool_errors):
        with pytest.raises(ScorerDefinitionError, match=rf"{function.__name__} is the function that makes a check; call it"):
            all_of(A, function)  # type: ignore[arg-type]


def test_a_plain_function_is_a_scorer() -> None:
    def short(output: str) -> bool:
        return len(output) < 3

    assert repr(all_of(A, short)) == f"{a} & <scorer short>"  # type: ignore[arg-type]
    assert all_of(A, short).score("a").passed  # type: ignore[arg-type]


def test_a_scorer_without_a_score_step_cannot_be_combined() -> None:
    with pytest.raises(ScorerDefinitionError, match="scorer 's' has no score step, so all_of"):
        all_of(A, create_scorer(id="s"))


def test_scorers_of_other_ranges_cannot_be_combined() -> None:
    """One less a value of 0..10 would be no value."""
    wide = create_scorer(id="s", score_range=(0, 10)).generate_score(lambda run: 7)
    with pytest.raises(
        ScorerDefinitionError, match=r"combines scorers of the range 0\.\.1, and s has 0\.\.10: give it a threshold"
    ):
        none_of(wide)


def test_branches_get_what_the_item_brings() -> None:
    same = create_scorer(id="same").generate_score(lambda output, expected: output == expected)
    assert (same & A).score("a", expected="a").passed
    assert (same & A).score("a", expected="b").failed


REASONS = [
    (
        checks.includes("sunny") & checks.includes("rain"),
        "failed",
        '1 of 2 failed; includes(\'rain\'): failed: "rain" is not in the answer; nothing like it is in "It is sunny."; '
        'includes(\'sunny\'): passed: "sunny" is in the answer, at 6: "It is sunny."',
    ),
    (
        checks.includes("sunny") & checks.includes("it"),
        "passed",
        '2 of 2 passed; includes(\'sunny\'): passed: "sunny" is in the answer, at 6: "It is sunny."; '
        'includes(\'it\'): passed: "it" is in the answer, at 0: "It is sunny."',
    ),
    (
        checks.includes("sunny") | checks.includes("rain"),
        "passed",
        '1 of 2 passed; includes(\'sunny\'): passed: "sunny" is in the answer, at 6: "It is sunny."; '
        'includes(\'rain\'): failed: "rain" is not in the answer; nothing like it is in "It is sunny."',
    ),
    (
        ~checks.includes("sunny"),
        "failed",
        'includes(\'sunny\') passed and must not: "sunny" is in the answer, at 6: "It is sunny."',
    ),
    (
        ~checks.includes("rain"),
        "passed",
        'includes(\'rain\') failed, as it should: "rain" is not in the answer; nothing like it is in "It is sunny."',
    ),
    (
        none_of(checks.includes("rain"), checks.includes("sunny")),
        "failed",
        '1 of 2 passed, none may; includes(\'sunny\'): passed: "sunny" is in the answer, at 6: "It is sunny."; '
        'includes(\'rain\'): failed: "rain" is not in the answer; nothing like it is in "It is sunny."',
    ),
    (
        when(checks.includes("rain"), checks.includes("umbrella")),
        "not_applicable",
        "the condition does not hold; includes('rain'): failed: "
        '"rain" is not in the answer; nothing like it is in "It is sunny."',
    ),
    (
        when(checks.includes("sunny"), checks.includes("hat")),
        "failed",
        'includes(\'hat\'): failed: "hat" is not in the answer; nothing like it is in "It is sunny."; '
        'includes(\'sunny\'): passed: "sunny" is in the answer, at 6: "It is sunny."',
    ),
    (
        branch("low") & branch("high"),
        "graded",
        "the lowest value is 0.25; low: graded 0.25: scored 0.25; high: graded 0.75: scored 0.75",
    ),
    (
        branch("low") | branch("high"),
        "graded",
        "the highest value is 0.75; low: graded 0.25: scored 0.25; high: graded 0.75: scored 0.75",
    ),
    (~branch("low"), "graded", "1 − 0.25; low: graded 0.25: scored 0.25"),
    (
        branch("error") & branch("passed"),
        "error",
        "1 of 2 error; error: error: error broke in generate_score: KeyError: 'lost'; passed: passed: scored 1",
    ),
    (
        branch("no_evidence") & branch("passed"),
        "no_evidence",
        "1 of 2 no evidence; no_evidence: no evidence: is not recorded; passed: passed: scored 1",
    ),
    (
        when(branch("no_evidence"), branch("passed")),
        "no_evidence",
        "the condition: no_evidence: no evidence: is not recorded",
    ),
]


@pytest.mark.parametrize(
    ("scorer", "outcome", "reason"), REASONS, ids=lambda value: repr(value) if isinstance(value, Scorer) else ""
)
def test_the_reason_tells_every_branch_the_deciding_ones_first(scorer: Scorer, outcome: str, reason: str) -> None:
    for score in (scorer.score(RUN), asyncio.run(scorer.score_async(RUN))):
        assert score.outcome == outcome
        assert score.reason == reason


def test_the_failure_key_is_that_of_the_branches_that_decided() -> None:
    assert (checks.includes("rain") & checks.includes("sunny")).score(RUN).failure_key == (
        "includes('rain') & includes('sunny') | failed | includes('rain') | failed | not found"
    )
    assert (~checks.includes("sunny")).score(RUN).failure_key == "~includes('sunny') | failed | none_of"


def test_the_evidence_is_that_of_all_branches() -> None:
    run = t.run(t.call("look"), "It is sunny.")
    score = (checks.includes("sunny") & checks.called_tool("look")).score(run)
    assert score.evidence == checks.includes("sunny").score(run).evidence + checks.called_tool("look").score(run).evidence


def test_a_reason_of_a_hundred_branches_stays_short_and_every_branch_keeps_its_own() -> None:
    score = all_of(*(checks.includes(f"word {number} " + "x" * 300) for number in range(100))).score(RUN)
    assert len(score.reason) <= 500
    assert len({part.reason for part in score.parts}) == 100


def test_deep_combinations_are_scored() -> None:
    scorer: Scorer = A
    for number in range(40):
        scorer = ~scorer & B if number % 2 else scorer | B
    assert scorer.score("a b").outcome in ("passed", "failed")
    assert len(scorer.score("a b").reason) <= 500


def test_a_condition_that_is_a_number_is_refused_when_it_is_built() -> None:
    with pytest.raises(CheckArgumentError, match="must pass or fail"):
        checks.when(checks.similarity("a"), checks.includes("b"))


def test_a_combination_is_a_number_only_when_every_part_is() -> None:
    """Were it called graded because of one part, the failure of the others would decide nothing."""
    assert not (checks.includes("a") & checks.similarity("b")).graded
    assert (checks.similarity("a") & checks.similarity("b")).graded
    assert checks.when(checks.includes("a"), checks.similarity("b")).graded
