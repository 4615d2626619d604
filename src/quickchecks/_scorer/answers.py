"""What the steps of a scorer may return, and what is made of it."""

from __future__ import annotations

from math import isfinite

from quickchecks import _render

__all__ = ("ABSTAINED", "WITHOUT_VALUE", "number", "plain_score", "text_reason", "value_and_reason")

#: The reason of an abstention that came without one.
ABSTAINED = {
    "not_applicable": "there is nothing here to judge",
    "no_evidence": "the record cannot show what this asks",
}
#: A score step with one of these outcomes ends the pipeline: there is no value to give a reason for.
WITHOUT_VALUE = ("not_applicable", "no_evidence", "error")


def value_and_reason(answer: object) -> tuple[object, str | None]:
    """Take apart what a score step returned: the value, as plain Python, and the reason beside it, if there is one."""
    reason = None
    if isinstance(answer, tuple) and len(answer) == 2 and isinstance(answer[1], str):
        answer, reason = answer
    item = getattr(answer, "item", None)
    if type(answer).__module__ == "numpy" and callable(item):  # its bool is no bool of Python
        answer = item()
    return answer, reason


def plain_score(answer: object, value: float | None) -> bool | float | None:
    """What later steps see as the score: what the score step gave where it is a bool or a number, else its value."""
    plain, _ = value_and_reason(answer)
    return plain if isinstance(plain, (bool, int, float)) else value


def number(given: object, score_range: tuple[float, float]) -> float:
    """Require a finite number within a range.

    Raises:
        TypeError: It is no number.
        ValueError: It is not finite, or outside of the range.
    """
    low, high = score_range
    convert = getattr(given, "__float__", None)
    if convert is None:
        raise TypeError(f"a score is a bool or a number in {low:g}..{high:g}, not {_render.value(given)}")
    found = float(convert())
    if not isfinite(found) or not low <= found <= high:
        hint = "" if score_range != (0.0, 1.0) else "; declare another range with score_range=(low, high)"
        raise ValueError(f"a score is a bool or a number in {low:g}..{high:g}, not {found:g}{hint}")
    return found


def text_reason(answer: object) -> str:
    """Require a reason to be text.

    Raises:
        TypeError: It is something else.
    """
    if not isinstance(answer, str):
        raise TypeError(f"a reason is text, not {_render.value(answer)}")
    return answer
