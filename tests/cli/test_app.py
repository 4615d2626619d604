"""What all commands have in common: the group, its errors, its streams, and how it ends."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest

import quickchecks as package
from quickchecks.cli._app import cli
from quickchecks.reports import Kind, suffixes

if TYPE_CHECKING:
    from tests.cli.conftest import Chat, Command, Write

COMMANDS = cli.list_commands(click.Context(cli))

#: A locale in which Python reads and writes ASCII.
ASCII = {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": ""}


def test_help_lists_the_commands_in_the_order_in_which_people_need_them(quickchecks: Command) -> None:
    ended = quickchecks("--help")
    sections = re.findall(r"^(\w.*):\n((?:  .*\n)+)", ended.out, re.MULTILINE)
    shown = {title: re.findall(r"^  (\w+)  ", rows, re.MULTILINE) for title, rows in sections}
    assert [name for names in shown.values() for name in names] == COMMANDS
    assert "More" not in shown  # every command has its section
    assert "quickchecks demo" in ended.out


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_a_command_has_examples_that_it_understands(command: str, quickchecks: Command) -> None:
    shown = quickchecks(command, "--help").out.partition("\n  Examples:\n")[2]
    examples = [line.strip() for line in shown.splitlines() if line.strip().startswith("quickchecks ")]
    assert examples
    for example in examples:
        words = shlex.split(example.split("   ")[0])  # what it does may stand after it
        assert words[:2] == ["quickchecks", command]
        found = cli.get_command(click.Context(cli), command)
        assert found is not None
        found.make_context(command, words[2:])  # raises where an option, or its value, is not known


@pytest.mark.parametrize(("command", "kind"), [("run", "evaluation"), ("score", "runs"), ("compare", "comparison")])
def test_the_help_names_every_form_of_report(command: str, kind: Kind, quickchecks: Command) -> None:
    shown = " ".join(quickchecks(command, "--help").out.split())
    found = re.search(r"-o, --output FILE [^:]*: ([^ ]+(?:, [^ ]+)*) or ([^ ]+)\. Repeatable", shown)
    assert found is not None
    assert sorted([*found[1].split(", "), found[2]]) == list(suffixes(kind))


def test_the_version(quickchecks: Command) -> None:
    assert quickchecks("--version").out == f"quickchecks, version {package.__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["scor"], "there is no command 'scor': did you mean 'score'?"),
        (["runs.jsonl"], "to score recordings, write: quickchecks score runs.jsonl --check …"),
        (["score"], "Missing argument 'PATH...'"),
        (["score", "runs.jsonl", "--chekc", "x"], "--check"),
    ],
)
def test_wrong_usage_is_exit_2_with_a_hint(arguments: list[str], hint: str, quickchecks: Command, runs: Path) -> None:
    ended = quickchecks(*arguments)
    assert (ended.code, ended.out) == (2, "")
    assert hint in ended.err


def test_help_loads_nothing_that_only_scoring_needs() -> None:
    code = "import sys; sys.argv = ['quickchecks', '--help']\nfrom quickchecks.cli import main\nimport atexit\n"
    code += "atexit.register(lambda: print(*sys.modules, file=sys.stderr))\nmain()"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stderr.split()
    assert {"rich", "yaml", "regex", "asyncio"} & set(loaded) == set()


def test_a_process_ends_with_the_exit_code(process: Command, runs: Path) -> None:
    assert process("score", runs, "--check", "excludes('rain')").code == 0
    assert process("score", runs, "--check", "no_tool_errors()").code == 1
    mistake = process("score", runs, "--check", "nope()")
    assert (mistake.code, mistake.out) == (2, "")
    assert mistake.err.startswith("Error: --check, column 1: there is no check 'nope'")


def test_output_is_utf8_whatever_the_locale(process: Command, write: Write, chat: Chat) -> None:
    file = write("runs.jsonl", chat("Es ist schön. 晴れ 🚲", question="Wie ist es?"))
    ended = process("inspect", file, env=ASCII)
    assert "Es ist schön. 晴れ 🚲" in ended.out


def test_a_check_means_what_was_typed_whatever_the_locale(process: Command, write: Write, chat: Chat) -> None:
    file = write("runs.jsonl", chat("Es ist schön."))
    ended = process("score", file, "--check", "excludes('schön')", env=ASCII)
    assert (ended.code, ended.out.splitlines()[2]) == (1, "  excludes('schön')   0 passed   1 failed")


def test_standard_input_is_a_source(process: Command, runs: Path, tmp_path: Path) -> None:
    ended = process("score", "-", "--check", "no_tool_errors()", input=(tmp_path / runs).read_bytes())
    assert ended.code == 1
    assert "  ✗ -:2  no_tool_errors()" in ended.out


def test_a_pipe_gets_whole_lines_without_colour(process: Command, write: Write, chat: Chat) -> None:
    name = "a-very-long-name-of-a-folder/" * 6 + "runs.jsonl"
    ended = process("score", write(name, chat("word " * 60)), "--check", "equals('sunny')", env={"COLUMNS": "40"})
    assert "\x1b" not in ended.out
    assert f"  ✗ {name}:1  equals('sunny')" in ended.out.splitlines()


@pytest.mark.parametrize("forced", ["", "1"])
def test_a_reader_that_has_gone_is_no_error(forced: str, tmp_path: Path, write: Write, chat: Chat) -> None:
    file = write("runs.jsonl", chat("word " * 200_000))  # more than any pipe holds
    command = [sys.executable, "-m", "quickchecks", "inspect", str(file), "--full"]
    env = {**os.environ, "FORCE_COLOR": forced, "NO_COLOR": "", "TERM": "xterm-256color"}
    with subprocess.Popen(command, cwd=tmp_path, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as started:
        assert started.stdout is not None
        started.stdout.read(10)
        started.stdout.close()
        assert started.stderr is not None
        assert started.stderr.read() == b""
    assert started.returncode == 141


def test_a_reader_that_has_gone_before_a_short_result_is_no_error(tmp_path: Path, runs: Path) -> None:
    command = [sys.executable, "-m", "quickchecks", "score", "-", "--check", "no_tool_errors()"]
    with subprocess.Popen(
        command, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as started:
        assert started.stdout is not None
        started.stdout.close()
        assert started.stdin is not None
        started.stdin.write((tmp_path / runs).read_bytes())
        started.stdin.close()
        assert started.stderr is not None
        assert started.stderr.read() == b""
    assert started.returncode == 141


@pytest.fixture
def shell(runs: Path, tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs the command in a shell, with redirections, in a folder that has something for every command."""
    (tmp_path / "eval.yaml").write_text("data: [{id: 1, input: a, output: b}]\ngates: [{includes: a}]")
    package.run_evals_sync([{"id": "1", "input": "a"}], str, gates=[package.checks.includes("a")]).save(tmp_path / "result.json")

    def run(arguments: str, redirections: str) -> subprocess.CompletedProcess[str]:
        command = f"{shlex.join([sys.executable, '-m', 'quickchecks', *shlex.split(arguments)])} {redirections}"
        return subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)

    return run


