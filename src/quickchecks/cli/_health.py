"""What `quickchecks doctor` finds out: what is here, and what is wrong. No network is asked, no value of a variable shown."""

from __future__ import annotations

import locale
import os
import platform
import shutil
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from importlib.metadata import Distribution, distributions, entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from msgspec import Struct

import quickchecks
from quickchecks.cli._added import GROUPS, Added, added, unknown_groups
from quickchecks.cli._app import Problem
from quickchecks.cli._installed import Dependency, Extra, Framework, dependencies, extras, fits, frameworks
from quickchecks.cli._project import project_folder, pytest_settings, settings_file

__all__ = ("VARIABLES", "Finding", "Health", "PytestHealth", "examine")

#: The variables of ours that somebody reads: this package, and the tests and scripts of its repository.
VARIABLES = (
    "QUICKCHECKS_BROWSER",
    "QUICKCHECKS_CACHE",
    "QUICKCHECKS_GITHUB",
    "QUICKCHECKS_SHARED",
    "QUICKCHECKS_WRITE_GOLDEN",
)
_PREFIX = "QUICKCHECKS_"
#: Variables of others that change what the command or the plugin does.
_OTHERS = (
    "CI",
    "COLUMNS",
    "FORCE_COLOR",
    "GITHUB_ACTIONS",
    "GITHUB_STEP_SUMMARY",
    "NO_COLOR",
    "PYTEST_ADDOPTS",
    "PYTEST_DISABLE_PLUGIN_AUTOLOAD",
    "PYTEST_PLUGINS",
    "PYTHONIOENCODING",
    "PYTHONUTF8",
    "TERM",
)
_PLUGIN = "quickchecks"
#: The oldest pytest that the plugin runs in.
_OLDEST_PYTEST = "7.4"


class Finding(Struct, frozen=True):
    """Something that is wrong, or to be known.

    Args:
        level: `problem`, which makes the exit code 1, or `note`.
        what: What is so.
        remedy: What to do about it.
    """

    level: Literal["problem", "note"]
    what: str
    remedy: str = ""


class PytestHealth(Struct, frozen=True):
    """Pytest, and our plugin for it.

    Args:
        version: The version of pytest; None where it is not installed.
        plugin: Whether pytest loads the plugin here.
        settings: The file that pytest takes its settings from; None where there is none.
        plugins: The other plugins that are installed, by their distributions.
    """

    version: str | None
    plugin: bool
    settings: str | None
    plugins: tuple[str, ...]


class Health(Struct, frozen=True):
    """What is installed here, and what is wrong.

    Args:
        quickchecks: The version.
        location: The folder that it is imported from.
        python: The version of Python, and which Python it is.
        executable: The interpreter.
        platform: The system.
        dependencies: What quickchecks needs.
        extras: Its optional parts.
        pytest: Pytest and the plugin.
        frameworks: The frameworks and clients that are installed.
        entry_points: What other packages add.
        variables: The names of the variables that are set, and that something here looks at.
        encoding: The encoding of the locale; reports are UTF-8 whatever it is.
        terminal: Whether standard output is a terminal.
        temporary: The folder for temporary files; None where there is none that can be written to.
        findings: What is wrong, and what is to be known.
    """

    quickchecks: str
    location: str
    python: str
    executable: str
    platform: str
    dependencies: tuple[Dependency, ...]
    extras: tuple[Extra, ...]
    pytest: PytestHealth
    frameworks: tuple[Framework, ...]
    entry_points: tuple[Added, ...]
    variables: tuple[str, ...]
    encoding: str
    terminal: bool
    temporary: str | None
    findings: tuple[Finding, ...]

    @property
    def problems(self) -> int:
        """How many things are wrong."""
        return sum(finding.level == "problem" for finding in self.findings)


