"""`quickchecks doctor`: what is installed, what is wrong with it, and what is done about that."""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from collections.abc import Callable, Mapping
from importlib.metadata import PathDistribution, version
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from jsonschema import Draft202012Validator
from make_schemas import FOLDER

from quickchecks import adapters
from quickchecks.cli import _health, _installed
from quickchecks.cli._installed import ADAPTERS, fits

if TYPE_CHECKING:
    from tests.cli.conftest import Command, Ended

#: Variables that may be set where the tests run, and that the doctor has something to say about.
UNSET = ("PYTEST_ADDOPTS", "PYTEST_DISABLE_PLUGIN_AUTOLOAD", "PYTEST_PLUGINS", "COLUMNS")


@pytest.fixture
def doctor(process: Command, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Ended]:
    """Runs `quickchecks doctor` as a process, with no variables but those that are given."""
    for name in list(os.environ):
        if name.startswith("QUICKCHECKS_") or name in UNSET:
            monkeypatch.delenv(name)
    monkeypatch.setenv("PATH", os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))

    def run(*arguments: str, **variables: str) -> Ended:
        return process("doctor", *arguments, env={"LC_ALL": "C.UTF-8", **variables})

    return run


def findings(ended: Ended) -> list[str]:
    """What is said to be wrong, or to be known, each with what to do."""
    found = json.loads(ended.out)["findings"]
    return [f"{one['level']}: {one['what']} | {one['remedy']}" for one in found]


def package(folder: Path, name: str, release: str, *, points: str = "", metadata: str = "") -> Path:
    """Make what says that a package is installed."""
    info = folder / f"{name.replace('-', '_')}-{release}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {release}\n{metadata}")
    (info / "entry_points.txt").write_text(points)
    return info


def test_all_is_well_here(doctor: Callable[..., Ended]) -> None:
    ended = doctor()
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith(f"quickchecks {version('quickchecks')}  ")
    assert re.search(rf"^  msgspec +{re.escape(version('msgspec'))} +>=0", ended.out, re.MULTILINE)
    assert f"pytest  {version('pytest')}, the plugin is active" in ended.out
    assert ended.out.splitlines()[-1] == "all is well · exit 0"


def test_json_says_the_same(doctor: Callable[..., Ended]) -> None:
    ended = doctor("--json")
    assert (ended.code, ended.err) == (0, "")
    found = json.loads(ended.out)
    Draft202012Validator(json.loads((FOLDER / "doctor-1.json").read_text(encoding="utf-8"))).validate(found)
    assert found["quickchecks"] == version("quickchecks")
    assert found["pytest"]["plugin"] is True
    assert {one["name"].lower() for one in found["dependencies"]} == {"click", "msgspec", "pyyaml", "regex", "rich"}
    assert all(one["fits"] for one in found["dependencies"])
    assert next(one for one in found["extras"] if one["name"] == "test") == {
        "name": "test",
        "missing": [],
        "install": 'pip install "quickchecks[test]"',
    }
    assert found["findings"] == []


def test_no_framework_is_imported_to_find_it(doctor: Callable[..., Ended], tmp_path: Path) -> None:
    package(tmp_path, "openai-agents", "0.24.1")
    package(tmp_path, "google-adk", "1.0")
    package(tmp_path, "semantic-kernel", "1.2")
    (tmp_path / "agents.py").write_text("raise SystemExit('imported')")
    ended = doctor()
    assert ended.code == 0
    assert "openai-agents" in ended.out
    assert re.search(r"openai-agents +0\.24\.1 +format openai_agents, tested from 0\.24\.0 on\n", ended.out)
    assert re.search(r"google-adk +1\.0 +format google_adk, tested from 2\.13 on, this one is older\n", ended.out)
    assert re.search(r"semantic-kernel +1\.2 +no adapter: ask its agents by a function", ended.out)


