"""Sub-agents that Claude's agent lets work in the background: the stream tells when each begins and ends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from quickchecks.adapters._shapes import as_mapping

__all__ = ("BackgroundAgents",)

_ENDED = frozenset(("completed", "failed", "killed", "stopped"))


class BackgroundAgents:
    """What is known of them after the items that were shown to it.

    The program writes a result when its own agent is done. Where one of these ended since, it goes on by itself: the agent
    hears of that in a turn of its own, which ends with a result too.
    """

    def __init__(self) -> None:
        #: The id of the call that began each of those at work, by the id of its task.
        self._working: dict[str, str | None] = {}
        #: Whether one ended; who has taken notice of it sets it back.
        self.told = False

    def note(self, kind: str, fields: Mapping[str, Any]) -> None:
        """Take notice of an item of the stream: its kind, and what it holds."""
        if kind != "system":
            return
        told = as_mapping(fields.get("data")) or fields  # of the SDK, or as JSON
        task = told.get("task_id")
        if not isinstance(task, str):
            return
        subtype = told.get("subtype") or fields.get("subtype")
        if subtype == "task_started" and told.get("is_backgrounded") and told.get("task_type", "local_agent") == "local_agent":
            call = told.get("tool_use_id")
            self._working[task] = call if isinstance(call, str) else None
        elif subtype == "task_updated":
            self._end(task, (as_mapping(told.get("patch")) or {}).get("status"))
        elif subtype == "task_notification":
            self._end(task, told.get("status"))

    def _end(self, task: str, status: Any) -> None:
        if task in self._working and isinstance(status, str) and status in _ENDED:
            del self._working[task]
            self.told = True

    @property
    def calls(self) -> tuple[str | None, ...]:
        """The ids of the calls that began those still at work."""
        return tuple(self._working.values())
