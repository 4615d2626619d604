"""How a value becomes runs: what `format=`, `adapter=`, `map=` and `part=` ask for, and recognition where they say nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Literal

from msgspec.structs import replace

from quickchecks._run import Gap, Run, ToolResult
from quickchecks.adapters import values
from quickchecks.adapters._dialects import LOOK_AT, is_conversation, is_message
from quickchecks.adapters._hints import found_inside, unknown
from quickchecks.adapters._mapping import parsed_map
from quickchecks.adapters._record import is_envelope
from quickchecks.adapters._registry import Format, format_named, recognise
from quickchecks.adapters._shapes import described, join
from quickchecks.errors import RecordingError, UnknownNameError, nearest_names

__all__ = ("Adapter", "PartOfRun", "Recipe", "last_turn")

#: A function of one's own that turns a record into a run, into runs, or into a value that a format reads.
Adapter = Callable[[Any], Any]
PartOfRun = Literal["last_turn"]

_Read = Run | RecordingError


class Recipe:
    """What to do with each value.

    Args:
        format: The name of the format to read, whatever the shape; None recognises it.
        adapter: A function of one's own, or where it is, as `module:function`.
        map: Where in an envelope the parts of a run stand.
        part: "last_turn" keeps what follows the last user message as the run; the rest becomes history.

    Raises:
        UnknownNameError: There is no such format, part or adapter.
        ValueError: The map cannot be read, the adapter is no function, or both adapter and format are given.
    """

    def __init__(
        self,
        format: str | None = None,
        adapter: Adapter | str | None = None,
        map: Mapping[str, str] | str | None = None,
        part: PartOfRun | None = None,
    ) -> None:
        if adapter is not None and (format is not None or map is not None):
            raise ValueError("adapter= excludes format= and map=: it says itself what it reads, and from where")
        if part is not None and part != "last_turn":
            raise UnknownNameError("part of a run", str(part), ("last_turn",))
        self._format = format_named(format) if format is not None else None
        self._adapter = _imported(adapter) if isinstance(adapter, str) else adapter
        if self._adapter is not None and not callable(self._adapter):
            raise ValueError(f"adapter= takes a function, or text such as my.module:parse, not {described(adapter)}")
        self._map = parsed_map(map) if map is not None else None
        self._last_turn = part is not None
        self._last_format: Format | None = None

    def runs(self, value: Any, *, stored: bool) -> Iterable[tuple[int | None, _Read]]:
        """Read the runs that a value holds, most often one.

        Args:
            value: The value.
            stored: It comes from a file, where an object of unknown shape is no answer but something else.

        Returns:
            Each run, or the error that says why it cannot be read, with its place where the value is an array of runs.
        """
        if isinstance(value, (list, tuple)) and self._is_array(value, stored):
            return self._array(value, stored)
        return [(None, read) for read in self._record(value, stored)]

    def _array(self, values: Sequence[Any], stored: bool) -> Iterator[tuple[int | None, _Read]]:
        if not values:
            yield None, RecordingError("an empty array: there is no run in it")
        for at, value in enumerate(values):
            for read in self._record(value, stored):
                yield at, read

    def _is_array(self, value: Any, stored: bool) -> bool:
        """Whether a list is an array of runs, rather than the messages of one, or an answer that is a list."""
        if is_conversation(value):
            return False
        if self._adapter is not None or self._map is not None:
            return True
        if self._format is not None:
            return not self._format.recognises(value) and any(map(self._format.recognises, value))
        if recognise(value) is not None:
            return False
        found = map(recognise, islice(value, LOOK_AT))
        return stored or any(format is not None and format.name != "values" for format in found)

    def _record(self, value: Any, stored: bool) -> Sequence[_Read]:
        """Read one record. Whatever is wrong with it is an error of this record, and of no other."""
        try:
            if self._adapter is not None:
                return list(self._adapted(value))
            if self._map is not None:
                return (self._kept(self._mapped(value)),)
            format = self._format or self._recognised(value, stored)
            parts = format.split(value)
            if parts is None:
                return (self._kept(_loaded(format, value)),)
            return list(self._parts(format, parts))
        except RecordingError as error:
            return (error,)
        except RecursionError:
            return (RecordingError("the record is nested too deeply to be read"),)

    def _parts(self, format: Format, parts: Iterable[tuple[str, Any]]) -> Iterator[_Read]:
        for path, part in parts:
            try:
                yield self._kept(_loaded(format, part))
            except RecordingError as error:
                error.path = join(path, error.path)
                yield error

    def _recognised(self, value: Any, stored: bool) -> Format:
        """The format of a value. Mostly it is that of the value before, and then no other format needs to be asked."""
        last = self._last_format
        if last is not None and last.recognises(value):
            return last
        format = recognised(value, stored)
        self._last_format = format if format.name != "values" else None
        return format

    def _kept(self, run: Run) -> Run:
        return last_turn(run) if self._last_turn else run

    def _mapped(self, record: Any) -> Run:
        """The run whose parts stand where the map says; what else the envelope holds goes to its metadata."""
        assert self._map is not None
        try:
            parts, missing = self._map.apply(record)
            run = self._run_of_parts(parts)
        except RecordingError as error:
            error.path = self._map.path_of(error.path)
            raise
        metadata = self._map.rest(record)
        given = parts.get("metadata")
        if given is not None:
            metadata.update(given if isinstance(given, Mapping) else {"metadata": given})
        gaps = tuple(Gap("other", sentence) for sentence in missing)
        return replace(run, metadata=metadata or None, gaps=(*run.gaps, *gaps))

    def _run_of_parts(self, parts: dict[str, Any]) -> Run:
        if "messages" not in parts:
            return replace(values.load_envelope(parts), format="values")
        inner = parts["messages"]
        is_list = isinstance(inner, (list, tuple))
        format = self._format or recognise(parts if is_list else inner)
        if format is None or format.name == "values":
            raise unknown(inner, path="messages")
        if is_list:
            return _loaded(format, parts)
        run = _loaded(format, inner)  # a whole record of some format, inside the envelope
        around = {key: item for key, item in parts.items() if key != "messages"}
        given = values.load_envelope({"output": None, **around})
        return replace(
            run,
            input=run.input if given.input is None else given.input,
            id=given.id or run.id,
            usage=given.usage or run.usage,
            error=given.error or run.error,
        )

    def _adapted(self, record: Any) -> Iterator[_Read]:
        assert self._adapter is not None
        name = getattr(self._adapter, "__qualname__", None) or type(self._adapter).__qualname__
        try:
            given = self._adapter(record)
            several = isinstance(given, Iterable) and not isinstance(given, (Run, str, bytes, Mapping))
            found = list(given) if several and not is_conversation(given) else [given]
        except RecordingError:
            raise
        except (Exception, SystemExit) as error:  # whatever a person's own function raises is an error of this record
            raise RecordingError(f"the adapter {name} raised {type(error).__name__}: {error}") from error
        if not found:
            raise RecordingError(f"the adapter {name} gave no run")
        for one in found:
            for run in Recipe()._record(one, stored=not isinstance(one, str)):
                if isinstance(run, Run):
                    yield self._kept(run if isinstance(one, Run) and one.format != "quickchecks" else replace(run, format=name))
                else:
                    run.problem = f"what the adapter {name} gave cannot be read: {run.problem}"
                    yield run


def recognised(value: Any, stored: bool) -> Format:
    """Find the format of a value, or, where it may be a plain answer, the format of those.

    Args:
        value: The value.
        stored: It comes from a file.

    Returns:
        The format.

    Raises:
        UnknownFormatError: No format knows it, and it is no answer: it is stored, or it holds a conversation.
    """
    format = recognise(value)
    if format is not None and format.name != "values":
        return format
    if isinstance(value, (Mapping, list, tuple)):
        unread = format is None and (stored or is_envelope(value) or is_message(value))
        if unread or is_conversation(value) or found_inside(value):
            raise unknown(value)
    elif stored:
        raise unknown(value)
    return format or format_named("values")


def _loaded(format: Format, value: Any) -> Run:
    run = format.load(value)
    if run.format == "quickchecks" and format.name != "quickchecks":
        return replace(run, format=format.name)
    return run


def last_turn(run: Run) -> Run:
    """Keep what follows the last user message as the run; what comes before is its history.

    Where nothing follows, the agent's answer is not recorded: the run has gaps that say so, instead of the answer that
    was given to another question.

    Args:
        run: The whole conversation.

    Returns:
        The run of the last turn.
    """
    asked = [at for at, message in enumerate(run.messages) if message.role == "user"]
    if not asked or asked[-1] < run.history_length:
        return run
    begin = asked[-1] + 1
    # The gaps of kind "orphan_result" stand in the order of the results that they are about.
    orphans = [at for at, message in enumerate(run.messages) for part in message.parts if type(part) is ToolResult]
    gaps: list[Gap] = []
    for gap in run.gaps:
        if gap.kind != "orphan_result" or not orphans or orphans.pop(0) >= begin:
            gaps.append(gap)
    if all(message.role != "assistant" for message in run.messages[begin:]):
        gaps += [Gap(kind, "nothing follows the last user message") for kind in ("text", "calls")]
    return replace(run, history_length=begin, gaps=tuple(gaps))


def _imported(place: str) -> Adapter:
    """Find the function that a text such as `my.module:parse` names. The current folder is looked in as well."""
    import os
    import sys
    from importlib import import_module

    module_name, colon, name = place.partition(":")
    if not (module_name and colon and name):
        raise ValueError(f"expected module:function, such as my.module:parse, got {place!r}")
    here = os.getcwd()
    added = here not in sys.path
    if added:
        sys.path.insert(0, here)
    try:
        found: Any = import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module_name}.".startswith(f"{error.name}."):
            raise  # the module is there; something that it imports is not
        raise UnknownNameError("module", module_name, hint=f"looked in {here} and where Python looks") from None
    finally:
        if added:
            sys.path.remove(here)
    for step in name.split("."):
        if not hasattr(found, step):
            public = [known for known in dir(found) if not known.startswith("_")]
            raise UnknownNameError("adapter", place, hint=nearest_names(step, public) or f"{module_name} has no {step}")
        found = getattr(found, step)
    if not callable(found):
        raise ValueError(f"adapter {place} is not a function but {described(found)}")
    adapter: Adapter = found
    return adapter
