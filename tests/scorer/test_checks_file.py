"""Checks written in a YAML file."""

from __future__ import annotations

import json
from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quickchecks import checks
from quickchecks._scorer.checks_file import CheckEntry, ChecksFile, load_checks_file, parse_checks
from quickchecks._scorer.thresholds import Bounds
from quickchecks._scorer.yaml_nodes import MAX_CHARACTERS, MAX_DEPTH
from quickchecks.errors import CheckArgumentError, CheckSyntaxError, QuickchecksError, UnknownNameError

VOCABULARY = checks.vocabulary()


def read(text: str) -> ChecksFile:
    return parse_checks(dedent(text), VOCABULARY, aliases=checks.ALIASES, file="c.yaml")


def entry(text: str) -> CheckEntry:
    """The one entry of a file, which is written after `- `."""
    [found] = read(f"checks:\n  - {text}").entries
    return found


def refused(text: str) -> str:
    with pytest.raises(CheckSyntaxError) as caught:
        read(text)
    return str(caught.value)


def refused_entry(text: str) -> str:
    return refused(f"checks:\n  - {text}")


def test_a_file_is_read_with_its_lines() -> None:
    found = read("""
        # what we want
        checks:
          - includes: sunny
          - called_tool: {name: search, times: 2}        # by parameter name
          - not: {matches: 'sk-\\w+'}
          - no_tool_errors
          - check: {similarity: It is sunny.}
            name: close to the reference
            why: support answers must follow the script
            threshold: 0.7
          - check: used_no_tools
            mode: shadow
    """)
    close = checks.similarity("It is sunny.", name="close to the reference", why="support answers must follow the script")
    assert [(repr(one.scorer), one.mode, one.threshold, one.line) for one in found.entries] == [
        ("includes('sunny')", "gate", None, 4),
        ("called_tool('search', times=2)", "gate", None, 5),
        ("~matches('sk-\\\\w+')", "gate", None, 6),
        ("no_tool_errors()", "gate", None, 7),
        (repr(close), "threshold", Bounds(0.7), 8),
        ("used_no_tools()", "shadow", None, 12),
    ]
    assert found.file == "c.yaml"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("no_tool_errors", "no_tool_errors()"),
        ("no_tool_errors:", "no_tool_errors()"),
        ("no_tool_errors()", "no_tool_errors()"),
        ("includes('a') & ~includes('b')", "includes('a') & ~includes('b')"),
        ("~includes('a')", "~includes('a')"),
        ("\"includes('a: b')\"", "includes('a: b')"),
        ("includes('a') |\n      includes('b')", "includes('a') | includes('b')"),
        ("|\n    includes('a')\n    | includes('b')", "includes('a') | includes('b')"),
        ("includes: {expected: a, ignore_case: No, where: final}", "includes('a', ignore_case=False, where='final')"),
        ("called_tool: {tool: a, name: b}", "called_tool('a', name='b')"),
        ("tool_order: [a, b]", "tool_order(['a', 'b'])"),
        ("tool_order:\n    - a\n    - b", "tool_order(['a', 'b'])"),
        ("not: no_tool_errors", "~no_tool_errors()"),
        ("not: {not: includes('a')}", "~~includes('a')"),
        ("all_of: [includes: a, no_tool_errors, \"excludes('b')\"]", "includes('a') & no_tool_errors() & excludes('b')"),
        ("any_of: {checks: [includes: a, includes: b], name: x}", "any_of(includes('a'), includes('b'), name='x')"),
        ("none_of: [includes: a, includes: b]", "~(includes('a') | includes('b'))"),
        ("when: {condition: {called_tool: a}, check: {includes: b}}", "when(called_tool('a'), includes('b'))"),
        ("all_of: [{check: {includes: a}, name: x}, no_tool_errors]", "includes('a', name='x') & no_tool_errors()"),
    ],
)
def test_an_entry_is_read(text: str, shown: str) -> None:
    assert repr(entry(text).scorer) == shown


@pytest.mark.parametrize("text", ["yes", "12:30", "0123", "1e3", "null", "~", "2026-01-01", "0x1F", "'", '"', "$5", "a #b", "-"])
def test_a_text_stays_what_it_is(text: str) -> None:
    written = text if text not in ("'", '"', "a #b", "-") else json.dumps(text)
    assert repr(entry(f"equals: {written}").scorer) == f"equals({text!r})"


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_every_text_can_be_written(text: str) -> None:
    written = json.dumps("$" + text if text.startswith("$") else text)
    assert repr(entry(f"equals: {written}").scorer) == f"equals({text!r})"


