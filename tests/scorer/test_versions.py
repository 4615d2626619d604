"""The version of a scorer: what its arguments and its code were."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from quickchecks import Prompt, Run, Scorer, checks, create_scorer
from quickchecks.checks._build import Judgement
from quickchecks.checks.text import _Includes


def first(run: Run) -> float:
    return 1.0


def second(run: Run) -> float:
    return 0.5


def with_default(run: Run, limit: int = 3) -> bool:
    return limit == 3


def closing_over(value: object) -> Callable[[Run], bool]:
    return lambda run: value is run


def made(step: Callable[..., object], **options: object) -> Scorer:
    return create_scorer(id="s", **options).generate_score(step)  # type: ignore[arg-type]


def test_a_version_is_short_and_the_same_each_time() -> None:
    assert checks.includes("a").version == checks.includes("a").version
    assert checks.includes("a").version.startswith("sha256:")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (checks.includes("a"), checks.includes("b")),
        (checks.includes("a"), checks.excludes("a")),
        (checks.includes("a"), checks.includes("a", ignore_case=False)),
        (checks.includes("a") & checks.includes("b"), checks.includes("a") | checks.includes("b")),
        (made(first), made(second)),
        (made(first), made(first).preprocess(second)),
        (made(first), made(first, score_range=(0, 10))),
        (made(first), made(first, prepare_run=lambda run: run)),
        (made(closing_over(1)), made(closing_over(2))),
        (made(closing_over("a")), made(closing_over(("a", ("b", 1))))),
        (made(first), checks.includes("a")),
    ],
)
def test_other_arguments_or_other_code_are_another_version(one: Scorer, other: Scorer) -> None:
    assert one.version != other.version


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (checks.includes("a"), checks.includes("a", ignore_case=True)),
        (checks.includes("a"), checks.includes("a", name="n", why="w")),
        (made(first), made(first, description="d", why="w")),
        (checks.includes("a") & checks.includes("b"), (checks.includes("a") & checks.includes("b")).named("n")),
    ],
)
def test_names_and_reasons_change_no_version(one: Scorer, other: Scorer) -> None:
    assert one.version == other.version != ""


@pytest.mark.parametrize(
    "step",
    [
        closing_over([1]),
        closing_over((1, [2])),
        closing_over(object()),
        closing_over(first),
        eval("lambda run: 1.0"),
        Prompt(description="d", output_type=dict, create_prompt=lambda run: "?"),
    ],
)
def test_what_cannot_be_read_has_no_version(step: Callable[..., object]) -> None:
    """No version means "score again", so that a stored score is never taken for one of other code."""
    assert made(step).version == ""
    assert (made(step) & checks.includes("a")).version == ""


def test_a_given_version_is_the_version() -> None:
    assert create_scorer(id="s", version="7").generate_score(eval("lambda run: 1.0")).version == "7"


def test_the_revision_of_a_check_is_part_of_its_version(monkeypatch: pytest.MonkeyPatch) -> None:
    before = checks.includes("a").version
    monkeypatch.setattr(_Includes, "revision", 2)
    assert checks.includes("a").version != before
    assert issubclass(_Includes, Judgement)
