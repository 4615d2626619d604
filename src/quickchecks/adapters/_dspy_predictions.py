"""Predictions of DSPy, with the trajectory of ReAct or the history of ReActV2."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import force_setattr

from quickchecks import _wire
from quickchecks._failures import error_type
from quickchecks._run import CallKind, Gap, Message, Part, Reasoning, Run, Text, ToolCall, ToolError, Usage
from quickchecks.adapters._objects import field, is_a, plain
from quickchecks.adapters._pairing import complete
from quickchecks.adapters._record import read_usage
from quickchecks.adapters._shapes import as_mapping, expected, text_id

__all__ = ("read_prediction", "usage_of")

_CALLS = "dspy.adapters.types:ToolCalls"
_STEP = re.compile(r"(?P<what>thought|tool_name|tool_args|observation)_(?P<number>\d{1,9})")
#: ReAct and ReActV2 keep these names for the tools by which an answer is given.
_FINISH, _SUBMIT = "finish", "submit"
#: What stands in a prediction beside the answer.
_BESIDE = ("trajectory", "history", "termination_reason")
#: The fields in which a model thinks before it answers.
_THOUGHTS = ("reasoning", "rationale")
_EVENT_KEYS = ("next_thought", "tool_calls")

_INPUT = Gap("input", "a prediction does not show what was asked")
_NO_TRAJECTORY = Gap("calls", "a prediction without a trajectory or a history of calls does not show which tools were called")
_BEGINNING = Gap("calls", "the beginning of the trajectory was left out, because it was too long")


def read_prediction(value: Any, outputs: Collection[str] | None) -> Run:
    """Read a prediction.

    Args:
        value: The prediction, or its fields.
        outputs: The fields that are the answer, where they are known.
    """
    store = value if isinstance(value, Mapping) else field(value, "_store")
    fields = as_mapping(store)
    if fields is None:
        raise expected("a prediction, that is an object with fields", value, "")
    gaps: list[Gap] = []
    history: list[Message] = []
    trajectory, events = fields.get("trajectory"), field(fields.get("history"), "messages")
    messages: list[Message] = []
    if trajectory is not None:
        if not isinstance(trajectory, Mapping):
            raise expected("a trajectory, that is an object", trajectory, "trajectory")
        messages += _trajectory(trajectory, gaps)
    elif isinstance(events, (list, tuple)) and any(isinstance(one, Mapping) and "tool_calls" in one for one in events):
        before, after = _turns(events, fields)
        history = [message for event in before for message in _event(event, gaps)]
        gaps.clear()
        messages += [message for event in after for message in _event(event, gaps)]
    else:
        gaps.append(_NO_TRAJECTORY)
    asked_for = {key for key, one in fields.items() if is_a(one, _CALLS)}
    for key in asked_for:  # the module asked for calls, and whoever uses it makes them
        messages.append(Message("assistant", tuple(_calls(fields[key]))))
        gaps.append(Gap("results", "a prediction shows which tools were asked for, and not their results"))
    fields = {key: one for key, one in fields.items() if key not in asked_for}
    if not any(message.role == "user" for message in messages):
        gaps.append(_INPUT)
    messages.append(_answer(fields, outputs))
    reason = fields.get("termination_reason")
    return Run(
        (*history, *messages),
        history_length=len(history),
        usage=usage_of(field(value, "_lm_usage")),
        gaps=tuple(gaps),
        metadata={"termination_reason": plain(reason)} if reason is not None else None,
    )


def _answer(fields: Mapping[str, Any], outputs: Collection[str] | None) -> Message:
    """The answer: the field that it has, or all of them as one object.

    Args:
        fields: The fields of the prediction.
        outputs: The fields that are the answer, where they are known.
    """
    said = {str(key): plain(value) for key, value in fields.items() if key not in _BESIDE}
    thoughts: list[Part] = []
    if outputs is None or not set(_THOUGHTS) & set(outputs):
        for name in _THOUGHTS:
            if name in said and len(said) > 1:
                thoughts.append(Reasoning(_wire.as_text(said.pop(name))))
    if outputs:
        said = {key: value for key, value in said.items() if key in outputs} or said
    if len(said) == 1:
        (value,) = said.values()
        answer = Text(value) if isinstance(value, str) else Text(_wire.shown(value), value)
    else:
        answer = Text(_wire.shown(said), said) if said else Text("")
    return Message("assistant", (*thoughts, answer))


def _trajectory(trajectory: Mapping[str, Any], gaps: list[Gap]) -> Iterator[Message]:
    steps: dict[int, dict[str, Any]] = {}
    for key, value in trajectory.items():
        found = _STEP.fullmatch(key) if isinstance(key, str) else None
        if found is None:
            gaps.append(Gap("calls", f"what stands at {_wire.as_text(key)[:60]!r} of the trajectory may be a call"))
            continue
        steps.setdefault(int(found["number"]), {})[found["what"]] = value
    if steps and min(steps) > 0:
        gaps.append(_BEGINNING)
    for number in sorted(steps):
        step = steps[number]
        parts: list[Part] = [Reasoning(_wire.as_text(step["thought"]))] if step.get("thought") else []
        name = step.get("tool_name")
        if not isinstance(name, str) or not name:
            raise expected("the name of the tool", name, f"trajectory.tool_name_{number}")
        kind: CallKind = "output" if name == _FINISH else "tool"
        call = ToolCall(name, plain(step.get("tool_args")), None, "requested", kind)
        if "observation" in step:
            complete(call, plain(step["observation"]))
        yield Message("assistant", (*parts, call))


def _turns(events: Sequence[Any], fields: Mapping[str, Any]) -> tuple[Sequence[Any], Sequence[Any]]:
    """Divide a history into what was said before and this turn: a turn begins with the event that holds the input."""
    known = {*fields, *_EVENT_KEYS}
    start = 0
    for at, event in enumerate(events):
        if isinstance(event, Mapping) and any(key not in known for key in event):
            start = at
    return events[:start], events[start:]


def _event(event: Any, gaps: list[Gap]) -> Iterator[Message]:
    found = as_mapping(event)
    if found is None:
        raise expected("an event of the history, that is an object", event, "history.messages")
    calls = found.get("tool_calls")
    given = {str(key): plain(value) for key, value in found.items() if key not in _EVENT_KEYS}
    if calls is None:
        yield Message("user", (Text(_wire.shown(given), given),))  # an event of another module: inputs and outputs together
        return
    made = _calls(calls)
    submitted = next((call.arguments for call in made if call.kind == "output" and call.state == "completed"), {})
    asked = {key: value for key, value in given.items() if not (isinstance(submitted, dict) and key in submitted)}
    if asked:
        words = next(iter(asked.values())) if len(asked) == 1 else asked
        yield Message("user", (Text(words) if isinstance(words, str) else Text(_wire.shown(words), words),))
    thought = found.get("next_thought")
    parts: list[Part] = [] if thought is None else [Reasoning(_wire.as_text(plain(thought)))]
    yield Message("assistant", (*parts, *made))


def _calls(value: Any) -> list[ToolCall]:
    """Read the calls of one step of ReActV2, with what came of them."""
    calls = field(value, "tool_calls")
    if not isinstance(calls, (list, tuple)):
        raise expected("a list of calls", calls, "history.messages.tool_calls")
    read_calls = []
    for call in calls:
        name = field(call, "name")
        if not isinstance(name, str) or not name:
            raise expected("the name of the tool", name, "history.messages.tool_calls.name")
        kind: CallKind = "output" if name == _SUBMIT else "tool"
        read_calls.append(ToolCall(name, plain(field(call, "args")), text_id(field(call, "id")), "requested", kind))
    results = field(field(value, "tool_call_results"), "tool_call_results") or ()
    for at, result in enumerate(results if isinstance(results, (list, tuple)) else ()):
        id = text_id(field(result, "call_id"))
        waiting = [call for call in read_calls if call.state == "requested"]
        same = [call for call in waiting if id is not None and call.id == id]
        call = next(iter(same), read_calls[at] if at < len(read_calls) and read_calls[at] in waiting else None)
        if call is None:
            continue
        shown = plain(field(result, "value"))
        failed = field(result, "is_error")
        words = shown if isinstance(shown, str) else _wire.shown(shown)
        last = words.strip().rpartition("\n")[2]
        complete(call, shown, ToolError(last, error_type(last), "flag") if failed is True else None)
        if failed is False:
            force_setattr(call, "errors_shown_in", "state")
    return read_calls


def usage_of(value: Any) -> Usage | None:
    """Add up what the models cost; None where nothing was counted."""
    found = as_mapping(value)
    known = [usage for one in (found or {}).values() if (usage := read_usage(one)) is not None]
    sums = [
        sum(counts) if (counts := [count for usage in known if (count := getattr(usage, name)) is not None]) else None
        for name in ("input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens")
    ]
    return Usage(sums[0], sums[1], sums[2], sums[3]) if any(sums) else None
