"""The run of a state of LangGraph: its messages, the structured answer beside them, and whether it waits for a person."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import force_setattr, replace

from quickchecks._run import Gap, Message, Part, Run, Text, ToolCall
from quickchecks.adapters._answers import answer_parts
from quickchecks.adapters._langchain_messages import MessageReader, body_of, usage_of
from quickchecks.adapters._objects import field, is_foreign, plain
from quickchecks.adapters._record import unheard
from quickchecks.adapters._strays import gaps_beside
from quickchecks.errors import UnknownFormatError

__all__ = ("INTERRUPT", "message_run", "messages_run", "shown", "state_run")

#: The key under which a graph tells that it waits for a person.
INTERRUPT = "__interrupt__"
_READ = frozenset(("messages", "structured_response", INTERRUPT))


def state_run(state: Any, *, interrupted: bool = False, before: int | None = None) -> Run:
    """The run of what a graph gave: a state with messages, or any other answer.

    Args:
        state: The state; a mapping, or an object with the same fields.
        interrupted: Whether the graph waits for a person.
        before: How many of its messages were there before this run; None for all but the last turn, because a state
            keeps the whole conversation.
    """
    interrupted = interrupted or bool(isinstance(state, Mapping) and state.get(INTERRUPT) is not None)
    messages = field(state, "messages")
    if not isinstance(messages, (list, tuple)):
        kept = {key: item for key, item in state.items() if key != INTERRUPT} if isinstance(state, Mapping) else state
        parts = () if interrupted and not kept else shown(kept)
        gaps = (Gap("calls", "the state of this graph holds no messages"), Gap("input", "what was asked is not shown"))
        return Run((Message("assistant", parts),), gaps=gaps)
    if before is None:
        before = _last_turn(messages)
    run = messages_run(
        messages, "messages", structured=field(state, "structured_response"), interrupted=interrupted, before=before
    )
    rest = {key: plain(item) for key, item in state.items() if key not in _READ} if isinstance(state, Mapping) else None
    return replace(run, metadata=rest or None, gaps=(*run.gaps, *gaps_beside(rest, "")))


def _last_turn(messages: Any) -> int:
    """Where the last turn begins: at what the user said last, when the agent had said something before."""
    kinds = [field(_body(message), "type") for message in messages]
    asked = [at for at, kind in enumerate(kinds) if kind == "human" and not field(_body(messages[at]), "name")]
    answered = next((at for at, kind in enumerate(kinds) if kind in ("ai", "AIMessageChunk")), len(kinds))
    return asked[-1] if asked and asked[-1] > answered else 0


def _body(message: Any) -> Any:
    return body_of(message) if isinstance(message, Mapping) else message


def message_run(message: Any) -> Run:
    """The run of one answer of a model: it shows what was asked for, never what came of it."""
    run = messages_run([message])
    gaps = [*run.gaps, Gap("input", "a single answer does not show what was asked")]
    if run.all_tool_calls:
        gaps.append(Gap("results", "a single answer shows which tools were asked for, never their results"))
    return replace(run, gaps=tuple(gaps))


def messages_run(messages: Any, path: str = "", *, structured: Any = None, interrupted: bool = False, before: int = 0) -> Run:
    """The run of a list of messages.

    Args:
        messages: The messages.
        path: Where they stand inside the record.
        structured: The structured answer, where there is one.
        interrupted: Whether the graph waits for a person.
        before: How many of them were there before this run.
    """
    reader = MessageReader(path)
    reader.read(messages)
    read = reader.messages
    if structured is not None:
        _put_structured(read, reader.calls, structured)
    if interrupted:
        for call in reader.calls:
            if call.state == "requested":
                force_setattr(call, "state", "awaiting")
    history = reader.starts[before] if before < len(reader.starts) else len(read)
    gaps = (*reader.gaps, *unheard(read[history:]))
    names = {message.agent for message in read[history:] if message.agent}
    agent = names.pop() if len(names) == 1 else None
    return Run(tuple(read), None, None, history, usage_of(messages[before:]), gaps=gaps, agent=agent)


def _put_structured(messages: list[Message], calls: list[ToolCall], value: Any) -> None:
    """Show a structured answer where it was given: by a call that the framework made up for it, or as the last text."""
    part = next(iter(shown(value)), None)
    if part is None:
        return
    by_call = next((call for call in reversed(calls) if _gave(call, value)), None)
    if by_call is not None:
        for call in calls:
            if call.name == by_call.name:
                force_setattr(call, "kind", "output")
    for at in range(len(messages) - 1, -1, -1):
        message = messages[at]
        if message.role != "assistant" or (by_call is not None and not any(one is by_call for one in message.parts)):
            continue
        kept = [one for one in message.parts if by_call is not None or type(one) is not Text]
        messages[at] = replace(message, parts=(*kept, part))
        return
    messages.append(Message("assistant", (part,)))


def _gave(call: ToolCall, value: Any) -> bool:
    """Whether a call gave the structured answer: its name is that of the schema, and its arguments are the answer."""
    names = (type(value).__name__, "response_format") if is_foreign(value) else (call.name,)
    answer, arguments = plain(value), call.arguments
    if call.name not in names or call.state != "completed":
        return False
    said = call.result if isinstance(call.result, str) else ""
    same = (
        isinstance(answer, dict) and isinstance(arguments, dict) and all(answer.get(key) == arguments[key] for key in arguments)
    )
    return same and (is_foreign(value) or said.startswith("Returning structured response"))


def shown(value: Any) -> tuple[Part, ...]:
    """An answer as parts of a message, whatever it is."""
    try:
        return answer_parts(value)
    except UnknownFormatError:  # any object may be in a state
        return answer_parts(plain(value))
