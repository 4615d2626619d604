"""score_runs: the pipe from a source of runs to scores."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from quickchecks import ScoredRun, checks, create_scorer, score_runs
from quickchecks import testing as t
from quickchecks._run import Run, Source
from quickchecks.errors import RecordingError, ScorerDefinitionError

SUNNY = checks.includes("sunny")


def line(answer: str) -> str:
    return json.dumps([{"role": "user", "content": "weather?"}, {"role": "assistant", "content": answer}])


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Three runs and, between them, a line that is none."""
    path = tmp_path / "runs.jsonl"
    path.write_text("\n".join([line("It is sunny."), line("It rains."), "{broken", "", line("Sunny again.")]), encoding="utf-8")
    return path


def test_every_run_gets_a_score_of_every_scorer_in_their_order() -> None:
    scored = list(score_runs(["It is sunny.", t.run("It rains.")], [SUNNY, checks.excludes("snow")]))
    assert [[score.outcome for score in one.scores] for one in scored] == [["passed", "passed"], ["failed", "passed"]]
    assert [[score.scorer.identity for score in one.scores] for one in scored] == [["includes('sunny')", "excludes('snow')"]] * 2


def test_a_record_that_cannot_be_read_is_an_error_and_the_scoring_goes_on(file: Path) -> None:
    scored = list(score_runs(file, [SUNNY]))
    assert [one.scores[0].outcome if one.scores else "unreadable" for one in scored] == [
        "passed",
        "failed",
        "unreadable",
        "passed",
    ]
    bad = scored[2]
    assert isinstance(bad.error, RecordingError)
    assert (bad.run, bad.scores, bad.errored) == (None, (), True)
    assert str(bad.source) == f"{file}:3"
    assert [str(one.source) for one in scored if one.run] == [f"{file}:1", f"{file}:2", f"{file}:5"]


def test_a_run_that_itself_failed_is_scored_and_marked() -> None:
    (scored,) = score_runs([t.run("It is sunny.", error="broke off")], [SUNNY])
    assert scored.errored
    assert scored.scores[0].passed


def test_runs_are_read_and_scored_one_by_one() -> None:
    taken = []

    def endless() -> Iterator[Run]:
        number = 0
        while True:
            taken.append(number)
            yield t.run(f"sunny {number}")
            number += 1

    scored = score_runs(endless(), [SUNNY])
    assert taken == []
    assert [next(scored).scores[0].passed for _ in range(3)] == [True] * 3
    assert len(taken) == 3


def test_scored_runs_are_not_kept() -> None:
    import weakref

    class Mark:
        pass

    gone = []

    def runs() -> Iterator[Run]:
        for _ in range(5):
            mark = Mark()
            gone.append(weakref.ref(mark))
            yield t.run("sunny", t.call("look"), metadata={"mark": mark})

    for scored in score_runs(runs(), [SUNNY, ~SUNNY, checks.no_tool_errors()]):
        assert [score.reason for score in scored.scores]
        del scored
    assert [reference() for reference in gone[:-1]] == [None] * 4


def test_plain_functions_are_scorers() -> None:
    def short(output: str) -> bool:
        return len(output) < 6

    (scored,) = score_runs(["sunny"], [short])
    assert scored.scores[0].passed
    assert scored.scores[0].scorer.identity == "short"


def test_one_broken_scorer_disturbs_nothing() -> None:
    def broken(output: str) -> bool:
        raise KeyError(output)

    (scored,) = score_runs(["sunny"], [broken, SUNNY])
    assert [score.outcome for score in scored.scores] == ["error", "passed"]


@pytest.mark.parametrize(
    ("scorers", "message"),
    [
        ([], "there is nothing to score with: give at least one scorer, such as checks.no_tool_errors()"),
        (
            [SUNNY, checks.includes("sunny", ignore_case=True)],
            "two scorers have the identity \"includes('sunny')\", so that nobody",
        ),
        ([lambda output: True, lambda output: False], "two scorers have the identity '<lambda>'"),
        (["includes('sunny')"], "a scorer is a check, a scorer or a function, not"),
        ([checks.includes], "includes is the function that makes a check; call it: includes(...)"),
    ],
)
def test_scorers_that_nobody_can_use_are_refused_at_once(scorers: list[object], message: str) -> None:
    with pytest.raises(ScorerDefinitionError, match=re.escape(message)):
        score_runs(["sunny"], scorers)  # type: ignore[arg-type]


def test_a_name_tells_two_scorers_of_one_kind_apart() -> None:
    (scored,) = score_runs(["sunny"], [SUNNY, SUNNY.named("again")])
    assert [score.scorer.identity for score in scored.scores] == ["includes('sunny')", "again"]


def test_a_source_that_does_not_exist_is_said_at_once(tmp_path: Path) -> None:
    with pytest.raises(RecordingError):
        list(score_runs(tmp_path / "none.jsonl", [SUNNY]))


def test_how_a_source_is_read_can_be_said(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    path.write_text(json.dumps({"payload": {"said": json.loads(line("It is sunny."))}}), encoding="utf-8")
    (scored,) = score_runs(path, [SUNNY], map={"messages": "payload.said"})
    assert scored.scores[0].passed
    (scored,) = score_runs([{"said": "sunny"}], [SUNNY], adapter=lambda record: t.run(record["said"]))  # type: ignore[index]
    assert scored.scores[0].passed


def test_a_scorer_that_must_be_awaited_is_refused_with_the_way_out() -> None:
    async def slow(output: str) -> bool:
        return True

    with pytest.raises(ScorerDefinitionError, match="slow has a step that must be awaited"):
        list(score_runs(["sunny"], [create_scorer(id="slow").generate_score(slow)]))


def test_where_an_unread_record_stands_is_known_from_its_error() -> None:
    scored = ScoredRun(None, (), RecordingError("bad", file="a.jsonl", line=3))
    assert scored.source == Source("a.jsonl", 3)
    assert ScoredRun(None, (), RecordingError("bad")).source is None
