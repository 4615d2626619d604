"""Functions that make a target, agents that hold their conversation in the object, and agents that break off."""

from __future__ import annotations

import asyncio
import types
from collections.abc import Iterator
from typing import Any

import pytest
from foreign import foreign_class

from quickchecks import Run, checks, run_evals, run_evals_sync
from quickchecks._run import RunError
from quickchecks.adapters import BrokenOff, Dialogue, _registry
from quickchecks.testing import assistant, call, run, user

Agent = foreign_class("somelib.agents:Agent")


class Talking(Dialogue):
    """It remembers what it was told, in the agent object, as agents that hold their conversation do."""

    def __init__(self, made: Any, mocks: Any) -> None:
        self.made, self.mocks = made, mocks
        made.said = []
        made.closed = False

    async def ask(self, asked: Any, session: Any = None) -> Run:
        self.made.said.append(asked)
        await asyncio.sleep(0)
        if asked == "hang":
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError as error:
                raise BrokenOff(run(user("hang"), assistant("Let me see", call("book", unfinished=True)))) from error
        if asked == "break":
            before = run(user("break"), assistant("Let me see", call("book", unfinished=True)))
            raise BrokenOff(before) from ValueError("no rooms left")
        return run(user(asked), assistant(f"heard {self.made.said}"))

    async def close(self) -> None:
        self.made.closed = True


@pytest.fixture
def library() -> Iterator[types.ModuleType]:
    """A library that an adapter knows."""
    module = types.ModuleType("somelib", "Agents of a library.")
    marks: dict[str, Any] = {
        "recognises": lambda value: False,
        "load": lambda value: Run(),
        "AGENTS": ("somelib.agents:Agent",),
        "converse": lambda agent, options, mocks: Talking(agent, mocks),
        "STATEFUL": True,
        "MOCKS_TOOLS": False,
    }
    vars(module).update(marks)
    formats = _registry._own()
    formats["somelib"] = _registry._format("somelib", module)
    yield module
    del formats["somelib"]


def reload(module: types.ModuleType, **marks: Any) -> None:
    vars(module).update(marks)
    _registry._own()["somelib"] = _registry._format("somelib", module)


DATA = [{"inputs": [f"I am {n}.", "Who?"]} for n in range(10)]
GATES = [checks.includes("heard")]


def texts(result: Any) -> list[str]:
    return [item.run.text for item in result.items]


EXPECTED = [f"heard ['I am {n}.'] heard ['I am {n}.', 'Who?']" for n in range(10)]


def test_an_agent_with_its_conversation_inside_runs_one_item_after_another(library: types.ModuleType) -> None:
    one = Agent()
    result = run_evals_sync(DATA, one, gates=GATES)
    assert texts(result) == EXPECTED
    assert any("keeps its conversation in the object itself" in warning for warning in result.warnings)
    assert one.closed


def test_a_function_that_makes_agents_lets_items_run_side_by_side(library: types.ModuleType) -> None:
    made: list[Any] = []

    def make() -> Any:
        made.append(Agent())
        return made[-1]

    result = run_evals_sync(DATA, make, gates=GATES, concurrency=10)
    assert texts(result) == EXPECTED
    assert len(made) == 10
    assert result.warnings == ()
    assert all(one.closed for one in made)


def test_a_coroutine_function_may_make_agents_and_functions_may_be_made(library: types.ModuleType) -> None:
    async def make() -> Any:
        return Agent()

    assert texts(run_evals_sync(DATA, make, gates=GATES)) == EXPECTED
    result = run_evals_sync(["a"], lambda: lambda text: f"heard {text}", gates=GATES)
    assert texts(result) == ["heard a"]


def test_what_makes_neither_is_an_error_of_the_item(library: types.ModuleType) -> None:
    result = run_evals_sync(["a"], lambda: 5, gates=GATES)
    assert result.items[0].error is not None
    assert "neither an agent nor a function: 5" in result.items[0].error.message
    assert result.verdict == "failed"


