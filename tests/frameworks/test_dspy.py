"""DSPy, with its own scripted model."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

dspy = pytest.importorskip("dspy")

from dspy.utils import DummyLM  # noqa: E402
from scenarios import NONE, TWO, assert_mocks_find, assert_none, assert_raised, assert_two, outcomes  # noqa: E402

from quickchecks import Run, checks  # noqa: E402
from quickchecks._mocks import ToolMocks, mock_plan  # noqa: E402
from quickchecks.adapters import agent_kind, as_run  # noqa: E402
from quickchecks.errors import TargetError  # noqa: E402

Converse = Callable[..., list[Run]]

ran: list[str] = []


def get_weather(city: str) -> str:
    """Tell the weather."""
    ran.append("get_weather")
    return f"Sunny in {city}"


def book_hotel(city: str) -> str:
    """Book a hotel."""
    ran.append("book_hotel")
    raise ValueError("no rooms left")


async def wait_for_weather(city: str) -> str:
    """Tell the weather later."""
    return f"Sunny in {city}"


PARIS = {"city": "Paris"}


def step(name: str, **arguments: Any) -> dict[str, Any]:
    return {"next_thought": "look", "next_tool_name": name, "next_tool_args": arguments}


def answer(text: Any) -> dict[str, Any]:
    return {"reasoning": "because", "answer": text}


SCRIPT = [step("get_weather", **PARIS), step("book_hotel", **PARIS), step("finish"), answer(TWO)]


class Counting(DummyLM):
    """Says what it costs."""

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        found = super().forward(*args, **kwargs)
        found["usage"] = {"prompt_tokens": 20, "completion_tokens": 7, "total_tokens": 27}
        return found


def react(*turns: dict[str, Any], tools: Any = (get_weather, book_hotel), signature: Any = "question -> answer") -> Any:
    made = dspy.ReAct(signature, tools=list(tools))
    made.set_lm(DummyLM(list(turns)))
    return made


def calls(*made: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    entries = [{"name": name, "args": arguments} for name, arguments in made]
    return {"next_thought": "look", "tool_calls": json.dumps({"tool_calls": entries})}


SCRIPT_V2 = [calls(("get_weather", PARIS)), calls(("book_hotel", PARIS)), calls(("submit", {"answer": TWO}))]


def react_v2(*turns: dict[str, Any], tools: Any = (get_weather, book_hotel)) -> Any:
    made = dspy.ReActV2("question -> answer", tools=list(tools))
    made.set_lm(DummyLM(list(turns)))
    return made


@pytest.fixture(autouse=True)
def text_calls() -> Iterator[None]:
    with dspy.context(adapter=dspy.ChatAdapter()):
        yield


@pytest.mark.parametrize(("make", "script"), [(react, SCRIPT), (react_v2, SCRIPT_V2)])
def test_two(converse: Converse, make: Any, script: Any) -> None:
    run = assert_two(converse(make(*script), "Plan")[0])
    assert run.messages[0].text == "Plan"
    assert run.gaps == ()
    assert run.duration
    failure = run.tool_calls[1].failure()
    assert failure is not None
    assert (failure.message, failure.type, failure.source) == ("no rooms left", "ValueError", "exception")
    assert run.tool_calls[0].duration is not None
    assert [call.kind for call in run.all_tool_calls] == ["tool", "tool", "output"]
    seen = assert_two(make(*script)(question="Plan"))
    failure = seen.tool_calls[1].failure()
    assert failure is not None
    assert "no rooms left" in failure.message


def test_the_fields_of_a_prediction_as_json() -> None:
    prediction = react(*SCRIPT)(question="Plan")
    assert_two(json.loads(json.dumps(prediction.toDict())))


def test_none(converse: Converse) -> None:
    assert_none(converse(react(step("finish"), answer(NONE)), "Hi")[0])
    assert_none(react(step("finish"), answer(NONE))(question="Hi"))
    assert_none(converse(react_v2(calls(("submit", {"answer": NONE}))), "Hi")[0])
    assert_none(react_v2(calls(("submit", {"answer": NONE})))(question="Hi"))


def test_a_model_that_fails_leaves_what_was_done(converse: Converse) -> None:
    class Ends(dspy.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = react(*SCRIPT)

        def forward(self, question: str) -> Any:
            self.inner(question=question)
            raise RuntimeError("no model")

    run = assert_raised(converse(Ends(), "Plan")[0])
    assert run.error is not None
    assert run.error.type == "RuntimeError"
    assert run.tool_names == ("get_weather", "book_hotel")


def test_usage(converse: Converse) -> None:
    module = react()
    module.set_lm(Counting(list(SCRIPT)))
    run = converse(module, "Plan")[0]
    assert run.usage is not None
    assert (run.usage.input_tokens, run.usage.output_tokens) == (80, 28)
    assert converse(react(*SCRIPT), "Plan")[0].usage is None
    module.set_lm(Counting(list(SCRIPT)))
    with dspy.context(track_usage=True):
        run = as_run(module(question="Plan"))
    assert run.usage is not None
    assert run.usage.input_tokens == 80


class Remembers(DummyLM):
    """Answers from the names in what it was told."""

    def __init__(self) -> None:
        super().__init__([{}])

    def forward(self, prompt: Any = None, messages: Any = None, **kwargs: Any) -> Any:
        text = "\n".join(str(message["content"]) for message in messages or ())
        names = [part.split()[0] for part in text.split("I am ")[1:]]
        said = f"You are {names[-1]}." if names else "I do not know you."
        self.answers = iter([self.given(said)])
        return super().forward(prompt, messages, **kwargs)

    def given(self, said: str) -> dict[str, Any]:
        return {"answer": said}


class Submits(Remembers):
    def given(self, said: str) -> dict[str, Any]:
        return calls(("submit", {"answer": said}))


class Talk(dspy.Signature):
    """Talk."""

    question: str = dspy.InputField()
    history: dspy.History = dspy.InputField()
    answer: str = dspy.OutputField()


def test_a_conversation_remembers_and_leaves_nothing_behind(converse: Converse) -> None:
    for module, lm in ((dspy.Predict(Talk), Remembers()), (react_v2(), Submits())):
        module.set_lm(lm)
        first, second = converse(module, "I am Ada", "Who am I?")
        assert first.text == second.text == "You are Ada."
        assert [message.text for message in second.messages if message.text] == ["Who am I?", "You are Ada."]
        assert converse(module, "Who am I?")[0].text == "I do not know you."


def test_a_module_without_a_history_has_one_turn(converse: Converse) -> None:
    with pytest.raises(TargetError, match=r"dspy\.History"):
        converse(react(step("finish"), answer(NONE), step("finish"), answer(NONE)), "Hi", "Again")


def test_the_second_prediction_of_a_history_speaks_of_its_own_turn() -> None:
    module = react_v2(*SCRIPT_V2, *SCRIPT_V2)
    first = module(question="Plan")
    second = module(question="Plan again", history=first.history)
    run = assert_two(second)
    assert run.history_length > 0
    assert run.messages[run.history_length].text == "Plan again"


def test_ten_conversations_at_once_do_not_leak() -> None:
    class Local(Submits):
        def forward(self, prompt: Any = None, messages: Any = None, **kwargs: Any) -> Any:
            return Submits().forward(prompt, messages, **kwargs)

    module = react_v2()
    module.set_lm(Local())
    kind = agent_kind(module)
    assert kind is not None
    assert not kind.stateful

    async def talk(name: str) -> list[str]:
        dialogue = kind.converse(module, {}, None)
        return [(await asyncio.to_thread(dialogue.ask, asked)).text for asked in ("Who am I?", f"I am {name}", "Who am I?")]

    async def all_of_them() -> list[list[str]]:
        return await asyncio.gather(*(talk(f"N{number}") for number in range(10)))

    for number, said in enumerate(asyncio.run(all_of_them())):
        assert said == ["I do not know you.", f"You are N{number}.", f"You are N{number}."]


def test_arguments_that_do_not_fit_and_parallel_calls(converse: Converse) -> None:
    script = [step("get_weather", town="Paris"), step("finish"), answer("Done.")]
    for value in (converse(react(*script), "Plan")[0], react(*script)(question="Plan")):
        [call] = as_run(value).tool_calls
        assert call.failure() is not None
    both = [calls(("get_weather", PARIS), ("book_hotel", PARIS), ("no_tool", {})), calls(("submit", {"answer": "Done."}))]
    for value in (converse(react_v2(*both), "Plan")[0], react_v2(*both)(question="Plan")):
        made = as_run(value).tool_calls
        assert [(call.name, call.failure() is None) for call in made] == [
            ("get_weather", True),
            ("book_hotel", False),
            ("no_tool", False),
        ]


def test_mocks_answer_in_place_of_tools(converse: Converse) -> None:
    plan = [{"tool": "get_weather", "arguments": PARIS, "result": "Sunny"}, {"tool": "book_hotel", "error": "no rooms left"}]
    for make, script in ((react, SCRIPT), (react_v2, SCRIPT_V2)):
        ran.clear()
        mocks = ToolMocks(mock_plan(plan, "item"))
        one = make(*script * 3)
        run = assert_two(converse(one, "Plan", mocks=mocks)[0])
        assert ran == []
        failure = run.tool_calls[1].failure()
        assert failure is not None
        assert failure.type == "ToolMockError"
        assert [served["tool"] for served in mocks.report()["served"]] == ["get_weather", "book_hotel"]
        run = converse(one, "Plan", mocks=ToolMocks(mock_plan({"mocks": [], "unknown_tools": "deny"}, "item")))[0]
        assert ran == []
        assert run.text == TWO
        converse(one, "Plan")
        assert ran == ["get_weather", "book_hotel"]


def test_an_asynchronous_tool(converse: Converse) -> None:
    run = converse(react(step("wait_for_weather", **PARIS), step("finish"), answer("Done."), tools=[wait_for_weather]), "Plan")[0]
    assert [call.result for call in run.tool_calls] == ["Sunny in Paris"]

    class Awaited(dspy.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = react(step("wait_for_weather", **PARIS), step("finish"), answer("Done."), tools=[wait_for_weather])

        async def aforward(self, question: str) -> Any:
            return await self.inner.acall(question=question)

    run = converse(Awaited(), "Plan")[0]
    assert [call.result for call in run.tool_calls] == ["Sunny in Paris"]
    mocks = ToolMocks(mock_plan([{"tool": "wait_for_weather", "result": "Rain"}], "item"))
    assert [call.result for call in converse(Awaited(), "Plan", mocks=mocks)[0].tool_calls] == ["Rain"]


def test_an_agent_as_a_tool_and_a_module_inside(converse: Converse) -> None:
    inner = react(*SCRIPT * 2)

    def planner(task: str) -> str:
        """Plan."""
        return str(inner(question=task).answer)

    class Outer(dspy.Module):
        def __init__(self) -> None:
            super().__init__()
            self.agent = react(step("planner", task="Paris"), step("finish"), answer("Planned."), tools=[planner])

        def forward(self, question: str) -> Any:
            return dspy.Prediction(answer=self.agent(question=question).answer)

    run = converse(Outer(), "Plan")[0]
    assert run.text == "Planned."
    assert run.tool_names == ("planner", "get_weather", "book_hotel")
    assert run.tool_calls[0].run is not None
    assert not checks.no_tool_errors().passes(run)
    assert run.gaps == ()


def test_a_prediction_without_a_trajectory_is_no_evidence(converse: Converse) -> None:
    module = dspy.Predict("question -> answer")
    module.set_lm(DummyLM([{"answer": "Sunny."}, {"answer": "Sunny."}]))
    found = outcomes(module(question="Plan"))
    assert found["includes('sunny')"] == "passed"
    assert found["used_no_tools()"] == found["no_tool_errors()"] == "no_evidence"
    assert checks.used_no_tools().passes(converse(module, "Plan")[0])


def test_structured_outputs(converse: Converse) -> None:
    script = [step("finish"), {"reasoning": "r", "city": "Paris", "sunny": "True"}]
    for value in (
        converse(react(*script, signature="question -> city, sunny: bool"), "Plan")[0],
        react(*script, signature="question -> city, sunny: bool")(question="Plan"),
    ):
        assert as_run(value).output == {"city": "Paris", "sunny": True}


def test_inputs_by_name(converse: Converse) -> None:
    script = [step("finish"), answer(NONE)]
    with pytest.raises(TargetError, match="question, place"):
        converse(react(*script, signature="question, place -> answer"), "Hi")
    given = {"question": "Hi", "place": "Oslo"}
    run = assert_none(converse(react(*script, signature="question, place -> answer"), given)[0])
    assert json.loads(run.messages[0].text) == given
    assert_none(converse(react(*script, signature="question, place -> answer"), "Hi", options={"place": "Oslo"})[0])


def test_mocks_find_the_tools_that_are_not_called(converse: Converse) -> None:
    assert_mocks_find(converse, lambda: react(step("finish"), answer(NONE)))


def test_a_target_is_not_warned(converse: Converse, capfd: pytest.CaptureFixture[str]) -> None:
    class Travel(dspy.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.say = dspy.Predict("question -> answer")

        def forward(self, question: str) -> Any:
            return self.say(question=question)

    with dspy.context(lm=DummyLM([{"answer": NONE}])):
        [run] = converse(Travel(), "Hi")
    assert run.text == NONE
    assert "discouraged" not in capfd.readouterr().err
