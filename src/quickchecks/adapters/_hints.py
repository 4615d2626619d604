"""What to say about a value that no format knows: what came, and where inside it something is that one would know."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Mapping
from itertools import chain, islice
from typing import Any

from quickchecks import _wire
from quickchecks.adapters._dialects import LOOK_AT, dialect, is_conversation, is_message
from quickchecks.adapters._registry import formats, recognise
from quickchecks.adapters._shapes import as_mapping, described, join
from quickchecks.errors import UnknownFormatError

__all__ = ("found_inside", "unknown")

#: How far the search goes into a value: wide enough for any envelope, and never long.
_DEPTH = 6
_NODES = 400

_QUESTION_KEYS = ("input", "question", "prompt", "query")


def unknown(value: Any, path: str = "") -> UnknownFormatError:
    """Make the error for a value that no format knows."""
    problem = f"no format knows this shape: {described(value)}"
    return UnknownFormatError(problem, path=path, hint=_hint(value))


def _hint(value: Any) -> str:
    record = as_mapping(value)
    if dialect(record.get("messages") if record is not None else value) == "other":
        return _other_dialect("")
    if record is None:
        return (
            "a text alone may be anything; format='values' (--format values) takes it as the answer"
            if isinstance(value, str)
            else f"formats are {_names()}"
        )
    if is_message(record):
        return "it is one message; a run is the list of them"
    if several := _several_runs(record):
        return _divide(*several)
    found = found_inside(record, decode=True)
    if "other" in found:
        return _other_dialect(found["other"])
    if found:
        return _map_hint(found, record)
    for key in ("output", "answer", "response", "completion", "text", "result"):
        if isinstance(record.get(key), str):
            pairs = {"output": key, **_question(record)}
            return f"text found at {key}: try {_as_option(pairs)}"
    return f"formats are {_names()}; format= reads it as one of them, map= says where its messages are"


def _several_runs(value: Any) -> tuple[str, bool] | None:
    """Where a value holds several runs side by side, and whether by name; None when it holds one at the most."""
    for path, inner in chain([("", value)], _inside(value)):
        if not is_conversation(inner) and _are_runs(inner):
            return path, isinstance(inner, Mapping)
    return None


def _are_runs(value: Any) -> bool:
    """Whether several of the things inside a value are whole runs, rather than the request and the response of one."""
    named = isinstance(value, Mapping)
    several: Any = list(value.values()) if named else value
    return sum(_is_run(one) or (not named and is_conversation(one)) for one in islice(several, LOOK_AT)) > 1


def _is_run(value: Any) -> bool:
    if not isinstance(value, Mapping) or "role" in value or "choices" in value:
        return False
    format = recognise(value)
    return format is not None and format.name != "values"


def _divide(path: str, named: bool) -> str:
    names = re.findall(r"[^.\[\]]+", path)
    steps = "".join(f"[{name}]" if name.isdecimal() else f"[{name!r}]" for name in names)
    runs = f"record{steps}.values()" if named else f"record{steps}"
    return (
        f"several runs stand {f'under {path}' if path else 'in it'}, and map= reads one: make each a record of its own"
        f" (jq -c '.{path}[]'), or take them out with adapter=lambda record: list({runs})"
    )


def found_inside(value: Any, *, decode: bool = False) -> dict[str, str]:
    """Look for recorded messages and for an answer inside a value of unknown shape.

    Args:
        value: The value.
        decode: Look into texts that are JSON as well.

    Returns:
        Paths by what stands there: "messages", "output", or "other" for messages that no format reads; empty when there is
        nothing of the kind.
    """
    found: dict[str, str] = {}
    for path, inner in _inside(value, decode):
        if any(path.startswith((f"{outer}.", f"{outer}[")) for outer in found.values()):
            continue
        if dialect(inner) == "other":
            found.setdefault("other", path)
            continue
        format = recognise(inner)
        if format is None or format.name == "values":
            continue
        if isinstance(inner, Mapping) and isinstance(inner.get("messages"), (list, tuple)) and format.name in _BY_MESSAGES:
            path = join(path, "messages")
        what = "output" if isinstance(inner, Mapping) and ("choices" in inner or "role" in inner) else "messages"
        found.setdefault(what, path)
        if len(found) == 2:
            break
    return found


#: Formats that a list under `messages` is enough for.
_BY_MESSAGES = ("openai_chat", "reference")


def _inside(value: Any, decode: bool = False) -> Iterator[tuple[str, Any]]:
    """Every object and list inside a value, the outer ones first, each with its path."""
    waiting = deque([("", value, 0)])
    seen = 0
    while waiting:
        path, outer, depth = waiting.popleft()
        if isinstance(outer, Mapping):
            children = [(join(path, key), item) for key, item in outer.items() if isinstance(key, str)]
        elif isinstance(outer, (list, tuple)):
            children = [(f"{path}[{at}]", item) for at, item in enumerate(outer[:20])]
        else:
            continue
        for inner_path, item in children:
            if decode and isinstance(item, str) and item.lstrip()[:1] in ("[", "{"):
                try:
                    item = _wire.loads(item)
                except _wire.JsonError:
                    continue
            if isinstance(item, (Mapping, list, tuple)) and item:
                seen += 1
                if seen > _NODES:
                    return
                yield inner_path, item
                if depth < _DEPTH:
                    waiting.append((inner_path, item, depth + 1))


def _other_dialect(path: str) -> str:
    return (
        f"{f'at {path} ' if path else ''}it holds a conversation whose calls or contents are in the manner of a format that this"
        f" release does not read (it reads {_names()}); adapter= takes a function that turns it into messages"
    )


def _map_hint(found: dict[str, str], record: Mapping[str, Any]) -> str:
    told = " and ".join(f"{'messages' if what == 'messages' else 'an answer'} found at {path}" for what, path in found.items())
    pairs = {**dict(sorted(found.items())), **_question(record)}
    return f"{told}: try {_as_option(pairs)}"


def _question(record: Mapping[str, Any]) -> dict[str, str]:
    key = next((key for key in _QUESTION_KEYS if isinstance(record.get(key), str)), None)
    return {"input": key} if key else {}


def _as_option(pairs: dict[str, str]) -> str:
    text = ",".join(f"{part}={path}" for part, path in pairs.items())
    return f"--map {text} (in Python: map={pairs})"


def _names() -> str:
    return ", ".join(sorted(formats()))
