"""What callbacks of LangChain see: the tools that ran, with their true exceptions, and what models said below them.

A tool may ask another agent, and a node of a graph may keep to itself what its agent did: the messages of a state show
neither, the callbacks both.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from time import perf_counter
from typing import Any

from msgspec.structs import force_setattr, replace

from quickchecks._mocks import ToolMocks
from quickchecks._run import UNSET, Run, ToolCall, ToolError
from quickchecks.adapters._chat import result_value
from quickchecks.adapters._langchain_messages import MESSAGE, MessageReader, usage_of
from quickchecks.adapters._objects import field, is_a, library, plain
from quickchecks.adapters._pairing import complete
from quickchecks.adapters._shapes import text_id
from quickchecks.errors import ToolMockError

__all__ = ("ToolRun", "Watch", "handler")


class ToolRun:
    """One tool that ran."""

    def __init__(self, owner: Any, name: str, arguments: Any, call_id: str | None) -> None:
        self.owner = owner
        self.name = name
        self.arguments = arguments
        self.call_id = call_id
        self.begun = perf_counter()
        self.seconds: float | None = None
        self.output: Any = UNSET
        self.error: BaseException | None = None


class Watch:
    """What happened during one turn.

    Args:
        mocks: What answers in place of tools. A tool that has a mock and runs all the same is stopped.
    """

    def __init__(self, mocks: ToolMocks | None) -> None:
        self._mocked = mocks.tools if mocks is not None else frozenset()
        self._parents: dict[Any, Any] = {}
        self._tools: dict[Any, ToolRun] = {}
        #: Answers of models and tools that ran, in order, each with the tool below which it happened.
        self._events: list[tuple[Any, Any]] = []
        self._used: set[int] = set()

    def begin(self, run_id: Any, parent: Any) -> None:
        """A chain, a graph or a model begins."""
        self._parents[run_id] = parent

    def begin_tool(self, run_id: Any, parent: Any, name: str, arguments: Any, call_id: str | None) -> None:
        """A tool begins."""
        if name in self._mocked:
            raise ToolMockError(f"{name} has a mock and was about to run all the same: it is called past the node of the tools")
        self._parents[run_id] = parent
        tool = self._tools[run_id] = ToolRun(self._owner(parent), name, arguments, call_id)
        self._events.append((tool.owner, tool))

    def end_tool(self, run_id: Any, output: Any, error: BaseException | None = None) -> None:
        """A tool ends, or raises."""
        tool = self._tools.get(run_id)
        if tool is not None and not is_a(error, "langgraph.errors:GraphBubbleUp"):  # by which a graph waits or is left
            tool.seconds, tool.output, tool.error = perf_counter() - tool.begun, output, error
            tool.call_id = tool.call_id or text_id(field(output, "tool_call_id"))

    def said(self, run_id: Any, response: Any) -> None:
        """A model answered."""
        for choices in field(response, "generations") or ():
            message = field(choices[0], "message") if choices else None
            if is_a(message, MESSAGE):
                self._events.append((self._owner(run_id), message))

    def _owner(self, run_id: Any) -> Any:
        """The nearest tool below which something happens; None at the top."""
        while run_id is not None and run_id not in self._tools:
            run_id = self._parents.get(run_id)
        return run_id

    def complete(self, calls: Iterable[ToolCall]) -> None:
        """Put on the calls of the root what is known of the tools that ran for them."""
        for call in calls:
            self._put(call, None)

    def others(self, known: Iterable[ToolCall]) -> list[ToolCall]:
        """The calls at the top that stand in no message of the state: made by nodes that keep theirs to themselves.

        Args:
            known: The calls that the state shows.
        """
        ids = {call.id for call in known}
        calls: list[ToolCall] = []
        for owner, event in self._events:
            if owner is not None:
                continue
            if isinstance(event, ToolRun):
                if id(event) not in self._used:
                    call = ToolCall(event.name, plain(event.arguments), event.call_id, "requested", errors_shown_in="text")
                    self._use(call, event)
                    calls.append(call)
                continue
            reader = MessageReader()
            reader.read([event])
            for call in reader.calls:
                if call.id not in ids:
                    force_setattr(call, "agent", reader.messages[0].agent)
                    self._put(call, None)
                    calls.append(call)
        return calls

    def answers(self) -> list[Any]:
        """What models said at the top, in order."""
        return [event for owner, event in self._events if owner is None and not isinstance(event, ToolRun)]

    def _put(self, call: ToolCall, owner: Any) -> None:
        """Put on a call what is known of the tool that ran for it; of several tries the last."""
        tools = [
            event for at, event in self._events if at == owner and isinstance(event, ToolRun) and id(event) not in self._used
        ]
        mine = [tool for tool in tools if call.id is not None and tool.call_id == call.id]
        mine = mine or [tool for tool in tools if tool.call_id is None and tool.name == call.name][:1]
        for tool in mine:
            self._use(call, tool)

    def _use(self, call: ToolCall, tool: ToolRun) -> None:
        self._used.add(id(tool))
        force_setattr(call, "duration", tool.seconds)
        error = tool.error
        if error is not None:
            said = call.error.message if call.error is not None else str(error)
            result = call.result
            complete(call, result, ToolError(said or str(error), type(error).__name__, "exception"))
        elif call.state == "requested" and tool.output is not UNSET:
            output = tool.output
            if is_a(output, MESSAGE):
                failed = field(output, "status") == "error"
                result = plain(result_value(field(output, "content")))
                complete(call, result, ToolError(result if isinstance(result, str) else "") if failed else None)
            else:
                complete(call, plain(output))
        run_id = next(key for key, known in self._tools.items() if known is tool)
        if (nested := self._nested(run_id)) is not None:
            force_setattr(call, "run", nested)
            force_setattr(call, "kind", "agent")

    def _nested(self, owner: Any) -> Run | None:
        """The run of the agent that a tool asked; None when no model spoke below it."""
        answers = [event for at, event in self._events if at == owner and not isinstance(event, ToolRun)]
        if not answers:
            return None
        reader = MessageReader()
        reader.read(answers)
        for call in reader.calls:
            self._put(call, owner)
        names = {message.agent for message in reader.messages if message.agent}
        run = Run(tuple(reader.messages), usage=usage_of(answers), gaps=tuple(reader.gaps))
        return replace(run, agent=names.pop()) if len(names) == 1 else run


@cache
def _handler_class() -> Any:
    base: Any = library("langchain_core.callbacks").BaseCallbackHandler

    class Handler(base):  # type: ignore[misc]
        run_inline = True
        raise_error = True  # so that a tool which must not run is stopped

        def __init__(self, watch: Watch) -> None:
            self.watch = watch

        def on_chain_start(self, serialized: Any, inputs: Any, *, run_id: Any, parent_run_id: Any = None, **more: Any) -> None:
            self.watch.begin(run_id, parent_run_id)

        def on_chat_model_start(
            self, serialized: Any, messages: Any, *, run_id: Any, parent_run_id: Any = None, **more: Any
        ) -> None:
            self.watch.begin(run_id, parent_run_id)

        def on_llm_start(self, serialized: Any, prompts: Any, *, run_id: Any, parent_run_id: Any = None, **more: Any) -> None:
            self.watch.begin(run_id, parent_run_id)

        def on_llm_end(self, response: Any, *, run_id: Any, **more: Any) -> None:
            self.watch.said(run_id, response)

        def on_tool_start(
            self, serialized: Any, input_str: str, *, run_id: Any, parent_run_id: Any = None, inputs: Any = None, **more: Any
        ) -> None:
            named = (serialized or {}).get("name") or more.get("name")
            name = named if isinstance(named, str) and named else "tool"
            arguments = input_str if inputs is None else inputs
            self.watch.begin_tool(run_id, parent_run_id, name, arguments, text_id(more.get("tool_call_id")))

        def on_tool_end(self, output: Any, *, run_id: Any, **more: Any) -> None:
            self.watch.end_tool(run_id, output)

        def on_tool_error(self, error: BaseException, *, run_id: Any, **more: Any) -> None:
            self.watch.end_tool(run_id, UNSET, error)

    return Handler


def handler(watch: Watch) -> Any:
    """A callback handler that tells a watch what happens; made late, because its class is the framework's."""
    return _handler_class()(watch)
