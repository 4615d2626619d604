"""Microsoft Agent Framework: responses of agents, results of workflows, and what `to_dict` writes of a response."""

from __future__ import annotations

from asyncio import CancelledError
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from msgspec.structs import force_setattr, replace

from quickchecks import _wire
from quickchecks._mocks import LIVE, ToolMocks
from quickchecks._run import Gap, Message, Run, RunError, Text, Usage
from quickchecks.adapters._agent_framework_messages import MessageReader
from quickchecks.adapters._agents import BrokenOff, Dialogue
from quickchecks.adapters._objects import field, first_foreign, is_a, library, plain
from quickchecks.adapters._options import refuse_unknown
from quickchecks.adapters._shapes import expected, text_id
from quickchecks.errors import TargetError

__all__ = ("AGENTS", "MOCKS_TOOLS", "converse", "load", "recognises")

_PACKAGE = "agent_framework"
AGENTS = (f"{_PACKAGE}:BaseAgent",)
MOCKS_TOOLS = True

_RESPONSE = (f"{_PACKAGE}:AgentResponse", f"{_PACKAGE}:ChatResponse")
_STREAM = f"{_PACKAGE}:ResponseStream"
_WORKFLOW = f"{_PACKAGE}:WorkflowRunResult"
_MESSAGE = f"{_PACKAGE}:Message"
_UPDATES = (f"{_PACKAGE}:AgentResponseUpdate", f"{_PACKAGE}:ChatResponseUpdate")
_NO_INPUT = Gap("input", "a response does not show what was asked")


def recognises(value: Any) -> bool:
    """Whether a value is a response, a stream, a workflow's result, messages or updates, or a stored response."""
    if type(value) is dict:
        messages = value.get("messages")
        stored = value.get("type") in ("agent_response", "chat_response")
        return type(messages) is list and (stored or _are_messages(messages))
    if type(value) is list or type(value) is tuple:
        return is_a(first_foreign(value), _MESSAGE, *_UPDATES) or _are_messages(value)
    return is_a(value, *_RESPONSE, _STREAM, _WORKFLOW)


def _are_messages(value: Sequence[Any]) -> bool:
    first = value[0] if value else None
    return type(first) is dict and type(first.get("role")) is str and type(first.get("contents")) is list


def load(value: Any) -> Run:
    """Read one run.

    Args:
        value: What `recognises` accepts.

    Returns:
        The run.

    Raises:
        RecordingError: The value is malformed, or a stream that has not ended.
    """
    if is_a(value, _WORKFLOW):
        return _workflow(value)
    if is_a(value, _STREAM):
        value = _final(value)
    if isinstance(value, (list, tuple)):
        first = first_foreign(value)
        if not is_a(first, *_UPDATES):
            reader = MessageReader()
            reader.read(value, "")
            return reader.run()
        framework = library(_PACKAGE)
        kind = framework.AgentResponse if is_a(first, _UPDATES[0]) else framework.ChatResponse
        value = kind.from_updates(value)
    run = _response(value)
    return replace(run, gaps=(_NO_INPUT, *run.gaps))


def _response(value: Any, agents: Collection[str] | None = None) -> Run:
    """Read a response; `agents` are the tools that are known to be agents, None when nobody knows which are."""
    reader = MessageReader()
    reader.read(field(value, "messages"), "messages")
    tools = [call for call in reader.calls if call.kind == "tool"]
    if agents is None and tools:
        reader.gaps.append(Gap("nested_possible", "where a tool is itself an agent, its inner calls are not visible here"))
    for call in tools:
        if agents is not None and call.name in agents:
            force_setattr(call, "kind", "agent")
            reader.gaps.append(Gap("nested", f"what the agent {call.name} called is not visible in this response", call.name))
    if is_a(value, _RESPONSE[1]) and any(call.state == "requested" for call in reader.calls):
        reader.gaps.append(Gap("results", "a response of a model shows which tools were asked for, not their results"))
    if field(value, "continuation_token") is not None:
        reader.gaps += [Gap("calls", "the response had not ended"), Gap("text", "the response had not ended")]
    run = reader.run()
    structured = field(value, "value")
    messages = run.messages
    if structured is not None:
        messages = _structured(plain(structured), messages)
    return replace(
        run,
        messages=messages,
        id=text_id(field(value, "response_id")),
        usage=_usage(field(value, "usage_details")) or run.usage,
        metadata={"finish_reason": plain(field(value, "finish_reason"))},
    )


