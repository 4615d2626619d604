"""What a scorer says of one item in each of two results, and how the item moved between them."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from itertools import islice

from msgspec import Struct

from quickchecks import _render
from quickchecks._gates import Assertion
from quickchecks._results.changes import Change, Direction
from quickchecks._results.differences import mean
from quickchecks._results.divergence import first_divergence
from quickchecks._results.evaluation import ItemResult
from quickchecks._run import Run
from quickchecks._score import Score
from quickchecks._scorer.thresholds import SLACK

__all__ = ("Loss", "Side", "answered", "change", "error_change", "moved", "step")

#: So many items that a scorer no longer judges are named, of each kind.
_MOST_LOST = 20

#: How many of how many.
Share = tuple[int, int]


def step(before: Share, after: Share) -> Direction | None:
    """How an item moved, by how many of its repetitions stood before and now.

    All to fewer, and some to none, is "broke": neither is what repetitions do by themselves. Some to fewer is "worse".
    "mended" asks for all, so that what is called so passes a gate; any other rise is "better". Shares are compared, so
    that the results may have repeated their items a different number of times.

    Args:
        before: How many stood, of how many, before.
        after: The same now.

    Returns:
        The direction; None when the share is the same, or there is none on one side.

    Example:
        >>> step((3, 3), (2, 3)), step((2, 3), (0, 3)), step((3, 5), (2, 5)), step((1, 3), (2, 3)), step((1, 3), (3, 3))
        ('broke', 'broke', 'worse', 'better', 'mended')
    """
    (was, of), (now, now_of) = before, after
    if not of or not now_of or now * of == was * now_of:
        return None
    if now * of < was * now_of:
        return "broke" if was == of or not now else "worse"
    return "mended" if now == now_of else "better"


def answered(items: Sequence[ItemResult]) -> Share:
    """How many repetitions of an item did not break, of how many."""
    return sum(not item.errored for item in items), len(items)


class Side(Struct, frozen=True):
    """What a scorer says of one item in one of the results: a score for each repetition that did not break."""

    scores: tuple[Score, ...]
    runs: tuple[Run | None, ...]
    is_gate: bool

    @classmethod
    def of(cls, assertion: Assertion, items: Sequence[ItemResult]) -> Side:
        """Collect it."""
        found: list[tuple[Score, Run | None]] = []
        for item in items:
            pairs = () if item.errored else zip(item.plan, item.scores, strict=False)
            same = (score for one, score in pairs if one.label == assertion.label and one.role == assertion.role)
            found += [(score, item.run) for score in islice(same, 1)]
        return cls(tuple(score for score, _ in found), tuple(run for _, run in found), assertion.role == "gate")

    @property
    def value(self) -> float | None:
        """The mean over the repetitions; None where nothing was judged."""
        values = [score.value for score in self.scores if score.value is not None]
        return mean(values) if values else None

    @property
    def is_plain(self) -> bool:
        """Whether it passes or fails, the same in each repetition."""
        return self.value in (0, 1) and (self.is_gate or all(score.outcome != "graded" for score in self.scores))

    def stands(self, score: Score) -> bool:
        """Whether a score is no less than to pass; a number that no gate asks about stands for itself."""
        if score.outcome == "graded":
            return not self.is_gate or (score.value is not None and score.value >= 1 - SLACK)
        return score.passed

    @property
    def standing(self) -> Share:
        """How many scores stand, of those that apply."""
        apply = [score for score in self.scores if score.outcome != "not_applicable"]
        return sum(map(self.stands, apply)), len(apply)

    @property
    def told(self) -> Share:
        """How many scores say something, of those that apply: the others broke, or had no evidence."""
        apply = [score for score in self.scores if score.outcome != "not_applicable"]
        return sum(score.value is not None for score in apply), len(apply)

    @property
    def judged(self) -> float:
        """Which share of the repetitions has a value."""
        return sum(score.value is not None for score in self.scores) / len(self.scores) if self.scores else 0.0

    def example(self, *, standing: bool) -> tuple[Score, Run | None]:
        """A score that stands, or one that does not, with its run; another one when there is none."""
        pairs = [pair for pair in zip(self.scores, self.runs, strict=True) if pair[0].outcome != "not_applicable"]
        pairs = pairs or list(zip(self.scores, self.runs, strict=True))
        return next((pair for pair in pairs if self.stands(pair[0]) is standing), pairs[0])


def moved(was: Side, now: Side) -> Direction | None:
    """How an item moved under one scorer.

    What no longer applies has not moved, but is lost (`Loss`): an agent that makes no mistake gives a check of mistakes
    nothing to judge. What did not apply before, and now fails, broke: nothing was wrong with it. What
    failed, and now cannot even be judged, is worse.
    """
    if was.scores and not was.standing[1] and now.standing[0] < now.standing[1]:
        return "broke"
    return step(was.standing, now.standing) or ("worse" if step(was.told, now.told) in ("broke", "worse") else None)


class Loss(Struct, frozen=True):
    """What a scorer judged before and no longer judges, though the items were answered.

    Args:
        scorer: Its label.
        items: How many items it judged before.
        kept: How many of them it judges now.
        named: The items that are judged less, and of which nothing else is told, by what is said of them now.
        heavy: Whether more than half of what it judged is gone. What it says now is then no answer to what it said.
    """

    scorer: str
    items: int
    kept: int
    named: Mapping[str, Sequence[str]]
    heavy: bool

    @classmethod
    def of(cls, scorer: str, sides: Mapping[str, tuple[Side, Side]], told: Container[str]) -> Loss | None:
        """Find it; None when nothing is lost.

        Args:
            scorer: Its label.
            sides: What it says of each item that was answered now.
            told: The items whose move is told by itself.
        """
        before = {item: pair for item, pair in sides.items() if pair[0].judged}
        lost = {item: pair for item, pair in before.items() if pair[1].judged < pair[0].judged}
        if not lost:
            return None
        named: dict[str, list[str]] = {}
        for item, (_, now) in lost.items():
            if item not in told:
                named.setdefault(_instead(now), []).append(item)
        kept = sum(min(was.judged, now.judged) for was, now in before.values())
        heavy = 2 * kept < sum(was.judged for was, _ in before.values()) - SLACK
        return cls(scorer, len(before), sum(now.judged > 0 for _, now in before.values()), named, heavy)

    @property
    def said(self) -> str:
        """That it judges less, as a sentence."""
        if self.kept == self.items:
            return f"{self.scorer} judged more repetitions of {_render.many(self.items, 'item')} before than now"
        return f"{self.scorer} judged {_render.many(self.items, 'item')} before and {self.kept or 'none'} of them now"

    @property
    def note(self) -> str:
        """The same with the items."""
        items = (
            f"{what}: {_render.listed([_render.name(item) for item in items], limit=_MOST_LOST)}"
            for what, items in self.named.items()
        )
        return "; ".join((self.said, *items))


def _instead(now: Side) -> str:
    """What is said of an item that is no longer judged, or in fewer repetitions."""
    if now.judged:
        return "in fewer repetitions"
    return "not asked" if not now.scores else _outcomes(now.scores)


def change(item: str, label: str, was: Side, now: Side, direction: Direction) -> Change:
    """Say how an item moved under one scorer, and where its runs part."""
    fell = direction in ("broke", "worse")
    _, run_before = was.example(standing=fell)
    after, run_after = now.example(standing=not fell)
    divergence = first_divergence(run_before, run_after) if run_before is not None and run_after is not None else ""
    return Change(item, label, _outcomes(was.scores), _outcomes(now.scores), after.reason, divergence)


def _outcomes(scores: Sequence[Score]) -> str:
    kinds = [score.outcome.replace("_", " ") for score in scores]
    return kinds[0] if len(kinds) == 1 else ", ".join(f"{kinds.count(kind)} × {kind}" for kind in dict.fromkeys(kinds))


def error_change(item: str, old: Sequence[ItemResult], new: Sequence[ItemResult]) -> Change:
    """Say that the item itself broke, or more or less often than before."""
    error = next((one.error for one in new if one.error is not None), None)
    return Change(item, "", _errors(old), _errors(new), "" if error is None else _render.capped(error.message))


def _errors(items: Sequence[ItemResult]) -> str:
    kinds = dict.fromkeys(item.error.kind for item in items if item.error is not None)
    if not kinds:
        return "answered"
    broken = sum(item.errored for item in items)
    return f"{'' if len(items) == 1 else f'{broken} of {len(items)} '}broke: {', '.join(kinds)}"
