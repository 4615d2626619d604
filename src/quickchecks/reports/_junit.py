"""Test cases as the XML that CI servers read, written one after the other in constant memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from html import escape
from tempfile import SpooledTemporaryFile
from typing import BinaryIO, Literal
from weakref import finalize

from msgspec import Struct

from quickchecks.reports._safe import lines, one_line, shortened

__all__ = ("Case", "Problem", "Suite")

#: "broke" is decided when the suite ends: an error where more broke than may, else skipped.
Kind = Literal["failure", "error", "skipped", "broke"]

#: The most characters of a name, of a message, and of a text of many lines. CI servers show the message in a list.
_MAX_NAME = 300
_MAX_MESSAGE = 600
_MAX_TEXT = 20_000
_MAX_LINE = 2_000

#: Stands for the tag of what broke until that is known. XML cannot hold it, so that it is found nowhere else.
_UNDECIDED = b"\x01"
_IN_MEMORY = 1_000_000
_CHUNK = 1_000_000


class Problem(Struct, frozen=True):
    """Why a test case did not pass.

    Args:
        kind: What it is for a CI server; only failures and errors make a suite red.
        type: What kind of failure this is.
        message: The reason on one line.
        text: All there is to say, in lines.
    """

    kind: Kind
    type: str
    message: str
    text: tuple[str, ...] = ()


class Case(Struct, frozen=True):
    """One test case.

    Args:
        name: What was tested.
        group: What it is listed under.
        problem: Why it did not pass; None when it did.
        output: What is told of it besides, in lines.
        seconds: How long it took.
    """

    name: str
    group: str
    problem: Problem | None = None
    output: tuple[str, ...] = ()
    seconds: float | None = None


class Suite:
    """A suite that is being written. Its counts, which stand in its head, are known at its end, so its cases are kept aside.

    Args:
        stream: The file to write to.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._cases: SpooledTemporaryFile[bytes] = SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115 - closed at the end
        self._close = finalize(self, self._cases.close)
        self._counts: dict[Kind | None, int] = dict.fromkeys(("failure", "error", "skipped", "broke", None), 0)

    def red(self, *, too_many_broke: bool) -> bool:
        """Whether a case failed already, so that a CI server shows the suite as failed whatever comes.

        Args:
            too_many_broke: Whether more broke than may.
        """
        counts = self._counts
        return bool(counts["failure"] or counts["error"] or (too_many_broke and counts["broke"]))

    def add(self, case: Case) -> None:
        """Write a case."""
        self._counts[None if case.problem is None else case.problem.kind] += 1
        self._cases.write(b"".join(_case(case)))

    def finish(self, name: str, properties: Mapping[str, str], *, seconds: float, too_many_broke: bool) -> None:
        """Write the suite.

        Args:
            name: Its name.
            properties: What else is to be told of it.
            seconds: How long all of it took.
            too_many_broke: Whether more broke than may, so that what broke is an error.
        """
        counts = self._counts
        broke = b"error" if too_many_broke else b"skipped"
        errors = counts["error"] + (counts["broke"] if too_many_broke else 0)
        totals = f'tests="{sum(counts.values())}" failures="{counts["failure"]}" errors="{errors}"'
        skipped = sum(counts.values()) - counts[None] - counts["failure"] - errors
        head = f'<?xml version="1.0" encoding="utf-8"?>\n<testsuites {totals} time="{seconds:.3f}">\n'
        head += f'<testsuite name="{_name(name)}" {totals} skipped="{skipped}" time="{seconds:.3f}">\n'
        told = "".join(
            f'<property name="{_name(key)}" value="{_attribute(value, _MAX_MESSAGE)}"/>\n' for key, value in properties.items()
        )
        head += f"<properties>\n{told}</properties>\n" if told else ""
        self._stream.write(head.encode())
        self._cases.seek(0)
        while chunk := self._cases.read(_CHUNK):
            self._stream.write(chunk.replace(_UNDECIDED, broke))
        self._stream.write(b"</testsuite>\n</testsuites>\n")
        self._close()


def _case(case: Case) -> Iterator[bytes]:
    time = "" if case.seconds is None else f' time="{max(case.seconds, 0):.3f}"'
    yield f'<testcase classname="{_name(case.group)}" name="{_name(case.name)}"{time}'.encode()
    if case.problem is None and not case.output:
        yield b"/>\n"
        return
    yield b">\n"
    if case.problem is not None:
        problem = case.problem
        tag = _UNDECIDED if problem.kind == "broke" else problem.kind.encode()
        said = f' type="{_name(problem.type)}" message="{_attribute(problem.message, _MAX_MESSAGE)}">'
        yield b"<" + tag + said.encode() + _text(problem.text) + b"</" + tag + b">\n"
    if case.output:
        yield b"<system-out>" + _text(case.output) + b"</system-out>\n"
    yield b"</testcase>\n"


def _name(text: str) -> str:
    # A name of nothing, or of spaces, would be invisible, and some servers refuse it.
    return _attribute(text, _MAX_NAME) if text.strip() else f"&quot;{_attribute(text, _MAX_NAME)}&quot;"


def _attribute(text: str, limit: int) -> str:
    """A text for an attribute: on one line, the middle left out when it is long, what XML cannot hold as escapes."""
    return escape(one_line(shortened(text, limit)), quote=False).replace('"', "&quot;")


def _text(texts: Iterable[str]) -> bytes:
    """Texts for the inside of an element, each on lines of its own; no line but the first is at the left edge.

    Some servers write these lines to a log, in which the runner of GitHub would take `::error::…` for a command.
    """
    shown: list[str] = []
    room = _MAX_TEXT
    for text in texts:
        for number, line in enumerate(lines(shortened(text, _MAX_TEXT))):
            written = shortened(line, _MAX_LINE) if number == 0 else f"  | {shortened(line, _MAX_LINE)}"
            room -= len(written) + 1
            if room < 0:
                return escape("\n".join([*shown, "… and more"]), quote=False).encode()
            shown.append(written)
    return escape("\n".join(shown), quote=False).encode()
