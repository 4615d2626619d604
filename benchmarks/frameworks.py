"""What it costs to ask an agent of a framework through its adapter, beside calling the agent by hand.

    python benchmarks/frameworks.py

It needs pydantic-ai. Both ways are measured in one run, in turns, with the test model, so that nothing but the framework and
the adapter takes time. What is compared is the processor time of the quickest rounds: others only add to it. The limit: 0.2 ms
an item more than calling `agent.run` by hand.
"""

from __future__ import annotations

import asyncio
import gc
import statistics
import time
from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import Any, Protocol

from quickchecks.adapters import AgentKind, agent_kind

ROUNDS = 600
LIMIT = 0.0002


class Asked(Protocol):
    """An agent, so far as it is asked here."""

    async def run(self, prompt: str) -> object:
        """Answer."""
        ...


def agent() -> Asked:
    """An agent that calls two tools and answers."""
    model = import_module("pydantic_ai.models.test").TestModel()
    made: Any = import_module("pydantic_ai").Agent(model, name="travel", instructions="Be helpful.")

    def get_weather(city: str) -> str:
        return f"Sunny in {city}"

    async def book_hotel(city: str, nights: int) -> str:
        return f"{nights} nights in {city}"

    made.tool_plain(get_weather)
    made.tool_plain(book_hotel)
    asked: Asked = made
    return asked


async def by_hand(asked: Asked) -> None:
    """Call the agent as its users do."""
    await asked.run("Plan my trip to Paris")


def by_adapter(kind: AgentKind) -> Callable[[Asked], Awaitable[None]]:
    """Ask the agent as an evaluation does, which looks once what kind of agent it is."""

    async def ask(asked: Asked) -> None:
        dialogue = kind.converse(asked, {}, None)
        await dialogue.ask("Plan my trip to Paris")
        await dialogue.close()

    return ask


async def seconds(way: Callable[[Asked], Awaitable[None]], asked: Asked) -> float:
    """The time of one item."""
    begun = time.process_time()
    await way(asked)
    return time.process_time() - begun


async def measure() -> float:
    """Print both, and give the difference."""
    asked = agent()
    kind = agent_kind(asked)
    assert kind is not None
    through_adapter = by_adapter(kind)
    await by_hand(asked)
    await through_adapter(asked)
    hand: list[float] = []
    adapter: list[float] = []
    gc.disable()
    for number in range(ROUNDS):
        ways = [(by_hand, hand), (through_adapter, adapter)]
        for way, times in ways if number % 2 else reversed(ways):
            times.append(await seconds(way, asked))
        if number % 20 == 0:
            gc.collect()
    gc.enable()
    floor = statistics.fmean(sorted(hand)[: ROUNDS // 10])
    more = statistics.fmean(sorted(adapter)[: ROUNDS // 10]) - floor
    print(f"by hand {floor * 1000:.3f} ms, through the adapter {more * 1000:+.3f} ms ({1 + more / floor:.3f} of it)")
    return more


if __name__ == "__main__":
    raise SystemExit(asyncio.run(measure()) > LIMIT)
