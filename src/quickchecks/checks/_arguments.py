"""What the arguments of checks must be, and what is said when they are something else.

A check that can never fail, or never pass, is a bug in the test, so it is refused when it is built.
"""

from __future__ import annotations

from math import isfinite
from typing import Literal

from quickchecks import _render
from quickchecks.errors import CheckArgumentError, CheckArgumentTypeError

__all__ = ("agent", "check_name", "flag", "natural", "one_of", "share", "text", "tool_name", "tool_names")


def text(check: str, parameter: str, value: object, example: str, *, may_be_empty: bool = False) -> str:
    """Require a text that is not empty."""
    if isinstance(value, (list, tuple, set, frozenset)):
        inner = [item for item in value if isinstance(item, str)][:2] or ["a", "b"]
        calls = ", ".join(f"{check}({item!r})" for item in inner)
        raise CheckArgumentTypeError(
            f"{check}() takes one text, not {_render.value(value)}: "
            f"combine several checks with all_of({calls}) or any_of({calls})"
        )
    if not isinstance(value, str):
        hint = f"write {check}({str(value)!r})" if isinstance(value, (int, float)) else f"write {example}"
        raise CheckArgumentTypeError(f"{check}() takes its {parameter} as text, not {_shown(value)}: {hint}")
    if not value and not may_be_empty:
        raise CheckArgumentError(f"{check}('') could never decide anything: give it a text that is not empty, as in {example}")
    return value


def tool_name(check: str, value: object) -> str:
    """Require the name of a tool."""
    if not isinstance(value, str) and callable(value):
        name = getattr(value, "__name__", None) or getattr(value, "name", None) or type(value).__name__
        raise CheckArgumentTypeError(
            f"{check}() takes the name of the tool, not the function itself: write {check}({str(name)!r})"
        )
    return text(check, "name", value, f"{check}('get_weather')")


def tool_names(check: str, value: object) -> tuple[str, ...]:
    """Require a list of tool names that is not empty."""
    if isinstance(value, str):
        raise CheckArgumentTypeError(f"{check}() takes a list of names, not one text: write {check}([{value!r}, ...])")
    if not isinstance(value, (list, tuple)):
        raise CheckArgumentTypeError(f"{check}() takes a list of names, not {_shown(value)}: write {check}(['search', 'answer'])")
    if not value:
        raise CheckArgumentError(f"{check}([]) could never fail: give it at least one name")
    return tuple(tool_name(check, name) if not isinstance(name, str) else _listed_name(check, name) for name in value)


def _listed_name(check: str, name: str) -> str:
    if not name:
        raise CheckArgumentError(f"{check}() got an empty name in its list; every name must be the name of a tool")
    return name


def natural(check: str, parameter: str, value: object, least: int) -> int:
    """Require a whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise CheckArgumentTypeError(f"{check}() takes {parameter} as a whole number, not {_shown(value)}")
    if value < least:
        never = "could never fail" if least else "could never pass"
        raise CheckArgumentError(f"{check}() with {parameter}={value} {never}: {parameter} must be at least {least}")
    return value


def share(check: str, parameter: str, value: object) -> float:
    """Require a finite number in 0..1."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise CheckArgumentTypeError(f"{check}() takes {parameter} as a number in 0..1, not {_shown(value)}")
    if not isfinite(value) or not 0 <= value <= 1:
        raise CheckArgumentError(f"{check}() takes {parameter} in 0..1, not {value}: scores lie in 0..1")
    return float(value)


def flag(check: str, parameter: str, value: object) -> bool:
    """Require True or False."""
    if not isinstance(value, bool):
        raise CheckArgumentTypeError(f"{check}() takes {parameter} as True or False, not {_shown(value)}")
    return value


def one_of(check: str, parameter: str, value: object, choices: tuple[str, ...]) -> str:
    """Require one of a few words."""
    if value not in choices:
        raise CheckArgumentError(f"{check}() takes {parameter} as {' or '.join(map(repr, choices))}, not {_shown(value)}")
    return str(value)


def where(check: str, value: object) -> Literal["all", "final"]:
    """Require a place to look: all of the output text, or the final answer."""
    return "final" if one_of(check, "where", value, ("all", "final")) == "final" else "all"


def agent(check: str, value: object) -> str | None:
    """Require the name of an agent; None stands for all of them."""
    if value is not None and not isinstance(value, str):
        raise CheckArgumentTypeError(f"{check}() takes agent as the name of an agent, or 'root', not {_shown(value)}")
    if value == "":
        raise CheckArgumentError(f"{check}(agent='') names no agent: give the name of one, or 'root'")
    return value


def check_name(check: str, name: object, why: object) -> tuple[str | None, str]:
    """Require the user's name and reason to be texts."""
    if name is not None and (not isinstance(name, str) or not name):
        raise CheckArgumentTypeError(f"{check}() takes name as a text that is not empty, not {_shown(name)}")
    if why is not None and not isinstance(why, str):
        raise CheckArgumentTypeError(f"{check}() takes why as one sentence, not {_shown(why)}")
    return name, why or ""


def _shown(value: object) -> str:
    if callable(value):
        return f"{type(value).__name__} {getattr(value, '__name__', '')}".strip()
    return _render.value(value)
