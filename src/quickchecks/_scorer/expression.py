"""Checks written as an expression: `called_tool('search', times=2) & ~includes('error')`.

The expression is what `repr(check)` shows. It is read and never evaluated, so that it may come from anybody.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from operator import and_, or_
from typing import NoReturn

from quickchecks import _render
from quickchecks._scorer.binding import Given, Names, Place, bind, make
from quickchecks._scorer.catalogue import CheckDescription, ParameterDescription, Vocabulary
from quickchecks._scorer.from_item import FromItem, from_item
from quickchecks._scorer.grammar import quoted_call, read
from quickchecks._scorer.pipeline import Scorer
from quickchecks._scorer.tree import Call, Dict, Joined, List, Literal, Misread, Negated, Node, Word
from quickchecks.errors import CheckSyntaxError

__all__ = ("MAX_LENGTH", "parse", "parse_at")

#: Longer expressions are refused; a person writes a few hundred characters.
MAX_LENGTH = 10_000

#: What stands for a field of each item among the arguments of a check.
FROM_ITEM = "from_item"

_MISSPELT_CONSTANTS = {"true": "True", "false": "False", "null": "None", "none": "None"}


def parse(text: str, vocabulary: Vocabulary, *, aliases: Mapping[str, str] | None = None) -> Scorer:
    """Make the check that an expression stands for.

    Args:
        text: The expression, such as `includes('sunny') & ~includes('error')`.
        vocabulary: The functions that make checks, by name.
        aliases: Wrong names that people type, with the name here.

    Returns:
        The check. Its repr is the expression in its canonical form.

    Raises:
        CheckSyntaxError: The text is no expression; it says where, what was expected and what came.
        UnknownNameError: It names a check that is not in the vocabulary.
        CheckArgumentError: A check refuses its arguments.

    Example:
        >>> from quickchecks import checks
        >>> parse("includes('sunny') & ~ includes('error')", checks.vocabulary())
        includes('sunny') & ~includes('error')
    """
    if not isinstance(text, str):
        raise CheckSyntaxError(f"a check is written as text, not {type(text).__name__}: {_render.value(text)}")

    def place(offset: int) -> Place:
        line = text.count("\n", 0, offset) + 1 if "\n" in text else None
        return Place(line=line, column=offset - text.rfind("\n", 0, offset))

    return parse_at(text, Names(vocabulary, aliases or {}), place)


def parse_at(text: str, names: Names, place: Callable[[int], Place]) -> Scorer:
    """Make the check that an expression stands for, where the text is part of a larger one.

    Args:
        text: The expression.
        names: The names that it may use.
        place: The place in the larger text of an offset into the expression.

    Raises:
        CheckSyntaxError: See `parse`; so are the others.
    """
    if len(text) > MAX_LENGTH:
        raise place(0).error(
            f"an expression has at most {MAX_LENGTH:,} characters, this one has {len(text):,}",
            "write several checks, or a checks file",
        )
    try:
        return _Builder(text, names, place).check(read(text))
    except Misread as error:
        pointed = _pointed(text, error.start)
        hint = "\n  ".join(part for part in (pointed, error.hint) if part)
        raise place(error.start).error(error.problem, hint) from None


class _Builder:
    """Makes the checks that a tree stands for."""

    def __init__(self, text: str, names: Names, place: Callable[[int], Place]) -> None:
        self.text = text
        self.names = names
        self.place = place

    def check(self, node: Node, wanted: str = "a check was expected, such as includes('sunny')") -> Scorer:
        if isinstance(node, Joined):
            parts = [self.check(operand, f"{node.sign} joins checks") for operand in node.operands]
            return reduce(and_ if node.sign == "&" else or_, parts)
        if isinstance(node, Negated):
            return ~self.check(node.operand, "~ stands before a check")
        if isinstance(node, Word):
            return self.call(Call(node.start, node.end, node.name, (), {}))
        if isinstance(node, Call):
            return self.call(node)
        quoted = isinstance(node, Literal) and isinstance(node.value, str) and node.value.rstrip().endswith(")")
        hint = "leave out the quotes around the whole check" if quoted else ""
        raise Misread(node.start, f"{wanted}, got {_kind_of(node)}", hint)

    def call(self, node: Call) -> Scorer:
        place = self.place(node.start)
        if node.name == FROM_ITEM and FROM_ITEM not in self.names.vocabulary:
            problem = "a check was expected, and from_item() is no check but the argument of one"
            raise Misread(node.start, problem, "write includes(from_item('expected'))")
        check = self.names.describe(node.name, place)
        positional = [Given(argument, self.place(argument.start)) for argument in node.positional]
        named = {name: Given(argument, self.place(argument.start)) for name, argument in node.named.items()}
        bound = []
        for parameter, given in bind(check, positional, named, place):
            assert isinstance(given.value, Node)
            bound.append((parameter, Given(self.argument(check, node, parameter, given.value), given.place)))
        return make(self.names, check, bound, place)

    def argument(self, check: CheckDescription, call: Call, parameter: ParameterDescription, node: Node) -> object:
        """The value for a parameter: only the parameter can say whether a bare word is a check."""
        if isinstance(node, Call) and node.name == FROM_ITEM and not self._takes_only_checks(parameter):
            return self.field(node)
        named = isinstance(node, Word) and node.name in self.names.vocabulary
        is_check = named or isinstance(node, (Call, Joined, Negated))
        if parameter.takes("any") and is_check:
            return self.check(node)
        if not parameter.takes("check"):
            return self.value(node, call, f"{check.name}() takes a {parameter.type} as {parameter.name}")
        if isinstance(node, List) and not parameter.takes("list"):
            hint = f"write {check.name}(a, b), without the brackets" if parameter.many else ""
            raise Misread(node.start, f"{check.name}() takes a check as {parameter.name}, got a list", hint)
        if isinstance(node, (Literal, Dict)) and any(kind.name != "check" for kind in parameter.kinds):
            return self.value(node, call, "")
        return self.check(node, f"{check.name}() takes a check as {parameter.name}")

    def value(self, node: Node, call: Call, wanted: str) -> object:
        if isinstance(node, Literal):
            return node.value
        if isinstance(node, List):
            items = [self.value(item, call, "a list holds values") for item in node.items]
            return tuple(items) if node.is_tuple else items
        if isinstance(node, Dict):
            return {key: self.value(item, call, "a dict holds values") for key, item in node.items}
        if isinstance(node, Call) and node.name == FROM_ITEM:
            return self.field(node)
        if isinstance(node, Word):
            self.without_quotes(node, call)
        if isinstance(node, Call) and node.name not in self.names.vocabulary:
            hint = f"if that is a name, write it in quotes: {node.name!r}"
            raise Misread(node.start, f"{wanted}, got a call of {node.name}", hint)
        raise Misread(node.start, f"{wanted}, got a check")

    def field(self, node: Call) -> FromItem:
        """The field of each item that `from_item('expected')` stands for."""
        given = [*node.positional, *(value for name, value in node.named.items() if name == "field")]
        field = given[0] if len(given) == 1 and len(node.named) + len(node.positional) == 1 else None
        if not isinstance(field, Literal) or not isinstance(field.value, str) or not field.value:
            raise Misread(node.start, "from_item() takes the name of a field of the item", "write from_item('expected')")
        return from_item(field.value)

    def _takes_only_checks(self, parameter: ParameterDescription) -> bool:
        return all(kind.name in ("check", "none") for kind in parameter.kinds)

    def without_quotes(self, node: Word, call: Call) -> NoReturn:
        constant = _MISSPELT_CONSTANTS.get(node.name.lower())
        if constant is not None:
            raise Misread(node.start, f"{node.name} is no value", f"write {constant}, or {node.name!r} if it is a text")
        problem = f"a value was expected, but {_render.capped(node.name, 60)} has no quotes"
        raise Misread(node.start, problem, quoted_call(self.text, call.start, node.start))


def _kind_of(node: Node) -> str:
    if isinstance(node, Literal):
        shown = _render.capped(repr(node.value), 40)
        return shown if node.value is None or isinstance(node.value, bool) else f"the {_name_of(node.value)} {shown}"
    return "a dict" if isinstance(node, Dict) else "a list"


def _name_of(value: str | int | float) -> str:
    return "text" if isinstance(value, str) else "number"


def _pointed(text: str, start: int) -> str:
    """The line of the text in which an offset lies, and a caret under it."""
    begin = text.rfind("\n", 0, start) + 1
    line = text[begin:].split("\n", 1)[0]
    column = start - begin
    if column > 60:
        line, column = "…" + line[column - 40 :], 41
    shown = "".join(character if character.isprintable() else " " for character in _render.capped(line, 100))
    return f"{shown}\n  {' ' * column}^" if shown.strip() else ""