POINTS = {
    "good": ("quickchecks.checks", "good:check", "def check(): ...", None),
    "missing": ("quickchecks.checks", "nowhere:check", "", "it cannot be loaded: ModuleNotFoundError: No module named 'nowhere'"),
    "raises": ("quickchecks.checks", "raises:check", "raise RuntimeError('no key')", "it cannot be loaded: RuntimeError: no key"),
    "leaves": ("quickchecks.reports", "leaves:form", "raise SystemExit(0)", "it cannot be loaded: SystemExit: 0"),
    "number": ("quickchecks.checks", "number:check", "check = 3", "it is int, which cannot be called"),
    "half": ("quickchecks.adapters", "half", "def load(value): ...", "it has no function recognises"),
    "includes": ("quickchecks.checks", "other:check", "def check(): ...", "quickchecks has one of the name includes itself"),
    "csv": ("quickchecks.reports", "form:start", "def start(stream, entries): ...", "quickchecks has one of the name csv itself"),
    "secret": (
        "quickchecks.checks",
        "secret:check",
        "raise RuntimeError('sk-proj-abcdefghijklmnop1234567890')",
        "RuntimeError: ",
    ),
    "ansi": ("quickchecks.checks", "ansi:check", "raise RuntimeError('\\x1b[31mred')", "RuntimeError: \\u001b[31mred"),
}


@pytest.mark.parametrize("name", POINTS)
def test_what_others_add_is_loaded_and_the_broken_named(name: str, doctor: Callable[..., Ended], tmp_path: Path) -> None:
    group, value, code, wrong = POINTS[name]
    package(tmp_path, "other", "3.1", points=f"[{group}]\n{name} = {value}\n")
    if code:
        (tmp_path / f"{value.split(':')[0]}.py").write_text(f"print('loud')\n{code}\n")
    ended = doctor("--json")
    assert ended.code == (0 if wrong is None else 1)
    assert f'"{name}"' in ended.out
    if wrong is None:
        assert findings(ended) == []
    else:
        [finding] = findings(ended)
        assert f"problem: {group}: {name} = {value} of other 3.1 is not used: " in finding
        assert wrong in finding
        assert "install another version of other, or uninstall it" in finding
    assert "abcdefghijklmnop" not in ended.out + ended.err


def test_one_broken_package_does_not_hide_another(doctor: Callable[..., Ended], tmp_path: Path) -> None:
    package(tmp_path, "one", "1", points="[quickchecks.checks]\na = nowhere\nb = nowhere\n")
    package(tmp_path, "two", "2", points="[quickchecks.check]\nc = nowhere\n")
    ended = doctor()
    assert ended.code == 1
    assert ended.out.count("is not used") == 2
    assert "a package declares entry points of the group quickchecks.check, which nothing looks at" in ended.out
    assert "did you mean quickchecks.checks?" in ended.out
    assert ended.out.splitlines()[-1] == "3 things are wrong · exit 1"


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"QUICKCHECKS_GITHUB": "true"}, []),
        (
            {"QUICKCHECKS_GITHB": "s3cret"},
            ["the variable QUICKCHECKS_GITHB is set, and nothing looks at it | did you mean QUICKCHECKS_GITHUB?"],
        ),
        ({"QUICKCHECKS_STUDIO": "1"}, ["the variable QUICKCHECKS_STUDIO is set, and nothing looks at it | unset it"]),
        ({"PYTEST_ADDOPTS": "-x"}, []),
        (
            {"PYTEST_ADDOPTS": "-p no:quickchecks"},
            ["the variable PYTEST_ADDOPTS switches the plugin for pytest off | take -p no:quickchecks away"],
        ),
        (
            {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
            [
                "the variable PYTEST_DISABLE_PLUGIN_AUTOLOAD keeps pytest from loading plugins by itself | "
                "unset it, or run pytest -p quickchecks"
            ],
        ),
        ({"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": "-p quickchecks"}, []),
    ],
)
def test_variables(variables: Mapping[str, str], expected: list[str], doctor: Callable[..., Ended]) -> None:
    ended = doctor("--json", **variables)
    assert findings(ended) == [f"problem: {one}" for one in expected]
    assert ended.code == (1 if expected else 0)
    assert set(variables) <= set(json.loads(ended.out)["variables"])
    assert "s3cret" not in ended.out


