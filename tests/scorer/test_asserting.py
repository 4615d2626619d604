"""Checks as assertions on one run: what passes, and how what does not explains itself."""

from __future__ import annotations

import asyncio

import pytest

import quickchecks
from quickchecks import Run, Score, Scorer, Threshold, assert_checks, assert_checks_async, checks, create_scorer, testing, when
from quickchecks._run import RunError
from quickchecks._scorer.excerpts import excerpts
from quickchecks.errors import ChecksFailed, EvalFailed, NoVerdictError, ScorerDefinitionError

RUN = testing.run(
    testing.user("Weather in Brooklyn?"),
    testing.call("get_weather", city="Brooklyn", error="no such city"),
    "It is sunny in Brookline today.",
)


def message(run: object, *asserted: object, **options: object) -> str:
    """What the error says."""
    with pytest.raises(ChecksFailed) as caught:
        assert_checks(run, *asserted, **options)  # type: ignore[arg-type]
    return str(caught.value)


def graded(output: str) -> float:
    return 0.4


def broken(output: str) -> bool:
    raise KeyError("x")


def test_a_run_that_passes_every_check_raises_nothing() -> None:
    assert_checks(
        RUN, checks.includes("sunny"), checks.called_tool("get_weather"), Threshold(graded, min=0.4), lambda output: True
    )


def test_every_check_that_did_not_pass_is_explained() -> None:
    assert message(
        RUN,
        checks.includes("Brooklyn", why="the city must be named"),
        checks.includes("sunny"),
        checks.no_tool_errors(),
        checks.tool_order(["get_weather", "summarize"]),
    ).splitlines() == [
        "3 of 4 checks did not pass",
        """  ✗ includes('Brooklyn'): "Brooklyn" is not in the answer; the nearest is "Brookline" (at 15, likeness 0.82)""",
        "      why: the city must be named",
        '      message 3, assistant: "It is sunny in »Brookline« today."',
        """  ✗ no_tool_errors(): call 1 of 1, get_weather(city="Brooklyn"), failed: "no such city\"""",
        """      message 2, assistant: call 1, »get_weather(city="Brooklyn")« failed: "no such city\"""",
        "  ✗ tool_order(['get_weather', 'summarize']): got as far as 'get_weather' (call 1), 1 of 2; "
        "'summarize' never came after it; calls: get_weather",
        """      message 2, assistant: call 1, »get_weather(city="Brooklyn")« failed: "no such city\"""",
        '  answer: "It is sunny in Brookline today."',
        "  calls: get_weather",
    ]


def test_all_checks_are_scored_before_anything_is_raised() -> None:
    seen: list[str] = []

    def first(output: str) -> bool:
        seen.append("first")
        return False

    def second(output: str) -> bool:
        seen.append("second")
        return True

    message("It rains.", first, second)
    assert seen == ["first", "second"]


@pytest.mark.parametrize(
    ("run", "check", "said", "advice"),
    [
        ("text", checks.called_tool("a"), "no evidence, which is no pass: ", "score a record that shows it"),
        (RUN, broken, "it broke, which is no pass: broken broke in generate_score: KeyError: 'x'", "mend the scorer"),
        (RUN, graded, "graded 0.4, which is neither passed nor failed", "give it a threshold"),
        (RUN, checks.similarity("x"), "graded 0, which is neither passed nor failed", "give it a threshold"),
        (
            RUN,
            when(checks.called_tool("z"), checks.includes("a")),
            "not applicable, so that nothing was judged",
            "leave the check out",
        ),
    ],
)
def test_what_was_not_judged_is_no_pass_and_says_what_to_do(run: object, check: object, said: str, advice: str) -> None:
    told = message(run, check)
    assert f": {said}" in told
    assert f"what to do: {advice}" in told


def test_what_does_not_apply_can_be_allowed() -> None:
    conditional = when(checks.called_tool("z"), checks.includes("a"))
    assert_checks(RUN, conditional, checks.includes("sunny"), allow_not_applicable=True)
    assert message(RUN, conditional, checks.includes("rain"), allow_not_applicable=True).startswith("1 of 2 checks")


def test_a_number_is_judged_by_its_threshold() -> None:
    assert "graded: 0.4, ≥ 0.7 is wanted" in message(RUN, Threshold(graded, min=0.7))
    assert "graded: 0.4, ≤ 0.3 is wanted" in message(RUN, Threshold(graded, max=0.3))
    assert "broken: it broke" in message(RUN, Threshold(broken, min=0.0))


def test_nothing_passes_on_a_run_that_broke_off() -> None:
    run = Run(RUN.messages, error=RunError("connection reset", "OSError"))
    told = message(run, checks.includes("sunny"))
    assert "includes('sunny'): the run itself broke off, so that nothing passes on it: \"OSError: connection reset\"" in told
    assert not checks.includes("sunny").passes(run)
    message(run, when(checks.called_tool("z"), checks.includes("a")), allow_not_applicable=True)


def test_the_error_is_an_assertion_that_keeps_the_scores_and_the_cause() -> None:
    with pytest.raises(AssertionError) as caught:
        assert_checks(RUN, checks.includes("sunny"), broken, checks.includes("rain"))
    error = caught.value
    assert isinstance(error, ChecksFailed)
    assert not isinstance(error, EvalFailed)
    assert [score.outcome for score in error.scores if isinstance(score, Score)] == ["error", "failed"]
    assert isinstance(error.__cause__, KeyError)


