"""Which runs a changed check flips: two sets of checks over the same runs."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from quickchecks._run import Run
from quickchecks._score import Outcome, Score
from quickchecks._scorer.checks_file import CheckEntry
from quickchecks._scorer.pipeline import Scorer

__all__ = ("ChangedCheck", "Comparison", "Flip", "FlippedRun", "Flips")

#: How many runs of one kind of flip are named.
MAX_NAMED = 5

#: These two are always told, with 0 where there are none: a change is judged by both.
BOTH_WAYS: tuple[tuple[Outcome, Outcome], ...] = (("passed", "failed"), ("failed", "passed"))


class FlippedRun(Struct, frozen=True):
    """One run on which a changed check says something else than before.

    Args:
        place: Where the run was read from.
        before: What the old check says.
        after: What the new check says.
    """

    place: str
    before: str
    after: str


class Flip(Struct, frozen=True):
    """The runs that went from one outcome to another.

    Args:
        before: The outcome under the old check.
        after: The outcome under the new check.
        count: How many runs there are.
        examples: The first of them.
    """

    before: Outcome
    after: Outcome
    count: int
    examples: tuple[FlippedRun, ...] = ()


class ChangedCheck(Struct, frozen=True):
    """A check that is not what it was.

    Args:
        before: The expression of the old check.
        after: The expression of the new check.
        flips: What went from one outcome to another, those from passed to failed and back first.
        notes: What changed beside the expression: the mode or the threshold.
        name: The name of the new check, where it has one.
    """

    before: str
    after: str
    flips: tuple[Flip, ...] = ()
    notes: tuple[str, ...] = ()
    name: str = ""


class Comparison(Struct, frozen=True):
    """Two sets of checks over the same runs.

    Args:
        against: What the old checks are called, such as the name of their file.
        changed: The checks that are not what they were.
        new: The identities of checks that the old set does not have.
        removed: The identities of checks that only the old set has.
        unchanged: How many checks are the same in both.
    """

    against: str
    changed: tuple[ChangedCheck, ...] = ()
    new: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    unchanged: int = 0


def written(scorer: Scorer) -> str:
    """What decides in a check: its expression, without its name and why."""
    return scorer.expression.text() if scorer.expression is not None else repr(scorer)


class _Pair:
    """An old check with the new one that stands in its place, and what they say differently."""

    def __init__(self, before: CheckEntry, after: CheckEntry, position: int) -> None:
        self.before = before
        self.after = after
        self.position = position
        self.same_check = written(before.scorer) == written(after.scorer)
        self.counts: dict[tuple[Outcome, Outcome], int] = {}
        self.named: dict[tuple[Outcome, Outcome], list[FlippedRun]] = {}

    def add(self, place: str, before: Score, after: Score) -> None:
        if before.outcome == after.outcome and (after.outcome != "graded" or before.value == after.value):
            return
        key = (before.outcome, after.outcome)
        self.counts[key] = self.counts.get(key, 0) + 1
        named = self.named.setdefault(key, [])
        if len(named) < MAX_NAMED:
            named.append(FlippedRun(place, before.reason, after.reason))

    def notes(self) -> tuple[str, ...]:
        told = []
        if self.before.mode != self.after.mode:
            told.append(f"it was a {self.before.mode} and is a {self.after.mode}")
        elif self.before.threshold != self.after.threshold:
            told.append(f"its threshold was {self.before.threshold} and is {self.after.threshold}")
        return tuple(told)

    def result(self) -> ChangedCheck:
        order = [*BOTH_WAYS, *(key for key in self.counts if key not in BOTH_WAYS)]
        shown = [key for key in order if key in self.counts or not self.same_check]
        flips = tuple(Flip(*key, self.counts.get(key, 0), tuple(self.named.get(key, ()))) for key in shown)
        name = self.after.scorer.name or ""
        return ChangedCheck(written(self.before.scorer), written(self.after.scorer), flips, self.notes(), name)


def _same_identity(one: CheckEntry, other: CheckEntry) -> bool:
    return one.scorer.identity == other.scorer.identity


def _same_kind(one: CheckEntry, other: CheckEntry) -> bool:
    return one.scorer.id == other.scorer.id


def _any_two(one: CheckEntry, other: CheckEntry) -> bool:
    return True


class Flips:
    """Compares two sets of checks, run by run, in constant memory.

    A check is matched with the one of the same identity; then, where each set has exactly one left that is made by the
    same function, with that one; and where exactly one is left at all, with that.

    Args:
        before: The old checks.
        after: The new checks.
        against: What the old checks are called.
    """

    def __init__(self, before: Sequence[CheckEntry], after: Sequence[CheckEntry], against: str) -> None:
        self._against = against
        old, new = list(before), list(enumerate(after))
        pairs: list[_Pair] = []
        for alike in (_same_identity, _same_kind, _any_two):
            for position, entry in tuple(new):
                there = [one for one in old if alike(one, entry)]
                here = [one for _, one in new if alike(one, entry)]
                if there and (alike is _same_identity or len(there) == len(here) == 1):
                    pairs.append(_Pair(there[0], entry, position))
                    old.remove(there[0])
                    new.remove((position, entry))
        self._new = tuple(entry.scorer.identity for _, entry in new)
        self._removed = tuple(entry.scorer.identity for entry in old)
        self._pairs = sorted(pairs, key=lambda pair: pair.position)
        self._compared = [pair for pair in self._pairs if not pair.same_check]

    def add(self, run: Run, place: str, scores: Sequence[Score]) -> None:
        """Score a run with the old checks, and note what they say differently.

        Args:
            run: The run.
            place: Where it was read from.
            scores: What the new checks say, one score an entry.
        """
        for pair in self._compared:
            pair.add(place, pair.before.scorer.score(run), scores[pair.position])

    def result(self) -> Comparison:
        """What was found."""
        changed = [pair for pair in self._pairs if not pair.same_check or pair.notes()]
        return Comparison(
            self._against,
            tuple(pair.result() for pair in changed),
            self._new,
            self._removed,
            len(self._pairs) - len(changed),
        )
