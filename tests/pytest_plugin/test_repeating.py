"""Tests that run several times and pass by rate: one outcome each, whatever the repetitions do."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections.abc import Callable

import pytest

from quickchecks import checks, run_evals_sync
from quickchecks.pytest_plugin._joining import joined

RunPytest = Callable[..., pytest.RunResult]

#: A test that fails in the repetitions that are listed, counted from 1.
COUNTED = """
import pytest
made = {"fresh": 0, "module": 0}

@pytest.fixture(scope="module")
def shared():
    made["module"] += 1
    return made["module"]

@pytest.fixture
def fresh(shared):
    assert shared == 1
    made["fresh"] += 1
    print("making", made["fresh"])
    yield made["fresh"]
    print("ending", made["fresh"])
"""


def test_a_test_passes_by_rate(pytester: pytest.Pytester, run_pytest: RunPytest) -> None:
    pytester.makepyfile(
        COUNTED
        + """
@pytest.mark.quickchecks(repetitions=5, pass_rate=0.8)
def test_it(fresh, tmp_path):
    assert not list(tmp_path.iterdir())
    (tmp_path / "file").touch()
    assert fresh != 3

def test_after(fresh):
    assert fresh == 6
"""
    )
    result = run_pytest("--strict-markers")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(
        ["*= repeated tests =*", "*::test_it  4 of 5 repetitions passed (80 %, 95 % interval 38–96 %)", "*2 passed*"]
    )


@pytest.mark.parametrize("failing", [1, 2, 3])
def test_which_repetition_fails_makes_no_difference(pytester: pytest.Pytester, run_pytest: RunPytest, failing: int) -> None:
    mark = "@pytest.mark.quickchecks(repetitions=3, pass_rate=0.6)"
    pytester.makepyfile(f"{COUNTED}\n{mark}\ndef test_it(fresh):\n    assert fresh != {failing}\n")
    run_pytest().assert_outcomes(passed=1)


def test_too_few_passes_fail_and_show_which(pytester: pytest.Pytester, run_pytest: RunPytest) -> None:
    pytester.makepyfile(
        COUNTED
        + """
@pytest.mark.quickchecks(repetitions=5, pass_rate=0.8)
def test_it(fresh):
    print("trying", fresh)
    assert fresh not in (2, 5), "this is wrong"
"""
    )
    result = run_pytest()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "3 of 5 repetitions passed (60 %, 95 % interval 23–88 %); 80 % are wanted",
            "  1  passed",
            "  2  failed: *this is wrong*",
            "  5  failed: *this is wrong*",
            "repetition 2:",
            '>       assert fresh not in (2, 5), "this is wrong"',
            "*Captured stdout call of repetition 2*",
            "trying 2",
            "FAILED *::test_it - Failed: 3 of 5 *",
        ]
    )
    assert "trying 1" not in result.stdout.str(), "the output of what passed is not shown"


def test_without_a_rate_every_repetition_must_pass(pytester: pytest.Pytester, run_pytest: RunPytest) -> None:
    pytester.makepyfile(COUNTED + "\n@pytest.mark.quickchecks(repetitions=3)\ndef test_it(fresh):\n    assert fresh != 3\n")
    result = run_pytest()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["2 of 3 repetitions passed*; 100 % are wanted"])


def test_a_confidence_that_is_not_reached_is_undecided_and_fails(pytester: pytest.Pytester, run_pytest: RunPytest) -> None:
    pytester.makepyfile(
        COUNTED
        + """
@pytest.mark.quickchecks(repetitions=20, pass_rate=0.85, confidence=0.95)
def test_open(fresh):
    assert fresh != 3

@pytest.mark.quickchecks(repetitions=20, pass_rate=0.85, confidence=0.95)
def test_sure(fresh):
    pass
