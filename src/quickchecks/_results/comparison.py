"""Two results of the same dataset, side by side: what broke, what mended, and how sure that is."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence

from msgspec.structs import replace

from quickchecks import _render
from quickchecks._gates import Assertion
from quickchecks._items import content_hash
from quickchecks._render import many
from quickchecks._results.changes import SIGNIFICANT, Change, Direction, EvalComparison, ScorerChange
from quickchecks._results.differences import Paired, told
from quickchecks._results.evaluation import EvalResult, ItemResult
from quickchecks._results.measures import measures
from quickchecks._results.sides import Loss, Side, answered, change, error_change, moved, step

__all__ = ("compare_results",)

_Items = Mapping[str, list[ItemResult]]


def compare_results(before: EvalResult, after: EvalResult) -> EvalComparison:
    """Compare two results, joined by the ids of their items.

    An item broke when it passed every repetition and does not now, or passed some and now passes none; the same holds for
    repetitions that break before they can be scored. An item that passed some of its repetitions and passes fewer now is
    "worse": it is told, and counts as a regression only when the paired test over the items finds more than chance.

    A scorer that judged an item before, and to which the item gives nothing to judge now, is told with the item. Where it
    judges less than half of what it judged, the comparison is open: it could not have seen most of what may have broken.

    Args:
        before: The first.
        after: The second.

    Returns:
        What changed. Differences are over the items that both have with the same content; an item that broke is told as
        such, never as 0.

    Example:
        >>> from quickchecks import checks, compare_results, run_evals_sync
        >>> good, bad = (
        ...     run_evals_sync([{"input": "Weather?", "output": said}], None, [checks.includes("sunny")])
        ...     for said in ("It is sunny.", "I cannot say.")
        ... )
        >>> compare_results(good, bad).regressed, compare_results(good, good).regressed
        (True, False)
    """
    old, new = _by_id(before), _by_id(after)
    shared = [item for item in old if item in new]
    changed = {item: None for item in shared if _contents(old[item]) != _contents(new[item])}
    common = tuple(item for item in shared if item not in changed)
    found = _Found()
    for item in common:
        found.add_errors(item, old[item], new[item])
    for first, second in _both(before, after):
        found.add_scorer(first, second, {item: (Side.of(first, old[item]), Side.of(second, new[item])) for item in common})
    scorers = told([pair for pair in found.scorers if pair.change.decides])
    watched = told([pair for pair in found.scorers if not pair.change.decides])
    labels_before, labels_after = _labels(before), _labels(after)
    return EvalComparison(
        common=common,
        only_before=tuple(item for item in old if item not in new),
        only_after=tuple(item for item in new if item not in old),
        changed_items=tuple(changed),
        scorers=(*scorers, *watched),
        only_scorers_before=tuple(label for label in labels_before if label not in labels_after),
        only_scorers_after=tuple(label for label in labels_after if label not in labels_before),
        broke=tuple(found.changes["broke"]),
        mended=tuple(found.changes["mended"]),
        worse=tuple(found.changes["worse"]),
        better=tuple(found.changes["better"]),
        answered=_answered(common, old, new),
        measures=measures(common, old, new),
        verdicts=(before.verdict, after.verdict),
        unfinished=(_unfinished(before), _unfinished(after)),
        notes=(*found.notes, *_notes(common, old, new, found), *_beyond_telling(scorers, found.numbers)),
        open_ended=_open_ended(before, after, found.silent),
    )


def _by_id(result: EvalResult) -> dict[str, list[ItemResult]]:
    found: dict[str, list[ItemResult]] = {}
    for item in result.items:
        found.setdefault(item.id, []).append(item)
    return found


def _contents(items: Sequence[ItemResult]) -> set[str]:
    return {content_hash(one.item) for one in items}


def _labels(result: EvalResult) -> dict[str, None]:
    return {one.label: None for one in result.assertions if one.mode != "shadow"}


class _Found:
    """What is found, scorer by scorer."""

    def __init__(self) -> None:
        self.changes: dict[Direction, list[Change]] = {"broke": [], "worse": [], "better": [], "mended": []}
        self.scorers: list[Paired] = []
        self.notes: list[str] = []
        #: Items of which something is known to have moved, or that a scorer judged in both.
        self.known: set[str] = set()
        #: Items of which no repetition was answered now.
        self.unanswered: set[str] = set()
        #: Scorers that judged items before and most of them no longer, as a sentence each.
        self.silent: list[str] = []
        #: Scorers that give numbers, whose fall breaks no item.
        self.numbers: set[str] = set()

    def add_errors(self, item: str, old: Sequence[ItemResult], new: Sequence[ItemResult]) -> None:
        """Note an item whose repetitions break more or less often."""
        if not answered(new)[0]:
            self.unanswered.add(item)
        direction = step(answered(old), answered(new))
        if direction is not None:
            self.changes[direction].append(error_change(item, old, new))
            self.known.add(item)

    def add_scorer(self, first: Assertion, second: Assertion, sides: Mapping[str, tuple[Side, Side]]) -> None:
        """Note what one scorer says of each item."""
        decides = second.mode is None
        if first.mode is None and not decides:
            self.notes.append(f"{first.label} decided before and is only observed now")
        if second.mode == "shadow":
            return
        directions: dict[str, Direction] = {
            item: direction for item, pair in sides.items() if (direction := moved(*pair)) is not None
        }
        judged = {item: pair for item, pair in sides.items() if pair[0].value is not None and pair[1].value is not None}
        if decides:
            self.known |= {*directions, *judged}
            for item, direction in directions.items():
                self.changes[direction].append(change(item, first.label, *sides[item], direction))
            self._add_loss(first.label, sides, directions)
        if judged:
            counts = list(directions.values())
            values = [(was.value or 0.0, now.value or 0.0) for was, now in judged.values()]
            if any(score.outcome == "graded" for pair in judged.values() for side in pair for score in side.scores):
                self.numbers.add(first.label)
            plain = all(was.is_plain and now.is_plain for was, now in judged.values())
            pair = Paired.of(first.label, [was for was, _ in values], [now for _, now in values], plain=plain)
            versions = (first.scorer.version, second.scorer.version)
            about = replace(
                pair.change,
                broke=counts.count("broke"),
                mended=counts.count("mended"),
                worse=counts.count("worse"),
                better=counts.count("better"),
                version_changed=all(versions) and versions[0] != versions[1],
                decides=decides,
            )
            self.scorers.append(replace(pair, change=about))

    def _add_loss(self, label: str, sides: Mapping[str, tuple[Side, Side]], told: Container[str]) -> None:
        """Note what it judged before and no longer judges; of an item that broke, that is told already."""
        loss = Loss.of(label, {item: pair for item, pair in sides.items() if item not in self.unanswered}, told)
        if loss is not None and (loss.named or loss.heavy):
            self.notes.append(loss.note)
        if loss is not None and loss.heavy:
            self.silent.append(loss.said)


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


def _answered(common: Sequence[str], old: _Items, new: _Items) -> ScorerChange | None:
    """How often the items were answered, which is a question of its own beside the scorers; None when nothing broke."""
    shares = [(answered(old[item]), answered(new[item])) for item in common]
    if all(good == of for pair in shares for good, of in pair):
        return None
    before, after = ([good / of for good, of in side] for side in zip(*shares, strict=True))
    pair = Paired.of("answered", before, after, plain=all(value in (0, 1) for value in (*before, *after)))
    steps = [step(*pair) for pair in shares]
    about = replace(
        pair.change,
        broke=steps.count("broke"),
        mended=steps.count("mended"),
        worse=steps.count("worse"),
        better=steps.count("better"),
    )
    return told([replace(pair, change=about)])[0]


def _unfinished(result: EvalResult) -> str:
    if result.interrupted:
        return "was broken off"
    return f"is not whole: {result.incomplete}" if result.incomplete else ""


def _notes(common: Sequence[str], old: _Items, new: _Items, found: _Found) -> Iterator[str]:
    times = [(len(old[item]), len(new[item])) for item in common]
    if any(first != second for first, second in times):
        first, second = (max(side) for side in zip(*times, strict=True))
        yield f"an item was run up to {first} × before and {second} × now, so shares of repetitions are compared"
    unknown = [item for item in common if item not in found.known]
    if unknown:
        broken = sum(not answered(old[item])[0] and not answered(new[item])[0] for item in unknown)
        why = f" ({broken} broke in both)" if broken else ""
        yield f"no scorer judged {many(len(unknown), 'item')} in both{why}: {_named(unknown)}"


def _named(items: Sequence[str]) -> str:
    return _render.listed([_render.name(item) for item in items], limit=5)


def _open_ended(before: EvalResult, after: EvalResult, silent: Sequence[str]) -> str:
    """Why nothing can be said of what the second result leaves out."""
    for which, result in (("first", before), ("second", after)):
        if why := _unfinished(result):
            return f"the {which} result {why}"
    if silent:
        return "; ".join(silent)
    if before.verdict == "passed" and after.verdict == "undecided":
        return "the second result is undecided by itself"
    return "the second result asserts nothing, and the first did" if before.verdict and not after.verdict else ""


def _beyond_telling(scorers: Sequence[ScorerChange], numbers: set[str]) -> Iterator[str]:
    """The numbers that fell on so few items that no fall on them could be told from chance. They decide by their thresholds."""
    needed = 1
    while 2 / 2**needed >= SIGNIFICANT:
        needed += 1
    for one in scorers:
        if one.scorer in numbers and one.difference < 0 and one.items < needed:
            yield (
                f"{one.scorer} is lower by {-one.difference:.3g} on {many(one.items, 'item')}, and only {needed} or more can "
                "tell a fall from chance"
            )
