"""Builders of runs, for tests of checks and of agents.

They are written as the run went:

    run("It is sunny.")                                              # an answer
    run(user("Weather?"), call("get_weather", city="Oslo"), "Cold.") # a call and an answer
    run(call("lookup", order="A-10", error="order not found"))       # a call that failed
    run(call("lookup", unfinished=True))                             # a call without a result
    run(user("Hi"), "Hello.", user("Weather?"), "Cold.")             # two turns
    run(call("billing", run=run(call("refund"), agent="billing")))   # a nested run
"""

from __future__ import annotations

from collections.abc import Mapping

from quickchecks._run import (
    UNSET,
    CallKind,
    Gap,
    Message,
    Part,
    Reasoning,
    Run,
    RunError,
    Step,
    Text,
    ToolCall,
    ToolError,
    Usage,
)

__all__ = ("answer", "assistant", "call", "reasoning", "run", "step", "system", "user")


def user(text: str) -> Message:
    """A message of the user.

    Args:
        text: What the user says.
    """
    return Message("user", (Text(text),))


def system(text: str) -> Message:
    """A system message.

    Args:
        text: What it says.
    """
    return Message("system", (Text(text),))


def assistant(*parts: str | Part, agent: str | None = None) -> Message:
    """A message of the agent.

    Args:
        parts: Texts and parts, in order.
        agent: Which agent speaks.

    Example:
        >>> assistant("It is ", "sunny.").text
        'It is sunny.'
    """
    return Message("assistant", tuple(Text(part) if isinstance(part, str) else part for part in parts), agent)


def answer(value: object) -> Message:
    """A message of the agent that is a structured value; its text is the value's JSON.

    Args:
        value: The value.

    Example:
        >>> run(answer({"city": "Oslo"})).text
        '{"city":"Oslo"}'
    """
    from quickchecks import _wire

    return Message("assistant", (Text(_wire.shown(value), value),))


def reasoning(text: str) -> Reasoning:
    """Thoughts of the model, which are no output text.

    Args:
        text: The thoughts.
    """
    return Reasoning(text)


def step() -> Step:
    """The border between two model steps inside one message."""
    return Step()


def call(
    name: str,
    arguments: Mapping[str, object] | str | None = None,
    /,
    *,
    result: object = "ok",
    error: str | None = None,
    unfinished: bool = False,
    awaiting: bool = False,
    kind: CallKind = "tool",
    run: Run | None = None,
    id: str | None = None,
    **named_arguments: object,
) -> ToolCall:
    """A tool call.

    Args:
        name: The name of the tool.
        arguments: Its arguments, as a mapping or as the text that a model wrote.
        result: What the tool returned.
        error: That it failed, with this message.
        unfinished: That it has no result.
        awaiting: That it waits for a person's approval.
        kind: See `ToolCall.kind`.
        run: The run of the agent that the call started.
        id: The id of the call.
        named_arguments: The arguments by keyword, when none is called like an option above.

    Example:
        >>> call("get_weather", city="Oslo").arguments
        {'city': 'Oslo'}
    """
    given: object = named_arguments if arguments is None else arguments
    if error is not None:
        return ToolCall(name, given, id, "failed", kind, UNSET, ToolError(error), run=run)
    if unfinished or awaiting:
        return ToolCall(name, given, id, "awaiting" if awaiting else "requested", kind, UNSET, run=run)
    return ToolCall(name, given, id, "completed", kind, result, run=run)


def run(
    *content: str | Part | Message,
    agent: str | None = None,
    history: int = 0,
    input: object = None,
    error: str | None = None,
    gaps: tuple[Gap, ...] = (),
    usage: Usage | None = None,
    duration: float | None = None,
    metadata: Mapping[str, object] | None = None,
) -> Run:
    """A run.

    Args:
        content: Messages, and texts and parts that the agent says: each text is a message of its own, a call stands in
            the message of the text before it or in one of its own.
        agent: The name of the agent.
        history: How many of the messages were there before this run.
        input: What the agent was asked, when that is no message.
        error: That the run itself failed, with this message.
        gaps: What the source could not show.
        usage: Tokens and cost.
        duration: Seconds.
        metadata: What else there is to know.

    Example:
        >>> run(user("Weather?"), call("get_weather", city="Oslo"), "Cold.").tool_names
        ('get_weather',)
    """
    messages: list[Message] = []
    for item in content:
        if isinstance(item, Message):
            messages.append(item)
        elif isinstance(item, str):
            messages.append(Message("assistant", (Text(item),)))
        elif messages and messages[-1].role == "assistant":
            messages[-1] = Message("assistant", (*messages[-1].parts, item), messages[-1].agent)
        else:
            messages.append(Message("assistant", (item,)))
    return Run(
        tuple(messages),
        input,
        history_length=history,
        usage=usage,
        duration=duration,
        error=RunError(error) if error is not None else None,
        agent=agent,
        gaps=gaps,
        metadata=metadata,
    )
