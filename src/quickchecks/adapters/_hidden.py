"""What LiteLLM keeps beside a response: what it cost, and how long it took."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from quickchecks._run import Run, Usage
from quickchecks.adapters._objects import field, is_foreign

__all__ = ("hidden_extras",)


def hidden_extras(value: Any, run: Run) -> Run:
    """Add the cost and the duration that an object of LiteLLM holds outside of its fields.

    Args:
        value: The object that the run was read from.
        run: The run.
    """
    if not is_foreign(value):
        return run
    cost = field(field(value, "_hidden_params"), "response_cost")
    milliseconds = field(value, "_response_ms")
    if type(cost) in (int, float):
        run = replace(run, usage=replace(run.usage or Usage(), cost=float(cost)))
    if type(milliseconds) in (int, float) and run.duration is None:
        run = replace(run, duration=milliseconds / 1000)
    return run
