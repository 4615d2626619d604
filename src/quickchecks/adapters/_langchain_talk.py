"""Conversations with graphs, chains, executors and models of LangChain."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from copy import copy
from inspect import signature
from time import perf_counter
from typing import Any
from uuid import uuid4

from msgspec.structs import force_setattr, replace

from quickchecks import _wire
from quickchecks._mocks import LIVE, ToolMocks
from quickchecks._run import UNSET, Gap, Message, Part, Run, RunError, Text, ToolCall
from quickchecks.adapters._agents import BrokenOff, Dialogue
from quickchecks.adapters._langchain_messages import MESSAGE, MessageReader, usage_of
from quickchecks.adapters._langchain_state import INTERRUPT, shown, state_run
from quickchecks.adapters._langchain_watch import Watch, handler
from quickchecks.adapters._objects import field, is_a, library, plain
from quickchecks.errors import TargetError, ToolMockError, nearest_names

__all__ = ("converse",)

_GRAPH = "langgraph.pregel:Pregel"

_TOOL_NODE = "langgraph.prebuilt.tool_node:ToolNode"
_MODEL = "langchain_core.language_models.base:BaseLanguageModel"
_EXECUTORS = ("langchain.agents.agent:AgentExecutor", "langchain_classic.agents.agent:AgentExecutor")
_WITH_HISTORY = "langchain_core.runnables.history:RunnableWithMessageHistory"
#: What the conversation itself decides.
_OWN = ("input", "stream_mode", "subgraphs", "version", "kwargs", "self")


def converse(agent: Any, options: Mapping[str, Any], mocks: ToolMocks | None) -> Dialogue:
    """Begin a conversation with a graph, or with anything that runs.

    Args:
        agent: The graph or the runnable.
        options: What it takes beside the input, such as `config` and `context`.
        mocks: What answers in place of tools.

    Returns:
        The conversation.

    Raises:
        TargetError: It does not take an option, or mocks cannot be put in place of its tools.
    """
    is_graph = is_a(agent, _GRAPH)
    known = [name for name in signature(agent.astream if is_graph else agent.ainvoke).parameters if name not in _OWN]
    for name in options:
        if name not in known and (is_graph or name in _OWN):
            raise TargetError(f"a graph of LangGraph takes no {name!r}: {nearest_names(name, known)}")
    if is_graph:
        return _GraphTalk(_mocked_graph(agent, mocks) if mocks is not None else agent, dict(options), mocks)
    if mocks is not None:
        raise TargetError(f"the tools of {type(agent).__name__} cannot be mocked; those of a graph of LangGraph can")
    return _RunnableTalk(agent, dict(options))


class _Talk(Dialogue):
    def __init__(self, agent: Any, options: dict[str, Any], mocks: ToolMocks | None = None) -> None:
        self._agent = agent
        self._config: dict[str, Any] = dict(options.pop("config", None) or {})
        self._options = options
        self._mocks = mocks

    def _set(self, **values: str) -> None:
        """Give the conversation an identity of its own, where the user gave none."""
        self._config["configurable"] = {**values, **(self._config.get("configurable") or {})}

    def _watched(self, watch: Watch) -> dict[str, Any]:
        callbacks = self._config.get("callbacks")
        if callbacks is None or isinstance(callbacks, list):
            callbacks = [*(callbacks or ()), handler(watch)]
        else:
            callbacks = callbacks.copy()
            callbacks.add_handler(handler(watch), True)
        return {**self._config, "callbacks": callbacks}

    def _finished(self, run: Run, begun: float) -> Run:
        name = field(self._agent, "name")
        force_setattr(run, "duration", perf_counter() - begun)
        force_setattr(run, "format", "langchain")
        if run.agent is None and isinstance(name, str) and name not in ("", "LangGraph"):
            force_setattr(run, "agent", name)
        run.forget()
        return run


class _GraphTalk(_Talk):
    def __init__(self, agent: Any, options: dict[str, Any], mocks: ToolMocks | None) -> None:
        super().__init__(agent, options, mocks)
        keeper = field(agent, "checkpointer")
        self._keeps = keeper is not None and keeper is not False
        if self._keeps:
            self._set(thread_id=str(uuid4()))
        channels = field(agent, "channels") or {}
        self._talks = "messages" in channels
        self._any_input = "__end__" in channels  # a function that was made a graph
        reads = field(type(keeper), "aget_tuple")
        self._sync_only = self._keeps and reads is not None and reads.__module__ == "langgraph.checkpoint.base"
        self._messages: list[Any] = []

    async def ask(self, asked: Any, session: Any = None) -> Run:
        given = self._input(asked)
        watch = Watch(self._mocks)
        seen: dict[str, Any] = {}
        begun = perf_counter()
        try:
            await self._follow(given, self._watched(watch), seen)
        except (Exception, asyncio.CancelledError) as error:
            run = self._broken(given, seen, watch, error)
            if run is None:
                raise
            raise BrokenOff(self._finished(run, begun)) from error
        run = self._run(given, seen, watch)
        messages = field(seen.get("values"), "messages")
        self._messages = list(messages) if isinstance(messages, (list, tuple)) else []
        return self._finished(run, begun)

    async def _follow(self, given: Any, config: dict[str, Any], seen: dict[str, Any]) -> None:
        """Let the graph run, and keep its last state and what it waits for."""
        options = {**self._options, "stream_mode": ["values", "updates"]}

        def note(mode: str, chunk: Any) -> None:
            if mode == "values":
                seen["values"] = chunk
            elif isinstance(chunk, Mapping) and INTERRUPT in chunk:
                seen[INTERRUPT] = True

        def in_thread() -> None:
            for mode, chunk in self._agent.stream(given, config, **options):
                note(mode, chunk)

        if self._sync_only:
            await asyncio.to_thread(in_thread)
        else:
            async for mode, chunk in self._agent.astream(given, config, **options):
                note(mode, chunk)

    def _input(self, asked: Any) -> Any:
        if is_a(asked, "langgraph.types:Command") or asked is None:
            return asked
        if not self._talks:
            if not isinstance(asked, (str, list)) or self._any_input:
                return asked
            raise TargetError("the state of this graph has no messages: the input of an item is a mapping for its state")
        if not isinstance(asked, (str, list, Mapping)):
            return asked
        if isinstance(asked, str):
            asked = {"messages": [{"role": "user", "content": asked}]}
        elif isinstance(asked, list):
            asked = {"messages": asked}
        if self._keeps or not self._messages:
            return asked
        more = asked.get("messages", [])
        return {**asked, "messages": [*self._messages, *(more if isinstance(more, list) else [more])]}

    def _run(self, given: Any, seen: dict[str, Any], watch: Watch) -> Run:
        state = seen.get("values")
        messages = field(state, "messages")
        if not isinstance(messages, (list, tuple)):
            return _silent_run(given, state, watch, interrupted=INTERRUPT in seen)
        run = state_run(state, interrupted=INTERRUPT in seen, before=self._before(messages))
        calls = [part for message in run.messages for part in message.parts if type(part) is ToolCall]
        watch.complete(calls[_count_calls(run.history) :])
        hidden = watch.others(calls)
        ran = [call for call in hidden if call.state != "requested"]
        return replace(run, children=(Run((Message("assistant", tuple(ran)),)),)) if ran else run

    def _broken(self, given: Any, seen: dict[str, Any], watch: Watch, error: BaseException) -> Run | None:
        if "values" not in seen:
            return None
        run = self._run(given, seen, watch)
        if not run.all_tool_calls and not any(message.role == "assistant" for message in run.messages[run.history_length :]):
            return None
        return replace(run, error=RunError(str(error), type(error).__name__))

    def _before(self, messages: Any) -> int:
        """How many messages of the state were there before this turn: those that it held when the last one ended."""
        ids = {id for message in self._messages if (id := field(message, "id")) is not None}
        if not ids:
            return min(len(self._messages), len(messages))
        return max((at + 1 for at, message in enumerate(messages) if field(message, "id") in ids), default=0)


def _count_calls(messages: tuple[Message, ...]) -> int:
    return sum(type(part) is ToolCall for message in messages for part in message.parts)


def _silent_run(given: Any, answer: Any, watch: Watch, *, interrupted: bool = False) -> Run:
    """The run of what shows no messages: its input, the tools that ran and the calls that models asked for, its answer."""
    calls = watch.others(())
    gaps = [Gap("nested_possible", "functions that the agent calls by itself, without a tool, are not visible")]
    if interrupted:
        for call in calls:
            if call.state == "requested":
                force_setattr(call, "state", "awaiting")
    elif any(call.state == "requested" and call.result is UNSET for call in calls):
        gaps.append(Gap("results", "some calls were answered by no tool that can be seen"))
    parts: list[Part] = [*calls]
    if is_a(answer, MESSAGE):
        reader = MessageReader()
        reader.read([answer])
        gaps += reader.gaps
        known = {call.id for call in calls}
        parts += [
            part for message in reader.messages for part in message.parts if field(part, "id") not in known or type(part) is Text
        ]
    else:
        parts += shown(answer)
    question = Text(given) if isinstance(given, str) else Text(_wire.shown(plain(given)), plain(given))
    return Run(
        (Message("user", (question,)), Message("assistant", tuple(parts))), usage=usage_of(watch.answers()), gaps=tuple(gaps)
    )


class _RunnableTalk(_Talk):
    def __init__(self, agent: Any, options: dict[str, Any]) -> None:
        super().__init__(agent, options)
        if is_a(agent, _WITH_HISTORY):
            self._set(session_id=str(uuid4()))
        self._said: list[Any] = []

    async def ask(self, asked: Any, session: Any = None) -> Run:
        given = asked
        agent = self._agent
        if is_a(agent, _MODEL):
            given = [*self._said, *(asked if isinstance(asked, list) else [{"role": "user", "content": asked}])]
        elif is_a(agent, *_EXECUTORS) and isinstance(asked, str):
            given = {"input": asked, "chat_history": list(self._said)}
        watch = Watch(None)
        begun = perf_counter()
        try:
            answer = await agent.ainvoke(given, self._watched(watch), **self._options)
        except (Exception, asyncio.CancelledError) as error:
            run = _silent_run(asked, None, watch)
            if not run.all_tool_calls:
                raise
            raise BrokenOff(self._finished(replace(run, error=RunError(str(error), type(error).__name__)), begun)) from error
        if is_a(agent, *_EXECUTORS) and isinstance(answer, Mapping):
            answer = answer.get("output")
        if is_a(agent, _MODEL):
            self._said = [*given, answer if is_a(answer, MESSAGE) else {"role": "assistant", "content": str(answer)}]
        else:
            self._said += [{"role": "user", "content": asked}, {"role": "assistant", "content": str(answer)}]
        return self._finished(_silent_run(asked, answer, watch), begun)


# Mocks


def _mocked_graph(agent: Any, mocks: ToolMocks) -> Any:
    """A copy of a graph whose nodes of tools ask the mocks first; graphs that are nodes of it are copied as well."""
    nodes = {}
    for name, node in (field(agent, "nodes") or {}).items():
        bound = field(node, "bound")
        if is_a(bound, _TOOL_NODE):
            nodes[name] = node.copy({"bound": _mocked_node(bound, mocks)})
        elif is_a(bound, _GRAPH):
            nodes[name] = node.copy({"bound": _mocked_graph(bound, mocks)})
        else:
            nodes[name] = node
    return agent.copy({"nodes": nodes})


def _handled(error: ToolMockError, handler: Any) -> Any:
    """What a tool that handles its own errors answers when it fails."""
    if isinstance(handler, str):
        return handler
    return handler(library("langchain_core.tools").ToolException(str(error))) if callable(handler) else str(error)


def _mocked_node(node: Any, mocks: ToolMocks) -> Any:
    made = copy(node)
    mocks.placed(*(field(node, "tools_by_name") or ()))
    outer, outer_async = field(node, "_wrap_tool_call"), field(node, "_awrap_tool_call")

    def answered(request: Any) -> Any:
        call = request.tool_call
        if request.tool is None:  # the model named a tool that there is not, and shall hear so
            return LIVE
        status = "success"
        try:
            found = mocks.answer(call["name"], call["args"])
        except ToolMockError as error:
            if not (handler := field(request.tool, "handle_tool_error")):
                raise
            found, status = _handled(error, handler), "error"
        if found is LIVE:
            return LIVE
        content = found if isinstance(found, str) else _wire.shown(plain(found))
        return library("langchain_core.messages").ToolMessage(content, name=call["name"], tool_call_id=call["id"], status=status)

    def wrap(request: Any, execute: Any) -> Any:
        def inner(one: Any) -> Any:
            found = answered(one)
            return execute(one) if found is LIVE else found

        return inner(request) if outer is None else outer(request, inner)

    async def wrap_async(request: Any, execute: Any) -> Any:
        async def inner(one: Any) -> Any:
            found = answered(one)
            return await execute(one) if found is LIVE else found

        return await (inner(request) if outer_async is None else outer_async(request, inner))

    made._wrap_tool_call = wrap
    made.func, made.afunc = made._func, made._afunc  # those of the original are bound to it
    made._awrap_tool_call = None if outer_async is None and outer is not None else wrap_async
    return made
