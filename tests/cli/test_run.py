"""`quickchecks run`."""

from __future__ import annotations

import csv
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from quickchecks import load_result, load_runs
from quickchecks._results.deciding import eval_exit_code
from quickchecks._results.evaluation import EvalResult
from quickchecks.cli import _watching
from quickchecks.cli._evaluating import Request
from quickchecks.reports.terminal_evaluation import eval_lines

if TYPE_CHECKING:
    from tests.cli.conftest import Command

    from quickchecks.cli._files import Files

needs_full_device = pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device here that is always full")

AGENT = """
def answer(question):
    with open("asked.txt", "a") as file:
        file.write(question + "\\n")
    if question == "boom":
        raise ValueError("no")
    return question.upper()
"""


@pytest.fixture
def weather(quickchecks: Command, root: Path) -> Path:
    """The folder of the weather example, which is the current one."""
    shutil.copytree(root / "examples" / "weather", Path(), dirs_exist_ok=True)
    return Path()


@pytest.fixture
def evalfile(quickchecks: Command) -> Callable[[str], Path]:
    """Writes an eval file, and an agent beside it that notes in asked.txt what it was asked."""

    def write(text: str) -> Path:
        Path("agent.py").write_text(AGENT)
        Path("eval.yaml").write_text(f"target: agent:answer\n{text}", encoding="utf-8")
        return Path("eval.yaml")

    return write


def asked() -> list[str]:
    return Path("asked.txt").read_text().split() if Path("asked.txt").exists() else []


def test_the_example_passes(quickchecks: Command, weather: Path) -> None:
    ended = quickchecks("run", "eval.yaml")
    lines = ended.out.splitlines()
    assert lines[0].startswith("passed · 8 items · ")
    assert lines[-1] == "passed · exit 0"
    assert (ended.code, ended.err) == (0, "")


def test_the_hasty_agent_of_the_example_fails(quickchecks: Command, weather: Path) -> None:
    ended = quickchecks("run", "eval.yaml", "--set", "agent=agent:hasty")
    assert ended.code == 1
    assert "why: whoever asks wants the facts" in ended.out
    assert "warning: no run here ever called 'summarize'" in ended.out
    assert ended.out.splitlines()[-1] == "failed · exit 1"


@pytest.mark.parametrize(
    ("checks", "fail_on", "code", "last"),
    [
        ("gates: [{includes: a}]", "any", 0, "passed · exit 0"),
        ("gates: [{includes: z}]", "any", 1, "failed · exit 1"),
        ("gates: [{includes: z}]", "gates", 1, "failed · exit 1"),
        ("gates: [{includes: z}]", "never", 0, "failed · exit 0"),
        ("scorers: [{check: {includes: z}, threshold: 0.5}]", "any", 1, "scored · exit 1"),
        ("scorers: [{check: {includes: z}, threshold: 0.5}]", "gates", 0, "scored · exit 0"),
        ("scorers: [{check: no_tool_errors, threshold: 0.5}]", "any", 3, "undecided · exit 3"),
        ("scorers: [{check: no_tool_errors, threshold: 0.5}]", "gates", 3, "undecided · exit 3"),
        ("scorers: [{check: no_tool_errors, threshold: 0.5}]", "never", 3, "undecided · exit 3"),
        ("scorers: [no_tool_errors]", "any", 3, "nothing scored · exit 3"),
        ("scorers: [no_tool_errors]", "never", 3, "nothing scored · exit 3"),
        (
            "scorers: [{includes: a}]\ngates: [{when: {condition: {includes: c}, check: no_tool_errors}}]",
            "never",
            3,
            "undecided · exit 3",
        ),
        ("scorers: [{includes: z}]", "any", 0, "nothing asserted · exit 0"),
        ("gates: [{when: {condition: {includes: z}, check: {includes: y}}}]", "any", 3, "undecided · exit 3"),
        ("gates: [no_tool_errors]", "any", 3, "undecided · exit 3"),
        ("gates: [no_tool_errors]", "gates", 3, "undecided · exit 3"),
    ],
)
def test_the_exit_code(
    checks: str, fail_on: str, code: int, last: str, quickchecks: Command, evalfile: Callable[[str], Path]
) -> None:
    ended = quickchecks("run", evalfile(f"data: [a, abc]\n{checks}"), "--fail-on", fail_on)
    assert ended.out.splitlines()[-1] == last
    assert ended.code == code


