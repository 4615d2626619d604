"""What the arguments of checks must be: each refusal is of the kind that the mistake is."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from quickchecks.checks import _arguments
from quickchecks.errors import CheckArgumentError, CheckArgumentTypeError


@pytest.mark.parametrize(
    ("build", "value"),
    [
        (lambda: _arguments.text("check", "p", "a", "check('a')"), "a"),
        (lambda: _arguments.text("check", "p", "", "check('a')", may_be_empty=True), ""),
        (lambda: _arguments.tool_name("check", "a"), "a"),
        (lambda: _arguments.tool_names("check", ("a", "b")), ("a", "b")),
        (lambda: _arguments.tool_names("check", ["a"]), ("a",)),
        (lambda: _arguments.natural("check", "p", 0, 0), 0),
        (lambda: _arguments.share("check", "p", 1), 1.0),
        (lambda: _arguments.share("check", "p", 0.5), 0.5),
        (lambda: _arguments.flag("check", "p", False), False),
        (lambda: _arguments.where("check", "final"), "final"),
        (lambda: _arguments.check_name("check", None, None), (None, "")),
        (lambda: _arguments.check_name("check", "n", "w"), ("n", "w")),
    ],
)
def test_what_makes_sense_is_returned(build: Callable[[], object], value: object) -> None:
    found = build()
    assert found == value
    assert type(found) is type(value)


class Tool:
    name = "get_weather"

    def __call__(self) -> None: ...


@pytest.mark.parametrize(
    ("build", "error"),
    [
        (lambda: _arguments.text("check", "p", "", "check('a')"), CheckArgumentError),
        (lambda: _arguments.text("check", "p", 5, "check('a')"), CheckArgumentTypeError),
        (lambda: _arguments.text("check", "p", None, "check('a')", may_be_empty=True), CheckArgumentTypeError),
        (lambda: _arguments.text("check", "p", [], "check('a')"), CheckArgumentTypeError),
        (lambda: _arguments.tool_name("check", Tool()), CheckArgumentTypeError),
        (lambda: _arguments.tool_names("check", {"a"}), CheckArgumentTypeError),
        (lambda: _arguments.tool_names("check", ()), CheckArgumentError),
        (lambda: _arguments.natural("check", "p", 1.0, 0), CheckArgumentTypeError),
        (lambda: _arguments.natural("check", "p", True, 0), CheckArgumentTypeError),
        (lambda: _arguments.natural("check", "p", -1, 0), CheckArgumentError),
        (lambda: _arguments.share("check", "p", math.inf), CheckArgumentError),
        (lambda: _arguments.share("check", "p", -0.1), CheckArgumentError),
        (lambda: _arguments.share("check", "p", None), CheckArgumentTypeError),
        (lambda: _arguments.flag("check", "p", 1), CheckArgumentTypeError),
        (lambda: _arguments.where("check", "first"), CheckArgumentError),
        (lambda: _arguments.where("check", ["all"]), CheckArgumentError),
        (lambda: _arguments.check_name("check", "", None), CheckArgumentTypeError),
        (lambda: _arguments.check_name("check", "n", ["w"]), CheckArgumentTypeError),
    ],
)
def test_what_makes_none_is_refused_as_a_wrong_value_or_a_wrong_type(build: Callable[[], object], error: type[Exception]) -> None:
    with pytest.raises(CheckArgumentError, match=r"^check\(") as caught:
        build()
    assert type(caught.value) is error
    assert isinstance(caught.value, ValueError)


def test_a_tool_object_is_answered_with_its_name() -> None:
    with pytest.raises(TypeError, match=r"write check\('get_weather'\)"):
        _arguments.tool_name("check", Tool())
