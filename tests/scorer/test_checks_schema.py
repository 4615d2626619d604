"""The JSON Schema of a checks file accepts what the file may say, and refuses the likely mistakes."""

from __future__ import annotations

import pytest
import yaml
from jsonschema import Draft202012Validator

from quickchecks import checks
from quickchecks._scorer.checks_file import parse_checks
from quickchecks._scorer.checks_schema import checks_schema
from quickchecks.errors import QuickchecksError

SCHEMA = Draft202012Validator(checks_schema(checks.vocabulary()))

RIGHT = [
    "includes: sunny",
    "includes: 42",
    "includes: yes",
    "called_tool: {name: search, times: 2}",
    "called_tool: {tool: search, times: '2', name: x}",
    "not: {matches: 'sk-'}",
    "no_tool_errors",
    "no_tool_errors:",
    "no_tool_errors: {text_errors: off, agent: null}",
    "includes('a') & ~includes('b')",
    "tool_order: [a, b]",
    "all_of: [includes: a, {check: no_tool_errors, name: x}]",
    "any_of: {checks: [includes: a, no_tool_errors], why: because}",
    "when: {condition: {called_tool: a}, check: {includes: b}}",
    "similarity: {expected: a b, threshold: 0.5, where: final}",
    "{check: {similarity: a b}, name: x, why: y, threshold: 0.7}",
    "{check: {similarity: a b}, threshold: {min: 0.2, max: 0.9}, mode: watch}",
    "{check: no_tool_errors, mode: shadow}",
]
WRONG = [
    "[a]",
    "{}",
    "contains: a",
    "includes: a\n   excludes: b",
    "includes: [a]",
    "includes: {expected: a, ignorecase: no}",
    "includes: {ignore_case: no}",
    "includes: {expected: a, where: last}",
    "includes:",
    "called_tool: {times: 2}",
    "called_tool: {tool: a, times: two}",
    "tool_order: a",
    "max_tool_calls: three",
    "not: [includes: a]",
    "not: {check: no_tool_errors, mode: gate}",
    "{check: no_tool_errors, mode: gates}",
    "{check: no_tool_errors, treshold: 1}",
    "{check: no_tool_errors, threshold: much}",
    "{check: no_tool_errors, threshold: {}}",
]


def as_an_editor_reads_it(text: str) -> object:
    return yaml.safe_load(f"checks:\n - {text}")


def test_the_schema_is_a_schema() -> None:
    Draft202012Validator.check_schema(SCHEMA.schema)


@pytest.mark.parametrize("text", RIGHT)
def test_what_the_file_may_say_is_accepted_by_both(text: str) -> None:
    assert len(parse_checks(f"checks:\n - {text}", checks.vocabulary()).entries) == 1
    SCHEMA.validate(as_an_editor_reads_it(text))


@pytest.mark.parametrize("text", WRONG)
def test_a_mistake_is_refused_by_both(text: str) -> None:
    with pytest.raises(QuickchecksError):
        parse_checks(f"checks:\n - {text}", checks.vocabulary())
    assert not SCHEMA.is_valid(as_an_editor_reads_it(text))


@pytest.mark.parametrize("text", ["[includes: a]", "{}", "{checks: []}", "{checks: [no_tool_errors], vars: {}}"])
def test_a_file_without_a_list_of_checks_is_refused(text: str) -> None:
    assert not SCHEMA.is_valid(yaml.safe_load(text))
