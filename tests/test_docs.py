"""The documentation is true: its examples run, print what stands beside them, and show commands that CI runs."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
from pathlib import Path

import pytest
from run_docs import DocumentError, documents, rerun

import quickchecks

MODULES = ["quickchecks", *(module.name for module in pkgutil.walk_packages(quickchecks.__path__, "quickchecks."))]


@pytest.mark.parametrize("document", documents(), ids=lambda path: path.name)
def test_the_examples_of_a_document_print_what_stands_beside_them(document: Path) -> None:
    assert rerun(document) == document.read_text(encoding="utf-8"), "python scripts/run_docs.py --write mends outputs"


@pytest.mark.parametrize("name", [name for name in MODULES if not name.endswith("__main__")])
def test_the_examples_in_docstrings_are_true(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    module = importlib.import_module(name)
    result = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    assert result.failed == 0, f"{result.failed} of {result.attempted} examples differ; the differences are printed above"


def test_the_readme_shows_the_two_commands_that_ci_runs(root: Path) -> None:
    readme = (root / "README.md").read_text(encoding="utf-8")
    script = (root / ".ci" / "run").read_text(encoding="utf-8")
    commands = [line.split("'")[1] for line in script.splitlines() if line.startswith("readme_")]
    assert len(commands) == 2
    assert [command for command in commands if command not in readme.splitlines()] == []


def written(folder: Path, text: str) -> Path:
    document = folder / "page.md"
    document.write_text(text, encoding="utf-8")
    return document


def test_a_wrong_output_is_replaced_by_the_right_one(tmp_path: Path) -> None:
    document = written(tmp_path, "```python\nprint(1 + 1)\n```\n\n```text\n3\n```\n")
    assert rerun(document) == "```python\nprint(1 + 1)\n```\n\n```text\n2\n```\n"


def test_a_missing_output_is_put_after_its_block(tmp_path: Path) -> None:
    document = written(tmp_path, "```python\nprint(2)\n```\nprose\n")
    assert rerun(document) == "```python\nprint(2)\n```\n\n```text\n2\n```\nprose\n"


def test_the_blocks_of_a_document_share_a_namespace_and_a_folder(tmp_path: Path) -> None:
    text = (
        '```python\nname = "ann"\n```\n'
        '```yaml title="notes.yaml"\nkey: value\n```\n'
        "```console\n$ cat notes.yaml\nkey: value\n```\n"
        "```python\nprint(name)\n```\n```text\nann\n```\n"
    )
    assert rerun(written(tmp_path, text)) == text


def test_a_duration_at_the_end_of_a_line_may_differ(tmp_path: Path) -> None:
    text = "```console\n$ echo '2 runs   0.4 s'\n2 runs  12.0 s\n\n$ echo 2 runs\n2 runs\n```\n"
    assert rerun(written(tmp_path, text)) == text


def test_the_message_of_an_exception_is_output(tmp_path: Path) -> None:
    text = "```python\nint('x')\n```\n```text\nValueError: invalid literal for int() with base 10: 'x'\n```\n"
    assert rerun(written(tmp_path, text)) == text


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("```python\nint('x')\n```\n", r"page.md:1: this block raises ValueError"),
        ("prose\n```\nwhat is this?\n```\n", r"page.md:2: say what this block is"),
        ("```console\nno command\n```\n", r"page.md:1: a console block begins with a command"),
        ("```sh\nrm -r everything\n```\n", r"page.md:1: .ci/run does not run this command"),
        ("```python\n", r"page.md:1: this block is never closed"),
    ],
)
def test_a_block_that_cannot_be_run_is_refused_with_its_place(text: str, problem: str, tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match=problem):
        rerun(written(tmp_path, text))
