"""`quickchecks compare`: two results of the same dataset, side by side."""

from __future__ import annotations

import os
import re
from math import inf
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from quickchecks._results.changes import EvalComparison, MeasureChange

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
        found = _LIMIT.fullmatch(value)
        if value not in ("regression", "never") and (found is None or float(found[2]) == inf):
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

    A regression is an item that broke (it passed every repetition and does not now, or some and now none), a verdict that
    fell, or a scorer that is worse by more than chance explains. Exit codes: 0 no condition holds; 1 one does; 2 wrong
    usage; 3 it cannot be told: there is nothing to compare, a result is not whole, a scorer judges less than half of what it
    judged, or not every item carries what a limit asks about.
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
    same = os.path.samefile(before, after)
    code, said = (3, "nothing compared: both are the same file") if same else _decided(comparison, conditions)
    print_lines(comparison_lines(comparison, before, after))
    verdict, _, rest = said.partition(":")
    style = {0: "green", 1: "red"}.get(code, "yellow")
    print_lines([line((verdict, f"bold {style}"), f"{':' if rest else ''}{rest} · exit {code}")])
    for path in reports:
        click.echo(f"wrote {path}", err=True)
    click.get_current_context().exit(code)


def _decided(comparison: EvalComparison, conditions: tuple[str, ...]) -> tuple[int, str]:
    """The exit code, and what it says."""
    from quickchecks._render import many
    from quickchecks.reports._safe import one_line
    from quickchecks.reports.comparisons import counted, differing

    left_out = f"; beside these: {out}" if (out := differing(comparison)) else ""
    if not comparison.common:
        return 3, f"nothing compared: the results have no item in common that asks and expects the same{left_out}"
    limits = [_Limit(condition, comparison) for condition in conditions if _LIMIT.fullmatch(condition)]
    wanted = "regression" in conditions
    holding = [said for said in (_regression(comparison) if wanted else "", *(one.exceeded for one in limits)) if said]
    if holding:
        return 1, f"regressed: {'; '.join(holding)}"
    compared = f"{counted(comparison)}, on {many(len(comparison.common), 'item')} in both{left_out}"
    if conditions == ("never",):
        return 0, f"nothing decided: {compared}"
    if wanted and not comparison.judged:
        return 3, f"nothing compared: no scorer judged an item in both{left_out}"
    unknown = [one.unknown for one in limits if one.unknown]
    if unknown:
        return 3, f"undecided: {'; '.join(unknown)}"
    if comparison.open_ended:
        return 3, f"undecided: {one_line(comparison.open_ended)}"
    lower = [one.scorer for one in comparison.scorers if one.difference < 0]
    if lower:
        compared += f"; lower, by no more than chance can explain: {one_line(', '.join(lower))}"
    kept = "; ".join(one.kept for one in limits)
    if not wanted:
        return 0, f"within the limit: {kept}; nothing was asked about the rest: {compared}"
    return 0, f"no regression: {compared}{'; ' if kept else ''}{kept}"


def _regression(comparison: EvalComparison) -> str:
    """What makes it a regression, in words; empty when it is none."""
    from quickchecks.reports._safe import one_line

    if comparison.broke:
        return f"{len(comparison.broke)} broke"
    if comparison.verdict_fell:
        return f"the verdict fell to {comparison.verdicts[1]}"
    return f"{one_line(', '.join(comparison.fallen))} fell" if comparison.fallen else ""


class _Limit:
    """A limit on growth, such as cost>+10%, and what is known of it.

    Args:
        condition: The limit as it was written.
        comparison: What is known.
    """

    def __init__(self, condition: str, comparison: EvalComparison) -> None:
        found = _LIMIT.fullmatch(condition)
        assert found is not None
        self._name, self._most = found[1], found[2]
        self._items = len(comparison.common)
        self._measure: MeasureChange | None = next((one for one in comparison.measures if one.name == self._name), None)

    @property
    def unknown(self) -> str:
        """Why the growth is not known, in words; empty when it is."""
        one = self._measure
        if one is None:
            return f"{self._name} is known on no item in common"
        if one.items == self._items:
            return ""
        known = f"{one.known_before} of the {self._items} items in common in the first, on {one.known_after} in the second"
        return f"{self._name} is known on {known}"

    @property
    def exceeded(self) -> str:
        """That it grew by more, in words; empty when it did not, or it is not known."""
        if self.unknown or self._measure is None or self._measure.growth <= float(self._most) / 100 + 1e-9:
            return ""
        growth = self._measure.growth
        grown = "grew from nothing" if growth == inf else f"grew by {100 * growth:.1f} %"
        return f"{self._name} {grown}, at most {self._most} % allowed"

    @property
    def kept(self) -> str:
        """By how much it changed, in words."""
        growth = 0.0 if self._measure is None else self._measure.growth
        return f"{self._name} changed by {100 * growth:+.1f} %, at most +{self._most} % allowed"
