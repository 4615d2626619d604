"""Gates and thresholds: what must hold over all items, and the verdict.

A gate must pass on every item that it applies to; a threshold asks for a mean. Neither is ever met by nothing: a gate that
was judged on no item, or that met missing evidence, is undecided.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import floor, fsum
from typing import Literal

from msgspec import Struct

from quickchecks import _render, _stats
from quickchecks._entries import Assertion, Gate, Threshold, gates_of, scorers_of
from quickchecks._score import Score
from quickchecks._scorer.thresholds import SLACK, Bounds
from quickchecks.errors import NoVerdictError

__all__ = (
    "Assertion",
    "AssertionResult",
    "Counts",
    "Gate",
    "Threshold",
    "Verdict",
    "gates_of",
    "judge",
    "scorers_of",
    "verdict_of",
)

Verdict = Literal["passed", "failed", "undecided", "scored"]


class Counts(Struct, frozen=True, gc=False, omit_defaults=True):
    """How the scores of one scorer came out.

    Args:
        passed: Scores that passed.
        failed: Scores that failed.
        graded: Scores that are a number.
        not_applicable: Nothing to judge.
        no_evidence: The record cannot show it.
        errors: The scorer broke.
        unscored: Items that broke before they could be scored.
    """

    passed: int = 0
    failed: int = 0
    graded: int = 0
    not_applicable: int = 0
    no_evidence: int = 0
    errors: int = 0
    unscored: int = 0

    @classmethod
    def of(cls, scores: Sequence[Score | None]) -> Counts:
        """Count scores; None stands for an item that broke before."""
        found: dict[str | None, int] = {}
        for score in scores:
            outcome = None if score is None else score.outcome
            found[outcome] = found.get(outcome, 0) + 1
        names = ("passed", "failed", "graded", "not_applicable", "no_evidence", "error", None)
        return cls(*(found.get(name, 0) for name in names))

    @property
    def judged(self) -> int:
        """The scores with a value."""
        return self.passed + self.failed + self.graded


class AssertionResult(Struct, frozen=True, omit_defaults=True):
    """What came of a gate or a threshold.

    Args:
        scorer: The identity of the scorer.
        verdict: "passed"; "failed" (a gate); "scored" (a threshold that was missed); "undecided".
        explanation: Why, as a sentence with the numbers.
        counts: How the scores came out.
        score: The mean over the items that were judged; None when there were none.
        turn: The turn that was judged.
        bounds: What the mean had to keep, for a threshold.
        interval: The 95 % interval of the pass rate, for a gate.
        below: The ids of the items that did not reach it; of one that is undecided for want of evidence, those without.
    """

    scorer: str
    verdict: Verdict
    explanation: str
    counts: Counts
    score: float | None = None
    turn: int | None = None
    bounds: Bounds | None = None
    interval: tuple[float, float] | None = None
    below: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        raise NoVerdictError(f"what came of a gate is neither true nor false: ask for .passed; its verdict is {self.verdict}")

    @property
    def passed(self) -> bool:
        """Whether the verdict is "passed"."""
        return self.verdict == "passed"

    @property
    def label(self) -> str:
        """The identity, with the turn where it judged one."""
        return self.scorer if self.turn is None else f"turn {self.turn}: {self.scorer}"


def judge(assertion: Assertion, scores: Mapping[str, Sequence[Score | None]]) -> AssertionResult | None:
    """Judge a gate or a threshold over all items.

    Args:
        assertion: The entry.
        scores: Its scores by the id of the item, one for each repetition; None where the item broke before.

    Returns:
        The result; None for a scorer that is only measured.
    """
    if assertion.role == "scorer" and assertion.bounds is None:
        return None
    every = [score for of_item in scores.values() for score in of_item]
    counts = Counts.of(every)
    values = {item: found for item, of_item in scores.items() if (found := _values(of_item))}
    mean = fsum(fsum(found) / len(found) for found in values.values()) / len(values) if values else None
    judged = _gate if assertion.role == "gate" else _threshold
    unjudged = {
        kind: [item for item, of_item in scores.items() if any(one is not None and one.outcome == kind for one in of_item)]
        for kind in ("error", "no_evidence")
    }
    verdict, explanation, below = judged(assertion, counts, values, mean, unjudged)
    interval = None
    if assertion.role == "gate" and values:
        rates = [sum(value >= 1 for value in found) / len(found) for found in values.values()]
        repetitions = max(map(len, values.values()))
        interval = (
            _stats.clustered_interval(rates, repetitions) if repetitions > 1 else _stats.wilson_interval(sum(rates), len(rates))
        )
    return AssertionResult(
        assertion.identity, verdict, explanation, counts, mean, assertion.turn, assertion.bounds, interval, tuple(below)
    )


def _values(scores: Sequence[Score | None]) -> list[float]:
    return [score.value for score in scores if score is not None and score.value is not None]


Judged = tuple[Verdict, str, list[str]]


def _gate(
    assertion: Assertion,
    counts: Counts,
    values: Mapping[str, list[float]],
    mean: float | None,
    unjudged: Mapping[str, list[str]],
) -> Judged:
    below = [item for item, found in values.items() if any(value < 1 for value in found)]
    runs = sum(map(len, values.values()))
    clean = sum(value >= 1 for found in values.values() for value in found)
    noun = "items" if runs == len(values) else "runs"
    said = _rate(clean, runs, f"judged {noun}" if counts.unscored else noun, values)
    if counts.unscored:
        said += f"; {counts.unscored} more broke before {'it' if counts.unscored == 1 else 'they'} could be judged"
    wanted = assertion.pass_rate
    too_few = runs > 0 and (not clean or clean < runs * wanted - SLACK)  # what no item passes fails, however little is asked
    if counts.errors:
        short = dict.fromkeys([*(below if too_few else ()), *unjudged["error"]])
        broke = f"the scorer broke on {counts.errors}"
        return "failed", f"{said}; {broke}" if runs else broke, list(short)
    if too_few:
        needs = "" if wanted == 1 else f", {_percent(wanted)} are wanted"
        return "failed", f"{said}{needs}", below
    if counts.no_evidence:
        return (
            "undecided",
            f"{said}; no evidence on {counts.no_evidence}" if runs else f"no evidence on {counts.no_evidence}",
            unjudged["no_evidence"],
        )
    if not runs:
        return "undecided", _nothing_judged(counts), below
    if assertion.confidence is None:
        return "passed", said, below
    # Repetitions of one item are no independent evidence: an item counts as clean when all of them are.
    clean_items = len(values) - len(below)
    proved = _stats.lower_bound(clean_items, len(values), assertion.confidence)
    if proved >= wanted:
        return "passed", f"{clean_items} of {len(values)} items passed, which proves {_percent(proved, down=True)}", below
    more = _stats.clean_items_needed(clean_items, len(values), wanted, assertion.confidence)
    needed = f"; {more} more clean item{'' if more == 1 else 's'} would decide" if more is not None else ""
    return (
        "undecided",
        f"{clean_items} of {len(values)} passed proves {_percent(proved, down=True)}, {_percent(wanted)} with "
        f"{_percent(assertion.confidence)} confidence is wanted{needed}",
        below,
    )


def _threshold(
    assertion: Assertion,
    counts: Counts,
    values: Mapping[str, list[float]],
    mean: float | None,
    unjudged: Mapping[str, list[str]],
) -> Judged:
    assert assertion.bounds is not None
    bounds = assertion.bounds
    below = [item for item, found in values.items() if not bounds.met(fsum(found) / len(found))]
    beyond = f"; outside are {_render.listed([repr(item) for item in below], limit=5)}" if below else ""
    if mean is None:
        if counts.no_evidence:
            return "undecided", f"no evidence on {counts.no_evidence}", unjudged["no_evidence"]
        return "undecided", _nothing_judged(counts), unjudged["error"]
    said = f"the mean is {_precise(mean, bounds)}, {bounds} is wanted"
    if counts.errors or counts.unscored:
        said += f" ({counts.errors + counts.unscored} broke and are left out)"
    if counts.no_evidence:
        return "undecided", f"{said}; no evidence on {counts.no_evidence}", unjudged["no_evidence"]
    return ("passed" if bounds.met(mean) else "scored"), f"{said}{beyond}", below


def _nothing_judged(counts: Counts) -> str:
    reasons = [
        f"{counts.unscored} broke" if counts.unscored else "",
        f"the scorer broke on {counts.errors}" if counts.errors else "",
        f"it does not apply to {counts.not_applicable}" if counts.not_applicable else "",
    ]
    return f"no item was judged: {', '.join(filter(None, reasons)) or 'there was none'}"


def _rate(clean: int, runs: int, noun: str, values: Mapping[str, list[float]]) -> str:
    if not runs:
        return f"0 of 0 {noun} passed"
    rates = [sum(value >= 1 for value in found) / len(found) for found in values.values()]
    repeated = runs != len(values)
    low, high = _stats.clustered_interval(rates, runs // len(rates)) if repeated else _stats.wilson_interval(clean, runs)
    return f"{clean} of {runs} {noun} passed ({_percent(clean / runs)}, 95 % interval {100 * low:.0f}–{100 * high:.0f} %)"


def _percent(share: float, *, down: bool = False) -> str:
    """A share in percent; rounded down where rounding up would claim too much."""
    value = floor(share * 100) if down else round(share * 100, 1)
    return f"{value:g} %"


def _precise(mean: float, bounds: Bounds) -> str:
    """The mean with enough digits to see on which side of the bounds it lies."""
    for digits in (2, 4, 8, 17):
        if bounds.met(float(f"{mean:.{digits}f}")) == bounds.met(mean):
            return f"{mean:.{digits}f}"
    return repr(mean)


def verdict_of(results: Sequence[AssertionResult], *, errors: int, max_errors: int) -> Verdict | None:
    """The verdict of everything that was asserted; None when nothing was.

    The first that holds: "failed" when a gate did not pass or more than `max_errors` items or scorers broke;
    "undecided"; "scored" when a threshold was missed; "passed".

    Args:
        results: What came of each gate and threshold.
        errors: How many items and scores broke.
        max_errors: How many may.
    """
    if not results:
        return None
    verdicts = {result.verdict for result in results}
    if errors > max_errors:
        return "failed"
    return next(verdict for verdict in ("failed", "undecided", "scored", "passed") if verdict in verdicts)
