"""The forms of reports: how they are found, and what stands in each."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Sequence
from importlib.metadata import EntryPoint
from io import BytesIO, StringIO
from types import ModuleType, SimpleNamespace
from typing import BinaryIO, cast

import pytest

from quickchecks import checks
from quickchecks._results.evaluation import EvalResult
from quickchecks._results.flips import Flips
from quickchecks._results.tally import Tally, entry_of
from quickchecks._run import Run, Source
from quickchecks._scorer.checks_file import CheckEntry
from quickchecks.errors import RecordingError, UnknownNameError
from quickchecks.reports import Kind, Report, form_of, suffixes
from quickchecks.testing import call, run

SUNNY = run("It is sunny.", gaps=())
RUNS: list[Run | RecordingError] = [
    SUNNY,
    run(call("look\x1bup", error="=boom | @everyone"), "It rains."),
    RecordingError("expected an object, got 3", file="runs.jsonl", line=3, path="messages"),
    run("It is sunny.", error="timed out"),
]
ENTRIES = (
    entry_of(checks.includes("sunny", why="people ask for it")),
    entry_of(checks.no_tool_errors()),
    CheckEntry(checks.similarity("It is sunny."), "shadow"),
)


def written(form: str, runs: Sequence[Run | RecordingError] = RUNS, entries: Sequence[CheckEntry] = ENTRIES) -> str:
    stream = BytesIO()
    report = form_of(f"report{form}", "runs")(stream, entries)
    tally = Tally(entries, flips=Flips([entry_of(checks.includes("rain"))], entries, "old.yaml"))
    for one in runs:
        read, error = (one, None) if isinstance(one, Run) else (None, one)
        scores = [scorer.score(read) for scorer in tally.scorers] if read is not None else []
        tally.add(read, scores, error)
        report.add(read, scores, error)
    report.finish(tally.result(seconds=0.1))
    return stream.getvalue().decode()


class Form:
    """A form of another package, which can write evaluations."""

    @staticmethod
    def evaluation(result: EvalResult) -> bytes:
        return b"mine"


def only_start(stream: BinaryIO, entries: Sequence[CheckEntry]) -> Report:
    raise NotImplementedError


@pytest.fixture
def of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    offered = {"mine": "Form", "sub.json": "Form", "bare": "only_start", "missing": "Nothing", "csv": "Form"}
    entries = [EntryPoint(suffix, f"{__name__}:{name}", "quickchecks.reports") for suffix, name in offered.items()]
    monkeypatch.setitem(sys.modules, __name__, sys.modules.get(__name__) or cast("ModuleType", SimpleNamespace(**globals())))
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: entries if group == "quickchecks.reports" else [])


@pytest.mark.parametrize("kind", ["runs", "evaluation", "comparison"])
def test_every_form_is_found_by_its_file(kind: Kind) -> None:
    assert {".csv", ".json", ".jsonl", ".md"} <= set(suffixes(kind))
    for suffix in suffixes(kind):
        assert callable(form_of(f"a{suffix}", kind))


@pytest.mark.parametrize("file", ["out.json", "OUT.JSON", "a.b/out.v2.json", "out.md.json"])
def test_the_suffix_decides_whatever_its_case(file: str) -> None:
    from quickchecks.reports import as_json

    assert form_of(file, "runs") is as_json.start
    assert form_of(file, "evaluation") is as_json.evaluation
    assert form_of(file, "comparison") is as_json.comparison


@pytest.mark.parametrize(("file", "shown"), [("out.txt", "'.txt'"), ("out", "''"), ("out.jsn", "'.jsn'")])
@pytest.mark.parametrize("kind", ["runs", "evaluation", "comparison"])
def test_an_unknown_suffix_is_refused_with_those_that_exist(file: str, shown: str, kind: Kind) -> None:
    with pytest.raises(UnknownNameError) as caught:
        form_of(file, kind)
    *first, last = suffixes(kind)
    assert str(caught.value) == (
        f"{file}: there is no form of report with the suffix {shown}: a report ends in {', '.join(first)} or {last}"
    )
    assert caught.value.known == suffixes(kind)


@pytest.mark.usefixtures("of_others")
def test_another_package_can_add_a_form() -> None:
    assert form_of("out.Mine", "evaluation") is Form.evaluation
    assert form_of("out.sub.json", "evaluation") is Form.evaluation, "the longest suffix decides"
    assert form_of("out.bare", "runs") is only_start, "a bare function starts a report of runs"
    assert form_of("out.csv", "evaluation") is not Form.evaluation, "what is here cannot be replaced"
    assert {".mine", ".sub.json"} <= set(suffixes("evaluation"))
    assert {".bare"} <= set(suffixes("runs"))
    assert not {".mine", ".bare", ".missing"} & set(suffixes("comparison"))


@pytest.mark.usefixtures("of_others")
def test_a_form_that_cannot_be_loaded_says_why_and_takes_no_other_away() -> None:
    with pytest.raises(
        UnknownNameError, match=r"a\.missing: there is no .* '\.missing': the entry point missing = .* cannot be loaded: Attr"
    ):
        form_of("a.missing", "evaluation")
    assert ".mine" in suffixes("evaluation")


@pytest.mark.usefixtures("of_others")
@pytest.mark.parametrize(
    ("file", "kind", "said"),
    [
        ("a.mine", "comparison", "there is no report of a comparison with the suffix '.mine': a report ends in .csv, "),
        ("a.sub.json", "runs", "there is no report of scored runs with the suffix '.sub.json': a report ends in .bare, .csv, "),
        ("a.bare", "evaluation", "there is no report of an evaluation with the suffix '.bare': a report ends in .csv, "),
    ],
)
def test_a_form_that_cannot_write_this_is_refused_with_those_that_can(file: str, kind: Kind, said: str) -> None:
    with pytest.raises(UnknownNameError) as caught:
        form_of(file, kind)
    assert str(caught.value).startswith(f"{file}: {said}")
    assert file.removeprefix("a") not in caught.value.known


def test_json_holds_every_run_and_then_the_result() -> None:
    report = json.loads(written(".json"))
    assert [one.get("unreadable", "") for one in report["runs"]] == ["", "", "at messages: expected an object, got 3", ""]
    assert report["runs"][1]["scores"][1]["outcome"] == "failed"
    assert report["runs"][3]["error"] == {"message": "timed out"}
    assert report["result"]["verdict"] == "failed"
    assert report["result"]["scorers"][0]["set_aside"] == 1


def test_json_without_runs_is_json() -> None:
    assert json.loads(written(".json", []))["runs"] == []


def test_json_lines_are_a_line_for_each_run() -> None:
    lines = [json.loads(line) for line in written(".jsonl").splitlines()]
    assert {line["schema"] for line in lines} == {"quickchecks.scored_run/1"}
    assert lines[2]["source"] == {"file": "runs.jsonl", "line": 3}
    assert [score["scorer"] for score in lines[0]["scores"]] == [
        "includes('sunny')",
        "no_tool_errors()",
        "similarity('It is sunny.')",
    ]


def test_csv_is_a_row_for_each_run_and_scorer() -> None:
    rows = list(csv.DictReader(StringIO(written(".csv"))))
    told = [(row["scorer"], row["mode"], row["outcome"]) for row in rows]
    assert told[:3] == [
        ("includes('sunny')", "gate", "passed"),
        ("no_tool_errors()", "gate", "passed"),
        ("similarity('It is sunny.')", "shadow", "graded"),
    ]
    assert told[6:8] == [("", "", "unreadable"), ("", "", "run_failed")]
    assert rows[0]["why"] == "people ask for it"
    assert (rows[2]["value"], rows[6]["file"], rows[6]["line"]) == ("1.0", "runs.jsonl", "3")


@pytest.mark.parametrize("form", [".csv", ".md"])
def test_no_control_character_reaches_a_file_for_people(form: str) -> None:
    text = written(form).replace("\r\n", "\n")
    assert [c for c in text if not c.isprintable() and c != "\n"] == []


def test_no_cell_of_a_csv_begins_a_formula() -> None:
    evil = run("=1+1", metadata={}, error="@SUM(A1)")
    rows = list(csv.reader(StringIO(written(".csv", [evil], [entry_of(checks.equals("-1", name="=cmd"))]))))
    assert [cell for row in rows[1:] for cell in row if cell.startswith(("=", "@", "+"))] == []
    assert "'=cmd" in rows[2]


def test_markdown_shows_the_table_the_failures_and_the_comparison() -> None:
    text = written(".md")
    assert text.startswith("## failed\n")
    assert "| `includes('sunny')` | 1 | 1 | `1 run that broke off left out` |" in text
    assert "`similarity('It is sunny.')` |" not in text, "what a shadow check says is only recorded"
    assert "- cannot be read: `runs.jsonl:3` `at messages: expected an object, got 3`" in text
    assert "why: `people ask for it`" in text
    assert "### Compared with `old.yaml`" in text
    assert "`includes('rain')` is now `includes('sunny')`" in text


def test_markdown_keeps_hostile_text_in_code() -> None:
    evil = run(call("x`y", error="a | b <b> @everyone"), "rain")
    text = written(".md", [evil])
    assert "a \\| b <b> @everyone" in text
    assert "``" in text


def test_a_place_in_an_array_has_columns_of_its_own() -> None:
    from msgspec.structs import replace

    rows = list(csv.DictReader(StringIO(written(".csv", [replace(SUNNY, source=Source("runs.json", None, 2))]))))
    assert (rows[0]["file"], rows[0]["line"], rows[0]["index"]) == ("runs.json", "", "2")


def test_a_page_has_no_table_where_every_check_is_a_shadow_and_says_so() -> None:
    page = written(".md", [SUNNY], [CheckEntry(checks.includes("sunny"), "shadow")])
    assert page.startswith("## nothing asserted\n")
    assert "Nothing asserted: `the check is only recorded (shadow)`" in page
    assert "| check |" not in page
    assert "\n1 shadow check not shown\n" in page
