"""Conversations with agents of CrewAI, and crews that are given inputs.

Each turn runs on a copy of the agents whose tools are listened to; the tools themselves and the models are those of the user.
"""

from __future__ import annotations

import re
from ast import literal_eval
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock
from time import perf_counter
from typing import Any, ClassVar

from msgspec.structs import replace

from quickchecks import _wire
from quickchecks._mocks import LIVE, ToolMocks
from quickchecks._run import Message, Run, RunError, Text, ToolCall, Usage
from quickchecks.adapters._agents import BrokenOff, Dialogue
from quickchecks.adapters._crewai_messages import Seen, TaskReader
from quickchecks.adapters._crewai_outputs import output_run, usage_of
from quickchecks.adapters._objects import field, is_a, library, plain
from quickchecks.adapters._record import read_usage
from quickchecks.errors import RecordingError, TargetError, nearest_names

__all__ = ("CrewDialogue",)

_AGENT_OPTIONS = ("input_files", "response_format")
_CREW_OPTIONS = ("input_files", "input_key", "inputs")
_PLACEHOLDER = re.compile(r"\{([A-Za-z_][A-Za-z0-9_-]*)\}")
#: What the framework puts before the question.
_MARK = "\nCurrent Task: "

#: The turn that runs, also in the threads in which events are handled.
_turn: ContextVar[_Turn | None] = ContextVar("quickchecks_crewai_turn", default=None)


class CrewDialogue(Dialogue):
    """A conversation with an agent; or one run of a crew, which keeps no conversation.

    Args:
        agent: The agent or the crew.
        options: What its `kickoff` takes beside the messages; for a crew also `inputs`, and as `input_key` the input that a
            text is given as.
        mocks: What answers in place of tools.
    """

    blocks: ClassVar[bool] = True

    def __init__(self, agent: Any, options: Mapping[str, Any], mocks: ToolMocks | None) -> None:
        self._crew = is_a(agent, "crewai.crew:Crew")
        known = _CREW_OPTIONS if self._crew else _AGENT_OPTIONS
        for name in options:
            if name not in known:
                whose = "a crew" if self._crew else "an agent"
                raise TargetError(
                    f"{whose} of CrewAI takes no {name!r}, which target_options gives: {nearest_names(name, known)}"
                )
        self._agent = agent
        self._options = dict(options)
        self._mocks = mocks
        self._said: list[dict[str, Any]] = []
        self._turns = 0

    def ask(self, asked: Any, session: Any = None) -> Run:
        """Ask one turn."""
        self._turns += 1
        turn = _Turn(self._mocks)
        copied = turn.crew(self._agent) if self._crew else turn.agent(self._agent)
        start = perf_counter()
        with _listening(turn):
            try:
                output = self._run_crew(copied, asked) if self._crew else self._run_agent(copied, asked)
            except TargetError:
                raise
            except Exception as error:
                _flush()
                run = turn.broken(error)
                raise BrokenOff(replace(run, duration=perf_counter() - start)) from error
        _flush()
        seen = list(turn.seen)
        run = output_run(output, seen)
        # What coworkers and the steps of plans did stands in no messages.
        others = [Run((Message("assistant", calls),), agent=role) for role, calls in _by_owner(seen).items()]
        run = replace(run, children=(*run.children, *others))
        if not self._crew:
            run = self._remember(run, output, asked)
        usage = turn.usage() or run.usage
        return replace(run, duration=perf_counter() - start, usage=usage, gaps=tuple(g for g in run.gaps if g.kind != "input"))

    def _run_agent(self, agent: Any, asked: Any) -> Any:
        messages = list(asked) if isinstance(asked, list) else [{"role": "user", "content": asked}]
        return agent.kickoff([*self._said, *messages], **self._options)

    def _remember(self, run: Run, output: Any, asked: Any) -> Run:
        messages = [dict(plain(message)) for message in field(output, "messages") or () if field(message, "role") != "system"]
        for message in messages:
            if message["role"] == "user" and isinstance(message.get("content"), str) and message["content"].startswith(_MARK):
                message["content"] = message["content"].removeprefix(_MARK)
        self._said = messages
        question = run.messages[run.history_length] if run.history_length < len(run.messages) else None
        if question is None or question.role != "user":
            return run
        last = asked[-1] if isinstance(asked, list) and asked else asked
        words = field(last, "content", last) if isinstance(last, Mapping) else last
        shown = Message("user", (Text(words if isinstance(words, str) else question.text.removeprefix(_MARK)),))
        before, after = run.messages[: run.history_length], run.messages[run.history_length + 1 :]
        return replace(run, messages=(*before, shown, *after))

    def _run_crew(self, crew: Any, asked: Any) -> Any:
        if self._turns > 1:
            raise TargetError(
                "a crew keeps no conversation, so an item for it has one turn; an agent of CrewAI can be asked several"
            )
        options = {key: value for key, value in self._options.items() if key not in ("inputs", "input_key")}
        given = dict(self._options.get("inputs") or {})
        if isinstance(asked, Mapping):
            given.update(asked)
        else:
            given[self._input_key(crew, given)] = asked
        return crew.kickoff(inputs=given, **options)

    def _input_key(self, crew: Any, given: Mapping[str, Any]) -> str:
        key = self._options.get("input_key")
        if isinstance(key, str):
            return key
        texts = [field(task, name) for task in crew.tasks for name in ("description", "expected_output")]
        texts += [field(agent, name) for agent in crew.agents for name in ("role", "goal", "backstory")]
        names = dict.fromkeys(name for text in texts if isinstance(text, str) for name in _PLACEHOLDER.findall(text))
        open_ones = [name for name in names if name not in given]
        if len(open_ones) == 1:
            return str(open_ones[0])
        here = f"its tasks and agents have the placeholders {', '.join(open_ones)}" if open_ones else "it has no placeholder"
        raise TargetError(
            f"a crew takes inputs by name, and {here}: give a mapping as the input, or target_options={{'input_key': NAME}}"
        )


