"""How the result of an evaluation becomes an exit code."""

from __future__ import annotations

from quickchecks._results.evaluation import EvalResult
from quickchecks._results.result import INTERRUPTED, FailOn

__all__ = ("eval_exit_code", "nothing_scored")


def nothing_scored(result: EvalResult) -> bool:
    """Whether no scorer could say anything of any item: no items, none that was answered, or no evidence in any."""
    return not any(score.value is not None for item in result.items for score in item.scores)


def eval_exit_code(result: EvalResult, fail_on: FailOn = "any") -> int:
    """The exit code of a command that shows this result.

    Args:
        result: The result.
        fail_on: "any": whatever did not pass. "gates": a threshold that was missed is no failure. "never": nothing is. What
            is undecided stays so.

    Returns:
        0 passed, or nothing was asserted; 1 failed, or a threshold was missed; 3 undecided, or nothing was scored (which no
        `fail_on` forgives: it mostly means a mistake); 130 interrupted.
    """
    if result.interrupted:
        return INTERRUPTED
    failed = result.verdict == "failed" or (result.verdict is None and result.error_count > result.max_errors)
    if failed and fail_on != "never":
        return 1
    if nothing_scored(result) or result.verdict == "undecided":
        return 3
    return 1 if result.verdict == "scored" and fail_on == "any" else 0
