"""Answers of targets that are recorded (`--quickchecks-record`) and used again without asking (`--quickchecks-replay`).

There is one file for each test, with one run a line in the wire form. What an item is called, what it asks and which target
stands in the run's metadata, so that what has changed is noticed. A file takes its place when its test has come to its end; until
then, what is recorded stands beside it in one that ends in `.part`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Awaitable, Iterable, Iterator, Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from shlex import quote
from threading import Lock
from typing import Any

import msgspec
import pytest
from msgspec import Struct
from msgspec.structs import replace

from quickchecks import _wire
from quickchecks._attempt import Answered
from quickchecks._evaluation import Evaluation, Options
from quickchecks._items import Item
from quickchecks._recording import ITEM, UNFINISHED, recorded_run
from quickchecks._render import many
from quickchecks._results.evaluation import ItemError, ItemResult
from quickchecks._run import Run
from quickchecks.adapters import as_run
from quickchecks.errors import QuickchecksError, RecordingError, SettingsError
from quickchecks.pytest_plugin import REPETITION, TAPE
from quickchecks.pytest_plugin._identity import Identity, identity_of
from quickchecks.pytest_plugin._session import name_of

__all__ = ("DEFAULT_FOLDER", "Tape", "file_of", "header", "prepared")

#: Where recordings are, from the root directory of the tests.
DEFAULT_FOLDER = os.path.join(".quickchecks", "recordings")
#: The longest part of a file name that is taken from the name of a test.
_LONGEST = 60

#: Where a run belongs: the repetition of the test, the evaluation in it, the id of the item, its repetition.
Place = tuple[int, int, str, int]


class Known(Struct, frozen=True):
    """One recorded answer.

    Args:
        asked: A hash of what the item asked.
        identity: Which target was asked, and how; None in a recording that does not say it.
        answered: What it answered.
    """

    asked: str
    identity: Identity | None
    answered: Answered


def prepared(
    node: pytest.Item,
    data: object,
    target: object,
    scorers: Iterable[object],
    gates: Iterable[object],
    options: Options,
    *,
    scores: bool = True,
) -> Evaluation:
    """An evaluation of a test: one that records, or replays, where pytest was started so.

    Args:
        node: The test.
        data: As for `Evaluation`.
        target: As for `Evaluation`.
        scorers: As for `Evaluation`.
        gates: As for `Evaluation`.
        options: As for `Evaluation`.
        scores: As for `Evaluation`.

    Raises:
        RecordingError: It should be replayed, and an item is not recorded as it is now.
        SettingsError: It should be recorded, and cannot be.
    """
    __tracebackhide__ = True
    given = node.config.option
    if (given.quickchecks_replay or given.quickchecks_record) and isinstance(options.tools, Iterator):
        options = replace(options, tools=list(options.tools))  # they are looked at twice
    try:
        if given.quickchecks_replay:
            return _tape_of(node).replaying(data, target, scorers, gates, options, scores=scores)
        if given.quickchecks_record:
            return _tape_of(node).recording(data, target, scorers, gates, options, scores=scores)
        return Evaluation(data, target, scorers, gates, options, scores=scores)
    except QuickchecksError as error:
        raise error.with_traceback(None) from error.__cause__  # where it was found says nothing of the test


def header(config: pytest.Config) -> str:
    """What the session says at its beginning where it records or replays.

    Args:
        config: The configuration.
    """
    folder = config.option.quickchecks_recordings or DEFAULT_FOLDER
    if config.option.quickchecks_replay:
        return f"quickchecks: no target is asked, the answers are those recorded in {folder}"
    return f"quickchecks: what targets answer is recorded in {folder}"


def _tape_of(node: pytest.Item) -> Tape:
    if TAPE not in node.stash:
        node.stash[TAPE] = Tape(node)
    return node.stash[TAPE]


def file_of(node: pytest.Item) -> Path:
    """The file that holds what the targets of a test answered.

    Its name is made of that of the test. A hash of the whole name tells apart what looks alike, also to Windows.

    Args:
        node: The test.
    """
    folder = node.config.rootpath / (node.config.option.quickchecks_recordings or DEFAULT_FOLDER)
    whole = name_of(node)
    module, _, name = whole.partition("::")
    return folder / _safe(module) / f"{_safe(name)}-{sha256(whole.encode('utf-8', 'surrogatepass')).hexdigest()[:10]}.jsonl"


def _safe(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_]+", "-", name).strip("-")[:_LONGEST].strip("-") or "test"


class Tape:
    """What the targets of one test answer, in one attempt at it.

    Args:
        node: The test.
    """

    def __init__(self, node: pytest.Item) -> None:
        self._node = node
        self._file = file_of(node)
        worker = os.environ.get("PYTEST_XDIST_WORKER", "")
        self._growing = self._file.with_name(f"{self._file.stem}{'.' if worker else ''}{worker}.jsonl{UNFINISHED}")
        self._lock = Lock()
        self._begun: dict[int, int] = {}
        self._lines: list[tuple[tuple[int, int, int, int], bytes]] = []
        self._expected = 0
        self._problem: Exception | None = None
        self._known: Mapping[Place, Known] | None = None

    def _next(self) -> tuple[int, int]:
        """The repetition of the test, and the number of an evaluation that begins in it."""
        repetition = self._node.stash.get(REPETITION, 0)
        number = self._begun.get(repetition, 0)
        self._begun[repetition] = number + 1
        return repetition, number

    def recording(
        self,
        data: object,
        target: object,
        scorers: Iterable[object],
        gates: Iterable[object],
        options: Options,
        *,
        scores: bool,
    ) -> Evaluation:
        """An evaluation whose answers are recorded.

        Raises:
            SettingsError: The file cannot be written.
        """
        repetition, number = self._next()
        theirs, identity = options.on_item_complete, identity_of(target, options)

        async def record(result: ItemResult) -> None:
            self._add(result, repetition, number, identity)
            waiting: Awaitable[None] | None = None if theirs is None else theirs(result)
            if waiting is not None and hasattr(waiting, "__await__"):
                await waiting

        if not self._lines:
            try:
                self._growing.parent.mkdir(parents=True, exist_ok=True)
                self._growing.write_bytes(b"")
            except OSError as error:
                raise SettingsError(
                    f"--quickchecks-record: {str(self._growing)!r} cannot be written: {error.strerror or error}"
                ) from error
        evaluation = Evaluation(data, target, scorers, gates, replace(options, on_item_complete=record), scores=scores)
        self._expected += evaluation.asked
        return evaluation

    def _add(self, result: ItemResult, repetition: int, number: int, identity: Identity) -> None:
        if result.item.run is not None or result.item.output is not msgspec.UNSET:
            return
        try:
            line = _wire.dumps(_as_line(result, repetition, number, identity)) + b"\n"
            with self._lock:
                self._lines.append(((repetition, number, result.index, result.repetition), line))
                with open(self._growing, "ab") as stream:
                    stream.write(line)
        except Exception as error:
            self._problem = self._problem or error

    def finish(self) -> None:
        """Let what was recorded take its place, if the test came to its end.

        Raises:
            RecordingError: It could not be written.
        """
        if not self._node.config.option.quickchecks_record:
            return
        problem = self._problem
        if problem is None and self._lines and len(self._lines) == self._expected:
            try:
                self._growing.write_bytes(b"".join(line for _, line in sorted(self._lines)))
                os.replace(self._growing, self._file)
            except OSError as error:
                problem = error
        elif problem is None and self._lines:
            left = f"{many(len(self._lines), 'run')} of {self._expected} {'is' if len(self._lines) == 1 else 'are'} in"
            warning = f"the test ended before its evaluations did: {left} {self._growing.name}, and no recording was replaced"
            self._node.warn(pytest.PytestWarning(warning))
        elif problem is None:
            with suppress(OSError):  # it may be what could not be written
                self._growing.unlink(missing_ok=True)
        if problem is not None:
            said = problem.strerror or problem if isinstance(problem, OSError) else problem
            raise RecordingError(f"what the target answered could not be recorded: {said}", file=str(self._file)) from problem

    def replaying(
        self,
        data: object,
        target: object,
        scorers: Iterable[object],
        gates: Iterable[object],
        options: Options,
        *,
        scores: bool,
    ) -> Evaluation:
        """An evaluation whose target is not asked: the answers are those that were recorded.

        Raises:
            RecordingError: An item is not recorded as it is now.
        """
        repetition, number = self._next()
        identity = identity_of(target, options)

        def answers(item: Item, of_item: int) -> Answered:
            return self._answer(item, (repetition, number, item.id or "", of_item), identity)

        return Evaluation(data, target, scorers, gates, options, answers=answers, scores=scores)

    def _answer(self, item: Item, place: Place, identity: Identity) -> Answered:
        if self._known is None:
            self._known = self._read()
        asked, found = _asked(item), self._known.get(place)
        if found is None:  # under another name, perhaps: an item that has none gets one of its content
            same = (known for (*where, _, of_item), known in self._known.items() if (*where, of_item) == (*place[:2], place[3]))
            found = next((known for known in same if known.asked == asked), None)
        if found is None:
            raise self._missing(f"item {place[2]!r} is not recorded{self._where(place)}")
        if found.identity is None:
            raise self._missing("the recording does not say which target was asked, because it was made by an earlier version")
        other = found.identity.other(identity)
        if other:
            raise self._missing(f"item {place[2]!r}{self._where(place)} was recorded {other}")
        if found.asked != asked:
            raise self._missing(f"item {place[2]!r} has changed since it was recorded: it asks something else now")
        return found.answered

    def _where(self, place: Place) -> str:
        repetition, number, _, of_item = place
        parts = [
            f"repetition {of_item + 1}" if of_item else "",
            f"evaluation {number + 1} of the test" if number else "",
            f"repetition {repetition + 1} of the test" if repetition else "",
        ]
        said = ", ".join(filter(None, parts))
        return f" ({said})" if said else ""

    def _missing(self, problem: str) -> RecordingError:
        hint = f"record it: pytest --quickchecks-record {quote(name_of(self._node))}"
        return RecordingError(problem, file=self._shown(), hint=hint)

    def _shown(self) -> str:
        try:
            return str(self._file.relative_to(self._node.config.rootpath))
        except ValueError:
            return str(self._file)

    def _read(self) -> Mapping[Place, Known]:
        try:
            content = self._file.read_bytes()
        except FileNotFoundError:
            raise self._missing("nothing is recorded of this test") from None
        except OSError as error:
            raise RecordingError(f"the recording cannot be read: {error.strerror or error}", file=self._shown()) from error
        found: dict[Place, Known] = {}
        for number, line in enumerate(content.split(b"\n"), 1):
            if not line.strip():
                continue
            try:
                place, known = _of_line(_wire.loads(line))
            except RecordingError as error:
                raise error.located(file=self._shown(), line=number) from None
            except ValueError as error:
                raise RecordingError(f"this is no run: {error}", file=self._shown(), line=number) from error
            if place in found:
                raise RecordingError("the line holds what an earlier one holds", file=self._shown(), line=number)
            found[place] = known
        return found


def _asked(item: Item) -> str:
    """A hash of what the answer depends on: what the item asks, and what tools answer. What is expected may change."""
    content = [[_wire.to_builtins(value) for value in item.asked], _wire.to_builtins(item.tool_mocks)]
    return sha256(_wire.dumps(content)).hexdigest()[:16]


def _as_line(result: ItemResult, repetition: int, number: int, identity: Identity) -> Run:
    run, error = recorded_run(result), result.error
    about: dict[str, Any] = {**(run.metadata or {})[ITEM], "asked": _asked(result.item)}  # type: ignore[dict-item]
    about["target"] = identity.target
    if identity.name:
        about["named"] = identity.name
    if identity.options:
        about["options"] = dict(identity.options)
    if repetition:
        about["test_repetition"] = repetition
    if number:
        about["evaluation"] = number
    if error is not None:
        about["error"] = {"kind": error.kind, "message": error.message, "type": error.type, "turn": error.turn}
        about["scored"] = bool(result.scores)
    alone = () if result.run is None else (result.run,)
    if error is not None or result.turns:  # the line is what they say together
        about["turns"] = [_wire.to_builtins(replace(turn, source=None)) for turn in result.turns or alone]
    duration = None if result.run is None else result.run.duration
    return replace(run, metadata={**(run.metadata or {}), ITEM: about}, duration=duration)


def _of_line(value: object) -> tuple[Place, Known]:
    run = as_run(value)
    about = (run.metadata or {}).get(ITEM)
    if not isinstance(about, Mapping) or not isinstance(about.get("asked"), str) or not isinstance(about.get("id"), str):
        raise RecordingError("a run was expected that a test has recorded, which says in metadata.item what was asked")
    numbers = [about.get(name, 0) for name in ("test_repetition", "evaluation", "repetition")]
    if not all(type(one) is int and one >= 0 for one in numbers):
        raise RecordingError("metadata.item says with whole numbers which run this is")
    repetition, number, of_item = numbers
    metadata = {key: kept for key, kept in (run.metadata or {}).items() if key != ITEM}
    turns = about.get("turns")
    if turns is None:
        answered = Answered((replace(run, metadata=metadata or None),))
    elif isinstance(turns, list):
        error = _error(about.get("error"))
        answered = Answered(tuple(as_run(turn) for turn in turns), error, error is None or about.get("scored") is True)
    else:
        raise RecordingError("metadata.item.turns is a list of runs")
    if not answered.turns and answered.error is None:
        raise RecordingError("the line holds neither an answer nor an error")
    return (repetition, number, about["id"], of_item), Known(about["asked"], _identity(about), answered)


def _identity(about: Mapping[str, Any]) -> Identity | None:
    if "target" not in about:
        return None
    told = {"target": about["target"], "name": about.get("named", ""), "options": about.get("options", {})}
    try:
        return msgspec.convert(told, Identity)
    except msgspec.ValidationError as error:
        raise RecordingError(f"metadata.item does not say which target was asked: {error}") from None


def _error(value: object) -> ItemError | None:
    if value is None:
        return None
    try:
        return msgspec.convert(value, ItemError)
    except msgspec.ValidationError as error:
        raise RecordingError(f"metadata.item.error cannot be read: {error}") from None
