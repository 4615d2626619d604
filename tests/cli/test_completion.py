"""What a shell is offered: the protocol that its script speaks, with the words as a user would have typed them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest

from quickchecks.cli._app import COMPLETE, cli

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.cli.conftest import Command


@pytest.fixture
def offered(process: Command) -> Callable[[str], list[str]]:
    """What is offered for a line, its last word being completed."""

    def ask(line: str) -> list[str]:
        env = {"COMP_WORDS": line, "COMP_CWORD": str(len(line.split(" ")) - 1), COMPLETE: "bash_complete"}
        ended = process(env=env)
        assert (ended.code, ended.err) == (0, "")
        return ended.out.split()

    return ask


def test_commands(offered: Callable[[str], list[str]]) -> None:
    assert offered("quickchecks ") == [f"plain,{name}" for name in cli.list_commands(click.Context(cli))]
    assert offered("quickchecks co") == ["plain,compare", "plain,completion"]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("score x --check no_", ["plain,no_tool_errors"]),
        ("score x --try no_", ["plain,no_tool_errors"]),
        ("score x --check 'incl", ["plain,includes"]),
        ("checks incl", ["plain,includes"]),
        ("score x --format open", ["plain,openai_agents", "plain,openai_chat", "plain,openai_responses"]),
        ("inspect x --format tau", ["plain,tau_bench"]),
        ("score x --fail-on ", ["plain,any", "plain,gates", "plain,never"]),
        ("compare a b --fail-on re", ["plain,regression"]),
        ("completion ", ["plain,bash", "plain,zsh", "plain,fish"]),
        ("score ", ["file,"]),
        ("score x --failures out/", ["file,out/"]),
        ("compare ma", ["file,ma"]),
        ("demo --save tr", ["dir,tr"]),
        ("init ", ["dir,"]),
        ("doctor --j", ["plain,--json"]),
        ("nosuch --x", []),
        ("score --nosuch ", ["file,"]),
        ("run nosuch/", []),
    ],
)
def test_values(line: str, expected: list[str], offered: Callable[[str], list[str]]) -> None:
    assert offered(f"quickchecks {line}") == expected


@pytest.mark.parametrize("command", ["score x", "run x", "compare a b"])
def test_reports_are_offered_by_their_suffixes(command: str, offered: Callable[[str], list[str]]) -> None:
    found = offered(f"quickchecks {command} -o out/result.")
    assert {"plain,out/result.json", "plain,out/result.md", "plain,out/result.csv"} <= set(found)
    assert "plain,report.json" in offered(f"quickchecks {command} -o ")


def test_eval_files_come_before_others(offered: Callable[[str], list[str]], tmp_path: Path) -> None:
    (tmp_path / "eval.yaml").write_text("# asks\ntarget: agent:answer\ndata: items.jsonl\n")
    (tmp_path / "smoke.py").write_text("evaluation = {}\n")
    (tmp_path / "checks.yaml").write_text("checks: [no_tool_errors]\n")
    (tmp_path / "agent.py").write_text("def answer(question): ...\n")
    assert offered("quickchecks run ") == ["plain,eval.yaml", "plain,smoke.py"]
    assert offered("quickchecks run ch") == ["file,ch"]
    (tmp_path / "evals").mkdir()
    assert offered("quickchecks run ev") == ["file,ev"]  # the folder may be meant
    (tmp_path / "evals" / "big.yaml").write_text("data: []\n")
    assert offered("quickchecks run evals/") == ["plain,evals/big.yaml"]


def test_a_broken_package_offers_nothing_and_says_nothing(offered: Callable[[str], list[str]], tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("print('loud')\nraise RuntimeError\n")
    info = tmp_path / "broken-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[quickchecks.checks]\nbroken = broken\n[quickchecks.adapters]\nopenings = broken\n")
    assert offered("quickchecks checks b") == []  # the folder of the process is on the path of python -m
    assert any(one.startswith("plain,includes") for one in offered("quickchecks checks "))
    assert offered("quickchecks score x --format openi") == ["plain,openings"]


def test_the_names_of_formats_are_found_without_loading_one() -> None:
    code = (
        "import sys, click\nfrom quickchecks.cli import _completing, score\n"
        "parameter = score.score.params[0]\n"
        "assert _completing.format_names(click.Context(score.score), parameter, 'openai')\n"
        "print(*sys.modules)"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {name for name in loaded if name.startswith(("quickchecks.adapters", "quickchecks.reports"))}
    assert {"rich", "yaml", "regex", "asyncio"} & set(loaded) == set()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_asks_the_command_and_names_it(shell: str, quickchecks: Command) -> None:
    script = quickchecks("completion", shell)
    assert (script.code, script.err) == (0, "")
    assert f"{COMPLETE}={shell}_complete" in script.out
    help = quickchecks("completion", "--help").out
    assert f"completion {shell}" in help


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash_completes_with_the_script(tmp_path: Path) -> None:
    script = (
        'eval "$(quickchecks completion bash)"\n'
        "COMP_WORDS=(quickchecks score x --check no_); COMP_CWORD=4\n"
        "_quickchecks_completion quickchecks\n"
        'echo "${COMPREPLY[@]}"\n'
    )
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    ended = subprocess.run(
        ["bash", "-c", script], cwd=tmp_path, env={**os.environ, "PATH": path}, capture_output=True, text=True, timeout=60
    )
    assert (ended.stdout, ended.stderr) == ("no_tool_errors\n", "")
