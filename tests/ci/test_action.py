"""The composite action in ci/: its steps, run as GitHub runs them, in a clone of a repository with a base branch."""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml
from github_runner import Told, commands

ROOT = Path(__file__).parent.parent.parent
FOLDER = ROOT / "ci"
ACTION = yaml.safe_load((FOLDER / "action.yml").read_text(encoding="utf-8"))
STEPS = ACTION["runs"]["steps"]

#: What a shell would run, were it ever a part of its text.
HOSTILE = "a $(touch hacked) `touch hacked` \"; touch hacked; ' && touch hacked #\n::error::hacked\n%0A ünicode"

CASES = [{"id": name, "input": name} for name in ("oslo", "rome", "bern", "kyiv")]
GOOD = "def answer(text):\n    return 'It is sunny.'\n"
WORSE = "def answer(text):\n    return 'I cannot say.' if text == 'oslo' else 'It is sunny.'\n"
EVAL = "target: agent:answer\ndata: cases.jsonl\nvars: {say: sunny}\ngates: [{check: {includes: '${say}'}, pass_rate: 0.5}]\n"

pytestmark = pytest.mark.skipif(os.name == "nt" or shutil.which("bash") is None, reason="the steps of the action need bash")


@dataclass(frozen=True)
class Job:
    """How the steps of the action ended.

    Args:
        code: The exit code of the last one that was run.
        outputs: The outputs of the action.
        summary: All summaries.
        log: What all of them printed.
        told: What GitHub obeys of that, each step for itself.
        steps: The steps that were run.
    """

    code: int
    outputs: dict[str, str]
    summary: str
    log: str
    told: list[Told]
    steps: list[str]


Run = Callable[..., Job]


def git(folder: Path, *arguments: str) -> str:
    who = [part for name in ("user.name", "user.email") for part in ("-c", f"{name}=a@b.c")]
    command = ["git", *who, "-c", "init.defaultBranch=main", *arguments]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


class Repository:
    """A repository with a base branch, and a clone of a branch, as `actions/checkout` makes it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.source = folder / "source"
        self.clone = folder / "work"
        self.source.mkdir()
        git(self.source, "init", "--quiet")
        self.write("cases.jsonl", "".join(json.dumps(case) + "\n" for case in CASES))
        self.write("eval.yaml", EVAL)
        self.write("agent.py", GOOD)

    def write(self, name: str, text: str) -> None:
        """Commit a file on the branch that is there."""
        file = self.source / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        git(self.source, "add", "--all")
        git(self.source, "commit", "--quiet", "--allow-empty", "--message", "change")

    def commit_result(self, name: str = "quickchecks-result.json", file: str = "eval.yaml") -> None:
        """Run the eval on the branch that is there, and commit what came of it."""
        command = [sys.executable, "-m", "quickchecks", "run", file, "-o", name]
        subprocess.run(command, cwd=self.source, check=True, capture_output=True)
        git(self.source, "add", "--all")
        git(self.source, "commit", "--quiet", "--message", "result")

    def check_out(self, *, depth: int | None = 1) -> None:
        """Begin the branch of a pull request, whose agent is worse, and clone it."""
        git(self.source, "checkout", "--quiet", "-b", "feature")
        self.write("agent.py", WORSE)
        shallow = [] if depth is None else ["--depth", str(depth)]
        git(self.folder, "clone", "--quiet", *shallow, "--branch", "feature", self.source.as_uri(), str(self.clone))


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path)


@pytest.fixture
def action(repository: Repository, tmp_path: Path) -> Run:
    """Runs the steps of the action in the clone."""

    def run(*, base: str = "main", env: Mapping[str, str] | None = None, **given: str) -> Job:
        inputs = {name: str(one.get("default", "")) for name, one in ACTION["inputs"].items()}
        inputs.update({"file": "eval.yaml", "python": sys.executable, "version": "none"})
        inputs.update({name.replace("_", "-"): value for name, value in given.items()})
        found: dict[str, dict[str, str]] = {}
        code, summary, log, steps = 0, "", "", []
        told: list[Told] = []
        for number, step in enumerate(STEPS):
            output, page, script = (tmp_path / f"{kind}-{number}" for kind in ("output", "summary", "script.sh"))
            output.write_text("")
            page.write_text("")
            script.write_text(step["run"])
            environment = {
                **{name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "TMPDIR", "LANG", "PYTHONPATH")},
                "CI": "true",
                "GITHUB_ACTIONS": "true",
                "GITHUB_ACTION_PATH": str(FOLDER),
                "GITHUB_BASE_REF": base,
                "GITHUB_OUTPUT": str(output),
                "GITHUB_STEP_SUMMARY": str(page),
                "GITHUB_WORKSPACE": str(repository.clone),
                "RUNNER_TEMP": str(tmp_path),
                **{name: filled(str(value), inputs, found) for name, value in step.get("env", {}).items()},
                **(env or {}),
            }
            command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)]
            ended = subprocess.run(command, cwd=repository.clone, env=environment, capture_output=True, timeout=120, check=False)
            printed = ended.stdout.decode() + ended.stderr.decode()
            told += commands(printed)
            log += printed
            summary += page.read_text(encoding="utf-8")
            found[step["id"]] = outputs_in(output.read_text(encoding="utf-8"))
            steps.append(step["id"])
            code = ended.returncode
            if code:
                break
        outputs = {name: filled(one["value"], inputs, found) for name, one in ACTION["outputs"].items()}
        return Job(code, outputs, summary, log, told, steps)

    return run


def filled(text: str, inputs: Mapping[str, str], steps: Mapping[str, Mapping[str, str]]) -> str:
    """A text with its expressions replaced, of which the action has two kinds."""

    def value(found: re.Match[str]) -> str:
        place = found[1].split(".")
        if place[0] == "inputs":
            return inputs[place[1]]
        assert (place[0], place[2]) == ("steps", "outputs")
        return steps.get(place[1], {}).get(place[3], "")

    return re.sub(r"\$\{\{ ([\w.-]+) \}\}", value, text)


def outputs_in(text: str) -> dict[str, str]:
    """The outputs in the file of a step, by GitHub's rules."""
    found: dict[str, str] = {}
    lines = iter(text.splitlines())
    for line in lines:
        name, sign, mark = line.partition("<<")
        assert sign, line
        value: list[str] = []
        for one in lines:
            if one == mark:
                break
            value.append(one)
        else:
            raise AssertionError(f"{name} has no end")
        found[name] = "\n".join(value)
    return found


