"""Arguments that come from the item: one check for a whole dataset."""

from __future__ import annotations

import asyncio
import inspect
import pickle
from collections.abc import Mapping

import pytest

from quickchecks import Item, Run, Scorer, all_of, any_of, checks, create_scorer, from_item, run_evals_sync, when, within
from quickchecks import testing as t
from quickchecks._scorer.catalogue import describe
from quickchecks._scorer.expression import parse
from quickchecks._scorer.from_item import deferrable, item_fields
from quickchecks.errors import CheckArgumentError, CheckArgumentTypeError, CheckSyntaxError

EXPECTED = checks.includes(from_item("expected"))


def test_the_check_is_made_for_what_the_item_expects() -> None:
    assert EXPECTED.score("It is sunny.", expected="sunny").passed
    score = EXPECTED.score("It is sunny.", expected="rain")
    assert score.failed
    assert score.reason == checks.includes("rain").score("It is sunny.").reason


def test_evidence_and_kind_are_those_of_the_check_that_was_made() -> None:
    run = t.run("It is sunny.")
    score, plain = EXPECTED.score(run, expected="sunny"), checks.includes("sunny").score(run)
    assert score.evidence == plain.evidence
    assert score.explanation == plain.explanation
    assert EXPECTED.score(run, expected="x").failure_key == "includes(from_item('expected')) | failed | not found"


def test_one_check_serves_a_dataset_and_has_one_identity() -> None:
    data = [{"input": "a", "expected": "A"}, {"input": "b", "expected": "B"}, {"input": "c", "expected": "no"}]
    result = run_evals_sync(data, str.upper, gates=[EXPECTED])
    assert [item.scores[0].outcome for item in result.items] == ["passed", "passed", "failed"]
    assert [gate.scorer for gate in result.gate_results] == ["includes(from_item('expected'))"]


@pytest.mark.parametrize(
    ("check", "field"),
    [
        (checks.includes(from_item("city")), {"metadata": {"city": "Rome"}}),
        (checks.includes(from_item("metadata.city")), {"metadata": {"city": "Rome"}}),
        (checks.includes(from_item("expected.city")), {"expected": {"city": "Rome"}}),
        (checks.includes(from_item("input")), {"input": "Rome"}),
        (checks.includes(from_item("id")), {"id": "Rome"}),
        (checks.includes(from_item("context")), {"context": "Rome"}),
        (checks.equals("In Rome.", where=from_item("where")), {"metadata": {"where": "final"}}),  # type: ignore[arg-type]
    ],
)
def test_any_field_and_metadata_may_be_taken(check: Scorer, field: Mapping[str, object]) -> None:
    item = Item(**{"input": "?", **field})  # type: ignore[arg-type]
    assert check.score("In Rome.", item=item, expected=item.expected).passed
    assert check.score("In Rome.", item={"input": "?", **field}, expected=item.expected).passed


def test_several_arguments_and_texts_in_a_list_may_be_taken() -> None:
    run = t.run(t.call("a"), t.call("b"))
    item = {"input": "?", "tool": "a", "times": 1, "second": "b", "steps": ["a", "b"]}
    for check in (
        checks.called_tool(from_item("tool"), times=from_item("times")),
        checks.tool_order(from_item("steps")),
        checks.tool_order(["a", from_item("second")]),  # type: ignore[list-item]
        checks.max_tool_calls(2) & checks.did_not_call(from_item("input")),
    ):
        assert check.score(run, item=item).passed


@pytest.mark.parametrize(
    ("check", "options", "said"),
    [
        (EXPECTED, {}, "what is scored has no 'expected', which includes(from_item('expected')) asks for"),
        (EXPECTED, {"item": Item(input="?", id="i7")}, "the item 'i7' has no 'expected'"),
        (checks.includes(from_item("metadata.city")), {"item": {"id": 3}}, "the item 3 has no 'metadata.city'"),
        (EXPECTED, {"expected": 42}, "the 'expected' of what is scored cannot be used: includes() takes its expected as text"),
        (checks.matches(from_item("expected")), {"expected": "("}, "the 'expected' of what is scored cannot be used: matches("),
        (checks.called_tool("a", times=from_item("n")), {"item": {"id": 1, "n": 0}}, "the 'n' of the item 1 cannot be used"),
    ],
)
def test_what_an_item_does_not_have_or_cannot_be_used_is_an_error_that_names_it(
    check: Scorer, options: Mapping[str, object], said: str
) -> None:
    for score in (check.score("x", **options), asyncio.run(check.score_async("x", **options))):
        assert score.outcome == "error"
        assert said in score.reason
    assert (~check).score("x", **options).outcome == "error"


@pytest.mark.parametrize("hostile", ["\ud800", "a\0b", "'\"\\", "x" * 100_000, "$expected", "(a+)+$"])
def test_hostile_expectations_are_only_text(hostile: str) -> None:
    assert EXPECTED.score(f"- {hostile} -", expected=hostile).passed
    assert EXPECTED.score("-", expected=hostile).failed


def test_a_wrong_argument_beside_it_is_refused_when_the_check_is_made() -> None:
    with pytest.raises(CheckArgumentError, match="where"):
        checks.includes(from_item("expected"), where="nowhere")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="ignorecase"):
        checks.includes(from_item("expected"), ignorecase=True)  # type: ignore[call-arg]
    with pytest.raises(CheckArgumentTypeError, match="name"):
        checks.includes("a", name=from_item("id"))  # type: ignore[arg-type]
    with pytest.raises(CheckArgumentTypeError, match="why"):
        checks.includes(from_item("expected"), why=from_item("id"))  # type: ignore[arg-type]


