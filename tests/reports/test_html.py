"""The pages of HTML."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from io import BytesIO
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from pages import Page

from quickchecks import EvalResult, Gate, Run, Score, checks, compare_results, run_evals_sync
from quickchecks._results.evaluation import Part
from quickchecks._results.tally import Tally, entry_of
from quickchecks._run import Gap, Other, RunError, ToolResult
from quickchecks._score import Explanation
from quickchecks._scorer.checks_file import CheckEntry
from quickchecks.errors import RecordingError
from quickchecks.reports import _html_found, as_html
from quickchecks.reports._html import MAX_TEXT, TAGS, Element, document, el, link
from quickchecks.reports._html_run import MAX_MESSAGES, MAX_RUN
from quickchecks.reports._html_shared import shared_run
from quickchecks.reports._html_texts import Mark, words
from quickchecks.testing import assistant, call, reasoning, run, system, user

GOLDEN = Path(__file__).parent / "golden" / "failing.html"

#: What could become more than a text in a page, and how it is read there.
HOSTILE = {
    "script": ("<script>document.title = 'owned'</script>", None),
    "end of a script": ("</script><script>document.title = 'owned'</script>", None),
    "end of the title": ("</title><img src=x onerror=\"document.title='owned'\">", None),
    "end of the style": ("</style><script>document.title = 'owned'</script>", None),
    "image": ("<img src=x onerror=alert(1)>", None),
    "svg": ("<svg/onload=alert(1)><animate onbegin=alert(1)>", None),
    "math": ("<math><mtext><table><mglyph><style><img src onerror=alert(1)>", None),
    "frame": ("<iframe src='javascript:alert(1)'></iframe>", None),
    "object": ("<object data='http://192.0.2.1/a'></object><embed src='http://192.0.2.1/b'>", None),
    "base": ("<base href='http://192.0.2.1/'><link rel=stylesheet href=//192.0.2.1/c.css>", None),
    "form": ("<form action=//192.0.2.1><button autofocus onfocus=alert(1)>", None),
    "refresh": ("<meta http-equiv=refresh content='0;url=//192.0.2.1'>", None),
    "attribute": ("\" onmouseover=\"alert(1)\" x=\"", None),
    "single quote": ("' autofocus onfocus='alert(1)", None),
    "link": ("[x](javascript:alert(1)) <a href='javascript:alert(1)'>x</a>", None),
    "comment": ("<!-- --!> <![CDATA[ ]]> <?php ?>", None),
    "open comment": ("<!--", None),
    "entity": ("&lt;script&gt; &#60;b&#62; &amp;amp; &nbsp &copy", None),
    "half a tag": ("<a href=\"", None),
    "template": ("{{ 7*7 }} ${7*7} {% raw %} #{7*7} <%= 7*7 %>", None),
    "style": ("<style>*{display:none}</style><p style='position:fixed;inset:0'>", None),
    "textarea": ("<textarea><plaintext><noscript><xmp>", None),
    "nul": ("a\0b", "a\\u0000b"),
    "ansi": ("\x1b[31mred\x1b]8;;http://192.0.2.1\x07x", "\\u001b[31mred\\u001b]8;;http://192.0.2.1\\u0007x"),
    "bidi": ("safe\u202egnp.exe\u202c", "safe\\u202egnp.exe\\u202c"),
    "isolate": ("\u2066x\u2069", "\\u2066x\\u2069"),
    "half a pair": ("ok \ud83d", "ok \\ud83d"),
    "no character": ("\ufffe \uffff \x80 \x9f", "\\ufffe \\uffff \\u0080 \\u009f"),
    "mark of order": ("\ufeffx", "\\ufeffx"),
    "carriage return": ("one\rtwo", "one\\rtwo"),
    "separators": ("a\u2028b\u2029c", "a\\u2028b\\u2029c"),
    "workflow": ("::set-output name=x::y", None),
    "formula": ("=HYPERLINK(\"http://192.0.2.1\")", None),
    "secret": ("key sk-abcdefghijklmnopqrst end", "key *** end"),
    "family": ("👩‍👩‍👧 é 中文 עברית", None),
    "invisible tags": ("a\U000e0041b", "a\\U000e0041b"),
}  # fmt: skip

#: Everything that the pages may be made of. Who adds to it has to know that it can neither run nor load anything.
ATTRIBUTES = {"class", "data-column", "id", "aria-labelledby", "open", "tabindex", "colspan", "scope", "role", "lang"}


def evaluated(text: str) -> EvalResult:
    """An evaluation in which a text stands wherever one may."""
    child = run(user(text), call(text or "x", note=text, result={text: [text]}), text, agent=text)
    told = Run(
        (
            system(text),
            user(text),
            assistant(
                reasoning(text), call(text or "x", {text: text}, error=text), call("b", run=child), text, Other(text), agent=text
            ),
            assistant(ToolResult(text, name=text)),
        ),
        input=text,
        id=text,
        error=RunError(text, text),
        agent=text,
        gaps=(Gap("other", text),),
    )

    def target(asked: object) -> Run:
        if asked == "broken":
            raise ValueError(text)
        return told

    why = re.sub(r"\s+", " ", text.encode("utf-8", "replace").decode()).strip() or "why"
    gates = [
        checks.excludes(text or "x", name=why, why=why),
        checks.no_tool_errors(why=why),
        checks.called_tool("never", name="also"),
        Gate(checks.max_tool_calls(0), pass_rate=0.5),
    ]
    data = [
        {"id": f"1{text}", "input": text, "expected": {text: text}},
        {"id": f"2{text}", "input": "broken", "expected": text},
    ]
    result = run_evals_sync(data, target, gates=gates, name=text)
    return replace(result, warnings=(text,), environment={text: text})


def scored(runs: Sequence[Run | RecordingError], entries: Sequence[CheckEntry]) -> bytes:
    stream, tally = BytesIO(), Tally(entries)
    report = as_html.start(stream, entries)
    for one in runs:
        read, error = (one, None) if isinstance(one, Run) else (None, one)
        scores = [scorer.score(one) for scorer in tally.scorers] if isinstance(one, Run) else []
        tally.add(read, scores, error)
        report.add(read, scores, error)
    report.finish(tally.result(seconds=0.5))
    return stream.getvalue()


def page_of_evaluation(text: str) -> bytes:
    return as_html.evaluation(evaluated(text))


def page_of_runs(text: str) -> bytes:
    told = [item.run for item in evaluated(text).items if item.run is not None]
    entries = [entry_of(checks.excludes(text or "x")), entry_of(checks.no_tool_errors())]
    return scored([*told, RecordingError(text, file=text, path=text, hint=text)], entries)


def page_of_comparison(text: str) -> bytes:
    now = evaluated(text)
    before = run_evals_sync(
        [{"id": f"1{text}", "input": text, "expected": {text: text}}, {"id": f"3{text}", "input": text}],
        lambda asked: run("fine"),
        gates=[one.scorer for one in now.plan[:3]],
    )
    return as_html.comparison(compare_results(before, now))


def page_of_one_run(text: str) -> bytes:
    item = evaluated(text).items[0]
    assert item.run is not None
    return shared_run(item.run, item.scores, name=text, item=item.item, error=evaluated(text).items[1].error)


PAGES: dict[str, Callable[[str], bytes]] = {
    "evaluation": page_of_evaluation,
    "runs": page_of_runs,
    "comparison": page_of_comparison,
    "share": page_of_one_run,
}


@pytest.mark.parametrize("kind", PAGES)
@pytest.mark.parametrize("hostile", HOSTILE)
def test_whatever_a_recording_says_is_only_text(kind: str, hostile: str) -> None:
    text, shown = HOSTILE[hostile]
    page = Page(PAGES[kind](text))
    assert {tag for tag, _ in page.elements} <= TAGS | {"meta", "style"}
    assert {name for tag, name in page.attributes if tag not in ("meta", "a")} <= ATTRIBUTES
    assert {name for tag, name in page.attributes if tag == "a"} <= {"href"}
    assert page.others == []
    assert re.sub(r"\s+", " ", shown or text).strip() in page.body
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufffe\uffff]", page.source)
    assert len(page.texts["style"]) == len(page.texts["title"]) == page.source.count("<style>") == 1


@pytest.mark.parametrize("kind", PAGES)
def test_a_link_leads_only_into_the_page(kind: str) -> None:
    page = Page(PAGES[kind]("javascript:alert(1)"))
    ids = {attributes["id"] for _, attributes in page.elements if "id" in attributes}
    targets = {attributes["href"] for tag, attributes in page.elements if tag == "a"}
    assert targets <= {f"#{one}" for one in ids}
    assert len(ids) == sum("id" in attributes for _, attributes in page.elements), "each id stands once"


@pytest.mark.parametrize("kind", PAGES)
def test_a_policy_allows_nothing_but_the_style_of_the_page(kind: str) -> None:
    page = Page(PAGES[kind]("x"))
    policies = [one["content"] for tag, one in page.elements if one.get("http-equiv") == "Content-Security-Policy"]
    assert len(policies) == 1
    assert re.fullmatch(
        r"default-src 'none'; style-src 'sha256-[A-Za-z0-9+/]{43}='; base-uri 'none'; form-action 'none'", policies[0] or ""
    )
    assert "url(" not in page.source
    assert "@import" not in page.source


@pytest.mark.parametrize("kind", PAGES)
def test_headings_are_in_order_and_everything_has_a_name(kind: str) -> None:
    page = Page(PAGES[kind]("x"))
    levels = [int(tag[1]) for tag, _ in page.elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    ids = {attributes.get("id") for _, attributes in page.elements}
    assert {one["aria-labelledby"] for _, one in page.elements if "aria-labelledby" in one} <= ids
    assert ("html", {"lang": "en"}) in page.elements
    assert {"header", "main", "footer"} <= {tag for tag, _ in page.elements}


@pytest.mark.parametrize("kind", PAGES)
def test_a_text_of_ten_megabytes_is_counted_and_not_shown(kind: str) -> None:
    written = PAGES[kind]("x" * 10_000_000)
    assert len(written) < 3_000_000
    if kind != "comparison":  # it shows reasons, which are short
        assert re.search(r"… 9,9\d\d,\d\d\d more characters", Page(written).body)


def test_elements_take_no_attributes_but_ours() -> None:
    for wrong in ('a b"', "x onclick=1", '"><script>', "A", "1"):
        with pytest.raises(ValueError, match="is no name"):
            el("p", cls=wrong)
        with pytest.raises(ValueError, match="is no name"):
            el("p", id=wrong)
        with pytest.raises(ValueError, match="is no name"):
            el("td", column=wrong)
        with pytest.raises(ValueError, match="is no id"):
            link(wrong)
    with pytest.raises(ValueError, match="'script' is no element"):
        document("x", Element("script", ("alert(1)",)))  # type: ignore[arg-type]


def shown(text: str, marks: Sequence[Mark], most: int = 1_000) -> str:
    """The pieces of a text, marked ones in brackets."""
    pieces = []
    for piece in words(text, marks, most):
        if isinstance(piece, str):
            pieces.append(piece)
        else:
            inner = "".join(child if isinstance(child, str) else f"^{child.children[0]}" for child in piece.children)
            pieces.append(f"[{inner}]" if piece.tag == "mark" else inner)
    return "".join(pieces)


@pytest.mark.parametrize(
    ("marks", "expected"),
    [
        ([], "It is sunny."),
        ([Mark(6, 11)], "It is [sunny]."),
        ([Mark(0, 2), Mark(6, 11)], "[It] is [sunny]."),
        ([Mark(0, 8, ("1",)), Mark(6, 11, ("2",))], "[It is sunny^1, 2]."),
        ([Mark(6, 99), Mark(-5, 2)], "[It] is [sunny.]"),
        ([Mark(50, 60), Mark(3, 3)], "It is sunny."),
        ([Mark(0, 3), Mark(3, 5)], "[It ][is] sunny."),
    ],
)
def test_what_a_reason_speaks_of_is_marked(marks: list[Mark], expected: str) -> None:
    assert shown("It is sunny.", marks) == expected


def test_a_mark_far_back_in_a_long_text_is_shown_with_what_is_around_it() -> None:
    text = "a" * 50_000 + "HERE" + "b" * 50_000
    found = shown(text, [Mark(50_000, 50_004)])
    assert found == "a" * 500 + " … 49,300 more characters … " + "a" * 200 + "[HERE]" + "b" * 200 + " … 49,800 more characters"


def test_a_mark_that_is_itself_long_is_shown_from_both_ends() -> None:
    found = shown("x" * 100_000, [Mark(0, 100_000)])
    assert re.fullmatch(r"\[x{600}\] … 99,200 more characters … \[x{200}\]", found)


def test_a_secret_that_is_cut_by_a_mark_is_masked_on_both_sides() -> None:
    secret = "sk-abcdefghijklmnopqrstuvwxyz"
    assert shown(f"key {secret} end", [Mark(10, 20)]) == "key ***[***]*** end"


def test_a_call_that_a_reason_speaks_of_is_marked_and_its_secrets_masked() -> None:
    told = run(user("Go"), call("deploy", api_key="hunter2", to="prod", error="no"), "Done.")
    page = Page(shared_run(told, [checks.no_tool_errors().score(told)], name="x"))
    assert page.texts["mark"] == ['deploy(api_key="***", to="prod")']
    assert "hunter2" not in page.source


def test_several_reasons_are_numbered_at_their_places() -> None:
    told = run("sunny and rainy")
    scores = [checks.excludes("sunny", why="no sun").score(told), checks.excludes("rainy", why="no rain").score(told)]
    page = Page(shared_run(told, scores, name="x"))
    assert page.texts["mark"] == ["sunny1", "rainy2"]
    assert page.texts["h3"] == ["1 no sun", "2 no rain"]


def test_evidence_in_a_nested_run_is_marked_there() -> None:
    told = run(call("billing", run=run(call("refund", error="declined"), agent="billing")), "Done.")
    page = Page(shared_run(told, [checks.no_tool_errors().score(told)], name="x"))
    assert page.texts["mark"] == ["refund()"]
    assert "run of billing" in page.body


def test_evidence_that_does_not_fit_the_run_is_left_out() -> None:
    told = run("sunny")
    record = checks.excludes("sunny").score(told).record()
    other = run(user("a"), "b")
    assert "mark" not in Page(shared_run(other, [record.to_score()], name="x")).texts
    of_a_turn = checks.excludes("sunny").score(run("rainy", "sunny"))
    assert "mark" not in Page(as_html.evaluation(_with(evaluated("x"), run("sunny", "rainy"), of_a_turn))).texts


def _with(result: EvalResult, told: Run, score: Score) -> EvalResult:
    first = result.items[0]
    return replace(result, items=(replace(first, run=told, error=None, plan=first.plan[:1], scores=(score,)),))


def test_the_why_of_a_check_is_the_title_and_its_expression_stands_below() -> None:
    result = run_evals_sync(
        [{"id": "a", "input": "x", "expected": "sunny"}],
        lambda asked: run("rain"),
        gates=[checks.includes("sunny", name="says it", why="People ask whether it is sunny")],
    )
    page = Page(as_html.evaluation(result))
    assert page.texts["h1"] == ["Failed"]
    assert page.texts["h3"] == ["People ask whether it is sunny"]
    assert "says it: includes('sunny')" in page.body
    assert '"sunny" is not in the answer' in page.body
    assert "1 of 1 requirement did not hold, on 1 of 1 item." in page.body
    assert "0 of 1 items passed (0 %, 95 % interval 0–79 %)" in page.body


@pytest.mark.parametrize(
    ("gates", "scorers", "said", "lead"),
    [
        (["a"], [], "Passed", "The requirement held on 1 item."),
        (["a", "b"], [], "Failed", "1 of 2 requirements did not hold, on 1 of 1 item."),
        ([], ["b"], "Nothing asserted", "Nothing had to hold: what is below is only measured, on 1 item."),
    ],
)
def test_the_verdict_stands_first_and_in_words(gates: list[str], scorers: list[str], said: str, lead: str) -> None:
    result = run_evals_sync(
        ["x"], lambda asked: run("a"), gates=list(map(checks.includes, gates)), scorers=list(map(checks.includes, scorers))
    )
    page = Page(as_html.evaluation(result))
    assert page.texts["h1"] == [said]
    assert page.texts["title"] == [f"{said} – evaluation"]
    assert lead in page.body


def test_the_lead_says_what_the_verdict_rests_on_where_all_gates_held() -> None:
    def target(asked: str) -> Run:
        if asked == "broken":
            raise ValueError("no answer")
        return run("a")

    result = run_evals_sync(["x", "broken"], target, scorers=[{"scorer": checks.includes("a"), "threshold": 1}])
    assert "The requirement held on 2 items. There was 1 error, and none may be." in Page(as_html.evaluation(result)).body
    one = run_evals_sync(["x"], target, gates=[checks.includes("a")])
    page = Page(as_html.evaluation(replace(one, parts=(Part("test_<a>", "failed"), Part("test_b", "passed")))))
    assert page.texts["h1"] == ["Failed"]
    assert "1 of 2 tests did not pass. The requirement held on 1 item." in page.body
    assert "test_<a>failed" in page.body


def test_a_target_that_broke_is_shown_with_its_traceback() -> None:
    def target(asked: str) -> str:
        raise LookupError(f"no station <{asked}>")

    page = Page(as_html.evaluation(run_evals_sync(["Oslo"], target, gates=[checks.includes("a")])))
    assert "The target broke" in page.texts["h3"]
    assert "LookupError: no station <Oslo>" in page.body
    assert "Traceback (most recent call last)" in page.body


def test_what_is_only_measured_comes_last_and_says_so() -> None:
    result = run_evals_sync(
        ["a", "b"],
        lambda asked: run(asked),
        gates=[checks.includes("a", name="must")],
        scorers=[checks.includes("z", name="may")],
    )
    page = Page(as_html.evaluation(result))
    assert page.texts["h3"] == ["must", "may"]
    assert "on 2 items, only measured" in page.body


def test_scored_runs_are_counted_and_some_of_each_kind_shown() -> None:
    runs = [run("rain" if number % 2 else "sun", call("look", error="down")) for number in range(400)]
    page = Page(scored(runs, [entry_of(checks.includes("sun")), entry_of(checks.no_tool_errors())]))
    assert "400 of 400 runs failed what must pass on every run." in page.body
    assert re.search(r"Something went wrong on 400 runs: 400 failed\. \d+ of them are shown, some of each kind\.", page.body)
    shown = page.texts["summary"].count("What happened")
    assert _html_found.RUNS_OF_A_KIND <= shown <= 2 * _html_found.RUNS_OF_A_KIND
    assert "… 195 more runs of this kind" in page.body


def test_what_failed_and_what_lacks_evidence_are_counted_apart() -> None:
    asked = [run("sun", gaps=(Gap("calls", "a text does not show calls"),)) for _ in range(100)]
    runs: list[Run | RecordingError] = [run("rain"), *asked, RecordingError("no run", file="runs.jsonl", line=7)]
    page = Page(scored(runs, [entry_of(checks.excludes("rain")), entry_of(checks.max_tool_calls(1))]))
    assert "1 of 101 runs failed what must pass on every run. 1 record cannot be read." in page.body
    assert "Something went wrong on 101 runs: 1 failed, 100 without evidence." in page.body


def test_a_column_without_anything_in_it_is_left_out() -> None:
    titles = [("check", ""), ("passed", "number"), ("note", "wide")]
    table = Page(document("x", _html_found.table("checks", titles, [["a", "1", ""], ["b", "", ""]])))
    assert (table.texts["th"], table.texts["td"]) == (["check", "passed", "a", "b"], ["1", ""])
    assert '<td class="number" data-column="passed">1</td>' in table.source


def test_many_kinds_of_failure_take_no_more_room_than_there_is() -> None:
    runs = [run(call(f"tool_{number}", error="down"), "word " * 2_000) for number in range(300)]
    written = scored(runs, [entry_of(checks.no_tool_errors())])
    page = Page(written)
    assert page.texts["summary"].count("What happened") == _html_found.MAX_RUNS
    assert len(written) < 3 * _html_found.MAX_PAGE


def test_runs_that_broke_off_and_records_that_cannot_be_read_are_told() -> None:
    runs: list[Run | RecordingError] = [
        Run(run("a").messages, error=RunError("lost", "ConnectionError")),
        RecordingError("no run <b>", file="runs.jsonl", line=7),
    ]
    page = Page(scored(runs, [entry_of(checks.includes("a"))]))
    assert {"The run itself broke off", "A record cannot be read"} <= set(page.texts["h3"])
    assert "ConnectionError: lost" in page.body
    assert "runs.jsonl:7" in page.body
    assert "no run <b>" in page.body


def test_a_long_run_is_shown_in_part_and_the_rest_counted() -> None:
    messages = MAX_MESSAGES + 25
    told = run(*[user(str(at)) for at in range(messages)])
    page = Page(shared_run(told, name="x"))
    assert "… 25 more messages not shown" in page.body
    huge = run(*[user("x" * MAX_TEXT) for _ in range(2 * MAX_RUN // MAX_TEXT)])
    assert len(shared_run(huge, name="x")) < 2 * MAX_RUN


def test_runs_nested_without_end_are_cut() -> None:
    told = run("inside")
    for _ in range(60):
        told = run(call("again", run=told), "done")
    page = Page(shared_run(told, name="x"))
    assert "nested too deeply to be shown" in page.body


def test_a_comparison_says_what_moved_item_by_item() -> None:
    def evaluate(**answers: str) -> EvalResult:
        data = [{"id": name, "input": name} for name in answers]
        return run_evals_sync(data, lambda asked: run(answers[asked]), gates=[checks.includes("sun", name="sunny")])

    compared = compare_results(evaluate(a="sun", b="rain", c="sun"), evaluate(a="rain", b="sun", c="sun"))
    page = Page(as_html.comparison(compared))
    assert page.texts["h1"] == ["Regressed"]
    assert page.texts["h2"][:2] == ["What broke (1)", "What mended (1)"]
    assert page.texts["h3"] == ["a", "b"]
    assert "sunny: passed → failed" in page.body
    assert '"sun" is not in the answer' in page.body
    assert "sunny: failed → passed" in page.body
    assert "How the runs differ: the answer differs from 0 on:" in page.body


def test_a_comparison_counts_items_and_checks_in_their_own_words() -> None:
    def evaluate(answer: str) -> EvalResult:
        return run_evals_sync(["a", "b"], lambda _: answer, gates=[checks.includes("sun"), checks.excludes("rain")])

    page = Page(as_html.comparison(compare_results(evaluate("sun"), evaluate("rain"))))
    assert "2 items broke in 4 checks" in page.body
    assert page.texts["h2"][0] == "What broke (4 checks on 2 items)"


def test_the_page_of_a_failing_example_is_as_it_was_read() -> None:
    """To write it anew after a change, set QUICKCHECKS_WRITE_GOLDEN, run this, and read it in a browser before it is kept."""
    written = as_html.evaluation(failing_example())
    if os.environ.get("QUICKCHECKS_WRITE_GOLDEN"):
        GOLDEN.write_bytes(written)
    assert written.decode() == GOLDEN.read_text("utf-8")


def failing_example() -> EvalResult:
    """A support agent that promises what its tools did not do."""
    runs = {
        "refund": run(
            system("You are the support agent of a bicycle shop."),
            user("I want my money back for order R-1012."),
            reasoning("A refund is wanted. I look the order up first."),
            call("find_order", order="R-1012", result={"order": "R-1012", "item": "City bike", "paid": 890}),
            call("refund", order="R-1012", amount=890, error="PaymentError: the card has expired"),
            "Your refund of € 890 is on its way.",
        ),
        "policy": run(user("May I return a helmet?"), "As an AI language model, I cannot know our <b>policy</b>."),
        "status": run(user("Where is R-1041?"), call("find_order", order="R-1041", result="shipped"), "It is on its way."),
    }

    questions = {name: next(one.text for one in told.messages if one.role == "user") for name, told in runs.items()}

    def agent(question: str) -> Run:
        name = next((name for name, asked in questions.items() if asked == question), None)
        if name is None:
            raise ConnectionError("the model did not answer in 10 s")
        return runs[name]

    data = [{"id": name, "input": question, "expected": "a true answer"} for name, question in questions.items()]
    result = run_evals_sync(
        [*data, {"id": "lost", "input": "Hello?"}],
        agent,
        gates=[
            checks.no_tool_errors(why="What the tools did not do must not be promised"),
            checks.excludes("As an AI language model", name="no disclaimers", why="Customers want an answer"),
        ],
        scorers=[checks.max_tool_calls(1)],
        name="support agent",
    )
    items = tuple(
        replace(item, error=None if item.error is None else replace(item.error, traceback=""), seconds=0.5)
        for item in result.items
    )
    return replace(result, items=items, seconds=2.0, environment={"python": "3.13.1", "git": "1a2b3c4d5e6f"})


def test_a_reason_that_a_scorer_wrote_itself_is_text_too() -> None:
    told = run("a")
    score = replace(checks.includes("b").score(told), note=Explanation("<b>bold</b>\x00"), explain=None)
    page = Page(shared_run(told, [score], name="x"))
    assert "<b>bold</b>\\u0000" in page.body


_SPAN = st.tuples(st.integers(-5, 4_000), st.integers(-5, 4_000))


@given(st.integers(0, 3_900), st.lists(_SPAN, max_size=8), st.integers(0, 1_000))
def test_what_is_shown_and_what_is_counted_are_the_whole_text(length: int, spans: list[tuple[int, int]], most: int) -> None:
    text = "".join(chr(0x4E00 + at) for at in range(length))  # each character once, so that nothing can stand twice
    found = shown(text, [Mark(*span) for span in spans], most)
    left_out = sum(int(count.replace(",", "")) for count in re.findall(r"… ([\d,]+) more characters?", found))
    kept = re.sub(r" … [\d,]+ more characters?(?: … )?|[\[\]]", "", found)
    assert list(kept) == sorted(kept), "in their order, each once"
    assert set(kept) <= set(text)
    assert len(kept) + left_out == length