def examine(environment: Mapping[str, str] | None = None) -> Health:
    """Find out what is here.

    Args:
        environment: The variables of the process, by default.

    Raises:
        Problem: The package has no metadata, so that nothing is known of it.
    """
    variables = os.environ if environment is None else environment
    own = _own()
    needed, optional = dependencies(own), extras(own)
    points = added()
    encoding = locale.getencoding()
    temporary = _temporary()
    tests, about_tests = _pytest(variables)
    findings = (
        *_about_python(own),
        *_about_dependencies(needed),
        *_about_installation(own),
        *about_tests,
        *_about_entry_points(points),
        *_about_variables(variables),
        *_about_surroundings(encoding, temporary),
    )
    return Health(
        quickchecks=own.version,
        location=os.path.dirname(quickchecks.__file__),
        python=f"{platform.python_version()} ({platform.python_implementation()})",
        executable=sys.executable,
        platform=platform.platform(),
        dependencies=needed,
        extras=optional,
        pytest=tests,
        frameworks=frameworks(),
        entry_points=points,
        variables=tuple(sorted(name for name in variables if name.startswith(_PREFIX) or name in _OTHERS)),
        encoding=encoding,
        terminal=sys.stdout.isatty(),
        temporary=temporary,
        findings=findings,
    )


def _own() -> Distribution:
    found = next(iter(distributions(name="quickchecks")), None)
    if found is None:
        raise Problem("quickchecks runs here without being installed: python -m pip install quickchecks")
    return found


def _about_python(own: Distribution) -> Iterator[Finding]:
    needs = (own.metadata.get_all("Requires-Python") or [""])[0]
    if not fits(platform.python_version(), needs):
        yield Finding(
            "problem", f"Python {platform.python_version()} is none that quickchecks runs on: it needs {needs}", "use another"
        )


def _about_dependencies(needed: tuple[Dependency, ...]) -> Iterator[Finding]:
    for one in needed:
        if not one.fits:
            here = f"{one.name} {one.version} is" if one.version else f"{one.name} is not"
            what = f"{here} installed, and quickchecks needs {one.name}{one.needs}"
            yield Finding("problem", what, f'python -m pip install "{one.name}{one.needs}"')


def _about_installation(own: Distribution) -> Iterator[Finding]:
    copies = sorted({str(one.locate_file("")) for one in distributions(name="quickchecks")})
    if len(copies) > 1:
        remedy = "python -m pip uninstall quickchecks, until none is left, and install it once"
        yield Finding("note", f"quickchecks {own.version} is installed more than once, in {' and in '.join(copies)}", remedy)
    command = shutil.which("quickchecks")
    if command is not None and not _is_of_this_python(command):
        what = f"the command quickchecks on PATH is {command}, and this is the one of {sys.executable}"
        yield Finding("note", what, "activate the environment that you mean, or write python -m quickchecks")


def _is_of_this_python(command: str) -> bool:
    """Whether a command was installed for this interpreter: it lies beside it, or names it in its first line."""
    if os.path.dirname(os.path.realpath(command)) == os.path.realpath(os.path.dirname(sys.executable)):
        return True
    try:
        with open(command, "rb") as file:
            return os.fsencode(sys.executable) in file.readline(1024).removeprefix(b"#!").split()
    except OSError:
        return False


def _pytest(variables: Mapping[str, str]) -> tuple[PytestHealth, tuple[Finding, ...]]:
    found = next(iter(distributions(name="pytest")), None)
    folder = project_folder(Path.cwd())
    file = settings_file(folder)
    points = entry_points(group="pytest11")
    others = {f"{point.dist.name} {point.dist.version}" for point in points if point.dist is not None and point.name != _PLUGIN}
    findings = list(_about_pyproject(folder))
    if found is None or find_spec("pytest") is None:
        findings.append(
            Finding("note", "pytest is not installed, so that tests cannot use the plugin", "python -m pip install pytest")
        )
        return PytestHealth(None, False, str(file) if file else None, tuple(sorted(others))), tuple(findings)
    off = list(_switched_off(folder, file, variables))
    if not fits(found.version, f">={_OLDEST_PYTEST}"):
        what = f"pytest {found.version} does not start with the plugin, which needs pytest {_OLDEST_PYTEST} or later"
        off.append(Finding("problem", what, f'python -m pip install "pytest>={_OLDEST_PYTEST}", or run pytest -p no:{_PLUGIN}'))
    if not any(point.name == _PLUGIN for point in points):
        remedy = "python -m pip install --force-reinstall --no-deps quickchecks"
        off.append(
            Finding("problem", "the installation does not declare its plugin for pytest: it is of an older version", remedy)
        )
    return PytestHealth(found.version, not off, str(file) if file else None, tuple(sorted(others))), (*findings, *off)


