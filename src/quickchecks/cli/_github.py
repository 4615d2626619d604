"""What a command does as a step of a job on GitHub: the step summary, annotations, and harmless output."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout, suppress
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from quickchecks.reports._step import Step
    from quickchecks.reports.github import Kind

__all__ = ("output_of_others", "present_step", "tell", "tell_problem")


def present_step() -> Step | None:
    """The step in which the command runs; None when it is none, or nothing is to be told to GitHub.

    Raises:
        SettingsError: The variable that turns it off is neither true nor false.
    """
    from quickchecks.reports._step import Step

    return Step.present(os.environ)


def tell(step: Step, code: int, found: Sequence[Kind], report: bytes) -> None:
    """Annotate what went wrong, and add the report to the step summary. Nothing of that changes how the command ends.

    Args:
        step: The step.
        code: The exit code of the command: what does not make it fail is only a warning.
        found: What went wrong.
        report: The report, in Markdown.
    """
    from quickchecks.reports._step import say
    from quickchecks.reports.github import annotated

    sys.stdout.flush()
    say(annotated(found, step, "error" if code else "warning"))
    problem = step.add_to_summary(report)
    if problem:
        click.echo(f"warning: {problem}", err=True)


def tell_problem(message: str) -> None:
    """Annotate why a command could not do what it was asked; where that is turned off, or not known to be on, nothing."""
    from quickchecks.errors import SettingsError
    from quickchecks.reports._safe import lines
    from quickchecks.reports._step import say
    from quickchecks.reports._workflow_commands import command

    with suppress(SettingsError, OSError):
        if present_step() is not None:
            say([command("error", "\n".join(lines(message)), {"title": "quickchecks"})])


@contextmanager
def output_of_others() -> Iterator[None]:
    """While code of the user's runs: what it and its programs print is no part of the result, and goes to standard error.

    On GitHub nothing of it is a command, also where it does not go through Python: the runner is told by a token that nobody
    knows to take no commands until the token comes again. All is one stream, so that it sees this in order.
    """
    with redirect_stdout(sys.stderr), _one_stream(), _no_commands():
        yield


@contextmanager
def _no_commands() -> Iterator[None]:
    from quickchecks.reports._step import is_github, say

    if not is_github(os.environ):
        yield
        return
    from secrets import token_hex

    token = token_hex(16)
    say([f"::stop-commands::{token}"])
    try:
        yield
    finally:
        say(["", f"::{token}::"])  # what was printed last may have had no end of line


@contextmanager
def _one_stream() -> Iterator[None]:
    """Let what programs write to standard output go to standard error."""
    sys.stdout.flush()
    try:
        before = os.dup(1)
    except OSError:  # it is closed
        yield
        return
    try:
        with suppress(OSError):  # standard error may be closed
            os.dup2(2, 1)
        yield
    finally:
        os.dup2(before, 1)
        os.close(before)
