"""What a scorer says about a run: an outcome, a value, and why.

Outcomes are never folded into each other. A reason and its evidence are made when they are read, not when the run is
scored, because most scores of most runs are never looked at; they are rendered at every boundary (`Score.record`,
pickling, reports).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, Protocol

from msgspec import Struct

from quickchecks import _render, _wire
from quickchecks._cached import cached
from quickchecks._run import CallSite, Run, TextSpan
from quickchecks.errors import NoVerdictError, ScorerError

__all__ = (
    "Abstention",
    "CallRef",
    "Evidence",
    "Explanation",
    "Outcome",
    "RecordedScorer",
    "Score",
    "ScoreError",
    "ScoreRecord",
    "ScorerIdentity",
    "no_evidence",
    "not_applicable",
    "not_scorable",
)

Outcome = Literal["passed", "failed", "graded", "not_applicable", "no_evidence", "error"]


class CallRef(Struct, frozen=True, gc=False, omit_defaults=True, tag="call"):
    """A call that a reason points at.

    Args:
        call: Its number among `Run.tool_calls`, from 1.
        name: The name of the tool.
        message: Index into the messages of the run that made it.
        part: Index into the parts of that message.
        run: The way to a nested run (see `TextSpan`); empty for the root.
    """

    call: int
    name: str
    message: int
    part: int
    run: tuple[int, ...] = ()

    @classmethod
    def to(cls, site: CallSite) -> CallRef:
        """Point at a call."""
        return cls(site.number, site.call.name, site.message, site.part, site.run)


Evidence = TextSpan | CallRef


class Explanation(Struct, frozen=True, gc=False):
    """Why a score is what it is.

    Args:
        reason: A sentence that lets a person recompute the score by hand.
        evidence: The places in the run that it speaks of.
        kind: What kind of failure this is: the template of the reason, then the tool and the class of the error where
            there are any. Never the run's own words, so that equal failures of many runs fall together.
    """

    reason: str
    evidence: tuple[Evidence, ...] = ()
    kind: tuple[str, ...] = ()


class Abstention(Struct, frozen=True, gc=False):
    """What a step returns instead of a value: there is nothing to judge, or the record cannot show it."""

    outcome: Literal["not_applicable", "no_evidence"]
    reason: str = ""


def not_applicable(reason: str = "") -> Abstention:
    """Say that there is nothing here to judge. Return it from a step or a scorer function.

    Args:
        reason: Why, as one sentence.

    Raises:
        TypeError: The reason is not text.

    Example:
        >>> not_applicable("no recipe in the answer").outcome
        'not_applicable'
    """
    return Abstention("not_applicable", _required_text("not_applicable", reason))


def not_scorable(reason: str = "") -> Abstention:
    """The reference's name for `not_applicable`.

    Args:
        reason: Why, as one sentence.

    Raises:
        TypeError: The reason is not text.
    """
    return Abstention("not_applicable", _required_text("not_scorable", reason))


def no_evidence(reason: str = "") -> Abstention:
    """Say that the record cannot show what this scorer asks. Return it from a step or a scorer function.

    Args:
        reason: What is missing, as one sentence.

    Raises:
        TypeError: The reason is not text.
    """
    return Abstention("no_evidence", _required_text("no_evidence", reason))


def _required_text(function: str, reason: object) -> str:
    if not isinstance(reason, str):
        raise TypeError(f"{function}() takes its reason as text, not {type(reason).__name__}: {_render.value(reason)}")
    return reason


class ScorerIdentity(Protocol):
    """What a score needs to know of the scorer that made it."""

    @property
    def id(self) -> str: ...
    @property
    def identity(self) -> str: ...
    @property
    def why(self) -> str: ...
    @property
    def version(self) -> str: ...


class Score(Struct, frozen=True, dict=True, eq=False):
    """What one scorer says about one run.

    `bool(score)` is True when it passed and False when it failed, and raises for every other outcome; `str(score)` is
    the reason.

    Args:
        scorer: The scorer that made it.
        outcome: "passed", "failed", "graded" (a number), "not_applicable" (nothing here to judge), "no_evidence" (the
            record cannot show it) or "error" (the scorer broke).
        value: The number: 1.0 for passed, 0.0 for failed; None where there is none.
        run: The run that was scored; None once the score was read back from a record.
        explain: Makes the reason and the evidence from the run and this score.
        note: The reason, when the scorer gave one itself.
        error: What broke, for the outcome "error".
        results: What each step returned, by step; None for a scorer of one step.
        parts: The scores that a combined scorer (`a & b`) made this one of; empty for others.
    """

    scorer: ScorerIdentity
    outcome: Outcome
    value: float | None = None
    run: Run | None = None
    explain: Callable[[Run, Score], Explanation] | None = None
    note: str | Explanation | None = None
    error: ScorerError | None = None
    results: Mapping[str, object] | None = None
    parts: tuple[Score, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether the outcome is "passed"."""
        return self.outcome == "passed"

    @property
    def failed(self) -> bool:
        """Whether the outcome is "failed"."""
        return self.outcome == "failed"

    @property
    def reason(self) -> str:
        """Why, in at most 500 characters."""
        return self.explanation.reason

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """The places in the run that the reason speaks of."""
        return self.explanation.evidence

    @property
    def failure_key(self) -> str:
        """A stable key of what kind of failure this is; empty unless the outcome is failed, error or no_evidence.

        It holds the scorer, the template of the reason, the tool and the class of the error, never the run's own
        words, so that "is this new?" and "how many of this kind?" can be answered.
        """
        if self.outcome not in ("failed", "error", "no_evidence"):
            return ""
        return " | ".join((self.scorer.identity, self.outcome, *self.explanation.kind))

    @cached
    def explanation(self) -> Explanation:
        """The reason, the evidence and the kind of failure, made when first read."""
        found = self._explained()
        # Cut before it is looked through, because a step may have given megabytes, and again after escapes made it longer.
        reason = _render.capped(_render.harmless(found.reason[: 2 * _render.REASON_LIMIT]))
        return Explanation(reason, found.evidence, found.kind)

    def _explained(self) -> Explanation:
        if isinstance(self.note, Explanation):
            return self.note
        if self.error is not None and not self.parts:
            return Explanation(str(self.error), (), (self.error.failed_step, _type_of(self.error)))
        if self.note is not None:
            return Explanation(self.note)
        if self.explain is None or self.run is None:
            return Explanation(f"scored {self.value:g}" if self.value is not None else self.outcome.replace("_", " "))
        try:
            return self.explain(self.run, self)
        except Exception as error:  # a reason that cannot be made must not lose the outcome
            what = f"{type(error).__name__}: {_wire.as_text(error)}"
            return Explanation(f"{self.outcome.replace('_', ' ')}; the reason could not be made: {what}")

    def record(self) -> ScoreRecord:
        """Render this score as the record that is stored and sent."""
        found = self.explanation
        error = self.error
        return ScoreRecord(
            scorer=self.scorer.identity,
            id=self.scorer.id,
            outcome=self.outcome,
            value=self.value,
            reason=found.reason,
            evidence=found.evidence,
            kind=found.kind,
            failure_key=self.failure_key,
            why=self.scorer.why,
            version=self.scorer.version,
            error=None if error is None else ScoreError.of(error),
            parts=tuple([part.record() for part in self.parts]),
        )

    def __bool__(self) -> bool:
        if self.outcome == "passed":
            return True
        if self.outcome == "failed":
            return False
        raise NoVerdictError(_no_verdict(self))

    def __str__(self) -> str:
        return self.reason

    def __repr__(self) -> str:
        shown = "" if self.value is None or self.outcome in ("passed", "failed") else f" {self.value:g}"
        return f"<Score {self.outcome}{shown}, {self.scorer.identity}: {self.reason}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _from_record, (self.record(),)