def test_what_is_asked_and_expected_reaches_the_scorers() -> None:
    def same(input: object, expected: object, item: object) -> bool:
        return (input, expected, item) == ("q", "e", {"id": 1})

    assert_checks("a", same, input="q", expected="e", item={"id": 1})
    message("a", same, input="q", expected="e")


def test_a_message_is_capped() -> None:
    run = testing.run("word " * 100_000)
    told = message(run, *(checks.includes(f"{number} " + "x" * 1000) for number in range(200)))
    assert len(told) < 12_000
    assert "  … and 18" in told
    assert told.count("✗") > 5
    assert max(map(len, told.splitlines())) < 1300


def test_of_many_places_the_first_are_shown() -> None:
    run = testing.run(*(testing.call("search", number=number) for number in range(30)))
    told = list(excerpts(checks.max_tool_calls(3).score(run)))
    assert len(told) == 5
    assert told[-1].startswith("… and ")


def test_secrets_and_control_characters_do_not_reach_a_message() -> None:
    secret = "sk-1234567890123456abcdef"
    told = message(testing.run(f"\x1b[31mred {secret} \u202e"), checks.excludes("red"))
    assert secret not in told
    assert "\x1b" not in told
    assert "\u202e" not in told


def test_a_place_in_a_nested_run_is_found() -> None:
    inner = testing.run(testing.call("lookup", error="no"), "done")
    run = testing.run(testing.call("agent", run=inner, result="done"), "ok")
    told = list(excerpts(checks.no_tool_errors().score(run)))
    assert told == ['message 1 of the run of another agent, assistant: call 2, »lookup()« failed: "no"']


def test_evidence_that_points_nowhere_is_no_crash() -> None:
    from quickchecks._places import TextSpan
    from quickchecks._score import Explanation

    check = checks.includes("rain")
    for span in (TextSpan(99, 0, 0, 1), TextSpan(0, 9, 0, 1), TextSpan(0, 0, 0, 1, (7, 1)), TextSpan(0, 0, 50, 90)):
        score = Score(check, "failed", 0.0, testing.run("It is sunny."), note=Explanation("r", (span,)))
        assert len(list(excerpts(score))) == 1


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ((RUN,), "there is nothing to assert"),
        ((RUN, [checks.includes("a")]), r"given one after the other, not as a list: write assert_checks\(run, \*my_checks\)"),
        ((RUN, "includes('a')"), "a scorer is a check, a scorer or a function"),
        ((RUN, checks.includes), r"includes is the function that makes a check; call it"),
        ((checks.includes("a"), checks.includes("b")), "the run comes first"),
    ],
)
def test_what_cannot_be_asserted_is_refused(arguments: tuple[object, ...], problem: str) -> None:
    with pytest.raises(ScorerDefinitionError, match=problem):
        assert_checks(*arguments)  # type: ignore[arg-type]


async def polite(output: str) -> bool:
    return "please" in output


def test_a_scorer_that_must_be_awaited_says_what_to_use() -> None:
    with pytest.raises(ScorerDefinitionError, match="await assert_checks_async"):
        assert_checks("Come in, please.", polite)
    asyncio.run(assert_checks_async("Come in, please.", polite, checks.includes("come")))
    with pytest.raises(ChecksFailed, match="1 of 2 checks did not pass"):
        asyncio.run(assert_checks_async("Come in.", polite, checks.includes("come")))


def test_passes_is_true_or_false_and_says_why() -> None:
    good, bad = checks.includes("sunny").passes(RUN), checks.includes("rain").passes(RUN)
    assert good
    assert not bad
    assert (bool(good), bool(bad)) == (True, False)
    assert sum([good, bad, good]) == 2
    assert repr(good).startswith("<passes: includes('sunny'): ")
    assert repr(bad).startswith("<does not pass: includes('rain'): ")
    assert bad.score.failed
    assert "\n" not in repr(create_scorer(id="s").generate_score(lambda run: (False, "two\nlines")).passes(RUN))


def test_what_was_not_judged_does_not_pass() -> None:
    conditional: Scorer = when(checks.called_tool("z"), checks.includes("a"))
    assert not checks.called_tool("look").passes("a text")
    assert not conditional.passes(RUN)
    assert not create_scorer(id="s").generate_score(broken).passes(RUN)
    with pytest.raises(NoVerdictError, match=r"similarity\('It'\) is graded .* give it a threshold"):
        checks.similarity("It").passes(RUN)


def test_they_are_public() -> None:
    assert {"assert_checks", "assert_checks_async"} <= set(quickchecks.__all__)


@pytest.mark.parametrize(
    "nothing", [[], (), {}, float("nan"), [{"role": "user", "content": "Hello"}], {"messages": []}], ids=lambda value: repr(value)
)
def test_nothing_passes_on_what_holds_no_answer(nothing: object) -> None:
    for check in (checks.excludes("bad"), ~checks.includes("bad")):
        assert "no evidence" in message(nothing, check)
        with pytest.raises(ChecksFailed):
            asyncio.run(assert_checks_async(nothing, check))
        assert not check.passes(nothing)


def test_an_answer_without_a_letter_and_a_run_made_by_hand_are_judged() -> None:
    for answer in ("", Run(()), testing.run(testing.user("Hello"))):
        assert_checks(answer, checks.excludes("bad"))
        assert checks.excludes("bad").passes(answer)
