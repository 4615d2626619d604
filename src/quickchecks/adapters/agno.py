"""Agno: what agents, teams and workflows give, as objects or as `to_dict` writes them, and the events of streamed runs."""

from __future__ import annotations

import copy
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import force_setattr, replace

from quickchecks import _wire
from quickchecks._mocks import LIVE, ToolMocks
from quickchecks._run import Gap, Message, Part, Run, RunError, Text, Usage
from quickchecks.adapters._agents import Dialogue
from quickchecks.adapters._agno_events import are_events, put_together
from quickchecks.adapters._agno_messages import MessageReader
from quickchecks.adapters._objects import field, is_a, library, plain
from quickchecks.adapters._options import refuse_unknown
from quickchecks.adapters._shapes import expected, join, text_id
from quickchecks.errors import TargetError

__all__ = ("AGENTS", "MOCKS_TOOLS", "converse", "load", "recognises")

AGENTS = ("agno.agent:Agent", "agno.team:Team", "agno.workflow:Workflow")
MOCKS_TOOLS = True

_RESULTS = ("agno.run.agent:RunOutput", "agno.run.team:TeamRunOutput", "agno.run.workflow:WorkflowRunOutput")
#: The tools by which a team gives work to its members. The framework lets no other tool of a team have their names.
_DELEGATIONS = frozenset(("delegate_task_to_member", "delegate_task_to_members"))
#: More turns than any conversation has: the framework itself looks back at three.
_ALL_TURNS = 10_000


def recognises(value: Any) -> bool:
    """Whether a value is what an agent, a team or a workflow of Agno gave, the stored form of that, or a list of events."""
    if type(value) is list or type(value) is tuple:
        return are_events(value)
    if type(value) is dict:
        return "run_id" in value and "status" in value and any(key in value for key in ("agent_id", "team_id", "workflow_id"))
    return is_a(value, *_RESULTS)


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
        found, gaps = put_together(value)
        run = _run(found, "")
        return replace(run, gaps=(*run.gaps, *gaps))
    return _run(value, "")


def _run(value: Any, path: str) -> Run:
    if not (isinstance(value, Mapping) or is_a(value, *_RESULTS)):
        raise expected("what an agent of Agno gave", value, path)
    if is_a(value, _RESULTS[2]) or (isinstance(value, Mapping) and "agent_id" not in value and "team_id" not in value):
        return _workflow(value, path)
    status = _status(value)
    reader = MessageReader()
    messages = field(value, "messages")
    if messages is not None:
        reader.read(messages, join(path, "messages"))
    reader.details(field(value, "tools"), join(path, "tools"))
    content = field(value, "content")
    _answer(content, status, reader.messages)
    gaps = list(reader.gaps)
    if not messages:
        gaps.append(Gap("input", "the messages of this run are not stored"))
        gaps.append(Gap("calls", "calls of tools that do not exist stand in messages, and this run has none"))
    gaps += _unfinished(status)
    children = _members(value, path, reader, gaps)
    error = None
    if status in ("error", "cancelled"):
        error = RunError(content if isinstance(content, str) and content else f"the run ended with the status {status}")
    metrics = field(value, "metrics")
    duration = field(metrics, "duration")
    name = field(value, "agent_name") or field(value, "team_name")
    return Run(
        tuple(reader.messages),
        id=text_id(field(value, "run_id")),
        history_length=reader.history,
        usage=_usage(metrics),
        duration=float(duration) if type(duration) in (int, float) else None,
        error=error,
        agent=name if isinstance(name, str) else text_id(field(value, "agent_id")),
        children=children,
        gaps=tuple(gaps),
        metadata={"status": status},
    )


def _status(value: Any) -> str:
    status = field(value, "status")
    status = field(status, "value", status)
    return status.lower() if isinstance(status, str) else ""


def _unfinished(status: str) -> list[Gap]:
    note = "this run had not ended"
    return [Gap("calls", note), Gap("text", note)] if status in ("pending", "running") else []


