"""Why an assertion on a result, a check or a score failed, written where pytest shows the assertion."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from quickchecks import _render
from quickchecks._results.evaluation import EvalResult
from quickchecks._score import Score
from quickchecks._scorer.passing import Passing, score_lines
from quickchecks.errors import QuickchecksError
from quickchecks.pytest_plugin import KEPT
from quickchecks.reports._safe import lines

if TYPE_CHECKING:
    import pytest

__all__ = ("deciding", "explain")

#: The most that is said of one assertion.
_MOST_LINES = 60
_LONGEST_LINE = 500
_MOST_RESULTS = 3


def explain(node: pytest.Item, error: BaseException) -> bool:
    """Add to an AssertionError why the results and scores that it asserts did not pass.

    Which they are is known from the message, in which pytest shows them, and from the names in the code that raised. Where
    assertions are not rewritten the message is empty; then those are told that the test has kept.

    Args:
        node: The test.
        error: What the test raised.

    Returns:
        Whether the error is about a result, a check or a score.
    """
    if not isinstance(error, AssertionError) or isinstance(error, QuickchecksError):
        return isinstance(error, QuickchecksError)  # ours explain themselves
    try:
        return _explained(node, error)
    except Exception:  # the test has failed, and its own message is better than an error of pytest
        return False


def _explained(node: pytest.Item, error: AssertionError) -> bool:
    asserted = str(error.args[0]) if error.args else ""
    looked_at = _looked_at(node, error, asserted)
    before = [line for one in looked_at if isinstance(one, EvalResult) for line in _of_result(one, asserted)]
    after = [line for one in looked_at if not isinstance(one, EvalResult) for line in _of_score(one, asserted)]
    if any(not isinstance(one, EvalResult) for one in looked_at):  # what is shown of a check already says where it comes from
        asserted = "\n".join(line for line in asserted.split("\n") if not re.match(r" +\+ +(where|and) ", line))
    if looked_at:
        error.args = ("\n".join([*_few(before), *([asserted] if asserted else []), *_few(after)]),)
    return bool(looked_at)


def deciding(result: EvalResult) -> str:
    """What decided the verdict of a result that did not pass, in a few words; empty where nothing did.

    Args:
        result: The result.
    """
    if result.passed:
        return ""
    found = [one for one in (*result.gate_results, *result.threshold_results) if one.verdict == result.verdict]
    broke = [one.error for one in result.items if one.error is not None]
    if not found and broke and result.error_count > result.max_errors:
        told = _render.capped(_render.harmless(" ".join(broke[0].message.split())), 100)
        what = "item" if result.repetitions == 1 else "run"
        return f"{len(broke)} of {_render.many(len(result.items), what)} broke: {told}"
    if not found:
        return ""
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    return f"{_render.capped(found[0].label, 60)}: {_render.capped(found[0].explanation, 100)}{more}"


def _looked_at(node: pytest.Item, error: BaseException, asserted: str) -> list[object]:
    """The results and scores of which an assertion says that they did not hold."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    values: list[object] = [] if trace is None else list(trace.tb_frame.f_locals.values())  # pytest's own names among them
    kept = node.stash.get(KEPT, None)
    if kept is not None:
        values += kept.results
    found: dict[int, object] = {}
    for value in values:
        shown = isinstance(value, (EvalResult, Passing, Score)) and _start(value) in asserted
        if shown or (not asserted and isinstance(value, EvalResult) and not value.passed):
            found[id(value)] = value
    failing = [one for one in found.values() if not (isinstance(one, EvalResult) and one.passed)]
    return failing[:_MOST_RESULTS]


def _start(value: object) -> str:
    """How a value begins in a message of pytest, which leaves the middle of long ones out."""
    return repr(value)[:80]


def _of_result(result: EvalResult, asserted: str) -> Iterator[str]:
    explanation = [line for line in lines(result.explain()) if line.strip()]
    if explanation[0] in asserted:
        return  # the test has given it as its message
    decided = deciding(result)
    yield f"the verdict is {result.verdict or 'none'}{f': {decided}' if decided else ''}"
    yield from explanation


def _of_score(value: object, asserted: str) -> Iterator[str]:
    if isinstance(value, (Passing, Score)):
        first, *rest = score_lines(value.score if isinstance(value, Passing) else value)
        for line in rest if first in asserted else (first, *rest):
            yield from lines(line)


def _few(told: list[str]) -> list[str]:
    found = [_render.capped(line, _LONGEST_LINE) for line in told[:_MOST_LINES]]
    return [*found, f"… and {len(told) - _MOST_LINES} lines more"] if len(told) > _MOST_LINES else found
