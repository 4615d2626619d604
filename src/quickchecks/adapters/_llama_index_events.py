"""The events of LlamaIndex's agents: what the model was sent, what it said, and each call with its result."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import force_setattr

from quickchecks._run import Gap, Message, Other, Part, Reasoning, Role, Run, Text, ToolCall, ToolError, ToolResult, Usage
from quickchecks.adapters._llama_index_kinds import kind_of
from quickchecks.adapters._objects import field, is_a, is_foreign, plain
from quickchecks.adapters._pairing import Pairing, complete
from quickchecks.adapters._record import read_usage
from quickchecks.adapters._shapes import expected, join, text_id
from quickchecks.adapters._strays import gaps_beside, may_be_call

__all__ = ("EventReader",)

_ROLES: dict[str, Role] = {
    "assistant": "assistant",
    "chatbot": "assistant",
    "developer": "system",
    "function": "tool",
    "model": "assistant",
    "system": "system",
    "tool": "tool",
    "user": "user",
}
#: The tool by which the agents of an `AgentWorkflow` hand over. The framework lets no tool of a user have its name.
_HANDOFF = "handoff"
_HANDOFF_ARGUMENTS = frozenset(("to_agent", "reason"))


class EventReader:
    """Reads the events of one run."""

    def __init__(self) -> None:
        self._pairing = Pairing()
        self._messages: list[Message] = []
        #: The parts of the message that the calls of the current step belong to.
        self._open: list[Part] | None = None
        self._open_agent: str | None = None
        self._history = 0
        self._asked = False
        #: The calls that `ToolCall` events may announce again, and the results that the last output may repeat.
        self._announced: Counter[tuple[Any, ...]] = Counter()
        self._answered: Counter[tuple[Any, ...]] = Counter()
        self._spoken: Any = None
        self._usages: list[Usage] = []
        self.calls: list[ToolCall] = []
        self.gaps: list[Gap] = []

    def run(self) -> Run:
        """The run so far."""
        self._close()
        agents = list(dict.fromkeys(message.agent for message in self._messages if message.agent))
        return Run(
            tuple(self._messages),
            history_length=self._history,
            usage=_summed(self._usages),
            agent=agents[0] if agents else None,
            gaps=tuple(dict.fromkeys(self.gaps)),
        )

    def add(self, messages: Sequence[Message]) -> None:
        """Add messages that were read elsewhere."""
        self._close()
        self._messages += messages

    def _close(self) -> None:
        if self._open is not None:
            self._messages.append(Message("assistant", tuple(self._open), self._open_agent))
        self._open = None

    def _begin(self, agent: Any) -> list[Part]:
        self._close()
        self._open = []
        self._open_agent = agent if isinstance(agent, str) and agent else None
        return self._open

    # Messages

    def input(self, event: Any, path: str) -> None:
        """What the model was first sent: instructions, earlier turns, and the question."""
        if self._asked or self._messages or self._open is not None:
            return
        sent = field(event, "input")
        path = join(path, "input")
        if not isinstance(sent, (list, tuple)):
            raise expected("a list of messages", sent, path)
        for number, message in enumerate(sent):
            self.message(message, f"{path}[{number}]")
        self._close()
        self._asked = bool(sent)
        asked = [at for at, message in enumerate(self._messages) if message.role == "user"]
        if asked and any(message.role == "assistant" for message in self._messages[: asked[-1]]):
            self._history = asked[-1]
        self.calls.clear()

    def message(self, message: Any, path: str) -> None:
        """Read one message of a memory. Its results are text; whether a call failed is not kept there."""
        known = _role(message)
        if known is None:
            raise expected(f"one of the roles {', '.join(_ROLES)}", field(message, "role"), join(path, "role"))
        beside = field(message, "additional_kwargs")
        beside = beside if isinstance(beside, Mapping) else {}
        if known == "tool":
            self._tool_message(message, beside)
            return
        parts = self._begin(None)
        calls = self._blocks(message, path, parts, known)
        if known == "assistant":
            self.gaps += gaps_beside(message, path)
            calls += self._calls_beside(beside, join(path, "additional_kwargs"), calls)
            parts += [call for call in calls if not any(call is part for part in parts)]
            self.calls += calls
            self._pairing.begin(calls)
            self._close()
        else:
            self._open = None
            self._messages.append(Message(known, tuple(parts)))

    def _tool_message(self, message: Any, beside: Mapping[str, Any]) -> None:
        blocks = field(message, "blocks")
        texts = [_text_of(block) for block in (blocks if isinstance(blocks, (list, tuple)) else ())]
        result = "\n".join(text for text in texts if text is not None)
        id = text_id(beside.get("tool_call_id"))
        name = beside.get("name")
        name = name if isinstance(name, str) and name else None
        call = self._pairing.find(id, name)
        if call is not None:
            complete(call, result)
            return
        self._orphan(result, id, name, None)

    def _orphan(self, result: Any, id: str | None, name: str | None, error: ToolError | None) -> None:
        self._close()
        self._messages.append(Message("tool", (ToolResult(result, id, name, error),)))
        note = f"a result of {name or 'a tool'} is recorded without the call that it answers"
        self.gaps.append(Gap("orphan_result", note, name))

    def _blocks(self, message: Any, path: str, parts: list[Part], role: Role) -> list[ToolCall]:
        blocks = field(message, "blocks")
        if blocks is None and isinstance(said := field(message, "content"), str):
            blocks = [{"block_type": "text", "text": said}]
        path = join(path, "blocks")
        if not isinstance(blocks, (list, tuple)):
            raise expected("a list of blocks", blocks, path)
        calls: list[ToolCall] = []
        for number, block in enumerate(blocks):
            kind = field(block, "block_type")
            if kind == "tool_call":
                call = _call(block, f"{path}[{number}]", "tool_call_id", "text")
                if role == "assistant":
                    calls.append(call)
                    parts.append(call)
            elif (text := _text_of(block)) is not None:
                parts.append(Text(text))
            elif kind == "thinking":
                thoughts = field(block, "content")
                parts.append(Reasoning(thoughts if isinstance(thoughts, str) else ""))
            elif kind in ("image", "audio", "video", "document", "cache", "citable", "citation"):
                parts.append(Other(kind))
            else:
                parts.append(Other(kind if isinstance(kind, str) else "unknown", plain(block)))
                if role == "assistant":
                    self.gaps.append(Gap("calls", f"a block of the unknown kind {str(kind)[:40]!r} may be a call"))
        return calls

    def _calls_beside(self, beside: Mapping[str, Any], path: str, known: list[ToolCall]) -> list[ToolCall]:
        """Calls that an integration keeps beside the message, in the form of its provider."""
        listed = beside.get("tool_calls")
        if not listed:
            return []
        if not isinstance(listed, (list, tuple)):
            raise expected("a list of tool calls", listed, join(path, "tool_calls"))
        found: list[ToolCall] = []
        for call in listed:
            body = field(call, "function", call)
            name = field(body, "name")
            if not isinstance(name, str) or not name:
                self.gaps.append(Gap("calls", f"what stands at {path}.tool_calls may be calls, and cannot be read"))
                continue
            arguments = field(body, "arguments", field(body, "input"))
            read = ToolCall(name, plain(arguments), text_id(field(call, "id")), "requested", errors_shown_in="text")
            if not any(read.name == other.name and read.id == other.id for other in known):
                found.append(read)
        return found

    # Events

    def output(self, event: Any, path: str) -> None:
        """What the model said in one step: words, and the calls that it asks for; the last may repeat all results."""
        self._spoken = event
        response = field(event, "response")
        path = join(path, "response")
        if _role(response) != "assistant":
            raise expected("a message of the assistant", response, path)
        parts = self._begin(field(event, "current_agent_name"))
        self.gaps += gaps_beside(response, path)
        calls = self._blocks(response, path, parts, "assistant")
        asked, results = self._selected(event, join(path.rpartition("response")[0].rstrip("."), "tool_calls"))
        if not calls and asked and any(type(part) is Text and f"Action: {asked[0].name}" in part.text for part in parts):
            # An agent that reasons and acts in words: these were written for the framework.
            parts[:] = [Reasoning(part.text) if type(part) is Text else part for part in parts]
        if field(event, "retry_messages"):
            # The framework could not read these words, and asked again.
            parts[:] = [Reasoning(part.text) if type(part) is Text else part for part in parts]
        known = Counter((call.id, call.name) for call in calls)
        for call in asked:
            key = (call.id, call.name)
            if known[key]:
                known[key] -= 1
            else:
                calls.append(call)
                parts.append(call)
        for call in calls:
            force_setattr(call, "errors_shown_in", "result")
            self._announced[_key(call)] += 1
        parts[:0] = results
        self.calls += [*results, *calls]
        self._pairing.begin(calls)
        raw = field(event, "raw")
        if (usage := read_usage(plain(field(raw, "usage")))) is not None:
            self._usages.append(usage)

    def _selected(self, event: Any, path: str) -> tuple[list[ToolCall], list[ToolCall]]:
        """The calls that an output asks for; and those of the whole run, with results, that no event has shown yet."""
        listed = field(event, "tool_calls")
        if listed is None:
            listed = ()
        if not isinstance(listed, (list, tuple)):
            raise expected("a list of tool calls", listed, path)
        asked: list[ToolCall] = []
        results: list[ToolCall] = []
        repeated = Counter(self._answered)
        for number, one in enumerate(listed):
            call = _call(one, f"{path}[{number}]", "tool_id")
            if kind_of(one) != "result":
                asked.append(call)
            elif repeated[_key(call)]:
                repeated[_key(call)] -= 1
            else:
                _complete(call, one)
                results.append(call)
        return asked, results

    def answer(self, output: Any, path: str) -> None:
        """The output with which a run ends: mostly the last one once more, else what a tool returned as the answer."""
        if self._spoken is None:
            self.output(output, path)
            return
        _, results = self._selected(output, join(path, "tool_calls"))
        said: list[Part] = []
        self._blocks(field(output, "response"), join(path, "response"), said, "assistant")
        words = "".join(part.text for part in said if type(part) is Text)
        if output is not self._spoken and words != _words(self._spoken):
            parts = self._begin(field(output, "current_agent_name"))
            parts += [*results, *(part for part in said if type(part) is not ToolCall)]
        elif results:
            self._begin(field(output, "current_agent_name")).extend(results)
        self.calls += results

    def call(self, event: Any, path: str) -> None:
        """A call that begins; the output before it has mostly shown it."""
        call = _call(event, path, "tool_id")
        if self._announced[_key(call)]:
            self._announced[_key(call)] -= 1
            return
        self._late(call)
        self._pairing.begin([call])

    def result(self, event: Any, path: str) -> None:
        """A call that has ended."""
        shown = _call(event, path, "tool_id")
        self._answered[_key(shown)] += 1
        call = self._pairing.find(shown.id, shown.name)
        if call is None:
            call = shown
            self._late(call)
        _complete(call, event)

    def _late(self, call: ToolCall) -> None:
        """A call that no output has shown."""
        (self._begin(None) if self._open is None else self._open).append(call)
        self.calls.append(call)

    def waits(self) -> None:
        """The workflow asks a person; whichever calls have not ended wait for the answer."""
        for call in self.calls:
            if call.state == "requested":
                force_setattr(call, "state", "awaiting")

    def stranger(self, event: Any, path: str) -> None:
        """An event of another kind may be about calls."""
        if not is_foreign(event) and not isinstance(event, Mapping):
            raise expected("an event", event, path)
        called = isinstance(event, Mapping) and may_be_call(event.get("type"), event)
        if called or field(event, "tool_name") is not None or field(event, "tool_calls"):
            self.gaps.append(Gap("calls", f"what stands at {path} may be a call, and is no event that is known"))


def _role(message: Any) -> Role | None:
    role = field(message, "role")
    role = field(role, "value", role)
    return _ROLES.get(role) if isinstance(role, str) else None


def _call(value: Any, path: str, id: str, shown_in: Any = "result") -> ToolCall:
    name = field(value, "tool_name")
    if not isinstance(name, str) or not name:
        raise expected("the name of the tool", name, join(path, "tool_name"))
    arguments = plain(field(value, "tool_kwargs"))
    call = ToolCall(name, arguments, text_id(field(value, id)), "requested", errors_shown_in=shown_in)
    if name == _HANDOFF and isinstance(arguments, dict) and "to_agent" in arguments and _HANDOFF_ARGUMENTS.issuperset(arguments):
        force_setattr(call, "kind", "handoff")
    return call


def _complete(call: ToolCall, event: Any) -> None:
    """Put the result that an event holds on the call that it answers."""
    output = field(event, "tool_output")
    if call.kind == "handoff" and field(event, "return_direct") is False:
        force_setattr(call, "kind", "tool")
    result = field(output, "raw_output")
    blocks = field(output, "blocks")
    texts = [_text_of(block) for block in (blocks if isinstance(blocks, (list, tuple)) else ())]
    words = "\n".join(text for text in texts if text is not None)
    if is_foreign(result) and not is_a(result, "mcp.types:CallToolResult", "mcp_types:CallToolResult"):
        # What the model saw of an object, such as a response with its sources, are its words.
        result = words if words else result
    error: ToolError | None = None
    if field(output, "is_error"):
        raised = field(output, "exception")
        message = words or (result if isinstance(result, str) else "")
        result = message if result is None else result
        error = ToolError(message, type(raised).__name__ if isinstance(raised, BaseException) else "")
    complete(call, plain(result), error)


def _text_of(block: Any) -> str | None:
    text = field(block, "text")
    return text if field(block, "block_type") == "text" and isinstance(text, str) else None


def _words(output: Any) -> str:
    blocks = field(field(output, "response"), "blocks")
    texts = [_text_of(block) for block in (blocks if isinstance(blocks, (list, tuple)) else ())]
    return "".join(text for text in texts if text is not None)


def _key(call: ToolCall) -> tuple[Any, ...]:
    try:
        arguments = json.dumps(call.raw_arguments, sort_keys=True, default=str)
    except (ValueError, RecursionError):
        arguments = ""
    return call.id, call.name, arguments


def _summed(usages: list[Usage]) -> Usage | None:
    if not usages:
        return None
    names = ("input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens")
    known = [[count for usage in usages if (count := getattr(usage, name)) is not None] for name in names]
    sent, written, cached, thought = (sum(counts) if counts else None for counts in known)
    return Usage(sent, written, cached, thought, requests=len(usages))
