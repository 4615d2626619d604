"""Conversations with agents of Strands.

An agent holds its own conversation, so what it held before is put back in the end. While it is asked, a copy of its hooks
that listens to all that happens stands in place of its own; agents that are its tools are listened to as well.
"""

from __future__ import annotations

from asyncio import CancelledError
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from inspect import Parameter, signature
from itertools import chain
from time import perf_counter
from typing import Any

from msgspec.structs import force_setattr, replace

from quickchecks import _wire
from quickchecks._mocks import LIVE, ToolMocks
from quickchecks._run import Gap, Message, Run, RunError, Text, ToolCall, ToolError
from quickchecks.adapters._agents import BrokenOff, Dialogue
from quickchecks.adapters._converse import ConverseReader, usage_of
from quickchecks.adapters._objects import field, is_a, library, plain
from quickchecks.adapters._shapes import as_mapping
from quickchecks.adapters._strands_results import finished, team_run
from quickchecks.errors import TargetError, ToolMockError, nearest_names

__all__ = ("StrandsDialogue",)

#: The invocation and the id of the call that runs, inside the task in which it does.
_calling: ContextVar[tuple[_Spoken, str] | None] = ContextVar("quickchecks_strands_call", default=None)


class StrandsDialogue(Dialogue):
    """A conversation with an agent, a graph or a swarm.

    Args:
        agent: The agent.
        options: What its `invoke_async` takes beside the prompt.
        mocks: What answers in place of tools.
    """

    def __init__(self, agent: Any, options: Mapping[str, Any], mocks: ToolMocks | None) -> None:
        _check_options(agent, options)
        self._agent = agent
        self._options = options
        self._team = is_a(agent, "strands.multiagent:MultiAgentBase")
        is_swarm = is_a(agent, "strands.multiagent:Swarm")
        self._listeners: list[_Listener] = []
        try:
            for one, name in _agents_of(agent):
                self._listeners.append(_Listener(one, name, mocks, is_swarm))
        except Exception:  # one of them holds what cannot be put aside, such as tasks in the background
            self._put_back()
            raise

    async def ask(self, asked: Any, session: Any = None) -> Run:
        """Ask one turn."""
        prompt, earlier = _prompt(asked)
        for listener in self._listeners:
            listener.begin()
        _calling.set(None)
        start = perf_counter()
        try:
            result = await self._agent.invoke_async(prompt, **self._options)
        except (Exception, CancelledError) as error:
            run = replace(self._run(None, earlier), error=RunError(_wire.as_text(error), type(error).__name__))
            if is_a(error, "strands.types.exceptions:MaxTokensReachedException"):
                run = _with_partial_call(run)
            raise BrokenOff(replace(run, duration=perf_counter() - start)) from error
        return replace(self._run(result, earlier), duration=perf_counter() - start)

    def _run(self, result: Any, earlier: int) -> Run:
        if self._team:
            spoken = [spoken for listener in self._listeners for spoken in listener.spoken]
            members = [one.run() for one in sorted(spoken, key=lambda one: one.start)]
            if result is None:
                return Run(children=tuple(members))
            run = team_run(result, members)
            return replace(run, gaps=tuple(gap for gap in run.gaps if gap.kind != "input"))
        spoken = self._listeners[0].spoken
        if not spoken:  # an agent that tells of nothing, such as one behind A2A
            found = Run() if result is None else finished(Run(tuple(_last_message(result))), result)
            return replace(found, gaps=(*found.gaps, Gap("calls", "this kind of agent does not show what it does")))
        for again in spoken[1:]:  # a hook had the agent go on
            spoken[0].add(again)
        run = spoken[0].run(earlier)
        return run if result is None else finished(run, result)

    async def close(self) -> None:
        """Put back what the agents held before."""
        self._put_back()

    def _put_back(self) -> None:
        for listener in self._listeners:
            listener.close()


def _last_message(result: Any) -> list[Message]:
    reader = ConverseReader("message")
    if (message := as_mapping(field(result, "message"))) is not None:
        reader.read([message])
    return reader.messages


