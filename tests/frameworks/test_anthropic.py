"""Anthropic's SDK against a server that answers as the API does: responses, and the list that a program's own loop builds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from emulator import emulator
from scenarios import assert_none, assert_raised, assert_two

from quickchecks import Usage, checks, load_run, run_evals_sync
from quickchecks.adapters import as_run

anthropic = pytest.importorskip("anthropic")
BaseModel = pytest.importorskip("pydantic").BaseModel

USAGE = {"input_tokens": 20, "output_tokens": 7, "cache_creation_input_tokens": 4, "cache_read_input_tokens": 3}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def use(number: int, name: str, **input: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": input}


def script(model: str, messages: list[Any]) -> tuple[list[dict[str, Any]], str]:
    """What the model answers: its blocks, and why it stopped."""
    results = 0
    words = []
    for message in messages:
        blocks = message["content"] if isinstance(message["content"], list) else [text(message["content"])]
        found = sum(block["type"] == "tool_result" for block in blocks)
        asked = message["role"] == "user" and not found
        results = 0 if asked else results + found
        words += [block["text"] for block in blocks if asked]
    if model == "structured":
        return [text('{"city": "Paris"}')], "end_turn"
    if model == "none":
        return [text("Hello there.")], "end_turn"
    if model == "cut":
        return [text("Let me"), use(0, "get_weather")], "max_tokens"
    if model == "remembers":
        return [text(f"You are {words[0].split()[-1]}" if len(words) > 1 else "Noted.")], "end_turn"
    if model == "unknown" and not results:
        return [use(0, "refund", order=1)], "tool_use"
    if model == "parallel" and not results:
        return [use(0, "get_weather", city="Paris"), use(1, "book_hotel", city="Paris")], "tool_use"
    if model in ("two", "parallel") and results < 2:
        tool = ("get_weather", "book_hotel")[results]
        return [use(results, tool, city="Paris")], "tool_use"
    return [text("Sunny; "), text("booking failed.")], "end_turn"


#: What was said before each answer, by its id: the SDK's runner sends only what is new.
THREADS: dict[str, list[Any]] = {}


def reply(path: str, body: Any) -> Any:
    before = THREADS.get((body.get("thread") or {}).get("previous_message_id"), [])
    messages = [*before, *body["messages"]]
    content, reason = script(body["model"], messages)
    id = f"msg_{len(THREADS)}"
    THREADS[id] = [*messages, {"role": "assistant", "content": content}]
    return {
        "id": id,
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": content,
        "stop_reason": reason,
        "stop_sequence": None,
        "usage": USAGE,
    }


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with emulator(reply) as address, anthropic.Anthropic(base_url=address, api_key="x", max_retries=0) as client:
        yield client


def get_weather(city: str) -> str:
    return "Sunny"


def book_hotel(city: str) -> str:
    raise ValueError("no rooms left")


TOOLS = {"get_weather": get_weather, "book_hotel": book_hotel}


def loop(client: Any, model: str, asked: str, messages: list[Any] | None = None, *, whole: bool = False) -> list[Any]:
    """The loop that programs without a framework have."""
    messages = [*(messages or []), {"role": "user", "content": asked}]
    while True:
        answer = client.messages.create(model=model, max_tokens=99, messages=messages)
        messages.append(answer if whole else {"role": "assistant", "content": answer.content})
        if answer.stop_reason != "tool_use":
            return messages
        results: list[dict[str, Any]] = []
        for block in answer.content:
            if block.type != "tool_use":
                continue
            result: dict[str, Any] = {"type": "tool_result", "tool_use_id": block.id}
            try:
                result["content"] = TOOLS[block.name](**block.input)
            except Exception as error:
                result |= {"content": str(error), "is_error": True}
            results.append(result)
        messages.append({"role": "user", "content": results})


def test_two(client: Any) -> None:
    assert_two(loop(client, "two", "Plan"))


def test_parallel_calls(client: Any) -> None:
    run = assert_two(loop(client, "parallel", "Plan"))
    assert [len(message.parts) for message in run.messages] == [1, 2, 2]


def test_none(client: Any) -> None:
    assert_none(loop(client, "none", "Hi"))
    assert_none(client.messages.create(model="none", max_tokens=99, messages=[{"role": "user", "content": "Hi"}]))
    assert_none(client.beta.messages.create(model="none", max_tokens=99, messages=[{"role": "user", "content": "Hi"}]))


def test_an_unknown_tool_fails(client: Any) -> None:
    run = load_run(loop(client, "unknown", "Plan"))
    assert [(call.name, call.failure() is not None) for call in run.tool_calls] == [("refund", True)]


def test_cut(client: Any) -> None:
    run = load_run(client.messages.create(model="cut", max_tokens=99, messages=[{"role": "user", "content": "Plan"}]))
    assert "the model was cut off by the limit of tokens (max_tokens)" in [gap.note for gap in run.gaps]
    assert checks.no_tool_errors().score(run).outcome == "no_evidence"


def test_a_response_alone_has_no_results(client: Any) -> None:
    answer = client.messages.create(model="two", max_tokens=99, messages=[{"role": "user", "content": "Plan"}])
    assert checks.called_tool("get_weather").score(answer).outcome == "passed"
    assert checks.no_tool_errors().score(answer).outcome == "no_evidence"
    assert as_run(answer).usage == Usage(27, 7, 3, requests=1)


class City(BaseModel):
    city: str


def test_a_structured_answer_keeps_its_value(client: Any) -> None:
    asked = {"role": "user", "content": "Where?"}
    for messages in (client.messages, client.beta.messages):
        answer = messages.parse(model="structured", max_tokens=99, messages=[asked], output_format=City)
        for value in (answer, [asked, answer], [asked, {"role": "assistant", "content": answer.content}]):
            assert as_run(value).output == {"city": "Paris"}


def test_whole_responses_in_the_list_tell_the_usage(client: Any) -> None:
    answers: list[Any] = [client.messages.create(model="none", max_tokens=9, messages=[{"role": "user", "content": "Hi"}])] * 2
    run = load_run([{"role": "user", "content": "Hi"}, answers[0], {"role": "user", "content": "Hi"}, answers[1]])
    assert run.usage == Usage(54, 14, 6, requests=2)


def test_the_tools_of_the_sdk_run_by_themselves(client: Any) -> None:
    tools = [anthropic.beta_tool(get_weather), anthropic.beta_tool(book_hotel)]
    asked = {"role": "user", "content": "Plan"}
    runner = client.beta.messages.tool_runner(model="two", max_tokens=99, messages=[asked], tools=tools, max_iterations=5)
    messages: list[Any] = [asked]
    for answer in runner:
        messages.append(answer)
        if (results := runner.generate_tool_call_response()) is not None:
            messages.append(results)
    assert_two(messages)


def test_a_tool_that_ends_the_program_leaves_an_open_call(client: Any) -> None:
    messages = loop(client, "two", "Plan")
    assert_raised(messages[:4])


def test_a_function_as_target_remembers(client: Any) -> None:
    def agent(asked: str, session: Any) -> Any:
        known = session.state.setdefault("messages", [])
        before = len(known)
        known[:] = loop(client, "remembers", asked, known)
        return known[before:]

    found = run_evals_sync(
        data=[{"inputs": ["I am Ada", "Who am I?"]}], target=agent, scorers=[checks.includes("You are Ada")], progress=False
    )
    assert found.scores == {"includes('You are Ada')": 1.0}
