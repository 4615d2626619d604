"""The fixture `evals`: what it gives, how a failing assertion reads, and what pytest reports of it."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable

import pytest

RunPytest = Callable[..., pytest.RunResult]

HEAD = """
from quickchecks import Threshold, assert_checks, checks, run_evals_sync

def target(city):
    return f"It is sunny in {city}."
"""


def test_a_test_with_an_eval_passes(pytester: pytest.Pytester, run_pytest: RunPytest) -> None:
    pytester.makepyfile(
        HEAD
        + """
def test_weather(evals):
    result = evals(data=["Oslo", "Rome"], target=target, gates=[checks.includes("sunny")])
    assert result.passed
    assert result.summary.total_items == 2
"""
    )
    result = run_pytest()
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        [
            "*= quickchecks =*",
            "passed      1 evaluation, 2 items",
            "  passed      test_*.py::test_weather  2 items",
            "  scorer             passed  failed  other",
            "  includes('sunny')       2",
        ]
    )


def test_a_failing_assertion_explains_the_result(pytester: pytest.Pytester, run_pytest: RunPytest) -> None:
    pytester.makepyfile(
        HEAD
        + """
def test_weather(evals):
    result = evals(["Oslo", "Rome"], target, gates=[checks.includes("Oslo", why="the city must be named")])
    assert result.passed
"""
    )
    result = run_pytest()
    result.assert_outcomes(failed=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(
        [
            ">       assert result.passed",
            "E       AssertionError: the verdict is failed: includes('Oslo'): 1 of 2 items passed*",
            "E         failed     gate includes('Oslo')  1 of 2 items passed*",
            "E         ✗ includes('Oslo')  (*)",
            'E             "Oslo" is not in the answer*',
            "E             why: the city must be named",
            "E       assert False",
            "E        +  where False = <EvalResult of 2 runs>.passed",
            "FAILED test_*.py::test_weather*",
        ]
    )


@pytest.mark.parametrize(
    "statement",
    [
        "assert evals(['Oslo'], target, gates=[checks.includes('rain')]).passed",
        "result = run_evals_sync(['Oslo'], target, gates=[checks.includes('rain')]); assert result.passed",
        "result = evals(['Oslo'], target, gates=[checks.includes('rain')]); assert result.passed is True",
        "result = evals(['Oslo'], target, gates=[checks.includes('rain')]); assert not not result.passed",
    ],
)
def test_a_result_is_explained_however_it_is_asserted(statement: str, pytester: pytest.Pytester, run_pytest: RunPytest) -> None:
    pytester.makepyfile(f"{HEAD}\ndef test_weather(evals):\n    {statement}\n")
    result = run_pytest()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["E *the verdict is failed: includes('rain'): 0 of 1 items passed*", 'E *"rain" is not in the answer*']
    )


def test_a_result_is_explained_without_rewritten_assertions(pytester: pytest.Pytester, run_pytest: RunPytest) -> None:
    pytester.makepyfile(
        HEAD + "\ndef test_weather(evals):\n    assert evals(['Oslo'], target, gates=[checks.includes('rain')]).passed\n"
    )
    result = run_pytest("--assert=plain")
    result.stdout.fnmatch_lines(["E *AssertionError: the verdict is failed: includes('rain')*"])


def test_an_assertion_on_something_else_is_left_as_it_is(pytester: pytest.Pytester, run_pytest: RunPytest) -> None:
    pytester.makepyfile(
        HEAD
        + """
def test_weather(evals):
    result = evals(["Oslo"], target, gates=[checks.includes("rain")])
    assert 1 == 2
"""
    )
    result = run_pytest()
    result.stdout.fnmatch_lines(["E       assert 1 == 2"])
    result.stdout.no_fnmatch_line("E *verdict*")


def test_a_message_that_explains_already_is_not_doubled(pytester: pytest.Pytester, run_pytest: RunPytest) -> None:
    pytester.makepyfile(
        HEAD
        + """
def test_weather(evals):
    result = evals(["Oslo"], target, gates=[checks.includes("rain")])
    assert result.passed, result.explain()
"""
    )
    result = run_pytest()
    assert str(result.stdout).count("✗ includes('rain')") == 1


def test_a_long_explanation_is_capped(pytester: pytest.Pytester, run_pytest: RunPytest) -> None:
    pytester.makepyfile(
        HEAD
        + """
