"""What becomes of the result of an evaluation: lines on a terminal, and a file for each suffix of `-o`."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec import Struct

from quickchecks import _wire
from quickchecks._gates import Assertion, AssertionResult, Counts, Verdict
from quickchecks._results.evaluation import EvalResult, FailureGroup, ItemError, ItemResult
from quickchecks._results.result import many
from quickchecks._run import Usage
from quickchecks._score import ScoreRecord
from quickchecks.errors import UnknownNameError
from quickchecks.reports import _words
from quickchecks.reports._lines import BLANK, Line, line
from quickchecks.reports._safe import csv_cell, lines, markdown

__all__ = ("EVAL_FORMS", "ItemLine", "eval_lines", "form_for")

_STYLES: Mapping[str, str] = {
    "passed": "green",
    "failed": "red",
    "scored": "red",
    "undecided": "yellow",
    "measured": "dim",
    "watched": "dim",
    "shadow": "dim",
}
#: What a page calls scorers that assert nothing, by mode.
_KINDS = {None: "measured", "watch": "watched", "shadow": "only recorded"}
#: The most items that a page names of each kind of failure.
_MAX_ITEMS = 8

_COLUMNS = ("item", "repetition", "turn", "scorer", "role", "outcome", "value", "reason", "failure_key", "why", "seconds")


class ItemLine(Struct, frozen=True, omit_defaults=True, tag_field="schema", tag="quickchecks.item_run/1"):
    """One item, run once, as a line of a `.jsonl` report.

    Args:
        id: The id of the item.
        index: Its place in the data.
        repetition: Which of its repetitions this is.
        input: What was asked.
        expected: What was expected.
        answer: What was answered.
        tools: The tools that were called, in order.
        scores: What the scorers say.
        error: What broke.
        usage: Tokens and cost.
        seconds: How long it took.
    """

    id: str
    index: int
    repetition: int = 0
    input: object = None
    expected: object = None
    answer: str = ""
    tools: tuple[str, ...] = ()
    scores: tuple[ScoreRecord, ...] = ()
    error: ItemError | None = None
    usage: Usage | None = None
    seconds: float = 0.0


def form_for(file: str, forms: Mapping[str, Callable[..., bytes]]) -> Callable[..., bytes]:
    """Find the form of a report by the suffix of its file.

    Args:
        file: The file.
        forms: The forms, by suffix.

    Raises:
        UnknownNameError: No form has this suffix.
    """
    suffix = Path(file).suffix.lower()
    if suffix in forms:
        return forms[suffix]
    known = list(forms)
    hint = f"a report ends in {', '.join(known[:-1])} or {known[-1]}"
    raise UnknownNameError("form of report with the suffix", suffix, known, hint=hint, place=file)


def eval_lines(result: EvalResult, code: int) -> Iterator[Line]:
    """The lines that show a result.

    Args:
        result: The result.
        code: The exit code of the command.

    Yields:
        The lines, from the verdict to the exit code.
    """
    for number, text in enumerate(lines(result.explain())):
        yield line((text, "bold")) if number == 0 else _styled(text)
    yield BLANK
    style = _STYLES.get(result.verdict or "", "")
    yield line((said(result), f"bold {style}".strip()), f" · exit {code}")


def said(result: EvalResult) -> str:
    """The verdict in a few words."""
    verdict: str = "nothing scored" if not result.items else result.verdict or "nothing asserted"
    if result.items and result.verdict is None and result.error_count > result.max_errors:
        verdict = f"nothing asserted, {result.error_count} broke"
    return f"{verdict}, interrupted" if result.interrupted else verdict


def _styled(text: str) -> Line:
    """A line of the explanation, with the verdict that it may begin with in colour."""
    stripped = text.lstrip()
    indent = len(text) - len(stripped)
    word, space, rest = stripped.partition(" ")
    style = "red" if word == "✗" else "yellow" if word == "warning:" else _STYLES.get(word, "")
    if not style:
        return line(stripped, indent=indent, hang=indent)
    return line((word, style), space + rest, indent=indent, hang=indent + 4)


def _json(result: EvalResult) -> bytes:
    """The saved result, which `quickchecks compare` reads."""
    with TemporaryDirectory() as folder:
        file = Path(folder, "result.json")
        result.save(file)
        return file.read_bytes()


def _jsonl(result: EvalResult) -> bytes:
    return b"".join(_wire.dumps(_item_line(item)) + b"\n" for item in result.items)


def _item_line(one: ItemResult) -> ItemLine:
    asked = one.item.asked
    return ItemLine(
        id=one.id,
        index=one.index,
        repetition=one.repetition,
        input=_wire.to_builtins(asked[0] if len(asked) == 1 else list(asked) or None),
        expected=_wire.to_builtins(one.item.expected),
        answer="" if one.run is None else one.run.text,
        tools=() if one.run is None else tuple(one.run.tool_names),
        scores=tuple(score.record() for score in one.scores),
        error=one.error,
        usage=None if one.run is None else one.run.usage,
        seconds=round(one.seconds, 6),
    )


def _csv(result: EvalResult) -> bytes:
    """A row for each item run and scorer, safe to open in a spreadsheet."""
    text = StringIO(newline="")
    rows = csv.writer(text, lineterminator="\r\n")
    rows.writerow(_COLUMNS)
    for item in result.items:
        about = (csv_cell(item.id), item.repetition)
        seconds = round(item.seconds, 6)
        if item.error is not None:
            kind = csv_cell(item.error.kind)
            rows.writerow((*about, item.error.turn, "", "", kind, None, csv_cell(item.error.message), "", "", seconds))
        for one, score in zip(item.plan, item.scores, strict=False):
            texts = map(csv_cell, (score.reason, score.failure_key, one.scorer.why))
            rows.writerow(
                (*about, one.turn, csv_cell(one.identity), one.mode or one.role, score.outcome, score.value, *texts, seconds)
            )
    return text.getvalue().encode("utf-8", "backslashreplace")


def _md(result: EvalResult) -> bytes:
    return ("\n".join(_page(result)) + "\n").encode("utf-8", "backslashreplace")


def _page(result: EvalResult) -> Iterator[str]:
    name = f"{markdown(result.name)}: " if result.name else ""
    yield f"## {name}{said(result)}"
    yield ""
    runs = f" × {result.repetitions}" if result.repetitions > 1 else ""
    broke = f", {result.summary.errored} broke" if result.summary.errored else ""
    yield f"{many(result.summary.total_items, 'item')}{runs}{broke}, {_words.duration(result.seconds)}{_cost(result.usage)}"
    yield ""
    yield from _table(result)
    if result.failures:
        yield "### Failures"
        yield ""
        for group in result.failures:
            yield from _failure(group)
        yield ""
    notes = [f"- {markdown(warning)}" for warning in result.warnings]
    notes += [f"- flaky: {markdown(label)} on {_listed(items)}" for label, items in result.flaky.items()]
    if notes:
        yield "### Notes"
        yield ""
        yield from notes


def _cost(usage: Usage | None) -> str:
    if usage is None:
        return ""
    tokens = (usage.input_tokens or 0) + (usage.output_tokens or 0)
    return (f", {tokens:,} tokens" if tokens else "") + (f", ${usage.cost:.4f}" if usage.cost else "")


def _table(result: EvalResult) -> Iterator[str]:
    judged = {(one.turn, one.scorer, one.bounds): one for one in (*result.gate_results, *result.threshold_results)}
    yield "| scorer | | passed | failed | other | |"
    yield "|---|---|---:|---:|---|---|"
    for one in result.assertions:
        found = judged.get((one.turn, one.identity, one.bounds)) if one.role == "gate" or one.bounds is not None else None
        yield _row(one, found, result.summary.scorers[one.label], result.scores.get(one.identity))
    yield ""


def _row(one: Assertion, judged: AssertionResult | None, counts: Counts, mean: float | None) -> str:
    verdict: Verdict | str = "measured" if judged is None else judged.verdict
    kind = "gate" if one.role == "gate" else str(one.bounds) if one.bounds is not None else _KINDS[one.mode]
    counts = counts if judged is None else judged.counts
    others = [
        f"{getattr(counts, name)} {told}"
        for name, told in (
            ("graded", "graded"),
            ("not_applicable", "not applicable"),
            ("no_evidence", "no evidence"),
            ("errors", "broken"),
            ("unscored", "unscored"),
        )
        if getattr(counts, name)
    ]
    why = markdown(judged.explanation) if judged is not None else "" if mean is None else f"mean {mean:.3g}"
    outcome = why if verdict == "measured" else f"**{verdict}**: {why}"
    return f"| {markdown(one.label)} | {kind} | {counts.passed or ''} | {counts.failed or ''} | {', '.join(others)} | {outcome} |"


def _failure(group: FailureGroup) -> Iterator[str]:
    who = markdown(group.scorer) if group.scorer else "the target"
    yield f"- {who} on {_listed(group.items)}: {markdown(group.reason)}"
    if group.why:
        yield f"  why: {markdown(group.why)}"


def _listed(items: tuple[str, ...]) -> str:
    more = f" and {len(items) - _MAX_ITEMS} more" if len(items) > _MAX_ITEMS else ""
    return ", ".join(markdown(item) for item in items[:_MAX_ITEMS]) + more


#: What the result of an evaluation can be written as, by suffix.
EVAL_FORMS: Mapping[str, Callable[[EvalResult], bytes]] = {".json": _json, ".jsonl": _jsonl, ".csv": _csv, ".md": _md}
