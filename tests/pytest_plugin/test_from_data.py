"""One test for each item of a dataset."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from quickchecks import Gate, checks
from quickchecks.errors import QuickchecksError
from quickchecks.pytest_plugin import evals_from

RunPytest = Callable[..., pytest.RunResult]

HEAD = """
import pytest
from quickchecks import Gate, Threshold, assert_checks, checks
from quickchecks.pytest_plugin import evals_from

def agent(text):
    if text == "Broken":
        raise ValueError("no connection")
    return f"It is sunny in {text}."
"""


@pytest.fixture
def cases(pytester: pytest.Pytester) -> Callable[..., Path]:
    """Writes items into cases.jsonl."""

    def write(*items: object, name: str = "cases.jsonl") -> Path:
        path = pytester.path / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text("".join(json.dumps(item) + "\n" for item in items), encoding="utf-8")
        return path

    return write


WEATHER = ({"id": "oslo", "input": "Oslo"}, {"id": "rome", "input": "Rome", "expected": "sunny in Rome"})


def test_each_item_is_a_test(pytester: pytest.Pytester, run_pytest: RunPytest, cases: Callable[..., Path]) -> None:
    cases(*WEATHER)
    pytester.makepyfile(HEAD + '@evals_from("cases.jsonl", target=agent, gates=[checks.includes("Oslo")])\ndef test_it(): pass\n')
    result = run_pytest("-v")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            "*::test_it?oslo? PASSED*",
            "*::test_it?rome? FAILED*",
            'cases.jsonl:2: item "rome": includes(\'Oslo\'): "Oslo" is not in the answer*',
            '  answer: "It is sunny in Rome."',
            "failed * 2 evaluations, 2 items",
            "FAILED *::test_it?rome? - *",
        ]
    )
    run_pytest("-k", "oslo").assert_outcomes(passed=1, deselected=1)
    file = "test_each_item_is_a_test.py"
    run_pytest(f"{file}::test_it[oslo]").assert_outcomes(passed=1)


def test_the_function_asserts_more(pytester: pytest.Pytester, run_pytest: RunPytest, cases: Callable[..., Path]) -> None:
    cases(*WEATHER)
    pytester.makepyfile(
        HEAD
        + """
@evals_from("cases.jsonl", target=agent)
def test_run(run):
    assert run.text.endswith("Oslo.")

@evals_from("cases.jsonl", target=agent, scorers=[checks.similarity("It is sunny in Oslo.")])
@pytest.mark.parametrize("more", [1, 2])
def test_all(tmp_path, item, run, request, more, result):
    assert request.node.name.startswith("test_all") and tmp_path.exists()
    assert run is result.items[0].run and item.input in ("Oslo", "Rome")
    assert_checks(run, checks.includes(item.input))
    assert result.scores["check-similarity"] > 0.5

class TestIt:
    @evals_from("cases.jsonl", target=agent, gates=[checks.includes("sunny")])
    def test_method(self, run):
        assert isinstance(self, TestIt)
"""
    )
    result = run_pytest()
    result.assert_outcomes(passed=7, failed=1)
    result.stdout.fnmatch_lines(["*def test_run(run):", "*assert run.text.endswith*", 'E * cases.jsonl:2: item "rome"'])


def test_the_target_may_be_a_fixture(pytester: pytest.Pytester, run_pytest: RunPytest, cases: Callable[..., Path]) -> None:
    cases(*WEATHER)
    pytester.makepyfile(
        HEAD
        + """
@pytest.fixture(params=["sunny", "rainy"])
def target(request):
    return lambda text: f"It is {request.param} in {text}."

@evals_from("cases.jsonl", gates=[checks.includes("sunny")])
def test_it(target):
    assert callable(target)
