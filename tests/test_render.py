"""How values look inside reasons."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quickchecks import _render
from quickchecks._run import ToolCall

KEY = "sk-abcdefghijklmnopqrstuvwxyz0123456789"


@pytest.mark.parametrize(
    ("text", "limit", "shown"),
    [
        ("plain", 60, '"plain"'),
        ("two\nlines\tand\rmore", 60, '"two\\nlines\\tand\\rmore"'),
        ("red \x1b[31m", 60, '"red \\u001b[31m"'),
        ("half \ud83d", 60, '"half \\ud83d"'),
        ("nul \0", 60, '"nul \\u0000"'),
        ("right \u202e left", 60, '"right \\u202e left"'),
        ("line\u2028line", 60, '"line\\u2028line"'),
        ("abcdefghij", 7, '"abc…hij"'),
        ("ab cd  efgh ij", 9, '"ab c…h ij"'),
        (f"the key {KEY} is", 60, '"the key *** is"'),
        ("Bearer abcdefghijklmnopqrst", 60, '"***"'),
        ("sk-short", 60, '"sk-short"'),
        ("task-abcdefghijklmnopqrstuvwxyz", 60, '"task-abcdefghijklmnopqrstuvwxyz"'),
    ],
)
def test_a_text_is_quoted_on_one_line(text: str, limit: int, shown: str) -> None:
    assert _render.quoted(text, limit) == shown


@pytest.mark.parametrize("before", range(0, 120, 7))
def test_a_secret_is_masked_wherever_the_text_is_cut(before: int) -> None:
    """Also where only its beginning or its end lies in what is shown."""
    text = "a " * (before // 2) + KEY + " b" * 60
    at = text.index(KEY)
    shown = [
        _render.quoted(text, 60),
        _render.excerpt(text, at, at + 3),
        _render.excerpt(text, at + 20, at + 22),
        _render.excerpt(text, max(at - 5, 0), at + 5),
        _render.excerpt(text, len(text) - 2, len(text), around=len(text) - at - 10),
        _render.passage(text, at + 5, at + 25),
        _render.passage(text, 0, len(text), 100),
    ]
    assert not [one for one in shown if "mnopqr" in one or "uvwxyz" in one]


@pytest.mark.parametrize(
    ("start", "end", "shown"),
    [
        (0, 3, '"the quick brown…"'),
        (16, 19, '"…quick brown fox jumps over …"'),
        (40, 43, '"…er the lazy dog"'),
        (0, 43, '"the quick br…the lazy dog"'),
    ],
)
def test_the_words_around_a_span_are_quoted(start: int, end: int, shown: str) -> None:
    assert _render.excerpt("the quick brown fox jumps over the lazy dog", start, end, around=12) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("text", '"text"'),
        (None, "null"),
        (True, "true"),
        (1.5, "1.5"),
        ({"a": [1, 2]}, '{"a":[1,2]}'),
        ({"a": "x\ny\x1b"}, '{"a":"x\\ny\\u001b"}'),
        ({"api_key": "abc", "user": {"password": "x", "token": "y", "tokens": 5}}, None),
        ({"note": KEY}, '{"note":"***"}'),
        ([[[[[["deep"]]]]]], '[[[[[["deep"]]]]]]'),
        ("x" * 100, '"' + "x" * 29 + "…" + "x" * 29 + '"'),
        ({"a": "x" * 100}, '{"a":"' + "x" * 53 + "…"),
    ],
)
def test_a_value_is_shown_as_json_without_its_secrets(value: object, shown: str | None) -> None:
    wanted = '{"api_key":"***","user":{"password":"***","token":"***","to…'
    assert _render.value(value) == (shown or wanted)


def test_a_secret_is_masked_at_any_depth_that_is_shown() -> None:
    value: object = {"password": "hunter2"}
    for _ in range(30):
        value = [value]
        assert "hunter2" not in _render.value(value, 1000)


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        ({"order": "A-10", "limit": 3}, 'look(order="A-10", limit=3)'),
        ('{"order": "A-10"}', 'look(order="A-10")'),
        ('{"order": "A', 'look("{"order": "A")'),
        (None, "look()"),
        ([1, 2], "look([1,2])"),
        ({"password": "x", "a\nb": 1}, 'look(password="***", a\\nb=1)'),
        ({"q": "x" * 200}, 'look(q="' + "x" * 19 + "…" + "x" * 19 + '")'),
        ({f"k{number}": number for number in range(100)}, None),
    ],
)
def test_a_call_is_shown_as_it_is_written(arguments: object, shown: str | None) -> None:
    written = _render.call(ToolCall("look", arguments))
    assert written == shown if shown else len(written) <= 90 and written.endswith("…)")


def test_a_name_cannot_break_out_of_the_sentence() -> None:
    assert _render.name("get\n\x1b[2Jweather") == "get\\n\\u001b[2Jweather"
    assert _render.name("x" * 100) == "x" * 59 + "…"


@pytest.mark.parametrize(
    ("items", "shown"),
    [([], ""), (["a"], "a"), (["a", "b", "c"], "a → b → c"), (list("abcdefgh"), "a → b → … → h"), (["a\nb"], "a\\nb")],
)
def test_names_are_listed_with_the_middle_left_out(items: list[str], shown: str) -> None:
    assert _render.listed(items, limit=4 if len(items) > 3 else 8, joint=" → ") == shown.replace("a → b → …", "a → b → c → …", 1)


def test_a_text_is_capped_at_a_number_of_characters() -> None:
    assert _render.capped("abc", 3) == "abc"
    assert _render.capped("abc  def", 6) == "abc…"


@given(st.text(st.characters(codec=None), max_size=300), st.integers(1, 80), st.data())
def test_nothing_of_a_hostile_text_reaches_a_terminal(text: str, limit: int, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    for shown in (_render.quoted(text, limit), _render.excerpt(text, start, end), _render.value([text]), _render.name(text)):
        assert len(shown.splitlines()) <= 1
        assert not any(character < " " or "\ud800" <= character <= "\udfff" for character in shown)
        shown.encode()


def test_what_is_no_number_is_not_shown_as_nothing() -> None:
    shown = [_render.value(one) for one in (float("nan"), float("-inf"), [1.5, float("inf")], {"n": float("nan")}, None)]
    assert shown == ["nan", "-inf", '[1.5,"inf"]', '{"n":"nan"}', "null"]
    assert _render.arguments({"limit": float("nan")}) == 'limit="nan"'
