"""Gemini: a response of google-genai or its JSON, a list of contents, a record with contents, or a chat of the SDK.

A response with the history of automatic function calling holds the whole turn. Calls mostly have no ids: a result belongs to the
first open call of its name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from quickchecks._run import Gap, GapKind, Message, Part, Role, Run, RunError, Text
from quickchecks.adapters._contents import CALL_KEYS, PART_KEYS, ContentReader, camel, named, take, usage_of
from quickchecks.adapters._dialects import LOOK_AT
from quickchecks.adapters._endings import cut_calls
from quickchecks.adapters._grounding import searches
from quickchecks.adapters._objects import field, is_a, plain
from quickchecks.adapters._record import run_of, unheard
from quickchecks.adapters._shapes import as_mapping, expected, join, keys_of, others, text_id
from quickchecks.adapters._strays import refuse_calls

__all__ = ("load", "recognises", "split")

_RESPONSE = "google.genai.types:GenerateContentResponse"
_CONTENT = "google.genai.types:Content"
_CHAT = "google.genai.chats:_BaseChat"

_ROLES: dict[str, Role] = {"function": "tool", "model": "assistant", "system": "system", "tool": "tool", "user": "user"}
_CONTENT_KEYS = frozenset(("role", "parts"))
_HISTORY = "automatic_function_calling_history"
_READ_BESIDE = frozenset(
    key for name in ("contents", "candidates", "system_instruction", "usage_metadata", "response") for key in (name, camel(name))
)
#: Ends of a turn in which a call was wanted, and none is recorded.
_LOST_CALLS = frozenset(("MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "MALFORMED_RESPONSE"))
_CALL_MARKS = frozenset((*CALL_KEYS, *map(camel, CALL_KEYS)))
#: Parts that are calls.
_MADE = tuple(key for name in ("function_call", "tool_call", "executable_code") for key in (name, camel(name)))
_NO_PARTS: tuple[GapKind, ...] = ("calls", "text")


def recognises(value: Any) -> bool:
    """Whether a value is a response, contents (or a record with them), or a chat."""
    if type(value) is list or type(value) is tuple:
        return _are_contents(value)
    if type(value) is dict:
        for key in ("contents", "messages", "history"):
            held = value.get(key)
            if type(held) is list or type(held) is tuple:
                return _are_contents(held)
        return _is_response(value)
    return is_a(value, _RESPONSE, _CHAT)


def _is_response(value: Mapping[str, Any]) -> bool:
    candidates = value.get("candidates")
    if type(candidates) is not list or not candidates or type(candidates[0]) is not dict:
        return False
    content = candidates[0].get("content")
    if type(content) is dict:
        return type(content.get("parts")) is list or content.get("role") == "model"
    return content is None and ("finishReason" in candidates[0] or "finish_reason" in candidates[0])


def _are_contents(values: Any) -> bool:
    """Whether one of these is a content; nothing but a part without a type, or the role of the model, marks one."""
    strangers = 0
    for value in values:
        if type(value) is not dict:
            if is_a(value, _CONTENT):
                return True
            strangers += 1
            if strangers > LOOK_AT:
                return False
            continue
        parts = value.get("parts")
        if type(parts) is not list:
            continue
        role = value.get("role")
        typed = any(type(part) is dict and "type" in part for part in parts)
        if role == "model" and not typed:
            return True
        if role in (None, "user", "function", "tool") and not typed:
            marks = PART_KEYS if role is not None else _CALL_MARKS
            if any(type(part) is dict and not marks.isdisjoint(part) for part in parts):
                return True
    return False


def split(value: Any) -> list[tuple[str, Any]] | None:
    """A response with several candidates holds several answers to one question: a run each."""
    if isinstance(value, (list, tuple)) or is_a(value, _CHAT):
        return None
    record = as_mapping(value)
    candidates = record.get("candidates") if record is not None else None
    if record is None or not isinstance(candidates, (list, tuple)) or len(candidates) < 2:
        return None
    return [("", {**record, "candidates": [candidate]}) for candidate in candidates]


def load(value: Any) -> Run:
    """Read one run.

    Args:
        value: What `recognises` accepts.

    Returns:
        The run.

    Raises:
        RecordingError: The value is malformed.
    """
    if is_a(value, _CHAT):
        return _listed(value.get_history(), "", ContentReader())
    if isinstance(value, (list, tuple)):
        return _listed(value, "", ContentReader())
    record = as_mapping(value)
    if record is None:
        raise expected("a list of contents, or a response", value, "")
    for key in ("contents", "messages", "history"):
        if record.get(key) is not None:
            return _record(record, key)
    if "candidates" in record or take(record, "prompt_feedback") is not None:
        return _response(record, field(value, "parsed"))
    raise expected("a list of contents, or a response", value, "")


def _listed(contents: Any, path: str, reader: ContentReader) -> Run:
    error = _read(contents, path, reader)
    gaps = (*reader.gaps, *cut_calls(reader.made()))
    gaps += unheard(reader.messages)[: 1 if reader.messages else 2]
    return Run(tuple(reader.messages), gaps=gaps, error=error)


def _read(contents: Any, path: str, reader: ContentReader) -> RunError | None:
    """Read contents, and what stands between them: words, parts, and whole answers. Gives the error of the last of these."""
    if not isinstance(contents, (list, tuple)):
        raise expected("a list of contents", contents, path)
    error: RunError | None = None
    for at, value in enumerate(contents):
        where = f"{path}[{at}]"
        if isinstance(value, str):
            reader.read("user", [value], where)
            continue
        entry = as_mapping(value)
        if entry is None:
            raise expected("a content, that is an object with parts", value, where)
        if "parts" in entry or isinstance(entry.get("role"), str):
            _content(entry, where, reader)
        elif "candidates" in entry:
            if isinstance(entry["candidates"], (list, tuple)) and len(entry["candidates"]) > 1:
                raise expected("a response with one candidate", entry["candidates"], join(where, "candidates"))
            error = _append_answer(entry, where, reader)
        elif "content" in entry and ("finish_reason" in entry or "finishReason" in entry or as_mapping(entry["content"])):
            error = _candidate(entry, where, reader)
        elif not PART_KEYS.isdisjoint(entry):
            reader.read(_speaker([entry]), [entry], where)
        else:
            raise expected("a content, that is an object with parts", value, where)
    return error


def _speaker(parts: Any) -> Role:
    """Whose parts these are where nothing says so: calls are the model's."""
    entries = [as_mapping(part) or {} for part in parts] if isinstance(parts, (list, tuple)) else []
    return "assistant" if any(entry.get(key) is not None for entry in entries for key in _MADE) else "user"


