"""`quickchecks compare`: two results of the same dataset, side by side."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from quickchecks._results.comparison import EvalComparison

__all__ = ("compare",)

_EPILOG = """\b
Examples:
  quickchecks compare main.json branch.json
  quickchecks compare main.json branch.json --fail-on regression --fail-on "cost>+10%" -o comparison.md
"""

_LIMIT = re.compile(r"(cost|tokens|seconds)\s*>\s*\+?(\d+(?:\.\d+)?)\s*%")


class _FailOn(click.ParamType):  # type: ignore[type-arg]  # generic only in newer versions of click
    """regression, never, or a limit such as cost>+10%."""

    name = "fail-on"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value not in ("regression", "never") and not _LIMIT.fullmatch(value):
            self.fail(f"{value!r} is none of regression, never, 'cost>+10%', 'tokens>+10%' and 'seconds>+10%'", param, ctx)
        return value


@click.command(short_help="Compare two results: what broke, what mended, what it costs.", epilog=_EPILOG)
@click.argument("before", metavar="BEFORE.json")
@click.argument("after", metavar="AFTER.json")
@click.option(
    "--fail-on",
    "conditions",
    type=_FailOn(),
    multiple=True,
    default=("regression",),
    metavar="CONDITION",
    help="What makes the exit code 1: regression (the default), 'cost>+10%' (or tokens, or seconds), or never. Repeatable.",
)
@click.option(
    "-o", "--output", "reports", metavar="FILE", multiple=True, help="Write it: .json, .jsonl, .csv or .md. Repeatable."
)
def compare(before: str, after: str, conditions: tuple[str, ...], reports: tuple[str, ...]) -> None:
    """Compare two results that `quickchecks run -o result.json` wrote, joined by the ids of their items.

    A regression is an item that broke, or a scorer that is worse by more than chance explains. Exit codes: 0 no condition
    holds; 1 one does; 2 wrong usage; 3 there is nothing to compare.
    """
    from quickchecks._results.comparison import compare_results
    from quickchecks._results.saved import load_result
    from quickchecks.cli._evaluating import Written
    from quickchecks.cli._output import print_lines
    from quickchecks.reports.comparisons import COMPARISON_FORMS, comparison_lines
    from quickchecks.reports.terminal import line

    if "never" in conditions and len(conditions) > 1:
        raise click.UsageError("--fail-on never stands alone")
    first, second = load_result(before), load_result(after)
    files = Written(reports, [before, after], COMPARISON_FORMS)
    try:
        comparison = compare_results(first, second)
    except BaseException:
        files.drop()
        raise
    files.write(comparison)
    code, said = _decided(comparison, conditions)
    print_lines(comparison_lines(comparison, before, after))
    verdict, _, rest = said.partition(":")
    style = {0: "green", 1: "red"}.get(code, "yellow")
    print_lines([line((verdict, f"bold {style}"), f"{':' if rest else ''}{rest} · exit {code}")])
    for path in reports:
        click.echo(f"wrote {path}", err=True)
    click.get_current_context().exit(code)


def _decided(comparison: EvalComparison, conditions: tuple[str, ...]) -> tuple[int, str]:
    """The exit code, and what it says."""
    if not comparison.common:
        return 3, "nothing compared: the results have no item in common that asks and expects the same"
    if not comparison.scorers and not comparison.broke and not comparison.mended and "regression" in conditions:
        return 3, "nothing compared: no scorer judged an item in both"
    holding = [said for condition in conditions if (said := _holds(condition, comparison))]
    unknown = [condition for condition in conditions if _measure(condition, comparison) is False]
    if holding:
        return 1, f"regressed: {'; '.join(holding)}"
    if unknown:
        return 3, f"undecided: not every run carries what {', '.join(unknown)} asks about"
    if comparison.open_ended and "regression" in conditions:
        return 3, f"undecided: {comparison.open_ended}"
    changed = f"{len(comparison.broke)} broke, {len(comparison.mended)} mended"
    return 0, f"nothing decided: {changed}" if conditions == ("never",) else f"no regression: {changed}"


def _measure(condition: str, comparison: EvalComparison) -> bool | float | None:
    """By how much what a condition asks about has grown; False when that is not known, None when it asks about none."""
    found = _LIMIT.fullmatch(condition)
    if found is None:
        return None
    return next((one.growth for one in comparison.measures if one.name == found[1]), False)


def _holds(condition: str, comparison: EvalComparison) -> str:
    """What makes a condition hold, in words; empty when it does not."""
    if condition == "regression" and comparison.regressed:
        fell = [one.scorer for one in comparison.scorers if one.difference < 0]
        if comparison.broke:
            return f"{len(comparison.broke)} broke"
        return f"the verdict fell to {comparison.verdicts[1]}" if comparison.verdict_fell else f"{', '.join(fell)} fell"
    growth, found = _measure(condition, comparison), _LIMIT.fullmatch(condition)
    if found is None or growth is False or growth is None or growth <= float(found[2]) / 100:
        return ""
    grown = "grew from nothing" if growth == float("inf") else f"grew by {100 * growth:.1f} %"
    return f"{found[1]} {grown}, at most {found[2]} % allowed"
