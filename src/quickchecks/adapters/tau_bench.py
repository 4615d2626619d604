"""tau-bench trajectories: chat messages under `traj`, with the task, the trial and the reward. A file is an array of them.

The messages are those of OpenAI's chat completions. A tool that failed says so only in its text, which begins with
"Error".
"""

from __future__ import annotations

from typing import Any

from quickchecks._run import Run
from quickchecks.adapters._chat import ChatReader
from quickchecks.adapters._record import unheard
from quickchecks.adapters._shapes import as_mapping, expected

__all__ = ("load", "recognises")


def recognises(value: Any) -> bool:
    """Whether a value is one trajectory: a list of messages under `traj`, and the task or the reward."""
    return isinstance(value, dict) and isinstance(value.get("traj"), list) and ("task_id" in value or "reward" in value)


def load(value: Any) -> Run:
    """Read one trajectory.

    Args:
        value: The record.

    Returns:
        The run; `task_id`, `trial`, `reward` and `info` are in its metadata.

    Raises:
        RecordingError: The record is malformed.
    """
    record = as_mapping(value)
    if record is None:
        raise expected("a trajectory, that is an object with traj", value, "")
    reader = ChatReader("traj")
    reader.read(record.get("traj"))
    metadata = {key: item for key, item in record.items() if key != "traj"}
    return Run(tuple(reader.messages), gaps=(*reader.gaps, *unheard(reader.messages)), metadata=metadata or None)