"""
    )
    result = run_pytest()
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            "undecided: 19 of 20 repetitions passed*, which proves 78 %; 85 % with 95 % confidence is wanted; "
            "* more repetitions that pass would decide"
        ]
    )


@pytest.mark.parametrize(
    ("mark", "said"),
    [
        ("repetition=5", "*there is no argument 'repetition': did you mean 'repetitions'?"),
        ("5", "*5 stands by position; write it by name, such as repetitions=5"),
        ("repetitions=0", "*repetitions is a whole number from 1 on, not 0"),
        ("repetitions=True", "*repetitions is a whole number from 1 on, not true"),
        ("repetitions='5'", '*repetitions is a whole number from 1 on, not "5"'),
        ("pass_rate=0.8", "*pass_rate is about repetitions: say how many, such as repetitions=5"),
        ("repetitions=5, pass_rate=80", "*pass_rate from 0.001 up to 1, not 80; for 80 % write 0.8"),
        ("repetitions=5, confidence=0.9", "*a confidence needs a pass_rate below 1*"),
        (
            "repetitions=5, pass_rate=0.8, confidence=0.95",
            "*5 repetitions can never prove that 80 % pass with 95 % confidence; at least 14 can, when all of them pass",
        ),
    ],
)
def test_a_senseless_mark_is_an_error_when_it_is_collected(
    pytester: pytest.Pytester, run_pytest: RunPytest, mark: str, said: str
) -> None:
    pytester.makepyfile(f"import pytest\n@pytest.mark.quickchecks({mark})\ndef test_it():\n    pass\n")
    result = run_pytest()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*ERROR collecting*", said])
    assert "Traceback" not in result.stdout.str()


def test_a_plain_mark_changes_nothing(pytester: pytest.Pytester, run_pytest: RunPytest) -> None:
    pytester.makepyfile(
        """
import pytest
made = []
@pytest.mark.quickchecks
def test_it():
    made.append(1)
    assert len(made) == 1
"""
    )
    result = run_pytest("--strict-markers", "-m", "quickchecks")
    result.assert_outcomes(passed=1)
    result.stdout.no_fnmatch_line("*repeated tests*")


def test_each_repetition_has_a_new_instance_and_a_nearer_mark_says_it_better(
    pytester: pytest.Pytester, run_pytest: RunPytest
) -> None:
    pytester.makepyfile(
        """
import pytest
made = []

@pytest.mark.quickchecks(repetitions=4, pass_rate=0.5)
class TestIt:
    seen = 0

    @pytest.fixture(autouse=True)
    def prepare(self):
        self.prepared = id(self)

    @pytest.mark.parametrize("sign", ["a", "b"])
    @pytest.mark.quickchecks(repetitions=3)
    def test_it(self, sign):
        made.append(sign)
        assert self.prepared == id(self) and self.seen == 0
        self.seen = 1
        assert made.count(sign) > 1, sign

def test_after():
    assert made == ["a"] * 3 + ["b"] * 3
"""
    )
    result = run_pytest()
    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(["*test_it?a?  2 of 3 repetitions passed*", "*test_it?b?  2 of 3 repetitions passed*"])


def test_what_breaks_while_a_repetition_is_set_up_is_an_error_and_no_failure(
    pytester: pytest.Pytester, run_pytest: RunPytest
) -> None:
    pytester.makepyfile(
        COUNTED
        + """
@pytest.fixture
def breaking(fresh):
    if fresh == 2:
        raise RuntimeError("no connection")

@pytest.mark.quickchecks(repetitions=3, pass_rate=0.1)
def test_it(breaking):
    pass

def test_after(fresh):
    assert fresh == 3
"""
    )
    result = run_pytest("--junitxml=report.xml")
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(
        ["*ERROR at setup of test_it*", "*RuntimeError: no connection", "*in the setup of repetition 2 of 3"]
    )
    suite = ET.parse(pytester.path / "report.xml").getroot()[0]
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("2", "0", "1")


def test_what_breaks_while_a_repetition_is_torn_down_is_an_error(pytester: pytest.Pytester, run_pytest: RunPytest) -> None:
    pytester.makepyfile(
        COUNTED
        + """
@pytest.fixture
def leaking(fresh):
    yield
    if fresh in broken:
        raise RuntimeError(f"leak {fresh}")

broken = {1}
@pytest.mark.quickchecks(repetitions=3)
def test_one(leaking):
    pass

@pytest.mark.quickchecks(repetitions=3)
def test_two(leaking):
    broken.update((4, 6))
