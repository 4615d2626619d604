"""The report that a terminal shows, as lines that know their indentation and style.

It is printed by the command: in colour and wrapped on a terminal, as whole lines into a pipe.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from quickchecks._results.flips import ChangedCheck, Comparison
from quickchecks._results.result import FailOn, FailureGroup, RunsResult, ScorerSummary, Verdict, many
from quickchecks.reports import _words
from quickchecks.reports._lines import BLANK, Line, line
from quickchecks.reports._safe import path, short

__all__ = ("BLANK", "Line", "line", "lines_of")

#: The most kinds of failure that are shown.
MAX_GROUPS = 20
#: A longer check stands on a line of its own, above its counts.
MAX_NAME = 52
MAX_EXPRESSION = 300
#: So many characters of places are named beside the first one of a kind.
MAX_PLACES = 70

_MARKS = {"error": "!", "no_evidence": "?"}
_VERDICT_STYLES: dict[Verdict | None, str] = {"passed": "green", "failed": "red", "scored": "red", "undecided": "yellow"}
_COUNT_STYLES = {"passed": "green", "failed": "red", "error": "red", "no_evidence": "yellow"}


def lines_of(result: RunsResult, *, fail_on: FailOn = "any") -> Iterator[Line]:
    """The lines that show a result.

    Args:
        result: The result.
        fail_on: What makes the command exit 1.

    Yields:
        The lines, from the counts to the verdict.
    """
    yield line((_words.header(result, short), "bold"), right=_words.duration(result.seconds))
    yield BLANK
    shown = [one for one in result.scorers if one.mode != "shadow"]
    if result.runs:
        yield from _table(shown)
        hidden = len(result.scorers) - len(shown)
        if hidden:
            yield line((f"{many(hidden, 'shadow check')} not shown: -o FILE records what they say", "dim"), indent=2)
        yield BLANK
    yield from _failures(result.failures)
    yield from _missed(shown)
    if result.comparison is not None:
        yield from _comparison(result.comparison)
    yield from _remarks(result)
    code = result.exit_code(fail_on)
    verdict = _words.verdict(result)
    explained = short(f": {result.explanation}") if result.explanation else ""
    yield line((f"{verdict}", f"bold {_VERDICT_STYLES.get(result.verdict, '')}".strip()), f"{explained} · exit {code}")


def _table(scorers: Sequence[ScorerSummary]) -> Iterator[Line]:
    names = [_name(one.scorer) for one in scorers]
    width = max((len(name) for name in names if len(name) <= MAX_NAME), default=0)
    column = 2 + width + 3
    passed = max((len(f"{one.passed:,}") for one in scorers), default=0)
    failed = max((len(f"{one.failed:,}") for one in scorers if one.failed), default=0)
    for name, one in zip(names, scorers, strict=True):
        cells = _cells(one, passed, failed)
        if len(name) > MAX_NAME:
            yield line((name, "bold"), indent=2, hang=4)
            yield line(*cells, indent=column, hang=column)
        else:
            yield line((f"{name:<{width}}", "bold"), "   ", *cells, indent=2, hang=column)


def _cells(one: ScorerSummary, passed: int, failed: int) -> Iterator[tuple[str, str]]:
    """The counts of a scorer: passed and failed in columns of these widths, then what else there is, then notes."""
    others = [column for column in ("graded", "not_applicable", "no_evidence", "error") if getattr(one, column)]
    gap = ""
    if one.passed or one.failed or not others:
        yield f"{one.passed:>{passed},} passed", "green" if one.passed else "dim"
        gap = "   "
        if one.failed:
            yield f"{gap}{one.failed:>{failed},} failed", "red"
        elif failed and others:
            yield " " * (len(gap) + failed + len(" failed")), ""
    for column in others:
        yield f"{gap}{getattr(one, column):,} {_words.COLUMNS[column]}", _COUNT_STYLES.get(column, "")
        gap = "   "
    notes = [short(note) for note in _words.notes(one)]
    if notes:
        yield f" ({'; '.join(notes)})", "red" if one.verdict == "scored" else "dim"


def _name(scorer: str) -> str:
    shown = short(scorer)
    return shown if len(shown) <= MAX_EXPRESSION else shown[: MAX_EXPRESSION - 1] + "…"


def _failures(groups: Sequence[FailureGroup]) -> Iterator[Line]:
    for group in groups[:MAX_GROUPS]:
        mark = _MARKS.get(group.kind, "✗")
        style = ("yellow" if group.kind == "no_evidence" else "red") if group.asserted else "dim"
        first = group.examples[0]
        what = "  ".join(part for part in (_name(group.scorer), _words.kind(group)) if part)
        yield line((mark, style), " ", (path(first.place), "bold"), "  ", what, indent=2, whole=True)
        yield line(short(first.reason), indent=6)
        if group.why:
            yield line(("why: ", "dim"), short(group.why), indent=6)
        if group.count > 1:
            yield line((f"{group.count - 1:,} more of this kind: {_others(group)}", "dim"), indent=6, whole=True)
    if len(groups) > MAX_GROUPS:
        yield line((f"… and {many(len(groups) - MAX_GROUPS, 'more kind')} of failure: -o FILE.md shows them", "dim"), indent=2)
    if groups:
        yield BLANK


def _others(group: FailureGroup) -> str:
    """The places of the other examples, as many as fit on a line, and at least one."""
    places = [path(example.place) for example in group.examples[1:]]
    shown = places[:1]
    for place in places[1:]:
        if len(", ".join((*shown, place))) > MAX_PLACES:
            break
        shown.append(place)
    return ", ".join(shown) + (", …" if group.count - 1 > len(shown) else "")


def _missed(scorers: Sequence[ScorerSummary]) -> Iterator[Line]:
    missed = [one for one in scorers if one.verdict == "scored"]
    for one in missed:
        yield line(("✗", "red"), " ", _name(one.scorer), f"  mean {one.mean:.3g}, needs {one.threshold}", indent=2, hang=6)
        if one.why:
            yield line(("why: ", "dim"), short(one.why), indent=6)
        if one.furthest is not None:
            yield line("furthest off: ", (path(one.furthest.place), "bold"), "  ", short(one.furthest.reason), indent=6)
    if missed:
        yield BLANK


def _comparison(comparison: Comparison) -> Iterator[Line]:
    yield line(("compared with ", "bold"), (path(comparison.against), "bold"), indent=2)
    for changed in comparison.changed:
        yield from _changed(changed)
    for told, checks in (("new", comparison.new), ("removed", comparison.removed)):
        for check in checks:
            yield line(f"{told}: ", _name(check), indent=4)
    if comparison.unchanged or not comparison.changed:
        yield line((f"unchanged: {many(comparison.unchanged, 'check')}", "dim"), indent=4)
    yield BLANK


def _changed(changed: ChangedCheck) -> Iterator[Line]:
    name = f"{_name(changed.name)}: " if changed.name else ""
    yield line((name + _name(changed.after), "bold"), indent=4, hang=6)
    if changed.before != changed.after:
        yield line(("was ", "dim"), _name(changed.before), indent=6, hang=8)
    for note in changed.notes:
        yield line(short(note), indent=6)
    for flip in changed.flips:
        style = "" if not flip.count else "red" if flip.after in ("failed", "error") else "yellow"
        yield line((_words.flip(flip), style or "dim"), indent=6)
        for run in flip.examples:
            yield line((path(run.place), "bold"), "  ", short(run.after), indent=8, hang=10)
            yield line(("before: ", "dim"), short(run.before), indent=10)


def _remarks(result: RunsResult) -> Iterator[Line]:
    for warning in result.warnings:
        yield line(("warning: ", "yellow"), short(warning), indent=2)
    for gap in result.gaps:
        where = f" ({many(gap.runs, 'run')}, first {path(gap.first)})"
        yield line(("gap: ", "yellow"), short(gap.note), where, indent=2, whole=True)
    if result.warnings or result.gaps:
        yield BLANK
