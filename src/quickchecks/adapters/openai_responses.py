"""OpenAI responses: a response with its output, the events of a streamed one, or a list of items as a loop around the API builds.

Items may be objects of the SDK, dicts, or both. Results carry no error flag on the wire, so a result's text is judged. A
response by itself shows what was asked for, never what came of it, but for the tools that the provider ran.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from quickchecks._run import Gap, GapKind, Message, Run, RunError, Text, ToolCall
from quickchecks.adapters._dialects import RESPONSE_ITEMS, dialect
from quickchecks.adapters._endings import cut_calls, mark_cut
from quickchecks.adapters._hidden import hidden_extras
from quickchecks.adapters._objects import field, is_a, is_foreign, plain
from quickchecks.adapters._record import read_run_error, unheard
from quickchecks.adapters._responses import ItemReader, response_usage
from quickchecks.adapters._shapes import as_mapping, expected, text_id

__all__ = ("load", "recognises")

_RESPONSES = ("openai.types.responses:Response", "litellm.types:ResponsesAPIResponse")
#: What a response that is not whole may have gone on with.
_CUT_OFF: tuple[GapKind, ...] = ("calls", "text")
_READ_KEYS = frozenset(("id", "object", "output", "instructions", "usage", "error", "input", "messages"))
#: What the events are called that end a stream; each holds the whole response.
_LAST_EVENTS = ("response.completed", "response.incomplete", "response.failed")
_UNFINISHED = ("queued", "in_progress", "cancelled")


def recognises(value: Any) -> bool:
    """Whether a value is a response, a list of items some of which are no messages, or an object with such a list."""
    if isinstance(value, (list, tuple)):
        return _are_items(value) or _are_events(value)
    if isinstance(value, Mapping):
        output = value.get("output")
        if type(output) is list and "choices" not in value:
            return value.get("object") == "response" or _are_items(output)
        if "messages" not in value or "schema" in value or "suite_name" in value:
            return False
        return type(value["messages"]) is list and _are_items(value["messages"])
    return is_foreign(value) and is_a(value, *_RESPONSES)


def _are_items(values: list[Any] | tuple[Any, ...]) -> bool:
    for value in values:
        if type(value) is dict:
            # Messages, which other formats have as well, are looked at no further.
            if "role" not in value and "type" in value and _is_item(value["type"]):
                return dialect(values) == "responses"
        elif is_foreign(value) and field(value, "role") is None and _is_item(field(value, "type")):
            return dialect(values) == "responses"
    return False


def _are_events(values: list[Any] | tuple[Any, ...]) -> bool:
    """Whether a list holds the events of a streamed response. The first of them tells."""
    first = values[0] if values else None
    if type(first) is not dict and not is_foreign(first):
        return False
    kind = field(first, "type")
    return type(kind) is str and kind.startswith("response.") and field(first, "role") is None


def _is_item(kind: Any) -> bool:
    return type(kind) is str and kind in RESPONSE_ITEMS


def load(value: Any) -> Run:
    """Read one run.

    Args:
        value: What `recognises` accepts.

    Returns:
        The run.

    Raises:
        RecordingError: The value is malformed.
    """
    reader = ItemReader()
    if isinstance(value, (list, tuple)):
        if _are_events(value):
            return _streamed(value, reader)
        reader.read(value, "")
        reader.close()
        return Run(tuple(reader.messages), gaps=(*reader.gaps, *_cut(reader.messages), *_unheard(reader.messages)))
    record = as_mapping(value)
    if record is None:
        raise expected("a response, or a list of items", value, "")
    if "messages" in record and "output" not in record:
        reader.read(record["messages"], "messages")
        reader.close()
        gaps = (*reader.gaps, *_cut(reader.messages), *_unheard(reader.messages))
        return _around(record, Run(tuple(reader.messages), plain(record.get("input")), gaps=gaps))
    return hidden_extras(value, _around(record, _response(record, reader)))


def _streamed(events: list[Any] | tuple[Any, ...], reader: ItemReader) -> Run:
    """The response that a stream ends with; of one that broke off, the items that were finished."""
    if sum(field(event, "type") == "response.created" for event in events) > 1:
        hint = "return the list of items that the loop around the API builds: no event shows what tools returned"
        raise expected("the events of one response", events, "", hint)
    for at in range(len(events) - 1, -1, -1):
        if field(events[at], "type") in _LAST_EVENTS:
            response = as_mapping(field(events[at], "response"))
            if response is None:
                raise expected("a response", field(events[at], "response"), f"[{at}].response")
            return _around(response, _response(response, reader))
    finished = [field(event, "item") for event in events if field(event, "type") == "response.output_item.done"]
    run = _response({"output": finished}, reader)
    gaps = [Gap(kind, "the stream ends before the response does") for kind in _CUT_OFF]
    return replace(run, gaps=(*run.gaps, *gaps))


def _cut(messages: list[Message]) -> list[Gap]:
    return cut_calls(part for message in messages for part in message.parts if type(part) is ToolCall)


def _unheard(messages: list[Message]) -> tuple[Gap, ...]:
    gaps = unheard(messages)
    return gaps[:1] if messages else gaps


def _response(record: Mapping[str, Any], reader: ItemReader) -> Run:
    """One turn of the model, with what it was asked where that is recorded beside it."""
    instructions = record.get("instructions")
    if isinstance(instructions, str) and instructions:
        reader.messages.append(Message("system", (Text(instructions),)))
    elif isinstance(instructions, (list, tuple)):
        reader.read(instructions, "instructions")
    asked = record.get("input")
    if asked is not None:
        reader.read(asked, "input")
    reader.close()
    given = len(reader.messages)
    while given and reader.messages[given - 1].role in ("user", "system"):
        given -= 1  # what stands before the question was said in earlier turns
    reader.read(record.get("output"), "output")
    reader.close()
    run = Run(tuple(reader.messages), history_length=given)
    gaps = list(reader.gaps)
    if asked is None:
        gaps.append(Gap("input", "a single response does not show what was asked"))
    status = record.get("status")
    if status in _UNFINISHED:
        gaps += [Gap(kind, f"the response is {status}, not complete") for kind in _CUT_OFF]
    if status == "incomplete":
        why = field(record.get("incomplete_details"), "reason")
        gaps.append(Gap("other", f"the model was cut off ({why if isinstance(why, str) else status})"))
        mark_cut(call for call in run.all_tool_calls if call.kind == "tool")
    gaps += cut_calls(run.all_tool_calls)
    if any(call.state == "requested" and call.kind == "tool" for call in run.all_tool_calls):
        gaps.append(Gap("results", "a single response shows which tools were asked for, never their results"))
    error = read_run_error(plain(record.get("error")))
    if error is None and status == "failed":
        error = RunError("the response failed")
    return replace(run, gaps=tuple(gaps), error=error)


def _around(record: Mapping[str, Any], run: Run) -> Run:
    rest = {key: item for key, item in record.items() if key not in _READ_KEYS and item is not None}
    return replace(
        run,
        id=text_id(record.get("id")),
        usage=response_usage(record.get("usage")),
        error=run.error or read_run_error(plain(record.get("error"))),
        metadata=plain(rest) or None,
    )
