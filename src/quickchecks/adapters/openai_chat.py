"""OpenAI chat completions: a list of messages, an object with `messages`, or a full response with `choices`.

Most frameworks, gateways and benchmarks can write this shape. A list whose messages have roles and text only, which fits
several formats, is read as this one. Results carry no error flag on the wire, so a result's text is judged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from quickchecks._run import Gap, Message, Run
from quickchecks.adapters._chat import ChatReader
from quickchecks.adapters._dialects import dialect
from quickchecks.adapters._record import first_choice, is_envelope, run_of, unheard
from quickchecks.adapters._shapes import as_mapping, expected, others

__all__ = ("load", "recognises", "split")

#: What a message of a response holds. An object with other keys and a role is something else.
_MESSAGE_KEYS = frozenset(
    (
        "role",
        "content",
        "tool_calls",
        "function_call",
        "refusal",
        "annotations",
        "audio",
        "reasoning",
        "reasoning_content",
        "reasoning_details",
        "reasoning_items",
        "thinking_blocks",
        "images",
        "parsed",
        "provider_specific_fields",
        "name",
    )
)


def recognises(value: Any) -> bool:
    """Whether a value has the shape of chat messages, of a record with them, or of a chat completion."""
    if isinstance(value, (list, tuple)):
        return dialect(value) == "chat"
    record = as_mapping(value)
    if record is None or _is_marked_as_another(record):
        return False
    messages = record.get("messages")
    if isinstance(messages, (list, tuple)):
        # Without a message there is nothing to know the shape by, but in an envelope, which has no other keys.
        return dialect(messages) == "chat" if messages else is_envelope(record)
    if messages is None and (choices := record.get("choices")) is not None:
        choice = as_mapping(choices[0]) if isinstance(choices, (list, tuple)) and choices else None
        return choice is not None and as_mapping(choice.get("message")) is not None
    return record.get("role") == "assistant" and _MESSAGE_KEYS.issuperset(record) and dialect([record]) == "chat"


def _is_marked_as_another(record: Mapping[str, Any]) -> bool:
    """Records of our own and of AgentDojo have messages too; a run of theirs without calls looks like one of these."""
    schema = record.get("schema")
    ours = isinstance(schema, str) and schema.startswith("quickchecks.")
    return ours or ("suite_name" in record and "user_task_id" in record)


def split(value: Any) -> list[tuple[str, Any]] | None:
    """A response with several choices holds several answers to one question: a run each."""
    record = as_mapping(value)
    choices = record.get("choices") if record is not None else None
    if record is None or not isinstance(choices, (list, tuple)) or len(choices) < 2:
        return None
    return [("", {**record, "choices": [choice]}) for choice in choices]


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
        reader = ChatReader()
        reader.read(value)
        return Run(tuple(reader.messages), gaps=(*reader.gaps, *_unheard(reader.messages)))
    record = as_mapping(value)
    if record is None:
        raise expected("a list of messages, or an object with messages", value, "")
    messages = record.get("messages")
    if messages is not None:
        reader = ChatReader("messages")
        reader.read(messages)
        run = run_of(record, messages, reader.messages, reader.gaps)
        gaps = _unheard(run.messages)
        return replace(run, gaps=(*run.gaps, *gaps)) if gaps else run
    if "choices" in record:
        message = first_choice(record)
        choice = others(as_mapping(record["choices"][0]) or {}, frozenset(("message", "index")))
        rest = {key: item for key, item in record.items() if key != "choices"}
        return _response({**(choice or {}), **rest}, message, "choices[0].message")
    if "role" in record:
        return _response({}, record, "")
    raise expected("a list of messages, or an object with messages", value, "")


def _unheard(messages: Sequence[Message]) -> tuple[Gap, ...]:
    """A conversation that ends with the question is one to which the agent said nothing; what it did is not known."""
    gaps = unheard(messages)
    return gaps[:1] if messages else gaps


def _response(record: Mapping[str, Any], message: Mapping[str, Any], path: str) -> Run:
    """One turn of the model: it shows what was asked for, never what came of it."""
    reader = ChatReader(path, alone=True)
    reader.read([message])
    gaps = [*reader.gaps, Gap("input", "a single response does not show what was asked")]
    run = run_of(record, [message], reader.messages, gaps)
    if run.all_tool_calls:
        gaps.append(Gap("results", "a single response shows which tools were asked for, never their results"))
        run = replace(run, gaps=tuple(gaps))
    return run