"""
    )
    result = run_pytest()
    result.assert_outcomes(passed=2, errors=2)
    result.stdout.fnmatch_lines(
        ["*ERROR at teardown of test_one*", "*leak 1", "*in the teardown of repetition 1 of 3", "*ERROR at teardown of test_two*"]
    )
    result.stdout.fnmatch_lines(["*leak 4", "*leak 6"])


def test_repetitions_that_skip_do_not_count_and_all_of_them_skip_the_test(
    pytester: pytest.Pytester, run_pytest: RunPytest
) -> None:
    pytester.makepyfile(
        COUNTED
        + """
@pytest.fixture
def skipping(fresh):
    if fresh == 3:
        pytest.skip("by its fixture")

@pytest.mark.quickchecks(repetitions=3)
def test_some(skipping, fresh):
    if fresh == 1:
        pytest.skip("by itself")

@pytest.mark.quickchecks(repetitions=3)
def test_all():
    pytest.skip("no network")

@pytest.mark.skipif(True, reason="not here")
@pytest.mark.quickchecks(repetitions=3)
def test_never():
    raise AssertionError
"""
    )
    result = run_pytest("-rs")
    result.assert_outcomes(passed=1, skipped=2)
    result.stdout.fnmatch_lines(
        [
            "*::test_some  1 of 1 repetition passed (*), 2 skipped",
            "SKIPPED *test_repetitions_that_skip*.py:*: all 3 repetitions: no network",
        ]
    )


def test_xfail_is_about_the_rate(pytester: pytest.Pytester, run_pytest: RunPytest) -> None:
    pytester.makepyfile(
        COUNTED
        + """
@pytest.mark.xfail(reason="known")
@pytest.mark.quickchecks(repetitions=2)
def test_fails(fresh):
    assert fresh == 1

@pytest.mark.xfail(reason="known")
@pytest.mark.quickchecks(repetitions=2)
def test_passes(fresh):
    pass

@pytest.mark.xfail(reason="known", strict=True)
@pytest.mark.quickchecks(repetitions=2)
def test_must_fail(fresh):
    pass

@pytest.mark.quickchecks(repetitions=2)
def test_says_so(fresh):
    if fresh == 8:
        pytest.xfail("known too")
"""
    )
    result = run_pytest("-rx")
    result.assert_outcomes(xfailed=2, xpassed=1, failed=1)
    result.stdout.fnmatch_lines(["*XPASS(strict)*", "*test_says_so - 1 of 2 repetitions passed*known too"])


def test_it_is_one_test_for_x_and_durations_and_junit(pytester: pytest.Pytester, run_pytest: RunPytest) -> None:
    pytester.makepyfile(
        COUNTED
        + """
@pytest.mark.quickchecks(repetitions=4, pass_rate=0.9)
def test_one(fresh):
    assert fresh % 2

@pytest.mark.quickchecks(repetitions=4)
def test_two(fresh):
    pass
"""
    )
    result = run_pytest("--maxfail=2", "--durations=0", "-vv", "--junitxml=report.xml")
    result.assert_outcomes(passed=1, failed=1)
    assert result.stdout.str().count("call     test_") == 2
    suite = ET.parse(pytester.path / "report.xml").getroot()[0]
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("2", "1", "0")
    said = [one.get("value") for one in suite.iter("property") if one.get("name") == "quickchecks.repetitions"]
    assert [one[:6] for one in said if one] == ["2 of 4", "4 of 4"]
    run_pytest("-x").assert_outcomes(failed=1)


def test_pdb_stops_at_the_first_failure(pytester: pytest.Pytester, run_pytest: RunPytest) -> None:
    pytester.makeconftest(
        """
import pytest
class Debugger:
    def __init__(self, **options): pass
    def reset(self): pass
    def interaction(self, frame, traceback):
        print("DEBUGGING", traceback if isinstance(traceback, BaseException) else "")
"""
    )
    pytester.makepyfile(
        COUNTED
        + """
@pytest.mark.quickchecks(repetitions=9, pass_rate=0.1)
def test_it(fresh):
    assert fresh != 2, "stop here"