def _answer(content: Any, status: str, messages: list[Message]) -> None:
    """Put the structured answer in the place of the text it was read from; a text only where no message holds one."""
    if content is None or status in ("error", "cancelled", "paused"):
        return
    last = next((at for at in range(len(messages) - 1, -1, -1) if messages[at].role == "assistant"), None)
    if isinstance(content, str):
        said = any(type(part) is Text for message in messages if message.role == "assistant" for part in message.parts)
        if content and not said:
            messages.append(Message("assistant", (Text(content),)))
        return
    value = plain(content)
    answer = Text(_wire.shown(value), value)
    if last is None:
        messages.append(Message("assistant", (answer,)))
        return
    parts: list[Part] = [part for part in messages[last].parts if type(part) is not Text]
    messages[last] = replace(messages[last], parts=(*parts, answer))


def _members(value: Any, path: str, reader: MessageReader, gaps: list[Gap]) -> tuple[Run, ...]:
    """Put the runs of the members of a team on the calls that started them; the others are children."""
    listed = field(value, "member_responses")
    is_team = is_a(value, _RESULTS[1]) or (isinstance(value, Mapping) and "team_id" in value)
    if listed is not None and not isinstance(listed, (list, tuple)):
        raise expected("a list of the runs of members", listed, join(path, "member_responses"))
    runs = [_run(one, join(path, f"member_responses[{at}]")) for at, one in enumerate(listed or ())]
    places = [_places(one) for one in listed or ()]
    left = list(range(len(runs)))
    for call in reader.calls if is_team else ():
        if call.name not in _DELEGATIONS:
            continue
        force_setattr(call, "kind", "handoff")
        child = reader.children.get(id(call))
        arguments = call.arguments
        member = arguments.get("member_id") if isinstance(arguments, dict) else None
        found = next((at for at in left if child is not None and runs[at].id == child), None)
        if found is None and call.name == "delegate_task_to_member":
            found = next((at for at in left if member in places[at]), None)
        if found is not None:
            left.remove(found)
            force_setattr(call, "run", runs[found])
        elif call.state not in ("failed", "requested") and not runs:
            gaps.append(
                Gap("nested", "what the members of the team did is not stored", member if isinstance(member, str) else None)
            )
    for call in reader.calls:
        if reader.children.get(id(call)) is not None and call.run is None and call.name not in _DELEGATIONS:
            force_setattr(call, "kind", "agent")
            gaps.append(Gap("nested", f"the run that {call.name} started is not in this result", call.name))
    return tuple(runs[at] for at in left)


def _places(member: Any) -> tuple[Any, ...]:
    return tuple(name for key in ("agent_id", "team_id", "agent_name", "team_name") if (name := field(member, key)))


def _workflow(value: Any, path: str) -> Run:
    """Read what a workflow gave: what its agents did are nested runs, and its content is the answer."""
    listed = field(value, "step_executor_runs")
    if listed is not None and not isinstance(listed, (list, tuple)):
        raise expected("a list of the runs of steps", listed, join(path, "step_executor_runs"))
    children = [_run(one, join(path, f"step_executor_runs[{at}]")) for at, one in enumerate(listed or ())]
    gaps = [Gap("nested_possible", "only what agents and teams did in the steps of this workflow is visible")]
    if not children:
        gaps.append(Gap("calls", "what the steps of this workflow did is not stored"))
    status = _status(value)
    content = field(value, "content")
    gaps += _unfinished(status)
    messages: list[Message] = []
    asked = field(value, "input")
    if isinstance(asked, str):
        messages.append(Message("user", (Text(asked),)))
    _answer(content, status, messages)
    error = None
    if status in ("error", "cancelled"):
        error = RunError(content if isinstance(content, str) and content else f"the run ended with the status {status}")
    name = field(value, "workflow_name")
    return Run(
        tuple(messages),
        id=text_id(field(value, "run_id")),
        error=error,
        agent=name if isinstance(name, str) else None,
        children=tuple(children),
        gaps=tuple(gaps),
        metadata={"status": status},
    )


