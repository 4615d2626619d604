r"""Regular expressions in the notation of Python's `re`, with a time limit.

`re` decides whether a pattern is valid. It is run by the `regex` package, which can be stopped: a nested repetition on
hostile text would hold `re` for ever, and nothing ends it. A plain pattern, in which nothing is repeated but so many
times (`_PLAIN`), cannot do that, and is left to `re`, which costs nothing to import. Two notations that `regex` would read
in its own way are escaped (`_as_regex`). A test compares the two on random patterns. These differences stay, because there
`regex` follows Unicode (UTS 18):

- `\w` takes combining marks, so that `\w+` takes the whole of a word written with them, but not superscripts,
  fractions and circled numbers such as ² ½ ①;
- `\s` does not take the four separators U+001C to U+001F;
- `\B` matches in an empty text, as it does in `re` from Python 3.14 on;
- characters are classified by the Unicode version of `regex`, which is newer than that of Python.
"""

from __future__ import annotations

import re
import warnings
from typing import TYPE_CHECKING, Protocol

from quickchecks import _render
from quickchecks.errors import CheckArgumentError, CheckArgumentTypeError, QuickchecksError

if TYPE_CHECKING:
    import regex

__all__ = ("TIME_LIMIT", "PatternTimeout", "Span", "compile_pattern", "find", "pattern_text")

#: Seconds that one pattern may take on one text.
TIME_LIMIT = 1.0

_FLAGS = {re.ASCII: "a", re.IGNORECASE: "i", re.MULTILINE: "m", re.DOTALL: "s", re.VERBOSE: "x"}
_JAVASCRIPT = r"(?s)/(.*[\\\[({*+?^$|.].*)/([gimsuy]{1,6})"


class PatternTimeout(QuickchecksError, TimeoutError):
    """A pattern took longer than the time limit."""


class Span(Protocol):
    """The part of a match that checks read."""

    def start(self) -> int: ...
    def end(self) -> int: ...


def pattern_text(check: str, pattern: object) -> str:
    """Write a pattern as text, the flags of a compiled one as an inline group; refuse what is no pattern.

    Raises:
        CheckArgumentError: It is no valid regular expression, or written in JavaScript's notation.
        CheckArgumentTypeError: It is neither text nor a compiled pattern of text.
    """
    if isinstance(pattern, re.Pattern):
        if not isinstance(pattern.pattern, str):
            raise CheckArgumentTypeError(f"{check}() takes a pattern of text, not of bytes: {pattern!r}")
        letters = "".join(letter for flag, letter in _FLAGS.items() if pattern.flags & flag)
        pattern = f"(?{letters}){pattern.pattern}" if letters else pattern.pattern
    if not isinstance(pattern, str):
        raise CheckArgumentTypeError(
            f"{check}() takes a regular expression as text or from re.compile(), not {_render.value(pattern)}"
        )
    script = re.fullmatch(_JAVASCRIPT, pattern)
    if script:
        flags = "".join(letter for letter in script[2] if letter in "ims")
        advice = f"(?{flags}){script[1]}" if flags else script[1]
        raise CheckArgumentError(
            f"{check}() takes a Python regular expression, and {pattern!r} is written as in JavaScript: write {check}({advice!r})"
        )
    compile_pattern(check, pattern)
    return pattern


def compile_pattern(check: str, pattern: str) -> re.Pattern[str]:
    """Compile a pattern with `re`, which decides whether it is valid."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return re.compile(pattern)
    except re.error as error:
        place = f" at character {error.pos}" if error.pos is not None else ""
        raise CheckArgumentError(f"{check}({pattern!r}) is no valid regular expression: {error.msg}{place}") from error
    except (OverflowError, RecursionError, ValueError, MemoryError) as error:
        raise CheckArgumentError(f"{check}({_render.capped(pattern, 80)!r}) is no usable regular expression: {error}") from error


def find(pattern: str, text: str, *, exact: bool) -> Span | None:
    """Search a text for a pattern, or match the whole of it.

    Args:
        pattern: A valid pattern.
        text: The text.
        exact: Whether the whole text must match.

    Returns:
        The match, or None.

    Raises:
        PatternTimeout: It took longer than TIME_LIMIT.
    """
    compiled = _compiled.get(pattern) or _compile(pattern)
    try:
        if isinstance(compiled, re.Pattern):
            return compiled.fullmatch(text) if exact else compiled.search(text)
        match = compiled.fullmatch if exact else compiled.search
        return match(text, timeout=TIME_LIMIT)
    except TimeoutError:
        raise PatternTimeout(
            f"the pattern {_render.quoted(pattern)} took longer than {TIME_LIMIT:g} s on a text of {len(text)} characters; "
            "nested repetitions such as (a+)+ are the usual cause"
        ) from None


_compiled: dict[str, re.Pattern[str] | regex.Pattern[str]] = {}

#: Characters, digits and simple sets, each at most 99 times: the work is at most so many steps a character of the text.
_SET = r"\[(?:[A-Za-z0-9]-[A-Za-z0-9]|[A-Za-z0-9_ ])+\]"
_PLAIN = rf"""(?:(?:[A-Za-z0-9 _#:;,/@!"'=<>~%&-]|\\[d.\-\[\](){{}}*+?^$|\\/#]|{_SET})(?:\{{\d{{1,2}}\}})?)+"""


def _compile(pattern: str) -> re.Pattern[str] | regex.Pattern[str]:
    if len(_compiled) >= 1000:  # as in `re`: a program that makes patterns by the million must not keep them
        _compiled.clear()
    if re.fullmatch(_PLAIN, pattern):
        compiled = _compiled[pattern] = re.compile(pattern)
        return compiled
    import regex  # here, because it costs as much to import as all of quickchecks

    stoppable = _compiled[pattern] = regex.compile(_as_regex(pattern), flags=regex.VERSION0)
    return stoppable


# Compiled when a check is first run, like everything that only `matches` needs.
_TOKEN = r"(?s)\\N\{[^{}]*\}|\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\{[^{}]*\}|\{|."


_SCOPED_FLAGS = r"\(\?[a-zA-Z-]+:"


def _as_regex(pattern: str) -> str:
    """Write a pattern of `re` so that `regex` reads it the same way.

    `regex` has fuzzy counts such as `{e<=1}`, and POSIX classes such as `[[:alpha:]]`; to `re` both are plain
    characters. And where flags hold for a group only, `regex` looks for the first character of a match with the flags
    of that group, so that `(?i:x)?[^a]` would not find "A"; a condition that always holds makes it look everywhere.
    """
    start = "(?=.?)" if re.search(_SCOPED_FLAGS, pattern) else ""
    return start + re.sub(_TOKEN, _token_as_regex, pattern)


def _token_as_regex(found: re.Match[str]) -> str:
    token = found[0]
    if token[0] == "{":
        return token if re.fullmatch(r"\{\d+,?\d*\}|\{,\d*\}", token) else "\\" + token
    if token[0] == "[" and len(token) > 1:
        lead = 2 if token[1] == "^" else 1
        rest = "\\" + token[lead:] if token[lead] == "]" else token[lead:]  # a bracket that stands first is a character
        return token[:lead] + re.sub(r"\\.|\[", _bracket_escaped, rest, flags=re.DOTALL)
    return token


def _bracket_escaped(found: re.Match[str]) -> str:
    return "\\[" if found[0] == "[" else found[0]
