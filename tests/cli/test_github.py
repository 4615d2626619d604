"""The command as a step of a job on GitHub."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from github_runner import Told, commands

if TYPE_CHECKING:
    from tests.cli.conftest import Chat, Command, Ended, Write

ON = {"GITHUB_ACTIONS": "true", "CI": "true"}
INJECTED = "::error::injected\n  ::add-mask::injected\nhidden ##[add-mask]injected"
EVAL = """
target: agent:answer
data: cases.jsonl
gates: [{includes: sunny}]
"""


@pytest.fixture
def step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A step whose checkout is the folder of the test; gives its summary, which has something in it."""
    for name, value in {**ON, "GITHUB_WORKSPACE": str(tmp_path), "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md")}.items():
        monkeypatch.setenv(name, value)
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    return summary


@pytest.fixture
def evaluation(tmp_path: Path, write: Write) -> str:
    """An eval in which one of two items fails, and whose target prints what could be commands."""
    write("cases.jsonl", {"id": "a", "input": "sunny"}, {"id": "b", "input": "rain"})
    (tmp_path / "eval.yaml").write_text(EVAL)
    lines = (
        "import os, subprocess, sys",
        f"print({INJECTED!r})",
        "def answer(text):",
        f"    print({INJECTED!r})",
        f"    print({INJECTED!r}, file=sys.stderr)",
        f"    subprocess.run([sys.executable, '-c', {f'print({INJECTED!r})'!r}])",
        f"    os.write(1, {INJECTED.encode()!r}), os.write(2, {INJECTED.encode()!r})",
        "    sys.stdout.buffer.write(b'::error::injected')",
        "    return text",
    )
    (tmp_path / "agent.py").write_text("\n".join(lines) + "\n")
    return "eval.yaml"


def as_file(ended: Ended) -> list[Told]:
    """What the runner obeys; whatever stands on standard output is heard as if nothing else had been said."""
    assert commands(ended.out) == []
    return commands(ended.err)


def test_a_failing_eval_is_annotated_and_summed_up(step: Path, evaluation: str, process: Command) -> None:
    ended = process("run", evaluation, "-o", "report.md")
    assert ended.code == 1
    (one,) = as_file(ended)
    assert one.name == "error"
    assert one.properties == {"file": "cases.jsonl", "line": "2", "title": "b: includes('sunny')"}
    assert step.read_text() == "before\n\n" + step.with_name("report.md").read_text()


def test_what_others_print_is_all_there(step: Path, evaluation: str, process: Command) -> None:
    ended = process("run", evaluation)
    assert ended.err.count("injected") == 3 * 11 + 2
    assert "injected" not in ended.out


def test_standard_output_is_what_it_is_elsewhere(step: Path, evaluation: str, runs: Path, process: Command) -> None:
    for arguments in (("run", evaluation), ("score", runs, "--check", "includes('sunny')")):
        here, elsewhere = process(*arguments), process(*arguments, env={"GITHUB_ACTIONS": ""})
        assert re.sub(r"\d+\.\d+ s", "", here.out) == re.sub(r"\d+\.\d+ s", "", elsewhere.out)


def test_a_program_that_is_asked_says_no_command(step: Path, write: Write, tmp_path: Path, process: Command) -> None:
    write("cases.jsonl", {"id": "a", "input": "sunny"})
    (tmp_path / "say.py").write_text(f"import sys\nsys.stdin.readline()\nsys.exit({INJECTED!r})\n")
    (tmp_path / "eval.yaml").write_text(EVAL.replace("agent:answer", f"cmd:{sys.executable} say.py"))
    ended = process("run", "eval.yaml")
    (one,) = as_file(ended)
    assert one.properties == {"file": "cases.jsonl", "line": "1", "title": "a: the target raised"}
    assert "injected" in one.data
    assert ended.code == 1


