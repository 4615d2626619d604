"""The JSON Schema of an eval file in YAML, for editors."""

from __future__ import annotations

from typing import cast

from quickchecks._evalfile._options import MOST, OPTIONS
from quickchecks._items import Item
from quickchecks._scorer.catalogue import Vocabulary
from quickchecks._scorer.checks_schema import checks_schema

__all__ = ("eval_schema",)

Schema = dict[str, object]

_TEXT: Schema = {"type": ["string", "number", "boolean"]}
_VARIABLE: Schema = {"type": "string", "pattern": r"^\$\{\w+\}$"}
_OF_OPTIONS: dict[str, tuple[str, Schema]] = {
    "concurrency": (
        "How many items run at once.",
        {"type": ["integer", "string"], "pattern": "^[0-9]+$", "minimum": 1, "maximum": MOST},
    ),
    "timeout": ("Seconds that an item may take.", {"type": ["number", "string", "null"], "exclusiveMinimum": 0}),
    "retries": (
        "How often a target that raised is called again.",
        {"type": ["integer", "string"], "pattern": "^[0-9]+$", "maximum": MOST},
    ),
    "retry_timeouts": ("Whether a timeout is retried too.", {"type": ["boolean", "string"]}),
    "repetitions": (
        "How often each item is run.",
        {"type": ["integer", "string"], "pattern": "^[0-9]+$", "minimum": 1, "maximum": MOST},
    ),
    "max_errors": (
        "How many items and scores may break.",
        {"type": ["integer", "string"], "pattern": "^[0-9]+$", "maximum": MOST},
    ),
    "name": ("The name of the evaluation.", _TEXT),
    "record": ("A file that keeps every run, relative to this one.", {"type": "string"}),
    "target_options": ("More arguments for the target, by name.", {"type": "object"}),
    "model": ("The model, where the target is an endpoint.", _TEXT),
    "tools": (
        "Functions that the model of an endpoint may call, each as module:function.",
        {"type": "array", "items": {"type": "string", "pattern": r"^[A-Za-z_][\w.]*:[A-Za-z_][\w.]*$"}},
    ),
}


def eval_schema(vocabulary: Vocabulary) -> Schema:
    """Make the JSON Schema of an eval file.

    Args:
        vocabulary: The functions that make checks, by name.

    Returns:
        A schema of draft 2020-12.
    """
    checks = checks_schema(vocabulary)
    entries: Schema = {"type": "array", "items": {"$ref": "#/$defs/entry"}}
    fields = [name for name in Item.__struct_fields__ if name not in ("source", "content")]
    return {
        "$schema": checks["$schema"],
        "$id": "urn:quickchecks:eval:1",
        "title": "quickchecks eval, version 1",
        "description": "An eval file of quickchecks.",
        "type": "object",
        "properties": {
            "target": {
                "description": "What is asked: module:attribute, module:factory() for what the factory returns, the address of "
                "an endpoint, or cmd: and a command.",
                "anyOf": [
                    {"type": "string", "pattern": r"^[A-Za-z_][\w.]*:[A-Za-z_][\w.]*(\(\))?$"},
                    {"type": "string", "pattern": "^(https?://|cmd:).+"},
                    _VARIABLE,
                ],
            },
            "data": {
                "description": "The items: a list of them, or a file of JSON Lines, JSON or CSV, relative to this one.",
                "anyOf": [
                    {"type": "string", "minLength": 1},
                    {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/item"}},
                    {
                        "type": "object",
                        "properties": {
                            "file": {"type": "string", "minLength": 1},
                            "map": {
                                "description": "Where the records have the fields of an item.",
                                "type": "object",
                                "properties": {name: {"type": "string"} for name in fields},
                                "additionalProperties": False,
                            },
                        },
                        "required": ["file"],
                        "additionalProperties": False,
                    },
                ],
            },
            "gates": {
                "description": "What must pass on every item.",
                "type": "array",
                "items": {"anyOf": [{"$ref": "#/$defs/entry"}, {"$ref": "#/$defs/rated"}]},
            },
            "scorers": {"description": "What is measured; an entry with a threshold is asserted.", **entries},
            "checks": {
                "description": "Checks as in a checks file, or the name of one: each is a gate, unless it says otherwise.",
                "anyOf": [entries, {"type": "string", "pattern": r"\.ya?ml$"}],
            },
            "options": {
                "description": "How it runs.",
                "type": "object",
                "properties": {name: _option(name) for name in OPTIONS},
                "additionalProperties": False,
            },
            "vars": {
                "description": "Variables with their values; ${name} stands for one, and --set name=… changes it.",
                "type": "object",
                "additionalProperties": {"type": ["string", "number", "boolean", "null"]},
            },
        },
        "required": ["data"],
        "additionalProperties": False,
        "$defs": {
            **cast("Schema", checks["$defs"]),
            "rated": _rated(),
            "item": {
                "description": "An item: a mapping with input, inputs or turns, or the input itself.",
                "anyOf": [
                    _TEXT,
                    {"type": "object", "properties": {"turns": {"type": "array", "items": {"$ref": "#/$defs/turn"}}}},
                ],
            },
            "turn": {
                "description": "One turn of a conversation, with what must hold on it alone.",
                "type": "object",
                "properties": {"input": True, "gates": entries, "scorers": entries},
                "required": ["input"],
                "additionalProperties": False,
            },
        },
    }


def _option(name: str) -> Schema:
    description, schema = _OF_OPTIONS[name]
    return {"description": description, "anyOf": [schema, _VARIABLE]}


def _rated() -> Schema:
    """A gate that asks for a share of the items."""
    share: Schema = {"type": ["number", "string"]}
    return {
        "description": "A gate that a share of the items must pass.",
        "type": "object",
        "properties": {
            "check": {"$ref": "#/$defs/check"},
            "name": _TEXT,
            "why": _TEXT,
            "mode": {"const": "gate"},
            "pass_rate": {"description": "The share of items that must pass.", **share},
            "confidence": {"description": "How sure that must be: an exact one-sided bound decides.", **share},
        },
        "required": ["check"],
        "additionalProperties": False,
    }
