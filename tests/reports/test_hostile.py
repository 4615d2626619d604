"""Hostile texts in every field of every report: nothing runs, nothing breaks the form, and everything can still be read."""

from __future__ import annotations

import csv
import io
import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import junit
import pytest
from hostile import HOSTILE, LONG, Texts
from junitparser import TestCase
from markdown_it import MarkdownIt

from quickchecks import EvalResult, checks
from quickchecks._gates import gates_of, scorers_of
from quickchecks._items import Item
from quickchecks._results.changes import Change, Decision, EvalComparison, MeasureChange, ScorerChange
from quickchecks._results.evaluation import ItemError, ItemResult, Part
from quickchecks._results.flips import ChangedCheck, Comparison, Flip, FlippedRun
from quickchecks._results.result import Example, FailureGroup, GapCount, RunsResult, ScorerSummary
from quickchecks._results.tally import entry_of
from quickchecks._run import Gap, Message, Run, RunError, Source, Text, TextSpan, ToolCall, ToolError
from quickchecks._score import CallRef, Explanation, RecordedScorer, Score
from quickchecks.cli._output import print_lines
from quickchecks.errors import RecordingError
from quickchecks.reports import Kind, form_of, suffixes
from quickchecks.reports._lines import Line
from quickchecks.reports._safe import csv_cell
from quickchecks.reports.terminal import lines_of
from quickchecks.reports.terminal_comparison import comparison_lines
from quickchecks.reports.terminal_evaluation import eval_lines

KINDS: tuple[Kind, ...] = ("runs", "evaluation", "comparison")
#: No text longer than this is needed to see what is wrong.
MOST = 400_000
#: What a form leaves out where there is a megabyte before it, and says how much it leaves out.
BEYOND: Mapping[tuple[str, str], set[str]] = {(LONG, ".html"): {"item key", "gap place"}}
#: A sequence that sets colours; there is no other in a report.
_SEQUENCE = re.compile(r"\x1b\[[0-9;]*m")


def a_run(texts: Texts, about: str) -> Run:
    call = ToolCall(
        texts[f"{about} tool"],
        {"city": texts[f"{about} argument"], texts[f"{about} key"]: 1},
        texts[f"{about} call"],
        error=ToolError(texts[f"{about} tool error"], texts[f"{about} tool error class"]),
    )
    return Run(
        messages=(
            Message("user", (Text(texts[f"{about} question"]),)),
            Message("assistant", (call, Text(texts[f"{about} answer"])), agent=texts[f"{about} agent"]),
        ),
        source=Source(texts[f"{about} file"], 3),
        id=texts[f"{about} id"],
        format=texts[f"{about} format"],
        gaps=(Gap("results", texts[f"{about} gap"]),),
    )


def a_score(texts: Texts, about: str, outcome: str, run: Run, scorer: object = None) -> Score:
    who = RecordedScorer("x", texts[f"{about} scorer"], texts[f"{about} why"], "1") if scorer is None else scorer
    answer = run.messages[1].parts[1].text if run.messages else "Zq"  # type: ignore[union-attr]
    start = answer.index("Zq")
    places = (TextSpan(1, 1, start, start + 5), CallRef(1, texts[f"{about} called"], 1, 0))
    said = Explanation(texts[f"{about} reason"], places, ("kind",))
    return Score(who, outcome, 0.0 if outcome == "failed" else None, run, note=said)  # type: ignore[arg-type]


def runs_result(texts: Texts) -> RunsResult:
    def example(about: str) -> Example:
        return Example(texts[f"{about} place"], texts[f"{about} reason"])

    return RunsResult(
        runs=2,
        unreadable=1,
        formats={texts["format"]: 2},
        scorers=(
            ScorerSummary(texts["first scorer"], "gate", failed=1, no_evidence=1, why=texts["first why"], verdict="failed"),
            ScorerSummary(
                texts["second scorer"],
                "threshold",
                graded=2,
                no_evidence=1,
                mean=0.2,
                why=texts["second why"],
                no_evidence_reason=texts["no evidence"],
                furthest=example("furthest"),
                verdict="scored",
            ),
        ),
        failures=tuple(
            FailureGroup(kind, 3, (example(kind), example(f"{kind} other")), texts[f"{kind} check"], "gate", texts[f"{kind} why"])
            for kind in ("failed", "error", "no_evidence", "run_failed", "unreadable")
        ),
        gaps=(GapCount(texts["gap"], 1, texts["gap place"]),),
        warnings=(texts["warning"],),
        verdict="failed",
        explanation=texts["explanation"],
        comparison=Comparison(
            texts["against"],
            (
                ChangedCheck(
                    texts["before"],
                    texts["after"],
                    (Flip("passed", "failed", 1, (FlippedRun(texts["flip place"], texts["flip before"], texts["flip after"]),)),),
                    (texts["note"],),
                    texts["changed name"],
                ),
            ),
            (texts["new check"],),
            (texts["removed check"],),
        ),
    )


