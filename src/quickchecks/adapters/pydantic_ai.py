"""Agents of pydantic-ai: their results, streamed or not, and lists of their messages, as objects and as JSON.

Both majors are read. A tool states its outcome, but success is what the field holds when nobody said anything, so what a
successful tool returned is judged too.
"""

from __future__ import annotations

from asyncio import CancelledError
from collections.abc import Mapping
from functools import cache
from inspect import signature
from time import perf_counter
from typing import Any

from msgspec.structs import force_setattr, replace

from quickchecks._mocks import LIVE, ToolMocks
from quickchecks._run import UNSET, Gap, Run, RunError, Text, ToolCall, ToolError, Usage
from quickchecks.adapters._agents import BrokenOff, Dialogue
from quickchecks.adapters._answers import answer_parts
from quickchecks.adapters._chat import ChatReader
from quickchecks.adapters._objects import field, first_foreign, is_a, is_foreign, library, plain
from quickchecks.adapters._pydantic_messages import MessageReader, is_message, shown_as, usage_of
from quickchecks.adapters._record import unheard
from quickchecks.adapters._shapes import expected, text_id
from quickchecks.errors import TargetError, UnknownFormatError, nearest_names

__all__ = ("AGENTS", "MOCKS_TOOLS", "converse", "load", "recognises")

AGENTS = ("pydantic_ai.agent.abstract:AbstractAgent",)
MOCKS_TOOLS = True

_RESULTS = (
    "pydantic_ai.run:AgentRunResult",
    "pydantic_ai.run:AgentRun",
    "pydantic_ai.result:StreamedRunResult",
    "pydantic_ai.result:StreamedRunResultSync",
)
_ENDED = "pydantic_ai.run:AgentRunResultEvent"
_EVENTS = (
    _ENDED,
    *(
        f"pydantic_ai.messages:{name}Event"
        for name in ("PartStart", "PartDelta", "PartEnd", "FinalResult", "FunctionToolCall", "FunctionToolResult")
    ),
)
_NESTED = Gap("nested_possible", "calls of an agent that a tool asks are not visible")
#: What a record of a result holds that is shown elsewhere on the run.
_READ = frozenset(("messages", "output", "usage", "run_id", "new_message_index", "output_tool_name", "_state", "id"))


def recognises(value: Any) -> bool:
    """Whether a value is a result of this framework, a list of its messages or events, or an object with `messages`."""
    if type(value) is dict:
        value = _messages_of(value)
    if type(value) is list or type(value) is tuple:
        return bool(value) and (is_message(value[0]) or _are_events(value))
    return is_foreign(value) and is_a(value, *_RESULTS)


def load(value: Any) -> Run:
    """Read one run.

    Args:
        value: A result, a list of messages, or the JSON of either.

    Returns:
        The run; messages that were there before are its history where the result tells.

    Raises:
        RecordingError: The value is malformed.
    """
    if isinstance(value, (list, tuple)):
        return load(_result_of(value)) if _are_events(value) else _run(value)
    if isinstance(value, Mapping):
        return _record(value)
    if is_foreign(value) and is_a(value, *_RESULTS):
        return _result(value, value.all_messages())
    raise expected("a result of pydantic-ai, or a list of its messages", value, "")


def _are_events(values: Any) -> bool:
    return bool(values) and (is_a(values[0], *_EVENTS) or is_a(values[-1], _ENDED))


def _result_of(events: Any) -> Any:
    """The result in which the events of a run end; the events before it do not show what was asked, nor every answer."""
    if not is_a(events[-1], _ENDED):
        hint = "return all that run_stream_events gives, or the result of the run"
        raise expected("events that end with the result of the run", events, "", hint)
    return field(events[-1], "result")


def _messages_of(record: Mapping[str, Any]) -> Any:
    """The messages of a result as JSON; before 2.x had a shape for it, its private fields were written."""
    messages = record.get("messages")
    state = record.get("_state")
    return state.get("message_history") if messages is None and type(state) is dict else messages


def _record(record: Mapping[str, Any]) -> Run:
    state = record.get("_state")
    state = state if isinstance(state, Mapping) else {}
    names = [record.get(key) for key in ("output_tool_name", "_output_tool_name")]
    outputs = {name for name in names if isinstance(name, str)}
    before = record.get("new_message_index", record.get("_new_message_index"))
    messages = _messages_of(record)
    path = "messages" if record.get("messages") is not None else "_state.message_history"
    usage = record.get("usage") or state.get("usage")
    spent = None if usage is None else usage_of((), usage)
    before = before if type(before) is int else 0
    run = _run(messages, path, outputs=outputs, output=record.get("output"), before=before, usage=spent)
    metadata = {key: plain(item) for key, item in record.items() if key not in _READ and item is not None}
    return replace(run, id=text_id(record.get("run_id")) or run.id, metadata=metadata or None)


