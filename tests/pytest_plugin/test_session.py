"""One result for the session: however many workers there are, however often a test runs, and whatever becomes of either."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from quickchecks import EvalResult, load_result

RunPytest = Callable[..., pytest.RunResult]

MANY = """
import pytest
from quickchecks import checks

def target(number):
    return f"answer {number}"

@pytest.mark.parametrize("number", range(NUMBER))
def test_one(evals, number):
    assert evals([number], target, gates=[checks.includes("answer"), checks.excludes("answer 7")]).passed
"""

KILLED = """
import os
import signal
from quickchecks import checks

def target(text):
    return text

def test_before(evals):
    assert evals(["a"], target, gates=[checks.includes("a")]).passed

def test_killed(evals):
    evals(["b"], target, gates=[checks.includes("b")])
    os.kill(os.getpid(), signal.SIGKILL)

def test_plain():
    pass

def test_after(evals):
    assert evals(["c"], target, gates=[checks.includes("c")]).passed
"""

KILL_ONCE = 'os.path.exists("killed") or (open("killed", "w").close(), os.kill(os.getpid(), signal.SIGKILL))'


def many(number: int) -> str:
    return MANY.replace("NUMBER", str(number))


def written(pytester: pytest.Pytester, name: str = "result.json") -> EvalResult:
    return load_result(pytester.path / name)


def ids(result: EvalResult) -> list[str]:
    return [item.id for item in result.items]


@pytest.mark.parametrize(
    "workers", [(), ("-n0",), ("-n2",), ("-n2", "--dist=loadscope"), ("-n2", "--dist=loadgroup"), ("-n2", "--dist=worksteal")]
)
def test_each_case_is_there_once_however_the_tests_are_spread(
    workers: tuple[str, ...], pytester: pytest.Pytester, start_pytest: RunPytest
) -> None:
    pytest.importorskip("xdist")
    pytester.makepyfile(test_many=many(12))
    result = start_pytest(*workers, "--quickchecks-output=result.json")
    result.assert_outcomes(passed=11, failed=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    found = written(pytester)
    assert ids(found) == [f"test_many.py::test_one[{number}]" for number in range(12)]
    assert found.verdict == "failed"
    assert found.summary.scorers["includes('answer')"].passed == 12
    assert found.items[3].run is not None
    assert found.items[3].run.text == "answer 3"
    assert str(result.stdout).count("= quickchecks =") == 1
    result.stdout.fnmatch_lines(
        ["failed      12 evaluations, 12 items", "  passed      11 evaluations: -v shows them", "result.json written"]
    )


@pytest.mark.slow
@pytest.mark.parametrize("spread", ["load", "loadscope"])
def test_two_hundred_evals_on_four_workers(spread: str, pytester: pytest.Pytester, start_pytest: RunPytest) -> None:
    pytest.importorskip("xdist")
    pytester.makepyfile(**{f"test_part_{part}": many(50) for part in range(4)})
    result = start_pytest("-n4", f"--dist={spread}", "--quickchecks-output=result.json", "--tb=no")
    result.assert_outcomes(passed=196, failed=4)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    found = written(pytester)
    assert ids(found) == [f"test_part_{part}.py::test_one[{number}]" for part in range(4) for number in range(50)]
    assert Counter(part.verdict for part in found.parts) == {"passed": 196, "failed": 4}


def test_a_killed_worker_loses_only_the_test_that_killed_it(pytester: pytest.Pytester, start_pytest: RunPytest) -> None:
    pytest.importorskip("xdist")
    pytester.makepyfile(test_killed=KILLED)
    result = start_pytest("-n2", "--quickchecks-output=result.json")
    result.assert_outcomes(passed=3, failed=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    found = written(pytester)
    items = {item.id.partition("::")[2]: item for item in found.items}
    assert sorted(items) == ["test_after", "test_before", "test_killed"]
    error = items["test_killed"].error
    assert error is not None
    assert "crashed while running" in error.message
    assert found.verdict == "failed"
    result.stdout.fnmatch_lines(["  failed      test_killed.py::test_killed*it did not finish: worker*crashed*"])


def test_a_test_that_xdist_runs_again_after_a_crash_is_there_once(pytester: pytest.Pytester, start_pytest: RunPytest) -> None:
    """With --dist loadscope the next worker begins with the test that killed the one before; pytest counts it as failed."""
    pytest.importorskip("xdist")
    pytester.makepyfile(test_killed=KILLED.replace("os.kill(os.getpid(), signal.SIGKILL)", KILL_ONCE))
    result = start_pytest("-n2", "--dist=loadscope", "--quickchecks-output=result.json")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    found = written(pytester)
    assert sorted(one.partition("::")[2] for one in ids(found)) == ["test_after", "test_before", "test_killed"]
    assert [item.errored for item in found.items] == [False, False, False]
    assert found.verdict == "failed"
    result.stdout.fnmatch_lines(
        ["failed      4 evaluations, 3 items", "*test_killed.py::test_killed*it did not finish: worker*crashed*"]
    )


def test_a_killed_worker_whose_test_is_no_eval_adds_nothing(pytester: pytest.Pytester, start_pytest: RunPytest) -> None:
    pytest.importorskip("xdist")
    pytester.makepyfile(test_killed=KILLED.replace("def test_killed(evals):\n    evals(", "def test_killed():\n    print("))
    start_pytest("-n2", "--quickchecks-output=result.json").assert_outcomes(passed=3, failed=1)
    assert sorted(ids(written(pytester))) == ["test_killed.py::test_after", "test_killed.py::test_before"]


FLAKY = """
import pytest
from quickchecks import checks

