"""Counts what the scorers say, run by run, in constant memory."""

from __future__ import annotations

import re
from collections.abc import Sequence

from quickchecks._results.flips import Flips
from quickchecks._results.names import NamesInRuns
from quickchecks._results.result import (
    Example,
    FailureGroup,
    FailureKind,
    GapCount,
    RunsResult,
    ScorerSummary,
    Verdict,
    many,
    verdict_of,
)
from quickchecks._run import Gap, Run, Source
from quickchecks._score import Score
from quickchecks._scorer.checks_file import CheckEntry, Mode
from quickchecks._scorer.pipeline import Scorer
from quickchecks._scorer.thresholds import SLACK
from quickchecks.errors import RecordingError, ScorerDefinitionError

__all__ = ("Tally", "entry_of")

#: Hostile recordings can hold any number of tool names and classes of errors, and with them kinds of failure.
MAX_GROUPS = 500
MAX_EXAMPLES = 5
MAX_GAPS = 50

_MODES: tuple[Mode, ...] = ("gate", "threshold", "watch", "shadow")
_KINDS: tuple[FailureKind, ...] = ("unreadable", "run_failed", "failed", "error", "no_evidence")


def entry_of(scorer: Scorer) -> CheckEntry:
    """The entry that a check is when nobody says more: a gate, or watched when it gives a number."""
    return CheckEntry(scorer, "watch" if scorer.graded else "gate")


