"""Answers of targets that are recorded, and used again without asking."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from quickchecks import load_runs
from quickchecks._evaluation import Options
from quickchecks.pytest_plugin._identity import identity_of

RunPytest = Callable[..., pytest.RunResult]

#: Each call of the target leaves a line in the file calls.
HEAD = """
import pathlib, pytest
from quickchecks import Gate, Threshold, assert_checks, checks, testing
from quickchecks.pytest_plugin import evals_from

def agent(text):
    with open(pathlib.Path(__file__).parent / "calls", "a") as calls:
        calls.write(f"{text}\\n")
    if text == "Broken":
        raise ValueError("no connection")
    if text == "Tools":
        return testing.run(testing.user(text), testing.call("search", city="Oslo", error="gone"), "Nothing found.", duration=1.5)
    return f"It is sunny in {text}."
"""


def calls_of(pytester: pytest.Pytester) -> int:
    path = pytester.path / "calls"
    return len(path.read_text().splitlines()) if path.exists() else 0


def recordings(pytester: pytest.Pytester, folder: str = ".quickchecks/recordings") -> list[Path]:
    return sorted(path for path in (pytester.path / folder).rglob("*") if path.is_file())


def test_what_is_recorded_is_replayed_without_asking(pytester: pytest.Pytester, run_pytest: RunPytest) -> None:
    (pytester.path / "cases.jsonl").write_text('{"id": "a", "input": "Oslo"}\n{"id": "b", "input": "Broken"}\n')
    pytester.makepyfile(
        HEAD
        + """
@evals_from("cases.jsonl", target=agent, gates=[checks.includes("sunny")])
def test_items(): pass

def test_eval(evals):
    first = evals(["Oslo", "Tools"], target=agent, gates=[checks.includes("o")], repetitions=2)
    second = evals(["Oslo"], target=agent, scorers=[checks.no_tool_errors()])
    assert first.passed and first.items[2].run.tool_calls[0].failure().message == "gone"
    assert first.items[2].run.duration == 1.5 and first.items[0].run.duration is None

def test_asked(recorded):
    assert_checks(recorded(agent, "Rome"), checks.includes("Rome"))
    run = recorded(agent, "Oslo", "Tools")
    assert run.text == "It is sunny in Oslo. Nothing found."

def test_nothing():
    pass
"""
    )
    first = run_pytest("--quickchecks-record", "--quickchecks-output=first.json")
    first.assert_outcomes(passed=4, failed=1)
    asked = calls_of(pytester)
    files = recordings(pytester)
    assert len(files) == 4, "one for each test that asked"
    again = run_pytest("--quickchecks-replay", "--quickchecks-output=again.json")
    again.assert_outcomes(passed=4, failed=1)
    first.stdout.fnmatch_lines(["quickchecks: what targets answer is recorded in .quickchecks?recordings"])
    again.stdout.fnmatch_lines(["quickchecks: no target is asked, the answers are those recorded in .quickchecks?recordings"])
    again.stdout.fnmatch_lines(['cases.jsonl:2: item "b": the target broke: ValueError: no connection'])
    assert calls_of(pytester) == asked
    assert files == recordings(pytester)
    told = [json.loads((pytester.path / name).read_bytes()) for name in ("first.json", "again.json")]
    for result in told:
        for item in result["items"]:
            item.pop("seconds", None)
            item.get("error", {}).pop("traceback", None)
    assert told[0]["items"] == told[1]["items"]


def test_recordings_are_runs_in_the_wire_form(pytester: pytest.Pytester, run_pytest: RunPytest) -> None:
    pytester.makepyfile(HEAD + '\ndef test_it(evals):\n    evals(["Oslo", "Rome"], target=agent, gates=[checks.includes("o")])\n')
    run_pytest("--quickchecks-record")
    (file,) = recordings(pytester)
    assert [run.text for run in load_runs(file)] == ["It is sunny in Oslo.", "It is sunny in Rome."]
    assert not file.read_bytes().count(b"\r")


def test_a_conversation_is_replayed_turn_by_turn(pytester: pytest.Pytester, run_pytest: RunPytest) -> None:
    pytester.makepyfile(
        HEAD
        + """