@pytest.mark.parametrize(
    ("word", "value"), [("yes", ""), ("TRUE", ""), ("on", ""), ("No", "False"), ("false", "False"), ("OFF", "False")]
)
def test_the_words_for_yes_and_no(word: str, value: str) -> None:
    option = f", ignore_case={value}" if value else ""
    assert repr(entry(f"includes: {{expected: a, ignore_case: {word}}}").scorer) == f"includes('a'{option})"


def test_quotes_say_that_a_word_is_a_text_where_both_could_be_meant() -> None:
    assert repr(entry("no_tool_errors: {text_errors: no}").scorer) == "no_tool_errors(text_errors=False)"
    assert repr(entry("no_tool_errors: {text_errors: 'no'}").scorer) == "no_tool_errors(text_errors='no')"


def test_null_is_nothing_where_nothing_may_be_given() -> None:
    assert repr(entry("called_tool: {tool: a, agent: null}").scorer) == "called_tool('a')"
    assert repr(entry("called_tool: {tool: a, agent: 'null'}").scorer) == "called_tool('a', agent='null')"


def test_a_leading_dollar_is_doubled() -> None:
    assert repr(entry("includes: $$expected").scorer) == "includes('$expected')"
    assert repr(entry("includes: $5").scorer) == "includes('$5')"


@pytest.mark.parametrize(
    ("text", "expression", "mode"),
    [
        ("includes: $expected", "includes(from_item('expected'))", "gate"),
        ("includes: '$expected'", "includes(from_item('expected'))", "gate"),
        ("includes: $metadata.city", "includes(from_item('metadata.city'))", "gate"),
        ("similarity: $expected", "similarity(from_item('expected'))", "watch"),
        ("called_tool: {name: $metadata.tool, times: $metadata.times}", None, "gate"),
        ("tool_order: $expected_trajectory", "tool_order(from_item('expected_trajectory'))", "gate"),
        ("tool_order: [$input, b]", "tool_order([from_item('input'), 'b'])", "gate"),
        ("not: {includes: $expected}", "~includes(from_item('expected'))", "gate"),
        ("includes(from_item('expected'))", "includes(from_item('expected'))", "gate"),
        ("within: {agent: a, scorer: {includes: $expected}}", "within('a', includes(from_item('expected')))", "gate"),
        ("includes: $$expected", "includes('$expected')", "gate"),
        ("includes: $price", "includes('$price')", "gate"),
    ],
)
def test_for_items_a_dollar_stands_for_a_field_of_each(text: str, expression: str | None, mode: str) -> None:
    found = parse_checks(f"checks:\n  - {text}", VOCABULARY, for_items=True).entries[0]
    assert repr(found.scorer) == (expression or "called_tool(from_item('metadata.tool'), times=from_item('metadata.times'))")
    assert found.mode == mode


@pytest.mark.parametrize(
    ("text", "mode", "threshold"),
    [
        ("similarity: a b", "watch", None),
        ("{check: {similarity: a b}, mode: gate}", "gate", None),
        ("{check: {similarity: a b}, threshold: 0}", "threshold", Bounds(0)),
        ("{check: {similarity: a b}, threshold: .5}", "threshold", Bounds(0.5)),
        ("{check: {similarity: a b}, threshold: {min: 0.2, max: 9e-1}}", "threshold", Bounds(0.2, 0.9)),
        ("{check: {similarity: a b}, threshold: {max: 0.2}, mode: watch}", "watch", Bounds(max=0.2)),
        ("{check: {similarity: a b}, threshold: null}", "watch", None),
        ("{check: no_tool_errors, threshold: 0.9, mode: shadow}", "shadow", Bounds(0.9)),
        ("similarity: {expected: a b, threshold: 0.5}", "gate", None),
    ],
)
def test_the_mode_follows_from_the_check_and_the_threshold(text: str, mode: str, threshold: Bounds | None) -> None:
    found = entry(text)
    assert (found.mode, found.threshold) == (mode, threshold)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("mode: gates", "did you mean 'gate'?"),
        ("mode: [gate]", "a mode is gate, watch or shadow, not a list"),
        ("mode: threshold", "a mode is gate, watch or shadow"),
        ("{threshold: 0.5, mode: gate}", "`mode: gate` beside a threshold"),
        ("threshold: much", "a threshold is a number"),
        ("threshold: nan", "a threshold is a number"),
        ("threshold: 1e999", "a threshold is a number"),
        ("threshold: {least: 0.5}", "a threshold has no key"),
        ("threshold: {min: }", "a threshold is a number"),
        ("treshold: 0.5", "did you mean 'threshold'?"),
        ("name: ''", "a text was expected as name, got nothing"),
        ("why: [a]", "a text was expected as why, got a list"),
    ],
)
def test_a_wrong_key_of_an_entry_is_refused_with_its_place(text: str, said: str) -> None:
    message = refused_entry(f"{{check: no_tool_errors, {text.strip('{}') if text.startswith('{') else text}}}")
    assert (message.startswith("c.yaml:2:"), said in message) == (True, True), message


