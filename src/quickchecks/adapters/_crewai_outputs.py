"""What CrewAI gives back: the outputs of crews, tasks and agents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from quickchecks import _wire
from quickchecks._run import Gap, Message, Run, Text, Usage
from quickchecks.adapters._crewai_messages import Seen, TaskReader
from quickchecks.adapters._objects import field, is_a, plain
from quickchecks.adapters._shapes import as_mapping, expected

__all__ = ("kind_of", "output_run", "usage_of")

_CREW = "crewai.crews:CrewOutput"
_TASK = "crewai.tasks:TaskOutput"
_AGENT = "crewai.lite_agent_output:LiteAgentOutput"

_NO_INPUT = Gap("input", "the output of a crew does not show its inputs")


def kind_of(value: Any) -> str:
    """Say whether a value is the output of a "crew", a "task" or an "agent"; empty when it is none."""
    if type(value) is dict:
        if "raw" not in value:
            return ""
        if type(value.get("tasks_output")) is list:
            return "crew"
        if type(value.get("messages")) is list:
            return "agent" if "agent_role" in value else "task" if "expected_output" in value else ""
        return ""
    if is_a(value, _CREW):
        return "crew"
    return "agent" if is_a(value, _AGENT) else "task" if is_a(value, _TASK) else ""


def output_run(value: Any, seen: list[Seen] | None) -> Run:
    """Read an output.

    Args:
        value: The output of a crew, a task or an agent.
        seen: What tools were seen to do, where that was listened to; what is read of them is taken out.
    """
    kind = kind_of(value)
    if not kind:
        raise expected("the output of a crew, a task or an agent", value, "")
    if kind != "crew":
        return _single(value, "", seen)
    tasks = field(value, "tasks_output")
    if not isinstance(tasks, (list, tuple)):
        raise expected("a list of the outputs of tasks", tasks, "tasks_output")
    children = []
    for at, task in enumerate(tasks):
        if kind_of(task) != "task":
            raise expected("the output of a task", task, f"tasks_output[{at}]")
        children.append(_single(task, f"tasks_output[{at}]", seen))
    answer = _answer(value)
    gaps = [_NO_INPUT] if tasks else [_NO_INPUT, Gap("calls", "the output holds no task")]
    return Run(
        () if answer is None else (Message("assistant", (answer,)),),
        usage=usage_of(field(value, "token_usage")),
        children=tuple(children),
        gaps=tuple(gaps),
    )


def _single(value: Any, path: str, seen: list[Seen] | None) -> Run:
    """One agent at work: on a task, or alone."""
    role = field(value, "agent_role", field(value, "agent"))
    role = role if isinstance(role, str) and role else None
    reader = TaskReader(f"{path}.messages" if path else "messages", seen, role)
    messages = field(value, "messages")
    if not isinstance(messages, (list, tuple)):
        messages = []
    reader.read(messages, field(value, "tool_failures") or ())
    gaps = list(reader.gaps)
    if not any(message.role == "assistant" for message in reader.messages):
        gaps.append(Gap("calls", "the output does not hold the messages of the agent"))
    if seen is None and (field(value, "todos") or field(value, "plan")):
        gaps.append(Gap("calls", "what the agent did for the steps of its plan is not recorded in the messages"))
    answer = _answer(value)
    built = reader.messages if answer is None else _with_answer(reader.messages, answer)
    return Run(
        tuple(built),
        history_length=reader.history if kind_of(value) == "agent" else 0,
        usage=usage_of(field(value, "usage_metrics")),
        agent=role,
        children=() if seen is not None else tuple(_coworkers(reader)),
        gaps=tuple(gaps),
    )


def _coworkers(reader: TaskReader) -> Iterator[Run]:
    """What is known of agents that were asked by this one: only what failed."""
    for name in dict.fromkeys(role for role, _ in reader.of_others):
        calls = tuple(call for role, call in reader.of_others if role == name)
        yield Run(
            (Message("assistant", calls),), agent=name, gaps=(Gap("calls", f"of {name}, only calls that failed are recorded"),)
        )


def _answer(value: Any) -> Text | None:
    """The answer: a structured one where there is one."""
    raw = field(value, "raw")
    said = raw if isinstance(raw, str) else "" if raw is None else _wire.as_text(raw)
    for key in ("pydantic", "json_dict"):
        found = field(value, key)
        if found is not None and (structured := as_mapping(found)) is not None:
            kept = plain(structured)
            return Text(said or _wire.shown(kept), kept)
    return Text(said) if said else None


def _with_answer(messages: Sequence[Message], answer: Text) -> list[Message]:
    """The messages with the answer as the last: mostly it is there already, as plain text."""
    built = list(messages)
    last = built[-1] if built else None
    if last is not None and last.role == "assistant" and last.text.strip() == answer.text.strip():
        built[-1] = replace(last, parts=(*(part for part in last.parts if type(part) is not Text), answer))
    else:
        built.append(Message("assistant", (answer,)))
    return built


def usage_of(value: Any) -> Usage | None:
    """Read what models cost, under the framework's names."""
    counts = [
        count if type(count := field(value, key)) is int else None
        for key in ("prompt_tokens", "completion_tokens", "cached_prompt_tokens", "reasoning_tokens", "successful_requests")
    ]
    if not any(counts):  # zeros are written where nothing was counted
        return None
    return Usage(counts[0], counts[1], counts[2], counts[3], requests=counts[4])
