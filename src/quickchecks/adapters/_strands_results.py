"""What agents of Strands give back: results, the stored form of them, and messages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import force_setattr, replace

from quickchecks import _wire
from quickchecks._run import Gap, Message, Run, RunError, Text, ToolCall
from quickchecks.adapters._converse import ConverseReader, has_call_blocks, summed, usage_of
from quickchecks.adapters._endings import cut_calls, lost_calls, mark_cut
from quickchecks.adapters._objects import field, is_a, plain
from quickchecks.adapters._record import run_of
from quickchecks.adapters._shapes import as_mapping, expected
from quickchecks.adapters._strands_streams import are_events, result_of

__all__ = ("finished", "load", "recognises", "team_run")

_RESULT = "strands.agent:AgentResult"
_TEAM = "strands.multiagent:MultiAgentResult"
#: The tool that a swarm gives to its agents.
_HANDOFF = "handoff_to_agent"

_NESTED = Gap("nested_possible", "where a tool is itself an agent, its inner calls are not visible in this result")
_LAST_ONLY = "a stored result holds the last message alone"


def recognises(value: Any) -> bool:
    """Whether a value is a result of Strands, its stored form, a list of events, or of messages with Converse's blocks."""
    if type(value) is list or type(value) is tuple:
        return has_call_blocks(value) or are_events(value)
    if type(value) is dict:
        if type(messages := value.get("messages")) is list:
            return has_call_blocks(messages)
        return _stored(value) != ""
    return is_a(value, _RESULT, _TEAM)


def _stored(value: Mapping[str, Any]) -> str:
    kind = value.get("type")
    if kind == "agent_result" and "message" in value and "stop_reason" in value:
        return "agent"
    return "team" if kind == "multiagent_result" and "results" in value and "status" in value else ""


def load(value: Any) -> Run:
    """Read one run.

    Args:
        value: What `recognises` accepts.

    Returns:
        The run.

    Raises:
        RecordingError: The value is malformed.
    """
    if is_a(value, _TEAM) or (type(value) is dict and _stored(value) == "team"):
        return team_run(value, None)
    if is_a(value, _RESULT):
        return _result(value)
    if isinstance(value, (list, tuple)):
        return load(result_of(value)) if are_events(value) else messages_run(value)
    record = as_mapping(value)
    if record is None:
        raise expected("a list of messages, or a result of Strands", value, "")
    if _stored(record) == "agent":
        return _stored_result(record)
    messages = record.get("messages")
    reader = ConverseReader("messages")
    reader.read(messages)
    return run_of(record, messages, reader.messages, reader.gaps)


def messages_run(messages: Any) -> Run:
    """Read a list of messages."""
    reader = ConverseReader()
    reader.read(messages)
    return Run(tuple(reader.messages), usage=usage_of(messages), gaps=tuple(reader.gaps))


def _stored_result(record: Mapping[str, Any]) -> Run:
    reader = ConverseReader("message")
    reader.read([record["message"]])
    gaps = [*reader.gaps, Gap("calls", _LAST_ONLY), Gap("input", _LAST_ONLY)]
    return finished(Run(tuple(reader.messages), usage=usage_of([record["message"]]), gaps=tuple(gaps)), record)


def _result(result: Any) -> Run:
    """The messages of a result stand in the traces of its metrics, which all results of one agent share."""
    invocation, messages = _own_messages(result)
    last = as_mapping(field(result, "message"))
    gaps = [Gap("input", "a result does not show what was asked")]
    if messages is None:
        gaps.append(Gap("calls", "the traces of this result do not hold its messages"))
        messages = [] if last is None else [last]
    elif last is not None and not any(message == last for message in messages):
        messages = [*messages, last]
    structured = field(result, "structured_output")
    reader = ConverseReader("message", outputs=() if structured is None else (type(structured).__name__,))
    reader.read(messages)
    calls = [call for call in reader.calls if call.kind == "tool"]
    usage = as_mapping(field(invocation, "usage"))
    run = Run(
        tuple(reader.messages),
        usage=usage_of(messages) if usage is None else summed([usage], len(field(invocation, "cycles") or ())),
        gaps=(*gaps, *reader.gaps, *([_NESTED] if calls else [])),
    )
    return finished(run, result)


def _own_messages(result: Any) -> tuple[Any, list[Any] | None]:
    """The invocation that gave this result, and its messages; None where the traces do not show them."""
    metrics = field(result, "metrics")
    traces = list(field(metrics, "traces") or ())
    invocations = list(field(metrics, "agent_invocations") or ())
    cycles = [len(field(invocation, "cycles") or ()) for invocation in invocations]
    if not traces or sum(cycles) != len(traces):
        return None, None
    last = field(result, "message")
    start = len(traces)
    for invocation, count in zip(reversed(invocations), reversed(cycles), strict=True):
        start -= count
        messages = [message for trace in traces[start : start + count] for message in _trace_messages(trace)]
        if any(message is last or message == last for message in messages):
            shown = all(_trace_messages(trace) for trace in traces[start : start + count])
            return invocation, messages if shown else None
    return None, None


def _trace_messages(trace: Any) -> list[Any]:
    children = field(trace, "children") or ()
    return [message for child in children if (message := field(child, "message")) is not None]