def written_runs(texts: Texts, suffix: str) -> bytes:
    stream = io.BytesIO()
    gate = checks.includes("x")
    report = form_of(f"a{suffix}", "runs")(stream, [entry_of(gate)])
    first = a_run(texts, "run")
    report.add(first, [a_score(texts, "run", "failed", first), a_score(texts, "gate", "failed", first, gate)], None)
    broken = Run(error=RunError(texts["run error"], texts["error class"]), source=Source("b.jsonl", 1))
    report.add(broken, [a_score(texts, "broken", "error", broken)], None)
    unreadable = RecordingError(texts["problem"], file=texts["bad file"], line=4, path=texts["path"], hint=texts["hint"])
    report.add(None, (), unreadable)
    report.finish(runs_result(texts))
    return stream.getvalue()


def eval_result(texts: Texts) -> EvalResult:
    gate = checks.includes("x", name=texts["gate"], why=texts["gate why"])
    limit = checks.excludes("x", name=texts["threshold"], why=texts["threshold why"])
    plan = (*gates_of([gate]), *scorers_of([{"scorer": limit, "threshold": 0.9}]))
    run = a_run(texts, "item")
    items = (
        ItemResult(
            Item(
                input=texts["asked"],
                expected={"city": texts["expected"]},
                id=texts["item"],
                metadata={texts["metadata key"]: texts["metadata"]},
                source=Source(texts["data file"], 2),
            ),
            0,
            run=run,
            plan=plan,
            scores=(a_score(texts, "gate", "failed", run, gate), a_score(texts, "threshold", "failed", run, limit)),
        ),
        ItemResult(
            Item(inputs=(texts["first question"], {"deep": [texts["deep"]]}), id=texts["broken item"]),
            1,
            plan=plan,
            error=ItemError("exception", texts["message"], texts["class"], f"Traceback\n  {texts['traceback']}"),
        ),
        ItemResult(Item(input="?", id=texts["item"]), 0, 1, run, plan, (Score(gate, "passed", 1.0, run),)),
    )
    parts = (Part(texts["part"], "failed"),)
    return EvalResult(items, plan, texts["name"], repetitions=2, warnings=(texts["warning"],), parts=parts, environment={})


def comparison_of(texts: Texts) -> EvalComparison:
    def change(about: str) -> Change:
        fields = ("item", "scorer", "was", "is", "reason", "divergence")
        return Change(*(texts[f"{about} {field}"] for field in fields))

    scorer = ScorerChange(texts["compared scorer"], 2, 1.0, 0.5, -0.5, 0.01, "mcnemar", said=texts["said"])
    return EvalComparison(
        common=(texts["common"],),
        only_before=(texts["gone"],),
        only_after=(texts["new"],),
        changed_items=(texts["changed"],),
        scorers=(scorer,),
        only_scorers_before=(texts["scorer gone"],),
        only_scorers_after=(texts["scorer new"],),
        broke=(change("broke"),),
        mended=(change("mended"),),
        worse=(change("worse"),),
        better=(change("better"),),
        measures=(MeasureChange("cost", 1, 1.0, 2.0, 1, 1),),
        verdicts=("passed", "failed"),
        unfinished=(texts["unfinished before"], texts["unfinished after"]),
        notes=(texts["note"],),
        open_ended=texts["open"],
        decision=Decision(1, f"regressed: {texts['decision']}", ("regression",)),
    )


def written(kind: Kind, suffix: str, texts: Texts) -> bytes:
    if kind == "runs":
        return written_runs(texts, suffix)
    if kind == "evaluation":
        return form_of(f"a{suffix}", kind)(eval_result(texts))
    return form_of(f"a{suffix}", kind)(comparison_of(texts))


@cache
def _harmless(kind: Kind, suffix: str) -> tuple[bytes, frozenset[str]]:
    """A report of texts that do nothing, and the fields that it shows."""
    report = written(kind, suffix, texts := Texts("plain {}"))
    return report, frozenset(texts.found_in(READERS[suffix](report)))


