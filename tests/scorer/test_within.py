"""Scoring the run of one agent or step inside a run."""

from __future__ import annotations

import asyncio

import msgspec
import pytest

from quickchecks import Run, Scorer, checks, create_scorer, from_item, run_evals_sync, within
from quickchecks import testing as t
from quickchecks._run import Gap
from quickchecks._scorer.expression import parse
from quickchecks.errors import CheckArgumentTypeError, ScorerDefinitionError


def agent(name: str, *parts: object) -> Run:
    """A run that called an agent, whose own run holds these parts."""
    return t.run(t.call(name, run=t.run(*parts, agent=name), kind="agent"), "Done.")  # type: ignore[arg-type]


REFUNDED = within("billing", checks.called_tool("refund"))


def test_only_the_run_of_that_agent_is_scored() -> None:
    run = t.run(
        t.call("search"), t.call("billing", run=t.run(t.call("refund"), "Refunded.", agent="billing"), kind="agent"), "Done."
    )
    assert REFUNDED.score(run).passed
    assert within("billing", checks.called_tool("search")).score(run).failed
    assert within("billing", checks.includes("Refunded")).score(run).passed
    assert within("billing", checks.includes("Done")).score(run).failed
    assert REFUNDED.score(run).reason == checks.called_tool("refund").score(run.nested_runs[0]).reason


def test_an_agent_is_found_by_its_own_name_and_by_that_of_the_call() -> None:
    inner = t.run(t.call("refund"), agent="billing_v2")
    run = t.run(t.call("billing", run=inner, kind="agent"))
    assert REFUNDED.score(run).passed
    assert within("billing_v2", checks.called_tool("refund")).score(run).passed


def test_an_agent_is_found_at_any_depth_and_among_the_children() -> None:
    deep = agent("support", t.call("billing", run=t.run(t.call("refund"), agent="billing"), kind="agent"))
    assert REFUNDED.score(deep).passed
    child = msgspec.structs.replace(t.run("Hello."), children=(t.run(t.call("refund"), agent="billing"),))
    assert REFUNDED.score(child).passed


def test_where_it_ran_several_times_every_time_must_do() -> None:
    good, bad = (t.run(t.call(name), agent="billing") for name in ("refund", "look"))
    both = t.run(t.call("billing", run=good, kind="agent"), t.call("billing", run=bad, kind="agent"))
    score = REFUNDED.score(both)
    assert score.failed
    assert score.reason.startswith("in 2 runs, refund was not called")
    twice = t.run(t.call("billing", run=good, kind="agent"), t.call("billing", run=good, kind="agent"))
    assert REFUNDED.score(twice).passed


def test_an_agent_that_did_not_run_is_not_applicable() -> None:
    score = REFUNDED.score(t.run(t.call("search"), "Done."))
    assert (score.outcome, score.reason) == ("not_applicable", "billing did not run")


def test_a_call_whose_run_is_not_recorded_is_no_evidence() -> None:
    score = REFUNDED.score(t.run(t.call("billing", kind="agent"), "Done."))
    assert (score.outcome, score.reason) == ("no_evidence", "billing was called, and what it did is not recorded")


def test_one_recorded_run_does_not_speak_for_one_that_is_not() -> None:
    good, bad = (t.run(t.call(name), agent="billing") for name in ("refund", "look"))
    unknown = t.call("billing", kind="agent")
    score = REFUNDED.score(t.run(t.call("billing", run=good, kind="agent"), unknown))
    assert (score.outcome, score.reason) == ("no_evidence", "in 2 runs, billing was called, and what it did is not recorded")
    assert REFUNDED.score(t.run(t.call("billing", run=bad, kind="agent"), unknown)).failed


