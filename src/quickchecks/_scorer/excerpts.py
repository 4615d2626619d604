"""The places that a score speaks of, as lines to read: who said it, in which message, and the words with marks around them."""

from __future__ import annotations

from collections.abc import Iterator

from quickchecks import _render
from quickchecks._run import Run, Text, ToolCall
from quickchecks._score import CallRef, Evidence, Score

__all__ = ("excerpts", "overview")

#: The most places of a score that are shown, and the most characters of what stands at one and around it.
_MOST = 4
_LONGEST = 160
_AROUND = 60


def excerpts(score: Score) -> Iterator[str]:
    """The lines that show the evidence of a score; none where the run is not there.

    Args:
        score: The score.

    Example:
        >>> from quickchecks import checks
        >>> print(*excerpts(checks.excludes("rain").score("It rains.")))
        message 1, assistant: "It »rain«s."
    """
    if score.run is None:
        return
    evidence = score.evidence
    for one in evidence[:_MOST]:
        yield _excerpt(score.run, one)
    if len(evidence) > _MOST:
        yield f"… and {_render.many(len(evidence) - _MOST, 'place')} more"


def overview(run: Run) -> Iterator[str]:
    """The lines that show what a run came to: its answer, and the tools that were called.

    Args:
        run: The run.

    Example:
        >>> from quickchecks.adapters import as_run
        >>> print(*overview(as_run("It rains.")))
        answer: "It rains."
    """
    yield f"answer: {_render.quoted(run.text, 2 * _LONGEST)}" if run.text else "answer: none"
    if run.tool_names:
        yield f"calls: {_render.listed(run.tool_names, limit=10, joint=' → ')}"


def _excerpt(outermost: Run, place: Evidence) -> str:
    run = _nested(outermost, place.run)
    inside = f" of the run of {_render.name(run.agent or 'another agent')}" if place.run and run is not None else ""
    if run is None or place.message >= len(run.messages) or place.part >= len(run.messages[place.message].parts):
        return f"message {place.message + 1}"  # a scorer of the user's may point anywhere
    message = run.messages[place.message]
    part = message.parts[place.part]
    head = f"message {place.message + 1}{inside}, {_render.name(message.agent or message.role)}"
    if isinstance(place, CallRef):
        return f"{head}: call {place.call}, {_call(part)}" if isinstance(part, ToolCall) else head
    return f"{head}: {_marked(part.text, place.start, place.end)}" if isinstance(part, Text) else head


def _call(call: ToolCall) -> str:
    failure = call.failure()
    told = f"»{_render.call(call, _LONGEST)}«"
    if failure is None:
        return told
    return (
        f"{told} failed: {_render.quoted(failure.message, _LONGEST)}"
        if failure.source != "unanswered"
        else f"{told} has no result"
    )


def _marked(text: str, start: int, end: int) -> str:
    """Quote the words around a span, with marks around the span itself; what is secret is masked in each piece."""
    first, last = max(start - _AROUND, 0), min(end + _AROUND, len(text))
    before = _render.passage(text, first, start, _LONGEST)[1:-1]
    found = _render.passage(text, start, end, _LONGEST)[1:-1]
    after = _render.passage(text, end, last, _LONGEST)[1:-1]
    return f'"{"…" if first else ""}{before}»{found}«{after}{"…" if last < len(text) else ""}"'


def _nested(run: Run | None, way: tuple[int, ...]) -> Run | None:
    """The run that a way leads to, as `TextSpan.run` has it; None where there is none."""
    for number in way:
        if run is None:
            return None
        messages = run.messages[run.history_length :]
        calls = [part for one in messages if one.role == "assistant" for part in one.parts if isinstance(part, ToolCall)]
        below = [*(call.run for call in calls), *run.children]
        run = below[number] if number < len(below) else None
    return run
