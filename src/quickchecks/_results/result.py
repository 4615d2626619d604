"""The result of scoring a source of runs, and its verdict.

Everything here is a plain frozen value of a size that does not depend on the number of runs, so that reports can be made
of it and it can be kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec import Struct

from quickchecks._render import many
from quickchecks._results.flips import Comparison
from quickchecks._scorer.checks_file import Mode
from quickchecks._scorer.thresholds import Bounds

__all__ = (
    "Example",
    "FailOn",
    "FailureGroup",
    "FailureKind",
    "GapCount",
    "RunsResult",
    "ScorerSummary",
    "Verdict",
    "many",
    "verdict_of",
)

#: What a result says about everything that was asserted; "scored" means that a threshold was missed.
Verdict = Literal["passed", "failed", "undecided", "scored"]

#: What makes a command exit 1: everything, gates (and errors) only, or nothing.
FailOn = Literal["any", "gates", "never"]

#: "failed" and "error" and "no_evidence" are outcomes of a scorer; "run_failed": the recorded run itself broke off;
#: "unreadable": the record could not be read.
FailureKind = Literal["failed", "error", "no_evidence", "run_failed", "unreadable"]

INTERRUPTED = 130


class Example(Struct, frozen=True, omit_defaults=True):
    """One run, and what is said about it.

    Args:
        place: Where it was read from, such as `runs.jsonl:812`.
        reason: Why.
    """

    place: str
    reason: str = ""


class FailureGroup(Struct, frozen=True, omit_defaults=True):
    """The failures of one kind.

    Args:
        kind: What is wrong.
        count: How many runs have it.
        examples: The first of them.
        scorer: The identity of the scorer; empty where the run itself is at fault.
        mode: What the scorer's entry does.
        why: Why the user has this check.
        key: The failure key of the scores, which stays the same from one recording to the next.
    """

    kind: FailureKind
    count: int
    examples: tuple[Example, ...]
    scorer: str = ""
    mode: Mode | Literal[""] = ""
    why: str = ""
    key: str = ""

    @property
    def asserted(self) -> bool:
        """Whether it counts for the verdict; what is only watched does not."""
        return self.mode in ("", "gate", "threshold")


class ScorerSummary(Struct, frozen=True, omit_defaults=True):
    """How one entry of the checks came out over all runs.

    Args:
        scorer: The identity of the scorer.
        mode: What the entry does.
        threshold: The bounds that the mean has to keep.
        passed: Runs that passed.
        failed: Runs that failed.
        graded: Runs that got a number.
        not_applicable: Runs with nothing to judge.
        no_evidence: Runs whose record cannot show what is asked.
        error: Runs on which the scorer broke.
        set_aside: Runs that broke off themselves, on which it would have passed; that counts for nothing.
        mean: The mean over the runs that passed, failed or were graded.
        why: Why the user has this check.
        no_evidence_reason: Why there was no evidence, on the first run without.
        furthest: For a threshold on numbers, the run that is furthest off.
        verdict: What it says, when it is asserted.
    """

    scorer: str
    mode: Mode
    threshold: Bounds | None = None
    passed: int = 0
    failed: int = 0
    graded: int = 0
    not_applicable: int = 0
    no_evidence: int = 0
    error: int = 0
    set_aside: int = 0
    mean: float | None = None
    why: str = ""
    no_evidence_reason: str = ""
    furthest: Example | None = None
    verdict: Verdict | None = None

    @property
    def judged(self) -> int:
        """The runs with a value."""
        return self.passed + self.failed + self.graded


class GapCount(Struct, frozen=True):
    """Something that a source could not show.

    Args:
        note: The sentence that says what.
        runs: How many runs have it.
        first: Where the first of them was read from.
    """

    note: str
    runs: int
    first: str


class RunsResult(Struct, frozen=True, omit_defaults=True, tag_field="schema", tag="quickchecks.runs_result/1"):
    """What came of scoring a source of runs.

    Args:
        runs: Runs that were read.
        unreadable: Records that could not be read.
        errored_runs: Runs that broke off themselves, as their record says.
        failing_runs: Runs on which a gate failed or broke.
        formats: How many runs there were of each format.
        scorers: How each entry of the checks came out, in their order.
        failures: The kinds of failure, those that count for the verdict first.
        gaps: What the sources could not show.
        warnings: What looks like a mistake in the checks.
        verdict: What everything that was asserted says together; None when nothing was asserted.
        explanation: The verdict as half a sentence.
        comparison: What a changed check flips, when that was asked.
        seconds: How long it took.
        interrupted: Whether it was broken off, so that there are runs that were not scored.
    """

    runs: int = 0
    unreadable: int = 0
    errored_runs: int = 0
    failing_runs: int = 0
    formats: Mapping[str, int] = {}
    scorers: tuple[ScorerSummary, ...] = ()
    failures: tuple[FailureGroup, ...] = ()
    gaps: tuple[GapCount, ...] = ()
    warnings: tuple[str, ...] = ()
    verdict: Verdict | None = None
    explanation: str = ""
    comparison: Comparison | None = None
    seconds: float = 0.0
    interrupted: bool = False

    @property
    def nothing_scored(self) -> bool:
        """Whether no scorer could say anything of any run: there are no runs, or no evidence in any."""
        return not any(one.judged for one in self.scorers)

    def exit_code(self, fail_on: FailOn = "any") -> int:
        """The exit code of a command that shows this result.

        Args:
            fail_on: "any": whatever did not pass. "gates": a threshold that was missed is no failure. "never": nothing is.
                What is undecided stays so.

        Returns:
            0 passed, or nothing was asserted; 1 failed, or a threshold was missed; 3 undecided, or nothing was scored (which
            no `fail_on` forgives: it mostly means a mistake); 130 interrupted.
        """
        if self.interrupted:
            return INTERRUPTED
        if self.verdict == "failed" and fail_on != "never":
            return 1
        if self.nothing_scored or self.verdict == "undecided":
            return 3
        return 1 if self.verdict == "scored" and fail_on == "any" else 0


def verdict_of(
    scorers: Sequence[ScorerSummary], *, runs: int, failing: int, errored_runs: int, unreadable: int, max_errors: int
) -> tuple[Verdict | None, str]:
    """Say what everything that was asserted says together.

    The first that holds: "failed" when a gate failed or broke on a run, or there were more errors than allowed;
    "undecided" when a gate or threshold met no evidence, or was judged on no run; "scored" when a threshold was missed;
    "passed". An error is a record that cannot be read, a run that broke off itself, or a score of a threshold that broke.

    Args:
        scorers: How each entry came out.
        runs: How many runs were read.
        failing: On how many runs a gate failed or broke.
        errored_runs: How many runs broke off themselves.
        unreadable: How many records could not be read.
        max_errors: How many errors are allowed.

    Returns:
        The verdict (None when nothing was asserted), and half a sentence that explains it.
    """
    asserted = [one for one in scorers if one.mode in ("gate", "threshold")]
    broken = sum(one.error for one in asserted if one.mode == "threshold")
    if any(one.verdict == "failed" for one in asserted) or errored_runs + unreadable + broken > max_errors:
        return "failed", _failed(runs, failing, errored_runs, unreadable, broken)
    if not runs:
        return ("undecided" if asserted else None), "there are no runs"
    if not asserted:
        return None, _not_asserted(scorers) if any(one.judged for one in scorers) else "no check could judge a run"
    undecided = [_undecided(one, runs) for one in asserted if one.verdict == "undecided"]
    if undecided:
        return "undecided", _joined(undecided)
    missed = [f"{one.scorer} has the mean {one.mean:.3g}, not {one.threshold}" for one in asserted if one.verdict == "scored"]
    if missed:
        return "scored", _joined(missed)
    return "passed", f"{many(runs, 'run')}, {many(len(asserted), 'check')}"


def _not_asserted(scorers: Sequence[ScorerSummary]) -> str:
    watched = sum(one.mode == "watch" for one in scorers)
    who = "the check is" if len(scorers) == 1 else "the checks are"
    if watched:
        return f"{who} only watched" + ("" if watched == len(scorers) else ", or only recorded (shadow)")
    return f"{who} only recorded (shadow)"


def _failed(runs: int, failing: int, errored_runs: int, unreadable: int, broken: int) -> str:
    told = [f"{failing:,} of {many(runs, 'run')}"] if failing else []
    if errored_runs:
        told.append(f"{many(errored_runs, 'run')} broke off")
    if unreadable:
        told.append(f"{many(unreadable, 'record')} cannot be read")
    if broken:
        told.append(f"{many(broken, 'score')} with a threshold broke")
    return ", ".join(told)


def _undecided(one: ScorerSummary, runs: int) -> str:
    if one.no_evidence:
        return f"{one.scorer} has no evidence on {one.no_evidence:,} of {many(runs, 'run')}"
    return f"{one.scorer} could be judged on no run"


def _joined(sentences: Sequence[str]) -> str:
    more = f" (and {len(sentences) - 2} more)" if len(sentences) > 2 else ""
    return "; ".join(sentences[:2]) + more
