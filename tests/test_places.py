"""The way from the text that checks compare to the parts of the messages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quickchecks import testing as t
from quickchecks._run import Run, Text, TextSpan
from quickchecks._text import composed, folded

RUN = t.run(t.user("hi"), t.assistant("one ", "two", t.call("look"), "three"), "four")  # "one two three four"


def words(run: Run, spans: tuple[TextSpan, ...]) -> list[str]:
    """What the spans point at."""
    found = []
    for span in spans:
        part = run.messages[span.message].parts[span.part]
        assert isinstance(part, Text)
        assert 0 <= span.start < span.end <= len(part.text)
        found.append(part.text[span.start : span.end])
    return found


@pytest.mark.parametrize(
    ("start", "end", "pieces"),
    [
        (0, 3, ["one"]),
        (2, 6, ["e ", "tw"]),
        (4, 13, ["two", "three"]),
        (7, 8, []),
        (8, 13, ["three"]),
        (0, 18, ["one ", "two", "three", "four"]),
        (18, 18, []),
        (3, 3, []),
    ],
)
def test_a_span_of_the_text_is_a_span_in_each_part_that_it_touches(start: int, end: int, pieces: list[str]) -> None:
    assert words(RUN, RUN.spoken.places(RUN, start, end)) == pieces


def test_without_a_separator_the_segments_lie_side_by_side() -> None:
    said = RUN.spoken_closed_up
    assert said.raw == "one twothreefour"
    assert words(RUN, said.places(RUN, 4, 12)) == ["two", "three"]


def test_the_final_answer_has_its_own_places() -> None:
    run = t.run("one", t.assistant("a", t.step(), "b", t.call("look"), "c"))
    assert run.final_text == "bc"
    assert run.spoken_last.places(run) == (TextSpan(1, 2, 0, 1), TextSpan(1, 4, 0, 1))


def test_history_and_empty_parts_are_stepped_over() -> None:
    run = t.run("old", t.user("hm"), t.assistant("", "new"), history=1)
    assert run.spoken.places(run) == (TextSpan(2, 1, 0, 3),)


@given(
    st.lists(st.lists(st.sampled_from(["", " ", "é", "Straße", "e\u0301", "word", "|"]), max_size=4), max_size=4),
    st.booleans(),
    st.data(),
)
def test_the_places_of_any_span_say_what_the_span_says(messages: list[list[str]], closed_up: bool, data: st.DataObject) -> None:
    contents = [t.assistant(*(t.call("look") if text == "|" else text for text in parts)) for parts in messages]
    run = t.run(*contents)
    said = run.spoken_closed_up if closed_up else run.spoken
    start = data.draw(st.integers(0, len(said.raw)))
    end = data.draw(st.integers(start, len(said.raw)))
    found = "".join(words(run, said.places(run, start, end)))
    # Only the spaces between segments lie in no part.
    assert found.replace(" ", "") == said.raw[start:end].replace(" ", "")


def test_the_folded_and_the_composed_form_lead_back() -> None:
    run = t.run(t.assistant("Die Stra", "ße im Cafe\u0301"))
    said = run.spoken
    at = said.folded.index("strasse")
    assert words(run, said.places(run, *said.original(at, at + 7, fold=True))) == ["Stra", "ße"]
    at = said.composed.index("Caf\u00e9")
    assert words(run, said.places(run, *said.original(at, at + 4, fold=False))) == ["Cafe\u0301"]


PIECES = st.sampled_from(
    ["", "Straße", "ASCII", "e", "\u0301", "ᾳ", "α\u0345", "\u0345", "\u1112", "\u1161", "İ", "日", "\u0f73", " "]
)


@given(st.lists(st.lists(PIECES, min_size=1, max_size=3).map("".join), max_size=5))
def test_the_text_is_folded_by_its_segments_to_the_same(texts: list[str]) -> None:
    run = t.run(*texts)
    for said in (run.spoken, run.spoken_closed_up, run.spoken_last):
        assert said.folded == folded(said.raw)
        assert said.composed == composed(said.raw)
