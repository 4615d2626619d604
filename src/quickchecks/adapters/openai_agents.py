"""OpenAI Agents SDK: agents, the results of their runs, also streamed ones, their events, and what is known of a run that raised.

A result does not say which calls failed, only what the model was told, so that texts are judged; an agent that is asked here is
watched, and what its tools raised is known. The runs of agents that are used as tools are not in a result, and its gaps say so.
"""

from __future__ import annotations

from asyncio import CancelledError
from collections import Counter
from collections.abc import Mapping
from inspect import signature
from time import perf_counter
from typing import Any

from msgspec import UNSET
from msgspec.structs import force_setattr, replace

from quickchecks import _wire
from quickchecks._mocks import ToolMocks
from quickchecks._run import Gap, Message, Run, RunError, Text, ToolCall, ToolError, Usage
from quickchecks.adapters._agents import BrokenOff, Dialogue
from quickchecks.adapters._answers import answer_parts
from quickchecks.adapters._chat import result_value
from quickchecks.adapters._objects import field, is_a, library, plain
from quickchecks.adapters._openai_agents_events import EVENTS, heard
from quickchecks.adapters._openai_agents_watch import Watch, listening
from quickchecks.adapters._pairing import complete
from quickchecks.adapters._responses import ItemReader, response_usage
from quickchecks.adapters._shapes import as_mapping, expected, text_id
from quickchecks.errors import TargetError, nearest_names

__all__ = ("converse", "load", "recognises")

OBJECTS_ONLY = True
MOCKS_TOOLS = True
AGENTS = ("agents.agent:Agent",)

_RESULTS = ("agents.result:RunResultBase", "agents.exceptions:RunErrorDetails")
_EXCEPTION = "agents.exceptions:AgentsException"
#: Options by which the provider keeps what was said, so that only what is new is sent.
_KEPT_ELSEWHERE = ("session", "conversation_id", "previous_response_id", "auto_previous_response_id")


def recognises(value: Any) -> bool:
    """Whether a value is the result of a run, its events, the details of one that raised, or the exception that holds them."""
    if type(value) is list or type(value) is tuple:
        return bool(value) and is_a(value[0], *EVENTS)
    return is_a(value, *_RESULTS) or (isinstance(value, BaseException) and is_a(value, _EXCEPTION))


def load(value: Any) -> Run:
    """Read one run.

    Args:
        value: The result, the events, the details, or the exception.

    Returns:
        The run.

    Raises:
        RecordingError: It is malformed.
    """
    if isinstance(value, (list, tuple)):
        return _of_events(value)
    if isinstance(value, BaseException):
        return _read(field(value, "run_data"), RunError(_wire.as_text(value), type(value).__name__))
    if not is_a(value, *_RESULTS):
        raise expected("the result of a run of the OpenAI Agents SDK", value, "")
    return _read(value, RunError("the run ended with an exception") if is_a(value, _RESULTS[1]) else _stored_error(value))


def _of_events(events: Any) -> Run:
    """Read the events of a streamed run."""
    told = heard(events)
    run = _read(told, None)
    return replace(run, usage=_sum([_usage_of(response) for response in told.raw_responses]), gaps=(*run.gaps, *told.gaps))


def _usage_of(response: Any) -> Usage | None:
    read = response_usage(field(response, "usage"))
    return None if read is None else replace(read, requests=1)


def _stored_error(result: Any) -> RunError | None:
    """The exception with which a streamed run ended after it had begun to answer."""
    error = field(result, "run_loop_exception") or field(result, "_stored_exception")
    return RunError(_wire.as_text(error), type(error).__name__) if isinstance(error, BaseException) else None


