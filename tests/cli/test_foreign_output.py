"""What a model, a tool or a recording wrote reaches the terminal of a person, or the log of a CI server, as text alone."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hostile import HOSTILE, LONG

if TYPE_CHECKING:
    from tests.cli.conftest import Command


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    """A recording of a run for each hostile text, which stands in every place that a recording has."""
    file = tmp_path / "runs.jsonl"
    with file.open("w", encoding="ascii") as stream:
        for template in (template for name, template in HOSTILE.items() if name != LONG):
            text = template.format("Zq")
            called = {"name": text, "arguments": json.dumps({text: text})}
            messages = [
                {"role": "user", "content": text},
                {"role": "assistant", "content": text, "tool_calls": [{"id": "1", "type": "function", "function": called}]},
                {"role": "tool", "tool_call_id": "1", "content": f"Error: {text}"},
                {"role": "assistant", "content": text},
            ]
            stream.write(json.dumps({"id": text, "messages": messages}) + "\n")
    return file


COMMANDS = (
    ("score", "runs.jsonl", "--check", "includes('zebra')", "--check", "no_tool_errors()", "-o", "report.md"),
    ("inspect", "runs.jsonl"),
    ("inspect", "runs.jsonl:39"),
)


@pytest.mark.usefixtures("recording")
@pytest.mark.parametrize("arguments", COMMANDS)
def test_no_line_is_a_command_for_the_runner_of_github(arguments: tuple[str, ...], process: Command) -> None:
    ended = process(*arguments, env={"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": ""})
    assert ended.code in (0, 1)
    assert "Zq" in ended.out
    for line in (ended.out + "\n" + ended.err).splitlines():
        shown = line.lstrip()
        assert not shown.startswith("::") or re.match(r"::(error|warning|notice) [^:]*title=[^:]*::", shown), line
        assert "##[" not in line


@pytest.mark.usefixtures("recording")
@pytest.mark.parametrize("arguments", COMMANDS)
@pytest.mark.parametrize("encoding", ["cp1252", "cp437", "ascii"])
def test_a_console_of_an_old_code_page_raises_nothing(arguments: tuple[str, ...], encoding: str, tmp_path: Path) -> None:
    """B64: reports are UTF-8 wherever they are written, what that cannot hold is written as an escape, and nothing is raised."""
    environment = {**os.environ, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    command = [sys.executable, "-m", "quickchecks", *arguments]
    ended = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, check=False, timeout=60)
    out, err = ended.stdout.decode("utf-8"), ended.stderr.decode("utf-8")
    assert (ended.returncode, "Traceback" in err) in ((0, False), (1, False))
    assert "Zq" in out
    if arguments[0] == "score":
        assert (tmp_path / "report.md").read_text(encoding="utf-8").startswith("## failed\n")
    assert all(character.isprintable() or character == "\n" for character in out.replace("\r\n", "\n"))
