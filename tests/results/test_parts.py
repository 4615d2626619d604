"""A result that was put together from several evaluations, as that of the tests of a session."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from quickchecks import EvalResult, checks, load_result, run_evals_sync
from quickchecks._gates import Verdict
from quickchecks._results.evaluation import Part
from quickchecks.errors import RecordingError


def result(*parts: Part, answer: str = "sunny", repetitions: int = 1) -> EvalResult:
    found = run_evals_sync(["a"], lambda text: answer, gates=[checks.includes("sunny")], repetitions=repetitions)
    return msgspec.structs.replace(found, parts=parts)


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        (("passed", "passed"), "passed"),
        (("passed", "scored"), "scored"),
        (("scored", "undecided"), "undecided"),
        (("undecided", "failed"), "failed"),
        (("passed", None), "passed"),
    ],
)
def test_the_whole_is_no_better_than_the_worst_part(verdicts: tuple[Verdict | None, ...], expected: Verdict) -> None:
    assert result(*(Part(f"test_{number}", verdict) for number, verdict in enumerate(verdicts))).verdict == expected


def test_the_whole_is_no_better_than_its_items() -> None:
    assert result(Part("test_a", "passed"), answer="rain").verdict == "failed"


def test_the_explanation_names_the_parts_that_did_not_pass() -> None:
    explained = result(Part("test_a", "passed"), Part("test_b", "scored"), Part("test_c", "failed")).explain().splitlines()
    assert explained[0].startswith("failed · 3 evaluations · 1 item")
    assert any(line.split() == ["failed", "1", "evaluation", "test_c"] for line in explained)
    assert any(line.split() == ["scored", "1", "evaluation", "test_b"] for line in explained)


def test_parts_are_saved_and_read_again(tmp_path: Path) -> None:
    before = result(Part("test_a", "scored", 2), repetitions=2)
    before.save(tmp_path / "result.json")
    after = load_result(tmp_path / "result.json")
    assert after.parts == before.parts
    assert after.verdict == "scored"
    assert not after.warnings


def test_items_of_parts_may_have_other_numbers_of_repetitions(tmp_path: Path) -> None:
    once, twice = result(), result(repetitions=2)
    placed = [msgspec.structs.replace(item, item=msgspec.structs.replace(item.item, id="b"), index=1) for item in twice.items]
    parts = (Part("test_a", "passed"), Part("test_b", "passed", 2))
    whole = msgspec.structs.replace(twice, items=(*once.items, *placed), plan=(), parts=parts)
    file = tmp_path / "result.json"
    whole.save(file)
    assert load_result(file).verdict == "passed"
    saved = json.loads(file.read_bytes())
    for change in ({"parts": [{"name": "test_a"}]}, {"parts": [*saved["parts"], {"name": "c", "repetitions": 0}]}):
        file.write_text(json.dumps({**saved, **change}))
        with pytest.raises(RecordingError, match=r"item 1 is not whole|expected 1 or more, got 0"):
            load_result(file)