def _content(value: Any, path: str, reader: ContentReader, role: str | None = None) -> None:
    content = as_mapping(value)
    if content is None:
        raise expected("a content, that is an object with parts", value, path)
    given = content.get("role")
    if given is None:
        given = role
    known = _speaker(content.get("parts")) if given is None else _ROLES.get(given) if isinstance(given, str) else None
    if known is None:
        raise expected(f"one of the roles {', '.join(sorted(_ROLES))}", given, join(path, "role"))
    beside = others(content, _CONTENT_KEYS)
    if known == "assistant":
        refuse_calls(beside, path, "in the parts")
        if not content.get("parts") and beside:
            reader.gaps += [Gap(kind, f"a content without parts holds {keys_of(beside)}") for kind in _NO_PARTS]
    reader.read(known, content.get("parts"), join(path, "parts"), metadata=plain(beside))


def _record(record: Mapping[str, Any], key: str) -> Run:
    """A request, with the response beside it where there is one."""
    reader = ContentReader()
    if (system := take(record, "system_instruction")) is not None:
        told = as_mapping(system)
        reader.read("system", [system] if told is None else told.get("parts"), "system_instruction")
    contents = record[key]
    told_error = _read(contents, key, reader)
    response = as_mapping(record.get("response")) if "candidates" not in record else record
    beside = {name: item for name, item in record.items() if name not in _READ_BESIDE and name != key}
    run = run_of(beside, contents, reader.messages, reader.gaps)
    if response is None or "candidates" not in response:
        gaps = unheard(reader.messages)
        gaps = (*cut_calls(reader.made()), *(gaps[:1] if reader.messages else gaps))
        return replace(run, gaps=(*run.gaps, *gaps), error=told_error or run.error)
    ended = _append_answer(response, "" if response is record else "response", reader)
    usage = usage_of(take(response, "usage_metadata"))
    return replace(
        run,
        messages=tuple(reader.messages),
        gaps=(*reader.gaps, *cut_calls(reader.made())),
        error=ended or run.error,
        usage=usage or run.usage,
    )


