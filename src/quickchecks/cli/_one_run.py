"""One run of a recording, by the place that reports name: `runs.jsonl:812`, `runs.json[3]`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from quickchecks._run import Run, Source
from quickchecks.cli._app import Problem
from quickchecks.errors import RecordingError

__all__ = ("Place", "place_of", "run_at")

#: A line, and a place in an array.
Place = tuple[int | None, int | None]

#: So many places are named that are near one where there is no run.
_NEAR = 3


def place_of(given: str) -> tuple[str, Place | None]:
    """Take `runs.jsonl:812` and `runs.json[3]` apart into the file and the line or place in it."""
    if os.path.exists(given):
        return given, None
    found = re.fullmatch(r"(.+?)(?::(\d+)|\[(\d+)\]|:(\d+)\[(\d+)\])", given)
    if found is None or not (os.path.exists(found[1]) or found[1] == "-"):
        return given, None
    line, index = found[2] or found[4], found[3] or found[5]
    return found[1], (int(line) if line else None, int(index) if index else None)


def run_at(records: Iterator[Run | RecordingError], wanted: Place, number: int | None, given: str) -> Run:
    """The run at a place; of several in one line, the one with the number.

    Raises:
        Problem: There is none.
        RecordingError: It cannot be read.
    """
    line, index = wanted
    passed = 0
    before: list[Source] = []
    after: list[Source] = []
    for record in records:
        source = record.source if isinstance(record, Run) else Source(record.file or "", record.line, record.index)
        if not _is_at(source, line, index):
            if passed:
                break
            if source is not None:
                _remember(source, wanted, before, after)
            continue
        passed += 1
        if number is None or passed == number:
            if isinstance(record, Run):
                return record
            raise record
    if number and passed:
        raise Problem(f"there is no run at {given} with the number {number}")
    near = [str(source) for source in (*before, *after)]
    hint = f"\n  the nearest runs are {', '.join(near)}" if len(near) > 1 else f"\n  the nearest run is {near[0]}" if near else ""
    raise Problem(f"there is no run at {given}{hint}")


def _is_at(source: Source | None, line: int | None, index: int | None) -> bool:
    if source is None:
        return False
    return (line is None or source.line == line) and (index is None or source.index == index)


def _remember(source: Source, wanted: Place, before: list[Source], after: list[Source]) -> None:
    """Keep a place when it is one of the nearest."""
    line, index = wanted
    here = (source.line or 0, source.index or 0)
    if here < (line if line is not None else here[0], index if index is not None else here[1]):
        before.append(source)
        del before[:-1]
    elif len(after) < _NEAR - 1:
        after.append(source)
