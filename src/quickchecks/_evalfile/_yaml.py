"""Eval files in YAML. Scalars are texts, converted by what they are for; what nobody reads is refused."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import cast

from msgspec.structs import replace

from quickchecks import _render
from quickchecks._entries import Assertion, Observed
from quickchecks._evalfile._found import EvalFile
from quickchecks._evalfile._options import OPTIONS, option
from quickchecks._evalfile._targets import Elsewhere, InModule
from quickchecks._evalfile._variables import Variables, filled, plain, read_variables, refuse_partial, typed, used_in
from quickchecks._evaluation import EvalOptions
from quickchecks._gates import Gate, Threshold, gates_of, scorers_of
from quickchecks._items import Item, items_of, load_items
from quickchecks._run import Source
from quickchecks._scorer.binding import Place
from quickchecks._scorer.checks_file import CheckEntry, load_checks_file, read_entries
from quickchecks._scorer.yaml_nodes import MAX_CHARACTERS, YamlList, YamlMapping, YamlNode, YamlScalar, read_yaml
from quickchecks._scorer.yaml_values import number, said
from quickchecks.checks import ALIASES, vocabulary
from quickchecks.errors import CheckSyntaxError, ItemError, QuickchecksError, nearest_names

__all__ = ("KEYS", "load")

#: The keys of an eval file.
KEYS = ("target", "data", "gates", "scorers", "checks", "options", "vars")
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


class _Once:
    """Takes the entries of gates and scorers, each with a place, and refuses what `run_evals` would refuse without one."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, str], Place] = {}

    def gate(self, gate: object, place: Place) -> object:
        """Take a gate."""
        return self._take(gate, place, gates_of)

    def scorer(self, scorer: object, place: Place) -> object:
        """Take a scorer."""
        return self._take(scorer, place, scorers_of)

    def _take(self, entry: object, place: Place, read: Callable[[list[object]], tuple[Assertion, ...]]) -> object:
        try:
            (assertion,) = read([entry])
        except QuickchecksError as error:
            raise place.error(str(error)) from error
        before = self._seen.setdefault((assertion.role, assertion.identity), place)
        if before is not place:
            identity = _render.capped(assertion.identity, 80)
            hint = "leave one out, or give each a name of its own: {check: …, name: …}"
            raise place.error(f"{identity} stands here a second time, after {before}", hint)
        return entry


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
        once = _Once()
        gates = self.gates(root.get("gates"), once)
        scorers = self.scorers(root.get("scorers"), once)
        for entry, place in self.entries_of_checks(root.get("checks")):
            if entry.mode == "gate":
                gates.append(once.gate(entry.scorer, place))
            elif entry.threshold is not None and entry.mode == "threshold":
                scorers.append(once.scorer(Threshold(entry.scorer, entry.threshold.min, entry.threshold.max), place))
            else:
                scorers.append(once.scorer(Observed(entry.scorer, "shadow" if entry.mode == "shadow" else "watch"), place))
        options = self.options(root.get("options"))
        target = self.target(root.get("target"), options)
        if not isinstance(target, Elsewhere):
            _refuse_options_of_endpoints(root.get("options"))
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

    def target(self, node: YamlNode | None, options: EvalOptions) -> InModule | Elsewhere | None:
        if node is None or (isinstance(node, YamlScalar) and node.is_null):
            return None
        if isinstance(node, YamlScalar):
            refuse_partial(node, self.variables)
        if isinstance(node, YamlScalar) and node.text.startswith(("http://", "https://", "cmd:")):
            return self.elsewhere(node, options)
        return self.named(node, "target")

    def named(self, node: YamlNode, what: str) -> InModule:
        """What stands in a module."""
        found = _TARGET.fullmatch(node.text) if isinstance(node, YamlScalar) else None
        if found is None:
            hint = "write target: agent:answer for the function answer of agent.py, or agent:make() for what make() returns"
            raise node.place.error(
                f"a {what} is module:attribute or module:factory(), an endpoint (http://…) or a program (cmd:…), not {said(node)}"
                if what == "target"
                else f"a {what} is module:function, not {said(node)}",
                hint if what == "target" else "write tools: [agent:get_weather] for the function get_weather of agent.py",
            )
        return InModule(found[1], found[2], bool(found[3]), (self.folder, Path()), node.place)

    def elsewhere(self, node: YamlScalar, options: EvalOptions) -> Elsewhere:
        """An endpoint or a program takes its options itself; a program runs beside the eval file."""
        given: dict[str, object] = dict(options.pop("target_options", None) or {})
        if node.text.startswith("cmd:"):
            return Elsewhere(node.text, {"cwd": self.folder, **given}, (), node.place)
        if (model := options.pop("model", None)) is not None:
            given["model"] = model
        tools = cast("Iterable[InModule]", options.pop("tools", ()))
        return Elsewhere(node.text, given, tuple(tools), node.place)

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
            items = items_of([self.item(item) for item in node.items])
            return [replace(item, source=Source(self.file, one.place.line)) for item, one in zip(items, node.items, strict=True)]
        except ItemError as error:
            raise ItemError(f"{node.place}: {error}") from None

    def items_in(self, node: YamlScalar, fields: Mapping[str, str] | None) -> list[Item]:
        if node.is_null or not node.text.strip():
            raise node.place.error("data is a list of items, or the name of a file; this is nothing")
        refuse_partial(node, self.variables)
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
        found = {
            key.text: typed(value) if key.text == "tool_mocks" else plain(value, self.variables)
            for key, value in node.items
            if value is not turns
        }
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
        once = _Once()
        return {**found, "gates": self.gates(node.get("gates"), once), "scorers": self.scorers(node.get("scorers"), once)}

    def gates(self, node: YamlNode | None, once: _Once) -> list[object]:
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
                gate = Gate(entry.scorer, **rates) if rates else entry.scorer
            except QuickchecksError as error:
                raise item.place.error(str(error)) from error
            found.append(once.gate(gate, item.place))
        return found

    def scorers(self, node: YamlNode | None, once: _Once) -> list[object]:
        found: list[object] = []
        for item in _list_items(node, "scorers"):
            entry = self.entries([item])[0]
            written = item.get("mode") if isinstance(item, YamlMapping) else None
            if written is not None and entry.mode == "gate":
                raise written.place.error("`mode: gate` among the scorers, which only measure", "move it to gates")
            one: object = entry.scorer
            if entry.threshold is not None and entry.mode == "threshold":
                one = Threshold(entry.scorer, entry.threshold.min, entry.threshold.max)
            elif written is not None:
                one = Observed(entry.scorer, "shadow" if entry.mode == "shadow" else "watch")
            found.append(once.scorer(one, item.place))
        return found

    def entries(self, nodes: Sequence[YamlNode]) -> tuple[CheckEntry, ...]:
        return read_entries(nodes, vocabulary(), aliases=ALIASES, for_items=True, names=self.names)

    def entries_of_checks(self, node: YamlNode | None) -> list[tuple[CheckEntry, Place]]:
        if isinstance(node, YamlScalar) and node.text.lower().endswith((".yaml", ".yml")):
            refuse_partial(node, self.variables)
            path = self.folder / node.text
            self.files.append(path)
            self.checks_in.append(path)
            entries = load_checks_file(path, vocabulary(), aliases=ALIASES, for_items=True, names=self.names).entries
            return [(entry, Place(str(path), entry.line)) for entry in entries]
        nodes = list(_list_items(node, "checks"))
        return [(entry, one.place) for entry, one in zip(self.entries(nodes), nodes, strict=True)]

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
        if name == "tools" and isinstance(node, YamlList):
            return tuple(self.named(one, "tool") for one in node.items)
        if isinstance(node, YamlScalar):
            refuse_partial(node, self.variables)
        return option(name, node)


def _refuse_options_of_endpoints(options: YamlNode | None) -> None:
    """Refuse a model and tools beside a target that is no endpoint, which would not see them."""
    for key, _ in options.items if isinstance(options, YamlMapping) else ():
        if key.text in ("model", "tools"):
            hint = f"what another target takes beside the input stands under options: {{target_options: {{{key.text}: …}}}}"
            raise key.place.error(f"{key.text} belongs to an endpoint as target, as in target: http://127.0.0.1:8000/v1", hint)


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