tries = []

@pytest.mark.flaky(reruns=3)
def test_flaky(evals):
    tries.append(1)
    assert evals(["a"], lambda text: f"try {len(tries)}", gates=[checks.includes("3")], name="once").passed
"""


@pytest.mark.parametrize("workers", [(), ("-n2",)])
def test_only_the_last_attempt_of_a_rerun_counts(
    workers: tuple[str, ...], pytester: pytest.Pytester, start_pytest: RunPytest
) -> None:
    pytest.importorskip("pytest_rerunfailures")
    pytester.makepyfile(test_flaky=FLAKY)
    result = start_pytest(*workers, "--quickchecks-output=result.json", "--junitxml=junit.xml")
    assert result.ret == pytest.ExitCode.OK
    found = written(pytester)
    assert found.verdict == "passed"
    assert ids(found) == ["test_flaky.py::test_flaky"]
    assert found.items[0].run is not None
    assert found.items[0].run.text == "try 3"
    *_, last = ET.parse(pytester.path / "junit.xml").iter("testcase")
    assert [one.attrib["value"] for one in last.iter("property")] == ["passed", "passed"]


def test_a_killed_worker_whose_test_is_run_again_is_counted_once(pytester: pytest.Pytester, start_pytest: RunPytest) -> None:
    pytest.importorskip("xdist")
    pytest.importorskip("pytest_rerunfailures")
    pytester.makepyfile(test_killed=KILLED.replace("os.kill(os.getpid(), signal.SIGKILL)", KILL_ONCE))
    result = start_pytest("-n2", "--reruns=1", "--quickchecks-output=result.json")
    assert result.ret == pytest.ExitCode.OK
    found = written(pytester)
    assert found.verdict == "passed"
    assert sorted(one.partition("::")[2] for one in ids(found)) == ["test_after", "test_before", "test_killed"]


INTERRUPTED = """
import os
import signal
import time
from quickchecks import checks

def test_first(evals):
    assert evals(["a"], str.upper, gates=[checks.includes("a")]).passed

def target(text):
    if text == "c":
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(60)
    return text

def test_second(evals):
    evals(["b", "c"], target, gates=[checks.includes("b")], concurrency=1)
    raise AssertionError("Ctrl-C ends the session, not only the evaluation")

def test_third(evals):
    raise AssertionError("nothing is run after Ctrl-C")
"""


def test_ctrl_c_ends_the_session_and_keeps_what_was_finished(pytester: pytest.Pytester, start_pytest: RunPytest) -> None:
    pytester.makepyfile(test_interrupted=INTERRUPTED)
    result = start_pytest("--quickchecks-output=result.json")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.assert_outcomes(passed=1)
    found = written(pytester)
    assert found.interrupted
    assert found.verdict == "undecided"
    assert [item.run.text for item in found.items if item.run is not None] == ["A", "b"]


@pytest.mark.parametrize("stop", ["-x", "--maxfail=1"])
def test_a_session_that_stops_early_is_incomplete(stop: str, pytester: pytest.Pytester, run_pytest: RunPytest) -> None:
    pytester.makepyfile(
        """