def test_weather(evals):
    result = evals(["Oslo"], target, gates=[checks.includes(f"word {n} " + "x" * 600) for n in range(100)])
    assert result.passed
"""
    )
    result = run_pytest()
    explained = [line for line in result.outlines if line.startswith("E ")]
    assert len(explained) < 80
    assert max(map(len, explained)) < 600
    result.stdout.fnmatch_lines(["E       … and * lines more"])


def test_a_forgotten_assert_is_told_of(pytester: pytest.Pytester, run_pytest: RunPytest) -> None:
    pytester.makepyfile(HEAD + "\ndef test_weather(evals):\n    evals(['Oslo'], target, gates=[checks.includes('rain')])\n")
    for quiet in ((), ("-q",)):
        result = run_pytest(*quiet)
        assert result.ret == pytest.ExitCode.OK
        result.stdout.fnmatch_lines(
            [
                "failed      1 evaluation, 1 item",
                "*::test_weather passed, and its evaluation is failed: does the test `assert result.passed`?",
            ]
        )


def test_an_eval_that_asserts_nothing_has_no_verdict(pytester: pytest.Pytester, run_pytest: RunPytest) -> None:
    pytester.makepyfile(HEAD + "\ndef test_weather(evals):\n    evals(['Oslo'], target, scorers=[checks.includes('sunny')])\n")
    result = run_pytest()
    result.stdout.fnmatch_lines(["no verdict  1 evaluation, 1 item", "  no verdict  *::test_weather  1 item"])


def test_quiet_output_is_one_line(pytester: pytest.Pytester, run_pytest: RunPytest) -> None:
    pytester.makepyfile(
        HEAD + "\ndef test_weather(evals):\n    assert evals(['Oslo'], target, gates=[checks.includes('sunny')]).passed\n"
    )
    result = run_pytest("-q")
    lines = result.outlines
    at = next(number for number, line in enumerate(lines) if "= quickchecks =" in line)
    assert lines[at + 1] == "passed      1 evaluation, 1 item"
    assert lines[at + 2] == "1 passed in " + lines[at + 2].removeprefix("1 passed in ")


def test_many_evaluations_are_shown_by_what_did_not_pass(pytester: pytest.Pytester, run_pytest: RunPytest) -> None:
    pytester.makepyfile(
        HEAD
        + """
import pytest

@pytest.mark.parametrize("number", range(60))
def test_weather(evals, number):
    assert evals(["Oslo"], target, gates=[checks.includes("sunny" if number < 30 else "rain")]).passed
"""
    )
    result = run_pytest("--tb=no")
    rows = [line for line in result.outlines if line.startswith(("  failed  ", "  passed  "))]
    assert len(rows) == 21
    result.stdout.fnmatch_lines(["  … and 10 more: -v shows them", "  passed      30 evaluations: -v shows them"])
    rows = [line for line in run_pytest("--tb=no", "-v").outlines if line.startswith(("  failed  ", "  passed  "))]
    assert len(rows) == 60


def properties_of(pytester: pytest.Pytester, run_pytest: RunPytest, body: str) -> dict[str, str]:
    """The properties of the only test in the XML that pytest writes."""
    pytester.makepyfile(f"{HEAD}\ndef test_weather(evals, request):\n    {body}\n")
    run_pytest("--junitxml=junit.xml")
    tree = ET.parse(pytester.path / "junit.xml")
    return {one.attrib["name"]: one.attrib["value"] for one in tree.iter("property")}


def test_scores_are_properties_of_the_test(pytester: pytest.Pytester, run_pytest: RunPytest) -> None:
    body = """request.node.user_properties.append(("own", "1"))
    gates = [checks.includes("sunny"), checks.called_tool("x")]
    evals(["Oslo"], target, gates=gates, scorers=[checks.similarity("It")])"""
    assert properties_of(pytester, run_pytest, body) == {
        "own": "1",
        "quickchecks": "undecided",
        "quickchecks.includes('sunny')": "passed",
        "quickchecks.called_tool('x')": "no_evidence",
        "quickchecks.similarity('It')": "0.125",
    }


def test_the_property_of_several_scores_is_their_mean(pytester: pytest.Pytester, run_pytest: RunPytest) -> None:
    body = """evals(["Oslo", "Rome"], target, gates=[checks.includes("Oslo")])
    evals(["Bonn", "Bern"], target, gates=[checks.includes("Oslo")])"""
    assert properties_of(pytester, run_pytest, body) == {
        "quickchecks": "failed, failed",
        "quickchecks.includes('Oslo')": "0.25 (1 passed, 3 failed)",
    }


def test_properties_hold_no_character_that_xml_refuses(pytester: pytest.Pytester, run_pytest: RunPytest) -> None:
    body = r"""evals(["Oslo"], target, gates=[checks.includes("\x00\x1b[31m\ufffe<&'\"\ud83d")])"""
    names = list(properties_of(pytester, run_pytest, body))
    assert len(names) == 2
    assert names[1].isprintable()


def test_properties_are_capped(pytester: pytest.Pytester, run_pytest: RunPytest) -> None:
    body = """evals(["Oslo"], target, gates=[checks.includes(f"{n} " + "x" * 500) for n in range(80)])"""
    found = properties_of(pytester, run_pytest, body)
    assert len(found) == 52
    assert max(map(len, found)) <= 140
    assert found["quickchecks.left_out"] == "30 scorers"


def test_a_check_of_one_run_explains_itself(pytester: pytest.Pytester, run_pytest: RunPytest) -> None:
    pytester.makepyfile(
        HEAD
        + """
