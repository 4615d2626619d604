"""google-genai against a server that answers as Gemini's API does: automatic function calling, chats, contents."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from emulator import emulator
from scenarios import assert_none, assert_raised, assert_two

from quickchecks import Usage, checks, load_run, run_evals_sync
from quickchecks.adapters import as_run

genai = pytest.importorskip("google.genai")


def call(name: str, **args: Any) -> dict[str, Any]:
    return {"functionCall": {"name": name, "args": args}}


def script(model: str, contents: list[Any]) -> tuple[list[dict[str, Any]], str]:
    """What the model answers: its parts, and why it stopped."""
    results, words = 0, []
    for content in contents:
        found = sum("functionResponse" in part for part in content["parts"])
        asked = content["role"] == "user" and not found
        results = 0 if asked else results + found
        words += [part["text"] for part in content["parts"] if asked]
    if model == "none":
        return [{"text": "Hello there."}], "STOP"
    if model == "cut":
        return [{"text": "Let me"}], "MAX_TOKENS"
    if model == "malformed":
        return [], "MALFORMED_FUNCTION_CALL"
    if model == "remembers":
        return [{"text": f"You are {words[0].split()[-1]}" if len(words) > 1 else "Noted."}], "STOP"
    if model == "structured":
        return [{"text": '{"city": "Paris"}'}], "STOP"
    if model == "unknown" and not results:
        return [call("refund", order=1)], "STOP"
    if model == "parallel" and not results:
        return [call("get_weather", city="Paris"), call("book_hotel", city="Paris")], "STOP"
    if model in ("two", "parallel") and results < 2:
        return [call(("get_weather", "book_hotel")[results], city="Paris")], "STOP"
    return [{"text": "hm", "thought": True}, {"text": "Sunny; "}, {"text": "booking failed."}], "STOP"


def reply(path: str, body: Any) -> Any:
    model = path.rpartition("/models/")[2].partition(":")[0]
    parts, reason = script(model, body["contents"])
    usage = {"promptTokenCount": 20, "candidatesTokenCount": 7, "thoughtsTokenCount": 2, "cachedContentTokenCount": 3}
    content = {"role": "model", "parts": parts} if parts else None
    candidate = {"finishReason": reason, "index": 0, **({"content": content} if content else {})}
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": model, "responseId": "r"}


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with emulator(reply) as address:
        yield genai.Client(api_key="x", http_options=genai.types.HttpOptions(base_url=address))


def get_weather(city: str) -> str:
    """The weather of a city."""
    return "Sunny"


def book_hotel(city: str) -> str:
    """Book a hotel."""
    raise ValueError("no rooms left")


CONFIG = {"tools": [get_weather, book_hotel]}


def generated(client: Any, model: str, **more: Any) -> Any:
    return client.models.generate_content(model=model, contents="Plan", config={**CONFIG, **more})


@pytest.mark.parametrize("model", ["two", "parallel"])
def test_a_response_with_its_history(client: Any, model: str) -> None:
    run = assert_two(generated(client, model))
    assert run.messages[0].text == "Plan"
    assert run.tool_calls[0].result == "Sunny"


def test_the_json_of_a_response(client: Any) -> None:
    assert_two(generated(client, "two").model_dump(mode="json"))
    assert_two(generated(client, "two").model_dump(mode="json", by_alias=True, exclude_none=True))


def test_none(client: Any) -> None:
    run = assert_none(generated(client, "none"))
    assert (run.usage, run.gap_kinds) == (Usage(20, 9, 3, 2, requests=1), {"input"})


def test_an_unknown_tool_ends_the_program_and_stays_open(client: Any) -> None:
    chat = client.chats.create(model="unknown", config={**CONFIG, "automatic_function_calling": {"disable": True}})
    run = load_run([*chat.get_history(), chat.send_message("Plan").candidates[0].content])
    assert [(made.name, made.failure() is not None) for made in run.tool_calls] == [("refund", True)]


def test_without_automatic_calls_the_results_are_not_known(client: Any) -> None:
    answer = generated(client, "two", automatic_function_calling={"disable": True})
    assert checks.called_tool("get_weather").score(answer).outcome == "passed"
    assert checks.no_tool_errors().score(answer).outcome == "no_evidence"


def test_cut_and_malformed(client: Any) -> None:
    run = load_run(generated(client, "cut"))
    assert "the model was cut off by the limit of tokens (MAX_TOKENS)" in [gap.note for gap in run.gaps]
    run = load_run(generated(client, "malformed"))
    assert run.error is not None
    assert run.error.type == "MALFORMED_FUNCTION_CALL"
    assert checks.used_no_tools().score(run).outcome == "no_evidence"


def test_a_structured_answer(client: Any) -> None:
    schema = {"type": "OBJECT", "properties": {"city": {"type": "STRING"}}}
    answer = client.models.generate_content(
        model="structured",
        contents="Plan",
        config={"response_mime_type": "application/json", "response_schema": schema},
    )
    assert as_run(answer).output == {"city": "Paris"}


def test_a_chat_and_its_history(client: Any) -> None:
    chat = client.chats.create(model="two", config=CONFIG)
    chat.send_message("Plan")
    assert_two(chat)
    assert_two(chat.get_history())
    assert_raised(chat.get_history()[:4])


def test_a_response_of_a_chat_does_not_show_the_calls_before_it(client: Any) -> None:
    answer = client.chats.create(model="two", config=CONFIG).send_message("Plan")
    assert checks.includes("booking failed").score(answer).outcome == "passed"
    for check in (checks.used_no_tools(), checks.did_not_call("book_hotel"), checks.no_tool_errors()):
        assert check.score(answer).outcome == "no_evidence"


def test_what_was_said_before_is_history(client: Any) -> None:
    before = [{"role": "user", "parts": [{"text": "Hi"}]}, {"role": "model", "parts": [{"text": "Hello there."}]}]
    contents = [*before, {"role": "user", "parts": [{"text": "Plan"}]}]
    run = assert_two(client.models.generate_content(model="two", contents=contents, config=CONFIG))
    assert [message.text for message in run.history] == ["Hi", "Hello there."]


def test_contents_that_a_program_built(client: Any) -> None:
    types = genai.types
    contents: list[Any] = [types.UserContent("Plan")]
    answer = generated(client, "two", automatic_function_calling={"disable": True})
    contents.append(answer.candidates[0].content)
    contents.append(
        {"role": "user", "parts": [types.Part.from_function_response(name="get_weather", response={"result": "Sunny"})]}
    )
    run = load_run(contents)
    assert [(made.name, made.result) for made in run.tool_calls] == [("get_weather", "Sunny")]


def test_a_chat_as_target_remembers(client: Any) -> None:
    def agent(asked: str, session: Any) -> Any:
        chat = session.state.setdefault("chat", client.chats.create(model="remembers"))
        return chat.send_message(asked)

    found = run_evals_sync(
        data=[{"inputs": ["I am Ada", "Who am I?"]}], target=agent, scorers=[checks.includes("You are Ada")], progress=False
    )
    assert found.scores == {"includes('You are Ada')": 1.0}
