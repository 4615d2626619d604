"""Regular expressions: `re` says what is valid, `regex` runs them under a time limit, and both read them alike."""

from __future__ import annotations

import re
import warnings

import pytest
import regex
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from quickchecks import checks
from quickchecks.checks import _patterns
from quickchecks.checks._patterns import PatternTimeout, find, pattern_text
from quickchecks.errors import CheckArgumentError

#: Everything that may stand in a pattern, the notations that `regex` has and `re` does not among them.
ATOMS = (
    *"abAB01 _-.^$#&~|:=<>!/@%,{}é",
    *(r"\d", r"\D", r"\w", r"\W", r"\s", r"\S", r"\b", r"\A", r"\Z", r"\n", r"\t", r"\\", r"\.", r"\-", r"\]", r"\[", r"\{"),
    *(r"\x41", r"\u0041", r"\U00000041", r"\N{LATIN SMALL LETTER A}", r"\07", r"\101", r"\0", r"\1", r"\"", r"\ ", r"\#"),
    *(
        "[ab]",
        "[^ab]",
        "[a-c]",
        "[]a]",
        "[^]a]",
        "[[a]",
        "[a[b]",
        r"[a\[b]",
        r"[\\[a]",
        "[^[]",
        "[[:alpha:]]",
        "[a--b]",
        "[a&&b]",
    ),
    *("[a||b]", "[a~~b]", r"[\w-]", r"[\d\s]", r"[a\]b]", r"[\b]", "[-a]", "[+--]", "[!--]", "[a-z&&[b]]", r"[\N{DIGIT ONE}]"),
    *("{a}", "{1,a}", "{,2}", "{e<=1}", "{}", "{,}", "{ 1}", "a{1}", "a{0,2}", "a{,2}", "a{1,2}?", "a++", "a*+", "a?+"),
    *("(a)", "(?:a)", "(?P<n>a)", "(?P=n)", "(a|b)", "(a|)", "(?=a)", "(?!a)", "(?<=a)", "(?<!a)", "(?>a|ab)", "(?#c)"),
    *("(?i:a)", "(?-i:a)", "(?s:.)", "(?m:^a)", "(?x: a )", r"(?a:\w)", "(?s-i:a)", "(?(1)a|b)", "(?(n)a|b)", "(?i:b)?"),
)
QUANTIFIERS = ("", "", "", "", "*", "+", "?", "*?", "+?", "??", "{2}", "{1,2}", "{0}", "{,1}", "*+", "++", "?+", "{1,}+")
FLAGS = ("", "", "", "(?i)", "(?m)", "(?s)", "(?x)", "(?a)", "(?u)", "(?im)", "(?sx)", "(?ai)")

PIECES = st.tuples(st.sampled_from(ATOMS), st.sampled_from(QUANTIFIERS)).map("".join)
SEQUENCES = st.recursive(
    st.lists(PIECES, min_size=1, max_size=3).map("".join),
    lambda inner: st.one_of(
        st.tuples(st.sampled_from(("(", "(?:", "(?=", "(?!", "(?>", "(?i:", "(?P<n>")), inner, st.sampled_from(QUANTIFIERS)).map(
            lambda drawn: f"{drawn[0]}{drawn[1]}){drawn[2]}"
        ),
        st.tuples(inner, inner).map("|".join),
        st.tuples(inner, inner).map("".join),
    ),
    max_leaves=3,
)
PATTERNS = st.tuples(st.sampled_from(FLAGS), SEQUENCES).map("".join)
# Not the empty text, in which \B matches from Python 3.14 on; short, so that `re` ends.
TEXTS = st.text(st.sampled_from("abABc01 _-.\n\t{},<=e&|~[]:lph\\/#!é\rſK"), min_size=1, max_size=7)


@settings(max_examples=500)
@given(PATTERNS, TEXTS)
def test_a_pattern_finds_what_re_would_find(pattern: str, text: str) -> None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compiled = re.compile(pattern)
    except (re.error, OverflowError):
        assume(False)
    for exact, match in ((False, compiled.search), (True, compiled.fullmatch)):
        try:
            expected = match(text)
        except SystemError:  # a possessive group can make `re` itself stumble
            continue
        found = find(pattern, text, exact=exact)
        assert (found and (found.start(), found.end())) == (expected and expected.span())


