"""Which recorded call a result answers.

Ids repeat in real recordings, within a message and between turns, and often they are missing. So a result belongs to the
nearest earlier message that has an unanswered call of its id, and there to the first such call; a result without an id,
or a call without one, is matched by name and order in the same way.

Calls are completed in place: they are made while a run is read and nobody else has seen them yet.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable

from msgspec.structs import force_setattr

from quickchecks._run import ToolCall, ToolError

__all__ = ("Pairing", "Waiting", "complete")


def complete(call: ToolCall, result: object, error: ToolError | None = None) -> None:
    """Put a result on the call that it answers."""
    force_setattr(call, "result", result)
    if error is None:
        force_setattr(call, "state", "completed")
    else:
        force_setattr(call, "state", "failed")
        force_setattr(call, "error", error)


class Waiting:
    """Calls that wait for something, by a key: those of the latest message come first, and within it the earliest.

    Args:
        states: A call in another state than these has got on in the meantime, and waits no more.
    """

    __slots__ = ("_queues", "_states")

    def __init__(self, *states: str) -> None:
        self._states = states
        self._queues: dict[Hashable, list[tuple[int, deque[ToolCall]]]] = {}

    def add(self, key: Hashable, message: int, call: ToolCall) -> None:
        """Note a call under a key, with the number of the message that made it."""
        stack = self._queues.setdefault(key, [])
        if not stack or stack[-1][0] != message:
            stack.append((message, deque()))
        stack[-1][1].append(call)

    def take(self, key: Hashable) -> ToolCall | None:
        """Give the call that is next in turn, or None when none waits."""
        stack = self._queues.get(key, [])
        while stack:
            queue = stack[-1][1]
            while queue:
                call = queue.popleft()
                if call.state in self._states:
                    return call
            stack.pop()
        return None


class Pairing:
    """The calls of one run that wait for results, message by message."""

    __slots__ = ("_batches", "_indexed", "_waiting")

    def __init__(self) -> None:
        self._batches: list[list[ToolCall]] = []
        #: Made when the first result asks: by id, and by name.
        self._waiting: Waiting | None = None
        self._indexed = 0

    def begin(self, calls: list[ToolCall]) -> None:
        """Note the calls of one message."""
        self._batches.append(calls)

    def find(self, id: str | None, name: str | None) -> ToolCall | None:
        """Give the unanswered call that a result answers, whatever the order.

        Args:
            id: The id that the result names; None when it names none.
            name: The tool that the result names; None when it names none.

        Returns:
            The call, or None when no recorded call fits. Ids that are both known and differ never fit.
        """
        waiting = self._waiting
        if waiting is None:
            waiting = self._waiting = Waiting("requested", "partial")
        for message in range(self._indexed, len(self._batches)):
            for call in self._batches[message]:
                for key in _keys(call):
                    waiting.add(key, message, call)
        self._indexed = len(self._batches)
        if id is None:
            return waiting.take(("any", name))
        return waiting.take(("id", id)) or waiting.take(("without id", name))


def _keys(call: ToolCall) -> tuple[tuple[str, str | None], ...]:
    if call.id is None:
        return ("without id", call.name), ("without id", None), ("any", call.name), ("any", None)
    return ("id", call.id), ("any", call.name), ("any", None)
