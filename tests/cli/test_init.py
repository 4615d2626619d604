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


def test_a_test_that_is_not_ours_is_not_called_the_test_of_the_agent(quickchecks: Command) -> None:
    Path("tests").mkdir()
    Path("tests/test_agent.py").write_text("def test_mine():\n    pass\n")
    done = quickchecks("init")
    assert "there is another file of this name, which stays as it is; no test was written" in done.out
    assert "pytest" not in done.out.partition("Next\n")[2]
    assert "Test" not in commands(workflow())
    again = quickchecks("init")
    assert (again.code, again.out.count("has    ")) == (1, len(FILES) - 1)


def test_a_test_of_ours_that_was_changed_is_still_the_test(quickchecks: Command) -> None:
    quickchecks("init")
    test = Path("tests/test_agent.py")
    test.write_text(test.read_text(encoding="utf-8").replace("REPLACE", "replaced"), encoding="utf-8")
    Path(FILES[0]).unlink()
    done = quickchecks("init")
    assert done.code == 1
    assert "pytest tests/test_agent.py" in done.out.partition("Next\n")[2]
    assert commands(workflow())["Test"] == "pytest tests/test_agent.py"


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


@pytest.mark.parametrize("more", [[], ["--dry-run"]])
@pytest.mark.parametrize("link", ["evals", "tests", ".github", ".github/workflows"])
@pytest.mark.parametrize(("to", "where"), [("outside", "out of "), ("missing", "nowhere")])
def test_nothing_is_written_through_a_link_that_leads_out_or_nowhere(
    to: str, where: str, link: str, more: list[str], quickchecks: Command, tmp_path: Path
) -> None:
    (tmp_path / "outside").mkdir()
    place = tmp_path / "project" / link
    place.parent.mkdir(parents=True)
    place.symlink_to(tmp_path / to)
    refused = quickchecks("init", "project", *more)
    assert (refused.code, refused.out) == (2, "")
    assert refused.err.startswith(f"Error: project/{link} is a link that leads {where}")
    assert files() == []
    assert not (tmp_path / "missing").exists()


def test_a_link_within_the_folder_is_followed(quickchecks: Command) -> None:
    Path("checks").mkdir()
    Path("evals").symlink_to("checks")
    assert quickchecks("init").code == 0
    assert Path("checks/eval.yaml").is_file()


def test_a_folder_whose_name_begins_with_a_dash(quickchecks: Command, tmp_path: Path) -> None:
    told = quickchecks("init", "--", "-dash").out.partition("Next\n")[2].splitlines()
    ran = [line.split("  ")[1] for line in told if line.startswith("  ")]
    assert ran == ["quickchecks run ./-dash/evals/eval.yaml", "pytest ./-dash/tests/test_agent.py"]
    for command in ran:
        ended(command, tmp_path)


@pytest.mark.parametrize(
    ("repository", "expected"),
    [
        ({}, "main"),
        ({"HEAD": "ref: refs/heads/master"}, "master"),
        ({"HEAD": "ref: refs/heads/feature/1"}, "feature/1"),
        ({"HEAD": "ref: refs/heads/feature", "refs/heads/master": "0", "refs/heads/feature": "0"}, "master"),
        ({"HEAD": "ref: refs/heads/feature", "packed-refs": "# pack-refs\n0a refs/heads/master\n"}, "master"),
        ({"HEAD": "ref: refs/heads/main", "refs/remotes/origin/HEAD": "ref: refs/remotes/origin/trunk"}, "trunk"),
        ({"HEAD": "0123456789abcdef0123456789abcdef01234567"}, "main"),
        ({"HEAD": "ref: refs/heads/.invalid"}, "main"),
        ({"HEAD": "ref: refs/heads/on"}, "on"),
        ({"HEAD": "ref: refs/heads/a,b+'#1]"}, "a,b\\+'#1]"),
    ],
)
def test_the_ci_step_runs_for_the_branch_that_there_is(
    repository: Mapping[str, str], expected: str, quickchecks: Command
) -> None:
    for name, text in repository.items():
        file = Path(".git", name)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text + "\n")
    assert quickchecks("init").code == 0
    assert branches(Path(FILES[0])) == [expected]


def test_the_ci_step_of_a_worktree_runs_for_the_branch_of_its_repository(quickchecks: Command) -> None:
    own = Path("git/worktrees/other")
    own.mkdir(parents=True)
    (own / "HEAD").write_text("ref: refs/heads/feature\n")
    (own / "commondir").write_text("../..\n")
    Path("git/packed-refs").write_text("0a refs/heads/master\n")
    Path(".git").write_text("gitdir: git/worktrees/other\n")
    assert quickchecks("init").code == 0
    assert branches(Path(FILES[0])) == ["master"]


def branches(file: Path) -> list[object]:
    on = yaml.safe_load(file.read_text(encoding="utf-8"))[True]  # what YAML makes of the key `on`
    found = on["push"]["branches"]
    assert isinstance(found, list)
    return found


@pytest.mark.parametrize("name", ["a b", "[x]", "a: b #c", "Größe 😀"])
def test_the_ci_step_of_a_folder_with_another_name(name: str, quickchecks: Command) -> None:
    Path(".git").mkdir()
    assert quickchecks("init", name).code == 0
    assert workflow()["defaults"] == {"run": {"working-directory": name}}


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