from quickchecks import checks

def test_first(evals):
    assert evals(["a"], str.upper, gates=[checks.includes("a")]).passed

def test_second():
    assert False

def test_third(evals):
    assert evals(["c"], str.upper, gates=[checks.includes("c")]).passed
"""
    )
    result = run_pytest(stop, "--quickchecks-output=result.json")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    found = written(pytester)
    assert len(found.items) == 1
    assert found.incomplete == "stopping after 1 failures"
    assert found.verdict == "undecided"


def test_the_verdict_is_no_better_than_that_of_the_worst_test(pytester: pytest.Pytester, run_pytest: RunPytest) -> None:
    """Put together the two means keep the threshold; the test that missed it still shows."""
    pytester.makepyfile(
        test_tone="""
from quickchecks import Threshold, checks

def judged(evals, answer):
    return evals(["q"], lambda text: answer, scorers=[Threshold(checks.similarity("sunny day"), min=0.6)])

def test_good(evals):
    assert judged(evals, "sunny day").passed

def test_bad(evals):
    judged(evals, "sun")
"""
    )
    run_pytest("--quickchecks-output=result.json").assert_outcomes(passed=2)
    found = written(pytester)
    assert [one.verdict for one in found.threshold_results] == ["passed"]
    assert [(part.name, part.verdict) for part in found.parts] == [
        ("test_tone.py::test_good", "passed"),
        ("test_tone.py::test_bad", "scored"),
    ]
    assert found.verdict == "scored"
    assert "test_tone.py::test_bad" in found.explain()


def test_items_are_named_by_their_test(pytester: pytest.Pytester, run_pytest: RunPytest) -> None:
    pytester.makepyfile(
        test_ids="""
from quickchecks import checks

GATES = [checks.includes("a")]
DATA = [{"id": "x", "input": "a"}, {"id": "y", "input": "ab"}]

def test_one(evals):
    evals(DATA[:1], str.upper, gates=GATES)

def test_two(evals):
    evals(DATA, str.upper, gates=GATES)

def test_twice(evals):
    evals(DATA[:1], str.upper, gates=GATES)
    evals(DATA[:1], str.lower, gates=GATES, name="lower")

def test_repeated(evals):
    evals(DATA[:1], str.upper, gates=GATES, repetitions=2)
