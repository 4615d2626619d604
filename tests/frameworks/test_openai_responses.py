"""OpenAI's SDK and LiteLLM against a server that speaks responses: responses, and the list of items that a loop builds."""

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

from quickchecks import Usage, checks, load_run, run_evals_sync  # noqa: E402

Foreign = Any  # the objects of SDKs have no types here

PARIS = '{"city": "Paris"}'


def script(model: str, items: list[Foreign]) -> tuple[str | None, list[tuple[str, str]], str]:
    """What the model says, the calls that it makes, and the state that it leaves the response in."""
    asked = max(at for at, item in enumerate(items) if item.get("role") == "user")
    results = sum(item.get("type") == "function_call_output" for item in items[asked:])
    if model == "none":
        return "Hello there.", [], "completed"
    if model == "trip":
        return PARIS, [], "completed"
    if model == "cut":
        return "Let me check", [("get_weather", '{"city": "Par')], "incomplete"
    if model == "parallel" and not results:
        return None, [("get_weather", PARIS), ("book_hotel", PARIS)], "completed"
    if model == "two" and results < 2:
        return None, [(("get_weather", "book_hotel")[results], PARIS)], "completed"
    return TWO, [], "completed"


def reply(path: str, body: Foreign) -> Foreign:
    items = body["input"] if isinstance(body["input"], list) else [{"role": "user", "content": body["input"]}]
    text, calls, status = script(body["model"].rpartition("/")[2], items)
    number = len(items)
    output: list[Foreign] = [
        {"type": "reasoning", "id": f"rs_{number}", "summary": [{"type": "summary_text", "text": "Hello there, Sunny"}]}
    ]
    if text:
        content = [{"type": "output_text", "text": text, "annotations": [], "logprobs": []}]
        output.append({"type": "message", "id": f"m_{number}", "role": "assistant", "status": status, "content": content})
    for at, (name, arguments) in enumerate(calls):
        ids = {"id": f"fc_{number}_{at}", "call_id": f"call_{number}_{at}"}
        output.append({"type": "function_call", **ids, "name": name, "arguments": arguments, "status": status})
    usage = {
        "input_tokens": 20,
        "output_tokens": 7,
        "total_tokens": 27,
        "input_tokens_details": {"cached_tokens": 3, "cache_write_tokens": 0},
        "output_tokens_details": {"reasoning_tokens": 2},
    }
    response = {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": 1_700_000_000,
        "model": body["model"],
        "status": status,
        "output": output,
        "usage": usage,
        "instructions": body.get("instructions"),
        "incomplete_details": {"reason": "max_output_tokens"} if status == "incomplete" else None,
        "error": None,
        "metadata": {},
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "temperature": 1.0,
        "top_p": 1.0,
    }
    if not body.get("stream"):
        return response
    begun = {"type": "response.created", "response": {**response, "output": [], "status": "in_progress"}}
    done = [{"type": "response.output_item.done", "output_index": at, "item": item} for at, item in enumerate(output)]
    events = [begun, *done, {"type": f"response.{status}", "response": response}]
    return [{**event, "sequence_number": at} for at, event in enumerate(events)]


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


def loop(client: Foreign, model: str, *, whole: bool = False) -> list[Foreign]:
    """The loop that programs without a framework have: the items of the SDK beside dicts, or whole responses."""
    items: list[Foreign] = [{"role": "user", "content": "Plan"}]
    kept = list(items)
    while True:
        answer = client.responses.create(model=model, input=items)
        items += answer.output
        kept += [answer] if whole else answer.output
        calls = [item for item in answer.output if item.type == "function_call"]
        if not calls:
            return kept
        for call in calls:
            try:
                result = TOOLS[call.name](**json.loads(call.arguments))
            except Exception as error:
                result = f"Error: {error}"
            items.append({"type": "function_call_output", "call_id": call.call_id, "output": result})
            kept.append(items[-1])


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("model", ["two", "parallel"])
def test_two(client: Foreign, model: str, whole: bool) -> None:
    run = assert_two(loop(client, model, whole=whole))
    assert (run.format, run.gaps) == ("openai_responses", ())


def test_two_written_as_json(client: Foreign) -> None:
    items = [item if isinstance(item, dict) else item.model_dump(mode="json") for item in loop(client, "two")]
    assert_two(json.loads(json.dumps(items)))


def test_none(client: Foreign) -> None:
    assert_none(loop(client, "none"))
    answer = client.responses.create(model="none", input="Hi", instructions="Be short.")
    run = assert_none(answer)
    assert run.messages[0].text == "Be short."
    assert run.usage == Usage(20, 7, 3, 2)
    assert run.final_text == answer.output_text


def test_raised_before_the_result_was_written(client: Foreign) -> None:
    items = loop(client, "two")
    assert_raised(items[: next(at for at, item in enumerate(items) if getattr(item, "name", "") == "book_hotel") + 1])


def test_cut(client: Foreign) -> None:
    run = load_run(client.responses.create(model="cut", input="Plan"))
    assert [(call.name, call.state) for call in run.all_tool_calls] == [("get_weather", "partial")]
    assert "cut off (max_output_tokens)" in run.gaps_of("other")[0].note


def test_a_response_alone_has_no_results(client: Foreign) -> None:
    answer = client.responses.create(model="two", input="Plan")
    assert checks.called_tool("get_weather").score(answer).passed
    assert checks.no_tool_errors().score(answer).outcome == "no_evidence"


def test_streamed_events(client: Foreign) -> None:
    for model in ("none", "two", "cut"):
        events = list(client.responses.create(model=model, input="Plan", stream=True))
        streamed, whole = load_run(events), load_run(client.responses.create(model=model, input="Plan"))
        assert (streamed.messages, streamed.usage, streamed.gaps) == (whole.messages, whole.usage, whole.gaps)
        broken = load_run(events[:-1])
        assert broken.text == whole.text
        assert checks.did_not_call("refund").score(broken).outcome == "no_evidence"


class Trip(BaseModel):
    city: str


def test_a_parsed_response(client: Foreign) -> None:
    answer = client.responses.parse(model="trip", input="Plan", text_format=Trip)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = load_run(answer)
    assert (run.output, run.text) == ({"city": "Paris"}, PARIS)


def test_a_target_may_return_a_response(client: Foreign) -> None:
    result = run_evals_sync(
        data=[{"input": "Hi"}],
        target=lambda question: client.responses.create(model="none", input=question),
        scorers=[checks.equals("Hello there."), checks.used_no_tools()],
    )
    assert set(result.scores.values()) == {1.0}


def test_a_response_of_litellm(address: str) -> None:
    answer = litellm.responses(model="openai/none", input="Hi", api_base=address, api_key="x")
    run = assert_none(answer)
    assert run.format == "openai_responses"
    assert run.usage is not None
    assert run.usage.input_tokens == 20
    called = litellm.responses(model="openai/two", input="Hi", api_base=address, api_key="x")
    assert [call.name for call in load_run(called).tool_calls] == ["get_weather"]
