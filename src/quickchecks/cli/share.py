"""`quickchecks share`: one run as a page that can be sent to somebody."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from quickchecks.cli import _completing
from quickchecks.cli._app import Problem
from quickchecks.cli._options import Reading, checks_options, reading, reading_options, users_code

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from quickchecks._results.evaluation import EvalResult, ItemResult
    from quickchecks._run import Run
    from quickchecks._score import Score
    from quickchecks._scorer.checks_file import CheckEntry

__all__ = ("share",)

#: A saved result says so in its first bytes.
_HEAD = 1_000
#: So many ids are looked through for one that is nearly the one that was asked for.
_MAX_IDS = 10_000
_MARK = b'"quickchecks.result/'

_EPILOG = """\b
Examples:
  quickchecks share runs.jsonl:812 --checks checks.yaml -o failure.html
  quickchecks share result.json:brooklyn -o failure.html
"""


@click.command(short_help="Write a page that shows one run, to be sent to somebody.", epilog=_EPILOG)
@click.argument("given", metavar="FILE:LINE|RESULT.json:ITEM", shell_complete=_completing.files)
@checks_options
@click.option("--run", "number", type=click.IntRange(min=1), metavar="N", help="The Nth run, or the Nth repetition of an item.")
@reading_options
@click.option(
    "-o",
    "--output",
    "outputs",
    required=True,
    multiple=True,
    metavar="FILE.html",
    shell_complete=_completing.words("failure.html"),
    help="The page to write; what it held is replaced. Repeatable.",
)
def share(
    given: str,
    expressions: tuple[str, ...],
    files: tuple[str, ...],
    number: int | None,
    format: str | None,
    maps: tuple[str, ...],
    adapter: str | None,
    part: str | None,
    outputs: tuple[str, ...],
) -> None:
    """Write one run as a page: what is wrong with it, and where in it that is to be seen.

    The run is one of a recording, as reports name it: FILE:LINE, FILE[PLACE], FILE:ID, or FILE alone where it holds one. What
    the checks given here say stands over it; in a file that --failures wrote, what they said then. Or it is the run of an item
    in a result: RESULT.json:ITEM, with the scores that are kept there.

    The page is one file, and loads nothing. Secrets that have the form of one are masked; look through the rest before you
    send it to anybody.
    """
    from functools import partial

    from quickchecks.cli._files import Files
    from quickchecks.cli._suite import entries_of

    file, wanted = _apart(given)
    _check_places(outputs, file)
    entries = entries_of(expressions, files) if expressions or files else ()
    if _is_result(file):
        page = _page_of_item(file, wanted, number, entries)
    else:
        page = _page_of_run(given, file, wanted, number, entries, reading(format, adapter, maps, part))
    pages = Files()
    try:
        for new in [pages.open(output) for output in outputs]:
            pages.write(new, partial(new.stream.write, page))
        pages.keep()
    except BaseException:
        pages.drop()
        raise
    for output in pages.written:
        click.echo(f"wrote {output}", err=True)
    pages.check()


def _check_places(outputs: Sequence[str], file: str) -> None:
    """Refuse what is no page, what is read, and what stands twice.

    Raises:
        Problem: One of the files to write is that.
    """
    places = [os.path.realpath(output) for output in outputs]
    for position, (output, place) in enumerate(zip(outputs, places, strict=True)):
        if not output.lower().endswith(".html"):
            raise Problem(f"{output}: a run is shared as a page, in a file that ends in .html")
        if place == os.path.realpath(file):
            raise Problem(f"{output} is what is read here: write to another file")
        if place in places[:position]:
            raise Problem(f"{output} stands twice among the files to write")


def _apart(given: str) -> tuple[str, str | None]:
    """Take `result.json:brooklyn` apart; an id may hold colons, and so may the name of a file."""
    if os.path.exists(given):
        return given, None
    ends = [at for at, character in enumerate(given) if character == ":"]
    for at in reversed(ends):
        if os.path.isfile(given[:at]):
            return given[:at], given[at + 1 :]
    return given, None


def _is_result(file: str) -> bool:
    if not os.path.isfile(file):
        return False
    try:
        with open(file, "rb") as stream:
            return _MARK in stream.read(_HEAD)
    except OSError:
        return False


def _page_of_item(file: str, wanted: str | None, number: int | None, entries: Sequence[CheckEntry]) -> bytes:
    from quickchecks._results.saved import load_result
    from quickchecks.reports._html_shared import shared_run

    result = load_result(file)
    item = _item(result, file, wanted, number)
    name = f"{result.name or os.path.basename(file)}: {item.id}"
    if item.run is None and item.error is not None:
        if entries:
            raise Problem(f"the target broke on {item.id!r}, so that there is no run to check: leave --check and --checks out")
        return shared_run(None, name=name, item=item.item, error=item.error)
    if item.run is None:
        lost = f"; {result.recording}, the recording that was written with it, is not beside it, or was changed"
        lost = lost if result.recording else ""
        raise Problem(f"the run of {item.id!r} is not in {file}{lost}")
    scores = [score for one, score in zip(item.plan, item.scores, strict=False) if one.mode != "shadow"]
    if entries:
        scores = [entry.scorer.score(item.run) for entry in entries]
    return shared_run(item.run, scores, name=name, item=item.item, error=item.error)


def _item(result: EvalResult, file: str, wanted: str | None, number: int | None) -> ItemResult:
    """The item that is wanted; of its repetitions the one with the number, else the first that did not pass."""
    from quickchecks.errors import nearest_names

    ids = list(dict.fromkeys(item.id for item in result.items))
    if wanted is None:
        if len(ids) != 1:
            failed = [item for group in result.failures for item in group.items] or ids
            raise Problem(f"{file} holds {len(ids)} items: say which, such as {file}:{failed[0] if failed else 'ID'}")
        wanted = ids[0]
    found = [item for item in result.items if item.id == wanted]
    if not found:
        near = nearest_names(wanted, ids)
        raise Problem(f"there is no item {wanted!r} in {file}" + (f"\n  {near}" if near else ""))
    if number is not None:
        if number > len(found):
            raise Problem(f"{wanted!r} was run {len(found)} times, so there is no run with the number {number}")
        return found[number - 1]
    failing = (item for item in found if item.errored or any(score.failure_key for score in item.scores))
    return next(failing, found[0])


def _page_of_run(
    given: str, file: str, wanted: str | None, number: int | None, entries: Sequence[CheckEntry], options: Reading
) -> bytes:
    from quickchecks import adapters
    from quickchecks.cli._files import first_place
    from quickchecks.cli._interrupts import Interrupts
    from quickchecks.cli._one_run import place_of, run_at
    from quickchecks.reports._html_shared import shared_run

    source, place = place_of(given)
    with Interrupts() as interrupts, users_code(options["adapter"], interrupts):
        records = adapters.read(source if place is not None else file, **options)
    if place is not None:
        run = run_at(records, place, number, given)
    else:
        runs = (record for record in records if not isinstance(record, Exception))
        run = _run_called(runs, file, wanted, number) if wanted is not None else _only_run(runs, file, number)
    scores = [entry.scorer.score(run) for entry in entries if entry.mode != "shadow"]
    name = str(run.source) if run.source is not None else file
    if not scores:
        scores = _scores_of_then(run)
        name = first_place(run.metadata or {}) or name  # the recording that a person has
    return shared_run(run, scores, name=name)


def _only_run(runs: Iterator[Run], file: str, number: int | None) -> Run:
    """The run with the number; without one, the only run of the file."""
    first: Run | None = None
    count = 0
    for count, run in enumerate(runs, 1):
        if count == number:
            return run
        first = first or run
        if number is None and count == 2:
            raise Problem(f"{file} holds several runs: say which, such as {run.source or file}, or --run 2")
    if number is not None and count:
        raise Problem(f"{file} holds {count:,} runs, so there is none with the number {number}")
    if first is None:
        raise Problem(f"{file} holds no run that can be read")
    return first


def _run_called(runs: Iterator[Run], file: str, wanted: str, number: int | None) -> Run:
    """The run with an id; of several the one with the number."""
    from quickchecks.errors import nearest_names

    ids: dict[str, None] = {}
    passed = 0
    for run in runs:
        if run.id == wanted:
            passed += 1
            if number is None or passed == number:
                return run
        elif run.id is not None and len(ids) < _MAX_IDS:
            ids[run.id] = None
    if passed:
        raise Problem(f"{file} holds {passed} runs called {wanted!r}, so there is none with the number {number}")
    near = nearest_names(wanted, list(ids))
    hint = f"\n  {near}" if near else "" if ids else "\n  its runs have no ids: name a line, such as 812"
    raise Problem(f"there is no run {wanted!r} in {file}{hint}")


def _scores_of_then(run: Run) -> list[Score]:
    """What was wrong with a run when `score --failures` kept it."""
    import msgspec

    from quickchecks._score import ScoreRecord

    kept = (run.metadata or {}).get("quickchecks")
    try:
        records = msgspec.convert(kept["scores"] if isinstance(kept, dict) else [], list[ScoreRecord])
    except (KeyError, msgspec.ValidationError):
        return []
    return [record.to_score() for record in records]