def test_it(evals):
    turns = [
        {"input": "Oslo", "gates": [checks.includes("Oslo"), checks.excludes("Rome")]},
        {"input": "Tools", "gates": [checks.called_tool("search"), checks.excludes("Oslo")]},
    ]
    result = evals([{"id": "talk", "turns": turns}], target=agent, gates=[checks.includes("Oslo")])
    assert result.passed, result.explain()
"""
    )
    run_pytest("--quickchecks-record").assert_outcomes(passed=1)
    run_pytest("--quickchecks-replay").assert_outcomes(passed=1)
    assert calls_of(pytester) == 2


def test_what_is_not_recorded_or_has_changed_is_an_error_that_says_what_to_run(
    pytester: pytest.Pytester, run_pytest: RunPytest
) -> None:
    test = (
        HEAD
        + """
@pytest.mark.parametrize("name", ["x y"])
def test_it(evals, name):
    item = {"id": "a", "input": QUESTION, "expected": EXPECTED}
    assert evals([item], target=agent, gates=[checks.includes("sunny")], repetitions=TIMES).passed
"""
    )

    def write(question: str, expected: str = "", times: int = 1) -> None:
        (pytester.path / "test_it.py").write_text(f"QUESTION, EXPECTED, TIMES = {question!r}, {expected!r}, {times}\n{test}")

    write("Oslo")
    result = run_pytest("--quickchecks-replay")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["E *nothing is recorded of this test*", "E *record it: pytest --quickchecks-record 'test_it.py::test_it?x y?'*"]
    )
    assert calls_of(pytester) == 0
    run_pytest("--quickchecks-record").assert_outcomes(passed=1)
    write("Oslo", "something else is expected")
    run_pytest("--quickchecks-replay").assert_outcomes(passed=1)
    write("Rome")
    result = run_pytest("--quickchecks-replay")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["E *item 'a' has changed since it was recorded: it asks something else now*"])
    write("Oslo", times=2)
    result = run_pytest("--quickchecks-replay")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["E *item 'a' is not recorded (repetition 2)*"])
    assert calls_of(pytester) == 1


def test_items_without_ids_are_found_by_what_they_ask(pytester: pytest.Pytester, run_pytest: RunPytest) -> None:
    test = """
def test_it(evals):
    assert evals([{"input": "Oslo", "expected": EXPECTED}], target=agent, gates=[checks.includes("o")]).passed
"""
    (pytester.path / "test_it.py").write_text(HEAD + "EXPECTED = 1\n" + test)
    run_pytest("--quickchecks-record").assert_outcomes(passed=1)
    (pytester.path / "test_it.py").write_text(HEAD + "EXPECTED = 2\n" + test)
    run_pytest("--quickchecks-replay").assert_outcomes(passed=1)


def test_repetitions_of_a_test_are_kept_apart(pytester: pytest.Pytester, run_pytest: RunPytest) -> None:
    pytester.makepyfile(
        HEAD
        + """
made = []
@pytest.mark.quickchecks(repetitions=3, pass_rate=0.6)
def test_it(recorded):
    def moody(text):
        made.append(text)
        return "fine" if len(made) != 2 else "ill"
    assert recorded(moody, "How?").text == "fine"
"""
    )
    for option in ("--quickchecks-record", "--quickchecks-replay"):
        result = run_pytest(option)
        result.assert_outcomes(passed=1)
        result.stdout.fnmatch_lines(["*2 of 3 repetitions passed*"])


def test_both_options_are_refused(pytester: pytest.Pytester, run_pytest: RunPytest) -> None:
    pytester.makepyfile("def test_it(): pass")
    result = run_pytest("--quickchecks-record", "--quickchecks-replay")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--quickchecks-record asks the targets, and --quickchecks-replay does not: give one of them"])


HOSTILE = [
    "../../../etc/x",
    'a:b*c?d"e<f>g|h',
    "CON",
    "nul.txt",
    "x" * 300,
    "Ä",
    "ä",
    "a",
    "A",
    "tab\tand\nline",
    "\u202e",
    ".",
    "",
]


def test_names_of_files_are_safe(pytester: pytest.Pytester, run_pytest: RunPytest) -> None:
    pytester.makepyfile(
        con=HEAD
        + f"""
