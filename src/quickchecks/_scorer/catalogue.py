"""The one description of each check, read from its signature and its docstring.

The command, the YAML form, its JSON schema, help texts and Studio all read this; nothing about a check's parameters is
written down a second time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Literal, Union, get_args, get_origin

from msgspec import Struct

from quickchecks._scorer.pipeline import Scorer

if TYPE_CHECKING:
    from inspect import Parameter

__all__ = (
    "CheckDescription",
    "ParameterDescription",
    "ValueKind",
    "Vocabulary",
    "WithUnusable",
    "describe",
    "describe_all",
    "value_kinds",
)

#: The functions that make checks, by the name under which an expression or a checks file calls them.
Vocabulary = Mapping[str, Callable[..., Scorer]]


class WithUnusable(dict[str, Callable[..., Scorer]]):
    """A vocabulary that knows why checks of other packages are not in it, so that whoever asks for one is told."""

    def __init__(self, known: Vocabulary) -> None:
        super().__init__(known)
        self.unusable: dict[str, str] = {}


KindName = Literal["none", "choice", "bool", "int", "float", "text", "list", "mapping", "check", "any"]

_WORDS: dict[KindName, tuple[str, str]] = {
    "none": ("nothing", "nothing"),
    "bool": ("yes or no", "yes or no"),
    "int": ("whole number", "whole numbers"),
    "float": ("number", "numbers"),
    "text": ("text", "texts"),
    "list": ("list", "lists"),
    "mapping": ("mapping", "mappings"),
    "check": ("check", "checks"),
    "any": ("value", "values"),
}


class ValueKind(Struct, frozen=True):
    """One kind of value that a parameter takes.

    Args:
        name: The kind.
        choices: The values, for the kind "choice".
        items: The kinds of the elements, for the kind "list".
    """

    name: KindName
    choices: tuple[str | int | bool, ...] = ()
    items: tuple[ValueKind, ...] = ()

    def words(self, *, plural: bool = False) -> str:
        """Say it as a person would: "whole number", "list of texts", "'all' or 'final'"."""
        if self.name == "choice":
            return " or ".join(repr(choice) for choice in self.choices)
        if self.name == "list" and self.items:
            return f"{_WORDS['list'][plural]} of {_in_words(self.items, plural=True)}"
        return _WORDS[self.name][plural]


class ParameterDescription(Struct, frozen=True):
    """One parameter of a check.

    Args:
        name: Its name.
        type: What it takes, in words: "text", "whole number", "list of texts", "'all' or 'final'".
        default: Its default as Python text, such as `True`; empty when it is required.
        required: Whether it has to be given.
        sentence: What it means.
        choices: The values that it takes, where only some are allowed.
        position: Its place among those that may be given without their name, from 0; None when it needs its name.
        many: Whether it takes any number of values, one after the other.
        by_name: Whether it may be given by name.
        kinds: What it takes, for programs.
    """

    name: str
    type: str
    default: str = ""
    required: bool = False
    sentence: str = ""
    choices: tuple[str | int | bool, ...] = ()
    position: int | None = None
    many: bool = False
    by_name: bool = True
    kinds: tuple[ValueKind, ...] = ()

    def takes(self, *names: KindName) -> bool:
        """Whether it takes a value of one of these kinds."""
        return any(kind.name in names for kind in self.kinds)


class CheckDescription(Struct, frozen=True):
    """What is to be known of a check in order to write one.

    Args:
        name: The name of the check.
        sentence: What it checks, as one sentence.
        parameters: Its parameters, in the order of its signature.
        example: A runnable example, as in a Python session.
        graded: Whether its score is always a number (True) or always pass or fail (False), where the function says so by
            an attribute of this name; None where it depends on the arguments.
    """

    name: str
    sentence: str
    parameters: tuple[ParameterDescription, ...] = ()
    example: str = ""
    graded: bool | None = None

    @property
    def signature(self) -> str:
        """How it is called, such as `includes(expected, *, ignore_case=True)`."""
        written: list[str] = []
        for parameter in self.parameters:
            if parameter.position is None and "*" not in written and not any(one.many for one in self.parameters):
                written.append("*")
            default = f"={parameter.default}" if parameter.default else ""
            written.append(f"{'*' if parameter.many else ''}{parameter.name}{default}")
        return f"{self.name}({', '.join(written)})"

    @property
    def expression(self) -> str:
        """The call in the example as it is written in an expression, such as `includes('sunny')`."""
        start = re.search(rf"\b{re.escape(self.name)}\(", self.example)
        if start is None:
            return ""
        call = _BALANCED.match(self.example, start.end() - 1)
        return re.sub(r"\bchecks\.", "", self.name + call[0]) if call else ""

    @property
    def subject(self) -> ParameterDescription | None:
        """The parameter that a value without a name is for: the first one that may be given by position."""
        return next((parameter for parameter in self.parameters if parameter.position == 0), None)

    def parameter(self, name: str) -> ParameterDescription | None:
        """The parameter that may be given under this name."""
        return next((one for one in self.parameters if one.name == name and one.by_name), None)


def describe_all(vocabulary: Vocabulary) -> tuple[CheckDescription, ...]:
    """Describe every check of a vocabulary, in its order.

    Args:
        vocabulary: The functions that make checks, by name.

    Returns:
        The descriptions.
    """
    return tuple(describe(function, name) for name, function in vocabulary.items())


@cache
def describe(function: Callable[..., object], name: str = "") -> CheckDescription:
    """Describe a check from its signature and its Google docstring.

    Args:
        function: The function that makes the check.
        name: The name that it is called by; its own name by default.

    Returns:
        The description. What the docstring does not say is left empty.

    Example:
        >>> def includes(expected: str, *, ignore_case: bool = True) -> None:
        ...     '''Passes when the answer contains a text.
        ...
        ...     Args:
        ...         expected: The text.
        ...         ignore_case: Whether case is ignored.
        ...     '''
        >>> found = describe(includes)
        >>> found.sentence, [(one.name, one.type, one.default, one.sentence) for one in found.parameters]
        ('Passes when the answer contains a text.', \
[('expected', 'text', '', 'The text.'), ('ignore_case', 'yes or no', 'True', 'Whether case is ignored.')])
    """
    from inspect import getdoc, signature

    sentence, sections = _sections(getdoc(function) or "")
    sentences = _argument_sentences(sections.get("Args", ""))
    annotations = _annotations(function)
    example = sections.get("Example", sections.get("Examples", ""))
    parameters: list[ParameterDescription] = []
    for place, parameter in enumerate(signature(function).parameters.values()):
        if parameter.kind is not parameter.VAR_KEYWORD:
            annotation = annotations.get(parameter.name, parameter.annotation)
            parameters.append(_parameter(parameter, place, annotation, sentences.get(parameter.name, "")))
    called = name or getattr(function, "__name__", "")
    graded = getattr(function, "graded", None)
    return CheckDescription(called, sentence, tuple(parameters), example, graded if isinstance(graded, bool) else None)


def _parameter(parameter: Parameter, place: int, annotation: object, sentence: str) -> ParameterDescription:
    kinds = value_kinds(object if annotation is parameter.empty else annotation)
    many = parameter.kind is parameter.VAR_POSITIONAL
    required = parameter.default is parameter.empty and not many
    return ParameterDescription(
        name=parameter.name,
        type=_in_words(kinds, plural=many),
        default="" if parameter.default is parameter.empty else repr(parameter.default),
        required=required,
        sentence=sentence,
        choices=tuple(choice for kind in kinds for choice in kind.choices),
        position=None if parameter.kind is parameter.KEYWORD_ONLY else place,
        many=many,
        by_name=parameter.kind in (parameter.KEYWORD_ONLY, parameter.POSITIONAL_OR_KEYWORD),
        kinds=kinds,
    )


def _annotations(function: Callable[..., object]) -> Mapping[str, object]:
    from inspect import unwrap
    from typing import get_type_hints

    try:
        return get_type_hints(unwrap(function))
    except (NameError, TypeError, AttributeError):  # a name that only type checkers can see, or no function at all
        return {}


def value_kinds(annotation: object) -> tuple[ValueKind, ...]:
    """Say which kinds of values an annotation stands for, the more particular ones first.

    Example:
        >>> [kind.words() for kind in value_kinds(bool | str | None)]
        ['nothing', 'yes or no', 'text']
    """
    order = list(get_args(KindName))
    found = [kind for kind in map(_kind, _alternatives(annotation)) if kind is not None]
    unique = dict.fromkeys(found or [ValueKind("any")])
    return tuple(sorted(unique, key=lambda kind: order.index(kind.name)))


def _alternatives(annotation: object) -> Iterable[object]:
    if get_origin(annotation) in (Union, UnionType):
        for alternative in get_args(annotation):
            yield from _alternatives(alternative)
    elif hasattr(annotation, "__metadata__"):  # Annotated
        yield from _alternatives(get_args(annotation)[0])
    else:
        yield annotation


def _kind(annotation: object) -> ValueKind | None:
    """The kind of one alternative; None for what cannot be written in a text, such as a compiled pattern."""
    origin = get_origin(annotation) or annotation
    if origin is Literal:
        choices = get_args(annotation)
        if choices == (None,):
            return ValueKind("none")
        return ValueKind("choice", choices=tuple(choice for choice in choices if isinstance(choice, (str, int))))
    if origin is None or origin is NoneType:
        return ValueKind("none")
    if not isinstance(origin, type) or origin is object:
        return ValueKind("any")
    if issubclass(origin, Scorer):
        return ValueKind("check")
    simple: tuple[tuple[type, KindName], ...] = ((bool, "bool"), (int, "int"), (float, "float"), (str, "text"))
    for known, name in simple:
        if issubclass(origin, known):
            return ValueKind(name)
    if issubclass(origin, Mapping):
        return ValueKind("mapping")
    if issubclass(origin, (Sequence, set, frozenset)) or origin is Iterable:
        items = [item for item in get_args(annotation) if item is not Ellipsis]
        kinds = dict.fromkeys(kind for item in items for kind in value_kinds(item))
        return ValueKind("list", items=tuple(kinds))
    return None


def _in_words(kinds: Sequence[ValueKind], *, plural: bool = False) -> str:
    return " or ".join(kind.words(plural=plural) for kind in kinds if kind.name != "none" or len(kinds) == 1)


_STRING = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_BALANCED = re.compile(rf"\((?:[^()'\"]|{_STRING}|\((?:[^()'\"]|{_STRING})*\))*\)")  # two levels are enough for an example

_SECTION = re.compile(r"^(Args|Arguments|Returns|Raises|Yields|Examples?|Notes?|Warnings?|Attributes|References):[ \t]*$", re.M)
_ARGUMENT = re.compile(r"^\*{0,2}(\w+)(?: *\([^)\n]*\))?:[ \t]*(.*)$")


def _sections(docstring: str) -> tuple[str, dict[str, str]]:
    """The first paragraph on one line, and the text of each section by its heading, without its indentation."""
    from textwrap import dedent

    pieces = _SECTION.split(docstring)
    sections: dict[str, str] = {}
    for heading, body in zip(pieces[1::2], pieces[2::2], strict=True):
        inside = re.split(r"\n(?=\S)", body.strip("\n"), maxsplit=1)[0]  # a section ends where the text is not indented
        sections["Args" if heading == "Arguments" else heading] = dedent(inside).strip("\n")
    return " ".join(pieces[0].strip().split("\n\n", 1)[0].split()), sections


def _argument_sentences(section: str) -> dict[str, str]:
    sentences: dict[str, str] = {}
    name = ""
    for line in section.splitlines():
        begins = _ARGUMENT.match(line)
        if begins:
            name, text = begins.groups()
            sentences[name] = text.strip()
        elif name and line.strip():
            sentences[name] = f"{sentences[name]} {line.strip()}".strip()
    return sentences
