"""What must not stand in a message: keys, headers and variables that a user gave, wherever somebody else's text repeats them.

Servers and programs say again what they were given, whole, cut off, or written in another way. All of that becomes "***".
"""

from __future__ import annotations

import json
import re
from base64 import b64decode
from collections.abc import Iterable, Mapping
from urllib.parse import quote, quote_plus, unquote_plus

__all__ = ("Mask", "header_secrets", "setting_secrets")

#: The shortest beginning or end of a secret that is masked, in characters; what is shorter is masked as a word of its own.
END = 4
#: The shortest piece from the middle of a secret that is masked.
PIECE = 6
#: How much of a text is looked at. What is shown of it is far less, so that nobody sees where it was cut.
LOOKED_AT = 2**16
_SCHEMES = ("bearer", "basic", "token", "digest", "apikey")
_SECRET_NAME = re.compile(r"(?i)key|token|secret|passw|authorization|credential|header")


class Mask:
    """Replaces secrets in texts.

    Args:
        secrets: The secrets.

    Example:
        >>> Mask(["sesame-street"])("401: 'sesame-street' is no key, nor is 'sesame-st'")
        "401: '***' is no key, nor is '***'"
    """

    def __init__(self, secrets: Iterable[str]) -> None:
        forms = {form for secret in secrets for form in _forms(secret.strip())}
        self._whole = {form for form in forms if len(form) >= END}
        words = [re.escape(form) for form in sorted(forms) if 1 < len(form) < END]
        self._words = re.compile(rf"(?<!\w)(?:{'|'.join(words)})(?!\w)") if words else None
        self._pieces: set[str] = set()
        for form in self._whole:
            if not form.startswith(("/", "~", "./")):  # the beginning of a path is no secret, and stands in every traceback
                self._pieces |= {form[:END], form[-END:]}
                self._pieces.update(form[at : at + PIECE] for at in range(len(form) - PIECE + 1))

    def __call__(self, text: str) -> str:
        """The text without the secrets; no more of it than anybody will be shown."""
        text = text[:LOOKED_AT]
        hidden = bytearray(len(text))
        for secret in self._whole:
            at = text.find(secret)
            while at >= 0:
                hidden[at : at + len(secret)] = b"x" * len(secret)
                at = text.find(secret, at + 1)
        if self._pieces:
            for length in (END, PIECE):
                for at in range(len(text) - length + 1):
                    if text[at : at + length] in self._pieces:
                        hidden[at : at + length] = b"x" * length
        if self._words is not None:
            for found in self._words.finditer(text):
                hidden[found.start() : found.end()] = b"x" * len(found[0])
        shown: list[str] = []
        at = 0
        for secret_part in re.finditer(rb"x+", hidden):
            shown += (text[at : secret_part.start()], "***")
            at = secret_part.end()
        return "".join([*shown, text[at:]])

    def inside(self, value: object, depth: int = 20) -> object:
        """A value of JSON without the secrets in its texts."""
        if isinstance(value, str):
            return self(value)
        if not depth or not isinstance(value, (Mapping, list)):
            return value if not isinstance(value, (Mapping, list)) else "…"
        if isinstance(value, Mapping):
            return {self(str(key)): self.inside(item, depth - 1) for key, item in value.items()}
        return [self.inside(item, depth - 1) for item in value]


def header_secrets(value: str) -> list[str]:
    """What is secret in the value of a header: all of it, its words, and what stands in a Basic one in base64."""
    words = [word for word in value.split() if word.lower() not in _SCHEMES]
    found = [value, *words]
    if value.lower().startswith("basic ") and words:
        try:
            decoded = b64decode(words[0], validate=True).decode()
        except ValueError:
            return found
        found += [decoded, *decoded.split(":", 1)]
    return found


def setting_secrets(value: object, *, secret: bool = False) -> list[str]:
    """The texts in the settings of a request that may be secret: what a name says is one, and what looks like one."""
    if isinstance(value, Mapping):
        named = [(item, secret or _SECRET_NAME.search(str(name)) is not None) for name, item in value.items()]
        return [found for item, known in named for found in setting_secrets(item, secret=known)]
    if isinstance(value, (list, tuple)):
        return [found for item in value for found in setting_secrets(item, secret=secret)]
    if not isinstance(value, str):
        return []
    if secret:
        return header_secrets(value)
    is_odd = len(value) >= END and not re.search(r"\s", value) and (len(value) > 20 or any(sign.isdigit() for sign in value))
    return [value] if is_odd else []


def _forms(secret: str) -> set[str]:
    """A secret as it is, and as it may come back: in JSON, in Python, in an address."""
    written = (
        secret,
        json.dumps(secret)[1:-1],
        json.dumps(secret, ensure_ascii=False)[1:-1],
        repr(secret)[1:-1],
        quote(secret, safe="", errors="replace"),
        quote(secret, errors="replace"),
        quote_plus(secret, errors="replace"),
        unquote_plus(secret),
    )
    return {form for form in written if form}