def _read(source: Any, error: RunError | None, watch: Watch | None = None) -> Run:
    """Read what is known of a run: its result or its details, where there are any, and what was seen of it."""
    reader = _RunReader(watch)
    asked = field(source, "input", watch.input if watch is not None else None)
    if isinstance(asked, (str, list, tuple)):
        reader.items.read(asked, "input")
    reader.items.close()
    messages = reader.items.messages
    given = len(messages)
    while given and messages[given - 1].role in ("user", "system"):
        given -= 1  # what the agent said before the question belongs to earlier turns
    for at, item in enumerate(_listed(source, "new_items")):
        reader.new_item(item, f"new_items[{at}]")
    reader.failing_turn(source, error)
    reader.interrupted(_listed(source, "interruptions"))
    reader.items.close()
    reader.seen()
    reader.answer(field(source, "final_output"))
    gaps = reader.items.gaps
    if field(source, "is_complete", True) is False:
        gaps += [Gap(kind, "the stream of the run was not read to its end") for kind in ("calls", "text")]
    who = reader.agent or _name(field(source, "last_agent")) or (_name(watch.agent) if watch is not None else None)
    usage = _usage(field(field(source, "context_wrapper"), "usage"))
    if usage is None and watch is not None:
        usage = _own_usage(watch)
    return Run(
        tuple(messages), history_length=given, usage=usage, error=error, agent=who, gaps=tuple(gaps), format="openai_agents"
    )


class _RunReader:
    """Reads the items of one run, each with the agent that made it."""

    def __init__(self, watch: Watch | None) -> None:
        self._watch = watch
        self._own: list[tuple[ToolCall, str | None]] = []
        self.items = ItemReader()
        self.agent: str | None = None

    def new_item(self, item: Any, path: str) -> None:
        """Read one of the items that the run added."""
        kind, raw, agent = field(item, "type"), field(item, "raw_item"), _name(field(item, "agent"))
        self.agent = self.agent or agent
        if kind == "tool_approval_item":
            return  # the call that waits stands before it
        if kind == "tool_call_output_item":
            id = text_id(field(raw, "call_id")) or text_id(field(raw, "id"))
            status = field(raw, "status")
            result = result_value(plain(field(item, "output")))
            error = ToolError(result if isinstance(result, str) else "") if status == "failed" else None
            self.items.result(id, result, error)
            return
        call = self.items.item(raw, f"{path}.raw_item", agent)
        if call is not None:
            self._made(call, field(item, "tool_origin"), kind == "handoff_call_item", hasattr(item, "tool_origin"))

    def _made(self, call: ToolCall, origin: Any, handoff: bool, tells_origin: bool) -> None:
        """Note a call of the run, and what kind of call the SDK says that it is."""
        inner: str | None = None
        if handoff:
            force_setattr(call, "kind", "handoff")
        elif str(getattr(field(origin, "type"), "value", field(origin, "type"))) == "agent_as_tool":
            force_setattr(call, "kind", "agent")
            inner = text_id(field(origin, "agent_name")) or call.name
        elif not tells_origin and call.kind == "tool" and self._watch is None:
            note = "this version of the SDK does not say which tools are agents, whose calls would not be shown"
            if all(gap.kind != "nested_possible" for gap in self.items.gaps):
                self.items.gaps.append(Gap("nested_possible", note))
        self._own.append((call, inner))

    def failing_turn(self, source: Any, error: RunError | None) -> None:
        """Read what the models asked for in the turn in which the run failed: its details lack some of it, or all."""
        if error is None:
            return
        recorded = _listed(source, "raw_responses")
        if self._watch is not None:
            responses = self._watch.responses
        else:
            asked = field(field(field(source, "context_wrapper"), "usage"), "requests")
            if source is None or (type(asked) is int and asked > len(recorded)):
                self.items.gaps.append(Gap("calls", "the turn in which the run failed is not recorded"))
            responses = [(field(source, "last_agent"), response) for response in recorded]
        shown = Counter(call.id for call, _ in self._own)
        for number, (agent, response) in enumerate(responses):
            for at, item in enumerate(_listed(response, "output", f"raw_responses[{number}].output")):
                id = text_id(field(item, "call_id")) or text_id(field(item, "id"))
                is_call = str(field(item, "type")).endswith("_call")
                if is_call and shown[id]:
                    shown[id] -= 1
                elif is_call or number >= len(recorded):
                    self._unfinished(item, f"raw_responses[{number}].output[{at}]", agent)

    def _unfinished(self, item: Any, path: str, agent: Any) -> None:
        self.agent = self.agent or _name(agent)
        call = self.items.item(item, path, _name(agent))
        if call is not None:
            self._made(call, None, call.name in _handoffs(agent), True)

    def interrupted(self, approvals: Any) -> None:
        """The calls that wait for a person."""
        for at, approval in enumerate(approvals):
            raw = field(approval, "raw_item")
            id = text_id(field(raw, "call_id")) or text_id(field(raw, "id"))
            waiting = [call for call, _ in self._own if call.id == id and call.state == "requested"]
            if not waiting:  # it stands in the run of an agent that is used as a tool
                waiting = [call for call, inner in self._own if inner is not None and call.state == "requested"]
            if not waiting and (call := self.items.item(raw, f"interruptions[{at}].raw_item", _name(field(approval, "agent")))):
                waiting = [call]
            for call in waiting:
                force_setattr(call, "state", "awaiting")

    def seen(self) -> None:
        """Add what was seen of the calls while they were made."""
        for call, inner in self._own:
            outcomes = self._watch.outcomes.get(call.id) if self._watch is not None else None
            outcome = outcomes.popleft() if outcomes else None
            if outcome is not None:
                force_setattr(call, "duration", outcome.seconds)
                if outcome.error is not None:
                    error = ToolError(_wire.as_text(outcome.error), type(outcome.error).__name__, "exception")
                    complete(call, call.result, error)
                elif outcome.flagged:
                    complete(call, call.result, ToolError(call.result if isinstance(call.result, str) else ""))
                elif outcome.returned and call.result is UNSET and call.state == "requested":
                    complete(call, result_value(plain(outcome.result)))
                # The SDK counts what an agent costs that is used as a tool along with the run around it.
                runs = [replace(read_watch(nested), usage=_own_usage(nested)) for nested in outcome.nested]
                if runs:
                    force_setattr(call, "run", runs[0] if len(runs) == 1 else Run(children=tuple(runs), agent=inner))
            if inner is not None and call.run is None and (outcome is None or outcome.error is None):
                note = f"what {inner} did as the tool {call.name} is not in the result"
                self.items.gaps.append(Gap("nested", note, inner))

    def answer(self, final: Any) -> None:
        """Add the final output where it is more than the words of the last message: a value, or what a tool gave."""
        if final is None:
            return
        messages = self.items.messages
        last = messages[-1] if messages and messages[-1].role == "assistant" else None
        words = last.text if last is not None and not any(type(part) is ToolCall for part in last.parts) else None
        if isinstance(final, str):
            if words != final and final:
                messages.append(Message("assistant", (Text(final),), _name_of_last(messages)))
            return
        parts = answer_parts(final, "final_output")
        if words is None or last is None:
            messages.append(Message("assistant", parts, _name_of_last(messages)))
        else:  # the text of a structured answer is the JSON of its value, however the model wrote it
            kept = tuple(part for part in last.parts if type(part) is not Text)
            messages[-1] = replace(last, parts=(*kept, *parts))