def _switched_off(folder: Path, file: Path | None, variables: Mapping[str, str]) -> Iterator[Finding]:
    """What keeps pytest from loading the plugin."""
    import shlex

    try:
        added = shlex.split(variables.get("PYTEST_ADDOPTS", ""))
    except ValueError:
        added = variables.get("PYTEST_ADDOPTS", "").split()
    places = (("the variable PYTEST_ADDOPTS", added), (f"addopts in {file}", list(pytest_settings(folder).get("addopts", ()))))
    named = {name for _, words in places for name in _plugins(words)} | set(variables.get("PYTEST_PLUGINS", "").split(","))
    loaded = bool({_PLUGIN, "quickchecks.pytest_plugin"} & named)
    for place, words in places:
        if f"no:{_PLUGIN}" in _plugins(words):
            yield Finding("problem", f"{place} switches the plugin for pytest off", f"take -p no:{_PLUGIN} away")
        if "--disable-plugin-autoload" in words and not loaded:
            yield Finding("problem", f"{place} keeps pytest from loading plugins by itself", f"add -p {_PLUGIN} there")
    if variables.get("PYTEST_DISABLE_PLUGIN_AUTOLOAD") and not loaded:
        what = "the variable PYTEST_DISABLE_PLUGIN_AUTOLOAD keeps pytest from loading plugins by itself"
        yield Finding("problem", what, f"unset it, or run pytest -p {_PLUGIN}")


def _plugins(words: list[str]) -> Iterator[str]:
    """The plugins that `-p` names."""
    for position, word in enumerate(words):
        if word == "-p" and position + 1 < len(words):
            yield words[position + 1]
        elif word.startswith("-p") and len(word) > 2:
            yield word[2:]


def _about_pyproject(folder: Path) -> Iterator[Finding]:
    file = folder / "pyproject.toml"
    if not file.is_file():
        return
    try:
        tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        yield Finding("problem", f"{file} cannot be read, so that pytest does not start: {error}", "mend it there")


def _about_entry_points(points: tuple[Added, ...]) -> Iterator[Finding]:
    for point in points:
        if point.error is not None:
            whose = f" of {point.distribution}" if point.distribution else ""
            what = f"{point.group}: {point.name} = {point.value}{whose} is not used: {point.error}"
            remedy = f"install another version of {point.distribution.split()[0]}, or uninstall it" if whose else ""
            yield Finding("problem", what, remedy)
    for group in unknown_groups():
        what = f"a package declares entry points of the group {group}, which nothing looks at"
        yield Finding("problem", what, _near(group, GROUPS) or f"there are {', '.join(GROUPS)}")


def _about_variables(variables: Mapping[str, str]) -> Iterator[Finding]:
    for name in sorted(variables):
        if name.startswith(_PREFIX) and name not in VARIABLES:
            near = _near(name, VARIABLES)
            yield Finding("problem", f"the variable {name} is set, and nothing looks at it", near or "unset it")


def _near(name: str, known: Iterable[str]) -> str:
    """Which of the known names was meant; they differ in their ends alone."""
    ends = {one[len(_PREFIX) :]: one for one in known}
    near = get_close_matches(name[len(_PREFIX) :], ends, n=1, cutoff=0.7)
    return f"did you mean {ends[near[0]]}?" if near else ""


def _about_surroundings(encoding: str, temporary: str | None) -> Iterator[Finding]:
    if encoding.lower().replace("-", "") != "utf8":
        what = f"the encoding of the locale is {encoding}, and reports are UTF-8: a terminal may show other characters"
        yield Finding("note", what, "set LANG to a locale with UTF-8, or PYTHONUTF8=1")
    if temporary is None:
        yield Finding("problem", "there is no folder for temporary files that can be written to", "let TMPDIR name one")


def _temporary() -> str | None:
    try:
        with tempfile.TemporaryFile():
            return tempfile.gettempdir()
    except OSError:
        return None
