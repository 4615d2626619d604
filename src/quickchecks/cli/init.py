"""`quickchecks init`: the files to begin with, which run as they are."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from quickchecks.cli import _completing

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from quickchecks.cli._starting import Planned
    from quickchecks.reports.terminal import Line

__all__ = ("init",)

_KEPT = "there is another file of this name, which stays as it is"

_EPILOG = """\b
Examples:
  quickchecks init                          in the folder of your project
  quickchecks init agents --dry-run         what it would write into the folder agents
"""


@click.command(short_help="Write the files to begin with: checks, a case, a test, CI.", epilog=_EPILOG)
@click.argument("folder", default=".", metavar="[FOLDER]", shell_complete=_completing.folders)
@click.option("--dry-run", is_flag=True, help="Only say what would be written.")
def init(folder: str, dry_run: bool) -> None:
    """Write the files to begin with into FOLDER: checks, one line of a dataset, an eval, a test and the CI step.

    They run as they are, with a made-up agent that you replace by yours. The test goes where pytest looks for tests, the CI
    step to the root of the repository. A file that is there is never overwritten. Exit codes: 0 all is there; 1 a file of
    another content was kept; 2 wrong usage, or a file cannot be written.
    """
    from quickchecks.cli._output import print_lines
    from quickchecks.cli._starting import plan, put

    planned = plan(folder)
    if not dry_run:
        put(planned)
    print_lines(_lines(folder, planned, dry_run))
    click.get_current_context().exit(int(any(one.state == "kept" for one in planned)))


def _lines(folder: str, planned: Sequence[Planned], dry_run: bool) -> Iterator[Line]:
    from importlib.util import find_spec

    from quickchecks.cli._starting import as_argument
    from quickchecks.reports._safe import path
    from quickchecks.reports.terminal import BLANK, line

    shown = {one.name: path(as_argument(os.path.relpath(one.path))) for one in planned}
    width = max(map(len, shown.values()))
    words = {"new": "would write" if dry_run else "wrote", "same": "has", "kept": "kept"}
    styles = {"new": "green", "same": "dim", "kept": "yellow"}
    column = max(map(len, words.values())) if dry_run else len("wrote")
    for one in planned:
        why = _KEPT if one.state == "kept" else one.meaning
        if one.is_foreign and one.name == "test_agent.py":
            why = f"{_KEPT}; no test was written"
        word = f"{words[one.state]:<{column}}"
        yield line((word, styles[one.state]), f"  {shown[one.name]:<{width}}  ", (why, "dim"), hang=column + width + 4)
    yield BLANK
    yield line(("Next", "bold"))
    install = "" if find_spec("pytest") else "pip install pytest && "
    commands = [(f"quickchecks run {_quoted(shown['eval.yaml'])}", "ask the agent, and judge what it answers")]
    if not any(one.name == "test_agent.py" and one.is_foreign for one in planned):
        commands.append((f"{install}pytest {_quoted(shown['test_agent.py'])}", "the same as a test"))
    width = max(len(command) for command, _ in commands)
    for command, meaning in commands:
        yield line(f"{command:<{width}}  ", (meaning, "dim"), indent=2, hang=width + 4)
    yield BLANK
    yield line("Then replace the made-up agent: the places are marked REPLACE.")


def _quoted(name: str) -> str:
    import shlex

    return shlex.quote(name) if os.name != "nt" else f'"{name}"' if " " in name else name
