"""The text checks: what passes, what fails, and what they say about it, in both directions."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quickchecks import Run, Scorer, checks
from quickchecks import testing as t
from quickchecks._run import Gap, Text
from quickchecks._text import WHITE_SPACE
from quickchecks.errors import CheckArgumentError

includes, excludes, equals, matches, similarity = (
    checks.includes,
    checks.excludes,
    checks.equals,
    checks.matches,
    checks.similarity,
)


def pointed_at(run: Run, check: Scorer) -> list[str]:
    """The words that the evidence points at."""
    found = []
    for place in check.score(run).evidence:
        part = run.messages[place.message].parts[place.part]
        assert isinstance(part, Text)
        found.append(part.text[place.start : place.end])  # type: ignore[union-attr]
    return found


@pytest.mark.parametrize(
    ("check", "answer", "passes"),
    [
        (includes("sunny"), "It is Sunny.", True),
        (includes("sunny", ignore_case=False), "It is Sunny.", False),
        (includes("sunny"), "", False),
        (includes("a.c"), "abc", False),
        (includes("STRASSE"), "Die Straße ist gesperrt.", True),
        (includes("STRASSE", ignore_case=False), "Die Straße ist gesperrt.", False),
        (includes("ss"), "Maß", True),
        (includes("i\u0307stanbul"), "İSTANBUL", True),
        (includes("οδος"), "ΟΔΟΣΑ", True),
        (includes("caf\u00e9"), "Cafe\u0301", True),
        (includes("caf\u00e9", ignore_case=False), "cafe\u0301", True),
        (includes("cafe"), "cafe\u0301", False),
        (includes("한"), "\u1112\u1161\u11ab", True),
        (includes("\ud83d"), "half \ud83d", True),
        (includes("\ud83d"), "\U0001f600", False),
        (includes("a\0b"), "xA\0Bx", True),
        (includes(" "), "a b", True),
        (excludes("sorry"), "I am fine.", True),
        (excludes("sorry"), "SORRY!", False),
        (excludes("sorry", ignore_case=False), "SORRY!", True),
        (excludes("sorry"), "", True),
        (equals("42"), "42", True),
        (equals("yes"), "YES", True),
        (equals("yes", ignore_case=False), "YES", False),
        (equals("42"), "42 ", False),
        (equals("straße"), "STRASSE", True),
        (equals("caf\u00e9", ignore_case=False), "cafe\u0301", True),
        (equals(""), "", True),
        (equals(""), " ", False),
        (matches(r"\d+"), "order 48", True),
        (matches(r"^\d+$"), "order 48", False),
        (matches(r"ORDER"), "order", False),
        (matches(r"(?i)ORDER"), "order", True),
        (matches(re.compile("ORDER", re.IGNORECASE)), "order", True),
        (matches(r"yes|no", exact=True), "yes, but perhaps not", False),
        (matches(r"yes|no", exact=True), "no", True),
        (matches(r"(?i)yes|no", exact=True), "NO", True),
        (matches(r"(?m)^a$"), "b\na\nc", True),
        (matches(r"(?m)^a$", exact=True), "b\na\nc", False),
        (matches(r"a$"), "a\n", True),
        (matches(r"a$", exact=True), "a\n", False),
        (matches(r"caf\u00e9"), "cafe\u0301", True),
        (matches(""), "", True),
        (matches("", exact=True), "a", False),
    ],
)
def test_what_passes_and_what_fails(check: Scorer, answer: str, passes: bool) -> None:
    assert check.score(answer).outcome == ("passed" if passes else "failed")


@pytest.mark.parametrize(
    ("check", "passes"),
    [
        (includes("one two"), True),
        (includes("onetwo"), False),
        (excludes("two three"), False),
        (equals("onetwothree"), True),
        (equals("one two three"), False),
        (matches("onetwo"), True),
        (includes("one", where="final"), False),
        (includes("three", where="final"), True),
        (excludes("one", where="final"), True),
        (equals("three", where="final"), True),
        (matches("three", exact=True, where="final"), True),
        (similarity("three", threshold=1, where="final"), True),
        (includes("weather"), False),
        (includes("thinking"), False),
        (includes("Oslo"), False),
        (includes("cold"), False),
        (includes("inner"), False),
    ],
)
def test_the_answer_is_what_the_agent_says_and_nothing_else(check: Scorer, passes: bool) -> None:
    """Some checks read the segments with a space between, some closed up; no call, result or nested run is answer."""
    run = t.run(
        t.system("weather"),
        t.user("weather?"),
        t.assistant(t.reasoning("thinking"), "one", t.call("look", city="Oslo", result="cold", run=t.run("inner")), "two"),
        "three",
    )
    assert check.score(run).passed is passes


REASONS: list[tuple[Scorer, object, str, str]] = [
    (includes("sunny"), "It is SUNNY.", "passed", '"sunny" is in the answer, at 6: "It is SUNNY."'),
    (
        includes("sunny"),
        "It is SUNNY, sunny and sunny.",
        "passed",
        '"sunny" is in the answer 3 times, first at 6: "It is SUNNY, sunny and sunny."',
    ),
    (
        includes("sunny", ignore_case=False),
        "It is SUNNY.",
        "failed",
        '"sunny" is not in the answer; "SUNNY" at 6 differs in upper and lower case only',
    ),
    (
        includes("Brooklyn"),
        "It is sunny in Brookline today.",
        "failed",
        '"Brooklyn" is not in the answer; the nearest is "Brookline" (at 15, likeness 0.82)',
    ),
    (
        includes("won't"),
        "I won\u2019t open that file.",
        "failed",
        '"won\'t" is not in the answer; the answer has U+2019 RIGHT SINGLE QUOTATION MARK where U+0027 APOSTROPHE is wanted',
    ),
    (
        includes("10-20"),
        "pages 10\u201320",
        "failed",
        '"10-20" is not in the answer; the answer has U+2013 EN DASH where U+002D HYPHEN-MINUS is wanted',
    ),
    (
        includes("a b"),
        "a\u00a0b",
        "failed",
        '"a b" is not in the answer; the answer has U+00A0 NO-BREAK SPACE where U+0020 SPACE is wanted',
    ),
    (
        includes("4250"),
        "That is 4,250 units",
        "failed",
        '"4250" is not in the answer; "4,250" at 8 has the same digits, but texts are compared literally',
    ),
    (
        includes("get weather"),
        "get\u200b weather",
        "failed",
        '"get weather" is not in the answer; the nearest is "get\u200b weather" (at 0, likeness 0.96); '
        "it holds U+200B ZERO WIDTH SPACE",
    ),
    (includes("abc"), "zzz", "failed", '"abc" is not in the answer; nothing like it is in "zzz"'),
    (includes("x"), "", "failed", '"x" is not in the answer, which is empty'),
    (includes("x"), " \n", "failed", '"x" is not in the answer, which is blank'),
    (
        includes("one", where="final"),
        t.run("one", "two"),
        "failed",
        '"one" is not in the final answer; nothing like it is in "two"',
    ),
    (excludes("sorry"), "I am sorry, I cannot.", "failed", '"sorry" is in the answer, at 5: "I am sorry, I cannot."'),
    (excludes("sorry"), "I am fine.", "passed", '"sorry" is not in the answer (10 characters)'),
    (excludes("sorry"), "", "passed", '"sorry" is not in the answer, which is empty'),
    (
        excludes("won't"),
        "I won\u2019t.",
        "passed",
        '"won\'t" is not in the answer (8 characters), but something that looks the same is: '
        "the answer has U+2019 RIGHT SINGLE QUOTATION MARK where U+0027 APOSTROPHE is wanted",
    ),
    (equals("42"), "42", "passed", 'the answer is exactly "42"'),
    (equals("8"), "7", "failed", 'the answer is "7", expected "8"; they differ from 0 on: "7", expected "8"'),
    (
        equals("Hello World"),
        "Hello World!",
        "failed",
        'the answer is "Hello World!", expected "Hello World"; the answer goes on after it: "!"',
    ),
    (
        equals("Hello World!"),
        "Hello World",
        "failed",
        'the answer is "Hello World", expected "Hello World!"; the answer ends where "!" should follow',
    ),
    (
        equals("Die Straße HIER"),
        "DIE STRASSE dort",
        "failed",
        'the answer is "DIE STRASSE dort", expected "Die Straße HIER"; they differ from 12 on: "dort", expected "HIER"',
    ),
    (
        equals("hello"),
        "Hello ",
        "failed",
        'the answer is "Hello ", expected "hello"; they differ only in white space at the ends',
    ),
    (equals("a b"), "ab", "failed", 'the answer is "ab", expected "a b"; they differ only in white space'),
    (
        equals("Hello", ignore_case=False),
        "hello",
        "failed",
        'the answer is "hello", expected "Hello"; they differ only in upper and lower case: ignore_case=True takes them as equal',
    ),
    (
        equals("won't"),
        "won\u2019t",
        "failed",
        'the answer is "won\u2019t", expected "won\'t"; '
        "the answer has U+2019 RIGHT SINGLE QUOTATION MARK where U+0027 APOSTROPHE is wanted",
    ),
    (equals("x"), "", "failed", 'the answer is empty, expected "x"'),
    (equals(""), "foo", "failed", 'the answer is "foo", expected ""; the answer goes on after it: "foo"'),
    (matches(r"order #\d+"), "Your order #482.", "passed", 'the pattern is found at 5: "order #482"'),
    (matches("yes|no", exact=True), "no", "passed", 'the whole answer matches: "no"'),
    (matches(r"\d"), "none", "failed", r'"\d" is not found in the answer "none"'),
    (matches("x"), "", "failed", '"x" is not found: the answer is empty'),
    (
        matches(r"^Total: \d+$"),
        "Items: 3\nTotal: 91\nBye",
        "failed",
        r'"^Total: \d+$" is not found in the answer "Items: 3\nTotal: 91\nBye"; '
        "^ and $ mean the ends of the whole text; with (?m) they mean those of a line, and it is found",
    ),
    (
        matches("BEGIN.*END"),
        "BEGIN\nEND",
        "failed",
        r'"BEGIN.*END" is not found in the answer "BEGIN\nEND"; '
        "a dot stops at a line break; with (?s) it does not, and it is found",
    ),
    (
        matches("^begin.end$"),
        "x\nbegin\nend",
        "failed",
        r'"^begin.end$" is not found in the answer "x\nbegin\nend"; with (?ms) it is found',
    ),
    (
        matches("total"),
        "Total",
        "failed",
        '"total" is not found in the answer "Total"; with (?i), which ignores case, it is found',
    ),
    (
        matches("yes|no", exact=True),
        "yes, but perhaps not",
        "failed",
        '"yes|no" does not match the whole answer "yes, but perhaps not"; '
        "a part of the answer matches, but exact=True asks for all of it",
    ),
    (
        similarity("night"),
        "nacht",
        "graded",
        'likeness 0.25: 2 × 1 common pairs / 8 pairs in both; the answer "nacht" and "night"',
    ),
    (
        similarity("night", threshold=0.5),
        "nacht",
        "failed",
        'likeness 0.25, below 0.5: 2 × 1 common pairs / 8 pairs in both; the answer "nacht" and "night"',
    ),
    (
        similarity("night", threshold=0.25),
        "nacht",
        "passed",
        'likeness 0.25, at least 0.25: 2 × 1 common pairs / 8 pairs in both; the answer "nacht" and "night"',
    ),
    (
        similarity("A b"),
        "aB",
        "graded",
        'likeness 1.00: equal but for white space and case; the answer "aB" and "A b"',
    ),
    (similarity("a"), "b", "graded", 'likeness 0.00: a text of one character has no pairs to compare; the answer "b" and "a"'),
    (similarity("a", threshold=0.5), "", "failed", "likeness 0, below 0.5: the answer is empty"),
]


@pytest.mark.parametrize(("check", "answer", "outcome", "reason"), REASONS)
def test_the_reason_is_the_product(check: Scorer, answer: object, outcome: str, reason: str) -> None:
    score = check.score(answer)
    assert score.outcome == outcome
    assert score.reason == reason


@pytest.mark.parametrize(
    ("check", "content", "words"),
    [
        (includes("strasse"), ["Die Straße hier"], ["Straße"]),
        (includes("strasse"), [t.assistant("Die Stra", "ße hier")], ["Stra", "ße"]),
        (includes("e h"), [t.assistant("Die Straße", t.call("look"), "Hier")], ["e", "H"]),
        (includes("caf\u00e9"), ["Le Cafe\u0301 noir"], ["Cafe\u0301"]),
        (includes("i\u0307s"), ["x İs y"], ["İs"]),
        (includes("ss"), ["Maß"], ["ß"]),
        (includes("국"), ["한\u1100\u116e\u11a8어"], ["\u1100\u116e\u11a8"]),
        (includes("a"), ["a b a", "A"], ["a", "a", "A"]),
        (excludes("noir"), ["Cafe\u0301 noir"], ["noir"]),
        (equals("onetwo"), ["one", "two"], ["one", "two"]),
        (equals("onezwei"), ["one", "two"], ["two"]),
        (matches("e\u0301? n"), ["Cafe\u0301 noir"], []),
        (matches("\u00e9 n"), ["Cafe\u0301 noir"], ["e\u0301 n"]),
        (matches("et"), ["one", "two"], ["e", "t"]),
        (includes("won't"), ["I won\u2019t."], ["won\u2019t"]),
        (includes("Brooklyn"), ["in Brookline today"], ["Brookline"]),
        (includes("4250"), ["are 4,250 units"], ["4,250"]),
        (includes("B", ignore_case=False), ["a b c"], ["b"]),
        (includes("two", where="final"), ["two", t.assistant("x", t.step(), "it is ", "two")], ["two"]),
        (similarity("one"), ["one", "two"], ["one", "two"]),
    ],
)
def test_the_evidence_points_at_the_words_as_they_were_written(check: Scorer, content: list[str], words: list[str]) -> None:
    assert pointed_at(t.run(t.user("?"), *content), check) == words


def test_a_text_that_is_found_often_is_pointed_at_a_few_times() -> None:
    score = includes("a").score("a" * 100)
    assert len(score.evidence) == 5
    assert "100 times" in score.reason


@pytest.mark.parametrize(
    ("check", "answer", "key"),
    [
        (includes("x"), "SECRET words of the run", "not found"),
        (includes("x"), "", "nothing said"),
        (excludes("secret"), "SECRET words of the run", "found"),
        (equals("x"), "SECRET words of the run", "differs"),
        (matches("x"), "SECRET words of the run", "not found"),
        (similarity("x", threshold=1), "SECRET words of the run", "below threshold"),
    ],
)
def test_the_failure_key_holds_none_of_the_runs_words(check: Scorer, answer: str, key: str) -> None:
    assert check.score(answer).failure_key == f"{check!r} | failed | {key}"


@pytest.mark.parametrize("check", [includes("a"), excludes("a"), equals("a"), matches("a"), similarity("a")])
def test_an_answer_that_is_not_recorded_is_no_evidence(check: Scorer) -> None:
    run = t.run(t.call("look"), gaps=(Gap("text", "the source keeps no texts"),))
    score = check.score(run)
    assert score.outcome == "no_evidence"
    assert score.reason == "the answer is not recorded: the source keeps no texts"


def test_what_is_found_in_a_record_with_gaps_is_found() -> None:
    run = t.run("sunny", gaps=(Gap("text", "only a part of the answer is recorded"),))
    assert includes("sunny").score(run).passed
    assert excludes("sunny").score(run).failed


# similarity ---------------------------------------------------------------------------------------------------------


def dice(answer: str, expected: str) -> float:
    """The measure as the reference's documentation says it, character by character."""
    one, other = ("".join(c for c in text.casefold() if c not in WHITE_SPACE) for text in (answer, expected))
    if one == other:
        return 1.0
    if len(one) < 2 or len(other) < 2:
        return 0.0
    pairs, wanted = (Counter(text[i : i + 2] for i in range(len(text) - 1)) for text in (one, other))
    return 2 * sum((pairs & wanted).values()) / (len(one) + len(other) - 2)


