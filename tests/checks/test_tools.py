"""The tool checks: what passes, what fails, what cannot be known, and what they say about it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from quickchecks import Message, Run, Scorer, checks
from quickchecks import testing as t
from quickchecks._run import UNSET, CallKind, CallState, Gap, GapKind, ToolCall, ToolError, ToolResult
from quickchecks.errors import CheckArgumentError

called_tool, did_not_call, tool_order, max_tool_calls, used_no_tools, no_tool_errors = (
    checks.called_tool,
    checks.did_not_call,
    checks.tool_order,
    checks.max_tool_calls,
    checks.used_no_tools,
    checks.no_tool_errors,
)


def calls(names: str) -> Run:
    """A run with a call for each letter."""
    return t.run(t.user("go"), *map(t.call, names), "Done.")


@pytest.mark.parametrize(
    ("check", "names", "passes"),
    [
        (called_tool("a"), "ab", True),
        (called_tool("a"), "bc", False),
        (called_tool("a"), "", False),
        (called_tool("A"), "a", False),
        (called_tool("a", times=2), "aba", True),
        (called_tool("a", times=3), "aba", False),
        (did_not_call("a"), "bc", True),
        (did_not_call("a"), "", True),
        (did_not_call("a"), "ba", False),
        (tool_order(["a", "b"]), "ab", True),
        (tool_order(["a", "b"]), "xaxxbx", True),
        (tool_order(["a", "b"]), "ba", False),
        (tool_order(["a", "b"]), "bab", True),
        (tool_order(["a", "b", "a"]), "aab", False),
        (tool_order(["a", "b", "a"]), "abca", True),
        (tool_order(["a", "a"]), "a", False),
        (tool_order(["a"]), "", False),
        (max_tool_calls(0), "", True),
        (max_tool_calls(0), "a", False),
        (max_tool_calls(2), "ab", True),
        (max_tool_calls(2), "aaa", False),
        (used_no_tools(), "", True),
        (used_no_tools(), "a", False),
        (no_tool_errors(), "", True),
        (no_tool_errors(), "ab", True),
    ],
)
def test_what_passes_and_what_fails(check: Scorer, names: str, passes: bool) -> None:
    assert check.score(calls(names)).outcome == ("passed" if passes else "failed")


@pytest.mark.parametrize(
    ("call", "outcome"),
    [
        (t.call("a"), "passed"),
        (t.call("a", result=""), "passed"),
        (t.call("a", result=None), "passed"),
        (t.call("a", error="boom"), "failed"),
        (t.call("a", result={"error": "boom"}), "failed"),
        (t.call("a", result={"isError": True}), "failed"),
        (t.call("a", result="ValueError: boom"), "failed"),
        (t.call("a", unfinished=True), "failed"),
        (t.call("a", awaiting=True), "not_applicable"),
        (ToolCall("a", state="denied"), "passed"),
        (ToolCall("a", state="partial"), "passed"),
        (ToolCall("a", result="Error: x", errors_shown_in="state"), "passed"),
        (ToolCall("a", result='{"error": "x"}', errors_shown_in="text"), "failed"),
    ],
)
def test_one_failed_or_unfinished_call_fails(call: ToolCall, outcome: str) -> None:
    assert no_tool_errors().score(t.run(call)).outcome == outcome
    assert no_tool_errors().score(t.run(t.call("fine"), call, t.call("fine"))).outcome == outcome


def test_a_call_that_waits_hides_no_failure() -> None:
    assert no_tool_errors().score(t.run(t.call("a", awaiting=True), t.call("b", error="x"))).failed


@pytest.mark.parametrize("kind", ["tool", "provider", "agent"])
def test_calls_of_every_real_kind_count_alike(kind: CallKind) -> None:
    """Who runs a tool changes nothing: a provider's own search that failed failed, and one without a result is unfinished."""
    assert called_tool("a").score(t.run(t.call("a", kind=kind))).passed
    assert no_tool_errors().score(t.run(t.call("a", kind=kind))).passed
    assert no_tool_errors().score(t.run(ToolCall("a", kind=kind, result=UNSET))).passed
    assert no_tool_errors().score(t.run(t.call("a", kind=kind, error="boom"))).failed
    assert no_tool_errors().score(t.run(t.call("a", kind=kind, unfinished=True))).failed


