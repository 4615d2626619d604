"""What a job of CI sees of the commands that decide: exit codes (B62), and logs that no progress fills (B63)."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

pty = pytest.importorskip("pty", reason="there are no terminals to be had here")

AGENT = """
import time

def good(text):
    time.sleep(0.2)
    return "It is sunny."

def bad(text):
    return "I cannot say."

def broken(text):
    raise ConnectionError("nobody answers")
"""
GATE = "gates: [{includes: sunny}]"
THRESHOLD = "scorers: [{check: {includes: sunny}, threshold: 0.9}]"
MEASURED = "scorers: [{includes: sunny}]"

Write = Callable[[str, str], str]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with an agent, a dataset, recordings of a good, a bad and a broken run, and two results."""
    (tmp_path / "agent.py").write_text(AGENT)
    (tmp_path / "cases.jsonl").write_text("".join(json.dumps({"id": name, "input": name}) + "\n" for name in "abcdef"))
    for name, said in (("good", "It is sunny."), ("bad", "I cannot say.")):
        (tmp_path / f"{name}.jsonl").write_text(json.dumps({"messages": [{"role": "assistant", "content": said}]}) + "\n")
    broken = {"schema": "quickchecks.run/1", "messages": [], "error": {"message": "nobody answers"}}
    (tmp_path / "broken.jsonl").write_text(json.dumps(broken) + "\n")
    (tmp_path / "none.jsonl").write_text("")
    return tmp_path


def evaluation(folder: Path, target: str, asserted: str) -> str:
    (folder / "eval.yaml").write_text(f"target: agent:{target}\ndata: cases.jsonl\n{asserted}\n")
    return "eval.yaml"


def run(folder: Path, *arguments: str, env: Mapping[str, str] | None = None) -> tuple[int, str, str]:
    """Run the command as CI does, its error output in a file; gives the exit code and both outputs."""
    environment = {name: value for name, value in os.environ.items() if name not in ("FORCE_COLOR", "CI")}
    with open(folder / "log.txt", "wb") as log:
        ended = subprocess.run(
            [sys.executable, "-m", "quickchecks", *arguments],
            cwd=folder,
            env={**environment, "CI": "true", **(env or {})},
            stdout=subprocess.PIPE,
            stderr=log,
            check=False,
            timeout=60,
        )
    return ended.returncode, ended.stdout.decode(), (folder / "log.txt").read_bytes().decode()


@pytest.mark.parametrize(
    ("target", "asserted", "options", "code"),
    [
        ("good", GATE, [], 0),
        ("good", MEASURED, [], 0),
        ("bad", GATE, [], 1),
        ("bad", THRESHOLD, [], 1),
        ("bad", MEASURED, [], 0),
        ("broken", GATE, [], 1),
        ("broken", THRESHOLD, [], 1),
        ("broken", MEASURED, [], 1),
        ("bad", GATE, ["--fail-on", "gates"], 1),
        ("bad", THRESHOLD, ["--fail-on", "gates"], 0),
        ("bad", GATE, ["--fail-on", "never"], 0),
        ("broken", GATE, ["--fail-on", "never"], 3),
        ("broken", MEASURED, ["--fail-on", "never"], 3),
        ("good", "gates: [{no_such_check: 1}]", [], 2),
        ("nobody", GATE, [], 2),
    ],
)
def test_the_exit_code_of_run(target: str, asserted: str, options: list[str], code: int, folder: Path) -> None:
    assert run(folder, "run", evaluation(folder, target, asserted), *options)[0] == code


@pytest.mark.parametrize(
    ("recording", "options", "code"),
    [
        ("good.jsonl", [], 0),
        ("bad.jsonl", [], 1),
        ("broken.jsonl", [], 1),
        ("none.jsonl", [], 1),
        ("bad.jsonl", ["--fail-on", "never"], 0),
        ("none.jsonl", ["--fail-on", "never"], 3),
        ("nowhere.jsonl", [], 2),
    ],
)
def test_the_exit_code_of_score(recording: str, options: list[str], code: int, folder: Path) -> None:
    assert run(folder, "score", recording, "--check", "includes('sunny')", *options)[0] == code


def test_the_exit_code_of_compare(folder: Path) -> None:
    for target in ("good", "bad", "broken"):
        run(folder, "run", evaluation(folder, target, GATE), "-o", f"{target}.json")
    codes = {
        (first, second): run(folder, "compare", f"{first}.json", f"{second}.json")[0]
        for first in ("good", "bad", "broken")
        for second in ("good", "bad", "broken")
        if first != second
    }
    assert codes[("good", "bad")] == codes[("good", "broken")] == 1
    assert codes[("bad", "good")] == 0
    assert codes[("broken", "bad")] != 0 or codes[("broken", "good")] == 3, "nothing was judged in both"
    assert run(folder, "compare", "good.json", "bad.json", "--fail-on", "never")[0] == 0
    assert run(folder, "compare", "good.json", "good.json")[0] == 3
    assert run(folder, "compare", "good.json", "nowhere.json")[0] == 2


def commands(folder: Path) -> list[list[str]]:
    """The three commands, each of which takes a moment."""
    file = evaluation(folder, "good", GATE)
    run(folder, "run", file, "-o", "one.json")
    run(folder, "run", file, "-o", "two.json")
    line = (folder / "good.jsonl").read_text()
    (folder / "many.jsonl").write_text(line * 20_000)
    check = ["--check", "includes('sunny')", "--check", "similarity('It is raining.')"]
    return [["run", file, "--concurrency", "1"], ["score", "many.jsonl", *check], ["compare", "one.json", "two.json"]]


@pytest.mark.slow
def test_a_log_has_no_progress_in_it(folder: Path) -> None:
    for arguments in commands(folder):
        for ci in ("true", ""):
            code, out, log = run(folder, *arguments, env={"CI": ci})
            assert (code, log) == (0, ""), arguments
            assert "\r" not in out
            assert "\x1b" not in out


@pytest.mark.slow
@pytest.mark.parametrize(("ci", "drawn"), [("true", False), ("", True)])
def test_a_terminal_in_ci_has_none_either(ci: str, drawn: bool, folder: Path) -> None:
    """A job of CI may give its steps a terminal. Outside of CI the same command draws, so that the test sees something."""
    shown = {arguments[0]: on_terminal(folder, arguments, ci) for arguments in commands(folder)}
    drawing = {name for name, text in shown.items() if b"\r" in text.replace(b"\r\n", b"")}
    assert ("run" in drawing) if drawn else not drawing


def on_terminal(folder: Path, arguments: list[str], ci: str) -> bytes:
    """What a command writes to a terminal that is its error output."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "CI": ci, "TERM": "xterm"}
    command = [sys.executable, "-m", "quickchecks", *arguments]
    with subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=theirs) as started:
        os.close(theirs)
        found = b""
        while True:
            try:
                piece = os.read(ours, 4096) if select.select([ours], [], [], 60)[0] else b""
            except OSError:  # nobody writes to it any more
                break
            if not piece:
                break
            found += piece
    os.close(ours)
    assert started.returncode == 0
    return found
