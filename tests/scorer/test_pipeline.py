"""The scorer pipeline: the order of the steps, what they get and give, and that both doors say the same."""

from __future__ import annotations

import asyncio
import functools
import pickle
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NoReturn

import pytest

from quickchecks import Judge, Prompt, Run, Score, Scorer, checks, create_scorer, filter_run, no_evidence, not_applicable, scorer
from quickchecks import testing as t
from quickchecks._run import Message, Text, ToolCall
from quickchecks._score import Explanation
from quickchecks.errors import MissingExtraError, NoVerdictError, ScorerDefinitionError

RUN = t.run(t.user("weather?"), "It is sunny.")

#: The two doors: every scorer of plain functions must say the same through both.
DOORS = pytest.mark.parametrize("door", ["score", "score_async", "run"])


def through(door: str, scorer: Scorer, run: object = RUN, **given: object) -> Score:
    """Score through a door."""
    found = getattr(scorer, door)(run, **given)
    score = asyncio.run(found) if door != "score" else found
    assert isinstance(score, Score)
    return score


def raising(error: BaseException) -> Callable[..., NoReturn]:
    def step(run: Run) -> NoReturn:
        raise error

    return step


@DOORS
def test_the_steps_run_in_their_order_however_they_were_chained(door: str) -> None:
    ran: list[str] = []

    def noted(step: str, answer: object) -> object:
        ran.append(step)
        return answer

    made = (
        create_scorer(id="s")
        .generate_reason(lambda score: noted("reason", f"scored {score}"))
        .generate_score(lambda results: noted("score", 0.5))
        .analyze(lambda results: ran.append("analyze"))
        .preprocess(lambda run: ran.append("preprocess"))
    )
    assert through(door, made).reason == "scored 0.5"
    assert ran == ["preprocess", "analyze", "score", "reason"]


@DOORS
def test_each_step_sees_what_the_steps_before_returned(door: str) -> None:
    made = (
        create_scorer(id="s")
        .preprocess(lambda output: {"words": output.split()})
        .analyze(lambda results: len(results.preprocess["words"]))
        .generate_score(lambda results: results.analyze / 10)
        .generate_reason(lambda results, score: f"{results['analyze']} words, {score}, {list(results)}")
    )
    score = through(door, made)
    assert score.value == 0.3
    assert score.reason == "3 words, 0.3, ['preprocess', 'analyze', 'generate_score']"
    assert score.results == {
        "preprocess": {"words": ["It", "is", "sunny."]},
        "analyze": 3,
        "generate_score": 0.3,
        "generate_reason": score.reason,
    }


@DOORS
def test_a_step_gets_what_it_asks_for_by_name(door: str) -> None:
    seen: dict[str, object] = {}

    def step(run: Run, input: object, output: object, expected: object, item: object) -> bool:
        seen.update(run=run, input=input, output=output, expected=expected, item=item)
        return True

    made = create_scorer(id="s").generate_score(step)
    through(door, made, input="weather?", expected="sunny", item={"id": 1})
    assert seen == {"run": RUN, "input": "weather?", "output": "It is sunny.", "expected": "sunny", "item": {"id": 1}}


def test_the_input_of_the_run_is_the_input() -> None:
    made = create_scorer(id="s").generate_score(lambda input: input == {"q": 1})
    assert made.score(t.run("x", input={"q": 1})).passed


@DOORS
@pytest.mark.parametrize(
    ("answer", "outcome", "value"),
    [
        (True, "passed", 1.0),
        (False, "failed", 0.0),
        (0, "graded", 0.0),
        (1, "graded", 1.0),
        (0.5, "graded", 0.5),
        ((0.5, "why"), "graded", 0.5),
        ((True, "why"), "passed", 1.0),
        (not_applicable("why"), "not_applicable", None),
        (no_evidence("why"), "no_evidence", None),
        (checks.includes("sunny").score(RUN), "passed", 1.0),
        (checks.includes("rain").score(RUN), "failed", 0.0),
    ],
)
@pytest.mark.parametrize("with_reason", [False, True])
def test_what_a_score_step_may_return(door: str, answer: object, outcome: str, value: float | None, with_reason: bool) -> None:
    made = create_scorer(id="s").generate_score(lambda run: answer)
    if with_reason:
        made = made.generate_reason(lambda run: "in my words")
    score = through(door, made)
    assert (score.outcome, score.value) == (outcome, value)
    if with_reason and value is not None:
        assert score.reason == "in my words"
    elif isinstance(answer, Score):
        assert score.reason == answer.reason
    elif not isinstance(answer, (bool, int, float)):
        assert score.reason == "why"


