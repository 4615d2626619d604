"""`map=`: where inside an envelope the parts of a run stand, such as `messages=payload.response.messages`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from quickchecks import _wire
from quickchecks.adapters._shapes import as_mapping, described, join, keys_of
from quickchecks.errors import RecordingError, UnknownNameError, nearest_names

__all__ = ("MAP_KEYS", "Mapped", "parsed_map")

#: The parts of a run that a map can give.
MAP_KEYS = ("messages", "output", "input", "id", "tool_calls", "usage", "error", "metadata")

#: Of those, the ones without which a run would be another one: where they are missing, the record is malformed.
_REQUIRED = frozenset(("messages", "output", "tool_calls"))

_STEP = re.compile(r"""\.?([^.\[\]]+)|\[(-?\d+)\]|\[(["'])(.*?)\3\]""")

_Steps = tuple[str | int, ...]


def parsed_map(map: Mapping[str, str] | str) -> Mapped:
    """Read a map.

    Args:
        map: Paths by the part of a run that stands there; or the same as text, `messages=a.b[0].c,input=a.question`.

    Returns:
        The map, ready to be applied.

    Raises:
        UnknownNameError: A run has no such part.
        ValueError: It is empty, or a path cannot be read.
    """
    pairs: list[tuple[str, str]] = []
    if isinstance(map, str):
        for piece in map.split(","):
            name, equals, path = piece.partition("=")
            if not equals:
                raise ValueError(f"expected part=path, such as messages=payload.messages, got {piece!r}")
            pairs.append((name.strip(), path.strip()))
    else:
        pairs = list(map.items())
    for name, _ in pairs:
        if name not in MAP_KEYS:
            raise UnknownNameError("part of a run for map=", str(name), MAP_KEYS)
    if not {name for name, _ in pairs} & {"messages", "output"}:
        raise ValueError("map= must say where messages or output is, such as messages=payload.messages")
    return Mapped({name: (_steps(path), path) for name, path in pairs})


def _steps(path: Any) -> _Steps:
    steps: list[str | int] = []
    at = 0
    text = path if isinstance(path, str) else ""
    while at < len(text) and (found := _STEP.match(text, at)):
        key, index, quote, quoted = found.groups()
        steps.append(int(index) if index is not None else quoted if quote else key)
        at = found.end()
    if not steps or at < len(text):
        raise ValueError(f"cannot read the path {path!r}: expected keys and places, such as payload.messages[0].content")
    return tuple(steps)


class Mapped:
    """A map, ready to be applied to records."""

    def __init__(self, paths: dict[str, tuple[_Steps, str]]) -> None:
        self._paths = paths
        self._first_steps = {steps[0] for steps, _ in paths.values()}

    def apply(self, record: Any) -> tuple[dict[str, Any], list[str]]:
        """Take the parts of a run out of a record.

        Args:
            record: The record.

        Returns:
            The parts by name; and a sentence for each part that is not there.

        Raises:
            RecordingError: What the run cannot do without is not where the map says.
        """
        parts: dict[str, Any] = {}
        missing: list[str] = []
        for name, (steps, path) in self._paths.items():
            try:
                parts[name] = _resolved(record, steps)
            except RecordingError as error:
                if name in _REQUIRED:
                    raise
                missing.append(f"no {name} at {path}: {error.problem}")
        if isinstance(parts.get("messages"), str):
            parts["messages"] = _decoded(parts["messages"], self._paths["messages"][1])
        return parts, missing

    def rest(self, record: Any) -> dict[str, Any]:
        """What the record holds beside the parts that the map leads into."""
        found = as_mapping(record)
        return {key: value for key, value in found.items() if key not in self._first_steps} if found is not None else {}

    def path_of(self, inner: str) -> str:
        """Turn a path inside the parts into the path inside the record."""
        for name, (_, path) in self._paths.items():
            if inner == name or inner.startswith((f"{name}.", f"{name}[")):
                return path + inner[len(name) :]
        return inner


def _resolved(value: Any, steps: _Steps) -> Any:
    path = ""
    for step in steps:
        if isinstance(value, str):
            value = _decoded(value, path)
        if isinstance(value, (list, tuple)):
            place = step if isinstance(step, int) else int(step) if step.lstrip("-").isdecimal() else None
            if place is None:
                raise _absent(f"expected an object with {step}, got {described(value)}", path, "write the place, such as [0]")
            if not -len(value) <= place < len(value):
                raise _absent(f"expected something at [{place}], got {described(value)}", path)
            value = value[place]
        else:
            found = as_mapping(value)
            if found is None:
                raise _absent(f"expected an object with {step}, got {described(value)}", path)
            if step not in found:
                hint = nearest_names(str(step), [key for key in found if isinstance(key, str)])
                raise _absent(f"expected the key {step}, got an object with {keys_of(found)}", path, hint)
            value = found[step]  # type: ignore[index]
        path = join(path, f"[{step}]" if isinstance(step, int) else step)
    return value


def _absent(problem: str, path: str, hint: str = "") -> RecordingError:
    return RecordingError(problem, path=path, hint=hint)


def _decoded(text: str, path: str) -> Any:
    """Some tools store JSON as text inside JSON."""
    if text.lstrip()[:1] not in ("{", "["):
        return text
    try:
        return _wire.loads(text)
    except ValueError as error:
        raise RecordingError(f"expected JSON in a text: {error}", path=path) from None
