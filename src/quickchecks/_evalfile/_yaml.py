"""Eval files in YAML. Scalars are texts, converted by what they are for; what nobody reads is refused."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import cast

from msgspec import Struct
from msgspec.structs import replace

from quickchecks import _render
from quickchecks._entries import Observed
from quickchecks._evalfile import _modules
from quickchecks._evalfile._found import EvalFile
from quickchecks._evalfile._variables import Variables, filled, plain, read_variables, used_in
from quickchecks._evaluation import EvalOptions
from quickchecks._gates import Gate, Threshold
from quickchecks._items import Item, items_of, load_items
from quickchecks._scorer.binding import Place
from quickchecks._scorer.checks_file import CheckEntry, load_checks_file, read_entries
from quickchecks._scorer.yaml_nodes import MAX_CHARACTERS, YamlList, YamlMapping, YamlNode, YamlScalar, read_yaml
from quickchecks._scorer.yaml_values import TRUTHS, number, said
from quickchecks.checks import ALIASES, vocabulary
from quickchecks.errors import CheckSyntaxError, ItemError, QuickchecksError, TargetError, nearest_names

__all__ = ("KEYS", "OPTIONS", "load")

#: The keys of an eval file.
KEYS = ("target", "data", "gates", "scorers", "checks", "options", "vars")
#: The options that a file may give, with what they take.
OPTIONS: Mapping[str, str] = {
    "concurrency": "a whole number",
    "timeout": "a number of seconds",
    "retries": "a whole number",
    "retry_timeouts": "yes or no",
    "repetitions": "a whole number",
    "max_errors": "a whole number",
    "name": "a text",
    "record": "the name of a file",
    "target_options": "a mapping",
}
_FIELDS = tuple(name for name in Item.__struct_fields__ if name not in ("source", "content"))
#: How the names of files with items end.
_DATA = (".csv", ".json", ".jsonl", ".ndjson", ".gz")
_KIND = "an eval file"
_EXAMPLE = "write\n  target: module:function\n  data: dataset.jsonl\n  gates:\n    - no_tool_errors"
#: So many keys of metadata are known by name.
_MOST_NAMES = 1000
_TARGET = re.compile(r"([A-Za-z_][\w.]*):([A-Za-z_][\w.]*)(\(\))?")


def load(file: str, variables: Mapping[str, str]) -> EvalFile:
    """Read an eval file in YAML.

    Args:
        file: The file.
        variables: Values for its variables.

    Raises:
        CheckSyntaxError: The file cannot be read; it says where and why. So are the errors of checks and items.
    """
    root = read_yaml(_content(file), file, kind=_KIND)
    if root is None:
        raise CheckSyntaxError("this eval file is empty", file=file, hint=_EXAMPLE)
    if not isinstance(root, YamlMapping):
        raise root.place.error(f"an eval file is a mapping with target, data and gates or scorers, not {said(root)}", _EXAMPLE)
    _refuse_unknown(root, KEYS, _KIND, elsewhere=OPTIONS)
    values = read_variables(root.get("vars"), variables, root.place)
    body = YamlMapping(root.place, tuple((key, filled(value, values)) for key, value in root.items if key.text != "vars"))
    for_target = {name for key, value in root.items if key.text in ("target", "options") for name in used_in(value)}
    elsewhere = {name for key, value in root.items if key.text not in ("target", "options", "vars") for name in used_in(value)}
    return replace(_Reader(file, values).eval_file(body), target_variables=frozenset(for_target - elsewhere))


def _content(file: str) -> str:
    try:
        with open(file, "rb") as stream:
            data = stream.read(4 * MAX_CHARACTERS + 4)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise CheckSyntaxError(f"this eval file cannot be opened: {reason}", file=file) from error
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise CheckSyntaxError(f"an eval file is UTF-8, this one is not: {error.reason}", file=file, line=line) from None


def _refuse_unknown(node: YamlMapping, known: Sequence[str], what: str, *, elsewhere: Mapping[str, str] | None = None) -> None:
    for key, _ in node.items:
        if key.text in known:
            continue
        near = nearest_names(key.text, known)
        hint = near if near.startswith("did") else f"it has {', '.join(known)}"
        if key.text in (elsewhere or {}):
            hint = f"{key.text} is one of the options: write options: {{{key.text}: …}}"
        raise key.place.error(f"{what} has no key {said(key)}", hint)


class _Target(Struct, frozen=True):
    """What `target:` names; imported when it is called."""

    module: str
    attribute: str
    is_factory: bool
    folders: tuple[Path, ...]
    place: Place

    def __call__(self) -> Callable[..., object]:
        try:
            found = _modules.attribute(_modules.import_module(self.module, self.folders), self.attribute)
            if self.is_factory:
                found = _modules.call(found, self.attribute)
            if not callable(found):
                raise TargetError(f"the target is {_render.value(found)}, which cannot be called with an input")
        except TargetError as error:
            raise TargetError(f"{self.place}: {error}") from error
        return cast("Callable[..., object]", found)


class _Reader:
    """Makes what the nodes of an eval file stand for."""

    def __init__(self, file: str, variables: Variables) -> None:
        self.file = file
        self.variables = variables
        #: What a text such as `$city` in a check may be meant to be, with how that is written.
        self.names = {name: f"${{{name}}}" for name in variables}
        self.folder = Path(file).parent
        self.files: list[Path] = [Path(file)]
        self.checks_in: list[Path] = [Path(file)]

    def eval_file(self, root: YamlMapping) -> EvalFile:
        data = root.get("data")
        if data is None:
            raise root.place.error("an eval file needs data: a list of items, or the name of a file", _EXAMPLE)
        items = self.items(data)
        gates = self.gates(root.get("gates"))
        scorers = self.scorers(root.get("scorers"))
        for entry in self.entries_of_checks(root.get("checks")):
            if entry.mode == "gate":
                gates.append(entry.scorer)
            elif entry.threshold is not None and entry.mode == "threshold":
                scorers.append(Threshold(entry.scorer, entry.threshold.min, entry.threshold.max))
            else:
                scorers.append(Observed(entry.scorer, "shadow" if entry.mode == "shadow" else "watch"))
        options = self.options(root.get("options"))
        target = self.target(root.get("target"))
        rest = [value for key, value in root.items if key.text not in ("gates", "scorers", "checks")]
        return EvalFile(
            path=Path(self.file),
            items=items,
            gates=gates,
            scorers=scorers,
            options=options,
            load_target=target if target is not None else lambda: None,
            files=tuple(self.files),
            checks_in=tuple(self.checks_in),
            beside_checks=repr([plain(node) for node in rest]),
        )

    def target(self, node: YamlNode | None) -> _Target | None:
        if node is None or (isinstance(node, YamlScalar) and node.is_null):
            return None
        found = _TARGET.fullmatch(node.text) if isinstance(node, YamlScalar) else None
        if found is None:
            hint = "write target: agent:answer for the function answer of agent.py, or agent:make() for what make() returns"
            raise node.place.error(f"a target is module:attribute or module:factory(), not {said(node)}", hint)
        return _Target(found[1], found[2], bool(found[3]), (self.folder, Path()), node.place)

    def items(self, node: YamlNode) -> list[Item]:
        if isinstance(node, YamlScalar):
            return self.items_in(node, None)
        if isinstance(node, YamlMapping):
            _refuse_unknown(node, ("file", "map"), "data from a file")
            file = node.get("file")
            if not isinstance(file, YamlScalar):
                raise node.place.error("data names no file", "write data: {file: dataset.jsonl, map: {…}}, or a list of items")
            return self.items_in(file, self.mapped(node.get("map")))
        assert isinstance(node, YamlList)
        for item in node.items:
            self.note_metadata(_metadata_keys(item))
        try:
            return items_of([self.item(item) for item in node.items])
        except ItemError as error:
            raise ItemError(f"{node.place}: {error}") from None

    def items_in(self, node: YamlScalar, fields: Mapping[str, str] | None) -> list[Item]:
        if node.is_null or not node.text.strip():
            raise node.place.error("data is a list of items, or the name of a file; this is nothing")
        path = self.folder / node.text
        if path.is_dir():
            names = sorted(entry.name for entry in os.scandir(path) if entry.name.lower().endswith(_DATA))
            inside = [f"{node.text.rstrip('/')}/{name}" for name in names]
            hint = f"name one of its files: {_render.listed(inside, limit=5)}"
            raise node.place.error(f"{_render.quoted(node.text)} is a folder, and data is one file", hint if inside else "")
        if not path.is_file():
            names = [entry.name for entry in os.scandir(path.parent)] if path.parent.is_dir() else []
            near = nearest_names(path.name, [name for name in names if name.lower().endswith(_DATA)])
            hint = near if near.startswith("did") else "the name of a file is relative to the eval file"
            raise node.place.error(f"there is no file {_render.quoted(node.text)}", hint)
        self.files.append(path)
        items = load_items(path, fields=fields)
        for item in items:
            self.note_metadata(item.metadata or ())
        return items

    def note_metadata(self, keys: Iterable[str]) -> None:
        """Note which metadata there is, for what a text in a check may be meant to be."""
        for key in keys:
            if key not in self.names and len(self.names) < _MOST_NAMES:
                self.names[key] = f"$metadata.{key}"

    def mapped(self, node: YamlNode | None) -> Mapping[str, str] | None:
        if node is None:
            return None
        if not isinstance(node, YamlMapping):
            raise node.place.error(f"map is a mapping, not {said(node)}", "write map: {input: question, expected: answer}")
        _refuse_unknown(node, _FIELDS, "an item")
        found: dict[str, str] = {}
        for key, value in node.items:
            if not isinstance(value, YamlScalar) or not value.text:
                raise value.place.error(f"{key.text} is mapped to the name of a field, not to {said(value)}")
            found[key.text] = value.text
        return found

    def item(self, node: YamlNode) -> object:
        """An item that is written in the file; its turns may bring checks."""
        if not isinstance(node, YamlMapping):
            return plain(node, self.variables)
        turns = node.get("turns")
        found = {key.text: plain(value, self.variables) for key, value in node.items if value is not turns}
        if isinstance(turns, YamlList):
            found["turns"] = [self.turn(turn) for turn in turns.items]
        elif turns is not None:
            found["turns"] = plain(turns)
        return found

    def turn(self, node: YamlNode) -> object:
        if not isinstance(node, YamlMapping):
            raise node.place.error(f"a turn is a mapping with an input, not {said(node)}")
        _refuse_unknown(node, ("input", "gates", "scorers"), "a turn")
        found = {key.text: plain(value, self.variables) for key, value in node.items if key.text == "input"}
        return {**found, "gates": self.gates(node.get("gates")), "scorers": self.scorers(node.get("scorers"))}

    def gates(self, node: YamlNode | None) -> list[object]:
        found: list[object] = []
        for item in _list_items(node, "gates"):
            bare, rates = _without_rates(item)
            entry = self.entries([bare])[0]
            written = item.get("mode") if isinstance(item, YamlMapping) else None
            if entry.threshold is not None:
                problem = "an entry with a threshold stands among the gates: a gate must pass on every item"
                raise item.place.error(problem, "move it to scorers, or ask for less with pass_rate: 0.95")
            if written is not None and entry.mode != "gate":
                raise written.place.error(f"`mode: {entry.mode}` among the gates, which all decide", "move it to scorers")
            try:
                found.append(Gate(entry.scorer, **rates) if rates else entry.scorer)
            except QuickchecksError as error:
                raise item.place.error(str(error)) from error
        return found

    def scorers(self, node: YamlNode | None) -> list[object]:
        found: list[object] = []
        for item in _list_items(node, "scorers"):
            entry = self.entries([item])[0]
            written = item.get("mode") if isinstance(item, YamlMapping) else None
            if written is not None and entry.mode == "gate":
                raise written.place.error("`mode: gate` among the scorers, which only measure", "move it to gates")
            if entry.threshold is not None and entry.mode == "threshold":
                found.append(Threshold(entry.scorer, entry.threshold.min, entry.threshold.max))
            elif written is not None:
                found.append(Observed(entry.scorer, "shadow" if entry.mode == "shadow" else "watch"))
            else:
                found.append(entry.scorer)
        return found

    def entries(self, nodes: Sequence[YamlNode]) -> tuple[CheckEntry, ...]:
        return read_entries(nodes, vocabulary(), aliases=ALIASES, for_items=True, names=self.names)

    def entries_of_checks(self, node: YamlNode | None) -> tuple[CheckEntry, ...]:
        if isinstance(node, YamlScalar) and node.text.lower().endswith((".yaml", ".yml")):
            path = self.folder / node.text
            self.files.append(path)
            self.checks_in.append(path)
            return load_checks_file(path, vocabulary(), aliases=ALIASES, for_items=True, names=self.names).entries
        return self.entries(list(_list_items(node, "checks")))

    def options(self, node: YamlNode | None) -> EvalOptions:
        if node is None or (isinstance(node, YamlScalar) and node.is_null):
            return {}
        if not isinstance(node, YamlMapping):
            raise node.place.error(f"options is a mapping, not {said(node)}", "write options: {concurrency: 4, timeout: 30}")
        _refuse_unknown(node, tuple(OPTIONS), "options")
        found: dict[str, object] = {key.text: self.option(key.text, value) for key, value in node.items}
        if isinstance(found.get("record"), str):
            found["record"] = self.folder / str(found["record"])
        return cast("EvalOptions", found)

    def option(self, name: str, node: YamlNode) -> object:
        kind = OPTIONS[name]
        if kind == "a mapping" and isinstance(node, YamlMapping):
            return plain(node)
        if isinstance(node, YamlScalar):
            written = node.text.strip()
            if kind == "yes or no" and written.lower() in TRUTHS:
                return TRUTHS[written.lower()]
            if kind == "a whole number" and re.fullmatch(r"\d{1,9}", written):
                return int(written)
            if kind == "a number of seconds":
                if node.plain and written.lower() in ("none", "null", "~"):
                    return None
                value = number(written)
                if value is not None:
                    return value
            if kind in ("a text", "the name of a file") and written:
                return node.text
        raise node.place.error(f"{name} is {kind}, not {said(node)}")


def _metadata_keys(item: YamlNode) -> list[str]:
    """The keys of the metadata of an item that is written in the file."""
    if not isinstance(item, YamlMapping):
        return []
    metadata = item.get("metadata")
    inside = metadata.keys if isinstance(metadata, YamlMapping) else []
    return [*inside, *(key for key in item.keys if key not in _FIELDS)]


def _without_rates(node: YamlNode) -> tuple[YamlNode, dict[str, float]]:
    """An entry of gates without its `pass_rate` and `confidence`, and these."""
    if not isinstance(node, YamlMapping) or node.get("check") is None:
        return node, {}
    rates: dict[str, float] = {}
    for name in ("pass_rate", "confidence"):
        value = node.get(name)
        if value is not None:
            found = number(value.text) if isinstance(value, YamlScalar) else None
            if found is None:
                raise value.place.error(f"{name} is a number above 0 and up to 1, not {said(value)}")
            rates[name] = found
    return replace(node, items=tuple(pair for pair in node.items if pair[0].text not in rates)), rates


def _list_items(node: YamlNode | None, key: str) -> Iterator[YamlNode]:
    if node is None or (isinstance(node, YamlScalar) and node.is_null):
        return
    if not isinstance(node, YamlList):
        raise node.place.error(f"a list was expected under `{key}`, got {said(node)}", "begin each check with `- `")
    yield from node.items
