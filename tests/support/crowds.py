"""Fifty conversations through one agent, ten at a time: none hears what another was told."""

from __future__ import annotations

from typing import Any

from quickchecks import EvalResult, checks, run_evals_sync

COUNT = 50


def assert_fifty_stay_apart(target: Any, options: dict[str, Any] | None = None) -> None:
    """Tell an agent fifty names in conversations of their own, and ask for them again.

    Args:
        target: The agent, or a function that makes one. It has to say the name in the second turn.
        options: What its framework takes beside the input.
    """
    crowd = _result(target, options, 10)
    assert [item.error for item in crowd.items] == [None] * COUNT
    for item in crowd.items:
        assert item.run is not None
        heard = {word.strip(".,") for word in item.run.final_text.split()} & {f"N{number}" for number in range(COUNT)}
        assert heard == {f"N{item.id}"}
    assert crowd.passed, crowd.explain()
    assert _told(crowd) == _told(_result(target, options, 1))


def _result(target: Any, options: dict[str, Any] | None, concurrency: int) -> EvalResult:
    data = [{"id": str(number), "inputs": [f"I am N{number}", "Who am I?"]} for number in range(COUNT)]
    gates = [checks.matches(r"N\d+"), checks.no_tool_errors(), checks.max_tool_calls(4)]
    return run_evals_sync(data, target, gates=gates, concurrency=concurrency, timeout=120, target_options=options)


def _told(result: EvalResult) -> list[object]:
    return [
        (item.id, item.run.text, [(call.name, call.arguments) for call in item.run.tool_calls], [s.outcome for s in item.scores])
        for item in result.items
        if item.run is not None
    ]
