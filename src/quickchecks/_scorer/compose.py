"""Composition of scorers: `a & b`, `a | b`, `~a`, `all_of`, `any_of`, `none_of`, `when`.

How outcomes combine. The first line that holds decides, branches that are not applicable are left out (when all are,
so is the whole), and the reason of every branch is kept.

| `all_of` (`&`)                             | `any_of` (`|`)                             |
|--------------------------------------------|--------------------------------------------|
| error, when a branch is an error           | error, when a branch is an error           |
| failed, when a branch failed               | passed, when a branch passed               |
| no evidence, when a branch has none        | no evidence, when a branch has none        |
| graded, the lowest value, when one is      | graded, the highest value, when one is     |
| passed                                     | failed                                     |

`none_of` (and `~a`) is the opposite of `any_of`: passed and failed change places, a value v becomes 1 - v, every other
outcome stays. `when(condition, check)` is the check where the condition passed, not applicable where it failed, and
the condition's outcome otherwise. So an error is never lost, and neither it nor missing evidence becomes a pass: not by
`~`, not by a branch beside it that passed.

The one place where missing evidence gives way is beside a branch that decides alone: a failed branch fails `&`, a
passed branch passes `|`, whatever the other would have said (Kleene's three-valued logic).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Sequence
from typing import Literal

import msgspec
from msgspec import Struct

from quickchecks import _render
from quickchecks._run import Run
from quickchecks._score import Explanation, Outcome, Score
from quickchecks._scorer.context import Context, Judged
from quickchecks._scorer.definition import as_scorer, create_scorer
from quickchecks._scorer.pipeline import Scorer
from quickchecks.errors import CheckArgumentError, ScorerDefinitionError

__all__ = ("Combination", "all_of", "any_of", "combined", "none_of", "when")

Rule = Literal["all_of", "any_of", "none_of", "when"]

_OPERATORS = {"all_of": " & ", "any_of": " | "}


def all_of(*checks: Scorer, name: str | None = None, why: str = "") -> Scorer:
    """Passes when every check passes; the same as `a & b`.

    Args:
        checks: The checks to combine.
        name: An identity of its own.
        why: Why you have it, as one plain sentence.

    Raises:
        CheckArgumentError: There are no checks.

    Example:
        >>> from quickchecks import checks
        >>> checks.all_of(checks.includes("sunny"), checks.excludes("error"))
        includes('sunny') & excludes('error')
    """
    return _combine("all_of", checks, name, why)


def any_of(*checks: Scorer, name: str | None = None, why: str = "") -> Scorer:
    """Passes when at least one check passes; the same as `a | b`.

    Args:
        checks: The checks to combine.
        name: An identity of its own.
        why: Why you have it, as one plain sentence.

    Raises:
        CheckArgumentError: There are no checks.

    Example:
        >>> from quickchecks import checks
        >>> checks.any_of(checks.includes("sunny"), checks.includes("clear"))
        includes('sunny') | includes('clear')
    """
    return _combine("any_of", checks, name, why)


def none_of(*checks: Scorer, name: str | None = None, why: str = "") -> Scorer:
    """Passes when no check passes; `none_of(a)` is the same as `~a`.

    Args:
        checks: The checks of which none may pass.
        name: An identity of its own.
        why: Why you have it, as one plain sentence.

    Raises:
        CheckArgumentError: There are no checks.

    Example:
        >>> from quickchecks import checks
        >>> checks.none_of(checks.matches(r"sk-[a-z0-9]{20}"))
        ~matches('sk-[a-z0-9]{20}')
    """
    return _combine("none_of", checks, name, why)


def when(condition: Scorer, check: Scorer, *, name: str | None = None, why: str = "") -> Scorer:
    """Judges the check only where the condition passes; elsewhere it is not applicable.

    Args:
        condition: What must pass for the check to apply.
        check: The check.
        name: An identity of its own.
        why: Why you have it, as one plain sentence.

    Example:
        >>> from quickchecks import checks
        >>> checks.when(checks.called_tool("refund"), checks.includes("refunded"))
        when(called_tool('refund'), includes('refunded'))
    """
    return _combine("when", (condition, check), name, why)


class Combination(Struct, frozen=True):
    """The expression of a combined scorer: what it is made of, and how it is written."""

    rule: Rule
    parts: tuple[Scorer, ...]

    def text(self, name: str | None = None, why: str = "") -> str:
        """Write it as an expression; with a name or a why, as a call that carries them."""
        options = [f"{key}={value!r}" for key, value in (("name", name), ("why", why)) if value]
        if options or self.rule == "when":
            return f"{self.rule}({', '.join([*map(repr, self.parts), *options])})"
        if self.rule == "none_of":
            if len(self.parts) == 1:
                return f"~{_operand(self.parts[0], tight=True)}"
            return f"~({' | '.join(_operand(part, tight=False) for part in self.parts)})"
        # `&` binds more tightly than `|`, so a part joined by `|` needs parentheses inside `&`.
        tight = self.rule == "all_of"
        return _OPERATORS[self.rule].join(_operand(part, tight=tight) for part in self.parts)


def _operand(part: Scorer, *, tight: bool) -> str:
    inner = part.expression
    joined = isinstance(inner, Combination) and inner.rule in _OPERATORS and not part.name and not part.why
    needs = joined and isinstance(inner, Combination) and (tight or inner.rule == "any_of")
    return f"({part!r})" if needs else repr(part)


class _Combiner(Struct, frozen=True):
    """The score step of a combined scorer."""

    rule: Rule
    parts: tuple[Scorer, ...]
    is_async: bool
    parameter_names: tuple[str, ...] = ("run",)

    def __call__(self, run: Run) -> Judged:
        if self.rule == "when":
            condition = self.parts[0].score(run)
            return _conditional(condition, lambda: self.parts[1].score(run))
        return _RULES[self.rule]([part.score(run) for part in self.parts])

    def evaluate(self, context: Context) -> Generator[Awaitable[object], object, Judged]:
        """The same, where a branch has to be awaited or asks for more than the run."""
        inner = msgspec.structs.replace(context, results=None)
        if self.rule == "when":
            condition = yield from self.parts[0]._evaluate(inner)
            if condition.outcome != "passed":
                return _conditional(condition, None)
            score = yield from self.parts[1]._evaluate(inner)
            return _conditional(condition, lambda: score)
        scores: list[Score] = []
        for part in self.parts:
            scores.append((yield from part._evaluate(inner)))
        return _RULES[self.rule](scores)


def _combine(rule: Rule, checks: Sequence[object], name: str | None, why: str) -> Scorer:
    if not checks:
        raise CheckArgumentError(f"{rule}() without checks could never fail: give it at least one")
    if len(checks) == 1 and isinstance(checks[0], (list, tuple)):
        raise CheckArgumentError(f"{rule}() takes the checks one after the other: {rule}(a, b), or {rule}(*checks)")
    parts = tuple(_combinable(rule, as_scorer(check)) for check in checks)
    if rule in _OPERATORS:
        parts = _flattened(rule, parts)
        if len(parts) == 1:
            return parts[0].named(name, why)
    elif rule == "none_of" and len(parts) > 1:
        parts = _flattened("any_of", parts)
    sync = all(part.quick is not None for part in parts)
    empty = create_scorer(id=rule, description=f"{rule} of {len(parts)} scorers", name=name, why=why, explain=_explain)
    graded = _is_graded(rule, parts)
    empty = msgspec.structs.replace(empty, expression=Combination(rule, parts), graded=graded)
    return empty.generate_score(_Combiner(rule, parts, is_async=not sync))


def _is_graded(rule: Rule, parts: Sequence[Scorer]) -> bool:
    """Whether a combination is a number: only when all of it is, because else a part that fails would decide nothing."""
    if rule != "when":
        return all(part.graded for part in parts)
    condition, check = parts
    if condition.graded:
        raise CheckArgumentError(
            f"the condition of when() must pass or fail, and {condition.identity} is a number: give it a threshold"
        )
    return check.graded


def _combinable(rule: Rule, part: Scorer) -> Scorer:
    if not any(step.stage == "generate_score" for step in part.steps):
        raise ScorerDefinitionError(
            f"scorer {part.id!r} has no score step, so {rule}() cannot run it; add .generate_score(function)"
        )
    if part.score_range != (0.0, 1.0):
        low, high = part.score_range
        raise ScorerDefinitionError(
            f"{rule}() combines scorers of the range 0..1, and {part.identity} has {low:g}..{high:g}: give it a threshold first, "
            "or let it return a bool"
        )
    return part


def _flattened(rule: str, parts: Sequence[Scorer]) -> tuple[Scorer, ...]:
    """`(a & b) & c` is one combination of three, unless the inner one has a name or a why of its own."""
    flat: list[Scorer] = []
    for part in parts:
        inner = part.expression
        if isinstance(inner, Combination) and inner.rule == rule and not part.name and not part.why:
            flat.extend(inner.parts)
        else:
            flat.append(part)
    return tuple(flat)


def _all(scores: Sequence[Score]) -> Judged:
    outcome = _first(scores, ("error", "failed", "no_evidence"))
    if outcome is None:
        return _graded_or(scores, "passed", min)
    return Judged(outcome, 0.0 if outcome == "failed" else None, tuple(scores))


def _any(scores: Sequence[Score]) -> Judged:
    outcome = _first(scores, ("error", "passed", "no_evidence"))
    if outcome is None:
        return _graded_or(scores, "failed", max)
    return Judged(outcome, 1.0 if outcome == "passed" else None, tuple(scores))


def _none(scores: Sequence[Score]) -> Judged:
    found = _any(scores)
    opposite: dict[Outcome, Outcome] = {"passed": "failed", "failed": "passed"}
    value = None if found.value is None else 1.0 - found.value
    return Judged(opposite.get(found.outcome, found.outcome), value, found.parts)


def _first(scores: Sequence[Score], outcomes: tuple[Outcome, ...]) -> Outcome | None:
    for outcome in outcomes:
        if any(score.outcome == outcome for score in scores):
            return outcome
    return None


def _graded_or(scores: Sequence[Score], outcome: Outcome, choose: Callable[[list[float]], float]) -> Judged:
    graded = [score.value for score in scores if score.outcome == "graded" and score.value is not None]
    if graded:
        return Judged("graded", choose(graded), tuple(scores))
    if all(score.outcome == "not_applicable" for score in scores):
        return Judged("not_applicable", None, tuple(scores))
    return Judged(outcome, 1.0 if outcome == "passed" else 0.0, tuple(scores))


_RULES: dict[str, Callable[[Sequence[Score]], Judged]] = {"all_of": _all, "any_of": _any, "none_of": _none}


def combined(rule: str, scores: Sequence[Score]) -> Judged:
    """Combine scores by the rule of `all_of`, `any_of` or `none_of`."""
    return _RULES[rule](scores)


def _conditional(condition: Score, judge: Callable[[], Score] | None) -> Judged:
    if condition.outcome == "failed":
        return Judged("not_applicable", None, (condition,))
    if condition.outcome == "graded":
        raise ValueError(
            f"the condition of when() must pass or fail, but {condition.scorer.identity} is graded {condition.value:g}; "
            "give it a threshold"
        )
    if condition.outcome != "passed" or judge is None:
        return Judged(condition.outcome, None, (condition,))
    score = judge()
    return Judged(score.outcome, score.value, (condition, score))


_SAID = {
    "passed": "passed",
    "failed": "failed",
    "not_applicable": "does not apply",
    "no_evidence": "no evidence",
    "error": "error",
}


def _explain(run: Run, score: Score) -> Explanation:
    """Say what each branch said, those that decided first."""
    rule = score.scorer.id
    deciding = _deciding(score, rule)
    parts = [*deciding, *(part for part in score.parts if part not in deciding)]
    if rule == "when" and len(parts) == 2:
        parts = [score.parts[1], score.parts[0]]  # the check before its condition
    share = max(60, (_render.REASON_LIMIT - 40) // len(parts) - 20)
    if rule == "none_of" and len(parts) == 1 and parts[0].outcome in _NEGATED:
        told = [f"{_who(parts[0])} {_NEGATED[parts[0].outcome]}: {parts[0].reason}"]
    else:
        told = [f"{_who(part)}: {_say(part)}: {_render.capped(part.reason, share)}" for part in parts]
    evidence = tuple(place for part in parts for place in part.evidence)
    kinds = tuple(sorted({part.failure_key for part in deciding if part.failure_key}))
    return Explanation(_head(score, rule) + "; ".join(told), evidence, kinds or (rule,))


_NEGATED = {"passed": "passed and must not", "failed": "failed, as it should"}


def _head(score: Score, rule: str) -> str:
    """How the outcome comes from those of the branches."""
    parts = score.parts
    if rule == "when":
        if len(parts) == 2:
            return ""
        return "the condition does not hold; " if score.outcome == "not_applicable" else "the condition: "
    if score.outcome == "graded" and score.value is not None:
        if rule == "none_of":
            return f"1 − {1 - score.value:g}; " if len(parts) == 1 else f"1 − {1 - score.value:g}, the highest value; "
        return f"the {'lowest' if rule == 'all_of' else 'highest'} value is {score.value:g}; "
    if len(parts) == 1:
        return ""
    if rule == "none_of":
        return f"{sum(part.passed for part in parts)} of {len(parts)} passed, none may; "
    count = sum(part.outcome == score.outcome for part in parts)
    return f"{count} of {len(parts)} {_SAID.get(score.outcome, score.outcome)}; "


def _who(score: Score) -> str:
    return _render.capped(score.scorer.identity, 120)


def _say(score: Score) -> str:
    return _SAID.get(score.outcome) or f"graded {score.value:g}"


def _deciding(score: Score, rule: str) -> list[Score]:
    """The branches whose outcome is the outcome of the whole (under none_of, those that passed when it failed)."""
    wanted = "passed" if rule == "none_of" and score.outcome == "failed" else score.outcome
    return [part for part in score.parts if part.outcome == wanted]
