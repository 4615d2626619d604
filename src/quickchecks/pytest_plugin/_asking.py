"""The fixture `recorded`: a target that a test asks itself, whose answer is recorded and replayed like those of evals."""

from __future__ import annotations

from collections.abc import Coroutine
from inspect import CORO_CLOSED, CORO_CREATED, getcoroutinestate
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

from quickchecks import _render
from quickchecks._evaluation import EvalOptions, Options
from quickchecks._items import Item
from quickchecks._results.evaluation import EvalResult
from quickchecks._run import Run
from quickchecks.errors import QuickchecksError
from quickchecks.pytest_plugin._recorded import prepared
from quickchecks.reports._run_words import frames

if TYPE_CHECKING:
    import pytest

    from quickchecks._evaluation import Evaluation

__all__ = ("Awaitables", "Recorded")

Result = TypeVar("Result")


class Awaitables:
    """The coroutines that a fixture of a test has given, none of which may be forgotten: it would have evaluated nothing.

    Args:
        request: The fixture.
        instead: What to write where nothing can be awaited.
    """

    def __init__(self, request: pytest.FixtureRequest, instead: str) -> None:
        self._call, self._instead = f"{request.fixturename}.run(...)", instead
        self._given: list[Coroutine[Any, Any, object]] = []
        request.addfinalizer(self._refuse_forgotten)

    def add(self, coroutine: Coroutine[Any, Any, Result]) -> Coroutine[Any, Any, Result]:
        """Give a coroutine to the test.

        Args:
            coroutine: The coroutine.
        """
        self._given.append(coroutine)
        return coroutine

    def _refuse_forgotten(self) -> None:
        import pytest

        __tracebackhide__ = True
        given, self._given = self._given, []
        forgotten = [one for one in given if getcoroutinestate(one) != CORO_CLOSED]
        for one in forgotten:
            if getcoroutinestate(one) == CORO_CREATED:
                one.close()  # what Python says of it would only repeat this
        if forgotten:
            times = f" ({len(forgotten)} times)" if len(forgotten) > 1 else ""
            pytest.fail(
                f"{self._call} was begun and never awaited to its end{times}, so that nothing came of it: write "
                f"await {self._call} in an asynchronous test, or {self._instead} in any other",
                pytrace=False,
            )


class Recorded:
    """What the fixture `recorded` gives: `run = recorded(agent, "question")`.

    Args:
        request: The fixture.
    """

    def __init__(self, request: pytest.FixtureRequest) -> None:
        self._node: pytest.Item = request.node
        self._awaitables = Awaitables(request, 'recorded(agent, "question")')

    def __repr__(self) -> str:
        return f"<recorded of {self._node.name}>"

    def __call__(self, target: object, *asked: object, **options: Unpack[EvalOptions]) -> Run:
        """Ask a target; with `--quickchecks-replay`, take what it answered when it was recorded.

        Args:
            target: What is asked, as `run_evals` takes it.
            asked: The question; of a conversation, each turn.
            options: timeout, retries, target_options, as for `run_evals`.

        Returns:
            The run.

        Raises:
            QuickchecksError: The target broke, or the answer is not recorded.
            KeyboardInterrupt: It was broken off.
        """
        __tracebackhide__ = True
        return _run_of(self._prepared(target, asked, options).run_elsewhere())

    def run(self, target: object, *asked: object, **options: Unpack[EvalOptions]) -> Coroutine[Any, Any, Run]:
        """Ask a target in the loop of the test, which is one of asyncio; see the call of this object.

        Args:
            target: What is asked.
            asked: The question; of a conversation, each turn.
            options: As for the call.
        """
        return self._awaitables.add(self._run(target, asked, options))

    async def _run(self, target: object, asked: tuple[object, ...], options: EvalOptions) -> Run:
        __tracebackhide__ = True
        return _run_of(await self._prepared(target, asked, options).run())

    def _prepared(self, target: object, asked: tuple[object, ...], options: EvalOptions) -> Evaluation:
        __tracebackhide__ = True
        if not asked:
            raise TypeError('recorded takes a target and what it is asked: recorded(agent, "Hello")')
        item = Item(input=asked[0]) if len(asked) == 1 else Item(inputs=asked)
        settings = Options.of({"progress": False, **options})
        if settings.repetitions != 1:
            raise QuickchecksError("recorded gives one run: repeat the test, @pytest.mark.quickchecks(repetitions=...)")
        return prepared(self._node, [item], target, (), (), settings, scores=False)


def _run_of(result: EvalResult) -> Run:
    __tracebackhide__ = True
    if result.interrupted:  # Ctrl-C is meant for pytest
        raise KeyboardInterrupt
    item = result.items[0]
    if item.run is not None and (item.error is None or item.error.kind == "run"):
        return item.run
    assert item.error is not None
    trace = "\n".join(map(_render.harmless, frames(item.error.traceback))) if item.error.traceback else ""
    raise QuickchecksError(f"the target broke: {item.error.message}\n{trace}".rstrip())
