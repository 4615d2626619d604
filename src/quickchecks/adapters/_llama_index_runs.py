"""Runs out of what LlamaIndex's agents and workflows emitted, and out of what they gave."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from quickchecks import _wire
from quickchecks._run import Gap, Message, Other, Part, Run, RunError, Text
from quickchecks.adapters._llama_index_events import EventReader
from quickchecks.adapters._llama_index_kinds import kind_of, stop_result
from quickchecks.adapters._objects import field, plain

__all__ = ("events_run", "failure", "result_run", "structured")


def events_run(events: Any) -> Run:
    """Read a list of events, or of the messages of a memory.

    Args:
        events: The list, in the order in which the events came.
    """
    reader = EventReader()
    error: RunError | None = None
    answer: Any = None
    if all(kind_of(event) == "message" for event in events):
        for number, event in enumerate(events):
            reader.message(event, f"[{number}]")
        if reader.calls:
            reader.gaps.append(Gap("other", "a memory does not keep whether a call failed; only the texts of results tell"))
        return reader.run()
    for number, event in enumerate(events):
        kind = kind_of(event)
        path = f"[{number}]"
        if kind == "input":
            reader.input(event, path)
        elif kind == "output":
            answer = event
            reader.output(event, path)
        elif kind == "call":
            reader.call(event, path)
        elif kind == "result":
            reader.result(event, path)
        elif kind == "failed":
            error = failure(event)
        elif kind == "stop":
            answer = stop_result(event)
            if kind_of(answer) == "output":
                reader.answer(answer, f"{path}.result")
            elif answer is not None:
                run = result_run(answer)
                reader.add(run.messages)
                reader.gaps += run.gaps
        elif kind == "waits":
            reader.waits()
        elif kind == "message" or (isinstance(event, Mapping) and "role" in event):
            reader.message(event, path)
        elif kind in ("", "other"):
            reader.stranger(event, path)
    run = replace(reader.run(), error=error)
    return structured(run, answer) if kind_of(answer) == "output" else run


def failure(event: Any) -> RunError:
    """Say why a workflow failed: it raised, took too long, or was cancelled.

    Args:
        event: The event with which it ended.
    """
    raised = field(event, "exception")
    if isinstance(raised, BaseException):
        return RunError(_wire.as_text(raised), type(raised).__name__)
    return RunError("the workflow did not end by itself", type(event).__name__)


def result_run(result: Any) -> Run:
    """Read what a workflow gave that is no output of an agent: its events alone show which tools its steps called.

    Args:
        result: What it gave.
    """
    parts: tuple[Part, ...] = ()
    if isinstance(result, str):
        parts = (Text(result),)
    elif result is not None:
        value = plain(result)
        parts = (Text(_wire.shown(value), value),)
    gap = Gap("calls", "the result of a workflow does not show which tools its steps called")
    return Run((Message("assistant", parts),), gaps=(gap,))


def structured(run: Run, output: Any) -> Run:
    """Put the structured answer of an output in the place of the words that it was made of.

    Args:
        run: The run.
        output: The output.
    """
    value = field(output, "structured_response")
    if value is None:
        return run
    value = plain(value)
    answer = Text(_wire.shown(value), value)
    if not run.messages or run.messages[-1].role != "assistant":
        return replace(run, messages=(*run.messages, Message("assistant", (answer,))))
    last = run.messages[-1]
    parts = [Other("text", part.text) if type(part) is Text else part for part in last.parts]
    return replace(run, messages=(*run.messages[:-1], replace(last, parts=(*parts, answer))))