@DOORS
@pytest.mark.parametrize("number", [2, -0.5, 1e308, float("nan"), float("inf"), None, "1", "", {"score": 1}, [1], [], 10**400])
@pytest.mark.parametrize("several", [False, True])
def test_what_is_no_score_is_an_error_of_the_scorer(door: str, number: object, several: bool) -> None:
    made = create_scorer(id="s").generate_score(lambda run: number)
    score = through(door, made.preprocess(lambda run: 1) if several else made)
    assert (score.outcome, score.value) == ("error", None)
    assert score.error is not None
    assert score.error.failed_step == "generate_score"
    assert score.reason.startswith("s broke in generate_score: ")


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (2, "ValueError: a score is a bool or a number in 0..1, not 2; declare another range with score_range=(low, high)"),
        ("1", 'TypeError: a score is a bool or a number in 0..1, not "1"'),
        (None, "TypeError: a score is a bool or a number in 0..1, not null"),
        (
            float("nan"),
            "ValueError: a score is a bool or a number in 0..1, not nan; declare another range with score_range=(low, high)",
        ),
    ],
)
def test_the_error_says_what_a_score_is(answer: object, reason: str) -> None:
    assert create_scorer(id="s").generate_score(lambda run: answer).score(RUN).reason == f"s broke in generate_score: {reason}"


def test_another_range_can_be_declared() -> None:
    made = create_scorer(id="s", score_range=(0, 10)).generate_score(lambda run: 7)
    assert made.score(RUN).value == 7.0
    assert create_scorer(id="s", score_range=(0, 10)).generate_score(lambda run: 11).score(RUN).outcome == "error"


class Number:
    """A scalar of numpy, as far as scores are concerned."""

    __module__ = "numpy"

    def __init__(self, value: object) -> None:
        self.value = value

    def item(self) -> object:
        return self.value


@pytest.mark.parametrize(("value", "outcome"), [(True, "passed"), (False, "failed"), (0.5, "graded"), (float("nan"), "error")])
def test_a_scalar_of_numpy_is_what_it_stands_for(value: object, outcome: str) -> None:
    assert create_scorer(id="s").generate_score(lambda run: Number(value)).score(RUN).outcome == outcome


@DOORS
@pytest.mark.parametrize("given", [True, False, 0, 1, 0.5])
def test_the_reason_step_sees_the_score_as_it_was_given(door: str, given: object) -> None:
    made = create_scorer(id="s").generate_score(lambda run: given).generate_reason(lambda score: repr(score))
    assert through(door, made).reason == repr(given)


@DOORS
@pytest.mark.parametrize(("given", "seen"), [((0.5, "x"), 0.5), (checks.includes("sunny").score(RUN), 1.0)])
def test_of_a_score_with_a_reason_the_reason_step_sees_the_value(door: str, given: object, seen: object) -> None:
    made = create_scorer(id="s").generate_score(lambda run: given).generate_reason(lambda score: repr(score))
    assert through(door, made).reason == repr(seen)


@DOORS
@pytest.mark.parametrize("reason", [None, 5, ["a"], {"a": 1}, True])
def test_a_reason_that_is_no_text_is_an_error(door: str, reason: object) -> None:
    score = through(door, create_scorer(id="s").generate_score(lambda run: 0.5).generate_reason(lambda run: reason))
    assert score.outcome == "error"
    assert "a reason is text, not " in score.reason


@DOORS
@pytest.mark.parametrize("stage", ["preprocess", "analyze", "generate_score", "generate_reason"])
@pytest.mark.parametrize("abstain", [not_applicable, no_evidence])
def test_an_abstention_ends_the_pipeline_at_any_step(door: str, stage: str, abstain: Callable[[str], object]) -> None:
    ran = []
    made = create_scorer(id="s")
    for name in ("preprocess", "analyze", "generate_score", "generate_reason"):

        def step(run: Run, name: str = name) -> object:
            ran.append(name)
            return abstain("nothing here") if name == stage else 0.5

        made = getattr(made, name)(step)
    score = through(door, made)
    assert score.outcome == abstain("").outcome  # type: ignore[attr-defined]
    assert score.value is None
    assert score.reason == "nothing here"
    assert ran[-1] == stage
    assert list(score.results or ()) == ran[:-1]


