"""The tree of an expression: what is written, and where; nothing of what it means."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

__all__ = ("Call", "Dict", "Joined", "List", "Literal", "Misread", "Negated", "Node", "Word")


class Node(Struct, frozen=True, gc=False):
    """A part of the tree, and where it is written."""

    start: int
    end: int


class Literal(Node, frozen=True, gc=False):
    """A text, a number, True, False or None."""

    value: str | int | float | None


class Word(Node, frozen=True, gc=False):
    """A name without parentheses: a check, or a text whose quotes are missing."""

    name: str


class List(Node, frozen=True, gc=False):
    """A list or a tuple."""

    items: tuple[Node, ...]
    is_tuple: bool


class Dict(Node, frozen=True, gc=False):
    """A dict; its keys are texts and numbers."""

    items: tuple[tuple[str | int | float | None, Node], ...]


class Call(Node, frozen=True, gc=False):
    """A call of a check."""

    name: str
    positional: tuple[Node, ...]
    named: Mapping[str, Node]


class Joined(Node, frozen=True, gc=False):
    """Two or more checks joined by `&` or `|`."""

    sign: str
    operands: tuple[Node, ...]


class Negated(Node, frozen=True, gc=False):
    """A check after `~`."""

    operand: Node


class Misread(Exception):
    """The text does not follow the grammar: where, what was expected and came, what to do."""

    def __init__(self, start: int, problem: str, hint: str = "") -> None:
        super().__init__(problem)
        self.start = start
        self.problem = problem
        self.hint = hint
