"""The loop over the runs: how it is broken off, which files it reads, and what code of the user may do to it."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from quickchecks._results.tally import Tally
from quickchecks.cli._files import Outputs
from quickchecks.cli._interrupts import Interrupts

if TYPE_CHECKING:
    from tests.cli.conftest import Chat, Command, Write

CHECK = ("--check", "excludes('rain')")
needs_links = pytest.mark.skipif(os.name == "nt", reason="links need a privilege on Windows")


def interrupted_after(monkeypatch: pytest.MonkeyPatch, owner: type, method: str, *, times: int = 1) -> None:
    """Press Ctrl-C when a method has done its work, the first time that it is called."""
    original = getattr(owner, method)
    left = [times]

    def then_interrupt(*arguments: object, **options: object) -> object:
        returned: object = original(*arguments, **options)
        while left[0]:
            left[0] -= 1
            signal.raise_signal(signal.SIGINT)
        return returned

    monkeypatch.setattr(owner, method, then_interrupt)


@pytest.mark.parametrize(("owner", "method"), [(Tally, "add"), (Outputs, "add")])
def test_a_run_is_counted_and_written_or_neither(
    owner: type, method: str, quickchecks: Command, runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupted_after(monkeypatch, owner, method)
    ended = quickchecks("score", runs, *CHECK, "-o", "out.json", "-o", "out.jsonl")
    report = json.loads(Path("out.json").read_text(encoding="utf-8"))
    assert (report["result"]["runs"], report["result"]["interrupted"], len(report["runs"])) == (1, True, 1)
    assert len(Path("out.jsonl").read_text(encoding="utf-8").splitlines()) == 1
    assert (ended.code, ended.out.splitlines()[-1]) == (130, "interrupted: only 1 run scored · exit 130")


def test_a_second_ctrl_c_ends_at_once_and_leaves_no_file(
    quickchecks: Command, runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupted_after(monkeypatch, Tally, "add", times=2)
    assert quickchecks("score", runs, *CHECK, "-o", "out.json").code != 0
    assert [path.name for path in Path().iterdir()] == ["runs.jsonl"]


def test_either_all_files_are_put_in_their_places_or_none(
    quickchecks: Command, runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("quickchecks.cli._files.NewFile.keep", kept_with_an_interrupt())
    assert quickchecks("score", runs, *CHECK, "-o", "out.json", "-o", "out.md").code != 0
    assert sorted(path.name for path in Path().iterdir()) == ["out.json", "out.md", "runs.jsonl"]


def kept_with_an_interrupt() -> object:
    from quickchecks.cli._files import NewFile

    original, left = NewFile.keep, [1]

    def keep(file: NewFile) -> None:
        original(file)
        if left[0]:
            left[0] = 0
            signal.raise_signal(signal.SIGINT)

    return keep


def test_who_handles_ctrl_c_already_goes_on_handling_it() -> None:
    mine = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with Interrupts() as interrupts:
            assert not interrupts.handled
            signal.raise_signal(signal.SIGINT)
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, mine)


def test_ctrl_c_is_as_before_when_the_scoring_is_over(quickchecks: Command, runs: Path) -> None:
    before = signal.getsignal(signal.SIGINT)
    quickchecks("score", runs, *CHECK)
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.parametrize("again", ["runs/a.jsonl", "./runs/a.jsonl", "runs", "runs/../runs/a.jsonl"])
def test_a_file_that_is_given_twice_is_counted_once(again: str, process: Command, write: Write, chat: Chat) -> None:
    write("runs/a.jsonl", chat("It is sunny."), chat("It is cold."))
    ended = process("score", "runs/a.jsonl", again, *CHECK)
    assert ended.out.startswith("2 runs (openai_chat)")
    assert ended.err.startswith("note: given twice and counted once: ")
    assert "runs/a.jsonl" in ended.err
    assert len(ended.err.splitlines()) == 1


def test_standard_input_is_read_once(process: Command, runs: Path, tmp_path: Path) -> None:
    ended = process("score", "-", "-", *CHECK, input=(tmp_path / runs).read_bytes())
    assert (ended.code, ended.err) == (0, "note: given twice and counted once: -\n")


@needs_links
def test_a_link_to_a_file_of_the_same_folder_is_counted_once(process: Command, write: Write, chat: Chat, tmp_path: Path) -> None:
    write("runs/a.jsonl", chat("It is sunny."))
    (tmp_path / "runs/latest.jsonl").symlink_to("a.jsonl")
    ended = process("score", "runs", *CHECK)
    assert ended.out.startswith("1 run (openai_chat)")
    assert ended.err == "note: given twice and counted once: runs/latest.jsonl (the same as runs/a.jsonl)\n"


@needs_links
def test_a_link_that_leads_nowhere_is_a_record_that_cannot_be_read(quickchecks: Command, write: Write, chat: Chat) -> None:
    write("runs/a.jsonl", chat("It is sunny."))
    Path("runs/b.jsonl").symlink_to("nowhere")
    ended = quickchecks("score", "runs", *CHECK)
    assert (ended.code, ended.out.splitlines()[-1]) == (1, "failed: 1 record cannot be read · exit 1")
    assert "runs/b.jsonl" in ended.out


@pytest.mark.parametrize("command", [("score", *CHECK), ("inspect",)])
@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import sys; sys.exit(0)", "SystemExit: 0"),
        ("raise SystemExit", "SystemExit: "),
        ("raise KeyboardInterrupt", "KeyboardInterrupt: "),
        ("raise ValueError('no key')", "no key"),
        ("import nowhere_at_all", "ModuleNotFoundError: No module named 'nowhere_at_all'"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("def parse(", "SyntaxError: "),
    ],
)
def test_an_adapter_that_ends_the_process_when_imported_is_wrong_usage(
    command: tuple[str, ...], code: str, said: str, process: Command, runs: Path, tmp_path: Path
) -> None:
    (tmp_path / "mine.py").write_text(code, encoding="utf-8")
    ended = process(*command, runs, "--adapter", "mine:parse")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("Error: --adapter mine:parse: ")
    assert said in ended.err
    assert "Traceback" not in ended.err


@pytest.mark.parametrize("command", [("score", *CHECK), ("inspect",)])
def test_an_adapter_that_ends_the_process_is_never_success(
    command: tuple[str, ...], process: Command, runs: Path, tmp_path: Path
) -> None:
    (tmp_path / "mine.py").write_text("def parse(record):\n    raise SystemExit(0)\n", encoding="utf-8")
    ended = process(*command, runs, "--adapter", "mine:parse")
    assert ended.code in (1, 2)
    assert "SystemExit" in ended.out + ended.err