@contextmanager
def _listening(turn: _Turn) -> Iterator[None]:
    events = library("crewai.events")
    bus = events.crewai_event_bus
    handlers = {events.LLMCallStartedEvent: _call_started, events.LLMCallCompletedEvent: _call_completed}
    for event, handler in handlers.items():
        bus.on(event)(handler)  # a set: to say it again changes nothing, and other turns need it still
    token = _turn.set(turn)
    try:
        yield
    finally:
        _turn.reset(token)


def _flush() -> None:
    library("crewai.events").crewai_event_bus.flush(10)


def _call_started(source: Any, event: Any) -> None:
    turn = _turn.get()
    if turn is not None and isinstance(event.messages, list):
        turn.asked = list(event.messages)


def _call_completed(source: Any, event: Any) -> None:
    turn = _turn.get()
    if turn is not None:
        with turn.lock:
            turn.usages.append(usage_of(event.usage) or read_usage(event.usage))


class _Turn:
    """What happened in one turn."""

    def __init__(self, mocks: ToolMocks | None) -> None:
        self.seen: list[Seen] = []
        self.usages: list[Usage | None] = []
        self.asked: list[Any] = []
        self.lock = Lock()
        self._mocks = mocks
        self._agents: dict[int, Any] = {}

    def usage(self) -> Usage | None:
        """What the calls of models cost; None where one of them does not tell."""
        known = [usage for usage in self.usages if usage is not None]
        if not known or len(known) < len(self.usages):
            return None
        names = ("input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens")
        sums = [[count for usage in known if (count := getattr(usage, name)) is not None] for name in names]
        totals = [sum(counts) if counts else None for counts in sums]
        return Usage(totals[0], totals[1], totals[2], totals[3], requests=len(known))

    def broken(self, error: Exception) -> Run:
        """What is known when the framework raised: what the model was shown last, and what tools did since."""
        left = list(self.seen)
        reader = TaskReader("messages", left)
        try:
            reader.read([_unquoted(message) for message in self.asked], ())
        except RecordingError:  # whatever a model is shown that is no chat
            reader = TaskReader("messages", left)
        matched = [at for at, one in enumerate(self.seen) if not any(one is other for other in left)]
        first = matched[0] if matched else 0
        before = tuple(one.call() for one in left if _place(self.seen, one) < first)
        after = tuple(one.call() for one in left if _place(self.seen, one) >= first)
        messages = [*reader.messages]
        if before:
            messages.insert(reader.history, Message("assistant", before))
        if after:
            messages.append(Message("assistant", after))
        raised = RunError(_wire.as_text(error), type(error).__name__)
        return Run(tuple(messages), history_length=reader.history, error=raised, gaps=tuple(reader.gaps), usage=self.usage())

    def crew(self, crew: Any) -> Any:
        """A copy of a crew, with copies of its agents and tasks."""
        agents = [self.agent(agent) for agent in crew.agents]
        tasks: dict[int, Any] = {}
        for task in crew.tasks:
            before = task.context
            context = [tasks.get(id(one), one) for one in before] if isinstance(before, list) else before
            shown = {
                "agent": None if task.agent is None else self.agent(task.agent),
                "context": context,
                "output": None,
                "tools": [self._tool(tool, field(task.agent, "role")) for tool in task.tools or ()],
            }
            tasks[id(task)] = task.model_copy(update=shown)
        manager = None if crew.manager_agent is None else self.agent(crew.manager_agent)
        changed = {"agents": agents, "tasks": list(tasks.values()), "manager_agent": manager, "stream": False}
        copied = crew.model_copy(update=changed if self._mocks is None else {**changed, "cache": False})
        copied._cache_handler = type(crew._cache_handler)()
        return copied

    def agent(self, agent: Any) -> Any:
        """A copy of an agent; the same for the same agent."""
        known = self._agents.get(id(agent))
        if known is None:
            tools = None if agent.tools is None else [self._tool(tool, agent.role) for tool in agent.tools]
            changed: dict[str, Any] = {"tools": tools, "agent_executor": None, "tools_handler": type(agent.tools_handler)()}
            # What a tool once returned must neither come from another item nor stand in for a mock.
            if agent.cache_handler is not None and self._mocks is None:
                changed["cache_handler"] = changed["tools_handler"].cache = type(agent.cache_handler)()
            elif self._mocks is not None:
                changed.update(cache=False, cache_handler=None)
            known = self._agents[id(agent)] = agent.model_copy(update=changed)
        return known

    def _tool(self, tool: Any, owner: str | None) -> Any:
        """A tool that is listened to, and that asks the mocks before it runs."""
        name = library("crewai.utilities.string_utils").sanitize_tool_name(tool.name)
        mocked = tool.name if self._mocks is not None and tool.name in self._mocks.tools else name
        if self._mocks is not None:
            self._mocks.placed(mocked)

        def begun(arguments: dict[str, Any]) -> Seen:
            seen = Seen(name, arguments, owner)
            with self.lock:
                self.seen.append(seen)
            return seen

        def listened(method: str) -> Callable[..., Any]:
            def called(_: Any, *values: Any, **named: Any) -> Any:
                arguments = _by_name(tool, values, named)
                seen, start = begun(arguments), perf_counter()
                try:
                    found = LIVE if self._mocks is None else self._mocks.answer(mocked, arguments)
                    seen.result = getattr(tool, method)(*values, **named) if found is LIVE else found
                    return seen.result
                except Exception as error:
                    seen.error = error
                    raise
                finally:
                    seen.seconds = perf_counter() - start

            return called

        def listened_async(method: str) -> Callable[..., Any]:
            async def called(_: Any, *values: Any, **named: Any) -> Any:
                arguments = _by_name(tool, values, named)
                seen, start = begun(arguments), perf_counter()
                try:
                    found = LIVE if self._mocks is None else self._mocks.answer(mocked, arguments)
                    seen.result = await getattr(tool, method)(*values, **named) if found is LIVE else found
                    return seen.result
                except Exception as error:
                    seen.error = error
                    raise
                finally:
                    seen.seconds = perf_counter() - start

            return called

        copied = tool.model_copy()
        kind = type(tool)
        ways: dict[str, Any] = {name: listened(name) for name in ("run", "_run")}
        ways.update({name: listened_async(name) for name in ("arun", "_arun")})
        copied.__class__ = type(kind.__name__, (kind,), {**ways, "__module__": kind.__module__})
        return copied