@pytest.mark.parametrize("kind", ["output", "handoff"])
@pytest.mark.parametrize("state", ["completed", "failed", "requested", "awaiting"])
def test_pseudo_tools_are_no_calls(kind: CallKind, state: CallState) -> None:
    run = t.run(ToolCall("final_result", kind=kind, state=state, result=UNSET))
    assert used_no_tools().score(run).passed
    assert no_tool_errors().score(run).reason == "no tool was called, so none failed"
    assert called_tool("final_result").score(run).failed


@pytest.mark.parametrize(
    ("text_errors", "result", "outcome"),
    [
        (True, "Error: x", "failed"),
        (False, "Error: x", "passed"),
        (False, {"error": "x"}, "failed"),
        ("(?i)fehler", "Fehler: kaputt", "failed"),
        ("(?i)fehler", "Error: x", "passed"),
        (re.compile("fehler", re.I), "Fehler", "failed"),
        ("caf\u00e9", "kein cafe\u0301", "failed"),
        ("x", ["x"], "passed"),
        (r"^(a|a)*$", "a" * 40 + "!", "error"),
    ],
)
def test_which_texts_are_errors_can_be_said(text_errors: bool | str, result: object, outcome: str) -> None:
    assert no_tool_errors(text_errors=text_errors).score(t.run(t.call("a", result=result))).outcome == outcome


# nested runs --------------------------------------------------------------------------------------------------------


def team() -> Run:
    """root calls search, then billing, which calls refund (which fails), then answer."""
    billing = t.run(t.call("refund", error="no such order"), agent="billing")
    return t.run(
        t.call("search"), t.call("ask_billing", run=billing, kind="agent"), t.call("answer"), "Done.", agent="front desk"
    )


@pytest.mark.parametrize(
    ("check", "outcome"),
    [
        (called_tool("refund"), "passed"),
        (called_tool("refund", agent="root"), "failed"),
        (called_tool("refund", agent="billing"), "passed"),
        (called_tool("search", agent="billing"), "failed"),
        (called_tool("search", agent="front desk"), "passed"),
        (did_not_call("refund"), "failed"),
        (did_not_call("refund", agent="root"), "passed"),
        (tool_order(["search", "refund", "answer"]), "passed"),
        (tool_order(["search", "answer"], agent="root"), "passed"),
        (tool_order(["search", "refund"], agent="root"), "failed"),
        (max_tool_calls(3), "failed"),
        (max_tool_calls(3, agent="root"), "passed"),
        (max_tool_calls(1, agent="billing"), "passed"),
        (used_no_tools(agent="billing"), "failed"),
        (no_tool_errors(), "failed"),
        (no_tool_errors(agent="root"), "passed"),
        (no_tool_errors(agent="billing"), "failed"),
    ],
)
def test_calls_of_other_agents_count_unless_narrowed(check: Scorer, outcome: str) -> None:
    assert check.score(team()).outcome == outcome


def test_an_agent_that_nobody_is_called_is_named() -> None:
    """A check of a misspelt agent would pass for ever, because nobody of that name ever does anything wrong."""
    for check in (no_tool_errors(agent="biling"), used_no_tools(agent="biling"), did_not_call("refund", agent="biling")):
        score = check.score(team())
        assert score.outcome == "not_applicable"
        assert score.reason == "no agent here is called 'biling'; there are billing, front desk"
    score = called_tool("refund", agent="biling").score(team())
    assert score.outcome == "failed"
    assert "no agent here is called 'biling'" in score.reason


# what the record cannot show ----------------------------------------------------------------------------------------


def gapped(*kinds: GapKind, content: tuple[object, ...] = (), inner: bool = False) -> Run:
    gaps = tuple(Gap(kind, f"{kind} are not shown") for kind in kinds)
    if inner:
        return t.run(t.call("other", run=t.run(agent="inner", gaps=gaps)), *content)  # type: ignore[arg-type]
    return t.run(*content, gaps=gaps)  # type: ignore[arg-type]


