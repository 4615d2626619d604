"""Runs out of anything: `load_run`, `load_runs`, and the reader below them that never stops at a bad record."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

from msgspec.structs import replace

from quickchecks._run import Run, Source
from quickchecks.adapters._files import found_files, stored_values, stream_values
from quickchecks.adapters._notices import notice
from quickchecks.adapters._objects import field
from quickchecks.adapters._recipe import Adapter, PartOfRun, Recipe
from quickchecks.adapters._registry import recognise
from quickchecks.adapters._shapes import described
from quickchecks.adapters.values import load as load_answer
from quickchecks.errors import RecordingError

__all__ = ("as_run", "load_run", "load_runs", "read")

#: Stands for the file where values came from memory.
_IN_MEMORY = "<values>"


def load_run(
    value: Any,
    *,
    format: str | None = None,
    adapter: Adapter | str | None = None,
    map: Mapping[str, str] | str | None = None,
    part: PartOfRun | None = None,
) -> Run:
    """Read one run out of a value in memory, or out of a file that holds one run.

    Args:
        value: A text, a list of messages, a framework's result, a dict, a `Run`; or a `pathlib.Path`. (A path as text is
            text: give it to `load_runs`.)
        format: The name of a format, to read the value as that whatever its shape; None recognises it.
        adapter: A function of your own that gets the value and returns a run, or something that a format reads; or where
            it is, as "my.module:parse".
        map: Where in an envelope the parts of a run stand, such as {"messages": "payload.response.messages"}.
        part: "last_turn" keeps what follows the last user message as the run; the rest becomes history.

    Returns:
        The run.

    Raises:
        RecordingError: The value is malformed, of no known shape, or holds several runs.
        UnknownNameError: There is no such format.

    Example:
        >>> from quickchecks import load_run
        >>> run = load_run([{"role": "user", "content": "Weather?"}, {"role": "assistant", "content": "Sunny."}])
        >>> run.text
        'Sunny.'
    """
    recipe = Recipe(format, adapter, map, part)
    if isinstance(value, os.PathLike):
        found = _from_files(found_files(os.fspath(value)), recipe)
    else:
        found = (read for _, read in recipe.runs(value, stored=False))
    first = next(found, None)
    if first is None:
        raise RecordingError(f"expected one run, got none: {described(value)}")
    if isinstance(first, RecordingError):
        raise first
    if next(found, None) is not None:
        problem = f"expected one run, got several: {described(value)}"
        raise RecordingError(problem, hint="load_runs gives them one by one")
    return first


def load_runs(
    source: str | os.PathLike[str] | Iterable[Any],
    *,
    format: str | None = None,
    adapter: Adapter | str | None = None,
    map: Mapping[str, str] | str | None = None,
    part: PartOfRun | None = None,
    on_error: Literal["raise", "skip"] = "raise",
) -> Iterator[Run]:
    """Read runs one by one out of a file, a folder, standard input, or values in memory.

    Files are JSON (one run, or an array of runs) or JSON Lines (one run a line), also compressed with gzip. Of JSON Lines
    only one line at a time is in memory.

    Args:
        source: A path; "-" for standard input; an open file; or an iterable of values such as `load_run` takes.
        format: The name of a format, to read everything as that whatever its shape; None recognises each record.
        adapter: A function of your own that gets a record and returns a run, several, or something that a format reads; or
            where it is, as "my.module:parse".
        map: Where in an envelope the parts of a run stand: {"messages": "payload.messages"}, or the same as text,
            "messages=payload.messages,input=payload.question".
        part: "last_turn" keeps what follows the last user message as the run; the rest becomes history.
        on_error: "raise" ends with the first record that cannot be read; "skip" goes on, and logs it.

    Returns:
        An iterator over the runs.

    Raises:
        RecordingError: There is no such file; or, while iterating, a record cannot be read.
        UnknownNameError: There is no such format.
        ValueError: `on_error` or `map` cannot be read.

    Example:
        >>> from quickchecks import load_runs
        >>> [run.text for run in load_runs(["It is sunny.", {"answer": "It rains."}])]
        ['It is sunny.', 'It rains.']
    """
    if on_error not in ("raise", "skip"):
        raise ValueError(f"on_error takes 'raise' or 'skip', not {on_error!r}")
    found = read(source, format=format, adapter=adapter, map=map, part=part)
    return _checked(found, skip=on_error == "skip")


def _checked(found: Iterator[Run | RecordingError], *, skip: bool) -> Iterator[Run]:
    for run in found:
        if isinstance(run, Run):
            yield run
        elif skip:
            notice(f"skipped: {run}")
        else:
            raise run


def read(
    source: str | os.PathLike[str] | Iterable[Any],
    *,
    format: str | None = None,
    adapter: Adapter | str | None = None,
    map: Mapping[str, str] | str | None = None,
    part: PartOfRun | None = None,
) -> Iterator[Run | RecordingError]:
    """Read runs as `load_runs` does, with the error of each record that cannot be read in its place.

    Args:
        source: As for `load_runs`.
        format: As for `load_runs`.
        adapter: As for `load_runs`.
        map: As for `load_runs`.
        part: As for `load_runs`.

    Returns:
        An iterator over runs and errors. It never raises for a record.

    Raises:
        RecordingError: There is no such file, or no recording in the folder.
        UnknownNameError: There is no such format.
    """
    recipe = Recipe(format, adapter, map, part)
    if isinstance(source, (str, os.PathLike)):
        return _from_files(found_files(os.fspath(source)), recipe)
    if callable(field(source, "readline")):
        name = field(source, "name")
        return _placed(stream_values(source, name if isinstance(name, str) else "<stream>"), recipe)
    return _from_memory(_several(source, format), recipe)


def as_run(value: Any) -> Run:
    """Turn what a check is asked about into a run: `load_run` without options, and a `Run` is itself.

    Args:
        value: The value.

    Returns:
        The run.

    Raises:
        RecordingError: The value is malformed, of no known shape, or holds several runs.
    """
    if isinstance(value, Run):
        return value
    if type(value) is str:  # by far the most common answer; there is nothing to recognise
        return replace(load_answer(value), format="values")
    return load_run(value)


def _several(source: Any, format: str | None) -> Iterable[Any]:
    """The values of an iterable. A list of messages, a mapping or a run is one value, although it can be iterated."""
    if not isinstance(source, Iterable) or isinstance(source, (Run, Mapping, bytes)):
        return (source,)
    if isinstance(source, (list, tuple)) and source and format is None:
        known = recognise(source)
        return (source,) if known is not None and known.name != "values" else source
    return source


def _from_files(files: list[str], recipe: Recipe) -> Iterator[Run | RecordingError]:
    for file in files:
        yield from _placed(stored_values(file), recipe)


def _placed(values: Iterator[tuple[Source, Any]], recipe: Recipe) -> Iterator[Run | RecordingError]:
    for source, value in values:
        if isinstance(value, RecordingError):
            yield value.located(file=source.file, line=source.line)
            continue
        for index, run in recipe.runs(value, stored=True):
            if isinstance(run, RecordingError):
                yield run.located(file=source.file, line=source.line, index=index)
            else:
                yield replace(run, source=source if index is None else Source(source.file, source.line, index))


def _from_memory(values: Iterable[Any], recipe: Recipe) -> Iterator[Run | RecordingError]:
    for index, value in enumerate(values):
        for _, run in recipe.runs(value, stored=False):
            if isinstance(run, RecordingError):
                yield run.located(file=_IN_MEMORY, index=index)
            elif run is value or run.source is not None:
                yield run
            else:
                yield replace(run, source=Source(_IN_MEMORY, None, index))
