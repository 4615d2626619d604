"""JSON Lines: a line for each run, with every score, its reason and its evidence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import BinaryIO

from quickchecks import _wire
from quickchecks._results.result import RunsResult
from quickchecks._run import Run
from quickchecks._score import Score
from quickchecks._scorer.checks_file import CheckEntry
from quickchecks.errors import RecordingError
from quickchecks.reports._record import ScoredRunRecord

__all__ = ("start",)


def start(stream: BinaryIO, entries: Sequence[CheckEntry]) -> _Lines:
    """Start a report. See `quickchecks.reports`."""
    return _Lines(stream)


class _Lines:
    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def add(self, run: Run | None, scores: Sequence[Score], error: RecordingError | None) -> None:
        self._stream.write(_wire.dumps(ScoredRunRecord.of(run, scores, error)) + b"\n")

    def finish(self, result: RunsResult) -> None:
        """The last line ends the file; the counts stand in the other forms."""