#: Without marks, so that both sides are composed already; with emoji, which need other arithmetic inside.
LETTERS = st.sampled_from("aAbBc \t\u00a0é日\U0001f600\U0001f601\ud83d\ude00\x1c")


@given(st.text(LETTERS, max_size=12), st.text(LETTERS, min_size=1, max_size=12).filter(lambda text: text.strip(WHITE_SPACE)))
def test_similarity_is_the_measure_that_the_reference_documents(answer: str, expected: str) -> None:
    assert similarity(expected).score(t.run(answer)).value == pytest.approx(dice(answer, expected), abs=1e-12)


@pytest.mark.parametrize(
    ("answer", "expected", "value"),
    [
        ("hello world \U0001f600", "hello world", 18 / 19),
        ("hello world", "hello world \U0001f600", 18 / 19),
        ("\U0001f600\U0001f601", "\U0001f601\U0001f600", 0.0),
        ("night", "nacht", 0.25),
        ("aaaa", "aa", 2 * 1 / 4),
    ],
)
def test_similarity_counts_code_points(answer: str, expected: str, value: float) -> None:
    assert similarity(expected).score(answer).value == value


@pytest.mark.parametrize(("threshold", "passes"), [(0, True), (0.25, True), (0.2500001, False), (1, False)])
def test_a_threshold_is_inclusive(threshold: float, passes: bool) -> None:
    assert similarity("night", threshold=threshold).score("nacht").passed is passes


