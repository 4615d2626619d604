"""What every format needs to read foreign values: errors that name the place, and mappings out of SDK objects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from quickchecks import _wire
from quickchecks.errors import RecordingError

__all__ = ("as_mapping", "described", "expected", "join", "keys_of", "others", "text_id")


_SCALARS = frozenset((str, int, float, bool, type(None), list))


def expected(what: str, came: object, path: str, hint: str = "") -> RecordingError:
    """Make the error for a value that is not what a format needs.

    Args:
        what: What was expected, such as "a list of messages".
        came: What came instead.
        path: Where inside the record.
        hint: What to do next.

    Returns:
        The error, to be raised.
    """
    return RecordingError(f"expected {what}, got {described(came)}", path=path, hint=hint)


def described(value: object) -> str:
    """Say in a few words what a value is, without showing more of it than a reader needs.

    Example:
        >>> described(["a", "b"])
        'a list of 2'
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f"the text {_wire.shown(value if len(value) <= 40 else value[:39] + '…')}"
    if isinstance(value, (int, float)):
        return "a number"
    if isinstance(value, Mapping):
        return f"an object with {keys_of(value)}"
    if isinstance(value, (list, tuple)):
        return f"a list of {len(value)}" if value else "an empty list"
    module, name = type(value).__module__, type(value).__qualname__
    return f"a value of the type {name if module == 'builtins' else f'{module}.{name}'}"


def keys_of(value: Mapping[Any, Any]) -> str:
    """Name the keys of a mapping, the first dozen of them."""
    if not value:
        return "no keys"
    names = [_wire.shown(str(key)[:40])[1:-1] for key, _ in zip(value, range(12), strict=False)]
    more = len(value) - len(names)
    return f"the key{'s' if len(value) > 1 else ''} {', '.join(names)}{f' and {more} more' if more else ''}"


def join(path: str, inner: str) -> str:
    """Put the path inside a value behind the path of that value.

    Example:
        >>> join("payload.messages", "[2].role")
        'payload.messages[2].role'
    """
    return f"{path}.{inner}" if path and inner and not inner.startswith("[") else path + inner


def as_mapping(value: Any) -> Mapping[str, Any] | None:
    """Give the mapping that a value is, or shows itself as: SDK objects are pydantic models. None when it is none."""
    if type(value) is dict:
        return value
    if type(value) in _SCALARS:
        return None
    if isinstance(value, Mapping):
        return dict(value)
    try:
        dumps = not isinstance(value, type) and callable(getattr(value, "model_dump", None))
    except Exception:  # foreign code: an attribute that cannot be read is none
        return None
    if dumps:
        shown: Any = None
        for options in ({"warnings": False}, {}):  # what an SDK has parsed itself makes pydantic warn of its own type
            try:
                shown = value.model_dump(**options)
                break
            except Exception:  # foreign code: whatever it raises, the value is no mapping to us
                continue
        return shown if isinstance(shown, dict) else None
    return None


def others(record: Mapping[str, Any], known: frozenset[str]) -> dict[str, Any] | None:
    """Collect what a record holds beside the keys that a format reads: it goes to `metadata`. None when nothing does."""
    found = {key: value for key, value in record.items() if value is not None and key not in known}
    return found or None


def text_id(value: Any) -> str | None:
    """Read an id: text or a whole number; an empty one is none, because sources write it for "unknown"."""
    if type(value) is str:
        return value or None
    if type(value) is int and abs(value) < 10**40:
        return str(value)
    return None
