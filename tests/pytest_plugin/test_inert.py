"""Where nobody uses it, the plugin is not there: no output, no import, no option but those of its group."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

RunPytest = Callable[..., pytest.RunResult]

WITHOUT = ("-p", "no:quickchecks")

PLAIN = """
import warnings

def test_plain():
    pass

def test_failing():
    assert [1, 2] == [1, 3]

def test_warning():
    warnings.warn("from the test")
"""


def lines_of(result: pytest.RunResult) -> list[str]:
    """What pytest printed, without durations and without the list of the plugins that are installed."""
    lines = [line for line in result.outlines if not line.startswith("plugins: ")]
    return [re.sub(r"\d+\.\d+s", "0.00s", line).strip("= ") for line in lines]


@pytest.mark.parametrize(
    "arguments", [(), ("-q",), ("-v",), ("-rA",), ("--collect-only",), ("--fixtures-per-test",), ("--co", "-q")]
)
def test_the_output_of_a_project_that_does_not_use_it_is_the_same(
    arguments: tuple[str, ...], pytester: pytest.Pytester, start_pytest: RunPytest
) -> None:
    pytester.makepyfile(test_plain=PLAIN)
    before, after = start_pytest(*WITHOUT, *arguments), start_pytest(*arguments)
    assert lines_of(after) == lines_of(before)
    assert after.ret == before.ret
    assert after.errlines == before.errlines


def test_the_help_gains_one_group(start_pytest: RunPytest) -> None:
    before, after = start_pytest(*WITHOUT, "--help").outlines, start_pytest("--help").outlines
    begin = after.index("quickchecks: evals of agents:")
    end = next(number for number in range(begin + 1, len(after)) if after[number] and not after[number].startswith(" "))
    group = [line for line in after[begin:end] if line]
    assert [*after[:begin], *after[end:]] == before
    options = [line.split()[0].split("=")[0] for line in group[1:] if line.startswith("  --")]
    assert options
    assert all(option.startswith("--quickchecks-") for option in options)


def test_the_markers_gain_one_line(start_pytest: RunPytest) -> None:
    before, after = start_pytest(*WITHOUT, "--markers").outlines, start_pytest("--markers").outlines
    added = [line for line in after if line not in before]
    assert len(added) == 1
    assert added[0].startswith("@pytest.mark.quickchecks(")
    assert [line for line in before if line not in after] == []


def test_nothing_but_the_plugin_itself_is_imported(pytester: pytest.Pytester, start_pytest: RunPytest) -> None:
    pytester.makeconftest(
        """
import sys

def pytest_unconfigure():
    print("loaded", *sorted(name for name in sys.modules if name.split(".")[0] in ("quickchecks", "msgspec", "click", "rich")))
"""
    )
    pytester.makepyfile(test_plain=PLAIN)
    assert "loaded quickchecks quickchecks.pytest_plugin" in start_pytest("-s", "--junitxml=junit.xml").outlines


def test_a_project_in_which_every_warning_is_an_error_is_not_disturbed(
    pytester: pytest.Pytester, start_pytest: RunPytest
) -> None:
    pytester.makepyfile(
        test_used="""
from quickchecks import assert_checks, checks

def test_used(evals):
    assert evals(["a"], str.upper, gates=[checks.includes("a")]).passed
    assert_checks("a", checks.includes("a"))
    assert checks.includes("a").passes("a")
"""
    )
    arguments = ("-W", "error", "--strict-markers", "--strict-config", "--quickchecks-output=result.json")
    start_pytest(*arguments).assert_outcomes(passed=1)


def test_a_program_that_has_loaded_quickchecks_may_start_pytest(pytester: pytest.Pytester) -> None:
    """pytest warns of plugins that it can no longer rewrite."""
    pytester.makepyfile(test_plain="def test_plain(): pass")
    pytester.makepyfile(
        program="import quickchecks, pytest\nquickchecks.checks\npytest.main(['-W', 'error', '-p', 'no:asyncio'])"
    )
    result = pytester.runpython(pytester.path / "program.py")
    result.assert_outcomes(passed=1)
    result.stdout.no_fnmatch_line("*quickchecks*cannot*")
    assert "PytestAssertRewriteWarning" not in str(result.stdout) + str(result.stderr)


def test_a_fixture_of_others_with_the_same_name_is_theirs(pytester: pytest.Pytester, start_pytest: RunPytest) -> None:
    pytester.makepyfile(
        test_theirs="""
import pytest

@pytest.fixture
def evals():
    raise ValueError("theirs")

@pytest.fixture
def recorded():
    return 1

def test_setup(evals):
    pass

def test_call(recorded, request):
    assert recorded == 2
"""
    )
    before, after = start_pytest(*WITHOUT), start_pytest()
    assert lines_of(after) == lines_of(before)
