"""The formats that there are, and which of them a value is in.

A format is a module in this folder whose name does not begin with an underscore, or an entry point of the group
`quickchecks.adapters`. Its name is that of the file, or of the entry point.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any, NamedTuple

from quickchecks._run import Run
from quickchecks.adapters._notices import notice
from quickchecks.errors import RecordingError, UnknownFormatError, UnknownNameError

__all__ = ("Format", "format_named", "formats", "recognise")

_GROUP = "quickchecks.adapters"


class Format(NamedTuple):
    """One format.

    Args:
        name: The name by which `format=` asks for it.
        description: What it reads, as one sentence.
        recognises: Whether a value has its shape. It looks at keys and types only and imports nothing of a vendor.
        load: Reads the one run that a value holds; a RecordingError says what is malformed.
        split: Divides a value that holds several runs into (path, value) pairs, one a run; None when it holds one.
    """

    name: str
    description: str
    recognises: Callable[[Any], bool]
    load: Callable[[Any], Run]
    split: Callable[[Any], Iterable[tuple[str, Any]] | None]


_built_in: dict[str, Format] = {}
_third_party: dict[str, Format] | None = None


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
        raise UnknownNameError("format", name, formats())
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
    for format in _conversations():
        if format.recognises(value):
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
        package = __name__.rpartition(".")[0]
        for module in pkgutil.iter_modules(import_module(package).__path__):
            if not module.name.startswith("_"):
                _built_in[module.name] = _format(module.name, import_module(f"{package}.{module.name}"))
    return _built_in


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
            except Exception as error:  # one broken distribution must not take the others away
                notice(f"the format {point.name} cannot be loaded from {point.value}: {type(error).__name__}: {error}")
        _third_party = found
    return _third_party


def _format(name: str, module: Any) -> Format:
    description = (module.__doc__ or "").strip().partition("\n\n")[0].replace("\n", " ")
    return Format(name, description, module.recognises, module.load, getattr(module, "split", _is_one))


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
