"""Every check on runs that nobody would write: it gives a score, in time, and everything about the score can be shown."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from quickchecks import Run, Score, Scorer, checks
from quickchecks import testing as t
from quickchecks._run import (
    UNSET,
    Gap,
    Message,
    Other,
    Part,
    Reasoning,
    RunError,
    Step,
    Text,
    ToolCall,
    ToolError,
    ToolResult,
)
from quickchecks._score import CallRef, ScoreRecord
from quickchecks._wire import dumps, loads

#: Words of which texts and expectations are both made, so that checks find something.
WORDS = [
    "a",
    "A b",
    "sunny",
    "Straße",
    "İ",
    "e\u0301",
    "한",
    "\u1112\u1161\u11ab",
    "won\u2019t",
    "won't",
    "4,250",
    "\ud83d",
    "\0",
    "\x1b[2J",
    "\U0001f600",
    "\u0345\u0301",
    "\n",
    " ",
]
TEXT = st.lists(st.sampled_from(WORDS) | st.text(st.characters(codec=None), max_size=5), max_size=6).map(" ".join)
NAME = st.sampled_from(["look", "Look", "", "a\nb", "\ud83d", "x" * 300]) | st.text(st.characters(codec=None), max_size=8)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
RESULT = (
    JSON
    | st.just(UNSET)
    | st.builds(lambda value: {"error": value}, JSON)
    | st.builds(lambda value: {"isError": value}, JSON)
    | st.sampled_from(["Error: x", "ValueError: " + "y" * 600, '{"error": "z"}', "{" * 50, "é" * 300])
)
CALL = st.builds(
    ToolCall,
    NAME,
    JSON | st.sampled_from(['{"a": 1}', '{"a": ', "[" * 100, "", '"text"', '{"password": "x"}']),
    st.none() | NAME,
    st.sampled_from(["partial", "requested", "awaiting", "denied", "completed", "failed"]),
    st.sampled_from(["tool", "provider", "agent", "output", "handoff"]),
    RESULT,
    st.none() | st.builds(ToolError, TEXT, TEXT),
    st.sampled_from(["state", "result", "text"]),
    st.none() | NAME,
)
PART: st.SearchStrategy[Part] = (
    st.builds(Text, TEXT)
    | CALL
    | st.builds(Reasoning, TEXT)
    | st.just(Step())
    | st.builds(Other, NAME, JSON)
    | st.builds(ToolResult, JSON, st.none() | NAME, st.none() | NAME, st.none() | st.builds(ToolError, TEXT))
)
MESSAGE = st.builds(
    Message,
    st.sampled_from(["assistant", "assistant", "user", "system", "tool"]),
    st.lists(PART, max_size=4).map(tuple),
    st.none() | NAME,
)
GAP = st.builds(
    Gap,
    st.sampled_from(["calls", "results", "nested", "nested_possible", "orphan_result", "text", "input", "usage", "other"]),
    TEXT,
    st.none() | NAME,
)


def runs_over(inner: st.SearchStrategy[Run]) -> st.SearchStrategy[Run]:
    """Runs, some of whose calls started a run."""
    nested = st.builds(lambda call, run: msgspec.structs.replace(call, run=run), CALL, inner)
    message = st.builds(
        lambda message, calls: msgspec.structs.replace(message, parts=(*message.parts, *calls)),
        MESSAGE,
        st.lists(nested, max_size=1),
    )
    return st.builds(
        Run,
        st.lists(message, max_size=3).map(tuple),
        JSON,
        history_length=st.integers(0, 1),
        error=st.none() | st.builds(RunError, TEXT),
        agent=st.none() | NAME,
        children=st.lists(inner, max_size=1).map(tuple),
        gaps=st.lists(GAP, max_size=2).map(tuple),
    )


RUNS = st.recursive(st.just(Run()), runs_over, max_leaves=3)

#: Checks of every kind, with the words that the runs are made of.
EVERY: list[Callable[[str], Scorer]] = [
    lambda word: checks.includes(word),
    lambda word: checks.includes(word, ignore_case=False, where="final"),
    lambda word: checks.excludes(word),
    lambda word: checks.equals(word),
    lambda word: checks.equals(word, ignore_case=False, where="final"),
    lambda word: checks.matches(r"(?s)\w+|."),
    lambda word: checks.matches(r"(\w\s?)+", exact=True, where="final"),
    lambda word: checks.similarity("sunny " + word),
    lambda word: checks.similarity("Straße " + word, threshold=0.3, where="final"),
    lambda word: checks.called_tool("look"),
    lambda word: checks.called_tool("look", times=2, agent="root"),
    lambda word: checks.did_not_call("look"),
    lambda word: checks.tool_order(["look", "Look"]),
    lambda word: checks.max_tool_calls(1),
    lambda word: checks.used_no_tools(agent="look"),
    lambda word: checks.no_tool_errors(),
    lambda word: checks.no_tool_errors(text_errors=r"z|\d", agent="root"),
    lambda word: ~(checks.includes(word) & checks.no_tool_errors() | checks.called_tool("look")),
    lambda word: checks.when(checks.called_tool("look"), checks.similarity(word + "x")),
]


def run_at(run: Run, way: tuple[int, ...]) -> Run:
    """The nested run that a way leads to."""
    for step in way:
        calls = [part for message in run.messages[run.history_length :] if message.role == "assistant" for part in message.parts]
        calls = [call for call in calls if type(call) is ToolCall]
        call = calls[step] if step < len(calls) else None
        below = call.run if isinstance(call, ToolCall) else run.children[step - len(calls)]
        assert below is not None
        run = below
    return run


def examine(score: Score, run: Run) -> None:
    """What must hold of every score."""
    assert score.outcome != "error", score.error
    assert 0 < len(score.reason) <= 500
    assert not any(character < "\t" or "\ud800" <= character <= "\udfff" for character in score.reason)
    assert len(score.failure_key) < 2000
    for place in score.evidence:
        part = run_at(run, place.run).messages[place.message].parts[place.part]
        if isinstance(place, CallRef):
            assert isinstance(part, ToolCall)
            assert part.name == place.name
            assert run.tool_calls[place.call - 1] is part
        else:
            assert isinstance(part, Text)
            assert 0 <= place.start < place.end <= len(part.text)
    record = score.record()
    written = dumps(record)
    assert b"\n" not in written
    assert msgspec.convert(loads(written), ScoreRecord) == record
    assert record.to_score().record() == record


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(RUNS, st.sampled_from([word for word in WORDS if word.strip()]), st.sampled_from(EVERY))
def test_every_check_judges_and_explains_any_run(run: Run, word: str, make: Callable[[str], Scorer]) -> None:
    score = make(word).score(run)
    examine(score, run)


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(RUNS)
def test_a_check_and_its_negation_never_pass_or_fail_together(run: Run) -> None:
    for make in EVERY:
        check = make("sunny")
        outcome, negated = check.score(run).outcome, (~check).score(run).outcome
        opposite = {"passed": "failed", "failed": "passed"}
        assert negated == opposite.get(outcome, outcome)


@pytest.mark.parametrize("depth", [50, 2000])
def test_runs_that_are_nested_deeply_are_scored_or_an_error(depth: int) -> None:
    run = t.run(t.call("look"), "sunny")
    for _ in range(depth):
        run = t.run(t.call("ask", run=run), "sunny")
    for make in EVERY:
        score = make("sunny").score(run)
        assert len(score.reason) <= 500
        assert dumps(score.record())
    assert checks.called_tool("look").score(run).outcome == ("passed" if depth < 100 else "error")
    assert checks.did_not_call("nothing").score(run).outcome == ("passed" if depth < 100 else "error")


#: Megabytes of what is worst for folding, composing, searching and telling.
LARGE = {
    "ascii": '"the weather is sunny " * 476_000',
    "one letter": '"a" * 3_000_000',
    "composed": '"é weather \u2019 " * 800_000',
    "decomposed": '"e\\u0301 weather " * 300_000',
    "marks": '"a" + "\\u0301\\u0323" * 500_000',
    "cjk": '"天気は晴れ。" * 500_000',
    "hangul": '"\\u1112\\u1161\\u11ab" * 500_000',
    "emoji": '"\U0001f600 ok " * 500_000',
    "surrogates": '"\\ud800a" * 1_000_000',
    "folds to more": '"ßİ" * 1_000_000',
    "blank": '" " * 10_000_000',
    "lines": '"a\\n" * 1_000_000',
    "digits": '"1,234 " * 500_000',
    "quotes": '"\u2019" * 2_000_000',
}
SCRIPT = """
import sys
from quickchecks import checks, testing as t
text = {text}
run = t.run(t.call("look", q=text, result=text), text)
for check in (
    checks.includes("Brooklyn won't"), checks.includes(text[-9:]), checks.includes("1234567"), checks.excludes(text[:3]),
    checks.equals("x"), checks.equals(text), checks.matches("zzz"), checks.matches("a$"), checks.similarity("weather sunny"),
    checks.did_not_call("look"), checks.no_tool_errors(), checks.no_tool_errors(text_errors="zzz"),
):
    score = check.score(run)
    assert len(score.reason) <= 500
    assert score.record().evidence == score.evidence
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", LARGE)
def test_megabytes_end(name: str) -> None:
    """In a process of its own, which is stopped where a step would take the square of the length: that is hours."""
    subprocess.run([sys.executable, "-c", SCRIPT.format(text=LARGE[name])], check=True, timeout=120)