class Tally:
    """Adds up scored runs.

    Args:
        entries: The checks.
        max_errors: How many records may be unreadable, runs broken off, and scores of a threshold broken.
        flips: Compares the scores with those of other checks.

    Raises:
        ScorerDefinitionError: Two different checks have the same identity.
    """

    def __init__(self, entries: Sequence[CheckEntry], *, max_errors: int = 0, flips: Flips | None = None) -> None:
        self._max_errors = max_errors
        self._flips = flips
        self._counts: dict[str, _Counts] = {}
        for entry in entries:
            counts = self._counts.setdefault(entry.scorer.identity, _Counts(entry))
            if repr(counts.scorer) != repr(entry.scorer):
                raise ScorerDefinitionError(
                    f"two different checks are called {entry.scorer.identity!r}, so that nobody could tell their scores apart: "
                    "give one of them another name"
                )
            counts.include(entry)
        self._entries = tuple(entries)
        order = list(self._counts)
        self._positions = [order.index(entry.scorer.identity) for entry in entries]
        self._names = NamesInRuns(self.scorers)
        self._groups: dict[tuple[str, str], _Group] = {}
        self._gaps: dict[str, GapCount] = {}
        self._formats: dict[str, int] = {}
        self._runs = self._unreadable = self._errored = self._failing = self._with_calls = 0

    @property
    def scorers(self) -> tuple[Scorer, ...]:
        """The scorers to score each run with; two entries of one scorer share it."""
        return tuple(counts.scorer for counts in self._counts.values())

    @property
    def read(self) -> int:
        """How many records were added."""
        return self._runs + self._unreadable

    def add(self, run: Run | None, scores: Sequence[Score] = (), error: RecordingError | None = None) -> list[Score]:
        """Add a run.

        Args:
            run: The run; None when its record could not be read.
            scores: What `scorers` say about it, in their order.
            error: Why the record could not be read.

        Returns:
            The scores that say that something is wrong: a check that is not just a shadow failed or broke.
        """
        if run is None:
            self._unreadable += 1
            if error is not None:
                self._add_unreadable(error)
            return []
        self._runs += 1
        self._formats[run.format] = self._formats.get(run.format, 0) + 1
        place = str(run.source) if run.source is not None else f"run {self._runs}"
        self._note_gaps(run, place)
        self._names.add(run)
        failed = run.error is not None
        if run.error is not None:
            self._errored += 1
            said = ": ".join(part for part in (run.error.type, run.error.message) if part) or "without a message"
            self._group("run_failed", _without_details(said)).add(place, said)
        wrong: list[Score] = []
        gate_failed = False
        for counts, score in zip(self._counts.values(), scores, strict=True):
            kind = counts.add(score, place, set_aside=failed)
            if kind is None or counts.mode == "shadow" or (kind == "no_evidence" and counts.mode == "watch"):
                continue
            reason = score.reason
            if score.outcome == "graded" and score.value is not None:
                reason = f"graded {score.value:.3g}, and a gate needs 1; {reason}"
            self._group(kind, score.failure_key or f"{counts.scorer.identity} | graded", counts).add(place, reason)
            if kind != "no_evidence":
                wrong.append(score)
                gate_failed = gate_failed or counts.mode == "gate"
        self._failing += gate_failed
        if self._flips is not None:
            self._flips.add(run, place, [scores[position] for position in self._positions])
        return wrong

    def _add_unreadable(self, error: RecordingError) -> None:
        at = f"at {error.path}: " if error.path else ""
        hint = f"; {error.hint}" if error.hint else ""
        place = f"record {self.read}" if error.file is None else str(Source(error.file, error.line, error.index))
        self._group("unreadable", _without_details(at + error.problem)).add(place, at + error.problem + hint)

    def _group(self, kind: FailureKind, key: str, counts: _Counts | None = None) -> _Group:
        group = self._groups.get((kind, key))
        if group is None:
            if len(self._groups) >= MAX_GROUPS:
                key = f"{counts.scorer.identity} | other kinds" if counts is not None else "other kinds"
            group = self._groups.setdefault((kind, key), _Group(kind, key, counts))
        return group

    def _note_gaps(self, run: Run, place: str) -> None:
        if not run.gap_kinds:
            self._with_calls += 1
            return
        self._with_calls += "calls" not in run.gap_kinds
        notes = {_without_name(gap): gap.note for gap in (*run.gaps, *(gap for nested in run.nested_runs for gap in nested.gaps))}
        for template, note in notes.items():
            known = self._gaps.get(template)
            if known is not None:
                self._gaps[template] = GapCount(note if note == known.note else template, known.runs + 1, known.first)
            elif len(self._gaps) < MAX_GAPS:
                self._gaps[template] = GapCount(note, 1, place)

    def result(self, *, seconds: float = 0.0, interrupted: bool = False) -> RunsResult:
        """What has been found so far.

        Args:
            seconds: How long it took.
            interrupted: Whether it was broken off, so that what was not scored decides nothing.
        """
        summaries = tuple(self._counts[entry.scorer.identity].summary(entry) for entry in self._entries)
        verdict, explanation = verdict_of(
            summaries,
            runs=self._runs,
            failing=self._failing,
            errored_runs=self._errored,
            unreadable=self._unreadable,
            max_errors=self._max_errors,
        )
        if interrupted and verdict != "failed":
            verdict, explanation = "undecided", f"only {many(self._runs, 'run')} scored"
        order = list(self._counts)

        def rank(group: FailureGroup) -> tuple[object, ...]:
            scorer = order.index(group.scorer) if group.scorer else -1
            return (not group.asserted, group.kind == "no_evidence", scorer, _KINDS.index(group.kind), -group.count)

        return RunsResult(
            runs=self._runs,
            unreadable=self._unreadable,
            errored_runs=self._errored,
            failing_runs=self._failing,
            formats=dict(sorted(self._formats.items(), key=lambda item: (-item[1], item[0]))),
            scorers=summaries,
            failures=tuple(sorted((group.result() for group in self._groups.values()), key=rank)),
            gaps=tuple(sorted(self._gaps.values(), key=lambda gap: -gap.runs)),
            warnings=self._names.warnings() if self._with_calls else (),
            verdict=verdict,
            explanation=explanation,
            comparison=None if self._flips is None else self._flips.result(),
            seconds=seconds,
            interrupted=interrupted,
        )


