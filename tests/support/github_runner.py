"""What GitHub's runner makes of the output of a step: which of its lines are commands, by the rules that its source has."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

__all__ = ("Told", "commands")

REGISTERED = (
    "add-mask add-matcher add-path debug echo endgroup error group notice remove-matcher save-state set-env set-output "
    "stop-commands warning"
).split()
#: Characters that take no space, which a comparison by culture may skip.
_IGNORED = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufe0f\ufeff]")
_LINE_END = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True)
class Told:
    """A command that the runner obeys.

    Args:
        name: Its name.
        data: Its data, unescaped.
        properties: Its properties, unescaped.
    """

    name: str
    data: str
    properties: dict[str, str] = field(default_factory=dict)


def commands(output: str) -> list[Told]:
    """The commands in the output of a step that the runner obeys."""
    found: list[Told] = []
    token = None
    for line in _LINE_END.split(output):
        known = [*REGISTERED, *([token] if token else [])]
        told = _double_colon(line, known) or _in_brackets(line, known)
        if told is None:
            continue
        if token is not None:
            token = None if told.name == token else token
        elif told.name == "stop-commands":
            token = told.data.lower()
        else:
            found.append(told)
    return found


def _double_colon(line: str, known: Iterable[str]) -> Told | None:
    text = _IGNORED.sub("", line).lstrip()
    if not text.startswith("::"):
        return None
    info, separator, data = text[2:].partition("::")
    name, _, properties = info.partition(" ")
    if not separator or name.lower() not in known:
        return None
    pairs = [pair.split("=", 1) for pair in properties.strip().split(",") if "=" in pair]
    return Told(name.lower(), _unescaped(data), {key: _unescaped(value, colons=True) for key, value in pairs})


def _in_brackets(line: str, known: Iterable[str]) -> Told | None:
    text = _IGNORED.sub("", line)
    start = text.find("##[")
    end = text.find("]", start)
    if start < 0 or end < 0:
        return None
    name = text[start + 3 : end].partition(" ")[0].lower()
    return Told(name, text[end + 1 :]) if name in known else None


def _unescaped(text: str, *, colons: bool = False) -> str:
    text = text.replace("%0D", "\r").replace("%0A", "\n")
    return (text.replace("%3A", ":").replace("%2C", ",") if colons else text).replace("%25", "%")
