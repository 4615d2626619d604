"""Running an eval file for a command: what it asks, what is chosen of it, and what is written of the result."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Generic, TypeVar

from msgspec import UNSET, Struct
from msgspec.structs import replace

from quickchecks._evalfile import EvalFile, load_eval_file
from quickchecks._evaluation import EvalOptions, Evaluation, Options
from quickchecks._items import Item, content_hash
from quickchecks._rescoring import failed_items, has_checks_of_turns, rescored
from quickchecks._results.changes import EvalComparison
from quickchecks._results.evaluation import EvalResult
from quickchecks._results.result import many
from quickchecks._results.saved import load_result
from quickchecks.cli._app import Problem
from quickchecks.cli._files import Files, NewFile
from quickchecks.cli._github import output_of_others
from quickchecks.cli._interrupts import Interrupts
from quickchecks.errors import nearest_names
from quickchecks.reports import form_of
from quickchecks.reports._safe import one_line

__all__ = ("Request", "Written", "evaluate", "nothing_failed", "outputs", "read_variables", "rescore")

_T = TypeVar("_T", EvalResult, EvalComparison)


class Request(Struct, frozen=True):
    """What a command was asked to run.

    Args:
        file: The eval file.
        variables: Values for its variables.
        options: Options that take the place of those of the file.
        only_failed: A result; only the items that failed there are run.
        rescore: A result; its runs are scored, and no target is called.
        reports: The files to write.
    """

    file: str
    variables: Mapping[str, str] = {}
    options: EvalOptions = {}
    only_failed: str | None = None
    rescore: str | None = None
    reports: Sequence[str] = ()

    def load(self) -> EvalFile:
        """Read the eval file.

        Raises:
            Problem: There is no such file.
            QuickchecksError: It cannot be read.
        """
        if not os.path.isfile(self.file):
            folder = os.path.dirname(self.file) or "."
            names = os.listdir(folder) if os.path.isdir(folder) else []
            near = nearest_names(os.path.basename(self.file), [name for name in names if name.endswith((".yaml", ".yml", ".py"))])
            raise Problem(f"{self.file}: there is no such eval file" + (f"\n  {near}" if near else ""))
        if self.file.lower().endswith(".jsonl"):
            hint = "an eval file is YAML or Python; to score recordings, write: quickchecks score"
            raise Problem(f"{self.file} holds records, not an eval\n  {hint} {self.file} --check …")
        with output_of_others():
            found = load_eval_file(self.file, self.variables)
        options: EvalOptions = {**found.options, **self.options}
        return replace(found, options=options)


def read_variables(given: Sequence[str]) -> dict[str, str]:
    """Read the values of `--set`.

    Raises:
        Problem: One is not written as name=value, or stands twice.
    """
    found: dict[str, str] = {}
    for one in given:
        name, equals, value = one.partition("=")
        if not equals or not name:
            raise Problem(f"--set {one}: write --set name=value")
        if name in found:
            raise Problem(f"--set {name} stands twice")
        found[name] = value
    return found


def evaluate(request: Request, file: EvalFile, interrupts: Interrupts) -> EvalResult | None:
    """Run an eval, or score the runs of a result again.

    Args:
        request: What was asked for.
        file: The eval file.
        interrupts: Stops the evaluation from now on, so that Ctrl-C at no moment loses what was finished.

    Returns:
        The result; None when nothing has failed in the result of `--only-failed`.

    Raises:
        QuickchecksError: Something of it makes no sense; the target has not been called.
    """
    _refuse_no_checks(file)
    if request.rescore is not None:
        idle = [name for name in request.variables if name in file.target_variables]
        if idle:
            raise Problem(f"--set {idle[0]}=…: it is for the target, which --rescore does not ask: leave it out")
        return rescore(file, load_result(request.rescore))
    items: Sequence[Item] = file.items
    notes: list[str] = []
    if request.only_failed is not None:
        earlier = load_result(request.only_failed)
        _keep_recording(request.only_failed, earlier, file)
        chosen = choice_of(earlier, items, request.only_failed)
        if chosen is None:
            return None
        items, note = chosen
        notes.append(note)
    with output_of_others():
        target = file.load_target()
        if target is None:
            _refuse_no_target(file, items)
        evaluation = Evaluation(items, target, file.scorers, file.gates, Options.of(file.options))
        interrupts.stop = evaluation.interrupt
        result = evaluation.run_elsewhere()
    return replace(result, warnings=(*result.warnings, *notes))


def _refuse_no_checks(file: EvalFile) -> None:
    """Refuse a file that judges nothing, in the words of the file.

    Raises:
        Problem: It has neither gates nor scorers.
    """
    if file.gates or file.scorers or any(has_checks_of_turns(item) for item in file.items):
        return
    hint = "gates=[checks.no_tool_errors()]" if _is_python(file) else "gates: [no_tool_errors]"
    raise Problem(f"{file.path}: there is nothing to score with: it has neither gates nor scorers\n  write, for example, {hint}")


def _refuse_no_target(file: EvalFile, items: Sequence[Item]) -> None:
    """Refuse items that have to be asked where nobody can be, in the words of the file.

    Raises:
        Problem: There is one.
    """
    asking = next((item for item in items if item.run is None and item.output is UNSET), None)
    if asking is None:
        return
    place = file.path if asking.source is None else asking.source
    target = "target=…" if _is_python(file) else "target: module:function"
    raise Problem(
        f"{place}: item {asking.id!r} has to be asked, and {file.path} has no target\n"
        f"  write {target}, or give each item the output that is known already"
    )


def _is_python(file: EvalFile) -> bool:
    return file.path.suffix.lower() == ".py"


def nothing_failed(request: Request) -> str:
    """Why `--only-failed` has nothing to run, as a sentence: not every result without a failure has passed."""
    assert request.only_failed is not None
    earlier = load_result(request.only_failed)
    if earlier.verdict == "passed":
        return f"no item failed in {request.only_failed}, which passed, so that there is nothing to run"
    open_ = [one for one in (*earlier.gate_results, *earlier.threshold_results) if not one.passed]
    why = "".join(f" ({one_line(one.label)}: {one.explanation})" for one in open_[:1])
    is_so = f"is {earlier.verdict}" if earlier.verdict else "asserts nothing"
    return (
        f"no item failed in {request.only_failed}, which {is_so}{why}, so that there is nothing to run; "
        "leave --only-failed out to run every item"
    )


def _keep_recording(name: str, earlier: EvalResult, file: EvalFile) -> None:
    """Refuse to record a few items over the runs of the result that they are chosen by.

    Raises:
        Problem: They would be.
    """
    record = file.options.get("record")
    if record is None or earlier.recording is None:
        return
    if os.path.realpath(record) == os.path.realpath(os.path.join(os.path.dirname(name), earlier.recording)):
        raise Problem(f"{os.fspath(record)} keeps the runs of {name}: record to another file, with --record FILE")


def choice_of(earlier: EvalResult, items: Sequence[Item], name: str) -> tuple[list[Item], str] | None:
    """Choose the items that did not pass in an earlier result, or were not run there as they are now.

    Args:
        earlier: The earlier result.
        items: The present data.
        name: What to call the result.

    Returns:
        The items, and what was chosen as a sentence; None when there is nothing to run.

    Raises:
        Problem: What did not pass is no longer in the data.
    """
    failed = set(failed_items(earlier))
    run = {item.id: content_hash(item.item) for item in earlier.items}
    again = [item for item in items if item.id in failed]
    new = [item for item in items if item.id not in failed and run.get(item.id or "") != content_hash(item)]
    gone = len(failed) - len(again)
    if not again and not new:
        if gone:
            raise Problem(f"none of the {many(gone, 'item')} that did not pass in {name} is in the data")
        return None
    told = [f"{len(again)} did not pass in {name}"] if again else []
    if new:
        were, they = ("was", "it is") if len(new) == 1 else ("were", "they are")
        told.append(f"{len(new)} {were} not run in {name} as {they} now")
    if gone:
        told.append(f"{gone} that did not pass there {'is' if gone == 1 else 'are'} not in the data")
    chosen = {item.id for item in (*again, *new)}
    note = f"only {len(chosen)} of {many(len(items), 'item')}: {'; '.join(told)}"
    return [item for item in items if item.id in chosen], note


def rescore(file: EvalFile, before: EvalResult) -> EvalResult:
    """Score the runs of a result with the present checks."""
    options = file.options
    return rescored(
        before, file.items, file.gates, file.scorers, name=options.get("name", ""), max_errors=options.get("max_errors", 0)
    )


def _check_places(reports: Sequence[str], inputs: Sequence[str], record: Path | None) -> None:
    """Refuse to write a file twice or over an input.

    Raises:
        Problem: A file stands twice, is an input, or is where the runs are recorded.
    """
    places = [os.path.realpath(path) for path in reports]
    for position, (path, place) in enumerate(zip(reports, places, strict=True)):
        if place in places[:position]:
            raise Problem(f"{path} stands twice among the files to write")
        if place in [os.path.realpath(one) for one in inputs]:
            raise Problem(f"{path} is what is read here: write to another file")
        if place == str(record):
            raise Problem(f"{path} would be written twice, with the recorded runs and by -o: give one of them another name")


class Written(Generic[_T]):
    """The files of `-o`: opened before anything runs, so that nothing is run in vain.

    Args:
        reports: The files.
        inputs: What is read, among which no file may be.
        form_for: Finds what writes a file.
        record: Where the runs of a result are kept, if they are.
    """

    def __init__(
        self,
        reports: Sequence[str],
        inputs: Sequence[str],
        form_for: Callable[[str], Callable[[_T], bytes]],
        *,
        record: str | os.PathLike[str] | None = None,
    ) -> None:
        self._record = None if record is None else Path(record).resolve()
        _check_places(reports, inputs, self._record)
        self._forms: list[Callable[[_T], bytes]] = [form_for(path) for path in reports]
        self.files = Files()
        try:
            self._opened = [self.files.open(path) for path in reports]
        except BaseException:
            self.drop()
            raise

    def write(self, value: _T) -> None:
        """Write the value in every form, and put the files in their places; those that are lost are still to be told of."""
        try:
            for file, form in zip(self._opened, self._forms, strict=True):
                self.files.write(file, partial(self._put, file, form, value))
            self.files.keep()
        except BaseException:
            self.drop()
            raise

    def _put(self, file: NewFile, form: Callable[[_T], bytes], value: _T) -> None:
        file.stream.write(form(self._with_its_runs(value, file.path)))

    def drop(self) -> None:
        """Leave no trace of what has not been written."""
        self.files.drop()

    def _with_its_runs(self, value: _T, path: str) -> _T:
        """A result whose runs are not kept in a recording beside it is written with them."""
        if not isinstance(value, EvalResult) or value.recording is None:
            return value
        beside = self._record is not None and Path(path).resolve().parent == self._record.parent
        return value if beside else replace(value, recording=None)


def outputs(request: Request, file: EvalFile) -> Written[EvalResult]:
    """Open the files of a round.

    Raises:
        Problem: One of them is read, stands twice, or cannot be written.
        UnknownNameError: No report has the suffix of one.
    """
    record = file.options.get("record")
    read = [os.path.realpath(one) for one in file.files]
    if record is not None and os.path.realpath(record) in read:
        raise Problem(f"{os.fspath(record)} is what is read here: record to another file")
    inputs = [str(one) for one in file.files]
    inputs += [request.only_failed] if request.only_failed is not None else []
    return Written(request.reports, inputs, lambda path: form_of(path, "evaluation"), record=record)
