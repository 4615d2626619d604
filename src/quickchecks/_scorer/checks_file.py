"""Checks written in a YAML file.

    checks:
      - includes: sunny                              # a text or a list is the check's subject
      - called_tool: {name: search, times: 2}        # a mapping is by parameter name
      - no_tool_errors                               # a name alone, or an expression
      - not: {matches: 'sk-[a-z0-9]+'}
      - when: {condition: {called_tool: refund}, check: {includes: refunded}}
      - check: {similarity: It is sunny.}
        name: close to the script
        why: support answers must follow the script
        threshold: 0.7                               # at least; or {min: 0.7, max: 0.9}
      - check: used_no_tools
        mode: shadow                                 # gate, watch or shadow

Scalars are texts, converted by the type of the parameter. What a file says twice, or what nobody reads, is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal, NoReturn, get_args

from msgspec import Struct

from quickchecks import _render
from quickchecks._scorer.binding import Given, Names, Place, add_place, bind, make
from quickchecks._scorer.catalogue import CheckDescription, Vocabulary
from quickchecks._scorer.expression import parse_at
from quickchecks._scorer.from_item import item_fields
from quickchecks._scorer.pipeline import Scorer
from quickchecks._scorer.thresholds import Bounds
from quickchecks._scorer.yaml_nodes import MAX_CHARACTERS, YamlList, YamlMapping, YamlNode, YamlScalar, read_yaml
from quickchecks._scorer.yaml_values import (
    argument,
    number,
    refuse_fields_in_quotes,
    refuse_matchers,
    refuse_misspelt,
    said,
    text,
)
from quickchecks.errors import CheckArgumentError, CheckSyntaxError, nearest_names

__all__ = ("CheckEntry", "ChecksFile", "Mode", "WrittenMode", "load_checks_file", "parse_checks", "read_entries")

#: What may be written as the mode of an entry.
WrittenMode = Literal["gate", "watch", "shadow"]

#: What an entry does: a gate and a threshold decide, what is watched is shown only, a shadow is only recorded.
Mode = Literal["gate", "threshold", "watch", "shadow"]

_FILE_KEYS = ("checks",)
_ENTRY_KEYS = ("check", "name", "why", "threshold", "mode")


class CheckEntry(Struct, frozen=True):
    """One entry of a checks file.

    Args:
        scorer: The check.
        mode: What it does. "gate" by default, "watch" for a check that gives a number and has no threshold, and
            "threshold" for an entry with a threshold and no mode of its own.
        threshold: The bounds that its average has to keep.
        line: The line on which it begins.
    """

    scorer: Scorer
    mode: Mode = "gate"
    threshold: Bounds | None = None
    line: int | None = None


class ChecksFile(Struct, frozen=True):
    """A checks file.

    Args:
        entries: Its entries, in the order of the file; at least one.
        file: The file; None for a text.
    """

    entries: tuple[CheckEntry, ...]
    file: str | None = None


def load_checks_file(
    path: str | Path,
    vocabulary: Vocabulary,
    *,
    aliases: Mapping[str, str] | None = None,
    for_items: bool = False,
    names: Mapping[str, str] | None = None,
) -> ChecksFile:
    """Read a checks file.

    Args:
        path: The file.
        vocabulary: The functions that make checks, by name.
        aliases: Wrong names that people type, with the name here.
        for_items: Whether the checks judge the items of a dataset, so that `$expected` stands for a field of each.
        names: See `read_entries`.

    Raises:
        CheckSyntaxError: The file cannot be opened or read; it says where and why.
        UnknownNameError: It names a check that is not in the vocabulary.
        CheckArgumentError: A check refuses its arguments.
    """
    file = str(path)
    try:
        with open(path, "rb") as stream:
            data = stream.read(4 * MAX_CHARACTERS + 4)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise CheckSyntaxError(f"this checks file cannot be opened: {reason}", file=file) from error
    try:
        content = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if len(data) > MAX_CHARACTERS:
            content = data.decode("utf-8", "replace")  # it is too long, which is said next
        else:
            line = data.count(b"\n", 0, error.start) + 1
            raise CheckSyntaxError(f"a checks file is UTF-8, this one is not: {error.reason}", file=file, line=line) from None
    return parse_checks(content, vocabulary, aliases=aliases, file=file, for_items=for_items, names=names)


def parse_checks(
    content: str,
    vocabulary: Vocabulary,
    *,
    aliases: Mapping[str, str] | None = None,
    file: str | None = None,
    for_items: bool = False,
    names: Mapping[str, str] | None = None,
) -> ChecksFile:
    """Read the text of a checks file.

    Args:
        content: The text.
        vocabulary: The functions that make checks, by name.
        aliases: Wrong names that people type, with the name here.
        file: The file that it is from, for errors.
        for_items: See `load_checks_file`.
        names: See `read_entries`.

    Raises:
        CheckSyntaxError: See `load_checks_file`; so are the others.

    Example:
        >>> from quickchecks import checks
        >>> found = parse_checks("checks: [{includes: sunny}, no_tool_errors]", checks.vocabulary())
        >>> [(entry.scorer, entry.mode) for entry in found.entries]
        [(includes('sunny'), 'gate'), (no_tool_errors(), 'gate')]
    """
    nodes = _entry_nodes(read_yaml(content, file), file)
    return ChecksFile(read_entries(nodes, vocabulary, aliases=aliases, for_items=for_items, names=names), file)


def read_entries(
    nodes: Iterable[YamlNode],
    vocabulary: Vocabulary,
    *,
    aliases: Mapping[str, str] | None = None,
    for_items: bool = False,
    names: Mapping[str, str] | None = None,
) -> tuple[CheckEntry, ...]:
    """Read the entries of a list of checks.

    Args:
        nodes: The entries.
        vocabulary: The functions that make checks, by name.
        aliases: Wrong names that people type, with the name here.
        for_items: Whether the checks judge the items of a dataset, so that `$expected` stands for a field of each.
        names: What a text such as `$city` may be meant to be beside the fields of an item, with how that is written.

    Raises:
        CheckSyntaxError: See `load_checks_file`; so are the others.
    """
    reader = _Reader(Names(vocabulary, aliases or {}), (names or {}) if for_items else None)
    entries: list[CheckEntry] = []
    lines: dict[tuple[str, Bounds | None], int | None] = {}
    for node in nodes:
        refuse_misspelt(node, names or {})
        entry = reader.entry(node)
        if not for_items and (fields := item_fields(entry.scorer)):
            problem = f"this check needs the {fields[0]!r} of each item of a dataset, and recorded runs have no items"
            raise node.place.error(problem, f"for the text itself write $${fields[0]}")
        key = (entry.scorer.identity, entry.threshold)
        if key in lines:
            identity = _render.capped(entry.scorer.identity, 80)
            problem = f"{identity} stands here a second time, after line {lines[key]}"
            raise node.place.error(problem, "leave one out, or give each a name of its own: {check: …, name: …}")
        lines[key] = entry.line
        entries.append(entry)
    return tuple(entries)


def _entry_nodes(root: YamlNode | None, file: str | None) -> tuple[YamlNode, ...]:
    example = "write\n  checks:\n    - includes: sunny"
    if root is None:
        raise CheckSyntaxError("this checks file is empty", file=file, hint=example)
    if not isinstance(root, YamlMapping):
        raise root.place.error(f"a checks file has the key `checks`, with a list under it; this is {said(root)}", example)
    _refuse_unknown(root, _FILE_KEYS, "a checks file")
    found = root.get("checks")
    if found is None:
        raise root.place.error("a checks file has the key `checks`, with a list under it; this is an empty mapping", example)
    if not isinstance(found, YamlList):
        raise found.place.error(f"a list was expected under `checks`, got {said(found)}", "begin each check with `- `")
    if not found.items:
        raise found.place.error("the list of checks is empty, so that nothing would be checked")
    return found.items


class _Reader:
    """Makes the checks that nodes stand for."""

    def __init__(self, names: Names, of_items: Mapping[str, str] | None) -> None:
        self.names = names
        #: What else a text may be meant to be, where the checks judge items; None where they do not.
        self.of_items = of_items

    def entry(self, node: YamlNode) -> CheckEntry:
        line = node.place.line
        if not (isinstance(node, YamlMapping) and node.get("check") is not None):
            scorer = self.check(node)
            return CheckEntry(scorer, "watch" if scorer.graded else "gate", None, line)
        _refuse_unknown(node, _ENTRY_KEYS, "an entry")
        scorer = self.renamed(node)
        written = node.get("mode")
        mode = self.mode(written)
        threshold = self.threshold(node.get("threshold"), scorer)
        if threshold is not None and written is not None and mode == "gate":
            hint = "leave out the mode: an entry with a threshold decides by its average"
            raise written.place.error("`mode: gate` beside a threshold: a gate must score 1 on every run", hint)
        default: Mode = "threshold" if threshold is not None else "watch" if scorer.graded else "gate"
        return CheckEntry(scorer, mode or default, threshold, line)

    def renamed(self, node: YamlMapping) -> Scorer:
        """The check of an entry with the key `check`, under its name and with its reason."""
        inner = node.get("check")
        assert inner is not None
        scorer = self.check(inner)
        texts: dict[str, str] = {}
        for key in ("name", "why"):
            value = node.get(key)
            if value is not None:
                if not isinstance(value, YamlScalar) or not value.text.strip():
                    raise value.place.error(f"a text was expected as {key}, got {said(value)}")
                texts[key] = text(value)
        return scorer.named(texts.get("name"), texts.get("why", "")) if texts else scorer

    def mode(self, node: YamlNode | None) -> WrittenMode | None:
        if node is None:
            return None
        for mode in get_args(WrittenMode):
            if isinstance(node, YamlScalar) and node.text == mode:
                found: WrittenMode = mode
                return found
        near = nearest_names(node.text, get_args(WrittenMode)) if isinstance(node, YamlScalar) else ""
        raise node.place.error(f"a mode is gate, watch or shadow, not {said(node)}", near if near.startswith("did") else "")

    def threshold(self, node: YamlNode | None, scorer: Scorer) -> Bounds | None:
        if node is None or (isinstance(node, YamlScalar) and node.plain and node.text.lower() in ("~", "null", "none")):
            return None
        if isinstance(node, YamlMapping):
            _refuse_unknown(node, ("min", "max"), "a threshold")
            limits = {key.text: self.limit(value) for key, value in node.items}
        else:
            limits = {"min": self.limit(node)}
        try:
            return Bounds(**limits).within(scorer.score_range)
        except CheckArgumentError as error:
            add_place(error, node.place)
            raise

    def limit(self, node: YamlNode) -> float:
        found = number(node.text) if isinstance(node, YamlScalar) else None
        if found is None:
            raise node.place.error(f"a threshold is a number, or {{min: …, max: …}}, not {said(node)}")
        return found

    def check(self, node: YamlNode) -> Scorer:
        if isinstance(node, YamlScalar):
            return self.expression(node)
        if isinstance(node, YamlList):
            raise node.place.error("a check was expected, got a list", "to join checks write {all_of: […]} or {any_of: […]}")
        assert isinstance(node, YamlMapping)
        if node.get("check") is not None:
            for key, _ in node.items:
                if key.text in ("threshold", "mode"):
                    raise key.place.error(f"{key.text} belongs to an entry of the list, not to a check inside another")
            _refuse_unknown(node, ("check", "name", "why"), "a check inside another")
            return self.renamed(node)
        if len(node.items) != 1:
            self.several_keys(node)
        key, value = node.items[0]
        if key.text == "not":
            if isinstance(value, YamlList):
                raise value.place.error("`not` takes one check, got a list", "write {none_of: […]}")
            return ~self.check(value)
        return self.call(key, value)

    def expression(self, node: YamlScalar) -> Scorer:
        if not node.text.strip():
            raise node.place.error("a check was expected, got nothing", "write a name, an expression, or {name: value}")
        if self.of_items is not None:
            refuse_fields_in_quotes(node, self.of_items)
        try:
            return parse_at(node.text, self.names, node.inside)
        except CheckSyntaxError as error:
            if node.cut:
                error.hint += "\n  in YAML, # after a space begins a comment: put the whole expression in quotes"
            raise

    def call(self, key: YamlScalar, value: YamlNode) -> Scorer:
        if "(" in key.text and key.text not in self.names.vocabulary:
            hint = "put an expression that contains ': ' in quotes as a whole, or leave out the colon at its end"
            raise key.place.error(f"the name of a check was expected before the colon, got {said(key)}", hint)
        check = self.names.describe(key.text, key.place)
        positional, named = self.given(check, key.place, value)
        bound = []
        for parameter, given in bind(check, positional, named, key.place):
            assert isinstance(given.value, YamlNode)
            bound.append((parameter, Given(argument(check, parameter, given.value, self.check), given.place)))
        return make(self.names, check, bound, key.place)

    def given(self, check: CheckDescription, place: Place, value: YamlNode) -> tuple[list[Given], dict[str, Given]]:
        """Sort out what is given by position and what by name."""
        subject = check.subject
        if isinstance(value, YamlMapping):
            refuse_matchers(value)
            if subject is not None and subject.takes("check") and any(key in self.names.vocabulary for key in value.keys):
                raise value.place.error(
                    f"{check.name} takes a list of checks, got a mapping", f"write {{{check.name}: [{{…}}, {{…}}]}}"
                )
            positional: list[Given] = []
            named: dict[str, Given] = {}
            for key, item in value.items:
                many = any(one.name == key.text and one.many for one in check.parameters)
                if many and isinstance(item, YamlList):
                    positional += [Given(one, one.place) for one in item.items]
                else:
                    named[key.text] = Given(item, key.place)
            return positional, named
        if isinstance(value, YamlScalar) and value.is_empty:
            return [], {}
        if subject is None:
            example = f"{{{check.name}: {{{check.parameters[0].name}: …}}}}" if check.parameters else check.name
            raise value.place.error(
                f"{check.name} has no subject, got {said(value)}; its options are given by name", f"write {example}"
            )
        if subject.many and isinstance(value, YamlList):
            return [Given(one, one.place) for one in value.items], {}
        return [Given(value, value.place)], {}

    def several_keys(self, node: YamlMapping) -> NoReturn:
        keys = node.keys
        shown = ", ".join(_render.capped(key, 40) for key in keys[:6])
        if not keys:
            raise node.place.error("a check was expected, got an empty mapping")
        names = [key for key in keys if key in self.names.vocabulary or key == "not"]
        if len(names) == 1 and len(keys) > 1 and all(key in _ENTRY_KEYS for key in keys if key not in names):
            hint = (
                f"write the check under `check`: {{check: {{{names[0]}: …}}, {next(key for key in keys if key not in names)}: …}}"
            )
        elif len(names) == 1:
            hint = f"options of {names[0]} are given inside it: {{{names[0]}: {{…}}}}"
        else:
            hint = "begin each check with `- ` of its own"
        raise node.place.error(f"an entry has one check, this one has the keys {shown}", hint)


def _refuse_unknown(node: YamlMapping, known: tuple[str, ...], what: str) -> None:
    for key, _ in node.items:
        if key.text not in known:
            near = nearest_names(key.text, known)
            hint = near if near.startswith("did") else f"it has {', '.join(known)}"
            raise key.place.error(f"{what} has no key {said(key)}", hint)
