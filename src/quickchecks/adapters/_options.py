"""The options that a user gives for the agent of a framework."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from inspect import Parameter, signature
from typing import Any

from quickchecks.errors import TargetError, nearest_names

__all__ = ("refuse_unknown",)


def refuse_unknown(options: Mapping[str, Any], run: Callable[..., Any], own: Iterable[str]) -> None:
    """Refuse an option that the method by which an agent runs does not take.

    Args:
        options: The options.
        run: The method.
        own: The parameters that are not the user's to give.

    Raises:
        TargetError: There is such an option.
    """
    try:
        parameters = signature(run).parameters
    except (TypeError, ValueError):
        return
    kept = frozenset(own)
    known = {name for name, one in parameters.items() if one.kind is not Parameter.VAR_KEYWORD} - kept
    takes_any = any(one.kind is Parameter.VAR_KEYWORD for one in parameters.values())
    for name in options:
        if name in kept or not (takes_any or name in known):
            raise TargetError(f"the agent takes no {name!r}, which target_options gives: {nearest_names(name, known)}")
