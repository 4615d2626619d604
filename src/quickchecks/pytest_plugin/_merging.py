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
    """

    name: str
    place: int
    results: list[EvalResult] = []
    passed: bool = False
    problem: str = ""

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
    tests = sorted((test for test in tests if test.results or test.problem), key=lambda test: test.place)
    items: list[ItemResult] = []
    parts: list[Part] = []
    warnings: dict[str, None] = {}
    entries: dict[tuple[object, ...], Assertion] = {}
    names = _Names()
    for test in tests:
        single = len({(number, item.id) for number, result in enumerate(test.results) for item in result.items}) == 1
        for part, result in test.parts():
            parts.append(Part(part, result.verdict, result.repetitions))
            warnings.update(dict.fromkeys(f"{part}: {warning}" for warning in result.warnings))
            names.begin(test.name, single=single)
            items += [_placed(item, names, entries) for item in result.items]
        if test.problem:
            parts.append(Part(f"{test.name} [unfinished]" if test.results else test.name, "failed"))
            warnings[f"{test.name}: {test.problem}"] = None
            if not test.results:
                names.begin(test.name, single=True)
                items.append(_unknown(test, *names.of("")))
    results = [result for test in tests for result in test.results]
    plans = {item.plan for item in items if not item.errored or item.plan}
    return EvalResult(
        tuple(items),
        plans.pop() if len(plans) == 1 and all(item.plan for item in items) else (),
        max_errors=sum(result.max_errors for result in results),
        repetitions=max((result.repetitions for result in results), default=1),
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


def _unknown(test: Evaluated, name: str, index: int) -> ItemResult:
    return ItemResult(Item(input=test.name, id=name), index, error=ItemError("exception", test.problem))


def _few(warnings: Sequence[str]) -> tuple[str, ...]:
    if len(warnings) <= _MOST_WARNINGS:
        return tuple(warnings)
    return (*warnings[:_MOST_WARNINGS], f"{len(warnings) - _MOST_WARNINGS} more warnings: the tests show them")