@pytest.mark.parametrize("field", ["", None, 3])
def test_a_field_has_a_name(field: object) -> None:
    with pytest.raises(CheckArgumentTypeError, match="name of a field"):
        from_item(field)  # type: ignore[arg-type]


def test_its_identity_is_one_whichever_way_it_is_written() -> None:
    written = checks.includes(expected=from_item("expected"), ignore_case=True)
    assert repr(written) == repr(EXPECTED) == "includes(from_item('expected'))"
    assert written.version == EXPECTED.version != checks.includes(from_item("other")).version
    named = checks.similarity(from_item("expected"), name="close", why="the script")
    assert (named.identity, named.why) == ("close", "the script")
    assert repr(named) == "similarity(from_item('expected'), name='close', why='the script')"
    assert named.description == checks.similarity("x").description


def test_it_is_graded_where_the_check_is() -> None:
    assert checks.similarity(from_item("expected")).graded
    assert not checks.similarity(from_item("expected"), threshold=0.5).graded
    assert checks.similarity(from_item("expected")).score("night", expected="nacht").value == 0.25


@pytest.mark.parametrize(
    ("check", "passes_on"),
    [
        (EXPECTED & ~checks.includes("x"), "sunny"),
        (any_of(checks.includes("y and more"), EXPECTED), "sunny"),
        (when(checks.includes("sunny"), EXPECTED), "sunny"),
        (~EXPECTED, "rain"),
    ],
)
def test_it_combines_like_any_check(check: Scorer, passes_on: str) -> None:
    assert [check.score("sunny", expected=word).passed for word in ("sunny", "rain")] == [
        passes_on == "sunny",
        passes_on == "rain",
    ]
    assert repr(parse(repr(check), checks.vocabulary())) == repr(check)
    assert item_fields(check) == ("expected",)


def test_the_fields_that_a_scorer_needs_are_known() -> None:
    check = within("a", checks.includes(from_item("b"))) & all_of(checks.tool_order([from_item("c"), "d"]))  # type: ignore[list-item]
    assert item_fields(check) == ("b", "c")
    assert item_fields(checks.includes("from_item('expected')")) == ()
    assert item_fields(create_scorer(id="mine").generate_score(lambda expected: True)) == ()


@pytest.mark.parametrize(
    "expression",
    [
        "includes(from_item('expected'))",
        "called_tool(from_item('metadata.tool'), times=from_item('n'))",
        "tool_order([from_item('a'), 'b'])",
        "~similarity(from_item('expected'), name='x', threshold=0.5)",
        "within('billing', equals(from_item('expected')))",
    ],
)
def test_an_expression_may_take_fields(expression: str) -> None:
    assert repr(parse(expression, checks.vocabulary())) == expression


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("from_item('expected')", "from_item() is no check but the argument of one"),
        ("all_of(from_item('expected'))", "from_item() is no check but the argument of one"),
        ("includes('a') & from_item('expected')", "from_item() is no check but the argument of one"),
        ("includes(from_item())", "write from_item('expected')"),
        ("includes(from_item(3))", "takes the name of a field"),
        ("includes(from_item('a', 'b'))", "takes the name of a field"),
        ("includes(from_item(name='a'))", "takes the name of a field"),
        ("includes(from_item)", "has no quotes"),
    ],
)
def test_an_expression_that_takes_none_rightly_is_refused(expression: str, said: str) -> None:
    with pytest.raises(CheckSyntaxError) as caught:
        parse(expression, checks.vocabulary())
    assert said in str(caught.value)


def test_a_check_of_somebody_else_takes_fields_in_an_expression_too() -> None:
    def mentions(word: str) -> Scorer:
        return create_scorer(id="mentions").generate_score(lambda output: word in output)

    check = parse("mentions(from_item('expected'))", {"mentions": mentions})
    assert check.score("sunny", expected="sun").passed
    assert check.score("sunny", expected="rain").failed


def test_a_check_that_must_be_awaited_is() -> None:
    async def judge(run: Run) -> bool:
        return run.text == "sunny"

    @deferrable
    def slow(word: str) -> Scorer:
        return create_scorer(id="slow").generate_score(judge)

    check = slow(from_item("expected"))  # type: ignore[arg-type]
    assert asyncio.run(check.score_async("sunny", expected="x")).passed


def test_a_check_is_made_once_for_each_value() -> None:
    made: list[str] = []

    @deferrable
    def counted(word: str) -> Scorer:
        made.append(word)
        return checks.includes(word)

    check = counted(from_item("expected"))  # type: ignore[arg-type]
    made.clear()  # the first is the sample that shows whether the arguments are right
    for expected in ("a", "b", "a", "b", "a"):
        check.score("a", expected=expected)
    assert made == ["a", "b"]


def test_help_and_the_description_of_a_check_stay() -> None:
    assert checks.includes.__name__ == "includes"
    assert checks.includes.__module__ == "quickchecks.checks.text"
    assert (checks.includes.__doc__ or "").startswith("Passes when the answer contains a text.")
    assert list(inspect.signature(checks.includes).parameters) == ["expected", "ignore_case", "where", "name", "why"]
    kinds = {name: {one.name: one.type for one in describe(check).parameters} for name, check in checks.vocabulary().items()}
    assert kinds["includes"]["expected"] == kinds["called_tool"]["tool"] == "text"
    assert kinds["called_tool"]["times"] == kinds["max_tool_calls"]["n"] == "whole number"
    assert kinds["tool_order"]["names"] == "list of texts"
    assert kinds["similarity"]["threshold"] == "number"


def test_a_score_can_be_sent_to_another_process() -> None:
    score = EXPECTED.score("It is sunny.", expected="sunny")
    assert pickle.loads(pickle.dumps(score)).reason == score.reason
    assert score.record().to_score().outcome == "passed"