def _by_owner(seen: list[Seen]) -> dict[str | None, tuple[ToolCall, ...]]:
    owners = dict.fromkeys(one.owner for one in seen)
    return {owner: tuple(one.call() for one in seen if one.owner == owner) for owner in owners}


def _place(seen: list[Seen], one: Seen) -> int:
    return next(at for at, other in enumerate(seen) if other is one)


def _unquoted(message: Any) -> Any:
    """Events show the values inside of calls as Python writes them."""
    calls = field(message, "tool_calls")
    if not isinstance(calls, list):
        return message
    functions = [{key: _unquoted_text(value) for key, value in dict(field(call, "function") or {}).items()} for call in calls]
    return {**message, "tool_calls": [{**call, "function": function} for call, function in zip(calls, functions, strict=True)]}


def _unquoted_text(value: Any) -> Any:
    if isinstance(value, str) and value[:1] in ("'", '"'):
        try:
            return literal_eval(value)
        except (ValueError, SyntaxError):
            pass
    return value


def _by_name(tool: Any, values: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any]:
    if not values:
        return named
    names = list(field(field(tool, "args_schema"), "model_fields") or ())
    keys = [names[at] if at < len(names) else str(at) for at in range(len(values))]
    return {**dict(zip(keys, values, strict=True)), **named}