"""
    )
    run_pytest().assert_outcomes(passed=2, failed=2)


def test_what_an_item_brings_needs_no_target(
    pytester: pytest.Pytester, run_pytest: RunPytest, cases: Callable[..., Path]
) -> None:
    cases({"input": "a", "output": "It is sunny."}, {"input": "b", "output": "It rains."})
    pytester.makepyfile(HEAD + '@evals_from("cases.jsonl", gates=[checks.includes("sunny")])\ndef test_it(): pass\n')
    run_pytest().assert_outcomes(passed=1, failed=1)


def test_a_target_that_raises_fails_its_test_with_its_own_frames(
    pytester: pytest.Pytester, run_pytest: RunPytest, cases: Callable[..., Path]
) -> None:
    cases({"id": "x", "input": "Broken"})
    pytester.makepyfile(
        HEAD
        + """
@evals_from("cases.jsonl", target=agent, gates=[checks.includes("sunny")])
def test_gated(): pass

@evals_from("cases.jsonl", target=agent)
def test_alone(run):
    raise AssertionError("never reached")
"""
    )
    result = run_pytest()
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(
        ['cases.jsonl:1: item "x": the target broke: ValueError: no connection', '*raise ValueError("no connection")*'] * 2
    )
    assert "_attempt.py" not in result.stdout.str()
    assert "never reached" not in result.stdout.str()


def test_repetitions_and_rates_are_those_of_the_item(
    pytester: pytest.Pytester, run_pytest: RunPytest, cases: Callable[..., Path]
) -> None:
    cases(*WEATHER)
    pytester.makepyfile(
        HEAD
        + """
made = []
def moody(text):
    made.append(text)
    return "It rains." if made.count(text) == 2 or text == "Rome" else "It is sunny."

gates = [Gate(checks.includes("sunny"), pass_rate=0.6)]
@evals_from("cases.jsonl", target=moody, gates=gates, repetitions=3)
def test_it(result):
    assert result.repetitions == 3 and len(result.items) == 3
"""
    )
    result = run_pytest()
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            "cases.jsonl:2: item \"rome\": includes('sunny'): 0 of 3 runs passed*60 % are wanted",
            '      repetition 1: "sunny" is not*',
        ]
    )


def test_the_mark_repeats_each_item(pytester: pytest.Pytester, run_pytest: RunPytest, cases: Callable[..., Path]) -> None:
    cases(*WEATHER)
    pytester.makepyfile(
        HEAD
        + """
made = []
def moody(text):
    made.append(text)
    return "It rains." if made.count(text) == 2 or text == "Rome" else "It is sunny."

@pytest.mark.quickchecks(repetitions=3, pass_rate=0.6)
@evals_from("cases.jsonl", target=moody, gates=[checks.includes("sunny")])
def test_it(): pass
"""
    )
    result = run_pytest()
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["0 of 3 repetitions passed*", "*includes('sunny')       2       4"])


def test_what_breaks_a_threshold_is_told(pytester: pytest.Pytester, run_pytest: RunPytest, cases: Callable[..., Path]) -> None:
    cases(*WEATHER)
    pytester.makepyfile(
        HEAD
        + """
scorers = [Threshold(checks.similarity("It is sunny in Oslo."), min=0.95)]
@evals_from("cases.jsonl", target=agent, scorers=scorers)
def test_it(): pass

def breaks(run):
    raise KeyError("deep inside")