"""
    )
    run_pytest("--quickchecks-output=result.json").assert_outcomes(passed=4)
    found = written(pytester)
    assert [(one.partition("::")[2], item.repetition) for one, item in zip(ids(found), found.items, strict=True)] == [
        ("test_one", 0),
        ("test_two::x", 0),
        ("test_two::y", 0),
        ("test_twice::x", 0),
        ("test_twice::x#2", 0),
        ("test_repeated", 0),
        ("test_repeated", 1),
    ]
    assert [part.name.partition("::")[2] for part in found.parts] == [
        "test_one",
        "test_two",
        "test_twice [evaluation 1]",
        "test_twice [lower]",
        "test_repeated",
    ]


def test_the_group_of_a_test_is_no_part_of_its_name(pytester: pytest.Pytester, start_pytest: RunPytest) -> None:
    pytest.importorskip("xdist")
    source = many(4).replace("def test_one", '@pytest.mark.xdist_group("together")\ndef test_one')
    pytester.makepyfile(test_grouped=source)
    start_pytest("-n2", "--dist=loadgroup", "--quickchecks-output=result.json").assert_outcomes(passed=4)
    assert ids(written(pytester)) == [f"test_grouped.py::test_one[{number}]" for number in range(4)]


def test_every_form_of_report_is_written(pytester: pytest.Pytester, run_pytest: RunPytest) -> None:
    pytester.makepyfile(test_many=many(2))
    result = run_pytest(
        "--quickchecks-output=out/result.json", "--quickchecks-output=result.md", "--quickchecks-output=result.csv"
    )
    assert result.ret == pytest.ExitCode.OK
    assert (pytester.path / "out" / "result.json").is_file()
    assert "test_many.py::test_one[1]" in (pytester.path / "result.csv").read_text(encoding="utf-8")
    assert (pytester.path / "result.md").read_text(encoding="utf-8").startswith("## ")


def test_an_unknown_form_is_refused_before_anything_runs(pytester: pytest.Pytester, run_pytest: RunPytest) -> None:
    pytester.makepyfile("def test_never(): raise SystemExit(99)")
    result = run_pytest("--quickchecks-output=result.docx")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: --quickchecks-output: *.docx*a report ends in *.json*"])


def test_a_report_that_cannot_be_written_is_told_of_and_changes_no_exit_status(
    pytester: pytest.Pytester, run_pytest: RunPytest
) -> None:
    pytester.makepyfile(test_many=many(2))
    (pytester.path / "taken").mkdir()
    (pytester.path / "taken.json").mkdir()
    result = run_pytest("--quickchecks-output=taken.json", "--quickchecks-output=result.json", "-q")
    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["taken.json could not be written: *", "result.json written"])
    assert not list(Path(pytester.path).glob(".*.part"))


def test_a_session_without_evals_writes_an_empty_result(pytester: pytest.Pytester, run_pytest: RunPytest) -> None:
    """A file of an earlier session must not be taken for that of this one."""
    pytester.makepyfile("def test_plain(): pass")
    (pytester.path / "result.json").write_text("the one of yesterday")
    result = run_pytest("--quickchecks-output=result.json")
    assert result.ret == pytest.ExitCode.OK
    found = written(pytester)
    assert found.items == ()
    assert found.verdict is None
    result.stdout.fnmatch_lines(["no verdict  0 evaluations, 0 items", "result.json written"])


def test_what_a_target_returns_survives_the_way(pytester: pytest.Pytester, start_pytest: RunPytest) -> None:
    pytest.importorskip("xdist")
    pytester.makepyfile(
        test_hostile=r"""
import pytest
from quickchecks import checks

@pytest.mark.parametrize("text", ["\ud83d", "\x00\x1b[31m", "x" * 2_000_000, "]]>&<", "\u202e"], ids=range(5))
def test_text(evals, text):
    assert evals([{"id": text[:20], "input": text}], lambda text: text, gates=[checks.includes(text[:3])]).passed
"""
    )
    start_pytest("-n2", "--quickchecks-output=result.json").assert_outcomes(passed=5)
    found = written(pytester)
    assert [item.run.text[:3] for item in found.items if item.run is not None] == ["\ud83d", "\x00\x1b[", "xxx", "]]>", "\u202e"]


def test_without_a_terminal_the_result_is_written_all_the_same(pytester: pytest.Pytester, start_pytest: RunPytest) -> None:
    pytester.makepyfile(test_many=many(8))
    result = start_pytest("-p", "no:terminal", "--quickchecks-output=result.json")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert len(written(pytester).items) == 8


def test_workers_that_stop_early_leave_an_incomplete_result(pytester: pytest.Pytester, start_pytest: RunPytest) -> None:
    pytest.importorskip("xdist")
    pytester.makepyfile(test_many=many(8).replace("answer 7", "answer"))
    result = start_pytest("-n2", "-x", "--quickchecks-output=result.json")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    found = written(pytester)
    assert found.verdict == "failed"
    assert found.interrupted
    assert len(ids(found)) == len(set(ids(found)))


LOST = """
import os
from quickchecks import checks
from quickchecks.pytest_plugin import evals_from

GATES = [checks.includes("sunny")]

def agent(question):
    question == "7" and os._exit(1)
    return "sunny"

@evals_from([{"id": str(number), "input": str(number)} for number in range(1, 12)], target=agent, gates=GATES)
def test_each():
    pass
"""

LOST_WHILE_ASKING = """
import os
import pytest
from quickchecks import checks

@pytest.mark.parametrize("number", range(1, 12))
def test_each(request, number):
    evals = request.getfixturevalue("evals")
    assert evals([number], lambda number: number == 7 and os._exit(1) or "sunny", gates=[checks.includes("sunny")]).passed
"""

LOST_IN_SETUP = """
import os
import pytest
from quickchecks import checks

@pytest.fixture
def broken(number):
    number == 7 and os._exit(1)

@pytest.mark.parametrize("number", range(1, 12))
def test_each(evals, broken, number):
    assert evals([number], lambda number: "sunny", gates=[checks.includes("sunny")]).passed
