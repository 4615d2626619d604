"""Targets of every kind, and what they get and give in a conversation."""

from __future__ import annotations

import asyncio
import collections
import copy
import dataclasses
import functools
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sized
from typing import Any, cast

import pytest

from quickchecks import Message, Run, Text, ToolCall, checks, load_run
from quickchecks import testing as t
from quickchecks._targets import Conversation, FunctionTarget, Session, as_chat
from quickchecks.errors import RecordingError, TargetError


async def echo(text: str) -> str:
    return text


def plain(text: str) -> str:
    return text


def parts(text: str) -> Iterator[str]:
    yield from text


async def stream(text: str) -> AsyncIterator[str]:
    for part in text:
        yield part


class Agent:
    def __call__(self, text: str) -> str:
        return text

    async def answer(self, text: str) -> str:
        return text


class AsyncAgent:
    async def __call__(self, text: str) -> str:
        return text


def answers(target: FunctionTarget, *asked: object) -> list[object]:
    """What a target answers in one conversation."""

    async def blocking(function: Callable[[], object]) -> object:
        return function()

    async def converse() -> list[object]:
        conversation = Conversation(keeps_track=target.keeps_track)
        found = []
        for one in asked:
            found.append(await target.answer(one, conversation, blocking))
            conversation.add(one, found[-1])
        return found

    return asyncio.run(converse())


KINDS: dict[str, tuple[Any, bool]] = {
    "a function": (plain, False),
    "an async function": (echo, True),
    "a lambda": (lambda text: text, False),
    "a lambda that returns a coroutine": (lambda text: echo(text), False),
    "a partial": (functools.partial(plain), False),
    "a partial of an async function": (functools.partial(echo), True),
    "an object": (Agent(), False),
    "an async object": (AsyncAgent(), True),
    "an async method": (Agent().answer, True),
    "a generator": (parts, False),
    "an async generator": (stream, True),
    "a lambda that returns an async generator": (lambda text: stream(text), False),
    "a built-in": (str, False),
}


@pytest.mark.parametrize("kind", KINDS)
def test_anything_that_can_be_called_is_a_target(kind: str) -> None:
    function, is_async = KINDS[kind]
    target = FunctionTarget.of(function)
    assert target.is_async is is_async
    assert answers(target, "Hello") == ["Hello"]


@pytest.mark.parametrize(
    ("function", "options", "said"),
    [
        ("agent", None, 'takes the input, not "agent"'),
        (lambda: "x", None, "takes no input"),
        (lambda history: "x", None, "takes no input"),
        (lambda *, text: "x", None, "takes no input"),
        (lambda text, model: "x", None, "needs 'model' too; .* target_options={'model': ...}"),
        (lambda text: "x", {"model": "a"}, "takes no 'model', which target_options gives"),
        (lambda text: "x", {"text": "a"}, "gives 'text', which is the input"),
        (lambda session, text: "x", None, "takes session first"),
        (Agent, None, r"Agent is a class.*give an instance, Agent\(...\)"),
        (Conversation, None, "Conversation is a class.*give a function"),
    ],
)
def test_what_cannot_be_called_with_an_input_is_refused(function: object, options: dict[str, object] | None, said: str) -> None:
    with pytest.raises(TargetError, match=said):
        FunctionTarget.of(function, options)


def test_options_go_along() -> None:
    assert answers(FunctionTarget.of(lambda text, model, **more: f"{text} {model} {more}", {"model": "m", "x": 1}), "a") == [
        "a m {'x': 1}"
    ]


def test_a_target_that_takes_any_keyword_gets_none() -> None:
    """It most likely passes them on to something that knows no history."""
    target = FunctionTarget.of(lambda text, **more: f"{text} {more}")
    assert not target.keeps_track
    assert answers(target, "a") == ["a {}"]


