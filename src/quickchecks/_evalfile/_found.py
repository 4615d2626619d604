"""What an eval file says, whatever it is written in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import Struct

from quickchecks._evaluation import EvalOptions
from quickchecks._items import Item

__all__ = ("EvalFile",)


class EvalFile(Struct, frozen=True):
    """An eval that was read from a file.

    Args:
        path: The file.
        items: The items, each with an id.
        gates: What must pass on every item, as `run_evals` takes it.
        scorers: What is measured.
        options: The options, as `run_evals` takes them; paths in them are relative to the current directory.
        load_target: Imports the target; it gives None when there is none.
        files: The files that it was read from, itself first.
        checks_in: Those of them that may hold checks.
        target_variables: Those of its variables that stand only in what asks the target.
        beside_checks: All that it says, but for the checks: as long as this stays the same, runs can be scored again.
    """

    path: Path
    items: Sequence[Item]
    gates: Sequence[object]
    scorers: Sequence[object]
    options: EvalOptions
    load_target: Callable[[], object]
    files: tuple[Path, ...] = ()
    checks_in: tuple[Path, ...] = ()
    target_variables: frozenset[str] = frozenset()
    beside_checks: str = ""
