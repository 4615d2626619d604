"""AutoGen: results of agents and teams, responses of agents, and lists of their messages and events."""

from __future__ import annotations

import copy
from asyncio import CancelledError
from collections.abc import Mapping
from contextlib import suppress
from itertools import islice
from typing import Any

from msgspec.structs import replace

from quickchecks import _wire
from quickchecks._mocks import LIVE, ToolMocks
from quickchecks._run import Gap, Run, RunError
from quickchecks.adapters._agents import BrokenOff, Dialogue
from quickchecks.adapters._autogen_messages import TYPES, MessageReader
from quickchecks.adapters._dialects import LOOK_AT
from quickchecks.adapters._objects import field, first_foreign, is_a, library, plain
from quickchecks.adapters._options import refuse_unknown
from quickchecks.adapters._shapes import expected
from quickchecks.errors import TargetError, ToolMockError

__all__ = ("AGENTS", "MOCKS_TOOLS", "STATEFUL", "converse", "load", "recognises")

AGENTS = ("autogen_agentchat.agents:BaseChatAgent", "autogen_agentchat.teams:BaseGroupChat")
STATEFUL = True
MOCKS_TOOLS = True

_RESULT = "autogen_agentchat.base:TaskResult"
_RESPONSE = "autogen_agentchat.base:Response"
_MESSAGE = "autogen_agentchat.messages:BaseMessage"


def recognises(value: Any) -> bool:
    """Whether a value is a result or a response of AutoGen, a list of its messages, or one of these as JSON."""
    if type(value) is list or type(value) is tuple:
        found = first_foreign(value)
        if found is not None:
            return is_a(found, _MESSAGE, _RESULT)
        return any(_is_message(one) for one in islice(value, LOOK_AT))
    if type(value) is dict:
        if _is_message(value.get("chat_message")):
            return True
        messages = value.get("messages")
        return type(messages) is list and any(_is_message(one) for one in islice(messages, LOOK_AT))
    return is_a(value, _RESULT, _RESPONSE)


def _is_message(value: Any) -> bool:
    if type(value) is not dict or type(kind := value.get("type")) is not str or type(value.get("source")) is not str:
        return False
    return kind in TYPES or kind.startswith("StructuredMessage")


def load(value: Any) -> Run:
    """Read one run.

    Args:
        value: What `recognises` accepts.

    Returns:
        The run.

    Raises:
        RecordingError: The value is malformed.
    """
    if isinstance(value, (list, tuple)):
        if value and is_a(value[-1], _RESULT):  # what a stream gave, joined
            return load(value[-1])
        return MessageReader().run(value, "")
    response = field(value, "chat_message")
    if response is not None:
        inner = field(value, "inner_messages")
        if inner is not None and not isinstance(inner, (list, tuple)):
            raise expected("a list of messages", inner, "inner_messages")
        run = MessageReader(asked=False).run([*(inner or ()), response], "inner_messages")
        gaps = [*run.gaps, Gap("input", "a response does not show what was asked")]
        if inner is None:
            gaps.append(Gap("calls", "this response does not hold the inner messages of the agent"))
        return replace(run, gaps=tuple(gaps))
    messages = field(value, "messages")
    if not isinstance(messages, (list, tuple)):
        raise expected("a list of messages", messages, "messages")
    run = MessageReader().run(messages, "messages")
    reason = field(value, "stop_reason")
    return replace(run, metadata={"stop_reason": plain(reason)}) if reason is not None else run


# Agents


def converse(agent: Any, options: Mapping[str, Any], mocks: ToolMocks | None) -> Dialogue:
    """Begin a conversation with an agent or a team; see `_agents`."""
    return _Dialogue(agent, options, mocks)


class _Dialogue(Dialogue):
    """A conversation: the agent itself holds it, so it begins anew, and at the end the agent gets back what it held."""

    def __init__(self, agent: Any, options: Mapping[str, Any], mocks: ToolMocks | None) -> None:
        self._team = is_a(agent, AGENTS[1])
        self._before: Any = None
        self._begun = False
        self._options = dict(options)
        refuse_unknown(options, agent.run_stream, ("task",))
        self._mocking = None if mocks is None else _Mocking(mocks)
        self._agent = agent if self._mocking is None else self._mocking.runner(agent)

    async def ask(self, asked: Any, session: Any = None) -> Run:
        """Ask one turn, and read its messages."""
        if not self._begun:
            self._begun = True
            self._before = await self._agent.save_state()
            await self._reset()
            if self._mocking is not None:
                await self._mocking.note_tools()
        task, earlier = _task(asked)
        said: list[Any] = []
        result: Any = None
        try:
            async for message in self._agent.run_stream(task=task, **self._options):
                if is_a(message, _RESULT):
                    result = message
                else:
                    said.append(message)
        except (Exception, CancelledError) as error:
            run = replace(self._run(said, earlier), error=RunError(str(error), type(error).__name__))
            raise BrokenOff(run) from error
        run = self._run(said, earlier)
        reason = field(result, "stop_reason")
        return replace(run, metadata={"stop_reason": plain(reason)}) if reason is not None else run

    def _run(self, said: list[Any], earlier: int) -> Run:
        run = MessageReader(asked=bool(said)).run(said, "")
        name = field(self._agent, "name")
        # What was said before the last of the messages that were asked is history.
        return replace(run, format="autogen", agent=name if isinstance(name, str) else run.agent, history_length=earlier)

    async def _reset(self) -> None:
        if self._team:
            await self._agent.reset()
            return
        await self._agent.on_reset(library("autogen_core").CancellationToken())
        context = field(self._agent, "_model_context")
        for message in field(context, "_initial_messages") or ():  # which a reset takes away too
            await context.add_message(message)

    async def close(self) -> None:
        """Give the agent back what it held."""
        if self._mocking is not None:
            self._mocking.put_back()
        if self._before is not None:
            await self._agent.load_state(self._before)


