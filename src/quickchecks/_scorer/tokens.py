"""The words of an expression: names, texts, numbers and signs, each with its place.

Python's own tokenizer is not used: what it accepts, warns about and says differs between versions, and an expression
needs a small part of it. The value of a text or a number is Python's, read by `ast.literal_eval` word by word.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

from quickchecks._text import TYPOGRAPHIC

__all__ = ("BadToken", "Token", "tokens")

TokenKind = Literal["name", "text", "number", "sign", "end"]


class Token(Struct, frozen=True, gc=False):
    """One word of an expression.

    Args:
        kind: What it is; the last token of every text is of the kind "end".
        source: How it is written.
        start: Where it begins, counted from 0.
    """

    kind: TokenKind
    source: str
    start: int

    @property
    def end(self) -> int:
        """Where it ends."""
        return self.start + len(self.source)

    def value(self) -> str | int | float:
        """The value of a text or a number.

        Raises:
            BadToken: It is written wrongly, as `'\\x'` is, or is too large.
        """
        try:
            found = ast.literal_eval(_plain_escapes(self.source) if self.kind == "text" else self.source)
        except (ValueError, SyntaxError, MemoryError) as error:
            what = "too large a number" if self.kind == "number" else f"no valid text: {_reason(error)}"
            raise BadToken(self.start, f"{_short(self.source)} is {what}") from None
        if isinstance(found, float) and found in (float("inf"), float("-inf")):
            raise BadToken(self.start, f"{_short(self.source)} is too large a number")
        assert isinstance(found, (str, int, float))
        return found


class BadToken(Exception):
    """Something that can stand in no expression: where, what, and what to do."""

    def __init__(self, start: int, problem: str, hint: str = "") -> None:
        super().__init__(problem)
        self.start = start
        self.problem = problem
        self.hint = hint


_SPACE = re.compile(r"(?:\s|\\\r?\n|#[^\r\n]*)+")
_NAME = re.compile(r"[^\W\d]\w*")
_NUMBER = re.compile(r"0[xX](?:_?[0-9a-fA-F])+|0[oO](?:_?[0-7])+|0[bB](?:_?[01])+"
                     r"|(?:\d(?:_?\d)*\.?(?:\d(?:_?\d)*)?|\.\d(?:_?\d)*)(?:[eE][+-]?\d(?:_?\d)*)?", re.A)  # fmt: skip
_TEXT = re.compile(
    r"""(?P<prefix>[A-Za-z]{0,2})(?:'''(?:[^\\]|\\.)*?'''|\"\"\"(?:[^\\]|\\.)*?\"\"\"|'(?!'')(?:[^'\\\r\n]|\\(?:\r\n|.))*'|"(?!"")(?:[^"\\\r\n]|\\(?:\r\n|.))*")""",
    re.DOTALL,
)
_TEXT_BEGINS = re.compile(r"[A-Za-z]{0,2}['\"]")
_SIGN = re.compile(r"\*\*|:=|==|!=|<=|>=|<<|>>|//|&&|\|\||->|=>|\.\.\.|[-()\[\]{},=:&|~.*+/%<>@^!;$?]")
_BAD_NUMBER = re.compile(r"[\w.]+")

_PREFIXES = {"f": "an f-string", "t": "a template string", "b": "bytes"}


def tokens(text: str) -> Iterator[Token]:
    """Split an expression into its words; comments and white space are left out.

    Args:
        text: The expression.

    Yields:
        The tokens, the last one of the kind "end".

    Raises:
        BadToken: Something can stand in no expression. It is raised when it is reached, not before.
    """
    place = 0
    while True:
        space = _SPACE.match(text, place)
        place = space.end() if space else place
        if place >= len(text):
            yield Token("end", "", place)
            return
        token = _token(text, place)
        yield token
        place = token.end


def _token(text: str, place: int) -> Token:
    if _TEXT_BEGINS.match(text, place):
        return _text_token(text, place)
    name = _NAME.match(text, place)
    if name:
        return Token("name", name[0], place)
    number = _NUMBER.match(text, place)
    if number:
        return _number_token(text, place, number.end())
    sign = _SIGN.match(text, place)
    if sign:
        return Token("sign", sign[0], place)
    character = text[place]
    if TYPOGRAPHIC.get(character) in ("'", '"'):
        raise BadToken(place, f"{character} is a typographic quotation mark", "write plain quotes: ' or \"")
    shown = character if character.isprintable() else f"the character U+{ord(character):04X}"
    raise BadToken(place, f"{shown} can stand in no expression, except inside quotes")


def _text_token(text: str, place: int) -> Token:
    found = _TEXT.match(text, place)
    begins = _TEXT_BEGINS.match(text, place)
    assert begins is not None
    prefix = begins[0][:-1].lower()
    for letter, what in _PREFIXES.items():
        if letter in prefix:
            raise BadToken(
                place, f"{what} cannot stand here: checks are read, never evaluated", "write the text itself in plain quotes"
            )
    if prefix not in ("", "r", "u"):
        raise BadToken(place, f"{begins[0]} begins no text", "write the text in plain quotes")
    if found is None:
        raise BadToken(place, f"the text that begins here has no closing {begins[0][-1]}")
    return Token("text", found[0], place)


def _number_token(text: str, place: int, end: int) -> Token:
    after = _BAD_NUMBER.match(text, end)
    if after is None and not (text[place] == "0" and re.fullmatch(r"0[\d_]*[1-9][\d_]*", text[place:end])):
        return Token("number", text[place:end], place)
    written = text[place : after.end() if after else end]
    raise BadToken(place, f"{_short(written)} is no number", "put quotes around it if it is a text")


_ESCAPE = re.compile(r"\\([4-7][0-7]{2}|\r\n|.)", re.DOTALL)
_KNOWN_ESCAPES = frozenset("\n\r\\'\"abfnrtvxNuU01234567") | {"\r\n"}
_NO_SOURCE = re.compile("[\x00\ud800-\udfff]")  # what may stand in a text, but not in a Python source


def _plain_escapes(source: str) -> str:
    r"""Write what Python warns about, such as `\d`, or refuses, such as NUL, so that it means the same and it does not."""
    if source[0] in "rR":
        return source
    source = _ESCAPE.sub(_plain_escape, source) if "\\" in source else source
    return _NO_SOURCE.sub(lambda found: f"\\u{ord(found[0]):04x}", source)


def _plain_escape(found: re.Match[str]) -> str:
    if len(found[1]) == 3:  # an octal escape beyond one byte
        return f"\\u{int(found[1], 8):04x}"
    return found[0] if found[1] in _KNOWN_ESCAPES else "\\" + found[0]


def _reason(error: BaseException) -> str:
    return re.sub(r"^\(unicode error\) 'unicodeescape' codec can't decode bytes in position [\d-]+: | \(.*\)$", "", str(error))


def _short(source: str) -> str:
    return source if len(source) <= 40 else source[:39] + "…"