def test_an_item_in_the_eval_file_is_annotated_there(step: Path, evaluation: str, process: Command) -> None:
    file = step.with_name("evals") / "eval.yaml"
    file.parent.mkdir()
    file.write_text("data:\n  - {input: a, output: sunny}\n\n  - input: b\n    output: rain\ngates: [{includes: sunny}]\n")
    ended = process("run", "evals/eval.yaml")
    (one,) = as_file(ended)
    assert (ended.code, one.properties["file"], one.properties["line"]) == (1, "evals/eval.yaml", "4")


def test_recordings_are_annotated_by_line(step: Path, runs: Path, process: Command) -> None:
    ended = process("score", runs, "--check", "includes('sunny')", "-o", "report.md")
    assert ended.code == 1
    assert [(one.name, one.properties["file"], one.properties["line"]) for one in as_file(ended)] == [
        ("error", "runs.jsonl", "2"),
        ("error", "runs.jsonl", "3"),
    ]
    assert step.read_text() == "before\n\n" + step.with_name("report.md").read_text()


def test_a_regression_is_annotated(step: Path, evaluation: str, write: Write, process: Command) -> None:
    process("run", evaluation, "-o", "new.json")
    good = step.with_name("agent.py").read_text().replace("return text", "return 'sunny'")
    step.with_name("agent.py").write_text(good)
    process("run", evaluation, "-o", "old.json")
    step.write_text("")
    ended = process("compare", "old.json", "new.json", "-o", "report.md")
    assert ended.code == 1
    assert [(one.name, one.properties) for one in as_file(ended)] == [("error", {"title": "b: includes('sunny')"})]
    assert step.read_text() == step.with_name("report.md").read_text()


@pytest.mark.parametrize("arguments", [("score", "runs.jsonl", "--check", "includes('sunny')"), ("run", "eval.yaml")])
def test_what_is_forgiven_is_a_warning(
    arguments: tuple[str, ...], step: Path, evaluation: str, runs: Path, process: Command
) -> None:
    ended = process(*arguments, "--fail-on", "never")
    assert ended.code == 0
    assert {one.name for one in as_file(ended)} == {"warning"}


def test_what_cannot_be_done_is_annotated(step: Path, runs: Path, process: Command) -> None:
    ended = process("score", runs, "--check", "nope()")
    assert ended.code == 2
    (one,) = as_file(ended)
    assert one.data.startswith("--check, column 1: there is no check 'nope'")
    assert step.read_text() == "before\n"


def test_a_summary_that_cannot_be_written_changes_nothing_but_a_warning(
    step: Path, runs: Path, process: Command, tmp_path: Path
) -> None:
    env = {"GITHUB_STEP_SUMMARY": str(tmp_path / "no" / "summary.md")}
    for check, code in (("includes('sunny')", 1), ("excludes('rain')", 0)):
        ended = process("score", runs, "--check", check, env=env)
        assert ended.code == code
        assert "warning: the step summary cannot be written: No such file or directory" in ended.err.splitlines()


def test_it_can_be_turned_off(step: Path, evaluation: str, process: Command) -> None:
    ended = process("run", evaluation, env={"QUICKCHECKS_GITHUB": "false"})
    assert ended.code == 1
    assert as_file(ended) == []
    assert step.read_text() == "before\n"


@pytest.mark.parametrize(
    "arguments", [("score", "runs.jsonl", "--check", "includes('a')"), ("run", "eval.yaml"), ("compare", "a", "b")]
)
def test_a_switch_that_is_neither_on_nor_off_is_wrong_usage(
    arguments: tuple[str, ...], evaluation: str, runs: Path, process: Command
) -> None:
    ended = process(*arguments, env={"QUICKCHECKS_GITHUB": "flase"})
    assert (ended.code, ended.out) == (2, "")
    assert "QUICKCHECKS_GITHUB is true or false, or warnings, not 'flase'" in ended.err


