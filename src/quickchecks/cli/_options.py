"""The options that several commands have: how recordings are read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypedDict, TypeVar

import click

__all__ = ("Reading", "reading", "reading_options")

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
        click.option("--format", metavar="NAME", help="Read everything as this format instead of recognising each record."),
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
    for option in reversed(options):
        command = option(command)
    return command
