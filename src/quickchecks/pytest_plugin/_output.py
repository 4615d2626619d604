"""The files that `--quickchecks-output` asks for."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from quickchecks.errors import UnknownNameError
from quickchecks.reports import form_of

if TYPE_CHECKING:
    from quickchecks._results.evaluation import EvalResult

__all__ = ("Outputs",)


class Outputs:
    """The files that the result of the session is written to.

    Args:
        config: The configuration of the process that reports.

    Raises:
        pytest.UsageError: A file has a suffix that no form of report has.
    """

    def __init__(self, config: pytest.Config) -> None:
        self._folder = config.invocation_params.dir
        self._files: list[str] = config.option.quickchecks_output
        #: What became of each file, as a sentence, and whether it is written.
        self.notes: list[tuple[str, bool]] = []
        for file in self._files:
            try:
                form_of(file, "evaluation")
            except UnknownNameError as error:
                raise pytest.UsageError(f"--quickchecks-output: {error}") from None

    def write_for_now(self, result: EvalResult) -> None:
        """Write all files, which are written again at the end: what goes wrong is told then.

        Args:
            result: What is true if the session does not come to its end.
        """
        for file in self._files:
            target = self._folder / file
            if target.exists() and not target.is_file():  # what goes into a pipe stays there
                continue
            with suppress(Exception):
                _replace(target, form_of(file, "evaluation")(result))

    def write(self, result: EvalResult) -> None:
        """Write all files. One that cannot be written is told of, and changes nothing else.

        Args:
            result: The result of the session.
        """
        for file in self._files:
            try:
                _replace(self._folder / file, form_of(file, "evaluation")(result))
            except Exception as error:
                reason = getattr(error, "strerror", None) or f"{type(error).__name__}: {error}"
                self.notes.append((f"{file} could not be written: {reason}", False))
            else:
                self.notes.append((f"{file} written", True))


def _replace(file: Path, content: bytes) -> None:
    """Write a file, all of it or nothing."""
    target = Path(os.path.realpath(file))
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.exists() and not target.is_file():  # a device or a pipe
        target.write_bytes(content)
        return
    temporary = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        temporary.write_bytes(content)
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)
