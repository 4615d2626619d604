"""Runs kept as they finish, to commit and to score again without asking the target."""

from __future__ import annotations

import os
from collections.abc import Sequence

import msgspec

from quickchecks import _wire
from quickchecks._results.evaluation import ItemResult
from quickchecks._run import Run, RunError
from quickchecks.errors import SettingsError

__all__ = ("Recording", "recorded_run")

#: The key of a run's metadata under which the item stands that it answers.
ITEM = "item"


class Recording:
    """A file of one run a line, in the wire form. Each line is there as soon as its item is finished.

    Args:
        path: The file; what it held is replaced when the evaluation ends.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = os.fspath(path)
        self._growing = f"{self._path}.part"
        _must_be_replaceable(self._path)
        try:
            os.makedirs(os.path.dirname(self._path) or ".", exist_ok=True)
            self._stream = open(self._growing, "wb")  # noqa: SIM115 - it stays open while the evaluation runs
        except OSError as error:
            raise SettingsError(f"record: {self._path!r} cannot be written: {error.strerror or error}") from error

    def add(self, result: ItemResult) -> None:
        """Keep one run."""
        self._stream.write(_wire.dumps(recorded_run(result)) + b"\n")
        self._stream.flush()

    def discard(self) -> None:
        """Stop; what was kept so far stays beside the file, in one that ends in `.part`."""
        self._stream.close()

    def close(self, items: Sequence[ItemResult]) -> None:
        """Write all of them again in the order of the data, so that two recordings can be compared line by line."""
        self._stream.close()
        with open(self._growing, "wb") as stream:
            for item in items:
                stream.write(_wire.dumps(recorded_run(item)) + b"\n")
        os.replace(self._growing, self._path)


def _must_be_replaceable(path: str) -> None:
    """Refuse to replace what is no recording: a folder, a device, a program, a dataset."""
    if not os.path.exists(path):
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
