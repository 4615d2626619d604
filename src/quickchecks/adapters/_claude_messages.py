"""Messages of Claude's agent as one run: those of a sub-agent stand between the others, with the id of the call that began it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec.structs import force_setattr, replace

from quickchecks import _wire
from quickchecks._run import Gap, Message, Other, Run, RunError, Text, ToolCall, Usage
from quickchecks.adapters._blocks import BlockReader, block_usage, summed
from quickchecks.adapters._claude_background import BackgroundAgents
from quickchecks.adapters._endings import lost_calls
from quickchecks.adapters._objects import plain
from quickchecks.adapters._shapes import as_mapping, expected, join, text_id
from quickchecks.adapters._strays import gaps_beside, may_be_call

__all__ = ("ClaudeReader", "fields_of")

_BLOCKS = {
    "ServerToolResultBlock": "server_tool_result",
    "ServerToolUseBlock": "server_tool_use",
    "TextBlock": "text",
    "ThinkingBlock": "thinking",
    "ToolResultBlock": "tool_result",
    "ToolUseBlock": "tool_use",
}
_KINDS = {"AssistantMessage": "assistant", "ResultMessage": "result", "UserMessage": "user"}
#: Items of the stream that mention tools and make no calls.
_NO_CALLS = frozenset(("StreamEvent", "rate_limit_event", "RateLimitEvent", "stream_event", "system"))
_ABOUT_TOOLS = frozenset(("tool_progress", "tool_use_summary"))
#: The program's own tools that begin a sub-agent, and the one that takes a structured answer. Tools of a user are called
#: mcp__SERVER__NAME, so that none of theirs has such a name.
_AGENTS = frozenset(("Agent", "Task"))
_OUTPUT = "StructuredOutput"


def fields_of(value: Any) -> tuple[str, Mapping[str, Any]] | None:
    """The kind of an item of the stream and what it holds, for objects of the SDK and for JSON; None for anything else."""
    if type(value) is dict:
        kind = value.get("type")
        if not isinstance(kind, str):
            return None
        message = as_mapping(value.get("message"))
        return kind, {**value, **message} if message is not None and kind in ("assistant", "user") else value
    if not type(value).__module__.startswith("claude_agent_sdk"):
        return None
    held = getattr(value, "__dict__", {})
    for cls in type(value).__mro__:
        if cls.__name__ in _KINDS:
            return _KINDS[cls.__name__], held
        if cls.__name__ == "SystemMessage":
            return "system", held
    return type(value).__name__, held


def _block(value: Any) -> Any:
    """A block of the SDK as JSON has it."""
    if type(value) is dict or isinstance(value, str) or not type(value).__module__.startswith("claude_agent_sdk"):
        return value
    name = type(value).__name__
    return {"type": _BLOCKS.get(name, name.lower()), **vars(value)}


class _Thread:
    """The messages of the agent, or of one sub-agent."""

    def __init__(self) -> None:
        self.reader = BlockReader()
        self.calls: list[ToolCall] = []
        self._content: list[Any] = []
        self._message: tuple[str | None, str] = (None, "")

    def assistant(self, fields: Mapping[str, Any], path: str) -> None:
        """Read what the agent says: each block comes by itself, and those with one message id are one message."""
        id = text_id(fields.get("message_id")) or text_id(fields.get("id"))
        content = fields.get("content")
        if not isinstance(content, (list, tuple)):
            content = [] if content is None else [content]
        if id is None or id != self._message[0]:
            self.flush()
            self._message = (id, path)
        self._content += [_block(block) for block in content]
        if id is None:
            self.flush()

    def user(self, content: Any, path: str) -> None:
        """Read what the agent hears: results, or words."""
        self.flush()
        if isinstance(content, (list, tuple)):
            content = [_block(block) for block in content]
        self.reader.read("user", content, path)

    def flush(self) -> None:
        """Read the message that is complete now."""
        content, self._content = self._content, []
        if content:
            self.calls += self.reader.read("assistant", content, self._message[1])
        self._message = (None, "")


class ClaudeReader:
    """Reads the items of a stream.

    Args:
        path: Where they stand inside the record.
    """

    def __init__(self, path: str = "") -> None:
        self._path = path
        self._threads: dict[str | None, _Thread] = {None: _Thread()}
        self._usages: list[Usage | None] = []
        self._cost: float | None = None
        self._seconds: float | None = None
        self._error: RunError | None = None
        self._result: Mapping[str, Any] = {}
        self._id: str | None = None
        self._gaps: list[Gap] = []
        #: How many items of the agent's and of what it heard came since the last result.
        self._heard = 0
        self._spoken = False
        #: Why the messages of the agent ended, where they say so.
        self._reasons: list[Any] = []
        self._background = BackgroundAgents()

    def read(self, items: Iterable[Any]) -> None:
        """Read them all."""
        for at, item in enumerate(items):
            where = f"{self._path}[{at}]"
            found = fields_of(item)
            if found is None:
                raise expected("an item of the stream, that is an object with a type", item, where)
            self._item(*found, where)

    def _item(self, kind: str, fields: Mapping[str, Any], path: str) -> None:
        self._gaps += gaps_beside(fields, path)
        self._background.note(kind, fields)
        parent = text_id(fields.get("parent_tool_use_id"))
        self._id = self._id or text_id(fields.get("session_id"))
        if kind == "result":
            self._ended(fields)
        elif kind in ("assistant", "user"):
            if parent is None and kind == "assistant" and fields.get("error"):
                self._failed(fields)
                return
            self._heard += 1
            self._spoken = self._spoken or kind == "assistant"
            self._reasons.append(fields.get("stop_reason") if kind == "assistant" else None)
            thread = self._threads.setdefault(parent, _Thread())
            where = join(path, "content" if "message" not in fields else "message.content")
            if kind == "assistant":
                thread.assistant(fields, where)
            else:
                thread.user(fields.get("content"), where)
        elif kind not in _ABOUT_TOOLS and may_be_call(kind, None if kind in _NO_CALLS else fields):
            self._gaps.append(Gap("calls", f"an item of the unknown kind {kind[:40]!r} may be a call"))

    def _failed(self, fields: Mapping[str, Any]) -> None:
        """What the program writes in place of the model's answer, when the model could not be asked."""
        self._threads[None].flush()
        error = fields["error"]
        content = fields.get("content")
        blocks = [as_mapping(_block(one)) or {} for one in (content if isinstance(content, (list, tuple)) else ())]
        said = " ".join(text for one in blocks if isinstance(text := one.get("text"), str))
        self._error = RunError(said or _wire.as_text(error), error if isinstance(error, str) else "")
        if any(may_be_call(one.get("type"), one) for one in blocks):
            self._gaps.append(Gap("calls", "a message about an error holds what may be a call"))
        self._threads[None].reader.messages.append(Message("assistant", (Other("error", said),)))

    def _ended(self, fields: Mapping[str, Any]) -> None:
        self._result = fields
        self._threads[None].flush()
        turns = fields.get("num_turns")
        if type(turns) is int and turns > max(self._heard, 1):
            self._gaps.append(Gap("calls", f"the result tells of {turns} turns, which the messages before it do not show"))
        self._heard = 0
        self._usages.append(block_usage(fields.get("usage")))
        cost, milliseconds = fields.get("total_cost_usd"), fields.get("duration_ms")
        if isinstance(cost, (int, float)) and not isinstance(cost, bool):
            self._cost = float(cost)  # of the session until then
        if isinstance(milliseconds, (int, float)) and not isinstance(milliseconds, bool):
            self._seconds = (self._seconds or 0.0) + milliseconds / 1000
        subtype, said = fields.get("subtype"), fields.get("result")
        if fields.get("is_error") or (isinstance(subtype, str) and subtype != "success"):
            errors = fields.get("errors")
            told = "; ".join(str(one) for one in errors) if isinstance(errors, (list, tuple)) else ""
            message = told or (said if isinstance(said, str) else "") or str(subtype)
            kind = subtype if isinstance(subtype, str) and subtype != "success" else ""
            self._error = RunError(message, kind or (self._error.type if self._error is not None else ""))
        else:
            self._error = None
            self._answered(fields, said)

    def _answered(self, fields: Mapping[str, Any], said: Any) -> None:
        """Take the answer of the result where the messages do not hold it."""
        messages = self._threads[None].reader.messages
        structured = plain(fields.get("structured_output"))
        spoken = _squeezed("".join(message.text for message in messages if message.role == "assistant"))
        if structured is not None:
            messages.append(Message("assistant", (Text(_wire.shown(structured), structured),)))
        elif isinstance(said, str) and said and _squeezed(said) not in spoken:
            messages.append(Message("assistant", (Text(said),)))

    @property
    def spoken(self) -> bool:
        """Whether an item of the agent came, so that its calls would have been seen."""
        return self._spoken

    @property
    def ended(self) -> bool:
        """Whether the last of the items is a result, or comes after one without the agent having gone on."""
        return bool(self._result) and self._heard == 0

    def run(self) -> Run:
        """Make the run of what was read."""
        for thread in self._threads.values():
            thread.flush()
        calls = [call for thread in self._threads.values() for call in thread.calls]
        for reason in dict.fromkeys(reason for reason in self._reasons if isinstance(reason, str)):
            self._gaps += lost_calls(reason, calls)
        if self._background.calls:
            note = "the messages end while an agent still works in the background"
            self._gaps.append(Gap("calls", note))
        return self._run(None, frozenset())

    def _run(self, parent: str | None, outer: frozenset[str | None]) -> Run:
        thread = self._threads[parent]
        gaps = [*thread.reader.gaps, *(self._gaps if parent is None else ())]
        known = {call.id for other in self._threads.values() for call in other.calls}
        for call in thread.calls:
            gaps += self._call(call, outer | {parent})
        children: tuple[Run, ...] = ()
        if parent is None:
            children = tuple(
                self._run(id, frozenset((None,))) for id in list(self._threads) if id is not None and id not in known
            )
        run = Run(tuple(thread.reader.messages), gaps=tuple(gaps), children=children)
        if parent is not None:
            return run
        usage = summed(self._usages)
        if usage is not None or self._cost is not None:
            usage = replace(usage or Usage(), cost=self._cost, requests=None)
        kept = {
            key: plain(held)
            for key in ("num_turns", "stop_reason", "terminal_reason")
            if (held := self._result.get(key)) is not None
        }
        return replace(run, id=self._id, usage=usage, duration=self._seconds, error=self._error, metadata=kept or None)

    def _call(self, call: ToolCall, outer: frozenset[str | None]) -> list[Gap]:
        """Say what a call is: one of a user's server, a sub-agent, or the way in which an answer was given."""
        name = call.name
        waiting = as_mapping(plain(self._result.get("deferred_tool_use"))) or {}
        if call.state == "requested" and call.id is not None and waiting.get("id") == call.id:
            force_setattr(call, "state", "awaiting")
        if name.startswith("mcp__") and len(pieces := name.split("__", 2)) == 3 and pieces[2]:
            force_setattr(call, "name", pieces[2])
            force_setattr(call, "metadata", {**(call.metadata or {}), "server": pieces[1], "qualified": name})
        elif name == _OUTPUT and self._result.get("structured_output") is not None:
            force_setattr(call, "kind", "output")
        inner = call.id is not None and call.id in self._threads and call.id not in outer
        if name in _AGENTS or inner:
            force_setattr(call, "kind", "handoff")  # by these the program hands work over
            if inner:
                force_setattr(call, "run", replace(self._run(call.id, outer), agent=_agent(call)))
            elif call.state != "failed":
                return [Gap("nested", f"the messages do not show what the agent that {name} began has done", name)]
        return []


def _squeezed(text: str) -> str:
    return "".join(text.split())


def _agent(call: ToolCall) -> str | None:
    arguments = call.arguments
    kind = arguments.get("subagent_type") if isinstance(arguments, dict) else None
    return kind if isinstance(kind, str) and kind else None