@DOORS
@pytest.mark.parametrize("stage", ["preprocess", "analyze", "generate_score", "generate_reason"])
def test_an_error_tells_the_step_what_had_ended_and_its_cause(door: str, stage: str) -> None:
    cause = KeyError("kaput")
    stages = ["preprocess", "analyze", "generate_score", "generate_reason"]
    made = create_scorer(id="s")
    for name in stages:
        made = getattr(made, name)(raising(cause) if name == stage else lambda run: 0.5)
    score = through(door, made)
    error = score.error
    assert error is not None
    assert score.outcome == "error"
    assert (error.scorer, error.failed_step) == ("s", stage)
    assert error.completed_steps == tuple(stages[: stages.index(stage)])
    assert error.results == dict.fromkeys(error.completed_steps, 0.5)
    assert error.__cause__ is cause
    assert str(error) == f"s broke in {stage}: KeyError: 'kaput'"


class Hostile(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no")


@DOORS
@pytest.mark.parametrize(
    "error", [Hostile(), RecursionError("deep"), AssertionError("wrong"), StopIteration("x"), OSError(5, "io")]
)
def test_no_exception_of_a_step_escapes(door: str, error: Exception) -> None:
    score = through(door, create_scorer(id="s").generate_score(raising(error)))
    assert score.outcome == "error"
    assert score.record().error


@pytest.mark.parametrize("signal", [KeyboardInterrupt, GeneratorExit])
@DOORS
def test_what_ends_the_process_is_not_caught(door: str, signal: type[BaseException]) -> None:
    def step(run: Run) -> NoReturn:
        raise signal

    with pytest.raises(signal):
        through(door, create_scorer(id="s").generate_score(step))


@DOORS
def test_a_step_that_ends_the_program_is_an_error(door: str) -> None:
    """sys.exit(0) in a scorer must not end a CI job with success."""
    score = through(door, create_scorer(id="s").generate_score(raising(SystemExit(0))))
    assert score.outcome == "error"


def test_a_scorer_stays_usable_after_an_error() -> None:
    answers = iter([ValueError("once"), 0.5])

    def step(run: Run) -> object:
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    made = create_scorer(id="s").generate_score(step)
    assert [made.score(RUN).outcome for _ in range(2)] == ["error", "graded"]


@pytest.mark.parametrize("stage", ["preprocess", "analyze", "generate_score", "generate_reason"])
def test_a_step_is_defined_once(stage: str) -> None:
    once = getattr(create_scorer(id="s"), stage)(lambda run: 1)
    with pytest.raises(ScorerDefinitionError, match=f"scorer 's' has a step '{stage}' already; each step is defined once"):
        getattr(once, stage)(lambda run: 1)


@pytest.mark.parametrize("step", [None, 5, "text", {"description": "x"}])
def test_a_step_is_a_function_or_a_prompt(step: object) -> None:
    with pytest.raises(ScorerDefinitionError, match=r"step 'analyze' of scorer 's' must be a function or a Prompt, not "):
        create_scorer(id="s").analyze(step)  # type: ignore[arg-type]


def test_each_step_method_returns_a_new_scorer() -> None:
    empty = create_scorer(id="s")
    good = empty.generate_score(lambda run: 1.0)
    bad = empty.generate_score(lambda run: 0.0)
    assert empty.steps == ()
    assert (good.score(RUN).value, bad.score(RUN).value) == (1.0, 0.0)


@DOORS
@pytest.mark.parametrize("stage", [None, "preprocess", "analyze", "generate_reason"])
def test_without_a_score_step_a_scorer_cannot_be_run(door: str, stage: str | None) -> None:
    made = create_scorer(id="s", prepare_run=raising(AssertionError("never called")))
    made = getattr(made, stage)(lambda run: 1) if stage else made
    with pytest.raises(ScorerDefinitionError, match=r"scorer 's' cannot be run: it has no score step; add \.generate_score"):
        through(door, made)


@pytest.mark.parametrize(
    "change",
    [
        lambda results: results.preprocess.update(a=1),
        lambda results: results.preprocess.__setitem__("a", 1),
        lambda results: results.preprocess["list"].append(1),
        lambda results: results["preprocess"]["list"].sort(),
        lambda results: results.preprocess.pop("list"),
        lambda results: results.preprocess.__delitem__("list"),
        lambda results: results.preprocess.clear(),
        lambda results: results.preprocess["list"].__iadd__([1]),
        lambda results: results.__setitem__("preprocess", 1),
    ],
)
def test_what_a_step_gets_is_read_only(change: Callable[..., object]) -> None:
    made = create_scorer(id="s").preprocess(lambda run: {"list": [2, 1]}).analyze(change).generate_score(lambda results: 0.5)
    score = made.score(RUN)
    assert score.outcome == "error"
    assert score.error is not None
    assert score.error.results == {"preprocess": {"list": [2, 1]}}


def test_an_expectation_that_scorers_share_is_read_only() -> None:
    expected = {"names": ["a"]}
    made = create_scorer(id="s").generate_score(lambda expected: expected["names"].append("b") or 1.0)
    assert made.score(RUN, expected=expected).outcome == "error"
    assert expected == {"names": ["a"]}


def test_a_result_is_still_what_it_was() -> None:
    """A read-only dict is a dict: it compares, is encoded and copied as one."""
    import copy
    import json

    value = {"a": [1, {"b": {2}}], "t": (3, [4])}

    def step(results: Mapping[str, object]) -> bool:
        got = results["preprocess"]
        assert got == value
        assert isinstance(got, dict)
        assert json.loads(json.dumps(got["a"][0])) == 1
        changed = copy.deepcopy(got)
        changed["a"].append(5)
        return dict(got) == value and changed != value

    assert create_scorer(id="s").preprocess(lambda run: value).generate_score(lambda results: step(results)).score(RUN).passed


def test_a_result_that_holds_itself_is_passed_on() -> None:
    loop: dict[str, object] = {}
    loop["self"] = loop
    made = create_scorer(id="s").preprocess(lambda run: loop).generate_score(lambda results: "self" in results.preprocess["self"])
    assert made.score(RUN).passed


def test_a_step_that_did_not_run_is_named() -> None:
    made = create_scorer(id="s").preprocess(lambda run: 1).generate_score(lambda results: results.analyze)
    assert "no step 'analyze' has run before this one (ran: preprocess)" in made.score(RUN).reason


async def slowly(value: object) -> object:
    await asyncio.sleep(0)
    return value


class Waiting:
    async def __call__(self, run: Run) -> float:
        return 0.5


ASYNC_STEPS: list[Callable[..., object]] = [
    lambda run: slowly(0.5),
    functools.partial(slowly, 0.5),
    Waiting(),
    lambda output: slowly(0.5),
]


@pytest.mark.parametrize("step", ASYNC_STEPS)
def test_a_step_that_must_be_awaited_needs_the_other_door(step: Callable[..., Awaitable[object]]) -> None:
    made = create_scorer(id="s").generate_score(step)
    assert asyncio.run(made.score_async(RUN)).value == 0.5
    with pytest.raises(ScorerDefinitionError, match=r"s has a step that must be awaited: use `await scorer\.score_async\(run\)`"):
        made.score(RUN)


def test_every_step_may_be_asynchronous() -> None:
    made = (
        create_scorer(id="s", prepare_run=lambda run: slowly(t.run("Another.")))
        .preprocess(lambda output: slowly(output))
        .analyze(lambda results: slowly(len(results.preprocess)))
        .generate_score(lambda results: slowly(results.analyze == 8))
        .generate_reason(lambda results: slowly(results.preprocess))
    )
    score = asyncio.run(made.score_async(RUN))
    assert (score.outcome, score.reason) == ("passed", "Another.")


def test_an_error_of_an_asynchronous_step_is_an_error_too() -> None:
    async def step(run: Run) -> float:
        raise KeyError("kaput")

    score = asyncio.run(create_scorer(id="s").preprocess(lambda run: 1).generate_score(step).score_async(RUN))
    assert score.error is not None
    assert (score.error.failed_step, score.error.completed_steps) == ("generate_score", ("preprocess",))
    assert isinstance(score.error.__cause__, KeyError)


def test_cancelling_a_scorer_cancels_it() -> None:
    async def main() -> None:
        task = asyncio.create_task(create_scorer(id="s").generate_score(lambda run: asyncio.sleep(60)).score_async(RUN))
        await asyncio.sleep(0)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(main())


@DOORS
@pytest.mark.parametrize("prepared", [None, 5, "text", [1]])
def test_prepare_run_must_return_a_run(door: str, prepared: object) -> None:
    score = through(door, create_scorer(id="s", prepare_run=lambda run: prepared).generate_score(lambda run: 1.0))
    assert score.error is not None
    assert score.error.failed_step == "prepare_run"
    assert "prepare_run must return a Run, not " in score.reason


@DOORS
def test_the_steps_see_the_prepared_run_and_so_does_the_score(door: str) -> None:
    made = create_scorer(id="s", prepare_run=filter_run(max_output=1)).generate_score(lambda run: run.text == "two")
    score = through(door, made, t.run("one", "two"))
    assert score.passed
    assert score.run is not None
    assert score.run.text == "two"


def test_an_error_of_prepare_run_is_the_scorers() -> None:
    score = create_scorer(id="s", prepare_run=raising(KeyError("x"))).generate_score(lambda run: 1.0).score(RUN)
    assert score.error is not None
    assert (score.error.failed_step, score.error.completed_steps) == ("prepare_run", ())


@DOORS
def test_a_prompt_needs_the_extra(door: str) -> None:
    prompt = Prompt(description="Judges", output_type=dict, create_prompt=lambda run: "?")
    made = create_scorer(id="s", judge=Judge(model="openai/gpt-5-mini")).analyze(prompt).generate_score(lambda run: 1.0)
    with pytest.raises(MissingExtraError, match=r'A step that asks a model needs .* pip install "quickchecks\[judge\]"'):
        through(door, made)


@pytest.mark.parametrize("value", ["text", {"a": 1}, [{"role": "assistant", "content": "text"}], 5])
def test_whatever_an_adapter_recognises_can_be_scored(value: object) -> None:
    assert checks.excludes("nothing like it").score(value).passed


def test_plain_input_and_output_can_be_scored() -> None:
    made = create_scorer(id="s").generate_score(lambda input, output, expected: (input, output, expected) == ("q", "a", "e"))
    assert made.score(input="q", output="a", expected="e").passed
    assert checks.includes("sunny").score(output="It is sunny.").passed


def test_a_score_needs_one_run() -> None:
    check = checks.includes("a")
    for score in (check.score, lambda *given, **named: asyncio.run(check.score_async(*given, **named))):
        with pytest.raises(TypeError, match=r"score\(\) takes a run, or output="):
            score()
        with pytest.raises(TypeError, match=r"score\(\) takes a run or output=, not both"):
            score(RUN, output="b")


@pytest.mark.parametrize(
    "use", [bool, lambda one: one and one, lambda one: one or one, lambda one: not one, lambda one: 1 if one else 0]
)
def test_and_or_and_not_are_refused_for_scorers(use: Callable[[Scorer], object]) -> None:
    message = (
        r"includes\('a'\) is a scorer, not a score: combine scorers with & \| ~ instead of and, or, not; score a run with \.score"
    )
    with pytest.raises(NoVerdictError, match=message):
        use(checks.includes("a"))


@pytest.mark.parametrize("other", ["includes('b')", None, 5, lambda run: True])
def test_a_scorer_combines_with_scorers_only(other: object) -> None:
    with pytest.raises(TypeError, match="unsupported operand"):
        checks.includes("a") & other  # type: ignore[operator]
    with pytest.raises(TypeError, match="unsupported operand"):
        checks.includes("a") | other  # type: ignore[operator]


def test_a_scorer_is_frozen() -> None:
    with pytest.raises(AttributeError):
        checks.includes("a").name = "b"  # type: ignore[misc]


def test_a_name_makes_another_identity_and_leaves_the_scorer_alone() -> None:
    check = checks.includes("a")
    assert check.identity == "includes('a')"
    named = check.named("greeting", "people like it")
    assert (named.identity, named.why) == ("greeting", "people like it")
    assert (check.identity, check.why) == ("includes('a')", "")
    assert named.named(why="really").identity == "greeting"


def test_threads_may_share_a_scorer() -> None:
    suite = [checks.includes("sunny"), checks.matches(r"s\w+y"), checks.similarity("sunny"), ~checks.includes("rain")]
    made = create_scorer(id="s").preprocess(lambda output: output).generate_score(lambda results: len(results.preprocess) / 100)

    def work(number: int) -> list[float | None]:
        run = t.run(f"It is sunny. {'x' * (number % 7)}")
        return [check.score(run).value for check in (*suite, made)]

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(work, range(200)))
    assert answers == [work(number) for number in range(200)]


