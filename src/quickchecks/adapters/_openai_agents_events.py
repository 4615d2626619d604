"""The events of a streamed run of the OpenAI Agents SDK, as the source that a run is read from.

They show every item and what the models answered, and neither the input nor the final output.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from quickchecks._run import Gap
from quickchecks.adapters._objects import field, is_a
from quickchecks.adapters._shapes import expected, text_id

__all__ = ("EVENTS", "Heard", "heard")

_RAW = "agents.stream_events:RawResponsesStreamEvent"
_ITEM = "agents.stream_events:RunItemStreamEvent"
EVENTS = (_RAW, _ITEM, "agents.stream_events:AgentUpdatedStreamEvent")
_ENDS = ("response.completed", "response.incomplete", "response.failed")
_ANSWERS = "message_output_item"


class Heard(NamedTuple):
    """What the events of a run tell, under the names that a result has for it.

    Args:
        new_items: The items that the run added.
        raw_responses: What the models answered.
        gaps: What the events do not show.
    """

    new_items: list[Any]
    raw_responses: list[Any]
    gaps: list[Gap]


def heard(events: Any) -> Heard:
    """Read the events of one run.

    Raises:
        RecordingError: They are not those of a run, or show what models said and nothing of what the run made of it.
    """
    items: list[Any] = []
    responses: list[Any] = []
    begun = 0
    for at, event in enumerate(events):
        if is_a(event, _ITEM):
            items.append(field(event, "item"))
        elif is_a(event, _RAW):
            data = field(event, "data")
            begun += field(data, "type") == "response.created"
            if field(data, "type") in _ENDS:
                responses.append(field(data, "response"))
        elif not is_a(event, *EVENTS):
            raise expected("an event of a streamed run of the OpenAI Agents SDK", event, f"[{at}]")
    if not items:
        hint = "return the result of Runner.run_streamed, or all that its stream_events() gives"
        raise expected("events with the items of a run", events, "", hint)
    gaps = [Gap("input", "the events of a run do not show what was asked")]
    if field(items[-1], "type") != _ANSWERS:
        gaps.append(Gap("text", "the events do not show the final output"))
    if not responses or begun > len(responses) or _unshown(items, responses):  # nothing else tells that a run went on
        gaps.append(Gap("calls", "the events do not show the run to its end"))
        gaps.append(Gap("text", "the events do not show the run to its end"))
    return Heard(items, responses, gaps)


def _unshown(items: list[Any], responses: list[Any]) -> bool:
    """Whether a model asked for a call that is none of the items."""
    raws = [field(item, "raw_item") for item in items]
    shown = {id for raw in raws for key in ("call_id", "id") if (id := text_id(field(raw, key)))}
    asked = [item for response in responses for item in field(response, "output") or () if _is_call(item)]
    return any((text_id(field(one, "call_id")) or text_id(field(one, "id"))) not in shown for one in asked)


def _is_call(item: Any) -> bool:
    return str(field(item, "type")).endswith("_call")
