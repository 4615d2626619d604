"""Claude's agent: the program that the SDK brings, against a server that answers as the API does; and transports without it."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from time import sleep
from typing import Any

import pytest

sdk = pytest.importorskip("claude_agent_sdk")

from claude_agent_sdk import (  # noqa: E402
    AgentDefinition,
    ClaudeAgentOptions,
    ClaudeSDKClient,
    Transport,
    create_sdk_mcp_server,
    query,
    tool,
)
from crowds import assert_fifty_stay_apart  # noqa: E402
from emulator import emulator  # noqa: E402
from scenarios import NONE, TWO, assert_none, assert_raised, assert_two, outcomes  # noqa: E402

from quickchecks import Run, checks, run_evals_sync  # noqa: E402
from quickchecks._mocks import ToolMocks, mock_plan  # noqa: E402
from quickchecks._run import RunError  # noqa: E402
from quickchecks.adapters import BrokenOff, agent_kind  # noqa: E402
from quickchecks.errors import TargetError  # noqa: E402

Converse = Callable[..., list[Run]]

PROGRAM = Path(sdk.__file__).parent / "_bundled" / "claude"
program = pytest.mark.skipif(not PROGRAM.exists(), reason="this build of the SDK brings no program")


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def use(number: int, name: str, **input: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": input}


def booking(results: int, first: int = 0) -> list[dict[str, Any]]:
    if results < 2:
        return [use(first + results, ("mcp__t__get_weather", "mcp__t__book_hotel")[results], city="Paris")]
    return [text("Sunny; "), text("booking failed.")]


RAN: list[str] = []
#: Where the model wants to write.
FILE: list[str] = []


def script(messages: list[Any]) -> list[dict[str, Any]]:
    """What the model answers to what the user said; the program adds remarks of its own to that."""
    blocks = [
        block
        for message in messages
        if message["role"] == "user"
        for block in (message["content"] if isinstance(message["content"], list) else [text(message["content"])])
    ]
    results = sum(block["type"] == "tool_result" for block in blocks)
    said = " ".join(block["text"] for block in blocks if block["type"] == "text")
    if "Help me" in said:
        sleep(0.2)  # the agent that began it is done before
        return booking(results, 10)
    if "Who am I" in said:
        return [text(f"You are {said.partition('I am ')[2].split()[0]}")]
    if "I am" in said:
        return [text("Noted.")]
    if "Delegate" in said:
        prompt = {"description": "help", "prompt": "Help me", "subagent_type": "helper"}
        return [text("ok")] if results else [use(0, "Agent", **prompt)]
    if "Structure" in said:
        return [text("Done.")] if results else [use(0, "StructuredOutput", city="Paris")]
    if "Unknown" in said:
        return [text("Sorry.")] if results else [use(0, "refund", order=1)]
    if "Write" in said:
        return [text("ok")] if results else [use(0, "Write", file_path=FILE[-1], content="x")]
    if "Both" in said:
        return booking(2) if results else [*booking(0), *booking(1)]
    return booking(results) if "Plan" in said else [text(NONE)]


def reply(path: str, body: Any) -> Any:
    if "count_tokens" in path:
        return {"input_tokens": 1}
    content = script(body["messages"])
    reason = "tool_use" if content[-1]["type"] == "tool_use" else "end_turn"
    usage = {"input_tokens": 20, "output_tokens": 7, "cache_read_input_tokens": 3, "cache_creation_input_tokens": 4}
    message = {"id": f"msg_{os.urandom(4).hex()}", "type": "message", "role": "assistant", "model": body["model"], "usage": usage}
    if not body.get("stream"):
        return {**message, "content": content, "stop_reason": reason, "stop_sequence": None}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {**message, "content": [], "stop_reason": None, "stop_sequence": None}}
    ]
    for index, block in enumerate(content):
        empty = {**block, "text": ""} if block["type"] == "text" else {**block, "input": {}}
        delta = (
            {"type": "text_delta", "text": block["text"]}
            if block["type"] == "text"
            else {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        )
        events += [
            {"type": "content_block_start", "index": index, "content_block": empty},
            {"type": "content_block_delta", "index": index, "delta": delta},
            {"type": "content_block_stop", "index": index},
        ]
    ended = {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": {"output_tokens": 7}}
    return [*events, ended, {"type": "message_stop"}]


@tool("get_weather", "The weather of a city", {"city": str})
async def get_weather(asked: dict[str, Any]) -> dict[str, Any]:
    RAN.append("get_weather")
    return {"content": [text("Sunny")]}


@tool("book_hotel", "Book a hotel", {"city": str})
async def book_hotel(asked: dict[str, Any]) -> dict[str, Any]:
    RAN.append("book_hotel")
    raise ValueError("no rooms left")


@pytest.fixture
def options(tmp_path: Path) -> Iterator[Callable[..., Any]]:
    FILE.append(str(tmp_path / "made.txt"))
    with emulator(reply) as address:

        def make(**more: Any) -> Any:
            quiet = ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_TELEMETRY", "DISABLE_AUTOUPDATER")
            env = {"ANTHROPIC_BASE_URL": address, "ANTHROPIC_API_KEY": "sk-ant-x", "ENABLE_TOOL_SEARCH": "false"}
            return ClaudeAgentOptions(
                mcp_servers={"t": create_sdk_mcp_server("t", tools=[get_weather, book_hotel])},
                allowed_tools=["mcp__t__get_weather", "mcp__t__book_hotel"],
                cwd=tmp_path,
                setting_sources=[],
                env={**env, "HOME": str(tmp_path), "CLAUDE_CONFIG_DIR": str(tmp_path), **dict.fromkeys(quiet, "1")},
                **more,
            )

        yield make


@program
def test_two(converse: Converse, options: Any) -> None:
    run = assert_two(converse(options(), "Plan")[0])
    assert run.messages[0].text == "Plan"
    assert run.tool_calls[0].metadata == {"server": "t", "qualified": "mcp__t__get_weather"}
    assert run.usage is not None
    assert (run.usage.input_tokens, run.usage.output_tokens, run.usage.cached_tokens) == (81, 21, 9)
    assert run.usage.cost is not None
    assert run.usage.cost > 0
    assert run.duration is not None


@program
def test_parallel_calls(converse: Converse, options: Any) -> None:
    assert_two(converse(options(), "Both")[0])


@program
def test_messages_are_scored_as_they_are(options: Any) -> None:
    async def messages() -> list[Any]:
        return [message async for message in query(prompt="Plan", options=options())]

    found = asyncio.run(messages())
    assert assert_two(found).gap_kinds == {"input"}
    cut_off = outcomes(found[:5])  # without the message that ends a conversation, nobody knows whether it is whole
    assert (cut_off["no_tool_errors()"], cut_off["did_not_call('refund')"]) == ("failed", "no_evidence")


@program
def test_none_and_a_client_as_target(converse: Converse, options: Any) -> None:
    assert_none(converse(ClaudeSDKClient(options=options()), "Hi")[0])


@program
def test_two_turns_remember(converse: Converse, options: Any) -> None:
    first, second = converse(options(), "I am Ada", "Who am I?")
    assert (first.text, second.text) == ("Noted.", "You are Ada")
    assert [message.text for message in second.messages] == ["Who am I?", "You are Ada"]
    assert first.usage is not None
    assert second.usage is not None
    assert first.usage.input_tokens == second.usage.input_tokens == 27
    assert second.usage.cost == pytest.approx(first.usage.cost)


@program
def test_a_sub_agent_has_a_run_of_its_own(converse: Converse, options: Any) -> None:
    helper = AgentDefinition(description="helps", prompt="You help.", tools=["mcp__t__get_weather", "mcp__t__book_hotel"])
    (run,) = converse(options(agents={"helper": helper}), "Delegate")
    (call,) = [call for call in run.all_tool_calls if call.kind == "handoff"]
    assert call.run is not None
    assert call.run.tool_names == ("get_weather", "book_hotel")
    assert run.tool_names == ("get_weather", "book_hotel")
    assert [site.agent for site in run.call_sites] == ["helper", "helper"]


@program
def test_a_turn_ends_when_those_in_the_background_are_done(converse: Converse, options: Any) -> None:
    helper = AgentDefinition(description="helps", prompt="You help.", tools=["mcp__t__get_weather", "mcp__t__book_hotel"])
    first, second = converse(options(agents={"helper": helper}), "Delegate", "Who am I? I am Ada")
    assert first.tool_names == ("get_weather", "book_hotel")
    assert [gap.kind for gap in first.gaps] == []
    assert (second.text, second.tool_names) == ("You are Ada", ())


@program
def test_the_limit_of_turns_is_an_error_of_the_run(converse: Converse, options: Any) -> None:
    (run,) = converse(options(), "Plan", options={"max_turns": 1})
    assert run.error is not None
    assert run.error.type == "error_max_turns"
    assert run.tool_names == ("get_weather",)


@program
def test_an_unknown_tool_fails(converse: Converse, options: Any) -> None:
    (run,) = converse(options(), "Unknown")
    assert [(call.name, call.failure() is not None) for call in run.tool_calls] == [("refund", True)]


@program
def test_a_structured_answer(converse: Converse, options: Any) -> None:
    schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    (run,) = converse(options(output_format={"type": "json_schema", "schema": schema}), "Structure")
    assert run.output == {"city": "Paris"}
    assert checks.used_no_tools().score(run).passed


@program
def test_options_as_target_of_an_evaluation(options: Any) -> None:
    found = run_evals_sync(data=[{"input": "Plan"}], target=options(), scorers=[checks.called_tool("book_hotel")], progress=False)
    assert found.scores == {"called_tool('book_hotel')": 1.0}


def mocks(*given: Any) -> ToolMocks:
    return ToolMocks(mock_plan(list(given), "item 0"))


@program
def test_mocks_answer_in_place_of_tools(converse: Converse, options: Any) -> None:
    RAN.clear()
    given = mocks({"tool": "get_weather", "result": "Sunny, mocked"}, {"tool": "mcp__t__book_hotel", "error": "no rooms left"})
    mine = options()
    (run,) = converse(mine, "Plan", mocks=given)
    assert_two(run)
    assert (RAN, run.tool_calls[0].result) == ([], "Sunny, mocked")
    assert given.report()["unused"] == []
    assert_two(converse(mine, "Plan")[0])
    assert RAN == ["get_weather", "book_hotel"]


@program
def test_mocks_of_an_item_reach_the_tools(options: Any) -> None:
    RAN.clear()
    item = {"input": "Plan", "tool_mocks": [{"tool": "get_weather", "result": "Rain"}, {"tool": "book_hotel", "error": "full"}]}
    found = run_evals_sync(data=[item], target=options(), scorers=[checks.called_tool("book_hotel")], progress=False)
    assert (found.items[0].error, RAN) == (None, [])
    run = found.items[0].run
    assert run is not None
    assert [call.result for call in run.tool_calls] == ["Rain", "full"]


@program
def test_tools_outside_this_process_can_be_refused_and_not_answered(converse: Converse, options: Any, tmp_path: Path) -> None:
    mine = options(permission_mode="acceptEdits")
    (run,) = converse(mine, "Write", mocks=mocks({"tool": "Write", "error": "the disk is full"}))
    failure = run.tool_calls[0].failure()
    assert failure is not None
    assert "the disk is full" in failure.message
    deny = ToolMocks(mock_plan({"mocks": [], "unknown_tools": "deny"}, "item 0"))
    (run,) = converse(mine, "Write", mocks=deny)
    assert run.tool_calls[0].failure() is not None
    (run,) = converse(mine, "Write", mocks=mocks({"tool": "Write", "result": "written"}))
    assert run.tool_calls[0].failure() is not None
    assert not (tmp_path / "made.txt").exists()
    converse(mine, "Write")
    assert (tmp_path / "made.txt").exists()


class Replay(Transport):
    """A transport without the program: it answers each prompt with items, by all that was said before."""

    def __init__(self, answer: Callable[[list[str]], list[Any]]) -> None:
        self._answer = answer
        self._said: list[str] = []

    async def connect(self) -> None:
        self._sent: asyncio.Queue[Any] = asyncio.Queue()

    def is_ready(self) -> bool:
        return True

    async def end_input(self) -> None:
        pass

    async def close(self) -> None:
        pass

    async def write(self, data: str) -> None:
        request = json.loads(data)
        if request["type"] == "control_request":
            response = {"subtype": "success", "request_id": request["request_id"], "response": {}}
            await self._sent.put({"type": "control_response", "response": response})
        elif request["type"] == "user":
            self._said.append(request["message"]["content"])
            await asyncio.sleep(0.001)
            for item in self._answer(self._said):
                await self._sent.put(item)

    async def read_messages(self) -> Any:
        while True:
            item = await self._sent.get()
            if isinstance(item, Exception):
                raise item
            yield item


def item(role: str, *content: Any, **more: Any) -> dict[str, Any]:
    return {"type": role, "message": {"role": role, "model": "m", "content": list(content)}, "session_id": "s", **more}


def ended(**more: Any) -> dict[str, Any]:
    times = {"duration_ms": 9, "duration_api_ms": 5, "num_turns": 1}
    return {"type": "result", "subtype": "success", "is_error": False, "session_id": "s", **times, **more}


PLAN = [
    item("assistant", use(0, "mcp__t__get_weather", city="Paris")),
    item("user", {"type": "tool_result", "tool_use_id": "toolu_0", "content": "Sunny"}),
    item("assistant", use(1, "mcp__t__book_hotel", city="Paris")),
    item("user", {"type": "tool_result", "tool_use_id": "toolu_1", "content": "no rooms left", "is_error": True}),
    item("assistant", text(TWO)),
]


def test_a_transport_is_made_for_each_conversation(converse: Converse) -> None:
    given = {"transport": lambda: Replay(lambda said: [*PLAN, ended(result=TWO)])}
    assert_two(converse(ClaudeAgentOptions(), "Plan", options=given)[0])
    assert_two(converse(ClaudeSDKClient(), [{"role": "user", "content": "Plan"}], options=given)[0])


def test_many_conversations_share_the_options() -> None:
    def remembers(said: list[str]) -> list[Any]:
        answer = f"You are {said[0].split()[-1]}" if len(said) > 1 else "Noted."
        return [item("assistant", text(answer)), ended(result=answer)]

    assert_fifty_stay_apart(ClaudeAgentOptions(), {"transport": lambda: Replay(remembers)})


def test_a_program_that_dies_leaves_what_it_did() -> None:
    async def talk() -> BrokenOff:
        kind = agent_kind(ClaudeAgentOptions())
        assert kind is not None
        died = RuntimeError("the program died")
        dialogue = kind.converse(ClaudeAgentOptions(), {"transport": lambda: Replay(lambda said: [*PLAN[:3], died])}, None)
        with pytest.raises(BrokenOff) as caught:
            await dialogue.ask("Plan")
        await dialogue.close()
        return caught.value

    broken = asyncio.run(talk())
    assert "the program died" in str(broken.__cause__)
    assert_raised(broken.run)


def test_a_model_that_cannot_be_asked_is_an_error_of_the_run(converse: Converse) -> None:
    items = [
        item("assistant", text("Invalid API key"), error="authentication_failed"),
        ended(is_error=True, result="Invalid API key"),
    ]
    (run,) = converse(ClaudeAgentOptions(), "Plan", options={"transport": lambda: Replay(lambda said: items)})
    assert (run.error, run.text) == (RunError("Invalid API key", "authentication_failed"), "")


@pytest.mark.parametrize(
    ("given", "asked", "problem"),
    [
        ({"max_turn": 1}, "x", "did you mean 'max_turns'"),
        ({"transport": 5}, "x", "transport is a function"),
        ({}, [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}], "write them as turns of the item"),
        ({}, 5, "takes text"),
    ],
)
def test_what_cannot_be_asked_is_refused(converse: Converse, given: Any, asked: Any, problem: str) -> None:
    with pytest.raises(TargetError, match=problem):
        converse(ClaudeAgentOptions(), asked, options=given)


def test_a_client_with_a_transport_of_its_own_is_refused(converse: Converse) -> None:
    with pytest.raises(TargetError, match="makes one for each"):
        converse(ClaudeSDKClient(transport=Replay(lambda said: [])), "x")
