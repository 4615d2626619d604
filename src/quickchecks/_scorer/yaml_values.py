"""From a text, a list or a mapping in a checks file to the value that a parameter takes.

Every scalar is a text until the type of the parameter says what it stands for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from quickchecks import _render
from quickchecks._scorer.catalogue import CheckDescription, ParameterDescription, ValueKind
from quickchecks._scorer.from_item import FromItem
from quickchecks._scorer.pipeline import Scorer
from quickchecks._scorer.yaml_nodes import YamlList, YamlMapping, YamlNode, YamlScalar

__all__ = (
    "TRUTHS",
    "argument",
    "item_field",
    "meant",
    "number",
    "refuse_fields_in_quotes",
    "refuse_matchers",
    "refuse_misspelt",
    "said",
    "text",
)

#: The words for True and False, in any case.
TRUTHS = {"yes": True, "true": True, "on": True, "no": False, "false": False, "off": False}

#: The fields of a dataset's item, which `$expected` and its like stand for.
ITEM_FIELDS = ("context", "expected", "expected_trajectory", "id", "input", "inputs", "metadata", "output", "tool_mocks")
_FIELD = re.compile(rf"\$({'|'.join(ITEM_FIELDS)})(?:\.\w+)*")
_NAME = re.compile(r"\$([A-Za-z_]\w*)(?:\.\w+)*")
_QUOTED = re.compile(r"""(['"])\$([A-Za-z_]\w*)(?:\.\w+)*\1""")
_INT = re.compile(r"[+-]?[0-9]+")
_FLOAT = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def argument(
    check: CheckDescription, parameter: ParameterDescription, node: YamlNode, check_of: Callable[[YamlNode], Scorer]
) -> object:
    """Read the value for a parameter.

    Args:
        check: The check.
        parameter: The parameter.
        node: What stands in the file.
        check_of: Makes the check that a node stands for.

    Raises:
        CheckSyntaxError: The parameter takes no such value.
    """
    if parameter.takes("check"):
        return check_of(node)
    if parameter.name in ("name", "why") and isinstance(node, YamlScalar):
        text(node)  # an identity is the same for every item, so that a field is refused
    found, value = _converted(parameter.kinds, node)
    if found:
        return value
    problem = f"{check.name} takes {parameter.name} as {_article(parameter.type)}, got {said(node)}"
    raise node.place.error(problem, _hint(check, parameter, node))


def text(node: YamlScalar) -> str:
    """The text of a scalar; a leading `$$` stands for `$`.

    Raises:
        CheckSyntaxError: It stands for a field of an item, which only an argument of a check may.
    """
    if _FIELD.fullmatch(node.text):
        problem = f"{node.text} stands for a field of each item, and only an argument of a check can differ from item to item"
        raise node.place.error(problem, f"for the text itself write ${node.text}")
    return node.text[1:] if node.text.startswith("$$") else node.text


def item_field(node: YamlNode) -> FromItem | None:
    """What `$expected`, or `$metadata.city`, stands for; None for everything else."""
    return FromItem(node.text[1:]) if isinstance(node, YamlScalar) and _FIELD.fullmatch(node.text) else None


def meant(name: str, known: Iterable[str]) -> str:
    """The known name that a misspelt or shortened one is likely to be meant as; empty when none is."""
    from difflib import get_close_matches

    folded = {one.casefold(): one for one in known}
    name = name.casefold()
    near = get_close_matches(name, folded, n=1, cutoff=0.7) or [one for one in folded if one.startswith(name)]
    return folded[near[0]] if near else ""


def refuse_misspelt(node: YamlNode, names: Mapping[str, str]) -> None:
    """Refuse a text that is nearly a field of an item, or a variable: it would be looked for as it stands.

    Args:
        node: What stands in the file; the values in it are looked at too.
        names: What there is beside the fields of an item, with how it is written.

    Raises:
        CheckSyntaxError: There is such a text.
    """
    if isinstance(node, YamlMapping):
        for _, value in node.items:
            refuse_misspelt(value, names)
    elif isinstance(node, YamlList):
        for item in node.items:
            refuse_misspelt(item, names)
    elif isinstance(node, YamlScalar):
        found = _NAME.fullmatch(node.text)
        if found is None or _FIELD.fullmatch(node.text):
            return
        written = {**{field: f"${field}" for field in ITEM_FIELDS}, **names}
        near = meant(found[1], written)
        if near:
            hint = f"did you mean {written[near]}? For the text itself write ${node.text}"
            raise node.place.error(f"{node.text} names no field of an item and no variable", hint)


def refuse_fields_in_quotes(node: YamlScalar, names: Mapping[str, str]) -> None:
    """Refuse a text in an expression that is a field of an item in the rest of a file, or nearly one: here it is a text.

    Args:
        node: The expression.
        names: See `refuse_misspelt`.

    Raises:
        CheckSyntaxError: There is such a text.
    """
    written = {**{field: f"${field}" for field in ITEM_FIELDS}, **names}
    for found in _QUOTED.finditer(node.text):
        name = found[2]
        near = name if name in ITEM_FIELDS else meant(name, written)
        if near:
            problem = f"{found[0]} in an expression is a text, and no field or variable"
            itself = f"$${found[0][2:-1]} is the text itself"
            hint = f"write the check as a mapping, {{name: value}}, with {written[near]}; there {itself}"
            raise node.inside(found.start()).error(problem, hint)


def refuse_matchers(node: YamlMapping) -> None:
    """Refuse `{$includes: weather}`, which is kept for matchers.

    Raises:
        CheckSyntaxError: A key begins with a single `$`.
    """
    for key, _ in node.items:
        if key.text.startswith("$") and not key.text.startswith("$$"):
            shown = _render.capped(key.text, 40)
            problem = f"matchers inside arguments ({shown}) cannot be used yet"
            raise key.place.error(problem, f"for the key itself write ${shown}")


def number(written: str) -> float | None:
    """The finite number that a text stands for; None when it stands for none."""
    value = float(written) if _FLOAT.fullmatch(written) else float("inf")
    return value if abs(value) != float("inf") else None


def said(node: YamlNode) -> str:
    """Say what stands in the file."""
    if isinstance(node, YamlScalar):
        return _render.quoted(node.text, 40) if node.text else "nothing"
    return "a list" if isinstance(node, YamlList) else "a mapping"


def _converted(kinds: Sequence[ValueKind], node: YamlNode) -> tuple[bool, object]:
    """Whether one of the kinds can be read from a node, and what it is; the kinds are tried in order."""
    field = item_field(node)
    if field is not None:
        return True, field
    if isinstance(node, YamlScalar) and not node.plain:
        kinds = sorted(kinds, key=lambda kind: kind.name not in ("text", "choice"))  # quotes say that it is a text
    for kind in kinds:
        if isinstance(node, YamlScalar):
            found, value = _from_text(kind, node)
        elif isinstance(node, YamlList):
            found, value = _from_list(kind, node)
        else:
            assert isinstance(node, YamlMapping)
            found, value = _from_mapping(kind, node)
        if found:
            return True, value
    return False, None


def _from_text(kind: ValueKind, node: YamlScalar) -> tuple[bool, object]:
    written = text(node)
    if kind.name in ("text", "any"):
        return True, written
    if kind.name == "none":
        return node.plain and written.lower() in ("", "~", "null", "none"), None
    if kind.name == "choice":
        return _choice(kind, node, written)
    if kind.name == "bool":
        return written.lower() in TRUTHS, TRUTHS.get(written.lower())
    if kind.name == "int" and _INT.fullmatch(written) and len(written) <= 300:
        return True, int(written)
    if kind.name == "float":
        value = number(written)
        return value is not None, value
    return False, None


def _choice(kind: ValueKind, node: YamlScalar, written: str) -> tuple[bool, object]:
    for choice in kind.choices:
        if isinstance(choice, str) and choice == written:
            return True, choice
        if isinstance(choice, bool) and node.plain and TRUTHS.get(written.lower()) is choice:
            return True, choice
        if isinstance(choice, int) and not isinstance(choice, bool) and _INT.fullmatch(written) and str(choice) == written:
            return True, choice
    return False, None


def _from_list(kind: ValueKind, node: YamlList) -> tuple[bool, object]:
    if kind.name not in ("list", "any"):
        return False, None
    items: list[object] = []
    for item in node.items:
        found, value = _converted(kind.items or (ValueKind("any"),), item)
        if not found:
            wanted = " or ".join(one.words() for one in kind.items)
            raise item.place.error(f"{_article(wanted)} was expected in the list, got {said(item)}")
        items.append(value)
    return True, items


def _from_mapping(kind: ValueKind, node: YamlMapping) -> tuple[bool, object]:
    refuse_matchers(node)
    if kind.name not in ("mapping", "any"):
        return False, None
    anything = (ValueKind("any"),)
    return True, {text(key): _converted(anything, value)[1] for key, value in node.items}


def _hint(check: CheckDescription, parameter: ParameterDescription, node: YamlNode) -> str:
    if isinstance(node, YamlList) and parameter.takes("text"):
        return f"for several, write {{any_of: [{{{check.name}: …}}, {{{check.name}: …}}]}}, or all_of"
    if isinstance(node, YamlScalar) and parameter.takes("list") and node.text:
        return f"write [{node.text}]" if len(node.text) <= 40 else "write it as a list: [one, two]"
    return parameter.sentence


def _article(words: str) -> str:
    return words if words.startswith(("'", "yes")) else f"a {words}"
