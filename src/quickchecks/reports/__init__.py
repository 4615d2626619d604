"""Reports: what becomes of a result in a file, a form for each suffix.

Every module here whose name begins with `as_` is a form: `as_csv` writes `.csv`, `as_junit_xml` writes `.junit.xml`. It
offers a function for each kind of result that it can write:

- `start(stream, entries)` for scored runs, which returns a `Report`. It is written while runs stream by, so that it needs no
  more memory for more runs;
- `evaluation(result)` for the result of an evaluation, which returns the bytes of the file;
- `comparison(comparison)` for two results that were compared, which returns the bytes too.

Other packages add forms by an entry point of the group `quickchecks.reports`, whose name is the suffix without its dot and
whose object has such functions: a module, for example. A bare function is taken for a `start`.

What a terminal shows is in the modules `terminal_…`, as lines.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Literal, Protocol, overload

from quickchecks._render import not_loaded
from quickchecks._results.changes import EvalComparison
from quickchecks._results.evaluation import EvalResult
from quickchecks._results.result import RunsResult
from quickchecks._run import Run
from quickchecks._score import Score
from quickchecks._scorer.checks_file import CheckEntry
from quickchecks.errors import RecordingError, UnknownNameError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

__all__ = ("Kind", "Report", "Start", "form_of", "suffixes")

#: What can be written: scored runs, the result of an evaluation, two results that were compared.
Kind = Literal["runs", "evaluation", "comparison"]

#: The function of a form that writes each kind.
_FUNCTIONS = {"runs": "start", "evaluation": "evaluation", "comparison": "comparison"}


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


#: Starts a report of scored runs: takes the file to write to, and the checks.
Start = Callable[[BinaryIO, Sequence[CheckEntry]], Report]


def suffixes(kind: Kind) -> tuple[str, ...]:
    """The suffixes of the files that something can be written to, such as `.csv`.

    Args:
        kind: What is to be written.
    """
    found = {suffix for suffix, form in _own().items() if _function(form(), kind) is not None}
    for suffix, form in _of_others().items():
        try:
            offered = _function(form(), kind) is not None
        except UnknownNameError:  # what cannot be loaded says so when it is asked for by its suffix
            offered = False
        if offered:
            found.add(suffix)
    return tuple(sorted(found))


@overload
def form_of(file: str | Path, kind: Literal["runs"]) -> Start: ...
@overload
def form_of(file: str | Path, kind: Literal["evaluation"]) -> Callable[[EvalResult], bytes]: ...
@overload
def form_of(file: str | Path, kind: Literal["comparison"]) -> Callable[[EvalComparison], bytes]: ...
def form_of(file: str | Path, kind: Kind) -> Callable[..., object]:
    """Find what writes something to a file, by the suffix of the file.

    Args:
        file: The file; of several suffixes that fit, the longest decides.
        kind: What is to be written.

    Returns:
        The function of the form that writes it.

    Raises:
        UnknownNameError: No form has this suffix, or the form that has it cannot write this, or cannot be loaded.
    """
    name = Path(file).name.lower()
    forms = {**_of_others(), **_own()}
    found = next((suffix for suffix in sorted(forms, key=len, reverse=True) if name.endswith(suffix)), None)
    try:
        function = None if found is None else _function(forms[found](), kind)
    except UnknownNameError as error:
        error.place = str(file)
        raise
    if function is not None:
        return function
    shown = found or Path(name).suffix
    known = suffixes(kind)
    what = "form of report" if found is None else f"report of {_CALLED[kind]}"
    raise UnknownNameError(f"{what} with the suffix", shown, known, hint=_hint(name, shown, known), place=str(file))


#: What each kind is called in an error.
_CALLED = {"runs": "scored runs", "evaluation": "an evaluation", "comparison": "a comparison"}


def _hint(name: str, suffix: str, known: Sequence[str]) -> str:
    """What a report may end in, and the name that is nearly right: `results.junit.xml` for `results.xml`."""
    hint = f"a report ends in {', '.join(known[:-1])} or {known[-1]}"
    longer = [one for one in known if suffix and one.endswith(suffix) and one != suffix]
    if not longer:
        return hint
    stem = name.removesuffix(suffix)
    stem = "results" if not stem or stem == longer[0].split(".")[1] else stem
    return f"{hint}; write, for example, {stem}{longer[0]}"


def _function(form: object, kind: Kind) -> Callable[..., object] | None:
    """What a form writes something with; None when it cannot."""
    found = {of: getattr(form, name, None) for of, name in _FUNCTIONS.items()}
    if not any(found.values()) and callable(form):
        return form if kind == "runs" else None
    function = found[kind]
    return function if callable(function) else None


def _own() -> dict[str, Callable[[], object]]:
    """What loads the forms that are here, by suffix."""
    from functools import partial
    from pkgutil import iter_modules

    names = [module.name for module in iter_modules(__path__) if module.name.startswith("as_")]
    return {"." + name.removeprefix("as_").replace("_", "."): partial(import_module, f"{__name__}.{name}") for name in names}


def _of_others() -> dict[str, Callable[[], object]]:
    from functools import partial
    from importlib.metadata import entry_points

    return {f".{point.name.lower()}": partial(_loaded, point) for point in entry_points(group="quickchecks.reports")}


def _loaded(point: EntryPoint) -> object:
    """The form of another package.

    Raises:
        UnknownNameError: It cannot be loaded.
    """
    try:
        return point.load()
    except (Exception, SystemExit) as error:
        suffix, hint = f".{point.name.lower()}", not_loaded(point, error)
        raise UnknownNameError("form of report with the suffix", suffix, hint=hint) from error