def read_watch(watch: Watch) -> Run:
    """Read a run that was watched, or what is known of it because it raised."""
    if watch.error is None:
        return _read(watch.result, _stored_error(watch.result), watch)
    error = RunError(_wire.as_text(watch.error), type(watch.error).__name__)
    return _read(field(watch.error, "run_data"), error, watch)


def _own_usage(watch: Watch) -> Usage | None:
    return _sum([_usage(field(response, "usage")) for _, response in watch.responses])


def _name_of_last(messages: list[Message]) -> str | None:
    return next((message.agent for message in reversed(messages) if message.role == "assistant"), None)


def _listed(value: Any, name: str, path: str = "") -> list[Any]:
    found = field(value, name)
    if found is not None and not isinstance(found, (list, tuple)):
        raise expected("a list", found, path or name)
    return list(found or ())


def _name(agent: Any) -> str | None:
    return text_id(field(agent, "name"))


def _handoffs(agent: Any) -> set[str]:
    """The names of the tools by which an agent hands over to others."""
    given = field(agent, "handoffs")
    if not isinstance(given, list):
        return set()
    return {field(one, "tool_name") or library("agents").Handoff.default_tool_name(one) for one in given}


def _usage(usage: Any) -> Usage | None:
    """Read the usage of the SDK. Models that do not tell leave its counts at zero."""
    requests = field(usage, "requests")
    if usage is None or not requests:
        return None
    if not field(usage, "total_tokens"):
        return Usage(requests=requests)
    names = ("input_tokens", "output_tokens", "input_tokens_details", "output_tokens_details")
    read = response_usage({name: field(usage, name) for name in names})
    return replace(read or Usage(), requests=requests)


