"""Agents of frameworks as targets: how a conversation with one is held.

A format whose framework has agents offers, beside what the package docstring says,

    AGENTS: tuple of str
        The classes of its agents, as "package.module:Name" (see `_objects.is_a`).
    converse(agent, options, mocks) -> Dialogue
        Begins a conversation with an agent. It is called once for each attempt at an item, in the event loop.
        `options` are the user's `target_options`; `mocks` answer in place of tools, or are None.
    STATEFUL = True                                                                         (optional)
        The agent object itself holds the conversation, so that two of them cannot be held at once.
    MOCKS_TOOLS = True                                                                      (optional)
        `converse` can put mocks in place of the tools.

A function of the user's may return a result that is still on its way, of which awaiting it would lose a part. A format that
knows such results offers

    STREAMS: tuple of str
        Their classes.
    drained(value) -> coroutine
        Waits until such a result is complete; gives what `load` reads.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from quickchecks._run import Run

if TYPE_CHECKING:
    from quickchecks._mocks import ToolMocks

__all__ = ("AgentKind", "BrokenOff", "Dialogue")


class BrokenOff(Exception):
    """The agent raised, and this is what it did before; raise it `from` the exception.

    Args:
        run: What was recorded until then.
    """

    def __init__(self, run: Run) -> None:
        self.run = run
        super().__init__("the agent broke off")


class Dialogue:
    """A conversation with an agent: made for one item, asked once for each of its turns."""

    #: Whether `ask` is a plain function that blocks, and has to be called in a thread.
    blocks: ClassVar[bool] = False

    #: Whether `ask` also gets the session of the item, with what was said before.
    takes_session: ClassVar[bool] = False

    def ask(self, asked: Any, session: Any = None) -> Any:
        """Ask one turn; a coroutine function unless it blocks.

        Args:
            asked: The input: text, a list of chat messages in OpenAI's form, or what the framework takes.
            session: The session of the item, where `takes_session` says so.

        Returns:
            The run of this turn alone (what was said before is its history), or what an adapter reads as one.

        Raises:
            BrokenOff: The agent raised, or was cancelled, after it had done something that is known.
            Exception: Whatever else the agent raises.
        """
        raise NotImplementedError

    async def close(self) -> None:
        """Give back what the conversation holds."""


class AgentKind(NamedTuple):
    """A kind of agent.

    Args:
        format: The name of the format that knows it.
        converse: Begins a conversation.
        stateful: Whether the agent object itself holds the conversation.
        mocks_tools: Whether mocks can be put in place of its tools.
    """

    format: str
    converse: Callable[[Any, Mapping[str, Any], ToolMocks | None], Dialogue]
    stateful: bool
    mocks_tools: bool
