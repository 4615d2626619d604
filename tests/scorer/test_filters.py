"""Trimming the run that a scorer sees."""

from __future__ import annotations

import pytest

from quickchecks import Run, create_scorer, filter_run
from quickchecks import testing as t
from quickchecks._run import Usage
from quickchecks.errors import ScorerDefinitionError

RUN = t.run(
    t.user("first"),
    t.assistant("old answer"),
    t.user("second"),
    t.assistant("looking", t.call("search")),
    t.assistant(t.call("refund"), t.call("mail")),
    t.assistant(t.reasoning("hm")),
    t.assistant("done"),
    history=3,
    input="asked",
    usage=Usage(1),
    metadata={"a": 1},
)


def shown(run: Run) -> list[str]:
    """What each message begins with, the history in brackets."""
    told: list[str] = []
    for number, message in enumerate(run.messages):
        part = message.parts[0]
        word = str(getattr(part, "text", None) or getattr(part, "name", ""))
        told.append(f"({word})" if number < run.history_length else word)
    return told


@pytest.mark.parametrize(
    ("options", "messages"),
    [
        ({}, ["(first)", "(old answer)", "(second)", "looking", "refund", "hm", "done"]),
        ({"max_history": 1}, ["(second)", "looking", "refund", "hm", "done"]),
        ({"max_history": 0}, ["looking", "refund", "hm", "done"]),
        ({"max_history": 9}, ["(first)", "(old answer)", "(second)", "looking", "refund", "hm", "done"]),
        ({"max_output": 2}, ["(first)", "(old answer)", "(second)", "hm", "done"]),
        ({"max_output": 0}, ["(first)", "(old answer)", "(second)"]),
        ({"part_types": ["text"]}, ["(first)", "(old answer)", "(second)", "looking", "done"]),
        ({"part_types": ["tool"]}, ["looking", "refund"]),
        ({"part_types": ["tool_call", "reasoning"]}, ["looking", "refund", "hm"]),
        ({"tool_names": ["search"]}, ["(first)", "(old answer)", "(second)", "looking", "hm", "done"]),
        ({"tool_names": ["ma"]}, ["(first)", "(old answer)", "(second)", "refund", "hm", "done"]),
        ({"tool_names": ["none"]}, ["(first)", "(old answer)", "(second)", "hm", "done"]),
        ({"drop": ["history"]}, ["looking", "refund", "hm", "done"]),
        ({"part_types": ["text"], "tool_names": ["refund"], "max_output": 1}, ["(first)", "(old answer)", "(second)", "done"]),
    ],
)
def test_messages_are_kept_or_left_out_whole(options: dict[str, object], messages: list[str]) -> None:
    assert shown(filter_run(**options)(RUN)) == messages  # type: ignore[arg-type]


def test_parts_of_the_run_are_dropped_by_name() -> None:
    trimmed = filter_run(drop=["input", "metadata", "usage"])(RUN)
    assert (trimmed.input, trimmed.metadata, trimmed.usage) == (None, None, None)
    assert (RUN.input, RUN.usage) == ("asked", Usage(1))
    assert trimmed.messages == RUN.messages


@pytest.mark.parametrize("parameter", ["max_history", "max_output"])
@pytest.mark.parametrize("count", [-1, 1.5, "2", True])
def test_a_number_of_messages_is_a_whole_number_from_0_on(parameter: str, count: object) -> None:
    with pytest.raises(ScorerDefinitionError, match=rf"takes {parameter} as a whole number from 0 on \(0 keeps none\), not "):
        filter_run(**{parameter: count})  # type: ignore[arg-type]


@pytest.mark.parametrize("parameter", ["part_types", "tool_names", "drop"])
@pytest.mark.parametrize("words", ["text", [5], [""]])
def test_a_list_of_words_is_no_text_and_holds_words(parameter: str, words: object) -> None:
    with pytest.raises(
        ScorerDefinitionError, match=rf"filter_run\(\) takes {parameter} as a list of words, such as \['text'\], not "
    ):
        filter_run(**{parameter: words})  # type: ignore[arg-type]


@pytest.mark.parametrize("parameter", ["part_types", "tool_names"])
def test_a_filter_that_keeps_nothing_by_mistake_is_refused(parameter: str) -> None:
    with pytest.raises(ScorerDefinitionError, match="as a list of words"):
        filter_run(**{parameter: []})  # type: ignore[arg-type]


def test_unknown_words_are_refused() -> None:
    with pytest.raises(
        ScorerDefinitionError, match="knows no part of the kind 'tool-invocation'; there are text, tool_call, reasoning"
    ):
        filter_run(part_types=["tool-invocation"])
    with pytest.raises(
        ScorerDefinitionError, match="cannot drop 'messages'; it can drop history, input, metadata, usage, children"
    ):
        filter_run(drop=["messages"])


def test_a_scorer_that_trims_has_a_version() -> None:
    """The filter's own arguments are part of it, so that stored scores are not computed again for nothing."""

    def made(most: int) -> str:
        return (
            create_scorer(id="s", prepare_run=filter_run(max_output=most, drop=["usage"])).generate_score(lambda run: 1.0).version
        )

    assert made(1) == made(1) != made(2)
    assert made(1)
