"""Places in a run that evidence points at, and the way to them from the text that checks compare."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from quickchecks._text import composed, folded, original_span

if TYPE_CHECKING:
    from quickchecks._run import Run, ToolCall

__all__ = ("CallSite", "OutputText", "Segments", "TextSpan", "Where")

Where = Literal["all", "final"]


class TextSpan(Struct, frozen=True, gc=False, omit_defaults=True, tag="text"):
    """A place in the words of a run.

    Args:
        message: Index into `Run.messages`.
        part: Index into `Message.parts`.
        start: First code point of the part's raw text.
        end: Code point after the last.
        run: The way to a nested run, from 0: at each level the number of the call that started it among the run's own
            calls of every kind; the runs in `Run.children` are numbered after those.
    """

    message: int
    part: int
    start: int
    end: int
    run: tuple[int, ...] = ()


class CallSite(Struct, frozen=True, gc=False):
    """A counted call together with where it stands.

    Args:
        call: The call.
        number: Its number among the counted calls, from 1.
        message: Index of its message, in the run that made it.
        part: Index of its part.
        agent: Who made it: the call's, the message's or the run's agent; None when nobody is named.
        run: The way to a nested run (see `TextSpan`); empty for the root.
    """

    call: ToolCall
    number: int
    message: int
    part: int
    agent: str | None
    run: tuple[int, ...] = ()


class Segments(Struct, eq=False, gc=False):
    """The segments of an output text, each folded once for all the texts that are made of them.

    Args:
        texts: The segments as they were written.
    """

    texts: Sequence[str]
    _folded: list[str] | None = None

    @property
    def folded(self) -> list[str]:
        """The segments in NFC, case-folded."""
        if self._folded is None:
            self._folded = [folded(text) for text in self.texts]
        return self._folded


class OutputText(Struct, eq=False, gc=False):
    """The output text of a run, in the forms that checks compare, with the way back to the parts.

    It does not hold the run, because the run holds it, and a cycle would keep every scored run for the collector.

    Args:
        raw: The text as it was written.
        separator: What stands between two segments.
        where: "all" segments, or the "final" answer only.
        segments: What it is made of.
    """

    raw: str
    separator: str
    where: Where
    segments: Segments
    _composed: str | None = None
    _folded: str | None = None

    @property
    def composed(self) -> str:
        """The text in NFC."""
        if self._composed is None:
            self._composed = composed(self.raw)
        return self._composed

    @property
    def folded(self) -> str:
        """The text in NFC, case-folded."""
        if self._folded is None:
            self._folded = self._fold()
        return self._folded

    def _fold(self) -> str:
        """Fold the text by its segments: in most texts all but a few are ASCII, which folds much faster."""
        if self.raw.isascii():
            return self.raw.lower()
        if self.separator:
            return self.separator.join(self.segments.folded)
        # A segment that begins with a mark may compose with the end of the one before it.
        if any(text >= "\u0300" for text in self.segments.texts[1:]):
            return folded(self.raw)
        return composed("".join(self.segments.folded))

    def original(self, start: int, end: int, *, fold: bool) -> tuple[int, int]:
        """Map a span of `folded` (or, without `fold`, of `composed`) to one of `raw`."""
        return original_span(self.raw, start, end, fold=fold)

    def places(self, run: Run, start: int = 0, end: int | None = None) -> tuple[TextSpan, ...]:
        """Map a span of `raw` (by default all of it) to places in the parts of the run that this is the text of.

        A span that crosses segments or parts gives one place for each part that it touches.
        """
        found: list[TextSpan] = []
        end = len(self.raw) if end is None else end
        at = 0
        for index, segment in enumerate(run._pieces(self.where)):
            at += len(self.separator) if index else 0
            for message, part, length in segment:
                first, last = max(start - at, 0), min(end - at, length)
                if first < last:
                    found.append(TextSpan(message, part, first, last))
                at += length
        return tuple(found)