"""
    )
    result = run_pytest("--pdb", "--pdbcls=conftest:Debugger")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*AssertionError: stop here*", "*DEBUGGING*"])


def test_what_cannot_be_repeated_is_refused(pytester: pytest.Pytester, run_pytest: RunPytest) -> None:
    pytester.makepyfile(
        """
import unittest, pytest
@pytest.mark.quickchecks(repetitions=3)
class TestIt(unittest.TestCase):
    def test_it(self):
        pass
"""
    )
    (pytester.path / "test_more.py").write_text(
        "import pytest\n@pytest.mark.quickchecks(repetitions=2)\ndef test_sub(subtests):\n    pass\n"
    )
    result = run_pytest()
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(
        [
            "*a test with subtests cannot be repeated: *",
            "*a test of unittest.TestCase cannot be repeated; write it as a function*",
        ]
    )


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["asyncio", "anyio"])
def test_async_tests_are_repeated(pytester: pytest.Pytester, start_pytest: RunPytest, mode: str) -> None:
    pytest.importorskip("pytest_asyncio" if mode == "asyncio" else "anyio")
    fixture = "pytest_asyncio.fixture" if mode == "asyncio" else "pytest.fixture"
    pytester.makepyfile(
        f"""
import asyncio, pytest
{"import pytest_asyncio" if mode == "asyncio" else ""}
made = []

@pytest.fixture
def anyio_backend():
    return "asyncio"

@{fixture}
async def fresh():
    made.append(1)
    await asyncio.sleep(0)
    yield len(made)

@pytest.mark.{mode}
@pytest.mark.quickchecks(repetitions=4, pass_rate=0.75)
async def test_it(fresh):
    await asyncio.sleep(0)
    assert fresh != 2
"""
    )
    plugins = ("-p", "asyncio", "-o", "asyncio_default_fixture_loop_scope=function") if mode == "asyncio" else ()
    result = start_pytest(*plugins, "-v")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*::test_it  3 of 4 repetitions passed*"])


@pytest.mark.slow
def test_under_xdist_and_with_reruns_it_is_one_test(pytester: pytest.Pytester, start_pytest: RunPytest) -> None:
    pytest.importorskip("pytest_rerunfailures")
    pytester.makepyfile(
        COUNTED
        + """
@pytest.mark.quickchecks(repetitions=3)
def test_again(fresh):
    assert fresh > 3, "only the second time"

@pytest.mark.quickchecks(repetitions=3, pass_rate=0.9)
def test_fails(fresh):
    assert fresh % 3
"""
    )
    result = start_pytest("-n", "1", "--reruns", "1", "-v")
    assert result.parseoutcomes() == {"passed": 1, "failed": 1, "rerun": 2}
    result.stdout.fnmatch_lines(["*::test_again  3 of 3 repetitions passed*", "*::test_fails  2 of 3 repetitions passed*"])


def test_what_the_repetitions_evaluate_is_one_item_with_repetitions(pytester: pytest.Pytester, run_pytest: RunPytest) -> None:
    pytester.makepyfile(
        """
import pytest
from quickchecks import checks
made = []

@pytest.mark.quickchecks(repetitions=4, pass_rate=0.5)
def test_it(evals):
    made.append(1)
    def target(text):
        if len(made) == 1:
            raise ValueError("no connection")
        return text + ("?" if len(made) == 2 else "!")
    result = evals(["Hello"], target, gates=[checks.includes("!")])
    assert result.passed

@pytest.mark.quickchecks(repetitions=2)
def test_fails(evals):
    made.append(1)
    result = evals(["Hello"], lambda text: text + str(len(made)), gates=[checks.includes("5")])
    assert result.passed
