"""LangChain and LangGraph: states of graphs, lists of messages, results of the old AgentExecutor, as objects and as JSON.

A message of a tool says "success" when nobody said anything, so the text of a result is judged.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from quickchecks._mocks import ToolMocks
from quickchecks._run import Gap, Message, Other, Part, Run, RunError, Text, ToolCall, ToolError
from quickchecks.adapters._agents import Dialogue
from quickchecks.adapters._langchain_messages import MESSAGE, are_messages
from quickchecks.adapters._langchain_state import INTERRUPT, message_run, messages_run, shown, state_run
from quickchecks.adapters._langchain_streams import are_streamed, last_output, streamed_run, whole_messages
from quickchecks.adapters._objects import field, is_a, is_foreign, plain
from quickchecks.adapters._shapes import expected, text_id

__all__ = ("AGENTS", "MOCKS_TOOLS", "converse", "load", "recognises")

AGENTS = ("langgraph.pregel:Pregel", "langchain_core.runnables.base:Runnable")
MOCKS_TOOLS = True

_OUTPUT = "langgraph.types:GraphOutput"
_SNAPSHOT = "langgraph.types:StateSnapshot"
_NESTED = Gap("nested_possible", "calls of an agent that a tool or a node asks are not visible")
_ACTION = "langchain_core.agents:AgentAction"


def recognises(value: Any) -> bool:
    """Whether a value is a state with messages of this library, a list of them, or what a graph or an executor gave."""
    if type(value) is dict:
        if (messages := value.get("messages")) is not None:
            return are_messages(messages)
        return INTERRUPT in value or ("output" in value and _are_steps(value.get("intermediate_steps")))
    if type(value) is list or type(value) is tuple:
        return are_messages(value) or are_streamed(value)
    return is_foreign(value) and is_a(value, MESSAGE, _OUTPUT, _SNAPSHOT)


def load(value: Any) -> Run:
    """Read one run.

    Args:
        value: A state, a list of messages, one message of a model, or the JSON of any.

    Returns:
        The run.

    Raises:
        RecordingError: The value is malformed.
    """
    if is_a(value, MESSAGE):
        return message_run(value)
    if is_a(value, _OUTPUT):
        run = state_run(field(value, "value"), interrupted=bool(field(value, "interrupts")))
    elif is_a(value, _SNAPSHOT):
        run = _snapshot(value)
    elif isinstance(value, (list, tuple)):
        if not are_messages(value) and are_streamed(value):
            if (output := last_output(value)) is not None:
                return load(output) if recognises(output) else state_run(output)
            run = streamed_run(value)
        else:
            run = _messages(value)
    elif isinstance(value, Mapping):
        is_executor = value.get("messages") is None and "intermediate_steps" in value
        run = _executor(value) if is_executor else state_run(value)
    else:
        raise expected("a state of LangGraph, or a list of messages of LangChain", value, "")
    gaps = [*_hidden(run), *([_NESTED] if run.tool_calls else [])]
    return replace(run, gaps=(*run.gaps, *gaps)) if gaps else run


def _messages(value: Any) -> Run:
    """The run of a list of messages, or of the pieces that a model streamed."""
    whole = whole_messages(value)
    return message_run(whole[0]) if len(whole) == 1 < len(value) else messages_run(whole)


def _hidden(run: Run) -> list[Gap]:
    """The agents of a supervisor of whom the state keeps the last words alone, so that nobody knows what they called."""
    gaps: list[Gap] = []
    words: list[Message] = []
    for message in run.messages[run.history_length :]:
        calls = [part for part in message.parts if type(part) is ToolCall]
        if any(call.kind == "handoff" and call.name.startswith("transfer_back_to_") for call in calls):
            if len(words) == 1 and words[0].agent == message.agent:
                note = f"the state keeps only the last words of {message.agent}, not what it called"
                gaps.append(Gap("nested", note, message.agent))
            words = []
        elif calls:
            # After a handoff another agent speaks; any other call shows that the state keeps them.
            words = [] if all(call.kind == "handoff" for call in calls) else [message, message]
        elif message.role == "assistant":
            words.append(message)
    return gaps


def _snapshot(snapshot: Any) -> Run:
    tasks = field(snapshot, "tasks") or ()
    interrupted = any(field(task, "interrupts") for task in tasks)
    run = state_run(field(snapshot, "values"), interrupted=interrupted)
    error = next((error for task in tasks if (error := field(task, "error")) is not None), None)
    if error is None:
        return run
    kind, _, message = str(error).partition("(")
    told = RunError(str(error), type(error).__name__ if isinstance(error, BaseException) else kind if message else "")
    return replace(run, error=told)


# The results of AgentExecutor


def _are_steps(steps: Any) -> bool:
    if not isinstance(steps, (list, tuple)):
        return False
    first = steps[0] if steps else None
    return first is None or (isinstance(first, (list, tuple)) and len(first) == 2 and is_a(first[0], _ACTION))


def _executor(record: Mapping[str, Any]) -> Run:
    """The steps are pairs of an action and what came of it; a tool that is not known answers in the words of the framework."""
    parts: list[Part] = []
    steps = record.get("intermediate_steps")
    for at, step in enumerate(steps if isinstance(steps, (list, tuple)) else ()):
        pair = list(step) if isinstance(step, (list, tuple)) else []
        if len(pair) != 2:
            raise expected("a pair of an action and what came of it", step, f"intermediate_steps[{at}]")
        action, observed = pair
        name = field(action, "tool")
        if not isinstance(name, str) or not name:
            raise expected("an action with the name of a tool", action, f"intermediate_steps[{at}][0]")
        result = plain(observed)
        if name == "_Exception":  # the executor notes in this way that it could not read what the model said
            parts.append(Other("parsing_error", result))
            continue
        call = ToolCall(name, plain(field(action, "tool_input")), text_id(field(action, "tool_call_id")), result=result)
        if isinstance(result, str) and result.startswith(f"{name} is not a valid tool, try one of ["):
            call = replace(call, state="failed", error=ToolError(result))
        parts.append(call)
    asked = record.get("input")
    question = (Message("user", (Text(asked),)),) if isinstance(asked, str) and asked else ()
    parts += shown(record.get("output"))
    return Run((*question, Message("assistant", tuple(parts))), None if question else plain(asked))


def converse(agent: Any, options: Mapping[str, Any], mocks: ToolMocks | None) -> Dialogue:
    """Begin a conversation with a graph, or with anything that runs; see `_agents`."""
    from quickchecks.adapters import _langchain_talk

    return _langchain_talk.converse(agent, options, mocks)
