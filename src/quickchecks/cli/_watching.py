"""Running an eval again whenever one of its files changes."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import click
from msgspec.structs import replace

from quickchecks._evalfile import EvalFile
from quickchecks._evalfile._modules import forget, loaded_files
from quickchecks._rescoring import has_checks_of_turns
from quickchecks._results.evaluation import EvalResult
from quickchecks._results.result import INTERRUPTED
from quickchecks.cli._app import Problem
from quickchecks.cli._evaluating import Request, evaluate, nothing_failed, outputs, rescore
from quickchecks.cli._files import Files
from quickchecks.cli._github import output_of_others
from quickchecks.cli._interrupts import Interrupts
from quickchecks.errors import QuickchecksError

__all__ = ("watch",)

#: How often it is looked whether a file has changed, in seconds.
PAUSE = 0.5
#: How long files must stay as they are before they are read, in seconds: programs write them in several steps.
SETTLE = 0.1

_Snapshot = dict[Path, tuple[int, int] | None]


def watch(request: Request, show: Callable[[EvalResult, Files], int], *, rounds: int | None = None, pause: float = PAUSE) -> int:
    """Run an eval, and again whenever the file, the data, the checks or the target change, until Ctrl-C.

    Where only checks changed, the last runs are scored again.

    Args:
        request: What to run.
        show: Shows a result, and gives its exit code.
        rounds: How often it is run at most; None for no limit.
        pause: Seconds between two looks at the files.

    Returns:
        The exit code of the last result; 2 when the last round could not be run.
    """
    watched = _Watched(request)
    code = 2
    try:
        while True:
            try:
                result = watched.round()
                code = 3 if result is None else show(result, watched.files)
                if result is None:
                    click.echo(nothing_failed(request))
                sys.stdout.flush()  # a reader of a pipe wants the result of this round now
            except (QuickchecksError, click.ClickException) as error:
                code = 2
                (error if isinstance(error, click.ClickException) else Problem(str(error))).show()
            if code == INTERRUPTED:
                return code
            rounds = None if rounds is None else rounds - 1
            if rounds == 0:
                return code
            click.echo("watching for changes; Ctrl-C ends it", err=True)
            changed = watched.wait(pause)
            click.echo(f"changed: {', '.join(map(str, changed))}", err=True)
    except KeyboardInterrupt:
        return code


class _Watched:
    """An eval file with what was known of it in the last round."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self._folder = os.getcwd()
        self._file: EvalFile | None = None
        self._last: EvalResult | None = None
        self.files = Files()
        self._changed: set[Path] = set()
        self._seen: _Snapshot = _snapshot([Path(request.file)])

    def round(self) -> EvalResult | None:
        """Run once; only score where only checks have changed since the last time."""
        self._seen = _snapshot(self._seen)  # before anything is read, so that no change after it is missed
        before = self._file
        only_checks = before is not None and bool(self._changed) and self._changed <= set(before.checks_in)
        try:
            file = self._load(again=not only_checks)
        except BaseException:
            self._see(_siblings(Path(self._request.file)))  # what has to be mended may be any of them
            raise
        self._see(file.files)
        files = outputs(self._request, file)
        self.files = files.files
        try:
            if only_checks and before is not None and self._last is not None and _same_runs(before, file):
                click.echo("only checks changed: the last runs are scored again", err=True)
                result: EvalResult | None = rescore(file, self._last)
            else:
                try:
                    with Interrupts() as interrupts:
                        result = evaluate(self._request, file, interrupts)
                finally:
                    os.chdir(self._folder)  # the paths that are watched are read from here, and a target may have gone elsewhere
        except BaseException:
            files.drop()
            raise
        self._file, self._last = file, result
        self._changed.clear()
        if result is None:
            files.drop()
        else:
            files.write(result)
        return result

    def wait(self, pause: float) -> list[Path]:
        """Wait until files change, and say which."""
        while True:
            now = _snapshot(self._seen)
            changed = [path for path, state in now.items() if state != self._seen[path]]
            time.sleep(min(pause, SETTLE) if changed else pause)
            if changed and _snapshot(self._seen) == now:  # nobody is writing any more
                self._changed.update(changed)
                return changed

    def _load(self, *, again: bool) -> EvalFile:
        """Read the eval file, and the target again where anything but checks has changed."""
        if again:
            forget()
        file = self._request.load()
        with output_of_others():
            target = file.load_target()
        return replace(file, load_target=lambda: target)

    def _see(self, files: Iterable[Path]) -> None:
        """Watch further files, and those of the modules that were imported."""
        new = [path for path in (*files, *loaded_files()) if path not in self._seen]
        self._seen.update(_snapshot(new))


def _siblings(file: Path) -> list[Path]:
    """The files beside an eval file that it may be made of."""
    suffixes = (".csv", ".json", ".jsonl", ".py", ".yaml", ".yml")
    try:
        return [path for path in file.parent.iterdir() if path.suffix.lower() in suffixes]
    except OSError:
        return []


def _same_runs(before: EvalFile, now: EvalFile) -> bool:
    """Whether two states of an eval file would ask the same, so that only the scoring differs."""
    by_turn = any(has_checks_of_turns(item) for item in (*before.items, *now.items))
    return before.beside_checks == now.beside_checks and not by_turn


def _snapshot(paths: Iterable[Path]) -> _Snapshot:
    found: _Snapshot = {}
    for path in paths:
        try:
            state = path.stat()
        except OSError:
            found[path] = None
        else:
            found[path] = (state.st_mtime_ns, state.st_size)
    return found