def _structured(value: Any, messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """Put the structured answer in the place of the text it was read from, which is the last of the assistant."""
    answer = Text(_wire.shown(value), value)
    for at in range(len(messages) - 1, -1, -1):
        message = messages[at]
        if message.role == "assistant" and message.text.strip():
            parts = [part for part in message.parts if type(part) is not Text]
            return (*messages[:at], replace(message, parts=(*parts, answer)), *messages[at + 1 :])
    return (*messages, Message("assistant", (answer,)))


def _usage(details: Any) -> Usage | None:
    names = ("input_token_count", "output_token_count", "cache_read_input_token_count", "reasoning_output_token_count")
    counts = [field(details, name) for name in names]
    read = [count if type(count) is int else None for count in counts]
    return Usage(*read) if any(count is not None for count in read) else None


def _final(stream: Any) -> Any:
    """A stream that was read to its end holds the response."""
    response = field(stream, "_final_result")
    if response is None:
        hint = "read the stream to its end, and give what `await stream.get_final_response()` gives"
        raise expected("a stream that was read to its end", stream, "", hint)
    return response


def _workflow(events: Any) -> Run:
    """Read the result of a workflow: what its agents did are nested runs, and what it put out is the answer."""
    children: list[Run] = []
    messages: list[Message] = []
    gaps = [_NO_INPUT, Gap("nested_possible", "only the agents whose responses are events of this workflow are visible")]
    error: RunError | None = None
    for event in events:
        kind, data = field(event, "type"), field(event, "data")
        if kind in ("executor_failed", "failed") and error is None:
            details = field(event, "details")
            error = RunError(_wire.as_text(field(details, "message", details)), _wire.as_text(field(details, "error_type", "")))
        if kind in ("executor_completed", "output", "intermediate"):
            children += _responses(data, field(event, "executor_id"), children)
        if kind == "output":
            messages += _outputs(data)
        if kind == "request_info":
            gaps.append(Gap("other", "the workflow waits for an answer"))
    if not children:
        gaps.append(Gap("calls", "this result shows no response of an agent"))
    return Run(tuple(messages), error=error, children=tuple(children), gaps=tuple(gaps))


def _responses(data: Any, executor: Any, known: Sequence[Run]) -> list[Run]:
    found: list[Run] = []
    for one in data if isinstance(data, (list, tuple)) else (data,):
        response = one if is_a(one, *_RESPONSE) else field(one, "agent_response")
        if response is None or not is_a(response, *_RESPONSE):
            continue
        run = replace(_response(response), agent=executor if isinstance(executor, str) else None)
        if not any(run.id == other.id and run.messages == other.messages for other in (*known, *found)):
            found.append(run)
    return found


def _outputs(data: Any) -> list[Message]:
    if data is None:
        return []
    if is_a(data, *_RESPONSE):
        said = load(data)
        return [Message("assistant", (Text(said.final_text),))] if said.final_text else []
    listed = data if isinstance(data, (list, tuple)) else (data,)
    if listed and all(is_a(one, _MESSAGE) for one in listed):
        texts = [field(one, "text") for one in listed if str(field(one, "role")) == "assistant"]
        return [Message("assistant", (Text(text),)) for text in texts[-1:] if isinstance(text, str) and text]
    if isinstance(data, str):
        return [Message("assistant", (Text(data),))] if data else []
    value = plain(data)
    return [Message("assistant", (Text(_wire.shown(value), value),))]


# Agents


STREAMS = (_STREAM,)


async def drained(value: Any) -> Any:
    """Read a stream of updates to its end."""
    async for _ in value:
        pass
    return value


def converse(agent: Any, options: Mapping[str, Any], mocks: ToolMocks | None) -> Dialogue:
    """Begin a conversation with an agent; see `_agents`."""
    if mocks is not None and not is_a(agent, f"{_PACKAGE}:Agent"):
        raise TargetError(
            f"tools of a {type(agent).__name__} cannot be mocked from outside; put quickchecks.mockable around their functions"
        )
    refuse_unknown(options, agent.run, ("messages", "stream"))
    return _Dialogue(agent, options, mocks)


class _Dialogue(Dialogue):
    """A conversation: a session of the agent holds it. A function middleware, given to each run, sees every call end."""

    def __init__(self, agent: Any, options: Mapping[str, Any], mocks: ToolMocks | None) -> None:
        self._agent = agent
        self._options = dict(options)
        self._mocks = mocks
        self._watched = is_a(agent, f"{_PACKAGE}:Agent")

    async def ask(self, asked: Any, session: Any = None) -> Run:
        """Ask one turn."""
        question = _question(asked)
        if "session" not in self._options:
            self._options["session"] = self._agent.create_session()
        options = dict(self._options)
        watch = _Watch(self._mocks)
        if self._watched:
            options["middleware"] = [*watch.middleware(), *(options.get("middleware") or ())]
        reader = MessageReader()
        if not isinstance(question, str):
            reader.read(question, "")
        history = max(len(reader.messages) - 1, 0)
        asked_messages = tuple(reader.messages) or (Message("user", (Text(str(question)),)),)
        try:
            response = await self._agent.run(question, **options)
        except (Exception, CancelledError) as error:
            run = watch.run()
            broken = RunError(str(error), type(error).__name__)
            raise BrokenOff(self._whole(run, asked_messages, history, error=broken)) from error
        return self._whole(_response(response, _agent_tools(self._agent, self._options.get("tools"))), asked_messages, history)

    def _whole(self, run: Run, asked: tuple[Message, ...], history: int, *, error: RunError | None = None) -> Run:
        name = field(self._agent, "name")
        return replace(
            run,
            messages=(*asked, *run.messages),
            history_length=history,
            format=_PACKAGE,
            agent=name if isinstance(name, str) else run.agent,
            error=error,
        )


def _question(asked: Any) -> Any:
    """Chat messages in OpenAI's form as messages of the framework; texts and its own messages as they are."""
    if isinstance(asked, str) or is_a(asked, _MESSAGE):
        return asked if isinstance(asked, str) else [asked]
    listed = asked if isinstance(asked, (list, tuple)) else (asked,)
    make = library(_PACKAGE).Message
    found = []
    for one in listed:
        if isinstance(one, Mapping) and isinstance(one.get("content"), str):
            found.append(make(str(one.get("role", "user")), [one["content"]]))
        else:
            found.append(one if is_a(one, _MESSAGE) else make("user", [_wire.shown(one)]))
    return found


def _agent_tools(agent: Any, more: Any) -> frozenset[str] | None:
    """The tools of an agent that are agents: the framework makes them with functions of its own. None when nobody knows."""
    options = field(agent, "default_options")
    if not isinstance(options, Mapping):
        return None
    found = []
    for tool in (*_listed(options.get("tools")), *_listed(more)):
        function = field(tool, "func")
        if field(function, "__module__") == f"{_PACKAGE}._agents" and isinstance(name := field(tool, "name"), str):
            found.append(name)
    return frozenset(found)


def _listed(tools: Any) -> Sequence[Any]:
    return tools if isinstance(tools, (list, tuple)) else () if tools is None else (tools,)


class _Watch:
    """What was called while one turn ran: for mocks, and for what an exception takes away."""

    def __init__(self, mocks: ToolMocks | None) -> None:
        self._mocks = mocks
        self._heard: list[Any] = []

    def middleware(self) -> list[Any]:
        """The middlewares of one run."""
        framework = library(_PACKAGE)
        watch = self

        class Calls(framework.FunctionMiddleware):  # type: ignore[misc, name-defined]
            async def process(self, context: Any, call_next: Any) -> None:
                await watch.call(context, call_next)

        class Answers(framework.ChatMiddleware):  # type: ignore[misc, name-defined]
            async def process(self, context: Any, call_next: Any) -> None:
                watch.hear(context)
                await call_next()
                watch.hear(context)

        return [Calls(), Answers()]

    async def call(self, context: Any, call_next: Any) -> None:
        """Run one call, or answer it by a mock."""
        if self._mocks is not None:
            found = self._mocks.answer(context.function.name, plain(context.arguments))
            if found is not LIVE:
                context.result = found if isinstance(found, str) else _wire.shown(found)
                return
        await call_next()

    def hear(self, context: Any) -> None:
        """Keep what the model was sent, and what it said."""
        if self._mocks is not None:
            tools = field(field(context, "options"), "tools")
            self._mocks.placed(*(name for tool in _listed(tools) if isinstance(name := field(tool, "name"), str)))
        messages = field(context, "messages")
        said = field(field(context, "result"), "messages")
        if isinstance(messages, (list, tuple)):
            self._heard = [*messages, *(said if isinstance(said, (list, tuple)) else ())]

    def run(self) -> Run:
        """What is known of the turn when the agent raised: everything after the last message of the user."""
        if not self._heard:
            gap = Gap("calls", "what the agent did before it raised is not known")
            return Run(gaps=(gap, Gap("text", gap.note)))
        asked = [at for at, message in enumerate(self._heard) if str(field(message, "role")) == "user"]
        reader = MessageReader()
        reader.read(self._heard[asked[-1] + 1 :] if asked else [], "")
        return reader.run()
