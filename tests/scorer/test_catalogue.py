"""The one description of each check."""

from __future__ import annotations

import doctest
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Literal, Optional

import pytest

from quickchecks import checks
from quickchecks._scorer.catalogue import CheckDescription, describe, describe_all, value_kinds
from quickchecks._scorer.expression import parse
from quickchecks._scorer.pipeline import Scorer

VOCABULARY = checks.vocabulary()
ALL = describe_all(VOCABULARY)


def sample(
    subject: str, limit: float = 0.5, *, ignore_case: bool = True, where: Literal["all", "final"] = "all", name: str | None = None
) -> Scorer:
    """Passes when a subject
    is there.

    More about it.

    Args:
        subject: What is looked for,
            over two lines.
        limit (float): A number: at most one.
        ignore_case: Whether case matters.

    Returns:
        The check.

    Example:
        >>> sample("a(b")
        includes('a(b')

    Not indented: no argument.
    """
    return checks.includes(subject)


def test_a_description_says_everything_of_the_signature_and_the_docstring() -> None:
    found = describe(sample)
    assert (found.name, found.sentence) == ("sample", "Passes when a subject is there.")
    assert [(one.name, one.type, one.default, one.required, one.sentence, one.choices) for one in found.parameters] == [
        ("subject", "text", "", True, "What is looked for, over two lines.", ()),
        ("limit", "number", "0.5", False, "A number: at most one.", ()),
        ("ignore_case", "yes or no", "True", False, "Whether case matters.", ()),
        ("where", "'all' or 'final'", "'all'", False, "", ("all", "final")),
        ("name", "text", "None", False, "", ()),
    ]
    assert found.example == ">>> sample(\"a(b\")\nincludes('a(b')"
    assert found.expression == 'sample("a(b")'
    assert found.signature == "sample(subject, limit=0.5, *, ignore_case=True, where='all', name=None)"


def test_the_subject_is_the_first_parameter_by_position() -> None:
    subject = describe(sample).subject
    assert subject is not None
    assert subject.name == "subject"
    assert describe(checks.no_tool_errors).subject is None


def test_a_check_may_be_described_under_another_name() -> None:
    assert describe(sample, "other").signature.startswith("other(subject")


def test_a_function_without_types_and_docstring_is_described_as_far_as_it_can_be() -> None:
    def bare(thing, *more, **options):  # type: ignore[no-untyped-def]
        return thing

    found = describe(bare)
    assert (found.sentence, found.example, found.expression, found.graded) == ("", "", "", None)
    assert [(one.name, one.type, one.many) for one in found.parameters] == [("thing", "value", False), ("more", "values", True)]


def test_a_type_that_only_type_checkers_can_see_is_no_error() -> None:
    def hidden(thing: Unseen) -> Scorer:  # type: ignore[name-defined]  # noqa: F821
        return checks.includes(str(thing))

    assert describe(hidden).parameters[0].type == "value"


@pytest.mark.parametrize(
    ("annotation", "words"),
    [
        (str, "text"),
        (int, "whole number"),
        (bool, "yes or no"),
        (float | None, "nothing or number"),
        (Optional[int], "nothing or whole number"),  # noqa: UP045 - people write it
        (bool | str, "yes or no or text"),
        (Literal[False] | str, "False or text"),
        (Literal["a", "b", None], "'a' or 'b'"),
        (list[str], "list of texts"),
        (Sequence[int], "list of whole numbers"),
        (Iterable[str | float], "list of numbers or texts"),
        (tuple[str, ...], "list of texts"),
        (list, "list"),
        (Mapping[str, object], "mapping"),
        (dict, "mapping"),
        (Annotated[str, "a note"], "text"),
        (Scorer, "check"),
        (str | re.Pattern[str], "text"),
        (re.Pattern[str], "value"),
        (object, "value"),
        (Callable[[str], bool], "value"),
    ],
)
def test_an_annotation_in_words(annotation: object, words: str) -> None:
    assert " or ".join(kind.words() for kind in value_kinds(annotation)) == words


def test_the_more_particular_kind_comes_first() -> None:
    assert [kind.name for kind in value_kinds(str | float | int | bool | None)] == ["none", "bool", "int", "float", "text"]


@pytest.mark.parametrize("check", ALL, ids=[check.name for check in ALL])
def test_every_check_is_described_completely(check: CheckDescription) -> None:
    assert re.fullmatch(r"[A-Z].+\.", check.sentence)
    for parameter in check.parameters:
        assert parameter.sentence.endswith("."), f"{check.name}: {parameter.name} has no sentence in Args"
        assert parameter.type not in ("", "value"), f"{check.name}: {parameter.name} has no type that a text can give"
    assert {"name", "why"} <= {parameter.name for parameter in check.parameters}


@pytest.mark.parametrize("check", ALL, ids=[check.name for check in ALL])
def test_the_example_of_every_check_runs_and_shows_it(check: CheckDescription) -> None:
    example = doctest.DocTestParser().get_doctest(check.example + "\n", {}, check.name, None, None)
    assert example.examples, f"{check.name} has no example"
    assert doctest.DocTestRunner(verbose=False).run(example).failed == 0
    assert isinstance(parse(check.expression, VOCABULARY), Scorer)