"""


@pytest.mark.parametrize("source", [LOST, LOST_WHILE_ASKING, LOST_IN_SETUP], ids=["evals_from", "getfixturevalue", "setup"])
def test_a_test_that_killed_its_worker_is_there_however_it_evaluates(
    source: str, pytester: pytest.Pytester, start_pytest: RunPytest
) -> None:
    pytest.importorskip("xdist")
    pytester.makepyfile(test_lost=source)
    result = start_pytest("-n2", "--quickchecks-output=k.json", "--quickchecks-output=k.junit.xml")
    result.assert_outcomes(passed=10, failed=1)
    found = written(pytester, "k.json")
    assert ids(found) == [f"test_lost.py::test_each[{number}]" for number in range(1, 12)]
    (broken,) = [item for item in found.items if item.errored]
    assert broken.id == "test_lost.py::test_each[7]"
    assert broken.error is not None
    assert "crashed while running" in broken.error.message
    assert found.verdict == "failed"
    assert red(pytester, "k.junit.xml") > 0


def test_a_scope_whose_worker_is_killed_again_and_again_is_not_passed(pytester: pytest.Pytester, start_pytest: RunPytest) -> None:
    pytest.importorskip("xdist")
    pytester.makepyfile(test_lost=LOST)
    start_pytest("-n2", "--dist=loadscope", "--max-worker-restart=1", "--quickchecks-output=result.json")
    found = written(pytester)
    assert "test_lost.py::test_each[7]" in ids(found)
    assert found.verdict == "failed"


def red(pytester: pytest.Pytester, name: str) -> int:
    """How many cases of a JUnit file failed or broke."""
    root = ET.parse(pytester.path / name).getroot()
    return sum(1 for case in root.iter("testcase") for one in case if one.tag in ("failure", "error"))


BREAKS = {
    "data": """
def test_it(evals):
    evals(data="missing.jsonl", target=str.upper, gates=GATES)
""",
    "asked for": """
def test_it(request):
    request.getfixturevalue("evals")(data="missing.jsonl", target=str.upper, gates=GATES)
""",
    "fixture": """
@pytest.fixture
def broken():
    raise RuntimeError("no server")

def test_it(broken, evals):
    evals(["sunny"], target=str.upper, gates=GATES)
""",
    "fixture of a dataset": """
@pytest.fixture
def broken():
    raise RuntimeError("no server")

@evals_from([{"id": "one", "input": "sunny"}], target=str.lower, gates=GATES)
def test_it(broken):
    pass
""",
    "fixture of recorded": """
@pytest.fixture
def broken():
    raise RuntimeError("no server")

def test_it(broken, recorded):
    recorded(str.upper, "sunny")
""",
    "asynchronous": """
@evals_from([{"id": "one", "input": "sunny"}], target=str.lower, gates=GATES)
async def test_it():
    pass
""",
    "repeated": """
@pytest.mark.quickchecks(repetitions=3)
def test_it(evals):
    evals(data="missing.jsonl", target=str.upper, gates=GATES)
""",
    "strict xfail": """
@pytest.mark.xfail(strict=True)
def test_it(evals):
    assert evals(["sunny"], target=str.lower, gates=GATES).passed
""",
    "body": """
@evals_from([{"id": "one", "input": "sunny"}], target=str.lower, gates=GATES)
def test_it():
    raise ValueError("what comes after the gates")
""",
    "teardown": """
@pytest.fixture
def broken():
    yield
    raise RuntimeError("no server")

def test_it(broken, evals):
    assert evals(["sunny"], target=str.lower, gates=GATES).passed
""",
    "nothing asserted": """
def test_it(evals):
    assert evals(["sunny"], target=str.lower, scorers=[checks.similarity("rain")]).scores["similarity"] > 0.9
""",
}

BEFORE = """
import pytest
from quickchecks import checks
from quickchecks.pytest_plugin import evals_from

GATES = [checks.includes("sunny")]

def test_before(evals):
    assert evals(["sunny"], target=str.lower, gates=GATES).passed
