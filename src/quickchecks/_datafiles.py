"""The records of a data file: JSON Lines, a JSON array, or CSV with a header. What one of them says twice is refused."""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Mapping

from quickchecks import _render
from quickchecks._run import Source
from quickchecks.errors import ItemError, RecordingError, nearest_names

__all__ = ("Renaming", "data_records")

#: What stands between the cells of a table that is no CSV with commas.
_OTHER_SEPARATORS = {";": "';'", "\t": "a tab", "|": "'|'"}
#: How the names of files end whose form is known, and what to say where it is not.
_KNOWN = (".json", ".jsonl", ".ndjson", ".gz")
_FORMS = "a data file is JSON Lines (.jsonl), a JSON array (.json), or CSV with a header (.csv)"
_EMPTY, _BLANK = "the file is empty", "there are only blank lines in the file"
_WIDE_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def data_records(file: str) -> Iterator[tuple[Source, object]]:
    """Read the records of a data file.

    Args:
        file: The file; "-" is standard input.

    Yields:
        Each record with its place. A row of CSV is a mapping that has every column.

    Raises:
        ItemError: A row of CSV does not fit the header, or the header makes no sense.
        RecordingError: The file does not exist, or a line cannot be read; also where an object has a key twice.
    """
    yield from _csv_rows(file) if file.lower().endswith(".csv") else _json_values(file)


class Renaming:
    """Gives records the fields of an item, under the names that these have.

    Args:
        fields: Where the records have the fields of an item, by field: {"input": "question"}.
    """

    def __init__(self, fields: Mapping[str, str]) -> None:
        self._fields = fields
        self._unseen = dict.fromkeys(fields.values())
        self._known: dict[str, None] = {}

    def of(self, value: object) -> dict[str, object]:
        """The record with the fields of an item; what the name of a field held before is left out.

        Raises:
            ItemError: It is no mapping, or lacks the input.
        """
        if not isinstance(value, Mapping):
            raise ItemError(f"a record is a mapping where fields are mapped, not {_render.value(value)}")
        asked = self._fields.get("input")
        if asked is not None and asked not in value:
            keys = [str(key) for key in value]
            raise ItemError(f"there is no field {asked!r} for the input; there are {', '.join(keys[:10])}")
        if self._unseen:
            self._known.update((str(key), None) for key in value)
            self._unseen = {name: None for name in self._unseen if name not in value}
        taken = {*self._fields, *self._fields.values()}
        kept = {str(key): item for key, item in value.items() if key not in taken}
        return {**kept, **{field: value[name] for field, name in self._fields.items() if name in value}}

    def finish(self) -> None:
        """Say what no record had.

        Raises:
            ItemError: Some field is in none of them.
        """
        for name in self._unseen:
            field = next(field for field, one in self._fields.items() if one == name)
            near = nearest_names(name, self._known)
            raise ItemError(f"no record has the field {name!r}, which is mapped to {field}" + (f": {near}" if near else ""))


def _json_values(file: str) -> Iterator[tuple[Source, object]]:
    from quickchecks import _wire
    from quickchecks.adapters import stored_values

    for source, value in stored_values(file, loads=_wire.loads_once):
        if isinstance(value, RecordingError):
            value.problem = _BLANK if value.problem == _EMPTY and _has_bytes(file) else value.problem
            value.hint = value.hint or ("" if file == "-" or file.lower().endswith(_KNOWN) else _FORMS)
            raise value.located(file=source.file, line=source.line)
        if isinstance(value, list) and source.line is None:
            yield from ((Source(file, None, index), one) for index, one in enumerate(value))
        else:
            yield source, value


def _has_bytes(file: str) -> bool:
    import os

    try:
        return os.path.getsize(file) > 0
    except OSError:
        return False


def _csv_rows(file: str) -> Iterator[tuple[Source, object]]:
    import csv

    try:
        with open(file, "rb") as raw:
            if raw.read(2) in _WIDE_MARKS:
                raise RecordingError("the text is in UTF-16", file=file, hint="save it as UTF-8")
        with open(file, encoding="utf-8-sig", newline="") as stream:
            rows = csv.reader(stream, strict=True)
            header: list[str] = []
            line = 1  # where a row begins: a cell may go over several lines
            try:
                for row in rows:
                    if header and row and len(row) != len(header):
                        more = "more" if len(row) > len(header) else "fewer"
                        raise ItemError(f"{file}:{line}: the row has {more} cells than the header")
                    if header and row:
                        yield Source(file, line), dict(zip(header, row, strict=True))
                    elif any(cell.strip() for cell in row):
                        header = row
                        _refuse_header(header, f"{file}:{line}")
                    line = rows.line_num + 1
                if not header:
                    raise RecordingError(_BLANK if _has_bytes(file) else _EMPTY, file=file)
            except csv.Error as error:
                raise RecordingError(f"this is not CSV: {error}", file=file, line=line) from error
    except UnicodeError as error:
        hint = "save it as UTF-8; in a spreadsheet program this is called CSV UTF-8"
        raise RecordingError("a data file is UTF-8, this one is not", file=file, hint=hint) from error
    except OSError as error:
        raise RecordingError(f"the file cannot be read: {error.strerror or error}", file=file) from error


def _refuse_header(header: list[str], place: str) -> None:
    """Refuse a header that says less than it seems to.

    Raises:
        ItemError: It is one cell with another separator in it, or has a name twice.
    """
    for sign, said in _OTHER_SEPARATORS.items():
        if len(header) == 1 and sign in header[0]:
            hint = "save it with commas; in a spreadsheet program this is called CSV UTF-8 (comma delimited)"
            raise ItemError(f"{place}: the cells are separated by {said}, and in CSV they are separated by commas\n  {hint}")
    seen: set[str] = set()
    for name in header:
        if name in seen:
            twice = f"the column {name!r} stands twice" if name else "two columns have no name"
            raise ItemError(f"{place}: {twice} in the header: rename one, or leave it out")
        seen.add(name)