POSITIVE = [called_tool("a"), tool_order(["a"])]
NEGATIVE = [did_not_call("a"), max_tool_calls(9), used_no_tools(), no_tool_errors()]


@pytest.mark.parametrize("check", [*POSITIVE, *NEGATIVE])
@pytest.mark.parametrize("kind", ["calls", "nested"])
def test_calls_that_nobody_sees_are_no_evidence(check: Scorer, kind: GapKind) -> None:
    score = check.score(gapped(kind))
    assert score.outcome == "no_evidence"
    assert score.reason == f"{kind} are not shown"
    assert score.failure_key == f"{check!r} | no_evidence"


@pytest.mark.parametrize("kind", ["calls", "nested", "results", "nested_possible", "text", "usage"])
def test_what_is_seen_is_judged_whatever_else_is_missing(kind: GapKind) -> None:
    run = gapped(kind, content=(t.call("a"), t.call("a", error="boom")))
    assert called_tool("a", times=2).score(run).passed
    assert did_not_call("a").score(run).failed
    assert max_tool_calls(1).score(run).failed
    assert no_tool_errors().score(run).failed


@pytest.mark.parametrize("check", NEGATIVE)
def test_calls_that_might_be_hidden_are_a_note(check: Scorer) -> None:
    """A source that shows no inner calls, and no call that is known to have some: the check passes and says so."""
    score = check.score(gapped("nested_possible"))
    assert score.passed
    assert score.reason.endswith("(nested_possible are not shown)")


@pytest.mark.parametrize("check", [*POSITIVE, *NEGATIVE])
@pytest.mark.parametrize("inner", [False, True])
def test_gaps_of_other_agents_do_not_touch_the_root(check: Scorer, inner: bool) -> None:
    narrowed = {
        "check-called-tool": called_tool("a", agent="root"),
        "check-tool-order": tool_order(["a"], agent="root"),
        "check-did-not-call": did_not_call("a", agent="root"),
        "check-max-tool-calls": max_tool_calls(9, agent="root"),
        "check-used-no-tools": max_tool_calls(9, agent="root"),
        "check-no-tool-errors": no_tool_errors(agent="root"),
    }[check.id]
    run = gapped("calls", "nested", "results", inner=True) if inner else gapped("nested")
    assert narrowed.score(run).outcome in ("passed", "failed")
    assert check.score(run).outcome == ("failed" if check.id == "check-used-no-tools" and inner else "no_evidence")


def test_results_that_are_not_recorded_are_no_failures() -> None:
    run = gapped("results", content=(t.call("a", unfinished=True),))
    score = no_tool_errors().score(run)
    assert (score.outcome, score.reason) == ("no_evidence", "results are not shown")
    assert no_tool_errors().score(gapped("results", content=(t.call("a", error="boom"),))).failed
    assert no_tool_errors().score(gapped("results", content=(t.call("a"),))).passed


def orphaned(name: str | None, *, error: bool = False) -> Run:
    result = ToolResult("what it said", "c9", name, ToolError("boom") if error else None)
    return t.run(t.call("b"), t.assistant(result), gaps=(Gap("orphan_result", "a result without a call"),))


@pytest.mark.parametrize(
    ("check", "name", "outcome"),
    [
        (did_not_call("a"), "a", "no_evidence"),
        (did_not_call("a"), None, "no_evidence"),
        (did_not_call("a"), "c", "passed"),
        (max_tool_calls(1), "a", "no_evidence"),
        (max_tool_calls(2), "a", "passed"),
        (called_tool("a"), "a", "no_evidence"),
        (~called_tool("a"), "a", "no_evidence"),
        (tool_order(["b", "a"]), "a", "no_evidence"),
        (called_tool("z"), "a", "failed"),
        (no_tool_errors(), "a", "passed"),
    ],
)
def test_a_result_without_its_call_leaves_open_whether_there_was_one(check: Scorer, name: str | None, outcome: str) -> None:
    assert check.score(orphaned(name)).outcome == outcome


