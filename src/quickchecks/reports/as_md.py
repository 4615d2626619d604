"""Markdown: the table of the checks and the kinds of failure, for a comment on a change or the summary of a CI job."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import BinaryIO

from quickchecks._results.flips import ChangedCheck, Comparison
from quickchecks._results.result import FailureGroup, RunsResult, ScorerSummary, many
from quickchecks._run import Run
from quickchecks._score import Score
from quickchecks._scorer.checks_file import CheckEntry
from quickchecks.errors import RecordingError
from quickchecks.reports import _words
from quickchecks.reports._safe import markdown

__all__ = ("start",)


def start(stream: BinaryIO, entries: Sequence[CheckEntry]) -> _Page:
    """Start a report. See `quickchecks.reports`."""
    return _Page(stream)


class _Page:
    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def add(self, run: Run | None, scores: Sequence[Score], error: RecordingError | None) -> None:
        """The page shows what is known at the end: counts, and the first runs of each kind of failure."""

    def finish(self, result: RunsResult) -> None:
        text = "\n".join(_lines(result)) + "\n"
        self._stream.write(text.encode("utf-8", "backslashreplace"))


def _lines(result: RunsResult) -> Iterator[str]:
    yield f"## {_words.verdict(result)}"
    yield ""
    # The explanation may hold the expression of a check, which is the user's own, but it is foreign to Markdown.
    explained = f". {_words.verdict(result).capitalize()}: {markdown(result.explanation)}" if result.explanation else ""
    yield _words.header(result) + explained
    yield ""
    shown = [one for one in result.scorers if one.mode != "shadow"]
    if shown:
        yield from _table(shown)
    hidden = len(result.scorers) - len(shown)
    if hidden:
        yield f"{many(hidden, 'shadow check')} not shown"
        yield ""
    if result.failures:
        yield "### Failures"
        yield ""
        for group in result.failures:
            yield from _failure(group)
        yield ""
    if result.comparison is not None:
        yield from _comparison(result.comparison)
    notes = [f"- {markdown(warning)}" for warning in result.warnings]
    notes += [f"- {markdown(gap.note)}: {many(gap.runs, 'run')}, first {markdown(gap.first)}" for gap in result.gaps]
    if notes:
        yield "### Notes"
        yield ""
        yield from notes


def _table(scorers: Sequence[ScorerSummary]) -> Iterator[str]:
    columns = [column for column in _words.COLUMNS if any(getattr(one, column) for one in scorers)]
    titles = ["check", *(_words.COLUMNS[column] for column in columns), ""]
    yield f"| {' | '.join(titles)} |"
    yield f"|---|{'---:|' * len(columns)}---|"
    for one in scorers:
        counts = [f"{count:,}" if (count := getattr(one, column)) else "" for column in columns]
        notes = _words.notes(one)
        yield f"| {' | '.join([markdown(one.scorer), *counts, markdown('; '.join(notes)) if notes else ''])} |"
    yield ""


def _failure(group: FailureGroup) -> Iterator[str]:
    first = group.examples[0]
    what = markdown(group.scorer) if group.scorer else ""
    title = " ".join(part for part in (what, _words.kind(group)) if part)
    count = f" ({many(group.count, 'run')})" if group.count > 1 else ""
    yield f"- {title}{count}: {markdown(first.place)} {markdown(first.reason)}"
    if group.why:
        yield f"  why: {markdown(group.why)}"
    others = ", ".join(markdown(example.place) for example in group.examples[1:])
    if others:
        yield f"  also in {others}{', …' if group.count > len(group.examples) else ''}"


def _comparison(comparison: Comparison) -> Iterator[str]:
    yield f"### Compared with {markdown(comparison.against)}"
    yield ""
    for changed in comparison.changed:
        yield from _changed(changed)
    for told, checks in (("new", comparison.new), ("removed", comparison.removed)):
        for check in checks:
            yield f"- {told}: {markdown(check)}"
    yield f"- unchanged: {many(comparison.unchanged, 'check')}"
    yield ""


def _changed(changed: ChangedCheck) -> Iterator[str]:
    name = f"{markdown(changed.name)}: " if changed.name else ""
    yield f"- {name}{markdown(changed.before)} is now {markdown(changed.after)}" + "".join(f"; {note}" for note in changed.notes)
    for flip in changed.flips:
        yield f"  - {_words.flip(flip)}"
        for run in flip.examples:
            yield f"    - {markdown(run.place)} before: {markdown(run.before)} now: {markdown(run.after)}"
