"""Programs as targets: a line for a line, started again when they die, never mixed up."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from quickchecks import EvalResult, checks, run_evals, run_evals_sync
from quickchecks._targets import programs
from quickchecks.errors import TargetError

ECHO = """
import json, os, sys
for line in sys.stdin:
    asked = json.loads(line)
    said = [message["content"] for message in asked["history"] if message["role"] == "user"]
    about = {"pid": os.getpid(), "turn": asked["turn"]}
    print(json.dumps({"output": f"{asked['input']} after {said}", "metadata": about}), flush=True)
"""


@pytest.fixture
def program(tmp_path: Path) -> Any:
    def program(code: str) -> str:
        path = tmp_path / "agent.py"
        path.write_text(code)
        return f"cmd:{sys.executable} {path}"

    return program


def evaluated(target: str, data: Any, **options: Any) -> EvalResult:
    return run_evals_sync(data, target, gates=[checks.excludes("never said")], **options)


def texts(result: EvalResult) -> list[str]:
    return [item.run.text if item.run is not None else "" for item in result.items]


def errors(result: EvalResult) -> list[str]:
    return [item.error.message if item.error is not None else "" for item in result.items]


def runs(pid: int) -> bool:
    """Whether a process runs; one that is dead and that nobody has waited for does not."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except ProcessLookupError:
        return False
    except FileNotFoundError:
        return not Path("/proc/self").exists()


def await_end(pid: int) -> None:
    until = time.monotonic() + 20
    while runs(pid) and time.monotonic() < until:
        time.sleep(0.02)
    assert not runs(pid)


def pid_in(path: Path) -> int:
    until = time.monotonic() + 20
    while not (path.exists() and path.read_text().endswith("\n")) and time.monotonic() < until:
        time.sleep(0.02)
    return int(path.read_text())


@pytest.fixture
def launcher(tmp_path: Path) -> str:
    """A program that waits for another one, as launchers do; the other one hangs, and writes down who it is."""
    hang = f"import os, pathlib, time\npathlib.Path({str(tmp_path / 'pid')!r}).write_text(f'{{os.getpid()}}\\n')\ntime.sleep(600)"
    (tmp_path / "hang.py").write_text(hang)
    (tmp_path / "child.sh").write_text(f"{sys.executable} {tmp_path / 'hang.py'}\nexit 0\n")
    return f"cmd:sh {tmp_path / 'child.sh'}"


def pids(result: EvalResult) -> list[object]:
    return [item.run.metadata["pid"] for item in result.items if item.run is not None and item.run.metadata is not None]


def test_each_item_is_a_line_and_one_program_serves_them_all(program: Any) -> None:
    result = evaluated(program(ECHO), ["a", {"input": {"q": "é\u2028"}}, "c"], concurrency=1)
    assert texts(result) == ["a after []", "{'q': 'é\\u2028'} after []", "c after []"]
    assert len(set(pids(result))) == 1


def test_a_conversation_has_its_history(program: Any) -> None:
    result = evaluated(program(ECHO), [{"inputs": ["My name is Ada.", "Who am I?"]}])
    run = result.items[0].run
    assert run is not None
    assert run.text == "My name is Ada. after [] Who am I? after ['My name is Ada.']"


def test_no_two_conversations_share_a_program_at_the_same_time(program: Any) -> None:
    data = [{"inputs": [f"I am {n}.", "Who?"]} for n in range(12)]
    result = evaluated(program(ECHO), data, concurrency=4)
    assert texts(result) == [f"I am {n}. after [] Who? after ['I am {n}.']" for n in range(12)]
    assert 1 <= len(set(pids(result))) <= 4


def test_a_program_that_dies_is_an_error_and_is_started_again(program: Any) -> None:
    code = ECHO.replace("    said", "    if asked['input'] == 'die': sys.exit('out of luck')\n    said")
    result = evaluated(program(code), ["a", "die", "c"], concurrency=1)
    assert [item.errored for item in result.items] == [False, True, False]
    error = result.items[1].error
    assert error is not None
    assert "ended without an answer (exit code 1)" in error.message
    assert "out of luck" in error.message
    assert texts(result)[2] == "c after []"


def test_an_object_with_an_error_makes_the_item_an_error(program: Any) -> None:
    code = "import json\nfor line in open(0): print(json.dumps({'error': '502 from upstream', 'output': ''}), flush=True)"
    result = evaluated(program(code), ["a"])
    assert result.verdict == "failed"
    assert result.items[0].error is not None
    assert "502 from upstream" in result.items[0].error.message


