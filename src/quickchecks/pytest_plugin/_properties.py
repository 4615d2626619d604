"""Scores as properties of a test, which `--junitxml` and other reports of pytest carry."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import fsum

from quickchecks import _render
from quickchecks._results.evaluation import EvalResult
from quickchecks._score import Score
from quickchecks.reports._safe import one_line

__all__ = ("properties_of",)

#: The most properties of a test, and the longest name of one.
_MOST = 50
_LONGEST = 120


def properties_of(results: Sequence[EvalResult]) -> Iterator[tuple[str, object]]:
    """Write what a test has evaluated as properties: the verdict, and one for each scorer.

    Args:
        results: What came of its evaluations.

    Yields:
        `quickchecks` with the verdict of each evaluation, then `quickchecks.<scorer>`: of a single score the outcome, or the
        number when it is graded; of several scores their mean, and how they came out.
    """
    yield "quickchecks", ", ".join(result.verdict or "nothing asserted" for result in results)
    scores: dict[str, list[Score]] = {}
    for result in results:
        for item in result.items:
            for entry, score in zip(item.plan, item.scores, strict=False):
                if entry.mode != "shadow":
                    scores.setdefault(entry.label, []).append(score)
    for label in list(scores)[:_MOST]:
        yield f"quickchecks.{_render.capped(one_line(label), _LONGEST)}", _said(scores[label])
    if len(scores) > _MOST:
        yield "quickchecks.left_out", f"{len(scores) - _MOST} scorers"


def _said(scores: Sequence[Score]) -> str:
    if len(scores) == 1:
        only = scores[0]
        return f"{only.value:.6g}" if only.outcome == "graded" else only.outcome
    values = [score.value for score in scores if score.value is not None]
    counts: dict[str, int] = {}
    for score in scores:
        counts[score.outcome] = counts.get(score.outcome, 0) + 1
    told = ", ".join(f"{count} {outcome}" for outcome, count in counts.items())
    return f"{fsum(values) / len(values):.6g} ({told})" if values else told