@pytest.mark.parametrize(
    ("pattern", "text", "span"),
    [
        ("{e<=1}", "{e<=1}", (0, 6)),
        ("(a{e})", "ba{e}", (1, 5)),
        ("[[:alpha:]]", "l]", (0, 2)),
        ("[]a]", "]", (0, 1)),
        ("[^]a]", "]b", (1, 2)),
        (r"[a\[b]", "[", (0, 1)),
        (r"[a\[b]", "\\", None),
        (r"\N{BULLET} ", "\u2022 x", (0, 2)),
        (r"[\N{BULLET}]", "\u2022", (0, 1)),
        ("a{,2}", "aaa", (0, 2)),
        ("a{}", "a{}", (0, 3)),
        ("(?i:x)?[^ab]{2}", "A&", (0, 2)),
        (r"(?a:\w)x|\w", "ſ", (0, 1)),
        ("(?im)^b", "a\nB", (2, 3)),
        ("a++b", "aab", (0, 3)),
        ("(?(1)a|b)|(c)", "b", (0, 1)),
    ],
)
def test_notations_that_the_engine_has_of_its_own_are_those_of_re(pattern: str, text: str, span: tuple[int, int] | None) -> None:
    found = find(pattern, text, exact=False)
    assert (found and (found.start(), found.end())) == span


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A shorter limit, so that the tests do not wait."""
    assert _patterns.TIME_LIMIT == 1.0
    monkeypatch.setattr(_patterns, "TIME_LIMIT", 0.05)


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("pattern", [r"^(a|a)*$", r"^(a|aa)+$", r"^(?:(?:a|a)+b?)+$"])
@pytest.mark.parametrize("exact", [False, True])
def test_a_pattern_that_would_never_end_is_an_error_and_no_pass(pattern: str, exact: bool) -> None:
    score = checks.matches(pattern, exact=exact).score("a" * 60 + "!")
    assert score.outcome == "error"
    assert isinstance(score.error.__cause__ if score.error else None, PatternTimeout)
    assert (
        "took longer than 0.05 s on a text of 61 characters; nested repetitions such as (a+)+ are the usual cause" in score.reason
    )
    assert checks.none_of(checks.matches(pattern)).score("a" * 60 + "!").outcome == "error"


def test_the_limit_holds_as_it_is() -> None:
    assert checks.matches(r"^(a|a)*$").score("a" * 60 + "!").outcome == "error"


@pytest.mark.usefixtures("impatient")
def test_the_hint_of_a_miss_gives_up_on_a_slow_pattern() -> None:
    """Without the flag the pattern fails at once; with it, it would never end."""
    score = checks.matches(r"^(A|A)*$").score("a" * 60 + "!")
    assert score.failed
    assert score.reason == '"^(A|A)*$" is not found in the answer "' + "a" * 60 + '!"'


@pytest.mark.usefixtures("impatient")
def test_every_other_check_goes_on_after_a_slow_one() -> None:
    answers = [checks.matches("^(a|a)*$").score(text).outcome for text in ("aaa", "a" * 60 + "!", "b", "aa")]
    assert answers == ["passed", "error", "failed", "passed"]


@pytest.mark.parametrize("pattern", ["(", "[a", "a**", "(?P<n>a)(?P<n>b)", r"\1", "(?<=a+)b", "(?z)a", "a{2,1}", r"\8", "*"])
def test_what_re_does_not_take_is_refused(pattern: str) -> None:
    with pytest.raises(CheckArgumentError, match="is no valid regular expression: "):
        checks.matches(pattern)


@pytest.mark.parametrize("pattern", ["a{99999999999999999999}", "(?:" * 5000 + "a" + ")" * 5000])
def test_what_re_cannot_take_is_refused(pattern: str) -> None:
    with pytest.raises(CheckArgumentError, match="is no (usable|valid) regular expression: "):
        checks.matches(pattern)


@pytest.mark.parametrize(
    ("pattern", "written"),
    [
        ("a", "a"),
        (re.compile("a"), "a"),
        (re.compile("a", re.I), "(?i)a"),
        (re.compile("a.b", re.S | re.M), "(?ms)a.b"),
        (re.compile("a # b", re.X), "(?x)a # b"),
        (re.compile(r"\w", re.A), r"(?a)\w"),
        (re.compile("(?i)a", re.M), "(?im)(?i)a"),
    ],
)
def test_a_compiled_pattern_is_written_with_its_flags(pattern: str | re.Pattern[str], written: str) -> None:
    assert pattern_text("matches", pattern) == written
    re.compile(written)


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        (
            "/\\d+/i",
            "matches() takes a Python regular expression, and '/\\\\d+/i' is written as in JavaScript: "
            "write matches('(?i)\\\\d+')",
        ),
        (
            "/^a$/gm",
            "matches() takes a Python regular expression, and '/^a$/gm' is written as in JavaScript: write matches('(?m)^a$')",
        ),
        (
            "/a|b/g",
            "matches() takes a Python regular expression, and '/a|b/g' is written as in JavaScript: write matches('a|b')",
        ),
        (re.compile(b"a"), "matches() takes a pattern of text, not of bytes: re.compile(b'a')"),
        (b"a", 'matches() takes a regular expression as text or from re.compile(), not "YQ=="'),
        (None, "matches() takes a regular expression as text or from re.compile(), not null"),
        (5, "matches() takes a regular expression as text or from re.compile(), not 5"),
        (["a"], 'matches() takes a regular expression as text or from re.compile(), not ["a"]'),
        ("a(", "matches('a(') is no valid regular expression: missing ), unterminated subpattern at character 1"),
    ],
)
def test_each_likely_mistake_has_its_own_message(pattern: object, message: str) -> None:
    with pytest.raises(CheckArgumentError) as caught:
        checks.matches(pattern)  # type: ignore[arg-type]
    assert str(caught.value) == message


@pytest.mark.parametrize("pattern", ["/etc/", "/usr/bin", "/a/b", "a/b/i", "/plain/i"])
def test_a_path_is_no_pattern_of_javascript(pattern: str) -> None:
    checks.matches(pattern)


def test_flags_that_contradict_are_left_to_re() -> None:
    assert checks.matches("(?i)A").score("a").passed
    assert checks.matches(re.compile("(?-i:A)", re.I)).score("a").failed


PLAIN_PIECES = st.tuples(
    st.sampled_from(
        (*"abAB01 _-#:;,/@!\"'=<>~%&", r"\d", r"\.", r"\-", r"\]", r"\[", r"\{", r"\\", "[ab]", "[a-c]", "[A-Z0-9_]")
    ),
    st.sampled_from(("", "", "{2}", "{0}", "{12}")),
).map("".join)


@given(st.lists(PLAIN_PIECES, min_size=1, max_size=5).map("".join), TEXTS)
def test_a_plain_pattern_is_left_to_re_which_reads_it_as_the_engine_does(pattern: str, text: str) -> None:
    assert isinstance(_patterns._compile(pattern), re.Pattern)
    other = regex.compile(_patterns._as_regex(pattern), flags=regex.VERSION0)
    for exact in (False, True):
        found, wanted = find(pattern, text, exact=exact), (other.fullmatch if exact else other.search)(text)
        assert (found and (found.start(), found.end())) == (wanted and wanted.span())


@pytest.mark.parametrize(
    "pattern", ["a*", "a+", "a?", "a{1,}", "a{,9}", "a{1,9}", "a{100}", "(a)", "a|b", "[^a]", ".", "^", r"\w", "ß"]
)
def test_what_may_take_long_is_run_by_the_engine_that_can_be_stopped(pattern: str) -> None:
    for whole in (pattern, f"x{pattern}", f"{pattern}x", f"[a-z]{{2}}{pattern}"):
        assert not isinstance(_patterns._compile(whole), re.Pattern)
