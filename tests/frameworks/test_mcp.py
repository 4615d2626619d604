"""Results of a real MCP server: as the answers of a target, and inside the calls of a list of messages."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

mcp = pytest.importorskip("mcp")

from mcp import Client  # noqa: E402
from mcp.server import MCPServer  # noqa: E402
from pydantic import BaseModel  # noqa: E402
from scenarios import TWO, assert_two  # noqa: E402

from quickchecks import checks, load_run, run_evals_sync  # noqa: E402

Foreign = Any  # the objects of SDKs have no types here


class Weather(BaseModel):
    sky: str


def server() -> Foreign:
    made = MCPServer("travel")

    @made.tool()
    def get_weather(city: str) -> str:
        return "Sunny"

    @made.tool()
    def book_hotel(city: str) -> str:
        raise ValueError("no rooms left")

    @made.tool()
    def measured(city: str) -> Weather:
        return Weather(sky="blue")

    return made


def call(name: str, **arguments: Foreign) -> Foreign:
    async def called() -> Foreign:
        async with Client(server()) as client:
            return await client.call_tool(name, arguments or {"city": "Paris"})

    return asyncio.run(called())


def test_a_result_is_the_answer() -> None:
    for result in (call("get_weather"), call("get_weather").model_dump(by_alias=True, mode="json")):
        run = load_run(result)
        assert (run.text, run.output, run.error) == ("Sunny", "Sunny", None)
    assert load_run(call("measured")).output == {"sky": "blue"}


@pytest.mark.parametrize(
    ("name", "arguments"), [("book_hotel", {"city": "x"}), ("refund", {"city": "x"}), ("get_weather", {"town": 1})]
)
def test_an_error_is_the_error_of_the_run(name: str, arguments: dict[str, Foreign]) -> None:
    run = load_run(call(name, **arguments))
    assert run.error is not None
    assert run.error.message


def test_a_tool_may_be_a_target() -> None:
    async def weather(city: str) -> Foreign:
        async with Client(server()) as client:
            return await client.call_tool("get_weather", {"city": city})

    async def hotel(city: str) -> Foreign:
        async with Client(server()) as client:
            return await client.call_tool("book_hotel", {"city": city})

    good = run_evals_sync(data=[{"input": "Paris"}], target=weather, scorers=[checks.equals("Sunny")])
    assert set(good.scores.values()) == {1.0}
    bad = run_evals_sync(data=[{"input": "Paris"}], target=hotel, scorers=[checks.includes("x")])
    assert [item.error.kind for item in bad.items if item.error is not None] == ["run"]


@pytest.mark.parametrize("how", ["object", "dict", "json"])
def test_results_in_the_calls_of_messages(how: str) -> None:
    def shown(result: Foreign) -> Foreign:
        if how == "object":
            return result
        plain = result.model_dump(by_alias=True, mode="json")
        return plain if how == "dict" else json.dumps(plain)

    messages: list[Foreign] = [{"role": "user", "content": "Plan"}]
    for name in ("get_weather", "book_hotel"):
        function = {"name": name, "arguments": '{"city": "Paris"}'}
        messages.append(
            {"role": "assistant", "content": None, "tool_calls": [{"id": name, "type": "function", "function": function}]}
        )
        messages.append({"role": "tool", "tool_call_id": name, "content": shown(call(name))})
    messages.append({"role": "assistant", "content": TWO})
    run = assert_two(messages)
    failure = run.tool_calls[1].failure()
    assert failure is not None
    assert failure.source == "flag"
