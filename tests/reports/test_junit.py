"""JUnit XML: what is red in it, that it is red exactly when the command fails, and that every CI server can read it."""

from __future__ import annotations

import tracemalloc
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

import junit
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from quickchecks import EvalResult, Gate, Scorer, Threshold, checks, compare_results, create_scorer, run_evals_sync
from quickchecks import no_evidence as unknown
from quickchecks import not_applicable as not_here
from quickchecks._entries import Observed
from quickchecks._results.changes import EvalComparison
from quickchecks._results.deciding import eval_exit_code
from quickchecks._results.evaluation import Part
from quickchecks._results.result import RunsResult
from quickchecks._results.tally import Tally
from quickchecks._run import Run, Source
from quickchecks._scorer.checks_file import CheckEntry
from quickchecks._scorer.thresholds import Bounds
from quickchecks.errors import RecordingError
from quickchecks.reports import as_junit_xml
from quickchecks.reports._decision import decided
from quickchecks.testing import call, run


def told(name: str, word: int = 0) -> Scorer:
    """A scorer that does what a word of the answer says."""

    def judge(output: str) -> object:
        said = output.split()[word]
        if said == "break":
            raise ValueError("the judge is ill")
        return {"pass": True, "fail": False, "unknown": unknown("not recorded"), "none": not_here("nothing")}.get(said, 0.5)

    return create_scorer(id=name).generate_score(judge)


WORDS = ("pass", "pass", "pass", "pass", "fail", "unknown", "none", "break", "half")


def evaluated(
    answers: Sequence[str], gates: Sequence[object] = (), scorers: Sequence[object] = (), *, max_errors: int = 0
) -> EvalResult:
    """What comes of items that answer so; "raise" stands for a target that raises."""

    def target(text: str) -> str:
        if text.startswith("raise"):
            raise ConnectionError("no route")
        return text

    data = [{"id": f"item {number}", "input": text} for number, text in enumerate(answers)]
    return run_evals_sync(data, target, scorers, gates, max_errors=max_errors, name="weather")


def scored(
    runs: Sequence[Run | RecordingError], entries: Sequence[CheckEntry], *, max_errors: int = 0, interrupted: bool = False
) -> tuple[bytes, RunsResult]:
    stream = BytesIO()
    report = as_junit_xml.start(stream, entries)
    tally = Tally(entries, max_errors=max_errors)
    for one in runs:
        read, error = (one, None) if isinstance(one, Run) else (None, one)
        scores = [scorer.score(read) for scorer in tally.scorers] if read is not None else []
        tally.add(read, scores, error)
        report.add(read, scores, error)
    result = tally.result(seconds=0.1, interrupted=interrupted)
    report.finish(result)
    return stream.getvalue(), result


