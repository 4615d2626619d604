"""Runs kept as they finish, to commit and to score again without asking the target."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress

import msgspec

from quickchecks import _render, _wire
from quickchecks._results.evaluation import ItemResult
from quickchecks._run import Run, RunError
from quickchecks.errors import SettingsError

__all__ = ("UNFINISHED", "Recording", "recorded_run")

#: The key of a run's metadata under which the item stands that it answers.
ITEM = "item"
#: How the file ends that holds what is there before an evaluation has come to its end.
UNFINISHED = ".part"


class Recording:
    """A file of one run a line, in the wire form. Each line is there as soon as its item is finished.

    They stand in a file beside it, which takes its place only when the evaluation has come to its end: what is under the
    name of a recording is whole.

    Args:
        path: The file; what it held is replaced when the evaluation ends.
        read: The files that the items were read from.

    Raises:
        SettingsError: It cannot be written, or what is there must not be replaced.
    """

    def __init__(self, path: str | os.PathLike[str], read: Iterable[str] = ()) -> None:
        try:
            self._path = os.fspath(path)
        except TypeError:
            raise SettingsError(f"record is the path of a file, not {_render.value(path)}") from None
        self._growing = f"{self._path}{UNFINISHED}"
        self._broken = False
        try:
            for place in (self._path, self._growing):
                _must_be_replaceable(place)
                if any(os.path.exists(one) and os.path.exists(place) and os.path.samefile(one, place) for one in read):
                    raise SettingsError(f"record: {place!r} is what the items are read from; record to another file")
            os.makedirs(os.path.dirname(self._path) or ".", exist_ok=True)
            self._stream = open(self._growing, "wb")  # noqa: SIM115 - it stays open while the evaluation runs
        except (OSError, ValueError) as error:
            if isinstance(error, SettingsError):
                raise
            why = error.strerror if isinstance(error, OSError) else ""
            raise SettingsError(f"record: {self._path!r} cannot be written: {why or error}") from error
        # A target may change the folder that relative paths are read in.
        self._path, self._growing = os.path.abspath(self._path), os.path.abspath(self._growing)

    @property
    def name(self) -> str:
        """The name of the file in which the runs are now."""
        return os.path.basename(self._growing if os.path.exists(self._growing) else self._path)

    def add(self, result: ItemResult) -> None:
        """Keep one run.

        Raises:
            OSError: It could not be written; nothing more is, before the evaluation ends.
        """
        if self._broken:
            return
        try:
            self._stream.write(_wire.dumps(recorded_run(result)) + b"\n")
            self._stream.flush()
        except OSError:
            self._broken = True
            raise

    def discard(self) -> None:
        """Stop; what was kept so far stays beside the file, in one that ends in `.part`."""
        with suppress(OSError):  # what could not be written is known already
            self._stream.close()

    def close(self, items: Sequence[ItemResult], *, whole: bool) -> None:
        """Write all of them again in the order of the data, so that two recordings can be compared line by line.

        Args:
            items: What is finished.
            whole: Whether that is everything; what is not stays in the file that ends in `.part`.

        Raises:
            OSError: They could not be written.
        """
        self.discard()
        with open(self._growing, "wb") as stream:
            for item in items:
                stream.write(_wire.dumps(recorded_run(item)) + b"\n")
        if whole:
            os.replace(self._growing, self._path)


def _must_be_replaceable(path: str) -> None:
    """Refuse to replace what is no recording: a folder, a device, a program, a dataset."""
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.basename(path) or folder == "/dev" or folder.startswith(("/dev/fd", "/proc/")):
        raise SettingsError(f"record: {path!r} is no regular file, so that no recording can take its place")
    if not os.path.lexists(path):
        return
    if not os.path.isfile(path):
        raise SettingsError(f"record: {path!r} is no regular file, so that no recording can take its place")
    with open(path, "rb") as stream:
        first = stream.readline(4096)
    if first.strip() and not first.startswith(b'{"schema":"quickchecks.run/'):
        raise SettingsError(f"record: {path!r} exists and is no recording; name another file, or remove it first")


def recorded_run(result: ItemResult) -> Run:
    """The run of an item with what is needed to make an item of it again."""
    asked = result.item.asked
    run = result.run or Run(input=asked[0] if len(asked) == 1 else list(asked) or None)
    about: dict[str, object] = {"id": result.id}
    if result.repetition:
        about["repetition"] = result.repetition
    if result.item.expected is not None:
        about["expected"] = result.item.expected
    error = run.error
    if result.error is not None and error is None:
        error = RunError(result.error.message, result.error.type)
    metadata = {**(run.metadata or {}), ITEM: about}
    return msgspec.structs.replace(run, metadata=metadata, error=error, duration=run.duration or result.seconds, source=None)
