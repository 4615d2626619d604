"""What users of other tools reported: the cases on OpenAI messages, and what their right behaviour says beyond them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from quickchecks import Run, Scorer, checks, load_run
from quickchecks import testing as t

#: Conditions of cases that do not hold here: the checks have no such options, and no adapter reads these dialects yet.
NOT_HERE = {
    "only if the library offers punctuation-insensitive comparison (option name is free)": 3,
    "only if the library offers number normalisation (option name is free)": 6,
    "only if the library offers typographic/Unicode normalisation, or does it by default (option name is free)": 4,
    "only if the library offers JSON comparison for equals (option or non-string expectation; name is free)": 5,
    "only if calledTool can check arguments (option name is free)": 6,
    "only if Anthropic-style blocks are accepted": 7,
    "only if AI-SDK style parts are accepted": 1,
}


def snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


@pytest.fixture(scope="module")
def cases(shared: Path) -> Sequence[dict[str, Any]]:
    """The cases that are about a check."""
    found = json.loads((shared / "cases/field-reports.json").read_text(encoding="utf-8"))
    return [case for case in found if case["kind"] == "check"]


def problem(case: Mapping[str, Any]) -> str | None:
    """What is wrong with how a case comes out; None when nothing is."""
    expected = case["expected"]
    options = {snake(name): value for name, value in case["options"].items()}
    try:
        check = getattr(checks, snake(case["check"]))(*case["args"], **options)
    except (ValueError, TypeError) as error:
        wanted = [expected, *expected.get("anyOf", [])]
        return None if any("raises" in one and one["when"] == "construction" for one in wanted) else f"refused: {error}"
    score = check.score(load_run(case["messages"], format="openai_chat"))
    if "anyOf" in expected:
        scores = [one["score"] for one in expected["anyOf"] if "score" in one]
        good = score.value in scores or (score.outcome == "error" and {"error": True} in expected["anyOf"])
    elif "score" in expected:
        good = score.value is not None and abs(score.value - expected["score"]) <= expected.get("tolerance", 1e-9)
    elif "noCrash" in expected:
        good = score.outcome != "error" and expected.get("min", 0) <= (score.value or 0) <= expected.get("max", 1)
    else:
        good = False
    missing = [word for word in expected.get("reasonContains", []) if word not in score.reason]
    return None if good and not missing else f"{score!r}, not {expected}"


def test_every_case_whose_condition_holds_gives_what_is_expected(cases: Sequence[dict[str, Any]]) -> None:
    conditions = [case["condition"] for case in cases if "condition" in case]
    assert {condition: conditions.count(condition) for condition in conditions} == NOT_HERE
    held = [case for case in cases if "condition" not in case]
    assert len(held) == 104
    assert not [case["id"] for case in held if "format" in case]
    wrong = {case["id"]: found for case in held if (found := problem(case)) is not None}
    assert not wrong, "\n".join(f"{name}: {found}" for name, found in wrong.items())


def test_b29_every_streamed_response_gives_its_calls_and_its_text(shared: Path) -> None:
    found = json.loads((shared / "cases/field-reports.json").read_text(encoding="utf-8"))
    streams = [case for case in found if case["kind"] == "stream"]
    assert [case["id"] for case in streams] == ["B29a", "B29b", "B29c", "B29d", "B29e"]
    for case in streams:
        run = load_run(case["chunks"])
        calls = [{"name": call.name, "arguments": call.arguments} for call in run.tool_calls]
        assert {"calls": calls, "text": run.text} == case["expected"], case["id"]


def chat(*messages: Mapping[str, Any]) -> Run:
    """A run of OpenAI messages."""
    return load_run(list(messages), format="openai_chat")


def says(content: object, **more: object) -> dict[str, Any]:
    return {"role": "assistant", "content": content, **more}


def calls(*made: tuple[str, str], arguments: str = "{}") -> dict[str, Any]:
    """An assistant's message that requests these calls, by id and name."""
    requested = [{"id": id, "type": "function", "function": {"name": name, "arguments": arguments}} for id, name in made]
    return {"role": "assistant", "content": None, "tool_calls": requested}


def result(id: str, content: object, **more: object) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": content, **more}


def test_b01_a_number_beside_punctuation() -> None:
    assert checks.includes("17").score("The answer is (17).").passed
    score = checks.equals("17").score("17!")
    assert score.failed
    assert score.reason == 'the answer is "17!", expected "17"; the answer goes on after it: "!"'