def test_when_nothing_is_asserted_it_says_so(quickchecks: Command, evalfile: Callable[[str], Path]) -> None:
    assert "nothing was asserted" in quickchecks("run", evalfile("data: [a]\nscorers: [{includes: a}]")).out


@pytest.mark.parametrize(("allowed", "code"), [(0, 1), (1, 3)])
def test_a_target_that_breaks_never_ends_with_0(
    allowed: int, code: int, quickchecks: Command, evalfile: Callable[[str], Path]
) -> None:
    file = evalfile(f"data: [boom]\nscorers: [{{includes: a}}]\noptions: {{max_errors: {allowed}}}")
    ended = quickchecks("run", file)
    assert ended.code == code
    assert "ValueError: no" in ended.out
    assert ended.out.splitlines()[-1] == f"nothing {'scored' if allowed else 'asserted, 1 broke'} · exit {code}"


def test_what_a_target_prints_is_no_part_of_the_result(quickchecks: Command, weather: Path) -> None:
    Path("agent.py").write_text("print('imported')\ndef answer(question):\n    print('asked')\n    return 'a'\n")
    Path("eval.yaml").write_text("target: agent:answer\ndata: [q]\ngates: [{includes: a}]")
    ended = quickchecks("run", "eval.yaml")
    assert ended.out.splitlines()[0].startswith("passed")
    assert ended.err == "imported\nasked\n"


def test_every_form_of_report(quickchecks: Command, weather: Path) -> None:
    names = ["result.json", "items.jsonl", "scores.csv", "summary.md"]
    ended = quickchecks("run", "eval.yaml", *[part for name in names for part in ("-o", name)])
    assert ended.err.splitlines() == [f"wrote {name}" for name in names]
    assert load_result("result.json").verdict == "passed"
    lines = [json.loads(line) for line in Path("items.jsonl").read_text().splitlines()]
    assert (len(lines), lines[0]["id"], lines[0]["tools"]) == (8, "brooklyn", ["get_weather", "summarize"])
    rows = list(csv.DictReader(Path("scores.csv").read_text().splitlines()))
    assert (len(rows), rows[0]["outcome"], rows[0]["role"]) == (32, "passed", "gate")
    page = Path("summary.md").read_text()
    assert page.startswith("## passed\n")
    assert "| `looks temperatures up` | gate | 6 |" in page


@pytest.mark.parametrize(
    ("outputs", "problem"),
    [
        (["result.xls"], "there is no form of report with the suffix '.xls': a report ends in .csv, "),
        (["a.json", "./a.json"], "stands twice"),
        (["eval.yaml"], "is what is read here"),
        (["dataset.jsonl"], "is what is read here"),
        (["new/a.json", "eval.yaml/a.json"], "eval.yaml/a.json cannot be written: Not a directory"),
    ],
)
def test_nothing_is_asked_when_the_result_could_not_be_written(
    outputs: list[str], problem: str, quickchecks: Command, weather: Path
) -> None:
    Path("agent.py").write_text("raise RuntimeError('imported')")
    ended = quickchecks("run", "eval.yaml", *[part for name in outputs for part in ("-o", name)])
    assert (ended.code, ended.out) == (2, "")
    assert problem in ended.err
    assert "imported" not in ended.err
    assert not Path("new").exists()


@needs_full_device
@pytest.mark.parametrize("suffix", ["json", "jsonl", "csv", "html", "md", "junit.xml"])
def test_a_file_that_cannot_be_written_loses_neither_the_result_nor_the_others(
    suffix: str, quickchecks: Command, evalfile: Callable[[str], Path]
) -> None:
    Path(f"full.{suffix}").symlink_to("/dev/full")
    ended = quickchecks("run", evalfile("data: [a]\ngates: [{includes: a}]"), "-o", f"full.{suffix}", "-o", "z.csv")
    assert ended.code == 2
    assert ended.out.splitlines()[-1] == "passed · exit 0"
    assert ended.err == f"wrote z.csv\nError: full.{suffix} cannot be written: No space left on device\n"
    assert "passed" in Path("z.csv").read_text(encoding="utf-8")


