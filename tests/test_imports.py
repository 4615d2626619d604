"""What importing costs, and what may be imported where."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

import quickchecks

PACKAGE = Path(quickchecks.__file__).parent

#: Modules of the standard library that open connections or start processes.
REACHES_OUT = {
    "asyncore", "ftplib", "http", "imaplib", "poplib", "smtplib", "socket", "socketserver", "ssl", "subprocess",
    "telnetlib", "urllib", "webbrowser", "xmlrpc",
}  # fmt: skip

#: Where each dependency beside msgspec may be imported.
ALLOWED_IN = {
    "click": ("cli",),
    "pytest": ("pytest_plugin",),  # which pytest alone loads
    "regex": ("checks",),
    "rich": ("cli", "reports"),
    "yaml": ("_scorer", "cli"),
}


def loaded_after(code: str) -> set[str]:
    """The top-level packages that a fresh interpreter has loaded after running the code."""
    command = [sys.executable, "-c", f"{code}\nimport sys\nprint(*sys.modules)"]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    return set(result.stdout.split())


def imports() -> Iterator[tuple[str, str]]:
    """Every absolute import in the package, those inside functions too, as (file, dotted name)."""
    for file in sorted(PACKAGE.rglob("*.py")):
        where = file.relative_to(PACKAGE).as_posix()
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                yield from ((where, alias.name) for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                yield from ((where, f"{node.module}.{alias.name}") for alias in node.names)


@pytest.mark.parametrize("unwanted", ["asyncio", "click", "importlib.metadata", "regex", "rich", "sqlalchemy", "sqlite3", "yaml"])
def test_building_checks_loads_nothing_heavy(unwanted: str, after_two_checks: set[str]) -> None:
    assert unwanted not in after_two_checks


@pytest.fixture(scope="module")
def after_two_checks() -> set[str]:
    return loaded_after(
        "import quickchecks\nquickchecks.checks.includes('sunny')\nquickchecks.checks.called_tool('get_weather', times=2)"
    )


def test_importing_the_package_alone_loads_none_of_its_modules() -> None:
    assert {name for name in loaded_after("import quickchecks") if name.startswith("quickchecks")} == {"quickchecks"}


def test_only_declared_dependencies_are_imported(root: Path) -> None:
    """Every import is the standard library's, this package's or a base dependency's: no vendor's package by accident."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = {line.split(">=")[0].lower() for line in project["dependencies"]}
    known = {package for package, names in packages_distributions().items() if declared & {name.lower() for name in names}}
    known |= set(sys.stdlib_module_names) | {"quickchecks", "pytest"}
    assert [(where, name) for where, name in imports() if name.split(".")[0] not in known] == []


#: What asks the address, or starts the program, that the user names as the target, and what knows how addresses are written.
TARGETS_ELSEWHERE = ("_targets/endpoints.py", "_targets/processes.py", "_targets/masking.py")


def test_nothing_reaches_out() -> None:
    """No network, no other process, unless the user names one as the target."""
    found = [(where, name) for where, name in imports() if name.split(".")[0] in REACHES_OUT]
    assert [one for one in found if one[0] not in TARGETS_ELSEWHERE] == []


@pytest.mark.parametrize("dependency", ALLOWED_IN)
def test_a_dependency_is_imported_only_where_it_belongs(dependency: str) -> None:
    users = {where for where, name in imports() if name.split(".")[0] == dependency}
    assert [where for where in sorted(users) if not where.startswith(ALLOWED_IN[dependency])] == []


@pytest.mark.parametrize("folder", ["adapters", "checks", "reports"])
def test_siblings_do_not_import_each_other(folder: str) -> None:
    """A format, a family of checks or a report knows no other; what they share stands in private modules beside them."""
    siblings = {path.stem for path in (PACKAGE / folder).glob("[!_]*.py")}
    inside = [(where, name.split(".")) for where, name in imports() if where in {f"{folder}/{one}.py" for one in siblings}]
    assert [(where, name) for where, name in inside if name[:2] == ["quickchecks", folder] and name[2] in siblings] == []
