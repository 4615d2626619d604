"""`quickchecks checks`: what checks there are, and how each is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from quickchecks.cli import _completing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quickchecks._scorer.catalogue import CheckDescription
    from quickchecks.reports.terminal import Line

__all__ = ("checks",)

_EPILOG = """\b
Examples:
  quickchecks checks                        every check, one a line
  quickchecks checks includes               its options, and how to write it
"""


@click.command(short_help="List the checks, or describe one.", epilog=_EPILOG)
@click.argument("name", required=False, shell_complete=_completing.check_names)
def checks(name: str | None) -> None:
    """List the checks, or describe one."""
    from quickchecks._scorer.catalogue import describe, describe_all
    from quickchecks.checks import suggestion, vocabulary
    from quickchecks.cli._output import print_lines
    from quickchecks.errors import UnknownNameError
    from quickchecks.reports._safe import one_line

    known = vocabulary()
    if name is None:
        print_lines(_list(describe_all(known)))
        for why in known.unusable.values():
            click.echo(f"warning: not in this list: {one_line(why)}", err=True)
        return
    wanted = name.split("(", 1)[0].strip()
    if wanted not in known:
        raise UnknownNameError("check", name, known, hint=known.unusable.get(wanted) or suggestion(wanted))
    print_lines(_description(describe(known[wanted], wanted)))


def _list(found: tuple[CheckDescription, ...]) -> Iterator[Line]:
    from quickchecks.reports.terminal import BLANK, line

    width = max(len(one.name) for one in found)
    joining = [one for one in found if any(parameter.takes("check") for parameter in one.parameters)]
    for one in (*(one for one in found if one not in joining), *joining):
        yield line((f"{one.name:<{width}}", "bold"), "  ", one.sentence, indent=2, hang=width + 4)
    yield BLANK
    yield line("Join them with & (and), | (or) and ~ (not): \"called_tool('search') & ~includes('error')\"", indent=2)
    yield line("quickchecks checks NAME shows the options of one.", indent=2)


def _for_shell(expression: str) -> str:
    """Quote an expression so that every shell takes it, as far as that is possible."""
    import shlex

    from quickchecks._scorer.expression import parse
    from quickchecks.checks import vocabulary

    written = repr(parse(expression, vocabulary()))  # with single quotes inside
    return shlex.quote(expression) if any(sign in written for sign in '"$`\\!') else f'"{written}"'


def _for_yaml(expression: str) -> str:
    plain = ": " not in expression and " #" not in expression and expression[0].isalpha()
    return expression if plain else "'" + expression.replace("'", "''") + "'"


def _description(one: CheckDescription) -> Iterator[Line]:
    from quickchecks.reports.terminal import BLANK, line

    yield line((one.signature, "bold"), hang=4)
    yield line(one.sentence, indent=2)
    yield BLANK
    names = max((len(parameter.name) for parameter in one.parameters), default=0)
    kinds = [f"{p.type}{f', {p.default}' if p.default else ''}" for p in one.parameters]
    width = max(map(len, kinds), default=0)
    for parameter, kind in zip(one.parameters, kinds, strict=True):
        yield line(
            (f"{parameter.name:<{names}}", "bold"), f"  {kind:<{width}}  {parameter.sentence}", indent=2, hang=names + width + 6
        )
    if one.expression:
        yield BLANK
        yield line(("on the command line  ", "dim"), f"--check {_for_shell(one.expression)}", indent=2)
        yield line(("in a checks file     ", "dim"), f"- {_for_yaml(one.expression)}", indent=2)
    if one.example:
        yield BLANK
        for text in one.example.splitlines():
            yield line((text, "dim"), indent=2)
