"""What to say about a value that no format knows: what came, and where inside it something is that one would know."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any

from quickchecks.adapters._dialects import dialect, is_message
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
    found = found_inside(record)
    if "other" in found:
        return _other_dialect(found["other"])
    if found:
        return _map_hint(found, record)
    for key in ("output", "answer", "response", "completion", "text", "result"):
        if isinstance(record.get(key), str):
            pairs = {"output": key, **_question(record)}
            return f"text found at {key}: try {_as_option(pairs)}"
    return f"formats are {_names()}; format= reads it as one of them, map= says where its messages are"


def found_inside(value: Any) -> dict[str, str]:
    """Look for recorded messages and for an answer inside a value of unknown shape.

    Args:
        value: The value.

    Returns:
        Paths by what stands there: "messages", "output", or "other" for messages that no format reads; empty when there is
        nothing of the kind.
    """
    found: dict[str, str] = {}
    for path, inner in _inside(value):
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


def _inside(value: Any) -> Iterator[tuple[str, Any]]:
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
            if isinstance(item, (Mapping, list, tuple)) and item:
                seen += 1
                if seen > _NODES:
                    return
                yield inner_path, item
                if depth < _DEPTH:
                    waiting.append((inner_path, item, depth + 1))


def _other_dialect(path: str) -> str:
    return (
        f"{f'at {path} ' if path else ''}it holds a conversation whose calls are in the manner of a format that this release"
        f" does not read (it reads {_names()}); adapter= takes a function that turns it into messages"
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
