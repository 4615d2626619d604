"""What a command does as a step of a job on GitHub: the step summary, annotations, and harmless output.

From when code of the user's first runs, the runner takes no commands to the end of the process: what outlives a target, or was
left for the end, may print at any time. What the command has to say itself is said between a token and the next one.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout, suppress
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from quickchecks.reports._step import Step
    from quickchecks.reports.github import Kind

__all__ = ("output_of_others", "present_step", "take_commands_again", "tell", "tell_problem")


class _Stopped:
    """What makes the runner take commands again.

    Attributes:
        token: The token; empty while it takes them.
        process: The process that has it: one that was forked off says nothing of it.
    """

    token = ""
    process = 0


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
    from quickchecks.reports.github import annotated

    sys.stdout.flush()
    _say(annotated(found, step, "error" if code else "warning"))
    problem = step.add_to_summary(report)
    if problem:
        click.echo(f"warning: {problem}", err=True)


def tell_problem(message: str) -> None:
    """Annotate why a command could not do what it was asked; where that is turned off, or not known to be on, nothing."""
    from quickchecks.errors import SettingsError
    from quickchecks.reports._safe import lines
    from quickchecks.reports._workflow_commands import command

    with suppress(SettingsError, OSError):
        step = present_step()
        if step is not None:
            level = "warning" if step.forgives else "error"
            _say([command(level, "\n".join(lines(message)), {"title": "quickchecks"})])


@contextmanager
def output_of_others() -> Iterator[None]:
    """While code of the user's runs: what it and its programs print is no part of the result, and goes to standard error.

    On GitHub nothing of it is a command, also where it does not go through Python: the runner is told by a token that nobody
    knows to take no commands until the token comes again, at the end of the process. All is one stream, so that it sees this
    in order.
    """
    _stop_commands()
    with redirect_stdout(sys.stderr), _one_stream():
        yield


def _stop_commands() -> None:
    from quickchecks.reports._step import is_github, say

    if _Stopped.token or not is_github(os.environ):
        return
    _Stopped.token, _Stopped.process = _new_token(), os.getpid()
    say([f"::stop-commands::{_Stopped.token}"])


def take_commands_again() -> None:
    """At the end of the process: let the runner take commands again, those of the commands that come after it in the step."""
    from quickchecks.reports._step import say

    if not _Stopped.token or _Stopped.process != os.getpid():
        return
    for stream in (sys.stdout, sys.stderr):  # what others have left in it is no command either
        with suppress(OSError, ValueError):
            stream.flush()
    with suppress(OSError, ValueError):
        say(["", f"::{_Stopped.token}::"])  # what was printed last may have had no end of line
    _Stopped.token = ""


def _say(commands: Iterable[str]) -> None:
    """Say commands to the runner, which takes them and none after them. All is one piece, so that nothing comes between."""
    from quickchecks.reports._step import say

    told = list(commands)
    if told and _Stopped.token:
        before, _Stopped.token = _Stopped.token, _new_token()
        told = ["", f"::{before}::", *told, f"::stop-commands::{_Stopped.token}"]
    say(told)


def _new_token() -> str:
    from secrets import token_hex

    return token_hex(16)


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
