"""Markdown: the table of the checks and the kinds of failure, for a comment on a change or the summary of a CI job."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import BinaryIO

from quickchecks._gates import Assertion, AssertionResult, Counts, Verdict
from quickchecks._results.changes import EvalComparison
from quickchecks._results.evaluation import EvalResult
from quickchecks._results.evaluation import FailureGroup as EvalFailureGroup
from quickchecks._results.flips import ChangedCheck, Comparison
from quickchecks._results.result import FailureGroup, RunsResult, ScorerSummary, many
from quickchecks._run import Run, Usage
from quickchecks._score import Score
from quickchecks._scorer.checks_file import CheckEntry
from quickchecks.errors import RecordingError
from quickchecks.reports import _comparison_words as words
from quickchecks.reports import _words
from quickchecks.reports._safe import markdown, markdown_word

__all__ = ("comparison", "evaluation", "start")

#: What a page calls scorers that assert nothing, by mode.
_KINDS = {None: "measured", "watch": "watched", "shadow": "only recorded"}
#: The most items that a page names of each kind of failure.
_MAX_ITEMS = 8


def start(stream: BinaryIO, entries: Sequence[CheckEntry]) -> _Page:
    """Start a report. See `quickchecks.reports`."""
    return _Page(stream)


def evaluation(result: EvalResult) -> bytes:
    """Write the result of an evaluation. See `quickchecks.reports`."""
    return _bytes(_evaluation(result))


def comparison(comparison: EvalComparison) -> bytes:
    """Write a comparison. See `quickchecks.reports`."""
    return _bytes(_comparison(comparison))


def _bytes(lines: Iterable[str]) -> bytes:
    return ("\n".join(lines) + "\n").encode("utf-8", "backslashreplace")


class _Page:
    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def add(self, run: Run | None, scores: Sequence[Score], error: RecordingError | None) -> None:
        """The page shows what is known at the end: counts, and the first runs of each kind of failure."""

    def finish(self, result: RunsResult) -> None:
        self._stream.write(_bytes(_runs(result)))


def _runs(result: RunsResult) -> Iterator[str]:
    yield f"## {_words.verdict(result)}"
    yield ""
    # The explanation may hold the expression of a check, which is the user's own, but it is foreign to Markdown.
    explained = f". {_words.verdict(result).capitalize()}: {markdown(result.explanation)}" if result.explanation else ""
    yield _words.header(result, markdown_word) + explained
    yield ""
    shown = [one for one in result.scorers if one.mode != "shadow"]
    if shown:
        yield from _runs_table(shown)
    hidden = len(result.scorers) - len(shown)
    if hidden:
        yield f"{many(hidden, 'shadow check')} not shown"
        yield ""
    if result.failures:
        yield "### Failures"
        yield ""
        for group in result.failures:
            yield from _runs_failure(group)
        yield ""
    if result.comparison is not None:
        yield from _flips(result.comparison)
    notes = [f"- {markdown(warning)}" for warning in result.warnings]
    notes += [f"- {markdown(gap.note)}: {many(gap.runs, 'run')}, first {markdown(gap.first)}" for gap in result.gaps]
    if notes:
        yield "### Notes"
        yield ""
        yield from notes


def _runs_table(scorers: Sequence[ScorerSummary]) -> Iterator[str]:
    columns = [column for column in _words.COLUMNS if any(getattr(one, column) for one in scorers)]
    titles = ["check", *(_words.COLUMNS[column] for column in columns), ""]
    yield f"| {' | '.join(titles)} |"
    yield f"|---|{'---:|' * len(columns)}---|"
    for one in scorers:
        counts = [f"{count:,}" if (count := getattr(one, column)) else "" for column in columns]
        notes = _words.notes(one)
        yield f"| {' | '.join([markdown(one.scorer), *counts, markdown('; '.join(notes)) if notes else ''])} |"
    yield ""


def _runs_failure(group: FailureGroup) -> Iterator[str]:
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


def _flips(comparison: Comparison) -> Iterator[str]:
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
    yield f"- {name}{markdown(changed.before)} is now {markdown(changed.after)}" + "".join(
        f"; {markdown(note)}" for note in changed.notes
    )
    for flip in changed.flips:
        yield f"  - {_words.flip(flip)}"
        for run in flip.examples:
            yield f"    - {markdown(run.place)} before: {markdown(run.before)} now: {markdown(run.after)}"


def _evaluation(result: EvalResult) -> Iterator[str]:
    name = f"{markdown(result.name)}: " if result.name else ""
    yield f"## {name}{_words.said(result)}"
    yield ""
    runs = f" × {result.repetitions}" if result.repetitions > 1 else ""
    broke = f", {result.summary.errored} broke" if result.summary.errored else ""
    yield f"{many(result.summary.total_items, 'item')}{runs}{broke}, {_words.duration(result.seconds)}{_cost(result.usage)}"
    yield ""
    yield from _evaluation_table(result)
    if result.failures:
        yield "### Failures"
        yield ""
        for group in result.failures:
            yield from _evaluation_failure(group)
        yield ""
    notes = [f"- {markdown(warning)}" for warning in result.warnings]
    notes += [f"- flaky: {markdown(label)} on {_listed(items)}" for label, items in result.flaky.items()]
    if notes:
        yield "### Notes"
        yield ""
        yield from notes


def _cost(usage: Usage | None) -> str:
    if usage is None:
        return ""
    tokens = (usage.input_tokens or 0) + (usage.output_tokens or 0)
    return (f", {tokens:,} tokens" if tokens else "") + (f", ${usage.cost:.4f}" if usage.cost else "")


def _evaluation_table(result: EvalResult) -> Iterator[str]:
    judged = {(one.turn, one.scorer, one.bounds): one for one in (*result.gate_results, *result.threshold_results)}
    yield "| scorer | | passed | failed | other | |"
    yield "|---|---|---:|---:|---|---|"
    for one in result.assertions:
        found = judged.get((one.turn, one.identity, one.bounds)) if one.role == "gate" or one.bounds is not None else None
        yield _evaluation_row(one, found, result.summary.scorers[one.label], result.scores.get(one.identity))
    yield ""


def _evaluation_row(one: Assertion, judged: AssertionResult | None, counts: Counts, mean: float | None) -> str:
    verdict: Verdict | str = "measured" if judged is None else judged.verdict
    kind = "gate" if one.role == "gate" else str(one.bounds) if one.bounds is not None else _KINDS[one.mode]
    counts = counts if judged is None else judged.counts
    others = [
        f"{getattr(counts, name)} {told}"
        for name, told in (
            ("graded", "graded"),
            ("not_applicable", "not applicable"),
            ("no_evidence", "no evidence"),
            ("errors", "broken"),
            ("unscored", "unscored"),
        )
        if getattr(counts, name)
    ]
    why = markdown(judged.explanation) if judged is not None else "" if mean is None else f"mean {mean:.3g}"
    outcome = why if verdict == "measured" else f"**{verdict}**: {why}"
    return f"| {markdown(one.label)} | {kind} | {counts.passed or ''} | {counts.failed or ''} | {', '.join(others)} | {outcome} |"


def _evaluation_failure(group: EvalFailureGroup) -> Iterator[str]:
    who = markdown(group.scorer) if group.scorer else "the target"
    yield f"- {who} on {_listed(group.items)}: {markdown(group.reason)}"
    if group.why:
        yield f"  why: {markdown(group.why)}"


def _listed(items: tuple[str, ...]) -> str:
    more = f" and {len(items) - _MAX_ITEMS} more" if len(items) > _MAX_ITEMS else ""
    return ", ".join(markdown(item) for item in items[:_MAX_ITEMS]) + more


def _comparison(comparison: EvalComparison) -> Iterator[str]:
    first, second = (verdict or "no verdict" for verdict in comparison.verdicts)
    yield f"## {words.counted(comparison)}"
    yield ""
    yield f"{many(len(comparison.common), 'item')} compared, {first} → {second}"
    yield ""
    if comparison.decision is not None:
        verdict, _, rest = comparison.decision.said.partition(": ")
        yield f"**{markdown_word(verdict)}**" + (f": {markdown(rest)}" if rest else "")
        yield ""
    if comparison.open_ended:
        yield f"- undecided: {markdown(comparison.open_ended)}"
    for said, ids in words.unmatched(comparison):
        yield f"- {markdown(said)}: {', '.join(map(markdown, ids))}"
    for said, scorers in words.other_scorers(comparison):
        yield f"- {said}: {', '.join(map(markdown, scorers))}"
    for note in comparison.notes:
        yield f"- note: {markdown(note)}"
    yield ""
    if told := words.scorers(comparison):
        yield "| scorer | |"
        yield "|---|---|"
        for one in told:
            yield f"| {markdown(one.scorer)} | {markdown(one.said)} |"
        yield ""
    for direction, changes in words.by_direction(comparison).items():
        if changes:
            yield f"### {direction.capitalize()}"
            yield ""
            for change in changes:
                who = markdown(change.scorer) if change.scorer else "the target"
                yield f"- {markdown(change.item)} {who}: {markdown_word(change.before)} → {markdown_word(change.after)}"
                yield from (f"  {markdown(text)}" for text in (change.reason, change.divergence) if text)
            yield ""
    for measure in comparison.measures:
        yield f"- {measure.name}: {words.measured(measure, len(comparison.common))}"