class TestEvaluations:
    def test_an_item_that_a_gate_fails_for_is_red_and_says_why(self) -> None:
        data = [
            {"id": "oslo", "input": "Weather?", "output": "It rains."},
            {"id": "rome", "input": "Weather?", "output": "Sunny."},
        ]
        gates = [checks.includes("sunny", why="people ask for it"), checks.excludes("rain")]
        written = as_junit_xml.evaluation(run_evals_sync(data, None, gates=gates, name="weather"))
        assert junit.kinds(written) == {"oslo": "failure", "rome": "passed"}
        case = junit.cases(written)["oslo"]
        (failure,) = case.result
        assert (case.classname, failure.type) == ("weather", "failed")
        assert failure.message.startswith("includes('sunny'): ")
        assert failure.message.endswith("(and 1 more check)")
        lines = failure.text.splitlines()
        assert lines[0].startswith("✗ includes('sunny'): ")
        assert lines[1] == "  why: people ask for it"
        assert lines[2].startswith("✗ excludes('rain'): ")
        assert '  message 2: "It rains."' in lines
        assert lines[-2:] == ["asked: Weather?", "answered: It rains."]

    def test_what_a_threshold_allows_is_not_red(self) -> None:
        judge = told("judge")
        met = as_junit_xml.evaluation(evaluated(["pass", "fail"], scorers=[Threshold(judge, min=0.5)]))
        assert junit.kinds(met) == {"item 0": "passed", "item 1": "passed", "judge ≥ 0.5": "passed"}
        missed = as_junit_xml.evaluation(evaluated(["pass", "fail"], scorers=[Threshold(judge, min=0.6)]))
        assert junit.kinds(missed) == {"item 0": "passed", "item 1": "passed", "judge ≥ 0.6": "failure"}
        (failure,) = junit.cases(missed)["judge ≥ 0.6"].result
        assert (failure.type, failure.text.splitlines()[-1]) == ("scored", "below: item 1")

    def test_what_a_pass_rate_allows_is_not_red(self) -> None:
        gate = Gate(told("judge"), pass_rate=0.5)
        assert set(junit.kinds(as_junit_xml.evaluation(evaluated(["pass", "fail"], [gate]))).values()) == {"passed"}
        assert junit.kinds(as_junit_xml.evaluation(evaluated(["pass", "fail", "fail"], [gate]))) == {
            "item 0": "passed",
            "item 1": "failure",
            "item 2": "failure",
            "judge on 50 % of the items": "failure",
        }

    def test_what_broke_is_an_error_and_skipped_where_it_may(self) -> None:
        gate = told("judge")
        written = as_junit_xml.evaluation(evaluated(["pass", "raise"], [gate]))
        assert junit.kinds(written) == {"item 0": "passed", "item 1": "error"}
        (error,) = junit.cases(written)["item 1"].result
        assert (error.type, error.message) == ("ConnectionError", "the target broke: ConnectionError: no route")
        assert "Traceback" in error.text
        allowed = as_junit_xml.evaluation(evaluated(["pass", "raise"], [gate], max_errors=1))
        assert junit.kinds(allowed) == {"item 0": "passed", "item 1": "skipped"}

    def test_nothing_judged_is_never_green(self) -> None:
        assert junit.kinds(as_junit_xml.evaluation(evaluated(["none"], [told("judge")]))) == {
            "item 0": "skipped",
            "judge": "failure",
        }
        assert junit.kinds(as_junit_xml.evaluation(evaluated(["unknown"], [told("judge")]))) == {"item 0": "error"}

    def test_what_lacks_evidence_is_red_and_not_counted_as_failed(self) -> None:
        answers = ["fail unknown", "unknown unknown", "pass unknown"]
        suite = junit.read(as_junit_xml.evaluation(evaluated(answers, [told("one"), told("other", 1)])))
        assert (suite.failures, suite.errors) == (1, 2)
        entries = [CheckEntry(told("one"), "gate"), CheckEntry(told("other", 1), "gate")]
        written, result = scored([run(answer) for answer in answers], entries)
        suite = junit.read(written)
        assert (result.failing_runs, suite.failures, suite.errors) == (1, 1, 2)

    def test_what_was_broken_off_is_red_though_all_that_ran_passed(self) -> None:
        result = replace(evaluated(["pass"], [told("judge")]), interrupted=True)
        assert junit.kinds(as_junit_xml.evaluation(result)) == {"item 0": "passed", "verdict": "failure"}

    def test_each_of_several_evaluations_is_a_case(self) -> None:
        result = replace(evaluated(["pass"], [told("judge")]), parts=(Part("test_a", "passed"), Part("test_b", "scored")))
        assert junit.kinds(as_junit_xml.evaluation(result)) == {"item 0": "passed", "test_a": "passed", "test_b": "failure"}

    def test_repetitions_are_cases_of_their_own(self) -> None:
        result = run_evals_sync(["a"], str, gates=[checks.includes("a")], repetitions=2)
        assert [name[-4:] for name in junit.kinds(as_junit_xml.evaluation(result))] == [" [1]", " [2]"]

    @settings(max_examples=150)
    @given(
        answers=st.lists(st.tuples(st.sampled_from((*WORDS, "raise")), st.sampled_from(WORDS)), min_size=1, max_size=5),
        first=st.sampled_from([None, 1.0, 0.5, 0.9]),
        confidence=st.sampled_from([None, 0.5]),
        second=st.sampled_from(["gate", "threshold", "measured", "watch"]),
        max_errors=st.integers(0, 2),
        cut=st.sampled_from(["", "", "interrupted", "incomplete"]),
    )
    def test_it_is_red_exactly_when_the_command_fails(
        self,
        answers: list[tuple[str, str]],
        first: float | None,
        confidence: float | None,
        second: str,
        max_errors: int,
        cut: str,
    ) -> None:
        one, other = told("one"), told("other", 1)
        gates: list[object] = []
        if first is not None:
            gates.append(Gate(one, pass_rate=first, confidence=confidence if first < 1 else None))
        gates += [other] if second == "gate" else []
        entries: dict[str, list[object]] = {
            "gate": [],
            "threshold": [Threshold(other, min=0.6)],
            "measured": [other],
            "watch": [Observed(other, "watch")],
        }
        scorers = entries[second] or ([] if gates else [one])
        result = evaluated([" ".join(answer) for answer in answers], gates, scorers, max_errors=max_errors)
        result = replace(result, interrupted=cut == "interrupted", incomplete="item 9 was lost" if cut == "incomplete" else "")
        assert junit.is_red(as_junit_xml.evaluation(result)) == (eval_exit_code(result) != 0)


