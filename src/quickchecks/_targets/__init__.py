"""Targets: what is evaluated, and how its answers become one run for each item.

A target is a function, an agent of a framework that an adapter knows, a function without arguments that makes one of these, the
address of an OpenAI-compatible endpoint, or the command of a program.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeGuard

from quickchecks import _render
from quickchecks._targets.agents import AgentTarget, FactoryTarget, ServiceTarget, Talk
from quickchecks._targets.conversation import Conversation, Session, as_chat
from quickchecks._targets.functions import FunctionTarget, takes_nothing
from quickchecks.adapters import agent_kind
from quickchecks.errors import TargetError

__all__ = ("Conversation", "FunctionTarget", "Session", "Talk", "Target", "as_chat", "is_address", "target_of")

Target = FunctionTarget | AgentTarget | FactoryTarget | ServiceTarget


def is_address(value: object) -> TypeGuard[str]:
    """Whether a target is the address of an endpoint."""
    return isinstance(value, str) and value.lower().startswith(("http://", "https://"))


def target_of(value: object, options: Mapping[str, object] | None = None) -> Target:
    """Look at what is to be evaluated.

    Args:
        value: A callable, an agent, a function that makes one, an address, or a command.
        options: What it takes beside the input.

    Raises:
        TargetError: It is none of these, or the options are not what it takes.

    Example:
        >>> target_of(lambda text: text).name
        '<lambda>'
    """
    options = dict(options or {})
    if isinstance(value, ServiceTarget) and not options:
        return value
    if is_address(value):
        from quickchecks._targets.endpoints import Endpoint

        endpoint = Endpoint(value, options)
        return ServiceTarget(endpoint, endpoint.name, mocks_tools=True)
    if isinstance(value, str) and value.startswith("cmd:"):
        from quickchecks._targets.programs import Program

        return ServiceTarget(Program(value, options), value, mocks_tools=False)
    if isinstance(value, str):
        raise TargetError(
            f"the target {_render.value(value)} is a text; an endpoint begins with http:// or https://, a program with cmd:, "
            "and anything else is given as the object itself"
        )
    if agent_kind(value) is not None:
        return AgentTarget(value, options)
    if takes_nothing(value):
        return FactoryTarget(value, options)  # type: ignore[arg-type]
    return FunctionTarget.of(value, options)