def test_the_value_is_shown_with_enough_digits_to_see_the_side() -> None:
    check = similarity("a" * 300 + "b", threshold=0.999)
    assert "likeness 0.9967, below 0.999" in check.score("a" * 300 + "c").reason


# arguments ----------------------------------------------------------------------------------------------------------

#: The checks without their types, to be called as no type checker would let them.
wrong: Any = checks


@pytest.mark.parametrize("make", [includes, excludes, similarity])
@pytest.mark.parametrize("text", ["", None, 0, False, 1.5, b"x", ["a", "b"], ("a",), {"a"}, {"a": 1}, print])
def test_a_text_that_decides_nothing_is_refused(make: object, text: object) -> None:
    assert callable(make)
    with pytest.raises(CheckArgumentError):
        make(text)


@pytest.mark.parametrize(
    ("build", "error", "message"),
    [
        (
            lambda: wrong.includes(""),
            ValueError,
            "includes('') could never decide anything: give it a text that is not empty, as in includes('Brooklyn')",
        ),
        (
            lambda: wrong.includes(["a", "b"]),
            TypeError,
            'includes() takes one text, not ["a","b"]: '
            "combine several checks with all_of(includes('a'), includes('b')) or any_of(includes('a'), includes('b'))",
        ),
        (lambda: wrong.includes(0), TypeError, "includes() takes its expected as text, not 0: write includes('0')"),
        (lambda: wrong.includes(None), TypeError, "includes() takes its expected as text, not null: write includes('Brooklyn')"),
        (lambda: wrong.excludes(False), TypeError, "excludes() takes its unwanted as text, not false: write excludes('False')"),
        (lambda: wrong.includes("a", ignore_case=None), TypeError, "includes() takes ignore_case as True or False, not null"),
        (lambda: wrong.includes("a", where="last"), ValueError, "includes() takes where as 'all' or 'final', not \"last\""),
        (lambda: wrong.includes("a", name=""), TypeError, 'includes() takes name as a text that is not empty, not ""'),
        (lambda: wrong.includes("a", why=5), TypeError, "includes() takes why as one sentence, not 5"),
        (lambda: wrong.matches("a", exact=1), TypeError, "matches() takes exact as True or False, not 1"),
        (
            lambda: wrong.similarity(" \t"),
            ValueError,
            "similarity('') could never decide anything: give it a text that is not empty, as in similarity('It is sunny.')",
        ),
        (
            lambda: wrong.similarity("a", threshold=1.5),
            ValueError,
            "similarity() takes threshold in 0..1, not 1.5: scores lie in 0..1",
        ),
        (
            lambda: wrong.similarity("a", threshold=float("nan")),
            ValueError,
            "similarity() takes threshold in 0..1, not nan: scores lie in 0..1",
        ),
        (
            lambda: wrong.similarity("a", threshold="0.5"),
            TypeError,
            'similarity() takes threshold as a number in 0..1, not "0.5"',
        ),
        (lambda: wrong.similarity("a", threshold=True), TypeError, "similarity() takes threshold as a number in 0..1, not true"),
    ],
)
def test_each_likely_mistake_has_its_own_message(build: object, error: type[Exception], message: str) -> None:
    assert callable(build)
    with pytest.raises(error) as caught:
        build()
    assert isinstance(caught.value, CheckArgumentError)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("check", "text"),
    [
        (includes("a"), "includes('a')"),
        (includes("a", ignore_case=True, where="all"), "includes('a')"),
        (includes("a", where="final", ignore_case=False), "includes('a', ignore_case=False, where='final')"),
        (includes("it's"), 'includes("it\'s")'),
        (includes("a\n\ud83d"), r"includes('a\n\ud83d')"),
        (excludes("a", name="n"), "excludes('a', name='n')"),
        (equals(""), "equals('')"),
        (matches(r"\d+", exact=True), r"matches('\\d+', exact=True)"),
        (matches(re.compile("a", re.I | re.M)), "matches('(?im)a')"),
        (similarity("a", threshold=1), "similarity('a', threshold=1.0)"),
        (similarity("a", threshold=0), "similarity('a', threshold=0.0)"),
        (includes("a", why="so"), "includes('a', why='so')"),
    ],
)
def test_the_repr_makes_the_check_again(check: Scorer, text: str) -> None:
    from quickchecks._scorer.expression import parse

    assert repr(check) == text
    again = parse(text, checks.vocabulary())
    assert repr(again) == text
    assert again.version == check.version
    assert eval(text, dict(checks.vocabulary())).version == check.version


def test_ids_are_those_of_the_reference() -> None:
    assert [check.id for check in (includes("a"), excludes("a"), equals("a"), matches("a"), similarity("a"))] == [
        "check-includes",
        "check-excludes",
        "check-equals",
        "check-matches",
        "check-similarity",
    ]
    assert includes("a").description == "Passes when the answer contains a text."


def test_what_a_record_without_a_message_of_the_agent_does_not_hold_may_have_been_said() -> None:
    for value in ([{"role": "user", "content": "q"}], {"messages": [{"role": "user", "content": "q"}]}):
        score = checks.excludes("z").score(value)
        assert (score.outcome, score.reason) == ("no_evidence", "the record holds no message of the agent")
    assert checks.excludes("z").score([{"role": "user", "content": "q"}, {"role": "assistant", "content": ""}]).passed
