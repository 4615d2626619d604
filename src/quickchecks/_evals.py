"""Scoring a source of runs: the pipe that the command, re-scoring and everything else that scores recordings call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from os import PathLike
from typing import Literal, Unpack

from msgspec import Struct

from quickchecks import adapters
from quickchecks._evaluation import EvalOptions, Evaluation, Options
from quickchecks._results.evaluation import EvalResult
from quickchecks._run import Run, Source
from quickchecks._score import Score
from quickchecks._scorer.definition import as_scorer
from quickchecks._scorer.pipeline import Scorer
from quickchecks.errors import RecordingError, ScorerDefinitionError

__all__ = ("ScoredRun", "run_evals", "run_evals_sync", "score_runs")


class ScoredRun(Struct, frozen=True):
    """One run with what every scorer says about it.

    Args:
        run: The run; None when the record could not be read.
        scores: One score for each scorer, in their order; none when the record could not be read.
        error: Why the record could not be read.
    """

    run: Run | None
    scores: tuple[Score, ...] = ()
    error: RecordingError | None = None

    @property
    def source(self) -> Source | None:
        """Where the run was read from."""
        if self.run is not None:
            return self.run.source
        error = self.error
        return Source(error.file, error.line, error.index) if error is not None and error.file is not None else None

    @property
    def errored(self) -> bool:
        """Whether the record could not be read, or holds a run that itself failed."""
        return self.run is None or self.run.error is not None


def score_runs(
    source: str | PathLike[str] | Iterable[object],
    scorers: Iterable[Scorer | Callable[..., object]],
    *,
    format: str | None = None,
    adapter: Callable[[object], object] | str | None = None,
    map: Mapping[str, str] | str | None = None,
    part: Literal["last_turn"] | None = None,
) -> Iterator[ScoredRun]:
    """Score every run of a source, one after the other, in constant memory.

    Args:
        source: A file, a folder, "-" for standard input, or runs (or anything that adapters recognise) to iterate over.
        scorers: Scorers, checks, plain functions.
        format: The format of the recordings, when it should not be recognised.
        adapter: A function of yours that turns a record into a run, or "module:function".
        map: Where in an envelope the parts of a run lie, such as {"messages": "payload.messages"}.
        part: "last_turn" keeps what follows the last user message; the rest becomes history.

    Yields:
        The scored runs, in order. A record that cannot be read is one with an `error`, and the scoring goes on.

    Raises:
        ScorerDefinitionError: There are no scorers, one is none, or two have the same identity.
        RecordingError: The source does not exist.

    Example:
        >>> from quickchecks import checks, score_runs
        >>> for scored in score_runs(["It is sunny.", "It rains."], [checks.includes("sunny")]):
        ...     print(scored.scores[0].outcome)
        passed
        failed
    """
    suite = distinct([as_scorer(scorer) for scorer in scorers])
    records = adapters.read(source, format=format, adapter=adapter, map=map, part=part)
    return (_scored(record, suite) for record in records)


def _scored(record: Run | RecordingError, suite: tuple[Scorer, ...]) -> ScoredRun:
    if isinstance(record, RecordingError):
        return ScoredRun(None, (), record)
    return ScoredRun(record, tuple([scorer.score(record) for scorer in suite]))


def distinct(scorers: Iterable[Scorer]) -> tuple[Scorer, ...]:
    """Refuse an empty list, and two scorers that nobody could tell apart.

    Raises:
        ScorerDefinitionError: There are no scorers, or two have the same identity.
    """
    found: dict[str, Scorer] = {}
    for scorer in scorers:
        if scorer.identity in found:
            raise ScorerDefinitionError(
                f"two scorers have the identity {scorer.identity!r}, so that nobody could tell their scores apart: "
                "leave one out, or give one a name="
            )
        found[scorer.identity] = scorer
    if not found:
        raise ScorerDefinitionError("there is nothing to score with: give at least one scorer, such as checks.no_tool_errors()")
    return tuple(found.values())


async def run_evals(
    data: str | PathLike[str] | Iterable[object],
    target: object = None,
    scorers: Iterable[object] = (),
    gates: Iterable[object] = (),
    **options: Unpack[EvalOptions],
) -> EvalResult:
    """Run a dataset through a target and score what it answers.

    Args:
        data: Items: mappings with an `input` (or `inputs`, or `turns`), `Item`s, or bare inputs; or a file of them. An item
            that brings its recorded `output` or `run` is not asked.
        target: Any callable that takes the input, synchronous or not, and returns anything an adapter knows. One that
            takes `history` or `session` gets them.
        scorers: What is measured: scorers, plain functions, `Threshold`s.
        gates: What must pass on every item: scorers, plain functions, `Gate`s.
        options: concurrency (8), timeout (seconds for each item), retries (0), retry_timeouts (False), repetitions (1),
            max_errors (0), on_item_complete (a function called with each ItemResult), on_error ("record" or "raise"),
            progress (a bar: None shows it on a terminal), record (a file that keeps every run; what an evaluation that does
            not come to its end has kept is in one that ends in .part), name, target_options.

    Returns:
        The result, with every item, and a verdict when something is asserted.

    Raises:
        ItemError: The items cannot be understood.
        ScorerDefinitionError: There is nothing to score with, or two scorers have the same identity.
        TargetError: The target cannot be called with an input.
        SettingsError: An option does not exist, or makes no sense.

    Example:
        >>> import asyncio
        >>> from quickchecks import checks, run_evals
        >>> result = asyncio.run(run_evals(["Hello"], lambda text: text + "!", gates=[checks.includes("hello")]))
        >>> result.verdict
        'passed'
    """
    return await Evaluation(data, target, scorers, gates, Options.of(options)).run()


def run_evals_sync(
    data: str | PathLike[str] | Iterable[object],
    target: object = None,
    scorers: Iterable[object] = (),
    gates: Iterable[object] = (),
    **options: Unpack[EvalOptions],
) -> EvalResult:
    """`run_evals` for code without an event loop; it also works inside a running one, as in a notebook.

    All evaluations of a program share one event loop in a thread, so that clients of models can be shared too. A timeout
    ends any target, also one that blocks that loop. Ctrl-C gives the result of what was finished, marked interrupted.

    Args:
        data: As for `run_evals`.
        target: As for `run_evals`.
        scorers: As for `run_evals`.
        gates: As for `run_evals`.
        options: As for `run_evals`.

    Returns:
        The result.

    Raises:
        ItemError: The items cannot be understood.
        ScorerDefinitionError: There is nothing to score with, or two scorers have the same identity.
        TargetError: The target cannot be called with an input.
        SettingsError: An option does not exist, or makes no sense.

    Example:
        >>> from quickchecks import checks, run_evals_sync
        >>> print(run_evals_sync(["Hello"], lambda text: text + "!", [checks.includes("hello")]).scores)
        {"includes('hello')": 1.0}
    """
    return Evaluation(data, target, scorers, gates, Options.of(options)).run_elsewhere()
