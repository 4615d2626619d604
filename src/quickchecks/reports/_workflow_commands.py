"""Commands in the output of a step on GitHub: how one is written, and what keeps foreign text from being one.

The runner looks at every line of both streams of a step. It takes `::name properties::data` for a command when nothing but
space stands before it, and the older `##[name properties]data` anywhere in a line. A command can hide the rest of the log,
mark files, and in older runners set variables, so that nothing that a model, a tool or a recording wrote may be one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from threading import RLock

__all__ = ("Harmless", "command")


def command(name: str, data: str, properties: Mapping[str, object] | None = None) -> str:
    """Write a command, on one line whatever its parts hold.

    Args:
        name: The command, such as `error`.
        data: What it is about.
        properties: Its properties; what is empty is left out.

    Example:
        >>> command("error", "50 % failed\\nwhy: …", {"file": "a,b.jsonl", "line": 3})
        '::error file=a%2Cb.jsonl,line=3::50 %25 failed%0Awhy: …'
    """
    given = {key: _escaped(str(value)) for key, value in (properties or {}).items() if value not in ("", None)}
    written = ",".join(f"{key}={value.replace(':', '%3A').replace(',', '%2C')}" for key, value in given.items())
    return f"::{name}{' ' if written else ''}{written}::{_escaped(data)}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _characters(*ranges: tuple[int, int]) -> frozenset[str]:
    return frozenset(chr(code) for first, last in ranges for code in range(first, last + 1))


#: What does not count before a command: spaces, and what takes no space, which comparisons by culture skip.
_UNSEEN = _characters(
    (0x00, 0x09),
    (0x0B, 0x0C),
    (0x0E, 0x20),
    (0x7F, 0xA0),
    (0xAD, 0xAD),
    (0x034F, 0x034F),
    (0x061C, 0x061C),
    (0x115F, 0x1160),
    (0x1680, 0x1680),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x2000, 0x200F),
    (0x2028, 0x202F),
    (0x205F, 0x206F),
    (0x3000, 0x3000),
    (0x3164, 0x3164),
    (0xFE00, 0xFE0F),
    (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0),
    (0xFFF0, 0xFFFB),
)
#: What does not count inside of its signs either.
_IGNORED = frozenset(one for one in _UNSEEN if not one.isspace() or "\x1c" <= one <= "\x1f")


def _any(characters: frozenset[str]) -> str:
    return f"[{re.escape(''.join(sorted(characters)))}]*+"


#: All but the last sign of what begins a command.
_BEGINNING = re.compile(rf"(?:\A|[\r\n]){_any(_UNSEEN)}:{_any(_IGNORED)}(?=:)|#{_any(_IGNORED)}#{_any(_IGNORED)}(?=\[)")


class Harmless:
    """Makes the text of a stream harmless, piece by piece: a space goes into every sign that could begin a command.

    Where a line begins is not known for sure, because others write to the same place: each piece may begin one.

    Example:
        >>> harmless = Harmless()
        >>> harmless("::error::x, std::move and ##[error]"), harmless(":"), harmless(":add-mask::x")
        (': :error::x, std::move and ## [error]', ':', ' :add-mask::x')
    """

    def __init__(self) -> None:
        self._begun = ""
        self._lock = RLock()

    def __call__(self, text: str) -> str:
        """The next piece, made harmless."""
        if not text:
            return text
        with self._lock:
            whole = self._begun + text
            safe = _BEGINNING.sub(r"\g<0> ", whole)[len(self._begun) :]
            self._begun = _begun(whole)
        return safe


def _begun(text: str) -> str:
    """What the end of a text may be the beginning of: `:`, `#`, `##`; empty when of nothing."""
    end = _seen(text)
    if text[end - 1 : end] != "#":
        return text[end - 1 : end] if text[end - 1 : end] == ":" else ""
    before = _seen(text[: end - 1])
    return "##" if text[before - 1 : before] == "#" else "#"


def _seen(text: str) -> int:
    """How long a text is without what does not count at its end."""
    end = len(text)
    while end and text[end - 1] in _IGNORED:
        end -= 1
    return end