def test_options_of_the_command_take_the_place_of_those_of_the_file(
    quickchecks: Command, evalfile: Callable[[str], Path]
) -> None:
    file = evalfile("data: [a]\ngates: [{includes: a}]\noptions: {repetitions: 5, record: no.jsonl}")
    ended = quickchecks(
        "run", file, "--repeat", 2, "--concurrency", 1, "--timeout", 5, "--record", "runs.jsonl", "-o", "result.json"
    )
    assert ended.code == 0
    assert asked() == ["a", "a"]
    assert [run.text for run in load_runs("runs.jsonl")] == ["A", "A"]
    assert not Path("no.jsonl").exists()
    assert [item.run.text for item in load_result("result.json").items if item.run] == ["A", "A"]


def test_the_data_is_not_overwritten_by_a_recording(quickchecks: Command, weather: Path) -> None:
    ended = quickchecks("run", "eval.yaml", "--record", "dataset.jsonl")
    assert (ended.code, ended.err) == (2, "Error: dataset.jsonl is what is read here: record to another file\n")


def test_a_folder_is_made_for_whatever_is_written(quickchecks: Command, evalfile: Callable[[str], Path]) -> None:
    file = evalfile("data: [a]\ngates: [{includes: a}]")
    names = ("runs/all/a.jsonl", "out/result.json", "out/deep/page.md")
    ended = quickchecks("run", file, "--record", names[0], "-o", names[1], "-o", names[2])
    assert ended.code == 0
    assert [Path(name).is_file() for name in names] == [True, True, True]
    assert quickchecks("compare", names[1], names[1], "-o", "c/c.md").code == 3
    assert quickchecks("score", names[0], "--check", "includes('a')", "-o", "s/s.md", "--failures", "s/f/f.jsonl").code == 0
    assert [Path(name).is_file() for name in ("c/c.md", "s/s.md", "s/f/f.jsonl")] == [True, True, True]


def test_no_folder_is_left_where_nothing_was_written(quickchecks: Command, evalfile: Callable[[str], Path]) -> None:
    file = evalfile("data: [a]\ngates: [{includes: a}]")
    quickchecks("run", file, "-o", "result.json")
    ended = quickchecks("run", file, "--only-failed", "result.json", "-o", "new/in/a.json", "-o", "new/in/b.md")
    assert (ended.code, Path("new").exists()) == (3, False)


@pytest.mark.parametrize("name", ["a.jsonl", "./a.jsonl"])
def test_the_runs_and_the_result_are_two_files(name: str, quickchecks: Command, evalfile: Callable[[str], Path]) -> None:
    ended = quickchecks("run", evalfile("data: [a]\ngates: [{includes: a}]"), "--record", "a.jsonl", "-o", name)
    said = f"{name} would be written twice, with the recorded runs and by -o: give one of them another name"
    assert (ended.code, ended.err) == (2, f"Error: {said}\n")
    assert not Path("a.jsonl").exists()


def test_a_result_elsewhere_than_its_recording_holds_its_runs(quickchecks: Command, evalfile: Callable[[str], Path]) -> None:
    Path("out").mkdir()
    quickchecks("run", evalfile("data: [a]\ngates: [{includes: a}]"), "--record", "runs.jsonl", "-o", "out/result.json")
    assert [item.run.text for item in load_result("out/result.json").items if item.run] == ["A"]


def test_only_what_failed_is_run_again(quickchecks: Command, evalfile: Callable[[str], Path]) -> None:
    file = evalfile("data: [{id: 1, input: a}, {id: 2, input: b}, {id: 3, input: boom}]\ngates: [{includes: a}]")
    quickchecks("run", file, "-o", "result.json")
    Path("asked.txt").unlink()
    ended = quickchecks("run", file, "--only-failed", "result.json")
    assert sorted(asked()) == ["b", "boom"]
    assert "only 2 of 3 items: 2 did not pass in result.json" in ended.out
    assert ended.code == 1


