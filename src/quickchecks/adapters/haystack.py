"""Agents of Haystack: their results, those of a pipeline with one agent, and lists of their messages, as objects and as JSON.

A result of a tool says that there was no error when nobody said anything, so its text is judged.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from inspect import signature
from itertools import islice
from time import perf_counter
from typing import Any

from msgspec.structs import force_setattr, replace

from quickchecks._mocks import LIVE, ToolMocks
from quickchecks._run import UNSET, Gap, Run, RunError, ToolCall, ToolError
from quickchecks.adapters._agents import BrokenOff, Dialogue
from quickchecks.adapters._haystack_messages import MessageReader, are_messages, role_of, usage_of
from quickchecks.adapters._objects import field, is_a, library, plain
from quickchecks.adapters._pairing import complete
from quickchecks.adapters._record import unheard
from quickchecks.adapters._shapes import expected
from quickchecks.errors import TargetError, ToolMockError, nearest_names

__all__ = ("AGENTS", "MOCKS_TOOLS", "converse", "load", "recognises")

AGENTS = ("haystack.components.agents.agent:Agent",)
MOCKS_TOOLS = True

_SEARCHED = "haystack.tools.searchable_toolset:SearchableToolset"
_NESTED = Gap("nested_possible", "calls of an agent that a tool asks are not visible")
_READ = frozenset(("messages", "last_message", "token_usage"))
_COMPONENTS = 20


def recognises(value: Any) -> bool:
    """Whether a value is a result with messages of this library, a list of them, or what a pipeline with one agent gave."""
    if type(value) is dict:
        messages = value.get("messages")
        return are_messages(messages) if messages is not None else _agent_output(value) is not None
    return (type(value) is list or type(value) is tuple) and are_messages(value)


def load(value: Any) -> Run:
    """Read one run.

    Args:
        value: A result, a list of messages, or the JSON of either.

    Returns:
        The run; of a result, what stands before the last message of the user is its history.

    Raises:
        RecordingError: The value is malformed.
    """
    if isinstance(value, (list, tuple)):
        run = _run(value)
    elif not isinstance(value, Mapping):
        raise expected("a result of Haystack, or a list of its messages", value, "")
    elif value.get("messages") is None and (name := _agent_output(value)) is not None:
        run = _result(value[name], f"{name}.messages")
        rest = {key: plain(item) for key, item in value.items() if key != name}
        run = replace(run, agent=name, metadata={**(run.metadata or {}), **rest} or None)
    else:
        run = _result(value, "messages")
    return replace(run, gaps=(*run.gaps, _NESTED)) if run.tool_calls else run


def _agent_output(outputs: Mapping[str, Any]) -> str | None:
    """The component of a pipeline that is an agent, where exactly one of them is."""
    found = [
        name
        for name, output in islice(outputs.items(), _COMPONENTS)
        if type(output) is dict and type(name) is str and are_messages(output.get("messages"))
    ]
    return found[0] if len(found) == 1 else None


def _result(result: Mapping[str, Any], path: str) -> Run:
    messages = result.get("messages")
    before = 0
    if isinstance(messages, (list, tuple)) and "exit_reason" in result:  # a result holds what was said before as well
        asked = [at for at, message in enumerate(messages) if role_of(message) == "user"]
        answered = next((at for at, message in enumerate(messages) if role_of(message) == "assistant"), len(messages))
        before = asked[-1] if asked and asked[-1] > answered else 0
    run = _run(messages, path, before, result.get("token_usage"))
    metadata = {key: plain(item) for key, item in result.items() if key not in _READ and item is not None}
    return replace(run, metadata=metadata or None)


def _run(messages: Any, path: str = "", before: int = 0, usage: Any = None) -> Run:
    reader = MessageReader(path)
    reader.read(messages)
    read = reader.messages
    history = reader.starts[before] if before < len(reader.starts) else len(read)
    gaps = (*reader.gaps, *unheard(read[history:]))
    return Run(tuple(read), None, None, history, usage_of(messages[before:], usage), gaps=gaps)


STREAMS = ("haystack.core.pipeline:PipelineStreamHandle",)


async def drained(value: Any) -> Any:
    """Wait for the end of a pipeline that streams, and give what it gave."""
    async for _ in value:
        pass
    return value.result


# Agents


def converse(agent: Any, options: Mapping[str, Any], mocks: ToolMocks | None) -> Dialogue:
    """Begin a conversation with an agent.

    Args:
        agent: The agent.
        options: What its `run_async` takes beside the messages.
        mocks: What answers in place of tools.

    Returns:
        The conversation.

    Raises:
        TargetError: It does not take an option, or its tools cannot be mocked.
    """
    known = [name for name in signature(agent.run_async).parameters if name not in ("messages", "kwargs")]
    known += list(field(agent, "state_schema") or {})
    for name in options:
        if name not in known:
            raise TargetError(f"an agent of Haystack takes no {name!r}: {nearest_names(name, known)}")
    return _Conversation(agent, dict(options), mocks)


class _Conversation(Dialogue):
    def __init__(self, agent: Any, options: dict[str, Any], mocks: ToolMocks | None) -> None:
        self._tools: list[_ToolRun] = []
        self._states: list[Any] = []
        #: A copy, so that what is put around the tools of this conversation meets no other.
        self._agent = made = copy(agent)
        chosen = options.pop("tools", None)
        made.tools = self._watched(field(agent, "tools") if chosen is None or _are_names(chosen) else chosen, mocks)
        hooks = field(agent, "hooks")
        if isinstance(hooks, Mapping):
            made.hooks = {**hooks, "before_run": [*(hooks.get("before_run") or ()), _Noting(self._states)]}
        self._options = {**options, "tools": chosen} if _are_names(chosen) else options
        self._messages: list[Any] = []

    def _watched(self, tools: Any, mocks: ToolMocks | None) -> Any:
        if any(is_a(tool, _SEARCHED) for tool in (tools if isinstance(tools, list) else [tools])):
            if mocks is not None:
                raise TargetError("the tools of this agent cannot be mocked: it searches for them while it runs")
            return tools
        found = library("haystack.tools").flatten_tools_or_toolsets(tools)
        return [_watched_tool(tool, self._tools, mocks) for tool in found]

    async def ask(self, asked: Any, session: Any = None) -> Run:
        given, more = _messages_of(asked)
        sent = [*[message for message in self._messages if role_of(message) != "system"], *given]
        self._tools.clear()
        self._states.clear()
        begun = perf_counter()
        try:
            result = await self._agent.run_async(messages=sent, **{**self._options, **more})
        except Exception as error:
            messages = (field(self._states[0], "data") or {}).get("messages") if self._states else None
            if not messages or all(role_of(message) != "assistant" for message in messages[len(sent) :]):
                raise
            run = self._finished(_run(messages, "", self._before(messages, given)), begun)
            self._blame(run, error)
            cause = error.__cause__ or error
            raise BrokenOff(replace(run, error=RunError(str(cause), type(cause).__name__))) from error
        messages = result["messages"]
        run = _run(messages, "", self._before(messages, given), result.get("token_usage"))
        metadata = {key: plain(item) for key, item in result.items() if key not in _READ}
        self._messages = messages
        return self._finished(replace(run, metadata=metadata), begun)

    def _before(self, messages: list[Any], given: list[Any]) -> int:
        """How many messages were said before this turn: it begins with what was given for it."""
        if not self._messages or not given:
            return 0
        return next((at for at in range(len(messages) - 1, -1, -1) if messages[at] == given[0]), 0)

    def _finished(self, run: Run, begun: float) -> Run:
        """Put on the calls what is known of the tools that ran for them."""
        calls = [part for message in run.messages[run.history_length :] for part in message.parts if type(part) is ToolCall]
        left = list(self._tools)
        for call in calls:
            mine = next((tool for tool in left if tool.name == call.name and tool.arguments == call.arguments), None)
            mine = mine or next((tool for tool in left if tool.name == call.name), None)
            if mine is not None:
                left.remove(mine)
                mine.put_on(call)
        force_setattr(run, "duration", perf_counter() - begun)
        force_setattr(run, "format", "haystack")
        run.forget()
        return run

    @staticmethod
    def _blame(run: Run, error: Exception) -> None:
        """A call that is still open was of the tool that raised, unless it was cut short by another."""
        name = field(error, "tool_name")
        waiting = [call for call in run.all_tool_calls if call.state == "requested" and name in (None, call.name)]
        if len(waiting) == 1:
            complete(waiting[0], UNSET, ToolError(str(error), type(error).__name__, "exception"))
        run.forget()


class _ToolRun:
    """One tool that ran."""

    def __init__(self, name: str, arguments: dict[str, Any]) -> None:
        self.name = name
        self.arguments = arguments
        self.begun = perf_counter()
        self.seconds: float | None = None
        self.output: Any = UNSET
        self.error: BaseException | None = None

    def put_on(self, call: ToolCall) -> None:
        """Tell a call what came of it."""
        force_setattr(call, "duration", self.seconds)
        cause = self.error.__cause__ or self.error if self.error is not None else None
        if cause is not None:
            known = call.error.message if call.error is not None else ""
            complete(call, call.result, ToolError(known or str(cause), type(cause).__name__, "exception"))
        elif call.state == "requested" and self.output is not UNSET:
            complete(call, plain(self.output))
        if type(self.output) is dict and are_messages(self.output.get("messages")):
            force_setattr(call, "run", _result(self.output, ""))
            force_setattr(call, "kind", "agent")


class _Noting:
    """A hook that keeps the state of a run, so that what happened is known when the agent raises."""

    def __init__(self, states: list[Any]) -> None:
        self._states = states

    def run(self, state: Any) -> None:
        """Keep the state."""
        self._states.append(state)


def _watched_tool(tool: Any, seen: list[_ToolRun], mocks: ToolMocks | None) -> Any:
    """A copy of a tool that notes when it is invoked, and asks the mocks first."""
    made = copy(tool)
    if mocks is not None:
        mocks.placed(tool.name)
    asked_for = (field(tool, "parameters") or {}).get("properties") or {}

    def begin(given: dict[str, Any]) -> tuple[_ToolRun, Any]:
        arguments = {key: value for key, value in given.items() if key in asked_for}
        run = _ToolRun(tool.name, arguments)
        seen.append(run)
        try:
            return run, LIVE if mocks is None else mocks.answer(tool.name, arguments)
        except ToolMockError as error:
            run.error = error
            failed = library("haystack.tools.errors").ToolInvocationError
            raise failed(f"Failed to invoke Tool `{tool.name}` with parameters {given}. Error: {error}", tool.name) from error

    def end(run: _ToolRun, output: Any, error: BaseException | None = None) -> Any:
        run.seconds, run.output, run.error = perf_counter() - run.begun, output, error
        return output

    def invoke(**given: Any) -> Any:
        run, found = begin(given)
        try:
            return end(run, tool.invoke(**given) if found is LIVE else found)
        except Exception as error:
            end(run, UNSET, error)
            raise

    async def invoke_async(**given: Any) -> Any:
        run, found = begin(given)
        try:
            return end(run, await tool.invoke_async(**given) if found is LIVE else found)
        except Exception as error:
            end(run, UNSET, error)
            raise

    made.invoke, made.invoke_async = invoke, invoke_async
    return made


def _are_names(tools: Any) -> bool:
    return isinstance(tools, list) and bool(tools) and all(isinstance(tool, str) for tool in tools)


def _messages_of(asked: Any) -> tuple[list[Any], dict[str, Any]]:
    """The messages of an input, and what it holds beside them for the state of the agent."""
    made = library("haystack.dataclasses").ChatMessage
    if isinstance(asked, str):
        return [made.from_user(asked)], {}
    if isinstance(asked, Mapping):
        messages, _ = _messages_of(asked.get("messages") or [])
        return messages, {key: value for key, value in asked.items() if key != "messages"}
    if isinstance(asked, list):
        return [made.from_openai_dict_format(one) if isinstance(one, dict) else one for one in asked], {}
    raise TargetError(f"an agent of Haystack takes text, messages, or a mapping with messages, not {type(asked).__name__}")
