"""How lines reach a terminal and a pipe, and when progress is shown."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from quickchecks.cli._output import Progress, print_lines
from quickchecks.reports.terminal import BLANK, Line, line


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


LONG = line(("✗ ", "red"), "It rains on the plain in Spain and on the hills of Oslo", indent=2, hang=6)


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """A terminal of 30 columns."""
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "30")
    for name in ("NO_COLOR", "FORCE_COLOR", "CI"):
        monkeypatch.delenv(name, raising=False)
    return Terminal()


@contextmanager
def shown_on(terminal: Terminal) -> Iterator[None]:
    """Within the test, because pytest puts streams of its own in their place before each."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("sys.stdout", terminal)
        patched.setattr("sys.stderr", terminal)
        yield


def without_colour(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def printed(terminal: Terminal, *lines: Line) -> list[str]:
    with shown_on(terminal):
        print_lines(lines)
    return without_colour(terminal.getvalue()).splitlines()


def test_a_terminal_gets_colour_and_wrapped_lines(terminal: Terminal) -> None:
    assert printed(terminal, LONG) == [
        "  ✗ It rains on the plain in",
        "      Spain and on the hills",
        "      of Oslo",
    ]
    assert "\x1b[31m✗" in terminal.getvalue()


def test_no_color_is_honoured(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    with shown_on(terminal):
        print_lines([LONG])
    assert "\x1b[31m" not in terminal.getvalue()


def test_a_word_that_fits_on_no_line_is_broken_and_nothing_is_lost(terminal: Terminal) -> None:
    lines = printed(terminal, line("x" * 70, indent=2))
    assert max(map(len, lines)) <= 30
    assert "".join(one.strip() for one in lines) == "x" * 70


def test_a_line_with_a_path_is_never_broken(terminal: Terminal) -> None:
    assert printed(terminal, line("✗ ", "x/" * 40, "  check", indent=2, whole=True)) == ["  ✗ " + "x/" * 40 + "  check"]


def test_brackets_and_colons_mean_nothing(terminal: Terminal) -> None:
    assert printed(terminal, line("[bold]a[/] :smile: [link]")) == ["[bold]a[/] :smile: [link]"]


def test_blank_lines_stay(terminal: Terminal) -> None:
    assert printed(terminal, line("a"), BLANK, line("b")) == ["a", "", "b"]


def test_what_stands_at_the_right_edge(terminal: Terminal) -> None:
    assert printed(terminal, line("12 runs", right="0.4 s")) == ["12 runs" + " " * 18 + "0.4 s"]


def test_a_pipe_gets_every_line_whole(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    print_lines([LONG, line("12 runs", right="0.4 s"), line("trailing   ", indent=1)])
    assert capsys.readouterr().out.splitlines() == [
        "  ✗ It rains on the plain in Spain and on the hills of Oslo",
        "12 runs" + " " * 88 + "0.4 s",
        " trailing",
    ]


def test_progress_is_shown_on_a_terminal_and_taken_away(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    with shown_on(terminal):
        progress = Progress()
    progress.update(1)
    assert terminal.getvalue() == ""
    now[0] = 1.5
    progress.update(1200)
    progress.update(1300)
    progress.clear()
    assert terminal.getvalue() == "\r1,200 runs scored …\r\x1b[2K"


@pytest.mark.parametrize(("name", "value"), [("CI", "true"), ("TERM", "dumb")])
def test_no_progress_in_ci(name: str, value: str, terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, value)
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    with shown_on(terminal):
        progress = Progress()
    now[0] = 5.0
    progress.update(1200)
    progress.clear()
    assert terminal.getvalue() == ""


def test_no_progress_into_a_pipe(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    progress = Progress()
    now[0] = 5.0
    progress.update(1200)
    progress.clear()
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("columns", ["0", "1", "-3", "²", "wide", "9" * 12])
def test_a_terminal_of_an_impossible_width_still_shows_everything(
    columns: str, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    wide = line("晴れ " * 20, indent=60, hang=80)
    shown = "".join(printed(terminal, LONG, wide, line("12 runs", right="0.4 s"))).replace(" ", "")
    assert shown == (LONG.text + wide.text + "12 runs0.4 s").replace(" ", "")


@pytest.mark.parametrize(
    ("forced", "no_color", "styled"),
    [("1", "", True), ("true", "", True), ("", "", False), ("0", "", False), ("false", "", False), ("1", "1", False)],
)
def test_colour_is_forced_into_a_pipe_as_elsewhere(
    forced: str, no_color: str, styled: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("FORCE_COLOR", forced)
    monkeypatch.setenv("NO_COLOR", no_color)
    print_lines([LONG])
    assert ("\x1b[31m" in capsys.readouterr().out) == styled


@pytest.mark.parametrize("forced", ["", "0"])
def test_a_terminal_has_colour_where_none_is_forced(forced: str, terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", forced)
    printed(terminal, LONG)
    assert "\x1b[31m" in terminal.getvalue()
