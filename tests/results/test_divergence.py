"""Where two runs of one item part, as a sentence."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from quickchecks import Run
from quickchecks import testing as t
from quickchecks._results.divergence import first_divergence


def calls(*names: str) -> list[object]:
    return [t.call(name) for name in names]


def run_of(*parts: object) -> Run:
    return t.run(*parts)  # type: ignore[arg-type]


LONG = "the same words again and again, " * 5


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (run_of(*calls("a", "b", "search")), run_of(*calls("a", "b", "refund")), "same until call 3: search → refund"),
        (run_of(*calls("search")), run_of(*calls("refund")), "call 1: search → refund"),
        (run_of(*calls("a", "b")), run_of(*calls("a")), "same until call 2: b → no call"),
        (run_of(*calls("a")), run_of(*calls("a", "b")), "same until call 2: no call → b"),
        (run_of("x"), run_of(*calls("a"), "x"), "call 1: no call → a"),
        (run_of(t.call("f", {"q": "a", "n": 1})), run_of(t.call("f", {"q": "b", "n": 1})), 'call 1: f(q="a" → "b")'),
        (run_of(t.call("f", {"q": 1})), run_of(t.call("f", {"q": 2, "r": 3})), "call 1: f(q=1) → f(q=2, r=3)"),
        (run_of(t.call("f", {"q": 1})), run_of(t.call("f", {})), "call 1: f(q=1) → f()"),
        (
            run_of(t.call("f", {"q": LONG + "x"})),
            run_of(t.call("f", {"q": LONG + "y"})),
            'call 1: f(q=…"ds again and again, x" → …"ds again and again, y")',
        ),
        (run_of(t.call("f")), run_of(t.call("f", error="gone")), 'call 1: f fails now: "gone"'),
        (run_of(t.call("f", error="gone")), run_of(t.call("f")), "call 1: f failed before and does not now"),
        (run_of("It is sunny."), run_of("It is rainy."), 'the answer differs from 6 on: "It is sunny." → "It is rainy."'),
        (run_of(*calls("a"), "x"), run_of(*calls("a"), "y"), 'same calls; the answer differs from 0 on: "x" → "y"'),
        (run_of("x"), run_of(""), 'the answer differs from 0 on: "x" → ""'),
        (run_of("x"), run_of("x"), ""),
        (
            run_of(t.call("look", result="1"), t.call("search")),
            run_of(t.call("look", result="2"), t.call("refund")),
            "same until call 2: search → refund (call 1, look, had returned something else)",
        ),
        (
            run_of(t.call("look", result="1"), "x"),
            run_of(t.call("look", result="2"), "x"),
            "same calls and the same answer (call 1, look, had returned something else)",
        ),
    ],
)
def test_the_first_divergence_is_a_sentence(before: Run, after: Run, said: str) -> None:
    assert first_divergence(before, after) == said


@pytest.mark.parametrize(
    "make",
    [
        lambda word: run_of(t.call(word)),
        lambda word: run_of(t.call("f", {word: 1})),
        lambda word: run_of(t.call("f", {"q": word})),
        lambda word: run_of(t.call("f", error=word)),
        lambda word: run_of(word),
    ],
)
@pytest.mark.parametrize("hostile", ["\ud800\n\x1b[31m", "x" * 100_000, "a\0b\u202e"])
def test_hostile_runs_stay_on_a_short_line(make: Callable[[str], Run], hostile: str) -> None:
    said = first_divergence(run_of("other"), make(hostile))
    assert said
    assert said.isprintable()
    assert len(said) < 500


class NoTruth:
    """A value whose comparison has no truth, such as an array."""

    def __eq__(self, other: object) -> bool:
        raise ValueError("the truth of an array is ambiguous")

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        return "an array"


def nested(depth: int) -> object:
    value: object = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize("make", [lambda: float("nan"), NoTruth, lambda: nested(5000)], ids=["nan", "no truth", "deep"])
def test_values_that_do_not_compare_are_the_same_when_they_are_written_so(make: Callable[[], object]) -> None:
    def run(words: str, **more: object) -> Run:
        return t.run(t.call("f", {"q": make(), **more}, result=make()), words)

    assert first_divergence(run("x"), run("x")) == ""
    assert first_divergence(run("x"), run("y")) == 'same calls; the answer differs from 0 on: "x" → "y"'
    assert first_divergence(run("x", n=1), run("x", n=2)) == "call 1: f(n=1) → f(n=2)"