def test_a_failed_result_without_its_call_is_no_evidence() -> None:
    score = no_tool_errors().score(orphaned("a", error=True))
    assert (score.outcome, score.reason) == (
        "no_evidence",
        'a call that is not recorded failed: the record holds a result of a "what it said" whose call is not recorded',
    )


@pytest.mark.parametrize(
    "result", ["Error: gone", {"error": "gone"}, '{"isError": true}', [{"type": "text", "text": "Error: gone"}]]
)
def test_a_result_without_its_call_that_reads_like_a_failure_is_no_evidence(result: object) -> None:
    gap = Gap("orphan_result", "a result whose call is not recorded")
    run = t.run(Message("tool", (ToolResult(result),)), "Done.", gaps=(gap,))
    assert no_tool_errors().score(run).outcome == "no_evidence"


def test_orphans_of_nested_runs_count_too() -> None:
    run = t.run(t.call("ask", run=orphaned("a")))
    assert did_not_call("a").score(run).outcome == "no_evidence"
    assert did_not_call("a", agent="root").score(run).passed


# reasons ------------------------------------------------------------------------------------------------------------

RUN = t.run(
    t.user("let me think"),
    t.call("get_weather", city="Oslo"),
    t.call("lookup", order="A-10", error="order not found"),
    "Done.",
)
REASONS: list[tuple[Scorer, Run, str, str]] = [
    (called_tool("get_weather"), RUN, "passed", "get_weather was called once, as call 1 of 2"),
    (called_tool("a"), calls("abab"), "passed", "a was called twice, as calls 1, 3 of 4"),
    (
        called_tool("get_weather", times=2),
        RUN,
        "failed",
        "get_weather was called once, as call 1 of 2, at least 2 calls are wanted; calls: get_weather → lookup",
    ),
    (
        called_tool("get_wether"),
        RUN,
        "failed",
        "get_wether was not called; calls: get_weather → lookup; near: 'get_weather'",
    ),
    (called_tool("x", times=2), calls(""), "failed", "x was not called, at least 2 calls are wanted; no tool was called"),
    (
        called_tool("a"),
        orphaned("a"),
        "no_evidence",
        'a may have been called: the record holds a result of a "what it said" whose call is not recorded',
    ),
    (
        did_not_call("lookup"),
        RUN,
        "failed",
        'lookup was called once, as call 2 of 2: lookup(order="A-10"), after the user wrote "let me think"',
    ),
    (did_not_call("x"), RUN, "passed", "x was not called; calls: get_weather → lookup"),
    (did_not_call("x"), calls(""), "passed", "x was not called; no tool was called"),
    (
        did_not_call("a"),
        orphaned("a"),
        "no_evidence",
        'a may have been called: the record holds a result of a "what it said" whose call is not recorded',
    ),
    (tool_order(["a", "c"]), calls("abc"), "passed", "called in this order: a (call 1) → c (call 3)"),
    (
        tool_order(["a", "b", "c"]),
        calls("cab"),
        "failed",
        "got as far as 'b' (call 3), 2 of 3; 'c' never came after it; it was called before that, as call 1; calls: c → a → b",
    ),
    (
        tool_order(["get_weather", "summarize"]),
        t.run(t.call("get_weather"), t.call("search"), t.call("search")),
        "failed",
        "got as far as 'get_weather' (call 1), 1 of 2; 'summarize' never came after it; calls: get_weather → search → search",
    ),
    (
        tool_order(["get_wether", "lookup"]),
        RUN,
        "failed",
        "'get_wether', the first of 2, was never called (of the others, lookup was, as call 2); "
        "calls: get_weather → lookup; near: 'get_weather'",
    ),
    (tool_order(["a"]), calls(""), "failed", "'a' was never called; no tool was called"),
    (max_tool_calls(2), RUN, "passed", "2 calls, at most 2 allowed; calls: get_weather → lookup"),
    (
        max_tool_calls(1),
        RUN,
        "failed",
        '2 calls, at most 1 allowed; call 2 is lookup(order="A-10"); calls: get_weather → lookup',
    ),
    (max_tool_calls(0), calls(""), "passed", "no tool was called"),
    (
        max_tool_calls(1),
        orphaned("a"),
        "no_evidence",
        'there may be more than 1 call: the record holds a result of a "what it said" whose call is not recorded',
    ),
    (used_no_tools(), calls(""), "passed", "no tool was called"),
    (used_no_tools(), calls("a"), "failed", "1 call, none allowed; call 1 is a(); calls: a"),
    (no_tool_errors(), calls("ab"), "passed", "none of 2 calls failed: a → b"),
    (no_tool_errors(), calls("a"), "passed", "none of 1 call failed: a"),
    (no_tool_errors(), calls(""), "passed", "no tool was called, so none failed"),
    (no_tool_errors(), RUN, "failed", 'call 2 of 2, lookup(order="A-10"), failed: "order not found"'),
    (
        no_tool_errors(),
        t.run(t.call("a", result="ValueError: bad"), t.call("b", unfinished=True), t.call("c")),
        "failed",
        '2 calls failed: call 1 of 3, a(), failed: "ValueError: bad" (judged by its text); call 2 of 3, b(), has no result',
    ),
    (no_tool_errors(), team(), "failed", 'call 3 of 4, refund() by billing, failed: "no such order"'),
    (
        no_tool_errors(),
        t.run(ToolCall("a", state="failed", result=UNSET)),
        "failed",
        "call 1 of 1, a(), failed without a message",
    ),
    (no_tool_errors(), t.run(t.call("pay", awaiting=True)), "not_applicable", "pay waits for a person's approval"),
    (called_tool("a", agent="root"), calls("b"), "failed", "a was not called by the root agent; calls: b"),
]