def _usage(metrics: Any) -> Usage | None:
    counts = [field(metrics, key) for key in ("input_tokens", "output_tokens", "cache_read_tokens", "reasoning_tokens")]
    sent, written, cached, thought = (count if type(count) is int else None for count in counts)
    cost = field(metrics, "cost")
    if not sent and not written:  # zero stands for unknown
        return None
    return Usage(sent, written, cached, thought, float(cost) if type(cost) in (int, float) else None)


# Agents


def converse(agent: Any, options: Mapping[str, Any], mocks: ToolMocks | None) -> Dialogue:
    """Begin a conversation with an agent, a team or a workflow; see `_agents`."""
    return _Dialogue(agent, options, mocks)


class _Dialogue(Dialogue):
    """A conversation: a session in the database of the agent; a copy of one without a database gets one in memory."""

    def __init__(self, agent: Any, options: Mapping[str, Any], mocks: ToolMocks | None) -> None:
        refuse_unknown(options, agent.arun, ("input", "stream", "stream_events"))
        self._workflow = is_a(agent, AGENTS[2])
        if mocks is not None:
            agent = _mocked(agent, mocks)
        if not self._workflow and field(agent, "db") is None:
            agent = copy.copy(agent)
            agent.db = library("agno.db.in_memory").InMemoryDb()
            if not agent.add_history_to_context:
                agent.add_history_to_context = True
                agent.num_history_runs = _ALL_TURNS
        self._agent = agent
        self._options = {"session_id": os.urandom(16).hex(), **options}

    async def ask(self, asked: Any, session: Any = None) -> Run:
        """Ask one turn."""
        run = load(await self._agent.arun(asked, stream=False, **self._options))
        return replace(run, format="agno", history_length=run.history_length + _told(run, asked))


def _told(run: Run, asked: Any) -> int:
    """How many of the messages that were asked belong to the history: all before the last."""
    if not isinstance(asked, Sequence) or isinstance(asked, str):
        return 0
    roles = [role for one in asked if isinstance(role := field(one, "role"), str)]
    new = [message.role for message in run.messages[run.history_length :]]
    begin = 1 if new[:1] == ["system"] and roles[:1] != ["system"] else 0
    return begin + len(roles) - 1 if "assistant" in roles and new[begin : begin + len(roles)] == roles else 0


def _mocked(agent: Any, mocks: ToolMocks) -> Any:
    """A copy of an agent or a team whose tools ask the mocks first."""
    if is_a(agent, AGENTS[2]) or not is_a(agent, *AGENTS):
        raise TargetError(
            f"tools of a {type(agent).__name__} cannot be mocked from outside; put quickchecks.mockable around them"
        )

    async def ask_mocks(function_name: str, function_call: Any, arguments: dict[str, Any]) -> Any:
        if function_name in _DELEGATIONS:
            return await function_call(**arguments)
        found = mocks.answer(function_name, arguments)
        return await function_call(**arguments) if found is LIVE else found

    mocks.placed(*(mocks.tools if callable(agent.tools) else _names_of(agent.tools)))
    clone = copy.copy(agent)
    clone.tool_hooks = [ask_mocks, *(agent.tool_hooks or ())]
    members = field(clone, "members")
    if members is not None:
        if callable(members):
            raise TargetError("the members of this team are made by a function, so their tools cannot be mocked from outside")
        clone.members = [_mocked(member, mocks) for member in members]
    return clone


def _names_of(tools: Any) -> Iterator[str]:
    """The names of tools; a toolkit has several."""
    for tool in tools or ():
        for held in ("functions", "async_functions"):
            if isinstance(functions := field(tool, held), Mapping):
                yield from functions
        name = field(tool, "name", None) or field(tool, "__name__")
        if isinstance(name, str):
            yield name
