"""The checks of a command line: expressions, checks files, and one tried instead of another."""

from __future__ import annotations

import os
from collections.abc import Sequence

from msgspec.structs import replace

from quickchecks._results.tally import entry_of
from quickchecks._scorer.checks_file import CheckEntry, load_checks_file
from quickchecks._scorer.expression import parse
from quickchecks._scorer.from_item import item_fields
from quickchecks._scorer.pipeline import Scorer
from quickchecks.checks import ALIASES, vocabulary
from quickchecks.cli._app import Problem
from quickchecks.errors import QuickchecksError, UnknownNameError, nearest_names

__all__ = ("entries_of", "file_entries", "instead", "need_no_items")


def entries_of(expressions: Sequence[str], files: Sequence[str]) -> tuple[CheckEntry, ...]:
    """The checks of `--check` and `--checks`.

    Raises:
        Problem: There are none, or one stands twice.
        QuickchecksError: One cannot be read.
    """
    entries = [entry_of(_read(expression, "--check")) for expression in expressions]
    for file in files:
        entries.extend(file_entries(file))
    if not entries:
        raise Problem(
            'there is nothing to check: add --check "no_tool_errors()", or --checks checks.yaml\n'
            "  quickchecks checks lists every check"
        )
    seen: set[tuple[str, object]] = set()
    for entry in entries:
        key = (entry.scorer.identity, entry.threshold)
        if key in seen:
            raise Problem(f"{entry.scorer.identity} is given twice: leave one out")
        seen.add(key)
    return tuple(entries)


def file_entries(file: str) -> tuple[CheckEntry, ...]:
    """The checks of a checks file."""
    if not os.path.exists(file):
        folder = os.path.dirname(file) or "."
        names = [name for name in os.listdir(folder) if name.endswith((".yaml", ".yml"))] if os.path.isdir(folder) else []
        hint = nearest_names(os.path.basename(file), names)
        raise Problem(f"{file}: there is no such checks file" + (f"\n  {hint}" if hint else ""))
    return load_checks_file(file, vocabulary(), aliases=ALIASES).entries


def need_no_items(entries: Sequence[CheckEntry]) -> None:
    """Refuse checks that take an argument from the item: recorded runs have none.

    Raises:
        Problem: One does.
    """
    for entry in entries:
        fields = item_fields(entry.scorer)
        if fields:
            raise Problem(
                f"{entry.scorer.identity} needs the {fields[0]!r} of each item, and what is scored here are runs without items\n"
                "  run it over a dataset, or write what is expected into the check"
            )


def instead(entries: Sequence[CheckEntry], expression: str, name: str | None) -> tuple[CheckEntry, ...]:
    """Put another check in the place of one.

    Args:
        entries: The checks.
        expression: The check to try.
        name: The one whose place it takes: its name, its expression, or the function when only one is made by it. None
            when there is only one.

    Returns:
        The checks, with the mode and the threshold that the replaced one had.

    Raises:
        UnknownNameError: No check, or several, are called so.
    """
    position = _position(entries, name)
    before = entries[position]
    tried = _read(expression, "--try").named(before.scorer.name)
    mode = before.mode
    if before.threshold is None and mode in ("gate", "watch"):
        mode = entry_of(tried).mode if mode == entry_of(before.scorer).mode else mode
    if before.threshold is not None:
        before.threshold.within(tried.score_range)
    after = replace(before, scorer=tried, mode=mode)
    return (*entries[:position], after, *entries[position + 1 :])


def _as_typed(text: str) -> str:
    """What was typed, where the locale could not read it: else `excludes('ü')` would look for something else, and pass."""
    return text if text.isprintable() else os.fsencode(text).decode("utf-8", "surrogateescape")


def _position(entries: Sequence[CheckEntry], name: str | None) -> int:
    if name is None:
        if len(entries) > 1:
            raise Problem("--try needs --instead-of NAME, to say which of the checks it takes the place of")
        return 0
    identities = [entry.scorer.identity for entry in entries]
    try:
        expression = _read(name, "--instead-of").identity
    except Problem:
        expression = name
    for wanted in (name, expression):
        if wanted in identities:
            return identities.index(wanted)
    by_function = [at for at, entry in enumerate(entries) if repr(entry.scorer).startswith(f"{name}(")]
    if len(by_function) == 1:
        return by_function[0]
    several = f"{len(by_function)} checks are made by {name}: give the whole expression, one of " if by_function else "there are "
    raise UnknownNameError("check to replace", name, identities, hint=several + ", ".join(identities))


def _read(expression: str, option: str) -> Scorer:
    try:
        return parse(_as_typed(expression), vocabulary(), aliases=ALIASES)
    except QuickchecksError as error:
        said = str(error)
        joint = ", " if said.startswith(("line ", "column ")) else ": "
        raise Problem(f"{option}{joint}{said}") from error
