"""From a name and arguments that stand in a text to the check: what expressions and checks files have in common.

Nothing here knows a check; what a function takes is read from its description (`catalogue`). Whatever is wrong is said
with the place where it stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NoReturn

from msgspec import Struct

from quickchecks import _render
from quickchecks._scorer.catalogue import CheckDescription, ParameterDescription, Vocabulary, WithUnusable, describe
from quickchecks._scorer.from_item import deferrable, holds_fields
from quickchecks._scorer.pipeline import Scorer
from quickchecks.errors import (
    CheckArgumentError,
    CheckSyntaxError,
    QuickchecksError,
    UnknownNameError,
    nearest_names,
    place_in_text,
)

__all__ = ("Bound", "Given", "Names", "Place", "add_place", "bind", "make")


class Place(Struct, frozen=True, gc=False):
    """A place in a text or a file, as errors name it; lines and columns are counted from 1."""

    file: str | None = None
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        return place_in_text(self.file, self.line, self.column)

    def error(self, problem: str, hint: str = "") -> CheckSyntaxError:
        """Make the error that something here cannot be read."""
        return CheckSyntaxError(problem, file=self.file, line=self.line, column=self.column, hint=hint)


class Names(Struct, frozen=True):
    """The names that a text may use.

    Args:
        vocabulary: The functions that make checks, by name.
        aliases: What other tools call them, with the name here.
    """

    vocabulary: Vocabulary
    aliases: Mapping[str, str] = {}

    def describe(self, name: str, place: Place) -> CheckDescription:
        """Describe the check of this name.

        Raises:
            UnknownNameError: There is none.
        """
        function = self.vocabulary.get(name)
        if function is not None:
            return describe(function, name)
        alias = self._alias(name)
        hint = f"here it is called {alias}" if alias else ""
        if isinstance(self.vocabulary, WithUnusable):
            hint = self.vocabulary.unusable.get(name, hint)
        raise UnknownNameError("check", _render.capped(name, 60), self.vocabulary, hint=hint, place=str(place))

    def _alias(self, name: str) -> str:
        snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|-", "_", name).lower()  # calledTool, called-tool
        return snake if snake in self.vocabulary else self.aliases.get(name) or self.aliases.get(snake, "")


class Given(Struct, frozen=True):
    """An argument as it stands in the text."""

    value: object
    place: Place


#: An argument with the parameter that it is for.
Bound = tuple[ParameterDescription, Given]


def bind(check: CheckDescription, positional: Sequence[Given], named: Mapping[str, Given], place: Place) -> list[Bound]:
    """Find the parameter that each argument is for.

    Args:
        check: The check.
        positional: The arguments without a name, in order.
        named: The arguments with a name.
        place: Where the check stands.

    Returns:
        The arguments with their parameters, in the order given.

    Raises:
        CheckSyntaxError: An argument has no parameter, a parameter has two, or a required one has none.
    """
    by_position = [parameter for parameter in check.parameters if parameter.position is not None]
    bound: list[Bound] = []
    for index, given in enumerate(positional):
        if by_position and index >= len(by_position) and by_position[-1].many:
            bound.append((by_position[-1], given))
        elif index < len(by_position):
            bound.append((by_position[index], given))
        else:
            raise given.place.error(_too_many(check, by_position, len(positional)), _call_hint(check))
    for name, given in named.items():
        parameter = _by_name(check, name, bound, named)
        if parameter is None:
            _unknown_option(check, name, given.place)
        if any(parameter is other for other, _ in bound):
            raise given.place.error(f"{check.name}() got {name} twice: without its name and as {name}=")
        bound.append((parameter, given))
    for parameter in check.parameters:
        if parameter.required and not any(parameter is other for other, _ in bound):
            meaning = f": {parameter.sentence}" if parameter.sentence else ""
            problem = f"{check.name}() needs {parameter.name}, a {parameter.type}{meaning}"
            raise place.error(problem, _call_hint(check))
    return bound


def _by_name(
    check: CheckDescription, name: str, bound: Sequence[Bound], named: Mapping[str, Given]
) -> ParameterDescription | None:
    subject = check.subject
    if name == "name" and subject is not None and subject.name == "tool" and not bound and "tool" not in named:
        return subject  # {name: search}: without a tool, the name can only be that of the tool
    return check.parameter(name)


def make(names: Names, check: CheckDescription, bound: Iterable[Bound], place: Place) -> Scorer:
    """Make the check.

    Args:
        names: Where its function is found.
        check: Its description.
        bound: The arguments, with values that are ready.
        place: Where the check stands.

    Raises:
        CheckArgumentError: The check refuses its arguments; the message begins with the place.
    """
    positional: list[object] = []
    named: dict[str, object] = {}
    for parameter, given in bound:
        if parameter.position is not None and (parameter.many or not parameter.by_name or parameter.position == len(positional)):
            positional.append(given.value)
        else:
            named[parameter.name] = given.value
    function = names.vocabulary[check.name]
    if any(map(holds_fields, (*positional, *named.values()))):
        function = deferrable(function)  # so that a check of somebody else takes fields of items too
    try:
        made = function(*positional, **named)
    except QuickchecksError as error:
        add_place(error, place)
        raise
    except (TypeError, ValueError) as error:  # a check of somebody else, which raises what Python raises
        raise CheckArgumentError(f"{place}: {check.name}(): {error}") from error
    if not isinstance(made, Scorer):
        raise CheckArgumentError(f"{place}: {check.name}() made no check but {_render.value(made)}")
    return made


def add_place(error: QuickchecksError, place: Place) -> None:
    """Put the place before the message of an error; its class and its traceback stay."""
    if isinstance(error, UnknownNameError):
        error.place = error.place or str(place)
    elif error.args and isinstance(error.args[0], str):
        error.args = (f"{place}: {error.args[0]}", *error.args[1:])


def _unknown_option(check: CheckDescription, name: str, place: Place) -> NoReturn:
    near = nearest_names(name, [parameter.name for parameter in check.parameters if parameter.by_name])
    problem = f"{check.name}() has no option {_render.capped(name, 60)!r}"
    raise place.error(f"{problem}: {near}" if near.startswith("did") else problem, _call_hint(check))


def _too_many(check: CheckDescription, by_position: Sequence[ParameterDescription], count: int) -> str:
    if not by_position:
        return f"{check.name}() takes no value without a name, got {count}"
    takes = f"{len(by_position)} value{'s' if len(by_position) > 1 else ''} without a name"
    return f"{check.name}() takes {takes} ({', '.join(one.name for one in by_position)}), got {count}"


def _call_hint(check: CheckDescription) -> str:
    return f"it is called as {check.signature}"
