"""Commands to GitHub: how they are written, and that nothing else is one."""

from __future__ import annotations

import pytest
from github_runner import Told, commands
from hypothesis import given
from hypothesis import strategies as st

from quickchecks.reports._workflow_commands import Harmless, command

#: Pieces of which lines are made that look like commands.
PIECES = st.sampled_from(
    [":", "::", "#", "##", "##[", "]", "error", "add-mask", " ", "\t", "\n", "\r", "\u200b", "\ufeff", "\x00", "x"]
)


@pytest.mark.parametrize(
    "text",
    ["plain", "50 % of it", "a\nb\r\nc", "::error::x", "%0A", "%25", "a,b:c=d", "##[error]x", "", "晴れ 🚲", "=", " spaced "],
)
def test_the_runner_reads_what_was_written(text: str) -> None:
    told = commands(command("error", text, {"title": text, "file": "a.jsonl", "line": 3}))
    properties = {"title": text, "file": "a.jsonl", "line": "3"}
    assert told == [Told("error", text, {key: value for key, value in properties.items() if value.strip()})]


def test_a_command_is_one_line() -> None:
    written = command("error", "a\nb\rc", {"title": "d\ne", "file": "f\r"})
    assert written == "::error title=d%0Ae,file=f%0D::a%0Ab%0Dc"


def test_what_is_empty_is_left_out() -> None:
    assert command("error", "x", {"file": "", "line": None}) == "::error::x"


@pytest.mark.parametrize(
    "text",
    [
        "::error::x",
        "  \t::add-mask::x",
        "said\n::set-output name=a::b\n",
        "said\r::warning::x",
        "\u3000\u2028::error::x",
        "\ufeff::error::x",
        "\x00::error::x",
        ":\u200b:error::x",
        "in a line ##[add-mask]x",
        "#\u200d#[error]x",
        "::error::a\n" * 100,
    ],
)
def test_text_of_others_is_no_command(text: str) -> None:
    assert commands(text), "the runner would obey this"
    assert commands(Harmless()(text)) == []


def test_text_of_others_stops_no_commands() -> None:
    assert commands("::stop-commands::x\n::error::ours") == []
    assert commands(Harmless()("::stop-commands::x\n") + "::error::ours") == [Told("error", "ours")]


@given(st.lists(st.lists(PIECES, max_size=6).map("".join), max_size=12))
def test_nor_is_it_one_in_pieces(texts: list[str]) -> None:
    harmless = Harmless()
    safe = "".join(map(harmless, texts))
    assert commands(safe) == []
    assert safe.replace(" ", "") == "".join(texts).replace(" ", "")  # and nothing is lost


def test_a_line_that_others_began_is_no_way_in() -> None:
    harmless = Harmless()
    harmless("no end of line")
    assert commands(harmless("::error::x")) == []


@pytest.mark.parametrize("text", ["std::move", "a: b", "# title", "### sub ###", "[x](y)", "it is ::so::", "", "http://a:80/"])
def test_other_text_stays_as_it_is(text: str) -> None:
    assert Harmless()(text) == text


def test_long_text_is_no_trouble() -> None:
    for text in (" " * 2_000_000, "\n" * 2_000_000, "#" * 2_000_000, ":" * 2_000_000, " :" * 1_000_000, "#\u200b" * 1_000_000):
        safe = Harmless()(text)
        assert safe.replace(" ", "") == text.replace(" ", "")