@pytest.mark.parametrize(("check", "run", "outcome", "reason"), REASONS)
def test_the_reason_is_the_product(check: Scorer, run: Run, outcome: str, reason: str) -> None:
    score = check.score(run)
    assert score.outcome == outcome
    assert score.reason == reason


@pytest.mark.parametrize(
    ("check", "numbers"),
    [
        (called_tool("a"), [1, 4]),
        (called_tool("a", times=3), [1, 4]),
        (did_not_call("b"), [2]),
        (tool_order(["a", "c"]), [1, 3]),
        (tool_order(["a", "c", "b"]), [1, 3]),
        (max_tool_calls(2), [3, 4]),
        (max_tool_calls(4), [1, 2, 3, 4]),
        (used_no_tools(), [1, 2, 3, 4]),
        (no_tool_errors(), [1, 2, 3, 4]),
        (did_not_call("x"), []),
    ],
)
def test_the_evidence_points_at_the_calls(check: Scorer, numbers: list[int]) -> None:
    evidence = check.score(calls("abca")).evidence
    assert [place.call for place in evidence] == numbers  # type: ignore[union-attr]
    assert all(place.message == 1 for place in evidence)


def test_the_evidence_of_a_nested_call_leads_into_its_run() -> None:
    (place,) = no_tool_errors().score(team()).evidence
    assert msgspec.to_builtins(place) == {"type": "call", "call": 3, "name": "refund", "message": 0, "part": 0, "run": (1,)}


@pytest.mark.parametrize(
    ("check", "run", "kind"),
    [
        (called_tool("a"), calls("b"), "not called | a"),
        (called_tool("a", times=2), calls("a"), "called too seldom | a"),
        (did_not_call("a"), calls("a"), "called | a"),
        (tool_order(["a", "b"]), calls("a"), "order broken | b"),
        (max_tool_calls(0), calls("a"), "too many calls"),
        (no_tool_errors(), RUN, "failed | lookup"),
        (no_tool_errors(), t.run(t.call("a", result="KeyError: secret words")), "failed | a | KeyError"),
        (no_tool_errors(), t.run(t.call("a", error="secret words")), "failed | a"),
        (no_tool_errors(), t.run(t.call("a", result={"error": {"type": "secret words", "message": "m"}})), "failed | a"),
        (no_tool_errors(), t.run(t.call("a", unfinished=True)), "no result | a"),
    ],
)
def test_the_failure_key_holds_the_tool_and_the_class_of_the_error_only(check: Scorer, run: Run, kind: str) -> None:
    assert check.score(run).failure_key == f"{check!r} | failed | {kind}"


