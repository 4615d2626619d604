"""Scoring the runs of a result again, with other checks and without asking the target; and choosing what failed in one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from quickchecks import _render, _wire
from quickchecks._entries import entries_of_turns
from quickchecks._evaluation import Running
from quickchecks._gates import gates_of, scorers_of
from quickchecks._items import Item
from quickchecks._loops import LoopThread
from quickchecks._results.evaluation import EvalResult, ItemResult
from quickchecks._results.names import NamesInRuns
from quickchecks._runner import GRACE, Job, Runner, Settings
from quickchecks._score import no_evidence
from quickchecks._scorer.definition import create_scorer
from quickchecks._scorer.pipeline import Scorer
from quickchecks.errors import RecordingError, ScorerDefinitionError

__all__ = ("failed_items", "has_checks_of_turns", "rescored")


def failed_items(result: EvalResult) -> tuple[str, ...]:
    """The ids of the items that broke, failed a check or left it open, or kept a gate or threshold from passing.

    Args:
        result: The result.
    """
    below = {item for one in (*result.gate_results, *result.threshold_results) if not one.passed for item in one.below}
    wrong = {item.id for item in result.items if item.errored or item.id in below or _went_wrong(item)}
    return tuple(dict.fromkeys(item.id for item in result.items if item.id in wrong))


def _went_wrong(item: ItemResult) -> bool:
    """Whether a check failed on an item or left it open; what is only recorded does not say."""
    pairs = zip(item.plan, item.scores, strict=False)
    return any(one.mode != "shadow" and score.outcome in ("failed", "error", "no_evidence") for one, score in pairs)


def rescored(
    before: EvalResult,
    items: Sequence[Item],
    gates: Iterable[object],
    scorers: Iterable[object],
    *,
    name: str = "",
    max_errors: int = 0,
) -> EvalResult:
    """Score the runs of a result again.

    What an item expects is taken from the present data, where it still asks the same. An item that broke stays broken.
    Checks of one turn have no evidence: they need the target.

    Args:
        before: The result that holds the runs.
        items: The present data.
        gates: What must pass, as `run_evals` takes it.
        scorers: What is measured.
        name: The name of the evaluation; that of the result by default.
        max_errors: How many items and scores may break.

    Raises:
        ScorerDefinitionError: There is nothing to score with, or two scorers have the same identity.
        RecordingError: The result does not hold its runs.
    """
    plan = (*gates_of(gates), *scorers_of(scorers))
    if not plan:
        raise ScorerDefinitionError("there is nothing to score with: give gates or scorers that judge whole items")
    present = {item.id: item for item in items}
    jobs: list[Job] = []
    kept: dict[int, ItemResult] = {}
    origin: list[int] = []
    for position, one in enumerate(before.items):
        item = _present(one.item, present.get(one.item.id))
        of_turns = entries_of_turns(item)
        item = replace(item, turns=(), inputs=item.asked) if item.turns else item  # by now it is one run
        if one.error is not None and (one.error.kind != "run" or one.run is None):
            kept[position] = replace(one, item=item, plan=(*plan, *of_turns), scores=())
            continue
        if one.run is None:
            hint = f"they are kept in {before.recording}, which has to lie beside it" if before.recording else ""
            raise RecordingError(f"the result does not hold the run of item {one.id!r}, nor those of others", hint=hint)
        kept[position] = replace(one, item=item, plan=(*plan, *of_turns), scores=())
        origin.append(position)
        alone = tuple(replace(entry, scorer=_without_turns(entry.scorer)) for entry in of_turns)
        jobs.append(Job(replace(item, run=one.run), one.index, one.repetition, (*plan, *alone)))
    names = NamesInRuns(one.scorer for one in plan)
    runner = Runner(jobs, None, Settings(), look=names.add if names.wanted else None)
    interrupted = _run(runner)
    for position, result in zip(origin, runner.results, strict=True):
        if result is None:
            del kept[position]
        else:
            kept[position] = replace(kept[position], scores=result.scores, error=result.error)
    return EvalResult(
        tuple(kept[position] for position in sorted(kept)),
        plan,
        name or before.name,
        max_errors,
        before.repetitions,
        (*_differences(before, present), *names.warnings()),
        before.seconds,
        interrupted,
        before.environment,
        incomplete=_left_out(before, present),
    )


def _run(runner: Runner) -> bool:
    """Run the jobs; returns whether that was interrupted."""
    shared = LoopThread.shared()
    running = Running(shared)
    shared.start(running.of(runner.run()))
    try:
        running.done.wait()
    except KeyboardInterrupt:
        runner.stopping = True
        running.cancel()
        running.done.wait(GRACE)
        return True
    if running.error is not None:
        raise running.error
    return False


def _asked(item: Item) -> object:
    """What an item asks, in the form in which a result keeps it."""
    asked = item.asked
    return _wire.to_builtins(asked[0] if len(asked) == 1 else list(asked) or None)


def _present(recorded: Item, present: Item | None) -> Item:
    """The item as the data has it now, where it still asks what was answered."""
    return recorded if present is None or _asked(present) != _asked(recorded) else present


def _without_turns(scorer: Scorer) -> Scorer:
    """What stands for a check of one turn: a recorded conversation is one run, and must not pass for lack of its turns."""
    empty = create_scorer(id=scorer.id, description=scorer.description, name=scorer.identity, why=scorer.why)
    return empty.generate_score(lambda run: no_evidence("the turns of a recorded conversation cannot be judged apart"))


def _differences(before: EvalResult, present: Mapping[str | None, Item]) -> list[str]:
    recorded = {item.id: item.item for item in before.items}
    asks = {identity: _asked(item) for identity, item in recorded.items() if identity in present}
    found = (
        ("items without a run in the result, which are not judged", [str(one) for one in present if one not in recorded]),
        ("items that only the result has", [str(one) for one in recorded if one not in present]),
        ("items that ask something else by now, judged as they were", [str(o) for o in asks if asks[o] != _asked(present[o])]),
    )
    return [f"{said}: {_render.listed(ids, limit=5)}" for said, ids in found if ids]


def _left_out(before: EvalResult, present: Mapping[str | None, Item]) -> str:
    """Why the present data is not all judged: it has items that were never run, or ask something else by now."""
    recorded = {item.id: item.item for item in before.items}
    new = [one for one, item in present.items() if one not in recorded or _asked(recorded[one]) != _asked(item)]
    if new:
        return f"{_render.many(len(new), 'item')} of the data not run as the data is now"
    return "the result was broken off before every item was run" if before.interrupted else before.incomplete


def has_checks_of_turns(item: Item) -> bool:
    """Whether an item has checks that judge a turn alone."""
    return any(turn.gates or turn.scorers for turn in item.turns)