def test_what_was_never_run_is_run_too_and_not_called_failed(quickchecks: Command, evalfile: Callable[[str], Path]) -> None:
    gates = "gates: [{includes: a}]"
    quickchecks(
        "run", evalfile(f"data: [{{id: 1, input: a}}, {{id: 2, input: b}}, {{id: 4, input: a}}]\n{gates}"), "-o", "a.json"
    )
    Path("asked.txt").unlink()
    data = "data: [{id: 1, input: a}, {id: 3, input: ab}, {id: 4, input: abc}]"
    ended = quickchecks("run", evalfile(f"{data}\n{gates}"), "--only-failed", "a.json")
    assert sorted(asked()) == ["ab", "abc"]
    note = "only 2 of 3 items: 2 were not run in a.json as they are now; 1 that did not pass there is not in the data"
    assert f"warning: {note}" in ended.out


def test_the_recording_of_the_whole_is_not_replaced_by_that_of_a_few_items(
    quickchecks: Command, evalfile: Callable[[str], Path]
) -> None:
    file = evalfile("data: [a, b]\ngates: [{includes: A}]\noptions: {record: runs.jsonl}")
    quickchecks("run", file, "-o", "result.json")
    ended = quickchecks("run", file, "--only-failed", "result.json")
    assert (ended.code, ended.out) == (2, "")
    assert "runs.jsonl keeps the runs of result.json: record to another file, with --record FILE" in ended.err
    assert all(item.run is not None for item in load_result("result.json").items)
    assert quickchecks("run", file, "--only-failed", "result.json", "--record", "few.jsonl").code == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "target: fine:answer\ndata: [a]",
            "eval.yaml: there is nothing to score with: it has neither gates nor scorers\n"
            "  write, for example, gates: [no_tool_errors]\n",
        ),
        (
            "data: [{id: x, input: a}]\ngates: [no_tool_errors]",
            "eval.yaml:1: item 'x' has to be asked, and eval.yaml has no target\n"
            "  write target: module:function, or give each item the output that is known already\n",
        ),
        (
            "data: items.jsonl\ngates: [no_tool_errors]",
            "items.jsonl:2: item 'y' has to be asked, and eval.yaml has no target\n"
            "  write target: module:function, or give each item the output that is known already\n",
        ),
    ],
)
def test_what_a_file_lacks_is_said_in_its_own_words(text: str, said: str, quickchecks: Command) -> None:
    Path("eval.yaml").write_text(text)
    Path("items.jsonl").write_text('{"id": "x", "input": "a", "output": "b"}\n{"id": "y", "input": "a"}\n')
    ended = quickchecks("run", "eval.yaml", "-o", "result.json")
    assert (ended.code, ended.err) == (2, f"Error: {said}")
    assert not Path("result.json").exists()


def test_what_a_python_file_lacks_is_said_in_python(quickchecks: Command) -> None:
    Path("lacking.py").write_text("evaluation = {'data': ['a']}")
    assert "write, for example, gates=[checks.no_tool_errors()]" in quickchecks("run", "lacking.py").err
    Path("lacking.py").write_text("from quickchecks import checks\nevaluation = {'data': ['a'], 'gates': [checks.includes('a')]}")
    assert "lacking.py has no target\n  write target=…, or give" in quickchecks("run", "lacking.py").err


def test_when_nothing_failed_nothing_is_run(quickchecks: Command, evalfile: Callable[[str], Path]) -> None:
    file = evalfile("data: [a]\ngates: [{includes: a}]")
    quickchecks("run", file, "-o", "result.json")
    ended = quickchecks("run", file, "--only-failed", "result.json")
    assert (ended.code, asked()) == (3, ["a"])
    assert ended.out == "no item failed in result.json, which passed, so that there is nothing to run · exit 3\n"


