"""`quickchecks compare`: two results of the same dataset, side by side."""

from __future__ import annotations

import os
from math import inf

import click

from quickchecks.cli import _completing

__all__ = ("compare",)

_EPILOG = """\b
Examples:
  quickchecks compare main.json branch.json
  quickchecks compare main.json branch.json --fail-on regression --fail-on "cost>+10%" -o comparison.md
"""


class _FailOn(click.ParamType):  # type: ignore[type-arg]  # generic only in newer versions of click
    """regression, never, or a limit such as cost>+10%."""

    name = "fail-on"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        from quickchecks.reports._decision import LIMIT

        found = LIMIT.fullmatch(value)
        if value not in ("regression", "never") and (found is None or float(found[2]) == inf):
            self.fail(f"{value!r} is none of regression, never, 'cost>+10%', 'tokens>+10%' and 'seconds>+10%'", param, ctx)
        return value


@click.command(short_help="Compare two results: what broke, what mended, what it costs.", epilog=_EPILOG)
@click.argument("before", metavar="BEFORE.json", shell_complete=_completing.files)
@click.argument("after", metavar="AFTER.json", shell_complete=_completing.files)
@click.option(
    "--fail-on",
    "conditions",
    type=_FailOn(),
    shell_complete=_completing.words("regression", "never"),
    multiple=True,
    default=("regression",),
    metavar="CONDITION",
    help="What makes the exit code 1: regression (the default), 'cost>+10%' (or tokens, or seconds), or never. Repeatable.",
)
@click.option(
    "-o",
    "--output",
    "reports",
    metavar="FILE",
    multiple=True,
    shell_complete=_completing.reports_of("comparison"),
    help="Write it: .html, .md, .junit.xml, .json, .jsonl or .csv. Repeatable.",
)
def compare(before: str, after: str, conditions: tuple[str, ...], reports: tuple[str, ...]) -> None:
    """Compare two results that `quickchecks run -o result.json` wrote, joined by the ids of their items.

    A regression is an item that broke (it passed every repetition and does not now, or some and now none), a verdict that
    fell, or a scorer that is worse by more than chance explains. Exit codes: 0 no condition holds; 1 one does; 2 wrong
    usage; 3 it cannot be told: there is nothing to compare, a result is not whole, a scorer judges less than half of what it
    judged, or not every item carries what a limit asks about.
    """
    from msgspec.structs import replace

    from quickchecks._results.changes import Decision
    from quickchecks._results.comparison import compare_results
    from quickchecks._results.saved import load_result
    from quickchecks.cli._evaluating import Written
    from quickchecks.cli._github import present_step, tell
    from quickchecks.cli._output import print_lines
    from quickchecks.reports import as_md, form_of, github
    from quickchecks.reports._decision import decided
    from quickchecks.reports._lines import line
    from quickchecks.reports._safe import one_line
    from quickchecks.reports.terminal_comparison import comparison_lines

    if "never" in conditions and len(conditions) > 1:
        raise click.UsageError("--fail-on never stands alone")
    step = present_step()
    first, second = load_result(before), load_result(after)
    files = Written(reports, [before, after], lambda path: form_of(path, "comparison"))
    try:
        comparison = compare_results(first, second)
    except BaseException:
        files.drop()
        raise
    decision = decided(comparison, conditions)
    if os.path.samefile(before, after):
        decision = Decision(3, "nothing compared: both are the same file", conditions)
    comparison = replace(comparison, decision=decision)
    files.write(comparison)
    print_lines(comparison_lines(comparison, before, after))
    verdict, _, rest = one_line(decision.said).partition(":")
    style = {0: "green", 1: "red"}.get(decision.exit_code, "yellow")
    print_lines([line((verdict, f"bold {style}"), f"{':' if rest else ''}{rest} · exit {decision.exit_code}")])
    for path in files.files.written:
        click.echo(f"wrote {path}", err=True)
    if step is not None:
        tell(step, decision.exit_code, github.of_comparison(comparison, decision), as_md.comparison(comparison))
    files.files.check()
    click.get_current_context().exit(decision.exit_code)
