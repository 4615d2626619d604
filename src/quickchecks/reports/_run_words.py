"""The words for what happened in a run, which the terminal and the pages have in common."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import quickchecks
from quickchecks._results.result import many
from quickchecks._run import Run, ToolCall

__all__ = ("call_note", "counts", "error", "frames")

_KINDS = {
    "provider": "run by the provider",
    "agent": "another agent",
    "output": "returns the answer, not counted",
    "handoff": "hands over, not counted",
    "tool": "",
}

#: The most lines of a traceback.
_MOST_FRAMES = 60


def call_note(call: ToolCall) -> str:
    """What is special about a call; empty when nothing is."""
    return _KINDS[call.kind] if call.counted or call.state != "partial" else "only streamed in part, not counted"


def error(run: Run) -> str:
    """Why the run itself broke off; empty when it did not."""
    return "" if run.error is None else ": ".join(part for part in (run.error.type, run.error.message) if part)


def counts(run: Run) -> Iterator[str]:
    """How much happened: messages, calls, tokens, cost, seconds, as far as they are known."""
    calls = run.tool_calls
    failed = sum(call.failure() is not None for call in calls) if "results" not in run.gap_kinds else 0
    yield many(len(run.messages), "message")
    yield many(len(calls), "call") + (f", {failed} failed" if failed else "")
    usage = run.usage
    if usage is not None:
        for count, what in ((usage.input_tokens, "tokens in"), (usage.output_tokens, "tokens out")):
            if count is not None:
                yield f"{count:,} {what}"
        if usage.cost is not None:
            yield f"${usage.cost:.4g}"
    if run.duration is not None:
        yield f"{run.duration:.1f} s"


def frames(trace: str) -> list[str]:
    """The lines of a traceback without the frames of quickchecks, which say nothing of the target; of a long one the last.

    Args:
        trace: The traceback.
    """
    package = f'  File "{Path(quickchecks.__file__).parent}{os.sep}'
    kept: list[str] = []
    ours = False
    for line in trace.rstrip().splitlines():
        if not line.startswith("    "):
            ours = line.startswith(package)
        if not ours:
            kept.append(line)
    return kept[-_MOST_FRAMES:]