"""


@pytest.mark.parametrize("workers", [(), ("-n1",)], ids=["here", "worker"])
@pytest.mark.parametrize("kind", BREAKS)
def test_a_test_that_did_not_pass_is_there_and_the_session_is_not_passed(
    kind: str, workers: tuple[str, ...], pytester: pytest.Pytester, start_pytest: RunPytest
) -> None:
    if workers:
        pytest.importorskip("xdist")
    pytester.makepyfile(test_breaks=BEFORE + BREAKS[kind])
    result = start_pytest(*workers, "-p", "no:anyio", "--quickchecks-output=r.json", "--quickchecks-output=r.junit.xml")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    found = written(pytester, "r.json")
    assert [one.partition("::")[2].partition("[")[0] for one in ids(found)] == ["test_before", "test_it"]
    assert found.verdict == "failed"
    assert red(pytester, "r.junit.xml") > 0
    result.stdout.fnmatch_lines(["failed  *", "  failed  *test_breaks.py::test_it*the test failed*"])


def test_a_test_that_breaks_alone_is_a_result_that_can_be_read(pytester: pytest.Pytester, run_pytest: RunPytest) -> None:
    pytester.makepyfile(test_breaks='def test_it(evals): evals(data="missing.jsonl", target=str.upper)')
    run_pytest("--quickchecks-output=result.json").assert_outcomes(failed=1)
    (item,) = written(pytester).items
    assert item.error is not None
    assert "missing.jsonl" in item.error.message


def test_an_item_that_is_not_recorded_breaks_its_test(pytester: pytest.Pytester, run_pytest: RunPytest) -> None:
    pytester.makepyfile(test_lost=LOST)
    run_pytest("-k", "not 7", "--quickchecks-record").assert_outcomes(passed=10, deselected=1)
    run_pytest("--quickchecks-replay", "--quickchecks-output=result.json").assert_outcomes(passed=10, failed=1)
    found = written(pytester)
    assert [item.id for item in found.items if item.errored] == ["test_lost.py::test_each[7]"]
    assert found.verdict == "failed"


@pytest.mark.parametrize("workers", [(), ("-n2",)], ids=["here", "workers"])
def test_a_dataset_that_cannot_be_collected_leaves_the_result_incomplete(
    workers: tuple[str, ...], pytester: pytest.Pytester, start_pytest: RunPytest
) -> None:
    if workers:
        pytest.importorskip("xdist")
    missing = '@evals_from("missing.jsonl", target=str.lower, gates=GATES)\ndef test_it(): pass\n'
    pytester.makepyfile(test_good=BEFORE, test_missing=BEFORE + missing)
    start_pytest(*workers, "--continue-on-collection-errors", "--quickchecks-output=result.json")
    found = written(pytester)
    assert ids(found) == ["test_good.py::test_before"]
    assert found.incomplete == "1 error during collection"
    assert found.verdict == "undecided"


BREAK_OFF = {
    "internal error": "def pytest_runtest_logfinish(nodeid): raise ValueError('a plugin that breaks')",
    "exit": "import pytest\ndef pytest_runtest_logfinish(nodeid): pytest.exit('enough', returncode=0)",
    "exit after the last": "import pytest\ndef pytest_runtest_logfinish(nodeid): "
    "'after' in nodeid and pytest.exit('enough', returncode=0)",
    "tests dropped": "def pytest_runtest_protocol(item): return True if 'after' in item.nodeid else None",
}


@pytest.mark.parametrize("kind", BREAK_OFF)
def test_a_session_that_was_broken_off_is_not_passed(kind: str, pytester: pytest.Pytester, start_pytest: RunPytest) -> None:
    pytester.makeconftest(BREAK_OFF[kind])
    pytester.makepyfile(test_it=BEFORE + BEFORE.replace("test_before", "test_after"))
    start_pytest("--quickchecks-output=result.json")
    found = written(pytester)
    assert "test_it.py::test_before" in ids(found)
    assert found.incomplete
    assert found.verdict == "undecided"


@pytest.mark.parametrize("place", ["test", "end"])
def test_a_process_that_dies_leaves_no_earlier_result(place: str, pytester: pytest.Pytester, start_pytest: RunPytest) -> None:
    pytester.makepyfile(test_it=BEFORE)
    outputs = ("--quickchecks-output=result.json", "--quickchecks-output=result.junit.xml")
    start_pytest(*outputs).assert_outcomes(passed=1)
    assert (written(pytester).verdict, red(pytester, "result.junit.xml")) == ("passed", 0)
    if place == "test":
        pytester.makepyfile(test_it=BEFORE + "def test_after(): import os; os._exit(0)")
    else:
        pytester.makeconftest("def pytest_sessionfinish(): raise ValueError('a plugin that breaks')")
    start_pytest(*outputs)
    found = written(pytester)
    assert (found.items, found.incomplete) == ((), "the session did not come to its end")
    assert red(pytester, "result.junit.xml") > 0


@pytest.mark.parametrize(
    "arguments",
    [
        ("--collect-only",),
        ("--fixtures",),
        ("--fixtures-per-test",),
        ("--markers",),
        ("--setup-plan",),
        ("--setup-only",),
        ("--help",),
        ("--version",),
        ("missing.py",),
        ("--no-such-option",),
    ],
    ids=" ".join,
)
def test_what_runs_no_test_leaves_the_files_alone(
    arguments: tuple[str, ...], pytester: pytest.Pytester, start_pytest: RunPytest
) -> None:
    pytester.makepyfile(test_it=BEFORE)
    (pytester.path / "result.json").write_text("the one of yesterday")
    result = start_pytest(*arguments, "--quickchecks-output=result.json")
    assert (pytester.path / "result.json").read_text() == "the one of yesterday"
    result.stdout.no_fnmatch_line("*result.json written*")


EXPECTED_TO_FAIL = (
    BEFORE
    + """