def shown_lines(kind: Kind, texts: Texts) -> Iterable[Line]:
    if kind == "runs":
        return lines_of(runs_result(texts))
    if kind == "evaluation":
        return eval_lines(eval_result(texts), 1)
    return comparison_lines(comparison_of(texts), texts["file before"], texts["file after"])


def drives_nothing(text: str) -> bool:
    """Whether a text has no control character, no change of direction, and nothing that cannot be seen."""
    return all(c.isprintable() or c in "\n\u200c\u200d" or unicodedata.category(c) == "Zs" for c in text)


def of_json(report: bytes) -> str:
    return json.dumps(json.loads(report.decode("utf-8"), parse_constant=pytest.fail), ensure_ascii=False)


def of_jsonl(report: bytes) -> str:
    return "\n".join(of_json(line) for line in report.splitlines())


def of_csv(report: bytes) -> str:
    text = report.decode("utf-8")
    rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    assert {len(row) for row in rows} == {len(rows[0])}, "every row has every column"
    cells = [cell for row in rows for cell in row]
    assert [cell for cell in cells if cell.lstrip().startswith(("=", "+", "-", "@", "＝", "＋", "－", "＠"))] == []
    assert [cell for cell in cells if not drives_nothing(cell) or "\n" in cell or len(cell) > 32_767] == []
    return "\n".join(cells)


_MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable("table").enable("strikethrough")


def of_md(report: bytes) -> str:
    """The text of a page, in which foreign text stands only in spans of code."""
    text = report.decode("utf-8")
    assert drives_nothing(text)
    assert len(text) < MOST
    said: list[str] = []
    for block in _MARKDOWN.parse(text):
        assert block.type not in ("html_block", "code_block", "fence", "blockquote_open", "hr", "ordered_list_open")
        for token in block.children or ():
            assert token.type not in ("html_inline", "link_open", "image")
            assert token.type == "code_inline" or "Zq" not in token.content.replace("plain Zq", ""), token.content
            said.append(token.content)
    return "\n".join(said)


def of_junit(report: bytes) -> str:
    suite = junit.read(report)
    said = [suite.name, *(f"{one.name} {one.value}" for one in suite.properties())]  # type: ignore[no-untyped-call]
    for case in suite:
        said += [case.name, case.classname, case.system_out or ""]
        said += [f"{one.type} {one.message} {one.text}" for one in case.result]
    assert drives_nothing("".join(said))
    assert not any(line.lstrip().startswith(("::", "##[")) for case in suite for line in _texts(case)), "a command in a log"
    assert len(report) < MOST
    return "\n".join(map(str, said))


def _texts(case: TestCase) -> list[str]:
    return [line for text in (case.system_out, *(one.text for one in case.result)) for line in (text or "").splitlines()]


class Page(HTMLParser):
    """The elements of a page, with the names of their attributes, and its texts."""

    def __init__(self, report: bytes) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: set[tuple[str, str]] = set()
        self.links: set[str] = set()
        self.code: set[str] = set()
        self.said: list[str] = []
        self._in = ""
        self.feed(report.decode("utf-8"))
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._in = tag
        self.elements |= {(tag, name) for name, _ in attrs} | {(tag, "")}
        self.links |= {str(value) for name, value in attrs if name in ("href", "src", "action", "srcdoc", "content")}
        self.said += [str(value) for _, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        self._in = ""

    def handle_data(self, data: str) -> None:
        if self._in in ("script", "style"):
            self.code.add(data)
        else:
            self.said.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data[:80]}")

    def handle_pi(self, data: str) -> None:
        raise AssertionError(f"an instruction: {data[:80]}")


def of_html(report: bytes, harmless: bytes | None = None) -> str:
    """The text of a page, which has no element, attribute, link or code that it has not with harmless texts."""
    page = Page(report)
    if harmless is not None:
        plain = Page(harmless)
        # What is long, or has lines, is folded away and marked; these elements can do nothing.
        folding = {
            (tag, name) for tag in ("details", "summary", "div", "span", "sup", "mark", "p") for name in ("", "class", "open")
        }
        assert page.elements <= plain.elements | folding
        assert {link for link in page.links if not link.startswith("#")} <= plain.links
        assert page.code == plain.code
    assert not any(name.startswith("on") or name in ("srcdoc", "formaction") for _, name in page.elements)
    text = "".join(page.said)
    assert drives_nothing(text)
    return text


