"""What scripts/pytest_compat.py takes for a difference, and what for the same."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from pytest_compat import Ended, differences, help_differences, lasting

PASSED = (("test_a::one", "passed"), ("test_a::two", "skipped"))


def ended(code: int = 0, outcomes: tuple[tuple[str, str], ...] = PASSED, printed: str = "2 tests") -> Ended:
    return Ended(code, outcomes, printed, 1.0)


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (ended(1), "the exit code is 1 and not 0"),
        (ended(outcomes=(("test_a::one", "failure"), PASSED[1])), "+test_a::one: failure"),
        (ended(outcomes=PASSED[:1]), "-test_a::two: skipped"),
        (ended(outcomes=PASSED[::-1]), "+test_a::two: skipped"),
        (ended(printed="2 tests, 1 of them new"), "+2 tests, 1 of them new"),
    ],
)
def test_what_differs_is_told(other: Ended, said: str) -> None:
    assert said in differences(ended(), other)


def test_the_same_is_no_difference() -> None:
    assert differences(ended(), ended()) == []
    assert ended().counts == "1 passed, 1 skipped"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("=== 3 passed in 0.21s ===\n", "==== 3 passed in 12.50s ====\n"),
        ("<Thing at 0x7fb885b18360>\n", "<Thing at 0x7fb8000>\n"),
        ("plugins: anyio-4.16.0\nx\n", "plugins: anyio-4.16.0, quickchecks-0.1.0\nx\n"),
        ("plugins: anyio-4.16.0, xdist-3.8.0\nx\n", "plugins: anyio-4.16.0, quickchecks-0.1.0, xdist-3.8.0\nx\n"),
        ("plugins: xdist-3.8.0\nx\n", "plugins: quickchecks-0.1.0, xdist-3.8.0\nx\n"),
        ("rootdir: /a\nx\n", "rootdir: /a\nplugins: quickchecks-0.1.0\nx\n"),
    ],
)
def test_what_changes_each_time_is_left_out(before: str, after: str) -> None:
    assert lasting(before) == lasting(after)


@pytest.mark.parametrize(
    ("before", "after"),
    [("3 passed", "4 passed"), ("plugins: anyio-4.16.0\nx", "plugins: xdist-3.8.0\nx"), ("a\n", "a\nquickchecks: hello\n")],
)
def test_what_does_not_is_kept(before: str, after: str) -> None:
    assert lasting(before) != lasting(after)


HELP = "usage: pytest\n\ngeneral:\n  -k EXPRESSION  only run\n\nHook:\n  --trace  traces\n"
GROUP = "\nquickchecks: evals of agents:\n  --quickchecks-output=FILE\n                 Write it: now\n"
OTHER_GROUP = GROUP.replace("--quickchecks-output", "--output")


@pytest.mark.parametrize(
    ("after", "wrong"),
    [
        (HELP.replace("\nHook:", f"{GROUP}\nHook:"), []),
        (HELP, ["it gains 0 pieces of text with the groups [], not the one group of quickchecks"]),
        (HELP.replace("\nHook:", f"{OTHER_GROUP}\nHook:"), ["the option --output=FILE has another prefix"]),
        (HELP.replace("only run", "run only").replace("\nHook:", f"{GROUP}\nHook:"), ["-  -k EXPRESSION  only run"]),
    ],
)
def test_the_help_gains_one_group(after: str, wrong: list[str]) -> None:
    found = help_differences(HELP, after)
    assert [one for one in wrong if one not in found] == []
    assert bool(found) is bool(wrong)


def test_without_the_registry_it_says_so(root: Path) -> None:
    env = {**os.environ, "PIP_INDEX_URL": "http://127.0.0.1:9/simple", "PIP_RETRIES": "0", "PIP_NO_CACHE_DIR": "1"}
    env.update(PIP_EXTRA_INDEX_URL="", PIP_FIND_LINKS="", PIP_CONFIG_FILE=os.devnull, PIP_DEFAULT_TIMEOUT="2")
    command = [sys.executable, str(root / "scripts" / "pytest_compat.py"), "itsdangerous"]
    found = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120)
    assert (found.returncode, found.stdout) == (2, "")
    assert found.stderr.startswith("not compared: pip wheel ")
    assert "this needs the registry of packages" in found.stderr


def test_an_unknown_suite_is_refused(root: Path) -> None:
    found = subprocess.run([sys.executable, root / "scripts" / "pytest_compat.py", "nosuch"], capture_output=True, text=True)
    assert (found.returncode, found.stdout) == (2, "no such suite: nosuch; there are itsdangerous, click, attrs\n")
