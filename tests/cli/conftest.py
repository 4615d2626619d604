"""Running the command: in this process for most tests, as a process where the terminal or signals matter."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from quickchecks.cli._app import cli


@dataclass(frozen=True)
class Ended:
    """How a command ended.

    Args:
        code: Its exit code.
        out: What it wrote to standard output.
        err: What it wrote to standard error.
    """

    code: int
    out: str
    err: str


Command = Callable[..., Ended]


@pytest.fixture
def quickchecks(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """Runs the command in this process, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FORCE_COLOR", raising=False)

    def run(*arguments: str | Path) -> Ended:
        try:
            cli.main([str(one) for one in arguments], prog_name="quickchecks")
            code: object = 0
        except SystemExit as end:
            code = end.code
        captured = capsys.readouterr()
        assert isinstance(code, int)
        return Ended(code, captured.out, captured.err)

    return run


@pytest.fixture
def process(tmp_path: Path) -> Command:
    """Runs the command as a process, in a folder of its own."""

    def run(*arguments: str | Path, input: bytes | None = None, env: Mapping[str, str] | None = None) -> Ended:
        environment = {name: value for name, value in os.environ.items() if name not in ("FORCE_COLOR", "NO_COLOR")}
        result = subprocess.run(
            [sys.executable, "-m", "quickchecks", *map(str, arguments)],
            cwd=tmp_path,
            env={**environment, **(env or {})},
            input=input,
            capture_output=True,
            check=False,
            timeout=60,
        )
        return Ended(result.returncode, result.stdout.decode("utf-8"), result.stderr.decode("utf-8"))

    return run


Chat = Callable[..., dict[str, object]]


@pytest.fixture
def chat() -> Chat:
    """Makes a record of OpenAI chat messages."""
    return _chat


def _chat(*said: str, question: str = "Weather?", calls: Mapping[str, str] | None = None, **more: object) -> dict[str, object]:
    """A record of OpenAI chat messages: a question, calls with their results, and answers."""
    messages: list[dict[str, object]] = [{"role": "user", "content": question}]
    for number, (name, result) in enumerate((calls or {}).items()):
        function = {"name": name, "arguments": "{}"}
        call = {"id": f"c{number}", "type": "function", "function": function}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": result})
    for text in said:
        messages.append({"role": "assistant", "content": text})
    return {"messages": messages, **more}


Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes records into a file, as JSON Lines."""

    def write_lines(name: str, *records: object) -> Path:
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join((one if isinstance(one, str) else json.dumps(one)) + "\n" for one in records), encoding="utf-8")
        return Path(name)

    return write_lines


@pytest.fixture
def runs(write: Write, chat: Chat) -> Path:
    """Three runs: one is fine, in one a call failed, one says nothing of the weather."""
    return write(
        "runs.jsonl",
        chat("It is sunny.", id="fine", calls={"get_weather": "sunny"}),
        chat("Sorry.", id="broken", calls={"get_weather": "Error: no such city"}),
        chat("Hello.", id="hello", question="Hi"),
    )
