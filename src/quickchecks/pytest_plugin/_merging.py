"""The results of many tests, put together to one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec
from msgspec import Struct

from quickchecks._gates import Assertion
from quickchecks._items import Item
from quickchecks._results.evaluation import EvalResult, ItemError, ItemResult, Part

__all__ = ("Evaluated", "merged")

#: The most warnings that the result of a session repeats.
_MOST_WARNINGS = 50


class Evaluated(Struct):
    """What one test has evaluated.

    Args:
        name: The id of the test.
        place: Its place among the tests.
        results: What came of its evaluations.
        passed: Whether the test passed.
        problem: Why not all that it evaluated is known, as when its worker did not live to report.
        failure: Why pytest has it as failed; empty when it has not.
        set_aside: Why what it evaluated decides nothing; empty when it does.
        sure: Whether it evaluates something. Of one that only may, no more is known than that its worker did not live.
    """

    name: str
    place: int
    results: list[EvalResult] = []
    passed: bool = False
    problem: str = ""
    failure: str = ""
    set_aside: str = ""
    sure: bool = False

    @property
    def falls(self) -> str:
        """Why nothing is passed by this test, where what it evaluated does not say so itself; empty when nothing is amiss."""
        if self.problem or not self.failure or not (self.sure or self.results):
            return self.problem
        if not self.results:
            return f"the test failed and evaluated nothing: {self.failure}"
        better = all(result.verdict in (None, "passed") for result in self.results)
        return f"the test failed: {self.failure}" if better else ""

    @property
    def left_out(self) -> str:
        """Why what it evaluated decides nothing; empty when it does."""
        return "" if self.problem or self.failure else self.set_aside

    def parts(self) -> Iterator[tuple[str, EvalResult]]:
        """Its evaluations, each with a name that no other has."""
        for number, result in enumerate(self.results, 1):
            told = result.name or (f"evaluation {number}" if len(self.results) > 1 else "")
            yield f"{self.name} [{told}]" if told else self.name, result


def merged(tests: Iterable[Evaluated], *, stopped: str = "", interrupted: bool = False) -> EvalResult:
    """Put the results of tests together. Each item has the id of its test, and its own behind it where a test has several.

    Args:
        tests: The tests, in any order.
        stopped: Why not all tests were run, as a sentence; empty when they were.
        interrupted: Whether the session was broken off.
    """
    shown = (test for test in tests if test.results or test.falls or (test.left_out and test.sure))
    tests = sorted(shown, key=lambda test: test.place)
    items: list[ItemResult] = []
    parts: list[Part] = []
    warnings: dict[str, None] = {}
    entries: dict[tuple[object, ...], Assertion] = {}
    names = _Names()
    for test in tests:
        single = len({(number, item.id) for number, result in enumerate(test.results) for item in result.items}) == 1
        for part, result in test.parts():
            parts.append(Part(part, None if test.left_out else result.verdict, result.repetitions))
            warnings.update(dict.fromkeys(f"{part}: {warning}" for warning in result.warnings))
            names.begin(test.name, single=single)
            placed = [_placed(item, names, entries) for item in result.items]
            items += map(_unjudged, placed) if test.left_out else placed
        if test.falls or test.left_out:
            warnings[f"{test.name}: {test.falls or test.left_out}"] = None
        if test.falls:
            parts.append(
                Part(f"{test.name} [{'unfinished' if test.problem else 'test'}]" if test.results else test.name, "failed")
            )
        elif not test.results:
            parts.append(Part(test.name))
        if not test.results:
            names.begin(test.name, single=True)
            items.append(_unknown(test, *names.of("")))
    results = [result for test in tests if not test.left_out for result in test.results]
    plans = {item.plan for item in items if not item.errored or item.plan}
    return EvalResult(
        tuple(items),
        plans.pop() if len(plans) == 1 and all(item.plan for item in items) else (),
        max_errors=sum(result.max_errors for result in results),
        repetitions=max((part.repetitions for part in parts), default=1),
        warnings=_few(list(warnings)),
        seconds=sum(result.seconds for result in results),
        interrupted=interrupted or any(result.interrupted for result in results),
        incomplete=stopped or next((result.incomplete for result in results if result.incomplete), ""),
        parts=tuple(parts),
    )


class _Names:
    """Names items, so that no two have the same id."""

    def __init__(self) -> None:
        self._taken: dict[str, int] = {}
        self._test = ""
        self._single = False
        self._given: dict[str, tuple[str, int]] = {}

    def begin(self, test: str, *, single: bool) -> None:
        """Go on with another evaluation.

        Args:
            test: The test that made it.
            single: Whether the test has a single item, which then needs no name of its own.
        """
        self._test = test
        self._single = single
        self._given = {}

    def of(self, item: str) -> tuple[str, int]:
        """The id of an item in the whole, and its place there; the same for each of its repetitions."""
        if item not in self._given:
            wanted = self._test if self._single else f"{self._test}::{item}"
            name, number = wanted, 1
            while name in self._taken:
                number += 1
                name = f"{wanted}#{number}"
            self._taken[name] = len(self._taken)
            self._given[item] = name, self._taken[name]
        return self._given[item]


def _placed(one: ItemResult, names: _Names, entries: dict[tuple[object, ...], Assertion]) -> ItemResult:
    name, index = names.of(one.id)
    plan = tuple(entries.setdefault(entry.key, entry) for entry in one.plan)
    return msgspec.structs.replace(one, item=msgspec.structs.replace(one.item, id=name), index=index, plan=plan)


def _unjudged(one: ItemResult) -> ItemResult:
    return msgspec.structs.replace(one, plan=(), scores=(), error=None)


def _unknown(test: Evaluated, name: str, index: int) -> ItemResult:
    return ItemResult(Item(input=test.name, id=name), index, error=ItemError("exception", test.falls) if test.falls else None)


def _few(warnings: Sequence[str]) -> tuple[str, ...]:
    if len(warnings) <= _MOST_WARNINGS:
        return tuple(warnings)
    return (*warnings[:_MOST_WARNINGS], f"{len(warnings) - _MOST_WARNINGS} more warnings: the tests show them")
