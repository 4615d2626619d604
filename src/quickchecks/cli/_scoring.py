"""Scoring recordings for a command: the loop over the runs, and everything that has to end well when it is broken off."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from itertools import chain

from quickchecks._evals import ScoredRun, score_runs
from quickchecks._results.flips import Flips
from quickchecks._results.result import RunsResult
from quickchecks._results.tally import Tally
from quickchecks._scorer.checks_file import CheckEntry
from quickchecks.cli._app import Problem
from quickchecks.cli._files import Outputs
from quickchecks.cli._options import Reading
from quickchecks.cli._output import Progress
from quickchecks.errors import QuickchecksError

__all__ = ("score_all",)


def score_all(
    paths: Sequence[str],
    entries: Sequence[CheckEntry],
    *,
    reading: Reading,
    reports: Sequence[str] = (),
    failures: str | None = None,
    flips: Flips | None = None,
    max_errors: int = 0,
) -> tuple[RunsResult, int]:
    """Score every run of several sources, and write the reports while they stream by.

    Ctrl-C ends the scoring; what was scored until then is the result, marked as interrupted, and the files are written.

    Args:
        paths: Files, folders, or "-".
        entries: The checks.
        reading: How the recordings are read.
        reports: The reports to write.
        failures: The file for the runs that failed.
        flips: Compares with other checks.
        max_errors: How many errors are allowed.

    Returns:
        The result, and how many runs were written to `failures`.

    Raises:
        Problem: An option makes no sense, or a file cannot be written.
        QuickchecksError: There is no such recording, format or report.
    """
    tally = Tally(entries, max_errors=max_errors, flips=flips)
    try:
        sources = [score_runs(path, tally.scorers, **reading) for path in paths]
    except ValueError as error:
        if not isinstance(error, QuickchecksError):
            raise Problem(str(error)) from error
        raise
    outputs = Outputs(reports, failures, entries, paths)
    started = time.perf_counter()
    try:
        interrupted = _run(chain.from_iterable(sources), tally, outputs)
        result = tally.result(seconds=round(time.perf_counter() - started, 3), interrupted=interrupted)
        outputs.finish(result)
    except OSError as error:
        outputs.drop()
        raise Problem(f"a file could not be written: {error.strerror or error}") from error
    except BaseException:
        outputs.drop()
        raise
    return result, outputs.failing


def _run(scored_runs: Iterator[ScoredRun], tally: Tally, outputs: Outputs) -> bool:
    """Add every run; returns whether that was interrupted."""
    progress = Progress()
    try:
        for scored in scored_runs:
            wrong = tally.add(scored.run, scored.scores, scored.error)
            outputs.add(scored.run, scored.scores, scored.error, wrong=wrong)
            progress.update(tally.read)
    except KeyboardInterrupt:
        return True
    finally:
        progress.clear()
    return False