@pytest.mark.parametrize("threshold", ["70", "{min: 0.9, max: 0.1}", "{}"])
def test_a_threshold_that_decides_nothing_is_refused_with_its_place(threshold: str) -> None:
    with pytest.raises(CheckArgumentError, match="^c.yaml:2:40: a threshold"):
        entry(f"{{check: no_tool_errors, threshold: {threshold}}}")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "c.yaml: this checks file is empty"),
        ("# nothing", "this checks file is empty"),
        ("- includes: a", "c.yaml:1:1: a checks file has the key `checks`"),
        ("checks: []", "the list of checks is empty"),
        ("checks:", "a list was expected under `checks`, got nothing"),
        ("checks: {includes: a}", "a list was expected under `checks`, got a mapping"),
        ("check: [a]", "did you mean 'checks'?"),
        ("{}", "an empty mapping"),
        ("checks: [no_tool_errors]\nvars: {}", 'c.yaml:2:1: a checks file has no key "vars"'),
        ("checks: [a]\n---\nchecks: [b]", "c.yaml:2:1: a second document begins here"),
        ("checks:\n\t- a", "indent with spaces, not with tabs"),
        ("checks:\n - called_tool: {name: a", "this is not YAML"),
        ("checks:\n - includes: `a`", "put the text in quotes"),
        ("checks: \x00", "the character U+0000 cannot stand in YAML"),
        ("checks: [[a]]", "a check was expected, got a list"),
        ("checks: [[[", "this is not YAML"),
    ],
)
def test_what_is_no_checks_file_is_refused(text: str, said: str) -> None:
    assert said in refused(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{includes: a, includes: b}", 'c.yaml:2:19: the key "includes" stands here a second time, after line 2'),
        ("&a includes: a", "c.yaml:2:5: an anchor (&a)"),
        ("*a", "c.yaml:2:5: an alias (*a)"),
        ("!!str includes", "c.yaml:2:5: a tag"),
        ("!includes('a')", "c.yaml:2:5: a tag"),
        ("<<: {includes: a}", "c.yaml:2:5: a merge key (<<)"),
        ("? [a]\n    : b", "a key must be a text"),
    ],
)
def test_what_makes_yaml_mean_something_else_than_it_says_is_refused(text: str, said: str) -> None:
    assert said in refused_entry(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("includes: a\n    name: x", "{check: {includes: …}, name: …}"),
        ("includes: a\n    ignore_case: no", "options of includes are given inside it"),
        ("includes: a\n    excludes: b", "begin each check with `- ` of its own"),
        ("includes('a: b')", "put an expression that contains ': ' in quotes"),
        ("includes('a #1')", "# after a space begins a comment"),
        ("includes: [a, b]", "{any_of: [{includes: …}, {includes: …}]}"),
        ("tool_order: search", "write [search]"),
        ("max_tool_calls: three", 'takes n as a whole number, got "three"'),
        ("max_tool_calls: 2.5", "takes n as a whole number"),
        ("called_tool: {tool: a, time: 2}", "c.yaml:2:28: called_tool() has no option 'time': did you mean 'times'?"),
        ("includes: {expected: a, where: last}", "takes where as 'all' or 'final', got \"last\""),
        ("includes: {expected: a, ignore_case: maybe}", "takes ignore_case as yes or no"),
        ("includes: {ignore_case: no}", "includes() needs expected"),
        ("includes:", "includes() needs expected"),
        ("used_no_tools: a", "write {used_no_tools: {agent: …}}"),
        ("tool_order: [a, [b]]", "a text was expected in the list, got a list"),
        ("not: [a]", "write {none_of: […]}"),
        ("not:", "a check was expected, got nothing"),
        ("all_of: {includes: a}", "all_of takes a list of checks, got a mapping"),
        ("not: {check: no_tool_errors, mode: gate}", "mode belongs to an entry of the list"),
        ("{}", "a check was expected, got an empty mapping"),
        ("''", "a check was expected, got nothing"),
        ("includes: $expected", "this check needs the 'expected' of each item of a dataset"),
        ("includes: $metadata.city", "for the text itself write $$metadata.city"),
        ("includes(from_item('expected'))", "recorded runs have no items"),
        ("{check: {includes: a}, name: $expected}", "only an argument of a check can differ from item to item"),
        ("includes: {expected: a, why: $expected}", "only an argument of a check can differ"),
        ("includes: {$includes: a}", "matchers inside arguments ($includes) cannot be used yet"),
        ("includes: {expected: {$includes: a}}", "matchers inside arguments"),
        ("includes: {expected: {a: b}}", "takes expected as a text, got a mapping"),
    ],
)
def test_a_wrong_entry_is_refused_with_what_to_write(text: str, said: str) -> None:
    assert said in refused_entry(text)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("includes('a') & excludes(b)", "2:30"),
        ("'includes(\"a\") & excludes(b)'", "2:31"),
        ('"includes(\\"a\\") & excludes(b)"', "2:5"),
        ("not: excludes(b)", "2:19"),
    ],
)
def test_an_error_inside_an_expression_is_placed_in_the_file(text: str, place: str) -> None:
    assert refused_entry(text).startswith(f"c.yaml:{place}: ")


