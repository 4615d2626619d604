"""Files that appear only when they are complete."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import BinaryIO

from quickchecks._results.result import RunsResult
from quickchecks._run import Run
from quickchecks._score import Score
from quickchecks._scorer.checks_file import CheckEntry
from quickchecks.cli._app import Problem
from quickchecks.errors import RecordingError
from quickchecks.reports import Report, form_of

__all__ = ("Files", "NewFile", "Outputs", "first_place")

_RECORDINGS = (".json", ".jsonl")


class NewFile:
    """A file that is written beside its place and moves there when it is complete.

    A device or a pipe (`/dev/stdout`) is written directly. A link stays; what it points to is replaced. The folder is made
    where there is none.

    Args:
        path: Where it will be.

    Raises:
        Problem: It cannot be written there.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._final = os.path.realpath(path)
        try:
            exists = os.path.exists(self._final)
            self._direct = exists and not stat.S_ISREG(os.stat(self._final).st_mode)
            if os.path.isdir(self._final):
                raise IsADirectoryError(21, "it is a folder")
            folder, name = os.path.split(self._final)
            self._made = _make_folder(folder)
            self._temporary = path if self._direct else os.path.join(folder, f".{name}.{os.urandom(4).hex()}.part")
            self.stream: BinaryIO = open(self._temporary, "wb" if self._direct else "xb")  # noqa: SIM115 - closed by keep or drop
            if exists and not self._direct:
                shutil.copymode(self._final, self._temporary)
        except OSError as error:
            raise Problem(f"{path} cannot be written: {error.strerror or error}") from error

    def keep(self) -> None:
        """Put the file in its place.

        Raises:
            Problem: The rest of it could not be written.
        """
        try:
            self.stream.close()
            if not self._direct:
                os.replace(self._temporary, self._final)
        except OSError as error:
            raise Problem(f"{self.path} cannot be written: {error.strerror or error}") from error

    def drop(self) -> None:
        """Leave no trace."""
        with suppress(OSError):  # what is still to be written may have no place
            self.stream.close()
        if not self._direct and os.path.exists(self._temporary):
            os.remove(self._temporary)
        for folder in self._made:
            with suppress(OSError):  # somebody else has written into it
                os.rmdir(folder)


def _make_folder(folder: str) -> list[str]:
    """Make a folder; returns those that there were not, the innermost first."""
    made: list[str] = []
    while folder and not os.path.lexists(folder):
        made.append(folder)
        folder = os.path.dirname(folder)
    for one in reversed(made):
        os.mkdir(one)
    return made


class Files:
    """The new files of one command. One that cannot be written takes neither the others away nor the result."""

    def __init__(self) -> None:
        self._files: list[NewFile] = []
        self._lost: dict[NewFile, str] = {}

    def open(self, path: str) -> NewFile:
        """Begin a file.

        Raises:
            Problem: It cannot be written.
        """
        file = NewFile(path)
        self._files.append(file)
        return file

    def write(self, file: NewFile, write: Callable[[], object]) -> None:
        """Do what writes to a file, or puts it in its place; one that is lost is left alone."""
        if file in self._lost:
            return
        try:
            write()
        except Problem as problem:
            self._lost[file] = problem.message
        except OSError as error:
            self._lost[file] = f"{file.path} cannot be written: {error.strerror or error}"
        if file in self._lost:
            file.drop()

    def keep(self) -> None:
        """Put those that are complete in their places."""
        for file in self._files:
            self.write(file, file.keep)
        for file in reversed(self._lost):  # a folder that was made for several of them
            file.drop()

    def drop(self) -> None:
        """Leave no trace of what is not in its place."""
        for file in reversed(self._files):  # the first has made the folder of the others
            file.drop()

    @property
    def written(self) -> list[str]:
        """Those that are in their places."""
        return [file.path for file in self._files if file not in self._lost]

    def check(self) -> None:
        """Say which could not be written, when all else is said.

        Raises:
            Problem: There is one.
        """
        if self._lost:
            raise Problem("\n".join(self._lost.values()))


class Outputs:
    """The files that one command writes: reports, and the runs that failed.

    Args:
        reports: The files of `-o`.
        failures: The file of `--failures`.
        entries: The checks.
        inputs: The paths that are scored, among which no output may be.

    Raises:
        Problem: A file stands twice, is an input, or cannot be written.
        UnknownNameError: No report has this suffix.
    """

    def __init__(
        self, reports: Sequence[str], failures: str | None, entries: Sequence[CheckEntry], inputs: Sequence[str]
    ) -> None:
        _check_places([*reports, *([failures] if failures else [])], inputs)
        forms = [form_of(path, "runs") for path in reports]  # all suffixes are known before any file is opened
        self.files = Files()
        self._reports: list[tuple[NewFile, Report]] = []
        self._failures: NewFile | None = None
        self.failing = 0
        try:
            for path, start in zip(reports, forms, strict=True):
                file = self.files.open(path)
                self._reports.append((file, start(file.stream, entries)))
            if failures:
                self._failures = self.files.open(failures)
        except BaseException:
            self.drop()
            raise

    def add(self, run: Run | None, scores: Sequence[Score], error: RecordingError | None, *, wrong: Sequence[Score]) -> None:
        """Write what streams by: a run, with what is said about it, and which of that says that something is wrong."""
        for file, report in self._reports:
            self.files.write(file, partial(report.add, run, scores, error))
        if self._failures is not None and run is not None and (wrong or run.error is not None):
            self.failing += 1
            self.files.write(self._failures, partial(self._failures.stream.write, _failing_line(run, wrong)))

    def finish(self, result: RunsResult) -> None:
        """Write the ends, and put the files in their places."""
        for file, report in self._reports:
            self.files.write(file, partial(report.finish, result))
        self.files.keep()

    def drop(self) -> None:
        """Leave no trace of what has been written."""
        self.files.drop()


def _check_places(paths: Sequence[str], inputs: Sequence[str]) -> None:
    places = [os.path.realpath(path) for path in paths]
    sources = [(given, os.path.realpath(given)) for given in inputs if given != "-"]
    for position, (path, place) in enumerate(zip(paths, places, strict=True)):
        if place in places[:position]:
            raise Problem(f"{path} stands twice among the files to write")
        for given, source in sources:
            if place == source:
                raise Problem(f"{path} is one of the recordings: write to another file")
            inside = os.path.isdir(source) and place.startswith(source.rstrip(os.sep) + os.sep)
            if inside and place.lower().endswith(_RECORDINGS):
                raise Problem(
                    f"{path} would lie in {given}, and be read as a recording the next time: write it to another folder"
                )


def _failing_line(run: Run, wrong: Sequence[Score]) -> bytes:
    """A run in the wire form, with what is wrong with it in its metadata."""
    from msgspec.structs import replace

    from quickchecks import _wire

    metadata = run.metadata or {}
    place = first_place(metadata) or str(run.source or "")
    found = {"source": place, "scores": [score.record() for score in wrong]}
    return _wire.dumps(replace(run, metadata={**metadata, "quickchecks": found})) + b"\n"


def first_place(metadata: Mapping[str, object]) -> str:
    """Where a run that comes from a file of failures was read from at first: that is the recording a person has."""
    found = metadata.get("quickchecks")
    place = found.get("source") if isinstance(found, Mapping) else None
    return place if isinstance(place, str) else ""
