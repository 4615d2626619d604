"""The fixture `recorded`: a target that a test asks itself, whose answer is recorded and replayed like those of evals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

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

__all__ = ("Recorded",)


class Recorded:
    """What the fixture `recorded` gives: `run = recorded(agent, "question")`.

    Args:
        node: The test.
    """

    def __init__(self, node: pytest.Item) -> None:
        self._node = node

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

    async def run(self, target: object, *asked: object, **options: Unpack[EvalOptions]) -> Run:
        """Ask a target in the loop of the test, which is one of asyncio; see the call of this object.

        Args:
            target: What is asked.
            asked: The question; of a conversation, each turn.
            options: As for the call.
        """
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
