"""What the terminal shows at the end of a session: the verdict of each evaluation, the scorers, and the files written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from quickchecks import _render
from quickchecks._render import many
from quickchecks.pytest_plugin._explaining import deciding
from quickchecks.reports._safe import one_line

if TYPE_CHECKING:
    import pytest

    from quickchecks._gates import Counts
    from quickchecks._results.evaluation import EvalResult
    from quickchecks.pytest_plugin._merging import Evaluated

__all__ = ("show",)

#: The most evaluations, scorers and warnings that are shown; -v shows all.
_MOST_ROWS = 20
_MOST_PASSED = 10
_MOST_WARNINGS = 5
_WIDEST = 70

_COLOURS = {"passed": "green", "failed": "red", "scored": "red", "undecided": "yellow"}
#: What stands where nothing was asserted; the longest of these words.
_NOTHING = "no verdict"


def show(
    terminal: pytest.TerminalReporter, tests: Sequence[Evaluated], result: EvalResult, notes: Sequence[tuple[str, bool]]
) -> None:
    """Show the table at the end of the session.

    Args:
        terminal: The terminal.
        tests: What each test has evaluated, in the order of the tests.
        result: All of it together.
        notes: What became of the files, and whether each is written.
    """
    if not result.parts and not notes:
        return
    everything = terminal.verbosity > 0
    terminal.write_sep("=", "quickchecks")
    verdict = result.verdict or _NOTHING
    told = [many(len(result.parts), "evaluation"), many(result.summary.total_items, "item")]
    broke = f", {result.summary.errored} broke" if result.summary.errored else ""
    left_out = " (interrupted)" if result.interrupted else f" ({one_line(result.incomplete)})" if result.incomplete else ""
    _row(terminal, verdict, f"{', '.join(told)}{broke}{left_out}", indent=0)
    if terminal.verbosity >= 0 and result.parts:
        terminal.write_line("")
        _show_parts(terminal, tests, everything)
        terminal.write_line("")
        for line in _table(result, everything):
            terminal.write_line(line)
        _show_warnings(terminal, result.warnings, everything)
    _show_forgotten(terminal, tests, everything)
    for note, written in notes:
        terminal.write_line(one_line(note), red=not written)


def _row(terminal: pytest.TerminalReporter, verdict: str, text: str, *, indent: int = 2) -> None:
    colour = _COLOURS.get(verdict)
    markup = {colour: True} if colour else {}
    terminal.write(" " * indent)
    terminal.write(f"{verdict:<{len(_NOTHING)}}", **markup)
    terminal.write_line(f"  {text}")


def _show_parts(terminal: pytest.TerminalReporter, tests: Sequence[Evaluated], everything: bool) -> None:
    judged = [test for test in tests if not test.left_out]
    rows = [(name, result.verdict or _NOTHING, _said(result)) for test in judged for name, result in test.parts()]
    passed = [row for row in rows if row[1] == "passed"]
    few = everything or len(passed) <= _MOST_PASSED
    shown = rows if few else [row for row in rows if row[1] != "passed"]
    shown += [(test.name, "failed", one_line(test.falls)) for test in tests if test.falls]
    shown += [(test.name, _NOTHING, one_line(test.left_out)) for test in tests if test.left_out and (test.sure or test.results)]
    left = 0 if everything else max(len(shown) - _MOST_ROWS, 0)
    shown = shown[: len(shown) - left]
    names = [_render.capped(one_line(name), _WIDEST) for name, _, _ in shown]
    width = max(map(len, names), default=0)
    for name, (_, verdict, text) in zip(names, shown, strict=True):
        _row(terminal, verdict, f"{name:<{width}}  {text}")
    if left:
        terminal.write_line(f"  … and {left} more: -v shows them")
    if not few:
        _row(terminal, "passed", f"{many(len(passed), 'evaluation')}: -v shows them")


def _said(result: EvalResult) -> str:
    """How many items, and what decided the verdict, in a few words."""
    told = many(result.summary.total_items, "item")
    if result.repetitions > 1:
        told += f" × {result.repetitions}"
    decided = deciding(result)
    if result.summary.errored and not decided.startswith(f"{result.summary.errored} of "):  # it says that itself
        told += f", {result.summary.errored} broke"
    return f"{told}, {one_line(decided)}" if decided else told


def _table(result: EvalResult, everything: bool) -> Iterator[str]:
    counts = [(one_line(label), found) for label, found in result.summary.scorers.items()]
    shown = counts if everything else counts[:_MOST_ROWS]
    if not shown:
        return
    names = [_render.capped(name, _WIDEST) for name, _ in shown]
    width = max(len("scorer"), *map(len, names))
    yield f"  {'scorer':<{width}}  passed  failed  other"
    for name, (_, found) in zip(names, shown, strict=True):
        yield f"  {name:<{width}}  {found.passed or '':>6}  {found.failed or '':>6}  {_others(found)}".rstrip()
    if len(counts) > len(shown):
        yield f"  … and {many(len(counts) - len(shown), 'scorer')} more: -v shows them"


def _others(counts: Counts) -> str:
    told = (
        (counts.graded, "graded"),
        (counts.not_applicable, "not applicable"),
        (counts.no_evidence, "no evidence"),
        (counts.errors, "broke"),
        (counts.unscored, "unscored"),
    )
    return ", ".join(f"{count} {name}" for count, name in told if count)


def _show_warnings(terminal: pytest.TerminalReporter, warnings: Sequence[str], everything: bool) -> None:
    shown = warnings if everything else warnings[:_MOST_WARNINGS]
    for warning in shown:
        terminal.write_line(f"  warning: {one_line(warning)}", yellow=True)
    if len(warnings) > len(shown):
        terminal.write_line(f"  … and {many(len(warnings) - len(shown), 'warning')} more: -v shows them")


def _show_forgotten(terminal: pytest.TerminalReporter, tests: Sequence[Evaluated], everything: bool) -> None:
    """Say where a test passed although its evaluation did not: mostly nobody asked the result."""
    forgotten = [
        (name, result.verdict)
        for test in tests
        if test.passed
        for name, result in test.parts()
        if result.verdict not in (None, "passed")
    ]
    for name, verdict in forgotten if everything else forgotten[:_MOST_ROWS]:
        terminal.write_line(
            f"{one_line(name)} passed, and its evaluation is {verdict}: does the test `assert result.passed`?", yellow=True
        )
    if not everything and len(forgotten) > _MOST_ROWS:
        terminal.write_line(f"… and {len(forgotten) - _MOST_ROWS} more: -v shows them", yellow=True)
