"""Two results of the same dataset, side by side: what broke, what mended, and how sure that is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from math import fsum, inf
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from quickchecks import _render, _stats
from quickchecks._gates import Assertion
from quickchecks._items import content_hash
from quickchecks._render import many
from quickchecks._results.divergence import first_divergence
from quickchecks._results.evaluation import EvalResult, ItemResult
from quickchecks._run import Run
from quickchecks._score import Score
from quickchecks._scorer.thresholds import SLACK

__all__ = ("Change", "EvalComparison", "MeasureChange", "ScorerChange", "compare_results")

#: Below this p-value, after adjusting for several scorers, a difference is called one.
SIGNIFICANT = 0.05


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
        scorer: The identity of the scorer, with the turn where it judges one.
        items: On how many items both were judged.
        before: The mean before.
        after: The mean now.
        difference: The mean of the differences.
        p_value: The chance of a difference like this if nothing had changed, adjusted for several scorers (Holm).
        test: What gave it.
        interval: The 95 % interval of the difference; None for a number on a single item.
        broke: Items that passed before and do not now, where both were judged.
        mended: Items that did not pass before and do now.
        version_changed: Whether the arguments or the code of the scorer are known to have changed.
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
    broke: int = 0
    mended: int = 0
    version_changed: bool = False
    said: str = ""


class MeasureChange(Struct, frozen=True):
    """Cost, tokens or seconds of the items that both have, before and now.

    Args:
        name: "cost", "tokens" or "seconds".
        items: On how many items it is known on both sides.
        before: Their total before, of each item the mean of its repetitions.
        after: Their total now.
    """

    name: Literal["cost", "tokens", "seconds"]
    items: int
    before: float
    after: float

    @property
    def growth(self) -> float:
        """By how much it grew, as a share of what it was; 0 where it was and is nothing."""
        if self.before == self.after:
            return 0.0
        return (self.after - self.before) / self.before if self.before else float("inf")


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
        broke: What broke, item by item.
        mended: What mended.
        measures: Cost, tokens and seconds.
        verdicts: What each result says by itself.
        open_ended: Why the comparison cannot clear the second result; empty when it can.
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
    measures: tuple[MeasureChange, ...] = ()
    verdicts: tuple[str | None, str | None] = (None, None)
    open_ended: str = ""

    @property
    def regressed(self) -> bool:
        """Whether anything is worse: an item broke, the verdict fell, or a mean fell by more than chance explains."""
        fell = any(one.difference < 0 and one.p_value < SIGNIFICANT for one in self.scorers)
        return bool(self.broke) or self.verdict_fell or fell

    @property
    def verdict_fell(self) -> bool:
        """Whether the first result passed, and the second failed or missed a threshold."""
        return self.verdicts[0] == "passed" and self.verdicts[1] in ("failed", "scored")


def compare_results(before: EvalResult, after: EvalResult) -> EvalComparison:
    """Compare two results, joined by the ids of their items.

    Args:
        before: The first.
        after: The second.

    Returns:
        What changed. Differences are over the items that both have with the same content; an item that broke is told as
        such, never as 0.
    """
    old, new = _by_id(before), _by_id(after)
    shared = [item for item in old if item in new]
    changed = tuple(item for item in shared if content_hash(old[item][0].item) != content_hash(new[item][0].item))
    common = tuple(item for item in shared if item not in set(changed))
    broke: list[Change] = []
    mended: list[Change] = []
    for item in common:
        _errors(item, old[item], new[item], broke, mended)
    scorers: list[ScorerChange] = []
    for first, second in _both(before, after):
        pairs = {item: (_Side.of(first, old[item]), _Side.of(second, new[item])) for item in common}
        one = _scorer_change(first, second, list(pairs.values()))
        if one is not None:
            scorers.append(one)
        for item, (was, now) in pairs.items():
            if was.passed and not now.passed and now.is_worse:
                broke.append(_change(item, first.label, was, now))
            elif now.passed and not was.passed and was.is_worse:
                mended.append(_change(item, first.label, was, now))
    adjusted = _stats.holm([one.p_value for one in scorers])
    labels_before, labels_after = ({one.label: None for one in result.assertions} for result in (before, after))
    return EvalComparison(
        common,
        tuple(item for item in old if item not in new),
        tuple(item for item in new if item not in old),
        changed,
        tuple(_said(one, p_value) for one, p_value in zip(scorers, adjusted, strict=True)),
        tuple(label for label in labels_before if label not in labels_after),
        tuple(label for label in labels_after if label not in labels_before),
        tuple(broke),
        tuple(mended),
        _measures(common, old, new),
        (before.verdict, after.verdict),
        _open_ended(before, after),
    )


def _open_ended(before: EvalResult, after: EvalResult) -> str:
    """Why nothing can be said of what the second result leaves out."""
    for which, result in (("first", before), ("second", after)):
        if result.interrupted:
            return f"the {which} result was broken off"
        if result.incomplete:
            return f"the {which} result is not whole: {result.incomplete}"
    return "the second result is undecided by itself" if before.verdict == "passed" and after.verdict == "undecided" else ""


_Items = Mapping[str, list[ItemResult]]


def _by_id(result: EvalResult) -> dict[str, list[ItemResult]]:
    found: dict[str, list[ItemResult]] = {}
    for item in result.items:
        found.setdefault(item.id, []).append(item)
    return found


def _both(before: EvalResult, after: EvalResult) -> Iterator[tuple[Assertion, Assertion]]:
    """The scorers that both results have, each once: one that is a gate and is measured too says the same twice."""
    old, new = _by_label(before), _by_label(after)
    for label, entries in old.items():
        others = new.get(label)
        if not others:
            continue
        done: list[str] = []
        for one in entries:
            other = next((other for other in others if other.role == one.role), others[0])
            code = one.scorer.version or one.scorer.id
            if code not in done:
                done.append(code)
                yield one, other


def _by_label(result: EvalResult) -> dict[str, list[Assertion]]:
    """The entries by label; of those that differ in their bounds only, the first."""
    found: dict[str, dict[str, Assertion]] = {}
    for one in result.assertions:
        found.setdefault(one.label, {}).setdefault(one.role, one)
    return {label: list(by_role.values()) for label, by_role in found.items()}


class _Side(Struct, frozen=True):
    """What a scorer says of one item in one of the results: a score for each repetition that did not break."""

    scores: tuple[Score, ...]
    runs: tuple[Run | None, ...]
    is_gate: bool

    @classmethod
    def of(cls, assertion: Assertion, items: Sequence[ItemResult]) -> _Side:
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
        return fsum(values) / len(values) if values else None

    def passes(self, score: Score) -> bool:
        return score.passed or (self.is_gate and score.value is not None and score.value >= 1 - SLACK)

    @property
    def passed(self) -> bool:
        """Whether every repetition passed."""
        return bool(self.scores) and all(map(self.passes, self.scores))

    @property
    def is_worse(self) -> bool:
        """Whether this is less than to pass. What does not apply is no worse, and a number is neither."""
        outcomes = {score.outcome for score in self.scores if not self.passes(score)}
        return bool(outcomes & {"failed", "error", "no_evidence"}) or (self.is_gate and "graded" in outcomes)

    @property
    def is_plain(self) -> bool:
        """Whether it passes or fails, the same in each repetition."""
        return self.value in (0, 1) and (self.is_gate or all(score.outcome != "graded" for score in self.scores))

    def of_kind(self, *, passing: bool) -> tuple[Score, Run | None]:
        """A score that passes, or one that does not, with its run; another one when there is none."""
        pairs = list(zip(self.scores, self.runs, strict=True))
        return next((pair for pair in pairs if self.passes(pair[0]) is passing), pairs[0])


def _scorer_change(first: Assertion, second: Assertion, sides: Sequence[tuple[_Side, _Side]]) -> ScorerChange | None:
    judged = [(was, now) for was, now in sides if was.value is not None and now.value is not None]
    if not judged:
        return None
    before, after = [was.value or 0.0 for was, _ in judged], [now.value or 0.0 for _, now in judged]
    differences = [new - old for old, new in zip(before, after, strict=True)]
    broke = sum(was.passed and not now.passed and now.is_worse for was, now in judged)
    mended = sum(now.passed and not was.passed and was.is_worse for was, now in judged)
    count = len(judged)
    plain = all(was.is_plain and now.is_plain for was, now in judged)
    interval: tuple[float, float] | None = None
    if plain:
        p_value, interval = _stats.mcnemar(broke, mended), _stats.paired_interval(broke, mended, count)
    else:
        p_value = _stats.sign_flip_test(differences)
        if count > 1:
            _, *bounds = _stats.mean_difference(differences)
            # Between numbers from 0 to 1 no difference is larger than 1.
            limit = 1.0 if all(0 <= value <= 1 for value in (*before, *after)) else inf
            interval = (max(bounds[0], -limit), min(bounds[1], limit))
    versions = (first.scorer.version, second.scorer.version)
    return ScorerChange(
        first.label,
        count,
        fsum(before) / count,
        fsum(after) / count,
        fsum(differences) / count,
        p_value,
        "mcnemar" if plain else "permutation",
        interval,
        broke,
        mended,
        all(versions) and versions[0] != versions[1],
    )


def _said(one: ScorerChange, p_value: float) -> ScorerChange:
    known = "" if one.interval is None else f", 95 % interval {one.interval[0]:+.3g} to {one.interval[1]:+.3g}"
    moved = f"{one.before:.3g} → {one.after:.3g} ({one.difference:+.3g}{known})"
    if one.difference == 0 and not one.broke and not one.mended:
        verdict = "no change"
    elif p_value < SIGNIFICANT:
        verdict = f"{'worse' if one.difference < 0 else 'better'} (p = {p_value:.2g})"
    else:
        verdict = f"not more than chance explains (p = {p_value:.2g})"
    flips = f"; {one.broke} broke, {one.mended} mended" if one.broke or one.mended else ""
    version = "; the check itself changed" if one.version_changed else ""
    return replace(one, p_value=p_value, said=f"{moved} on {many(one.items, 'item')}: {verdict}{flips}{version}")


def _errors(item: str, old: Sequence[ItemResult], new: Sequence[ItemResult], broke: list[Change], mended: list[Change]) -> None:
    first = next((one.error for one in old if one.error is not None), None)
    second = next((one.error for one in new if one.error is not None), None)
    if first is None and second is not None:
        broke.append(Change(item, "", "answered", f"broke: {second.kind}", _render.capped(second.message)))
    elif first is not None and second is None:
        mended.append(Change(item, "", f"broke: {first.kind}", "answered"))


def _change(item: str, label: str, was: _Side, now: _Side) -> Change:
    _, run_before = was.of_kind(passing=was.passed)
    after, run_after = now.of_kind(passing=now.passed)
    divergence = first_divergence(run_before, run_after) if run_before is not None and run_after is not None else ""
    return Change(item, label, _outcomes(was.scores), _outcomes(now.scores), after.reason, divergence)


def _outcomes(scores: Sequence[Score]) -> str:
    kinds = dict.fromkeys(score.outcome.replace("_", " ") for score in scores)
    if len(scores) == 1:
        return next(iter(kinds))
    return ", ".join(f"{sum(score.outcome.replace('_', ' ') == kind for score in scores)} × {kind}" for kind in kinds)


def _measures(common: Sequence[str], old: _Items, new: _Items) -> tuple[MeasureChange, ...]:
    found: list[MeasureChange] = []
    names: tuple[Literal["cost", "tokens", "seconds"], ...] = ("cost", "tokens", "seconds")
    for name in names:
        pairs = [(_mean_measure(name, old[item]), _mean_measure(name, new[item])) for item in common]
        known = [(before, after) for before, after in pairs if before is not None and after is not None]
        if known:
            totals = (fsum(before for before, _ in known), fsum(after for _, after in known))
            found.append(MeasureChange(name, len(known), *totals))
    return tuple(found)


def _mean_measure(name: str, items: Sequence[ItemResult]) -> float | None:
    values = [value for item in items if (value := _measure(name, item)) is not None]
    return fsum(values) / len(values) if len(values) == len(items) else None


def _measure(name: str, item: ItemResult) -> float | None:
    if name == "seconds":
        return item.seconds
    usage = item.run.usage if item.run is not None else None
    if usage is None:
        return None
    if name == "cost":
        return usage.cost
    if usage.input_tokens is None and usage.output_tokens is None:
        return None
    return float((usage.input_tokens or 0) + (usage.output_tokens or 0))