def test_a_check_can_be_sent_to_another_process() -> None:
    for check in (
        checks.includes("a"),
        checks.similarity("sunny"),
        checks.no_tool_errors(),
        checks.includes("a") & checks.matches("b"),
    ):
        sent = pickle.loads(pickle.dumps(check))
        assert repr(sent) == repr(check)
        assert sent.score("a b").record() == check.score("a b").record()


@scorer
def short_answer(output: str) -> bool:
    """At most five words."""
    return len(output.split()) <= 5


def test_functions_and_checks_show_themselves() -> None:
    assert repr(short_answer) == "<scorer short_answer>"
    assert repr(checks.includes("a", name="n", why="w")) == "includes('a', name='n', why='w')"


def secretive() -> Run:
    trace = {"trace": {"id": 1}}
    call = ToolCall("send", {"secret": "s3cret", "to": ["a"]}, result={"sent": [1]}, metadata=trace)
    said = (Message("user", (Text("q"),)), Message("assistant", (call, Text("Done."))))
    return Run(said, {"asked": ["q"]}, metadata={"tags": ["new"]})


Anything = Any  # a scorer of a user's may try to do anything with what it gets

CHANGES: dict[str, Callable[[Anything], object]] = {
    "arguments": lambda run: run.tool_calls[0].arguments.pop("secret"),
    "raw arguments": lambda run: run.tool_calls[0].raw_arguments["to"].append("b"),
    "result": lambda run: run.tool_calls[0].result["sent"].clear(),
    "metadata of the call": lambda run: run.tool_calls[0].metadata["trace"].update(id=2),
    "metadata": lambda run: run.metadata["tags"].append("old"),
    "input": lambda run: run.input["asked"].append("more"),
}
OF_STEPS: dict[str, Callable[[Callable[[Run], object]], Scorer]] = {
    "score": lambda step: create_scorer(id="s").generate_score(lambda run: step(run) is None),
    "score with more": lambda step: create_scorer(id="s").generate_score(lambda run, expected: step(run) is None),
    "@scorer": lambda step: scorer(id="s")(lambda run: step(run) is None),
    "preprocess": lambda step: create_scorer(id="s").preprocess(lambda run: step(run)).generate_score(lambda: True),
    "prepare_run": lambda step: create_scorer(id="s", prepare_run=lambda run: (step(run), run)[1]).generate_score(lambda: True),
    "inside all_of": lambda step: create_scorer(id="s").generate_score(lambda run: step(run) is None) & checks.includes("Done"),
}


