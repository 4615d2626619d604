"""How scorers are defined: `create_scorer`, `@scorer`, and plain functions in a list of scorers."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from typing import overload

import msgspec

from quickchecks import _render
from quickchecks._run import Run
from quickchecks._score import Explanation, Score
from quickchecks._scorer.pipeline import Scorer
from quickchecks._scorer.prompts import Judge
from quickchecks._scorer.read_only import guarded_explain
from quickchecks.errors import ScorerDefinitionError

__all__ = ("as_scorer", "create_scorer", "scorer")


def create_scorer(
    *,
    id: str,
    description: str = "",
    name: str | None = None,
    why: str = "",
    judge: Judge | None = None,
    prepare_run: Callable[[Run], object] | None = None,
    score_range: tuple[float, float] = (0.0, 1.0),
    explain: Callable[[Run, Score], Explanation] | None = None,
    version: str = "",
) -> Scorer:
    """Start a scorer; chain its steps to it.

    The pipeline is that of the reference's createScorer, with the steps in a fixed order.

    Args:
        id: The kind of scorer; also its identity, unless it has a name.
        description: What it scores, as one sentence.
        name: An identity of its own.
        why: Why you have it, as one plain sentence; shown beside every failure.
        judge: The model that prompt steps ask.
        prepare_run: A function that trims the run before the steps see it, such as `filter_run(...)`.
        score_range: The lowest and the highest value, when it is not 0..1.
        explain: Makes the reason when somebody reads it, from the run and the score; cheaper than a reason step.
        version: The version of its code; by default a hash of the source.

    Returns:
        A scorer without steps. Each step method returns a new one.

    Raises:
        ScorerDefinitionError: The id is missing, or the range is none.

    Example:
        >>> polite = create_scorer(id="polite", description="Says please").generate_score(lambda output: "please" in output)
        >>> polite.score("Yes, please.").outcome
        'passed'
    """
    if not isinstance(id, str) or not id:
        raise ScorerDefinitionError(f"a scorer must have an id, as text that is not empty; got {_render.value(id)}")
    low, high = _range(score_range)
    return Scorer(
        id,
        description,
        name,
        why,
        explain=guarded_explain(explain),
        judge=judge,
        prepare_run=prepare_run,
        score_range=(low, high),
        given_version=version,
    )


def _range(given: object) -> tuple[float, float]:
    if isinstance(given, (tuple, list)) and len(given) == 2 and all(type(limit) in (int, float) for limit in given):
        low, high = float(given[0]), float(given[1])
        if isfinite(low) and isfinite(high) and low < high:
            return low, high
    raise ScorerDefinitionError(f"score_range is (lowest, highest), such as (0, 10), not {_render.value(given)}")


@overload
def scorer(function: Callable[..., object], /) -> Scorer: ...
@overload
def scorer(
    *,
    id: str = "",
    description: str = "",
    name: str | None = None,
    why: str = "",
    score_range: tuple[float, float] = (0.0, 1.0),
    version: str = "",
) -> Callable[[Callable[..., object]], Scorer]: ...
def scorer(
    function: Callable[..., object] | None = None,
    /,
    *,
    id: str = "",
    description: str = "",
    name: str | None = None,
    why: str = "",
    score_range: tuple[float, float] = (0.0, 1.0),
    version: str = "",
) -> Scorer | Callable[[Callable[..., object]], Scorer]:
    """Make a scorer of one function.

    The function takes, by name, any of run, input, output (text), expected, item. It returns a bool, a number, a
    Score, a (value, reason) pair, `not_applicable(...)` or `no_evidence(...)`. An AssertionError in it is a failed
    score with its message; any other exception is its error.

    Args:
        function: The function, when the decorator is used without arguments.
        id: The id; by default the function's name.
        description: What it scores; by default the first line of the function's docstring.
        name: An identity of its own.
        why: Why you have it.
        score_range: The lowest and the highest value.
        version: The version of its code; by default a hash of the source.

    Raises:
        ScorerDefinitionError: The function asks for a name that no scorer gets.

    Example:
        >>> @scorer(id="short-answer", description="At most 50 words")
        ... def short_answer(output): return len(output.split()) <= 50
        >>> short_answer.score("Sunny.").outcome
        'passed'
    """

    def make(function: Callable[..., object]) -> Scorer:
        if not callable(function):
            raise ScorerDefinitionError(f"@scorer decorates a function, not {_render.value(function)}")
        kind = id or getattr(function, "__name__", type(function).__name__)
        summary = description or (getattr(function, "__doc__", None) or "").strip().split("\n")[0]
        empty = create_scorer(id=kind, description=summary, name=name, why=why, score_range=score_range, version=version)
        return msgspec.structs.replace(empty, asserts=True).generate_score(function)

    return make if function is None else make(function)


def as_scorer(value: object) -> Scorer:
    """Take what stands in a list of scorers: a Scorer, or a plain function.

    Raises:
        ScorerDefinitionError: It is neither.
    """
    if isinstance(value, Scorer):
        return value
    if callable(value):
        name = getattr(value, "__name__", type(value).__name__)
        if str(getattr(value, "__module__", "")).startswith("quickchecks."):
            raise ScorerDefinitionError(f"{name} is the function that makes a check; call it: {name}(...)")
        return scorer(value)
    raise ScorerDefinitionError(f"a scorer is a check, a scorer or a function, not {_render.value(value)}")