def finished(run: Run, result: Any) -> Run:
    """Add what a result says beside its messages: the structured answer, what waits for a person, why it ended.

    Args:
        run: What its messages show.
        result: The result.
    """
    reason = field(result, "stop_reason")
    run = replace(run, gaps=(*run.gaps, *_ended(reason, run)))
    interrupts = field(result, "interrupts")
    if isinstance(interrupts, Sequence) and interrupts:
        _await([field(interrupt, "id") for interrupt in interrupts], run)
    structured = field(result, "structured_output")
    if structured is not None:
        value = plain(structured)
        run = replace(run, messages=(*run.messages, Message("assistant", (Text(_wire.shown(value), value),))))
    error = run.error
    if isinstance(reason, str) and error is None and (reason == "cancelled" or reason.startswith("limit_")):
        error = RunError(f"the agent stopped before it was done: {reason}")
    return replace(run, error=error, metadata={"stop_reason": plain(reason)})


def _ended(reason: Any, run: Run) -> list[Gap]:
    """What the end of the answer says of calls. A call that the limit of tokens cuts off is taken out of the message."""
    calls = run.all_tool_calls
    if reason != "max_tokens":
        return lost_calls(reason, calls)
    last = run.messages[-1].parts[-1:] if run.messages else ()
    mark_cut(calls, last=any(type(part) is ToolCall for part in last))
    run.forget()
    note = "the model was cut off by the limit of tokens (max_tokens), perhaps in the middle of a call"
    return cut_calls(calls) or [Gap("calls", note)]


def _await(ids: list[Any], run: Run) -> None:
    names = [id for id in ids if isinstance(id, str)]
    whole = any(name.startswith("v1:before_tools:") for name in names)
    for part in (part for message in run.messages for part in message.parts):
        if type(part) is ToolCall and part.state == "requested" and (whole or _is_named(part.id, names)):
            force_setattr(part, "state", "awaiting")


def _is_named(id: str | None, names: list[str]) -> bool:
    return id is not None and any(f":{id}:" in f"{name}:" for name in names)


def team_run(result: Any, members: Sequence[Run] | None) -> Run:
    """Read the result of a graph or a swarm: each agent that ran is a nested run, and the last of them answers.

    Args:
        result: The result.
        members: The runs of the agents in their order, where they were seen; else the result's own are read.
    """
    gaps: list[Gap] = []
    nodes = _order(result)
    results = field(result, "results")
    if not isinstance(results, Mapping):
        raise expected("the results of the nodes, that is an object", results, "results")
    answers = {str(name): _node_run(str(name), node) for name, node in results.items()}
    if members is None:
        children = tuple(answers[name] for name in dict.fromkeys((*nodes, *answers)) if name in answers)
        for name, times in Counter(nodes).items():
            if times > 1:
                gaps.append(Gap("nested", f"{name} ran {times} times, and the result holds the last of them", name))
    else:
        children = tuple(members)
    if is_a(result, "strands.multiagent:SwarmResult"):
        for child in children:
            _mark_handoffs(child)
    messages: list[Message] = []
    for name in _last_nodes(result, nodes) or list(answers)[-1:]:
        if name in answers:
            said = tuple(Text(text) for text in [answers[name].final_text] if text)
            messages.append(Message("assistant", said, name))
    status = field(field(result, "status"), "value", field(result, "status"))
    error = next((run.error for run in answers.values() if run.error is not None), None)
    if error is None and status == "failed":
        error = RunError("the agents ended with the status failed")
    gaps.append(Gap("input", "a result does not show what was asked"))
    usage = as_mapping(field(result, "accumulated_usage"))
    milliseconds = field(result, "execution_time")
    return Run(
        tuple(messages),
        usage=None if usage is None else summed([usage], None),
        duration=milliseconds / 1000 if type(milliseconds) is int else None,
        error=error,
        children=children,
        gaps=tuple(gaps),
        metadata={"status": plain(status)},
    )


def _node_run(name: str, node: Any) -> Run:
    result = field(node, "result")
    if isinstance(result, BaseException):
        return Run(agent=name, error=RunError(_wire.as_text(result), type(result).__name__), gaps=(_UNSEEN,))
    if isinstance(result, Mapping) and result.get("type") == "exception":
        return Run(agent=name, error=RunError(_wire.as_text(result.get("message"))), gaps=(_UNSEEN,))
    if not recognises(result):
        raise expected("a result of Strands", result, f"results.{name}.result")
    return replace(load(result), agent=name)


_UNSEEN = Gap("calls", "what an agent did before it raised is not recorded")


def _order(result: Any) -> list[str]:
    ran = field(result, "execution_order") or field(result, "node_history") or ()
    return [str(field(node, "node_id")) for node in ran] if isinstance(ran, Sequence) else []


def _last_nodes(result: Any, nodes: list[str]) -> list[str]:
    """The nodes that answer: of a graph those after which none ran, else the last."""
    edges = field(result, "edges") or ()
    ran = set(nodes)
    passed = {str(field(source, "node_id")) for source, target in edges if str(field(target, "node_id")) in ran}
    ends = [name for name in dict.fromkeys(nodes) if name not in passed]
    return ends if edges and ends else nodes[-1:]


def _mark_handoffs(run: Run) -> None:
    for call in run.all_tool_calls:
        if call.name == _HANDOFF and call.kind == "tool":
            force_setattr(call, "kind", "handoff")
    run.forget()
