"""Conversations with Claude's agent: a client of the SDK for each, with the options of the user."""

from __future__ import annotations

import dataclasses
from asyncio import CancelledError, wait_for
from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from quickchecks._mocks import ToolMocks
from quickchecks._run import Message, Run, Text
from quickchecks.adapters._agents import BrokenOff, Dialogue
from quickchecks.adapters._claude_background import BackgroundAgents
from quickchecks.adapters._claude_messages import ClaudeReader, fields_of
from quickchecks.adapters._claude_mocks import ClaudeMocks
from quickchecks.adapters._dialects import is_conversation
from quickchecks.adapters._objects import field, is_a, library
from quickchecks.errors import TargetError, nearest_names

__all__ = ("ClaudeDialogue",)

_CLIENT = "claude_agent_sdk:ClaudeSDKClient"
#: Seconds within which the agent goes on by itself when it has heard of one that is done.
_AT_ONCE = 2.0


class ClaudeDialogue(Dialogue):
    """A conversation in one session.

    Args:
        agent: The options, or a client; of a client the options are taken, and it is not asked itself.
        options: Options that hold instead of the user's, and `transport`: a function that makes one for a conversation.
        mocks: What tools answer instead of running.
    """

    def __init__(self, agent: Any, options: Mapping[str, Any], mocks: ToolMocks | None) -> None:
        given = dict(options)
        self._transport = given.pop("transport", None)
        own = field(agent, "_custom_transport") if is_a(agent, _CLIENT) else None
        if self._transport is None and own is not None:
            raise TargetError(
                "this client has a transport of its own, which holds one conversation:"
                " give target_options={'transport': function} with a function that makes one for each"
            )
        if self._transport is not None and not callable(self._transport):
            raise TargetError("transport is a function that makes a transport for each conversation")
        self._options = agent.options if is_a(agent, _CLIENT) else agent
        known = [one.name for one in dataclasses.fields(self._options)]
        for name in given:
            if name not in known:
                raise TargetError(f"ClaudeAgentOptions has no {name!r}: {nearest_names(name, [*known, 'transport'])}")
        if given:
            self._options = dataclasses.replace(self._options, **given)
        self._mocks = None if mocks is None else ClaudeMocks(mocks)
        if self._mocks is not None:
            self._options = self._mocks.put_into(self._options)
        self._client: Any = None
        self._spent = 0.0

    async def ask(self, asked: Any, session: Any = None) -> Run:
        """Ask one turn."""
        text = _words(asked)
        items: list[Any] = []
        try:
            if self._client is None:
                transport = None if self._transport is None else self._transport()
                client = library("claude_agent_sdk").ClaudeSDKClient(options=self._options, transport=transport)
                await client.connect()
                self._client = client
            await self._client.query(text)
            await self._receive(items)
        except (Exception, CancelledError) as error:
            if not items:
                raise
            raise BrokenOff(self._run(text, items)) from error
        if self._mocks is not None and self._mocks.impossible:
            raise BrokenOff(self._run(text, items)) from TargetError(self._mocks.impossible)
        return self._run(text, items)

    async def _receive(self, items: list[Any]) -> None:
        """Take what comes until the turn is over, with what the agent says when those that work in the background are done."""
        background = BackgroundAgents()
        stream = self._client.receive_messages()
        patience = None
        while True:
            try:
                item = await wait_for(anext(stream), patience)
            except StopAsyncIteration:
                return
            except TimeoutError:
                if patience is None:  # not ours
                    raise
                return  # it had heard in time that the others were done
            items.append(item)
            if self._mocks is not None:
                self._mocks.note(item)
            kind, fields = fields_of(item) or ("", {})
            background.note(kind, fields)
            patience = None
            if kind == "result" and not background.calls:
                if not background.told:
                    return
                background.told, patience = False, _AT_ONCE

    def _run(self, text: str, items: list[Any]) -> Run:
        reader = ClaudeReader()
        reader.read(items)
        run = reader.run()
        if run.usage is not None and run.usage.cost is not None:  # what is told is the cost of the session until now
            total = run.usage.cost
            run = replace(run, usage=replace(run.usage, cost=max(0.0, total - self._spent)))
            self._spent = total
        return replace(run, messages=(Message("user", (Text(text),)), *run.messages))

    async def close(self) -> None:
        """End the session."""
        client, self._client = self._client, None
        if client is not None:
            await client.disconnect()


def _words(asked: Any) -> str:
    """The program takes what the user says, and no earlier messages."""
    if isinstance(asked, str):
        return asked
    if isinstance(asked, (list, tuple)) and is_conversation(asked):
        from quickchecks.adapters.openai_chat import load

        messages = load(asked).messages
        if len(messages) != 1 or messages[0].role != "user":
            raise TargetError(
                "Claude's agent takes one message of the user, and no earlier ones: write them as turns of the item"
            )
        return messages[0].text
    raise TargetError("Claude's agent takes text")
