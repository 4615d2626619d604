"""The formats that there are, and which of them a value is in.

A format is a module in this folder whose name does not begin with an underscore, or an entry point of the group
`quickchecks.adapters`. Its name is that of the file, or of the entry point.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Awaitable, Callable, Iterable
from functools import cache, partial
from importlib import import_module
from types import AsyncGeneratorType, BuiltinFunctionType, FunctionType, GeneratorType, MethodType
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from quickchecks import _render
from quickchecks._run import Run
from quickchecks.adapters._agents import AgentKind
from quickchecks.adapters._dialects import dialect
from quickchecks.adapters._notices import notice
from quickchecks.adapters._objects import first_foreign, is_a
from quickchecks.errors import RecordingError, UnknownFormatError, UnknownNameError

__all__ = ("Format", "agent_kind", "draining", "format_named", "formats", "recognise")

_GROUP = "quickchecks.adapters"
_PACKAGE = __name__.rpartition(".")[0]


class Format(NamedTuple):
    """One format.

    Args:
        name: The name by which `format=` asks for it.
        description: What it reads, as one sentence.
        recognises: Whether a value has its shape. It looks at keys and types only and imports nothing of a vendor.
        load: Reads the one run that a value holds; a RecordingError says what is malformed.
        split: Divides a value that holds several runs into (path, value) pairs, one a run; None when it holds one.
        objects_only: Whether it reads objects of a library alone, and never JSON.
        agents: The classes of the agents of its framework.
        agent: How a conversation with such an agent is held.
        streams: The classes of its results that may still be on their way.
        drained: Waits until such a result is complete.
    """

    name: str
    description: str
    recognises: Callable[[Any], bool]
    load: Callable[[Any], Run]
    split: Callable[[Any], Iterable[tuple[str, Any]] | None]
    objects_only: bool = False
    agents: tuple[str, ...] = ()
    agent: AgentKind | None = None
    streams: tuple[str, ...] = ()
    drained: Callable[[Any], Awaitable[Any]] | None = None


_built_in: dict[str, Format] = {}
_third_party: dict[str, Format] | None = None
#: Why formats of other distributions are not among them.
_unusable: dict[str, str] = {}


def formats() -> dict[str, Format]:
    """All formats by name, those of other distributions included."""
    return {**_others(), **_own()}


def format_named(name: str) -> Format:
    """Give the format of a name.

    Raises:
        UnknownNameError: There is none.
    """
    found = _own().get(name) or _others().get(name)
    if found is None:
        raise UnknownNameError("format", name, formats(), hint=_unusable.get(name, ""))
    return found


def recognise(value: Any) -> Format | None:
    """Find the format of a value by its shape.

    `values`, which takes any answer, is asked only when no other format of ours knows the value, and formats of other
    distributions before it.

    Args:
        value: The value.

    Returns:
        The format, or None when no format knows the shape.

    Raises:
        UnknownFormatError: Several formats claim the value.
    """
    winner: Format | None = None
    is_json = first_foreign(value) is None
    if is_json and type(value) is list and dialect(value) == "chat":
        return _own_format("openai_chat")  # which nobody else claims; what most targets give need not load all the others
    for format in _conversations():
        if not (is_json and format.objects_only) and format.recognises(value):
            if winner is not None:
                raise _ambiguous(winner, format)
            winner = format
    if winner is not None:
        return winner
    values = _own()["values"]
    if isinstance(value, str) or value is None:  # nobody else could read more into it
        return values
    for format in _others().values():
        if format.recognises(value):
            if winner is not None:
                raise _ambiguous(winner, format)
            winner = format
    return winner or (values if values.recognises(value) else None)


def agent_kind(value: Any) -> AgentKind | None:
    """Say what kind of agent a value is, by the names of its classes; None when no format knows it."""
    if type(value) in _NO_AGENTS or isinstance(value, type):
        return None
    return next((format.agent for format in formats().values() if format.agents and is_a(value, *format.agents)), None)


#: What most targets are, and what most of them give: no format has to be loaded to know these.
_NO_AGENTS = (FunctionType, MethodType, BuiltinFunctionType, partial, str)
_COMPLETE = frozenset((AsyncGeneratorType, GeneratorType, Run, str, dict, list, tuple, int, float, bool, type(None)))

_drains: WeakKeyDictionary[type, Callable[[Any], Awaitable[Any]] | None] = WeakKeyDictionary()


def draining(value: Any) -> Callable[[Any], Awaitable[Any]] | None:
    """What waits for a result that may still be on its way; None for one that is as it is."""
    cls = type(value)
    if cls in _COMPLETE:
        return None
    if cls not in _drains:
        known = (format.drained for format in formats().values() if format.streams and is_a(value, *format.streams))
        _drains[cls] = next(known, None)
    return _drains[cls]


def _ambiguous(one: Format, other: Format) -> UnknownFormatError:
    return UnknownFormatError(f"both {one.name} and {other.name} read this shape", hint="say which with format=")


_own_conversations: tuple[Format, ...] = ()


def _conversations() -> tuple[Format, ...]:
    """Our formats but `values`: those that record what happened, not only an answer."""
    global _own_conversations
    if not _own_conversations:
        _own_conversations = tuple(format for format in _own().values() if format.name != "values")
    return _own_conversations


def _own() -> dict[str, Format]:
    if not _built_in:
        names = [found.name for found in pkgutil.iter_modules(import_module(_PACKAGE).__path__)]
        # All at once, so that another thread never sees some of them.
        _built_in.update({name: _own_format(name) for name in names if not name.startswith("_")})
    return _built_in


@cache
def _own_format(name: str) -> Format:
    return _format(name, import_module(f"{_PACKAGE}.{name}"))


def _others() -> dict[str, Format]:
    global _third_party
    if _third_party is None:
        from importlib.metadata import entry_points

        found: dict[str, Format] = {}
        for point in entry_points(group=_GROUP):
            if point.name in _own():
                notice(f"the format {point.name} of {point.value} is not used: quickchecks has one of that name")
                continue
            try:
                found[point.name] = _guarded(_format(point.name, point.load()))
            except (Exception, SystemExit) as error:  # one broken distribution must not take the others away
                _unusable[point.name] = _render.not_loaded(point, error)
                notice(f"the format {point.name} is not used: {_unusable[point.name]}")
        _third_party = found
    return _third_party


def _format(name: str, module: Any) -> Format:
    description = (module.__doc__ or "").strip().partition("\n\n")[0].replace("\n", " ")
    agents = tuple(getattr(module, "AGENTS", ()))
    stateful, mocks_tools = (bool(getattr(module, mark, False)) for mark in ("STATEFUL", "MOCKS_TOOLS"))
    return Format(
        name,
        description,
        module.recognises,
        module.load,
        getattr(module, "split", _is_one),
        bool(getattr(module, "OBJECTS_ONLY", False)),
        agents,
        AgentKind(name, module.converse, stateful, mocks_tools) if agents else None,
        tuple(getattr(module, "STREAMS", ())),
        getattr(module, "drained", None),
    )


def _is_one(value: Any) -> None:
    """Most records hold one run."""


def _guarded(format: Format) -> Format:
    """A format of another distribution may be mistaken about what it gets: its exceptions become errors of the record."""

    def recognises(value: Any) -> bool:
        try:
            return bool(format.recognises(value))
        except (Exception, SystemExit) as error:
            notice(f"the format {format.name} raised {type(error).__name__} when asked about a value: {error}")
            return False

    def load(value: Any) -> Run:
        try:
            run = format.load(value)
        except RecordingError:
            raise
        except (Exception, SystemExit) as error:
            raise RecordingError(f"the format {format.name} raised {type(error).__name__}: {error}") from error
        if not isinstance(run, Run):
            raise RecordingError(f"the format {format.name} gave a {type(run).__name__}, not a Run")
        return run

    def split(value: Any) -> Iterable[tuple[str, Any]] | None:
        try:
            found = format.split(value)
            return None if found is None else list(found)
        except (Exception, SystemExit) as error:
            raise RecordingError(f"the format {format.name} raised {type(error).__name__}: {error}") from error

    return format._replace(recognises=recognises, load=load, split=split)
