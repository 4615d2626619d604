"""Scored runs as a page: written at the end, of what was kept of the failing runs while they streamed by."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import BinaryIO

from quickchecks import _render
from quickchecks._results.environment import environment
from quickchecks._results.flips import Comparison
from quickchecks._results.result import FailureGroup, RunsResult, ScorerSummary, many
from quickchecks._run import Run
from quickchecks._score import Score
from quickchecks._scorer.checks_file import CheckEntry
from quickchecks._scorer.thresholds import SLACK
from quickchecks.errors import RecordingError
from quickchecks.reports import _html_found as found
from quickchecks.reports import _words
from quickchecks.reports._html import Element, Node, document, el, more
from quickchecks.reports._html_evaluation import MAX_KINDS, VERDICTS, footer, headline

__all__ = ("start",)

_MUST = {"gate": "pass on every run", "threshold": "", "watch": "watched", "shadow": "only recorded"}
#: What is said of runs on which something went wrong, the worst first; of each run only one.
_TOLD = ("failed", "broke off", "without evidence", "otherwise")
#: So many kinds are counted; the runs of further ones are not kept.
_MAX_KEYS = 1_000


def start(stream: BinaryIO, entries: Sequence[CheckEntry]) -> _Page:
    """Start a report. See `quickchecks.reports`."""
    return _Page(stream, entries)


class _Page:
    def __init__(self, stream: BinaryIO, entries: Sequence[CheckEntry]) -> None:
        self._stream = stream
        self._scorers = {entry.scorer.identity: entry.scorer for entry in entries}
        order = ("gate", "threshold", "watch", "shadow")
        self._modes: dict[str, str] = {}
        for entry in entries:  # of two entries of one scorer the mode that decides most holds
            known = self._modes.get(entry.scorer.identity, "shadow")
            self._modes[entry.scorer.identity] = min(known, entry.mode, key=order.index)
        self._cases = found.Cases()
        self._kept: dict[tuple[str, str], list[found.Case]] = {}  # by kind of failure and place
        self._counts: dict[str, int] = {}
        self._runs = 0
        self._told: dict[str, int] = dict.fromkeys(_TOLD, 0)

    def add(self, run: Run | None, scores: Sequence[Score], error: RecordingError | None) -> None:
        if run is None:
            return
        self._runs += 1
        wrong = [score for score in scores if self._is_wrong(score)]
        keys = [_key(score) for score in wrong] + (["run_failed"] if run.error is not None else [])
        if not keys:
            return
        self._told[self._worst(wrong, broke_off=run.error is not None)] += 1
        if self._cases.full or not [key for key in keys if self._is_new(key)]:
            return
        place = str(run.source) if run.source is not None else f"run {self._runs}"
        about = [el("span", f" {run.id}", cls="tag")] if run.id else []
        case = self._cases.make(run, wrong, [el("code", _render.capped(place, 200)), *about])
        for key in dict.fromkeys(keys):
            self._kept.setdefault((key, place), []).append(case)

    def _is_wrong(self, score: Score) -> bool:
        mode = self._modes.get(score.scorer.identity, "shadow")
        if mode == "shadow" or (mode == "watch" and score.outcome == "no_evidence"):
            return False
        graded = score.outcome == "graded" and mode == "gate" and (score.value or 0.0) < 1.0 - SLACK
        return graded or score.outcome in ("failed", "error", "no_evidence")

    def _worst(self, wrong: Sequence[Score], *, broke_off: bool) -> str:
        """What is to be said of a run at the most: what must pass on every run failed or broke on it, or less than that."""
        said = {(self._modes[score.scorer.identity], score.outcome == "no_evidence") for score in wrong}
        if ("gate", False) in said:
            return "failed"
        return "broke off" if broke_off else "without evidence" if any(unseen for _, unseen in said) else "otherwise"

    def _is_new(self, key: str) -> bool:
        """Whether a run of this kind is to be shown; counts it."""
        seen = self._counts.get(key, 0)
        if seen >= found.RUNS_OF_A_KIND or (not seen and len(self._counts) >= _MAX_KEYS):
            return False
        self._counts[key] = seen + 1
        return True

    def finish(self, result: RunsResult) -> None:
        said = _words.verdict(result).capitalize()
        if not result.interrupted and not (result.verdict is None and result.nothing_scored) and result.runs:
            said = VERDICTS[result.verdict]
        shown = [one for one in result.scorers if one.mode != "shadow"]
        hidden = len(result.scorers) - len(shown)
        remarks = [*result.warnings, *(f"{gap.note}: {many(gap.runs, 'run')}, first {gap.first}" for gap in result.gaps)]
        remarks += [f"{many(hidden, 'shadow check')} not shown"] if hidden else []
        page = document(
            f"{said} – {_words.header(result)}",
            headline("Recorded runs", result.verdict or "", said, _lead(result), _facts(result)),
            el(
                "main",
                found.section("checks", "What was asked for", _table(shown)) if shown else None,
                found.section("failures", "What went wrong", self._failures(result)) if result.failures else None,
                _changes(result.comparison) if result.comparison is not None else None,
                found.section("notes", "Worth knowing", found.notes(remarks)) if remarks else None,
            ),
            footer(environment()),
        )
        self._stream.write(page)

    def _failures(self, result: RunsResult) -> Iterator[Node]:
        told = sum(self._told.values())
        if told > self._cases.made:
            counts = ", ".join(f"{count:,} {said}" for said, count in self._told.items() if count)
            shown = f"{self._cases.made:,} of them are shown, some of each kind."
            yield el("p", f"Something went wrong on {many(told, 'run')}: {counts}. {shown}", cls="quiet before")
        for group in result.failures[:MAX_KINDS]:
            yield self._group(group)
        if len(result.failures) > MAX_KINDS:
            yield el("p", more(len(result.failures) - MAX_KINDS, "kind"), " of failure not shown", cls="left-out")

    def _group(self, group: FailureGroup) -> Element:
        key = "run_failed" if group.kind == "run_failed" else group.key
        shown: list[Element] = []
        named: list[str] = []
        for example in group.examples:
            cases = self._kept.get((key, example.place))
            if not cases:
                named.append(example.place)
                continue
            case = cases[0] if len(cases) == 1 else cases.pop(0)  # several runs may stand in one line
            shown.append(self._cases.shown(case, "" if example.reason == group.examples[0].reason else example.reason))
        scorer = self._scorers.get(group.scorer)
        title: Node = found.title_of(group.why, group.scorer)
        expression = "" if scorer is None else found.expression_of(scorer)
        if not group.scorer:
            title = "The run itself broke off" if group.kind == "run_failed" else "A record cannot be read"
        note = _words.kind(group) if group.scorer else ""
        count = f"on {many(group.count, 'record' if group.kind == 'unreadable' else 'run')}"
        return found.failure(
            title,
            "" if not group.why and expression == group.scorer else expression,
            f"{note}, {count}" if note else count,
            group.examples[0].reason,
            shown,
            f"{len(named):,} more of this kind",
            named,
            group.count - len(shown) - len(named),
            tone="no_evidence" if group.kind == "no_evidence" else "" if group.asserted else "watched",
        )


def _key(score: Score) -> str:
    return score.failure_key or f"{score.scorer.identity} | graded"


def _lead(result: RunsResult) -> str:
    """What the verdict rests on, in sentences."""
    if result.verdict != "failed":
        explained = _render.capped(result.explanation, 300)
        return f"{explained[:1].upper()}{explained[1:]}." if explained else ""
    told: list[str] = []
    if result.failing_runs:
        told.append(f"{result.failing_runs:,} of {many(result.runs, 'run')} failed what must pass on every run.")
    if result.errored_runs:
        told.append(f"{many(result.errored_runs, 'run')} broke off.")
    if result.unreadable:
        told.append(f"{many(result.unreadable, 'record')} cannot be read.")
    return " ".join(told) or f"{_render.capped(result.explanation, 300)}."


def _facts(result: RunsResult) -> str:
    return f"{_words.header(result)} · {_words.duration(result.seconds)}"


def _table(scorers: Sequence[ScorerSummary]) -> Element:
    columns = [column for column in _words.COLUMNS if any(getattr(one, column) for one in scorers)]
    counted = [(_words.COLUMNS[column], "number") for column in columns]
    titles = [("check", ""), ("must", "must"), *counted, ("note", "wide")]
    rows: list[list[Node | list[Node]]] = []
    for one in scorers[:MAX_KINDS]:
        name = [found.title_of("", _render.capped(one.scorer, 300))]
        if one.why:
            name = [_render.capped(one.why, 300), el("div", name, cls="quiet")]
        must = f"mean {one.threshold}" if one.threshold is not None else _MUST[one.mode]
        counts = [_count(one, column) for column in columns]
        rows.append([name, must, *counts, "; ".join(note for note in _words.notes(one) if note != must)])
    table = found.table("checks", titles, rows)
    left = len(scorers) - MAX_KINDS
    return el("div", table, el("p", more(left, "check"), cls="left-out")) if left > 0 else table


def _count(one: ScorerSummary, column: str) -> Node:
    count = getattr(one, column)
    return el("span", f"{count:,}", cls=column) if count else ""


def _changes(comparison: Comparison) -> Element:
    shown: list[Node] = []
    for changed in comparison.changed:
        about = f"{changed.name}: " if changed.name else ""
        shown.append(el("h3", about, el("code", changed.after)))
        if changed.before != changed.after:
            shown.append(el("p", "was ", el("code", changed.before), cls="quiet"))
        shown += [el("p", note) for note in changed.notes]
        for flip in changed.flips:
            examples = [el("li", el("code", one.place), " now: ", one.after, " – before: ", one.before) for one in flip.examples]
            shown += [el("p", _words.flip(flip)), el("ul", examples, cls="notes") if examples else ""]
    for told, checks in (("new", comparison.new), ("removed", comparison.removed)):
        shown += [el("p", f"{told}: ", el("code", check)) for check in checks]
    shown.append(el("p", f"unchanged: {many(comparison.unchanged, 'check')}", cls="quiet"))
    return found.section("comparison", f"Compared with {_render.capped(comparison.against, 200)}", shown)
