"""The bounds within which a value has to lie."""

from __future__ import annotations

from math import isfinite

from msgspec import Struct

from quickchecks import _render
from quickchecks.errors import CheckArgumentError, CheckArgumentTypeError

__all__ = ("Bounds",)

#: Averages are sums of floats, so that 0.7 may come out as 0.6999999999999999.
SLACK = 1e-9


class Bounds(Struct, frozen=True, omit_defaults=True):
    """The lowest and the highest value that a threshold accepts, both included.

    Args:
        min: The lowest value; None for no limit.
        max: The highest value; None for no limit.

    Raises:
        CheckArgumentError: There is no limit, a limit is not a finite number, or `min` is above `max`.

    Example:
        >>> Bounds(min=0.7).met(0.7), Bounds(0.2, 0.4).met(0.5)
        (True, False)
    """

    min: float | None = None
    max: float | None = None

    def __post_init__(self) -> None:
        for name, limit in (("min", self.min), ("max", self.max)):
            if limit is None:
                continue
            if isinstance(limit, bool) or not isinstance(limit, (int, float)):
                raise CheckArgumentTypeError(f"a threshold takes {name} as a number, not {_render.value(limit)}")
            if not isfinite(limit):
                raise CheckArgumentError(f"a threshold takes {name} as a finite number, not {limit}")
        if self.min is None and self.max is None:
            raise CheckArgumentError("a threshold without min and max accepts every value: give it one of them")
        if self.min is not None and self.max is not None and self.min > self.max:
            raise CheckArgumentError(f"a threshold with min={self.min:g} above max={self.max:g} accepts no value")

    def within(self, score_range: tuple[float, float]) -> Bounds:
        """Return these bounds, once they are known to lie within the range of a scorer.

        Args:
            score_range: The lowest and the highest value of the scorer.

        Raises:
            CheckArgumentError: A limit lies outside, so that it could never, or only, be met.
        """
        low, high = score_range
        for name, limit in (("min", self.min), ("max", self.max)):
            if limit is not None and not low <= limit <= high:
                percent = f"; for {limit:g} % write {limit / 100:g}" if 1 < limit <= 100 and high == 1 else ""
                raise CheckArgumentError(
                    f"a threshold takes {name} in {low:g}..{high:g}, where the scores lie, not {limit:g}{percent}"
                )
        return self

    def met(self, value: float) -> bool:
        """Whether a value lies within the bounds, but for the noise of floats.

        Args:
            value: The value, such as an average of scores.
        """
        return (self.min is None or value >= self.min - SLACK) and (self.max is None or value <= self.max + SLACK)

    def __str__(self) -> str:
        """Write them as `≥ 0.7`, `≤ 0.2` or `0.2–0.4`."""
        if self.max is None:
            return f"≥ {self.min:g}"
        return f"≤ {self.max:g}" if self.min is None else f"{self.min:g}–{self.max:g}"
