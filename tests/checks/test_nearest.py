"""The passage that comes nearest, and why an exact comparison missed it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quickchecks.checks._nearest import LEAST_LIKENESS, SEARCHED, lookalikes, nearest_passage, same_digits


@pytest.mark.parametrize(
    ("text", "wanted", "passage"),
    [
        ("It is sunny in Brookline today.", "Brooklyn", "Brookline"),
        ("BROOKLINE", "brooklyn", "BROOKLINE"),
        ("the order was shipt on monday", "was shipped on", "was shipt on"),
        ("a colour", "color", "colour"),
        ("Straße nach Köln", "Strasse nach Koeln", "Straße nach Köln"),
        ("one two three", "two  three", "two three"),
        ("get\u200bweather", "getweather", "get\u200bweather"),
        ("x" * 1000 + " sunnny " + "y" * 1000, "sunny", "sunnny"),
    ],
)
def test_the_nearest_passage_is_whole_words(text: str, wanted: str, passage: str) -> None:
    found = nearest_passage(text, wanted)
    assert found is not None
    start, end, likeness = found
    assert text[start:end] == passage
    assert LEAST_LIKENESS < likeness <= 1


@pytest.mark.parametrize(("text", "wanted"), [("zzz", "abc"), ("", "abc"), ("a", "b"), ("12345", "weather"), ("abc", "\ud800")])
def test_where_nothing_is_alike_nothing_is_found(text: str, wanted: str) -> None:
    assert nearest_passage(text, wanted) is None


@given(st.text(st.sampled_from("ab 'é\u2019ßİ\n"), max_size=60), st.text(st.sampled_from("ab 'éß\n"), min_size=1, max_size=10))
def test_a_passage_lies_in_the_text(text: str, wanted: str) -> None:
    found = nearest_passage(text, wanted)
    if found is not None:
        assert 0 <= found[0] < found[1] <= len(text)
        assert LEAST_LIKENESS < found[2] <= 1
    look = lookalikes(text, wanted)
    if look is not None:
        assert look[1] - look[0] == len(wanted)


def test_only_the_beginning_of_a_long_text_is_searched() -> None:
    assert nearest_passage(" " * SEARCHED + "Brookline", "Brooklyn") is None


@pytest.mark.parametrize(
    ("text", "wanted", "sentence"),
    [
        ("I won\u2019t", "won't", "the answer has U+2019 RIGHT SINGLE QUOTATION MARK where U+0027 APOSTROPHE is wanted"),
        ("I won't", "won\u2019t", "the answer has U+0027 APOSTROPHE where U+2019 RIGHT SINGLE QUOTATION MARK is wanted"),
        ("`a`", "'a'", "the answer has U+0060 GRAVE ACCENT where U+0027 APOSTROPHE is wanted"),
        ("5 \u2212 3", "5 - 3", "the answer has U+2212 MINUS SIGN where U+002D HYPHEN-MINUS is wanted"),
        ("a\u202fb", "a b", "the answer has U+202F NARROW NO-BREAK SPACE where U+0020 SPACE is wanted"),
        (
            "\u201ca\u2014b\u201d",
            '"a-b"',
            "the answer has U+201C LEFT DOUBLE QUOTATION MARK where U+0022 QUOTATION MARK is wanted, "
            "U+2014 EM DASH where U+002D HYPHEN-MINUS is wanted, "
            "U+201D RIGHT DOUBLE QUOTATION MARK where U+0022 QUOTATION MARK is wanted",
        ),
        ("won't", "won't", None),
        ("want", "won't", None),
    ],
)
def test_characters_that_look_alike_are_named(text: str, wanted: str, sentence: str | None) -> None:
    found = lookalikes(text, wanted)
    assert (found[2] if found else None) == sentence


@pytest.mark.parametrize(
    ("text", "wanted", "number"),
    [
        ("That makes 4,250 units.", "4250", "4,250"),
        ("1.234.567", "1234567", "1.234.567"),
        ("4 250", "4250", "4 250"),
        ("4\u00a0250", "4250", "4\u00a0250"),
        ("4,25", "425", ""),
        ("14,250", "4250", ""),
        ("1,2", "12", ""),
        ("4,2501", "4250", ""),
        ("no number", "4250", ""),
        ("4,250", "many", ""),
    ],
)
def test_the_same_digits_with_separators_are_recognised(text: str, wanted: str, number: str) -> None:
    assert same_digits(text, wanted) == number