def test_an_agent_that_breaks_off_leaves_what_it_did(library: types.ModuleType) -> None:
    result = run_evals_sync(["break", "b"], lambda: Agent(), gates=[checks.no_tool_errors(), checks.called_tool("book")])
    broken, fine = result.items
    assert broken.error is not None
    assert (broken.error.kind, broken.error.message) == ("exception", "ValueError: no rooms left")
    assert "ValueError" in broken.error.traceback
    assert broken.run is not None
    assert [one.name for one in broken.run.tool_calls] == ["book"]
    assert [score.outcome for score in broken.scores] == ["failed", "passed"]
    assert fine.error is None
    assert result.verdict == "failed"


def test_an_agent_that_broke_off_is_asked_again(library: types.ModuleType) -> None:
    result = run_evals_sync(["break"], Agent(), gates=GATES, retries=1)
    assert result.items[0].attempts == 2


def test_a_run_that_failed_by_itself_ends_the_conversation(library: types.ModuleType) -> None:
    asked: list[Any] = []

    class Failing(Talking):
        async def ask(self, question: Any, session: Any = None) -> Run:
            asked.append(question)
            return Run((user("x"), assistant("half")), error=RunError("it stopped"))

    reload(library, converse=lambda agent, options, mocks: Failing(agent, mocks))
    result = run_evals_sync([{"inputs": ["a", "b"]}], Agent(), gates=GATES)
    assert asked == ["a"]
    assert result.items[0].error is not None
    assert result.items[0].error.kind == "run"


def test_mocks_for_an_agent_whose_tools_cannot_be_mocked_are_refused(library: types.ModuleType) -> None:
    from quickchecks.errors import TargetError

    data = [{"id": "a", "input": "x", "tool_mocks": [{"tool": "t", "result": 1}]}]
    with pytest.raises(TargetError, match="item 'a' mocks tools, and those of the target Agent cannot be mocked"):
        run_evals_sync(data, Agent(), gates=GATES)
    result = run_evals_sync(data, lambda: Agent(), gates=GATES)
    assert result.verdict == "failed"


def test_two_evaluations_do_not_share_an_agent_with_its_conversation_inside(library: types.ModuleType) -> None:
    one = Agent()

    async def both() -> list[Any]:
        return await asyncio.gather(*(run_evals(DATA, one, gates=GATES) for _ in range(2)))

    first, second = asyncio.run(both())
    assert texts(first) == EXPECTED
    assert second.verdict == "failed"
    for item in second.items:
        assert item.run is None
        assert item.error is not None
        assert "another evaluation or item uses it" in item.error.message
        assert "target=lambda: make_agent()" in item.error.message
    assert texts(run_evals_sync(DATA, one, gates=GATES)) == EXPECTED


def test_a_function_that_gives_the_same_agent_again_is_found_out(library: types.ModuleType) -> None:
    one = Agent()
    result = run_evals_sync(DATA, lambda: one, gates=GATES, concurrency=10)
    good = [item.run.text for item in result.items if item.error is None and item.run is not None]
    assert good == [EXPECTED[item.index] for item in result.items if item.error is None]
    assert any("another evaluation or item uses it" in item.error.message for item in result.items if item.error is not None)
    assert texts(run_evals_sync(DATA, lambda: one, gates=GATES, concurrency=1)) == EXPECTED


def test_an_agent_that_runs_out_of_time_leaves_what_it_did(library: types.ModuleType) -> None:
    result = run_evals_sync([{"inputs": ["first", "hang"]}, "b"], lambda: Agent(), gates=GATES, timeout=0.2)
    late, fine = result.items
    assert late.error is not None
    assert (late.error.kind, late.scores) == ("timeout", ())
    assert late.run is not None
    assert [one.name for one in late.run.tool_calls] == ["book"]
    assert late.run.error is not None
    assert late.run.error.message == "stopped in the middle"
    assert fine.error is None
