"""The options that several commands have: which checks there are, and how recordings are read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal, TypedDict, TypeVar

import click

from quickchecks.cli import _completing

if TYPE_CHECKING:
    from quickchecks.cli._interrupts import Interrupts

__all__ = ("Reading", "checks_options", "reading", "reading_options", "users_code")

_F = TypeVar("_F", bound=Callable[..., object])


class Reading(TypedDict):
    """How recordings are read, as `score_runs` takes it."""

    format: str | None
    adapter: str | None
    map: str | None
    part: Literal["last_turn"] | None


def reading(format: str | None, adapter: str | None, maps: tuple[str, ...], part: str | None) -> Reading:
    """Put the options of `reading_options` together."""
    return Reading(format=format, adapter=adapter, map=",".join(maps) or None, part="last_turn" if part == "last_turn" else None)


def reading_options(command: _F) -> _F:
    """Add the options that say how recordings are read."""
    options = (
        click.option(
            "--format",
            metavar="NAME",
            shell_complete=_completing.format_names,
            help="Read everything as this format instead of recognising each record.",
        ),
        click.option(
            "--map",
            "maps",
            metavar="PART=PATH",
            multiple=True,
            help="Where in an envelope a part of the run stands: --map messages=payload.response.messages. Repeatable.",
        ),
        click.option("--adapter", metavar="MODULE:FUNCTION", help="A function of yours that turns a record into a run."),
        click.option("--part", type=click.Choice(["last_turn"]), help="Score only what follows the last message of the user."),
    )
    return _with(command, *options)


def checks_options(command: _F) -> _F:
    """Add the options that give checks."""
    options = (
        click.option(
            "--check",
            "expressions",
            metavar="EXPR",
            multiple=True,
            shell_complete=_completing.check_names,
            help="A check, such as \"includes('sunny')\". Repeatable.",
        ),
        click.option(
            "--checks",
            "files",
            metavar="FILE",
            multiple=True,
            shell_complete=_completing.files,
            help="A YAML file with checks. Repeatable.",
        ),
    )
    return _with(command, *options)


def _with(command: _F, *options: Callable[[_F], _F]) -> _F:
    """Add options, which the help shows in this order."""
    for option in reversed(options):
        command = option(command)
    return command


@contextmanager
def users_code(adapter: str | None, interrupts: Interrupts) -> Iterator[None]:
    """While the options of reading are looked at, which may import a module of the user.

    Whatever that module raises is wrong usage: it must never end the command as if the recordings had passed or failed.

    Args:
        adapter: What `--adapter` says.
        interrupts: Tells Ctrl-C from a KeyboardInterrupt that the module raised.

    Raises:
        Problem: An option makes no sense, or the module could not be imported.
    """
    from quickchecks.cli._app import Problem
    from quickchecks.errors import QuickchecksError

    try:
        yield
    except QuickchecksError:
        raise
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt) and (interrupts.seen or not interrupts.handled):
            raise
        if type(error) is ValueError:
            raise Problem(f"--adapter {adapter}: {error}" if adapter is not None else str(error)) from error
        if adapter is None:
            raise
        raise Problem(f"--adapter {adapter}: its module could not be imported: {type(error).__name__}: {error}") from error