@pytest.mark.xfail(reason="not yet")
def test_later(evals):
    assert evals(["rain"], target=str.lower, gates=GATES).passed

@pytest.mark.xfail
def test_breaks(evals):
    assert evals(data="missing.jsonl", target=str.lower, gates=GATES).passed

@pytest.mark.xfail
def test_the_target_breaks(evals):
    assert evals(["rain"], target=lambda text: 1 / 0, gates=GATES).passed
"""
)


@pytest.mark.parametrize("workers", [(), ("-n2",)], ids=["here", "workers"])
def test_what_is_expected_to_fail_is_set_aside(
    workers: tuple[str, ...], pytester: pytest.Pytester, start_pytest: RunPytest
) -> None:
    if workers:
        pytest.importorskip("xdist")
    pytester.makepyfile(test_it=EXPECTED_TO_FAIL)
    result = start_pytest(*workers, "--quickchecks-output=r.json", "--quickchecks-output=r.junit.xml")
    assert result.ret == pytest.ExitCode.OK
    result.assert_outcomes(passed=1, xfailed=3)
    found = written(pytester, "r.json")
    assert found.verdict == "passed"
    assert {item.id.partition("::")[2]: len(item.scores) for item in found.items} == {
        "test_before": 1,
        "test_later": 0,
        "test_breaks": 0,
        "test_the_target_breaks": 0,
    }
    assert found.summary.scorers["includes('sunny')"].passed == 1
    assert "test_it.py::test_later: it is expected to fail, and did: not yet" in found.warnings
    assert red(pytester, "r.junit.xml") == 0
    skipped = [case for case in ET.parse(pytester.path / "r.junit.xml").iter("testcase") if case.find("skipped") is not None]
    assert len(skipped) == 3
    result.stdout.fnmatch_lines(["passed  *", "  no verdict  test_it.py::test_later*it is expected to fail, and did: not yet"])


def test_only_what_is_expected_to_fail_is_a_result_that_can_be_read(pytester: pytest.Pytester, run_pytest: RunPytest) -> None:
    pytester.makepyfile(test_it=EXPECTED_TO_FAIL)
    run_pytest("-k", "later", "--quickchecks-output=result.json").assert_outcomes(xfailed=1, deselected=3)
    found = written(pytester)
    assert (len(found.items), found.verdict) == (1, None)


def test_what_is_skipped_does_not_stand_in_the_way(pytester: pytest.Pytester, run_pytest: RunPytest) -> None:
    pytester.makepyfile(test_it=BEFORE + "@pytest.mark.skip\ndef test_skipped(evals): pass\n")
    run_pytest("--quickchecks-output=result.json").assert_outcomes(passed=1, skipped=1)
    found = written(pytester)
    assert (ids(found), found.verdict, found.incomplete) == (["test_it.py::test_before"], "passed", "")
