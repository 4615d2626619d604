"""Tests of the weather agent: of one answer, and of a dataset."""

from __future__ import annotations

from pathlib import Path

from agent import careful, hasty

from quickchecks import assert_checks, checks, from_item

DATASET = Path(__file__).with_name("dataset.jsonl")


def test_one_answer():
    assert_checks(
        careful("How cold is it in Oslo?"),
        checks.includes("27°F", why="whoever asks how cold it is wants a number"),
        checks.tool_order(["get_weather", "summarize"]),
        checks.no_tool_errors(),
    )


def test_the_dataset(evals):
    result = evals(data=DATASET, target=careful, gates=[checks.includes(from_item("expected"))])
    assert result.passed


def test_a_hasty_agent(evals):
    result = evals(data=DATASET, target=hasty, gates=[checks.called_tool("summarize", why="a number needs its sentence")])
    assert result.passed
