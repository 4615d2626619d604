"""Values out of files: JSON, JSON Lines, the same compressed with gzip, folders of them, and standard input.

JSON Lines are read line by line, so that memory does not grow with the file. A file whose name ends otherwise, or standard
input, is JSON Lines when its first line alone is a JSON value and more follows.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any

from quickchecks import _wire
from quickchecks._run import Source
from quickchecks.adapters._notices import notice
from quickchecks.errors import RecordingError, nearest_names

__all__ = ("STANDARD_INPUT", "found_files", "stored_values")

#: How the user names standard input.
STANDARD_INPUT = "-"

#: What reads the JSON of a value, as `_wire.loads` does.
Loads = Callable[[Any], Any]

_LINES = (".jsonl", ".ndjson")
_SUFFIXES = (".json", *_LINES)
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_WIDE_MARKS = (b"\xff\xfe", b"\xfe\xff")


def found_files(place: str) -> list[str]:
    """Find the files that a path stands for: the file itself, or the recordings in a folder and the folders in it.

    Hidden files are left out, and so are those whose names are not those of recordings; the latter are told of.

    Args:
        place: The path, or "-".

    Returns:
        The files, sorted.

    Raises:
        RecordingError: There is no such file, or no recording in the folder.
    """
    if place == STANDARD_INPUT:
        return [place]
    if not os.path.exists(place):
        if os.path.islink(place):
            problem = f"it is a link, and what it leads to is not there: {os.readlink(place)[:200]}"
            raise RecordingError(problem, file=place[:200])
        raise RecordingError("there is no such file or folder", file=place[:200], hint=_near(place))
    if not os.path.isdir(place):
        return [place]
    found: list[str] = []
    left_out: list[str] = []
    for folder, folders, files in os.walk(place, onerror=_raise):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        left_out += [os.path.join(folder, name) for name in folders if os.path.islink(os.path.join(folder, name))]
        for name in files:
            if not name.startswith("."):
                path = os.path.join(folder, name)
                (found if _plain_name(name).endswith(_SUFFIXES) else left_out).append(path)
    if not found:
        there = f"it holds {', '.join(sorted(os.path.basename(path) for path in left_out)[:5])}" if left_out else "it is empty"
        hint = "recordings end in .json, .jsonl or .ndjson, or in one of these and .gz"
        raise RecordingError(f"no recording in this folder: {there}", file=place, hint=hint)
    if left_out:
        names = ", ".join(sorted({os.path.basename(path) for path in left_out})[:5])
        notice(f"{place}: {len(left_out)} not read, because their names are not those of recordings: {names}")
    return sorted(found)


def _raise(error: OSError) -> None:
    raise RecordingError(f"the folder cannot be read: {error.strerror}", file=str(error.filename)) from error


def _near(place: str) -> str:
    folder, name = os.path.split(place)
    try:
        return nearest_names(name, os.listdir(folder or "."))
    except (OSError, ValueError):
        return f"the folder {folder[:200]} does not exist either"


def _plain_name(name: str) -> str:
    return name.lower().removesuffix(".gz")


def stored_values(file: str, *, loads: Loads = _wire.loads) -> Iterator[tuple[Source, Any]]:
    """Read the values that a file holds.

    Args:
        file: The path, or "-".
        loads: Reads the JSON of a value.

    Yields:
        Each value with its place. What cannot be read is a RecordingError in its stead; a broken line is one, and the
        lines after it are read all the same.
    """
    try:
        if file == STANDARD_INPUT:
            yield from stream_values(_standard_input(), file, loads=loads)
        else:
            with open(file, "rb") as stream:
                yield from stream_values(stream, file, loads=loads)
    except OSError as error:
        yield Source(file), RecordingError(f"the file cannot be read: {error.strerror or error}")


def _standard_input() -> Iterable[bytes | str]:
    import sys

    return getattr(sys.stdin, "buffer", None) or sys.stdin


def stream_values(stream: Any, name: str, *, loads: Loads = _wire.loads) -> Iterator[tuple[Source, Any]]:
    """Read the values out of an open stream of bytes or text, as `stored_values` does out of a file."""
    lines = _numbered(_unpacked(stream))
    try:
        number, first = next(((number, line) for number, line in lines if not line.isspace()), (0, None))
        if first is None:
            yield Source(name), RecordingError("the file is empty")
        elif isinstance(first, bytes) and first.startswith(_WIDE_MARKS):
            yield Source(name), RecordingError("the text is in UTF-16", hint="save it as UTF-8")
        elif _plain_name(name).endswith(_LINES):
            yield from _line_values(chain([(number, first)], lines), name, loads)
        else:
            yield from _sniffed(number, first, lines, name, loads)
    except RecordingError as error:  # reading on is not possible; what stood before has been given
        yield Source(name, error.line), error


_Lines = Iterator[tuple[int, Any]]


def _numbered(lines: Iterable[Any]) -> _Lines:
    import zlib

    number = 0
    try:
        for number, line in enumerate(lines, 1):
            if number == 1:
                line = line.removeprefix(_BYTE_ORDER_MARK) if isinstance(line, bytes) else line.removeprefix("\ufeff")
            yield number, line
    except (OSError, EOFError, UnicodeError, zlib.error) as error:
        raise RecordingError(f"the file breaks off or is damaged here: {error}", line=number + 1) from error


def _sniffed(number: int, first: Any, lines: _Lines, name: str, loads: Loads) -> Iterator[tuple[Source, Any]]:
    """A stream whose name does not say whether it holds one value or one a line."""
    try:
        value = loads(first)
    except _wire.JsonError:
        yield from _one_value(number, first, lines, name, loads)
        return
    for second_number, second in lines:
        if not second.isspace():
            yield Source(name, number), value
            yield from _line_values(chain([(second_number, second)], lines), name, loads)
            return
    yield Source(name), value


def _one_value(number: int, first: Any, lines: _Lines, name: str, loads: Loads) -> Iterator[tuple[Source, Any]]:
    rest = list(lines)
    try:
        value = loads(type(first)().join([first, *(line for _, line in rest)]))
    except _wire.JsonError as error:
        if any(_is_value(line) for _, line in rest[:3]):  # one a line after all, and the first line is broken
            yield from _line_values(chain([(number, first)], rest), name, loads)
        else:
            line = None if error.line is None else number + error.line - 1
            yield Source(name), RecordingError(str(error), line=line)
    else:
        yield Source(name), value


def _is_value(line: Any) -> bool:
    try:
        return isinstance(_wire.loads(line), (dict, list))
    except _wire.JsonError:
        return False


def _line_values(lines: _Lines, name: str, loads: Loads) -> Iterator[tuple[Source, Any]]:
    for number, line in lines:
        if line.isspace() or not line:
            continue
        try:
            value = loads(line)
        except _wire.JsonError as error:
            whole = line[-1:] in (b"\n", "\n") or error.line is not None
            cut = "" if whole else "the file ends in the middle of this line: whoever wrote it was stopped"
            yield Source(name, number), RecordingError(str(error), hint=cut)
        else:
            yield Source(name, number), value


def _unpacked(stream: Any) -> Iterable[Any]:
    """The lines of a stream, decompressed when it is compressed with gzip."""
    peek = getattr(stream, "peek", None)
    if peek is not None and peek(2)[:2] == b"\x1f\x8b":
        import gzip

        return gzip.GzipFile(fileobj=stream)
    lines: Iterable[Any] = stream
    return lines
