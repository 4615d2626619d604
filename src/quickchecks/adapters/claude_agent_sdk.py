"""Claude Agent SDK: a list of its messages, or what the program prints as stream-json; options and clients.

Tools of MCP servers have the name that their server gives them; the whole name stands in the metadata of the call. What
sub-agents did is the run of the call that began them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from quickchecks._run import Gap, GapKind, Run
from quickchecks.adapters._agents import Dialogue
from quickchecks.adapters._claude_messages import ClaudeReader
from quickchecks.adapters._objects import is_a
from quickchecks.adapters._record import unheard
from quickchecks.adapters._shapes import expected

__all__ = ("AGENTS", "MOCKS_TOOLS", "converse", "load", "recognises")

MOCKS_TOOLS = True
AGENTS = ("claude_agent_sdk:ClaudeAgentOptions", "claude_agent_sdk:ClaudeSDKClient")

_MESSAGES = tuple(
    f"claude_agent_sdk:{name}" for name in ("AssistantMessage", "ResultMessage", "StreamEvent", "SystemMessage", "UserMessage")
)
#: So many items are looked at: the stream may begin with others.
_FIRST = 10
_CUT_OFF: tuple[GapKind, ...] = ("calls", "text")


def recognises(value: Any) -> bool:
    """Whether a value is a list of messages or stream-json, or the one result that the program prints."""
    if type(value) is list or type(value) is tuple:
        for item in value[:_FIRST]:
            if type(item) is not dict:
                if is_a(item, *_MESSAGES):
                    return True
                continue
            kind = item.get("type")
            if type(kind) is not str:
                return False
            if kind in ("assistant", "user"):
                message = item.get("message")
                return type(message) is dict and message.get("role") == kind
            if kind in ("result", "system") and type(item.get("subtype")) is str and "session_id" in item:
                return True
        return False
    return type(value) is dict and value.get("type") == "result" and "subtype" in value and "session_id" in value


def converse(agent: Any, options: Mapping[str, Any], mocks: Any) -> Dialogue:
    """Begin a conversation, in a session of its own."""
    from quickchecks.adapters._claude_dialogue import ClaudeDialogue

    return ClaudeDialogue(agent, options, mocks)


def load(value: Any) -> Run:
    """Read one run.

    Args:
        value: What `recognises` accepts.

    Returns:
        The run.

    Raises:
        RecordingError: The value is malformed.
    """
    if type(value) is dict:
        reader = ClaudeReader()
        reader.read([value])
        note = "a result alone does not show which tools were called"
        run = reader.run()
        return replace(run, gaps=(*run.gaps, Gap("calls", note), Gap("input", note)))
    if not isinstance(value, (list, tuple)):
        raise expected("a list of messages, or a result", value, "")
    reader = ClaudeReader()
    reader.read(value)
    run = reader.run()
    gaps = [*run.gaps, *unheard(run.messages)]
    # The files of sessions hold no results.
    if not any(type(item) is dict and "parentUuid" in item for item in value):
        if not reader.ended:
            gaps += [Gap(kind, "the stream ends before its result") for kind in _CUT_OFF]
        elif not reader.spoken:
            gaps.append(Gap("calls", "a result alone does not show which tools were called"))
    if not any(message.role == "user" for message in run.messages):
        gaps.append(Gap("input", "the messages of the SDK do not show what was asked"))
    return replace(run, gaps=tuple(gaps))
