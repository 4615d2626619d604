"""Whether one score is a pass, and why not: what `check.passes(run)` answers and `assert_checks` says."""

from __future__ import annotations

from collections.abc import Iterator

from quickchecks import _render
from quickchecks._score import Score
from quickchecks._scorer.excerpts import excerpts
from quickchecks._scorer.thresholds import Bounds

__all__ = ("Passing", "is_pass", "said", "score_lines")

_MOST_LINES = 12  # of a reason that has several
_LONGEST_WHY = 300
_LONGEST_NAME = 200


class Passing(int):
    """Whether a run passes a check: true or false in an `assert` and an `if`, and its repr says why.

    Like a bool it is a number, 1 or 0.

    Args:
        score: What the check says about the run.
    """

    score: Score

    def __new__(cls, score: Score) -> Passing:
        """Make one of a score."""
        made = super().__new__(cls, is_pass(score))
        made.score = score
        return made

    def __repr__(self) -> str:
        return f"<{'passes' if self else 'does not pass'}: {self.score.scorer.identity}: {' '.join(said(self.score).split())}>"

    __str__ = __repr__

    def explain(self) -> str:
        """Why, with the words of the run that it is about."""
        return "\n".join(score_lines(self.score))


def is_pass(score: Score, bounds: Bounds | None = None) -> bool:
    """Whether a score is a pass of one run: nothing is that was not judged, that broke, or that stands on a run that broke off.

    Args:
        score: The score.
        bounds: What a number must keep.
    """
    if score.run is not None and score.run.error is not None:
        return False
    if bounds is not None:
        return score.value is not None and bounds.met(score.value)
    return score.passed


def said(score: Score, bounds: Bounds | None = None) -> str:
    """Why a score is a pass or none, as one sentence that says what to do where nothing was judged.

    Args:
        score: The score.
        bounds: What a number must keep.
    """
    reason = score.reason
    if score.run is not None and score.run.error is not None:
        error = score.run.error
        told = _render.quoted(": ".join(part for part in (error.type, error.message) if part), 200)
        return f"the run itself broke off, so that nothing passes on it: {told}"
    if bounds is not None and score.value is not None:
        return f"{score.value:.6g}, {bounds} is wanted; {reason}"
    match score.outcome:
        case "no_evidence":
            return f"no evidence, which is no pass: {reason}"
        case "not_applicable":
            return f"not applicable, so that nothing was judged: {reason}"
        case "error":
            return f"it broke, which is no pass: {reason}"
        case "graded":
            return f"graded {score.value:.6g}, which is neither passed nor failed: {reason}"
    return reason


#: What to do about an outcome that is neither passed nor failed.
_ADVICE = {
    "no_evidence": "score a record that shows it (all messages with their calls, not the answer alone), or leave the check out",
    "not_applicable": "leave the check out for this run, or allow it: assert_checks(..., allow_not_applicable=True)",
    "error": "mend the scorer; what it raised is the cause of this error",
    "graded": "give it a threshold, such as Threshold(scorer, min=0.7)",
}


def score_lines(score: Score, bounds: Bounds | None = None, *, advice: bool = False) -> Iterator[str]:
    """The lines that say why a score is a pass or none: the sentence, why the user has the check, and the evidence.

    Args:
        score: The score.
        bounds: What a number must keep.
        advice: Whether to say what to do about an outcome that is neither passed nor failed.
    """
    first, *rest = said(score, bounds).splitlines()[:_MOST_LINES] or [""]
    yield f"{_render.name(score.scorer.identity, _LONGEST_NAME)}: {first}"
    for line in rest:
        yield f"    {line}"
    if score.scorer.why:
        yield f"    why: {_render.harmless(_render.capped(score.scorer.why, _LONGEST_WHY))}"
    for line in excerpts(score):
        yield f"    {line}"
    broke_off = score.run is not None and score.run.error is not None
    if advice and bounds is None and not broke_off and score.outcome in _ADVICE:
        yield f"    what to do: {_ADVICE[score.outcome]}"
