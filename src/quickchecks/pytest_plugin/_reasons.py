"""Why the evaluation of one item did not pass, as a test tells it."""

from __future__ import annotations

from collections.abc import Iterator

from quickchecks import _render
from quickchecks._gates import AssertionResult
from quickchecks._items import Item
from quickchecks._results.evaluation import EvalResult, ItemError
from quickchecks._run import Run
from quickchecks._score import Score
from quickchecks._scorer.excerpts import overview
from quickchecks._scorer.passing import is_pass, said, score_lines
from quickchecks.reports._run_words import frames

__all__ = ("name_of", "reasons")


def reasons(result: EvalResult) -> Iterator[str]:
    """The lines that say why the evaluation of one item did not pass.

    Args:
        result: Its result.
    """
    item = result.items[0].item
    name = name_of(item)
    missed = [one for one in (*result.gate_results, *result.threshold_results) if not one.passed and not _unscored(one)]
    broke = next((one for one in result.items if one.error is not None), None)
    if missed:
        total = len(result.gate_results) + len(result.threshold_results)
        first = missed[0]
        why = first.explanation if result.repetitions > 1 else _reason(result, first)
        more = f" (and {len(missed) - 1} more of {total})" if len(missed) > 1 else ""
        yield f"{name}: {_render.capped(first.label)}: {why}{more}"
    elif broke is not None and broke.error is not None:
        yield f"{name}: the target broke: {_message(broke.error)}"
    else:
        yield f"{name}: {_render.many(result.error_count, 'scorer')} broke"
    shown: Run | None = None
    for one in missed:
        told = _worst(result, one)
        if told is None:
            yield f"  ✗ {one.label}: {one.explanation}"
            continue
        at, score = told
        shown = shown or result.items[at].run
        lines = list(score_lines(score, one.bounds, advice=True))
        repeated = result.repetitions > 1
        if len(missed) > 1:  # where it is the only one, the first line has said it
            yield f"  ✗ {one.label}: {one.explanation}" if repeated else f"  ✗ {lines[0]}"
        if repeated:
            yield f"      repetition {at + 1}: {lines[0].removeprefix(f'{one.scorer}: ')}"
        yield from (f"  {line}" for line in lines[1:])
    for ran in result.items[:1]:
        for entry, score in zip(ran.plan, ran.scores, strict=False):
            if score.outcome == "error" and entry.mode is None and entry.role == "scorer" and entry.bounds is None:
                yield from (f"  ✗ {line}" if number == 0 else f"  {line}" for number, line in enumerate(score_lines(score)))
    shown = shown or next((one.run for one in result.items if one.run is not None), None)
    if shown is not None:
        yield from (f"  {line}" for line in overview(shown))
    if broke is not None and broke.error is not None:
        if missed:
            yield f"  the target broke{_which(result, broke.repetition)}: {_message(broke.error)}"
        yield from ("", *map(_render.harmless, frames(broke.error.traceback))) if broke.error.traceback else ()


def name_of(item: Item) -> str:
    """How an item is called, with its place in the dataset.

    Args:
        item: The item.
    """
    place = f"{item.source}: " if item.source is not None else ""
    return _render.harmless(f"{place}item {_render.quoted(item.id or '')}")


def _unscored(one: AssertionResult) -> bool:
    """Whether nothing was scored, because the target broke."""
    return one.counts.unscored > 0 and not one.counts.judged and not one.counts.errors and not one.counts.no_evidence


def _reason(result: EvalResult, one: AssertionResult) -> str:
    told = _worst(result, one)
    return one.explanation if told is None else said(told[1], one.bounds)


def _worst(result: EvalResult, one: AssertionResult) -> tuple[int, Score] | None:
    """The first score that kept a gate or threshold from passing, and where it stands."""
    scores = [(at, ran.score(one.scorer, turn=one.turn)) for at, ran in enumerate(result.items)]
    return next(((at, score) for at, score in scores if score is not None and not is_pass(score, one.bounds)), None)


def _message(error: ItemError) -> str:
    return _render.capped(_render.harmless(error.message), 500)


def _which(result: EvalResult, repetition: int) -> str:
    return f" in repetition {repetition + 1}" if result.repetitions > 1 else ""