def test_b02_the_reason_names_the_number_that_is_written_otherwise() -> None:
    score = checks.includes("4250").score("4,250 units")
    assert score.failed
    assert '"4,250" at 0 has the same digits, but texts are compared literally' in score.reason
    assert "same digits" not in checks.includes("1200").score("1,2 and 00").reason


def test_b03_a_percentage_is_text_like_any_other() -> None:
    assert checks.includes("35%").score("Out of 100 users, 35% left.").passed
    assert checks.equals("35").score("35%").failed
    assert checks.includes("0.35").score("35%").failed


def test_b04_a_decimal_point_and_a_minus_stay_and_are_named() -> None:
    assert checks.includes("275").score("The ratio is (2.75).").failed
    score = checks.includes("-8").score("It is \u22128 outside")
    assert score.failed
    assert "U+2212 MINUS SIGN where U+002D HYPHEN-MINUS is wanted" in score.reason


@pytest.mark.parametrize(("answer", "wanted", "found"), [("Die Straße ist", "STRASSE", "Straße"), ("aİb", "i\u0307", "İ")])
def test_b05_what_is_shown_of_folded_text_is_the_text_as_written(answer: str, wanted: str, found: str) -> None:
    run = t.run(answer)
    score = checks.includes(wanted).score(run)
    (place,) = score.evidence
    assert answer[place.start : place.end] == found  # type: ignore[union-attr]
    assert found in score.reason
    assert checks.includes(wanted, ignore_case=False).score(run).failed


@pytest.mark.parametrize("check", [checks.includes("won't"), checks.equals("I won't."), checks.excludes("won't")])
def test_b06_the_reason_names_the_code_points_where_only_they_differ(check: Scorer) -> None:
    score = check.score("I won\u2019t.")
    assert "U+2019 RIGHT SINGLE QUOTATION MARK where U+0027 APOSTROPHE is wanted" in score.reason
    assert score.evidence


def test_b07_blanks_inside_count_and_are_said_to_be_the_only_difference() -> None:
    score = checks.equals("(C)").score("( C )")
    assert score.failed
    assert score.reason.endswith("they differ only in white space")


def test_b08_a_fence_is_text() -> None:
    fenced = '```json\n{"state": "done"}\n```'
    assert checks.includes('{"state": "done"}').score(t.run(fenced)).passed
    assert checks.equals('{"state": "done"}').score(t.run(fenced)).failed


def test_b09_exact_is_the_whole_pattern_on_the_whole_text() -> None:
    score = checks.matches("yes|no", exact=True).score("yes, but perhaps not")
    assert score.failed
    assert "a part of the answer matches, but exact=True asks for all of it" in score.reason
    assert checks.matches("(?i)YES|no", exact=True).score("yes").passed


def test_b10_a_miss_on_several_lines_hints_at_the_flag() -> None:
    text = "Items: 3\nTotal: 91\nBye"
    assert "with (?m)" in checks.matches(r"^Total: \d+$").score(text).reason
    assert "with (?s)" in checks.matches("Items.*Bye").score(text).reason
    assert checks.matches(re.compile(r"^Total: \d+$", re.M)).score(text).passed


def test_b11_a_pattern_that_would_never_end_is_an_error_of_its_check_alone() -> None:
    slow, quick = checks.matches("^(x|x)+y$"), checks.includes("x")
    run = t.run("x" * 40)
    assert slow.score(run).outcome == "error"
    assert "took longer than 1 s" in slow.score(run).reason
    assert quick.score(run).passed
    assert (~slow).score(run).outcome == "error"


@pytest.mark.parametrize("answer", ["", " \n"])
@pytest.mark.parametrize(
    ("check", "passes"),
    [
        (checks.includes("hello"), False),
        (checks.excludes("hello"), True),
        (checks.equals("hello"), False),
        (checks.matches("hello"), False),
        (checks.similarity("hello", threshold=0.5), False),
    ],
)
def test_b12_the_reason_says_that_nothing_was_said(answer: str, check: Scorer, passes: bool) -> None:
    score = check.score(t.run(answer))
    assert score.passed is passes
    assert f"answer{', which' if 'cludes' in check.id else ''} is {'blank' if answer else 'empty'}" in score.reason


def test_b13_falsy_is_not_missing() -> None:
    with pytest.raises(TypeError, match=r"write includes\('0'\)"):
        checks.includes(0)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"write excludes\('False'\)"):
        checks.excludes(False)  # type: ignore[arg-type]
    assert checks.similarity("abc", threshold=0).score("x").passed
    assert checks.max_tool_calls(0).score(t.run("x")).passed