@pytest.mark.parametrize("more", [{}, {"FORCE_COLOR": "1"}, {"QUICKCHECKS_GITHUB": "0"}])
def test_no_recording_is_a_command_in_any_output(more: dict[str, str], write: Write, chat: Chat, process: Command) -> None:
    said = INJECTED.replace("\n", "\r") + "\n" + INJECTED
    file = write("runs.jsonl", chat(said, question=said, calls={said: said}), said.replace("\n", "\\n"))
    for arguments in (
        ("inspect", file),
        ("inspect", file, "--full"),
        ("score", file, "--check", "includes('sunny')"),
        ("score", file, "--check", f"called_tool({said!r})"),
        ("score", f"##[error]{said}", "--check", "includes('a')"),
        ("checks", INJECTED),
        (INJECTED,),
    ):
        ended = process(*arguments, env={**ON, **more})
        assert commands(ended.out) == []
        assert [one for one in commands(ended.err) if one.name != "error" or one.data.startswith("injected")] == []
        assert "injected" in ended.out + ended.err


LATE = """
import atexit, logging.handlers, os, subprocess, sys
log = logging.getLogger("mine")
log.addHandler(logging.handlers.MemoryHandler(9, target=logging.StreamHandler(os.fdopen(os.dup(2), "w"))))
children = []
atexit.register(lambda: ([child.wait() for child in children], os.write(2, b"::error::injected at the end\\n")))
def answer(text):
    say = "import os, time; time.sleep(0.2); os.write(2, b'::error::injected meanwhile\\\\n')"
    children.append(subprocess.Popen([sys.executable, "-c", say]))
    log.error("::error::injected by the log")
    sys.stdout.buffer.write(b"::error::injected without an end")
    return text
"""


@pytest.mark.parametrize("asked", ["agent:answer", "agent:missing"])
def test_what_is_printed_late_is_no_command(asked: str, step: Path, evaluation: str, process: Command) -> None:
    step.with_name("agent.py").write_text(LATE)
    step.with_name("eval.yaml").write_text(EVAL.replace("agent:answer", asked))
    ended = process("run", evaluation)
    (one,) = as_file(ended)
    assert one.properties["title"] in ("b: includes('sunny')", "quickchecks")
    assert ended.err.count("::error::injected") == (7 if asked == "agent:answer" else 1)
    assert commands(ended.err + "::error::of the next command")[-1] == Told("error", "of the next command")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_copy_of_the_process_lets_no_commands_in(step: Path, evaluation: str, process: Command) -> None:
    copy = "import os, sys\npid = os.fork()\nif not pid: sys.exit(0)\nos.waitpid(pid, 0)\n"
    agent = step.with_name("agent.py")
    agent.write_text(copy + agent.read_text())
    ended = process("run", evaluation)
    assert [told.data for told in as_file(ended) if told.data.startswith("injected")] == []


def test_the_exit_code_may_decide_nothing(step: Path, evaluation: str, runs: Path, process: Command) -> None:
    env = {"QUICKCHECKS_GITHUB": "warnings"}
    for arguments, code in ((("run", evaluation), 1), (("run", "no.yaml"), 2), (("score", runs, "--check", "includes('a')"), 1)):
        ended = process(*arguments, env=env)
        assert (ended.code, {one.name for one in as_file(ended)}) == (code, {"warning"})


def test_a_row_over_several_lines_is_annotated_at_its_first(step: Path, evaluation: str, process: Command) -> None:
    step.with_name("cases.csv").write_text('id,input\n\nb,"rain\nand\nrain"\n')
    step.with_name("eval.yaml").write_text(EVAL.replace("cases.jsonl", "cases.csv"))
    (one,) = as_file(process("run", evaluation))
    assert (one.properties["file"], one.properties["line"]) == ("cases.csv", "3")


def test_outside_of_github_nothing_is_changed(evaluation: str, write: Write, chat: Chat, process: Command) -> None:
    file = write("runs.jsonl", chat(INJECTED))
    assert "##[add-mask]injected" in process("inspect", file, "--full").out
    ended = process("run", evaluation)
    assert "::error::injected" in ended.err.splitlines()
    assert "stop-commands" not in ended.err
