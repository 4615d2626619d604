"""How the result of an evaluation becomes an exit code."""

from __future__ import annotations

from quickchecks._results.evaluation import EvalResult
from quickchecks._results.result import INTERRUPTED, FailOn

__all__ = ("eval_exit_code", "nothing_scored")


def nothing_scored(result: EvalResult) -> bool:
    """Whether no score has come of it at all: no items, or none that was answered."""
    return not any(item.scores for item in result.items)


def eval_exit_code(result: EvalResult, fail_on: FailOn = "any") -> int:
    """The exit code of a command that shows this result.

    Args:
        result: The result.
        fail_on: "any": whatever did not pass. "gates": a threshold that was missed is no failure; one
            that is undecided stays so. "never": nothing is.

    Returns:
        0 passed, or nothing was asserted; 1 failed, or a threshold was missed; 3 undecided, or nothing was scored (which no
        `fail_on` forgives: it mostly means a mistake); 130 interrupted.
    """
    if result.interrupted:
        return INTERRUPTED
    failed = result.verdict == "failed" or (result.verdict is None and result.error_count > result.max_errors)
    if nothing_scored(result) and not failed:
        return 3
    if fail_on == "never":
        return 3 if nothing_scored(result) else 0
    if failed:
        return 1
    if result.verdict is None or result.verdict == "passed":
        return 0
    if result.verdict == "undecided":
        return 3
    return 0 if fail_on == "gates" else 1
