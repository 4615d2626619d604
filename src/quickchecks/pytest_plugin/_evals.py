"""The fixture `evals`: evaluations whose results the session keeps."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable
from os import PathLike
from typing import TYPE_CHECKING, Any, Unpack

from quickchecks._evaluation import EvalOptions, Options
from quickchecks.errors import SettingsError
from quickchecks.pytest_plugin._asking import Awaitables
from quickchecks.pytest_plugin._recorded import prepared
from quickchecks.pytest_plugin._session import expect, keep

if TYPE_CHECKING:
    import pytest

    from quickchecks._results.evaluation import EvalResult

__all__ = ("Evals",)


class Evals:
    """What the fixture `evals` gives: `run_evals_sync` as a call, `run_evals` as `run`. The session keeps the results.

    Args:
        request: The fixture.
    """

    def __init__(self, request: pytest.FixtureRequest) -> None:
        self._node: pytest.Item = request.node
        self._awaitables = Awaitables(request, "evals(...)")
        expect(self._node)

    def __repr__(self) -> str:
        return f"<evals of {self._node.name}>"

    def __call__(
        self,
        data: str | PathLike[str] | Iterable[object],
        target: object = None,
        scorers: Iterable[object] = (),
        gates: Iterable[object] = (),
        **options: Unpack[EvalOptions],
    ) -> EvalResult:
        """Run an evaluation; see `run_evals_sync`.

        Args:
            data: As for `run_evals`.
            target: As for `run_evals`.
            scorers: As for `run_evals`.
            gates: As for `run_evals`.
            options: As for `run_evals`; without a bar, which would stand among the dots.

        Returns:
            The result. The session has it too, so that it is shown, counted and written with those of the other tests.

        Raises:
            KeyboardInterrupt: It was broken off. What was finished is kept.
        """
        options.setdefault("progress", False)
        __tracebackhide__ = True
        result = prepared(self._node, data, target, scorers, gates, Options.of(options)).run_elsewhere()
        keep(self._node, result)
        if result.interrupted:  # Ctrl-C is meant for pytest, not for this evaluation alone
            raise KeyboardInterrupt
        return result

    def run(
        self,
        data: str | PathLike[str] | Iterable[object],
        target: object = None,
        scorers: Iterable[object] = (),
        gates: Iterable[object] = (),
        **options: Unpack[EvalOptions],
    ) -> Coroutine[Any, Any, EvalResult]:
        """Run an evaluation in the loop of the test; see `run_evals`, and the call of this object.

        Args:
            data: As for the call.
            target: As for the call.
            scorers: As for the call.
            gates: As for the call.
            options: As for the call.

        Returns:
            What has to be awaited; where the test forgets it, its teardown is an error.

        Raises:
            SettingsError: The loop of the test is not one of asyncio.
        """
        return self._awaitables.add(self._run(data, target, scorers, gates, options))

    async def _run(
        self,
        data: str | PathLike[str] | Iterable[object],
        target: object,
        scorers: Iterable[object],
        gates: Iterable[object],
        options: EvalOptions,
    ) -> EvalResult:
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            raise SettingsError(
                "evals.run needs the loop of asyncio, and this test has another: run the test with asyncio "
                "(anyio: a fixture anyio_backend that returns 'asyncio'), or call evals(...), which brings a loop of its own"
            ) from None
        options.setdefault("progress", False)
        try:
            result = await prepared(self._node, data, target, scorers, gates, Options.of(options)).run()
        except asyncio.CancelledError as error:
            partial: EvalResult | None = getattr(error, "partial", None)
            if partial is not None:
                keep(self._node, partial)
            raise
        keep(self._node, result)
        return result
