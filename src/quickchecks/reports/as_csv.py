"""CSV: a row for each run or item and scorer, or for each change, safe to open in a spreadsheet."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from io import StringIO, TextIOWrapper
from typing import BinaryIO

from quickchecks._results.changes import EvalComparison
from quickchecks._results.evaluation import EvalResult
from quickchecks._results.result import RunsResult
from quickchecks._run import Run, Source
from quickchecks._score import Score
from quickchecks._scorer.checks_file import CheckEntry
from quickchecks.errors import RecordingError
from quickchecks.reports._record import ChangeLine
from quickchecks.reports._safe import MAX_SHOWN, csv_cell, shortened

__all__ = ("comparison", "evaluation", "start")

_RUN_COLUMNS = ("file", "line", "index", "run", "format", "scorer", "mode", "outcome", "value", "reason", "failure_key", "why")
_ITEM_COLUMNS = ("item", "repetition", "turn", "scorer", "role", "outcome", "value", "reason", "failure_key", "why", "seconds")
_CHANGE_COLUMNS = ("direction", "item", "scorer", "before", "after", "reason", "divergence")

#: What stands in a row.
_Cell = str | int | float | None


def start(stream: BinaryIO, entries: Sequence[CheckEntry]) -> _Rows:
    """Start a report. See `quickchecks.reports`."""
    return _Rows(stream, entries)


def evaluation(result: EvalResult) -> bytes:
    """Write a row for each item, repetition and scorer. See `quickchecks.reports`."""
    return _table(_ITEM_COLUMNS, _item_rows(result))


def comparison(comparison: EvalComparison) -> bytes:
    """Write a row for each item and scorer that says something else. See `quickchecks.reports`."""
    return _table(_CHANGE_COLUMNS, _change_rows(comparison))


def _table(columns: Sequence[str], rows: Iterator[Sequence[_Cell]]) -> bytes:
    text = StringIO(newline="")
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue().encode("utf-8", "backslashreplace")


def _item_rows(result: EvalResult) -> Iterator[Sequence[_Cell]]:
    for item in result.items:
        about = (csv_cell(item.id), item.repetition)
        seconds = round(item.seconds, 6)
        if item.error is not None:
            kind = csv_cell(item.error.kind)
            yield *about, item.error.turn, "", "", kind, None, csv_cell(item.error.message), "", "", seconds
        for one, score in zip(item.plan, item.scores, strict=False):
            texts = map(csv_cell, (score.reason, score.failure_key, one.scorer.why))
            role = one.mode or one.role
            yield *about, one.turn, csv_cell(one.identity), role, score.outcome, score.value, *texts, seconds


def _change_rows(comparison: EvalComparison) -> Iterator[Sequence[_Cell]]:
    for found in ChangeLine.all_of(comparison):
        one = found.change
        cells = (one.item, one.scorer, one.before, one.after, one.reason, one.divergence)
        yield found.direction, *map(csv_cell, cells)


class _Rows:
    def __init__(self, stream: BinaryIO, entries: Sequence[CheckEntry]) -> None:
        self._text = TextIOWrapper(stream, encoding="utf-8", errors="backslashreplace", newline="", write_through=True)
        self._rows = csv.writer(self._text, lineterminator="\r\n")
        self._rows.writerow(_RUN_COLUMNS)
        self._modes = {entry.scorer.identity: entry.mode for entry in reversed(entries)}

    def add(self, run: Run | None, scores: Sequence[Score], error: RecordingError | None) -> None:
        if run is None:
            source = None if error is None or error.file is None else Source(error.file, error.line, error.index)
            problem = (
                "" if error is None else ": ".join(part for part in (shortened(error.path, MAX_SHOWN), error.problem) if part)
            )
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
