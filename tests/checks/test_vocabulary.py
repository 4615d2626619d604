"""The names of the checks: which there are, what they are called elsewhere, and what they have in common."""

from __future__ import annotations

import inspect
import re
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path

import pytest

from quickchecks import Scorer, checks
from quickchecks._scorer.catalogue import describe_all
from quickchecks._scorer.expression import parse
from quickchecks.checks import ALIASES, suggestion, vocabulary
from quickchecks.errors import UnknownNameError

MADE = [
    checks.includes("a"),
    checks.excludes("a"),
    checks.equals("a"),
    checks.matches("a"),
    checks.similarity("a"),
    checks.called_tool("a"),
    checks.did_not_call("a"),
    checks.tool_order(["a"]),
    checks.max_tool_calls(1),
    checks.used_no_tools(),
    checks.no_tool_errors(),
]


def test_the_vocabulary_is_the_eleven_checks_and_the_five_ways_to_combine_them() -> None:
    assert set(vocabulary()) == {
        *("includes", "excludes", "equals", "matches", "similarity", "called_tool", "did_not_call", "tool_order"),
        *("max_tool_calls", "used_no_tools", "no_tool_errors", "all_of", "any_of", "none_of", "when", "within"),
    }


def test_other_packages_add_checks_but_replace_none(monkeypatch: pytest.MonkeyPatch) -> None:
    group = "quickchecks.checks"
    entries = EntryPoints(
        [
            EntryPoint("mentions", "quickchecks.checks.text:includes", group),
            EntryPoint("includes", "quickchecks.checks.text:excludes", group),
        ]
    )
    monkeypatch.setattr("importlib.metadata.entry_points", lambda **_: entries)
    assert vocabulary()["mentions"] is checks.includes
    assert vocabulary()["includes"] is checks.includes


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("nowhere_at_all", "cannot be loaded: ModuleNotFoundError: No module named 'nowhere_at_all'"),
        ("leaves", "cannot be loaded: SystemExit: 0"),
        ("quickchecks.checks:ALIASES", "which cannot be called"),
    ],
)
def test_a_broken_check_takes_no_other_away_and_says_why_when_it_is_asked_for(
    value: str, why: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "leaves.py").write_text("raise SystemExit(0)")
    monkeypatch.syspath_prepend(tmp_path)
    entries = EntryPoints([EntryPoint("evil", value, "quickchecks.checks")])
    monkeypatch.setattr("importlib.metadata.entry_points", lambda **_: entries)
    assert parse("includes('sunny')", vocabulary()).identity == "includes('sunny')"
    assert "evil" not in vocabulary()
    with pytest.raises(UnknownNameError, match=f"there is no check 'evil': the entry point evil = {value} .*{why}"):
        parse("evil('x')", vocabulary())


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("contains", "here it is called includes"),
        ("icontains", "here it is called includes"),
        ("calledTool", "here it is called called_tool"),
        ("called-tool", "here it is called called_tool"),
        ("toolOrder", "here it is called tool_order"),
        ("noToolErrors", "here it is called no_tool_errors"),
        ("regex", "here it is called matches"),
        ("not-contains", "here it is called excludes"),
        ("not_regex", "here it is called ~matches"),
        ("levenshtein", "here it is called similarity"),
        ("includez", "did you mean 'includes'?"),
        ("called_tol", "did you mean 'called_tool'?"),
    ],
)
def test_a_wrong_name_is_answered_with_the_right_one(name: str, hint: str) -> None:
    assert suggestion(name) == hint
    if name.isidentifier():
        with pytest.raises(AttributeError, match=re.escape(f"there is no check {name!r}: {hint}")):
            getattr(checks, name)


def test_every_alias_leads_to_something_that_exists_and_hides_nothing() -> None:
    assert {here.lstrip("~") for here in ALIASES.values()} <= set(vocabulary())
    assert not set(ALIASES) & set(vocabulary())


@pytest.mark.parametrize("check", MADE, ids=lambda check: check.id)
def test_every_check_has_an_id_a_sentence_and_a_version(check: Scorer) -> None:
    name = repr(check).split("(")[0]
    assert check.id == "check-" + name.replace("_", "-")
    assert check.description.endswith(".")
    assert check.version.startswith("sha256:")
    assert check.identity == repr(check)


@pytest.mark.parametrize("check", MADE, ids=lambda check: check.id)
def test_every_check_takes_its_options_by_keyword_and_a_name_and_a_why(check: Scorer) -> None:
    function = vocabulary()[repr(check).split("(")[0]]
    parameters = inspect.signature(function).parameters.values()
    positional = [one for one in parameters if one.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD]
    assert len(positional) <= 1
    assert {"name", "why"} <= {one.name for one in parameters if one.kind is inspect.Parameter.KEYWORD_ONLY}


@pytest.mark.parametrize("check", MADE, ids=lambda check: check.id)
def test_every_check_shows_itself_with_its_name_and_why(check: Scorer) -> None:
    named = check.named("my name", "because")
    text = repr(named)
    assert text.endswith("name='my name', why='because')")
    assert repr(eval(text, dict(vocabulary()))) == text


def test_every_check_and_every_parameter_is_described() -> None:
    for check in describe_all(vocabulary()):
        assert check.sentence.endswith("."), check.name
        assert ">>> " in check.example, check.name
        for parameter in check.parameters:
            assert parameter.sentence.endswith("."), (check.name, parameter.name)
