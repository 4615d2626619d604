"""Reports: what becomes of scored runs in a file, a form for each suffix.

Every module here whose name begins with `as_` is a form: `as_csv` writes `.csv`, `as_junit_xml` would write `.junit.xml`.
It offers `start(stream, entries)`, which returns a `Report`. Other packages add forms by an entry point of the group
`quickchecks.reports`, whose name is the suffix without its dot and whose object is such a `start`.

A report is written while runs stream by, so that it needs no more memory for more runs, and beside its final place, to
which it moves when it is complete.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import BinaryIO, Protocol

from quickchecks._results.result import RunsResult
from quickchecks._run import Run
from quickchecks._score import Score
from quickchecks._scorer.checks_file import CheckEntry
from quickchecks.errors import RecordingError, UnknownNameError

__all__ = ("Report", "Start", "form_of", "suffixes")


class Report(Protocol):
    """A report that is being written."""

    def add(self, run: Run | None, scores: Sequence[Score], error: RecordingError | None) -> None:
        """Add a run.

        Args:
            run: The run; None when its record could not be read.
            scores: What each scorer says about it.
            error: Why the record could not be read.
        """

    def finish(self, result: RunsResult) -> None:
        """Write what is known only at the end.

        Args:
            result: The result over all runs.
        """


#: Starts a report: takes the file to write to, and the checks.
Start = Callable[[BinaryIO, Sequence[CheckEntry]], Report]


def suffixes() -> tuple[str, ...]:
    """The suffixes of the files that reports can be written to, such as `.csv`."""
    return tuple(sorted({*_own(), *_of_others()}))


def form_of(file: str | Path) -> Start:
    """Find the form of a report by the suffix of its file.

    Args:
        file: The file; of several suffixes that fit, the longest decides.

    Returns:
        What starts a report of that form.

    Raises:
        UnknownNameError: No form has this suffix.
    """
    name = Path(file).name.lower()
    own = _own()
    others = {} if any(name.endswith(suffix) for suffix in own) else _of_others()
    for suffix in sorted({*own, *others}, key=len, reverse=True):
        if name.endswith(suffix):
            return _start(own[suffix]) if suffix in own else others[suffix]()
    shown = "".join(Path(name).suffixes[-1:])
    known = suffixes()
    hint = f"a report ends in {', '.join(known[:-1])} or {known[-1]}"
    raise UnknownNameError("form of report with the suffix", shown, known, hint=hint, place=str(file))


def _own() -> dict[str, str]:
    """The modules of the forms that are here, by suffix."""
    from pkgutil import iter_modules

    names = [module.name for module in iter_modules(__path__) if module.name.startswith("as_")]
    return {"." + name.removeprefix("as_").replace("_", "."): f"{__name__}.{name}" for name in names}


def _start(module: str) -> Start:
    start: Start = import_module(module).start
    return start


def _of_others() -> dict[str, Callable[[], Start]]:
    from importlib.metadata import entry_points

    return {f".{entry.name}": entry.load for entry in entry_points(group="quickchecks.reports")}
