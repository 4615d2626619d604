"""How values look inside reasons: quoted, masked, and never longer than a reader wants."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import islice
from math import isfinite
from typing import TYPE_CHECKING

from quickchecks import _wire
from quickchecks._run import ToolCall

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

__all__ = (
    "REASON_LIMIT",
    "arguments",
    "call",
    "capped",
    "excerpt",
    "harmless",
    "listed",
    "many",
    "masked",
    "name",
    "not_loaded",
    "passage",
    "quoted",
    "value",
)

#: The longest reason, in characters.
REASON_LIMIT = 500

# Patterns are compiled when a reason is first read, not on import: most scores are never looked at. `re` keeps them.
_SECRET_KEY = (
    r"(?i)(?:^|[_-])(?:password|passwd|secret|api_?key|access_?key|private_?key|authorization"
    r"|(?:access_|auth_|refresh_|bearer_|session_)?token)$"
)
_SECRET_VALUE = r"\b(?:sk|pk|rk|ghp|gho|xox[abp])[-_][A-Za-z0-9_-]{16,}|\bBearer\s+[A-Za-z0-9._~+/-]{16,}"
_CONTROL = "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
_BREAKS = str.maketrans({"\n": "\\n", "\r": "\\r", "\t": "\\t"})
#: How far beyond what is shown a secret may begin or end and still be masked.
_MARGIN = 1000


def capped(text: str, limit: int = REASON_LIMIT) -> str:
    """Shorten a text to a number of characters, the end left out."""
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def harmless(text: str) -> str:
    """Escape the control characters and changes of direction of a text; line breaks and tabs stay."""
    return text if text.isprintable() else re.sub(_CONTROL, _escaped, text)


def name(text: str, limit: int = 60) -> str:
    """Write a name on one line: nothing that a recording calls a tool or an agent may break out of the sentence."""
    return harmless(capped(text, limit).translate(_BREAKS))


def quoted(text: str, limit: int = 60) -> str:
    """Quote a text on one line: line breaks and control characters escaped, the middle left out when it is long.

    Example:
        >>> quoted("two\\nlines")
        '"two\\\\nlines"'
    """
    return passage(text, 0, len(text), limit)


def passage(text: str, start: int, end: int, limit: int = 60) -> str:
    """Quote a part of a text; a secret is masked also where only a piece of it lies in the part."""
    return f'"{_one_line(_shortened(text, start, end, limit))}"'


def excerpt(text: str, start: int, end: int, around: int = 40) -> str:
    """Quote the words around a span of a text."""
    before = max(start - around, 0)
    after = min(end + around, len(text))
    if end - start > 2 * around:  # the middle of the span is left out
        shown = f"{masked(text, before, start + around)}…{masked(text, end - around, after)}"
    else:
        shown = masked(text, before, after)
    return f'"{"…" if before else ""}{_one_line(shown)}{"…" if after < len(text) else ""}"'


def _shortened(text: str, start: int, end: int, limit: int) -> str:
    if end - start <= limit:
        return masked(text, start, end)
    half = (limit - 1) // 2
    return f"{masked(text, start, start + half).rstrip()}…{masked(text, end - half, end).lstrip()}"


def masked(text: str, start: int, end: int) -> str:
    """`text[start:end]`, with every secret that reaches into it masked; its lines and all else as they are."""
    shown: list[str] = []
    at = start
    for secret in re.compile(_SECRET_VALUE).finditer(text, max(start - _MARGIN, 0), end + _MARGIN):
        if secret.end() > at and secret.start() < end:
            shown += (text[at : secret.start()], "***")
            at = min(secret.end(), end)
    return "".join([*shown, text[at:end]])


def _one_line(text: str) -> str:
    return harmless(text.translate(_BREAKS))


def _escaped(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"


def value(shown: object, limit: int = 60) -> str:
    """Show a value as JSON on one line; what lies under a key that names a secret is masked."""
    if isinstance(shown, str):
        return quoted(shown, limit)
    if isinstance(shown, float) and not isfinite(shown):
        return repr(shown)  # JSON has no word for it
    text = _one_line(re.sub(_SECRET_VALUE, "***", _wire.shown(_masked(shown, max(limit, _MARGIN)))))
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _masked(shown: object, most: int, depth: int = 20) -> object:
    """A value without its secrets, and without what lies so deep or so far back that nobody will see it."""
    if isinstance(shown, str):
        return shown[:most]
    if isinstance(shown, float):
        return shown if isfinite(shown) else repr(shown)
    if shown is None or isinstance(shown, (bool, int)):
        return shown
    if not depth:
        return "…"
    if isinstance(shown, Mapping):
        return {
            key: "***" if isinstance(key, str) and re.search(_SECRET_KEY, key) else _masked(item, most, depth - 1)
            for key, item in islice(shown.items(), most)
        }
    if isinstance(shown, (list, tuple)):
        return [_masked(item, most, depth - 1) for item in shown[:most]]
    return _masked(_wire.to_builtins(shown), most, depth - 1)


def arguments(given: object, limit: int = 80) -> str:
    """Show the arguments of a call as `order="A-10", limit=3`."""
    if not isinstance(given, Mapping):
        return value(given, limit)
    masked = _masked(given, max(limit, _MARGIN))
    assert isinstance(masked, dict)
    text = ", ".join(f"{name(str(key))}={value(item, 40)}" for key, item in islice(masked.items(), limit))
    return text if len(text) <= limit else text[: limit - 1] + "…"


def call(made: ToolCall, limit: int = 80) -> str:
    """Show a call as `lookup_order(order="A-10")`."""
    return f"{name(made.name)}({arguments(made.arguments, limit)})"


def listed(items: Sequence[str], limit: int = 8, joint: str = ", ") -> str:
    """List names, the middle left out when there are many.

    Example:
        >>> listed(["a", "b", "c", "d"], limit=3, joint=" → ")
        'a → b → … → d'
    """
    if len(items) > limit:
        items = [*items[: limit - 1], "…", items[-1]]
    return joint.join([name(item) for item in items])


def not_loaded(point: EntryPoint, why: BaseException | str) -> str:
    """Say why what another package adds cannot be used: the package, its entry point, and what is wrong with it."""
    package = f" of {point.dist.name} {point.dist.version}" if point.dist is not None else ""
    if isinstance(why, BaseException):
        why = f"cannot be loaded: {type(why).__name__}: {why}"
    return capped(_one_line(f"the entry point {point.name} = {point.value}{package} {why}"))


def many(count: int, noun: str) -> str:
    """Count something in words.

    Example:
        >>> many(1, "run"), many(1200, "run")
        ('1 run', '1,200 runs')
    """
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
