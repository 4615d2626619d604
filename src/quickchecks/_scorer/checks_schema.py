"""The JSON Schema of a checks file, for editors: completion, help and mistakes while one types.

It is made from the same descriptions as everything else. An editor reads YAML by the rules of YAML 1.2, so that it sees a
number or a truth value where the file means a text; the schema accepts what the file may say, and `checks_file` decides.
"""

from __future__ import annotations

from collections.abc import Sequence

from quickchecks._scorer.catalogue import CheckDescription, ParameterDescription, ValueKind, Vocabulary, describe_all
from quickchecks._scorer.expression import MAX_LENGTH

__all__ = ("checks_schema",)

Schema = dict[str, object]

_NAMED = {"$ref": "#/$defs/named"}
_CHECK = {"$ref": "#/$defs/check"}
_TEXT: Schema = {"type": ["string", "number", "boolean"]}
_NOTHING: Schema = {"type": "null"}
_NUMBER: Schema = {"type": ["number", "string"], "pattern": r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"}
_WHOLE: Schema = {"type": ["integer", "string"], "pattern": "^[+-]?[0-9]+$"}
_TRUTH: Schema = {
    "type": ["boolean", "string"],
    "pattern": "^([Yy][Ee][Ss]|[Nn][Oo]|[Oo][Nn]|[Oo][Ff][Ff]|[Tt][Rr][Uu][Ee]|[Ff][Aa][Ll][Ss][Ee])$",
}


def checks_schema(vocabulary: Vocabulary) -> Schema:
    """Make the JSON Schema of a checks file.

    Args:
        vocabulary: The functions that make checks, by name.

    Returns:
        A schema of draft 2020-12.
    """
    checks = describe_all(vocabulary)
    bare = [check.name for check in checks if not any(parameter.required or parameter.many for parameter in check.parameters)]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:quickchecks:checks:1",
        "title": "quickchecks checks, version 1",
        "description": "A checks file of quickchecks.",
        "type": "object",
        "properties": {"checks": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/entry"}}},
        "required": ["checks"],
        "additionalProperties": False,
        "$defs": {
            "entry": {
                "description": "A check, or a check with a name, a reason, a threshold or a mode.",
                "anyOf": [{"$ref": "#/$defs/expression"}, _NAMED, _long(_ENTRY_ONLY)],
            },
            "check": {
                "description": "A check inside another.",
                "anyOf": [{"$ref": "#/$defs/expression"}, _NAMED, _long({})],
            },
            "expression": {
                "description": "The name of a check, or an expression such as includes('sunny') & ~includes('error').",
                "anyOf": [{"enum": bare}, {"type": "string", "minLength": 1, "maxLength": MAX_LENGTH}],
            },
            "named": {
                "description": "One check by its name.",
                "type": "object",
                "minProperties": 1,
                "maxProperties": 1,
                "properties": {
                    "not": {"description": "The opposite of a check.", **_CHECK},
                    **{check.name: {"$ref": f"#/$defs/{check.name}()"} for check in checks},
                },
                "additionalProperties": False,
            },
            **{f"{check.name}()": _of_check(check) for check in checks},
        },
    }


_ENTRY_ONLY: Schema = {
    "threshold": {
        "description": "The average that is wanted: at least this number, or between min and max.",
        "anyOf": [
            _NUMBER,
            {
                "type": "object",
                "minProperties": 1,
                "properties": {"min": _NUMBER, "max": _NUMBER},
                "additionalProperties": False,
            },
            _NOTHING,
        ],
    },
    "mode": {
        "description": "gate: must pass on every run; watch: is shown and never decides; shadow: is only recorded.",
        "enum": ["gate", "watch", "shadow"],
    },
}


def _long(more: Schema) -> Schema:
    return {
        "type": "object",
        "properties": {
            "check": {"description": "The check.", **_CHECK},
            "name": {"description": "An identity of its own.", **_TEXT},
            "why": {"description": "Why you have this check, as one plain sentence.", **_TEXT},
            **more,
        },
        "required": ["check"],
        "additionalProperties": False,
    }


def _of_check(check: CheckDescription) -> Schema:
    forms: list[Schema] = []
    subject = check.subject
    if subject is not None:
        alone = _of_kinds([kind for kind in subject.kinds if kind.name not in ("none", "mapping")])
        forms.append(_described(subject, {"type": "array", "items": alone, "minItems": 1} if subject.many else alone))
    forms.append(_by_name(check))
    if not any(parameter.required for parameter in check.parameters):
        forms.append(_NOTHING)
    return {"description": f"{check.sentence}\n{check.signature}", "anyOf": forms}


def _by_name(check: CheckDescription) -> Schema:
    properties: Schema = {}
    for parameter in check.parameters:
        kinds = _of_kinds(parameter.kinds)
        properties[parameter.name] = _described(parameter, {"type": "array", "items": kinds} if parameter.many else kinds)
    found: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
    required = [parameter.name for parameter in check.parameters if parameter.required]
    if "tool" in required:  # the name of a tool may be given as `name`
        required.remove("tool")
        found["anyOf"] = [{"required": ["tool"]}, {"required": ["name"]}]
    return {**found, "required": required} if required else found


def _described(parameter: ParameterDescription, schema: Schema) -> Schema:
    if parameter.sentence:
        schema = {"description": parameter.sentence, **schema}
    return schema


def _of_kinds(kinds: Sequence[ValueKind]) -> Schema:
    found = [_of_kind(kind) for kind in kinds]
    return found[0] if len(found) == 1 else {"anyOf": found}


def _of_kind(kind: ValueKind) -> Schema:
    if kind.name == "choice":
        return {"enum": list(kind.choices)}
    if kind.name == "list":
        return {"type": "array", "items": _of_kinds(kind.items) if kind.items else _TEXT}
    simple: dict[str, Schema] = {
        "none": _NOTHING,
        "bool": _TRUTH,
        "int": _WHOLE,
        "float": _NUMBER,
        "text": _TEXT,
        "mapping": {"type": "object"},
        "check": dict(_CHECK),
    }
    return simple.get(kind.name, {"description": "Any value."})
