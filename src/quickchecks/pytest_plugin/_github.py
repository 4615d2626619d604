"""What GitHub is told at the end of a session: annotations of the tests that failed, and a summary of what was evaluated."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING

import pytest

from quickchecks import _render
from quickchecks.errors import SettingsError
from quickchecks.reports import as_md
from quickchecks.reports._safe import lines, one_line
from quickchecks.reports._step import Step, is_github
from quickchecks.reports._workflow_commands import Harmless
from quickchecks.reports.github import Annotation, Kind, annotated

if TYPE_CHECKING:
    from quickchecks._results.evaluation import EvalResult

__all__ = ("make_harmless", "no_commands", "tell")

_LONGEST_NAME = 120
_MOST_LINES = 8
#: What pytest writes before a message that says enough by itself.
_RAISED = re.compile(r"(?:AssertionError|quickchecks\.errors\.\w+|Failed): ")


def make_harmless(error: BaseException) -> None:
    """Let nothing that a message quotes be a command of GitHub's, which knows some in the middle of a line.

    Args:
        error: What a test raised; pytest shows its message.
    """
    if not is_github(os.environ):
        return
    if len(error.args) == 1 and isinstance(error.args[0], str):
        error.args = (Harmless()(error.args[0]),)
    if isinstance(error, pytest.fail.Exception) and error.msg is not None:
        error.msg = Harmless()(error.msg)


@contextmanager
def no_commands(terminal: pytest.TerminalReporter) -> Iterator[None]:
    """While names and reasons are shown, the runner is told to take none of them for a command.

    Args:
        terminal: The terminal.
    """
    if not is_github(os.environ):
        yield
        return
    token = token_hex(16)
    terminal.ensure_newline()
    terminal.write_line(f"::stop-commands::{token}")
    try:
        yield
    finally:
        terminal.ensure_newline()
        terminal.write_line(f"::{token}::")


def tell(terminal: pytest.TerminalReporter, failed: Sequence[pytest.TestReport], result: EvalResult | None) -> None:
    """Annotate the tests that failed, and add what was evaluated to the step summary.

    Args:
        terminal: The terminal, whose output the runner reads in order.
        failed: The reports of the tests that use quickchecks and failed.
        result: What the tests have evaluated together; None when nothing was.
    """
    try:
        step = Step.present(os.environ)
    except SettingsError as error:  # the tests have run, and how they ended is pytest's
        terminal.write_line(f"warning: {one_line(str(error))}", yellow=True)
        return
    if step is None:
        return
    for line in annotated(_kinds(failed, terminal.config.rootpath), step, "error"):
        terminal.write_line(line)
    problem = "" if result is None else step.add_to_summary(as_md.evaluation(result))
    if problem:
        terminal.write_line(f"warning: {problem}", yellow=True)


def _kinds(failed: Sequence[pytest.TestReport], root: Path) -> list[Kind]:
    """What failed, the tests of one function together."""
    found: dict[str, list[Annotation]] = {}
    for report in failed:
        file, line, _ = report.location
        title = _render.capped(one_line(report.nodeid), _LONGEST_NAME)
        one = Annotation(title, _message(report), os.path.join(root, file), None if line is None else line + 1)
        found.setdefault(report.nodeid.partition("[")[0], []).append(one)
    return [Kind(tuple(these), len(these)) for these in found.values()]


def _message(report: pytest.TestReport) -> str:
    """The first lines of why a test failed."""
    crash = getattr(report.longrepr, "reprcrash", None)
    told = _RAISED.sub("", crash.message if crash is not None else report.longreprtext, count=1)
    shown = [_render.capped(line) for line in lines(told) if line.strip()]
    return "\n".join(shown[:_MOST_LINES]) + ("\n…" if len(shown) > _MOST_LINES else "") or "failed"
