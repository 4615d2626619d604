"""Agents of frameworks, endpoints and programs as targets: whatever holds a conversation of its own for each item."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any, Protocol

from quickchecks import _render
from quickchecks._mocks import ToolMocks
from quickchecks._targets.conversation import Caller, Conversation
from quickchecks._targets.copies import own_copy
from quickchecks._targets.functions import FunctionTarget, name_of, unfolded
from quickchecks.adapters import Dialogue, agent_kind
from quickchecks.errors import TargetError

__all__ = ("AgentTarget", "FactoryTarget", "Service", "ServiceTarget", "Talk")


class Talk:
    """One conversation with an agent, in one attempt at an item.

    Args:
        begin: Makes the dialogue, when the first question is asked.
    """

    def __init__(self, begin: Callable[[Caller], Any]) -> None:
        self._begin = begin
        self._dialogue: Dialogue | FunctionTarget | None = None
        self._agent: Any = None

    def hold(self, agent: Any) -> None:
        """Keep others from an agent that holds its conversation in itself, until this one ends.

        Raises:
            TargetError: Another conversation holds it.
        """
        _hold(agent, self)
        self._agent = agent

    async def answer(self, asked: object, conversation: Conversation, blocking: Caller) -> object:
        """Ask one turn, and wait for the answer."""
        dialogue = self._dialogue
        if dialogue is None:
            dialogue = self._dialogue = await self._made(blocking)
        if isinstance(dialogue, FunctionTarget):
            return await dialogue.answer(asked, conversation, blocking)
        asked = own_copy(asked)
        arguments = (asked, conversation.session) if dialogue.takes_session else (asked,)
        if dialogue.blocks:
            return await blocking(lambda: dialogue.ask(*arguments))
        return await unfolded(dialogue.ask(*arguments))

    async def _made(self, blocking: Caller) -> Dialogue | FunctionTarget:
        made: Dialogue | FunctionTarget = await unfolded(self._begin(blocking))
        return made

    async def end(self) -> None:
        """Give back what the conversation holds."""
        try:
            if self._dialogue is not None:
                dialogue, self._dialogue = self._dialogue, None
                await (dialogue.end() if isinstance(dialogue, FunctionTarget) else dialogue.close())
        finally:
            _give_back(self._agent, self)


#: The agents that hold a conversation in themselves, by their identity, each with whoever uses it now.
_held: dict[int, tuple[Any, object]] = {}
_holding = Lock()


def _hold(agent: Any, holder: object) -> None:
    with _holding:
        _, known = _held.setdefault(id(agent), (agent, holder))
    if known is not holder:
        raise TargetError(
            f"this {type(agent).__name__} keeps its conversation in the object itself, and another evaluation or item uses it at "
            "the moment: run one after the other, or give a function that makes a new one, target=lambda: make_agent()"
        )


def _give_back(agent: Any, holder: object) -> None:
    with _holding:
        if _held.get(id(agent), (None, None))[1] is holder:
            del _held[id(agent)]


class AgentTarget:
    """An agent of a framework.

    Args:
        agent: The agent; `agent_kind` knows it.
        options: What its framework takes beside the input.
    """

    keeps_track = True

    def __init__(self, agent: Any, options: Mapping[str, object]) -> None:
        kind = agent_kind(agent)
        assert kind is not None
        self._agent, self._kind, self._options = agent, kind, options
        self.mocks_tools = kind.mocks_tools
        #: Where the agent object itself holds the conversation, two at once would be mixed up.
        self.one_at_a_time = kind.stateful

    @property
    def name(self) -> str:
        """What to call it in messages."""
        return type(self._agent).__name__

    def begin(self, mocks: ToolMocks | None) -> Talk:
        """Begin a conversation.

        Raises:
            TargetError: The agent holds the conversation of another evaluation.
        """
        if self.one_at_a_time:
            _hold(self._agent, self)
        return Talk(lambda blocking: self._kind.converse(self._agent, self._options, mocks))

    def close(self) -> None:
        """The agent belongs to the user, who may give it to another evaluation now."""
        _give_back(self._agent, self)


class FactoryTarget:
    """A function without arguments that makes a target, an agent mostly: a new one for each item.

    Args:
        make: The function, synchronous or not.
        options: What the target that it makes takes beside the input.
    """

    keeps_track = True
    mocks_tools = True  # whether it does is seen when it is made
    one_at_a_time = False

    def __init__(self, make: Callable[[], Any], options: Mapping[str, object]) -> None:
        self._make, self._options = make, options

    @property
    def name(self) -> str:
        """What to call it in messages."""
        return name_of(self._make)

    def begin(self, mocks: ToolMocks | None) -> Talk:
        """Begin a conversation; the agent is made when it is first asked."""

        async def made(blocking: Caller) -> Dialogue | FunctionTarget:
            agent: Any = await unfolded(await blocking(self._make))
            kind = agent_kind(agent)
            if kind is not None:
                if mocks is not None and not kind.mocks_tools:
                    raise TargetError(f"the tools of {type(agent).__name__} cannot be mocked")
                if kind.stateful:
                    talk.hold(agent)
                return kind.converse(agent, self._options, mocks)
            if callable(agent) and not isinstance(agent, type):
                return FunctionTarget.of(agent, self._options)
            raise TargetError(
                f"the target {self.name} takes no input, and what it makes is neither an agent nor a function: "
                f"{_render.value(agent)}"
            )

        talk = Talk(made)
        return talk

    def close(self) -> None:
        """What it made belongs to nobody any more."""


class Service(Protocol):
    """An endpoint, or a program."""

    def converse(self, mocks: ToolMocks | None) -> Dialogue:
        """Begin a conversation."""
        ...

    def close(self) -> None:
        """Give back what it holds."""
        ...


class ServiceTarget:
    """An endpoint or a program.

    Args:
        service: What is asked.
        name: What to call it in messages.
        mocks_tools: Whether its tools can be mocked.
    """

    keeps_track = True
    one_at_a_time = False

    def __init__(self, service: Service, name: str, *, mocks_tools: bool) -> None:
        self._service, self.name, self.mocks_tools = service, name, mocks_tools

    def begin(self, mocks: ToolMocks | None) -> Talk:
        """Begin a conversation."""
        return Talk(lambda blocking: self._service.converse(mocks))

    def close(self) -> None:
        """Give back what it holds."""
        self._service.close()