def test_a_line_that_is_no_object_is_an_error_that_shows_it(program: Any) -> None:
    result = evaluated(program("for line in open(0): print('loading the model...', flush=True)"), ["a"])
    error = result.items[0].error
    assert error is not None
    assert "'loading the model...'" in error.message or '"loading the model..."' in error.message
    assert "standard error" in error.message


def test_a_program_that_hangs_is_ended_when_its_time_is_over(program: Any) -> None:
    code = ECHO.replace("    said", "    if asked['input'] == 'hang': __import__('time').sleep(600)\n    said")
    result = evaluated(program(code), ["hang", "b"], concurrency=1, timeout=3.0)
    assert [item.error.kind if item.error else "" for item in result.items] == ["timeout", ""]
    assert texts(result)[1] == "b after []"


def test_a_program_that_is_not_there_is_an_error_of_each_item() -> None:
    result = evaluated("cmd:no-such-program-anywhere", ["a"])
    assert result.items[0].error is not None
    assert "no-such-program-anywhere cannot be started" in result.items[0].error.message


def test_it_runs_in_a_folder_and_with_variables(program: Any, tmp_path: Path) -> None:
    code = "import json, os\nfor line in open(0): print(json.dumps({'output': os.getcwd() + os.environ['GREETING']}), flush=True)"
    result = evaluated(program(code), ["a"], target_options={"cwd": tmp_path, "env": {"GREETING": "hi"}})
    assert texts(result) == [f"{tmp_path.resolve()}hi"]


@pytest.mark.parametrize(
    ("target", "options", "message"),
    [
        ("cmd:", {}, "names no program"),
        ("cmd:'node", {}, "cannot be split into words"),
        ("cmd:node a.js", {"cvd": "."}, "a program takes no 'cvd': there are cwd, env"),
        ("node agent.js", {}, "a program with cmd:"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_runs(target: str, options: dict[str, object], message: str) -> None:
    with pytest.raises(TargetError, match=message):
        evaluated(target, ["a"], target_options=options)


def test_tools_of_a_program_cannot_be_mocked(program: Any) -> None:
    with pytest.raises(TargetError, match="cannot be mocked"):
        evaluated(program(ECHO), [{"input": "a", "tool_mocks": [{"tool": "t", "result": 1}]}])


def test_what_a_launcher_started_ends_with_it(launcher: str, tmp_path: Path) -> None:
    result = asyncio.run(run_evals(["a"], launcher, gates=[checks.includes("x")], timeout=1.5))
    assert errors(result) == ["took longer than 1.5 s"]
    await_end(pid_in(tmp_path / "pid"))
    (tmp_path / "pid").unlink()
    result = evaluated(launcher, ["a"], timeout=1.5)
    assert errors(result) == ["took longer than 1.5 s"]
    assert not result.warnings
    await_end(pid_in(tmp_path / "pid"))


@pytest.mark.parametrize("way", ["run_evals_sync(['a'], T, gates=G)", "asyncio.run(quickchecks.run_evals(['a'], T, gates=G))"])
def test_ctrl_c_ends_what_does_not_get_it_itself(launcher: str, way: str, tmp_path: Path) -> None:
    script = f"import asyncio, quickchecks\nfrom quickchecks import *\nT, G = {launcher!r}, [checks.includes('x')]\n{way}"
    with subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.DEVNULL) as process:
        pid = pid_in(tmp_path / "pid")
        process.send_signal(signal.SIGINT)
        process.wait(20)
    await_end(pid)


def test_a_program_that_still_runs_ends_with_this_one(launcher: str, tmp_path: Path) -> None:
    script = (
        "import time, pathlib\nfrom quickchecks._targets.programs import Program\n"
        f"Program({launcher!r}, {{}}).take()\npath = pathlib.Path({str(tmp_path / 'pid')!r})\n"
        "while not path.exists(): time.sleep(0.02)"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=30)
    await_end(pid_in(tmp_path / "pid"))


def test_a_program_may_end_by_itself_when_there_are_no_more_questions(program: Any, tmp_path: Path) -> None:
    code = f"{ECHO}\nopen({str(tmp_path / 'ended')!r}, 'w').write('yes')"
    evaluated(program(code), ["a"])
    assert (tmp_path / "ended").read_text() == "yes"


def test_what_left_the_session_of_a_dead_program_holds_nothing_up(program: Any, tmp_path: Path) -> None:
    code = f"""
import pathlib, subprocess, sys
sys.stdin.readline()
left = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
pathlib.Path({str(tmp_path / "pid")!r}).write_text(f"{{left.pid}}\\n")
sys.exit(3)
"""
    try:
        assert "ended without an answer (exit code 3)" in errors(evaluated(program(code), ["a"]))[0]
    finally:
        os.kill(pid_in(tmp_path / "pid"), signal.SIGKILL)


@pytest.mark.parametrize("more", [{"level": "info"}, {"output": "another"}, "loading"])
def test_what_nobody_asked_for_is_never_the_answer_to_the_next_question(program: Any, more: object) -> None:
    code = f"""
import json, sys
for line in sys.stdin:
    print(json.dumps({{"output": "ans " + json.loads(line)["input"]}}) + "\\n" + {json.dumps(more)!r}, flush=True)
"""
    result = evaluated(program(code), ["q1", "q2", "q3"], concurrency=1)
    assert texts(result) == ["ans q1", "", "ans q3"]
    assert "wrote a line that nobody asked for" in errors(result)[1]
    talk = evaluated(program(code), [{"inputs": ["q1", "q2"]}])
    assert "wrote a line that nobody asked for" in errors(talk)[0]


def test_the_answer_of_a_program_whose_time_is_over_reaches_nobody(program: Any) -> None:
    code = ECHO.replace("    said", "    if asked['input'] == 'slow': __import__('time').sleep(2)\n    said")
    result = evaluated(program(code), ["a", "slow", "c", "d"], concurrency=1, timeout=1.0)
    assert texts(result) == ["a after []", "", "c after []", "d after []"]


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ({"level": "info", "message": "ready"}, "neither output nor messages nor error"),
        ({}, "neither output nor messages nor error"),
        ({"error": None}, "neither output nor messages nor error"),
        ({"output": "a", "text": "b"}, "output and text, of which one is the answer"),
        ({"output": "a", "id": "another"}, "the id of another question"),
        ([{"output": "a"}], "no JSON object"),
    ],
)
def test_what_is_no_answer_is_refused(program: Any, answer: object, message: str) -> None:
    result = evaluated(program(f"for line in open(0): print({json.dumps(answer)!r}, flush=True)"), ["a"])
    assert message in errors(result)[0]
    assert result.verdict == "failed"