def _sum(usages: list[Usage | None]) -> Usage | None:
    known = [usage for usage in usages if usage is not None]
    sums: dict[str, int] = {}
    for usage in known:
        for name in ("input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens", "requests"):
            if (count := getattr(usage, name)) is not None:
                sums[name] = sums.get(name, 0) + count
    return Usage(**sums) if sums else None


STREAMS = ("agents.result:RunResultStreaming",)


async def drained(value: Any) -> Any:
    """Wait for the end of a streamed run; what ended it stands in the result."""
    async for _ in value.stream_events():
        pass
    return value


def converse(agent: Any, options: Mapping[str, Any], mocks: ToolMocks | None) -> Dialogue:
    """Begin a conversation with an agent.

    Args:
        agent: The agent.
        options: What `Runner.run` takes beside the agent and the input.
        mocks: What answers in place of tools.

    Raises:
        TargetError: `Runner.run` takes no such option.
    """
    takes = [name for name in signature(library("agents").Runner.run).parameters if name not in ("starting_agent", "input")]
    for name in options:
        if name not in takes:
            raise TargetError(f"target_options gives {name!r}, and Runner.run takes no such option: {nearest_names(name, takes)}")
    return _Talk(agent, options, mocks)


class _Talk(Dialogue):
    """A conversation: what was said before is sent again, and the agent that had the last word is asked next."""

    def __init__(self, agent: Any, options: Mapping[str, Any], mocks: ToolMocks | None) -> None:
        self._agent = agent
        self._options = dict(options)
        self._mocks = mocks
        self._kept_elsewhere = any(options.get(name) for name in _KEPT_ELSEWHERE)
        self._earlier: Any = None

    async def ask(self, asked: Any, session: Any = None) -> Run:
        watch = Watch(self._mocks)
        given = self._given(asked)
        begun = perf_counter()
        try:
            with listening():
                result = await watch.run(library("agents").Runner.run, self._agent, given, self._options)
        except (Exception, CancelledError) as error:
            if not watch.responses:
                raise
            raise BrokenOff(replace(read_watch(watch), duration=perf_counter() - begun)) from error
        seconds = perf_counter() - begun
        self._agent = watch.original(result.last_agent)
        self._earlier = result
        if self._options.get("previous_response_id") or self._options.get("auto_previous_response_id"):
            self._options["previous_response_id"] = result.last_response_id
        return replace(read_watch(watch), duration=seconds)

    def _given(self, asked: Any) -> Any:
        items = _as_items(asked) if isinstance(asked, (list, tuple)) else asked
        if self._earlier is None or self._kept_elsewhere or not isinstance(items, (str, list)):
            return items
        said = [{"role": "user", "content": items}] if isinstance(items, str) else items
        return [*self._earlier.to_input_list(), *said]


def _as_items(messages: list[Any] | tuple[Any, ...]) -> list[Any]:
    """Chat messages as items; whatever is an item already stays as it is."""
    items: list[Any] = []
    for value in messages:
        message = as_mapping(value)
        if message is None or not isinstance(message.get("role"), str) or "type" in message:
            items.append(value)
        elif message["role"] in ("tool", "function"):
            output = result_value(message.get("content"))
            output = output if isinstance(output, str) else _wire.shown(plain(output))
            items.append({"type": "function_call_output", "call_id": message.get("tool_call_id") or "", "output": output})
        else:
            if message.get("content"):
                items.append({"role": message["role"], "content": _content(message["role"], message["content"])})
            for call in message.get("tool_calls") or ():
                function = field(call, "function")
                called = {"name": field(function, "name"), "arguments": field(function, "arguments")}
                items.append({"type": "function_call", "call_id": field(call, "id") or "", **called})
    return items


def _content(role: str, content: Any) -> Any:
    """Parts of a chat message as the parts of an item: words have another name there, by who speaks."""
    if not isinstance(content, (list, tuple)):
        return content
    kind = "output_text" if role == "assistant" else "input_text"
    return [{**part, "type": kind} if isinstance(part, Mapping) and part.get("type") == "text" else part for part in content]
