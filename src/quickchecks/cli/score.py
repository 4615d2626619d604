"""`quickchecks score`: score recordings with checks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

import click

from quickchecks.cli import _completing
from quickchecks.cli._options import checks_options, reading, reading_options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from quickchecks._results.result import RunsResult
    from quickchecks._scorer.checks_file import CheckEntry
    from quickchecks.reports._step import Step

__all__ = ("score",)

FailOn = Literal["any", "gates", "never"]

_EPILOG = """\b
Examples:
  quickchecks score runs.jsonl --check "no_tool_errors()"
  quickchecks score runs/ --checks checks.yaml -o report.md --failures failures.jsonl
  quickchecks score runs/ --checks checks.yaml --against old.yaml
"""


@click.command(short_help="Score recorded runs with checks.", epilog=_EPILOG)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", shell_complete=_completing.files)
@checks_options
@reading_options
@click.option(
    "-o",
    "--output",
    "reports",
    metavar="FILE",
    multiple=True,
    shell_complete=_completing.reports_of("runs"),
    help="Write a report: .html, .md, .junit.xml, .json, .jsonl or .csv. Repeatable.",
)
@click.option(
    "--failures",
    metavar="FILE",
    shell_complete=_completing.files,
    help="Write the runs that failed a check, as JSON Lines that can be scored again.",
)
@click.option(
    "--fail-on",
    type=click.Choice(get_args(FailOn)),
    default="any",
    show_default=True,
    help="What makes the exit code 1: anything asserted, gates and errors only, or nothing.",
)
@click.option(
    "--max-errors",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    metavar="N",
    help="How many records may be unreadable, and runs broken off, before that is a failure.",
)
@click.option(
    "--against",
    metavar="FILE",
    shell_complete=_completing.files,
    help="A checks file to compare with: shows which runs a changed check flips.",
)
@click.option(
    "--try",
    "tried",
    metavar="EXPR",
    shell_complete=_completing.check_names,
    help="A check to try instead of one of the others: shows which runs it flips.",
)
@click.option(
    "--instead-of", metavar="NAME", shell_complete=_completing.check_names, help="The check that --try takes the place of."
)
def score(
    paths: tuple[str, ...],
    expressions: tuple[str, ...],
    files: tuple[str, ...],
    format: str | None,
    maps: tuple[str, ...],
    adapter: str | None,
    part: str | None,
    reports: tuple[str, ...],
    failures: str | None,
    fail_on: FailOn,
    max_errors: int,
    against: str | None,
    tried: str | None,
    instead_of: str | None,
) -> None:
    """Score the runs that are recorded in files, in folders, or on standard input (-).

    Every check given here must pass on every run that it applies to, unless its entry in a checks file says otherwise.
    """
    from quickchecks._results.flips import Flips
    from quickchecks._results.result import many
    from quickchecks.cli._github import present_step
    from quickchecks.cli._output import print_lines
    from quickchecks.cli._scoring import score_all
    from quickchecks.cli._suite import entries_of, file_entries, instead, need_no_items
    from quickchecks.reports.terminal import lines_of

    if against and tried:
        raise click.UsageError("--against and --try are two ways to compare: use one of them")
    if instead_of and not tried:
        raise click.UsageError("--instead-of names the check that --try takes the place of: add --try EXPR")
    entries = entries_of(expressions, files)
    need_no_items(entries)
    step = present_step()
    flips = None
    if against:
        others = file_entries(against)
        need_no_items(others)
        flips = Flips(others, entries, against)
    elif tried:
        before, entries = entries, instead(entries, tried, instead_of)
        need_no_items(entries)
        flips = Flips(before, entries, instead_of or before[0].scorer.identity)
    result, outputs = score_all(
        paths,
        entries,
        reading=reading(format, adapter, maps, part),
        reports=reports,
        failures=failures,
        flips=flips,
        max_errors=max_errors,
    )
    print_lines(lines_of(result, fail_on=fail_on))
    for path in outputs.files.written:
        runs = f": {many(outputs.failing, 'run')} that failed" if path == failures else ""
        click.echo(f"wrote {path}{runs}", err=True)
    code = result.exit_code(fail_on)
    if step is not None:
        _tell(step, result, code, entries)
    outputs.files.check()
    click.get_current_context().exit(code)


def _tell(step: Step, result: RunsResult, code: int, entries: Sequence[CheckEntry]) -> None:
    """Show a result on GitHub."""
    from io import BytesIO

    from quickchecks.cli._github import tell
    from quickchecks.reports import as_md, github

    page = BytesIO()
    as_md.start(page, entries).finish(result)
    tell(step, code, github.of_runs(result, code), page.getvalue())
