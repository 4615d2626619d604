"""OpenAI's SDK and LiteLLM against a server that speaks chat completions: responses, streams, and the list that a loop builds."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "true"  # prices are not fetched
openai = pytest.importorskip("openai")
litellm = pytest.importorskip("litellm")

from emulator import emulator  # noqa: E402
from pydantic import BaseModel  # noqa: E402
from scenarios import TWO, assert_none, assert_raised, assert_two  # noqa: E402

from quickchecks import Run, Usage, checks, load_run, load_runs, run_evals_sync  # noqa: E402

Foreign = Any  # the objects of SDKs have no types here

USAGE = {
    "prompt_tokens": 20,
    "completion_tokens": 7,
    "total_tokens": 27,
    "prompt_tokens_details": {"cached_tokens": 3},
    "completion_tokens_details": {"reasoning_tokens": 2},
}
PARIS = '{"city": "Paris"}'


def script(model: str, messages: list[Foreign]) -> tuple[str | None, list[tuple[str, str]], str]:
    """What the model says, the calls that it makes, and why it ends."""
    model = model.rpartition("/")[2]
    asked = max(at for at, message in enumerate(messages) if message["role"] == "user")
    results = sum(message["role"] == "tool" for message in messages[asked:])
    if model == "none":
        return "Hello there.", [], "stop"
    if model == "trip":
        return PARIS, [], "stop"
    if model == "cut":
        return "Let me check", [("get_weather", '{"city": "Par')], "length"
    if model == "unknown" and not results:
        return None, [("refund", "{}")], "tool_calls"
    if model == "parallel" and not results:
        return None, [("get_weather", PARIS), ("book_hotel", PARIS)], "tool_calls"
    if model == "two" and results < 2:
        return None, [(("get_weather", "book_hotel")[results], PARIS)], "tool_calls"
    return TWO, [], "stop"


def reply(path: str, body: Foreign) -> Foreign:
    text, calls, finish = script(body["model"], body["messages"])
    number = len(body["messages"])
    made: list[Foreign] = [
        {"id": f"call_{number}_{at}", "type": "function", "function": {"name": name, "arguments": arguments}}
        for at, (name, arguments) in enumerate(calls)
    ]
    base = {"id": "chatcmpl-1", "created": 1_700_000_000, "model": body["model"]}
    message = {"role": "assistant", "content": text, **({"tool_calls": made} if made else {})}
    if not body.get("stream"):
        choices = [
            {"index": at, "message": message, "finish_reason": finish, "logprobs": None} for at in range(body.get("n") or 1)
        ]
        return {**base, "object": "chat.completion", "choices": choices, "usage": USAGE}
    deltas: list[Foreign] = [{"role": "assistant", "content": ""}, *({"content": letter} for letter in text or "")]
    for at, call in enumerate(made):
        function = call["function"]
        deltas.append({"tool_calls": [{"index": at, **call, "function": {"name": function["name"], "arguments": ""}}]})
        deltas += [{"tool_calls": [{"index": at, "function": {"arguments": letter}}]} for letter in function["arguments"]]
    chunks = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    chunks.append({"index": 0, "delta": {}, "finish_reason": finish})
    events = [{**base, "object": "chat.completion.chunk", "choices": [chunk]} for chunk in chunks]
    return [*events, {**base, "object": "chat.completion.chunk", "choices": [], "usage": USAGE}]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with emulator(reply) as address:
        yield f"{address}/v1"


@pytest.fixture(scope="module")
def client(address: str) -> Iterator[Foreign]:
    with openai.OpenAI(base_url=address, api_key="x", max_retries=0) as client:
        yield client


def get_weather(city: str) -> str:
    return "Sunny"


def book_hotel(city: str) -> str:
    raise ValueError("no rooms left")


TOOLS = {"get_weather": get_weather, "book_hotel": book_hotel}


def loop(complete: Foreign, model: str, messages: list[Foreign]) -> list[Foreign]:
    """The loop that programs without a framework have: the messages of the SDK beside dicts."""
    while True:
        message = complete(model=model, messages=messages).choices[0].message
        messages.append(message)
        if not message.tool_calls:
            return messages
        for call in message.tool_calls:
            try:
                result = TOOLS[call.function.name](**json.loads(call.function.arguments))
            except Exception as error:
                result = f"Error: {error}"
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})


def asked(words: str = "Plan") -> list[Foreign]:
    return [{"role": "system", "content": "Be short."}, {"role": "user", "content": words}]


@pytest.fixture(params=["openai", "litellm"])
def complete(request: pytest.FixtureRequest, client: Foreign, address: str) -> Foreign:
    """Calls a model, through either library."""
    if request.param == "openai":
        return client.chat.completions.create

    def completed(model: str, messages: list[Foreign], **more: Foreign) -> Foreign:
        given = [message if isinstance(message, dict) else message.model_dump() for message in messages]
        return litellm.completion(model=f"openai/{model}", messages=given, api_base=address, api_key="x", **more)

    return completed


def test_two(complete: Foreign) -> None:
    run = assert_two(loop(complete, "two", asked()))
    assert run.gaps == ()


def test_parallel_calls(complete: Foreign) -> None:
    assert_two(loop(complete, "parallel", asked()))


def test_an_unknown_tool_fails(complete: Foreign) -> None:
    run = load_run(loop(complete, "unknown", asked()))
    assert [(call.name, call.failure() is not None) for call in run.tool_calls] == [("refund", True)]


def test_none(complete: Foreign) -> None:
    assert_none(loop(complete, "none", asked("Hi")))
    assert_none(complete(model="none", messages=asked("Hi")))


def test_cut(complete: Foreign) -> None:
    run = load_run(complete(model="cut", messages=asked()))
    assert [(call.name, call.state) for call in run.all_tool_calls] == [("get_weather", "partial")]
    assert run.tool_calls == ()
    assert "cut off" in run.gaps_of("other")[0].note


def test_raised_before_the_result_was_written(client: Foreign) -> None:
    """A loop whose tool raises, and what it had until then."""
    messages = loop(client.chat.completions.create, "two", asked())
    assert_raised(messages[:5])


def test_a_response_alone_has_no_results(complete: Foreign) -> None:
    answer = complete(model="two", messages=asked())
    assert checks.called_tool("get_weather").score(answer).passed
    assert checks.no_tool_errors().score(answer).outcome == "no_evidence"
    usage = load_run(answer).usage
    assert usage is not None
    assert (usage.input_tokens, usage.output_tokens, usage.cached_tokens, usage.reasoning_tokens) == (20, 7, 3, 2)


def test_streamed_chunks(complete: Foreign) -> None:
    for model in ("none", "two", "cut"):
        chunks = list(complete(model=model, messages=asked(), stream=True))
        streamed, whole = load_run(chunks), load_run(complete(model=model, messages=asked()))
        assert streamed.text == whole.text
        assert [(call.name, call.arguments, call.state) for call in streamed.all_tool_calls] == [
            (call.name, call.arguments, call.state) for call in whole.all_tool_calls
        ]
        assert streamed.gap_kinds == whole.gap_kinds
        broken = load_run([chunk.model_dump() for chunk in chunks[:-3]])
        assert checks.did_not_call("refund").score(broken).outcome == "no_evidence"


def test_a_target_may_return_what_the_sdk_gives(client: Foreign) -> None:
    def streams(question: str) -> Foreign:
        return client.chat.completions.create(model="none", messages=asked(question), stream=True)

    def answers(question: str) -> Foreign:
        return loop(client.chat.completions.create, "two", asked(question))

    assert run_evals_sync(data=[{"input": "Hi"}], target=streams, scorers=[checks.equals("Hello there.")]).scores
    result = run_evals_sync(data=[{"input": "Plan"}], target=answers, scorers=[checks.called_tool("book_hotel")])
    assert set(result.scores.values()) == {1.0}


class Trip(BaseModel):
    city: str


def test_structured_output(client: Foreign) -> None:
    answer = client.chat.completions.parse(model="trip", messages=asked(), response_format=Trip)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for value in (answer, [*asked(), answer.choices[0].message]):
            run = load_run(value)
            assert (run.output, run.text) == ({"city": "Paris"}, PARIS)


def test_several_choices_are_several_runs(client: Foreign) -> None:
    answer = client.chat.completions.create(model="none", messages=asked(), n=2)
    runs: list[Run] = list(load_runs([answer]))
    assert [run.text for run in runs] == ["Hello there."] * 2


def test_cost_and_time_of_litellm() -> None:
    answer = litellm.completion(model="gpt-4o", messages=asked("Hi"), mock_response="Hello there.")
    run = assert_none(answer)
    assert run.usage is not None
    assert run.usage.cost == answer._hidden_params["response_cost"]
    assert run.usage.cost
    assert run.duration is not None
    assert load_run(answer.model_dump()).usage == Usage(run.usage.input_tokens, run.usage.output_tokens)
