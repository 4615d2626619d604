"""The events of streamed runs of Agno, put together into the stored forms of the runs that they tell of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from quickchecks._run import Gap
from quickchecks.adapters._objects import field, is_a
from quickchecks.adapters._shapes import expected, text_id
from quickchecks.errors import RecordingError

__all__ = ("Told", "are_events", "put_together")

_EVENT = "agno.run.base:BaseRunOutputEvent"
_OUTPUTS = ("agno.run.agent:RunOutput", "agno.run.team:TeamRunOutput", "agno.run.workflow:WorkflowRunOutput")
_WORKFLOW = "agno.run.workflow:BaseWorkflowRunOutputEvent"
_TEAM = "agno.run.team:BaseTeamRunEvent"
_OWNERS = ("agent_id", "team_id", "workflow_id", "workflow_name")
_ENDS = {"RunCompleted": "completed", "RunError": "error", "RunCancelled": "cancelled", "RunPaused": "paused"}
_OF_TOOLS = ("ToolCallStarted", "ToolCallCompleted", "ToolCallError")


def are_events(value: Any) -> bool:
    """Whether a list holds what a streamed run gave, as objects or as `to_dict` writes them. The first of it tells."""
    return isinstance(value, (list, tuple)) and bool(value) and _is_event(value[0])


def _is_event(value: Any) -> bool:
    if type(value) is dict:
        return type(value.get("event")) is str and "run_id" in value and any(key in value for key in _OWNERS)
    return is_a(value, _EVENT)


def _kind(event: Any) -> str:
    kind = field(event, "event")
    return kind if isinstance(kind, str) else ""


class Told:
    """What the events tell of one run."""

    def __init__(self, id: str | None) -> None:
        self.id = id
        self.parent: str | None = None
        self.is_team = False
        self.name: str | None = None
        self.status = ""
        self.content: Any = None
        self.metrics: Any = None
        self.begun = False
        self._words: list[str] = []
        self._tools: dict[Any, Any] = {}

    def hear(self, event: Any, kind: str) -> None:
        """Take one event of this run."""
        self.parent = self.parent or text_id(field(event, "parent_run_id"))
        self.is_team = self.is_team or is_a(event, _TEAM) or _kind(event).startswith("Team")
        name = field(event, "team_name") if self.is_team else field(event, "agent_name")
        self.name = self.name or (name if isinstance(name, str) and name else None)
        content = field(event, "content")
        if kind == "RunStarted":
            self.begun = True
        elif kind == "RunContent":
            if isinstance(content, str):
                self._words.append(content)
            elif content is not None:
                self.content = content
        elif kind in _OF_TOOLS:
            self._tool(field(event, "tool"))
        elif kind in _ENDS:
            self.status = _ENDS[kind]
            self.metrics = field(event, "metrics")
            if kind != "RunPaused":
                self.content = field(event, "reason") if kind == "RunCancelled" else content
            for tool in field(event, "tools") or ():
                self._tool(tool)
        elif kind == "RunContinued":
            self.status = ""

    def _tool(self, tool: Any) -> None:
        if tool is not None:
            self._tools[text_id(field(tool, "tool_call_id")) or id(tool)] = tool

    def stored(self, members: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """The run in its stored form.

        Args:
            members: Those of the runs that it started.
        """
        content = self.content if self.content is not None or self.status == "completed" else "".join(self._words) or None
        kind = "team" if self.is_team else "agent"
        return {
            "run_id": self.id,
            "status": self.status or ("running" if self.begun else ""),
            f"{kind}_id": None,
            f"{kind}_name": self.name,
            "content": content,
            "tools": list(self._tools.values()),
            "metrics": self.metrics,
            "member_responses": list(members),
        }


def put_together(events: Sequence[Any]) -> tuple[Any, list[Gap]]:
    """Put the events of one run together.

    Args:
        events: What the run gave while it was streamed.

    Returns:
        The result of the run, where the stream ended with it, else its stored form; and what the events do not show.

    Raises:
        RecordingError: They are not the events of one run, or of a workflow.
    """
    output = next((one for one in reversed(events) if is_a(one, *_OUTPUTS)), None)
    if output is not None:
        return output, []
    runs: dict[str | None, Told] = {}
    for at, event in enumerate(events):
        if not _is_event(event):
            raise expected("an event of a run of Agno", event, f"[{at}]")
        if is_a(event, _WORKFLOW) or _kind(event).startswith(("Workflow", "Step")):
            hint = "return what workflow.run gives without stream=True"
            raise RecordingError("the events of a workflow do not tell which run is whose", path=f"[{at}]", hint=hint)
        id = text_id(field(event, "run_id"))
        told = runs.setdefault(id, Told(id))
        told.hear(event, _kind(event).removeprefix("Team"))
    roots = [told for told in runs.values() if told.parent not in runs or told.parent == told.id]
    if len(roots) != 1:
        raise expected("the events of one run", events, "", f"these are of {len(roots)} runs: return one of them")
    (root,) = roots
    gaps = [] if root.begun else [Gap("calls", "only a stream with stream_events=True shows the calls")]
    return _tree(root, list(runs.values()), set()), gaps


def _tree(told: Told, runs: Sequence[Told], seen: set[int]) -> dict[str, Any]:
    seen.add(id(told))
    members = [_tree(one, runs, seen) for one in runs if one.parent == told.id and id(one) not in seen]
    return told.stored(members)