@pytest.mark.parametrize("name", ["a\nb", "\x1b[2J", "half \ud83d", "x" * 5000, ""])
def test_a_hostile_name_stays_inside_the_sentence(name: str) -> None:
    run = t.run(t.call(name, error="boom"), t.call(name))
    for check in (called_tool("a"), did_not_call("a"), tool_order(["a"]), max_tool_calls(1), used_no_tools(), no_tool_errors()):
        score = check.score(run)
        assert len(score.reason.splitlines()) == 1
        assert len(score.reason) <= 500
        score.reason.encode()
        assert len(score.failure_key) < 300


def test_a_thousand_calls_make_a_short_reason() -> None:
    run = t.run(*(t.call(f"tool_{number}", error="boom", text="x" * 500) for number in range(2000)))
    for check in (
        called_tool("tool"),
        did_not_call("tool_7"),
        tool_order(["tool_7", "tool_3"]),
        max_tool_calls(5),
        no_tool_errors(),
    ):
        score = check.score(run)
        assert len(score.reason) <= 500
        assert len(score.evidence) <= 20
    assert no_tool_errors().score(run).reason.startswith("2000 calls failed: call 1 of 2000, tool_0(")


# arguments ----------------------------------------------------------------------------------------------------------

#: The checks without their types, to be called as no type checker would let them.
wrong: Any = checks


def get_weather(city: str) -> str:
    return city


