"""The result of an evaluation: every item with every score, and what they say together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import fsum
from os import PathLike
from typing import Literal

from msgspec import Struct

from quickchecks._cached import cached
from quickchecks._gates import Assertion, AssertionResult, Counts, Verdict, judge, verdict_of
from quickchecks._items import Item
from quickchecks._run import Run, Usage
from quickchecks._score import Score
from quickchecks._scorer.pipeline import Scorer
from quickchecks.errors import EvalFailed, NoVerdictError, UnknownNameError, UnknownScoreError

__all__ = ("EvalResult", "FailureGroup", "ItemError", "ItemResult", "Part", "ScoresByScorer", "Summary", "TurnResult")

#: The verdicts, the worst first.
_WORST_FIRST: tuple[Verdict, ...] = ("failed", "undecided", "scored", "passed")


class ItemError(Struct, frozen=True, omit_defaults=True):
    """What broke before an item could be scored.

    Args:
        kind: "exception": the target raised. "timeout": it took too long. "answer": what it returned is not understood.
            "run": the run says itself that it failed. "mock": a tool ran that has a mock.
        message: The message.
        type: The class of the exception.
        traceback: Its traceback.
        turn: The turn in which it happened, in a conversation.
    """

    kind: Literal["exception", "timeout", "answer", "run", "mock"]
    message: str
    type: str = ""
    traceback: str = ""
    turn: int | None = None


class ItemResult(Struct, frozen=True):
    """One item, run once.

    Args:
        item: The item.
        index: Its place in the data, from 0.
        repetition: Which of the repetitions this is, from 0.
        run: The run; None when there is none. Of a conversation it is the whole.
        plan: The entries of gates and scorers that apply to the item, those of its turns included.
        scores: The score of each entry of the plan, in its order; empty when something broke before.
        error: What broke, when something did.
        seconds: How long it took with everything.
        attempts: How often the target was called, retries included.
        turns: The run of each turn, where the target was asked more than one; a saved result has the whole alone.
    """

    item: Item
    index: int
    repetition: int = 0
    run: Run | None = None
    plan: tuple[Assertion, ...] = ()
    scores: tuple[Score, ...] = ()
    error: ItemError | None = None
    seconds: float = 0.0
    attempts: int = 1
    turns: tuple[Run, ...] = ()

    @property
    def id(self) -> str:
        """The id of the item."""
        return self.item.id or ""

    @property
    def errored(self) -> bool:
        """Whether something broke before it could be scored."""
        return self.error is not None

    def score(self, identity: str, *, turn: int | None = None) -> Score | None:
        """The score of a scorer, by its identity; None when it has none."""
        pairs = zip(self.plan, self.scores, strict=False)
        return next((score for one, score in pairs if one.turn == turn and one.identity == identity), None)


class Part(Struct, frozen=True, omit_defaults=True):
    """One of the evaluations that a result was put together from, such as that of one test of a session.

    Args:
        name: What ran it.
        verdict: What came of it alone.
        repetitions: How often each of its items was run.
    """

    name: str
    verdict: Verdict | None = None
    repetitions: int = 1


class FailureGroup(Struct, frozen=True, omit_defaults=True):
    """The failures of one kind.

    Args:
        key: The failure key that they share.
        scorer: The identity of the scorer; empty where items broke.
        reason: The reason of the first.
        items: The ids of the items, each once.
        why: Why the user has the check.
    """

    key: str
    scorer: str
    reason: str
    items: tuple[str, ...]
    why: str = ""


class Summary(Struct, frozen=True):
    """The totals.

    Args:
        total_items: Items, each counted once whatever the repetitions.
        total_runs: Items times repetitions.
        errored: Runs that broke before they could be scored.
        scorers: How the scores of each scorer came out, by identity, gates included.
    """

    total_items: int
    total_runs: int
    errored: int
    scorers: Mapping[str, Counts]


class TurnResult(Struct, frozen=True):
    """What came of one turn over all items.

    Args:
        index: The turn, from 0.
        scores: The mean of each scorer that has no threshold and is no gate.
        gate_results: What came of its gates.
        threshold_results: What came of its thresholds.
    """

    index: int
    scores: Mapping[str, float]
    gate_results: tuple[AssertionResult, ...]
    threshold_results: tuple[AssertionResult, ...]


class ScoresByScorer(Mapping[str, float]):
    """The mean of each scorer, by its identity.

    Looking up also takes a scorer itself, and the id of a kind of scorer while only one has it.
    """

    def __init__(self, values: Mapping[str, float], ids: Mapping[str, str]) -> None:
        self._values = dict(values)
        self._ids = dict(ids)

    def __getitem__(self, key: str | Scorer) -> float:
        name = key.identity if isinstance(key, Scorer) else key
        if name in self._values:
            return self._values[name]
        same = [identity for identity, kind in self._ids.items() if kind == name and identity in self._values]
        if len(same) == 1:
            return self._values[same[0]]
        if same:
            raise UnknownScoreError("one scorer with the id", name, hint=f"{len(same)} have it: {', '.join(same)}")
        if name in self._ids:
            raise UnknownScoreError("mean of", name, hint="it has no value: see result.summary.scorers")
        raise UnknownScoreError("score of", name, self._values)

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return repr(self._values)


class EvalResult(Struct, frozen=True, dict=True):
    """What came of an evaluation.

    `result.passed` is True only for the verdict "passed", so `assert result.passed, result.explain()` is safe.

    Args:
        items: Every item with every score, in the order of the data, repetitions together.
        plan: The entries of gates and scorers that apply to every item.
        name: The name of the evaluation.
        max_errors: How many items and scores may break.
        repetitions: How often each item was run.
        warnings: What looks like a mistake, or went wrong beside the items.
        seconds: How long all of it took.
        interrupted: Whether it was broken off.
        incomplete: Which items of the data it says nothing of, as a sentence; empty when it is whole.
        environment: Where it ran: versions, and the git revision when there is one; looked up when it is saved.
        recording: The name of the file that keeps the runs, beside that of the result.
        parts: The evaluations that it was put together from; empty for a single one. Where they are several, `repetitions`
            is the most of any of them.
    """

    items: tuple[ItemResult, ...]
    plan: tuple[Assertion, ...] = ()
    name: str = ""
    max_errors: int = 0
    repetitions: int = 1
    warnings: tuple[str, ...] = ()
    seconds: float = 0.0
    interrupted: bool = False
    environment: Mapping[str, str] | None = None
    recording: str | None = None
    incomplete: str = ""
    parts: tuple[Part, ...] = ()

    def __bool__(self) -> bool:
        raise NoVerdictError(
            "the result of an evaluation is neither true nor false: write `assert result.passed, result.explain()`; "
            f"its verdict is {self.verdict or 'none, because nothing was asserted'}"
        )

    @property
    def passed(self) -> bool:
        """Whether the verdict is "passed"."""
        return self.verdict == "passed"

    @cached
    def verdict(self) -> Verdict | None:
        """What all gates and thresholds say together; None when nothing was asserted.

        What was broken off, or leaves items out, says nothing better than "undecided"; what was put together, nothing better
        than the worst of its parts.
        """
        found = verdict_of(self._judged, errors=self.error_count, max_errors=self.max_errors)
        verdicts = {found, *(part.verdict for part in self.parts)}
        worst: Verdict | None = next((verdict for verdict in _WORST_FIRST if verdict in verdicts), None)
        return "undecided" if (self.interrupted or self.incomplete) and worst not in (None, "failed") else worst

    @cached
    def error_count(self) -> int:
        """How many items broke, plus how many scores of the others did. Scorers that decide nothing do not count."""
        broken = sum(item.errored for item in self.items)
        pairs = (pair for item in self.items if not item.errored for pair in zip(item.plan, item.scores, strict=False))
        return broken + sum(score.outcome == "error" and one.mode is None for one, score in pairs)

    @cached
    def scores(self) -> ScoresByScorer:
        """The mean of each scorer that is no gate and no shadow: over items the mean of the item's repetitions."""
        values: dict[str, float] = {}
        ids: dict[str, str] = {}
        for assertion in self.assertions:
            if assertion.role != "scorer" or assertion.turn is not None or assertion.mode == "shadow":
                continue
            ids[assertion.identity] = assertion.scorer.id
            mean = _mean(self._by_entry[assertion.key])
            if mean is not None:
                values[assertion.identity] = mean
        return ScoresByScorer(values, ids)

    @cached
    def assertions(self) -> tuple[Assertion, ...]:
        """Every entry of gates and scorers, those of turns included, each once."""
        found = {one.key: one for one in self.plan}
        for plan in dict.fromkeys(item.plan for item in self.items):
            found.update((one.key, one) for one in plan if one.key not in found)
        return tuple(found.values())

    @cached
    def _by_entry(self) -> Mapping[tuple[object, ...], Mapping[str, list[Score | None]]]:
        """The scores by entry and item, one a repetition; None where the item broke before it could be scored."""
        found: dict[tuple[object, ...], dict[str, list[Score | None]]] = {one.key: {} for one in self.assertions}
        for item in self.items:
            for position, one in enumerate(item.plan):
                score = item.scores[position] if position < len(item.scores) else None
                if item.errored and score is not None and not (one.role == "gate" and score.outcome in ("failed", "error")):
                    score = None  # on a run that itself failed, checks are shown; they enter no mean and pass no gate
                found[one.key].setdefault(item.id, []).append(score)
        return found

    @cached
    def _judged(self) -> tuple[AssertionResult, ...]:
        results = (judge(one, self._by_entry[one.key]) for one in self.assertions)
        return tuple(result for result in results if result is not None)

    @cached
    def gate_results(self) -> tuple[AssertionResult, ...]:
        """What came of each gate, those of turns included."""
        return tuple(result for result in self._judged if result.bounds is None)

    @cached
    def threshold_results(self) -> tuple[AssertionResult, ...]:
        """What came of each threshold, those of turns included."""
        return tuple(result for result in self._judged if result.bounds is not None)

    @cached
    def turn_results(self) -> tuple[TurnResult, ...]:
        """What came of each turn that has gates or scorers of its own."""
        found: list[TurnResult] = []
        for turn in sorted({one.turn for one in self.assertions if one.turn is not None}):
            measured = [one for one in self.assertions if one.turn == turn and one.role == "scorer" and one.mode != "shadow"]
            bare = [one for one in measured if one.bounds is None]
            means = {one.identity: mean for one in bare if (mean := _mean(self._by_entry[one.key])) is not None}
            gates = tuple(one for one in self.gate_results if one.turn == turn)
            found.append(TurnResult(turn, means, gates, tuple(one for one in self.threshold_results if one.turn == turn)))
        return tuple(found)

    @cached
    def summary(self) -> Summary:
        """The totals."""
        by_label: dict[str, list[Score | None]] = {}
        for assertion in self.assertions:
            scores = [score for of_item in self._by_entry[assertion.key].values() for score in of_item]
            by_label.setdefault(assertion.label, []).extend(scores)
        counts = {label: Counts.of(scores) for label, scores in by_label.items()}
        return Summary(len({item.id for item in self.items}), len(self.items), sum(item.errored for item in self.items), counts)

    @cached
    def failures(self) -> tuple[FailureGroup, ...]:
        """What failed or broke, grouped by kind, the largest group first; not what is only recorded."""
        groups: dict[str, tuple[str, str, dict[str, None], str]] = {}
        for item in self.items:
            if item.error is not None:
                key = f"target | {item.error.kind} | {item.error.type}".rstrip(" |")
                groups.setdefault(key, ("", item.error.message, {}, ""))[2][item.id] = None
            for one, score in zip(item.plan, item.scores, strict=False):
                if score.failure_key and one.mode != "shadow":
                    group = groups.setdefault(score.failure_key, (score.scorer.identity, score.reason, {}, score.scorer.why))
                    group[2][item.id] = None
        found = [FailureGroup(key, who, reason, tuple(ids), why) for key, (who, reason, ids, why) in groups.items()]
        return tuple(sorted(found, key=lambda group: -len(group.items)))

    @cached
    def flaky(self) -> Mapping[str, tuple[str, ...]]:
        """For each scorer that passes or fails, the items whose repetitions do not agree."""
        found: dict[str, tuple[str, ...]] = {}
        for assertion in self.assertions:
            if assertion.mode == "shadow":
                continue
            scores = self._by_entry[assertion.key]
            ids = tuple(item for item, of_item in scores.items() if len({s.outcome for s in of_item if s is not None}) > 1)
            if ids:
                found[assertion.label] = ids
        return found

    def pass_at(self, scorer: str | Scorer) -> Mapping[int, float]:
        """The chance that at least one of k runs passes, for every k up to the repetitions.

        Args:
            scorer: The scorer, or its identity.

        Returns:
            The mean over the items that were judged in every repetition, by k.
        """
        from quickchecks._stats import pass_at_k

        return self._by_k(scorer, pass_at_k)

    def pass_all(self, scorer: str | Scorer) -> Mapping[int, float]:
        """The chance that all of k runs pass (pass^k), for every k up to the repetitions. See `pass_at`."""
        from quickchecks._stats import pass_hat_k

        return self._by_k(scorer, pass_hat_k)

    def _by_k(self, scorer: str | Scorer, estimate: Callable[[int, int, int], float]) -> Mapping[int, float]:
        identity = scorer.identity if isinstance(scorer, Scorer) else scorer
        assertion = next((one for one in self.assertions if one.identity == identity), None)
        if assertion is None:
            raise UnknownNameError("scorer", identity, [one.identity for one in self.assertions])
        items = [[s for s in found if s is not None and s.value is not None] for found in self._by_entry[assertion.key].values()]
        whole = [[score.value == 1 for score in found] for found in items if len(found) == self.repetitions]
        return {
            k: fsum(estimate(sum(found), len(found), k) for found in whole) / len(whole)
            for k in range(1, self.repetitions + 1)
            if whole
        }

    @cached
    def usage(self) -> Usage | None:
        """Tokens and cost of all runs, as far as the runs carry them."""
        known = [item.run.usage for item in self.items if item.run is not None and item.run.usage is not None]
        if not known:
            return None
        sums = {
            name: [value for usage in known if (value := getattr(usage, name)) is not None] for name in Usage.__struct_fields__
        }
        return Usage(**{name: sum(values) if values else None for name, values in sums.items()})

    def explain(self) -> str:
        """The verdict and everything that decided it, as text."""
        from quickchecks._results.explaining import explained

        return explained(self)

    def raise_for_verdict(self) -> None:
        """Raise for every verdict but "passed".

        Raises:
            EvalFailed: The verdict is another, or nothing was asserted.
        """
        if not self.passed:
            raise EvalFailed(self.explain())

    def __str__(self) -> str:
        return self.explain()

    def save(self, path: str | PathLike[str]) -> None:
        """Write the result to a file, to be committed and compared; `load_result` reads it.

        Args:
            path: The file; what it held is replaced.
        """
        from quickchecks._results.saved import save_result

        save_result(self, path)

    def __repr__(self) -> str:
        return f"<EvalResult of {len(self.items)} runs>"  # cheap, because asyncio makes it of every task's result


def _mean(scores: Mapping[str, Sequence[Score | None]]) -> float | None:
    values = [[s.value for s in found if s is not None and s.value is not None] for found in scores.values()]
    means = [fsum(found) / len(found) for found in values if found]
    return fsum(means) / len(means) if means else None
