"""Runs as quickchecks itself has them: a `Run`, its wire form (the `schema` is `quickchecks.run/1`), or its messages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from quickchecks._run import Gap, Message, Other, Reasoning, Run, Step, Text, ToolCall, ToolResult
from quickchecks.adapters._record import unheard
from quickchecks.adapters._shapes import described, expected, join
from quickchecks.errors import RecordingError, nearest_names

__all__ = ("load", "recognises")

_SCHEMA = "quickchecks.run/1"


def _keys(cls: type[msgspec.Struct]) -> frozenset[str]:
    tag = cls.__struct_config__.tag_field
    return frozenset(cls.__struct_encode_fields__) | ({tag} if tag is not None else set())


_RUN_KEYS = _keys(Run)
_MESSAGE_KEYS = _keys(Message)
_PART_KEYS = {cls.__struct_config__.tag: _keys(cls) for cls in (Text, Reasoning, Step, Other, ToolCall, ToolResult)}


def recognises(value: Any) -> bool:
    """Whether a value is a run, an object whose schema is that of a run, or messages of a run."""
    if isinstance(value, (Run, Message)):
        return True
    if isinstance(value, (list, tuple)):
        return bool(value) and isinstance(value[0], Message)
    schema = value.get("schema") if isinstance(value, dict) else None
    return isinstance(schema, str) and schema.startswith("quickchecks.run/")


def load(value: Any) -> Run:
    """Read one run.

    Args:
        value: The run, its wire form, a message or a list of messages.

    Returns:
        The run.

    Raises:
        RecordingError: It is not in the wire form, or in that of a later version; it has keys that the wire form has not,
            or more history than messages.
    """
    if isinstance(value, Run):
        return value
    if isinstance(value, Message) or (isinstance(value, (list, tuple)) and recognises(value)):
        return _of_messages((value,) if isinstance(value, Message) else tuple(value))
    if not isinstance(value, dict) or not recognises(value):
        raise expected(f"an object with the schema {_SCHEMA}", value, "")
    if value["schema"] != _SCHEMA:
        problem = f"the schema is {described(value['schema'])}, and this release reads {_SCHEMA}"
        raise RecordingError(problem, path="schema", hint="it was written by another release: update quickchecks")
    try:
        _check(value, "")
        return _told(msgspec.convert(value, Run))
    except msgspec.ValidationError as error:
        problem, _, path = str(error).partition(" - at `$")
        raise RecordingError(_plain(problem), path=path.rstrip("`").removeprefix(".")) from None
    except UnicodeError:  # msgspec cannot even say what it found there
        raise RecordingError("a text that holds half of a surrogate pair stands where the schema has no text") from None
    except RecursionError:
        raise RecordingError("nested runs lie too deeply in one another to be read") from None


def _of_messages(messages: tuple[Any, ...]) -> Run:
    for at, message in enumerate(messages):
        if not isinstance(message, Message):
            raise expected("a Message, as those before it", message, f"[{at}]")
    return Run(messages, gaps=unheard(messages)[:1])


def _told(run: Run) -> Run:
    """A run in which the agent does nothing shows nothing, unless it says itself what it does not show.

    Where nobody but a user speaks, that the agent said nothing is taken for its answer, as in chat messages. The
    reference's recordings are taken as complete: an empty one is a run in which nothing happened.
    """
    if run.children or run.format == "reference" or any(message.role == "assistant" for message in run.messages):
        return run
    kinds = {gap.kind for gap in run.gaps}
    missing: list[Gap] = [gap for gap in unheard(run.messages)[: 1 if run.messages else 2] if gap.kind not in kinds]
    return replace(run, gaps=(*run.gaps, *missing)) if missing else run


def _check(run: Mapping[str, Any], path: str) -> None:
    """Refuse what msgspec passes over: unknown keys, behind which calls or words may be lost."""
    _known(run, _RUN_KEYS, path)
    messages = run.get("messages")
    messages = messages if isinstance(messages, (list, tuple)) else ()
    length = run.get("history_length", 0)
    if type(length) is int and not 0 <= length <= len(messages):
        problem = f"expected a number from 0 to {len(messages)}, how many messages there are, got {length}"
        raise RecordingError(problem, path=join(path, "history_length"))
    for place, inner in _inner_runs(run, messages, path):
        _check(inner, place)


def _inner_runs(run: Mapping[str, Any], messages: Any, path: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for number, message in enumerate(messages):
        if not isinstance(message, Mapping):
            continue
        here = join(path, f"messages[{number}]")
        _known(message, _MESSAGE_KEYS, here)
        parts = message.get("parts")
        for at, part in enumerate(parts if isinstance(parts, (list, tuple)) else ()):
            if not isinstance(part, Mapping):
                continue
            kind = part.get("type")
            if isinstance(kind, str) and kind in _PART_KEYS:
                _known(part, _PART_KEYS[kind], f"{here}.parts[{at}]")
            if isinstance(part.get("run"), Mapping):
                yield f"{here}.parts[{at}].run", part["run"]
    children = run.get("children")
    for at, child in enumerate(children if isinstance(children, (list, tuple)) else ()):
        if isinstance(child, Mapping):
            yield join(path, f"children[{at}]"), child


def _known(found: Mapping[str, Any], keys: frozenset[str], path: str) -> None:
    if found.keys() <= keys:
        return
    strange = sorted(map(str, found.keys() - keys))[0]
    problem = f"a key that {_SCHEMA} does not have: {described(strange).removeprefix('the text ')}"
    hint = nearest_names(strange, sorted(keys)) or f"the keys here are {', '.join(sorted(keys))}"
    raise RecordingError(problem, path=path, hint=f"{hint}; metadata may hold anything" if "metadata" in keys else hint)


def _plain(problem: str) -> str:
    """The message of msgspec without its name for the type, which says less than the schema does."""
    return re.sub(r"^Expected", "expected", problem)