@pytest.mark.parametrize(
    ("build", "error", "message"),
    [
        (
            lambda: wrong.called_tool(get_weather),
            TypeError,
            "called_tool() takes the name of the tool, not the function itself: write called_tool('get_weather')",
        ),
        (
            lambda: wrong.did_not_call(get_weather),
            TypeError,
            "did_not_call() takes the name of the tool, not the function itself: write did_not_call('get_weather')",
        ),
        (
            lambda: wrong.tool_order([get_weather]),
            TypeError,
            "tool_order() takes the name of the tool, not the function itself: write tool_order('get_weather')",
        ),
        (
            lambda: wrong.called_tool(""),
            ValueError,
            "called_tool('') could never decide anything: give it a text that is not empty, as in called_tool('get_weather')",
        ),
        (
            lambda: wrong.called_tool(None),
            TypeError,
            "called_tool() takes its name as text, not null: write called_tool('get_weather')",
        ),
        (
            lambda: wrong.called_tool("a", times=0),
            ValueError,
            "called_tool() with times=0 could never fail: times must be at least 1",
        ),
        (
            lambda: wrong.called_tool("a", times=-1),
            ValueError,
            "called_tool() with times=-1 could never fail: times must be at least 1",
        ),
        (lambda: wrong.called_tool("a", times=1.0), TypeError, "called_tool() takes times as a whole number, not 1.0"),
        (lambda: wrong.called_tool("a", times=True), TypeError, "called_tool() takes times as a whole number, not true"),
        (lambda: wrong.called_tool("a", times=None), TypeError, "called_tool() takes times as a whole number, not null"),
        (lambda: wrong.tool_order([]), ValueError, "tool_order([]) could never fail: give it at least one name"),
        (
            lambda: wrong.tool_order("a"),
            TypeError,
            "tool_order() takes a list of names, not one text: write tool_order(['a', ...])",
        ),
        (
            lambda: wrong.tool_order(None),
            TypeError,
            "tool_order() takes a list of names, not null: write tool_order(['search', 'answer'])",
        ),
        (
            lambda: wrong.tool_order(["a", ""]),
            ValueError,
            "tool_order() got an empty name in its list; every name must be the name of a tool",
        ),
        (lambda: wrong.tool_order(["a", 5]), TypeError, "tool_order() takes its name as text, not 5: write tool_order('5')"),
        (lambda: wrong.max_tool_calls(-1), ValueError, "max_tool_calls() with n=-1 could never pass: n must be at least 0"),
        (lambda: wrong.max_tool_calls(None), TypeError, "max_tool_calls() takes n as a whole number, not null"),
        (lambda: wrong.max_tool_calls("3"), TypeError, 'max_tool_calls() takes n as a whole number, not "3"'),
        (
            lambda: wrong.no_tool_errors(text_errors="("),
            ValueError,
            "no_tool_errors('(') is no valid regular expression: missing ), unterminated subpattern at character 0",
        ),
        (
            lambda: wrong.no_tool_errors(text_errors=""),
            ValueError,
            "no_tool_errors(text_errors='') takes every text for an error and could never pass",
        ),
        (
            lambda: wrong.no_tool_errors(text_errors=None),
            TypeError,
            "no_tool_errors() takes text_errors as True, False or a regular expression, not null",
        ),
        (
            lambda: wrong.no_tool_errors(agent=""),
            ValueError,
            "no_tool_errors(agent='') names no agent: give the name of one, or 'root'",
        ),
        (
            lambda: wrong.called_tool("a", agent=5),
            TypeError,
            "called_tool() takes agent as the name of an agent, or 'root', not 5",
        ),
        (lambda: wrong.used_no_tools(name=5), TypeError, "used_no_tools() takes name as a text that is not empty, not 5"),
    ],
)
def test_each_likely_mistake_has_its_own_message(build: Callable[[], object], error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        build()
    assert isinstance(caught.value, CheckArgumentError)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("check", "text"),
    [
        (called_tool("a"), "called_tool('a')"),
        (called_tool("a", times=2, agent="root"), "called_tool('a', agent='root', times=2)"),
        (did_not_call("a", name="n", why="w"), "did_not_call('a', name='n', why='w')"),
        (tool_order(("a", "b")), "tool_order(['a', 'b'])"),
        (max_tool_calls(3), "max_tool_calls(3)"),
        (used_no_tools(), "used_no_tools()"),
        (used_no_tools(agent="billing"), "used_no_tools(agent='billing')"),
        (no_tool_errors(), "no_tool_errors()"),
        (no_tool_errors(text_errors=False), "no_tool_errors(text_errors=False)"),
        (no_tool_errors(text_errors=re.compile("x", re.I)), "no_tool_errors(text_errors='(?i)x')"),
    ],
)
def test_the_repr_makes_the_check_again(check: Scorer, text: str) -> None:
    from quickchecks._scorer.expression import parse

    assert repr(check) == text
    again = parse(text, checks.vocabulary())
    assert repr(again) == text
    assert again.version == check.version
    assert eval(text, dict(checks.vocabulary())).version == check.version


def test_ids_are_those_of_the_reference() -> None:
    made = (called_tool("a"), did_not_call("a"), tool_order(["a"]), max_tool_calls(1), used_no_tools(), no_tool_errors())
    assert [check.id for check in made] == [
        "check-called-tool",
        "check-did-not-call",
        "check-tool-order",
        "check-max-tool-calls",
        "check-used-no-tools",
        "check-no-tool-errors",
    ]


def test_a_tool_of_a_server_is_known_by_its_name_and_by_its_full_name() -> None:
    call = msgspec.structs.replace(t.call("book_hotel"), metadata={"server": "travel", "qualified": "mcp__travel__book_hotel"})
    run = t.run(call, t.call("search"), "Done.")
    for name in ("book_hotel", "mcp__travel__book_hotel"):
        assert checks.called_tool(name).score(run).passed
        assert checks.did_not_call(name).score(run).failed
        assert f"{name} was called" in checks.did_not_call(name).score(run).reason
        assert checks.tool_order([name, "search"]).score(run).passed
        assert checks.tool_order(["search", name]).score(run).failed
    assert checks.did_not_call("mcp__other__book_hotel").score(run).passed
