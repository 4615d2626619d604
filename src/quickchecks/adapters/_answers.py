"""An answer as parts of a message: words as they are, any other value as its JSON, with the value beside it."""

from __future__ import annotations

from math import isfinite
from typing import Any

import msgspec

from quickchecks import _wire
from quickchecks._run import Part, Text
from quickchecks.adapters._shapes import described
from quickchecks.errors import UnknownFormatError

__all__ = ("answer_parts",)


def answer_parts(value: Any, path: str = "") -> tuple[Part, ...]:
    """Turn what an agent answered into the parts of a message.

    Args:
        value: Text, a number, a bool, a dict, a list, a dataclass, a pydantic or msgspec object; None says nothing.
        path: Where the value stands inside its record.

    Returns:
        No part for None and for empty text, else one text part.

    Raises:
        UnknownFormatError: The value is none of these.
    """
    if isinstance(value, str):
        return (Text(str(value)),) if value else ()
    if value is None:
        return ()
    if isinstance(value, float) and not isfinite(value):
        return (Text("NaN" if value != value else "Infinity" if value > 0 else "-Infinity", value),)
    plain = _builtins(value, path)
    try:
        return (Text(_wire.shown(plain), plain),)
    except (ValueError, RecursionError):  # such as a whole number of 5000 digits
        raise _no_answer(value, path) from None


def _builtins(value: Any, path: str) -> Any:
    """The value as dicts, lists and scalars, so that it can be stored and read again as it is."""
    if isinstance(value, (bytes, bytearray, memoryview)):
        raise _no_answer(value, path, "decode it first: value.decode()")

    def inner(foreign: Any) -> Any:
        dump = getattr(foreign, "model_dump", None)
        if callable(dump) and not isinstance(foreign, type):
            return dump(mode="json")
        if foreign is value or not _says_what_it_is(foreign):
            raise _no_answer(foreign, path, "" if foreign is value else f"it stands in {described(value)}: {_advice(foreign)}")
        return str(foreign)  # a path or the like, inside an answer: better shown than refused

    try:
        return msgspec.to_builtins(value, str_keys=True, enc_hook=inner)
    except UnknownFormatError:
        raise
    except Exception as error:  # str() and model_dump() of foreign objects may raise anything
        raise _no_answer(value, path) from error


def _says_what_it_is(foreign: Any) -> bool:
    """Whether the text of an object is something that an agent may have answered: an exception or a coroutine is none."""
    if isinstance(foreign, BaseException) or callable(foreign):
        return False
    if any(_has(foreign, mark) for mark in ("__await__", "__aiter__", "__next__")):
        return False
    return any(getattr(type(foreign), name) is not getattr(object, name) for name in ("__str__", "__repr__"))


def _has(foreign: Any, name: str) -> bool:
    try:
        return hasattr(foreign, name)
    except Exception:  # foreign code
        return False


def _no_answer(value: Any, path: str, hint: str = "") -> UnknownFormatError:
    problem = f"{described(value)} is neither a recorded run nor an answer that can be written as JSON"
    return UnknownFormatError(problem, path=path, hint=hint or _advice(value))


def _advice(value: Any) -> str:
    if _has(value, "__await__") or _has(value, "__aiter__"):
        return "it was not awaited: pass what it gives"
    if _has(value, "__next__"):
        return "it is an iterator: pass it to load_runs, or list(…) of it"
    if isinstance(value, BaseException):
        return "an agent that raised gave no answer; str(error) is its message"
    return "pass the text, or a dict, list, dataclass, pydantic or msgspec object"
