"""Runs as quickchecks itself has them: a `Run`, or its wire form, an object whose `schema` says `quickchecks.run/1`."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from quickchecks._run import Run
from quickchecks.adapters._shapes import described, expected
from quickchecks.errors import RecordingError

__all__ = ("load", "recognises")

_SCHEMA = "quickchecks.run/1"


def recognises(value: Any) -> bool:
    """Whether a value is a run, or an object whose schema is that of a run."""
    if isinstance(value, Run):
        return True
    schema = value.get("schema") if isinstance(value, dict) else None
    return isinstance(schema, str) and schema.startswith("quickchecks.run/")


def load(value: Any) -> Run:
    """Read one run.

    Args:
        value: The run, or its wire form. Fields that a later release added are passed over.

    Returns:
        The run.

    Raises:
        RecordingError: It is not in the wire form, or in that of a later version.
    """
    if isinstance(value, Run):
        return value
    if not recognises(value):
        raise expected(f"an object with the schema {_SCHEMA}", value, "")
    if value["schema"] != _SCHEMA:
        problem = f"the schema is {described(value['schema'])}, and this release reads {_SCHEMA}"
        raise RecordingError(problem, path="schema", hint="it was written by another release: update quickchecks")
    try:
        return msgspec.convert(value, Run)
    except msgspec.ValidationError as error:
        problem, _, path = str(error).partition(" - at `$")
        raise RecordingError(_plain(problem), path=path.rstrip("`").removeprefix(".")) from None
    except UnicodeError:  # msgspec cannot even say what it found there
        raise RecordingError("a text that holds half of a surrogate pair stands where the schema has no text") from None
    except RecursionError:
        raise RecordingError("nested runs lie too deeply in one another to be read") from None


def _plain(problem: str) -> str:
    """The message of msgspec without its name for the type, which says less than the schema does."""
    return re.sub(r"^Expected", "expected", problem)
