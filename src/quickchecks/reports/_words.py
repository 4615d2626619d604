"""The words that reports for people have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from quickchecks import _render
from quickchecks._results.deciding import nothing_scored
from quickchecks._results.evaluation import EvalResult
from quickchecks._results.flips import Flip
from quickchecks._results.result import FailureGroup, RunsResult, ScorerSummary, many
from quickchecks._score import Outcome

__all__ = ("COLUMNS", "duration", "flip", "header", "kind", "notes", "said", "verdict")

#: The counts that a table shows, with what they are called there.
COLUMNS: Mapping[str, str] = {
    "passed": "passed",
    "failed": "failed",
    "graded": "graded",
    "not_applicable": "not applicable",
    "no_evidence": "no evidence",
    "error": "broken",
}

_MAX_FORMATS = 6
_MAX_REASON = 50


def header(result: RunsResult, shown: Callable[[str], str] = _render.name) -> str:
    """What was read: `200 runs (openai_chat 120, langchain 80), 2 records cannot be read`.

    Args:
        result: The result.
        shown: Makes the name of a format harmless, which a recording may give itself.
    """
    formats = [(shown(name), count) for name, count in result.formats.items()]
    if len(formats) == 1:
        named = f" ({formats[0][0]})"
    else:
        listed = ", ".join(f"{name} {count:,}" for name, count in formats[:_MAX_FORMATS])
        named = f" ({listed}{', …' if len(formats) > _MAX_FORMATS else ''})" if formats else ""
    unreadable = f", {many(result.unreadable, 'record')} cannot be read" if result.unreadable else ""
    errored = f", {many(result.errored_runs, 'run')} broke off" if result.errored_runs else ""
    return f"{many(result.runs, 'run')}{named}{errored}{unreadable}"


def duration(seconds: float) -> str:
    """A duration: `0.04 s`, `1.2 s`, `75 s`."""
    return f"{max(seconds, 0.01):.2f} s" if seconds < 0.095 else f"{seconds:.1f} s" if seconds < 9.95 else f"{seconds:.0f} s"


def verdict(result: RunsResult) -> str:
    """The verdict over scored runs in one or two words."""
    if result.interrupted:
        return "failed, interrupted" if result.verdict == "failed" else "interrupted"
    if result.nothing_scored and (result.verdict is None or not result.runs) and result.verdict != "failed":
        return "nothing scored"
    return result.verdict or "nothing asserted"


def said(result: EvalResult) -> str:
    """The verdict of an evaluation in a few words."""
    nothing = not result.items or (result.verdict is None and nothing_scored(result))
    verdict: str = "nothing scored" if nothing else result.verdict or "nothing asserted"
    if result.items and result.verdict is None and result.error_count > result.max_errors:
        verdict = f"nothing asserted, {result.error_count} broke"
    return f"{verdict}, interrupted" if result.interrupted else verdict


def notes(one: ScorerSummary) -> list[str]:
    """What stands behind the counts of a scorer: why there was no evidence, the mean and its bounds, what it decides."""
    told = [_render.capped(one.no_evidence_reason, _MAX_REASON)] if one.no_evidence_reason else []
    if one.mean is not None and (one.graded or one.threshold is not None):
        told.append(f"mean {one.mean:.3g}" + (f", needs {one.threshold}" if one.threshold is not None else ""))
    elif one.threshold is not None:
        told.append(f"needs {one.threshold}")
    if one.mode == "gate" and one.graded:
        told.append("a gate needs 1 on every run")
    if one.set_aside:
        told.append(f"{many(one.set_aside, 'run')} that broke off left out")
    if one.mode == "watch":
        told.append("watched")
    return told


def kind(group: FailureGroup) -> str:
    """What is wrong, where it is not simply that the check failed."""
    told = {
        "failed": "",
        "error": "broke",
        "no_evidence": "no evidence",
        "run_failed": "the run itself broke off",
        "unreadable": "cannot be read",
    }[group.kind]
    return f"{told} (watched)".strip() if group.mode == "watch" else told


_OUTCOME: Mapping[Outcome, str] = {
    "not_applicable": "not applicable",
    "no_evidence": "no evidence",
    "error": "broken",
}


def flip(one: Flip) -> str:
    """How many runs went where: `2 runs: passed → failed`."""
    if one.before == one.after == "graded":
        return f"{many(one.count, 'run')}: another value"
    return f"{many(one.count, 'run')}: {_OUTCOME.get(one.before, one.before)} → {_OUTCOME.get(one.after, one.after)}"
