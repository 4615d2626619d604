"""`quickchecks inspect`: what a recording was recognised as, and one of its runs as a transcript."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from quickchecks.cli import _completing
from quickchecks.cli._app import Problem
from quickchecks.cli._options import Reading, reading, reading_options, users_code

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quickchecks._run import Run
    from quickchecks.errors import RecordingError
    from quickchecks.reports.terminal import Line

__all__ = ("inspect",)

#: So many records that cannot be read are told one by one.
MAX_ERRORS = 5

_EPILOG = """\b
Examples:
  quickchecks inspect runs.jsonl            what the file holds, and its first run
  quickchecks inspect runs.jsonl:812        the run on line 812, as reports name it
"""


@click.command(short_help="Show what a recording holds, and a run of it.", epilog=_EPILOG)
@click.argument("file", metavar="FILE[:LINE]", shell_complete=_completing.files)
@click.option("--run", "number", type=click.IntRange(min=1), metavar="N", help="Show the Nth run.")
@click.option("--full", is_flag=True, help="Show long texts and values whole.")
@reading_options
def inspect(
    file: str,
    number: int | None,
    full: bool,
    format: str | None,
    maps: tuple[str, ...],
    adapter: str | None,
    part: str | None,
) -> None:
    """Say what a recording was recognised as, and show one of its runs as a transcript."""
    from quickchecks.cli._output import print_lines

    print_lines(_lines(file, number, full, reading(format, adapter, maps, part)))


def _lines(given: str, number: int | None, full: bool, options: Reading) -> Iterator[Line]:
    from quickchecks import adapters
    from quickchecks.cli._interrupts import Interrupts
    from quickchecks.cli._one_run import place_of, run_at
    from quickchecks.cli._transcript import transcript
    from quickchecks.reports._safe import path
    from quickchecks.reports.terminal import BLANK, line

    file, wanted = place_of(given)
    with Interrupts() as interrupts, users_code(options["adapter"], interrupts):
        records = adapters.read(file, **options)
    if wanted is not None:
        yield from transcript(run_at(records, wanted, number, given), full=full)
        return
    found = _Found(number or 1)
    for record in records:
        found.add(record)
    if found.runs and found.chosen is None:
        raise Problem(f"{file} holds {found.runs:,} runs, so there is none with the number {number}")
    yield line((path(file), "bold"), "  ", found.told(), whole=True)
    yield BLANK
    yield from found.remarks()
    if found.chosen is None:
        raise Problem(f"{file} holds no run that can be read")
    if found.runs > 1:
        yield line((f"run {number or 1} of {found.runs:,}" + ("; --run N shows another" if number is None else ""), "dim"))
    yield from transcript(found.chosen, full=full)


class _Found:
    """What a recording holds, added up."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.runs = self.unreadable = 0
        self.chosen: Run | None = None
        self.formats: dict[str, int] = {}
        self.gaps: dict[str, int] = {}
        self.errors: list[RecordingError] = []

    def add(self, record: Run | RecordingError) -> None:
        from quickchecks._run import Run

        if not isinstance(record, Run):
            self.unreadable += 1
            if len(self.errors) < MAX_ERRORS:
                self.errors.append(record)
            return
        self.runs += 1
        if self.runs == self.number:
            self.chosen = record
        self.formats[record.format] = self.formats.get(record.format, 0) + 1
        for note in dict.fromkeys(gap.note for gap in record.gaps):
            if note in self.gaps or len(self.gaps) < 50:
                self.gaps[note] = self.gaps.get(note, 0) + 1

    def told(self) -> str:
        from quickchecks._results.result import RunsResult
        from quickchecks.reports._words import header

        return header(RunsResult(self.runs, self.unreadable, formats=self.formats))

    def remarks(self) -> Iterator[Line]:
        from quickchecks._results.result import many
        from quickchecks.reports._safe import lines, one_line
        from quickchecks.reports.terminal import BLANK, line

        for note, count in self.gaps.items():
            yield line(("gap: ", "yellow"), one_line(note), f" ({many(count, 'run')})", indent=2)
        for error in self.errors:
            for number, text in enumerate(lines(str(error))):
                yield line(("" if number else "✗ ", "red"), text, indent=2 if not number else 4, hang=4)
        if self.unreadable > len(self.errors):
            yield line(f"… and {self.unreadable - len(self.errors):,} more that cannot be read", indent=4)
        if self.gaps or self.errors:
            yield BLANK