class TestConversations:
    def test_history_is_in_the_form_of_openai_with_tool_calls(self) -> None:
        seen: list[list[dict[str, Any]]] = []

        def target(text: str, history: list[dict[str, Any]]) -> Run:
            seen.append(history)
            return t.run(t.call("search", query=text, result="found"), f"re: {text}")

        answers(FunctionTarget.of(target), "one", "two")
        assert seen[0] == []
        question, call, result, answer = seen[1]
        assert question == {"role": "user", "content": "one"}
        assert call["tool_calls"][0]["function"] == {"name": "search", "arguments": '{"query":"one"}'}
        assert result["role"] == "tool"
        assert result["tool_call_id"] == call["tool_calls"][0]["id"]
        assert answer == {"role": "assistant", "content": "re: one"}
        assert load_run(seen[1], format="openai_chat").tool_calls[0].result == "found"

    def test_a_session_lives_as_long_as_the_item(self) -> None:
        seen: list[tuple[str, int, int, dict[str, object]]] = []

        def target(text: str, session: Session) -> str:
            seen.append((session.id, session.turn, len(session.history), dict(session.state)))
            session.state[text] = True
            session.history.append({"role": "user", "content": "the target may do what it likes with its list"})
            return text

        answers(FunctionTarget.of(target), "one", "two", "three")
        assert len({identity for identity, *_ in seen}) == 1
        assert [rest for _, *rest in seen] == [[0, 0, {}], [1, 2, {"one": True}], [2, 4, {"one": True, "two": True}]]
        answers(FunctionTarget.of(target), "one")
        assert seen[-1][0] != seen[0][0]

    def test_a_turn_is_a_run_whose_history_is_what_was_said_before(self) -> None:
        conversation = Conversation()
        conversation.add("one", "first")
        second = conversation.add("two", "second")
        assert [message.text for message in second.history] == ["one", "first"]
        assert second.text == "second"
        whole = conversation.run()
        assert whole.history == ()
        assert [message.text for message in whole.messages] == ["one", "first", "two", "second"]

    def test_a_target_may_return_the_whole_conversation_every_time(self) -> None:
        said: list[dict[str, Any]] = [{"role": "system", "content": "Be kind."}]
        conversation = Conversation()
        for text in ("one", "two"):
            said += [{"role": "user", "content": text}, {"role": "assistant", "content": f"re: {text}"}]
            turn = conversation.add(text, list(said))
        assert turn.text == "re: two"
        assert [message.text for message in conversation.run().messages] == ["Be kind.", "one", "re: one", "two", "re: two"]

    def test_usage_and_the_first_error_of_the_turns_are_those_of_the_whole(self) -> None:
        conversation = Conversation()
        conversation.add("one", {"output": "a", "usage": {"input_tokens": 3, "output_tokens": 1}})
        conversation.add("two", {"output": "", "error": "502", "usage": {"input_tokens": 4}})
        whole = conversation.run()
        assert whole.usage is not None
        assert (whole.usage.input_tokens, whole.usage.output_tokens) == (7, 1)
        assert whole.error is not None
        assert whole.error.message == "502"

    def test_an_input_that_is_a_chat_is_read_as_one(self) -> None:
        run = Conversation().add([{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Hi"}], "Hello")
        assert [message.role for message in run.messages] == ["system", "user", "assistant"]

    def test_an_input_that_is_no_text_is_kept(self) -> None:
        run = Conversation().add({"city": "Oslo"}, "cold")
        assert run.input == {"city": "Oslo"}
        assert run.messages[0].text == '{"city":"Oslo"}'

    def test_what_a_target_does_to_its_history_is_undone_in_the_next_turn(self) -> None:
        seen: list[list[dict[str, Any]]] = []

        def target(text: str, history: list[dict[str, Any]], session: Session) -> Run:
            seen.append(copy.deepcopy(history))
            assert session.history == history
            for entry in (*history, *cast(list[dict[str, Any]], session.history)):
                for call in entry.pop("tool_calls", ()):
                    call["function"]["name"] = "changed"
                entry["content"] = "changed"
            history.clear()
            return t.run(t.call("search", query=text, result="found"), f"re: {text}")

        answers(FunctionTarget.of(target), "one", "two", "three")
        assert [len(history) for history in seen] == [0, 4, 8]
        assert seen[2][:4] == seen[1]

    def test_an_answer_that_nothing_understands_says_so(self) -> None:
        with pytest.raises(RecordingError, match="object"):
            Conversation().add("one", object())


def test_a_call_that_failed_is_in_the_history_too() -> None:
    run = t.run(t.call("search", error="not found"))
    entries = [entry for message in run.messages for entry in as_chat(message)]
    assert entries[-1]["content"] == "not found"
    unfinished = Message("assistant", (Text("Wait."), ToolCall("search")))
    assert [entry["role"] for entry in as_chat(unfinished)] == ["assistant"]


def test_a_coroutine_of_a_plain_function_is_awaited_until_there_is_an_answer() -> None:
    async def twice(text: str) -> Awaitable[str]:
        return echo(text)

    assert answers(FunctionTarget.of(twice), "a") == ["a"]


@pytest.mark.parametrize("blocks", [True, False])
@pytest.mark.parametrize(
    "asked",
    [
        {"a": [1, {"b": 2}], "c": ({"d": 3},)},
        [{"role": "user", "content": "q"}],
        collections.defaultdict(list, {"a": [1]}),
        {1, 2},
        bytearray(b"text"),
    ],
    ids=lambda asked: type(asked).__name__,
)
def test_what_a_target_does_to_its_input_it_does_to_a_copy(asked: Sized, blocks: bool) -> None:
    before = copy.deepcopy(asked)

    def block(value: dict[str, list[str]]) -> str:
        assert value == before
        assert type(value) is type(before)
        if isinstance(value, dict):
            value["a"].append("changed")
        value.clear()
        return "x"

    async def wait(value: dict[str, list[str]]) -> str:
        return block(value)

    target = FunctionTarget.of(block if blocks else wait)
    answers(target, asked)
    answers(target, asked)
    assert asked == before


def test_an_input_of_fields_is_copied_too() -> None:
    @dataclasses.dataclass
    class Question:
        words: list[str]

    def target(question: Question) -> str:
        question.words.append("b")
        return "x"

    asked = Question(["a"])
    answers(FunctionTarget.of(target), asked, asked)
    assert asked == Question(["a"])


def test_what_cannot_be_copied_is_passed_as_it_is() -> None:
    @dataclasses.dataclass
    class Holder:
        lock: Any

    lock, holder = threading.Lock(), Holder(threading.Lock())
    itself: list[object] = []
    itself.append(itself)
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    seen: list[Any] = []

    def keep(value: object) -> str:
        seen.append(value)
        return "x"

    target = FunctionTarget.of(keep)
    for value in (lock, {"lock": lock, "holder": holder}, itself, deep):
        asyncio.run(target.answer(value, Conversation(), lambda function: asyncio.to_thread(function)))
    assert seen[0] is lock
    assert (seen[1]["lock"], seen[1]["holder"]) == (lock, holder)
    assert seen[2][0] is seen[2]
    assert seen[2] is not itself
    assert seen[3] is deep


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ([], "the target returned no message of the agent"),
        ((), "the target returned no message of the agent"),
        ([{"role": "user", "content": "q"}], "the target returned no message of the agent"),
        ([{"role": "tool", "tool_call_id": "1", "content": "r"}], "the target returned no message of the agent"),
        ({"messages": []}, "the record holds no message of the agent"),
        (Run(), "the target returned no message of the agent"),
        (Message("user", (Text("q"),)), "the target returned no message of the agent"),
        ({}, "the target returned an empty object, which says nothing"),
        ({"output": []}, "the target returned an empty list, which says nothing"),
        (float("nan"), "the target returned NaN, which says nothing"),
        (None, "there is no answer: the agent gave None"),
    ],
)
def test_where_a_target_says_nothing_no_text_check_passes(answer: object, said: str) -> None:
    run = Conversation().add("q", answer)
    for check in (checks.excludes("z"), checks.includes("z"), checks.equals("z"), checks.matches("z"), checks.similarity("z")):
        score = check.score(run)
        assert (score.outcome, score.reason) == ("no_evidence", f"the answer is not recorded: {said}")
    assert checks.did_not_call("z").score(run).outcome == "no_evidence"


@pytest.mark.parametrize("answer", ["", " ", 0, False, {"a": None}, [{"role": "assistant", "content": ""}]])
def test_an_empty_text_is_an_answer(answer: object) -> None:
    assert checks.excludes("z").score(Conversation().add("q", answer)).outcome == "passed"


def test_a_recorded_answer_without_a_message_of_the_agent_says_where_it_is_missing() -> None:
    run = Conversation().add("q", [{"role": "user", "content": "q"}], recorded=True)
    assert checks.excludes("z").score(run).reason == "the answer is not recorded: the record holds no message of the agent"


def test_a_target_that_only_repeats_the_conversation_has_not_answered() -> None:
    conversation = Conversation()
    first = [{"role": "user", "content": "one"}, {"role": "assistant", "content": "re: one"}]
    assert checks.excludes("z").score(conversation.add("one", first)).outcome == "passed"
    assert checks.excludes("z").score(conversation.add("two", first)).outcome == "no_evidence"
