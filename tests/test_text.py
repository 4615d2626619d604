"""Text as it is compared, and the way back to the text as it was written."""

from __future__ import annotations

import sys
import unicodedata
from unicodedata import combining, decomposition, normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quickchecks._text import WHITE_SPACE, code_point, composed, folded, original_span, plain, without_white_space

#: Texts in which composing and folding have something to do.
CHARACTERS = (
    "aAZ ıIİiſsßẞŉΣσςǰΐᾳΆάﬁ\u0345\u0301\u0307\u0323\u0308éée한각각日\U0001f600\U0001f1e9\u09c7\u09be\u0f73\u0344\n\0\ud800\udc00"
)
TEXTS = st.text(st.one_of(st.sampled_from(CHARACTERS), st.characters()), max_size=40)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("STRASSE", "Straße"),
        ("STRASSE", "STRAẞE"),
        ("İ", "i\u0307"),
        ("ΟΔΟΣ", "οδος"),
        ("ΟΔΟΣΑ", "οδοςα"),
        ("ﬁnd", "FIND"),
        ("caf\u00e9", "CAFE\u0301"),
        ("K", "\u212a"),
        ("ᾳ", "ΑΙ"),
        ("\u1e69", "S\u0307\u0323"),
        ("한", "\u1112\u1161\u11ab"),
        ("ŉ", "ʼN"),
    ],
)
def test_texts_that_differ_only_in_case_and_spelling_fold_to_the_same(one: str, other: str) -> None:
    assert folded(one) == folded(other)


@pytest.mark.parametrize(("one", "other"), [("ı", "i"), ("I", "ı"), ("e", "é"), ("l", "1"), ("A", "Α"), ("a b", "ab")])
def test_texts_that_a_reader_tells_apart_stay_apart(one: str, other: str) -> None:
    assert folded(one) != folded(other)


@given(TEXTS)
def test_composed_is_nfc_and_folded_compares_as_canonical_caseless_matching_does(text: str) -> None:
    assert composed(text) == normalize("NFC", text)
    assert folded(text) == folded(normalize("NFD", text)) == folded(normalize("NFC", text))
    assert folded(folded(text)) == folded(text)


@given(st.text(st.sampled_from("ab\u0301\u0323\u0f73\u0344é각가"), max_size=30), st.integers(1, 300))
def test_a_long_text_is_composed_in_pieces_to_the_same(text: str, times: int) -> None:
    assert composed(text * times) == normalize("NFC", text * times)


def test_a_row_of_marks_that_no_language_has_ends_soon() -> None:
    """`unicodedata` alone would need hours for this row."""
    row = "a" + "\u0301\u0323" * 500_000
    assert len(composed(row)) <= len(row)
    assert original_span(row, 0, 5, fold=True)[0] == 0


@given(TEXTS, st.booleans(), st.data())
def test_the_way_back_covers_what_was_found(text: str, fold: bool, data: st.DataObject) -> None:
    """What is found in the compared form lies in the compared form of the span as written, which lies in the text."""
    form = folded if fold else composed
    compared = form(text)
    start = data.draw(st.integers(0, len(compared)))
    end = data.draw(st.integers(start, len(compared)))
    first, last = original_span(text, start, end, fold=fold)
    assert 0 <= first <= last <= len(text)
    assert compared[start:end] in form(text[first:last])
    assert len(form(text[:first])) <= start
    if start < end:
        assert len(form(text[:last])) >= end
        assert first < last


@pytest.mark.parametrize(
    ("text", "found", "as_written"),
    [
        ("Die Straße hier", "strasse", "Straße"),
        ("a İstanbul b", "i\u0307stanbul", "İstanbul"),
        ("x ﬁnd y", "find", "ﬁnd"),
        ("le cafe\u0301 noir", "caf\u00e9", "cafe\u0301"),
        ("ΤΟ ΟΔΟΣ!", "οδοσ", "ΟΔΟΣ"),
        ("\u1112\u1161\u11ab\u1100\u116e\u11a8 글", "국", "\u1100\u116e\u11a8"),
        ("한국 글", "국", "국"),
        ("\U0001f600 ok \U0001f600 Ok", "ok", "ok"),
    ],
)
def test_a_span_is_found_again_in_the_text_as_it_was_written(text: str, found: str, as_written: str) -> None:
    at = folded(text).index(found)
    start, end = original_span(text, at, at + len(found), fold=True)
    assert text[start:end] == as_written


def test_half_of_a_character_that_folds_to_two_is_the_whole_of_it() -> None:
    assert original_span("Straße", 4, 5, fold=True) == (4, 5)
    assert original_span("Straße", 5, 6, fold=True) == (4, 5)


def test_an_empty_span_stays_empty() -> None:
    assert original_span("e\u0301x", 1, 1, fold=False) == (2, 2)
    assert original_span("ascii", 2, 2, fold=True) == (2, 2)


def test_only_starters_after_which_a_piece_may_end_can_be_cut_off() -> None:
    """Every character that composes with the one before it stays with it, by the Unicode data of this Python."""
    from quickchecks._text import _joins

    for number in range(sys.maxunicode + 1):
        whole = chr(number)
        parts = decomposition(whole).split()
        if len(parts) == 2 and not parts[0].startswith("<") and normalize("NFC", normalize("NFD", whole)) == whole:
            assert _joins("".join(chr(int(part, 16)) for part in parts), 0, 1), hex(number)


def test_white_space_is_the_unicode_property() -> None:
    """Python's `isspace` takes the four separators U+001C to U+001F as well, which Unicode does not."""
    blank = {chr(number) for number in range(sys.maxunicode + 1) if chr(number).isspace()}
    assert set(WHITE_SPACE) == blank - set("\x1c\x1d\x1e\x1f")


@given(st.text(st.one_of(st.sampled_from(WHITE_SPACE + "\x1c\x1f\u200b\ufeff"), st.characters()), max_size=30))
def test_white_space_is_removed_and_nothing_else(text: str) -> None:
    assert without_white_space(text) == "".join(character for character in text if character not in WHITE_SPACE)


@pytest.mark.parametrize(
    ("typographic", "ascii_text"),
    [
        ("won\u2019t", "won't"),
        ("\u2018a\u2019 \u201cb\u201d \u00abc\u00bb", '\'a\' "b" "c"'),
        ("2020\u20132021 \u2014 \u22125", "2020-2021 - -5"),
        ("a\u00a0b\u202fc\u3000d", "a b c d"),
        ("`code`", "'code'"),
        ("日本 é", "日本 é"),
    ],
)
def test_plain_replaces_one_character_by_one(typographic: str, ascii_text: str) -> None:
    assert plain(typographic) == ascii_text


def test_a_code_point_is_named() -> None:
    assert code_point("\u2019") == "U+2019 RIGHT SINGLE QUOTATION MARK"
    assert code_point("\x00") == "U+0000 unnamed"
    assert code_point("\U0001f600") == "U+1F600 GRINNING FACE"


def test_the_marks_of_the_tests_are_marks() -> None:
    """The property tests would be about nothing if these characters did not combine."""
    assert (combining("\u0301"), combining("\u0323"), unicodedata.category("\u0345")) == (230, 220, "Mn")