"""
    )
    result = run_pytest("--quickchecks-output", "all.json", "--junitxml=report.xml")
    result.assert_outcomes(passed=1, failed=1)
    properties = [(one.get("name"), one.get("value")) for one in ET.parse(pytester.path / "report.xml").iter("property")]
    assert ("quickchecks", "passed") in properties
    assert ("quickchecks", "failed") in properties
    result.stdout.fnmatch_lines(["failed * 2 evaluations, 2 items, 1 broke", "  passed * ::test_it * 1 item × 4*"][:1])
    written = json.loads((pytester.path / "all.json").read_bytes())
    assert [(one["index"], one.get("repetition", 0)) for one in written["items"]] == [
        (0, 0),
        (0, 1),
        (0, 2),
        (0, 3),
        (1, 0),
        (1, 1),
    ]
    assert [part["verdict"] for part in written["parts"]] == ["passed", "failed"]


def test_results_of_other_items_or_scorers_stay_apart() -> None:
    def made(word: str, data: list[str]) -> object:
        return run_evals_sync(data, lambda text: text, gates=[checks.includes(word)])

    one, two, three = made("a", ["a"]), made("b", ["a"]), made("a", ["a", "b"])
    assert len(joined([[one], [two], [three]])) == 3  # type: ignore[list-item]
    (both,) = joined([[one], [one]])  # type: ignore[list-item]
    assert (both.repetitions, [item.repetition for item in both.items]) == (2, [0, 1])


def test_a_repetition_that_did_not_come_so_far_leaves_no_gap() -> None:
    first = run_evals_sync(["a"], lambda text: text, gates=[checks.includes("a")])
    second = run_evals_sync(["b"], lambda text: text, gates=[checks.includes("b")])
    results = joined([[first], [first, second], [first, second]])
    assert [(one.repetitions, [item.repetition for item in one.items]) for one in results] == [(3, [0, 1, 2]), (2, [0, 1])]


@pytest.mark.parametrize("place", ["fixture", "body"])
@pytest.mark.parametrize("failing", [1, 2, 4])
def test_evals_of_a_fixture_are_joined_as_those_of_the_body(
    pytester: pytest.Pytester, run_pytest: RunPytest, place: str, failing: int
) -> None:
    call = 'evals(["Oslo"], target=agent, gates=[checks.includes("sunny")])'
    test = {
        "fixture": f"def test_it(res):\n    assert res.passed\n\n@pytest.fixture\ndef res(evals):\n    return {call}\n",
        "body": f"def test_it(evals):\n    assert {call}.passed\n",
    }
    pytester.makepyfile(
        f"""
import pytest
from quickchecks import checks
asked = []
def agent(text):
    asked.append(text)
    return "It rains." if len(asked) == {failing} else "It is sunny."

@pytest.mark.quickchecks(repetitions=4, pass_rate=0.5)
{test[place]}"""
    )
    result = run_pytest("--junitxml=report.xml")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["passed * 1 evaluation, 1 item", "  passed * *::test_it * 1 item × 4*"])
    result.stdout.no_fnmatch_line("*does the test*")
    found = [
        one.get("value") for one in ET.parse(pytester.path / "report.xml").iter("property") if one.get("name") == "quickchecks"
    ]
    assert found == ["passed"]


def test_evals_of_a_fixture_are_kept_where_the_repetitions_do_not_begin(pytester: pytest.Pytester, run_pytest: RunPytest) -> None:
    pytester.makepyfile(
        """
import pytest
from quickchecks import checks

@pytest.fixture
def res(evals):
    return evals(["Oslo"], target=str.upper, gates=[checks.includes("oslo")])

@pytest.fixture
def broken(res):
    raise RuntimeError("no database")

@pytest.mark.quickchecks(repetitions=4)
def test_it(broken): pass
"""
    )
    result = run_pytest()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["  includes('oslo')       1"])


def test_xfail_that_raises_is_about_what_the_repetitions_raise(pytester: pytest.Pytester, run_pytest: RunPytest) -> None:
    pytester.makepyfile(
        COUNTED
        + """
@pytest.mark.xfail(raises=ValueError, reason="known")
@pytest.mark.quickchecks(repetitions=3)
def test_expected():
    raise ValueError("wrong")

@pytest.mark.xfail(raises=ValueError, reason="known")
@pytest.mark.quickchecks(repetitions=3)
def test_another(fresh):
    raise KeyError("wrong") if fresh == 2 else ValueError("wrong")
"""
    )
    result = run_pytest("-rx")
    result.assert_outcomes(xfailed=1, failed=1)
    result.stdout.fnmatch_lines(["XFAIL *::test_expected - 0 of 3 repetitions passed*: known"])
    run_pytest("--runxfail").assert_outcomes(failed=2)
