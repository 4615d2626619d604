"""A run as a transcript for people: numbered messages and calls, what came of each call, and what the source could not show."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from quickchecks import _render, _wire
from quickchecks._run import UNSET, Message, Other, Part, Reasoning, Run, Step, Text, ToolCall, ToolResult
from quickchecks.reports import _run_words
from quickchecks.reports._safe import lines, one_line, path
from quickchecks.reports.terminal import BLANK, Line, line

__all__ = ("transcript",)

#: How much of a text and of a value is shown, unless everything is asked for.
MAX_TEXT = 1500
MAX_SYSTEM = 400  # they are long, and the same in every run
MAX_VALUE = 300
EVERYTHING = 10_000_000

_NUMBER = 3
_ROLE = 9
_NEST = 4


def transcript(run: Run, *, full: bool = False) -> Iterator[Line]:
    """The lines that show a run.

    Args:
        run: The run.
        full: Whether long texts and values are shown whole.
    """
    numbers = {(site.run, site.message, site.part): site.number for site in run.call_sites}
    title = [(str(path(str(run.source))), "bold")] if run.source is not None else [("run", "bold")]
    about = [run.format, f"id {one_line(run.id)}" if run.id else "", f"agent {one_line(run.agent)}" if run.agent else ""]
    yield line(*title, "  " + "  ".join(part for part in about if part), whole=True)
    if run.input is not None:
        yield line(("input  ", "dim"), one_line(_render.value(run.input, MAX_TEXT)), indent=2, hang=9)
    yield BLANK
    yield from _Writer(numbers, full).run(run, (), 2)
    yield BLANK
    yield from _ending(run)


class _Writer:
    def __init__(self, numbers: dict[tuple[tuple[int, ...], int, int], int], full: bool) -> None:
        self.numbers = numbers
        self.most_text = EVERYTHING if full else MAX_TEXT
        self.most_system = EVERYTHING if full else MAX_SYSTEM
        self.most_value = EVERYTHING if full else MAX_VALUE

    def run(self, run: Run, way: tuple[int, ...], indent: int) -> Iterator[Line]:
        """The messages of a run; `way` leads to it from the outermost one, as evidence names it."""
        own = 0
        for at, message in enumerate(run.messages):
            history = at < run.history_length
            yield from self.message(run, message, at, way, own, indent, history)
            if message.role == "assistant" and not history:
                own += sum(type(part) is ToolCall for part in message.parts)
        for child in run.children:
            yield line((f"run of {one_line(child.agent or 'another agent')}", "bold"), indent=indent + _NEST)
            yield from self.run(child, (*way, own), indent + _NEST)
            own += 1

    def message(
        self, run: Run, message: Message, at: int, way: tuple[int, ...], own: int, indent: int, history: bool
    ) -> Iterator[Line]:
        column = indent + _NUMBER + 2 + _ROLE + 2
        style = {"user": "cyan", "assistant": "green"}.get(message.role, "dim")
        head: tuple[tuple[str, str], ...] = ((f"{at + 1:>{_NUMBER}}  ", "dim"), (f"{message.role:<{_ROLE}}  ", style))
        agent = message.agent if message.agent != run.agent else None
        if agent or history:
            note = " ".join(part for part in (f"({one_line(agent)})" if agent else "", "(history)" if history else "") if part)
            yield line(*head, (note, "dim"), indent=indent)
            head = ()
        empty = True
        for index, part in enumerate(message.parts):
            number = None
            if type(part) is ToolCall:
                number = self.numbers.get((way, at, index))
            for inner in self.part(run, part, number, self.most_text if message.role != "system" else self.most_system):
                empty = False
                if head:
                    yield line(*head, *inner.parts, indent=indent, hang=column + inner.hang)
                    head = ()
                else:
                    yield line(*inner.parts, indent=column + inner.indent, hang=column + inner.hang)
            if type(part) is ToolCall:
                if part.run is not None:
                    yield line((f"run of {one_line(part.run.agent or part.name)}", "bold"), indent=column)
                    yield from self.run(part.run, (*way, own), column)
                own += 1
        if empty and head:
            yield line(*head, ("(empty)", "dim"), indent=indent)

    def part(self, run: Run, part: Part, number: int | None, most_text: int) -> Iterator[Line]:
        """The lines of one part, indented within its column."""
        match part:
            case Text():
                yield from self.words(part.text, "", most_text)
            case ToolCall():
                yield from self.call(run, part, number)
            case Reasoning():
                yield from self.words(f"(thinks) {part.text}", "dim", most_text)
            case ToolResult():
                of = f" of {one_line(part.name)}" if part.name else ""
                yield line((f"result{of} without its call: ", "yellow"), self.value(part.result))
            case Other():
                yield line((f"[{one_line(part.kind)}]", "dim"))
            case Step():
                yield line(("·", "dim"))

    def words(self, text: str, style: str, most: int) -> Iterator[Line]:
        for one in lines(text[:most]):
            yield line((one, style))
        if len(text) > most:
            yield line((f"… {len(text) - most:,} characters more: --full shows them", "dim"))

    def call(self, run: Run, call: ToolCall, number: int | None) -> Iterator[Line]:
        label = f"call {number}  " if number is not None else "call  "
        note = _run_words.call_note(call)
        shown = one_line(_render.call(call, self.most_value))
        yield line((label, "bold"), shown, (f"  ({note})" if note else "", "dim"), hang=len(label))
        yield from self.outcome(run, call)

    def outcome(self, run: Run, call: ToolCall) -> Iterator[Line]:
        failure = call.failure()
        if failure is not None and failure.source == "unanswered":
            blind = "results" in run.gap_kinds
            yield line(("its result is not recorded", "dim") if blind else ("✗ no result", "red"), indent=2, hang=4)
        elif failure is not None:
            said = one_line(_render.quoted(failure.message, self.most_value)) if failure.message.strip() else "without a message"
            how = " (judged by its text)" if failure.source == "text" else ""
            yield line(("✗ failed: ", "red"), said, (how, "dim"), indent=2, hang=4)
        elif call.state in ("awaiting", "denied"):
            told = "waits for a person's approval" if call.state == "awaiting" else "a person refused it"
            yield line((told, "yellow"), indent=2, hang=4)
        elif call.result is not UNSET:
            yield line(("→ ", "dim"), self.value(call.result), indent=2, hang=4)

    def value(self, value: object) -> str:
        """A value as JSON; text that is JSON, as tools often return it, like any other."""
        if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
            with suppress(ValueError):
                value = _wire.loads(value)
        return one_line(_render.value(value, self.most_value))


def _ending(run: Run) -> Iterator[Line]:
    if run.error is not None:
        yield line(("✗ the run itself broke off: ", "red"), one_line(_run_words.error(run)), indent=2)
    yield line(", ".join(_run_words.counts(run)), indent=2)
    for gap in run.gaps:
        yield line(("gap: ", "yellow"), one_line(gap.note), indent=2)