Shell = Callable[..., subprocess.CompletedProcess[str]]
ONLY_POSIX = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
SCORE = "score runs.jsonl --check no_tool_errors"


@ONLY_POSIX
@pytest.mark.parametrize(
    "arguments",
    [
        "run eval.yaml",
        SCORE,
        "compare result.json result.json",
        "inspect runs.jsonl",
        "checks",
        "demo",
        "demo --save new",
        "--help",
    ],
)
def test_a_full_device_is_one_line_and_exit_2(arguments: str, shell: Shell) -> None:
    ended = shell(arguments, ">/dev/full")
    assert (ended.returncode, ended.stderr) == (2, "Error: the output cannot be written: No space left on device\n")


@ONLY_POSIX
@pytest.mark.parametrize(("arguments", "code"), [("run eval.yaml", 1), (SCORE, 1), ("checks", 0), ("--help", 0)])
@pytest.mark.parametrize("redirections", [">&-", "<&- >&- 2>&-"])
def test_who_closes_the_output_wants_the_exit_code_alone(redirections: str, arguments: str, code: int, shell: Shell) -> None:
    ended = shell(arguments, redirections)
    assert (ended.returncode, ended.stdout, ended.stderr) == (code, "", "")


@ONLY_POSIX
@pytest.mark.parametrize("arguments", ["run eval.yaml", "--help"])
def test_a_reader_that_does_not_wait_is_no_error_and_no_success(arguments: str, shell: Shell) -> None:
    piped = shell(arguments, "| true; exit ${PIPESTATUS[0]}")
    assert (piped.returncode in ((1, 141) if arguments != "--help" else (0, 141)), piped.stderr) == (True, "")


@ONLY_POSIX
@pytest.mark.parametrize("redirections", ["2>/dev/full", "2>&-"])
def test_errors_that_cannot_be_written_keep_their_exit_code(redirections: str, shell: Shell) -> None:
    assert shell("nosuch", redirections).returncode == 2


@ONLY_POSIX
@pytest.mark.parametrize(("arguments", "name"), [("run eval.yaml", "full.json"), (SCORE, "full.md"), (SCORE, "full.json")])
def test_a_report_on_a_full_device_is_named_and_exit_2(arguments: str, name: str, shell: Shell, tmp_path: Path) -> None:
    (tmp_path / name).symlink_to("/dev/full")
    ended = shell(f"{arguments} -o {name}", "")
    assert ended.returncode == 2
    assert ended.stdout.endswith(" · exit 1\n"), "what was found is told all the same"
    assert ended.stderr == f"Error: {name} cannot be written: No space left on device\n"


