"""The messages of an agent of CrewAI: chat messages, and calls that a model without tool calling writes as text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import force_setattr, replace

from quickchecks import _wire
from quickchecks._run import Gap, Message, Part, Reasoning, Text, ToolCall, ToolError
from quickchecks.adapters._chat import ChatReader
from quickchecks.adapters._objects import field, plain
from quickchecks.adapters._pairing import complete
from quickchecks.adapters._shapes import expected

__all__ = ("Seen", "TaskReader")

#: How the framework marks the question among the messages of a conversation.
_QUESTION = re.compile(r"\s*Current Task: ")
#: The form in which it has models without tool calling write a call, and in which it adds the result.
_WRITTEN = re.compile(
    r"(?P<before>.*?)^[ \t]*Action:[ \t]*(?P<name>[^\n]+)\n+[ \t]*Action Input:[ \t]*(?P<arguments>.*?)"
    r"(?:\n[ \t]*Observation:[ \t]*(?P<result>.*))?\Z",
    re.S | re.M,
)
_FINAL = re.compile(r"(?P<before>.*?)(?:^|\n)[ \t]*Final Answer:[ \t]*(?P<answer>.*)\Z", re.S)
#: The tools by which the framework lets agents ask each other.
_COWORKER = ("delegate_work_to_coworker", "ask_question_to_coworker")


class Seen(Struct):
    """What a tool was seen to do.

    Args:
        name: The name of the tool, as models see it.
        arguments: What it was given.
        owner: The role of the agent that used it.
        result: What it returned.
        error: What it raised.
        seconds: How long it took.
    """

    name: str
    arguments: object
    owner: str | None = None
    result: object | UnsetType = UNSET
    error: BaseException | None = None
    seconds: float | None = None

    def settle(self, call: ToolCall) -> None:
        """Put what was seen on the call."""
        if call.error is not None and self.error is None:
            pass  # the tool returned, and the framework says that it failed
        elif self.error is not None:
            complete(call, UNSET, ToolError(_wire.as_text(self.error), type(self.error).__name__, "exception"))
        elif self.result is not UNSET:
            complete(call, plain(self.result))
            force_setattr(call, "errors_shown_in", "result")
        force_setattr(call, "duration", self.seconds)

    def call(self) -> ToolCall:
        """A call of which nothing else is known."""
        made = ToolCall(self.name, plain(self.arguments), state="requested")
        self.settle(made)
        return made


class TaskReader:
    """Reads the messages of one agent at one task.

    Args:
        path: Where they stand.
        seen: What tools were seen to do, where that was listened to; what is found among the messages is taken out.
        role: The role of the agent; None for whichever.
    """

    def __init__(self, path: str, seen: list[Seen] | None, role: str | None = None) -> None:
        self._path = path
        self._seen = seen
        self._role = role
        #: Calls of other agents that failed, with the roles of those.
        self.of_others: list[tuple[str, ToolCall]] = []
        self.messages: list[Message] = []
        self.gaps: list[Gap] = []
        #: How many messages stand before the question.
        self.history = 0

    def read(self, messages: Any, failures: Any) -> None:
        """Read the messages, and what the framework says of calls that failed.

        Args:
            messages: The messages.
            failures: The records of failures; they name the tool and its arguments, not the call.

        Raises:
            RecordingError: They are malformed.
        """
        if not isinstance(failures, (list, tuple)):
            raise expected("a list of failures of tools", failures, "tool_failures")
        reader = ChatReader(self._path)
        reader.read([plain(message) for message in messages])
        self.gaps = reader.gaps
        self.messages = [_unwritten(message) if message.role == "assistant" else message for message in reader.messages]
        questions = [at for at, one in enumerate(self.messages) if one.role == "user" and _QUESTION.match(one.text)]
        self.history = questions[-1] if questions else 0
        calls = [part for one in self.messages[self.history :] for part in one.parts if type(part) is ToolCall]
        self._fail(calls, failures)
        if self._seen is not None:
            self._match(calls, self._seen)
        for name in dict.fromkeys(call.name for call in calls):
            if self._seen is None and name.lower().replace(" ", "_") in _COWORKER:
                self.gaps.append(Gap("nested", f"what a coworker did that was asked by {name} is not recorded here", name))

    def _fail(self, calls: Sequence[ToolCall], failures: Sequence[Any]) -> None:
        left = list(calls)
        for record in failures:
            failure = field(record, "failure")
            name, arguments = field(record, "tool_name"), plain(field(record, "tool_args"))
            reason = field(field(failure, "reason"), "value", field(failure, "reason"))
            code = field(failure, "code")
            kind = code if reason == "exception" and isinstance(code, str) else ""
            error = ToolError(_wire.as_text(field(failure, "message", "")), kind, "flag")
            role = field(record, "agent_role")
            if isinstance(role, str) and role != (self._role or role):
                self.of_others.append((role, ToolCall(str(name), arguments, None, "failed", error=error)))
                continue
            named = [call for call in left if call.name == name]
            exact = [call for call in named if call.arguments == (arguments or {}) or call.raw_arguments == arguments]
            call = next(iter(exact or named), None)
            if call is None:
                # A model that writes its calls makes one, and the framework tries it several times.
                if not any(known.name == name and known.error is not None for known in calls):
                    self.gaps.append(Gap("calls", f"a call of {name} failed that is not among the messages"))
                continue
            left = [other for other in left if other is not call]
            force_setattr(call, "state", "failed")
            force_setattr(call, "error", error)

    def _match(self, calls: Sequence[ToolCall], seen: list[Seen]) -> None:
        left = list(calls)
        for exactly in (True, False):
            for call in list(left):
                for at, one in enumerate(seen):
                    if self._fits(call, one, exactly):
                        end = at + 1
                        if call.id is None:  # the framework itself tries a written call again
                            while end < len(seen) and seen[end - 1].error is not None and _same(one, seen[end]):
                                end += 1
                        seen[end - 1].settle(call)
                        del seen[at:end]
                        left = [other for other in left if other is not call]
                        break

    def _fits(self, call: ToolCall, seen: Seen, exactly: bool) -> bool:
        if seen.name != call.name or (self._role is not None and seen.owner not in (None, self._role)):
            return False
        return not exactly or plain(seen.arguments) == call.arguments


def _same(one: Seen, other: Seen) -> bool:
    return (one.name, one.owner, one.arguments) == (other.name, other.owner, other.arguments)


def _unwritten(message: Message) -> Message:
    """A message of a model that writes its calls: the call that stands in it, or the answer without the thoughts."""
    if len(message.parts) != 1 or type(message.parts[0]) is not Text:
        return message
    text = message.parts[0].text
    call = _WRITTEN.match(text)
    if call is not None:
        parts: list[Part] = [Reasoning(call["before"].strip())] if call["before"].strip() else []
        made = ToolCall(call["name"].strip(), call["arguments"].strip(), None, "requested", errors_shown_in="text")
        if call["result"] is not None:
            complete(made, call["result"].strip())
        return replace(message, parts=(*parts, made))
    final = _FINAL.match(text)
    before = "" if final is None else final["before"].strip()
    if final is not None and (not before or before.startswith("Thought")) and final["answer"].strip():
        return replace(message, parts=(*([Reasoning(before)] if before else []), Text(final["answer"].strip())))
    return message
