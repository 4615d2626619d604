"""Events and pieces of a stream of some framework that no format reads: as the JSON of them, much would pass on it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from quickchecks.adapters._dialects import LOOK_AT
from quickchecks.adapters._shapes import described
from quickchecks.errors import UnknownFormatError

__all__ = ("refuse_events",)

#: The packages whose objects tell of a run. Where one has a name that a project may have too, its modules.
_FRAMEWORKS = (
    *("ag_ui", "agent_framework", "agents.items", "agents.stream_events", "agno", "anthropic", "autogen_agentchat"),
    *("autogen_core", "claude_agent_sdk", "crewai", "dspy", "google.adk", "google.genai", "haystack", "langchain"),
    *("langchain_core", "langgraph", "litellm", "llama_index", "openai", "pydantic_ai", "smolagents", "strands"),
    "workflows.events",
)
#: What they call those that are never an answer: a document, say, may be one.
_EVENT = re.compile("Call|Chunk|Delta|Event|Frame|Interrupt|Item|Message|Part|Patch|Step|Stream|Update")
#: What the events of the Agents SDK, of AG-UI and of the AI SDK's streams call themselves as JSON.
_KINDS = frozenset(
    (
        *("agent_updated_stream_event", "raw_response_event", "run_item_stream_event"),
        *("RUN_STARTED", "RUN_FINISHED", "TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TOOL_CALL_START", "STATE_SNAPSHOT"),
        *("start-step", "finish-step", "text-start", "text-delta", "text-end", "tool-input-start", "tool-input-available"),
    )
)
#: What stands beside the `event_kind` of an event of pydantic-ai.
_BESIDE_KIND = frozenset(("index", "part", "delta", "result", "tool_name"))
_HINT = (
    "return the result of the run, or text: the events of a run are read where a format knows them, from its beginning to its end"
)


def refuse_events(value: Any) -> None:
    """Refuse an answer that is an event, or holds events, of a framework.

    Args:
        value: What an agent answered.

    Raises:
        UnknownFormatError: It is, or holds, such an object.
    """
    for path, held in _looked_at(value):
        if _is_event(type(held)) or _is_stored_event(held):
            problem = f"{described(held)} is a piece of what a framework tells of a run, not an answer"
            raise UnknownFormatError(problem, path=path, hint=_HINT)


def _looked_at(value: Any) -> Iterator[tuple[str, Any]]:
    """The value, what it holds, and what that holds: events stand in pairs with what they are about, or under a name."""
    yield "", value
    for path, held in _inside(value):
        yield path, held
        for further, deeper in _inside(held):
            yield f"{path}{further}", deeper


def _inside(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, (list, tuple)):
        for at, held in enumerate(islice(value, LOOK_AT)):
            yield f"[{at}]", held
    elif isinstance(value, Mapping):
        for key, held in islice(value.items(), LOOK_AT):
            yield f".{key}" if isinstance(key, str) else f"[{key!r}]", held


def _is_event(cls: type) -> bool:
    return any(_EVENT.search(base.__name__) and _is_of_a_framework(str(base.__module__)) for base in cls.__mro__)


def _is_stored_event(value: Any) -> bool:
    """Whether a dict is an event that was written as JSON."""
    if type(value) is not dict:
        return False
    kind, event = value.get("type"), value.get("event")
    if type(kind) is str and kind in _KINDS:
        return True
    if type(event) is str and event.startswith("on_"):
        return "run_id" in value
    return type(value.get("event_kind")) is str and not _BESIDE_KIND.isdisjoint(value)


def _is_of_a_framework(module: str) -> bool:
    return any(module == known or module.startswith(f"{known}.") for known in _FRAMEWORKS)
