"""DSPy: predictions with the trajectory of ReAct or the history of ReActV2, and trajectories as dicts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from quickchecks._mocks import ToolMocks
from quickchecks._run import Run
from quickchecks.adapters._agents import Dialogue
from quickchecks.adapters._dspy_predictions import read_prediction
from quickchecks.adapters._objects import is_a

__all__ = ("AGENTS", "MOCKS_TOOLS", "converse", "load", "recognises")

AGENTS = ("dspy.primitives.module:Module",)
MOCKS_TOOLS = True

_PREDICTION = "dspy.primitives.prediction:Prediction"


def recognises(value: Any) -> bool:
    """Whether a value is a prediction, or a dict with the trajectory of ReAct."""
    if type(value) is dict:
        trajectory = value.get("trajectory")
        return type(trajectory) is dict and any(isinstance(key, str) and key.startswith("tool_name_") for key in trajectory)
    return is_a(value, _PREDICTION)


def load(value: Any) -> Run:
    """Read one run.

    Args:
        value: What `recognises` accepts.

    Returns:
        The run.

    Raises:
        RecordingError: The value is malformed.
    """
    return read_prediction(value, None)


def converse(agent: Any, options: Mapping[str, Any], mocks: ToolMocks | None) -> Dialogue:
    """Begin a conversation with a module; see `_agents`."""
    from quickchecks.adapters._dspy_dialogue import dialogue_with

    return dialogue_with(agent, options, mocks)
