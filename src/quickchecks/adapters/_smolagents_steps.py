"""The steps of an agent of smolagents, as objects or as dicts.

A step says that it failed, not which of its calls did, and it keeps what its tools returned as one text. So results are read
only where there is one call, or where the tools were listened to while they ran.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import force_setattr

from quickchecks import _wire
from quickchecks._failures import error_type
from quickchecks._run import CallKind, Gap, Message, Other, Part, Reasoning, Run, RunError, Text, ToolCall, ToolError, Usage
from quickchecks.adapters._objects import field, is_a, plain
from quickchecks.adapters._pairing import complete
from quickchecks.adapters._shapes import as_mapping, expected, join, text_id

__all__ = ("Seen", "is_step", "steps_run")

#: smolagents itself takes this name, and it alone, for the answer.
_ANSWER = "final_answer"
_TOOL_FAILED = re.compile(r"Error executing (?:tool|request to team member) '(?P<name>[^']*)' with arguments (?P<rest>.*)", re.S)
_UNKNOWN_TOOL = re.compile(r"Unknown tool (?P<name>\S+), should be one of")
_CAUSE = re.compile(r".*?: (?P<type>\w+): (?P<message>.*?)(?:\nPlease try again.*)?$", re.S)

_CODE = Gap("calls", "the tools that the agent called in its code are not recorded in the steps")
_NESTED = Gap("nested_possible", "where a tool is itself an agent, its inner calls are not visible in these steps")
_JOINED = Gap("results", "what several tools of one step returned is recorded as one text")
_LOST = Gap("results", "where one call of a step failed, the results of the others are not recorded")


class Seen(Struct):
    """What a tool was seen to do.

    Args:
        name: The name of the tool.
        arguments: What it was given.
        result: What it returned.
        error: What it raised.
        seconds: How long it took.
        run: The run of the agent that it is.
    """

    name: str
    arguments: object
    result: object | UnsetType = UNSET
    error: BaseException | None = None
    seconds: float | None = None
    run: Run | None = None


def is_step(value: Any) -> bool:
    """Whether a dict is a step as smolagents writes it."""
    if type(value) is not dict:
        return False
    if "task" in value:
        return "task_images" in value
    if "plan" in value:
        return "model_output_message" in value
    return "step_number" in value and "code_action" in value and "observations" in value


def steps_run(
    steps: Sequence[Any],
    output: Any = UNSET,
    *,
    path: str = "",
    calls: Callable[[int, Any], list[Seen]] | None = None,
    start: int | None = None,
) -> Run:
    """Read steps; those before the last task are of earlier runs.

    Args:
        steps: The steps.
        output: The answer; UNSET where the last step tells it.
        path: Where the steps stand.
        calls: What tools were seen to do in a step, by its place and the step itself, where that was listened to.
        start: Where this run begins; None for the last task.
    """
    tasks = [at for at, step in enumerate(steps) if field(step, "task") is not None]
    begins = start if start is not None else tasks[-1] if tasks else 0
    reader = StepReader(path, calls)
    reader.read(steps[:begins], 0)
    history = len(reader.messages)
    reader.begin()
    reader.read(steps[begins:], begins)
    gaps = reader.gaps
    answer = reader.answer if output is UNSET else output
    if answer is UNSET and calls is None:
        gaps.append(Gap("text", "the steps end before the answer"))
    elif answer is not UNSET:
        reader.messages.append(Message("assistant", (_answer(answer),)))
    if not tasks and start is None:
        gaps.append(Gap("input", "these steps do not show what was asked"))
    if calls is None and reader.made_calls:
        gaps.append(_NESTED)
    error = reader.limit
    return Run(
        tuple(reader.messages),
        history_length=history,
        usage=reader.usage,
        error=None if error is None else RunError(error, "AgentMaxStepsError"),
        gaps=tuple(dict.fromkeys(gaps)),
    )


def _answer(answer: Any) -> Text:
    if isinstance(answer, str):
        return Text(str(answer))
    value = plain(answer)
    return Text(value if isinstance(value, str) else _wire.shown(value), value)


class StepReader:
    """Reads the steps of one run.

    Args:
        path: Where they stand.
        calls: What tools were seen to do in a step, where that was listened to.
    """

    def __init__(self, path: str, calls: Callable[[int, Any], list[Seen]] | None) -> None:
        self._path = path
        self._calls = calls
        self._read: set[int] = set()
        self._outputs: dict[str, Any] = {}
        self._usages: list[Any] = []
        self.messages: list[Message] = []
        self.gaps: list[Gap] = []
        self.answer: Any = UNSET
        self.limit: str | None = None
        self.made_calls = False

    def begin(self) -> None:
        """Say that what was read until now belongs to earlier runs."""
        self.gaps, self.answer, self.limit, self.made_calls, self._usages = [], UNSET, None, False, []

    @property
    def usage(self) -> Usage | None:
        """What the steps cost; None where one of them does not tell."""
        counts = [(field(one, "input_tokens"), field(one, "output_tokens")) for one in self._usages]
        if not counts or not all(type(sent) is int and type(written) is int for sent, written in counts):
            return None
        return Usage(sum(sent for sent, _ in counts), sum(written for _, written in counts), requests=len(counts))

    def read(self, steps: Sequence[Any], offset: int) -> None:
        """Read steps.

        Args:
            steps: The steps.
            offset: The place of the first of them.
        """
        for step in steps:
            if is_a(step, "smolagents.agents:ToolOutput"):
                self._outputs[str(field(step, "id"))] = field(step, "output")
        for at, step in enumerate(steps, offset):
            if is_a(step, "smolagents.memory:ActionStep"):
                if id(step) in self._read:
                    self.limit = "Reached max steps."  # a stream gives the step again after which no more were allowed
                    continue
                self._read.add(id(step))
            self._step(step, at, f"{self._path}[{at}]")

    def _step(self, step: Any, at: int, path: str) -> None:
        if isinstance(step, (str, int, float, list, tuple)) or step is None:
            raise expected("a step, that is an object", step, path)
        if (system := field(step, "system_prompt")) is not None:
            self.messages.append(Message("system", (Text(_wire.as_text(system)),)))
        elif (task := field(step, "task")) is not None:
            if not isinstance(task, str):
                raise expected("text", task, join(path, "task"))
            self.messages.append(Message("user", (Text(task),)))
        elif (plan := field(step, "plan")) is not None:
            self.messages.append(Message("assistant", (Reasoning(_wire.as_text(plan)),)))
            self._usages.append(field(step, "token_usage"))
        elif type(field(step, "step_number")) is int:
            self._action(step, at, path)
        elif is_a(step, "smolagents.memory:FinalAnswerStep"):
            self.answer = field(step, "output")
        elif isinstance(step, Mapping):
            raise expected("a step of a task, a plan or an action", step, path)

    def _action(self, step: Any, at: int, path: str) -> None:
        error = field(step, "error")
        name, said = _error(error)
        self._usages.append(field(step, "token_usage"))
        if name == "AgentMaxStepsError":
            self.limit = said
            self.answer = field(step, "action_output")
            return
        seen = self._calls(at, step) if self._calls is not None else None
        code = field(step, "code_action")
        words = _words(field(step, "model_output"), join(path, "model_output"))
        if isinstance(code, str):
            parts = self._coded(words, code, step, said, seen)
        else:
            parts = self._called(words, step, name, said, seen, path)
        if parts:
            self.messages.append(Message("assistant", tuple(parts)))
        if field(step, "is_final_answer") is True:
            self.answer = field(step, "action_output")
            if self.answer is None:
                self.answer = next((_given(call) for call in parts if type(call) is ToolCall and call.kind == "output"), UNSET)

    def _coded(self, words: str, code: str, step: Any, said: str, seen: list[Seen] | None) -> list[Part]:
        """A step in which the model wrote code: its calls stand in the code, and only listening shows them."""
        observed = field(step, "observations")
        ran = {"code": code, "observations": plain(observed), **({"error": said} if said else {})}
        parts: list[Part] = [Reasoning(words), Other("code", ran)]
        if seen is None:
            self.gaps.append(_CODE)
        for one in seen or ():
            call = ToolCall(one.name, plain(one.arguments), state="requested")
            parts.append(_settled(call, one))
        return parts

    def _called(self, words: str, step: Any, kind: str, said: str, seen: list[Seen] | None, path: str) -> list[Part]:
        message = field(step, "model_output_message")
        asked = field(message, "tool_calls") or field(step, "tool_calls") or ()
        if not isinstance(asked, (list, tuple)):
            raise expected("a list of calls", asked, join(path, "tool_calls"))
        calls = [_call(one, f"{join(path, 'tool_calls')}[{at}]") for at, one in enumerate(asked)]
        parts: list[Part] = []
        if words:
            # Where the model cannot call tools, its text is the call; where it called none, its text was not understood.
            written = not calls or any(call.name in words and "{" in words for call in calls)
            parts.append(Reasoning(words) if written else Text(words))
        tools = [call for call in calls if call.kind != "output"]
        self.made_calls = self.made_calls or bool(tools)
        left = tools if seen is None else _matched(tools, list(seen))
        for call in [call for call in left if call.id in self._outputs]:
            complete(call, plain(self._outputs[call.id or ""]))
            left = [other for other in left if other is not call]
        self._by_step(left, tools, step, kind, said)
        for call in calls:
            if call.kind == "output":
                force_setattr(call, "state", "completed")
        return [*parts, *calls]

    def _by_step(self, left: list[ToolCall], tools: list[ToolCall], step: Any, kind: str, said: str) -> None:
        """What the step says of calls that nobody saw."""
        if not left:
            return
        if not kind:
            observed = field(step, "observations")
            for call in left:
                if len(tools) == 1:
                    complete(call, plain(observed))
                else:
                    force_setattr(call, "state", "completed")
                    self.gaps.append(_JOINED)
            return
        error = _tool_error(kind, said)
        failed = _named(left, said)
        for call in left if failed is None else [failed]:
            force_setattr(call, "state", "failed")
            force_setattr(call, "error", error)
        if failed is not None and len(left) > 1:
            self.gaps.append(_LOST)


def _error(error: Any) -> tuple[str, str]:
    """The class and the message of the error of a step; empty where there is none."""
    if error is None:
        return "", ""
    if isinstance(error, BaseException):
        return type(error).__name__, _wire.as_text(error)
    found = as_mapping(error)
    if found is None:
        return "AgentError", _wire.as_text(error)
    return str(found.get("type") or "AgentError"), _wire.as_text(found.get("message"))


def _words(output: Any, path: str) -> str:
    if output is None or isinstance(output, str):
        return output or ""
    if isinstance(output, (list, tuple)):
        texts = [field(part, "text") for part in output if not isinstance(part, str)]
        return "".join(text for text in texts if isinstance(text, str))
    raise expected("text", output, path)


def _call(value: Any, path: str) -> ToolCall:
    function = field(value, "function")
    body = value if function is None else function
    name = field(body, "name")
    if not isinstance(name, str) or not name:
        raise expected("the name of the tool", name, join(path, "name"))
    kind: CallKind = "output" if name == _ANSWER else "tool"
    return ToolCall(name, plain(field(body, "arguments")), text_id(field(value, "id")), "requested", kind)


def _given(call: ToolCall) -> Any:
    arguments = call.arguments
    return arguments.get("answer", arguments) if isinstance(arguments, dict) else arguments


def _settled(call: ToolCall, seen: Seen) -> ToolCall:
    if seen.error is not None:
        complete(call, UNSET, ToolError(_wire.as_text(seen.error), type(seen.error).__name__, "exception"))
    elif seen.result is not UNSET:
        complete(call, plain(seen.result))
    force_setattr(call, "duration", seen.seconds)
    if seen.run is not None:
        force_setattr(call, "run", seen.run)
        force_setattr(call, "kind", "agent")
    return call


def _matched(calls: list[ToolCall], seen: list[Seen]) -> list[ToolCall]:
    """Put what was seen on the calls, by name and arguments, else by name and order; gives the calls that were not seen."""
    for exactly in (True, False):
        for call in calls:
            if call.state == "requested":
                for one in seen:
                    if one.name == call.name and (not exactly or plain(one.arguments) == call.arguments):
                        seen.remove(one)
                        _settled(call, one)
                        break
    return [call for call in calls if call.state == "requested"]


def _named(calls: list[ToolCall], said: str) -> ToolCall | None:
    """The call that the error of a step is about; None where it does not tell."""
    if len(calls) == 1:
        return calls[0]
    found = _TOOL_FAILED.match(said) or _UNKNOWN_TOOL.match(said)
    if found is None:
        return None
    named = [call for call in calls if call.name == found["name"]]
    rest = found.groupdict().get("rest")
    exact = [call for call in named if rest is not None and rest.startswith(str(call.arguments))]
    return next(iter(exact or named), None)


def _tool_error(kind: str, said: str) -> ToolError:
    found = _TOOL_FAILED.match(said)
    cause = _CAUSE.match(found["rest"]) if found is not None else None
    if cause is not None and cause["type"][:1].isupper():
        return ToolError(cause["message"], cause["type"], "flag")
    return ToolError(said, error_type(said) or kind, "flag")
