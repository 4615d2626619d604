"""Scoring recordings for a command: the loop over the runs, and everything that has to end well when it is broken off."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from itertools import chain

from quickchecks._evals import ScoredRun, score_runs
from quickchecks._results.flips import Flips
from quickchecks._results.result import RunsResult, many
from quickchecks._results.tally import Tally
from quickchecks._scorer.checks_file import CheckEntry
from quickchecks.adapters._files import STANDARD_INPUT, found_files
from quickchecks.adapters._notices import notice
from quickchecks.cli._files import Outputs
from quickchecks.cli._interrupts import Interrupts
from quickchecks.cli._options import Reading, users_code
from quickchecks.cli._output import Progress
from quickchecks.errors import RecordingError

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
) -> tuple[RunsResult, Outputs]:
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
        The result, and the files; those that could not be written are still to be told of.

    Raises:
        Problem: An option makes no sense, or a file cannot be written.
        QuickchecksError: There is no such recording, format or report.
    """
    tally = Tally(entries, max_errors=max_errors, flips=flips)
    with Interrupts() as interrupts:
        with users_code(reading["adapter"], interrupts):
            score_runs((), tally.scorers, **reading)  # says now what is wrong with an option
        files = _each_once(paths)
        outputs = Outputs(reports, failures, entries, paths)
        started = time.perf_counter()
        try:
            scored_runs = chain.from_iterable(_scored(file, tally, reading) for file in files)
            interrupted = _run(scored_runs, tally, outputs, interrupts)
            result = tally.result(seconds=round(time.perf_counter() - started, 3), interrupted=interrupted)
            with interrupts.whole():
                outputs.finish(result)
        except BaseException:
            outputs.drop()
            raise
    return result, outputs


def _each_once(paths: Sequence[str]) -> list[str]:
    """The files that the paths stand for. A file that is there twice, also under another name or a link, counts once."""
    found: dict[str, str] = {}
    again: list[str] = []
    for path in paths:
        for file in found_files(path):
            place = file if file == STANDARD_INPUT else os.path.realpath(file)
            if place in found:
                again.append(file)
            else:
                found[place] = file
    if again:
        first = found[again[0] if again[0] == STANDARD_INPUT else os.path.realpath(again[0])]
        same = f" (the same as {first})" if first != again[0] else ""
        more = f", and {many(len(again) - 1, 'other file')}" if len(again) > 1 else ""
        notice(f"given twice and counted once: {again[0]}{same}{more}")
    return list(found.values())


def _scored(file: str, tally: Tally, reading: Reading) -> Iterator[ScoredRun]:
    try:
        scored_runs = score_runs(file, tally.scorers, **reading)
    except RecordingError as error:  # it was found, and cannot be opened: a link that leads nowhere, or it has gone
        yield ScoredRun(None, (), error)
        return
    yield from scored_runs


def _run(scored_runs: Iterator[ScoredRun], tally: Tally, outputs: Outputs, interrupts: Interrupts) -> bool:
    """Add every run; returns whether that was interrupted. A run is counted and written, or neither."""
    progress = Progress()
    try:
        for scored in scored_runs:
            with interrupts.whole():
                wrong = tally.add(scored.run, scored.scores, scored.error)
                outputs.add(scored.run, scored.scores, scored.error, wrong=wrong)
            progress.update(tally.read)
    except KeyboardInterrupt:
        if interrupts.broken:
            raise
        return True
    finally:
        progress.clear()
    return False