@pytest.mark.parametrize(
    ("checks", "said"),
    [
        (
            "gates: [{when: {condition: {includes: z}, check: {includes: a}}}]",
            "no item failed in result.json, which is undecided (when(includes('z'), includes('a')): no item was judged: "
            "it does not apply to 1), so that there is nothing to run; leave --only-failed out to run every item · exit 3\n",
        ),
        (
            "scorers: [{includes: a}]",
            "no item failed in result.json, which asserts nothing, so that there is nothing to run; "
            "leave --only-failed out to run every item · exit 3\n",
        ),
    ],
)
def test_a_result_without_failures_is_not_said_to_have_passed(
    checks: str, said: str, quickchecks: Command, evalfile: Callable[[str], Path]
) -> None:
    file = evalfile(f"data: [a]\n{checks}")
    quickchecks("run", file, "-o", "result.json")
    ended = quickchecks("run", file, "--only-failed", "result.json")
    assert (ended.code, ended.out) == (3, said)


def test_the_whole_result_is_not_replaced_by_that_of_a_few_items(quickchecks: Command, evalfile: Callable[[str], Path]) -> None:
    file = evalfile("data: [a, b]\ngates: [{includes: a}]")
    quickchecks("run", file, "-o", "result.json")
    ended = quickchecks("run", file, "--only-failed", "result.json", "-o", "result.json")
    assert (ended.code, ended.err) == (2, "Error: result.json is what is read here: write to another file\n")
    assert len(load_result("result.json").items) == 2


def test_runs_are_scored_again_without_asking(quickchecks: Command, evalfile: Callable[[str], Path]) -> None:
    data = "data: [{id: 1, input: a}, {id: 2, input: boom}]"
    quickchecks("run", evalfile(f"{data}\ngates: [{{includes: z}}]\noptions: {{repetitions: 2}}"), "-o", "result.json")
    Path("asked.txt").unlink()
    file = evalfile(f"{data}\ngates: [{{includes: A}}]\noptions: {{max_errors: 2}}")
    ended = quickchecks("run", file, "--rescore", "result.json", "-o", "again.json")
    assert (ended.code, asked()) == (0, [])
    again = load_result("again.json")
    assert [(item.id, item.repetition, item.errored) for item in again.items] == [
        ("1", 0, False),
        ("1", 1, False),
        ("2", 0, True),
        ("2", 1, True),
    ]


def test_a_variable_of_the_target_is_no_matter_of_scoring_again(quickchecks: Command, evalfile: Callable[[str], Path]) -> None:
    variables = "vars: {wanted: A, model: small, only: agent}\noptions: {target_options: {model: '${model}'}}"
    file = evalfile(f"data: [{{id: 1, input: a}}]\n{variables}\ngates: [{{includes: '${{wanted}}'}}]")
    Path("agent.py").write_text("def answer(question, model): return question.upper() + model")
    assert quickchecks("run", file, "-o", "result.json").code == 0
    assert quickchecks("run", file, "--rescore", "result.json", "--set", "wanted=Z").code == 1
    ended = quickchecks("run", file, "--rescore", "result.json", "--set", "wanted=A", "--set", "model=large")
    assert (ended.code, ended.out) == (2, "")
    assert "--set model=…: it is for the target, which --rescore does not ask: leave it out" in ended.err


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--only-failed", "a.json", "--rescore", "a.json"], "use one of them"),
        (["--rescore", "a.json", "--repeat", "2"], "leave one out"),
        (["--rescore", "a.json", "--timeout", "2"], "--timeout is about runs to come"),
        (["--rescore", "a.json", "--concurrency", "2"], "--concurrency is about runs to come"),
        (["--rescore", "a.json", "--watch"], "leave --rescore out"),
        (["--rescore", "a.json"], "the result cannot be read"),
        (["--set", "agent"], "write --set name=value"),
        (["--set", "agent=a:b", "--set", "agent=c:d"], "stands twice"),
        (["--repeat", "0"], "0 is not in the range"),
    ],
)
def test_wrong_usage(arguments: list[str], problem: str, process: Command, weather: Path) -> None:
    ended = process("run", "eval.yaml", *arguments)
    assert (ended.code, ended.out) == (2, "")
    assert problem in ended.err


