"""Anthropic messages: a response of the SDK or its JSON, or a list of messages with blocks such as tool_use and tool_result.

A list may mix objects of the SDK with dicts, as programs build it. A result is judged by its flag, and by its text where it has
none. A list of messages that hold roles and text only is read as OpenAI's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from quickchecks._run import Gap, GapKind, Message, Role, Run, ToolCall, Usage
from quickchecks.adapters._blocks import BlockReader, block_usage, is_call_block, summed
from quickchecks.adapters._dialects import LOOK_AT
from quickchecks.adapters._endings import cut_calls, lost_calls, mark_cut
from quickchecks.adapters._objects import field, is_a, plain
from quickchecks.adapters._record import ANSWER_KEYS, run_of, unheard
from quickchecks.adapters._shapes import as_mapping, expected, join, others, text_id
from quickchecks.adapters._strays import refuse_calls

__all__ = ("load", "recognises")

_MESSAGES = tuple(
    f"anthropic.{place}:{name}"
    for place, names in (
        ("types", ("Message", "ParsedMessage")),
        ("types.beta", ("BetaMessage", "ParsedBetaMessage")),
    )
    for name in names
)
_ROLES: dict[str, Role] = {"assistant": "assistant", "system": "system", "user": "user"}
_MESSAGE_KEYS = frozenset(("role", "content", "type", "usage"))
#: What ends a message before the model had finished it.
_CUT = {"max_tokens": "the limit of tokens", "model_context_window_exceeded": "the size of the context window"}

_NO_CONTENT: tuple[GapKind, ...] = ("calls", "text")


def recognises(value: Any) -> bool:
    """Whether a value is a message of the API, or a list of messages of which one has its blocks or is its object."""
    if type(value) is list or type(value) is tuple:
        return _has_marks(value)
    if type(value) is dict:
        messages = value.get("messages")
        if type(messages) is list or type(messages) is tuple:
            return _has_marks(messages)
        return _is_response(value)
    return is_a(value, *_MESSAGES)


def _is_response(value: Mapping[str, Any]) -> bool:
    return (
        value.get("type") == "message"
        and value.get("role") == "assistant"
        and _is_list(value.get("content"))
        and "stop_reason" in value
    )


def _is_list(value: Any) -> bool:
    return type(value) is list or type(value) is tuple


def _has_marks(messages: Any) -> bool:
    """Whether a message is one of the API, or holds a block that no other format has."""
    strangers = 0
    for message in messages:
        if type(message) is not dict:
            if _is_block(message) or is_a(message, *_MESSAGES):
                return True
            strangers += 1
            if strangers > LOOK_AT:
                return False
            continue
        content = message.get("content")
        if (type(content) is list or type(content) is tuple) and type(message.get("role")) is str:
            for block in content:
                if is_call_block(block) or (type(block) is not dict and _is_block(block)):
                    return True
    return False


def _is_block(value: Any) -> bool:
    cls = type(value)
    # The class of a parsed block is a variant of a generic one, with a name that goes on.
    return cls.__module__.startswith("anthropic.types.") and any(base.__name__.endswith("Block") for base in cls.__mro__)


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
        return _listed(value, "")
    record = as_mapping(value)
    if record is None:
        raise expected("a list of messages, or a message with blocks", value, "")
    messages = record.get("messages")
    if messages is None:
        return _response(value, record)
    run = _listed(messages, "messages", record)
    system = record.get("system")
    if system:
        reader = BlockReader()
        reader.read("system", system, "system")
        run = replace(run, messages=(*reader.messages, *run.messages))
    return run


def _listed(messages: Any, path: str, record: Mapping[str, Any] | None = None) -> Run:
    """Read a list of messages, and the answer beside them where the record holds one in the manner of the API."""
    if not _is_list(messages):
        raise expected("a list of messages", messages, path)
    if messages and all(map(_is_block, messages)):
        messages = [{"role": "assistant", "content": messages}]
    reader = BlockReader()
    usages: list[Usage | None] = []
    for at, message in enumerate(messages):
        _read(message, f"{path}[{at}]", reader, usages)
    beside = {key: value for key, value in (record or {}).items() if key != "system"}
    for key in ANSWER_KEYS:
        answer = as_mapping(beside.get(key))
        if answer is not None and _is_response(answer):
            del beside[key]
            if not (messages and as_mapping(messages[-1]) == answer):
                _read(answer, key, reader, usages)
    usage = summed(usages)
    if record is None:
        return Run(tuple(reader.messages), usage=usage, gaps=(*reader.gaps, *_unheard(reader.messages)))
    run = run_of(beside, messages, reader.messages, reader.gaps)
    own = block_usage(record.get("usage"))
    return replace(run, usage=own or usage, gaps=(*run.gaps, *_unheard(list(run.messages))))


def _unheard(messages: list[Message]) -> tuple[Gap, ...]:
    """A conversation that ends with the question is one to which the agent said nothing; what it did is not known."""
    gaps = unheard(messages)
    return gaps[:1] if messages else gaps


def _read(value: Any, path: str, reader: BlockReader, usages: list[Usage | None]) -> None:
    message = as_mapping(value)
    if message is None:
        raise expected("a message, that is an object with a role", value, path)
    role = message.get("role")
    known = _ROLES.get(role) if isinstance(role, str) else None
    if known is None:
        raise expected(f"one of the roles {', '.join(sorted(_ROLES))}", role, join(path, "role"))
    beside = others(message, _MESSAGE_KEYS)
    if known == "assistant":
        refuse_calls(beside, path, "in blocks of the content")
        usages.append(block_usage(message.get("usage")))
    # The blocks of an object know more than what they show of themselves.
    content = field(value, "content", message.get("content"))
    calls = reader.read(known, content, join(path, "content"), metadata=plain(beside))
    if known == "assistant":
        _ended(message.get("stop_reason"), content, calls, reader)
        counted = as_mapping((as_mapping(message.get("usage")) or {}).get("server_tool_use")) or {}
        asked = sum(count for count in counted.values() if type(count) is int)
        if asked and all(call.kind != "provider" for call in calls):
            reader.gaps.append(Gap("calls", "the usage tells of tools that the provider ran, and no call of them is recorded"))


def _ended(reason: Any, content: Any, calls: list[ToolCall], reader: BlockReader) -> None:
    """Judge why a message ended."""
    if content is None:
        reader.gaps += [Gap(kind, "a message of the agent holds no content") for kind in _NO_CONTENT]
    if isinstance(reason, str) and reason in _CUT:
        reader.gaps.append(Gap("other", f"the model was cut off by {_CUT[reason]} ({reason})"))
        parts = reader.messages[-1].parts if reader.messages else ()
        mark_cut(calls, last=bool(calls) and parts[-1:] == (calls[-1],) and calls[-1].kind == "tool")
        reader.gaps += cut_calls(calls)
    reader.gaps += lost_calls(reason, calls)


def _response(value: Any, message: Mapping[str, Any]) -> Run:
    """One turn of the model: it shows what was asked for, and of the user's tools never what came of it."""
    reader = BlockReader()
    usages: list[Usage | None] = []
    _read(value, "", reader, usages)
    gaps = [*reader.gaps, Gap("input", "a single response does not show what was asked")]
    run = Run(tuple(reader.messages), id=text_id(message.get("id")), usage=summed(usages))
    if any(call.state == "requested" for call in run.all_tool_calls):
        gaps.append(Gap("results", "a single response shows which tools were asked for, never their results"))
    return replace(run, gaps=tuple(gaps))
