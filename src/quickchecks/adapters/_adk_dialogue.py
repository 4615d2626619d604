"""Conversations with agents of Google's ADK: a session for each, and a plugin that sees what the events do not show."""

from __future__ import annotations

import copy
import json
from asyncio import CancelledError
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from inspect import isawaitable
from typing import Any

from quickchecks._mocks import LIVE, ToolMocks
from quickchecks._run import Message, Run, Text
from quickchecks.adapters._agents import BrokenOff, Dialogue
from quickchecks.adapters._dialects import is_conversation
from quickchecks.adapters._objects import field, is_a, library, plain
from quickchecks.errors import TargetError, ToolMockError, nearest_names

__all__ = ("AdkDialogue", "Watch")

#: What `run_async` takes beside the message, and what the session is made with.
_RUN_OPTIONS = ("run_config", "state_delta")
_SESSION_OPTIONS = ("state", "user_id")

#: Tools by which the framework hands over or returns an answer.
_PSEUDO_TOOLS = (
    "google.adk.tools.transfer_to_agent_tool:TransferToAgentTool",
    "google.adk.tools.set_model_response_tool:SetModelResponseTool",
    "google.adk.agents.llm.task:FinishTaskTool",
)
_AGENT_TOOL = "google.adk.tools.agent_tool:AgentTool"

#: The call in which an agent runs, when a tool is one.
_inside: ContextVar[str | None] = ContextVar("quickchecks_adk_call", default=None)


class Watch:
    """A plugin of the runner, and of those that agents used as tools get: it answers in place of mocked tools.

    Args:
        mocks: The mocks of the item.
        others: The plugins that the user's runner has.
    """

    def __init__(self, mocks: ToolMocks | None, others: Sequence[Any]) -> None:
        self.name = "quickchecks"
        self._mocks = mocks
        self._others = others
        self._parents: dict[str, str | None] = {}
        self.inner: dict[str | None, list[Any]] = {}
        self.agents: set[str | None] = set()
        self.mocked: set[str | None] = set()
        self.raised: dict[str | None, Exception] = {}
        self.find_agent: Callable[[str], Any] = lambda name: None

    async def before_run_callback(self, *, invocation_context: Any) -> None:
        """Note in which call this run happens."""
        self._parents[invocation_context.invocation_id] = _inside.get()

    async def on_event_callback(self, *, invocation_context: Any, event: Any) -> None:
        """Keep the events of runs inside calls."""
        call = self._parents.get(invocation_context.invocation_id)
        if call is not None:
            self.inner.setdefault(call, []).append(event)

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        """Note which tools there are."""
        if self._mocks is not None:
            self._mocks.placed(*field(llm_request, "tools_dict", ()))

    async def before_tool_callback(self, *, tool: Any, tool_args: Any, tool_context: Any) -> Any:
        """Answer in place of a mocked tool."""
        call = field(tool_context, "function_call_id")
        _inside.set(call)
        if is_a(tool, _AGENT_TOOL):
            self.agents.add(call)
        if self._mocks is None or is_a(tool, *_PSEUDO_TOOLS):
            return None
        try:
            answer = self._mocks.answer(tool.name, plain(tool_args))
        except ToolMockError as error:
            self.mocked.add(call)
            return await self._failed(error, tool, tool_args, tool_context)
        if answer is LIVE:
            return None
        self.mocked.add(call)
        return answer if isinstance(answer, dict) and answer else {"result": answer}

    async def _failed(self, error: ToolMockError, tool: Any, tool_args: Any, tool_context: Any) -> Any:
        """Ask those whom the framework asks when a tool raises; with no answer of theirs it ends the run, as the tool's would."""
        for plugin in self._others:
            found = await plugin.on_tool_error_callback(tool=tool, tool_args=tool_args, tool_context=tool_context, error=error)
            if found is not None:
                return found
        agent = self.find_agent(field(tool_context, "agent_name", ""))
        for callback in field(agent, "canonical_on_tool_error_callbacks", ()):
            found = callback(tool=tool, args=tool_args, tool_context=tool_context, error=error)
            if isawaitable(found):
                found = await found
            if found is not None:
                return found
        self.raised[field(tool_context, "function_call_id")] = error
        raise error

    async def on_tool_error_callback(self, *, tool: Any, tool_args: Any, tool_context: Any, error: Any) -> None:
        """Note that a tool raised; what comes of it is for others to say."""
        if isinstance(error, Exception):
            self.raised[field(tool_context, "function_call_id")] = error