def _result(result: Any, messages: Any, *, before: int | None = None) -> Run:
    """The run of a result object; one that is streamed may not have ended yet."""
    if before is None:
        before = len(messages) - len(result.new_messages())
    final = result if is_a(result, _RESULTS[0]) else field(result, "result")
    ended = final is not None or field(result, "is_complete") is True
    outputs = {name for one in (final, result) if isinstance(name := field(one, "_output_tool_name"), str)}
    asked_with = field(field(final, "_state"), "last_model_request_parameters")
    outputs |= {name for tool in field(asked_with, "output_tools") or () if isinstance(name := field(tool, "name"), str)}
    usage = field(result, "usage")
    if usage is not None and not hasattr(usage, "input_tokens") and callable(usage):
        usage = usage()  # a method in early versions
    spent = None if usage is None else usage_of((), usage)
    run = _run(messages, outputs=outputs, output=field(final, "output"), before=before, usage=spent)
    if not ended:
        gaps = [Gap(kind, "the run was not followed to its end") for kind in ("calls", "text")]
        run = replace(run, gaps=(*run.gaps, *gaps))
    return run


def _run(
    messages: Any,
    path: str = "",
    *,
    outputs: set[str] | None = None,
    output: Any = None,
    before: int = 0,
    usage: Usage | None = None,
) -> Run:
    reader = MessageReader(path, outputs or ())
    reader.read(messages)
    read = reader.messages
    returned = reader.outcome()
    if output is None and returned is not None:
        output = returned.arguments
    if is_a(output, "pydantic_ai:DeferredToolRequests"):
        _wait(output, [part for message in read for part in message.parts if type(part) is ToolCall])
        output = None
    shown_as(read, _answer(output), returned)
    history = reader.starts[before] if 0 < before < len(reader.starts) else len(read) if before > 0 else 0
    new = messages[before:] if before > 0 else messages
    gaps = [*reader.gaps, *unheard(read[history:])]
    if any(type(part) is ToolCall and part.kind == "tool" for message in read[history:] for part in message.parts):
        gaps.append(_NESTED)
    id = text_id(field(new[-1], "run_id")) if new else None
    return Run(tuple(read), None, id, history, usage or usage_of(new), gaps=tuple(gaps))


def _answer(output: Any) -> Text | None:
    try:
        parts = answer_parts(output)
    except UnknownFormatError:  # any object may be the result of a run
        parts = answer_parts(plain(output))
    return parts[0] if parts and type(parts[0]) is Text else None


def _wait(deferred: Any, calls: list[ToolCall]) -> None:
    """Mark the calls that the run ended with, so that somebody else answers or approves them."""
    waiting = {text_id(field(call, "tool_call_id")) for key in ("calls", "approvals") for call in field(deferred, key) or ()}
    for call in calls:
        if call.state == "requested" and call.id in waiting:
            force_setattr(call, "state", "awaiting")


# Agents


def converse(agent: Any, options: Mapping[str, Any], mocks: ToolMocks | None) -> Dialogue:
    """Begin a conversation with an agent.

    Args:
        agent: The agent.
        options: What its `run` takes beside the prompt.
        mocks: What answers in place of tools.

    Returns:
        The conversation.

    Raises:
        TargetError: `run` does not take an option, or the version of the framework has no way to put mocks in.
    """
    if options or mocks is not None:
        known = [name for name in signature(agent.run).parameters if name != "user_prompt"]
        for name in options:
            if name not in known:
                raise TargetError(f"an agent of pydantic-ai takes no {name!r}: {nearest_names(name, known)}")
        if mocks is not None and "capabilities" not in known:
            raise TargetError("tool_mocks needs pydantic-ai 1.107 or later: run of this agent takes no capabilities")
    return _Conversation(agent, dict(options), mocks)


class _Conversation(Dialogue):
    def __init__(self, agent: Any, options: dict[str, Any], mocks: ToolMocks | None) -> None:
        self._agent = agent
        self._options = options
        self._history: list[Any] = list(options.pop("message_history", None) or ())
        self._mocks = mocks

    async def ask(self, asked: Any, session: Any = None) -> Run:
        prompt, earlier = _prompt(asked)
        history = [*self._history, *earlier]
        options = self._options
        watch = None
        if self._mocks is not None:
            watch = _watch()(self._mocks)
            options = {**options, "capabilities": [*(options.get("capabilities") or ()), watch]}
        begun = perf_counter()
        captured = _Captured()
        variable = library("pydantic_ai._agent_graph")._messages_ctx_var
        token = variable.set(captured)
        try:
            result = await self._agent.run(prompt, message_history=history or None, **options)
        except (Exception, CancelledError) as error:
            messages = captured.runs[0] if captured.runs else []
            if len(messages) <= len(history):
                raise
            run = captured.joined(_run(messages[len(history) :]))
            raise BrokenOff(self._named(_blamed(run, error), begun)) from error
        finally:
            variable.reset(token)
        self._history = result.all_messages()
        return self._named(captured.joined(_result(result, result.new_messages(), before=0)), begun)

    def _named(self, run: Run, begun: float) -> Run:
        name = field(self._agent, "name")
        force_setattr(run, "duration", perf_counter() - begun)
        force_setattr(run, "format", "pydantic_ai")
        force_setattr(run, "agent", name if isinstance(name, str) else None)
        return run