@pytest.mark.parametrize(
    ("name", "text", "wrong"),
    [
        ("pyproject.toml", "[tool.pytest.ini_options]\naddopts = '-ra -p no:quickchecks'", "switches the plugin for pytest off"),
        ("pyproject.toml", "[tool.pytest]\naddopts = ['-pno:quickchecks']", "switches the plugin for pytest off"),
        ("pytest.ini", "[pytest]\naddopts =\n  -q\n  -p no:quickchecks\n", "switches the plugin for pytest off"),
        ("setup.cfg", "[tool:pytest]\naddopts = --disable-plugin-autoload", "keeps pytest from loading plugins by itself"),
        ("setup.cfg", "[tool:pytest]\naddopts = --disable-plugin-autoload -p quickchecks", None),
        ("tox.ini", "[pytest]\naddopts = -p no:cacheprovider", None),
        ("pyproject.toml", "[tool.pytest.ini_options\naddopts = 3", "cannot be read, so that pytest does not start"),
    ],
)
def test_the_settings_of_pytest(name: str, text: str, wrong: str | None, doctor: Callable[..., Ended], tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    ended = doctor("--json")
    found = findings(ended)
    if wrong is None:
        assert (found, ended.code) == ([], 0)
        assert json.loads(ended.out)["pytest"]["settings"] == str(tmp_path / name)
    else:
        assert ended.code == 1
        assert len(found) == 1
        assert wrong in found[0]
        assert str(tmp_path / name) in found[0]


def test_a_pytest_that_is_too_old(doctor: Callable[..., Ended], tmp_path: Path) -> None:
    package(tmp_path, "pytest", "6.2.5")  # the folder of the process comes first
    ended = doctor("--json")
    assert ended.code == 1
    assert any("pytest 6.2.5 does not start with the plugin, which needs pytest 7.4 or later" in one for one in findings(ended))


def test_settings_above_the_folder_are_those_of_pytest_too(
    quickchecks: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = -p no:quickchecks\n")
    inside = tmp_path / "deep" / "inside"
    inside.mkdir(parents=True)
    monkeypatch.chdir(inside)
    ended = quickchecks("doctor")
    assert ended.code == 1
    assert f"addopts in {tmp_path / 'pytest.ini'} switches the plugin for pytest off" in ended.out


def test_a_temporary_folder_that_is_not_there(quickchecks: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> object:
        raise FileNotFoundError(2, "No usable temporary directory found")

    monkeypatch.setattr(tempfile, "TemporaryFile", none)
    ended = quickchecks("doctor")
    assert ended.code == 1
    assert "✗ there is no folder for temporary files that can be written to" in ended.out


def test_another_encoding_is_to_be_known_and_no_fault(doctor: Callable[..., Ended]) -> None:
    ended = doctor("--json", LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    [finding] = findings(ended)
    assert finding.startswith("note: the encoding of the locale is ")
    assert ended.code == 0


@pytest.mark.skipif(os.name == "nt", reason="needs programs with a first line")
def test_a_command_of_another_python_is_to_be_known(doctor: Callable[..., Ended], tmp_path: Path) -> None:
    command = tmp_path / "bin" / "quickchecks"
    command.parent.mkdir()
    command.write_text("#!/usr/bin/other-python\n")
    command.chmod(0o755)
    ended = doctor("--json", PATH=str(command.parent))
    assert findings(ended) == [
        f"note: the command quickchecks on PATH is {command}, and this is the one of {sys.executable} | "
        "activate the environment that you mean, or write python -m quickchecks"
    ]
    assert ended.code == 0
    command.write_text(f"#!{sys.executable}\n")
    assert findings(doctor("--json", PATH=str(command.parent))) == []
    command.unlink()
    command.symlink_to(Path(sys.executable).parent / "quickchecks")
    assert findings(doctor("--json", PATH=str(command.parent))) == []


def test_what_is_needed_and_missing_or_too_old(tmp_path: Path) -> None:
    needs = (
        "Provides-Extra: judge\nProvides-Extra: all\n"
        "Requires-Dist: click>=99\nRequires-Dist: nosuch (>=1.0)\nRequires-Dist: rich\n"
        'Requires-Dist: nowhere>=2; extra == "judge"\n'
        'Requires-Dist: mine[judge]; extra == "all"\nRequires-Dist: rich; extra=="all"\n'
    )
    own = PathDistribution(package(tmp_path, "mine", "1", metadata=needs))
    found = _installed.dependencies(own)
    assert [(one.name, one.needs, one.fits) for one in found] == [
        ("click", ">=99", False),
        ("nosuch", ">=1.0", False),
        ("rich", "", True),
    ]
    assert found[1].version is None
    said = [(one.what, one.remedy) for one in _health._about_dependencies(found)]
    assert said == [
        (f"click {version('click')} is installed, and quickchecks needs click>=99", 'python -m pip install "click>=99"'),
        ("nosuch is not installed, and quickchecks needs nosuch>=1.0", 'python -m pip install "nosuch>=1.0"'),
    ]
    assert [(one.name, one.missing, one.install) for one in _installed.extras(own)] == [
        ("judge", ("nowhere",), 'pip install "mine[judge]"'),
        ("all", ("nowhere",), 'pip install "mine[all]"'),
    ]


@pytest.mark.parametrize(
    ("installed", "needs", "expected"),
    [
        ("8.1.8", ">=8.1.8", True),
        ("8.1.10", ">=8.1.8", True),
        ("8.1", ">=8.1.0", True),
        ("8.1.7", ">=8.1.8", False),
        ("3.14.2", ">=3.11,<3.15", True),
        ("3.15.0", ">=3.11,<3.15", False),
        ("1!2.0", ">=2.0", True),
        ("2.0rc1", ">=2.0", True),
        ("2024.11.6", ">=2024.11.6", True),
        ("unknown", ">=1", False),
        ("1.0", "", True),
    ],
)
def test_versions(installed: str, needs: str, expected: bool) -> None:
    assert fits(installed, needs) is expected


def test_the_frameworks_are_those_that_the_tests_install(root: Path) -> None:
    """The table has each adapter with agents, and each distribution of the tests of frameworks with its lowest version."""
    folder = root / "tests" / "frameworks" / "requirements"
    lowest: dict[str, str] = {}
    for file in sorted(folder.glob("*.txt")):
        for line in file.read_text(encoding="utf-8").split():
            found = re.match(r"([\w-]+)>=([\d.]+)", line)
            assert found is not None
            name, bound = found.groups()
            lowest[name] = bound if name not in lowest or fits(lowest[name], f">={bound}") else lowest[name]
    helpers = {"langchain-classic", "langgraph-supervisor", "deepagents"}
    assert {name: tested for name, (_, tested) in ADAPTERS.items()} == {
        name: bound for name, bound in lowest.items() if name not in helpers
    }
    with_agents = {format.name for format in adapters.formats().values() if format.agents}
    assert with_agents <= {adapter for adapter, _ in ADAPTERS.values()} <= set(adapters.formats())


def test_the_variables_are_those_that_something_reads(root: Path) -> None:
    read: set[str] = set()
    for file in (*root.glob("src/**/*.py"), *root.glob("scripts/*.py"), *root.glob("tests/**/*.py")):
        if file.name not in ("_health.py", Path(__file__).name):
            read |= set(re.findall(r"""["'](QUICKCHECKS_[A-Z_]+)["']""", file.read_text(encoding="utf-8")))
    assert read == set(_health.VARIABLES)
