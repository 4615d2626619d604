"""Values of Strands: messages in Converse's manner, stored results, and objects of its classes."""

from foreign import foreign

ASKED = {"role": "user", "content": [{"text": "Weather?"}]}
USE = {"toolUse": {"toolUseId": "t1", "name": "get_weather", "input": {"city": "Oslo"}}}
CALLED = {
    "role": "assistant",
    "content": [{"reasoningContent": {"reasoningText": {"text": "hm"}}}, {"text": "Looking."}, USE],
    "metadata": {"usage": {"inputTokens": 5, "outputTokens": 2, "totalTokens": 7, "cacheReadInputTokens": 1}},
}
RESULT = {"toolUseId": "t1", "status": "success", "content": [{"text": "Rain"}]}
ANSWERED = {"role": "user", "content": [{"toolResult": RESULT}]}
SAID = {"role": "assistant", "content": [{"text": "It rains."}]}
STORED = {"type": "agent_result", "message": SAID, "stop_reason": "end_turn", "checkpoint": None}


def trace(*messages: object) -> object:
    path = "strands.telemetry.metrics:Trace"
    return foreign(path, children=[foreign(path, message=message, children=[]) for message in (*messages, None)], message=None)


def result(*cycles: tuple[object, ...], **fields: object) -> object:
    invocation = foreign("strands.telemetry.metrics:AgentInvocation", cycles=list(cycles), usage={"inputTokens": 5})
    metrics = foreign(
        "strands.telemetry.metrics:EventLoopMetrics",
        traces=[trace(*messages) for messages in cycles],
        agent_invocations=[invocation],
    )
    given = {"stop_reason": "end_turn", "message": SAID, "metrics": metrics, "interrupts": None, "structured_output": None}
    return foreign("strands.agent.agent_result:AgentResult", **{**given, **fields})


SAMPLES = [
    [ASKED, CALLED, ANSWERED, SAID],
    (ANSWERED,),
    {"messages": [CALLED]},
    STORED,
    {"type": "multiagent_result", "status": "completed", "results": {"first": {"result": STORED}}},
    result((CALLED, ANSWERED), (SAID,)),
    foreign("strands.multiagent.base:MultiAgentResult", results={}),
]

VALID = [
    {"role": "system", "content": [{"text": "Be short."}]},
    ASKED,
    CALLED,
    {"role": "assistant", "content": [{"toolUse": {"toolUseId": "t2", "name": "search", "type": "server_tool_use"}}]},
    ANSWERED,
    {"role": "user", "content": [{"toolResult": {"toolUseId": "t2", "status": "error", "content": [{"json": {"a": 1}}]}}]},
    {"role": "assistant", "content": [{"citationsContent": {"content": [{"text": "It"}], "citations": []}}, {"image": {}}]},
    SAID,
]
