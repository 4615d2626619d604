"""Write the published JSON Schemas: of the wire form from the structs that define it, of checks and eval files from the checks.

    python scripts/make_schemas.py

A published schema only ever grows: a later release reads everything that an earlier one wrote. A change that cannot keep
that is a new schema, with a new number in its name, beside the old one.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Mapping
from pathlib import Path

import msgspec

from quickchecks import _gates, _run, _score, checks
from quickchecks._evalfile.schema import eval_schema
from quickchecks._results import changes, evaluation, flips, records, result
from quickchecks._results.changes import EvalComparison
from quickchecks._results.records import EvalRecord
from quickchecks._results.result import RunsResult
from quickchecks._run import Run
from quickchecks._score import ScoreRecord
from quickchecks._scorer import thresholds
from quickchecks._scorer.checks_schema import checks_schema
from quickchecks.cli import _added, _health, _installed
from quickchecks.cli._health import Health
from quickchecks.reports import _record
from quickchecks.reports._record import ChangeLine, ItemLine, RunsReport, ScoredRunRecord

__all__ = ("FOLDER", "generated")

FOLDER = Path(_run.__file__).parent / "schemas"
PUBLISHED: Mapping[str, type[msgspec.Struct]] = {
    "run-1": Run,
    "score-1": ScoreRecord,
    "result-1": EvalRecord,
    "comparison-1": EvalComparison,
    "change-1": ChangeLine,
    "item_run-1": ItemLine,
    "report-1": RunsReport,
    "runs_result-1": RunsResult,
    "scored_run-1": ScoredRunRecord,
    "doctor-1": Health,
}
#: Where the structs are defined that a schema consists of; of two with one name, the first is meant.
_MODULES = (_run, _score, _gates, thresholds, records, result, flips, evaluation, changes, _record, _health, _installed, _added)

_ARGUMENT = re.compile(r"(\w+): (.*)", re.DOTALL)


def generated() -> dict[str, str]:
    """The text of every published schema, by the name of its file."""
    of_structs = {f"{name}.json": _text(name, struct) for name, struct in PUBLISHED.items()}
    vocabulary = {name: function for name, function in checks.vocabulary().items() if name in checks.__all__}
    of_files = {"checks-1.json": checks_schema(vocabulary), "eval-1.json": eval_schema(vocabulary)}
    return {**of_structs, **{name: json.dumps(schema, indent=2, ensure_ascii=False) + "\n" for name, schema in of_files.items()}}


def _text(name: str, struct: type[msgspec.Struct]) -> str:
    _, definitions = msgspec.json.schema_components([struct], schema_hook=_anything)
    for title, definition in definitions.items():
        struct_of_it = next(found for module in _MODULES if isinstance(found := vars(module).get(title), type))
        _describe(definition, struct_of_it)
    kind, _, number = name.partition("-")
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:quickchecks:{kind}:{number}",
        "title": f"quickchecks {kind}, version {number}",
        "$ref": f"#/$defs/{struct.__name__}",
        "$defs": _nulls_last(dict(sorted(definitions.items()))),
    }
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def _anything(kind: type) -> dict[str, object]:
    """The schema of `object`: any JSON value. msgspec takes an empty schema for none, so it must say something."""
    if kind is not object:
        raise NotImplementedError(kind)
    return {"description": "Any JSON value."}


def _describe(definition: dict[str, object], struct: type[msgspec.Struct]) -> None:
    """Move what the docstring says of each field to that field, and leave the rest as the description."""
    text = inspect.getdoc(struct) or ""
    summary, _, rest = text.partition("\n\nArgs:\n")
    definition["description"] = _joined(summary.partition("\n\nExample:")[0])
    lines = inspect.cleandoc(rest.partition("\n\n")[0])
    wire_names = dict(zip(struct.__struct_fields__, struct.__struct_encode_fields__, strict=True))
    properties = definition["properties"]
    assert isinstance(properties, dict)
    for argument in re.split(r"\n(?=\w)", lines):
        if found := _ARGUMENT.fullmatch(argument):
            properties[wire_names[found[1]]]["description"] = _joined(found[2])


def _nulls_last(schema: object) -> object:
    """Write null as the last alternative: versions of msgspec differ in where they put it."""
    if isinstance(schema, list):
        return [_nulls_last(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if isinstance(alternatives := schema.get("anyOf"), list):
        schema = {**schema, "anyOf": sorted(alternatives, key=lambda one: one == {"type": "null"})}
    return {key: _nulls_last(value) for key, value in schema.items()}


def _joined(text: str) -> str:
    return re.sub(r"\s*\n\s*", " ", text)


if __name__ == "__main__":
    for file, text in generated().items():
        (FOLDER / file).write_text(text, encoding="utf-8")
