"""The run model: what an agent did, in the one form that every check, page and report reads.

A `Run` is a frozen value. Adapters make it from whatever a framework or a file holds; building one never changes what
the caller gave. What the checks ask (the output text, the tool calls) is derived once, on first use, and kept.

`None` means *unknown* throughout, never zero and never false; what the source could not show is in `Run.gaps`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from quickchecks import _wire
from quickchecks._cached import cached
from quickchecks._failures import TEXT_ERROR, ErrorSource, Failure, class_name, content_text, error_type, payload_failure
from quickchecks._places import CallSite, OutputText, Segments, TextSpan, Where
from quickchecks._read_only import read_only

__all__ = (
    "UNSET",
    "CallKind",
    "CallSite",
    "CallState",
    "ErrorSource",
    "Failure",
    "Gap",
    "GapKind",
    "Message",
    "Other",
    "OutputText",
    "Part",
    "Reasoning",
    "Role",
    "Run",
    "RunError",
    "Source",
    "Step",
    "Text",
    "TextSpan",
    "ToolCall",
    "ToolError",
    "ToolResult",
    "UnsetType",
    "Usage",
    "Where",
)

Role = Literal["system", "user", "assistant", "tool"]
CallState = Literal["partial", "requested", "awaiting", "denied", "completed", "failed"]
CallKind = Literal["tool", "provider", "agent", "output", "handoff"]
GapKind = Literal["calls", "results", "nested", "nested_possible", "orphan_result", "text", "input", "usage", "other"]

#: The kinds of call by which frameworks return an answer or hand over; no check counts them.
_PSEUDO = ("output", "handoff")


class Text(Struct, frozen=True, gc=False, omit_defaults=True, tag="text"):
    """Words of the message.

    Args:
        text: The words, exactly as they were written.
        value: When the agent returned a structured value, that value; `text` is then its JSON.
    """

    text: str
    value: object | UnsetType = UNSET


class Reasoning(Struct, frozen=True, gc=False, omit_defaults=True, tag="reasoning"):
    """Thoughts of the model. Never output text."""

    text: str


class Step(Struct, frozen=True, gc=False, omit_defaults=True, tag="step"):
    """The border between two model steps inside one message."""


class Other(Struct, frozen=True, gc=False, omit_defaults=True, tag="other"):
    """A part that no check reads: a file, a source, a citation, data, or a kind that the adapter did not know.

    Args:
        kind: What the source calls it.
        data: The part as it came.
    """

    kind: str
    data: object = None


class ToolError(Struct, frozen=True, gc=False, omit_defaults=True):
    """Why a call failed, as the source told it.

    Args:
        message: The message, as it came.
        type: The class of the error, such as "ValueError", where the source tells it.
        source: Where the source showed it.
    """

    message: str
    type: str = ""
    source: ErrorSource = "flag"


class ToolCall(Struct, frozen=True, dict=True, omit_defaults=True, tag="tool_call", rename={"raw_arguments": "arguments"}):
    """One call that the agent made, with what came of it.

    Args:
        name: The name of the tool.
        raw_arguments: The arguments as they came, an object or the text of one; `arguments` is the parsed form.
        id: The id that the source gave; ids repeat in real recordings, so nothing relies on them.
        state: How far the call got. "partial": streamed in part, never requested. "requested": no result is recorded.
            "awaiting": it waits for a person. "denied": a person refused it. "completed" and "failed".
        kind: "tool"; "provider" (the provider ran it); "agent" (another agent, called as a tool); "output" and
            "handoff" (pseudo tools by which a framework returns its answer or hands over: no check counts them).
        result: What the tool returned, as the source holds it; UNSET when there is none.
        error: Why it failed, when the source says that it did.
        errors_shown_in: Where this source shows that a call failed. "state": it states success or failure of each
            call, so that texts are not judged. "result": the returned value may be an error object, and a text may
            read like an error. "text": as "result", and every value is text on the wire, so it is parsed first.
        agent: Who made the call, where the source tells it.
        duration: Seconds it took.
        run: The run of the agent that this call started, when it is recorded.
        metadata: What else the source held.
    """

    name: str
    raw_arguments: object = None
    id: str | None = None
    state: CallState = "completed"
    kind: CallKind = "tool"
    result: object | UnsetType = UNSET
    error: ToolError | None = None
    errors_shown_in: Literal["state", "result", "text"] = "result"
    agent: str | None = None
    duration: float | None = None
    run: Run | None = None
    metadata: Mapping[str, object] | None = None

    @cached
    def arguments(self) -> object:
        """The arguments, parsed: mostly a dict. Text that is not JSON stays text (see `arguments_note`).

        Whoever reads them gets the same ones, so those that are parsed from a text cannot be changed.
        """
        if not isinstance(self.raw_arguments, str):
            return {} if self.raw_arguments is None else self.raw_arguments
        try:
            return read_only(_wire.loads(self.raw_arguments or "{}"))
        except ValueError:
            return self.raw_arguments

    @property
    def arguments_note(self) -> str:
        """Why the arguments could not be parsed; empty when they could."""
        if isinstance(self.raw_arguments, str) and self.arguments is self.raw_arguments:
            return "the arguments are not valid JSON"
        return ""

    @property
    def counted(self) -> bool:
        """Whether checks count this call: it was requested, and it is no pseudo tool of a framework."""
        return self.state != "partial" and self.kind not in _PSEUDO

    def failure(self, text_errors: bool | Callable[[str], bool] = True) -> Failure | None:
        """Say whether this call failed: the one definition, used by every check.

        A call failed when its state is an error state; when the source flagged it; when its result is an object with
        a truthy `error` or `isError` (a result that is text is parsed first where everything is text on the wire);
        when it was requested and has no result; or, where the source states neither success nor failure, when its
        result is text that begins as errors do (`TEXT_ERROR`), or a list of content parts whose text does. A call that
        waits for a person's approval, or that a person refused, did not fail.

        Args:
            text_errors: False: a text is never taken for an error. A function: it says of a text whether it is one.

        Returns:
            What failed and how that is known, or None.

        Example:
            >>> ToolCall("lookup", result="ValueError: no such order").failure()
            Failure(message='ValueError: no such order', source='text', type='ValueError')
        """
        error = self.error
        if error is not None:
            return Failure(error.message, error.source, class_name(error.type) or error_type(error.message))
        result = self.result
        if self.state == "failed":
            told = payload_failure(result)
            message = told.message if told is not None else result if isinstance(result, str) else ""
            return Failure(message, "state", told.type if told is not None else error_type(message))
        if self.state == "requested":
            return Failure("no result", "unanswered")
        if self.state != "completed":
            return None
        text = result if isinstance(result, str) else ""
        if isinstance(result, (list, tuple)):
            text = content_text(result)
        elif not text:
            return payload_failure(result)
        if self.errors_shown_in == "state":
            return None
        if self.errors_shown_in == "text" and text.lstrip()[:1] == "{":
            try:
                payload = _wire.loads(text)
            except ValueError:
                payload = None
            if (failure := payload_failure(payload)) is not None:
                return failure
        if text_errors is False:
            return None
        found = TEXT_ERROR.match(text) if text_errors is True else text_errors(text)
        return Failure(text, "text", error_type(text)) if found else None


class ToolResult(Struct, frozen=True, gc=False, omit_defaults=True, tag="tool_result"):
    """The result of a call that the recording does not hold. The results of recorded calls stand on the calls.

    Args:
        result: What the tool returned.
        id: The id of the call that it answers, as the source gave it.
        name: The name of the tool, where the source tells it.
        error: Why the call failed, where the source says so.
    """

    result: object = None
    id: str | None = None
    name: str | None = None
    error: ToolError | None = None

    def as_call(self) -> ToolCall:
        """The call that must have been made, as far as its result tells; to judge whether it failed.

        Nothing tells whether the source flags errors, so a text is judged too.
        """
        state: CallState = "completed" if self.error is None else "failed"
        return ToolCall(self.name or "", None, self.id, state, "tool", self.result, self.error, "text")


Part = Text | ToolCall | Reasoning | Step | Other | ToolResult


class Message(Struct, frozen=True, gc=False, omit_defaults=True):
    """One message of a conversation.

    Results of tools stand on the calls that they answer, so a source's tool messages are not messages here.

    Args:
        role: Who speaks.
        parts: What the message holds, in order.
        agent: Which agent speaks, where several do.
        metadata: What else the source held.
    """

    role: Role
    parts: tuple[Part, ...] = ()
    agent: str | None = None
    metadata: Mapping[str, object] | None = None

    @property
    def text(self) -> str:
        """All text parts, joined with nothing."""
        return "".join([part.text for part in self.parts if type(part) is Text])


class Usage(Struct, frozen=True, gc=False, omit_defaults=True):
    """What the run cost. Input tokens include cached ones, output tokens include reasoning.

    Args:
        input_tokens: Tokens sent to the models.
        output_tokens: Tokens that the models wrote.
        cached_tokens: Of the input, those read from a cache.
        reasoning_tokens: Of the output, those spent on reasoning.
        cost: Money spent, in US dollars.
        requests: Calls of a model.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None
    cost: float | None = None
    requests: int | None = None


