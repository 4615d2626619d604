"""The version of a scorer: a fingerprint of its arguments and its code."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from types import FunctionType

__all__ = ("fingerprint",)


def fingerprint(expression: str, functions: Sequence[object]) -> str:
    """Make the fingerprint of a scorer.

    Args:
        expression: The expression that makes it, or its id.
        functions: Its steps. A step of a built-in check has a `revision`, which stands for its code; a combined step
            has `parts`, whose versions stand for it; of any other step the source is read.

    Returns:
        A text such as "sha256:1f0c3a…"; empty when some source cannot be read, which means "score again".
    """
    known = [expression]
    for function in functions:
        source = _version_of(function)
        if not source:
            return ""
        known.append(source)
    return "sha256:" + sha256("\n".join(known).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _version_of(function: object) -> str:
    parts = getattr(function, "parts", None)
    if isinstance(parts, tuple):
        versions = [part.version for part in parts]
        return " ".join(versions) if all(versions) else ""
    revision = getattr(function, "revision", None)
    return f"revision {revision}" if revision is not None else _source_of(function)


def _source_of(function: object) -> str:
    """The source of a function with the plain values that it closes over; empty when something cannot be read."""
    from inspect import getsource

    if not isinstance(function, FunctionType):
        return ""
    try:
        captured = [cell.cell_contents for cell in function.__closure__ or ()]
        source = getsource(function)
    except (OSError, TypeError, ValueError):
        return ""
    captured += [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    return f"{source} {captured!r}" if all(_is_plain(value) for value in captured) else ""


def _is_plain(value: object) -> bool:
    """Whether the repr of a value says all of it, and says the same in every process."""
    if isinstance(value, tuple):
        return all(_is_plain(item) for item in value)
    return value is None or isinstance(value, (str, int, float, bool))
