"""`quickchecks checks`."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

import pytest

from quickchecks import checks
from quickchecks._scorer.checks_file import parse_checks
from quickchecks._scorer.expression import parse

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Command

NAMES = sorted(checks.vocabulary())


def test_every_check_stands_in_the_list_with_its_sentence(quickchecks: Command) -> None:
    listed = quickchecks("checks").out
    assert [name for name in NAMES if not re.search(rf"^  {name} +[A-Z].*\.$", listed, re.MULTILINE)] == []


@pytest.mark.parametrize("name", NAMES)
def test_a_check_is_described_with_its_options_and_how_to_write_it(name: str, quickchecks: Command) -> None:
    text = quickchecks("checks", name).out
    assert text.startswith(f"{name}(")
    command_line = re.search(r"^  on the command line  (--check .*)$", text, re.MULTILINE)
    in_file = re.search(r"^  in a checks file     (- .*)$", text, re.MULTILINE)
    assert command_line is not None
    assert in_file is not None
    option, expression = shlex.split(command_line[1])
    assert option == "--check"
    written = parse(expression, checks.vocabulary())
    assert parse_checks(f"checks:\n  {in_file[1]}", checks.vocabulary()).entries[0].scorer.identity == written.identity


def test_an_expression_is_as_good_as_a_name(quickchecks: Command) -> None:
    assert quickchecks("checks", "includes('x')").out == quickchecks("checks", "includes").out


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("calledTool", "there is no check 'calledTool': here it is called called_tool"),
        ("regex", "here it is called matches"),
        ("includez", "did you mean 'includes'?"),
    ],
)
def test_an_unknown_check_is_answered_with_what_it_is_called_here(name: str, hint: str, quickchecks: Command) -> None:
    ended = quickchecks("checks", name)
    assert (ended.code, ended.out) == (2, "")
    assert hint in ended.err


def test_a_broken_package_is_a_warning_and_takes_nothing_away(process: Command, tmp_path: Path) -> None:
    (tmp_path / "leaves.py").write_text("raise SystemExit(0)")
    info = tmp_path / "evil_package-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: evil-package\nVersion: 1\n")
    points = "[quickchecks.checks]\nevil = nomod\n[quickchecks.reports]\nevil = leaves\n[quickchecks.adapters]\nevil = leaves\n"
    (info / "entry_points.txt").write_text(points)
    (tmp_path / "runs.jsonl").write_text('"It is sunny."\n')
    listed = process("checks")
    assert listed.code == 0
    assert "includes" in listed.out
    said = "the entry point evil = nomod of evil-package 1 cannot be loaded: ModuleNotFoundError: No module named 'nomod'"
    assert listed.err == f"warning: not in this list: {said}\n"
    assert process("demo").code == 0
    score = ["score", "runs.jsonl", "--format", "values", "--check"]
    assert process(*score, "includes('sunny')", "-o", "out.csv").code == 0
    for arguments, why in (
        (["checks", "evil"], said),
        ([*score, "evil()"], said),
        ([*score, "includes('sunny')", "-o", "out.evil"], "evil = leaves of evil-package 1 cannot be loaded: SystemExit: 0"),
        (
            ["score", "runs.jsonl", "--format", "evil", "--check", "includes('sunny')"],
            "evil = leaves of evil-package 1 cannot be",
        ),
    ):
        ended = process(*arguments)
        assert (ended.code, ended.out) == (2, "")
        assert why in ended.err