@pytest.mark.parametrize("name", {HOSTILE!r})
def test_it(recorded, name):
    assert recorded(lambda text: name, "Hello").text == name
"""
    )
    run_pytest("con.py", "--quickchecks-record", "--quickchecks-recordings=kept").assert_outcomes(passed=len(HOSTILE))
    files = recordings(pytester, "kept")
    assert len({file.name.lower() for file in files}) == len(files) == len(HOSTILE)
    for file in files:
        assert file.parent == pytester.path / "kept" / "con-py"
        assert len(file.name) < 100
        assert re.fullmatch(r"[A-Za-z0-9_-]+\.jsonl", file.name)
    run_pytest("con.py", "--quickchecks-replay", "--quickchecks-recordings=kept").assert_outcomes(passed=len(HOSTILE))


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"{", "*:1:*"),
        (b'"text"', "*a run was expected that a test has recorded*"),
        (b'{"schema":"quickchecks.run/1","messages":[]}', "*a run was expected that a test has recorded*"),
        (
            b'{"schema":"quickchecks.run/1","messages":[],"metadata":{"item":{"id":"a","asked":"x","turns":"__import__"}}}',
            "*metadata.item.turns is a list of runs*",
        ),
        (
            b'{"schema":"quickchecks.run/1","messages":[],"metadata":{"item":{"id":"a","asked":"x","turns":[]}}}',
            "*the line holds neither an answer nor an error*",
        ),
        (
            b'{"schema":"quickchecks.run/1","messages":[],"metadata":{"item":{"id":"a","asked":"x","turns":[],"error":{"kind":1}}}}',
            "*metadata.item.error cannot be read*",
        ),
        (
            b'{"schema":"quickchecks.run/1","messages":[],"metadata":{"item":{"id":"a","asked":"x","repetition":-1}}}',
            "*metadata.item says with whole numbers which run this is*",
        ),
    ],
)
def test_a_recording_that_cannot_be_read_is_an_error(
    pytester: pytest.Pytester, run_pytest: RunPytest, line: bytes, said: str
) -> None:
    pytester.makepyfile(HEAD + '\ndef test_it(recorded):\n    recorded(agent, "Oslo")\n')
    run_pytest("--quickchecks-record").assert_outcomes(passed=1)
    (file,) = recordings(pytester)
    file.write_bytes(line + b"\n")
    result = run_pytest("--quickchecks-replay")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([said])
    assert calls_of(pytester) == 1


def test_a_test_that_evaluates_nothing_keeps_its_recording(pytester: pytest.Pytester, run_pytest: RunPytest) -> None:
    (pytester.path / "test_it.py").write_text(HEAD + '\ndef test_it(recorded):\n    recorded(agent, "Oslo")\n')
    run_pytest("--quickchecks-record")
    (file,) = recordings(pytester)
    before = file.read_bytes()
    (pytester.path / "test_it.py").write_text(HEAD + "\ndef test_it(recorded):\n    raise RuntimeError\n")
    run_pytest("--quickchecks-record").assert_outcomes(failed=1)
    (pytester.path / "test_it.py").write_text(HEAD + "\ndef test_it(recorded):\n    recorded(3, 'Oslo')\n")
    run_pytest("--quickchecks-record").assert_outcomes(failed=1)
    assert (recordings(pytester), file.read_bytes()) == ([file], before)


def test_an_evaluation_that_ends_early_does_not_replace_a_recording(pytester: pytest.Pytester, run_pytest: RunPytest) -> None:
    test = """
def test_it(evals):
    evals(DATA, target=agent, gates=[checks.includes("o")], on_error="raise", concurrency=1)
