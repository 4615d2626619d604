"""What LangChain and LangGraph stream, put together into the state, the messages or the answer at its end.

A stream is of one mode or of several, with the names of the graphs inside it or without; see `_item` for the shapes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, pairwise
from typing import Any, NamedTuple

from msgspec.structs import replace

from quickchecks._run import Gap, Run
from quickchecks.adapters._dialects import LOOK_AT
from quickchecks.adapters._langchain_messages import MESSAGE
from quickchecks.adapters._langchain_state import INTERRUPT, state_run
from quickchecks.adapters._objects import field, is_a
from quickchecks.adapters._shapes import expected, text_id

__all__ = ("are_streamed", "last_output", "streamed_run", "whole_messages")

_MODES = frozenset(("checkpoints", "custom", "debug", "events", "messages", "tasks", "updates", "values"))
_CHUNK = "langchain_core.messages:BaseMessageChunk"
_REMOVAL = "langchain_core.messages:RemoveMessage"
_ALL = "__remove_all__"
_UNASKED = Gap("input", "what was asked is not in this stream")
_INSIDE = Gap("nested", "what the graphs inside this one streamed is not read")


class _Item(NamedTuple):
    """One piece of a stream: the graph inside the graph that it is of, its mode, and what it holds."""

    inside: tuple[Any, ...]
    mode: str
    data: Any


def _item(value: Any) -> _Item | None:
    """Read a piece: the data alone, with the mode or the name of a graph before it, or all three as a tuple or a dict."""
    if type(value) is dict:
        if _is_mode(value.get("type")) and "data" in value and isinstance(value.get("ns"), (list, tuple)):
            return _Item(tuple(value["ns"]), value["type"], value["data"])
        return _Item((), _mode(value), value)
    if type(value) is not tuple:
        return None
    if len(value) == 3 and type(value[0]) is tuple and _is_mode(value[1]):
        return _Item(*value)
    if len(value) != 2:
        return None
    first, data = value
    if is_a(first, MESSAGE) and isinstance(data, Mapping):
        return _Item((), "messages", value)
    if _is_mode(first):
        return _Item((), first, data)
    inner = _item(data) if type(first) is tuple else None
    return None if inner is None else _Item(first, inner.mode, inner.data)


def _is_mode(value: Any) -> bool:
    return type(value) is str and value in _MODES


def _mode(data: Mapping[str, Any]) -> str:
    if type(data.get("event")) is str and "run_id" in data and "data" in data:
        return "events"
    if ("payload" in data and "step" in data) or ("name" in data and ("triggers" in data or "result" in data)):
        return "debug"
    return "values" if isinstance(data.get("messages"), (list, tuple)) else "updates"


def are_streamed(values: Any) -> bool:
    """Whether a list holds what a graph or a chain streamed: the messages of this library somewhere in its first pieces."""
    if not isinstance(values, (list, tuple)) or not values or type(values[0]) not in (dict, tuple):
        return False
    if type(values[0]) is dict and "role" in values[0]:
        return False  # most lists of dicts are messages of others
    items = [_item(value) for value in islice(values, LOOK_AT)]
    if any(item is None for item in items):
        return False
    known = [item for item in items if item is not None]
    if not any(_speaks(item) for item in known):
        return False
    return any(value is not item.data for value, item in zip(values, known, strict=False)) or _is_one_stream(known)


def _is_one_stream(items: Sequence[_Item]) -> bool:
    """Whether states by themselves are those of one run, each with the messages of the one before; else each is a run."""
    if any(item.mode != "values" for item in items):
        return True
    lists = [field(item.data, "messages") for item in items]
    last = lists[0][-1] if lists[0] else None
    answered = field(last, "type") == "ai" and not field(last, "tool_calls")
    return len(lists) > 1 and not answered and all(_goes_on(one, other) for one, other in pairwise(lists))


def _goes_on(one: Sequence[Any], other: Sequence[Any]) -> bool:
    if not one:
        return True
    if len(other) < len(one):
        return False
    id = text_id(field(one[0], "id"))
    return one[0] is other[0] or (id is not None and id == text_id(field(other[0], "id")))


def _speaks(item: _Item) -> bool:
    data = item.data
    if item.mode == "messages":
        return isinstance(data, (list, tuple)) and bool(data) and is_a(data[0], MESSAGE)
    if item.mode == "events":
        held = data.get("data") if isinstance(data, Mapping) else None
        return isinstance(held, Mapping) and any(_holds(one) for one in held.values())
    return _holds(data)


def _holds(data: Any, depth: int = 3) -> bool:
    """Whether a state or an update holds a message of this library."""
    if is_a(data, MESSAGE):
        return True
    if depth and isinstance(data, Mapping):
        return any(_holds(held, depth - 1) for held in islice(data.values(), LOOK_AT))
    return bool(depth) and isinstance(data, (list, tuple)) and any(_holds(held, depth - 1) for held in data[:1])


def last_output(values: Sequence[Any]) -> Any:
    """What the outermost run gave, of which the events of `astream_events` tell; None where they are no such events.

    Raises:
        RecordingError: They end before it gave anything.
    """
    first = values[0]
    if type(first) is not dict or _mode(first) != "events":
        return None
    ended = (event for event in reversed(values) if field(event, "run_id") == first["run_id"] and _is_end(event))
    found = field(field(next(ended, None), "data"), "output")
    if found is None:
        raise expected(
            "events until the end of the run", values, "", "return all that astream_events gives, or what ainvoke gives"
        )
    return found


def _is_end(event: Any) -> bool:
    return str(field(event, "event")).endswith("_end")


def streamed_run(values: Sequence[Any]) -> Run:
    """Read what a graph streamed with `stream` or `astream`.

    Raises:
        RecordingError: It shows neither states nor updates nor messages, or a piece is none of a stream.
    """
    items: list[_Item] = []
    for at, value in enumerate(values):
        item = _item(value)
        if item is None:
            raise expected("a piece of a stream of LangGraph", value, f"[{at}]")
        items.append(item)
    own = [item for item in items if not item.inside]
    gaps = [_INSIDE] if len(own) < len(items) else []
    waits = any(isinstance(item.data, Mapping) and INTERRUPT in item.data for item in own if item.mode in ("updates", "values"))
    data = {mode: [item.data for item in own if item.mode == mode] for mode in ("values", "updates", "messages")}
    states = [state for state in data["values"] if not (isinstance(state, Mapping) and set(state) == {INTERRUPT})]
    if states:
        run = state_run(states[-1], interrupted=waits)
    elif data["updates"]:
        run = state_run(_updated(data["updates"]), interrupted=waits, before=0)
        gaps.append(_UNASKED)
    elif data["messages"]:
        messages, spoken_inside = _told(data["messages"])
        run = state_run({"messages": messages}, before=0)
        gaps += [_UNASKED, *([_INSIDE] if spoken_inside else [])]
    else:
        hint = "stream with stream_mode='values', or return what ainvoke gives"
        raise expected("a stream of states, updates or messages", values, "", hint)
    return replace(run, gaps=(*run.gaps, *dict.fromkeys(gaps)))


def _updated(updates: Sequence[Any]) -> dict[str, Any]:
    """The state that the updates of nodes make: messages follow one another, of anything else the last counts."""
    state: dict[str, Any] = {}
    messages: list[Any] = []
    for update in updates:
        for written in _written(update):
            if isinstance(written, Mapping):
                state.update({key: held for key, held in written.items() if key != "messages"})
                written = written.get("messages")
            if written is not None:
                _add(messages, written if isinstance(written, (list, tuple)) else [written])
    return {**state, "messages": messages}


def _written(update: Any) -> Iterator[Any]:
    for node, written in update.items() if isinstance(update, Mapping) else ():
        if str(node).startswith("__"):
            continue
        several = isinstance(written, (list, tuple)) and any(isinstance(one, Mapping) for one in written)
        yield from written if several else [written]


def _add(messages: list[Any], new: Sequence[Any]) -> None:
    """Add messages as a graph does: one with an id that is known takes the place of that, or takes it away."""
    for message in new:
        id = text_id(field(message, "id"))
        known = next((at for at, one in enumerate(messages) if id is not None and field(one, "id") == id), None)
        if is_a(message, _REMOVAL):
            if id == _ALL:
                messages.clear()
            elif known is not None:
                del messages[known]
        elif known is not None:
            messages[known] = message
        else:
            messages.append(message)


def _told(pairs: Sequence[Any]) -> tuple[list[Any], bool]:
    """The messages of a stream of pieces, and whether models inside tools spoke too, whose words are not the agent's."""
    pieces = [(pair[0], field(pair[1], "langgraph_node")) for pair in pairs if isinstance(pair, (list, tuple)) and len(pair) == 2]
    of_tools = {node for piece, node in pieces if node is not None and field(piece, "type") == "tool"}
    own = [piece for piece, node in pieces if node not in of_tools or field(piece, "type") == "tool"]
    return whole_messages(own), len(own) < len(pieces)


def whole_messages(pieces: Sequence[Any]) -> list[Any]:
    """Messages of whose pieces each stands by itself, put together.

    Args:
        pieces: Pieces of messages, and messages; one that is whole takes the place of its pieces.
    """
    whole: list[Any] = []
    places: dict[str, int] = {}
    for piece in pieces:
        id = text_id(field(piece, "id"))
        is_piece = is_a(piece, _CHUNK)
        at = places.get(id) if id is not None else len(whole) - 1 if is_piece and whole and is_a(whole[-1], _CHUNK) else None
        if at is None:
            if id is not None:
                places[id] = len(whole)
            whole.append(piece)
        elif is_piece and is_a(whole[at], _CHUNK):
            whole[at] = whole[at] + piece
        elif not is_piece:
            whole[at] = piece
    return whole
