"""What is written about one run: the same in every form that lists runs."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from quickchecks._results.result import RunsResult
from quickchecks._run import Gap, Run, RunError, Source
from quickchecks._score import Score, ScoreRecord
from quickchecks.errors import RecordingError

__all__ = ("RunsReport", "ScoredRunRecord")


class ScoredRunRecord(Struct, frozen=True, omit_defaults=True, tag_field="schema", tag="quickchecks.scored_run/1"):
    """One run with what every scorer says about it.

    Args:
        source: Where it was read from.
        id: The id of the run in its source.
        format: The adapter that read it.
        error: That the run itself broke off.
        gaps: What its source could not show.
        scores: What the scorers say.
        unreadable: Why the record could not be read.
    """

    source: Source | None = None
    id: str | None = None
    format: str = ""
    error: RunError | None = None
    gaps: tuple[Gap, ...] = ()
    scores: tuple[ScoreRecord, ...] = ()
    unreadable: str = ""

    @classmethod
    def of(cls, run: Run | None, scores: Sequence[Score], error: RecordingError | None) -> ScoredRunRecord:
        """Make the record of a run, or of a record that could not be read."""
        if run is not None:
            return cls(run.source, run.id, run.format, run.error, run.gaps, tuple(score.record() for score in scores))
        if error is None:
            return cls(unreadable="the record could not be read")
        source = None if error.file is None else Source(error.file, error.line, error.index)
        at = f"at {error.path}: " if error.path else ""
        return cls(source, unreadable=at + error.problem)


class RunsReport(Struct, frozen=True, tag_field="schema", tag="quickchecks.report/1"):
    """Every run with what every scorer says about it, and what came of it all.

    Args:
        runs: The runs, in the order in which they were read.
        result: What came of them.
    """

    runs: tuple[ScoredRunRecord, ...]
    result: RunsResult