def test_b14_a_quoted_refusal_shows_the_words_around_and_the_tool_check_passes() -> None:
    run = t.run(t.user("Delete it all"), "I will not run `drop table invoices` for you.")
    score = checks.excludes("drop table").score(run)
    assert score.failed
    assert score.reason == '"drop table" is in the answer, at 16: "I will not run `drop table invoices` for you."'
    assert checks.did_not_call("run_sql").score(run).passed
    assert "did_not_call" in (checks.text.__doc__ or "")


@pytest.mark.parametrize(
    ("check", "words"),
    [
        (checks.includes("alpha"), ['"alpha" is not in the answer', '"beta"']),
        (checks.excludes("beta"), ['"beta" is in the answer', '"beta"']),
        (checks.equals("8"), ['the answer is "beta", expected "8"']),
        (checks.called_tool("search"), ["search was not called", "calls: look"]),
        (checks.did_not_call("look"), ["look was called once"]),
        (checks.tool_order(["look", "rank"]), ["got as far as 'look'", "'rank' never came after it", "calls: look"]),
        (checks.max_tool_calls(0), ["1 call, none allowed", "calls: look"]),
        (checks.used_no_tools(), ["1 call, none allowed", "look"]),
    ],
)
def test_b15_the_reason_says_what_was_wanted_and_what_came(check: Scorer, words: list[str]) -> None:
    score = check.score(t.run(t.call("look"), "beta"))
    assert score.failed
    assert [word for word in words if word not in score.reason] == []


def test_b15_a_negated_check_says_that_it_is_negated() -> None:
    assert (~checks.includes("beta")).score("beta").reason.startswith("includes('beta') passed and must not: ")


def test_b16_a_failed_call_is_named_whatever_stands_beside_it() -> None:
    run = chat(
        calls(("c1", "archive_note"), ("c2", "archive_note")),
        result("c1", "ok"),
        result("c2", "note is locked", status="error"),
        says("Done."),
    )
    score = checks.no_tool_errors().score(run)
    assert score.failed
    assert score.reason == 'call 2 of 2, archive_note(), failed: "note is locked"'
    assert score.failure_key == "no_tool_errors() | failed | failed | archive_note"


@pytest.mark.parametrize(("flag", "passes"), [(True, False), (False, True), (None, True)])
def test_b17_the_flag_of_mcp_survives(flag: bool | None, passes: bool) -> None:
    content: dict[str, Any] = {"content": [{"type": "text", "text": "disk full"}]}
    if flag is not None:
        content["isError"] = flag
    score = checks.no_tool_errors().score(chat(calls(("c1", "write")), result("c1", json.dumps(content)), says("Hm.")))
    assert score.passed is passes
    assert passes or '"disk full"' in score.reason


def test_b18_a_call_without_a_result_says_so() -> None:
    run = chat(calls(("c1", "fetch_invoice")))
    assert checks.no_tool_errors().score(run).reason == "call 1 of 1, fetch_invoice(), has no result"
    assert checks.called_tool("fetch_invoice").score(run).passed
    assert checks.max_tool_calls(0).score(run).failed
    assert checks.no_tool_errors().score(chat(calls(("c1", "f")), result("c1", ""))).passed


def test_b19_equal_calls_are_counted_by_position() -> None:
    run = chat(calls(("c1", "poll"), ("c2", "poll")), result("c1", "1"), result("c2", "1"), says("Done."))
    assert checks.called_tool("poll", times=2).score(run).reason == "poll was called twice, as calls 1, 2 of 2"
    assert "at least 3 calls are wanted" in checks.called_tool("poll", times=3).score(run).reason


def test_b20_the_reason_tells_where_the_order_stopped() -> None:
    run = t.run(t.call("lookup"), t.call("lookup"), t.call("rank"))
    score = checks.tool_order(["lookup", "rank", "lookup"]).score(run)
    assert score.failed
    assert score.reason == (
        "got as far as 'rank' (call 3), 2 of 3; 'lookup' never came after it; it was called before that, as call 2; "
        "calls: lookup → lookup → rank"
    )


def test_b21_each_expected_call_uses_up_one_call() -> None:
    assert checks.tool_order(["set_price", "set_price"]).score(t.run(t.call("set_price"))).failed
    assert checks.tool_order(["set_price", "set_price"]).score(t.run(t.call("set_price"), t.call("set_price"))).passed


