"""The result of an evaluation as a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from quickchecks import _render
from quickchecks._gates import Assertion, AssertionResult, Counts
from quickchecks._results.deciding import nothing_scored
from quickchecks._results.environment import environment
from quickchecks._results.evaluation import EvalResult, FailureGroup, ItemResult, Part
from quickchecks._results.result import many
from quickchecks._score import Score
from quickchecks.reports import _html_found as found
from quickchecks.reports import _words
from quickchecks.reports._html import Element, Node, document, el, more

__all__ = ("MAX_KINDS", "VERDICTS", "evaluation", "footer", "headline")

#: The most kinds of failure that a page shows.
MAX_KINDS = 100
_MAX_PARTS = 1_000
#: What verdicts are called in a heading.
VERDICTS: Mapping[str | None, str] = {
    "passed": "Passed",
    "failed": "Failed",
    "scored": "Below a threshold",
    "undecided": "Undecided",
    None: "Nothing asserted",
}
#: The runs of a kind of failure, each with the score that is of that kind; None where the item itself broke.
_Failing = list[tuple[ItemResult, Score | None]]

_KINDS = {None: "measured", "watch": "watched", "shadow": "only recorded"}
_OTHERS = (
    ("graded", "graded"),
    ("not_applicable", "not applicable"),
    ("no_evidence", "no evidence"),
    ("errors", "broken"),
    ("unscored", "unscored"),
)


def evaluation(result: EvalResult) -> bytes:
    """Write the result of an evaluation. See `quickchecks.reports`."""
    unscored = not result.items or (result.verdict is None and nothing_scored(result))
    verdict = "Nothing scored" if unscored else VERDICTS[result.verdict]
    said = f"{verdict}, interrupted" if result.interrupted else verdict
    title = f"{said} – {result.name or 'evaluation'}"
    failing = {item for group in result.failures for item in group.items}
    passing = list(dict.fromkeys(item.id for item in result.items if item.id not in failing))
    remarks = [*result.warnings, *([result.incomplete] if result.incomplete else [])]
    remarks += [f"flaky: {label}: {_render.listed(list(items), limit=8)}" for label, items in result.flaky.items()]
    return document(
        title,
        headline(
            result.name or ("Tests" if result.parts else "Evaluation"), result.verdict or "", said, _lead(result), _facts(result)
        ),
        el(
            "main",
            found.section("checks", "What was asked for", _table(result)) if result.assertions else None,
            found.section("failures", "What went wrong", _failures(result)) if result.failures else None,
            found.section("parts", "Put together from", _parts(result.parts)) if result.parts else None,
            found.section("others", "Without a failure", found.listed(many(len(passing), "item"), passing)) if passing else None,
            found.section("notes", "Worth knowing", found.notes(remarks)) if remarks else None,
        ),
        footer(environment() if result.environment is None else result.environment),
    )


def headline(name: str, verdict: str, said: str, lead: str, facts: str) -> Element:
    """The head of a page: what it is about, and what came of it in words."""
    return el(
        "header",
        el("p", _render.capped(name, 300), cls="name"),
        el("h1", el("span", said, cls=verdict)),
        el("p", lead, cls="lead"),
        el("p", facts, cls="facts") if facts else None,
    )


def footer(where: Mapping[str, str]) -> Element:
    """The foot of a page: where what it shows was made."""
    shown = ", ".join(f"{_render.name(name)} {_render.name(version)}" for name, version in list(where.items())[:20])
    return el("footer", el("p", f"Made by quickchecks{f' with {shown}' if shown else ''}."))


def _lead(result: EvalResult) -> str:
    """What the verdict rests on, in sentences."""
    judged = (*result.gate_results, *result.threshold_results)
    told = [_required(result, judged)]
    worse = [part for part in result.parts if part.verdict not in ("passed", None)]
    if worse:
        told.insert(0, f"{len(worse)} of {many(len(result.parts), 'test')} did not pass.")
    if result.error_count > result.max_errors:
        allowed = f"{result.max_errors} may be" if result.max_errors else "none may be"
        told.append(f"There {'was' if result.error_count == 1 else 'were'} {many(result.error_count, 'error')}, and {allowed}.")
    return " ".join(told)


def _required(result: EvalResult, judged: Sequence[AssertionResult]) -> str:
    """How many gates and thresholds held."""
    items = many(result.summary.total_items, "item")
    if not judged:
        return f"Nothing had to hold: what is below is only measured, on {items}."
    missed = [one for one in judged if one.verdict in ("failed", "scored")]
    if missed:
        below = {item for one in missed for item in one.below}
        where = f", on {len(below)} of {items}" if below else ""
        return f"{len(missed)} of {many(len(judged), 'requirement')} did not hold{where}."
    undecided = [one for one in judged if one.verdict == "undecided"]
    if undecided:
        return f"{len(undecided)} of {many(len(judged), 'requirement')} could not be decided."
    return f"{'The requirement' if len(judged) == 1 else f'All {len(judged)} requirements'} held on {items}."


def _facts(result: EvalResult) -> str:
    summary, usage = result.summary, result.usage
    times = f" × {result.repetitions}" if result.repetitions > 1 else ""
    parts = [f"{many(summary.total_items, 'item')}{times}"]
    parts += [f"{summary.errored} broke"] if summary.errored else []
    if usage is not None and (tokens := (usage.input_tokens or 0) + (usage.output_tokens or 0)):
        parts.append(f"{tokens:,} tokens")
    parts += [f"${usage.cost:.4f}"] if usage is not None and usage.cost else []
    return " · ".join([*parts, _words.duration(result.seconds)])


def _table(result: EvalResult) -> Element:
    judged = {(one.turn, one.scorer, one.bounds): one for one in (*result.gate_results, *result.threshold_results)}
    counts = [("passed", "number"), ("failed", "number"), ("other", "")]
    titles = [("check", ""), ("must", "must"), ("came out", ""), *counts, ("in numbers", "wide")]
    rows = []
    for one in result.assertions[:MAX_KINDS]:
        asserts = one.role == "gate" or one.bounds is not None
        rows.append(_row(result, one, judged.get((one.turn, one.identity, one.bounds)) if asserts else None))
    table = found.table("checks", titles, rows)
    left = len(result.assertions) - MAX_KINDS
    return el("div", table, el("p", more(left, "check"), cls="left-out")) if left > 0 else table


def _row(result: EvalResult, one: Assertion, judged: AssertionResult | None) -> list[Node | list[Node]]:
    counts = result.summary.scorers[one.label] if judged is None else judged.counts
    mean = result.scores.get(one.identity) if one.turn is None else None
    must = _KINDS[one.mode]
    if one.role == "gate":
        must = "pass on every item" if one.pass_rate == 1 else f"pass on {100 * one.pass_rate:g} % of items"
    elif one.bounds is not None:
        must = f"mean {one.bounds}"
    name = [found.title_of("", _render.capped(one.label, 300))]
    if one.scorer.why:
        name = [_render.capped(one.scorer.why, 300), el("div", name, cls="quiet")]
    verdict: Node = el("span", "–", cls="quiet")
    if judged is not None:
        verdict = el("strong", "missed" if judged.verdict == "scored" else judged.verdict, cls=f"said {judged.verdict}")
    explained = judged.explanation if judged is not None else "" if mean is None else f"mean {mean:.3g}"
    return [name, must, verdict, _number(counts.passed), _number(counts.failed), _others(counts), explained]


def _parts(parts: Sequence[Part]) -> Iterator[Node]:
    rows: list[list[Node]] = []
    for one in parts[:_MAX_PARTS]:
        rows.append([_render.capped(one.name, 300), el("span", one.verdict or "nothing asserted", cls=one.verdict or "")])
    yield found.table("parts", [("test", ""), ("came out", "wide")], rows)
    if len(parts) > _MAX_PARTS:
        yield el("p", more(len(parts) - _MAX_PARTS, "test"), cls="left-out")


def _number(count: int) -> str:
    return f"{count:,}" if count else ""


def _others(counts: Counts) -> str:
    return ", ".join(f"{getattr(counts, name):,} {told}" for name, told in _OTHERS if getattr(counts, name))


def _failures(result: EvalResult) -> Iterator[Node]:
    failing = _failing(result)
    cases = found.Cases()
    made: dict[int, found.Case] = {}
    # What decides comes first; what is only measured or watched is told after it.
    groups = sorted(result.failures, key=lambda group: not _decides(failing.get(group.key, [])))
    for group in groups[:MAX_KINDS]:
        yield _group(result, group, failing.get(group.key, []), cases, made)
    if len(result.failures) > MAX_KINDS:
        yield el("p", more(len(result.failures) - MAX_KINDS, "kind"), " of failure not shown", cls="left-out")


def _decides(failing: _Failing) -> bool:
    """Whether anything of a kind counts for the verdict: an item that broke, a gate, a threshold, a scorer that broke."""
    for item, score in failing:
        if score is None:
            return True
        for one, found_score in _wrong(item):
            same = found_score.failure_key == score.failure_key
            if same and one.mode is None and (one.role == "gate" or one.bounds is not None or score.outcome == "error"):
                return True
    return False


def _failing(result: EvalResult) -> dict[str, _Failing]:
    """The runs of each kind of failure, one an item: what `result.failures` has, with the runs."""
    every: dict[str, dict[str, tuple[ItemResult, Score | None]]] = {}
    for item in result.items:
        if item.error is not None:
            key = f"target | {item.error.kind} | {item.error.type}".rstrip(" |")
            every.setdefault(key, {}).setdefault(item.id, (item, None))
        for _, score in _wrong(item):
            every.setdefault(score.failure_key, {}).setdefault(item.id, (item, score))
    return {key: list(of_items.values()) for key, of_items in every.items()}


def _wrong(item: ItemResult) -> list[tuple[Assertion, Score]]:
    pairs = zip(item.plan, item.scores, strict=False)
    return [(one, score) for one, score in pairs if score.failure_key and one.mode != "shadow"]


def _group(
    result: EvalResult,
    group: FailureGroup,
    failing: _Failing,
    cases: found.Cases,
    made: dict[int, found.Case],
) -> Element:
    shown: list[Element] = []
    for item, score in failing:
        case = made.get(id(item))
        if len(shown) >= found.RUNS_OF_A_KIND or (case is None and cases.full):
            break
        if case is None:
            case = made[id(item)] = _case(result, item, cases)
        own = score.reason if score is not None else item.error.message if item.error is not None else ""
        shown.append(cases.shown(case, "" if own == group.reason else own))
    first = failing[0] if failing else None
    scorer = None if first is None or first[1] is None else first[1].scorer
    # What the plan holds was given by the user; what a score was read back with is only its name.
    entry = next((one.scorer for one, score in _wrong(first[0]) if score is first[1]), scorer) if first is not None else scorer
    rest = list(group.items[len(shown) :])
    others = f"{len(rest):,} more {'item' if len(rest) == 1 else 'items'} of this kind, not shown here"
    outcome = group.key[len(group.scorer) :].split(" | ")[1:2] if group.scorer else []
    decides = _decides(failing)
    broke = first is not None and first[0].error is not None and first[1] is None
    return found.failure(
        "The target broke" if broke else found.title_of(group.why, group.scorer),
        "" if entry is None or (not group.why and found.expression_of(entry) == group.scorer) else found.expression_of(entry),
        ", ".join(
            (
                *(["the check itself broke"] if "error" in outcome else []),
                f"on {many(len(group.items), 'item')}",
                *([] if decides else ["only measured"]),
            )
        ),
        group.reason,
        shown,
        others,
        rest,
        tone="watched" if not decides else "no_evidence" if "no_evidence" in outcome else "",
    )


def _case(result: EvalResult, item: ItemResult, cases: found.Cases) -> found.Case:
    title: list[Node] = [el("code", _render.capped(item.id, 200) or '""')]
    if result.repetitions > 1:
        title.append(el("span", f" repetition {item.repetition + 1}", cls="tag"))
    about = found.asked(item.item.asked, item.item.expected)
    if item.error is not None:
        about += found.broken(item.error)
    return cases.make(item.run, [score for _, score in _wrong(item)], title, about)