class ScoreError(Struct, frozen=True, gc=False, omit_defaults=True):
    """What broke in a scorer, rendered.

    Args:
        message: The sentence.
        type: The class of the original exception.
        step: The step that raised.
        completed: The steps that had ended before.
        traceback: The traceback of the original exception.
    """

    message: str
    type: str = ""
    step: str = ""
    completed: tuple[str, ...] = ()
    traceback: str = ""

    @classmethod
    def of(cls, error: ScorerError) -> ScoreError:
        """Render an error."""
        if isinstance(error, _RecordedError):
            return error.rendered
        from traceback import format_exception

        cause = error.__cause__
        trace = "".join(format_exception(cause)) if cause is not None else ""
        return cls(str(error), _type_of(error), error.failed_step, error.completed_steps, trace)


class _RecordedError(ScorerError):
    """An error that was read back; it keeps what it was rendered as."""

    def __init__(self, rendered: ScoreError, scorer: str) -> None:
        super().__init__(rendered.message, scorer=scorer, failed_step=rendered.step, completed_steps=rendered.completed)
        self.rendered = rendered


def _type_of(error: ScorerError) -> str:
    """The class of the original exception."""
    return error.rendered.type if isinstance(error, _RecordedError) else type(error.__cause__ or error).__name__


class ScoreRecord(Struct, frozen=True, gc=False, omit_defaults=True, tag_field="schema", tag="quickchecks.score/1"):
    """A score as it is stored and sent.

    Args:
        scorer: The identity of the scorer: its name, else its expression or id.
        id: The kind of scorer.
        outcome: See `Score`.
        value: See `Score`.
        reason: Why.
        evidence: The places in the run that the reason speaks of.
        kind: What kind of failure this is, as a template of the reason, the tool and the class of the error.
        failure_key: The same with the scorer and the outcome, as one text.
        why: Why the user has this check, in the user's words.
        version: What the scorer's arguments and code were.
        error: What broke, for the outcome "error".
        parts: The records of the scores that a combined scorer made this one of.
    """

    scorer: str
    id: str
    outcome: Outcome
    value: float | None = None
    reason: str = ""
    evidence: tuple[Evidence, ...] = ()
    kind: tuple[str, ...] = ()
    failure_key: str = ""
    why: str = ""
    version: str = ""
    error: ScoreError | None = None
    parts: tuple[ScoreRecord, ...] = ()

    def to_score(self) -> Score:
        """Turn the record back into a score; it has no run."""
        return _from_record(self)


class RecordedScorer(Struct, frozen=True, gc=False):
    """What is known of the scorer of a score that was read back."""

    id: str
    identity: str
    why: str
    version: str


def _from_record(record: ScoreRecord) -> Score:
    scorer = RecordedScorer(record.id, record.scorer, record.why, record.version)
    return Score(
        scorer,
        record.outcome,
        record.value,
        note=Explanation(record.reason, record.evidence, record.kind),
        error=_RecordedError(record.error, record.scorer) if record.error is not None else None,
        parts=tuple([_from_record(part) for part in record.parts]),
    )


def _no_verdict(score: Score) -> str:
    who = score.scorer.identity
    if score.outcome == "graded":
        graded = f"{who} is graded {score.value:g}, which is neither passed nor failed"
        return f"{graded}: compare score.value, or give the scorer a threshold"
    if score.outcome == "error":
        return f"{who} broke, which is neither passed nor failed: see score.error ({score.reason})"
    what = "does not apply to this run" if score.outcome == "not_applicable" else "cannot be judged on this run"
    return f"{who} {what}, which is neither passed nor failed: ask score.outcome or score.passed ({score.reason})"