def _response(record: Mapping[str, Any], parsed: Any) -> Run:
    """One response. What automatic function calling did before the answer stands in its history."""
    reader = ContentReader()
    history = take(record, _HISTORY)
    start = 0
    if history:
        _read(history, _HISTORY, reader)
        # A chat sends what was said before along: this turn begins with the last question.
        start = max((at for at, message in enumerate(reader.messages) if message.role == "user"), default=0)
    else:
        reader.gaps.append(Gap("input", "a single response does not show what was asked"))
    error = _append_answer(record, "", reader)
    usage = usage_of(take(record, "usage_metadata"))
    sent = take(as_mapping(take(record, "usage_metadata")) or {}, "tool_use_prompt_token_count")
    if type(sent) is int and sent and not reader.made():
        reader.gaps.append(Gap("calls", "the usage tells of tools that the provider ran, and no call of them is recorded"))
    if history:
        usage = None
        reader.gaps.append(Gap("usage", "a response tells the usage of the last request alone"))
    elif history is None and (_HISTORY in record or camel(_HISTORY) in record):
        note = "a response without a history of automatic function calling may be that of a chat, whose calls only the chat shows"
        reader.gaps.append(Gap("calls", note))
    messages = reader.messages
    if parsed is not None and messages:
        messages[-1] = _with_value(messages[-1], parsed)
    run = Run(
        tuple(messages),
        id=text_id(take(record, "response_id")),
        history_length=start,
        usage=None if usage is None else replace(usage, requests=1),
        error=error,
    )
    if not history and any(call.state == "requested" for call in run.all_tool_calls):
        reader.gaps.append(Gap("results", "a single response shows which tools were asked for, never their results"))
    return replace(run, gaps=(*reader.gaps, *cut_calls(reader.made()), *unheard(messages)))


def _append_answer(record: Mapping[str, Any], path: str, reader: ContentReader) -> RunError | None:
    """Read the answer of a response; gives the error with which the model ended, if it did."""
    candidates = record.get("candidates")
    if not candidates:
        feedback = as_mapping(take(record, "prompt_feedback")) or {}
        reason = named(take(feedback, "block_reason"))
        return RunError(f"the prompt was blocked: {reason}", reason) if reason else None
    candidate = as_mapping(candidates[0]) if isinstance(candidates, (list, tuple)) else None
    if candidate is None:
        raise expected("a list with the candidate that the model made", candidates, join(path, "candidates"))
    return _candidate(candidate, join(path, "candidates[0]"), reader)


def _candidate(candidate: Mapping[str, Any], path: str, reader: ContentReader) -> RunError | None:
    content = candidate.get("content")
    if content is not None:
        begun = len(reader.messages)
        _content(content, join(path, "content"), reader, role="model")
        reader.gaps += searches(candidate, reader.messages, begun)
    reason = named(take(candidate, "finish_reason"))
    said = take(candidate, "finish_message")
    if reason == "MAX_TOKENS":
        reader.gaps.append(Gap("other", "the model was cut off by the limit of tokens (MAX_TOKENS)"))
    if reason in _LOST_CALLS:
        reader.gaps.append(Gap("calls", f"the model made a call that cannot be read ({reason})"))
    if reason in _LOST_CALLS or (content is None and reason not in ("", "STOP", "MAX_TOKENS")):
        return RunError(said if isinstance(said, str) and said else f"the model ended with {reason}", reason)
    return None


def _with_value(message: Message, value: Any) -> Message:
    """The structured answer beside the text that it was read from."""
    texts = [at for at, part in enumerate(message.parts) if type(part) is Text]
    if message.role != "assistant" or len(texts) != 1:
        return message
    parts: list[Part] = list(message.parts)
    parts[texts[0]] = Text(message.text, plain(value))
    return replace(message, parts=tuple(parts))
