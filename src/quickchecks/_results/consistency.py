"""What no saved result says: a file that was changed by hand is no way to a verdict."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from math import isfinite

from msgspec import Struct, ValidationError

from quickchecks import _render
from quickchecks._results.records import EntryRecord, EvalRecord, ItemRecord
from quickchecks._score import ScoreRecord

__all__ = ("refuse_contradictions",)


def refuse_contradictions(record: EvalRecord, value: object) -> None:
    """Refuse a record that cannot be that of a result.

    Args:
        record: The record.
        value: What it was made of. A key that is unknown is passed over, as a later release may have added it; one that is
            nearly a known key is refused.

    Raises:
        ValidationError: Something cannot be; the message ends with its path.
    """
    _refuse_misspelt(value, EvalRecord, "$")
    _want(record.max_errors >= 0, "0 or more", record.max_errors, "$.max_errors")
    _want(record.repetitions >= 1, "1 or more", record.repetitions, "$.repetitions")
    _want(_is_duration(record.seconds), "a number of seconds", record.seconds, "$.seconds")
    known = len(record.entries)
    if not 0 <= record.common <= known:
        raise ValidationError(f"{record.common} entries apply to every item, and there are {known} - at `$.common`")
    if record.items and not known and not record.parts:  # tests may have broken before anything was evaluated
        raise ValidationError("there are items, and no gates or scorers that judge them - at `$.entries`")
    for position, entry in enumerate(record.entries):
        _entry(entry, f"$.entries[{position}]")
    seen: dict[tuple[str, int], int] = {}
    for position, item in enumerate(record.items):
        path = f"$.items[{position}]"
        _item(item, record, path)
        before = seen.setdefault((item.id, item.repetition), position)
        if before != position:
            problem = f"it has the id and the repetition of `$.items[{before}]`, {_render.value(item.id)} and {item.repetition}"
            raise ValidationError(f"{problem} - at `{path}`")
    _refuse_gaps(record)


def _entry(entry: EntryRecord, path: str) -> None:
    _want(0 < entry.pass_rate <= 1, "a number above 0 and up to 1", entry.pass_rate, f"{path}.pass_rate")
    if entry.confidence is not None:
        _want(0 < entry.confidence < 1, "a number above 0 and below 1", entry.confidence, f"{path}.confidence")
    _want(entry.turn is None or entry.turn >= 0, "a turn, 0 or more", entry.turn, f"{path}.turn")
    rates = entry.pass_rate != 1 or entry.confidence is not None
    if entry.role == "gate" and (entry.bounds is not None or entry.mode is not None):
        raise ValidationError(f"a gate has neither bounds nor a mode - at `{path}`")
    if entry.role == "scorer" and rates:
        raise ValidationError(f"a scorer that is no gate has neither pass_rate nor confidence - at `{path}`")
    if entry.bounds is not None and entry.mode is not None:
        raise ValidationError(f"a scorer with bounds decides, and has no mode - at `{path}`")


def _item(item: ItemRecord, record: EvalRecord, path: str) -> None:
    _want(item.index >= 0, "0 or more", item.index, f"{path}.index")
    _want(item.attempts >= 0, "0 or more", item.attempts, f"{path}.attempts")
    _want(_is_duration(item.seconds), "a number of seconds", item.seconds, f"{path}.seconds")
    _want(
        0 <= item.repetition < record.repetitions,
        f"one of {record.repetitions}, counted from 0",
        item.repetition,
        f"{path}.repetition",
    )
    places = tuple(range(record.common)) if item.entries is None else item.entries
    absent = next((place for place in places if not 0 <= place < len(record.entries)), None)
    if absent is not None:
        entries = f"the result has {len(record.entries)} entries, counted from 0"
        raise ValidationError(f"the item names entry {absent}, and {entries} - at `{path}.entries`")
    if places[: record.common] != tuple(range(record.common)) or len(set(places)) < len(places):
        raise ValidationError(
            f"the list begins with the entries that apply to every item ({record.common} of them, counted from 0), and has "
            f"each entry once; this one is {_render.value(list(places))} - at `{path}.entries`"
        )
    if len(item.scores) > len(places) or (len(item.scores) < len(places) and item.error is None):
        scores = f"the item has {_render.many(len(item.scores), 'score')}"
        raise ValidationError(f"{scores}, and one was expected for each of {len(places)} entries - at `{path}.scores`")
    for number, (place, score) in enumerate(zip(places, item.scores, strict=False)):
        problem = _contradiction(score, record.entries[place], place)
        if problem:
            raise ValidationError(f"{problem} - at `{path}.scores[{number}]`")


def _contradiction(score: ScoreRecord, entry: EntryRecord, place: int) -> str:
    """What of a score is at odds with its entry, or within itself; empty when nothing is."""
    if score.scorer != entry.scorer:
        expected = f"a score of {_render.quoted(entry.scorer)} was expected here, as `$.entries[{place}]` says"
        return f"{expected}, and this is one of {_render.quoted(score.scorer)}"
    value, outcome = score.value, score.outcome
    if outcome == "graded":
        wanted = "a number from 0 to 1 as its value, for a gate" if entry.role == "gate" else "a number as its value"
        holds = value is not None and isfinite(value) and (entry.role == "scorer" or 0 <= value <= 1)
    elif outcome in ("passed", "failed"):
        wanted = f"the value {int(outcome == 'passed')}"
        holds = value == (outcome == "passed")
    else:
        wanted, holds = "no value", value is None
    if holds:
        return ""
    came = "none" if value is None else _render.value(value)
    return f"a score with the outcome {outcome!r} has {wanted}, and this one has {came}"


def _refuse_gaps(record: EvalRecord) -> None:
    """Refuse a result that lacks items without saying so."""
    for position, part in enumerate(record.parts):
        _want(part.repetitions >= 1, "1 or more", part.repetitions, f"$.parts[{position}].repetitions")
    if record.interrupted or record.incomplete:
        return
    allowed = {part.repetitions for part in record.parts} or {record.repetitions}
    runs: dict[int, int] = {}
    for item in record.items:
        runs[item.index] = runs.get(item.index, 0) + 1
    missing = next((index for index in range(len(runs)) if runs.get(index) not in allowed), None)
    if missing is not None:
        of_it = f"it has {runs.get(missing, 0)} of {_render.many(record.repetitions, 'run')}"
        raise ValidationError(f"item {missing} is not whole: {of_it}, and the result was not broken off - at `$.items`")


def _is_duration(seconds: float) -> bool:
    return isfinite(seconds) and seconds >= 0


def _want(holds: bool, wanted: str, came: object, path: str) -> None:
    if not holds:
        raise ValidationError(f"expected {wanted}, got {_render.value(came)} - at `{path}`")


def _refuse_misspelt(value: object, struct: type[Struct], path: str) -> None:
    """Refuse a key that is nearly one of a struct, in a result, its entries and its items."""
    if not isinstance(value, Mapping):
        return
    known = struct.__struct_encode_fields__
    for key in value:
        near = get_close_matches(key, known, n=1, cutoff=0.8) if key not in known and key != "schema" else []
        if near:
            raise ValidationError(f"there is no key {_render.quoted(key)}: did you mean {near[0]!r}? - at `{path}`")
    inside: Mapping[str, type[Struct]] = {"entries": EntryRecord, "items": ItemRecord} if struct is EvalRecord else {}
    for name, kind in inside.items():
        for position, one in enumerate(value.get(name) or ()):
            _refuse_misspelt(one, kind, f"{path}.{name}[{position}]")
