"""What a session of pytest tells GitHub."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from github_runner import Told, commands

if TYPE_CHECKING:
    from tests.pytest_plugin.conftest import RunPytest

TESTS = """
import pytest
from quickchecks import assert_checks, checks

def test_eval(evals):
    said = "::error::injected\\n##[add-mask]injected"
    data = [{"id": "##[error]oslo", "input": "Oslo?"}]
    result = evals(data=data, target=lambda text: said, gates=[checks.includes("cold", why="it is")])
    assert result.passed

@pytest.mark.parametrize("said", ["rain", "snow", "##[error]injected"], ids=["rain", "snow", "other"])
def test_checks(said):
    assert_checks(said, checks.includes("sunny"))

def test_check():
    assert checks.includes("sunny").passes("rain")

@pytest.mark.quickchecks(repetitions=2, pass_rate=1.0)
def test_repeated():
    assert_checks("rain", checks.includes("sunny"))

def test_of_others():
    assert 1 == 2

def test_that_passes(evals):
    assert evals(data=["a"], target=lambda text: text, gates=[checks.includes("a")]).passed
"""


@pytest.fixture
def step(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A step whose checkout is the folder above that of the tests; gives its summary."""
    summary = pytester.path / "summary.md"
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(pytester.path.parent))
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    return summary


def told(result: pytest.RunResult) -> list[Told]:
    return commands("\n".join(result.outlines))


def check(result: pytest.RunResult, folder: Path) -> None:
    """Every test of ours that failed has an annotation, and nothing else has."""
    found = told(result)
    assert {one.name for one in found} == {"error"}
    assert {one.properties["file"] for one in found} == {f"{folder.name}/test_it.py"}
    functions = {one.properties["title"].partition("::")[2]: one.properties["line"] for one in found}
    assert functions == {
        "test_eval": "4",
        "test_checks[rain]": "10",
        "test_checks[snow]": "10",
        "test_checks[other]": "10",
        "test_check": "14",
        "test_repeated": "17",
    }
    messages = {one.properties["title"].partition("::")[2]: one.data for one in found}
    assert "it is" in messages["test_eval"]
    assert '"sunny" is not in the answer' in messages["test_check"]


def test_tests_that_failed_are_annotated(step: Path, pytester: pytest.Pytester, run_pytest: RunPytest) -> None:
    pytester.makepyfile(test_it=TESTS)
    result = run_pytest("--tb=short", "-r", "")
    check(result, pytester.path)
    assert result.ret == 1
    assert "## failed" in step.read_text(encoding="utf-8")


@pytest.mark.skipif(importlib.util.find_spec("xdist") is None, reason="pytest-xdist is not installed")
def test_also_by_workers(step: Path, pytester: pytest.Pytester, start_pytest: RunPytest) -> None:
    pytester.makepyfile(test_it=TESTS)
    result = start_pytest("-n", "2", "--tb=short", "-r", "")
    check(result, pytester.path)
    assert step.read_text(encoding="utf-8").count("## failed") == 1


def test_tests_of_others_are_left_alone(step: Path, pytester: pytest.Pytester, run_pytest: RunPytest) -> None:
    pytester.makepyfile("def test_it():\n    print('x')\n    assert 1 == 2\n")
    result = run_pytest()
    assert (told(result), step.exists()) == ([], False)
    assert "stop-commands" not in "\n".join(result.outlines)


def test_what_passed_is_only_summed_up(step: Path, pytester: pytest.Pytester, run_pytest: RunPytest) -> None:
    pytester.makepyfile(test_it=TESTS)
    result = run_pytest("-k", "passes")
    assert (told(result), result.ret) == ([], 0)
    assert "## passed" in step.read_text(encoding="utf-8")


@pytest.mark.parametrize(("value", "ret"), [("false", 1), ("flase", 1)])
def test_it_can_be_turned_off(
    value: str, ret: int, step: Path, pytester: pytest.Pytester, run_pytest: RunPytest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QUICKCHECKS_GITHUB", value)
    pytester.makepyfile(test_it=TESTS)
    result = run_pytest("--tb=short", "-r", "")
    assert (told(result), step.exists(), result.ret) == ([], False, ret)
    warned = "QUICKCHECKS_GITHUB is true or false" in "\n".join(result.outlines)
    assert warned == (value == "flase")


def test_a_summary_that_cannot_be_written_changes_nothing_but_a_warning(
    step: Path, pytester: pytest.Pytester, run_pytest: RunPytest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(pytester.path / "no" / "summary.md"))
    pytester.makepyfile(test_it=TESTS)
    result = run_pytest("-k", "passes")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["warning: the step summary cannot be written: No such file or directory"])