class TestRuns:
    def test_a_run_that_fails_is_red_with_its_place_reason_and_evidence(self) -> None:
        one = replace(
            run(call("look_up", {"city": "Oslo"}, error="no such city"), "Sorry."), id="r-1", source=Source("a/runs.jsonl", 7)
        )
        entries = [CheckEntry(checks.no_tool_errors(why="users see them"), "gate"), CheckEntry(checks.includes("x"), "watch")]
        written, _ = scored([one], entries)
        case = junit.cases(written)["a/runs.jsonl:7"]
        (failure,) = case.result
        assert case.classname == "a/runs.jsonl"
        assert failure.message.startswith('no_tool_errors(): call 1 of 1, look_up(city="Oslo"), failed')
        lines = failure.text.splitlines()
        assert lines[:2] == ["at a/runs.jsonl:7", "id: r-1"]
        assert lines[-2:] == ["  why: users see them", '  call 1: look_up(city="Oslo")']
        assert case.system_out.splitlines() == ["id: r-1", "failed: no_tool_errors()", "failed: includes('x')"]

    def test_what_cannot_be_read_or_broke_off_is_an_error_and_skipped_where_it_may(self) -> None:
        entries = [CheckEntry(checks.includes("sunny"), "gate")]
        runs: list[Run | RecordingError] = [
            run("It is sunny."),
            run("It is sunny.", error="timed out"),
            RecordingError("expected an object, got 3", file="runs.jsonl", line=3),
        ]
        written, result = scored(runs, entries)
        assert result.exit_code() == 1
        assert list(junit.kinds(written).values()) == ["passed", "error", "error"]
        written, result = scored(runs, entries, max_errors=2)
        assert result.exit_code() == 0
        assert list(junit.kinds(written).values()) == ["passed", "skipped", "skipped"]

    def test_a_threshold_is_a_case_of_its_own(self) -> None:
        entry = CheckEntry(checks.similarity("It is sunny."), "threshold", Bounds(0.9, None))
        written, _ = scored([run("It is sunny."), run("It rains.")], [entry])
        assert list(junit.kinds(written).values()) == ["passed", "passed", "failure"]
        name = f"{entry.scorer.identity} ≥ 0.9"
        assert "furthest off: run 2" in junit.cases(written)[name].result[0].text

    def test_nothing_read_is_red(self) -> None:
        written, result = scored([], [CheckEntry(checks.includes("sunny"), "gate")])
        assert (result.exit_code(), junit.is_red(written)) == (3, True)

    @settings(max_examples=150)
    @given(
        runs=st.lists(
            st.one_of(
                st.tuples(st.sampled_from(WORDS), st.sampled_from(WORDS), st.booleans()),
                st.just(RecordingError("not JSON", file="runs.jsonl", line=1)),
            ),
            max_size=5,
        ),
        modes=st.tuples(*[st.sampled_from(["gate", "gate", "threshold", "watch", "shadow"])] * 2),
        max_errors=st.integers(0, 2),
        interrupted=st.sampled_from([False, False, True]),
    )
    def test_it_is_red_exactly_when_the_command_fails(
        self, runs: list[tuple[str, str, bool] | RecordingError], modes: tuple[str, str], max_errors: int, interrupted: bool
    ) -> None:
        read = [
            one if isinstance(one, RecordingError) else run(f"{one[0]} {one[1]}", error="broke off" if one[2] else None)
            for one in runs
        ]
        entries = [
            CheckEntry(told(name, word), mode, Bounds(0.6, None) if mode == "threshold" else None)  # type: ignore[arg-type]
            for word, (name, mode) in enumerate(zip(("one", "other"), modes, strict=True))
        ]
        written, result = scored(read, entries, max_errors=max_errors, interrupted=interrupted)
        suite = junit.read(written)
        assert bool(suite.failures or suite.errors) == (result.exit_code() != 0)

    def test_many_runs_need_no_more_memory(self) -> None:
        entries = [CheckEntry(checks.includes("sunny"), "gate")]
        one = replace(run("It rains. " * 20), id="x" * 200)
        score = entries[0].scorer.score(one)

        def peak(count: int) -> int:
            with Path("/dev/null").open("wb") as stream:
                report = as_junit_xml.start(stream, entries)
                tracemalloc.start()
                for _ in range(count):
                    report.add(one, [score], None)
                report.finish(RunsResult(runs=count, verdict="failed"))
                highest = tracemalloc.get_traced_memory()[1]
                tracemalloc.stop()
            return highest

        peak(10)
        assert peak(20_000) < 6_000_000, "the file has more than ten megabytes"


