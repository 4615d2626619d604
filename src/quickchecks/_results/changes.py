"""What a comparison of two results says, as values."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

__all__ = ("SIGNIFICANT", "Change", "Decision", "Direction", "EvalComparison", "Measure", "MeasureChange", "ScorerChange")

#: Below this p-value, after adjusting for several scorers, a difference is called one.
SIGNIFICANT = 0.05

#: How an item moved: "broke" and "mended" are the steps that are no noise of repetitions, "worse" and "better" the rest.
Direction = Literal["broke", "worse", "better", "mended"]
Measure = Literal["cost", "tokens", "seconds"]


class Change(Struct, frozen=True, omit_defaults=True):
    """An item on which a scorer says something else than before.

    Args:
        item: The id of the item.
        scorer: The identity of the scorer; empty where the item itself broke or no longer does.
        before: What was said before.
        after: What is said now.
        reason: Why, as it is said now.
        divergence: Where the runs part, when both are known.
    """

    item: str
    scorer: str
    before: str
    after: str
    reason: str = ""
    divergence: str = ""


class ScorerChange(Struct, frozen=True, omit_defaults=True):
    """How one scorer came out, before and now, over the items that both have.

    Args:
        scorer: The identity of the scorer; "answered" for how often the items were answered at all.
        items: On how many items both were judged.
        before: The mean before.
        after: The mean now.
        difference: The mean of the differences.
        p_value: The chance of a difference like this if nothing had changed, adjusted for several scorers (Holm).
        test: What gave it.
        interval: The interval of the difference, at the level of `confidence`; None where one cannot be told: on a single
            item, or when every item differs by the same. It leaves 0 out when the difference is significant, and only then.
        confidence: The level of the interval: 0.95 for one scorer, higher by what the p-value is adjusted by for several.
        broke: Items that passed every repetition and do not now, or some and now none.
        mended: Items that did not pass every repetition and do now.
        worse: Items that pass less of their repetitions, without having broken.
        better: Items that pass more of their repetitions, without having mended.
        version_changed: Whether the arguments or the code of the scorer are known to have changed.
        decides: Whether it counts; a scorer that is only watched does not.
        said: All that as a sentence.
    """

    scorer: str
    items: int
    before: float
    after: float
    difference: float
    p_value: float
    test: Literal["mcnemar", "permutation"]
    interval: tuple[float, float] | None = None
    confidence: float = 0.95
    broke: int = 0
    mended: int = 0
    worse: int = 0
    better: int = 0
    version_changed: bool = False
    decides: bool = True
    said: str = ""

    @property
    def fell(self) -> bool:
        """Whether it counts, and is lower by more than chance explains."""
        return self.decides and self.difference < 0 and self.p_value < SIGNIFICANT


class MeasureChange(Struct, frozen=True):
    """Cost, tokens or seconds of the items that both have, before and now.

    Args:
        name: "cost", "tokens" or "seconds".
        items: On how many items it is known on both sides; the totals are over these.
        before: Their total before, of each item the mean of its repetitions.
        after: Their total now.
        known_before: On how many items it is known before.
        known_after: On how many items it is known now.
    """

    name: Measure
    items: int
    before: float
    after: float
    known_before: int
    known_after: int

    @property
    def growth(self) -> float:
        """By how much it grew, as a share of what it was; 0 where it was and is nothing."""
        if self.before == self.after:
            return 0.0
        return (self.after - self.before) / self.before if self.before else float("inf")


class Decision(Struct, frozen=True, omit_defaults=True):
    """What a command decided on a comparison.

    Args:
        exit_code: 0 no condition holds; 1 one does; 3 it cannot be told.
        said: The same in words, with what it rests on.
        conditions: What was asked: "regression", limits such as "cost>+10%", or "never".
    """

    exit_code: int
    said: str
    conditions: tuple[str, ...] = ()


class EvalComparison(Struct, frozen=True, omit_defaults=True, tag_field="schema", tag="quickchecks.comparison/1"):
    """What changed from one result to another.

    Args:
        common: The ids of the items that both have, with the same content.
        only_before: Items that only the first has.
        only_after: Items that only the second has.
        changed_items: Items whose input or expectation changed, so that they are not compared.
        scorers: How each scorer came out that both have.
        only_scorers_before: Scorers that only the first has.
        only_scorers_after: Scorers that only the second has.
        broke: What broke, item by item: what passed every repetition and does not now, or some and now none.
        mended: What mended: what did not pass every repetition and does now.
        worse: What passes less of its repetitions than before, and passed only some of them before: it may be chance.
        better: What passes more of its repetitions, but not all.
        answered: How often the items were answered at all, where some repetition broke.
        measures: Cost, tokens and seconds.
        verdicts: What each result says by itself.
        unfinished: Why each result is not whole; empty for one that is.
        notes: What the comparison does not speak of, or speaks of with less weight, and what a scorer no longer judges, a
            sentence each.
        open_ended: Why the comparison cannot clear the second result; empty when it can.
        decision: What a command decided on it; None where none was asked.
    """

    common: tuple[str, ...] = ()
    only_before: tuple[str, ...] = ()
    only_after: tuple[str, ...] = ()
    changed_items: tuple[str, ...] = ()
    scorers: tuple[ScorerChange, ...] = ()
    only_scorers_before: tuple[str, ...] = ()
    only_scorers_after: tuple[str, ...] = ()
    broke: tuple[Change, ...] = ()
    mended: tuple[Change, ...] = ()
    worse: tuple[Change, ...] = ()
    better: tuple[Change, ...] = ()
    answered: ScorerChange | None = None
    measures: tuple[MeasureChange, ...] = ()
    verdicts: tuple[str | None, str | None] = (None, None)
    unfinished: tuple[str, str] = ("", "")
    notes: tuple[str, ...] = ()
    open_ended: str = ""
    decision: Decision | None = None

    @property
    def regressed(self) -> bool:
        """Whether anything is worse: an item broke, the verdict fell, or a mean fell by more than chance explains.

        An item that passed only some of its repetitions, and passes fewer now, counts by the paired test over all items
        alone: by itself it is what repetitions do.
        """
        return bool(self.broke) or self.verdict_fell or bool(self.fallen)

    @property
    def fallen(self) -> tuple[str, ...]:
        """The scorers whose mean fell by more than chance explains."""
        every = self.scorers if self.answered is None else (*self.scorers, self.answered)
        return tuple(one.scorer for one in every if one.fell)

    @property
    def judged(self) -> bool:
        """Whether a scorer that counts judged an item in both."""
        return any(one.decides for one in self.scorers)

    @property
    def verdict_fell(self) -> bool:
        """Whether the second result failed, and the first did not, or it missed a threshold, and the first passed."""
        first, second = self.verdicts
        if second == "failed":
            return first in ("passed", "scored", "undecided")
        return second == "scored" and first == "passed"
