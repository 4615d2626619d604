"""Foreign text in reports drives nothing."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from quickchecks.reports._safe import csv_cell, lines, markdown, one_line, path

ANYTHING = st.text(st.characters(), max_size=40)  # lone surrogates too
HOSTILE = "\x1b[2J\x1b]0;title\x07\u202egnp.exe\u2066\x00\x9b31m\r\n\ud800\ufeff\u200f"


def drives_nothing(text: str) -> bool:
    return all(c.isprintable() or c in "\u200c\u200d" or unicodedata.category(c) == "Zs" for c in text)


@given(ANYTHING)
@example(HOSTILE)
def test_one_line_is_one_line_that_drives_nothing(text: str) -> None:
    assert drives_nothing(one_line(text))


@given(ANYTHING)
@example(HOSTILE)
def test_a_path_drives_nothing(text: str) -> None:
    assert drives_nothing(path(text))


def test_every_line_of_a_text_drives_nothing() -> None:
    assert list(lines("a\tb\n\x1b[1mc")) == ["a   b", "\\u001b[1mc"]


@pytest.mark.parametrize("text", ["It is sunny.", "größer · Größe", "晴れ", "👩‍💻 🚲", "بله‌ها", "a b"])
def test_writing_of_any_kind_stays_as_it_is(text: str) -> None:
    assert one_line(text) == text


def test_escapes_are_readable() -> None:
    assert one_line("a\x1b\u202e\U000e0041") == "a\\u001b\\u202e\\U000e0041"


def test_secrets_are_masked_but_not_in_paths() -> None:
    assert one_line("key sk-abcdefghijklmnopqrstuv") == "key ***"
    assert path("sk-abcdefghijklmnopqrstuv/runs.jsonl") == "sk-abcdefghijklmnopqrstuv/runs.jsonl"


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "  =1", "＝1", "＠x", "\u00a0=1"])
def test_a_formula_gets_an_apostrophe(text: str) -> None:
    assert csv_cell(text).startswith("'")


@given(ANYTHING)
def test_no_cell_begins_as_a_formula(text: str) -> None:
    assert not csv_cell(text).lstrip().startswith(("=", "+", "-", "@", "＝", "＋", "－", "＠"))


@pytest.mark.parametrize("text", ["", "x", "1", "a=b", "It is sunny."])
def test_an_ordinary_cell_stays_as_it_is(text: str) -> None:
    assert csv_cell(text) == text


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("plain", "`plain`"),
        ("a | b", "`a \\| b`"),
        ("`x`", "`` `x` ``"),
        ("a ``` b", "````a ``` b````"),
        ("<script>@everyone", "`<script>@everyone`"),
        ("two\nlines", "`two\\nlines`"),
        ("", "`  `"),
        ("  ", "`    `"),
    ],
)
def test_markdown_is_a_span_of_code(text: str, written: str) -> None:
    assert markdown(text).replace(" ", "·") == written.replace(" ", "·")


@given(ANYTHING)
def test_no_text_ends_its_span_of_code(text: str) -> None:
    written = markdown(text)
    fence = re.match("`+", written)
    assert fence is not None
    inside = written[len(fence[0]) : -len(fence[0])]
    assert fence[0] not in [found[0] for found in re.finditer("`+", inside)]
