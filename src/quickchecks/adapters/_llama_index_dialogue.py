"""Conversations with the agents and workflows of LlamaIndex, and mocks in place of their tools."""

from __future__ import annotations

import copy
import warnings
from asyncio import CancelledError
from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from quickchecks._mocks import LIVE, ToolMocks
from quickchecks._run import Gap, Run, RunError
from quickchecks.adapters._agents import BrokenOff, Dialogue
from quickchecks.adapters._llama_index_kinds import kind_of
from quickchecks.adapters._llama_index_runs import events_run
from quickchecks.adapters._objects import field, is_a, library
from quickchecks.errors import TargetError

__all__ = ("LlamaIndexDialogue",)

_AGENT = "llama_index.core.agent.workflow:BaseWorkflowAgent"
_TEAM = "llama_index.core.agent.workflow:AgentWorkflow"
#: What runs the tools of this agent is code that the model writes.
_CODES = "llama_index.core.agent.workflow:CodeActAgent"


class LlamaIndexDialogue(Dialogue):
    """A conversation with an agent or a workflow: its state is in a `Context`, which does not keep the memory of an agent."""

    def __init__(self, agent: Any, options: Mapping[str, Any], mocks: ToolMocks | None) -> None:
        self._is_agent = is_a(agent, _AGENT, _TEAM)
        self._agent = agent if mocks is None else _mocked(agent, mocks)
        self._options = dict(options)
        self._context: Any = self._options.pop("ctx", None)
        if self._is_agent and self._context is None and "memory" not in self._options:
            speaker = agent.agents[agent.root_agent] if is_a(agent, _TEAM) else agent
            self._options["memory"] = library("llama_index.core.memory").ChatMemoryBuffer.from_defaults(llm=speaker.llm)

    async def ask(self, asked: Any, session: Any = None) -> Run:
        """Ask one turn, and read its events."""
        if self._context is None:
            self._context = library("llama_index.core.workflow" if self._is_agent else "workflows").Context(self._agent)
        with warnings.catch_warnings():  # about the memory, which it is given each time
            warnings.filterwarnings("ignore", "Skipping serialization of known unserializable key")
            handler = self._agent.run(ctx=self._context, **{**self._options, **self._input(asked)})
        events: list[Any] = []
        try:
            async for event in handler.stream_events():
                events.append(event)
                if kind_of(event) == "waits":
                    return replace(self._run(events), metadata={"waits_for": str(event)})
            await handler
        except (Exception, CancelledError) as error:
            run = self._run(events)
            raise BrokenOff(replace(run, error=run.error or RunError(str(error), type(error).__name__))) from error
        finally:
            if not handler.is_done():
                await handler.cancel_run()
        return self._run(events)

    def _run(self, events: list[Any]) -> Run:
        run = replace(events_run(events), format="llama_index")
        if self._is_agent or "calls" in run.gap_kinds:
            return run
        if any(kind_of(event) in ("output", "call", "result") for event in events):
            gap = Gap("nested_possible", "only the agents whose events the steps of this workflow pass on are visible")
        else:
            gap = Gap("calls", "the events of this workflow do not show which tools its steps called")
        return replace(run, gaps=(*run.gaps, gap))

    def _input(self, asked: Any) -> dict[str, Any]:
        if is_a(asked, "workflows.events:StartEvent"):
            return {"start_event": asked}
        if not self._is_agent:
            return dict(asked) if isinstance(asked, Mapping) else {_only_field(self._agent): asked}
        if isinstance(asked, Mapping) and "role" not in asked:
            return dict(asked)
        if isinstance(asked, (list, tuple)) and asked:
            messages = [_message(one) for one in asked]
            return {"user_msg": messages[-1], "chat_history": messages[:-1]}
        return {"user_msg": _message(asked) if isinstance(asked, Mapping) else asked}


def _only_field(workflow: Any) -> str:
    """The name of the one field that the start event of a workflow needs; `input` where it does not say."""
    fields = field(field(workflow, "start_event_class"), "model_fields")
    needed = [name for name, one in fields.items() if one.is_required()] if isinstance(fields, Mapping) else []
    return str(needed[0]) if len(needed) == 1 else "input"


def _message(value: Any) -> Any:
    """A message in OpenAI's form as one of the framework's."""
    if not isinstance(value, Mapping):
        return value
    types = library("llama_index.core.base.llms.types")
    content = value.get("content")
    blocks: list[Any] = []
    for part in content if isinstance(content, (list, tuple)) else [content]:
        text = part.get("text") if isinstance(part, Mapping) else part
        if isinstance(text, str) and text:
            blocks.append(types.TextBlock(text=text))
    for call in value.get("tool_calls") or ():
        body = field(call, "function", call)
        blocks.append(
            types.ToolCallBlock(
                tool_call_id=field(call, "id"), tool_name=field(body, "name"), tool_kwargs=field(body, "arguments") or {}
            )
        )
    beside = {"tool_call_id": value["tool_call_id"]} if "tool_call_id" in value else {}
    return types.ChatMessage(role=value.get("role", "user"), blocks=blocks, additional_kwargs=beside)


# Mocks


def _mocked(agent: Any, mocks: ToolMocks) -> Any:
    """A copy of an agent, or of a workflow of agents, whose tools ask the mocks first."""
    if is_a(agent, _TEAM):
        clone = copy.copy(agent)
        clone.agents = {name: _mocked(one, mocks) for name, one in agent.agents.items()}
        return clone
    if not is_a(agent, _AGENT) or is_a(agent, _CODES):
        raise TargetError(
            f"tools of a {type(agent).__name__} cannot be mocked from outside; put quickchecks.mockable around their functions"
        )
    clone = copy.copy(agent)
    clone.tools = None if agent.tools is None else [_mocked_tool(tool, mocks) for tool in agent.tools]
    if agent.tool_retriever is not None:
        clone.tool_retriever = _MockedRetriever(agent.tool_retriever, mocks)
    return clone


def _mocked_tool(tool: Any, mocks: ToolMocks) -> Any:
    types = library("llama_index.core.tools.types")
    clone = copy.copy(types.adapt_to_async_tool(tool))
    run = clone.acall
    name = clone.metadata.get_name()
    mocks.placed(name)
    context = field(clone, "ctx_param_name")

    async def acall(*values: Any, **named: Any) -> Any:
        arguments = {key: value for key, value in named.items() if key != context}
        if values:
            arguments = {**{str(at): value for at, value in enumerate(values)}, **arguments}
        found = mocks.answer(name, arguments)
        if found is LIVE:
            return await run(*values, **named)
        return types.ToolOutput(content=str(found), tool_name=name, raw_input=arguments, raw_output=found)

    clone.acall = acall
    return clone


class _MockedRetriever:
    """Finds the tools that the retriever of an agent finds."""

    def __init__(self, retriever: Any, mocks: ToolMocks) -> None:
        self._retriever = retriever
        self._mocks = mocks

    async def aretrieve(self, asked: Any) -> Any:
        """Find tools; each asks the mocks first."""
        return [_mocked_tool(tool, self._mocks) for tool in await self._retriever.aretrieve(asked)]