class RunError(Struct, frozen=True, gc=False, omit_defaults=True):
    """The run itself failed: the agent raised, or the recording says that it broke off.

    Args:
        message: The message, as it came.
        type: The class of the error, where it is known.
    """

    message: str
    type: str = ""


class Gap(Struct, frozen=True, gc=False, omit_defaults=True):
    """Something that the source could not show.

    Args:
        kind: What is missing. "calls": tool calls are not recorded at all. "results": results of tools are not
            recorded. "nested": a call of another agent is known, its inner calls are not. "nested_possible": inner
            calls would not be visible, if there are any. "orphan_result": a result whose call is not recorded.
            "text": the answer is not recorded. "input", "usage", "other": shown, and decide nothing.
        note: The sentence that reasons quote.
        name: The tool or agent that it is about, where there is one.
    """

    kind: GapKind
    note: str
    name: str | None = None


class Source(Struct, frozen=True, gc=False, omit_defaults=True):
    """Where a run was read from. `str()` gives what an editor can jump to, such as `runs.jsonl:812`.

    Args:
        file: The file, as the user named it; "-" is standard input.
        line: The line, counted from 1, in files of one run a line.
        index: The place in the array, counted from 0, in files that hold an array.
    """

    file: str
    line: int | None = None
    index: int | None = None

    def __str__(self) -> str:
        if self.line is not None:
            return f"{self.file}:{self.line}"
        return self.file if self.index is None else f"{self.file}[{self.index}]"