class _Counts:
    """What one scorer said, added up."""

    def __init__(self, entry: CheckEntry) -> None:
        self.scorer = entry.scorer
        self.mode: Mode = entry.mode
        self.passed = self.failed = self.graded = self.not_applicable = self.no_evidence = self.error = 0
        self.set_aside = 0
        self.below_one = 0
        self.total = 0.0
        self.reason = ""
        self.lowest: tuple[float, Example] | None = None
        self.highest: tuple[float, Example] | None = None
        self.has_threshold = False

    def include(self, entry: CheckEntry) -> None:
        """Take another entry of the same scorer; the mode that decides most holds."""
        if _MODES.index(entry.mode) < _MODES.index(self.mode):
            self.mode = entry.mode
        self.has_threshold = self.has_threshold or entry.threshold is not None

    def add(self, score: Score, place: str, *, set_aside: bool) -> FailureKind | None:
        """Count a score; returns what is wrong, if anything is.

        Args:
            score: The score.
            place: Where the run was read from.
            set_aside: The run broke off itself, so that nothing passes on it.
        """
        outcome = score.outcome
        if set_aside and outcome in ("passed", "graded"):
            self.set_aside += 1
            return None
        if outcome == "passed":
            self.passed += 1
            self.total += 1.0
            return None
        if outcome == "not_applicable":
            self.not_applicable += 1
            return None
        if outcome == "failed":
            self.failed += 1
            return "failed"
        if outcome == "error":
            self.error += 1
            return "error"
        if outcome == "no_evidence":
            self.no_evidence += 1
            self.reason = self.reason or score.reason
            return "no_evidence"
        value = score.value or 0.0
        self.graded += 1
        self.total += value
        if self.has_threshold:
            if self.lowest is None or value < self.lowest[0]:
                self.lowest = (value, Example(place, score.reason))
            if self.highest is None or value > self.highest[0]:
                self.highest = (value, Example(place, score.reason))
        if self.mode != "gate" or value >= 1.0 - SLACK:
            return None
        self.below_one += 1
        return "failed"

    def summary(self, entry: CheckEntry) -> ScorerSummary:
        judged = self.passed + self.failed + self.graded
        mean = self.total / judged if judged else None
        verdict: Verdict | None = None
        furthest = None
        if entry.mode == "gate" and (self.failed or self.error or self.below_one):
            verdict = "failed"
        elif entry.mode in ("gate", "threshold"):
            verdict = "undecided" if self.no_evidence or mean is None else "passed"
        if entry.threshold is not None and mean is not None and not entry.threshold.met(mean):
            verdict = "scored" if verdict == "passed" else verdict
            too_low = entry.threshold.min is not None and mean < entry.threshold.min
            found = self.lowest if too_low else self.highest
            furthest = found[1] if found is not None else None
        return ScorerSummary(
            entry.scorer.identity,
            entry.mode,
            entry.threshold,
            self.passed,
            self.failed,
            self.graded,
            self.not_applicable,
            self.no_evidence,
            self.error,
            self.set_aside,
            mean,
            self.scorer.why,
            self.reason,
            furthest,
            verdict,
        )


class _Group:
    """The failures of one kind, added up."""

    def __init__(self, kind: FailureKind, key: str, counts: _Counts | None) -> None:
        self.kind: FailureKind = kind
        self.key = key
        self.counts = counts
        self.count = 0
        self.examples: list[Example] = []

    def add(self, place: str, reason: str) -> None:
        self.count += 1
        if len(self.examples) < MAX_EXAMPLES:
            self.examples.append(Example(place, reason))

    def result(self) -> FailureGroup:
        counts = self.counts
        if counts is None:
            return FailureGroup(self.kind, self.count, tuple(self.examples), key=self.key)
        scorer = counts.scorer
        return FailureGroup(self.kind, self.count, tuple(self.examples), scorer.identity, counts.mode, scorer.why, self.key)


def _without_details(said: str) -> str:
    """What a message says without what differs from record to record: quoted texts and numbers."""
    return re.sub(r"\d+", "#", re.sub(r"'[^']*'|\"[^\"]*\"", "…", said))[:200]


def _without_name(gap: Gap) -> str:
    """The note of a gap, which may name a tool or an agent, as it is for all of them."""
    anyone = "an agent" if gap.kind in ("nested", "nested_possible") else "a tool"
    return gap.note.replace(gap.name, anyone) if gap.name else gap.note
