"""GitHub: what went wrong as annotations, which a pull request shows beside the line of the dataset or the recording.

Of the annotations of one step GitHub shows ten, so that each kind of failure gets one before any gets a second.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain, zip_longest
from typing import Literal

from msgspec import Struct

from quickchecks import _render
from quickchecks._gates import Assertion, AssertionResult
from quickchecks._results.changes import Decision, EvalComparison
from quickchecks._results.evaluation import EvalResult, ItemResult
from quickchecks._results.result import FailureGroup, RunsResult
from quickchecks._run import Source
from quickchecks._score import Score
from quickchecks.reports import _words
from quickchecks.reports._safe import one_line, path
from quickchecks.reports._step import Step
from quickchecks.reports._workflow_commands import command

__all__ = ("Annotation", "Kind", "annotated", "of_comparison", "of_evaluation", "of_runs")

#: So many annotations of a level GitHub shows for one step.
MOST = 10
_LONGEST_NAME = 80

_PLACE = re.compile(r"(?P<file>.+?)(?::(?P<line>\d+)|(?:\[\d+\]))", re.DOTALL)
_BROKE = {
    "exception": "the target raised",
    "timeout": "the target took too long",
    "answer": "the answer is not understood",
    "run": "the run failed",
    "mock": "a tool ran that has a mock",
}


class Annotation(Struct, frozen=True):
    """One thing that went wrong, at its place.

    Args:
        title: What and where, in few words.
        message: Why.
        file: The file, as the user named it; empty when it has no place.
        line: The line, from 1.
    """

    title: str
    message: str
    file: str = ""
    line: int | None = None


class Kind(Struct, frozen=True):
    """What went wrong in the same way.

    Args:
        annotations: The first of them, at least one.
        count: How many there are.
    """

    annotations: tuple[Annotation, ...]
    count: int


def annotated(kinds: Sequence[Kind], step: Step, level: Literal["error", "warning"]) -> Iterator[str]:
    """Write the commands that annotate, no more than GitHub shows; the last one says how many more there are.

    Args:
        kinds: What went wrong.
        step: The step, which knows where the files lie.
        level: "error" when the step fails by it; where the step forgives, all are warnings.

    Yields:
        The commands, a line each.
    """
    level = "warning" if step.forgives else level
    rounds = zip_longest(*([(kind, one) for one in kind.annotations] for kind in kinds))
    found = [pair for pair in chain.from_iterable(rounds) if pair is not None]
    total = sum(kind.count for kind in kinds)
    shown = found if total <= min(MOST, len(found)) else found[: MOST - 1]
    for kind, one in shown:
        rest = kind.count - sum(other is kind for other, _ in shown)
        more = f"\n{rest:,} more of this kind" if rest and one is kind.annotations[0] else ""
        file = path(step.in_repository(one.file))
        outside = f"\nat {Source(path(one.file), one.line)}, outside of the repository" if one.file and not file else ""
        at = {"file": file, "line": one.line if file else None, "title": one.title}
        yield command(level, one.message + outside + more, at)
    if total > len(shown):
        hint = "the step summary shows every kind" if step.summary else "the log shows every kind"
        yield command(level, f"and {total - len(shown):,} more: {hint}", {"title": "quickchecks"})


def of_evaluation(result: EvalResult, file: str, code: int) -> list[Kind]:
    """What kept an evaluation from passing, item by item.

    Args:
        result: The result.
        file: The eval file, for what has no line of a dataset.
        code: The exit code of the command.
    """
    found = _Found(file)
    broke = result.error_count > result.max_errors
    by_id: dict[str, list[ItemResult]] = {}
    for item in result.items:
        by_id.setdefault(item.id, []).append(item)
        if item.error is not None and broke:
            what = _BROKE[item.error.kind]
            found.add(f"{item.error.kind} {item.error.type}", item, what, item.error.message, "")
    for judged in (*result.gate_results, *result.threshold_results):
        entry = next((one for one in result.assertions if _is_of(one, judged)), None)
        if entry is None or judged.passed:
            continue
        below = [(item, _wrong(item, entry)) for name in judged.below for item in by_id.get(name, ())]
        wrong = [(item, score) for item, score in below if score is not None]
        for item, score in wrong:
            found.add(f"{entry.key} {score.failure_key}", item, entry.label, score.reason, entry.scorer.why)
        if not wrong and not broke:
            told = f"{judged.verdict}: {judged.explanation}"
            found.kinds[f"{entry.key}"] = [Annotation(_name(entry.label), _message(told, entry.scorer.why), file)]
    if broke:
        for item in result.items:
            for one, score in zip(item.plan, item.scores, strict=False):
                if score.outcome == "error" and one.mode is None and item.error is None:
                    found.add(f"{one.key} {score.failure_key}", item, one.label, score.reason, one.scorer.why)
    if not found.kinds and code:
        found.kinds[""] = [Annotation(_words.said(result), _first_line(result.explain()), file)]
    return found.all()


def _is_of(one: Assertion, judged: AssertionResult) -> bool:
    """Whether an entry is the one that was judged."""
    role = "gate" if judged.bounds is None else "scorer"
    return (one.role, one.turn, one.identity, one.bounds) == (role, judged.turn, judged.scorer, judged.bounds)


def _wrong(item: ItemResult, entry: Assertion) -> Score | None:
    """What an entry says of an item that did not reach it; None when this repetition did, or was not scored."""
    position = next((place for place, one in enumerate(item.plan) if one.key == entry.key), len(item.scores))
    score = item.scores[position] if position < len(item.scores) else None
    if score is None or score.outcome in ("passed", "not_applicable") or (score.outcome == "graded" and score.value == 1):
        return None
    return score


class _Found:
    """What is found, by kind; of an item that was run several times, the first repetition that shows the kind."""

    def __init__(self, file: str) -> None:
        self.kinds: dict[str, list[Annotation]] = {}
        self._file = file
        self._seen: set[tuple[str, str]] = set()

    def add(self, kind: str, item: ItemResult, what: str, reason: str, why: str) -> None:
        """Note what is wrong with an item."""
        if (kind, item.id) in self._seen:
            return
        self._seen.add((kind, item.id))
        source = item.item.source or Source(self._file)
        file = "" if source.file == "-" else source.file
        title = f"{_name(item.id)}: {_name(what)}"
        self.kinds.setdefault(kind, []).append(Annotation(title, _message(reason, why), file, source.line))

    def all(self) -> list[Kind]:
        """All of it."""
        return [Kind(tuple(found[:MOST]), len(found)) for found in self.kinds.values()]


def of_runs(result: RunsResult, code: int) -> list[Kind]:
    """What kept recorded runs from passing.

    Args:
        result: The result.
        code: The exit code of the command.
    """
    if result.verdict == "passed" and not code:
        return []
    missed = [one for one in result.scorers if one.verdict == "scored"]
    kept = {one.scorer for one in result.scorers if one.mode == "threshold" and one.verdict == "passed"}
    groups = [one for one in result.failures if one.asserted and not (one.mode == "threshold" and one.scorer in kept)]
    found = [_of_group(group) for group in groups]
    for one in missed:
        told = f"mean {one.mean:.3g}, needs {one.threshold}"
        if one.furthest is not None:
            told += f"; furthest off: {one.furthest.reason}"
        place = _place("" if one.furthest is None else one.furthest.place)
        found.append(Kind((Annotation(_name(one.scorer), _message(told, one.why), *place),), 1))
    if not found and code:
        found.append(Kind((Annotation(_words.verdict(result), one_line(result.explanation or "there are no runs")),), 1))
    return found


def _of_group(group: FailureGroup) -> Kind:
    what = ": ".join(part for part in (_name(group.scorer), _words.kind(group)) if part)
    told = [Annotation(what, _message(one.reason, group.why), *_place(one.place)) for one in group.examples]
    return Kind(tuple(told), group.count)


def _place(place: str) -> tuple[str, int | None]:
    """The file and the line of a place such as `runs.jsonl:812`."""
    found = _PLACE.fullmatch(place)
    file, line = (place, None) if found is None else (found["file"], found["line"])
    return ("", None) if file == "-" else (file, int(line) if line else None)


def of_comparison(comparison: EvalComparison, decision: Decision) -> list[Kind]:
    """What is worse than before. A saved result does not know the lines of its dataset, so that nothing has a place.

    Args:
        comparison: The comparison.
        decision: What was decided by it.
    """
    kinds: dict[str, list[Annotation]] = {}
    for one in comparison.broke:
        told = f"{one.before} → {one.after}" + (f": {one.reason}" if one.reason else "")
        more = f"diverges: {one_line(one.divergence)}" if one.divergence else ""
        title = f"{_name(one.item)}: {_name(one.scorer) or 'the target'}"
        message = "\n".join(part for part in (one_line(told), more) if part)
        kinds.setdefault(one.scorer, []).append(Annotation(title, message))
    if not kinds and decision.exit_code:
        kinds[""] = [Annotation("quickchecks compare", one_line(decision.said))]
    return [Kind(tuple(found[:MOST]), len(found)) for found in kinds.values()]


def _name(text: str) -> str:
    return _render.capped(one_line(text), _LONGEST_NAME)


def _message(reason: str, why: str) -> str:
    told = _render.capped(one_line(reason), 2 * _render.REASON_LIMIT)
    return f"{told}\nwhy: {_render.capped(one_line(why))}" if why else told


def _first_line(text: str) -> str:
    return one_line(next(iter(text.splitlines()), ""))
