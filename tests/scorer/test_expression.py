"""Checks written as an expression."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quickchecks import checks
from quickchecks._scorer.expression import MAX_LENGTH, parse
from quickchecks._scorer.grammar import MAX_DEPTH
from quickchecks._scorer.pipeline import Scorer
from quickchecks.errors import (
    CheckArgumentError,
    CheckArgumentTypeError,
    CheckSyntaxError,
    QuickchecksError,
    UnknownNameError,
)

VOCABULARY = checks.vocabulary()

names = st.text(min_size=1, max_size=12)
leaves: st.SearchStrategy[Scorer] = st.one_of(
    st.builds(checks.includes, names, ignore_case=st.booleans(), where=st.sampled_from(["all", "final"])),
    st.builds(checks.equals, names, name=st.none() | names, why=st.none() | names),
    st.builds(
        checks.similarity, st.text("abc é", min_size=3, max_size=9).filter(str.strip), threshold=st.none() | st.floats(0, 1)
    ),
    st.builds(checks.called_tool, names, times=st.integers(1, 10**6), agent=st.none() | names),
    st.builds(checks.tool_order, st.lists(names, min_size=1, max_size=4)),
    st.builds(checks.max_tool_calls, st.integers(0, 99)),
    st.builds(checks.no_tool_errors, text_errors=st.booleans() | st.just("^oops")),
    st.just(checks.used_no_tools()),
    st.just(checks.matches(r"\d+ '\"\\")),
)


def _combined(inner: st.SearchStrategy[Scorer]) -> st.SearchStrategy[Scorer]:
    several = st.lists(inner, min_size=1, max_size=3)
    return st.one_of(
        st.builds(lambda one: ~one, inner),
        st.builds(lambda one, other: one & other, inner, inner),
        st.builds(lambda one, other: one | other, inner, inner),
        st.builds(lambda parts, name: checks.all_of(*parts, name=name), several, st.none() | names),
        st.builds(lambda parts: checks.none_of(*parts, why="because"), several),
        st.builds(checks.when, inner.filter(lambda condition: not condition.graded), inner),
    )


any_check = st.recursive(leaves, _combined, max_leaves=6)


def read(text: str) -> Scorer:
    return parse(text, VOCABULARY, aliases=checks.ALIASES)


def refused(text: str) -> CheckSyntaxError:
    with pytest.raises(CheckSyntaxError) as caught:
        read(text)
    return caught.value


@given(any_check)
def test_the_repr_of_every_check_reads_back_as_the_same_check(check: Scorer) -> None:
    assert repr(read(repr(check))) == repr(check)
    assert read(repr(check)).identity == check.identity


@given(any_check)
def test_an_expression_means_what_it_means_in_python(check: Scorer) -> None:
    assert repr(eval(repr(check), dict(VOCABULARY))) == repr(read(repr(check)))


@given(st.text("'\"\\rRuxNd789{}\n\t é😀#\x00", max_size=12), st.sampled_from("'\""), st.sampled_from(["", "r", "R", "u"]))
def test_a_text_means_what_it_means_in_python(body: str, quote: str, prefix: str) -> None:
    """Where Python reads a literal, so do we, with the same value; NUL is kept, which Python refuses."""
    literal = f"{prefix}{quote}{body}{quote}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            meant: object = ast.literal_eval(literal)
        except (ValueError, SyntaxError):
            return
    if meant and isinstance(meant, str):
        assert repr(read(f"equals(\n{literal}\n)")) == f"equals({meant!r})"


@given(st.text(max_size=60) | st.text("includes()~&|'\"=,.[]{}:\\- \n019TrueNone", max_size=40))
def test_any_text_gives_a_check_or_an_error_of_ours(text: str) -> None:
    try:
        read(text)
    except QuickchecksError as error:
        assert str(error)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("includes('a')", "includes('a')"),
        ("  includes(\n'a' ,\n)  # why\n", "includes('a')"),
        ("no_tool_errors", "no_tool_errors()"),
        ("~no_tool_errors&used_no_tools", "~no_tool_errors() & used_no_tools()"),
        ("includes('a') | includes('b') & includes('c')", "includes('a') | includes('b') & includes('c')"),
        ("(includes('a') | includes('b')) & includes('c')", "(includes('a') | includes('b')) & includes('c')"),
        ("all_of(used_no_tools, includes('a'))", "used_no_tools() & includes('a')"),
        ("when(called_tool('x'), includes('y'))", "when(called_tool('x'), includes('y'))"),
        ("when(check=includes('y'), condition=called_tool('x'))", "when(called_tool('x'), includes('y'))"),
        ("tool_order(('a', 'b'))", "tool_order(['a', 'b'])"),
        ("includes('a' \"b\")", "includes('ab')"),
        ("includes(expected='a', ignore_case=False)", "includes('a', ignore_case=False)"),
        ("called_tool(name='x')", "called_tool('x')"),
        ("called_tool(tool='x', name='y')", "called_tool('x', name='y')"),
        ("includes('a') &\\\n includes('b')", "includes('a') & includes('b')"),
    ],
)
def test_an_expression_is_read(text: str, shown: str) -> None:
    assert repr(read(text)) == shown


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("includes('a') and includes('b')", "write & instead"),
        ("includes('a') or includes('b')", "write | instead"),
        ("not includes('a')", "write ~ before the check instead"),
        ("includes('a') && includes('b')", "write & instead"),
        ("!includes('a')", "write ~ before the check instead"),
        ("includes('a').score", "attribute access"),
        ("checks.includes('a')", "leave out `checks.`"),
        ("includes('a')[0]", "a subscript"),
        ("includes('a')()", "a call of a value"),
        ("includes(lambda: 1)", "a lambda"),
        ("includes('a' if 1 else 'b')", "a condition"),
        ("all_of(includes(x) for x in y)", "a comprehension"),
        ("[used_no_tools for x in y]", "a comprehension"),
        ("includes(f'{1}')", "an f-string"),
        ("includes(b'a')", "bytes"),
        ("(x := used_no_tools)", "an assignment"),
        ("x = used_no_tools", "an assignment"),
        ("includes(*a)", "write the values one by one"),
        ("includes(**a)", "write the options one by one"),
        ("includes('a' == 'b')", "a comparison"),
        ("includes('a' + 'b')", "arithmetic"),
        ("includes({'a'})", "a set cannot stand here"),
        ("await used_no_tools", "await"),
        ("__import__('os').system('id')", "attribute access"),
    ],
)
def test_what_would_have_to_be_evaluated_is_refused_by_its_name(text: str, said: str) -> None:
    assert said in str(refused(text))


@pytest.mark.parametrize(
    ("text", "column", "said"),
    [
        ("", 1, "but there is none"),
        ("includes('a') &", 16, "but the text ends here"),
        ("includes('a'", 9, "this ( is never closed"),
        ("includes('a'))", 14, "this ) closes nothing"),
        ("includes('a')) & (includes('b')", 14, "this ) closes nothing"),
        ("includes('a", 10, "no closing '"),
        ("includes('don't')", 15, "other kind of quotes"),
        ("includes('''a')", 10, "no closing '"),
        ("tool_order(['a' 'b'])", 17, "got another text"),
        ("includes(‘a’)", 10, "plain quotes"),
        ("includes('a'), includes('b')", 14, "join them with & or |"),
        ("includes: sunny", 9, "in an expression write includes('sunny')"),
        ("includes 'sunny'", 10, "write includes('sunny')"),
        ("'includes(1)'", 1, "leave out the quotes"),
        ("includes('a') & 'b'", 17, "& joins checks, got the text 'b'"),
        ("~1", 2, "~ stands before a check, got the number 1"),
        ("-includes('a')", 1, "a number was expected after -"),
        ("includes(0123)", 10, "0123 is no number"),
        ("max_tool_calls(1e999)", 16, "too large a number"),
        ("includes('\\xg')", 10, "no valid text"),
        ("includes(where='all', 'a')", 23, "stands after an option"),
        ("includes('a', where='all', where='all')", 28, "got where twice"),
        ("includes('a', expected='b')", 24, "got expected twice"),
        ("includes({'a': 1, 'a': 2})", 19, "stands here twice"),
        ("\u200bincludes('a')", 1, "U+200B"),
    ],
)
def test_an_error_names_the_column_and_what_came(text: str, column: int, said: str) -> None:
    error = refused(text)
    assert (error.column, said in str(error)) == (column, True), str(error)


def test_an_error_shows_the_line_with_a_caret() -> None:
    error = refused("used_no_tools &\nincludes(1 2)")
    assert (error.line, error.column) == (2, 12)
    assert "includes(1 2)\n             ^" in str(error)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("includes(sunny)", "includes('sunny')"),
        ("includes(sunny weather, ignore_case=False)", "includes('sunny weather')"),
        ("includes(72°F)", "includes('72°F')"),
        ("matches(\\d+)", "matches('\\\\d+')"),
        ("excludes('a', name=x y)", "excludes('a', name='x y')"),
        ("tool_order([search, 'b'])", "'search'"),
        ("called_tool(get_weather())", "'get_weather'"),
        ("includes('a', where=final)", "includes('a', where='final')"),
        ("includes('a', ignore_case=true)", "write True"),
    ],
)
def test_quotes_that_are_missing_are_shown(text: str, hint: str) -> None:
    assert hint in refused(text).hint


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("contains", "here it is called includes"),
        ("calledTool", "here it is called called_tool"),
        ("used-no-tools".replace("-", "_") + "s", "did you mean 'used_no_tools'?"),
        ("UsedNoTools", "here it is called used_no_tools"),
    ],
)
def test_an_unknown_name_is_answered_with_the_right_one(name: str, hint: str) -> None:
    with pytest.raises(UnknownNameError) as caught:
        read(f"~{name}('a')")
    assert (caught.value.kind, caught.value.name) == ("check", name)
    assert f"column 2: there is no check {name!r}: {hint}" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("includes('a', ignorecase=True)", "did you mean 'ignore_case'?"),
        ("includes('a', ignorecase=True)", "includes(expected, *, ignore_case=True"),
        ("includes()", "includes() needs expected, a text"),
        ("includes", "includes() needs expected, a text"),
        ("includes('a', 'b')", "takes 1 value without a name (expected), got 2"),
        ("used_no_tools('a')", "takes no value without a name, got 1"),
        ("when(used_no_tools)", "when() needs check, a check"),
        ("all_of([used_no_tools])", "write all_of(a, b), without the brackets"),
        ("all_of('a')", "takes a check as checks, got the text 'a'"),
        ("includes(equals('a'))", "takes a text as expected, got a check"),
        ("tool_order([used_no_tools()])", "a list holds values, got a check"),
    ],
)
def test_arguments_that_do_not_fit_are_explained(text: str, said: str) -> None:
    assert said in str(refused(text))


@pytest.mark.parametrize(
    ("text", "kind"), [("~includes('')", CheckArgumentError), ("~called_tool('a', times='2')", CheckArgumentTypeError)]
)
def test_what_a_check_refuses_keeps_its_class_and_gets_the_place(text: str, kind: type[Exception]) -> None:
    with pytest.raises(kind, match="column 2: ") as caught:
        read(text)
    assert type(caught.value) is kind


def test_an_escape_that_python_does_not_know_keeps_its_backslash_and_warns_nobody() -> None:
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        assert repr(read("matches('\\d+\\.\\w')")) == r"matches('\\d+\\.\\w')"
        assert repr(read("equals('\\777\\8')")) == r"equals('ǿ\\8')"
    assert warned == []


def test_control_characters_and_lone_surrogates_in_a_text_are_kept() -> None:
    assert repr(read("equals('\x00\ud800')")) == r"equals('\x00\ud800')"


@pytest.mark.parametrize(
    "text",
    [
        "~" * 9_999,
        "(" * 10_000,
        "[" * 9_000,
        "includes(" * 1_000,
        "equals(" + "{1:" * 3_000,
        "-" * 10_000,
        "'" * 9_999,
        "1" * 10_000,
    ],
)
def test_hostile_nesting_and_length_end_in_an_error(text: str) -> None:
    refused(text)


def test_nesting_is_read_up_to_the_limit() -> None:
    assert repr(read("(" * MAX_DEPTH + "used_no_tools" + ")" * MAX_DEPTH)) == "used_no_tools()"
    assert f"nested {MAX_DEPTH} deep" in str(refused("(" * (MAX_DEPTH + 1)))


def test_many_checks_may_stand_beside_each_other() -> None:
    text = " & ".join(["used_no_tools()"] * 500)
    assert repr(read(text)) == text


def test_a_text_over_the_limit_is_refused() -> None:
    assert "at most 10,000 characters, this one has 10,001" in str(refused("a" * (MAX_LENGTH + 1)))


def test_something_that_is_no_text_is_refused() -> None:
    with pytest.raises(CheckSyntaxError, match="a check is written as text, not int"):
        parse(3, VOCABULARY)  # type: ignore[arg-type]


def vocabulary_of(function: Callable[..., object]) -> dict[str, Callable[..., Scorer]]:
    return {function.__name__: function}  # type: ignore[dict-item]


def test_an_error_of_somebody_elses_check_is_an_argument_error_with_the_place() -> None:
    def polite(level: int) -> Scorer:
        raise ValueError("level must be odd")

    with pytest.raises(CheckArgumentError, match=r"column 1: polite\(\): level must be odd"):
        parse("polite(2)", vocabulary_of(polite))


def test_a_function_that_makes_no_check_is_an_error() -> None:
    def broken() -> int:
        return 3

    with pytest.raises(CheckArgumentError, match="made no check but 3"):
        parse("broken", vocabulary_of(broken))


def test_a_parameter_without_a_type_takes_values_and_checks() -> None:
    def either(what) -> Scorer:  # type: ignore[no-untyped-def]
        return what if isinstance(what, Scorer) else checks.includes(str(what))

    words = {**vocabulary_of(either), "used_no_tools": checks.used_no_tools}
    assert repr(parse("either(used_no_tools)", words)) == "used_no_tools()"
    assert repr(parse("either(-2.5)", words)) == "includes('-2.5')"
    with pytest.raises(CheckSyntaxError, match="has no quotes"):
        parse("either(word)", words)
