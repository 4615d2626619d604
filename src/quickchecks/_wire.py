"""The wire form's one JSON module: msgspec first, the standard library for what msgspec refuses.

Recordings hold what models and tools wrote, so lone surrogates, NaN and a byte order mark do occur. msgspec refuses
them, rightly; the standard library reads them. Every reader and writer of JSON in quickchecks goes through here.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any

import msgspec

__all__ = ("JsonError", "as_text", "dumps", "loads", "loads_once", "shown", "to_builtins")

_decoder = msgspec.json.Decoder()
_encoder = msgspec.json.Encoder()

#: What is nested more deeply than this is written as "…": it would exhaust the stack of whoever walks it.
MAX_DEPTH = 200
#: Python refuses to write a whole number of more than 4300 digits, which are some 14,000 bits.
_LONGEST_INT = 14_000


class JsonError(ValueError):
    """Text that is not JSON, or not what is wanted of it; the message says where.

    Args:
        message: The message.
        line: The line in the text, where it is known.
        path: Where inside the value, such as `$.items[3]`, where it is known.
    """

    def __init__(self, message: str, line: int | None = None, *, path: str = "") -> None:
        super().__init__(message)
        self.line = line
        self.path = path


def loads(data: bytes | str) -> Any:
    """Read JSON.

    Args:
        data: UTF-8 bytes (a byte order mark is skipped) or text.

    Returns:
        The value, as plain Python objects. NaN and the infinities are read as floats, lone surrogates are kept.

    Raises:
        JsonError: The text is not JSON, or it is nested more deeply than Python's stack allows.

    Example:
        >>> loads(b'{"n": 1}')
        {'n': 1}
    """
    try:
        return _decoder.decode(data)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        return _loads_slowly(data, error)


def loads_once(data: bytes | str) -> Any:
    """Read JSON in which no object says a thing twice: of two values under one key, readers silently take the last.

    Args:
        data: See `loads`.

    Raises:
        JsonError: See `loads`; also when an object has a key twice.

    Example:
        >>> loads_once('{"n": 1, "n": 2}')
        Traceback (most recent call last):
        quickchecks._wire.JsonError: the key 'n' stands twice in one object
    """
    import json

    found = loads(data)
    text = data if isinstance(data, str) else data.decode("utf-8-sig", "surrogatepass")
    text = text.removeprefix("\ufeff")
    repeats: list[int] = []
    try:
        json.loads(text, object_pairs_hook=lambda pairs: repeats.append(len(pairs) - len(dict(pairs))), parse_int=str)
    except RecursionError:
        raise JsonError("the JSON is nested too deeply to be read") from None
    if any(repeats):
        key, line, path = _repeat_in(text)
        raise JsonError(f"the key {key!r} stands twice in one object", line, path=path)
    return found


def _repeat_in(text: str) -> tuple[str, int, str]:
    """The first key of a JSON text that its object has already, on which line it stands, and the path of the object."""
    import json
    import re

    objects: list[set[str]] = []
    steps: list[str | int] = []  # inside each of them: the key, or the place in the list
    text_before = None
    for token in re.finditer(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]', text):
        sign = token[0]
        if sign in "{[":
            objects.append(set())
            steps.append("" if sign == "{" else 0)
        elif sign in "}]":
            objects.pop()
            steps.pop()
        elif sign == ",":
            step = steps[-1]
            steps[-1] = step + 1 if isinstance(step, int) else step
        elif sign != ":":
            text_before = token
        elif text_before is not None:
            key = json.loads(text_before[0])
            if key in objects[-1]:
                path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps[:-1])
                return key, text.count("\n", 0, text_before.start()) + 1, f"${path}"
            objects[-1].add(key)
            steps[-1] = key
    raise AssertionError("there is a key that its object has already")


def _refuse_conflict(text: str) -> None:
    """Refuse a text in which a merge stands that nobody has finished."""
    import re

    # No JSON has a line that begins so: a line break inside a text of it is escaped.
    found = re.search(r"^(?:<{7}|>{7}|\|{7})(?=\s|$)", text, re.MULTILINE) or re.fullmatch(r"={7}\s*", text)
    if found is not None:
        said = f"git left a conflict here ({found[0].strip()}): finish the merge, and take its marks out of the file"
        raise JsonError(said, text.count("\n", 0, found.start()) + 1)


def _loads_slowly(data: bytes | str, first: Exception) -> Any:
    import json  # here and below, because it is rarely needed and every import of quickchecks would pay for it

    text = ""
    try:
        text = data if isinstance(data, str) else data.decode("utf-8-sig", "surrogatepass")
        return json.loads(text.removeprefix("\ufeff"))
    except RecursionError:
        raise JsonError("the JSON is nested too deeply to be read") from None
    except ValueError as error:
        _refuse_conflict(text)
        raise JsonError(f"not valid JSON: {error}") from first


def dumps(value: object) -> bytes:
    """Write a value as one line of JSON.

    Structs and containers are written as their wire form; values that JSON does not know are written as text, so that
    whatever a tool returned can be kept.

    Args:
        value: The value.

    Returns:
        UTF-8 bytes without a line break.

    Example:
        >>> dumps({"n": 1})
        b'{"n":1}'
    """
    try:
        return _encoder.encode(value)
    except (TypeError, ValueError, UnicodeError, RecursionError, OverflowError):
        import json

        return json.dumps(to_builtins(value), ensure_ascii=True, separators=(",", ":")).encode()


def to_builtins(value: object, depth: int = MAX_DEPTH, inside: frozenset[int] = frozenset()) -> Any:
    """Turn any value into what JSON can hold: strings, numbers, lists and dicts with string keys.

    A container that is inside itself is written as "…" there, because following it would never end.
    """
    if isinstance(value, float):
        return value if isfinite(value) else None  # as msgspec writes them
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return value if value.bit_length() < _LONGEST_INT else as_text(value)
    if depth <= 0 or id(value) in inside:
        return "…"
    inside |= {id(value)}
    if isinstance(value, msgspec.Struct):
        return _struct_to_builtins(value, depth, inside)
    if isinstance(value, Mapping):
        return {
            key if isinstance(key, str) else as_text(key): to_builtins(item, depth - 1, inside) for key, item in value.items()
        }
    if isinstance(value, (list, tuple, set, frozenset)):
        return [to_builtins(item, depth - 1, inside) for item in value]
    try:
        return to_builtins(msgspec.to_builtins(value), depth - 1, inside)
    except Exception:  # foreign code may raise anything
        return as_text(value)


def as_text(value: object) -> str:
    """`str(value)`, and for a value whose `__str__` raises (it is foreign code), what kind of value it is."""
    try:
        return str(value)
    except Exception:
        return f"<{type(value).__name__} that cannot be shown>"


def _struct_to_builtins(value: msgspec.Struct, depth: int, inside: frozenset[int]) -> dict[str, object]:
    config = value.__struct_config__
    found: dict[str, object] = {}
    if config.tag is not None and config.tag_field is not None:
        found[config.tag_field] = config.tag
    defaults = dict(zip(reversed(value.__struct_fields__), reversed(value.__struct_defaults__), strict=False))
    for name, wire_name in zip(value.__struct_fields__, value.__struct_encode_fields__, strict=True):
        item = getattr(value, name)
        if item is msgspec.UNSET or (config.omit_defaults and name in defaults and item == defaults[name]):
            continue
        found[wire_name] = to_builtins(item, depth - 1, inside)
    return found


def shown(value: object) -> str:
    """Write a value as JSON text for a person to read, as well as it can be."""
    return dumps(value).decode("utf-8", "replace")