class _Derived(Struct, frozen=True, gc=False):
    segments: Segments
    calls: tuple[ToolCall, ...]
    nested: tuple[Run, ...]


class Run(Struct, frozen=True, dict=True, omit_defaults=True, tag_field="schema", tag="quickchecks.run/1"):
    """One recorded execution of an agent.

    Args:
        messages: The whole transcript, in order.
        input: What the agent was asked, where it is not (only) a message.
        id: The id of the run in its source.
        history_length: How many of the messages were there before this run; checks do not read those.
        usage: Tokens and cost.
        duration: Seconds the run took.
        error: That the run itself failed.
        agent: The name of the agent.
        children: Nested runs that no recorded call started (tasks of a crew, members of a team).
        gaps: What the source could not show.
        metadata: What else the source held.
        format: The adapter that read it.
        source: Where it was read from.

    Example:
        >>> run = Run((Message("user", (Text("Weather?"),)), Message("assistant", (Text("Sunny."),))))
        >>> run.text
        'Sunny.'
    """

    messages: tuple[Message, ...] = ()
    input: object = None
    id: str | None = None
    history_length: int = 0
    usage: Usage | None = None
    duration: float | None = None
    error: RunError | None = None
    agent: str | None = None
    children: tuple[Run, ...] = ()
    gaps: tuple[Gap, ...] = ()
    metadata: Mapping[str, object] | None = None
    format: str = "quickchecks"
    source: Source | None = None

    def forget(self) -> None:
        """Drop what was derived from the messages; it is derived again when somebody asks.

        The texts that checks compare are as large as the run, so whoever keeps many runs drops them after scoring.
        """
        vars(self).clear()

    @property
    def history(self) -> tuple[Message, ...]:
        """The messages that were there before this run."""
        return self.messages[: self.history_length]

    @property
    def text(self) -> str:
        """The output text: the segments, joined with one space."""
        return self.spoken.raw

    @property
    def final_text(self) -> str:
        """The final answer: the last assistant message (or step of one) that says anything."""
        return self.spoken_last.raw

    @property
    def output(self) -> object:
        """The structured value that the agent returned, when it returned one; else the output text."""
        for message in reversed(self.messages[self.history_length :]):
            if message.role == "assistant":
                for part in reversed(message.parts):
                    if type(part) is Text and part.value is not UNSET:
                        return part.value
        return self.text

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The calls that checks count, those of nested runs included, in the order made."""
        return self._derived.calls

    @cached
    def all_tool_calls(self) -> tuple[ToolCall, ...]:
        """Every call of every kind and state, those of nested runs included, in the order made."""
        return tuple(call for call, *_ in self._walk_calls())

    @cached
    def tool_names(self) -> tuple[str, ...]:
        """The names of `tool_calls`."""
        return tuple([call.name for call in self._derived.calls])

    @cached
    def call_sites(self) -> tuple[CallSite, ...]:
        """The calls that checks count, each with its number, its agent and its place."""
        counted = (site for site in self._walk_calls() if site[0].counted)
        return tuple(
            CallSite(call, number, message, part, agent, path)
            for number, (call, message, part, agent, path) in enumerate(counted, 1)
        )

    @cached
    def gap_kinds(self) -> frozenset[str]:
        """The kinds of gap that this run and its nested runs have."""
        kinds: set[str] = {gap.kind for gap in self.gaps}
        for nested in self.nested_runs:
            kinds |= nested.gap_kinds
        return frozenset(kinds)

    @property
    def nested_runs(self) -> tuple[Run, ...]:
        """The runs directly below this one: those that its calls started, then `children`."""
        return self._derived.nested

    def gaps_of(self, *kinds: GapKind) -> tuple[Gap, ...]:
        """The gaps of these kinds, those of nested runs included."""
        found = [gap for gap in self.gaps if gap.kind in kinds]
        for nested in self.nested_runs:
            found.extend(nested.gaps_of(*kinds))
        return tuple(found)

    @cached
    def spoken(self) -> OutputText:
        """The output text with one space between segments, as `includes`, `excludes` and `similarity` read it."""
        segments = self._derived.segments
        return OutputText(" ".join(segments.texts), " ", "all", segments)

    @cached
    def spoken_closed_up(self) -> OutputText:
        """The output text with nothing between segments, as `equals` and `matches` read it."""
        segments = self._derived.segments
        return OutputText("".join(segments.texts), "", "all", segments) if len(segments.texts) > 1 else self.spoken

    @cached
    def spoken_last(self) -> OutputText:
        """The final answer."""
        pieces = self._pieces("final")
        texts = [self._part_text(message, part) for segment in pieces for message, part, _ in segment]
        text = "".join(texts)
        return OutputText(text, "", "final", Segments((text,)))

    @cached
    def _derived(self) -> _Derived:
        """What nearly every check needs, found in one pass over the messages."""
        segments: list[str] = []
        calls: list[ToolCall] = []
        nested: list[Run] = []
        for message in self.messages[self.history_length :] if self.history_length else self.messages:
            if message.role != "assistant":
                continue
            text = ""
            for part in message.parts:
                if type(part) is Text:
                    text = text + part.text if text else part.text
                    continue
                if type(part) is ToolCall:
                    if part.state != "partial" and part.kind not in _PSEUDO:
                        calls.append(part)
                    if part.run is not None:
                        nested.append(part.run)
                        calls.extend(part.run.tool_calls)
                elif type(part) is Other:
                    continue
                if text:
                    segments.append(text)
                    text = ""
            if text:
                segments.append(text)
        for child in self.children:
            nested.append(child)
            calls.extend(child.tool_calls)
        return _Derived(Segments(segments), tuple(calls), tuple(nested))

    def _part_text(self, message: int, part: int) -> str:
        found = self.messages[message].parts[part]
        return found.text if type(found) is Text else ""

    def _pieces(self, where: Where) -> list[list[tuple[int, int, int]]]:
        """The segments as lists of (message, part, length), for the way back from text to parts."""
        segments: list[list[tuple[int, int, int]]] = []
        final: list[tuple[int, int, int]] = []
        for at in range(self.history_length, len(self.messages)):
            message = self.messages[at]
            if message.role != "assistant":
                continue
            segment: list[tuple[int, int, int]] = []
            step: list[tuple[int, int, int]] = []
            for index, part in enumerate(message.parts):
                if type(part) is Text:
                    if part.text:
                        segment.append((at, index, len(part.text)))
                        step.append((at, index, len(part.text)))
                elif type(part) is not Other:
                    if segment:
                        segments.append(segment)
                        segment = []
                    if type(part) is Step:
                        final = step if self._says_something(step) else final
                        step = []
            if segment:
                segments.append(segment)
            final = step if self._says_something(step) else final
        return segments if where == "all" else [final]

    def _says_something(self, step: list[tuple[int, int, int]]) -> bool:
        return any(self._part_text(message, part).strip() for message, part, _ in step)

    def _walk_calls(
        self, agent: str | None = None, path: tuple[int, ...] = ()
    ) -> Iterator[tuple[ToolCall, int, int, str | None, tuple[int, ...]]]:
        """Every call with its message, part, agent and path; a call comes before those of the run it started."""
        agent = self.agent or agent
        own = 0
        for at in range(self.history_length, len(self.messages)):
            message = self.messages[at]
            if message.role != "assistant":
                continue
            for index, part in enumerate(message.parts):
                if type(part) is ToolCall:
                    yield part, at, index, part.agent or message.agent or agent, path
                    if part.run is not None:
                        yield from part.run._walk_calls(part.name, (*path, own))
                    own += 1
        for child in self.children:
            yield from child._walk_calls(None, (*path, own))
            own += 1
