"""Which of the names that checks ask about stand in no run at all: mostly they are misspelt."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from quickchecks._render import many
from quickchecks._run import Run, ToolCall
from quickchecks._scorer.compose import Combination
from quickchecks._scorer.pipeline import Scorer

__all__ = ("MAX_NAMES", "NamesInRuns")

#: Hostile recordings can hold any number of names.
MAX_NAMES = 10_000


class NamesInRuns:
    """Counts the runs that each tool and each agent stands in, where a check asks about one by name.

    Args:
        scorers: The checks.
    """

    def __init__(self, scorers: Iterable[Scorer]) -> None:
        named = [(tools_of(step), agent_of(step)) for scorer in scorers for step in _definitions(scorer)]
        self._tools = list(dict.fromkeys(tool for tools, _ in named for tool in tools))
        self._agents = list(dict.fromkeys(agent for _, agent in named if agent is not None))
        self._wanted_tools, self._wanted_agents = frozenset(self._tools), frozenset(self._agents)
        self._tool_runs: dict[str, int] = {}
        self._agent_runs: dict[str, int] = {}
        self._with_calls = False
        self._all_there = False

    def add(self, run: Run) -> None:
        """Count a run; once every name was there, there is nothing left to say."""
        if self._all_there:
            return
        self._with_calls = self._with_calls or not run.gaps or "calls" not in run.gap_kinds
        if self._tools:
            _count(set(run.tool_names), self._tool_runs)
        if self._agents:
            _count(_agents_in(run), self._agent_runs)
        self._all_there = self._tool_runs.keys() >= self._wanted_tools and self._agent_runs.keys() >= self._wanted_agents

    @property
    def wanted(self) -> bool:
        """Whether any check asks about a name, so that there is something to count."""
        return bool(self._tools or self._agents)

    def warnings(self) -> tuple[str, ...]:
        """What to say about the names that no run has; nothing where no run shows its calls."""
        if not self._with_calls:
            return ()
        return (
            *_missing(self._tools, self._tool_runs, "no run here ever called {}", ", or any other tool"),
            *_missing(self._agents, self._agent_runs, "no run here has an agent called {}", ", or names any agent"),
        )


def tools_of(definition: object) -> Sequence[str]:
    """The tools that a step asks about."""
    tool, tools = getattr(definition, "tool", None), getattr(definition, "tools", ())
    return [name for name in (tool, *(tools if isinstance(tools, (list, tuple)) else ())) if isinstance(name, str)]


def agent_of(definition: object) -> str | None:
    """The agent that a step asks about; "root" is always there, whatever it is called."""
    agent = getattr(definition, "agent", None)
    return agent if isinstance(agent, str) and agent != "root" else None


def _definitions(scorer: Scorer) -> Iterable[object]:
    """The steps of a check, those of the checks inside it included."""
    if isinstance(scorer.expression, Combination):
        for part in scorer.expression.parts:
            yield from _definitions(part)
        return
    for step in scorer.steps:
        yield step.definition


def _agents_in(run: Run) -> set[str]:
    found: set[str] = set()
    waiting = [run]
    while waiting:
        one = waiting.pop()
        waiting.extend(one.nested_runs)
        names = [one.agent]
        for message in one.messages:
            names.append(message.agent)
            names += [part.agent for part in message.parts if isinstance(part, ToolCall)]
        found.update(name for name in names if name)
    return found


def _count(names: Iterable[str], runs: dict[str, int]) -> None:
    for name in names:
        if name in runs or len(runs) < MAX_NAMES:
            runs[name] = runs.get(name, 0) + 1


def _missing(wanted: Sequence[str], runs: dict[str, int], sentence: str, without_any: str) -> Iterable[str]:
    if len(runs) >= MAX_NAMES:
        return  # not every name was kept, so that none is known to be missing
    for name in wanted:
        if name in runs:
            continue
        said = sentence.format(repr(name))
        near = _near(name, runs)
        if near:
            told = [f"{other!r} ({many(runs[other], 'run')})" for other in near]
            yield f"{said}; near: {', '.join(told)}"
        else:
            yield said if runs else said + without_any


def _near(name: str, known: Iterable[str]) -> list[str]:
    from difflib import get_close_matches

    return get_close_matches(name, known, n=2, cutoff=0.6)