def test_an_unknown_check_is_answered_with_the_right_one_and_the_place() -> None:
    with pytest.raises(UnknownNameError) as caught:
        entry("contains: a")
    assert str(caught.value) == "c.yaml:2:5: there is no check 'contains': here it is called includes"


def test_what_a_check_refuses_gets_the_place() -> None:
    with pytest.raises(CheckArgumentError, match=r"^c.yaml:2:11: includes\(''\) could never decide"):
        entry("not: {includes: ''}")


def test_two_entries_of_one_identity_are_refused_with_both_lines() -> None:
    message = refused("checks:\n  - includes: a\n  - excludes: b\n  - includes('a')")
    assert "c.yaml:4:5: includes('a') stands here a second time, after line 2" in message


def test_entries_of_one_identity_may_differ_in_their_bounds() -> None:
    found = read("checks: [{check: no_tool_errors, threshold: 0.5}, no_tool_errors, {check: no_tool_errors, threshold: 0.9}]")
    assert [one.mode for one in found.entries] == ["threshold", "gate", "threshold"]


def test_nesting_over_the_limit_is_refused() -> None:
    assert f"nested {MAX_DEPTH} deep" in refused("checks: " + "[" * 100_000)
    assert f"nested {MAX_DEPTH} deep" in refused("checks:\n " + "- " * 100_000)


def test_a_giant_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "checks.yaml"
    path.write_bytes(b"\xc3\xa9" * (MAX_CHARACTERS * 4))
    with pytest.raises(CheckSyntaxError, match="at most 500,000 characters"):
        load_checks_file(path, VOCABULARY)


def test_a_file_may_have_a_byte_order_mark_and_windows_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "checks.yaml"
    path.write_bytes(b"\xef\xbb\xbfchecks:\r\n  - includes: a # why\r\n  - no_tool_errors\r\n")
    assert [repr(one.scorer) for one in load_checks_file(path, VOCABULARY).entries] == ["includes('a')", "no_tool_errors()"]


@pytest.mark.parametrize(
    ("content", "said"),
    [(None, "cannot be opened: No such file"), (b"checks:\n - \xff", ":2: a checks file is UTF-8, this one is not")],
)
def test_a_file_that_cannot_be_read_is_named(content: bytes | None, said: str, tmp_path: Path) -> None:
    path = tmp_path / "checks.yaml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(CheckSyntaxError) as caught:
        load_checks_file(path, VOCABULARY)
    assert str(caught.value).startswith(str(path))
    assert said in str(caught.value)


WORDS = "includes not check threshold no_tool_errors when all_of $expected $x &a *a !x << > # ~ () { } [ ] | ' \" % ` \\ ---"
pieces = st.sampled_from([*WORDS.split(), "\n", "  ", "- ", ": ", ", ", "? ", "\t", "\x00", "\x85", "\ud800"])


@given(st.lists(pieces, max_size=20).map("".join), st.sampled_from(["", "checks:\n - "]))
def test_any_text_gives_checks_or_an_error_of_ours(text: str, before: str) -> None:
    try:
        parse_checks(before + text, VOCABULARY)
    except QuickchecksError as error:
        assert str(error)
