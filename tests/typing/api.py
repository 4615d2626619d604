"""What users may write, as type checkers see it: mypy and pyright read this file, and nothing runs it.

A line that must be refused carries an ignore, which mypy reports as soon as the line is accepted.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_type

import quickchecks
from quickchecks import Run, Score, ScoredRun, Scorer, ToolCall, checks, errors, load_run, load_runs, score_runs, testing
from quickchecks._scorer.passing import Passing

# Checks are scorers, and combine to scorers.
check = checks.includes("sunny", ignore_case=False, name="weather", why="the user asked")
assert_type(check, Scorer)
assert_type(check & checks.called_tool("get_weather", times=2) | ~checks.used_no_tools(), Scorer)
assert_type(quickchecks.all_of(check, checks.no_tool_errors()), Scorer)
assert_type(checks.includes(quickchecks.from_item("expected"), where="final"), Scorer)
assert_type(checks.called_tool(quickchecks.from_item("tool"), times=quickchecks.from_item("times")), Scorer)
assert_type(quickchecks.within("billing", check), Scorer)
assert_type(quickchecks.when(checks.called_tool("refund"), check), Scorer)
checks.includes(["sunny", "warm"])  # type: ignore[arg-type]
checks.called_tool("search", 2)  # type: ignore[call-arg]
checks.includes("sunny", ignorecase=True)  # type: ignore[call-arg]
quickchecks.no_such_name  # type: ignore[attr-defined]

# They score whatever an adapter knows.
assert_type(check.score("It is sunny."), Score)
assert_type(check.score(testing.run("It is sunny.")), Score)
assert_type(check.passes([{"role": "assistant", "content": "It is sunny."}]), Passing)
quickchecks.assert_checks("It is sunny.", check, quickchecks.Threshold(check, min=0.5), lambda output: True)
quickchecks.assert_checks("It is sunny.", [check])  # type: ignore[arg-type]


async def score_later(run: Run) -> None:
    assert_type(await check.score_async(run), Score)
    assert_type(await check.run(run), Score)


def read(score: Score, run: Run) -> None:
    assert_type(score.passed, bool)
    assert_type(score.value, float | None)
    assert_type(score.reason, str)
    assert_type(run.text, str)
    assert_type(run.tool_calls, tuple[ToolCall, ...])
    if score.outcome == "passes":  # type: ignore[comparison-overlap]
        pass


# Recordings are read one at a time.
assert_type(load_run({"answer": "sunny"}, format="values", part="last_turn"), Run)
assert_type(load_runs("runs.jsonl", on_error="skip"), Iterator[Run])
load_runs("runs.jsonl", on_error="ignore")  # type: ignore[arg-type]
try:
    for scored in score_runs("runs.jsonl", [check]):
        assert_type(scored, ScoredRun)
        assert_type(scored.scores, tuple[Score, ...])
except errors.RecordingError as error:
    assert_type(error.line, int | None)


# Scorers of one's own.
@quickchecks.scorer
def polite(output: str) -> bool:
    return "please" in output


@quickchecks.scorer(id="short-answer", description="At most 50 words")
def short_answer(output: str) -> float:
    return 1.0 if len(output.split()) <= 50 else 0.0


assert_type(polite, Scorer)
assert_type(short_answer, Scorer)
assert_type(
    quickchecks.create_scorer(id="words", description="How many words").generate_score(lambda run: len(run.text.split())),
    Scorer,
)
