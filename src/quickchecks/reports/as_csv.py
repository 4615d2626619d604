"""CSV: a row for each run and scorer, safe to open in a spreadsheet."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from io import TextIOWrapper
from typing import BinaryIO

from quickchecks._results.result import RunsResult
from quickchecks._run import Run, Source
from quickchecks._score import Score
from quickchecks._scorer.checks_file import CheckEntry
from quickchecks.errors import RecordingError
from quickchecks.reports._safe import csv_cell

__all__ = ("start",)

_COLUMNS = ("file", "line", "index", "run", "format", "scorer", "mode", "outcome", "value", "reason", "failure_key", "why")


def start(stream: BinaryIO, entries: Sequence[CheckEntry]) -> _Rows:
    """Start a report. See `quickchecks.reports`."""
    return _Rows(stream, entries)


class _Rows:
    def __init__(self, stream: BinaryIO, entries: Sequence[CheckEntry]) -> None:
        self._text = TextIOWrapper(stream, encoding="utf-8", errors="backslashreplace", newline="", write_through=True)
        self._rows = csv.writer(self._text, lineterminator="\r\n")
        self._rows.writerow(_COLUMNS)
        self._modes = {entry.scorer.identity: entry.mode for entry in reversed(entries)}

    def add(self, run: Run | None, scores: Sequence[Score], error: RecordingError | None) -> None:
        if run is None:
            source = None if error is None or error.file is None else Source(error.file, error.line, error.index)
            problem = "" if error is None else ": ".join(part for part in (error.path, error.problem) if part)
            self._row(source, "", "", "", "", "unreadable", None, problem, "", "")
            return
        about = (run.source, run.id or "", run.format)
        if run.error is not None:
            self._row(*about, "", "", "run_failed", None, run.error.message, run.error.type, "")
        for score in scores:
            who = score.scorer
            mode = self._modes.get(who.identity, "")
            self._row(*about, who.identity, mode, score.outcome, score.value, score.reason, score.failure_key, who.why)

    def finish(self, result: RunsResult) -> None:
        self._text.flush()
        self._text.detach()  # the file is closed by whoever opened it

    def _row(
        self,
        source: Source | None,
        run: str,
        format: str,
        scorer: str,
        mode: str,
        outcome: str,
        value: float | None,
        reason: str,
        failure_key: str,
        why: str,
    ) -> None:
        place = (csv_cell(source.file), source.line, source.index) if source is not None else ("", None, None)
        texts = (run, format, scorer, mode, outcome)
        self._rows.writerow((*place, *map(csv_cell, texts), value, csv_cell(reason), csv_cell(failure_key), csv_cell(why)))
