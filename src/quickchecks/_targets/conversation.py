"""What was said to a target and by it in one item, as runs for the scorers."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping
from typing import Protocol, cast

import msgspec
from msgspec import Struct

from quickchecks import _wire
from quickchecks._run import Message, Run, Text, ToolCall, Usage
from quickchecks._scorer.read_only import read_only_run
from quickchecks._scorer.unsaid import with_what_is_unsaid
from quickchecks._targets.copies import own_copy
from quickchecks.adapters import as_run

__all__ = ("Caller", "Conversation", "Session", "as_chat")


class Caller(Protocol):
    """Runs a blocking function elsewhere; given by whoever owns the threads."""

    def __call__(self, function: Callable[[], object]) -> Awaitable[object]: ...


class Session(Struct):
    """What a target gets that takes `session`: it lives as long as the item.

    Args:
        id: An identity, new for each item and repetition.
        turn: The turn, from 0.
        history: The earlier messages in OpenAI's form.
        state: Whatever the target wants to keep from turn to turn.
    """

    id: str
    turn: int
    history: list[dict[str, object]]
    state: dict[str, object]


class Conversation:
    """The turns of one item so far, as runs for the scorers.

    Args:
        keeps_track: Whether the target asks for what was said before.
    """

    __slots__ = ("_keeps_track", "_said", "_session", "_told", "_untold", "messages", "turns")

    def __init__(self, *, keeps_track: bool = False) -> None:
        self._keeps_track = keeps_track
        self._session: Session | None = None
        self._told = 0  # how many turns the session knows of
        self._said: list[dict[str, object]] = []
        #: What is not in it yet: only a further turn asks for it, and a long answer takes seconds to be written.
        self._untold: list[tuple[Message, ...]] = []
        self.messages: list[Message] = []
        self.turns: list[Run] = []

    @property
    def session(self) -> Session:
        """The session of the item."""
        if self._session is None:
            self._session = Session(os.urandom(16).hex(), 0, [], {})
        if self._told != len(self.turns):
            self._told = self._session.turn = len(self.turns)
            self._session.history = self.history()
        return self._session

    def history(self) -> list[dict[str, object]]:
        """The earlier messages in OpenAI's form, in a list of its own: the target may do with it what it likes."""
        untold, self._untold = self._untold, []
        self._said.extend(entry for new in untold for message in new for entry in as_chat(message))
        return cast(list[dict[str, object]], own_copy(self._said))

    def add(self, asked: object, answer: object, *, recorded: bool = False) -> Run:
        """Take the answer to one input.

        Args:
            asked: The input.
            answer: What the target returned.
            recorded: Whether the item brought it instead.

        Returns:
            The run of this turn alone; the earlier turns are its history.

        Raises:
            RecordingError: The answer is not understood.
        """
        run = as_run(answer)
        new = run.messages[run.history_length :]
        earlier = len(self.messages)
        if earlier and run.history_length == 0 and len(new) >= earlier and _same(new[:earlier], self.messages):
            new = new[earlier:]  # the target returned the whole conversation
        run = with_what_is_unsaid(run, answer, new, "the record holds" if recorded else "the target returned")
        if not (new and new[0].role in ("user", "system")):
            new = (*_question(asked), *new)
        turn = msgspec.structs.replace(
            run,
            messages=(*self.messages, *new),
            history_length=earlier,
            input=asked if run.input is None else run.input,
        )
        turn = read_only_run(turn)  # the target may go on with the lists and dicts that it returned
        self.messages = list(turn.messages)
        self.turns.append(turn)
        if self._keeps_track:
            self._untold.append(new)
        return turn

    def take(self, *turns: Run) -> None:
        """Take recorded runs as all that was said: one as the whole, several as its turns."""
        self.turns = [read_only_run(turn) for turn in turns]
        self.messages = list(self.turns[-1].messages) if turns else []

    def run(self) -> Run:
        """The whole conversation as one run."""
        if len(self.turns) == 1:
            return self.turns[0]
        last = self.turns[-1]
        return msgspec.structs.replace(
            last,
            messages=tuple(self.messages),
            history_length=0,
            input=self.turns[0].input,
            gaps=tuple(dict.fromkeys(gap for turn in self.turns for gap in turn.gaps)),
            children=tuple(child for turn in self.turns for child in turn.children),
            usage=_sum([turn.usage for turn in self.turns]),
            duration=None,
            error=next((turn.error for turn in self.turns if turn.error is not None), None),
        )


def _same(left: tuple[Message, ...], right: list[Message]) -> bool:
    return all(a.role == b.role and a.text == b.text for a, b in zip(left, right, strict=True))


def _question(asked: object) -> tuple[Message, ...]:
    """The input as a message of the user; a list of chat messages is read as it is."""
    if isinstance(asked, str):
        return (Message("user", (Text(asked),)),)
    if isinstance(asked, list) and asked and all(isinstance(one, Mapping) and "role" in one for one in asked):
        return as_run(asked).messages
    return (Message("user", (Text(_wire.shown(asked), asked),)),)


def _sum(usages: list[Usage | None]) -> Usage | None:
    known = [usage for usage in usages if usage is not None]
    if not known:
        return None
    sums = {name: [value for usage in known if (value := getattr(usage, name)) is not None] for name in Usage.__struct_fields__}
    return Usage(**{name: sum(values) if values else None for name, values in sums.items()})


def as_chat(message: Message) -> list[dict[str, object]]:
    """Write a message in OpenAI's form; the results of its calls follow as messages of their own.

    Args:
        message: The message.
    """
    calls = [part for part in message.parts if type(part) is ToolCall]
    entry: dict[str, object] = {"role": message.role, "content": message.text or (None if calls else "")}
    found = [entry]
    if calls:
        ids = [call.id or f"call_{index}" for index, call in enumerate(calls)]
        entry["tool_calls"] = [
            {"id": identity, "type": "function", "function": {"name": call.name, "arguments": _arguments(call)}}
            for identity, call in zip(ids, calls, strict=True)
        ]
        for identity, call in zip(ids, calls, strict=True):
            if call.result is not msgspec.UNSET or call.error is not None:
                found.append({"role": "tool", "tool_call_id": identity, "content": _result(call)})
    return found


def _arguments(call: ToolCall) -> str:
    return call.raw_arguments if isinstance(call.raw_arguments, str) else _wire.shown(call.arguments)


def _result(call: ToolCall) -> str:
    if call.result is msgspec.UNSET:
        return call.error.message if call.error is not None else ""
    return call.result if isinstance(call.result, str) else _wire.shown(call.result)