@evals_from("cases.jsonl", target=agent, gates=[checks.includes("sunny")], scorers=[breaks])
def test_scorer(): pass
"""
    )
    result = run_pytest()
    result.assert_outcomes(passed=1, failed=3)
    result.stdout.fnmatch_lines(['cases.jsonl:2: item "rome": similarity(*0.9*is wanted*'])
    result.stdout.fnmatch_lines(['cases.jsonl:1: item "oslo": 1 scorer broke', "  ✗ breaks*deep inside*"])


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "*test_it: *cases.jsonl*"),
        ("", "*cases.jsonl: *empty*"),
        ('{"input": "a"}\n{"inptu": "b"}\n', "*cases.jsonl:2: item 1 has none of input, inputs and turns*did you mean 'input'?*"),
        ('{"input": "a"}\n{"input": \n', "*cases.jsonl:2: *"),
        (
            '{"id": "x", "input": "a"}\n{"id": "x", "input": "b"}\n',
            "*two items have the id 'x': cases.jsonl:1 and cases.jsonl:2*",
        ),
    ],
)
def test_a_dataset_that_cannot_be_read_is_an_error_when_it_is_collected(
    pytester: pytest.Pytester, run_pytest: RunPytest, content: str | None, said: str
) -> None:
    if content is not None:
        (pytester.path / "cases.jsonl").write_text(content)
    pytester.makepyfile(HEAD + '@evals_from("cases.jsonl", target=agent, gates=[checks.includes("a")])\ndef test_it(): pass\n')
    result = run_pytest()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*ERROR collecting*", said])
    assert "Traceback" not in result.stdout.str()


def test_without_a_target_it_says_how_to_give_one(
    pytester: pytest.Pytester, run_pytest: RunPytest, cases: Callable[..., Path]
) -> None:
    cases(*WEATHER)
    pytester.makepyfile(HEAD + '@evals_from("cases.jsonl", gates=[checks.includes("a")])\ndef test_it(): pass\n')
    result = run_pytest()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*test_it: cases.jsonl:1 has to be asked, and there is no target: give evals_from target=*"])


def test_the_dataset_lies_beside_the_file_of_the_function(
    pytester: pytest.Pytester, run_pytest: RunPytest, cases: Callable[..., Path]
) -> None:
    cases(*WEATHER, name="inner/data/cases.csv")
    (pytester.path / "inner/data/cases.csv").write_text("city,id\nOslo,oslo\nRome,rome\n")
    (pytester.path / "inner" / "test_it.py").write_text(
        HEAD
        + '@evals_from("data/cases.csv", fields={"input": "city"}, target=agent, gates=[checks.includes("Oslo")])\n'
        + "def test_it(): pass\n"
    )
    result = run_pytest()
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(['inner/data/cases.csv:3: item "rome": *'])


HOSTILE = (
    "a::b[1]",
    "../../etc/passwd",
    "line\nbreak\ttab",
    "nul\0 bell\a esc\x1b[31m",
    "\u202egnp.exe",
    "é ü ☀ 日本",
    "half \ud83d",
    "x" * 500,
    "x" * 499 + "y",
    "日" * 300,
    "with \\ backslash",
    "  ",
    "a..b(1)",
    "a@b",
    "<script>alert(1)</script>",
    "-k",
)


def test_ids_of_tests_are_safe_and_distinct(pytester: pytest.Pytester, run_pytest: RunPytest, cases: Callable[..., Path]) -> None:
    cases(*({"id": name, "input": "Oslo"} for name in HOSTILE))
    pytester.makepyfile(
        HEAD
        + """
@evals_from("cases.jsonl", target=agent, gates=[checks.includes("Oslo")])
def test_it(request):
    assert len(request.node.name) < 120 and request.node.name.isascii() and request.node.name.isprintable()
