"""The mark `quickchecks`: what it may say, and of which tests."""

from __future__ import annotations

import sys

import pytest
from msgspec import Struct

from quickchecks import _render, _stats
from quickchecks._gates import Gate
from quickchecks._scorer.definition import create_scorer
from quickchecks.errors import QuickchecksError, nearest_names
from quickchecks.pytest_plugin import MARK

__all__ = ("STANDS_FOR_A_TEST", "Settings", "is_repeated", "percent", "refuse_senseless", "repeatable", "settings_of")

_KNOWN = ("repetitions", "pass_rate", "confidence")
#: What is judged is a test, and gates judge scorers.
STANDS_FOR_A_TEST = create_scorer(id="test", description="Whether a repetition of the test passes").generate_score(
    lambda run: None
)


class Settings(Struct, frozen=True):
    """How a test is repeated.

    Args:
        repetitions: How often it runs.
        pass_rate: The share of them that must pass.
        confidence: How sure that rate must be.
    """

    repetitions: int
    pass_rate: float = 1.0
    confidence: float | None = None


def settings_of(node: pytest.Item) -> Settings | None:
    """Read the marks of a test; one that is nearer to the test says it better than one of its class or module.

    Args:
        node: The test, or its definition.

    Returns:
        How it is repeated; None when it is not.

    Raises:
        QuickchecksError: A mark has an argument that does not exist or makes no sense.
    """
    given: dict[str, object] = {}
    for mark in reversed(list(node.iter_markers(MARK))):
        if mark.args:
            raise _wrong(f"{_render.value(mark.args[0])} stands by position; write it by name, such as repetitions=5")
        for name in mark.kwargs:
            if name not in _KNOWN:
                near = nearest_names(name, _KNOWN)
                raise _wrong(f"there is no argument {name!r}: {near}")
        given.update(mark.kwargs)
    if not given:
        return None
    repetitions = given.get("repetitions")
    if repetitions is None:
        raise _wrong(f"{next(iter(given))} is about repetitions: say how many, such as repetitions=5")
    if isinstance(repetitions, bool) or not isinstance(repetitions, int) or repetitions < 1:
        raise _wrong(f"repetitions is a whole number from 1 on, not {_render.value(repetitions)}")
    try:
        gate = Gate(STANDS_FOR_A_TEST, **{name: value for name, value in given.items() if name != "repetitions"})  # type: ignore[arg-type]
    except QuickchecksError as error:
        raise _wrong(str(error)) from None
    _refuse_too_few(repetitions, gate)
    return Settings(repetitions, gate.pass_rate, gate.confidence)


def is_repeated(node: pytest.Item) -> bool:
    """Whether a test has a mark with repetitions, whatever else that says.

    Args:
        node: The test.
    """
    return any("repetitions" in mark.kwargs for mark in node.iter_markers(MARK))


def refuse_senseless(definition: pytest.Item) -> None:
    """Refuse a mark that makes no sense, when its test is collected.

    Args:
        definition: The test.

    Raises:
        pytest.Collector.CollectError: It makes none.
    """
    try:
        settings_of(definition)
    except QuickchecksError as error:
        raise pytest.Collector.CollectError(f"{definition.nodeid}: {error}") from None


def _refuse_too_few(repetitions: int, gate: Gate) -> None:
    """Refuse a confidence that the repetitions cannot reach even if all pass: the test could never pass."""
    if gate.confidence is None or _stats.lower_bound(repetitions, repetitions, gate.confidence) >= gate.pass_rate:
        return
    needed = _stats.clean_items_needed(0, 0, gate.pass_rate, gate.confidence)
    hint = "" if needed is None else f"; at least {needed} can, when all of them pass"
    raise _wrong(
        f"{_render.many(repetitions, 'repetition')} can never prove that {percent(gate.pass_rate)} pass with "
        f"{percent(gate.confidence)} confidence{hint}"
    )


def _wrong(problem: str) -> QuickchecksError:
    return QuickchecksError(f"@pytest.mark.{MARK}: {problem}")


def repeatable(node: pytest.Item) -> pytest.Function:
    """The test, once it is known that it can be repeated.

    Args:
        node: The test.

    Raises:
        QuickchecksError: It cannot.
    """
    unittest = sys.modules.get("unittest")
    of_class = getattr(node, "cls", None)
    of_unittest = unittest is not None and isinstance(of_class, type) and issubclass(of_class, unittest.TestCase)
    if not isinstance(node, pytest.Function) or of_unittest:
        what = "a test of unittest.TestCase" if of_unittest else f"a test of the kind {type(node).__name__}"
        raise _wrong(f"{what} cannot be repeated; write it as a function or as a method of a plain class")
    if "subtests" in node.fixturenames:
        raise _wrong("a test with subtests cannot be repeated: one that fails would fail the test, whatever the rate")
    return node


def percent(share: float) -> str:
    """A share in percent.

    Args:
        share: The share, from 0 to 1.
    """
    return f"{round(share * 100, 1):g} %"
