"""Evals in asynchronous tests, with each of the plugins that run those, and without any."""

from __future__ import annotations

from collections.abc import Callable

import pytest

RunPytest = Callable[..., pytest.RunResult]

HEAD = """
import asyncio
import pytest
from quickchecks import assert_checks_async, checks, scorer

async def target(text):
    await asyncio.sleep(0)
    return text.upper()

"""

TESTS = """
async def test_good(evals):
    result = await evals.run(["a", "b"], target, gates=[checks.matches("[AB]")])
    assert result.passed

async def test_bad(evals):
    result = await evals.run(["a"], target, gates=[checks.includes("b")])
    assert result.passed

async def test_of_its_loop(evals):
    loop = asyncio.get_running_loop()

    async def same(text):
        return str(asyncio.get_running_loop() is loop)

    assert (await evals.run(["a"], same, gates=[checks.equals("True")])).passed

async def test_called(evals):
    assert evals(["a"], target, gates=[checks.includes("a")]).passed

async def test_checks():
    @scorer
    async def polite(output):
        return "please" in output

    await assert_checks_async("Come in, please.", polite, checks.includes("come"))
"""


def expect(result: pytest.RunResult) -> None:
    result.assert_outcomes(passed=4, failed=1)
    result.stdout.fnmatch_lines(
        [
            "E       AssertionError: the verdict is failed: includes('b'): 0 of 1 items passed*",
            "failed      4 evaluations, 5 items",
            "  passed * ::test_good * 2 items".replace(" ::", "::"),
            "  failed *::test_bad *",
        ]
    )


def test_with_pytest_asyncio(pytester: pytest.Pytester) -> None:
    pytest.importorskip("pytest_asyncio")
    pytester.makepyfile(f"{HEAD}\npytestmark = pytest.mark.asyncio\n{TESTS}")
    pytester.makeini("[pytest]\nasyncio_default_fixture_loop_scope = function")
    expect(pytester.runpytest_subprocess("-p", "no:cacheprovider", "-p", "no:anyio"))


def test_with_pytest_asyncio_in_auto_mode(pytester: pytest.Pytester) -> None:
    pytest.importorskip("pytest_asyncio")
    pytester.makepyfile(HEAD + TESTS)
    pytester.makeini("[pytest]\nasyncio_mode = auto\nasyncio_default_fixture_loop_scope = function")
    expect(pytester.runpytest_subprocess("-p", "no:cacheprovider", "-W", "error"))


ON_ASYNCIO = '@pytest.fixture\ndef anyio_backend():\n    return "asyncio"\n'


def test_with_anyio(pytester: pytest.Pytester, start_pytest: RunPytest) -> None:
    pytest.importorskip("anyio")
    pytester.makepyfile(f"{HEAD}\npytestmark = pytest.mark.anyio\n\n{ON_ASYNCIO}\n{TESTS}")
    expect(start_pytest("-W", "error"))


def test_another_loop_than_that_of_asyncio_is_refused_with_a_way_out(pytester: pytest.Pytester, start_pytest: RunPytest) -> None:
    pytester.makepyfile(
        f"""{HEAD}
def test_without_a_loop(evals):
    with pytest.raises(Exception, match="needs the loop of asyncio"):
        evals.run(["a"], target, gates=[checks.includes("a")]).send(None)
"""
    )
    start_pytest().assert_outcomes(passed=1)


def test_without_any_of_them(pytester: pytest.Pytester, start_pytest: RunPytest) -> None:
    pytester.makepyfile(
        f"""{HEAD}
def test_called(evals):
    assert evals(["a"], target, gates=[checks.includes("a")]).passed

def test_run(evals):
    assert asyncio.run(evals.run(["a"], target, gates=[checks.includes("a")])).passed
"""
    )
    start_pytest("-p", "no:anyio", "-W", "error").assert_outcomes(passed=2)


def test_an_evaluation_that_is_cancelled_keeps_what_was_finished(pytester: pytest.Pytester, start_pytest: RunPytest) -> None:
    pytester.makepyfile(
        f"""{HEAD}
async def slow(text):
    await asyncio.sleep(60 if text == "b" else 0)
    return text

def test_cancelled(evals):
    async def broken_off():
        async with asyncio.timeout(1):
            await evals.run(["a", "b"], slow, gates=[checks.includes("a")])

    with pytest.raises(TimeoutError):
        asyncio.run(broken_off())
"""
    )
    result = start_pytest()
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["undecided   1 evaluation, 1 item (interrupted)"])


@pytest.mark.parametrize(
    ("call", "instead"),
    [('evals.run(["a"], target, gates=[checks.includes("A")])', "evals(...)"), ('recorded.run(target, "a")', "recorded(*)")],
)
def test_a_coroutine_that_nobody_awaits_is_an_error(
    pytester: pytest.Pytester, run_pytest: RunPytest, call: str, instead: str
) -> None:
    name = call.partition(".")[0]
    pytester.makepyfile(
        HEAD
        + f"""
def test_dropped({name}):
    {call}

def test_asserted({name}):
    assert {call}

def test_awaited({name}):
    assert asyncio.run({call}) is not None

@pytest.mark.quickchecks(repetitions=2)
def test_repeated({name}):
    assert {call}
"""
    )
    result = run_pytest("-W", "error")
    result.assert_outcomes(passed=4, errors=3)
    result.stdout.fnmatch_lines(
        [f"{name}.run(...) was begun and never awaited to its end*await {name}.run(...)*or {instead} in any other"]
    )


def test_a_task_that_is_left_behind_is_an_error(pytester: pytest.Pytester, run_pytest: RunPytest) -> None:
    pytester.makepyfile(
        HEAD
        + """
@pytest.fixture
def loop():
    loop = asyncio.new_event_loop()
    yield loop
    for task in asyncio.all_tasks(loop):
        task.cancel()
    loop.run_until_complete(asyncio.sleep(0.01))
    loop.close()

def test_left(loop, evals):
    async def begin():
        return asyncio.create_task(evals.run(["a"], target, gates=[checks.includes("A")]))
    loop.run_until_complete(begin())
"""
    )
    result = run_pytest()
    result.assert_outcomes(passed=1, errors=1)
