"""`quickchecks score`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from quickchecks import load_runs

if TYPE_CHECKING:
    from tests.cli.conftest import Chat, Command, Write

needs_full_device = pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device here that is always full")


def test_the_failures_are_shown_with_their_places_and_reasons(quickchecks: Command, runs: Path) -> None:
    ended = quickchecks("score", runs, "--check", "no_tool_errors()", "--check", "did_not_call('refund')")
    lines = ended.out.splitlines()
    assert lines[0].startswith("3 runs (openai_chat)")
    assert lines[2:] == [
        "  no_tool_errors()         2 passed   1 failed",
        "  did_not_call('refund')   3 passed",
        "",
        "  ✗ runs.jsonl:2  no_tool_errors()",
        '      call 1 of 1, get_weather(), failed: "Error: no such city" (judged by its text)',
        "",
        "  warning: no run here ever called 'refund'",
        "",
        "failed: 1 of 3 runs · exit 1",
    ]
    assert (ended.code, ended.err) == (1, "")


@pytest.mark.parametrize(
    ("arguments", "code", "last"),
    [
        (["--check", "excludes('rain')"], 0, "passed: 3 runs, 1 check · exit 0"),
        (["--check", "no_tool_errors()"], 1, "failed: 1 of 3 runs · exit 1"),
        (["--check", "no_tool_errors()", "--fail-on", "never"], 0, "failed: 1 of 3 runs · exit 0"),
        (["--check", "when(called_tool('x'), includes('a'))"], 3, "… could be judged on no run · exit 3"),
        (["--check", "similarity('It is sunny.')"], 0, "nothing asserted: the check is only watched · exit 0"),
    ],
)
def test_the_exit_code_stands_in_the_last_line(
    arguments: list[str], code: int, last: str, quickchecks: Command, runs: Path
) -> None:
    ended = quickchecks("score", runs, *arguments)
    assert ended.code == code
    assert ended.out.splitlines()[-1].endswith(last.removeprefix("…"))


def test_checks_that_need_an_item_are_refused_before_anything_is_scored(quickchecks: Command, runs: Path) -> None:
    expression = "includes(from_item('expected')) & no_tool_errors()"
    Path("checks.yaml").write_text("checks:\n  - no_tool_errors\n  - includes: $expected\n")
    for options, said in (
        (["--check", expression], "needs the 'expected' of each item, and what is scored here are runs without items"),
        (["--checks", "checks.yaml"], "checks.yaml:3:5: this check needs the 'expected' of each item of a dataset"),
        (["--check", "no_tool_errors", "--try", expression], "needs the 'expected' of each item"),
        (["--check", "no_tool_errors", "--against", "checks.yaml"], "needs the 'expected' of each item"),
    ):
        ended = quickchecks("score", runs, *options)
        assert (ended.code, ended.out) == (2, "")
        assert said in ended.err


@pytest.mark.parametrize(("fail_on", "code"), [("any", 1), ("gates", 0), ("never", 0)])
def test_a_missed_threshold_fails_unless_only_gates_do(fail_on: str, code: int, quickchecks: Command, runs: Path) -> None:
    Path("checks.yaml").write_text("checks: [{check: no_tool_errors, threshold: 0.9}]")
    ended = quickchecks("score", runs, "--checks", "checks.yaml", "--fail-on", fail_on)
    assert ended.code == code
    assert "no_tool_errors() has the mean 0.667, not ≥ 0.9" in ended.out


def test_several_paths_and_a_folder_are_scored_together(quickchecks: Command, runs: Path, write: Write, chat: Chat) -> None:
    write("more/a.jsonl", chat("It is sunny."), chat("It rains."))
    ended = quickchecks("score", runs, "more", "--check", "includes('sunny')")
    assert ended.out.startswith("5 runs (openai_chat)")
    assert "more/a.jsonl:2" in ended.out


def test_a_record_that_cannot_be_read_is_counted_and_shown(quickchecks: Command, write: Write, chat: Chat) -> None:
    file = write("runs.jsonl", chat("It is sunny."), '{"broken', {"messages": [{"role": "wizard", "content": "x"}]})
    strict = quickchecks("score", file, "--check", "includes('sunny')")
    assert strict.code == 1
    assert "  ✗ runs.jsonl:2  cannot be read" in strict.out
    assert "  ✗ runs.jsonl:3  cannot be read" in strict.out
    assert strict.out.endswith("failed: 2 records cannot be read · exit 1\n")
    assert quickchecks("score", file, "--check", "includes('sunny')", "--max-errors", "2").code == 0


def test_a_run_that_broke_off_is_an_error(quickchecks: Command, write: Write, chat: Chat) -> None:
    file = write("runs.jsonl", chat("It is sunny.", error="timed out"), chat("It is sunny."))
    ended = quickchecks("score", file, "--check", "includes('sunny')")
    assert ended.code == 1
    assert "1 passed (1 run that broke off left out)" in ended.out


def test_nothing_scored_is_exit_3(quickchecks: Command, write: Write) -> None:
    file = write("runs.json", "[]")
    ended = quickchecks("score", file, "--check", "includes('sunny')", "--max-errors", "1")
    assert (ended.code, ended.out.splitlines()[-1]) == (3, "nothing scored: there are no runs · exit 3")


def test_an_envelope_is_answered_with_the_option_that_opens_it(quickchecks: Command, write: Write, chat: Chat) -> None:
    file = write("runs.jsonl", {"payload": chat("It is sunny."), "took": 3})
    closed = quickchecks("score", file, "--check", "includes('sunny')")
    assert "try --map messages=payload.messages" in closed.out
    assert quickchecks("score", file, "--check", "includes('sunny')", "--map", "messages=payload.messages").code == 0


def test_two_maps_are_one(quickchecks: Command, write: Write, chat: Chat) -> None:
    file = write("runs.jsonl", {"payload": chat("It is sunny."), "number": "n-1"})
    options = ("--map", "messages=payload.messages", "--map", "id=number", "-o", "out.jsonl")
    assert quickchecks("score", file, "--check", "includes('sunny')", *options).code == 0
    assert json.loads(Path("out.jsonl").read_text())["id"] == "n-1"


def test_an_adapter_is_found_in_the_current_folder(quickchecks: Command, write: Write, request: pytest.FixtureRequest) -> None:
    name = f"parse_{request.node.name.removeprefix('test_')}"
    Path(f"{name}.py").write_text("def parse(record):\n    return record['said']\n")
    file = write("runs.jsonl", {"said": "It is sunny."})
    assert quickchecks("score", file, "--check", "includes('sunny')", "--adapter", f"{name}:parse").code == 0


def test_only_the_last_turn(quickchecks: Command, write: Write, chat: Chat) -> None:
    messages = [*chat("It is sunny.")["messages"], *chat("It rains.")["messages"]]  # type: ignore[misc]
    file = write("runs.jsonl", {"messages": messages})
    assert quickchecks("score", file, "--check", "excludes('sunny')").code == 1
    assert quickchecks("score", file, "--check", "excludes('sunny')", "--part", "last_turn").code == 0


def test_every_form_of_report_is_written_at_once(quickchecks: Command, runs: Path) -> None:
    outputs = [option for form in ("json", "jsonl", "csv", "md") for option in ("-o", f"out.{form}")]
    ended = quickchecks("score", runs, "--check", "no_tool_errors()", *outputs)
    assert ended.err.splitlines() == ["wrote out.json", "wrote out.jsonl", "wrote out.csv", "wrote out.md"]
    assert json.loads(Path("out.json").read_text(encoding="utf-8"))["result"]["failing_runs"] == 1
    assert len(Path("out.jsonl").read_text(encoding="utf-8").splitlines()) == 3
    assert sorted(path.name for path in Path().iterdir()) == ["out.csv", "out.json", "out.jsonl", "out.md", "runs.jsonl"]


def test_the_failures_can_be_scored_again(quickchecks: Command, runs: Path) -> None:
    checks = ("--check", "no_tool_errors()", "--check", "includes('hello') | includes('s')")
    ended = quickchecks("score", runs, *checks, "--failures", "failures.jsonl")
    assert ended.err == "wrote failures.jsonl: 1 run that failed\n"
    [run] = load_runs("failures.jsonl")
    assert run.metadata is not None
    [score] = run.metadata["quickchecks"]["scores"]  # type: ignore[index]
    assert (run.id, run.metadata["quickchecks"]["source"]) == ("broken", "runs.jsonl:2")  # type: ignore[index]
    assert score["reason"].endswith('failed: "Error: no such city" (judged by its text)')
    again = quickchecks("score", "failures.jsonl", *checks)
    assert (again.code, again.out.splitlines()[-1]) == (1, "failed: 1 of 1 run · exit 1")


def test_failures_of_failures_keep_the_place_where_the_run_was_recorded(quickchecks: Command, runs: Path) -> None:
    for source, target in ((runs, "first.jsonl"), ("first.jsonl", "second.jsonl"), ("second.jsonl", "third.jsonl")):
        quickchecks("score", source, "--check", "no_tool_errors()", "--failures", target)
    [run] = load_runs("third.jsonl")
    assert run.metadata is not None
    assert run.metadata["quickchecks"]["source"] == "runs.jsonl:2"  # type: ignore[index]


@pytest.mark.parametrize("metadata", ["x", {"source": 3}, {"source": ""}, [1], None])
def test_metadata_of_that_name_that_says_no_place_is_no_place(
    metadata: object, quickchecks: Command, write: Write, chat: Chat
) -> None:
    file = write("runs.jsonl", chat("Hello.", metadata={"quickchecks": metadata}))
    quickchecks("score", file, "--check", "includes('sunny')", "--failures", "failures.jsonl")
    [run] = load_runs("failures.jsonl")
    assert run.metadata is not None
    assert run.metadata["quickchecks"]["source"] == "runs.jsonl:1"  # type: ignore[index]


def test_a_combination_with_a_graded_part_is_a_gate(quickchecks: Command, runs: Path) -> None:
    ended = quickchecks("score", runs, "--check", "includes('zzz') & similarity('b')")
    assert (ended.code, ended.out.splitlines()[-1]) == (1, "failed: 3 of 3 runs · exit 1")
    assert "watched" not in ended.out


def test_a_file_of_failures_is_there_even_when_nothing_failed(quickchecks: Command, runs: Path) -> None:
    quickchecks("score", runs, "--check", "excludes('rain')", "--failures", "failures.jsonl")
    assert Path("failures.jsonl").read_text() == ""


def test_against_shows_what_a_changed_check_flips(quickchecks: Command, runs: Path) -> None:
    Path("old.yaml").write_text("checks: [{includes: sunny}, no_tool_errors, {max_tool_calls: 3}]")
    Path("new.yaml").write_text("checks: [{includes: hello}, no_tool_errors]")
    ended = quickchecks("score", runs, "--checks", "new.yaml", "--against", "old.yaml", "-o", "out.json")
    lines = [line.strip() for line in ended.out.splitlines()]
    start = lines.index("compared with old.yaml")
    assert lines[start + 1 : start + 4] == ["includes('hello')", "was includes('sunny')", "1 run: passed → failed"]
    assert "1 run: failed → passed" in lines
    assert "removed: max_tool_calls(3)" in lines
    assert "unchanged: 1 check" in lines
    comparison = json.loads(Path("out.json").read_text(encoding="utf-8"))["result"]["comparison"]
    assert [flip["count"] for flip in comparison["changed"][0]["flips"]] == [1, 1]


@pytest.mark.parametrize("name", ["no_tool_errors()", "no_tool_errors( )", "no_tool_errors"])
def test_try_puts_a_check_in_the_place_of_another(name: str, quickchecks: Command, runs: Path) -> None:
    checks = ("--check", "no_tool_errors()", "--check", "excludes('rain')")
    tried = quickchecks("score", runs, *checks, "--try", "no_tool_errors(text_errors=False)", "--instead-of", name)
    assert tried.code == 0
    assert "1 run: failed → passed" in tried.out
    assert "was no_tool_errors()" in tried.out


def test_try_needs_no_name_where_there_is_one_check(quickchecks: Command, runs: Path) -> None:
    assert "was includes('a')" in quickchecks("score", runs, "--check", "includes('a')", "--try", "includes('b')").out


def test_what_is_tried_keeps_the_name_and_the_threshold(quickchecks: Command, runs: Path) -> None:
    Path("checks.yaml").write_text("checks: [{check: {includes: sunny}, name: weather, threshold: 0.3}, used_no_tools]")
    ended = quickchecks("score", runs, "--checks", "checks.yaml", "--try", "includes('hello')", "--instead-of", "weather")
    assert "weather: includes('hello')" in ended.out
    assert "needs ≥ 0.3" in ended.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "there is nothing to check: add --check"),
        (["--check", "contains('a')"], "--check, column 1: there is no check 'contains': here it is called includes"),
        (["--check", "includes('a'"], "--check, column 9: this ( is never closed"),
        (["--check", "includes('')"], "could never decide anything"),
        (["--check", "includes('a')", "--check", 'includes("a")'], "includes('a') is given twice"),
        (["--checks", "chekcs.yaml"], "there is no such checks file\n  did you mean 'checks.yaml'?"),
        (["--checks", "bad.yaml"], "bad.yaml:1:11: there is no check 'inkludes'"),
        (["--check", "no_tool_errors", "--format", "openai"], "there is no format 'openai': did you mean 'openai_chat'?"),
        (["--check", "no_tool_errors", "--map", "messages"], "expected part=path"),
        (["--check", "no_tool_errors", "--adapter", "nowhere"], "expected module:function"),
        (["--check", "no_tool_errors", "-o", "out.txt"], "a report ends in .csv, "),
        (["--check", "no_tool_errors", "-o", "runs.jsonl/out.md"], "runs.jsonl/out.md cannot be written: "),
        (["--check", "no_tool_errors", "-o", "folder.md"], "folder.md cannot be written: "),
        (["--check", "no_tool_errors", "-o", "runs.jsonl"], "runs.jsonl is one of the recordings"),
        (["--check", "no_tool_errors", "-o", "a.md", "-o", "./a.md"], "./a.md stands twice among the files to write"),
        (["--check", "no_tool_errors", "--failures", "a.jsonl", "-o", "a.jsonl"], "stands twice"),
        (["--check", "no_tool_errors", "--max-errors", "-1"], "--max-errors"),
        (["--check", "no_tool_errors", "--fail-on", "some"], "'any', 'gates', 'never'"),
        (["--check", "no_tool_errors", "--against", "nope.yaml"], "nope.yaml: there is no such checks file"),
        (["--check", "no_tool_errors", "--try", "includes('a')", "--against", "checks.yaml"], "use one of them"),
        (["--check", "no_tool_errors", "--instead-of", "x"], "add --try EXPR"),
        (["--check", "no_tool_errors", "--try", "includes('a')", "--instead-of", "x"], "there is no check to replace 'x'"),
        (["--check", "includes('a')", "--check", "includes('b')", "--try", "includes('c')"], "--try needs --instead-of NAME"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_clean_message(arguments: list[str], message: str, quickchecks: Command, runs: Path) -> None:
    Path("checks.yaml").write_text("checks: [no_tool_errors]")
    Path("bad.yaml").write_text("checks: [{inkludes: a}]")
    Path("folder.md").mkdir()
    ended = quickchecks("score", runs, *arguments)
    assert (ended.code, ended.out) == (2, "")
    assert message in ended.err
    assert "Traceback" not in ended.err
    assert not [path for path in Path().iterdir() if ".part" in path.name], "an unfinished file was left"


def test_a_missing_file_is_answered_with_near_names(quickchecks: Command, runs: Path) -> None:
    ended = quickchecks("score", "run.jsonl", "--check", "no_tool_errors")
    assert (ended.code, ended.out) == (2, "")
    assert "there is no such file or folder\n  did you mean 'runs.jsonl'?" in ended.err


def test_a_report_that_would_be_read_as_a_recording_is_refused(quickchecks: Command, write: Write, chat: Chat) -> None:
    write("runs/a.jsonl", chat("hi"))
    ended = quickchecks("score", "runs", "--check", "no_tool_errors", "-o", "runs/out.json")
    assert ended.code == 2
    assert "would lie in runs, and be read as a recording the next time" in ended.err
    assert quickchecks("score", "runs", "--check", "no_tool_errors", "-o", "runs/out.md").code == 0


def test_a_report_replaces_the_old_one_only_when_it_is_complete(
    quickchecks: Command, runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise OSError(28, "No space left on device")

    Path("out.json").write_text("old")
    monkeypatch.setattr("quickchecks.reports.as_json._Object.add", fails)
    ended = quickchecks("score", runs, "--check", "no_tool_errors", "-o", "out.json")
    assert (ended.code, ended.err) == (2, "Error: out.json cannot be written: No space left on device\n")
    assert Path("out.json").read_text() == "old"
    assert sorted(path.name for path in Path().iterdir()) == ["out.json", "runs.jsonl"]


@needs_full_device
@pytest.mark.parametrize("option", ["-o", "--failures"])
@pytest.mark.parametrize("suffix", ["json", "jsonl", "csv", "html", "md", "junit.xml"])
def test_a_file_that_cannot_be_written_loses_neither_the_result_nor_the_others(
    suffix: str, option: str, quickchecks: Command, runs: Path
) -> None:
    Path(f"full.{suffix}").symlink_to("/dev/full")
    ended = quickchecks("score", runs, "--check", "no_tool_errors()", option, f"full.{suffix}", "-o", "z.csv")
    assert ended.code == 2
    assert ended.out.splitlines()[-1] == "failed: 1 of 3 runs · exit 1"
    assert ended.err == f"wrote z.csv\nError: full.{suffix} cannot be written: No space left on device\n"
    assert len(Path("z.csv").read_text(encoding="utf-8").splitlines()) == 4


def test_a_link_stays_and_what_it_points_to_is_replaced(quickchecks: Command, runs: Path) -> None:
    Path("real.md").write_text("old")
    Path("out.md").symlink_to("real.md")
    quickchecks("score", runs, "--check", "no_tool_errors", "-o", "out.md")
    assert Path("out.md").is_symlink()
    assert Path("real.md").read_text(encoding="utf-8").startswith("## failed")


def test_hostile_text_drives_no_terminal(quickchecks: Command, write: Write, chat: Chat) -> None:
    evil = "\x1b[2J\x1b]0;owned\x07 \u202egnp.exe \x00 \ud800 =1+1"
    file = write("runs.jsonl", chat(evil, question=evil, calls={f"tool{evil}": f"Error: {evil}"}, id=evil))
    ended = quickchecks("score", file, "--check", "no_tool_errors()", "--check", "includes('sunny')")
    assert [c for c in ended.out if not c.isprintable() and c != "\n"] == []
    assert "\\u001b[2J" in ended.out
