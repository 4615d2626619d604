"""What a shell is offered for the values of options and arguments. Whatever goes wrong, nothing is offered and nothing said."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import redirect_stdout
from functools import wraps
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    from quickchecks.reports import Kind

__all__ = ("check_names", "eval_files", "files", "folders", "format_names", "reports_of", "words")

Completer = Callable[[click.Context, click.Parameter, str], "list[CompletionItem[str]]"]

_EVALS = (".yaml", ".yml", ".py")
#: So much of a file is looked at to see whether it holds an eval.
_MOST_BYTES = 4096


def _quietly(find: Callable[[click.Context, str], Iterable[CompletionItem[str]]]) -> Completer:
    """Make what a shell calls of a function: code of others that is loaded prints nowhere, and raises nothing."""

    @wraps(find)
    def complete(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
        try:
            with redirect_stdout(sys.stderr):
                return list(find(context, incomplete))
        except Exception:
            return []

    return complete


def files(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    """Offer files, as the shell finds them."""
    return [CompletionItem(incomplete, type="file")]


def folders(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    """Offer folders, as the shell finds them."""
    return [CompletionItem(incomplete, type="dir")]


def words(*offered: str) -> Completer:
    """Offer words.

    Args:
        offered: The words.
    """
    return _quietly(lambda context, incomplete: _beginning(offered, incomplete))


@_quietly
def check_names(context: click.Context, incomplete: str) -> Iterator[CompletionItem[str]]:
    """Offer the names of checks, each with its sentence."""
    from quickchecks._scorer.catalogue import describe
    from quickchecks.checks import vocabulary

    for name, function in vocabulary().items():
        if name.startswith(incomplete):
            yield CompletionItem(name, help=describe(function, name).sentence)


@_quietly
def format_names(context: click.Context, incomplete: str) -> Iterator[CompletionItem[str]]:
    """Offer the names of formats; none is loaded."""
    import pkgutil
    from importlib.metadata import entry_points
    from importlib.util import find_spec

    package = find_spec("quickchecks.adapters")
    assert package is not None
    modules = pkgutil.iter_modules(package.submodule_search_locations)
    own = [module.name for module in modules if not module.name.startswith("_")]
    yield from _beginning([*own, *(point.name for point in entry_points(group="quickchecks.adapters"))], incomplete)


@_quietly
def eval_files(context: click.Context, incomplete: str) -> Iterator[CompletionItem[str]]:
    """Offer the files that hold an eval; where there are none, or a folder is among what fits, whatever the shell finds."""
    folder, name = os.path.split(incomplete)
    with os.scandir(folder or ".") as found:
        entries = [one for one in found if one.name.startswith(name) and (name or not one.name.startswith("."))]
    evals = [one.name for one in entries if one.name.endswith(_EVALS) and one.is_file() and _holds_eval(one.path)]
    if not evals or any(one.is_dir() for one in entries):
        yield CompletionItem(incomplete, type="file")
        return
    yield from _beginning([os.path.join(folder, one) for one in evals], incomplete)


def reports_of(kind: Kind) -> Completer:
    """Offer the names of files that something can be written to, one for each suffix.

    Args:
        kind: What is to be written.
    """

    def find(context: click.Context, incomplete: str) -> Iterator[CompletionItem[str]]:
        from quickchecks.reports import suffixes

        folder, name = os.path.split(incomplete)
        stem = os.path.join(folder, name.partition(".")[0] or "report")
        return _beginning([stem + suffix for suffix in suffixes(kind)], incomplete)

    return _quietly(find)


def _beginning(offered: Iterable[str], incomplete: str) -> Iterator[CompletionItem[str]]:
    return (CompletionItem(one) for one in sorted(set(offered)) if one.startswith(incomplete))


def _holds_eval(path: str) -> bool:
    with open(path, "rb") as stream:
        text = b"\n" + stream.read(_MOST_BYTES)
    marks = (b"\nevaluation", b"\ndef evaluation") if path.endswith(".py") else (b"\ndata:", b"\ntarget:")
    return any(mark in text for mark in marks)