"""
    )
    result = run_pytest("-v", "--junitxml=report.xml", "--quickchecks-output", "all.json")
    result.assert_outcomes(passed=len(HOSTILE))
    listed = run_pytest("--collect-only", "-q")
    ids = [line for line in listed.outlines if "::test_it[" in line]
    assert len(set(ids)) == len(ids) == len(HOSTILE)
    assert not any(line.count("::") > 1 or line.count("[") > 1 for line in ids)
    run_pytest(*ids).assert_outcomes(passed=len(HOSTILE))


def decorated(function: Callable[..., None], **given: object) -> object:
    return evals_from(["Hello"], target=str.upper, **given)(function)  # type: ignore[arg-type]


def test_what_makes_no_sense_is_refused_where_it_is_written() -> None:
    def plain() -> None: ...

    def takes_run(run: object) -> None: ...

    def takes_target(target: object) -> None: ...

    gate = checks.includes("HELLO")
    for function, given, said in (
        (plain, {}, "plain would assert nothing: give evals_from gates=\\[...\\] or a Threshold"),
        (plain, {"scorers": [gate]}, "plain would assert nothing"),
        (plain, {"gates": [gate], "repetition": 2}, "there is no option 'repetition': did you mean 'repetitions'"),
        (plain, {"gates": [gate], "record": "a.jsonl"}, "takes no record: pytest --quickchecks-record"),
        (plain, {"gates": [Gate(gate, pass_rate=0.9)]}, "asks for a pass_rate.*give repetitions=..., so that it is the rate"),
        (plain, {"gates": [Gate(gate, pass_rate=0.9, confidence=0.9)], "repetitions": 50}, "asks for confidence"),
        (takes_run, {"repetitions": 2}, "takes run, and with repetitions there are several"),
        (takes_target, {"gates": [gate]}, "takes the fixture target, and evals_from is given target"),
    ):
        with pytest.raises(QuickchecksError, match=said):
            decorated(function, **given)
    for data, said in (
        ("-", "reads a file, and not standard input"),
        ({"input": "a"}, "data is a list of items"),
        ([], "no data"),
    ):
        with pytest.raises(QuickchecksError, match=said):
            evals_from(data, target=str.upper, gates=[gate])


def test_checks_of_turns_are_asserted(pytester: pytest.Pytester, run_pytest: RunPytest) -> None:
    pytester.makepyfile(
        HEAD
        + """
turns = [{"input": "Oslo", "gates": [checks.includes("Oslo")]}, {"input": "Rome", "gates": [checks.excludes("Rome")]}]

@evals_from([{"id": "talk", "turns": turns}], target=agent)
def test_it(): pass
"""
    )
    result = run_pytest()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["item \"talk\": turn 1: excludes('Rome'): *", "failed * 1 evaluation, 1 item"])


def test_without_the_plugin_nothing_passes_in_silence(
    pytester: pytest.Pytester, start_pytest: RunPytest, cases: Callable[..., Path]
) -> None:
    cases(*WEATHER)
    pytester.makepyfile(HEAD + '@evals_from("cases.jsonl", target=agent, gates=[checks.includes("x")])\ndef test_it(): pass\n')
    result = start_pytest("-p", "no:quickchecks")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.assert_outcomes(errors=1)


def test_importing_it_loads_no_plugin() -> None:
    code = "from quickchecks.pytest_plugin import evals_from; print(evals_from.__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "evals_from\n"
    with pytest.raises(ImportError):
        exec("from quickchecks.pytest_plugin import no_such_name")


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["asyncio", "anyio", "trio"])
def test_async_functions(pytester: pytest.Pytester, start_pytest: RunPytest, cases: Callable[..., Path], mode: str) -> None:
    pytest.importorskip({"asyncio": "pytest_asyncio", "anyio": "anyio", "trio": "trio"}[mode])
    cases(*WEATHER)
    backend = "trio" if mode == "trio" else "asyncio"
    pytester.makepyfile(
        HEAD
        + f"""
import anyio

@pytest.fixture
def anyio_backend():
    return "{backend}"

async def agent(text):
    return f"It is sunny in {{text}}."

@pytest.mark.{"asyncio" if mode == "asyncio" else "anyio"}
@evals_from("cases.jsonl", target=agent, gates=[checks.includes("Oslo")])
async def test_it(run, tmp_path):
    await anyio.sleep(0)
    assert run.text
