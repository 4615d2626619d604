"""One run as a page, to be shown to somebody: what is wrong with it, what was asked, and what happened."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from quickchecks import _render
from quickchecks._items import Item
from quickchecks._results.evaluation import ItemError
from quickchecks._results.result import many
from quickchecks._run import Run
from quickchecks._score import Score
from quickchecks.reports import _html_found as found
from quickchecks.reports._html import Element, Node, document, el
from quickchecks.reports._html_evaluation import footer, headline
from quickchecks.reports._html_run import transcript
from quickchecks.reports._html_texts import Room

__all__ = ("shared_run",)

_OUTCOMES = {"not_applicable": "does not apply", "no_evidence": "no evidence", "error": "the check broke"}


def shared_run(
    run: Run | None, scores: Sequence[Score] = (), *, name: str, item: Item | None = None, error: ItemError | None = None
) -> bytes:
    """Write a page about one run.

    Args:
        run: The run; None where something broke before there was one.
        scores: What checks say about it.
        name: What it is called: where it was read from.
        item: The item that was asked, where it is known.
        error: What broke before it could be scored.

    Returns:
        The page.
    """
    wrong = [score for score in scores if score.outcome in ("failed", "error", "no_evidence")]
    rest = [score for score in scores if score not in wrong]
    said, tone, lead = _said(run, wrong, scores, error)
    about = "" if run is None else " · ".join(_about(run))
    inputs = item.asked if item is not None else () if run is None or run.input is None else (run.input,)
    happened = [] if run is None else transcript(run, found.places(run, wrong), Room(found.MAX_PAGE))
    asked = found.asked(inputs, None if item is None else item.expected)
    return document(
        f"{said} – {name}",
        headline(name, tone, said, lead, about),
        el(
            "main",
            found.section("failures", "What went wrong", _wrong(wrong, error)) if wrong or error is not None else None,
            found.section("asked", "What was asked", asked) if asked else None,
            found.section("happened", "What happened", happened) if happened else None,
            found.section("others", "What else was checked", el("ul", map(_other, rest), cls="plain")) if rest else None,
        ),
        footer({}),
    )


def _about(run: Run) -> Iterator[str]:
    yield run.format
    if run.id:
        yield f"id {run.id}"
    if run.agent:
        yield f"agent {run.agent}"


def _said(run: Run | None, wrong: Sequence[Score], scores: Sequence[Score], error: ItemError | None) -> tuple[str, str, str]:
    """What came of the run, its tone, and a sentence about it."""
    failed = [score for score in wrong if score.outcome != "no_evidence"]
    if failed:
        first = failed[0].scorer
        lead = first.why or f"{_render.capped(first.identity, 200)} did not pass"
        more = f" (and {many(len(failed) - 1, 'more check')})" if len(failed) > 1 else ""
        return "Failed", "failed", _render.capped(lead, 300) + more
    if run is None:
        return "Broke", "failed", "The target broke before it had answered."
    if error is not None or run.error is not None:
        return "Broke off", "failed", "The run ended before it was done."
    if wrong:
        return "No evidence", "undecided", "The record does not show what is asked."
    if any(score.passed for score in scores):
        return "Passed", "passed", f"{many(sum(score.passed for score in scores), 'check')} passed."
    return "A run", "", "What was said, and what was called." if not scores else "No check judged it."


def _wrong(wrong: Sequence[Score], error: ItemError | None) -> Iterator[Element]:
    if error is not None:
        yield el("article", el("h3", "It broke before it could be scored"), found.broken(error, unfolded=True), cls="failure")
    for number, score in enumerate(wrong, 1):
        title: list[Node] = [found.title_of(score.scorer.why, score.scorer.identity)]
        if len(wrong) > 1:
            title = [el("sup", str(number)), " ", *title]
        expression = found.expression_of(score.scorer)
        yield found.failure(
            title,
            "" if not score.scorer.why and expression == score.scorer.identity else expression,
            _OUTCOMES.get(score.outcome, ""),
            score.reason,
            (),
            "",
            (),
            tone="no_evidence" if score.outcome == "no_evidence" else "",
        )


def _other(score: Score) -> Element:
    told = _OUTCOMES.get(score.outcome, score.outcome)
    if score.outcome == "graded" and score.value is not None:
        told = f"{score.value:.3g}"
    name = found.title_of("", _render.capped(score.scorer.identity, 300))
    tone = "passed" if score.passed else ""
    return el("li", el("strong", told, cls=tone), " ", name, ": ", score.reason)