def test_an_answer_may_repeat_the_id_of_its_question(program: Any) -> None:
    code = "import json\nfor line in open(0): print(json.dumps({'output': 'x', 'id': json.loads(line)['id']}), flush=True)"
    result = evaluated(program(code), ["a", {"inputs": ["b", "c"]}])
    assert errors(result) == ["", ""]
    assert texts(result) == ["x", "x x"]


def test_what_stands_beside_an_answer_is_metadata(program: Any) -> None:
    result = evaluated(program('for line in open(0): print(\'{"output": "x", "seconds": 3}\', flush=True)'), ["a"])
    assert texts(result) == ["x"]
    run = result.items[0].run
    assert run is not None
    assert run.metadata is not None
    assert run.metadata["seconds"] == 3


@pytest.mark.parametrize(
    "does",
    [
        "sys.exit('no luck with ' + key)",
        "sys.exit('no luck with ' + key[:9])",
        "sys.exit(key * 200)",
        "print('hello ' + key, flush=True)",
        "print(json.dumps({'error': {'message': 'bad key ' + key, key: [key]}}), flush=True)",
        "print(json.dumps({'level': key}), flush=True)",
        "print(json.dumps({'output': 1}) + chr(10) + key, flush=True)",
    ],
)
def test_variables_that_were_given_are_never_shown(program: Any, does: str, tmp_path: Path) -> None:
    code = f"import json, os, sys\nkey = os.environ['KEY']\nfor line in sys.stdin:\n    {does}"
    result = evaluated(program(code), ["a", "b"], concurrency=1, target_options={"env": {"KEY": "S3CR3T-of-mine"}})
    assert any(errors(result))
    result.save(tmp_path / "result.json")
    said = (tmp_path / "result.json").read_text() + "".join(errors(result))
    assert "***" in said
    assert "S3CR" not in said
    assert "of-mine" not in said
    with pytest.raises(TargetError, match="env is a mapping") as caught:
        evaluated(program(code), ["a"], target_options={"env": ["KEY=S3CR3T-of-mine"]})
    assert "S3CR" not in str(caught.value)


def test_answers_are_read_where_they_hold_nobody_up(program: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    read_in: list[str] = []
    as_run = programs.as_run  # type: ignore[attr-defined]

    def noted(value: Any) -> Any:
        read_in.append(threading.current_thread().name)
        return as_run(value)

    monkeypatch.setattr(programs, "as_run", noted)
    evaluated(program(ECHO), ["a"])
    assert read_in == ["quickchecks target"]