@DOORS
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("kind", OF_STEPS)
def test_no_step_changes_the_run_that_others_score(kind: str, change: str, door: str) -> None:
    run = secretive()
    score = through(door, OF_STEPS[kind](CHANGES[change]), run)
    assert score.outcome == "error"
    assert "read-only" in score.reason
    assert run == secretive()


def test_arguments_that_are_parsed_from_a_text_cannot_be_changed_either() -> None:
    run = t.run(t.call("send", '{"secret": 1}'), "Done.")
    assert create_scorer(id="s").generate_score(CHANGES["arguments"]).score(run).outcome == "error"
    assert run.tool_calls[0].arguments == {"secret": 1}


def test_what_makes_the_reason_changes_nothing() -> None:
    def explain(run: Run, score: Score) -> Explanation:
        CHANGES["arguments"](run)
        return Explanation("changed")

    run = secretive()
    score = create_scorer(id="s", explain=explain).generate_score(lambda run: False).score(run)
    assert "read-only" in score.reason
    assert run == secretive()


def test_what_a_step_returned_and_goes_on_with_is_not_what_later_steps_get() -> None:
    found = {"words": ["one"]}

    def analyze(results: Mapping[str, Mapping[str, list[str]]]) -> int:
        found["words"].clear()
        return len(results["preprocess"]["words"])

    counting = create_scorer(id="s").preprocess(lambda run: found).analyze(analyze)
    score = counting.generate_score(lambda results: results.analyze == 1).score(RUN)
    assert score.passed
    assert score.results is not None
    assert score.results["preprocess"] == {"words": ["one"]}
    with pytest.raises(TypeError, match="read-only"):
        score.results["preprocess"]["words"] = []


def test_a_step_sees_the_run_as_it_is() -> None:
    run = secretive()
    assert create_scorer(id="s").generate_score(lambda run: run == secretive()).score(run).passed
    text = t.run("Only text.")
    assert create_scorer(id="s").generate_score(lambda run: run is text).score(text).passed
