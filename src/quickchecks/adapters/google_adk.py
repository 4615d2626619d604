"""Google's Agent Development Kit: a list of events, a session, or the JSON of either; agents, apps and runners.

No event states whether a tool failed: an object with an error, or with the status error or failed, is a failure. What happens
inside an agent that is used as a tool is seen when the target is the agent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import UNSET
from msgspec.structs import force_setattr, replace

from quickchecks import _wire
from quickchecks._run import Gap, Message, Part, Role, Run, RunError, Text, ToolCall, ToolError, Usage
from quickchecks.adapters._agents import Dialogue
from quickchecks.adapters._answers import answer_parts
from quickchecks.adapters._blocks import summed
from quickchecks.adapters._contents import ContentReader, named, take, usage_of
from quickchecks.adapters._endings import cut_calls
from quickchecks.adapters._grounding import searches
from quickchecks.adapters._objects import field, is_a, plain
from quickchecks.adapters._pairing import complete
from quickchecks.adapters._record import unheard
from quickchecks.adapters._shapes import as_mapping, expected, join, text_id
from quickchecks.adapters._strays import gaps_beside

__all__ = ("AGENTS", "MOCKS_TOOLS", "converse", "load", "recognises")

AGENTS = ("google.adk.agents:BaseAgent", "google.adk.workflow:BaseNode", "google.adk.runners:Runner", "google.adk.apps:App")
MOCKS_TOOLS = True

_EVENT = "google.adk.events:Event"
_SESSION = "google.adk.sessions:Session"

_NESTED = Gap("nested_possible", "where a tool is itself an agent, its inner calls are not visible in these events")
#: Calls that the framework makes itself to ask the person.
_ASKS = frozenset(("adk_request_confirmation", "adk_request_credential", "adk_request_input"))


def recognises(value: Any) -> bool:
    """Whether a value is a list of events, or a session."""
    if type(value) is list or type(value) is tuple:
        return bool(value) and _is_event(value[0])
    if type(value) is dict:
        events = value.get("events")
        return type(events) is list and ("appName" in value or "app_name" in value) and ("userId" in value or "user_id" in value)
    return is_a(value, _SESSION)


def _is_event(value: Any) -> bool:
    if type(value) is dict:
        return type(value.get("author")) is str and ("invocationId" in value or "invocation_id" in value)
    return is_a(value, _EVENT)


def converse(agent: Any, options: Mapping[str, Any], mocks: Any) -> Dialogue:
    """Begin a conversation, in a session of its own."""
    from quickchecks.adapters._adk_dialogue import AdkDialogue

    return AdkDialogue(agent, options, mocks, turn_run)


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
        return _read(value, "")
    session = as_mapping(value)
    if session is None or not isinstance(session.get("events"), (list, tuple)):
        raise expected("a list of events, or a session", value, "")
    run = _read(session["events"], "events")
    return replace(run, id=text_id(session.get("id")) or run.id)


def _read(events: Any, path: str) -> Run:
    run = _Events(path).run(events)
    gaps = list(run.gaps)
    if run.tool_calls:
        gaps.append(_NESTED)
    if not any(message.role == "user" for message in run.messages):
        gaps.append(Gap("input", "the events of a run do not show what was asked"))
    return replace(run, gaps=tuple(gaps))


def turn_run(events: Sequence[Any], watched: Any) -> Run:
    """The run of one turn of an agent.

    Args:
        events: Its events.
        watched: What its plugin has seen (`_adk_dialogue.Watch`).
    """
    return _Events("", watched).run(events)


class _Events:
    """Reads the events of one run."""

    def __init__(self, path: str, watched: Any = None) -> None:
        self._path = path
        self._watched = watched
        self._reader = ContentReader()
        self._calls: dict[str, ToolCall] = {}
        self._waiting: set[str] = set()
        self._usages: list[Usage | None] = []
        self._error: RunError | None = None
        self._agent: str | None = None
        self._id: str | None = None
        #: What the last step gave that said nothing, and who took it.
        self._output: tuple[str, Any] | None = None

    def run(self, events: Any) -> Run:
        """Read all of them."""
        for at, value in enumerate(events):
            event = as_mapping(value)
            where = f"{self._path}[{at}]"
            if event is None:
                raise expected("an event, that is an object with an author", value, where)
            if take(event, "partial") is not True:
                self._event(event, where)
        calls = [part for message in self._reader.messages for part in message.parts if type(part) is ToolCall]
        self._settle(calls)
        if self._watched is not None:
            self._schema()
        if self._output is not None:
            author, output = self._output
            self._reader.messages.append(Message("assistant", answer_parts(plain(output), "output"), author))
        run = Run(
            tuple(self._reader.messages),
            id=self._id,
            usage=self._usage(),
            error=self._error,
            agent=self._agent,
            gaps=(*self._reader.gaps, *cut_calls(self._reader.made())),
        )
        return replace(run, gaps=(*run.gaps, *unheard(run.messages)))

    def _schema(self) -> None:
        """The answer of an agent with an output schema is the text of an object."""
        for at, message in enumerate(self._reader.messages):
            if message.role == "assistant" and field(self._watched.find_agent(message.agent or ""), "output_schema") is not None:
                self._reader.messages[at] = replace(message, parts=tuple(map(_with_value, message.parts)))

    def _usage(self) -> Usage | None:
        return summed(self._usages) if self._usages else None

    def _event(self, event: Mapping[str, Any], path: str) -> None:
        author = event.get("author")
        if not isinstance(author, str) or not author:
            raise expected("the author of the event", author, join(path, "author"))
        from_user = author == "user"
        if not from_user:
            self._reader.gaps += (*gaps_beside(event, path), *gaps_beside(event.get("content"), join(path, "content")))
        self._id = self._id or text_id(take(event, "invocation_id"))
        if not from_user:
            self._agent = self._agent or author
            self._error = None
        content = event.get("content")
        touched: list[ToolCall] = []
        if content is not None:
            held = as_mapping(content)
            if held is None:
                raise expected("a content, that is an object with parts", content, join(path, "content"))
            before = len(self._reader.messages)
            role: Role = "user" if from_user else "assistant"
            touched = self._reader.read(role, held.get("parts"), join(path, "content.parts"), agent=None if from_user else author)
            if not from_user:
                self._reader.gaps += searches(event, self._reader.messages, before)
            if not from_user and len(self._reader.messages) > before:
                self._output = None
                self._structured(event)
        elif not from_user and event.get("output") is not None:
            self._output = author, event["output"]
        if (usage := usage_of(take(event, "usage_metadata"))) is not None:
            self._usages.append(usage)
        self._actions(as_mapping(event.get("actions")) or {}, touched)
        waiting = take(event, "long_running_tool_ids")
        if isinstance(waiting, (list, tuple, set, frozenset)):
            self._waiting.update(id for id in map(text_id, waiting) if id is not None)
        self._ended(event)

    def _structured(self, event: Mapping[str, Any]) -> None:
        """An agent with an output schema gives its answer as an object beside the text of it."""
        output = plain(event.get("output"))
        message = self._reader.messages[-1]
        texts = [part for part in message.parts if type(part) is Text]
        if isinstance(output, (dict, list)) and len(texts) == 1:
            parts: list[Part] = [Text(part.text, output) if type(part) is Text else part for part in message.parts]
            self._reader.messages[-1] = replace(message, parts=tuple(parts))

    def _actions(self, actions: Mapping[str, Any], touched: Sequence[ToolCall]) -> None:
        """What the framework did with a call says what kind it is."""
        target = take(actions, "transfer_to_agent")
        answer = take(actions, "set_model_response")
        for call in touched:
            arguments = call.arguments
            if isinstance(target, str) and isinstance(arguments, dict) and target in arguments.values():
                force_setattr(call, "kind", "handoff")
            elif answer is not None and call.name == "set_model_response":
                force_setattr(call, "kind", "output")
        asked = take(actions, "requested_tool_confirmations")
        for call in touched:
            if isinstance(asked, Mapping) and call.id is not None and call.id in asked:
                force_setattr(call, "state", "awaiting")
                force_setattr(call, "result", UNSET)
                force_setattr(call, "error", None)

    def _ended(self, event: Mapping[str, Any]) -> None:
        code, said = named(take(event, "error_code")), take(event, "error_message")
        reason = named(take(event, "finish_reason"))
        if "MALFORMED" in code or "MALFORMED" in reason or "UNEXPECTED_TOOL_CALL" in (code, reason):
            self._reader.gaps.append(Gap("calls", f"the model made a call that cannot be read ({code or reason})"))
        if reason == "MAX_TOKENS":
            self._reader.gaps.append(Gap("other", "the model was cut off by the limit of tokens (MAX_TOKENS)"))
        if code or said:
            self._error = RunError(said if isinstance(said, str) and said else code, code)

    def _settle(self, calls: Sequence[ToolCall]) -> None:
        """Say of the calls without a result what became of them, and put what the agents did inside them on them."""
        for call in calls:
            if call.state == "requested" and call.id is not None and call.id in self._waiting:
                # The framework's own questions are no calls of the agent; what they ask about waits.
                force_setattr(call, "kind" if call.name in _ASKS else "state", "handoff" if call.name in _ASKS else "awaiting")
        if self._watched is not None:
            for call in calls:
                self._inside(call)
        still = [call for call in calls if call.state == "requested" and call.kind == "tool"]
        if self._error is not None and len(still) == 1:
            complete(still[0], UNSET, ToolError(self._error.message, self._error.type, "exception"))

    def _inside(self, call: ToolCall) -> None:
        watched = self._watched
        raised = watched.raised.get(call.id)
        if raised is not None and call.state == "requested":
            complete(call, UNSET, ToolError(str(raised), type(raised).__name__, "exception"))
        if call.id in watched.agents:
            force_setattr(call, "kind", "agent")
            inner = watched.inner.get(call.id)
            if inner:
                force_setattr(call, "run", turn_run(inner, watched))
            elif call.id not in watched.mocked:
                self._reader.gaps.append(Gap("nested", f"what the agent {call.name} did is not shown to its caller", call.name))


def _with_value(part: Part) -> Part:
    if type(part) is not Text or part.value is not UNSET:
        return part
    try:
        return Text(part.text, _wire.loads(part.text))
    except ValueError:
        return part