def hacked(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.name.startswith("hacked")]


def injected(job: Job) -> list[Told]:
    return [one for one in job.told if "hacked" in one.data and one.data.startswith("hacked")]


def test_inputs_reach_a_shell_as_variables_alone() -> None:
    assert [step["run"] for step in STEPS if "${{" in step["run"]] == []
    assert [step["id"] for step in STEPS if step.get("shell") != "bash" or "uses" in step] == []
    used = {name for step in STEPS for value in step["env"].values() for name in re.findall(r"inputs\.([\w-]+)", str(value))}
    assert used == set(ACTION["inputs"])


def test_scripts_stop_at_the_first_error() -> None:
    for step in STEPS:
        script = FOLDER / re.findall(r'"\$GITHUB_ACTION_PATH/([\w-]+\.sh)"', step["run"])[0]
        assert "\nset -euo pipefail\n" in script.read_text(encoding="utf-8")


@pytest.mark.skipif(shutil.which("shellcheck") is None, reason="shellcheck is not installed")
def test_shellcheck_has_nothing_to_say() -> None:
    scripts = [str(script.relative_to(ROOT)) for script in sorted(FOLDER.glob("*.sh"))]
    ended = subprocess.run(["shellcheck", "-x", *scripts], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (0, "")


@pytest.mark.parametrize(("decides", "code", "depth"), [("eval", 0, 1), ("comparison", 1, None), ("both", 1, 1)])
def test_a_regression(decides: str, code: int, depth: int | None, repository: Repository, action: Run) -> None:
    repository.commit_result()
    repository.check_out(depth=depth)
    job = action(decides=decides)
    assert job.code == code, job.log
    assert {name: job.outputs[name] for name in ("verdict", "exit-code", "result", "comparison-exit-code")} == {
        "verdict": "passed",
        "exit-code": "0",
        "result": "quickchecks-result.json",
        "comparison-exit-code": "1",
    }
    diff = Path(job.outputs["diff"]).read_text(encoding="utf-8")
    assert "### Broke\n\n- `oslo` `includes('sunny')`: passed → failed" in diff
    assert Path(job.outputs["report"]).read_text(encoding="utf-8") in job.summary
    assert diff in job.summary
    (one,) = [one for one in job.told if one.name in ("error", "warning")]
    assert (one.name, one.properties["title"]) == ("error" if code else "warning", "oslo: includes('sunny')")
    assert git(repository.clone, "rev-parse", "--is-shallow-repository") == ("true" if depth else "false")


@pytest.mark.parametrize("decides", ["eval", "comparison", "both"])
@pytest.mark.parametrize(
    ("agent", "args"),
    [("import os\n\n\ndef answer(text):\n    os._exit(0)\n", ""), (GOOD, "--help"), ("import os\nos._exit(0)\n", "")],
)
def test_nothing_ran(agent: str, args: str, decides: str, repository: Repository, action: Run) -> None:
    repository.commit_result()
    repository.check_out()
    (repository.clone / "agent.py").write_text(agent)
    job = action(args=args, decides=decides)
    assert (job.code, job.outputs["exit-code"], job.outputs["verdict"]) == (3, "3", ""), job.log
    assert [one.data.partition(":")[0] for one in job.told if one.name == "error"] == ["there is no result"]


def test_without_an_assertion_there_is_no_verdict(repository: Repository, action: Run) -> None:
    repository.write("eval.yaml", "target: agent:answer\ndata: cases.jsonl\nscorers: [{includes: sunny}]\n")
    repository.check_out()
    job = action()
    assert (job.code, job.outputs["verdict"]) == (0, "none"), job.log
    assert "Traceback" not in job.log


@pytest.mark.parametrize(("decides", "code", "level"), [("eval", 0, "warning"), ("comparison", 2, "error"), ("both", 2, "error")])
def test_a_baseline_result_that_was_named_has_to_be_there(
    decides: str, code: int, level: str, repository: Repository, action: Run
) -> None:
    repository.commit_result()
    repository.check_out()
    job = action(baseline_result="quickchecks-resutl.json", decides=decides)
    assert (job.code, job.outputs["comparison-exit-code"], job.outputs["diff"]) == (code, "2", ""), job.log
    (one,) = [one for one in job.told if one.name in ("error", "warning")]
    assert (one.name, one.data) == (
        level,
        "the input baseline-result: there is no file ./quickchecks-resutl.json on main, so nothing is compared",
    )


def test_where_the_comparison_decides_what_the_eval_finds_is_forgiven(repository: Repository, action: Run) -> None:
    repository.write("eval.yaml", EVAL.replace("0.5", "1.0"))
    repository.write("agent.py", WORSE)
    command = [sys.executable, "-m", "quickchecks", "run", "eval.yaml", "-o", "quickchecks-result.json", "--fail-on", "never"]
    subprocess.run(command, cwd=repository.source, check=True, capture_output=True)
    repository.write("more.txt", "")
    repository.check_out()
    job = action(decides="comparison")
    assert (job.code, job.outputs["exit-code"], job.outputs["comparison-exit-code"]) == (0, "1", "0"), job.log
    assert {one.name for one in job.told} == {"warning"}
    job = action(decides="comparison", base="")
    assert job.code == 1
    assert [one.data for one in job.told if one.name == "error"] == ["nothing was compared, so the eval decides: exit code 1"]


def test_a_program_that_outlives_the_run_says_no_command(repository: Repository, action: Run) -> None:
    late = "import os, time; time.sleep(2); os.write(2, b'::error::hacked\\n')"
    agent = f"import subprocess, sys\nsubprocess.Popen([sys.executable, '-c', {late!r}])\n{GOOD}"
    repository.check_out()
    (repository.clone / "agent.py").write_text(agent)
    job = action()
    assert job.code == 0
    assert "::error::hacked" in job.log
    assert injected(job) == []


def test_nothing_got_worse(repository: Repository, action: Run) -> None:
    repository.write("agent.py", WORSE)
    repository.commit_result()
    repository.check_out()
    job = action(decides="both")
    assert (job.code, job.outputs["comparison-exit-code"]) == (0, "0"), job.log


@pytest.mark.parametrize("decides", ["eval", "comparison", "both"])
def test_without_a_committed_result_the_eval_decides(decides: str, repository: Repository, action: Run) -> None:
    repository.check_out()
    job = action(decides=decides)
    assert (job.code, job.outputs["comparison-exit-code"], job.outputs["diff"]) == (0, "", ""), job.log
    assert "No result is committed on the base branch yet" in job.summary
    assert "there is no ./quickchecks-result.json on main yet" in job.log


def test_a_failing_eval_is_compared_before_it_ends_the_job(repository: Repository, action: Run) -> None:
    repository.commit_result()
    repository.check_out()
    job = action(args="--set\nsay=snow")
    assert (job.code, job.outputs["exit-code"], job.outputs["verdict"]) == (1, "1", "failed"), job.log
    assert job.steps == ["install", "run", "compare", "decide"]


def test_outside_of_a_pull_request_nothing_is_compared(repository: Repository, action: Run) -> None:
    repository.commit_result()
    repository.check_out()
    job = action(base="", decides="comparison")
    assert (job.code, job.outputs["diff"]) == (0, ""), job.log
    assert "this is no pull request" in job.log


@pytest.mark.parametrize("kind", ["branch", "tag", "commit"])
def test_another_baseline(kind: str, repository: Repository, action: Run) -> None:
    repository.commit_result("evals/saved.json")
    git(repository.source, "tag", "v1")
    git(repository.source, "branch", "old")
    names = {"branch": "old", "tag": "v1", "commit": git(repository.source, "rev-parse", "HEAD")}
    repository.check_out()
    job = action(base="", baseline=names[kind], baseline_result="evals/saved.json", decides="comparison")
    assert (job.code, job.outputs["comparison-exit-code"]) == (1, "1"), job.log


def test_conditions_of_the_comparison(repository: Repository, action: Run) -> None:
    repository.commit_result()
    repository.check_out()
    job = action(fail_on="never", decides="comparison")
    assert (job.code, job.outputs["comparison-exit-code"]) == (0, "0"), job.log
    job = action(fail_on="regression\ncost>+10%", decides="comparison")
    assert job.code == 1, job.log


def test_a_folder_within_the_repository(repository: Repository, action: Run) -> None:
    for name in ("cases.jsonl", "eval.yaml", "agent.py"):
        repository.write(f"my evals/{name}", (repository.source / name).read_text())
    repository.commit_result("my evals/r.json", "my evals/eval.yaml")
    repository.check_out()
    job = action(working_directory="my evals", result="r.json", decides="comparison")
    assert (job.code, job.outputs["comparison-exit-code"]) == (0, "0"), job.log
    assert (repository.clone / "my evals" / "r.json").is_file()


@pytest.mark.parametrize("decides", ["eval", "comparison", "both"])
def test_an_eval_that_cannot_be_run_is_not_mistaken_for_the_result_that_was_checked_out(
    decides: str, repository: Repository, action: Run
) -> None:
    repository.commit_result()
    repository.check_out()
    job = action(file="nowhere.yaml", decides=decides)
    assert job.code == 2, job.log
    assert (job.outputs["verdict"], job.outputs["result"], job.outputs["diff"]) == ("", "", "")


@pytest.mark.parametrize(("decides", "code"), [("eval", 0), ("comparison", 3), ("both", 3)])
def test_a_baseline_that_cannot_be_fetched_is_told(decides: str, code: int, repository: Repository, action: Run) -> None:
    repository.commit_result()
    repository.check_out()
    git(repository.clone, "remote", "set-url", "origin", (repository.folder / "gone").as_uri())
    job = action(decides=decides)
    assert job.code == code, job.log
    assert [one.name for one in job.told if "could not be fetched" in one.data] == ["warning"]


def test_a_baseline_that_is_here_needs_no_fetching(repository: Repository, action: Run) -> None:
    repository.commit_result()
    repository.check_out(depth=None)
    git(repository.clone, "remote", "set-url", "origin", (repository.folder / "gone").as_uri())
    job = action(decides="comparison")
    assert (job.code, job.outputs["comparison-exit-code"]) == (1, "1"), job.log


@pytest.mark.parametrize("name", ["-v.yaml", "a b.yaml", f"{HOSTILE}.yaml".replace("/", "")])
def test_a_hostile_file(name: str, repository: Repository, action: Run) -> None:
    repository.write(name, EVAL)
    repository.commit_result()
    repository.check_out()
    job = action(file=name)
    assert (job.code, job.outputs["verdict"], job.outputs["comparison-exit-code"]) == (0, "passed", "1"), job.log
    assert (hacked(repository.folder), injected(job)) == ([], [])


@pytest.mark.parametrize("name", ["-o.json", "a b.json", f"{HOSTILE}.json", "r.json\nverdict<<x\nhacked\nx\n.json"])
def test_a_hostile_result(name: str, repository: Repository, action: Run) -> None:
    repository.commit_result(f"./{name}")
    repository.check_out()
    job = action(result=name)
    assert (job.code, job.outputs["result"], job.outputs["verdict"]) == (0, name, "passed"), job.log
    assert job.outputs["comparison-exit-code"] == "1", job.log
    assert (hacked(repository.folder), injected(job)) == ([], [])


@pytest.mark.parametrize("name", ["file", "result", "baseline", "baseline_result", "fail_on", "decides", "version", "args"])
def test_a_hostile_input_is_refused_or_nothing_comes_of_it(name: str, repository: Repository, action: Run) -> None:
    repository.commit_result()
    repository.check_out()
    job = action(**{name: HOSTILE})
    assert (hacked(repository.folder), injected(job)) == ([], [])
    if name not in ("baseline_result", "fail_on"):  # of which one is not found, and the other makes a comparison fail alone
        assert job.code == 2, job.log


def test_a_hostile_variable_is_a_value(repository: Repository, action: Run) -> None:
    repository.check_out()
    job = action(args=f"--set\nsay={HOSTILE.splitlines()[0]}")
    assert (job.code, job.outputs["verdict"]) == (1, "failed"), job.log
    assert (hacked(repository.folder), injected(job)) == ([], [])


def test_a_hostile_branch(repository: Repository, action: Run) -> None:
    name = "a$(touch${IFS}hacked)`touch${IFS}hacked`'\";touch${IFS}hacked"
    repository.commit_result()
    git(repository.source, "branch", name)
    repository.check_out()
    job = action(base=name, baseline_result="no.json")
    assert job.code == 0, job.log
    job = action(base=name)
    assert (job.code, job.outputs["comparison-exit-code"]) == (0, "1"), job.log
    assert hacked(repository.folder) == []


def test_a_folder_that_is_called_like_the_package_takes_nobodys_place(repository: Repository, action: Run) -> None:
    for name in ("quickchecks/__init__.py", "json.py", "pip.py"):
        repository.write(name, "open('hacked', 'w')\n")
    repository.check_out()
    assert action().code == 0
    assert hacked(repository.folder) == []


def stub(tmp_path: Path) -> tuple[Path, Path]:
    """A Python that notes what it is asked, one argument a line; and where."""
    asked, python = tmp_path / "asked.txt", tmp_path / "python stub"
    python.write_text(f'#!/bin/sh\nprintf "[%s]\\n" "$@" >>"{asked}"\necho -- >>"{asked}"\n')
    python.chmod(python.stat().st_mode | stat.S_IXUSR)
    return python, asked


@pytest.mark.parametrize(
    ("version", "wanted"), [("", [f"[{FOLDER}/..]"]), ("1.2.0rc1", ["[quickchecks==1.2.0rc1]"]), ("none", [])]
)
def test_what_is_installed(version: str, wanted: list[str], repository: Repository, action: Run, tmp_path: Path) -> None:
    repository.check_out()
    python, asked = stub(tmp_path)
    action(python=str(python), version=version, pip_args="--requirement\nmy requirements.txt\n\nb; touch hacked")
    first = asked.read_text().split("--\n")[0].splitlines()
    arguments = ["[--requirement]", "[my requirements.txt]", "[b; touch hacked]"]
    assert first == ["[-P]", "[-m]", "[pip]", "[install]", "[--disable-pip-version-check]", *arguments, *wanted]
    assert hacked(repository.folder) == []


def test_nothing_is_installed_when_nothing_is_asked_for(repository: Repository, action: Run, tmp_path: Path) -> None:
    repository.check_out()
    python, asked = stub(tmp_path)
    action(python=str(python), version="none")
    assert "pip" not in asked.read_text()


@pytest.mark.parametrize(
    "given",
    [
        {"decides": "evals"},
        {"version": "latest; ls"},
        {"result": "x.md"},
        {"result": "x.jsonl"},
        {"result": "x.json\nx"},
        {"working_directory": "nowhere/::error::hacked"},
        {"working_directory": "eval.yaml"},
        {"python": "no-such-python"},
    ],
)
def test_a_mistake_in_an_input_is_told_before_anything_is_done(
    given: dict[str, str], repository: Repository, action: Run
) -> None:
    repository.check_out()
    job = action(**given)
    assert (job.code, job.steps) == (2, ["install"])
    assert [one.name for one in job.told] == ["error"]
    assert job.told[0].data.startswith(f"the input {next(iter(given)).replace('_', '-')}")
