"""What the repetitions of one test have evaluated, put together."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from quickchecks._gates import Assertion
from quickchecks._results.evaluation import EvalResult, ItemResult
from quickchecks._scorer.thresholds import SLACK

__all__ = ("joined",)


def joined(repetitions: Sequence[Sequence[EvalResult]], pass_rate: float = 1.0) -> list[EvalResult]:
    """Put what the repetitions of a test have evaluated together: the first of each, the second of each, and so on.

    Args:
        repetitions: What each repetition has evaluated, in order.
        pass_rate: The share of the repetitions that must pass, where the test has reached it: a gate asks for no more then.

    Returns:
        The results, with repetitions. What is not of the same items and scorers stays apart.
    """
    found: list[EvalResult] = []
    for place in range(max(map(len, repetitions), default=0)):
        alike: dict[object, list[EvalResult]] = {}
        for results in repetitions:
            if place < len(results):
                alike.setdefault(_kind(results[place]), []).append(results[place])
        found += [_as_one(same, pass_rate) for same in alike.values()]
    return found


def _kind(result: EvalResult) -> object:
    if result.interrupted or result.incomplete:
        return id(result)
    plan = tuple(one.key for one in result.plan)
    items = tuple((item.id, item.index, item.repetition, tuple(one.key for one in item.plan)) for item in result.items)
    return (result.name, plan, items)


def _as_one(results: Sequence[EvalResult], pass_rate: float) -> EvalResult:
    def by_rate(plan: tuple[Assertion, ...]) -> tuple[Assertion, ...]:
        if plan not in plans:
            plans[plan] = tuple(
                replace(one, pass_rate=min(one.pass_rate, pass_rate)) if one.role == "gate" else one for one in plan
            )
        return plans[plan]

    plans: dict[tuple[Assertion, ...], tuple[Assertion, ...]] = {}
    first = results[0]
    items: list[ItemResult] = []
    for number, result in enumerate(results):
        for item in result.items:
            place = number * first.repetitions + item.repetition
            items.append(replace(item, repetition=place, plan=by_rate(item.plan)))
    items.sort(key=lambda item: (item.index, item.repetition))
    return replace(
        first,
        items=tuple(items),
        plan=by_rate(first.plan),
        max_errors=_errors_allowed(results, pass_rate),
        repetitions=len(results) * first.repetitions,
        warnings=tuple(dict.fromkeys(warning for result in results for warning in result.warnings)),
        seconds=sum(result.seconds for result in results),
    )


def _errors_allowed(results: Sequence[EvalResult], pass_rate: float) -> int:
    """How many items and scores may break: where few enough repetitions broke, the rate forgives them."""
    broke = [result for result in results if result.error_count > result.max_errors]
    forgiven = len(results) * (1 - pass_rate) + SLACK
    return sum(max(result.max_errors, result.error_count if len(broke) <= forgiven else 0) for result in results)