"""
    (pytester.path / "test_it.py").write_text(HEAD + 'DATA = ["Oslo", "Rome"]\n' + test)
    run_pytest("--quickchecks-record").assert_outcomes(passed=1)
    (file,) = recordings(pytester)
    before = file.read_bytes()
    (pytester.path / "test_it.py").write_text(HEAD + 'DATA = ["Oslo", "Broken", "Rome"]\n' + test)
    result = run_pytest("--quickchecks-record", "-W", "default")
    result.assert_outcomes(failed=1, warnings=1)
    result.stdout.fnmatch_lines(["*the test ended before its evaluations did: * of 3 * no recording was replaced"])
    assert file.read_bytes() == before


def test_a_folder_that_cannot_be_written_is_told_before_the_target_is_asked(
    pytester: pytest.Pytester, run_pytest: RunPytest
) -> None:
    (pytester.path / "taken").write_text("")
    pytester.makepyfile(HEAD + '\ndef test_it(recorded):\n    recorded(agent, "Oslo")\n')
    result = run_pytest("--quickchecks-record", "--quickchecks-recordings=taken")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["E *--quickchecks-record: *cannot be written: *"])
    assert calls_of(pytester) == 0


def test_a_disk_that_fills_up_is_an_error_of_the_test(pytester: pytest.Pytester, run_pytest: RunPytest) -> None:
    pytester.makepyfile(
        HEAD
        + """
from quickchecks.pytest_plugin import _recorded
def full(*arguments):
    raise OSError(28, "No space left on device")

def test_it(recorded, monkeypatch):
    monkeypatch.setattr(_recorded, "_as_line", full)
    recorded(agent, "Oslo")
"""
    )
    result = run_pytest("--quickchecks-record")
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["E *what the target answered could not be recorded: No space left on device*"])


@pytest.mark.slow
def test_under_xdist_each_test_has_its_own_file(pytester: pytest.Pytester, start_pytest: RunPytest) -> None:
    pytester.makepyfile(
        HEAD
        + """
@pytest.mark.parametrize("number", range(20))
@pytest.mark.xdist_group("one")
def test_it(evals, number):
    assert evals([str(number)], target=agent, gates=[checks.includes(str(number))]).passed
"""
    )
    start_pytest("-n", "2", "--dist", "loadgroup", "--quickchecks-record").assert_outcomes(passed=20)
    assert len(recordings(pytester)) == calls_of(pytester) == 20
    start_pytest("--quickchecks-replay").assert_outcomes(passed=20)
    assert calls_of(pytester) == 20


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is sent as a signal")
def test_an_interrupted_recording_does_not_destroy_the_earlier(pytester: pytest.Pytester, run_pytest: RunPytest) -> None:
    test = (
        HEAD
        + """
import time
def slow(text):
    answer = agent(text)
    time.sleep(SECONDS if text == "Rome" else 0)
    return answer

def test_it(evals):
    evals(["Oslo", "Rome"], target=slow, gates=[checks.includes("o")], concurrency=1)
"""
    )
    (pytester.path / "test_it.py").write_text("SECONDS = 0\n" + test)
    run_pytest("--quickchecks-record").assert_outcomes(passed=1)
    (file,) = recordings(pytester)
    before = file.read_bytes()
    (pytester.path / "test_it.py").write_text("SECONDS = 60\n" + test)
    command = [sys.executable, "-m", "pytest", "-p", "no:asyncio", "--quickchecks-record"]
    with subprocess.Popen(
        command, cwd=pytester.path, stdout=subprocess.PIPE, env={**os.environ, "PYTEST_ADDOPTS": ""}
    ) as running:
        until = time.monotonic() + 60
        while calls_of(pytester) < 4 and time.monotonic() < until:
            time.sleep(0.05)
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=60)
    assert running.returncode == pytest.ExitCode.INTERRUPTED
    assert file.read_bytes() == before
    (part,) = [one for one in recordings(pytester) if one != file]
    assert part.name.endswith(".jsonl.part")
    assert part.read_bytes().count(b"\n") == 1


TWO_TARGETS = (
    HEAD
    + """
import functools

def careful(text, style=""): return "It is sunny."
def hasty(text, style=""): return "It rains."

class Agent:
    def __init__(self, name): self.name = name
    def ask(self, text): return {"careful": careful, "hasty": hasty}[self.name](text)

