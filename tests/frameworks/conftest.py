"""The tests against real frameworks: each file runs in an environment with its framework (scripts/framework_tests.py).

Elsewhere a file skips. Nothing here needs a network: models are scripted, or a small server on 127.0.0.1.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from quickchecks import Run
from quickchecks.adapters import BrokenOff, agent_kind, as_run


@pytest.fixture
def converse() -> Callable[..., list[Any]]:
    """Ask an agent one or several turns, in one conversation, as an evaluation does; gives what came of each as a run.

    A turn in which the agent broke off gives the run until then, with the exception under the metadata key "raised".
    """

    def converse(agent: Any, *inputs: Any, options: dict[str, Any] | None = None, mocks: Any = None) -> list[Run]:
        kind = agent_kind(agent)
        assert kind is not None, f"no format knows the agent {agent!r}"

        async def talk() -> list[Run]:
            dialogue = kind.converse(agent, options or {}, mocks)
            runs = []
            try:
                for asked in inputs:
                    try:
                        answer = await (asyncio.to_thread(dialogue.ask, asked) if dialogue.blocks else dialogue.ask(asked))
                    except BrokenOff as broken:
                        runs.append(broken.run)
                    else:
                        runs.append(as_run(answer))
            finally:
                await dialogue.close()
            return runs

        return asyncio.run(talk())

    return converse
