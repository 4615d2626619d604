"""The form in which results are saved: the structs behind `result-1.json`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from quickchecks._entries import ObservedMode
from quickchecks._gates import AssertionResult, Verdict
from quickchecks._results.evaluation import ItemError, Part
from quickchecks._run import Run, Usage
from quickchecks._score import ScoreRecord
from quickchecks._scorer.thresholds import Bounds

__all__ = ("SCHEMA", "EntryRecord", "EvalRecord", "ItemRecord")

SCHEMA = "quickchecks.result/1"


class EntryRecord(Struct, frozen=True, omit_defaults=True):
    """An entry of gates or scorers.

    Args:
        scorer: The identity of the scorer.
        id: Its kind.
        role: Whether it is a gate.
        bounds: What the mean must keep, for a threshold.
        pass_rate: The share that must pass, for a gate.
        confidence: How sure that must be.
        turn: The turn that it judges.
        why: Why the user has it.
        version: What its arguments and code were.
        mode: "watch" or "shadow" for one that decides nothing, not even by breaking.
    """

    scorer: str
    id: str = ""
    role: Literal["gate", "scorer"] = "scorer"
    bounds: Bounds | None = None
    pass_rate: float = 1.0
    confidence: float | None = None
    turn: int | None = None
    why: str = ""
    version: str = ""
    mode: ObservedMode | None = None


class ItemRecord(Struct, frozen=True, omit_defaults=True):
    """One item, run once.

    Args:
        id: The id of the item.
        index: Its place in the data.
        repetition: Which of its repetitions this is.
        input: What was asked.
        inputs: What was asked in a conversation, in order.
        expected: What was expected.
        metadata: The item's metadata.
        context: The texts that a scorer may need.
        expected_trajectory: The steps that were expected.
        content: A hash of what the item asks and expects.
        entries: The entries that its scores belong to, as places in `entries` of the whole; left out when they are all
            those that apply to every item.
        scores: The scores.
        error: What broke.
        run: The run; left out where it is kept in a recording.
        recorded: The line of the recording that holds the run.
        run_hash: A hash of the run's messages, by which a recording that was overwritten since is known.
        seconds: How long it took.
        attempts: How often the target was called.
    """

    id: str
    index: int
    repetition: int = 0
    input: object = None
    inputs: tuple[object, ...] = ()
    expected: object = None
    metadata: Mapping[str, object] | None = None
    context: object = None
    expected_trajectory: object = None
    content: str = ""
    entries: tuple[int, ...] | None = None
    scores: tuple[ScoreRecord, ...] = ()
    error: ItemError | None = None
    run: Run | None = None
    recorded: int | None = None
    run_hash: str = ""
    seconds: float = 0.0
    attempts: int = 1


class EvalRecord(Struct, frozen=True, omit_defaults=True, tag_field="schema", tag=SCHEMA):
    """An evaluation as it is saved.

    Args:
        name: Its name.
        verdict: What all gates and thresholds say together.
        scores: The mean of each scorer, for readers of the file; computed again when it is read.
        gates: What came of each gate, for readers of the file.
        thresholds: What came of each threshold, for readers of the file.
        repetitions: How often each item was run.
        max_errors: How many items and scores may break.
        warnings: What looked like a mistake.
        seconds: How long it took.
        usage: Tokens and cost.
        environment: Where it ran.
        interrupted: Whether it was broken off.
        incomplete: Which items of the data it says nothing of.
        recording: The file that holds the runs, beside this one, when they are kept apart.
        parts: The evaluations that this one was put together from.
        entries: The entries of gates and scorers; first those that apply to every item.
        common: How many of the entries apply to every item.
        items: The items.
    """

    name: str = ""
    verdict: Verdict | None = None
    scores: tuple[tuple[str, float], ...] = ()
    gates: tuple[AssertionResult, ...] = ()
    thresholds: tuple[AssertionResult, ...] = ()
    repetitions: int = 1
    max_errors: int = 0
    warnings: tuple[str, ...] = ()
    seconds: float = 0.0
    usage: Usage | None = None
    environment: Mapping[str, str] = {}
    interrupted: bool = False
    incomplete: str = ""
    recording: str | None = None
    parts: tuple[Part, ...] = ()
    entries: tuple[EntryRecord, ...] = ()
    common: int = 0
    items: tuple[ItemRecord, ...] = ()
