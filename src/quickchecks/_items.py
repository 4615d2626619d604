"""The items of a dataset: what the target is asked, and what is expected of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from os import PathLike, fspath

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from quickchecks import _render, _wire
from quickchecks._datafiles import Renaming, data_records
from quickchecks._run import Run, Source
from quickchecks.errors import ItemError, nearest_names

__all__ = ("Item", "Turn", "content_hash", "items_of", "load_items")

_EXPECTED = ("expected", "ground_truth", "groundTruth", "expected_output", "reference")
_ASKED = ("input", "inputs", "turns")
_KNOWN = frozenset((*_ASKED, *_EXPECTED, "id", "metadata", "context", "expected_trajectory", "tool_mocks", "output", "run"))


class Turn(Struct, frozen=True, omit_defaults=True):
    """One turn of a conversation that is checked turn by turn.

    Args:
        input: What is sent.
        gates: What must pass on this turn alone.
        scorers: What is measured on this turn alone.
    """

    input: object
    gates: tuple[object, ...] = ()
    scorers: tuple[object, ...] = ()


class Item(Struct, frozen=True, omit_defaults=True):
    """One item of a dataset.

    It has exactly one of `input`, `inputs` and `turns`, unless it brings its recorded `output` or `run`.

    Args:
        input: What the target is asked.
        inputs: A conversation: each is sent in order, in one session; scorers see all that was said.
        turns: A conversation with checks for each turn.
        expected: What is expected; scorers get it under this name, and `from_item("expected")` reads it.
        id: Its identity, as text; made of its content when it is left out.
        metadata: What else there is to know.
        context: Texts that a scorer may need, such as what was retrieved.
        expected_trajectory: The steps that are expected.
        tool_mocks: What tools answer instead of running.
        output: What was answered, when it is known already.
        run: The recorded run, when there is one.
        source: Where the item was read from.
        content: A hash of its content, where it was read from a saved result.

    Example:
        >>> Item(input="What is the weather in Oslo?", expected="cold").asked
        ('What is the weather in Oslo?',)
    """

    input: object = UNSET
    inputs: tuple[object, ...] = ()
    turns: tuple[Turn, ...] = ()
    expected: object = None
    id: str | None = None
    metadata: Mapping[str, object] | None = None
    context: object = None
    expected_trajectory: object = None
    tool_mocks: object = None
    output: object | UnsetType = UNSET
    run: Run | None = None
    source: Source | None = None
    content: str = ""

    @property
    def asked(self) -> tuple[object, ...]:
        """What is sent, in order."""
        if self.turns:
            return tuple(turn.input for turn in self.turns)
        return self.inputs or (() if self.input is UNSET else (self.input,))

    def field(self, name: str) -> object:
        """A field of the item by name, or of its metadata; UNSET when there is none."""
        if name in self.__struct_fields__ and name not in ("content", "source", "run"):
            value = getattr(self, name)
            return UNSET if value is None or value == () else value
        return (self.metadata or {}).get(name, UNSET)


def items_of(data: Iterable[object]) -> list[Item]:
    """Read items: mappings, Items, runs, or bare inputs.

    Args:
        data: The items, in order.

    Returns:
        The items, each with an id.

    Raises:
        ItemError: There are none, one of them cannot be understood, or two have the same id.

    Example:
        >>> items_of(["Hello"])[0].input
        'Hello'
    """
    if isinstance(data, (str, bytes, Mapping)) or not isinstance(data, Iterable):
        raise ItemError(f"data is a list of items, not {_render.value(data)}: write data=[...]")
    items = [_item_of(value, index) for index, value in enumerate(data)]
    if not items:
        raise ItemError("there is no data: give at least one item, such as {'input': 'Hello'}")
    return _with_ids(items)


def load_items(path: str | PathLike[str], *, fields: Mapping[str, str] | None = None) -> list[Item]:
    """Read the items of a file: JSON Lines, a JSON array, or CSV with a header. Recorded runs are items too.

    Args:
        path: The file; "-" is standard input.
        fields: Where the records have the fields of an item, by field: {"input": "question"}.

    Returns:
        The items, each with an id and the place it was read from.

    Raises:
        ItemError: An item cannot be understood, there are none, two have the same id, or a field is mapped that no record has.
        RecordingError: The file does not exist, or a line cannot be read; also where an object has a key twice.
    """
    file = fspath(path)
    renaming = None if fields is None else Renaming(fields)
    is_table = file.lower().endswith(".csv")
    items: list[Item] = []
    for source, value in data_records(file):
        try:
            if value is None:
                raise ItemError("this record is null; a record is a mapping with an input, or the input itself")
            value = value if renaming is None else renaming.of(value)
            if is_table and isinstance(value, dict):
                value = {key: cell for key, cell in value.items() if cell != ""}
            item = _item_of(_run_or_item(value), len(items))
            _refuse_checks(item)
        except ItemError as error:
            raise ItemError(f"{source}: {error}") from None
        items.append(replace(item, source=source))
    if not items:
        raise ItemError(f"{file}: there are no items in it")
    if renaming is not None:
        try:
            renaming.finish()
        except ItemError as error:
            raise ItemError(f"{file}: {error}") from None
    return _with_ids(items)


def _refuse_checks(item: Item) -> None:
    """Refuse checks in a data file, which holds values only."""
    for number, turn in enumerate(item.turns):
        if turn.gates or turn.scorers:
            raise ItemError(
                f"turn {number} has {'gates' if turn.gates else 'scorers'}, and a data file holds no checks: "
                "write the item into the eval file, under data"
            )


def _run_or_item(value: object) -> object:
    """A recorded run is an item that brings its run; what `record=` wrote says which item it was."""
    from quickchecks.adapters import as_run, recognise

    if not isinstance(value, Mapping) or ("schema" not in value and any(key in value for key in (*_ASKED, "output", "run"))):
        return value
    known = recognise(value)
    if known is None or known.name == "values":
        return value
    run = as_run(value)
    about = (run.metadata or {}).get("item")
    if not isinstance(about, Mapping):
        return run
    repetition = about.get("repetition")
    identity = f"{about.get('id')}#{repetition}" if repetition else about.get("id")
    return Item(run=run, id=None if identity is None else str(identity), expected=about.get("expected"))


def _item_of(value: object, index: int) -> Item:
    if isinstance(value, Item):
        item = _tidied(value, index)
    elif isinstance(value, Run):
        item = Item(run=value, id=value.id, source=value.source)
    elif isinstance(value, Mapping):
        item = _item_of_mapping(value, index)
    elif value is None:
        raise ItemError(f"item {index} is None; an item is a mapping with an input, or the input itself")
    else:
        item = Item(input=value)
    return _validated(item, index)


def _tidied(item: Item, index: int) -> Item:
    """An Item as it would have been read from a mapping; nobody has looked yet at what its fields hold."""
    if type(item.inputs) is tuple and item.turns == () and type(item.id) in (str, type(None)):
        return item
    return replace(
        item,
        inputs=_inputs_of(item.inputs, index) if item.inputs != () else (),
        turns=_turns_of(item.turns, index) if item.turns != () else (),
        id=_id_of(item.id, index),
    )


def _id_of(identity: object, index: int) -> str | None:
    if isinstance(identity, (bool, list, dict, tuple)) or identity == "":
        raise ItemError(f"item {index}: an id is a text or a number, not {_render.value(identity)}")
    return None if identity is None else str(identity)


def _item_of_mapping(value: Mapping[object, object], index: int) -> Item:
    given = [key for key in _ASKED if key in value]
    recorded = "output" in value or "run" in value
    if len(given) != 1 and not (recorded and not given):
        raise ItemError(_which_is_asked(value, given, index))
    expected = [key for key in _EXPECTED if key in value]
    if len(expected) > 1:
        raise ItemError(f"item {index} has {' and '.join(map(repr, expected))}, which mean the same: keep one of them")
    known = value.keys() <= _KNOWN
    extra = {} if known else {str(key): item for key, item in value.items() if key not in _KNOWN}
    for key in extra:
        if key in ("gates", "scorers"):
            raise ItemError(f"item {index} has {key!r}, which only a turn has: {{'turns': [{{'input': ..., {key!r}: [...]}}]}}")
        if (near := nearest_names(key, _EXPECTED[:4])).startswith("did"):
            raise ItemError(f"item {index} has {key!r}, which means nothing here: {near} (what is only kept goes to metadata)")
    metadata = value.get("metadata")
    if metadata is not None and not isinstance(metadata, Mapping):
        raise ItemError(f"item {index}: metadata is a mapping, not {_render.value(metadata)}")
    run = value.get("run")
    return Item(
        input=value.get("input", UNSET),
        inputs=_inputs_of(value["inputs"], index) if "inputs" in value else (),
        turns=_turns_of(value["turns"], index) if "turns" in value else (),
        expected=value[expected[0]] if expected else None,
        id=_id_of(value.get("id"), index),
        metadata={**(metadata or {}), **extra} or None,
        context=value.get("context"),
        expected_trajectory=value.get("expected_trajectory"),
        tool_mocks=value.get("tool_mocks"),
        output=value.get("output", UNSET),
        run=run if isinstance(run, Run) else _recorded(run, index) if run is not None else None,
    )


def _which_is_asked(value: Mapping[object, object], given: list[str], index: int) -> str:
    if given:
        return f"item {index} has {' and '.join(map(repr, given))}; it takes exactly one of input, inputs and turns"
    keys = [str(key) for key in value]
    near = next((hint for key in keys if (hint := nearest_names(key, _ASKED)).startswith("did")), "")
    shown = f"its keys are {', '.join(keys[:10])}" if keys else "it is empty"
    hint = near or "if the mapping itself is the input, write {'input': {...}}"
    return f"item {index} has none of input, inputs and turns ({shown}); it takes exactly one of them; {hint}"


def _recorded(run: object, index: int) -> Run:
    from quickchecks.adapters import as_run

    try:
        return as_run(run)
    except ValueError as error:
        raise ItemError(f"item {index}: its run cannot be read: {error}") from error


def _inputs_of(inputs: object, index: int) -> tuple[object, ...]:
    if isinstance(inputs, (str, bytes, Mapping)) or not isinstance(inputs, Sequence) or not inputs:
        raise ItemError(f"item {index}: inputs is a list with at least one input, not {_render.value(inputs)}")
    return tuple(inputs)


def _turns_of(turns: object, index: int) -> tuple[Turn, ...]:
    if isinstance(turns, (str, bytes, Mapping)) or not isinstance(turns, Sequence) or not turns:
        raise ItemError(f"item {index}: turns is a list with at least one turn, not {_render.value(turns)}")
    return tuple(_turn_of(turn, f"item {index}, turn {number}") for number, turn in enumerate(turns))


def _turn_of(turn: object, where: str) -> Turn:
    if isinstance(turn, Turn):
        return turn
    known = ("input", "gates", "scorers")
    unknown = [str(key) for key in turn if key not in known] if isinstance(turn, Mapping) else []
    near = nearest_names(unknown[0], known) if unknown else ""
    hint = f": {near}" if near.startswith("did") else ""
    if not isinstance(turn, Mapping) or "input" not in turn:
        raise ItemError(f"{where} is a mapping with an input, not {_render.value(turn)}{hint}")
    if unknown:
        raise ItemError(f"{where} has {unknown[0]!r}; a turn has input, gates and scorers{hint}")
    return Turn(turn["input"], _entries(turn.get("gates"), where), _entries(turn.get("scorers"), where))


def _entries(entries: object, where: str) -> tuple[object, ...]:
    if entries is None:
        return ()
    if isinstance(entries, (str, Mapping)) or not isinstance(entries, Sequence):
        raise ItemError(f"{where}: gates and scorers are lists, not {_render.value(entries)}")
    return tuple(entries)


def _validated(item: Item, index: int) -> Item:
    asked = (item.input is not UNSET) + bool(item.inputs) + bool(item.turns)
    recorded = item.output is not UNSET or item.run is not None
    if asked > 1 or (asked == 0 and not recorded):
        raise ItemError(f"item {index} takes exactly one of input, inputs and turns")
    return item


def _with_ids(items: list[Item]) -> list[Item]:
    seen: dict[str, int] = {}
    found: list[Item] = []
    made: dict[str, int] = {}
    for index, item in enumerate(items):
        identity = item.id
        if identity is None:
            content = content_hash(item)[:12]
            made[content] = made.get(content, 0) + 1
            identity = content if made[content] == 1 else f"{content}#{made[content]}"
            item = replace(item, id=identity)
        if identity in seen:
            places = f"{_place(items[seen[identity]], seen[identity])} and {_place(item, index)}"
            raise ItemError(f"two items have the id {identity!r}: {places}; ids are compared as text")
        seen[identity] = index
        found.append(item)
    return found


def _place(item: Item, index: int) -> str:
    return f"item {index}" if item.source is None else str(item.source)


def content_hash(item: Item) -> str:
    """A hash of what the item asks and expects, which tells whether an item has changed.

    Args:
        item: The item.
    """
    if item.content:
        return item.content
    asked = [_wire.to_builtins(value) for value in item.asked]
    recorded = item.run.text if item.run is not None and not asked else None
    content = [asked, recorded, _wire.to_builtins(item.expected)]
    return sha256(_wire.dumps(content)).hexdigest()