"""
    )
    plugins = ("-p", "asyncio", "-o", "asyncio_default_fixture_loop_scope=function") if mode == "asyncio" else ()
    result = start_pytest(*plugins)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(['cases.jsonl:2: item "rome": includes*'])


@pytest.mark.slow
def test_under_xdist(pytester: pytest.Pytester, start_pytest: RunPytest, cases: Callable[..., Path]) -> None:
    cases(*({"id": f"case::{number}", "input": str(number)} for number in range(30)))
    pytester.makepyfile(HEAD + '@evals_from("cases.jsonl", target=agent, gates=[checks.excludes("7")])\ndef test_it(): pass\n')
    for dist in ("load", "loadscope"):
        result = start_pytest("-n", "2", "--dist", dist, "--quickchecks-output", "all.json")
        result.assert_outcomes(passed=27, failed=3)
        written = json.loads((pytester.path / "all.json").read_bytes())
        assert len({one["id"] for one in written["items"]}) == len(written["items"]) == 30


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("def test_it():\n    yield", "*test_it contains yield, so that pytest would never run what stands in it*"),
        ("async def test_it():\n    yield", "*test_it contains yield*"),
        ("@wrapped\ndef test_it():\n    yield", "*test_it contains yield*"),
        ("class TestIt:\n    def test_it(self): assert False", "*TestIt is a class: decorate the methods*"),
        ("class test_it:\n    def test_it(self): assert False", "*test_it is a class: decorate the methods*"),
        ("@pytest.fixture\ndef test_it():\n    pass", "*evals_from decorates a test function,* and this is a fixture*"),
        ("def partly(a): assert a\ntest_it = evals_from(['a'])(functools.partial(partly, 0))", "* and this is partial*"),
        ("class TestIt:\n    @DECORATED\n    @staticmethod\n    def test_it(): pass", "* and this is staticmethod*"),
    ],
)
def test_what_pytest_would_never_run_is_refused(
    pytester: pytest.Pytester, run_pytest: RunPytest, written: str, said: str
) -> None:
    decorated = 'evals_from(["Oslo"], target=agent, gates=[checks.includes("sunny")])'
    if "evals_from" not in written and "@DECORATED" not in written:
        written = f"@{decorated}\n{written}"
    head = f"{HEAD}\nimport functools\ndef wrapped(function):\n    return functools.wraps(function)(lambda: function())\n\n"
    pytester.makepyfile(head + written.replace("DECORATED", decorated))
    result = run_pytest()
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([said])


def test_a_generator_that_a_wrapper_gives_fails(pytester: pytest.Pytester, run_pytest: RunPytest) -> None:
    pytester.makepyfile(
        HEAD
        + """
def body():
    assert False
    yield

@evals_from(["Oslo"], target=agent, gates=[checks.includes("sunny")])
def test_it():
    return body()
"""
    )
    result = run_pytest()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*test_it returned a generator, so that nothing that stands in it has run*"])


@pytest.mark.parametrize("place", ["function", "method"])
def test_a_name_that_pytest_passes_over_is_an_error(pytester: pytest.Pytester, run_pytest: RunPytest, place: str) -> None:
    decorated = '@evals_from(["Oslo"], target=agent, gates=[checks.includes("rain")])\n'
    if place == "function":
        written = f"{decorated}def check_it(): pass\n"
    else:
        written = f"class TestIt:\n    {decorated}    def check_it(self): pass\n"
    pytester.makepyfile(HEAD + written)
    result = run_pytest()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*check_it is decorated with evals_from, and pytest does not collect it*call it test_check_it"])


def test_a_function_of_another_module_may_have_any_name(pytester: pytest.Pytester, run_pytest: RunPytest) -> None:
    other = HEAD + '@evals_from(["Oslo"], target=agent, gates=[checks.includes("sunny")])\ndef of_the_weather(): pass\n'
    pytester.makepyfile(shared=other, test_it="from shared import of_the_weather\ntest_it = of_the_weather\n")
    run_pytest().assert_outcomes(passed=1)


def test_methods_and_static_methods_are_tests(pytester: pytest.Pytester, run_pytest: RunPytest) -> None:
    pytester.makepyfile(
        HEAD
        + """
class TestIt:
    @evals_from(["Oslo"], target=agent, gates=[checks.includes("sunny")])
    def test_one(self, run): assert "Rome" in run.text

    @staticmethod
    @evals_from(["Oslo"], target=agent, gates=[checks.includes("sunny")])
    def test_two(run): assert "Oslo" in run.text
"""
    )
    run_pytest().assert_outcomes(passed=1, failed=1)
