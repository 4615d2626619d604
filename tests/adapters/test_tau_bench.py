"""tau-bench trajectories."""

from __future__ import annotations

from typing import Any

import pytest

from quickchecks import load_run, load_runs
from quickchecks.errors import RecordingError

Foreign = Any  # JSON and the objects of SDKs have no types


def trajectory(task: int = 0, result: str = "Error: not found") -> dict[str, Foreign]:
    function = {"name": "find", "arguments": '{"q":1}'}
    return {
        "task_id": task,
        "reward": 1.0,
        "trial": 0,
        "info": {},
        "traj": [
            {"role": "user", "content": "hi"},
            {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "type": "function", "function": function}]},
            {"role": "tool", "tool_call_id": "c1", "name": "find", "content": result},
            {"role": "assistant", "content": "Sorry."},
            {"role": "user", "content": "bye ###STOP###"},
        ],
    }


def test_a_trajectory_is_read_whole() -> None:
    run = load_run(trajectory())
    assert (run.format, run.final_text, run.tool_names) == ("tau_bench", "Sorry.", ("find",))
    assert run.metadata == {"task_id": 0, "reward": 1.0, "trial": 0, "info": {}}


def test_an_error_is_only_in_the_text() -> None:
    failure = load_run(trajectory()).tool_calls[0].failure()
    assert failure is not None
    assert failure.source == "text"
    assert load_run(trajectory(result="")).tool_calls[0].failure() is None


def test_an_array_of_trajectories_is_several_runs() -> None:
    runs = list(load_runs([trajectory(1), trajectory(2)]))
    assert [run.metadata["task_id"] for run in runs if run.metadata] == [1, 2]


def test_one_malformed_trajectory_does_not_take_the_others() -> None:
    array = [trajectory(1), {**trajectory(2), "traj": [5]}, trajectory(3)]
    found = load_runs(iter(array))
    assert next(found).metadata is not None
    with pytest.raises(RecordingError, match=r"<values>\[1\], at traj\[0\]: expected a message"):
        next(found)