def made(agent):
    def ask(text):
        return agent(text)
    return ask

def of_evals(evals, recorded, target, **options):
    evals(["a"], target, gates=[checks.includes("i")], **options)

def of_recorded(evals, recorded, target, **options):
    recorded(target, "a", **options)
"""
)


@pytest.mark.parametrize(
    ("recorded", "now"),
    [
        ("careful", "hasty"),
        ("lambda text: careful(text)", "lambda text: hasty(text)"),
        ("lambda text, agent=careful: agent(text)", "lambda text, agent=hasty: agent(text)"),
        ("made(careful)", "made(hasty)"),
        ("Agent('careful').ask", "Agent('hasty').ask"),
        ("functools.partial(careful, style='a')", "functools.partial(careful, style='b')"),
        ("target=careful, target_options={'style': 'a'}", "target=careful, target_options={'style': 'b'}"),
        ("target=careful, target_options={'style': 'a'}", "careful"),
        ("target=careful, name='first'", "target=careful, name='second'"),
    ],
)
@pytest.mark.parametrize("call", ["of_evals", "of_recorded"])
def test_what_another_target_answered_is_not_replayed(
    pytester: pytest.Pytester, run_pytest: RunPytest, recorded: str, now: str, call: str
) -> None:
    def write(*targets: str) -> None:
        calls = "".join(f"    {call}(evals, recorded, {target})\n" for target in targets)
        (pytester.path / "test_it.py").write_text(f"{TWO_TARGETS}\ndef test_it(evals, recorded):\n{calls}")

    write(recorded, now)
    run_pytest("--quickchecks-record").assert_outcomes(passed=1)
    run_pytest("--quickchecks-replay").assert_outcomes(passed=1)
    write(now)
    result = run_pytest("--quickchecks-replay")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["E *item * was recorded *", "E *record it: pytest --quickchecks-record *"])


def test_an_error_says_which_target_was_recorded_and_which_is_asked(pytester: pytest.Pytester, run_pytest: RunPytest) -> None:
    test = "\ndef test_it(recorded):\n    recorded(TARGET, 'a')\n"
    (pytester.path / "test_it.py").write_text(TWO_TARGETS + test.replace("TARGET", "careful"))
    run_pytest("--quickchecks-record").assert_outcomes(passed=1)
    (pytester.path / "test_it.py").write_text(TWO_TARGETS + test.replace("TARGET", "hasty"))
    result = run_pytest("--quickchecks-replay")
    result.stdout.fnmatch_lines(['E *was recorded of the target "test_it:careful", and "test_it:hasty" is the target now*'])


def test_a_recording_that_does_not_name_its_target_has_to_be_made_again(pytester: pytest.Pytester, run_pytest: RunPytest) -> None:
    pytester.makepyfile(HEAD + '\ndef test_it(recorded):\n    recorded(agent, "Oslo")\n')
    run_pytest("--quickchecks-record").assert_outcomes(passed=1)
    (file,) = recordings(pytester)
    line = json.loads(file.read_bytes())
    assert line["metadata"]["item"].pop("target").endswith(":agent")
    file.write_text(json.dumps(line))
    result = run_pytest("--quickchecks-replay")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["E *does not say which target was asked*", "E *record it: pytest --quickchecks-record *"])


def test_secrets_of_options_and_addresses_are_not_recorded() -> None:
    url = "https://user:hunter2@example.org:8443/v1?key=hunter3"
    identity = identity_of(url, Options(model="m", target_options={"api_key": "hunter4", "system": "hunter5"}))
    assert identity.target == "https://example.org:8443/v1"
    assert sorted(identity.options) == ["model", "system"]
    assert "hunter" not in str(identity)
    assert identity.other(identity_of(url, Options(model="n"))) == 'of the model "m", and "n" is the model now'
    assert identity.other(identity_of(url, Options(model="m"))) == "with other options of the target: system changed since"
    assert identity_of("http://127.0.0.1:1234/v1", Options()) == identity_of("http://127.0.0.1:5678/v1", Options())