def _task(asked: Any) -> tuple[Any, int]:
    """The task, and how many of its messages come before what is asked now."""
    messages = library("autogen_agentchat.messages")
    if isinstance(asked, (list, tuple)) and asked:
        task = [_message(one, messages) for one in asked]
        return task, len(task) - 1
    return (_message(asked, messages), 0)


def _message(value: Any, messages: Any) -> Any:
    if not isinstance(value, Mapping):
        return value if isinstance(value, str) or is_a(value, _MESSAGE) else _wire.shown(value)
    content = value.get("content")
    text = content if isinstance(content, str) else _wire.shown(content if "role" in value else value)
    return messages.TextMessage(content=text, source=str(value.get("role", "user")))


class _Mocking:
    """Puts mocks before the tools of an agent or a team, and of those that its tools ask.

    Args:
        mocks: What answers in place of tools.
    """

    def __init__(self, mocks: ToolMocks) -> None:
        self._mocks = mocks
        self._workbenches: list[Any] = []
        self._before: list[tuple[Any, Any]] = []

    def runner(self, agent: Any) -> Any:
        """A copy of an agent whose workbenches ask the mocks first; a team itself.

        The agents of a team cannot be exchanged: until the conversation ends they have other workbenches.

        Raises:
            TargetError: The agent has no workbench.
        """
        if not is_a(agent, AGENTS[1]):
            clone = copy.copy(agent)
            clone._workbench = self._mocked(agent)
            return clone
        members = [member for member in field(agent, "_participants") or () if not is_a(member, AGENTS[1])]
        for member, workbenches in [(member, self._mocked(member)) for member in members]:
            self._before.append((member, member._workbench))
            member._workbench = workbenches
        return agent

    def put_back(self) -> None:
        """Give the agents of teams their own workbenches back."""
        for member, workbenches in reversed(self._before):
            member._workbench = workbenches

    async def note_tools(self) -> None:
        """Note which tools there are."""
        for workbench in self._workbenches:
            self._mocks.placed(*[tool["name"] for tool in await workbench.list_tools()])

    def _mocked(self, agent: Any) -> list[Any]:
        workbenches = field(agent, "_workbench")
        if not isinstance(workbenches, (list, tuple)):
            raise TargetError(
                f"tools of a {type(agent).__name__} cannot be mocked from outside; put quickchecks.mockable around their "
                "functions"
            )
        self._workbenches += workbenches
        return [self._workbench(workbench) for workbench in workbenches]

    def _workbench(self, workbench: Any) -> Any:
        mocks = self._mocks
        if not callable(field(workbench, "call_tool_stream")):
            return _MockedWorkbench(workbench, mocks)
        inner = copy.copy(workbench)
        if isinstance(tools := field(workbench, "_tools"), list):
            inner._tools = [self._tool(tool) for tool in tools]
        clone = copy.copy(inner)  # whose class says that its calls are streams
        stream = inner.call_tool_stream

        async def call_tool_stream(name: str, arguments: Any = None, *values: Any, **named: Any) -> Any:
            found = _answer(mocks, name, arguments)
            if found is not LIVE:
                yield found
                return
            async for event in stream(name, arguments, *values, **named):
                yield event

        clone.call_tool = _MockedWorkbench(inner, mocks).call_tool
        clone.call_tool_stream = call_tool_stream
        return clone

    def _tool(self, tool: Any) -> Any:
        """A tool that asks an agent or a team gets one whose tools are mocked, where that can be done."""
        asked = field(tool, "_task_runner")
        if asked is None:
            return tool
        made = copy.copy(tool)
        with suppress(TargetError):
            made._task_runner = self.runner(asked)
        return made


def _answer(mocks: ToolMocks, name: str, arguments: Any) -> Any:
    tools = library("autogen_core.tools")
    failed = False
    try:
        found = mocks.answer(name, arguments or {})
    except ToolMockError as error:  # as a workbench does with the exception of a tool
        found, failed = str(error), True
    if found is LIVE:
        return LIVE
    text = found if isinstance(found, str) else _wire.shown(found)
    return tools.ToolResult(name=name, result=[tools.TextResultContent(content=text)], is_error=failed)


class _MockedWorkbench:
    """A workbench whose calls ask the mocks first; it is not copied, because it may hold a connection."""

    def __init__(self, workbench: Any, mocks: ToolMocks) -> None:
        self._workbench = workbench
        self._mocks = mocks

    def __getattr__(self, name: str) -> Any:
        return getattr(self._workbench, name)

    async def call_tool(self, name: str, arguments: Any = None, *values: Any, **named: Any) -> Any:
        """Call a tool, or answer for it."""
        found = _answer(self._mocks, name, arguments)
        return await self._workbench.call_tool(name, arguments, *values, **named) if found is LIVE else found
