"""Chat completions that were streamed: the chunks of one, put together into the response that they are pieces of.

A piece of a call belongs to the call that is open at its index. One that names a tool and has an id of its own begins the
next call there, because some providers give every call the index 0; one without a name goes on with the open call, whatever
its id. Pieces of arguments follow one another as they are: none is left out because it looks like the one before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from quickchecks import _wire
from quickchecks.adapters._endings import is_whole
from quickchecks.adapters._objects import field, is_foreign
from quickchecks.adapters._shapes import as_mapping, expected, join, text_id

__all__ = ("are_chunks", "by_choice", "joined")

_CHUNK = "chat.completion.chunk"
_WORDS = ("content", "refusal", "reasoning_content", "reasoning")
_CHOICE_KEYS = ("delta", "index", "logprobs")


def are_chunks(values: Sequence[Any]) -> bool:
    """Whether a list holds the chunks of a streamed response. The first of them tells."""
    first = values[0] if values else None
    if type(first) is dict:
        if "choices" not in first:
            return False
    elif not is_foreign(first):
        return False
    if field(first, "object") == _CHUNK:
        return True
    choices = field(first, "choices")
    return isinstance(choices, (list, tuple)) and any(as_mapping(field(choice, "delta")) is not None for choice in choices[:1])


def by_choice(chunks: Sequence[Any]) -> list[list[dict[str, Any]]]:
    """Divide chunks by the choice that they belong to: a stream of several answers to one question holds them mixed."""
    read = [_mapping(chunk, f"[{at}]") for at, chunk in enumerate(chunks)]
    indexes: dict[int, None] = {}
    for at, chunk in enumerate(read):
        for choice in _choices(chunk, f"[{at}]"):
            indexes[_index(choice)] = None
    return [
        [{**chunk, "choices": [choice for choice in _choices(chunk, "") if _index(choice) == index]} for chunk in read]
        for index in indexes
    ]


def joined(chunks: Sequence[Any]) -> dict[str, Any]:
    """Put the chunks of one choice together.

    Args:
        chunks: The chunks.

    Returns:
        The response, with a message and, where the stream came so far, the reason why it ended.

    Raises:
        RecordingError: A chunk is malformed.
    """
    around: dict[str, Any] = {}
    beside: dict[str, Any] = {}
    message = _Message()
    for at, value in enumerate(chunks):
        path = f"[{at}]"
        chunk = _mapping(value, path)
        around.update({key: item for key, item in chunk.items() if item is not None and key not in ("choices", "object")})
        for number, choice in enumerate(_choices(chunk, path)):
            beside.update({key: item for key, item in choice.items() if item is not None and key not in _CHOICE_KEYS})
            if choice.get("delta") is not None:
                here = f"{path}.choices[{number}].delta"
                message.add(_mapping(choice["delta"], here), here)
    return {**around, "choices": [{**beside, "message": message.whole()}]}


class _Message:
    """The message that the pieces make."""

    def __init__(self) -> None:
        self._words: dict[str, list[str]] = {}
        self._rest: dict[str, Any] = {}
        self._calls: list[_Call] = []
        self._legacy: _Call | None = None
        self._open: dict[int, _Call] = {}
        self._by_id: dict[str, _Call] = {}
        self._last: _Call | None = None

    def add(self, delta: Mapping[str, Any], path: str) -> None:
        """Add a piece."""
        for key, piece in delta.items():
            if piece is None or key == "role":
                continue
            if key in _WORDS and isinstance(piece, str):
                self._words.setdefault(key, []).append(piece)
            elif key == "tool_calls":
                if not isinstance(piece, (list, tuple)):
                    raise expected("a list of pieces of calls", piece, join(path, key))
                for at, one in enumerate(piece):
                    self._add_call(_mapping(one, f"{path}.{key}[{at}]"))
            elif key == "function_call":
                self._legacy = self._legacy or _Call()
                self._legacy.add({}, _mapping(piece, join(path, key)))
            elif isinstance(piece, list) and isinstance(self._rest.get(key), list):
                self._rest[key] = [*self._rest[key], *piece]
            else:
                self._rest[key] = piece

    def whole(self) -> dict[str, Any]:
        """The message, as a response that was not streamed holds it."""
        words = {key: "".join(pieces) for key, pieces in self._words.items()}
        message = {"role": "assistant", "content": None, **self._rest, **words}
        if self._calls:
            message["tool_calls"] = [{"id": call.id, "type": call.type, "function": call.function()} for call in self._calls]
        if self._legacy is not None:
            message["function_call"] = self._legacy.function()
        return message

    def _add_call(self, piece: Mapping[str, Any]) -> None:
        function = as_mapping(piece.get("function")) or as_mapping(piece.get("custom")) or {}
        id, name, index = text_id(piece.get("id")), function.get("name"), piece.get("index")
        if type(index) is int:
            call = self._open.get(index)
        else:
            call = self._by_id.get(id) if id is not None else None
            if call is None and not name:
                call = self._last
        if call is None or (name and call.is_followed_by(id, name)):
            call = _Call()
            self._calls.append(call)
        call.add(piece, function)
        self._last = call
        if type(index) is int:
            self._open[index] = call
        if call.id is not None:
            self._by_id[call.id] = call


class _Call:
    """A call that pieces were seen of."""

    def __init__(self) -> None:
        self.id: str | None = None
        self.name: Any = None
        self.type = "function"
        self._arguments: list[str] = []

    def add(self, piece: Mapping[str, Any], function: Mapping[str, Any]) -> None:
        """Add a piece."""
        self.id = self.id or text_id(piece.get("id"))
        self.name = self.name or function.get("name")
        if isinstance(kind := piece.get("type"), str):
            self.type = kind
        arguments = function.get("arguments", function.get("input"))
        if arguments is not None:
            self._arguments.append(arguments if isinstance(arguments, str) else _wire.shown(arguments))

    def function(self) -> dict[str, Any]:
        """The name and the arguments."""
        return {"name": self.name, "arguments": "".join(self._arguments)}

    def is_followed_by(self, id: str | None, name: Any) -> bool:
        """Whether a piece with a name begins a call of its own, rather than repeating what this one is called."""
        if self.name is None:
            return False
        if id is not None and self.id is not None:
            return id != self.id
        return bool(name != self.name) or (bool(self._arguments) and is_whole("".join(self._arguments)))


def _mapping(value: Any, path: str) -> Mapping[str, Any]:
    found = as_mapping(value)
    if found is None:
        raise expected("a piece of a streamed response, that is an object", value, path)
    return found


def _choices(chunk: Mapping[str, Any], path: str) -> list[Mapping[str, Any]]:
    choices = chunk.get("choices")
    if choices is None:
        return []
    if not isinstance(choices, (list, tuple)):
        raise expected("a list of choices", choices, join(path, "choices"))
    return [_mapping(choice, f"{path}.choices[{at}]") for at, choice in enumerate(choices)]


def _index(choice: Mapping[str, Any]) -> int:
    index = choice.get("index")
    return index if type(index) is int else 0