def test_a_file_that_is_not_there(process: Command, weather: Path) -> None:
    ended = process("run", "evl.yaml")
    assert (ended.code, ended.err) == (2, "Error: evl.yaml: there is no such eval file\n  did you mean 'eval.yaml'?\n")


def test_a_recording_is_no_eval(quickchecks: Command, weather: Path) -> None:
    ended = quickchecks("run", "dataset.jsonl")
    assert (ended.code, ended.err.splitlines()[0]) == (2, "Error: dataset.jsonl holds records, not an eval")


def test_an_eval_in_python(quickchecks: Command, weather: Path) -> None:
    Path("my_eval.py").write_text(
        "from agent import careful\nfrom quickchecks import checks\n"
        "evaluation = dict(data='dataset.jsonl', target=careful, gates=[checks.excludes('probably')])\n"
    )
    ended = quickchecks("run", "my_eval.py")
    assert (ended.code, ended.out.splitlines()[-1]) == (0, "passed · exit 0")


def test_what_an_agent_says_cannot_drive_the_terminal(quickchecks: Command, evalfile: Callable[[str], Path]) -> None:
    file = evalfile('data: ["a\\e[31m"]\ngates: [{includes: z}]')
    ended = quickchecks("run", file, "-o", "page.md")
    assert "\x1b" not in ended.out
    assert "\x1b" not in Path("page.md").read_text()


def test_ctrl_c_gives_and_writes_what_was_finished(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text("import time\ndef answer(n):\n    time.sleep(0 if n < '3' else 30)\n    return n\n")
    (tmp_path / "eval.yaml").write_text("target: agent:answer\ndata: ['1', '2', '3']\ngates: [{matches: '.'}]")
    command = [sys.executable, "-m", "quickchecks", "run", "eval.yaml", "-o", "result.json", "--record", "runs.jsonl"]
    running = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    growing = tmp_path / "runs.jsonl.part"
    for _ in range(200):
        if growing.exists() and len(growing.read_text().splitlines()) == 2:
            break
        time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=20)
    assert running.returncode == 130, err
    assert "undecided, interrupted · exit 130" in out
    result = load_result(tmp_path / "result.json")
    assert (result.interrupted, [item.run.text for item in result.items if item.run]) == (True, ["1", "2"])


Edits = Callable[..., None]


@pytest.fixture
def edits(monkeypatch: pytest.MonkeyPatch) -> Edits:
    """Edits files while a watch waits: one edit for each time that it finds nothing changed."""

    def plan(*steps: Callable[[], object]) -> None:
        waiting = [step for edit in steps for step in (edit, lambda: None)]  # it waits once more until files stay as they are
        monkeypatch.setattr(time, "sleep", lambda seconds: waiting.pop(0)())

    return plan


def change(**texts: str) -> Callable[[], object]:
    """Writes files, each named without its suffix."""
    names = {"agent": "agent.py", "eval": "eval.yaml"}

    def write() -> None:
        for name, text in texts.items():
            Path(names[name]).write_text(text, encoding="utf-8")

    return write


class Shown:
    """Notes the results that a watch shows."""

    def __init__(self) -> None:
        self.results: list[EvalResult] = []

    def __call__(self, result: EvalResult, files: Files) -> int:
        self.results.append(result)
        return eval_exit_code(result)


BEFORE = "target: agent:answer\ndata: [a]\n"
AGAIN = "def answer(question): return 'a, again'\n"


def test_watching_scores_again_where_only_checks_changed(
    evalfile: Callable[[str], Path], edits: Edits, capsys: pytest.CaptureFixture[str]
) -> None:
    evalfile("data: [a]\ngates: [{includes: a}]")
    edits(change(eval=f"{BEFORE}gates: [{{includes: zebra}}]"))
    shown = Shown()
    assert _watching.watch(Request("eval.yaml"), shown, rounds=2) == 1
    assert [result.verdict for result in shown.results] == ["passed", "failed"]
    assert asked() == ["a"]
    assert "changed: eval.yaml\nonly checks changed: the last runs are scored again" in capsys.readouterr().err


