"""Results as files: what is saved, to be committed and compared, and how it is read again.

The form is versioned JSON. Every item stands on a line of its own, so that a version control system shows which items
changed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from threading import get_ident
from typing import cast

import msgspec

from quickchecks import _render, _wire
from quickchecks._gates import Assertion
from quickchecks._items import Item, content_hash
from quickchecks._results.consistency import refuse_contradictions
from quickchecks._results.environment import environment
from quickchecks._results.evaluation import EvalResult, ItemResult
from quickchecks._results.records import SCHEMA, EntryRecord, EvalRecord, ItemRecord
from quickchecks._run import Run
from quickchecks._score import RecordedScorer
from quickchecks._scorer.pipeline import Scorer
from quickchecks.errors import CheckArgumentError, RecordingError

__all__ = ("load_result", "record_of", "result_of", "save_result")


_WRITTEN_BY = "-o result.json of `quickchecks run`, and result.save(), write such files"
_BY_HAND = "a merge or a hand changed the file: take it from version control again, or run the eval again"


def record_of(result: EvalResult) -> EvalRecord:
    """Render a result as the record that is saved."""
    entries = {one.key: position for position, one in enumerate(result.assertions)}
    common = tuple(entries[one.key] for one in result.plan)
    return EvalRecord(
        name=result.name,
        verdict=result.verdict,
        scores=tuple(result.scores.items()),
        gates=result.gate_results,
        thresholds=result.threshold_results,
        repetitions=result.repetitions,
        max_errors=result.max_errors,
        warnings=result.warnings,
        seconds=round(result.seconds, 3),
        usage=result.usage,
        environment=environment() if result.environment is None else result.environment,
        interrupted=result.interrupted,
        incomplete=result.incomplete,
        recording=result.recording,
        parts=result.parts,
        entries=tuple(_entry(one) for one in result.assertions),
        common=len(common),
        items=tuple(_item(item, entries, common, position, result.recording) for position, item in enumerate(result.items)),
    )


def _entry(one: Assertion) -> EntryRecord:
    scorer = one.scorer
    return EntryRecord(
        scorer.identity,
        scorer.id,
        one.role,
        one.bounds,
        one.pass_rate,
        one.confidence,
        one.turn,
        scorer.why,
        scorer.version,
        one.mode,
    )


def _item(
    result: ItemResult, entries: Mapping[tuple[object, ...], int], common: tuple[int, ...], position: int, recording: str | None
) -> ItemRecord:
    item = result.item
    asked = item.asked
    conversation = bool(item.inputs or item.turns)
    places = tuple(entries[one.key] for one in result.plan)
    return ItemRecord(
        id=result.id,
        index=result.index,
        repetition=result.repetition,
        input=_wire.to_builtins(asked[0]) if asked and not conversation else None,
        inputs=tuple(map(_wire.to_builtins, asked)) if conversation else (),
        expected=_wire.to_builtins(item.expected),
        metadata=None if item.metadata is None else _wire.to_builtins(dict(item.metadata)),
        context=_wire.to_builtins(item.context),
        expected_trajectory=_wire.to_builtins(item.expected_trajectory),
        content=content_hash(item),
        entries=None if places == common else places,
        scores=tuple(score.record() for score in result.scores),
        error=result.error,
        run=None if recording is not None else result.run,
        recorded=None if recording is None else position + 1,
        run_hash="" if recording is None or result.run is None else _run_hash(result.run),
        seconds=round(result.seconds, 6),
        attempts=result.attempts,
    )


def result_of(record: EvalRecord, runs: Sequence[Run | None] = ()) -> EvalResult:
    """Turn a record back into a result.

    Args:
        record: The record.
        runs: The runs of the items, where the record does not hold them.
    """
    assertions = tuple(_assertion(one) for one in record.entries)
    plan = assertions[: record.common]
    items = []
    for position, one in enumerate(record.items):
        run = one.run if one.run is not None or position >= len(runs) else runs[position]
        item = Item(
            input=msgspec.UNSET if one.inputs else one.input,
            inputs=one.inputs,
            expected=one.expected,
            id=one.id,
            metadata=one.metadata,
            context=one.context,
            expected_trajectory=one.expected_trajectory,
            content=one.content,
        )
        entries = plan if one.entries is None else tuple(assertions[place] for place in one.entries)
        scores = tuple(score.to_score() for score in one.scores)
        items.append(ItemResult(item, one.index, one.repetition, run, entries, scores, one.error, one.seconds, one.attempts))
    result = EvalResult(
        tuple(items),
        plan,
        record.name,
        record.max_errors,
        record.repetitions,
        record.warnings,
        record.seconds,
        record.interrupted,
        record.environment,
        record.recording,
        record.incomplete,
        record.parts,
    )
    if record.usage is not None and any(item.run is None for item in items):
        known = result.__dict__
        assert isinstance(known, dict)
        known["usage"] = record.usage  # it is added up from the runs, and not all of them are here
    return result


def _assertion(one: EntryRecord) -> Assertion:
    scorer = RecordedScorer(one.id, one.scorer, one.why, one.version)
    # What is known of it is all that results and comparisons ask.
    return Assertion(cast(Scorer, scorer), one.role, one.bounds, one.pass_rate, one.confidence, one.turn, one.mode)


def save_result(result: EvalResult, path: str | os.PathLike[str]) -> None:
    """Write a result to a file, all of it or nothing."""
    record = record_of(result)
    whole = _wire.to_builtins(msgspec.structs.replace(record, items=()))
    lines = [_line(item) for item in record.items]
    head = _indented(whole)
    head = head[: head.rindex(b"}")].rstrip()  # the items go inside
    body = head + b',\n "items": [\n' + b",\n".join(lines) + b"\n ]\n}\n"
    target = Path(os.path.realpath(path))
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f".{target.name}.{os.getpid()}.{get_ident()}")
    try:
        temporary.write_bytes(body)
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


def _line(item: ItemRecord) -> bytes:
    """An item as a line of JSON that has no key twice, as 1 and "1" of what a tool returned would be."""
    line = _wire.dumps(item)
    try:
        _wire.loads_once(line)
    except _wire.JsonError:
        return _wire.dumps(_wire.to_builtins(item))
    return line


def _indented(value: object) -> bytes:
    try:
        return json.dumps(value, indent=1, ensure_ascii=False).encode()
    except UnicodeError:  # half of a surrogate pair, which UTF-8 does not have
        return json.dumps(value, indent=1).encode()


def load_result(path: str | os.PathLike[str]) -> EvalResult:
    """Read a result that was saved.

    Args:
        path: The file.

    Returns:
        The result. The runs are there where the file holds them, or its recording lies beside it and is still the one
        that was written with it.

    Raises:
        RecordingError: There is no such file, or it holds no result.
    """
    file = os.fspath(path)
    try:
        content = Path(path).read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise RecordingError(f"the result cannot be read: {reason}", file=file) from error
    if not content.strip():
        raise RecordingError("expected a saved result, and the file is empty", file=file, hint=_WRITTEN_BY)
    try:
        value = _wire.loads_once(content)
    except _wire.JsonError as error:
        problem, hint = f"expected a saved result, {error}", _WRITTEN_BY
        if error.line is not None:  # it is one, and the merge of two
            problem, hint = f"the result is malformed: {error}", _BY_HAND if error.path else ""
        raise RecordingError(problem, file=file, line=error.line, path=error.path, hint=hint) from error
    _refuse_other_schemas(value, file)
    try:
        record = msgspec.convert(value, EvalRecord)
        refuse_contradictions(record, value)
        return _with_its_verdict(result_of(record, _recorded_runs(Path(path), record)), record)
    except (msgspec.ValidationError, CheckArgumentError, UnicodeError) as error:
        raise RecordingError(f"the result is malformed: {error}", file=file, hint=_BY_HAND) from error
    except RecursionError:
        raise RecordingError("the result is nested too deeply to be read", file=file) from None


def _with_its_verdict(result: EvalResult, record: EvalRecord) -> EvalResult:
    """The result, which says so where the file has another verdict than its own scores give: they alone are believed."""
    if result.verdict == record.verdict:
        return result
    told = f"the file says {record.verdict or 'no verdict'}, and its scores say {result.verdict or 'no verdict'}"
    warning = f"{told}: it was changed, or written by a release that judged otherwise"
    return msgspec.structs.replace(result, warnings=(*result.warnings, warning))


def _refuse_other_schemas(value: object, file: str) -> None:
    schema = value.get("schema") if isinstance(value, dict) else None
    if schema == SCHEMA:
        return
    got = _render.value(schema) if schema is not None else "none" if isinstance(value, dict) else type(value).__name__
    newer = isinstance(schema, str) and schema.startswith("quickchecks.result/")
    hint = "it was written by another release: update quickchecks" if newer else _WRITTEN_BY
    raise RecordingError(f"expected a saved result, with the schema {SCHEMA}, got {got}", file=file, hint=hint)


def _run_hash(run: Run) -> str:
    # Through JSON and back, because what a tool returned may be written otherwise than it is kept in memory.
    messages = _wire.loads(_wire.dumps(run.messages))
    return sha256(_wire.dumps(messages)).hexdigest()[:16]


def _recorded_runs(path: Path, record: EvalRecord) -> list[Run | None]:
    """The runs of a recording that lies beside the result; None where it holds another run, or is not there."""
    from quickchecks import adapters

    if record.recording is None or record.recording != os.path.basename(record.recording):
        return []
    recording = path.parent / record.recording
    if not recording.is_file():
        return []
    found: list[Run | None] = []
    for item, run in zip(record.items, adapters.read(recording, format="quickchecks"), strict=False):
        same = isinstance(run, Run) and item.run_hash and item.run_hash == _run_hash(run)
        found.append(_as_it_was(run) if same and isinstance(run, Run) else None)
    return found


def _as_it_was(run: Run) -> Run:
    """A recorded run without the note of which item it answers."""
    metadata = {key: value for key, value in (run.metadata or {}).items() if key != "item"}
    return msgspec.structs.replace(run, metadata=metadata or None)
