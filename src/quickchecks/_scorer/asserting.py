"""Checks as assertions on one run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

from msgspec import UNSET, Struct

from quickchecks import _render
from quickchecks._run import Run
from quickchecks._score import Score
from quickchecks._scorer.definition import as_scorer
from quickchecks._scorer.excerpts import overview
from quickchecks._scorer.passing import is_pass, score_lines
from quickchecks._scorer.pipeline import Scorer
from quickchecks._scorer.thresholds import Bounds
from quickchecks._scorer.unsaid import run_of_answer
from quickchecks.errors import ChecksFailed, ScorerDefinitionError

__all__ = ("assert_checks", "assert_checks_async")

#: The most checks that a message explains, and the most characters of it; the others are named.
_MOST_CHECKS = 20
_LONGEST = 8000


@runtime_checkable
class Bounded(Protocol):
    """A scorer with a threshold."""

    @property
    def scorer(self) -> Scorer | Callable[..., object]: ...
    def bounds(self) -> Bounds: ...


#: What may be asserted: a check or another scorer, a plain function, or one with a threshold.
Asserted = Scorer | Callable[..., object] | Bounded


class _Entry(Struct, frozen=True):
    scorer: Scorer
    bounds: Bounds | None


def assert_checks(
    run: object,
    *checks: Asserted,
    input: object = None,
    expected: object = None,
    item: object = None,
    allow_not_applicable: bool = False,
) -> None:
    """Assert that a run passes every check; the error says of each that it does not why.

    Every check is scored before anything is raised. What was not judged is no pass: no evidence, a scorer that broke, a number
    without a threshold, a run that itself broke off, and what holds no answer, such as an empty list. Nor is a check that does
    not apply to the run, as a gate that was judged on no item has not passed, unless that is allowed.

    Args:
        run: A Run, or anything an adapter recognises: a string, a list of messages, a framework's result.
        checks: Checks, scorers, plain functions; `Threshold`s for those that give a number.
        input: What the agent was asked, when that is not in the run.
        expected: What was expected, for scorers that ask for it.
        item: The item of a dataset, for scorers that ask for it.
        allow_not_applicable: Whether a check that does not apply to the run is left out, as `when(...)` is made for.

    Raises:
        ChecksFailed: A check did not pass. It is an AssertionError.
        ScorerDefinitionError: There are no checks, one is none, or one has to be awaited.
        RecordingError: The run is not recognised, or malformed.

    Example:
        >>> from quickchecks import assert_checks, checks
        >>> assert_checks("It is sunny.", checks.includes("sunny"), checks.excludes("rain"))
        >>> assert_checks("It is sunny.", checks.excludes("sunny", why="we promised rain"))
        Traceback (most recent call last):
        quickchecks.errors.ChecksFailed: 1 of 1 check did not pass
          ✗ excludes('sunny'): "sunny" is in the answer, at 6: "It is sunny."
              why: we promised rain
              message 1, assistant: "It is »sunny«."
          answer: "It is sunny."
    """
    __tracebackhide__ = True  # pytest shows the line of the test
    entries = _entries(checks)
    run = _as_run(run)
    scores = [one.scorer.score(run, input=input, expected=expected, item=item) for one in entries]
    _judge(run, entries, scores, allow_not_applicable)


async def assert_checks_async(
    run: object,
    *checks: Asserted,
    input: object = None,
    expected: object = None,
    item: object = None,
    allow_not_applicable: bool = False,
) -> None:
    """`assert_checks` for scorers of which some step has to be awaited, such as those that ask a model.

    Args:
        run: As for `assert_checks`.
        checks: As for `assert_checks`.
        input: As for `assert_checks`.
        expected: As for `assert_checks`.
        item: As for `assert_checks`.
        allow_not_applicable: As for `assert_checks`.

    Raises:
        ChecksFailed: A check did not pass. It is an AssertionError.
        ScorerDefinitionError: There are no checks, or one is none.
        RecordingError: The run is not recognised, or malformed.
    """
    __tracebackhide__ = True  # pytest shows the line of the test
    entries = _entries(checks)
    run = _as_run(run)
    scores = [await one.scorer.score_async(run, input=input, expected=expected, item=item) for one in entries]
    _judge(run, entries, scores, allow_not_applicable)


def _entries(checks: Sequence[object]) -> list[_Entry]:
    if not checks:
        raise ScorerDefinitionError(
            "there is nothing to assert: give checks, such as assert_checks(run, checks.no_tool_errors())"
        )
    listed = next((one for one in checks if isinstance(one, (list, tuple))), None)
    if listed is not None:
        raise ScorerDefinitionError(
            f"checks are given one after the other, not as a {type(listed).__name__}: write assert_checks(run, *my_checks)"
        )
    found = []
    for one in checks:
        if isinstance(one, Scorer) or not isinstance(one, Bounded):
            found.append(_Entry(as_scorer(one), None))
        else:
            found.append(_Entry(as_scorer(one.scorer), one.bounds()))
    return found


def _as_run(run: object) -> Run:
    if run is UNSET:
        raise TypeError("assert_checks() takes a run, and then checks")
    if isinstance(run, Scorer):
        raise ScorerDefinitionError("the run comes first: write assert_checks(run, check, ...)")
    return run_of_answer(run)


def _judge(run: Run, entries: Sequence[_Entry], scores: Sequence[Score], allow_not_applicable: bool) -> None:
    __tracebackhide__ = True
    failed = [
        (entry, score)
        for entry, score in zip(entries, scores, strict=True)
        if not is_pass(score, entry.bounds)
        and not (allow_not_applicable and score.outcome == "not_applicable" and run.error is None)
    ]
    if not failed:
        return
    error = ChecksFailed(_message(run, failed, len(entries)), tuple(score for _, score in failed))
    broke = next((score.error for _, score in failed if score.error is not None), None)
    raise error from (None if broke is None else broke.__cause__ or broke)


def _message(run: Run, failed: Sequence[tuple[_Entry, Score]], total: int) -> str:
    source = "" if run.source is None else f" on {_render.harmless(str(run.source))}"
    lines = [f"{len(failed)} of {total} check{'' if total == 1 else 's'} did not pass{source}"]
    length = 0
    shown = 0
    for entry, score in failed[:_MOST_CHECKS]:
        told = list(score_lines(score, entry.bounds, advice=True))
        length += sum(map(len, told))
        if shown and length > _LONGEST:
            break
        lines += [f"  ✗ {told[0]}", *(f"  {line}" for line in told[1:])]
        shown += 1
    rest = [score.scorer.identity for _, score in failed[shown:]]
    if rest:
        lines.append(f"  … and {len(rest)} more: {_render.listed(rest, limit=10)}")
    return "\n".join([*lines, *(f"  {line}" for line in overview(run))])
