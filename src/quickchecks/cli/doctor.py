"""`quickchecks doctor`: what is installed here, what is wrong, and what to do about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from quickchecks.cli._health import Health
    from quickchecks.reports.terminal import Line

__all__ = ("doctor",)

_EPILOG = """\b
Examples:
  quickchecks doctor
  quickchecks doctor --json                 the same for programs, and for reports of bugs
"""


@click.command(short_help="Say what is installed, and what is wrong.", epilog=_EPILOG)
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def doctor(as_json: bool) -> None:
    """Say what is installed here: versions, the pytest plugin, frameworks, extras, what other packages add. And what is wrong.

    Nothing is asked of a network, and no value of a variable is shown. Run it in the folder of your project, whose settings of
    pytest it looks at. Exit codes: 0 all is well; 1 something is wrong; 2 wrong usage.
    """
    from quickchecks.cli._health import examine
    from quickchecks.cli._output import print_lines

    found = examine()
    if as_json:
        import msgspec

        from quickchecks import _wire

        click.echo(msgspec.json.format(_wire.dumps(found), indent=2).decode())
    else:
        print_lines(_lines(found))
    click.get_current_context().exit(int(found.problems > 0))


def _lines(found: Health) -> Iterator[Line]:
    from quickchecks.reports._safe import path
    from quickchecks.reports.terminal import BLANK, line

    yield line((f"quickchecks {found.quickchecks}", "bold"), f"  {path(found.location)}", hang=2)
    yield line(f"Python {found.python}  {path(found.executable)}", hang=2)
    yield line(found.platform, hang=2)
    tests = found.pytest
    state = "not installed"
    if tests.version is not None:
        state = f"{tests.version}, the plugin is {'active' if tests.plugin else 'off'}"
    settings = f"settings in {path(tests.settings)}" if tests.settings else "no settings here"
    yield from _section("Needs", ((one.name, one.version or "not installed", one.needs) for one in found.dependencies))
    yield from _section("Pytest", [("pytest", state, settings), *(("", one, "") for one in tests.plugins)])
    frameworks = [(one.name, one.version, _adapter(one.adapter, one.tested_from, one.tested)) for one in found.frameworks]
    yield from _section("Frameworks and clients", frameworks or [("none", "", "")])
    extras = [
        (one.name, "not installed" if one.missing else "installed", one.install if one.missing else "") for one in found.extras
    ]
    yield from _section("Extras", extras)
    points = [(one.group.rpartition(".")[2], one.name, f"{one.value}  {one.distribution}") for one in found.entry_points]
    yield from _section("Added by other packages", points or [("nothing", "", "")])
    surroundings = (
        ("encoding", found.encoding, "reports are UTF-8"),
        ("output", "a terminal" if found.terminal else "no terminal", ""),
        ("temporary", path(found.temporary or "none"), ""),
        ("variables", ", ".join(map(path, found.variables)) or "none", ""),
    )
    yield from _section("Surroundings", surroundings)
    yield BLANK
    for finding in sorted(found.findings, key=lambda one: one.level == "note"):
        mark = ("✗", "red") if finding.level == "problem" else ("note:", "yellow")
        yield line(mark, f" {path(finding.what)}", hang=2)
        if finding.remedy:
            yield line(finding.remedy, indent=4, hang=4)
    if found.findings:
        yield BLANK
    yield _end(found.problems)


def _end(problems: int) -> Line:
    from quickchecks._results.result import many
    from quickchecks.reports.terminal import line

    if not problems:
        return line(("all is well", "bold green"), " · exit 0")
    return line((f"{many(problems, 'thing')} {'is' if problems == 1 else 'are'} wrong", "bold red"), " · exit 1")


def _adapter(adapter: str | None, tested_from: str | None, tested: bool) -> str:
    if adapter is None:
        return "no adapter: ask its agents by a function, and return their messages"
    state = f"tested from {tested_from} on" + ("" if tested else ", this one is older")
    return f"format {adapter}, {state}"


def _section(title: str, rows: Iterable[tuple[str, str, str]]) -> Iterator[Line]:
    from quickchecks.reports.terminal import BLANK, line

    listed = list(rows)
    if not listed:
        return
    first = max(len(row[0]) for row in listed)
    second = max((len(row[1]) for row in listed if row[2]), default=0)
    yield BLANK
    yield line((title, "bold"))
    for name, value, rest in listed:
        hang = first + second + 6 if rest else first + 4
        yield line(f"{name:<{first}}  ", f"{value:<{second}}  " if rest else value, (rest, "dim"), indent=2, hang=hang)
