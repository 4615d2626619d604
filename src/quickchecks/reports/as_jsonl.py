"""JSON Lines: a line for each run or item, with every score, its reason and its evidence; or for each change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import BinaryIO

from quickchecks import _wire
from quickchecks._results.changes import EvalComparison
from quickchecks._results.evaluation import EvalResult
from quickchecks._results.result import RunsResult
from quickchecks._run import Run
from quickchecks._score import Score
from quickchecks._scorer.checks_file import CheckEntry
from quickchecks.errors import RecordingError
from quickchecks.reports._record import ChangeLine, ItemLine, ScoredRunRecord

__all__ = ("comparison", "evaluation", "start")


def start(stream: BinaryIO, entries: Sequence[CheckEntry]) -> _Lines:
    """Start a report. See `quickchecks.reports`."""
    return _Lines(stream)


def evaluation(result: EvalResult) -> bytes:
    """Write a line for each item and repetition. See `quickchecks.reports`."""
    return b"".join(_wire.dumps(ItemLine.of(item)) + b"\n" for item in result.items)


def comparison(comparison: EvalComparison) -> bytes:
    """Write a line for each change. See `quickchecks.reports`."""
    return b"".join(_wire.dumps(one) + b"\n" for one in ChangeLine.all_of(comparison))


class _Lines:
    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def add(self, run: Run | None, scores: Sequence[Score], error: RecordingError | None) -> None:
        self._stream.write(_wire.dumps(ScoredRunRecord.of(run, scores, error)) + b"\n")

    def finish(self, result: RunsResult) -> None:
        """The last line ends the file; the counts stand in the other forms."""