class _Captured:
    """What the framework fills while agents run, in place of what `capture_run_messages` gives it, which holds one run alone.

    An agent that a tool asks takes a list of its own. Which tool that was is not told.
    """

    def __init__(self) -> None:
        self.runs: list[list[Any]] = []

    @property
    def used(self) -> bool:
        """Whether no run may fill the list any more: each gets a new one."""
        return False

    @used.setter
    def used(self, value: bool) -> None:
        pass

    @property
    def messages(self) -> list[Any]:
        """A list for the run that begins."""
        self.runs.append([])
        return self.runs[-1]

    def joined(self, run: Run) -> Run:
        """The run with those of the agents that its tools asked."""
        children: list[Run] = []
        for messages in self.runs[1:]:
            if messages:
                last = field(messages[-1], "run_id")
                before = next(at for at, message in enumerate(messages) if field(message, "run_id") == last)
                children.append(replace(_run(messages, before=before), format="pydantic_ai"))
        return replace(run, children=tuple(children)) if children else run


def _blamed(run: Run, error: BaseException) -> Run:
    """A run that broke off. The tool that raised has no answer among the messages, nor has one that asked its agent."""
    waiting = [call for call in run.all_tool_calls if call.state == "requested"]
    for call in waiting if len(waiting) == 1 else _on_the_way(waiting, error):
        force_setattr(call, "state", "failed")
        force_setattr(call, "error", ToolError(str(error), type(error).__name__, "exception"))
    return replace(run, error=RunError(str(error), type(error).__name__))


def _on_the_way(calls: list[ToolCall], error: BaseException) -> list[ToolCall]:
    """Which of several calls raised: the frames that the exception passed hold them."""
    by_id = {call.id: call for call in calls}
    found: list[ToolCall] = []
    trace = error.__traceback__
    while trace is not None:
        for value in trace.tb_frame.f_locals.values():
            if is_a(value, "pydantic_ai.messages:ToolCallPart") and field(value, "tool_call_id") in by_id:
                found.append(by_id[field(value, "tool_call_id")])
        trace = trace.tb_next
    return found


def _prompt(asked: Any) -> tuple[Any, list[Any]]:
    """The prompt, and what was said before it."""
    if isinstance(asked, str) or asked is None or is_foreign(asked):
        return asked, []
    if isinstance(asked, list) and asked:
        if first_foreign(asked) is not None and is_message(asked[0]):
            return None, asked
        if all(isinstance(one, dict) and isinstance(one.get("role"), str) for one in asked):
            return _from_chat(asked)
        return asked, []
    raise TargetError(f"an agent of pydantic-ai takes text, a list of its contents, or of messages, not {type(asked).__name__}")


def _from_chat(asked: list[dict[str, Any]]) -> tuple[Any, list[Any]]:
    """Earlier messages in OpenAI's form as those of the framework; the last one is the prompt when it is the user's."""
    made = library("pydantic_ai.messages")
    found: list[Any] = []
    reader = ChatReader()
    reader.read(asked)
    messages = reader.messages
    prompt = messages[-1].text if messages and messages[-1].role == "user" else None
    for message in messages if prompt is None else messages[:-1]:
        if message.role == "assistant":
            parts: list[Any] = []
            results: list[Any] = []
            for at, part in enumerate(message.parts):
                if type(part) is Text:
                    parts.append(made.TextPart(part.text))
                elif type(part) is ToolCall:
                    id = part.id or f"call_{len(found)}_{at}"
                    parts.append(made.ToolCallPart(part.name, part.raw_arguments, id))
                    if part.result is not UNSET:
                        results.append(made.ToolReturnPart(part.name, part.result, id))
            found.append(made.ModelResponse(parts))
            if results:
                found.append(made.ModelRequest(results))
        elif message.role in ("system", "user"):
            kind = made.SystemPromptPart if message.role == "system" else made.UserPromptPart
            if found and found[-1].kind == "request":
                found[-1] = made.ModelRequest([*found[-1].parts, kind(message.text)])
            else:
                found.append(made.ModelRequest([kind(message.text)]))
    return prompt, found


@cache
def _watch() -> Any:
    """A capability that asks the mocks before a tool runs; made late, because its class is the framework's."""
    base: Any = library("pydantic_ai.capabilities").AbstractCapability

    class Mocked(base):  # type: ignore[misc]
        def __init__(self, mocks: ToolMocks) -> None:
            self._mocks = mocks

        async def prepare_tools(self, ctx: Any, tool_defs: list[Any]) -> list[Any]:
            self._mocks.placed(*(tool.name for tool in tool_defs))
            return tool_defs

        async def wrap_tool_execute(self, ctx: Any, *, call: Any, tool_def: Any, args: Any, handler: Any) -> Any:
            found = self._mocks.answer(call.tool_name, args)
            return await handler(args) if found is LIVE else found

    return Mocked
