"""Scoring the run of one agent or step inside a run."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Iterator, Sequence

import msgspec
from msgspec import Struct

from quickchecks import _render
from quickchecks._run import Run, ToolCall
from quickchecks._score import Abstention, Explanation, Score, no_evidence, not_applicable
from quickchecks._scorer.compose import combined
from quickchecks._scorer.context import Context, Judged
from quickchecks._scorer.definition import as_scorer, create_scorer
from quickchecks._scorer.pipeline import Scorer
from quickchecks.errors import CheckArgumentTypeError

__all__ = ("within",)


def within(agent: str, scorer: Scorer | Callable[..., object], *, name: str | None = None, why: str = "") -> Scorer:
    """Score the nested run of an agent or step instead of the whole; where it ran several times, every time must do.

    Args:
        agent: The name of the agent, or of the call that started it.
        scorer: What judges its run.
        name: An identity of its own.
        why: Why you have it, as one plain sentence.

    Returns:
        A scorer. It is not applicable where that agent did not run, and has no evidence where the agent was called and
        its run is not recorded.

    Raises:
        CheckArgumentTypeError: The agent is not a name.

    Example:
        >>> from quickchecks import checks, testing, within
        >>> inner = testing.run(testing.call("refund"), agent="billing")
        >>> run = testing.run(testing.call("billing", run=inner, kind="agent"), "Done.")
        >>> within("billing", checks.called_tool("refund")).score(run).outcome
        'passed'
    """
    if not isinstance(agent, str) or not agent:
        raise CheckArgumentTypeError(f"within() takes the name of an agent or step, not {_render.value(agent)}")
    inner = as_scorer(scorer)
    empty = create_scorer(
        id="within",
        description=f"The run of {agent}",
        name=name,
        why=why,
        score_range=inner.score_range,
        explain=_explain,
    )
    empty = msgspec.structs.replace(empty, expression=_Within(agent, inner), graded=inner.graded)
    return empty.generate_score(_Inside(agent, (inner,)))


class _Within(Struct, frozen=True):
    agent: str
    inner: Scorer

    def text(self, name: str | None = None, why: str = "") -> str:
        options = "".join(f", {key}={value!r}" for key, value in (("name", name), ("why", why)) if value)
        return f"within({self.agent!r}, {self.inner!r}{options})"


class _Inside(Struct, frozen=True):
    """The score step of `within`."""

    agent: str
    parts: tuple[Scorer, ...]
    is_async: bool = True  # the inner scorer may be
    parameter_names: tuple[str, ...] = ("run",)

    def evaluate(self, context: Context) -> Generator[Awaitable[object], object, Judged | Abstention]:
        runs = list(_runs_of(context.run, self.agent))
        unknown = _unrecorded(context.run, self.agent, runs)
        if not runs:
            return no_evidence(unknown) if unknown else not_applicable(f"{_render.name(self.agent)} did not run")
        scores: list[Score] = []
        for run in runs:
            # What the whole was asked is not what this agent was asked.
            inside = msgspec.structs.replace(context, run=run, input=None, results=None)
            scores.append((yield from self.parts[0]._evaluate(inside)))
        if unknown:
            scores.append(Score(self.parts[0], "no_evidence", None, context.run, note=unknown))
        return combined("all_of", scores)

    def __call__(self, run: Run) -> object:
        raise NotImplementedError  # `evaluate` is what is driven


def _runs_of(run: Run, agent: str) -> Iterator[Run]:
    """The runs of an agent below a run, in order."""
    for message in run.messages[run.history_length :]:
        for part in message.parts:
            if type(part) is ToolCall and part.run is not None:
                yield from [part.run] if agent in (part.name, part.run.agent) else _runs_of(part.run, agent)
    for child in run.children:
        yield from [child] if child.agent == agent else _runs_of(child, agent)


def _unrecorded(run: Run, agent: str, runs: Sequence[Run]) -> str:
    """What says that the agent ran, or may have, where the record does not show it; empty when nothing does."""
    # What a handoff started stands among the runs, and not on the call.
    silent = ("output", "handoff") if runs else ()
    if any(call.name == agent and call.run is None and call.kind not in silent for call in run.all_tool_calls):
        return f"{_render.name(agent)} was called, and what it did is not recorded"
    gaps = [gap for gap in run.gaps_of("nested") if gap.name in (None, agent)] + ([] if runs else list(run.gaps_of("calls")))
    return gaps[0].note if gaps else ""


def _explain(run: Run, score: Score) -> Explanation:
    """Say what the inner scorer said, the runs that decided first."""
    parts = score.parts
    deciding = [part for part in parts if part.outcome == score.outcome] or list(parts)
    where = f"in {len(parts)} runs, " if len(parts) > 1 else ""
    # Evidence of an inner run would point into the wrong messages, so none is given.
    return Explanation(where + deciding[0].reason, (), (deciding[0].failure_key or deciding[0].outcome,))
