"""What GitHub is told: annotations at their places, and the step summary."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path

import pytest
from github_runner import Told, commands
from hostile import HOSTILE, Texts
from msgspec.structs import replace

from quickchecks import EvalResult, Gate, Run, Threshold, checks, compare_results, run_evals_sync, testing
from quickchecks._items import Item, load_items
from quickchecks._results.changes import Decision
from quickchecks._results.result import Example, FailureGroup, RunsResult, ScorerSummary
from quickchecks._run import Source
from quickchecks._scorer.thresholds import Bounds
from quickchecks.errors import SettingsError
from quickchecks.reports import as_md, github
from quickchecks.reports._step import MAX_SUMMARY, Step, fitting
from quickchecks.reports.github import Annotation, Kind

GOLDEN = Path(__file__).parent / "golden"
STEP = Step("/srv/repo/evals", "/srv/repo", "summary.md")


def told(kinds: Sequence[Kind], step: Step = STEP) -> list[Told]:
    return commands("\n".join(github.annotated(kinds, step, "error")))


def places(kinds: Sequence[Kind]) -> list[tuple[str | None, str | None]]:
    return [(one.properties.get("file"), one.properties.get("line")) for one in told(kinds)]


CASES = [
    {"id": "oslo", "input": "Weather in Oslo?", "expected": "cold"},
    {"id": "lisbon", "input": "Weather in Lisbon?", "expected": "sunny"},
    {"id": "atlantis", "input": "Weather in Atlantis?", "expected": "do not know"},
    {"id": "hell, 100 %: `hot`", "input": "Weather in <b>hell</b>?", "expected": "| hot |"},
]
ANSWERS = {
    "Weather in Oslo?": "It is warm in Oslo.",
    "Weather in Lisbon?": "It is sunny in Lisbon.",
    "Weather in <b>hell</b>?": "::error::It is nice.\n##[add-mask]nice\n<script>alert(1)</script>",
}


@pytest.fixture
def failing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> EvalResult:
    """An evaluation in which a gate fails in two ways, a threshold is missed, and a target breaks."""
    monkeypatch.chdir(tmp_path)
    Path("cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in CASES), encoding="utf-8")

    def answer(question: str) -> Run:
        if question not in ANSWERS:
            raise LookupError("there is no station in 'Atlantis': 404,\n100 % sure")
        calls = [testing.call("get_weather", result="Error: no such city")] if "Oslo" in question else []
        return testing.run(*calls, ANSWERS[question])

    result = run_evals_sync(
        load_items("cases.jsonl"),
        answer,
        gates=[checks.includes("in", why="every answer names its place"), checks.no_tool_errors()],
        scorers=[Threshold(checks.excludes("nice"), min=0.9), checks.max_tool_calls(0)],
        name="weather",
    )
    return replace(result, seconds=1.5)


@pytest.mark.parametrize("name", ["github_annotations.txt", "github_summary.md"])
def test_a_failing_evaluation(name: str, failing: EvalResult) -> None:
    kinds = github.of_evaluation(failing, "eval.yaml", 1)
    said = "".join(f"{line}\n" for line in github.annotated(kinds, STEP, "error")).encode()
    shown = said if name.endswith(".txt") else as_md.evaluation(failing)
    if os.environ.get("QUICKCHECKS_WRITE_GOLDEN"):
        (GOLDEN / name).write_bytes(shown)
    assert shown.decode() == (GOLDEN / name).read_text(encoding="utf-8")


def test_annotations_point_at_the_lines_of_the_dataset(failing: EvalResult) -> None:
    found = told(github.of_evaluation(failing, "eval.yaml", 1))
    assert {one.name for one in found} == {"error"}
    assert {one.properties["file"] for one in found} == {"evals/cases.jsonl"}
    titles = {one.properties["title"]: one.properties["line"] for one in found}
    assert titles["oslo: no_tool_errors()"] == "1"
    assert titles["atlantis: the target raised"] == "3"
    assert titles["hell, 100 %: `hot`: excludes('nice')"] == "4"


def test_nothing_of_a_target_is_a_command(failing: EvalResult) -> None:
    said = "\n".join(github.annotated(github.of_evaluation(failing, "eval.yaml", 1), STEP, "error"))
    assert len(commands(said)) == len(said.splitlines())
    assert [one for one in commands(said) if one.name != "error"] == []


def test_what_passed_is_not_annotated() -> None:
    result = run_evals_sync(
        [{"id": str(number), "input": "?", "output": "sunny" if number else "rain"} for number in range(10)],
        None,
        gates=[Gate(checks.includes("sunny"), pass_rate=0.5)],
        scorers=[Threshold(checks.excludes("rain"), min=0.5), checks.includes("snow")],
    )
    assert result.passed
    assert github.of_evaluation(result, "eval.yaml", 0) == []


def test_an_item_without_a_line_is_annotated_in_the_eval_file() -> None:
    result = run_evals_sync([{"input": "?", "output": "rain"}], None, gates=[checks.includes("sunny")])
    assert places(github.of_evaluation(result, "eval.yaml", 1)) == [("evals/eval.yaml", None)]


def test_a_gate_that_judged_nothing_is_annotated_in_the_eval_file() -> None:
    unseen = checks.when(checks.includes("snow"), checks.includes("cold"))
    result = run_evals_sync([{"input": "?", "output": "rain"}], None, gates=[unseen])
    (one,) = told(github.of_evaluation(result, "eval.yaml", 3))
    assert one.properties["file"] == "evals/eval.yaml"
    assert one.data.startswith("undecided: no item was judged")


def test_an_item_that_failed_several_times_has_one_annotation() -> None:
    result = run_evals_sync(["?"], lambda text: "rain", gates=[checks.includes("sunny")], repetitions=5)
    assert len(told(github.of_evaluation(result, "eval.yaml", 1))) == 1


def test_errors_that_are_allowed_are_not_annotated() -> None:
    def broken(text: str) -> str:
        if text == "b":
            raise ValueError(text)
        return text

    result = run_evals_sync(["a", "b"], broken, gates=[Gate(checks.includes("a"), pass_rate=0.5)], max_errors=1)
    titles = [one.properties["title"] for one in told(github.of_evaluation(result, "eval.yaml", 0))]
    assert [title for title in titles if "raised" in title] == []


def kind(name: str, count: int, shown: int | None = None) -> Kind:
    found = tuple(Annotation(name, f"{name} {number}", "a.jsonl", number) for number in range(shown or count))
    return Kind(found, count)


def test_each_kind_comes_before_any_comes_twice() -> None:
    found = told([kind("a", 30), kind("b", 2), kind("c", 1)])
    assert [one.data.partition("\n")[0] for one in found] == [
        *("a 0", "b 0", "c 0", "a 1", "b 1", "a 2", "a 3", "a 4", "a 5"),
        "and 24 more: the step summary shows every kind",
    ]
    assert found[0].data == "a 0\n24 more of this kind"


@pytest.mark.parametrize(("count", "lines"), [(1, 1), (10, 10), (11, 10), (1000, 10)])
def test_no_more_is_said_than_github_shows(count: int, lines: int) -> None:
    assert len(told([kind("a", count)])) == lines


def test_kinds_that_are_not_shown_are_counted() -> None:
    found = told([kind(str(number), 3, shown=1) for number in range(12)])
    assert len(found) == 10
    assert found[-1].data == "and 27 more: the step summary shows every kind"


def test_without_a_summary_the_log_is_named() -> None:
    assert told([kind("a", 11)], Step("/"))[-1].data == "and 2 more: the log shows every kind"


def runs_result(**given: object) -> RunsResult:
    return RunsResult(runs=3, **given)  # type: ignore[arg-type]


def test_the_lines_of_a_recording_are_annotated() -> None:
    groups = (
        FailureGroup(
            "failed", 40, (Example("runs.jsonl:3", "said no"), Example("a b:1.jsonl:9", "said no")), "x()", "gate", "why"
        ),
        FailureGroup("unreadable", 1, (Example("runs.json[2]", "no JSON"),)),
        FailureGroup("run_failed", 1, (Example("-:4", "broke off"),)),
        FailureGroup("failed", 1, (Example("runs.jsonl:5", "only watched"),), "y()", "watch"),
    )
    found = told(github.of_runs(runs_result(failures=groups, verdict="failed"), 1))
    assert [(one.properties.get("file"), one.properties.get("line"), one.data) for one in found] == [
        ("evals/runs.jsonl", "3", "said no\nwhy: why\n38 more of this kind"),
        ("evals/runs.json", None, "no JSON"),
        (None, None, "broke off"),
        ("evals/a b:1.jsonl", "9", "said no\nwhy: why"),
        (None, None, "and 38 more: the step summary shows every kind"),
    ]


def test_a_threshold_that_is_kept_is_not_annotated_and_one_that_is_missed_is() -> None:
    far = Example("runs.jsonl:7", "0.1 of it")
    scorers = (
        ScorerSummary("kept()", "threshold", Bounds(0.5), passed=2, failed=1, mean=0.7, verdict="passed"),
        ScorerSummary("missed()", "threshold", Bounds(0.9), graded=3, mean=0.4, furthest=far, verdict="scored"),
    )
    groups = (FailureGroup("failed", 1, (Example("runs.jsonl:1", "no"),), "kept()", "threshold"),)
    found = told(github.of_runs(runs_result(scorers=scorers, failures=groups, verdict="scored"), 1))
    assert [(one.properties["line"], one.data) for one in found] == [("7", "mean 0.4, needs ≥ 0.9; furthest off: 0.1 of it")]


def test_runs_of_which_nothing_came_are_annotated() -> None:
    (one,) = told(github.of_runs(RunsResult(), 3))
    assert (one.properties["title"], one.data) == ("nothing scored", "there are no runs")


def test_runs_that_passed_are_not_annotated() -> None:
    assert github.of_runs(runs_result(verdict="passed"), 0) == []


def test_what_broke_since_is_annotated() -> None:
    good, bad = (
        run_evals_sync([{"id": "a", "input": "?", "output": said}], None, [checks.includes("sunny")])
        for said in ("sunny", "rain")
    )
    kinds = github.of_comparison(compare_results(good, bad), Decision(1, "regressed: 1 broke"))
    (one,) = told(kinds)
    assert one.properties == {"title": "a: includes('sunny')"}
    assert one.data.startswith('passed → failed: "sunny" is not in the answer')
    same = compare_results(good, good)
    assert github.of_comparison(same, Decision(0, "no regression")) == []
    (limit,) = told(github.of_comparison(same, Decision(1, "regressed: cost grew by 20 %")))
    assert limit.data == "regressed: cost grew by 20 %"


@pytest.mark.parametrize(
    ("file", "shown"),
    [
        ("cases.jsonl", "evals/cases.jsonl"),
        ("../data/cases.jsonl", "data/cases.jsonl"),
        ("/srv/repo/x.jsonl", "x.jsonl"),
        ("/elsewhere/x.jsonl", ""),
        ("../../repository/x.jsonl", ""),
        ("", ""),
    ],
)
def test_paths_are_those_of_the_repository(file: str, shown: str) -> None:
    assert STEP.in_repository(file) == shown


def test_a_file_outside_of_the_repository_is_told_in_the_message() -> None:
    one = Kind((Annotation("a: includes('b')", "c", "../../o.jsonl", 3),), 1)
    assert told([one]) == [Told("error", "c\nat ../../o.jsonl:3, outside of the repository", {"title": "a: includes('b')"})]


def test_a_workspace_behind_a_link_is_known(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    assert Step(str(tmp_path / "link"), str(tmp_path / "real")).in_repository("x.jsonl") == "x.jsonl"


@pytest.mark.parametrize("value", ["", "1", "true", "TRUE", "yes", "on"])
def test_github_is_told_by_default(value: str) -> None:
    assert Step.present({"GITHUB_ACTIONS": "true", "QUICKCHECKS_GITHUB": value}) is not None


@pytest.mark.parametrize("environment", [{}, {"GITHUB_ACTIONS": "false"}, {"GITHUB_ACTIONS": "true", "QUICKCHECKS_GITHUB": "0"}])
def test_github_is_told_nothing(environment: dict[str, str]) -> None:
    assert Step.present(environment) is None


@pytest.mark.parametrize("value", ["2", "tru", "n", "-"])
def test_a_switch_that_is_neither_is_an_error(value: str) -> None:
    with pytest.raises(SettingsError, match="QUICKCHECKS_GITHUB is true or false"):
        Step.present({"QUICKCHECKS_GITHUB": value})


@pytest.mark.parametrize("before", [0, 1, 500_000, MAX_SUMMARY - 400])
def test_a_long_report_is_cut_after_a_line(before: int) -> None:
    report = "".join(f"- line {number} of ünicode\n" for number in range(100_000)).encode()
    piece = fitting(report, before)
    assert MAX_SUMMARY - 100 < before + len(piece) <= MAX_SUMMARY
    *lines, blank, note = piece.decode().removeprefix("\n").splitlines()
    assert set(lines) <= set(report.decode().splitlines())
    assert blank == ""
    assert note.startswith("*Cut here")


@pytest.mark.parametrize("before", [MAX_SUMMARY, MAX_SUMMARY - 20, 2 * MAX_SUMMARY])
def test_a_full_summary_stays_as_it_is(before: int, tmp_path: Path) -> None:
    assert fitting(b"line\n" * 20, before) == b""
    file = tmp_path / "summary.md"
    file.write_bytes(b"x" * before)
    assert "full" in Step("/", "", str(file)).add_to_summary(b"line\n" * 20)
    assert file.stat().st_size == before


def test_reports_are_added_to_the_summary_one_after_the_other(tmp_path: Path) -> None:
    step = Step("/", "", str(tmp_path / "summary.md"))
    assert [step.add_to_summary(b"# one\n"), step.add_to_summary(b"# two\n")] == ["", ""]
    assert (tmp_path / "summary.md").read_bytes() == b"# one\n\n# two\n"


@pytest.mark.parametrize("name", ["no/such/folder.md", ".", "nul\0.md"])
def test_a_summary_that_cannot_be_written_is_told(name: str, tmp_path: Path) -> None:
    assert Step("/", "", str(tmp_path / name)).add_to_summary(b"x\n").startswith("the step summary cannot be written: ")


@pytest.mark.parametrize("template", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_texts_are_told_and_do_nothing(template: str) -> None:
    texts = Texts(template)

    def answer(question: str) -> str:
        if question == texts["input of what breaks"]:
            raise ValueError(texts["error"])
        return texts["answer"]

    data = [
        Item(texts["input"], id=texts["id"], source=Source(texts["file"], 1)),
        Item(texts["input of what breaks"], id="breaks", source=Source("-", 1)),
    ]
    gates = [checks.equals("sunny", name=texts["name"], why=texts["why"])]
    result = run_evals_sync(data, answer, gates=gates)
    good = run_evals_sync(data, lambda question: "sunny", gates=gates)
    group = FailureGroup("failed", 9, (Example(f"{texts['place']}:3", texts["reason"]),), texts["scorer"], "gate", texts["told"])
    decision = Decision(1, texts["decision"])
    shown: set[str] = set()
    for kinds in (
        github.of_evaluation(result, texts["eval file"], 1),
        github.of_runs(runs_result(failures=(group,), verdict="failed"), 1),
        github.of_comparison(compare_results(good, result), decision),
        github.of_comparison(compare_results(good, good), decision),
    ):
        said = list(github.annotated(kinds, STEP, "error"))
        written = "\n".join(said).encode("utf-8", "backslashreplace").decode()
        assert [one.name for one in commands(written)] == ["error"] * len(said)
        for one in commands(written):
            assert set(one.properties) <= {"file", "line", "title"}
        shown |= texts.found_in(written)
    assert shown >= {"id", "file", "why", "error", "place", "reason", "scorer", "told", "decision"}