READERS: Mapping[str, Callable[[bytes], str]] = {
    ".json": of_json,
    ".jsonl": of_jsonl,
    ".csv": of_csv,
    ".md": of_md,
    ".junit.xml": of_junit,
    ".html": of_html,
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_form_has_its_reader_here(kind: Kind) -> None:
    assert set(suffixes(kind)) <= set(READERS)


def test_there_are_forty_texts() -> None:
    assert len(HOSTILE) >= 40
    assert all("{}" in text for text in HOSTILE.values())


@pytest.mark.parametrize("attack", HOSTILE)
@pytest.mark.parametrize("kind", KINDS)
def test_a_file_holds_hostile_texts(kind: Kind, attack: str) -> None:
    """What a form shows of harmless texts it shows of these too: every field can be read, and nothing else happens."""
    for suffix in suffixes(kind):
        harmless, shown = _harmless(kind, suffix)
        hostile = written(kind, suffix, texts := Texts(HOSTILE[attack]))
        text = of_html(hostile, harmless) if suffix == ".html" else READERS[suffix](hostile)
        missing = shown - texts.found_in(text) - BEYOND.get((attack, suffix), set())
        assert not missing, f"{suffix} does not show these: {sorted(missing)}"


@pytest.mark.parametrize("attack", HOSTILE)
@pytest.mark.parametrize("kind", KINDS)
def test_a_terminal_and_a_pipe_show_hostile_texts(
    kind: Kind, attack: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def printed(texts: Texts) -> str:
        print_lines(shown_lines(kind, texts))
        return capsys.readouterr().out

    for colour in ("", "1"):
        monkeypatch.setenv("FORCE_COLOR", colour)
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.setenv("COLUMNS", "500")
        plain, texts = Texts("plain {}"), Texts(HOSTILE[attack])
        harmless, hostile = printed(plain), printed(texts)
        sequences = set(_SEQUENCE.findall(harmless))
        assert set(_SEQUENCE.findall(hostile)) <= sequences | {"\x1b[0m"}, "the only sequences are those of the report's colours"
        text = _SEQUENCE.sub("", hostile)
        assert drives_nothing(text)
        assert len(text) < MOST
        assert plain.found_in(_SEQUENCE.sub("", harmless)) <= texts.found_in(text.replace("\n", ""))
        if not colour:
            assert _margin(hostile) <= _margin(harmless), "no line that looks like one of the report's own"


def _margin(text: str) -> int:
    """How many lines begin at the left edge, where the report says what it decides."""
    return sum(not line.startswith(" ") for line in text.splitlines() if line.strip())


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_line_of_ten_megabytes_is_shown_in_part(kind: Kind) -> None:
    """Forms for people stay small; the others hold it whole."""
    fields = {"runs": "run error", "evaluation": "message", "comparison": "broke reason"}

    class OneLong(Texts):
        def __getitem__(self, field: str) -> str:
            return super().__getitem__(field) + ("x\x1b" * 5_000_000 if field == fields[kind] else "")

    for suffix in suffixes(kind):
        texts = OneLong("<{}>")
        report = written(kind, suffix, texts)
        assert _harmless(kind, suffix)[1] <= texts.found_in(READERS[suffix](report))
        assert len(report) < MOST or suffix in (".json", ".jsonl")


@pytest.mark.slow
def test_the_answers_of_the_field_reports(shared: Path) -> None:
    """B45: half a character; B54: markup in every place; B58: formulas, and what only looks like one."""
    cases = json.loads((shared / "cases/field-reports.json").read_text(encoding="utf-8"))
    found = {case["id"]: case for case in cases if case["entry"] in ("B45", "B54", "B58")}
    assert len(found) == 15
    for name, case in found.items():
        answer = case.get("value") or case["messages"][-1]["content"]
        for kind in KINDS:
            for suffix in suffixes(kind):
                # The marker goes after the answer: none of these texts is longer than a name may be.
                texts = Texts(_escaped(answer) + " {}")
                text = READERS[suffix](written(kind, suffix, texts))
                assert _harmless(kind, suffix)[1] <= texts.found_in(text)
                if case["entry"] == "B54" and suffix != ".md":
                    assert case["expected"]["textShown"] in (text if suffix not in (".json", ".jsonl") else json_text(text))
        cell = csv_cell(answer)
        assert cell.startswith("'") == case["expected"].get("neutralised", answer.startswith(("=", "+", "-", "@"))), name


def _escaped(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def json_text(text: str) -> str:
    """The texts in a document, without what JSON writes before quotes and backslashes."""
    return text.replace('\\"', '"')
