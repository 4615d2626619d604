"""What agents of Strands stream: events, that is dicts known by their keys, of which the last holds the result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

from quickchecks.adapters._dialects import LOOK_AT
from quickchecks.adapters._objects import is_a
from quickchecks.adapters._shapes import expected

__all__ = ("are_events", "result_of")

_RESULTS = ("strands.agent:AgentResult", "strands.multiagent:MultiAgentResult")
_KINDS = ("multiagent_", "tool_use_stream", "tool_stream")
#: The pieces that models stream, as Bedrock calls them.
_PIECES = ("contentBlockDelta", "contentBlockStart", "contentBlockStop", "messageStart", "messageStop", "metadata")


def are_events(values: Sequence[Any]) -> bool:
    """Whether a list holds the events of a streamed run: dicts, one of which is marked, or holds the result."""
    first = list(islice(values, LOOK_AT))
    if not first or any(type(event) is not dict or "role" in event for event in first):
        return False
    return any(map(_is_marked, first)) or _result(values) is not None


def _is_marked(event: Mapping[str, Any]) -> bool:
    kind = event.get("type")
    if type(kind) is str and kind.startswith(_KINDS):
        return "content" not in event
    if event.get("init_event_loop") is True or event.get("start_event_loop") is True:
        return True
    if type(event.get("event")) is dict:
        return len(event) == 1 and next(iter(event["event"]), "") in _PIECES
    return type(event.get("data")) is str and "delta" in event and "agent" in event


def _result(events: Sequence[Any]) -> Any:
    return next(
        (found for event in reversed(events) if type(event) is dict and is_a(found := event.get("result"), *_RESULTS)), None
    )


def result_of(events: Sequence[Any]) -> Any:
    """The result in which a stream ends.

    Raises:
        RecordingError: It does not end in one.
    """
    found = _result(events)
    if found is None:
        hint = "return all that stream_async gives, or what invoke_async gives"
        raise expected("events that end with the result of the run", events, "", hint)
    return found
