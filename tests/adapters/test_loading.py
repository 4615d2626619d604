"""Files, folders, standard input, and values in memory."""

from __future__ import annotations

import gzip
import io
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from quickchecks import Run, Source, load_run, load_runs, testing
from quickchecks.adapters import as_run, read
from quickchecks.errors import RecordingError

Foreign = Any  # JSON and the objects of SDKs have no types


def said(text: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": "q"}, {"role": "assistant", "content": text}]


def line(text: str) -> str:
    return json.dumps({"messages": said(text)})


def texts(source: Foreign, **options: Foreign) -> list[str]:
    return [run.text for run in load_runs(source, **options)]


def written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


# JSON Lines


@pytest.mark.parametrize(
    "content",
    [
        f"{line('a')}\n{line('b')}\n",
        f"{line('a')}\n{line('b')}",
        f"\n{line('a')}\n\n  \n{line('b')}\n\n",
        f"{line('a')}\r\n{line('b')}\r\n",
        f"\ufeff{line('a')}\n{line('b')}\n",
    ],
    ids=["plain", "no last line break", "blank lines", "CRLF", "byte order mark"],
)
@pytest.mark.parametrize("name", ["runs.jsonl", "runs.ndjson", "runs.json", "runs.log", "RUNS.JSONL"])
def test_json_lines_are_read_one_a_line(tmp_path: Path, name: str, content: str) -> None:
    assert texts(written(tmp_path, name, content)) == ["a", "b"]


def test_every_run_says_where_it_was_read_from(tmp_path: Path) -> None:
    path = written(tmp_path, "runs.jsonl", f"\n{line('a')}\n{line('b')}\n")
    runs = list(load_runs(path))
    assert [run.source for run in runs] == [Source(str(path), 2), Source(str(path), 3)]
    assert str(runs[1].source) == f"{path}:3"
    assert {run.format for run in runs} == {"openai_chat"}


def test_lines_are_read_as_they_are_asked_for(tmp_path: Path) -> None:
    path = written(tmp_path, "runs.jsonl", f"{line('a')}\nbroken\n")
    assert next(load_runs(path)).text == "a"


def test_a_broken_line_is_an_error_that_names_it(tmp_path: Path) -> None:
    path = written(tmp_path, "runs.jsonl", f'{line("a")}\n{{"messages": [\n{line("b")}\n{{"mess')
    found = list(read(path))
    errors = [error for error in found if isinstance(error, RecordingError)]
    assert [run.text for run in found if isinstance(run, Run)] == ["a", "b"]
    assert [(error.file, error.line) for error in errors] == [(str(path), 2), (str(path), 4)]
    assert "the file ends in the middle of this line" in errors[1].hint
    with pytest.raises(RecordingError, match=r"runs\.jsonl:2: not valid JSON"):
        list(load_runs(path))


def test_skipping_goes_on_and_reports(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = written(tmp_path, "runs.jsonl", f"broken\n{line('b')}\n")
    assert texts(path, on_error="skip") == ["b"]
    assert "skipped: " in caplog.text
    assert "runs.jsonl:1" in caplog.text


def test_on_error_takes_two_words() -> None:
    with pytest.raises(ValueError, match="'raise' or 'skip'"):
        load_runs([], on_error="ignore")  # type: ignore[arg-type]


def test_a_record_that_no_format_knows_is_an_error_in_a_file(tmp_path: Path) -> None:
    path = written(tmp_path, "runs.jsonl", '{"a": 1}\n5\n"text"\nnull\n[]\n{"output": "fine"}\n')
    found = list(read(path))
    assert [type(one).__name__ for one in found] == ["UnknownFormatError"] * 4 + ["RecordingError", "Run"]
    assert "--format values" in str(found[2])


def test_lone_surrogates_and_nan_are_read(tmp_path: Path) -> None:
    content = '{"messages": [{"role": "assistant", "content": "half \\ud83d"}], "score": NaN}\n'
    (run,) = load_runs(written(tmp_path, "runs.jsonl", content))
    assert run.text == "half \ud83d"


def test_a_line_of_ten_megabytes_is_read(tmp_path: Path) -> None:
    assert len(texts(written(tmp_path, "runs.jsonl", line("x" * 10_000_000)))[0]) == 10_000_000


def test_text_that_is_not_utf_8_is_an_error(tmp_path: Path) -> None:
    (error,) = read(written(tmp_path, "runs.jsonl", b'{"output": "\xff\xfe\xff"}\n'))
    assert isinstance(error, RecordingError)
    (error,) = read(written(tmp_path, "wide.jsonl", line("a").encode("utf-16")))
    assert isinstance(error, RecordingError)
    assert "UTF-8" in error.hint


# JSON


def test_one_run_in_a_file(tmp_path: Path) -> None:
    path = written(tmp_path, "run.json", json.dumps({"messages": said("a")}, indent=1))
    (run,) = load_runs(path)
    assert (run.text, run.source) == ("a", Source(str(path)))


def test_an_array_of_messages_is_one_run(tmp_path: Path) -> None:
    assert texts(written(tmp_path, "run.json", json.dumps(said("a"), indent=1))) == ["a"]


@pytest.mark.parametrize(
    "array", [[{"messages": said("a")}, {"messages": said("b")}], [said("a"), said("b")], [{"output": "a"}, {"output": "b"}]]
)
def test_an_array_of_runs_is_several(tmp_path: Path, array: Foreign) -> None:
    path = written(tmp_path, "runs.json", json.dumps(array, indent=1))
    runs = list(load_runs(path))
    assert [run.text for run in runs] == ["a", "b"]
    assert [str(run.source) for run in runs] == [f"{path}[0]", f"{path}[1]"]


def test_one_bad_run_of_an_array_does_not_take_the_others(tmp_path: Path) -> None:
    path = written(
        tmp_path, "runs.json", json.dumps([{"messages": said("a")}, {"messages": [{"role": 5}, *said("x")]}, {"b": 1}, said("c")])
    )
    found = list(read(path))
    assert [one.text if isinstance(one, Run) else one.index for one in found] == ["a", 1, 2, "c"]
    assert str(found[1]).startswith(f"{path}[1], at messages[0].role: expected one of the roles")


def test_json_that_cannot_be_read_says_where(tmp_path: Path) -> None:
    (error,) = read(written(tmp_path, "run.json", '{\n "messages": [\n  {"role": \n'))
    assert isinstance(error, RecordingError)
    assert "line 4" in error.problem


@pytest.mark.parametrize("content", ["", "\n \n", "[]"])
def test_a_file_without_a_run_is_an_error(tmp_path: Path, content: str) -> None:
    (error,) = read(written(tmp_path, "run.json", content))
    assert isinstance(error, RecordingError)


def test_json_lines_whose_first_line_is_broken_are_known_by_the_second(tmp_path: Path) -> None:
    found = list(read(written(tmp_path, "runs.json", f'{{"mess\n{line("b")}\n')))
    assert [type(one).__name__ for one in found] == ["RecordingError", "Run"]


# gzip


@pytest.mark.parametrize("name", ["runs.jsonl.gz", "runs.json.gz", "runs.jsonl"])
def test_gzip_is_known_by_its_first_bytes(tmp_path: Path, name: str) -> None:
    path = written(tmp_path, name, gzip.compress(f"{line('a')}\n{line('b')}\n".encode()))
    runs = list(load_runs(path))
    assert [run.text for run in runs] == ["a", "b"]
    assert runs[1].source == Source(str(path), 2)


def test_a_damaged_gzip_gives_what_is_whole_and_then_an_error(tmp_path: Path) -> None:
    lines = [f"{line(os.urandom(2000).hex())}\n" for _ in range(40)]
    whole = gzip.compress("".join(lines).encode())
    found = list(read(written(tmp_path, "runs.jsonl.gz", whole[: len(whole) // 2])))
    assert isinstance(found[0], Run)
    last = found[-1]
    assert isinstance(last, RecordingError)
    assert "breaks off" in last.problem
    assert last.line == len(found)


def test_what_only_begins_as_gzip_is_an_error(tmp_path: Path) -> None:
    (error,) = read(written(tmp_path, "runs.jsonl.gz", b"\x1f\x8bnonsense"))
    assert isinstance(error, RecordingError)


# Folders


def test_a_folder_is_read_with_the_folders_in_it(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    written(tmp_path, "b.jsonl", line("2"))
    written(tmp_path, "a/z.json", line("1"))
    written(tmp_path, "c.ndjson", line("3"))
    written(tmp_path, "d.json.gz", gzip.compress(line("4").encode()))
    written(tmp_path, ".hidden.json", line("no"))
    written(tmp_path, ".git/x.json", line("no"))
    written(tmp_path, "README.md", "# no run")
    assert texts(tmp_path) == ["1", "2", "3", "4"]
    assert "1 not read, because their names are not those of recordings: README.md" in caplog.text


def test_other_json_in_a_folder_is_an_error_and_not_passed_over(tmp_path: Path) -> None:
    written(tmp_path, "a.json", line("a"))
    written(tmp_path, "package.json", '{"name": "x"}')
    assert [type(one).__name__ for one in read(tmp_path)] == ["Run", "UnknownFormatError"]


@pytest.mark.parametrize("other", [None, "notes.txt"])
def test_a_folder_without_recordings_is_an_error(tmp_path: Path, other: str | None) -> None:
    if other:
        written(tmp_path, other, "x")
    with pytest.raises(RecordingError, match="no recording in this folder: it (is empty|holds notes.txt)"):
        load_runs(tmp_path)


# Places that are not there


def test_a_missing_file_is_an_error_with_near_names(tmp_path: Path) -> None:
    written(tmp_path, "runs.jsonl", line("a"))
    with pytest.raises(RecordingError, match="there is no such file or folder") as caught:
        load_runs(tmp_path / "run.jsonl")
    assert caught.value.hint == "did you mean 'runs.jsonl'?"


@pytest.mark.parametrize("place", ["no/such/folder/x.json", "a\0b", "x" * 5000])
def test_a_place_that_cannot_exist_is_an_error(place: str) -> None:
    with pytest.raises(RecordingError):
        load_runs(place)


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="needs a file that may not be read")
def test_a_file_that_may_not_be_read_is_an_error(tmp_path: Path) -> None:
    path = written(tmp_path, "a.json", line("a"))
    path.chmod(0)
    (error,) = read(path)
    assert isinstance(error, RecordingError)


# Standard input and open files


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(f"{line('a')}\n{line('b')}\n".encode())))
    runs = list(load_runs("-"))
    assert [str(run.source) for run in runs] == ["-:1", "-:2"]


def test_standard_input_without_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps(said("a"), indent=2)))
    assert texts("-") == ["a"]


def test_an_open_file_is_read_like_a_file(tmp_path: Path) -> None:
    path = written(tmp_path, "runs.jsonl", f"{line('a')}\n{line('b')}\n")
    with path.open() as opened:
        assert texts(opened) == ["a", "b"]


# Values in memory


def test_values_are_read_one_by_one() -> None:
    runs = list(load_runs(["a", said("b"), {"output": "c"}, testing.run("d")]))
    assert [run.text for run in runs] == ["a", "b", "c", "d"]
    assert [str(run.source) for run in runs] == ["<values>[0]", "<values>[1]", "<values>[2]", "None"]


@pytest.mark.parametrize("value", [said("a"), {"messages": said("a")}, testing.run("a")])
def test_what_is_one_run_is_not_iterated(value: Foreign) -> None:
    assert texts(value) == ["a"]


def test_an_iterator_is_not_read_ahead() -> None:
    def endless() -> Foreign:
        while True:
            yield "again"

    assert next(load_runs(endless())).text == "again"


def test_nothing_gives_nothing() -> None:
    assert texts([]) == []


def test_a_path_object_holds_one_run(tmp_path: Path) -> None:
    assert load_run(written(tmp_path, "run.json", json.dumps(said("a")))).text == "a"
    with pytest.raises(RecordingError, match="expected one run, got several"):
        load_run(written(tmp_path, "runs.jsonl", f"{line('a')}\n{line('b')}"))


def test_as_run_takes_anything() -> None:
    run = testing.run("a")
    assert as_run(run) is run
    assert as_run(said("b")).text == "b"


def test_options_reach_files(tmp_path: Path) -> None:
    path = written(tmp_path, "runs.jsonl", json.dumps({"p": {"m": said("a")}, "q": "Hi?"}))
    (run,) = load_runs(path, map="messages=p.m,input=q", part="last_turn")
    assert (run.text, run.input, run.history_length) == ("a", "Hi?", 1)


def test_the_error_of_a_mapped_record_names_file_line_and_path(tmp_path: Path) -> None:
    path = written(tmp_path, "runs.jsonl", json.dumps({"p": {"m": [*said("a"), {"role": "assistant", "content": 5}]}}))
    with pytest.raises(RecordingError) as caught:
        list(load_runs(path, map="messages=p.m"))
    assert str(caught.value) == f"{path}:1, at p.m[2].content: expected text, a list of parts, or null, got a number"


def test_a_link_that_leads_nowhere_is_said_to_be_one(tmp_path: Path) -> None:
    link = tmp_path / "runs.jsonl"
    link.symlink_to(tmp_path / "gone.jsonl")
    with pytest.raises(RecordingError, match=r"it is a link, and what it leads to is not there: .*gone\.jsonl"):
        list(load_runs(link))
