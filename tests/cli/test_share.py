"""`quickchecks share`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace
from pages import Page

from quickchecks import _wire, checks, run_evals_sync
from quickchecks._run import Run
from quickchecks.testing import call, run, user

if TYPE_CHECKING:
    from tests.cli.conftest import Command

RUNS = (
    replace(run(user("Weather?"), call("get_weather", result="sunny"), "It is sunny."), id="fine"),
    replace(run(user("Weather?"), call("get_weather", error="no <station>"), "It is rainy."), id="broken"),
    replace(run(user("Weather?"), "I cannot say."), id="silent"),
)


@pytest.fixture
def runs(quickchecks: Command) -> Path:
    Path("runs.jsonl").write_bytes(b"".join(_wire.dumps(one) + b"\n" for one in RUNS))
    return Path("runs.jsonl")


@pytest.fixture
def result(quickchecks: Command) -> Path:
    def answer(asked: str) -> Run:
        if asked == "c":
            raise ValueError("no answer")
        return RUNS["ab".index(asked)]

    gates = [checks.no_tool_errors(why="What failed must not be promised"), checks.includes("sunny")]
    run_evals_sync([{"id": f"item:{one}", "input": one, "expected": "sun"} for one in "abc"], answer, gates=gates).save(
        "result.json"
    )
    return Path("result.json")


def page(name: str = "out.html") -> Page:
    return Page(Path(name).read_bytes())


@pytest.mark.parametrize("place", ["runs.jsonl:2", "runs.jsonl:broken"])
@pytest.mark.usefixtures("runs")
def test_a_run_of_a_recording_with_what_checks_say_of_it(quickchecks: Command, place: str) -> None:
    ended = quickchecks("share", place, "--check", "no_tool_errors()", "--check", "includes('rainy')", "-o", "out.html")
    assert (ended.code, ended.out, ended.err) == (0, "", "wrote out.html\n")
    found = page()
    assert found.texts["h1"] == ["Failed"]
    assert found.texts["title"] == ["Failed – runs.jsonl:2"]
    assert found.texts["h3"] == ["no_tool_errors()"]
    assert found.texts["mark"] == ["get_weather()"]
    assert "no <station>" in found.body
    assert "passed includes('rainy')" in found.body


@pytest.mark.usefixtures("runs")
def test_checks_of_a_file_with_their_why(quickchecks: Command) -> None:
    Path("checks.yaml").write_text("checks:\n  - check: {includes: sunny}\n    name: sun\n    why: People ask for it\n", "utf-8")
    assert quickchecks("share", "runs.jsonl:3", "--checks", "checks.yaml", "-o", "out.html").code == 0
    assert page().texts["h3"] == ["People ask for it"]
    assert "sun: includes('sunny')" in page().body


@pytest.mark.usefixtures("runs")
def test_a_run_without_checks(quickchecks: Command) -> None:
    assert quickchecks("share", "runs.jsonl", "--run", "3", "-o", "out.html").code == 0
    assert page().texts["h1"] == ["A run"]
    assert "I cannot say." in page().body


@pytest.mark.usefixtures("runs")
def test_what_failures_kept_is_told_again(quickchecks: Command) -> None:
    assert quickchecks("score", "runs.jsonl", "--check", "no_tool_errors()", "--failures", "failures.jsonl").code == 1
    assert quickchecks("share", "failures.jsonl", "-o", "out.html").code == 0
    assert page().texts["title"] == ["Failed – runs.jsonl:2"]
    assert page().texts["mark"] == ["get_weather()"]


@pytest.mark.parametrize("wrong", [{"scores": "x"}, {"scores": [{"outcome": "<b>"}]}, [], "x", {"source": 1, "scores": []}])
def test_scores_that_are_none_are_not_told(quickchecks: Command, wrong: object) -> None:
    Path("runs.jsonl").write_bytes(_wire.dumps(replace(RUNS[1], metadata={"quickchecks": wrong})) + b"\n")
    assert quickchecks("share", "runs.jsonl", "-o", "out.html").code == 0
    assert page().texts["h1"] == ["A run"]


@pytest.mark.usefixtures("result")
def test_an_item_of_a_result_with_its_scores(quickchecks: Command) -> None:
    ended = quickchecks("share", "result.json:item:b", "-o", "sub/out.HTML")
    assert (ended.code, ended.err) == (0, "wrote sub/out.HTML\n")
    found = page("sub/out.HTML")
    assert found.texts["title"] == ["Failed – result.json: item:b"]
    assert found.texts["h3"] == ["1 What failed must not be promised", "2 includes('sunny')"]
    assert found.texts["mark"] == ["get_weather()1"]
    assert [one.strip() for one in found.texts["dd"]] == ["b", "sun"]


@pytest.mark.usefixtures("result")
def test_an_item_whose_target_broke_is_shown_with_the_frames_of_the_target(quickchecks: Command) -> None:
    ended = quickchecks("share", "result.json:item:c", "-o", "out.html")
    assert (ended.code, ended.err) == (0, "wrote out.html\n")
    found = page()
    assert found.texts["title"] == ["Broke – result.json: item:c"]
    assert [one.strip() for one in found.texts["dd"]] == ["c", "sun"]
    assert "ValueError: no answer" in found.body
    assert "in answer" in found.body
    assert "quickchecks/_" not in found.body
    assert "What happened" not in found.texts["h2"]


@pytest.mark.usefixtures("runs")
def test_several_pages_are_the_same(quickchecks: Command) -> None:
    ended = quickchecks("share", "runs.jsonl:2", "-o", "a.html", "-o", "b.html")
    assert (ended.code, ended.err) == (0, "wrote a.html\nwrote b.html\n")
    assert Path("a.html").read_bytes() == Path("b.html").read_bytes()


@pytest.mark.usefixtures("result")
def test_other_checks_may_be_put_to_an_item(quickchecks: Command) -> None:
    assert quickchecks("share", "result.json:item:b", "--check", "includes('rainy')", "-o", "out.html").code == 0
    assert page().texts["h1"] == ["Passed"]


def test_an_item_whose_runs_lie_in_a_recording(quickchecks: Command) -> None:
    evaluated = run_evals_sync(
        [{"id": "a", "input": "x"}], lambda asked: RUNS[0], gates=[checks.includes("rain")], record="kept.jsonl"
    )
    evaluated.save("result.json")
    assert quickchecks("share", "result.json", "-o", "out.html").code == 0
    assert "It is sunny." in page().body
    Path("kept.jsonl").unlink()
    ended = quickchecks("share", "result.json", "-o", "other.html")
    assert ended.code == 2
    assert (
        "the run of 'a' is not in result.json; kept.jsonl, the recording that was written with it, is not beside it" in ended.err
    )
    assert not Path("other.html").exists()


def test_of_repetitions_the_one_that_failed(quickchecks: Command) -> None:
    answers = iter(RUNS[:2])
    run_evals_sync(
        [{"id": "a", "input": "x"}], lambda asked: next(answers), gates=[checks.no_tool_errors()], repetitions=2, concurrency=1
    ).save("result.json")
    assert quickchecks("share", "result.json:a", "-o", "out.html").code == 0
    assert page().texts["h1"] == ["Failed"]
    assert quickchecks("share", "result.json:a", "--run", "1", "-o", "out.html").code == 0
    assert page().texts["h1"] == ["Passed"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["runs.jsonl:2", "-o", "out.md"], "out.md: a run is shared as a page, in a file that ends in .html"),
        (["runs.jsonl:2"], "Missing option '-o' / '--output'"),
        (["runs.jsonl:9", "-o", "out.html"], "there is no run at runs.jsonl:9\n  the nearest run is runs.jsonl:3"),
        (["runs.jsonl:brokn", "-o", "out.html"], "there is no run 'brokn' in runs.jsonl\n  did you mean 'broken'?"),
        (["runs.jsonl", "-o", "out.html"], "runs.jsonl holds several runs: say which, such as runs.jsonl:2, or --run 2"),
        (["runs.jsonl", "--run", "7", "-o", "out.html"], "runs.jsonl holds 3 runs, so there is none with the number 7"),
        (["result.json:item:d", "-o", "out.html"], "there is no item 'item:d' in result.json\n  "),
        (["result.json", "-o", "out.html"], "result.json holds 3 items: say which, such as result.json:item:"),
        (["result.json:zzz", "-o", "out.html"], "there is no item 'zzz' in result.json\n"),
        (
            ["result.json:item:c", "--check", "includes('a')", "-o", "out.html"],
            "the target broke on 'item:c', so that there is no",
        ),
        (["runs.jsonl:2", "-o", "out.html", "-o", "./out.html"], "./out.html stands twice among the files to write"),
        (
            ["result.json:item:a", "--run", "2", "-o", "out.html"],
            "'item:a' was run 1 times, so there is no run with the number 2",
        ),
        (["no.jsonl:3", "-o", "out.html"], "no.jsonl:3: there is no such file or folder"),
        (["page.html", "-o", "page.html"], "page.html is what is read here: write to another file"),
        (["runs.jsonl:2", "--check", "nothing()", "-o", "out.html"], "nothing"),
        (["runs.jsonl:2", "--checks", "items.yaml", "-o", "out.html"], "recorded runs have no items"),
        (["broken.jsonl:1", "-o", "out.html"], "broken.jsonl"),
        (["broken.jsonl", "-o", "out.html"], "broken.jsonl holds no run that can be read"),
    ],
)
@pytest.mark.usefixtures("runs", "result")
def test_a_mistake_is_one_clean_message(quickchecks: Command, arguments: list[str], message: str) -> None:
    Path("page.html").write_text("x", "utf-8")
    Path("items.yaml").write_text("checks:\n  - includes: $expected\n", "utf-8")
    Path("broken.jsonl").write_text('{"a": \n', "utf-8")
    ended = quickchecks("share", *arguments)
    assert ended.code == 2
    assert message in ended.err
    assert "Traceback" not in ended.err
    assert not ended.err.endswith((" \n", "\n\n"))
    assert not Path("out.html").exists()


@pytest.mark.usefixtures("runs")
def test_an_adapter_of_the_users_and_an_envelope(quickchecks: Command) -> None:
    Path("logs.jsonl").write_text(
        json.dumps({"payload": {"messages": [{"role": "assistant", "content": "Hello."}]}}) + "\n", "utf-8"
    )
    assert quickchecks("share", "logs.jsonl:1", "--map", "messages=payload.messages", "-o", "out.html").code == 0
    assert "Hello." in page().body


@pytest.mark.usefixtures("runs")
def test_what_the_file_held_is_replaced(quickchecks: Command) -> None:
    Path("out.html").write_text("old", "utf-8")
    assert quickchecks("share", "runs.jsonl:1", "-o", "out.html").code == 0
    assert "It is sunny." in page().body
    assert sorted(one.name for one in Path().iterdir()) == ["out.html", "runs.jsonl"]