def test_a_source_that_hides_inner_calls_is_no_evidence_only_where_it_may_hide_this_agent() -> None:
    def gap(name: str | None) -> Run:
        return msgspec.structs.replace(t.run("Done."), gaps=(Gap("nested", "inner calls are not recorded", name),))

    assert REFUNDED.score(gap(None)).reason == "inner calls are not recorded"
    assert REFUNDED.score(gap("billing")).outcome == "no_evidence"
    assert REFUNDED.score(gap("search")).outcome == "not_applicable"


def test_an_answer_alone_does_not_show_who_ran() -> None:
    assert REFUNDED.score("Done.").outcome == "no_evidence"


def test_a_gate_on_an_agent_that_never_ran_is_undecided() -> None:
    result = run_evals_sync([{"run": t.run(t.call("search"), "Done.")}], None, gates=[REFUNDED])
    assert result.verdict == "undecided"


def test_what_it_was_asked_is_its_own_input() -> None:
    inner = msgspec.structs.replace(t.run("4"), input="2 + 2", agent="calculator")
    outer = msgspec.structs.replace(t.run(t.call("calculator", run=inner, kind="agent")), input="What is two and two?")
    check = within("calculator", create_scorer(id="asked").generate_score(lambda input: input == "2 + 2"))
    assert check.score(outer).passed
    assert run_evals_sync([{"input": "What?", "run": outer}], None, gates=[check]).passed


def test_the_scorer_inside_may_be_any() -> None:
    async def slow(run: Run) -> bool:
        return run.text == "Refunded."

    run = agent("billing", "Refunded.")
    awaited = within("billing", create_scorer(id="slow").generate_score(slow))
    assert asyncio.run(awaited.score_async(run)).passed
    assert within("billing", lambda output: output == "Refunded.").score(run).passed
    stars = within("billing", create_scorer(id="stars", score_range=(0, 5)).generate_score(lambda output: 4))
    assert (stars.score_range, stars.score(run).value) == ((0, 5), 4)
    expected = within("billing", checks.includes(from_item("expected")))
    assert expected.score(run, expected="Refunded").passed


def test_a_scorer_that_breaks_is_an_error() -> None:
    def broken(run: Run) -> bool:
        raise KeyError("lost")

    score = within("billing", create_scorer(id="broken").generate_score(broken)).score(agent("billing", "x"))
    assert score.outcome == "error"
    assert "lost" in score.reason


def test_it_is_graded_where_the_scorer_inside_is_and_the_lowest_of_several_counts() -> None:
    near, far = (t.run(text, agent="billing") for text in ("night", "day"))
    check = within("billing", checks.similarity("nacht"))
    assert check.graded
    assert check.score(t.run(t.call("billing", run=near), t.call("billing", run=far))).value == 0


def test_no_evidence_is_given_that_would_point_into_other_messages() -> None:
    assert within("billing", checks.includes("Refunded")).score(agent("billing", "Refunded.")).evidence == ()


@pytest.mark.parametrize(
    "check",
    [
        REFUNDED,
        within("billing", checks.includes("a") & ~checks.includes("b"), name="x", why="because"),
        ~within("a", within("b", REFUNDED)),
    ],
)
def test_its_expression_makes_it_again(check: Scorer) -> None:
    again = parse(repr(check), checks.vocabulary())
    assert repr(again) == repr(check)
    assert (again.identity, again.why, again.version) == (check.identity, check.why, check.version)


def test_its_version_is_of_the_agent_and_of_the_scorer_inside() -> None:
    versions = {within(name, check).version for name in ("a", "b") for check in (checks.includes("x"), checks.includes("y"))}
    assert len(versions) == 4


@pytest.mark.parametrize("name", ["", None, 3])
def test_an_agent_has_a_name(name: object) -> None:
    with pytest.raises(CheckArgumentTypeError, match="name of an agent or step"):
        within(name, checks.used_no_tools())  # type: ignore[arg-type]


def test_what_is_no_scorer_is_refused() -> None:
    with pytest.raises(ScorerDefinitionError, match="call it: includes"):
        within("billing", checks.includes)
