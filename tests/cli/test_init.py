"""`quickchecks init`: what it writes runs as it is, and nothing is overwritten."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml

from quickchecks.cli._app import Problem
from quickchecks.cli._files import NewFile

if TYPE_CHECKING:
    from tests.cli.conftest import Command

FILES = [
    ".github/workflows/quickchecks.yml",
    "evals/cases.jsonl",
    "evals/checks.yaml",
    "evals/eval.yaml",
    "evals/example_agent.py",
    "tests/test_agent.py",
]


def files(folder: str | Path = ".") -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in Path(folder).rglob("*") if path.is_file())


def workflow(file: str = FILES[0]) -> Mapping[str, object]:
    """The job of the workflow."""
    found = yaml.safe_load(Path(file).read_text(encoding="utf-8"))["jobs"]["evals"]
    assert isinstance(found, dict)
    return found


def commands(job: Mapping[str, object]) -> dict[str, str]:
    steps = job["steps"]
    assert isinstance(steps, list)
    return {step["name"]: step["run"] for step in steps if "run" in step}


def ended(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder, with the programs of this environment."""
    environment = {**os.environ, "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])}
    environment.pop("PYTEST_ADDOPTS", None)
    command = command.replace("pytest ", "pytest -p no:cacheprovider ")
    result = subprocess.run(shlex.split(command), cwd=folder, env=environment, capture_output=True, text=True, timeout=60)
    assert result.returncode == 0, f"{command}\n{result.stdout}\n{result.stderr}"
    return result


def test_all_that_is_written_runs_at_once(quickchecks: Command, tmp_path: Path) -> None:
    written = quickchecks("init")
    assert (written.code, written.err) == (0, "")
    assert files() == FILES
    assert [line for line in written.out.splitlines() if line.startswith("wrote  ")] != []
    assert quickchecks("run", "evals/eval.yaml").out.splitlines()[-1] == "passed · exit 0"
    assert quickchecks("inspect", "evals/cases.jsonl").code == 2  # questions are no runs
    steps = commands(workflow())
    assert steps["Install"] == "pip install quickchecks pytest"
    ended(steps["Evaluate"], tmp_path)
    assert "1 passed" in ended(steps["Test"], tmp_path).stdout


def test_the_two_next_commands_are_told_and_run(quickchecks: Command, tmp_path: Path) -> None:
    told = quickchecks("init", "agents/support").out.partition("Next\n")[2].splitlines()
    ran = [line.split("  ")[1] for line in told if line.startswith("  ")]
    assert [command.split()[0] for command in ran] == ["quickchecks", "pytest"]
    for command in ran:
        ended(command, tmp_path)


@pytest.mark.parametrize("mode", ["prepend", "append", "importlib"])
def test_the_test_runs_however_pytest_imports(mode: str, quickchecks: Command, tmp_path: Path) -> None:
    Path("pytest.ini").write_text(f"[pytest]\naddopts = --import-mode={mode} --strict-markers\nfilterwarnings = error\n")
    quickchecks("init")
    assert "1 passed" in ended("pytest -p no:asyncio", tmp_path).stdout


def test_the_made_up_agent_is_marked_wherever_it_is_named(quickchecks: Command) -> None:
    quickchecks("init")
    naming = [file for file in FILES if "example_agent" in Path(file).read_text(encoding="utf-8")]
    assert naming == ["evals/eval.yaml", "tests/test_agent.py"]
    for file in (*naming, "evals/example_agent.py"):
        assert "REPLACE" in Path(file).read_text(encoding="utf-8")


def test_the_checks_score_recordings_too(quickchecks: Command) -> None:
    quickchecks("init")
    quickchecks("run", "evals/eval.yaml", "--record", "runs.jsonl")
    assert quickchecks("score", "runs.jsonl", "--checks", "evals/checks.yaml").code == 0


def test_a_broken_agent_is_found(quickchecks: Command) -> None:
    quickchecks("init")
    agent = Path("evals/example_agent.py")
    agent.write_text(agent.read_text(encoding="utf-8").replace("sunny and", "rainy and"), encoding="utf-8")
    assert quickchecks("run", "evals/eval.yaml").code == 1


def test_nothing_is_overwritten(quickchecks: Command) -> None:
    Path("tests").mkdir()
    Path("tests/test_agent.py").write_text("mine")
    done = quickchecks("init")
    assert done.code == 1
    assert "kept   tests/test_agent.py" in done.out
    assert Path("tests/test_agent.py").read_text() == "mine"
    assert files() == FILES


def test_a_second_time_all_is_there(quickchecks: Command) -> None:
    quickchecks("init")
    again = quickchecks("init")
    assert again.code == 0
    assert again.out.count("has    ") == len(FILES)


def test_a_link_that_leads_nowhere_stays(quickchecks: Command) -> None:
    Path("evals").mkdir()
    Path("evals/eval.yaml").symlink_to("nowhere")
    assert quickchecks("init").code == 1
    assert Path("evals/eval.yaml").is_symlink()
    assert not Path("evals/nowhere").exists()


def test_a_dry_run_writes_nothing(quickchecks: Command) -> None:
    shown = quickchecks("init", "new", "--dry-run")
    assert (shown.code, shown.out.count("would write  new/")) == (0, len(FILES))
    assert list(Path().iterdir()) == []


@pytest.mark.parametrize(
    ("settings", "folders", "expected"),
    [
        ({}, [], "tests"),
        ({}, ["test"], "test"),
        ({}, ["tests", "test"], "tests"),
        ({"pyproject.toml": '[tool.pytest.ini_options]\ntestpaths = ["checks/unit"]'}, ["checks/unit", "tests"], "checks/unit"),
        ({"pyproject.toml": '[tool.pytest]\ntestpaths = ["unit"]'}, ["unit"], "unit"),
        ({"pytest.ini": "[pytest]\ntestpaths = missing\n  unit\n"}, ["unit"], "unit"),
        ({"setup.cfg": "[tool:pytest]\ntestpaths = src/*/tests unit"}, ["unit", "src"], "unit"),
        ({"tox.ini": "[tox]\n", "pyproject.toml": "broken ["}, ["tests"], "tests"),
        ({"pytest.ini": "[pytest]\ntestpaths = ../outside"}, ["../outside", "tests"], "tests"),
    ],
)
def test_the_test_goes_where_the_tests_are(
    settings: Mapping[str, str], folders: list[str], expected: str, quickchecks: Command, tmp_path: Path
) -> None:
    root = tmp_path / "project"
    for folder in folders:
        (root / folder).mkdir(parents=True)
    root.mkdir(exist_ok=True)
    for name, text in settings.items():
        (root / name).write_text(text)
    assert quickchecks("init", root).code == 0
    assert (root / expected / "test_agent.py").is_file()
    assert commands(workflow(str(root / FILES[0])))["Test"] == f"pytest {expected}/test_agent.py"
    if "broken" not in settings.get("pyproject.toml", ""):
        ended(f"pytest {expected}/test_agent.py", root)


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"pyproject.toml": '[project]\nname = "mine"'}, "pip install -e . quickchecks pytest"),
        ({"pyproject.toml": "[tool.ruff]", "requirements.txt": "openai"}, "pip install -r requirements.txt quickchecks pytest"),
        ({"setup.py": ""}, "pip install -e . quickchecks pytest"),
    ],
)
def test_the_ci_step_installs_the_project(files: Mapping[str, str], expected: str, quickchecks: Command) -> None:
    for name, text in files.items():
        Path(name).write_text(text)
    quickchecks("init")
    assert commands(workflow())["Install"] == expected