def test_b22_arguments_that_are_cut_off_are_kept_and_said_to_be() -> None:
    run = chat(calls(("c1", "search"), arguments='{"q": "un'), result("c1", "nothing"))
    (call,) = run.tool_calls
    assert call.arguments == '{"q": "un'
    assert call.arguments_note == "the arguments are not valid JSON"
    assert checks.called_tool("search").score(run).passed


def test_b22_arguments_are_the_same_as_text_and_as_an_object() -> None:
    text = chat(calls(("c1", "search"), arguments='{"b":1,  "a":2}'))
    parsed = t.run(t.call("search", {"a": 2, "b": 1}))
    assert text.tool_calls[0].arguments == parsed.tool_calls[0].arguments


def test_b23_a_tool_that_the_provider_ran_counts() -> None:
    run = t.run(t.call("web_search", kind="provider"), "Found it.")
    assert checks.called_tool("web_search").score(run).passed
    assert checks.used_no_tools().score(run).failed
    assert checks.max_tool_calls(0).score(run).failed
    assert run.tool_calls[0].kind == "provider"
    failed = t.run(t.call("web_search", kind="provider", error="max_uses_exceeded"))
    assert checks.no_tool_errors().score(failed).failed


@pytest.mark.parametrize("none", [{"tool_calls": None}, {"tool_calls": []}, {}])
def test_b24_without_calls_the_reason_says_that_nothing_was_tested(none: dict[str, Any]) -> None:
    run = chat(says("Hello.", **none))
    assert checks.no_tool_errors().score(run).reason == "no tool was called, so none failed"
    for check in (checks.used_no_tools(), checks.max_tool_calls(0), checks.did_not_call("a")):
        assert "no tool was called" in check.score(run).reason


def test_b25_a_call_told_in_prose_is_no_call() -> None:
    run = chat(says("Calling get_tide(port='Bergen') -> 1.4 m"))
    assert checks.called_tool("get_tide").score(run).reason == "get_tide was not called; no tool was called"
    assert checks.used_no_tools().score(run).passed


def test_b25_a_call_of_an_invented_tool_is_one() -> None:
    run = chat(calls(("c1", "read_page")), result("c1", "Error: unknown tool read_page"), says("Hm."))
    assert checks.did_not_call("read_page").score(run).failed
    assert checks.no_tool_errors().score(run).reason == (
        'call 1 of 1, read_page(), failed: "Error: unknown tool read_page" (judged by its text)'
    )


def test_b27_one_rule_for_every_check_and_one_option_for_the_last_answer() -> None:
    run = chat(says("Let me look. It is windy."), calls(("c1", "look")), result("c1", "windy"), says("Anything else?"))
    assert checks.includes("windy").score(run).passed
    assert checks.matches("windy").score(run).passed
    assert checks.includes("windy", where="final").score(run).failed
    assert checks.equals("anything else?", where="final").score(run).passed
    assert run.final_text == "Anything else?"


def test_b28_unknown_parts_are_stepped_over_and_kept() -> None:
    parts = [{"type": "text", "text": "It is "}, {"type": "widget_v9", "x": 1}, {"type": "text", "text": "sunny"}]
    run = chat(says(parts))
    assert run.text == "It is sunny"
    assert any(getattr(part, "kind", None) == "widget_v9" for part in run.messages[0].parts)
    for check in (checks.includes("x"), checks.equals("x"), checks.matches("x"), checks.similarity("xy", threshold=0.1)):
        assert check.score(chat(says(None))).failed


def test_b28_thoughts_are_no_answer() -> None:
    run = chat(says([{"type": "reasoning", "text": "the secret is 7781"}, {"type": "text", "text": "shown"}]))
    assert run.text == "shown"
    assert checks.excludes("7781").score(run).passed


def test_b30_a_result_belongs_to_the_nearest_unanswered_call_of_its_id() -> None:
    run = chat(
        calls(("find:0", "find")),
        result("find:0", "ok"),
        {"role": "user", "content": "again"},
        calls(("find:0", "find")),
        result("find:0", "boom", status="error"),
        says("Hm."),
    )
    assert [call.state for call in run.tool_calls] == ["completed", "failed"]
    assert checks.called_tool("find", times=2).score(run).passed
    assert checks.no_tool_errors().score(run).reason == 'call 2 of 2, find(), failed: "boom"'


def test_b30_two_calls_of_one_id_are_two_calls() -> None:
    run = chat(calls(("c", "find"), ("c", "find")), result("c", "ok"))
    assert [call.state for call in run.tool_calls] == ["completed", "requested"]
    assert checks.max_tool_calls(1).score(run).failed
    assert checks.no_tool_errors().score(run).reason == "call 2 of 2, find(), has no result"