class TestComparisons:
    @staticmethod
    def compared(before: Sequence[str], after: Sequence[str]) -> EvalComparison:
        first, second = (evaluated(one, [told("judge")], max_errors=9) for one in (before, after))
        # The answers are the questions here, and what is not asked the same is not compared.
        same = [replace(item, item=replace(item.item, input="?", content="")) for item in second.items]
        return compare_results(
            replace(first, items=tuple(replace(item, item=replace(item.item, input="?", content="")) for item in first.items)),
            replace(second, items=tuple(same)),
        )

    def test_what_broke_is_red_and_what_mended_says_so(self) -> None:
        written = as_junit_xml.comparison(self.compared(["pass", "fail", "pass"], ["fail", "pass", "pass"]))
        assert junit.kinds(written) == {"item 0": "failure", "item 1": "passed", "item 2": "passed", "judge": "passed"}
        found = junit.cases(written)
        assert found["item 0"].result[0].message.startswith("broke: judge: passed → failed: ")
        assert found["item 1"].system_out.startswith("mended: judge: failed → passed")

    def test_what_is_not_asked_is_not_red(self) -> None:
        comparison = self.compared(["pass"], ["fail"])
        never = replace(comparison, decision=decided(comparison, ("never",)))
        assert junit.kinds(as_junit_xml.comparison(never))["item 0"] == "skipped"

    def test_what_only_one_result_has_is_skipped(self) -> None:
        written = as_junit_xml.comparison(self.compared(["pass"], ["pass", "pass"]))
        assert junit.kinds(written) == {"item 0": "passed", "item 1": "skipped", "judge": "passed"}

    @settings(max_examples=100)
    @given(
        before=st.lists(st.sampled_from((*WORDS, "raise")), min_size=1, max_size=4),
        after=st.lists(st.sampled_from((*WORDS, "raise")), min_size=1, max_size=4),
        conditions=st.sampled_from([("regression",), ("never",), ("cost>10%",), ("regression", "seconds>0%")]),
    )
    def test_it_is_red_exactly_when_the_command_fails(
        self, before: list[str], after: list[str], conditions: tuple[str, ...]
    ) -> None:
        comparison = self.compared(before, after)
        decision = decided(comparison, conditions)
        written = as_junit_xml.comparison(replace(comparison, decision=decision))
        assert junit.is_red(written) == (decision.exit_code != 0)


def test_a_file_that_is_nearly_named_so_is_told_how() -> None:
    from quickchecks.errors import UnknownNameError
    from quickchecks.reports import form_of

    for name, better in {"results.xml": "results.junit.xml", "junit.xml": "results.junit.xml", "a/b.XML": "b.junit.xml"}.items():
        with pytest.raises(UnknownNameError, match=rf"a report ends in .*; write, for example, {better}$"):
            form_of(name, "evaluation")