def test_in_a_part_of_a_repository_the_ci_step_goes_to_its_root(quickchecks: Command, tmp_path: Path) -> None:
    Path(".git").mkdir()
    done = quickchecks("init", "agents/support")
    assert (done.code, done.err) == (0, "")
    assert files("agents/support") == FILES[1:]
    job = workflow()
    assert job["defaults"] == {"run": {"working-directory": "agents/support"}}
    for step in ("Evaluate", "Test"):
        ended(commands(job)[step], tmp_path / "agents" / "support")
    assert "path: agents/support/result.json" in Path(FILES[0]).read_text(encoding="utf-8")
    assert quickchecks("init", "agents/other").code == 1  # one workflow is for one folder: the other stays


def test_a_file_is_no_folder(quickchecks: Command) -> None:
    Path("file").write_text("")
    refused = quickchecks("init", "file")
    assert (refused.code, refused.out) == (2, "")
    assert refused.err == "Error: file is a file, not a folder: name the folder of your project\n"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_is_read_only_is_named(quickchecks: Command) -> None:
    Path("closed").mkdir(mode=0o500)
    refused = quickchecks("init", "closed")
    assert (refused.code, refused.err) == (2, "Error: closed/evals/checks.yaml cannot be written: Permission denied\n")


def test_where_one_file_cannot_be_written_none_is(quickchecks: Command) -> None:
    Path(".github").write_text("a file where a folder is needed")
    refused = quickchecks("init")
    assert refused.code == 2
    assert refused.err.startswith("Error: .github/workflows/quickchecks.yml cannot be written: ")
    assert files() == [".github"]
    assert not Path("evals").exists()


def test_a_failure_at_the_end_takes_all_away(quickchecks: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    keep = NewFile.keep

    def full(file: NewFile) -> None:
        if file.path.endswith(".yml"):
            raise Problem(f"{file.path} cannot be written: No space left on device")
        keep(file)

    monkeypatch.setattr(NewFile, "keep", full)
    assert quickchecks("init").code == 2
    assert files() == []