def test_watching_runs_again_where_the_data_or_the_target_changed(evalfile: Callable[[str], Path], edits: Edits) -> None:
    evalfile("data: [a]\ngates: [{includes: a}]")
    edits(change(eval="target: agent:answer\ndata: [abc]\ngates: [{includes: a}]"), change(agent=AGAIN))
    shown = Shown()
    assert _watching.watch(Request("eval.yaml"), shown, rounds=3) == 0
    assert [item.run.text for result in shown.results for item in result.items if item.run] == ["A", "ABC", "a, again"]
    assert asked() == ["a", "abc"]


def test_watching_goes_on_after_a_mistake(
    evalfile: Callable[[str], Path], edits: Edits, capsys: pytest.CaptureFixture[str]
) -> None:
    evalfile("data: [a]\ngates: [{includes: a}]")
    edits(change(eval="target: agent:answer\ndata: [a"), change(eval=f"{BEFORE}gates: [{{includes: a}}]"))
    shown = Shown()
    assert _watching.watch(Request("eval.yaml"), shown, rounds=3) == 0
    assert len(shown.results) == 2
    assert "this is not YAML" in capsys.readouterr().err


def test_watching_sees_when_the_target_is_mended(evalfile: Callable[[str], Path], edits: Edits) -> None:
    evalfile("data: [a]\ngates: [{includes: a}]")
    Path("agent.py").write_text("1 / 0")
    edits(change(agent=AGENT))
    shown = Shown()
    assert _watching.watch(Request("eval.yaml"), shown, rounds=2) == 0
    assert len(shown.results) == 1


def test_watching_runs_again_where_the_target_changed_while_the_file_was_broken(
    evalfile: Callable[[str], Path], edits: Edits
) -> None:
    evalfile("data: [a]\ngates: [{includes: a}]")
    edits(
        change(eval="target: agent:answer\ndata: [a", agent=AGAIN),
        change(eval=f"{BEFORE}gates: [{{includes: again}}]"),
    )
    shown = Shown()
    assert _watching.watch(Request("eval.yaml"), shown, rounds=3) == 0
    assert [result.verdict for result in shown.results] == ["passed", "passed"]


def test_what_is_still_being_written_is_not_read(evalfile: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    evalfile("data: [a]\ngates: [{includes: a}]")
    steps: list[Callable[[], object]] = [change(eval=""), change(eval=f"{BEFORE}gates: [{{includes: zebra}}]"), lambda: None]
    monkeypatch.setattr(time, "sleep", lambda seconds: steps.pop(0)())
    shown = Shown()
    assert _watching.watch(Request("eval.yaml"), shown, rounds=2) == 1
    assert len(shown.results) == 2


def test_the_command_watches_until_ctrl_c(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(AGENT)
    (tmp_path / "eval.yaml").write_text(f"{BEFORE}gates: [{{includes: a}}]")
    command = [sys.executable, "-m", "quickchecks", "run", "eval.yaml", "--watch"]
    running = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert running.stderr is not None
    assert running.stderr.readline() == "watching for changes; Ctrl-C ends it\n"
    running.send_signal(signal.SIGINT)
    out, _ = running.communicate(timeout=20)
    assert (running.returncode, out.splitlines()[-1]) == (0, "passed · exit 0")


def test_ctrl_c_ends_watching(evalfile: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(seconds: float) -> None:
        raise KeyboardInterrupt

    evalfile("data: [a]\ngates: [{includes: z}]")
    monkeypatch.setattr(time, "sleep", interrupt)
    assert _watching.watch(Request("eval.yaml"), Shown()) == 1


def test_the_lines_of_a_result_begin_with_the_verdict_and_end_with_the_exit_code(evalfile: Callable[[str], Path]) -> None:
    lines = list(eval_lines(EvalResult(()), 3))
    assert lines[-1].text == "nothing scored · exit 3"
    assert os.linesep not in lines[0].text
