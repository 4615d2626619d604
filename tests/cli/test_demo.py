"""`quickchecks demo`, and the recordings that it carries."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import quickchecks as package
from quickchecks import load_runs

if TYPE_CHECKING:
    from tests.cli.conftest import Command

DEMO = Path(package.__file__).parent / "demo"


def test_the_demo_shows_passes_failures_and_what_to_do_next(quickchecks: Command) -> None:
    ended = quickchecks("demo")
    assert ended.code == 0
    assert "12 runs (openai_chat)" in ended.out
    assert "failed: 7 of 12 runs · exit 1" in ended.out
    assert "the demo exits with 0" in ended.out
    assert "quickchecks demo --save try-it" in ended.out
    assert "quickchecks inspect try-it/runs.jsonl:5" in ended.out
    assert ended.err == ""


def test_what_is_saved_gives_the_same_result(quickchecks: Command) -> None:
    saved = quickchecks("demo", "--save", "try-it")
    assert "now try: quickchecks score" in saved.out
    scored = quickchecks("score", "try-it/runs.jsonl", "--checks", "try-it/checks.yaml")
    assert (scored.code, scored.out.splitlines()[-1]) == (1, "failed: 7 of 12 runs · exit 1")
    assert quickchecks("inspect", "try-it/runs.jsonl:5").code == 0


def test_nothing_is_overwritten(quickchecks: Command) -> None:
    Path("try-it").mkdir()
    Path("try-it/checks.yaml").write_text("mine")
    ended = quickchecks("demo", "--save", "try-it")
    assert ended.code == 2
    assert "checks.yaml exists already: name another folder" in ended.err
    assert Path("try-it/checks.yaml").read_text() == "mine"


def test_a_folder_that_cannot_be_made_is_an_error(quickchecks: Command) -> None:
    Path("file").write_text("")
    assert "file cannot be written" in quickchecks("demo", "--save", "file").err


def test_the_recordings_of_the_demo_show_everything() -> None:
    for run in load_runs(DEMO / "runs.jsonl"):
        assert run.gaps == ()
        assert run.id


def test_the_examples_are_the_files_of_the_demo(root: Path) -> None:
    for name in ("runs.jsonl", "checks.yaml"):
        assert (root / "examples" / name).read_bytes() == (DEMO / name).read_bytes()
