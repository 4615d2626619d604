"""When a tool call failed, as far as its result tells. `ToolCall.failure` puts this together with what the source says."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from quickchecks import _wire

__all__ = ("TEXT_ERROR", "ErrorSource", "Failure", "class_name", "content_text", "error_type", "payload_failure")

ErrorSource = Literal["state", "flag", "payload", "text", "span", "exception", "unanswered"]

#: The beginnings by which a result that carries no error flag is taken for an error (ADAPTERS: the closed list).
TEXT_ERROR = re.compile(
    r"\s*(?:\w*(?:Error|Exception)\s*:"
    r"|An error occurred while running the tool"
    r"|Failed to invoke"
    r"|Execution error in "
    r"|Error executing tool"
    r"|Tool '[^'\n]*' (?:not found|timed out))"
)


class Failure(Struct, frozen=True, gc=False):
    """That a call failed, why, and how sure that is.

    Args:
        message: What the source said, or "no result".
        source: What showed it. "text" means that the result only reads like an error.
        type: The class of the error, such as "ValueError"; empty when unknown.
    """

    message: str
    source: ErrorSource
    type: str = ""


def payload_failure(result: object) -> Failure | None:
    """A result that is an object with a truthy `error` or `isError` is a failure."""
    if not isinstance(result, Mapping):
        return None
    error = result.get("error")
    if error:
        if isinstance(error, Mapping):
            message = error.get("message")
            said = message if isinstance(message, str) and message else _wire.shown(error)
            return Failure(said, "payload", class_name(error.get("type")) or error_type(said))
        message = error if isinstance(error, str) else _wire.shown(result)
        return Failure(message, "payload", error_type(message))
    if result.get("isError") or result.get("is_error"):
        return Failure(content_text(result.get("content")) or _wire.shown(result), "flag")
    return None


def content_text(content: object) -> str:
    """The words of a result that is text, or a list of content parts of which some are text."""
    if isinstance(content, str):
        return content
    if not isinstance(content, (list, tuple)):
        return ""
    texts = [block.get("text") for block in content if isinstance(block, Mapping)]
    return " ".join(text for text in texts if isinstance(text, str))


def class_name(given: object) -> str:
    """What a source gives as the class of an error, where it can be one; empty where it holds whole sentences."""
    return given if isinstance(given, str) and re.fullmatch(r"[\w.]{1,80}", given) else ""


def error_type(message: str) -> str:
    """The class name that a message begins with, such as "ValueError"; empty when it begins otherwise."""
    found = re.match(r"\s*(\w{0,80}(?:Error|Exception))\s*:", message)
    return found[1] if found else ""