def _check_options(agent: Any, options: Mapping[str, Any]) -> None:
    known = [
        name
        for name, one in signature(agent.invoke_async).parameters.items()
        if name not in ("prompt", "task") and one.kind in (Parameter.KEYWORD_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    ]
    for name in options:
        if name not in known:
            raise TargetError(f"an agent of Strands takes no {name!r}, which target_options gives: {nearest_names(name, known)}")


def _agents_of(agent: Any) -> list[tuple[Any, str | None]]:
    """The agent, the nodes of a graph or a swarm, and the agents among their tools: each once, with its name there."""
    found: list[tuple[Any, str | None]] = []
    seen: set[int] = set()
    waiting: list[tuple[Any, str | None]] = [(agent, None)]
    while waiting:
        one, name = waiting.pop(0)
        if id(one) in seen:
            continue
        seen.add(id(one))
        nodes = field(one, "nodes")
        if isinstance(nodes, Mapping):
            waiting += [(field(node, "executor"), str(key)) for key, node in nodes.items()]
        elif hasattr(one, "hooks") and hasattr(one, "messages"):
            found.append((one, name or field(one, "name")))
            waiting += [(tool.agent, key) for key, tool in _agent_tools(one)]
        elif one is agent:
            found.append((one, None))
    return found


def _agent_tools(agent: Any) -> list[tuple[str, Any]]:
    registry = field(field(agent, "tool_registry"), "registry") or {}
    return [(name, tool) for name, tool in registry.items() if field(tool, "tool_type") == "agent" and field(tool, "agent")]


class _Spoken:
    """One invocation of an agent, as its hooks told of it."""

    def __init__(self, listener: _Listener) -> None:
        self._listener = listener
        self.start = perf_counter()
        self.messages: list[Any] = []
        self.outputs: set[str] = set()
        self.failures: dict[str, ToolError] = {}
        self.durations: dict[str, float] = {}
        self.inner: dict[str, list[_Spoken]] = {}

    def add(self, other: _Spoken) -> None:
        """Take what another invocation told as said after this."""
        self.messages += other.messages
        self.outputs |= other.outputs
        self.failures.update(other.failures)
        self.durations.update(other.durations)
        self.inner.update(other.inner)

    def run(self, earlier: int = 0) -> Run:
        """The run of this invocation.

        Args:
            earlier: How many of the messages were given as said before.
        """
        agents = {name for name, _ in _agent_tools(self._listener.agent)}
        reader = ConverseReader(agents=agents, outputs=self.outputs)
        reader.read(self.messages[:earlier])
        history = len(reader.messages)
        known = len(reader.calls)
        reader.read(self.messages[earlier:])
        gaps = list(reader.gaps)
        for call in reader.calls[known:]:
            id = call.id or ""
            if (error := self.failures.get(id)) is not None and call.state != "completed":
                force_setattr(call, "state", "failed")
                force_setattr(call, "error", error)
            force_setattr(call, "duration", self.durations.get(id))
            inner = self.inner.get(id)
            if inner:
                force_setattr(call, "run", inner.pop(0).run())
            elif call.kind == "agent" and call.state == "completed" and call.name not in self._listener.mocked:
                gaps.append(Gap("nested", f"what {call.name} did is not visible", call.name))
        usage = usage_of(self.messages)
        name = self._listener.name
        return Run(tuple(reader.messages), history_length=history, usage=usage, agent=name, gaps=tuple(gaps))


class _Listener:
    """Listens to one agent, and puts back in the end what it held."""

    def __init__(self, agent: Any, name: str | None, mocks: ToolMocks | None, is_swarm: bool) -> None:
        self.agent = agent
        self.name = name
        self.mocked = frozenset() if mocks is None else mocks.tools
        self.spoken: list[_Spoken] = []
        self._latest: _Spoken | None = None
        self._mocks = mocks
        self._is_swarm = is_swarm
        self._restore: Callable[[], None] | None = None
        hooks = field(agent, "hooks")
        if hooks is None:
            return
        if mocks is not None:
            mocks.placed(*agent.tool_names)
        events = library("strands.hooks")
        snapshot = agent.take_snapshot(preset="session")
        metrics = agent.event_loop_metrics
        agent.event_loop_metrics = type(metrics)()
        agent.hooks = _listening(
            hooks,
            {
                events.BeforeInvocationEvent: self._begun,
                events.MessageAddedEvent: self._added,
                events.BeforeToolCallEvent: self._before_tool,
                events.AfterToolCallEvent: self._after_tool,
            },
        )

        def restore() -> None:
            agent.load_snapshot(snapshot)
            agent.event_loop_metrics = metrics
            agent.hooks = hooks

        self._restore = restore

    def begin(self) -> None:
        """Forget the turn before."""
        self.spoken = []
        self._latest = None

    def close(self) -> None:
        """Put everything back."""
        if self._restore is not None:
            self._restore()

    def _begun(self, event: Any) -> None:
        self._start()

    def _start(self) -> _Spoken:
        self._latest = made = _Spoken(self)
        caller = _calling.get()
        if caller is None:
            self.spoken.append(made)
        else:
            caller[0].inner.setdefault(caller[1], []).append(made)
        return made

    def _current(self) -> _Spoken:
        return self._latest or self._start()

    def _added(self, event: Any) -> None:
        self._current().messages.append(event.message)

    def _before_tool(self, event: Any) -> None:
        use = event.tool_use
        name, current = use["name"], self._current()
        _calling.set((current, use.get("toolUseId")))
        if field(event.selected_tool, "tool_type") == "structured_output":
            current.outputs.add(name)
            return
        if self._mocks is None or event.cancel_tool or (self._is_swarm and name == "handoff_to_agent"):
            return
        try:
            found = self._mocks.answer(name, use.get("input"))
        except ToolMockError as error:
            event.selected_tool = _answering(name, event.selected_tool, None, error)
        else:
            if found is not LIVE:
                event.selected_tool = _answering(name, event.selected_tool, found, None)

    def _after_tool(self, event: Any) -> None:
        _calling.set(None)
        id = event.tool_use.get("toolUseId")
        current = self._current()
        error = field(event, "exception")
        if error is not None:
            current.failures[id] = ToolError(_wire.as_text(error), type(error).__name__, "exception")
        seconds = field(event, "duration")
        if type(seconds) is float:
            current.durations[id] = seconds


def _listening(hooks: Any, handlers: Mapping[type, Callable[[Any], None]]) -> Any:
    """Hooks that ask ours before those of the agent, and are else the same."""
    copied = object.__new__(type(hooks))
    vars(copied).update(vars(hooks))

    def callbacks(event: Any) -> Iterator[Any]:
        ours = handlers.get(type(event))
        theirs = hooks.get_callbacks_for(event)
        # A tool that another hook has put in place must not run where a mock answers, so the mocks are asked last.
        yield from chain(theirs, [] if ours is None else [ours])

    copied.get_callbacks_for = callbacks
    return copied


def _answering(name: str, tool: Any, answer: Any, error: Exception | None) -> Any:
    """A tool that answers as a mock does."""
    value = plain(answer)
    content = {"text": value} if isinstance(value, str) else {"json": value}

    def answered(tool_use: Any, **_: Any) -> Any:
        if error is not None:
            raise error
        return {"toolUseId": tool_use["toolUseId"], "status": "success", "content": [content]}

    schema = {"name": name, "description": name, "inputSchema": {"json": {"type": "object", "properties": {}}}}
    return library("strands.tools.tools").PythonAgentTool(name, field(tool, "tool_spec") or schema, answered)


_CUT = "'s tool use was incomplete due to maximum token limits being reached."


def _with_partial_call(run: Run) -> Run:
    """Where the model was cut off, Strands writes a sentence in place of each call that was not complete."""
    last = run.messages[-1] if run.messages else None
    if last is None or last.role != "assistant":
        return run
    parts = [
        ToolCall(part.text[: -len(_CUT)].removeprefix("The selected tool "), state="partial")
        if type(part) is Text and part.text.startswith("The selected tool ") and part.text.endswith(_CUT)
        else part
        for part in last.parts
    ]
    return replace(run, messages=(*run.messages[:-1], replace(last, parts=tuple(parts))))


def _prompt(asked: Any) -> tuple[Any, int]:
    """The input as Strands takes it, and how many of its messages were said before."""
    if not isinstance(asked, list) or not asked or not all(isinstance(one, Mapping) and "role" in one for one in asked):
        return asked, 0
    messages: list[dict[str, Any]] = []
    for message in asked:
        messages += _as_converse(message)
    earlier = max((at for at, message in enumerate(messages) if message["role"] == "user"), default=0)
    return messages, earlier


def _as_converse(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    role, content = message["role"], message.get("content")
    if role == "tool":
        answer = {"toolUseId": message.get("tool_call_id"), "status": "success", "content": [{"text": _wire.as_text(content)}]}
        return [{"role": "user", "content": [{"toolResult": answer}]}]
    if role not in ("user", "assistant"):
        raise TargetError(
            f"an agent of Strands takes messages of user and assistant, not of {role!r}; it has its own system prompt"
        )
    blocks: list[Any] = []
    if isinstance(content, str):
        blocks += [{"text": content}] if content else []
    else:
        for part in content or ():
            blocks.append({"text": part["text"]} if isinstance(part, Mapping) and part.get("type") == "text" else part)
    for call in message.get("tool_calls") or ():
        body = call["function"]
        arguments = body.get("arguments")
        given = _wire.loads(arguments or "{}") if isinstance(arguments, str) else arguments
        blocks.append({"toolUse": {"toolUseId": call.get("id"), "name": body["name"], "input": given}})
    return [{"role": role, "content": blocks}]