def test_passes():
    check = checks.includes("Brooklyn", why="the city must be named")
    assert check.passes("It is sunny in Brookline.")

def test_both():
    assert (checks.includes("sunny") & checks.excludes("Brookline")).passes("It is sunny in Brookline.")

def test_not():
    assert not checks.includes("sunny").passes("It is sunny in Brookline.")

def test_fine():
    assert checks.includes("sunny").passes("It is sunny.")
    assert not checks.includes("rain").passes("It is sunny.")
"""
    )
    result = run_pytest()
    result.assert_outcomes(passed=1, failed=3)
    result.stdout.fnmatch_lines(
        [
            "E       assert <does not pass: includes('Brooklyn'): \"Brooklyn\" is not in the answer; the nearest is *>",
            "E           why: the city must be named",
            'E           message 1, assistant: "It is sunny in »Brookline«."',
            "E       assert <does not pass: includes('sunny') & excludes('Brookline'): *",
            'E           message 1, assistant: "It is sunny in »Brookline«."',
            "E       assert not <passes: includes('sunny'): *",
            'E           message 1, assistant: "It is »sunny« in Brookline."',
        ]
    )
    result.stdout.no_fnmatch_line("E * where *")


def test_the_lines_of_assert_checks_itself_are_not_shown(pytester: pytest.Pytester, run_pytest: RunPytest) -> None:
    pytester.makepyfile(
        HEAD + "\ndef test_weather():\n    assert_checks('It rains.', checks.includes('sunny'), checks.excludes('rain'))\n"
    )
    result = run_pytest()
    result.stdout.fnmatch_lines(
        [
            ">       assert_checks('It rains.', checks.includes('sunny'), checks.excludes('rain'))",
            "E       quickchecks.errors.ChecksFailed: 2 of 2 checks did not pass",
            'E             message 1, assistant: "It »rain«s."',
            "test_*.py:7: ChecksFailed",
        ]
    )


def test_without_the_plugin_the_fixture_is_unknown(pytester: pytest.Pytester, start_pytest: RunPytest) -> None:
    pytester.makepyfile("def test_weather(evals):\n    pass\n")
    result = start_pytest("-p", "no:quickchecks")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["E       fixture 'evals' not found"])


def test_the_short_summary_says_what_broke_when_every_target_does(pytester: pytest.Pytester, run_pytest: RunPytest) -> None:
    pytester.makepyfile(
        HEAD
        + """
def broken(city):
    raise RuntimeError("no network")

def test_weather(evals):
    result = evals(["Oslo", "Rome"], broken, gates=[checks.includes("sunny")])
    assert result.passed
"""
    )
    result = run_pytest()
    result.stdout.fnmatch_lines(
        [
            "E       AssertionError: the verdict is failed: 2 of 2 items broke: RuntimeError: no network",
            "  failed *  2 items, 2 of 2 items broke: RuntimeError: no network",
        ]
    )