class AdkDialogue(Dialogue):
    """A conversation in one session.

    Args:
        agent: An agent, an app, or a runner.
        options: What the run and the session take.
        mocks: What tools answer instead of running.
        read: Makes the run of a turn.
    """

    def __init__(
        self, agent: Any, options: Mapping[str, Any], mocks: ToolMocks | None, read: Callable[[Sequence[Any], Any], Run]
    ) -> None:
        known = (*_RUN_OPTIONS, *_SESSION_OPTIONS)
        for name in options:
            if name not in known:
                raise TargetError(f"an agent of the ADK takes no option {name!r}: {nearest_names(name, known)}")
        self._options = options
        self._read = read
        self._user = str(options.get("user_id", "quickchecks"))
        self._session: Any = None
        self._runner, self._watch = _watched(agent, mocks)

    async def ask(self, asked: Any, session: Any = None) -> Run:
        """Ask one turn."""
        runner = self._runner
        _inside.set(None)  # the turn before may have left its last call
        if self._session is None:
            # A state is copied by the service: no two conversations share it.
            self._session = await runner.session_service.create_session(
                app_name=runner.app_name, user_id=self._user, state=copy.deepcopy(self._options.get("state"))
            )
        message = await self._message(asked)
        given = {name: self._options[name] for name in _RUN_OPTIONS if name in self._options}
        question = [] if message is None else [{"author": "user", "content": message}]
        events: list[Any] = []
        ran = runner.run_async(user_id=self._user, session_id=self._session.id, new_message=message, **given)
        try:
            try:
                async for event in ran:
                    events.append(event)
            finally:
                await ran.aclose()
        except (Exception, CancelledError) as error:
            cause = error.__cause__
            raise BrokenOff(self._read([*question, *events], self._watch)) from (
                cause if isinstance(cause, ToolMockError) else error
            )
        return self._read([*question, *events], self._watch)

    async def _message(self, asked: Any) -> Any:
        """The new message; earlier ones of a list become events of the session."""
        types = library("google.genai.types")
        if is_a(asked, "google.genai.types:Content"):
            return asked
        if is_a(asked, "google.genai.types:Part"):
            return types.Content(role="user", parts=[asked])
        if isinstance(asked, (list, tuple)) and is_conversation(asked):
            from quickchecks.adapters.openai_chat import load

            messages = load(asked).messages
            if not messages or messages[-1].role != "user":
                raise TargetError("a list of messages for an agent of the ADK ends with one of the user")
            for message in messages[:-1]:
                await self._remember(message, types)
            return types.Content(role="user", parts=[types.Part(text=messages[-1].text)])
        text = asked if isinstance(asked, str) else json.dumps(plain(asked), ensure_ascii=False)
        return types.Content(role="user", parts=[types.Part(text=text)])

    async def _remember(self, message: Message, types: Any) -> None:
        """Put an earlier message into the session."""
        if message.role not in ("user", "assistant") or any(type(part) is not Text for part in message.parts):
            raise TargetError("an agent of the ADK takes earlier messages of the user and the assistant that are text")
        from_user = message.role == "user"
        author = "user" if from_user else str(field(self._runner.agent, "name", "agent"))
        content = types.Content(role="user" if from_user else "model", parts=[types.Part(text=message.text)])
        event = library("google.adk.events").Event(author=author, content=content)
        await self._runner.session_service.append_event(self._session, event)


def _watched(agent: Any, mocks: ToolMocks | None) -> tuple[Any, Watch]:
    """A runner of our own for the agent, with the plugin; the user's agent, app or runner stays as it is."""
    base = library("google.adk.plugins.base_plugin").BasePlugin
    plugin = type("Watch", (Watch, base), {})
    if is_a(agent, "google.adk.runners:Runner"):
        manager = agent.plugin_manager
        others = list(manager.plugins)
        watch: Watch = plugin(mocks, others)
        runner = copy.copy(agent)
        runner.plugin_manager = copy.copy(manager)
        runner.plugin_manager.plugins = [watch, *others]
    else:
        apps = library("google.adk.apps")
        app = agent if is_a(agent, "google.adk.apps:App") else apps.App(name="quickchecks", root_agent=agent)
        others = list(app.plugins)
        watch = plugin(mocks, others)
        runner = library("google.adk.runners").InMemoryRunner(app=app.model_copy(update={"plugins": [watch, *others]}))
    if mocks is not None:
        mocks.placed(*_tools_of(runner.agent, set()))
    watch.find_agent = lambda name: field(runner.agent, "find_agent", lambda _: None)(name)
    return runner, watch


def _tools_of(agent: Any, seen: set[int]) -> Iterator[str]:
    """The names of the tools of an agent, and of the agents that it may hand over to or ask, as far as they are known now."""
    if id(agent) in seen:
        return
    seen.add(id(agent))
    for tool in field(agent, "tools") or ():
        name = field(tool, "name", None) or field(tool, "__name__")
        if isinstance(name, str):
            yield name
        if is_a(tool, _AGENT_TOOL):
            yield from _tools_of(tool.agent, seen)
    for inner in field(agent, "sub_agents") or ():
        yield from _tools_of(inner, seen)