@pytest.mark.skipif(os.name == "nt", reason="Windows has other signals")
def test_ctrl_c_shows_and_writes_what_was_scored(tmp_path: Path, runs: Path) -> None:
    command = [sys.executable, "-m", "quickchecks", "score", "-", "--check", "excludes('rain')", "-o", "out.md"]
    with subprocess.Popen(
        command, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as started:
        assert started.stdin is not None
        started.stdin.write((tmp_path / runs).read_bytes())
        started.stdin.flush()
        deadline = time.monotonic() + 30
        while not list(tmp_path.glob(".out.md.*.part")):  # it is open before the first run is read
            assert time.monotonic() < deadline
            time.sleep(0.02)
        time.sleep(0.3)
        started.send_signal(signal.SIGINT)
        out, err = started.communicate(timeout=30)
    assert started.returncode == 130
    assert out.decode("utf-8").splitlines()[-1].startswith("interrupted: only ")
    assert err.decode("utf-8") == "wrote out.md\n"
    assert (tmp_path / "out.md").read_text(encoding="utf-8").startswith("## interrupted\n")


def test_what_the_library_notes_goes_to_standard_error(process: Command, write: Write, chat: Chat) -> None:
    write("runs/a.jsonl", chat("hi"))
    write("runs/notes.txt", "x")
    ended = process("score", "runs", "--check", "used_no_tools()")
    assert ended.code == 0
    assert ended.err.startswith("note: runs: 1 not read")


def test_the_script_that_is_installed_is_the_same_command() -> None:
    import tomllib

    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["scripts"] == {"quickchecks": "quickchecks.cli:main"}


EVAL = "target: agent:answer\ndata: [{input: x}]\ngates: [{includes: fine}]\n"


def run_agent(folder: Path, body: str, *options: str, before: str = "") -> subprocess.CompletedProcess[str]:
    """Run an eval whose target does something before it answers; `before` is done before the command."""
    (folder / "agent.py").write_text(f"import os, sys\ndef answer(text):\n    {body}\n    return 'fine'\n")
    (folder / "eval.yaml").write_text(EVAL)
    code = f"import sys; sys.argv = ['quickchecks', 'run', 'eval.yaml', *{options!r}]\n{before}\n"
    code += "from quickchecks.cli import main\nmain()"
    return subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize(
    "body",
    [
        "sys.stdout.close()",
        "sys.stderr.close()",
        "sys.__stdout__.close(); sys.__stderr__.close()",
        "sys.__stderr__.buffer.close()",
        "sys.stdout = sys.stderr = None",
        "os.close(2)",
        "os.close(1)",
    ],
)
def test_a_target_that_closes_streams_takes_no_verdict_away(body: str, tmp_path: Path) -> None:
    ended = run_agent(tmp_path, body)
    assert ended.returncode == 0
    assert ended.stdout.startswith("passed")
    assert "lost" not in ended.stderr


@pytest.mark.parametrize("body", ["sys.__stdout__.buffer.close()", "sys.__stdout__.detach()"])
def test_an_output_that_is_gone_is_one_line_and_exit_2(body: str, tmp_path: Path) -> None:
    ended = run_agent(tmp_path, body)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert re.fullmatch(r"Error: .*\n", ended.stderr)


def test_what_is_written_is_where_it_was_said_wherever_the_target_goes(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    ended = run_agent(tmp_path, "os.chdir('elsewhere')", "--record", "runs.jsonl", "-o", "out/result.json")
    assert ended.returncode == 0
    assert (tmp_path / "runs.jsonl").read_text().count("\n") == 1
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["result.json"]
    assert list((tmp_path / "elsewhere").iterdir()) == []


INTERRUPT = "os.kill(os.getpid(), signal.SIGINT)"


@pytest.mark.parametrize("module", ["quickchecks.cli._app", "click", "quickchecks.cli.run"])
def test_ctrl_c_while_the_command_is_loaded_ends_it_quietly(module: str, tmp_path: Path) -> None:
    before = f"""
import os, signal
class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            {INTERRUPT}
sys.meta_path.insert(0, Interrupting())
"""
    ended = run_agent(tmp_path, "pass", before=before)
    assert (ended.returncode, ended.stdout) == (130, "")
    assert ended.stderr.strip() in ("", "interrupted")


@pytest.mark.parametrize("times", [1, 2])
def test_ctrl_c_after_the_last_item_loses_no_result(times: int, tmp_path: Path) -> None:
    before = f"""
import os, signal
from quickchecks.cli import _evaluating
write = _evaluating.Written.write
def interrupted(self, value):
    for _ in range({times}):
        {INTERRUPT}
    write(self, value)
_evaluating.Written.write = interrupted
"""
    ended = run_agent(tmp_path, "pass", "-o", "result.json", before=before)
    assert ended.returncode == (0 if times == 1 else 130)
    assert "passed · exit 0" in ended.stdout
    assert (tmp_path / "result.json").exists()
