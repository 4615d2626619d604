"""A run as a part of a page: its messages and calls in order, and in them what the reasons speak of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from quickchecks import _render
from quickchecks._run import UNSET, Message, Other, Part, Reasoning, Run, Text, ToolCall, ToolResult
from quickchecks._score import CallRef, Evidence
from quickchecks.reports import _run_words
from quickchecks.reports._html import Element, Node, el, more
from quickchecks.reports._html_texts import Mark, Room, marked, text, value

__all__ = ("MAX_MESSAGES", "MAX_RUN", "Place", "transcript")

#: The most messages that are shown of a run, nested ones included, and the most characters.
MAX_MESSAGES = 400
MAX_RUN = 400_000
_MAX_SYSTEM = 300  # they are long, and the same in every run
_MAX_DEPTH = 12
_MAX_INLINE = 80

_Way = tuple[int, ...]


class Place(Struct, frozen=True):
    """What a reason points at.

    Args:
        evidence: The place in the run.
        label: The number of the reason; empty where there is only one.
    """

    evidence: Evidence
    label: str = ""


def transcript(run: Run, places: Sequence[Place], room: Room) -> list[Element]:
    """Show what happened in a run.

    Args:
        run: The run.
        places: What reasons point at. A place that the run does not have is left out.
        room: How much the page may still show; what the run takes is taken from it.

    Returns:
        The elements.
    """
    given = room.take(MAX_RUN)
    own = Room(given)
    writer = _Writer(run, places, own)
    shown = [writer.run(run, ())]
    room.left += own.left
    left_out = writer.left_out
    if left_out:
        shown.append(el("p", more(left_out, "message"), " not shown: the run is too long for a page", cls="left-out"))
    return [*shown, *_ending(run)]


class _Writer:
    def __init__(self, run: Run, places: Sequence[Place], room: Room) -> None:
        self.room = room
        self.messages = MAX_MESSAGES
        self.left_out = 0
        self.numbers = {(site.run, site.message, site.part): site.number for site in run.call_sites}
        self.marks: dict[tuple[_Way, int, int], list[Place]] = {}
        for place in places:
            at = place.evidence
            self.marks.setdefault((at.run, at.message, at.part), []).append(place)

    def run(self, run: Run, way: _Way) -> Element:
        """The messages of a run; `way` leads to it from the outermost one, as evidence names it."""
        own = 0
        shown: list[Element] = []
        for at, message in enumerate(run.messages):
            history = at < run.history_length
            if self.messages and self.room.left:
                self.messages -= 1
                shown.append(self.message(run, message, at, way, own, history))
            else:
                self.left_out += 1
            if message.role == "assistant" and not history:
                own += sum(type(part) is ToolCall for part in message.parts)
        for child in run.children:
            shown.append(el("li", self.nested(child, child.agent or "another agent", (*way, own)), cls="wide"))
            own += 1
        if not shown:
            shown.append(el("li", el("span", "nothing was said", cls="quiet"), cls="wide"))
        return el("ol", shown, cls="run")

    def nested(self, run: Run, name: str, way: _Way) -> Element:
        title = el("div", "run of ", _render.name(name), cls="who")
        if len(way) > _MAX_DEPTH:
            return el("div", title, el("span", "nested too deeply to be shown", cls="left-out"), cls="nested")
        error = (_error(run),) if run.error is not None else ()
        return el("div", title, self.run(run, way), error, cls="nested")

    def message(self, run: Run, message: Message, at: int, way: _Way, own: int, history: bool) -> Element:
        who: list[Node] = [message.role]
        if message.agent and message.agent != run.agent:
            who += [" ", el("span", _render.name(message.agent), cls="tag")]
        if history:
            who += [" ", el("span", "(history)", cls="tag")]
        what: list[Node] = []
        for index, part in enumerate(message.parts):
            places = self.marks.get((way, at, index), ())
            if type(part) is ToolCall:
                nested = None if part.run is None else self.nested(part.run, part.run.agent or part.name, (*way, own))
                what.append(self.call(run, part, self.numbers.get((way, at, index)), places, nested))
                own += 1
            else:
                what += self.part(message, part, places)
        empty = el("span", "(empty)", cls="quiet")
        return el("li", el("div", who, cls="who"), el("div", what or empty, cls="what"), cls=message.role)

    def part(self, message: Message, part: Part, places: Sequence[Place]) -> Iterator[Node]:
        match part:
            case Text():
                marks = [
                    Mark(place.evidence.start, place.evidence.end, (place.label,) if place.label else ())
                    for place in places
                    if not isinstance(place.evidence, CallRef) and place.evidence.end <= len(part.text)
                ]
                if message.role != "assistant":  # what reasons speak of is said by the agent, so these are of another run
                    marks = []
                if message.role == "system":
                    yield from text(part.text, marks, room=self.room, most_open=_MAX_SYSTEM)
                else:
                    yield from text(part.text, marks, room=self.room)
            case Reasoning():
                size = el("span", f" ({len(part.text):,} characters)", cls="tag")
                yield el("details", el("summary", "thinks", size), text(part.text, room=self.room, most_open=10 * _MAX_SYSTEM))
            case ToolResult():
                of = f" of {_render.name(part.name)}" if part.name else ""
                label = el("span", f"result{of} without its call", cls="label")
                yield el("div", label, value(part.result, room=self.room), cls="call")
            case Other():
                yield el("div", f"[{_render.name(part.kind)}]", cls="quiet")
            case _:
                return

    def call(self, run: Run, call: ToolCall, number: int | None, places: Sequence[Place], nested: Element | None) -> Element:
        found = [place for place in places if isinstance(place.evidence, CallRef) and place.evidence.name == call.name]
        inline = _render.call(call, _MAX_INLINE)
        short = not inline.endswith("…)") and "…" not in inline
        head: list[Node] = [el("code", inline if short else _render.name(call.name))]
        if found:
            head = [marked([place.label for place in found if place.label], *head)]
        label = "call" if number is None else f"call {number}"
        note = _run_words.call_note(call)
        inside: list[Node] = [
            el("div", el("span", label, cls="number-of"), " ", head, el("span", f" {note}", cls="tag") if note else None)
        ]
        if not short:
            inside.append(el("div", value(call.arguments, room=self.room), cls="arguments"))
        if call.arguments_note:
            inside.append(el("div", call.arguments_note, cls="tag"))
        inside += self.outcome(run, call)
        if nested is not None:
            inside.append(nested)
        return el("div", inside, cls="call marked" if found else "call")

    def outcome(self, run: Run, call: ToolCall) -> Iterator[Element]:
        failure = call.failure()
        if failure is not None and failure.source == "unanswered":
            blind = "results" in run.gap_kinds
            yield _outcome("its result is not recorded" if blind else "✗ no result", (), failed=not blind)
        elif failure is not None:
            how = " (judged by its text)" if failure.source == "text" else ""
            said = text(failure.message, room=self.room) if failure.message.strip() else ("without a message",)
            yield _outcome(f"✗ failed{how}", said, failed=True)
        elif call.state in ("awaiting", "denied"):
            yield _outcome("waits for a person’s approval" if call.state == "awaiting" else "a person refused it", ())
        elif call.result is not UNSET:
            yield _outcome("→", value(call.result, room=self.room))


def _outcome(label: str, shown: Iterator[Node] | tuple[str, ...], *, failed: bool = False) -> Element:
    return el("div", el("span", label, cls="label error" if failed else "label"), shown, cls="outcome")


def _error(run: Run) -> Element:
    return el("p", el("strong", "✗ the run itself broke off: ", cls="error"), _run_words.error(run) or "without a message")


def _ending(run: Run) -> Iterator[Element]:
    if run.error is not None:
        yield _error(run)
    yield el("p", ", ".join(_run_words.counts(run)), cls="ending")
    for gap in run.gaps:
        yield el("p", el("strong", "not recorded: "), gap.note, cls="ending")
