"""What is written about one run, one item and one change: the lines of `.jsonl`, and what other forms list."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from quickchecks import _wire
from quickchecks._results.changes import Change, Direction, EvalComparison
from quickchecks._results.evaluation import ItemError, ItemResult
from quickchecks._results.result import RunsResult
from quickchecks._run import Gap, Run, RunError, Source, Usage
from quickchecks._score import Score, ScoreRecord
from quickchecks.errors import RecordingError
from quickchecks.reports._comparison_words import by_direction

__all__ = ("ChangeLine", "ItemLine", "RunsReport", "ScoredRunRecord")


class ScoredRunRecord(Struct, frozen=True, omit_defaults=True, tag_field="schema", tag="quickchecks.scored_run/1"):
    """One run with what every scorer says about it.

    Args:
        source: Where it was read from.
        id: The id of the run in its source.
        format: The adapter that read it.
        error: That the run itself broke off.
        gaps: What its source could not show.
        scores: What the scorers say.
        unreadable: Why the record could not be read.
    """

    source: Source | None = None
    id: str | None = None
    format: str = ""
    error: RunError | None = None
    gaps: tuple[Gap, ...] = ()
    scores: tuple[ScoreRecord, ...] = ()
    unreadable: str = ""

    @classmethod
    def of(cls, run: Run | None, scores: Sequence[Score], error: RecordingError | None) -> ScoredRunRecord:
        """Make the record of a run, or of a record that could not be read."""
        if run is not None:
            return cls(run.source, run.id, run.format, run.error, run.gaps, tuple(score.record() for score in scores))
        if error is None:
            return cls(unreadable="the record could not be read")
        source = None if error.file is None else Source(error.file, error.line, error.index)
        at = f"at {error.path}: " if error.path else ""
        return cls(source, unreadable=at + error.problem)


class RunsReport(Struct, frozen=True, tag_field="schema", tag="quickchecks.report/1"):
    """Every run with what every scorer says about it, and what came of it all.

    Args:
        runs: The runs, in the order in which they were read.
        result: What came of them.
    """

    runs: tuple[ScoredRunRecord, ...]
    result: RunsResult


class ItemLine(Struct, frozen=True, omit_defaults=True, tag_field="schema", tag="quickchecks.item_run/1"):
    """One item, run once, as a line of a `.jsonl` report.

    Args:
        id: The id of the item.
        index: Its place in the data.
        repetition: Which of its repetitions this is.
        input: What was asked.
        expected: What was expected.
        answer: What was answered.
        tools: The tools that were called, in order.
        scores: What the scorers say.
        error: What broke.
        usage: Tokens and cost.
        seconds: How long it took.
    """

    id: str
    index: int
    repetition: int = 0
    input: object = None
    expected: object = None
    answer: str = ""
    tools: tuple[str, ...] = ()
    scores: tuple[ScoreRecord, ...] = ()
    error: ItemError | None = None
    usage: Usage | None = None
    seconds: float = 0.0

    @classmethod
    def of(cls, one: ItemResult) -> ItemLine:
        """Make the line of an item."""
        asked = one.item.asked
        return cls(
            id=one.id,
            index=one.index,
            repetition=one.repetition,
            input=_wire.to_builtins(asked[0] if len(asked) == 1 else list(asked) or None),
            expected=_wire.to_builtins(one.item.expected),
            answer="" if one.run is None else one.run.text,
            tools=() if one.run is None else tuple(one.run.tool_names),
            scores=tuple(score.record() for score in one.scores),
            error=one.error,
            usage=None if one.run is None else one.run.usage,
            seconds=round(one.seconds, 6),
        )


class ChangeLine(Struct, frozen=True, omit_defaults=True, tag_field="schema", tag="quickchecks.change/1"):
    """What changed on one item, as a line of a `.jsonl` report.

    Args:
        direction: Whether it broke or mended, or passes less or more of its repetitions.
        change: What changed.
    """

    direction: Direction
    change: Change

    @classmethod
    def all_of(cls, comparison: EvalComparison) -> Iterator[ChangeLine]:
        """Make a line for each change, the worst first."""
        for direction, changes in by_direction(comparison).items():
            yield from (cls(direction, one) for one in changes)
