"""What a reason speaks of, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from quickchecks import _render
from quickchecks._run import Run, Text, TextSpan, ToolCall
from quickchecks._score import Evidence

__all__ = ("told",)

#: So many places are told of one reason, and so much of a call.
_MOST = 5
_MAX_CALL = 200


def told(run: Run, evidence: Sequence[Evidence]) -> Iterator[str]:
    """Tell the places that a reason speaks of: `call 2: look_up(city="Oslo")`, `message 3: "… sunny …"`.

    Args:
        run: The run.
        evidence: The places in it.

    Yields:
        A place each; then how many more there are.
    """
    for one in evidence[:_MOST]:
        if isinstance(one, TextSpan):
            found = _text(run, one)
            where = " of another agent's run" if one.run else ""
            if found:
                yield f"message {one.message + 1}{where}: {_render.excerpt(found, one.start, one.end)}"
        else:
            made = next((site.call for site in run.call_sites if site.number == one.call), None)
            yield f"call {one.call}: {_render.name(one.name) if made is None else _render.call(made, _MAX_CALL)}"
    if len(evidence) > _MOST:
        yield f"and {_render.many(len(evidence) - _MOST, 'more place')}"


def _text(run: Run, span: TextSpan) -> str:
    """The text that a span lies in; empty when there is none, as in a run that was not kept whole."""
    for number in span.run:
        calls = [part for message in run.messages[run.history_length :] for part in message.parts if isinstance(part, ToolCall)]
        runs = [*(call.run for call in calls), *run.children]
        inner = runs[number] if number < len(runs) else None
        if inner is None:
            return ""
        run = inner
    parts = run.messages[span.message].parts if span.message < len(run.messages) else ()
    part = parts[span.part] if span.part < len(parts) else None
    return part.text if isinstance(part, Text) else ""
