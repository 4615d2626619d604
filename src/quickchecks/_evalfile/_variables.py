"""The variables of an eval file: what is declared and given, and where `${name}` stands."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from quickchecks import _render, _wire
from quickchecks._scorer.binding import Place
from quickchecks._scorer.yaml_nodes import YamlList, YamlMapping, YamlNode, YamlScalar
from quickchecks._scorer.yaml_values import meant, said
from quickchecks.errors import CheckSyntaxError, nearest_names

__all__ = ("Variables", "filled", "plain", "read_variables", "refuse_partial", "typed", "used_in")

#: The variables of a file with their values; None for one that has to be given.
Variables = Mapping[str, YamlScalar | None]

_VARIABLE = re.compile(r"(\$?)\$\{(\w+)\}")
_JSON_WORD = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?|true|false|null")
_DOLLARS = re.compile(r"(\$?)\$([A-Za-z_]\w*)")


def read_variables(node: YamlNode | None, given: Mapping[str, str], place: Place) -> Variables:
    """Read the variables that a file declares.

    Args:
        node: What stands under `vars`.
        given: Values for them, from elsewhere.
        place: Where the file begins.

    Raises:
        CheckSyntaxError: They are no mapping of texts, or one is given that is not declared.
    """
    found: dict[str, YamlScalar | None] = {}
    if node is not None and not (isinstance(node, YamlScalar) and node.is_null):
        if not isinstance(node, YamlMapping):
            raise node.place.error(f"vars is a mapping of names and values, not {said(node)}", "write vars: {model: small}")
        for key, value in node.items:
            if not re.fullmatch(r"\w+", key.text):
                raise key.place.error(f"the name of a variable has letters, digits and _, not {said(key)}")
            if not isinstance(value, YamlScalar):
                raise value.place.error(f"a variable is a text, not {said(value)}")
            found[key.text] = None if value.is_empty else value
    for name, text in given.items():
        if name not in found:
            hint = nearest_names(name, found) if found else f"declare it: vars: {{{name}: …}}"
            problem = f"--set {name}=…: this file has no variable {_render.quoted(name)}"
            raise CheckSyntaxError(problem, file=place.file, hint=hint)
        found[name] = YamlScalar(place, text, plain=False)
    return found


def filled(node: YamlNode, variables: Variables) -> YamlNode:
    """The node with the values of variables for every scalar that is written as `${name}`.

    Raises:
        CheckSyntaxError: There is no such variable, or it has no value.
    """
    if isinstance(node, YamlList):
        return replace(node, items=tuple(filled(item, variables) for item in node.items))
    if isinstance(node, YamlMapping):
        return replace(node, items=tuple((key, filled(value, variables)) for key, value in node.items))
    assert isinstance(node, YamlScalar)
    found = _VARIABLE.fullmatch(node.text)
    if found is None:
        return node
    if found[1]:
        return replace(node, text=node.text[1:], shift=None)
    name = found[2]
    if name not in variables:
        near = nearest_names(name, variables)
        hint = near if near.startswith("did") else f"declare it: vars: {{{name}: …}}; for the text itself write ${node.text}"
        raise node.place.error(f"there is no variable {_render.quoted(name)}", hint)
    value = variables[name]
    if value is None:
        raise node.place.error(f"the variable {_render.quoted(name)} has no value", f"give it with --set {name}=…")
    return YamlScalar(node.place, value.text, value.plain)


def refuse_partial(node: YamlScalar, variables: Variables) -> None:
    """Refuse a variable that is a part of a text which names a thing: it would stay as it is written.

    Args:
        node: The text, after the variables were filled in.
        variables: The variables of the file.

    Raises:
        CheckSyntaxError: One of them stands in it.
    """
    for found in _VARIABLE.finditer(node.text):
        name = found[2]
        if name in variables and not found[1]:
            hint = f"put all of it into the variable: ${{{name}}}, with vars: {{{name}: …}} or --set {name}=…"
            problem = f"a variable is the whole value here, and {_render.quoted(node.text)} has more around ${{{name}}}"
            raise node.place.error(problem, hint)


def used_in(node: YamlNode) -> Iterator[str]:
    """The variables that stand in a node."""
    if isinstance(node, YamlScalar):
        found = _VARIABLE.fullmatch(node.text)
        if found is not None and not found[1]:
            yield found[2]
    elif isinstance(node, YamlList):
        for item in node.items:
            yield from used_in(item)
    elif isinstance(node, YamlMapping):
        for _, value in node.items:
            yield from used_in(value)


def plain(node: YamlNode, variables: Variables | None = None) -> object:
    """The texts, lists and mappings that a node stands for.

    Args:
        node: The node.
        variables: The variables that a text of it could be meant to name, where it is no `${name}`.

    Raises:
        CheckSyntaxError: A text is `$name`, and a variable has that name or one that is near.
    """
    if isinstance(node, YamlScalar):
        return _text(node, variables or {})
    if isinstance(node, YamlList):
        return [plain(item, variables) for item in node.items]
    assert isinstance(node, YamlMapping)
    return {key.text: plain(value, variables) for key, value in node.items}


def typed(node: YamlNode) -> object:
    """What a node stands for, where nothing says which types are wanted: as `plain`, with JSON's own words as what they are.

    Numbers, true, false and null that are written without quotes; `yes`, `0123` and `12:30` stay texts.
    """
    if isinstance(node, YamlScalar):
        return _wire.loads(node.text) if node.plain and _JSON_WORD.fullmatch(node.text) else node.text
    if isinstance(node, YamlList):
        return [typed(item) for item in node.items]
    assert isinstance(node, YamlMapping)
    return {key.text: typed(value) for key, value in node.items}


def _text(node: YamlScalar, variables: Variables) -> str:
    found = _DOLLARS.fullmatch(node.text) if variables else None
    near = meant(found[2], variables) if found is not None else ""
    if found is None or not near:
        return node.text
    if found[1]:
        return node.text[1:]
    problem = f"{node.text} is a text here, and no variable"
    raise node.place.error(problem, f"did you mean ${{{near}}}? For the text itself write ${node.text}")
