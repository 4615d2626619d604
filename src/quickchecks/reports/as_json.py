"""JSON: one object.

Of scored runs it has every run, and after them the result, whose counts are known only then. Of an evaluation it is the saved
result, which `quickchecks compare` reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO

from quickchecks import _wire
from quickchecks._results.changes import EvalComparison
from quickchecks._results.evaluation import EvalResult
from quickchecks._results.result import RunsResult
from quickchecks._run import Run
from quickchecks._score import Score
from quickchecks._scorer.checks_file import CheckEntry
from quickchecks.errors import RecordingError
from quickchecks.reports._record import RunsReport, ScoredRunRecord

__all__ = ("comparison", "evaluation", "start")


def start(stream: BinaryIO, entries: Sequence[CheckEntry]) -> _Object:
    """Start a report. See `quickchecks.reports`."""
    return _Object(stream)


def evaluation(result: EvalResult) -> bytes:
    """Write the result of an evaluation. See `quickchecks.reports`."""
    with TemporaryDirectory() as folder:
        file = Path(folder, "result.json")
        result.save(file)
        return file.read_bytes()


def comparison(comparison: EvalComparison) -> bytes:
    """Write a comparison. See `quickchecks.reports`."""
    return _wire.dumps(comparison) + b"\n"


class _Object:
    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._separator = b"\n"
        schema = _wire.dumps(RunsReport.__struct_config__.tag)
        stream.write(b'{"schema": ' + schema + b',\n"runs": [')

    def add(self, run: Run | None, scores: Sequence[Score], error: RecordingError | None) -> None:
        self._stream.write(self._separator + _wire.dumps(ScoredRunRecord.of(run, scores, error)))
        self._separator = b",\n"

    def finish(self, result: RunsResult) -> None:
        self._stream.write(b'\n],\n"result": ' + _wire.dumps(result) + b"}\n")
