"""`quickchecks demo`: score a small recorded set that the package carries."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from quickchecks.cli import _completing
from quickchecks.cli._options import Reading

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from quickchecks._results.result import RunsResult
    from quickchecks.reports.terminal import Line

__all__ = ("demo",)

_EPILOG = """\b
Examples:
  quickchecks demo
  quickchecks demo --save try-it            puts its files into the folder try-it, to change them
"""

_FILES = ("runs.jsonl", "checks.yaml")


@click.command(short_help="Score a small recorded set; needs nothing else.", epilog=_EPILOG)
@click.option(
    "--save",
    metavar="FOLDER",
    shell_complete=_completing.folders,
    help="Put the recordings and the checks of the demo into a folder.",
)
def demo(save: str | None) -> None:
    """Score a small recorded set that comes with quickchecks: the first minute needs nothing else."""
    from importlib.resources import as_file, files

    from quickchecks.cli._output import print_lines

    with as_file(files("quickchecks").joinpath("demo")) as folder:
        if save is not None:
            _save(folder, save)
            return
        print_lines(_lines(folder))


def _lines(folder: Path) -> Iterator[Line]:
    from contextlib import chdir

    from quickchecks.cli._scoring import score_all
    from quickchecks.cli._suite import file_entries
    from quickchecks.reports.terminal import BLANK, line, lines_of

    with chdir(folder):  # so that places are short and the same everywhere
        entries = file_entries("checks.yaml")
        result, _ = score_all(["runs.jsonl"], entries, reading=Reading(format=None, adapter=None, map=None, part=None))
    yield line("A support agent of a bicycle shop, recorded in runs.jsonl and checked with checks.yaml:")
    yield BLANK
    yield from lines_of(result)
    yield from _next_steps(result)


def _next_steps(result: RunsResult) -> Iterator[Line]:
    from quickchecks.reports.terminal import BLANK, line

    place = next((group.examples[0].place for group in result.failures if group.scorer), "runs.jsonl:1")
    yield line((f"(quickchecks score would exit with {result.exit_code()} here; the demo exits with 0)", "dim"))
    yield BLANK
    yield line(("Next", "bold"))
    steps = (
        ("change these files", "quickchecks demo --save try-it"),
        ("look at a failure", f"quickchecks inspect try-it/{place}"),
        ("see every check", "quickchecks checks"),
        ("score your own runs", 'quickchecks score YOURS.jsonl --check "no_tool_errors()"'),
    )
    for meaning, command in steps:
        yield line((f"{meaning:<22}", "dim"), command, indent=2, hang=24)


def _save(folder: Path, save: str) -> None:
    from pathlib import Path

    from quickchecks.cli._app import Problem

    target = Path(save)
    existing = [str(target / name) for name in _FILES if (target / name).exists()]
    if existing:
        raise Problem(f"{existing[0]} exists already: name another folder")
    try:
        target.mkdir(parents=True, exist_ok=True)
        for name in _FILES:
            (target / name).write_bytes((folder / name).read_bytes())
    except OSError as error:
        raise Problem(f"{save} cannot be written: {error.strerror or error}") from error
    click.echo(f"wrote {' and '.join(str(target / name) for name in _FILES)}")
    click.echo(f"now try: quickchecks score {target / _FILES[0]} --checks {target / _FILES[1]}")
