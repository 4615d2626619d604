"""JUnit XML, which CI servers show as tests: a case for each run or item, red where it is what the command fails for.

A case is red only where the verdict is, and where the verdict is and no case says why, a case of its own does: so the file is
red exactly when the command that writes it exits with something else than 0 (`--fail-on` aside, which is about the exit code).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import BytesIO
from typing import BinaryIO, Literal

from quickchecks import _render
from quickchecks._gates import Assertion, AssertionResult
from quickchecks._results.changes import Change, Decision, EvalComparison
from quickchecks._results.deciding import eval_exit_code, nothing_scored
from quickchecks._results.evaluation import EvalResult, ItemResult
from quickchecks._results.result import RunsResult, ScorerSummary, many
from quickchecks._run import Run, Source
from quickchecks._score import Score
from quickchecks._scorer.checks_file import CheckEntry
from quickchecks._scorer.thresholds import SLACK, Bounds
from quickchecks.errors import RecordingError
from quickchecks.reports import _comparison_words, _evidence, _words
from quickchecks.reports._decision import decided
from quickchecks.reports._junit import Case, Problem, Suite
from quickchecks.reports._run_words import frames
from quickchecks.reports._safe import shortened

__all__ = ("comparison", "evaluation", "start")

#: The most items that are named below a gate or a threshold that is not met.
_MAX_ITEMS = 50
#: The most characters of a question that is not a text.
_MAX_ASKED = 2_000
#: The most characters of a name, or of what is one part of a sentence.
_MAX_WORDS = 300

#: What tells one gate or threshold from another.
_Key = tuple[int | None, str, Bounds | None]


def start(stream: BinaryIO, entries: Sequence[CheckEntry]) -> _Runs:
    """Start a report of scored runs. See `quickchecks.reports`."""
    return _Runs(stream, entries)


def evaluation(result: EvalResult) -> bytes:
    """Write the result of an evaluation. See `quickchecks.reports`."""
    stream = BytesIO()
    suite = Suite(stream)
    name = result.name or "evaluation"
    judged = {(one.turn, one.scorer, one.bounds): one for one in (*result.gate_results, *result.threshold_results)}
    missed = {key: one for key, one in judged.items() if not one.passed}
    too_many = result.error_count > result.max_errors
    shown: set[str] = set()
    for item in result.items:
        case, labels = _item_case(item, name, missed, numbered=result.repetitions > 1, too_many=too_many)
        shown |= labels
        suite.add(case)
    for one in result.assertions:
        found = judged.get(_key(one)) if _asserted(one) else None
        if found is not None and (_aggregated(one) or not (found.passed or found.label in shown)):
            suite.add(_assertion_case(one, found, f"{name}.checks"))
    for part in result.parts:
        problem = None
        if part.verdict not in (None, "passed"):
            problem = Problem("failure", part.verdict or "", f"{part.verdict}: its cases and checks say why")
        suite.add(Case(part.name, f"{name}.evaluations", problem))
    if eval_exit_code(result) and (result.interrupted or result.incomplete or not suite.red(too_many_broke=too_many)):
        suite.add(Case("verdict", f"{name}.checks", _verdict_problem(result)))
    properties = {"verdict": _words.said(result)}
    properties |= {f"mean of {scorer}": f"{mean:.6g}" for scorer, mean in result.scores.items()}
    properties |= _numbered("warning", result.warnings)
    suite.finish(name, properties, seconds=result.seconds, too_many_broke=too_many)
    return stream.getvalue()


def comparison(comparison: EvalComparison) -> bytes:
    """Write a comparison. See `quickchecks.reports`."""
    stream = BytesIO()
    suite = Suite(stream)
    decision = comparison.decision or decided(comparison)
    asked = "regression" in decision.conditions
    for case in _compared_cases(comparison, asked=asked):
        suite.add(case)
    if decision.exit_code and (not suite.red(too_many_broke=False) or decision.conditions != ("regression",)):
        suite.add(Case("decision", "comparison.checks", _decision_problem(decision)))
    first, second = (verdict or "no verdict" for verdict in comparison.verdicts)
    properties = {"decision": decision.said, "verdict before": first, "verdict after": second}
    common = len(comparison.common)
    properties |= {one.name: _comparison_words.measured(one, common) for one in comparison.measures}
    properties |= _numbered("note", comparison.notes)
    suite.finish("comparison", properties, seconds=0.0, too_many_broke=False)
    return stream.getvalue()


class _Runs:
    def __init__(self, stream: BinaryIO, entries: Sequence[CheckEntry]) -> None:
        self._suite = Suite(stream)
        identities = {mode: {one.scorer.identity for one in entries if one.mode == mode} for mode in ("gate", "threshold")}
        self._gates = identities["gate"]
        self._thresholds = identities["threshold"] - self._gates
        self._read = 0
        self._without_evidence: set[str] = set()

    def add(self, run: Run | None, scores: Sequence[Score], error: RecordingError | None) -> None:
        self._read += 1
        if run is None:
            self._suite.add(self._unreadable(error))
            return
        place = f"run {self._read}" if run.source is None else str(run.source)
        group = "runs" if run.source is None else run.source.file
        wrong = _failed_first(score for score in scores if self._counts(score, broke_off=run.error is not None))
        broken = [score for score in scores if score.outcome == "error" and score.scorer.identity in self._thresholds]
        self._without_evidence.update(one.scorer.identity for one in wrong if one.outcome == "no_evidence")
        about = (f"id: {run.id}",) if run.id else ()
        said = tuple(_said(score) for score in scores)
        text = (f"at {place}", *about, *(line for score in (*wrong, *broken) for line in _why(score)))
        problem = None
        if wrong:
            problem = Problem(_kind_of(wrong), _type_of(wrong[0]), _first(wrong), text)
        elif run.error is not None:
            said_by = (shortened(run.error.type, _MAX_WORDS), run.error.message)
            message = f"the run itself broke off: {': '.join(part for part in said_by if part)}"
            problem = Problem("broke", run.error.type or "run_failed", message, (*text, f"error: {message}"))
        elif broken:
            problem = Problem("broke", "error", _first(broken), text)
        elif not any(score.value is not None for score in scores):
            problem = Problem("skipped", "not_judged", "nothing was judged", text)
        self._suite.add(Case(place, group, problem, (*about, *said)))

    def finish(self, result: RunsResult) -> None:
        for one in result.scorers:
            unseen = one.verdict == "undecided" and one.scorer not in self._without_evidence
            if one.mode == "threshold" or (one.mode == "gate" and unseen):
                self._suite.add(_summary_case(one))
        failed = result.verdict == "failed"
        if result.exit_code() and (result.interrupted or not self._suite.red(too_many_broke=failed)):
            message = ": ".join(part for part in (_words.verdict(result), result.explanation) if part)
            self._suite.add(Case("verdict", "checks", Problem("failure", result.verdict or "nothing", message)))
        properties = {"verdict": _words.verdict(result), "runs": _words.header(result)}
        properties |= {f"mean of {one.scorer}": f"{one.mean:.6g}" for one in result.scorers if one.mean is not None}
        properties |= _numbered("warning", result.warnings) | _numbered("gap", [gap.note for gap in result.gaps])
        self._suite.finish("recorded runs", properties, seconds=result.seconds, too_many_broke=failed)

    def _counts(self, score: Score, *, broke_off: bool) -> bool:
        """Whether a score is one that the verdict fails for, or is undecided for."""
        if score.scorer.identity not in self._gates:
            return False
        if score.outcome == "graded":
            return not broke_off and (score.value or 0.0) < 1.0 - SLACK
        return score.outcome in ("failed", "error", "no_evidence")

    def _unreadable(self, error: RecordingError | None) -> Case:
        name, group, message, hint = f"record {self._read}", "runs", "the record could not be read", ""
        if error is not None:
            message, hint = (f"at {shortened(error.path, _MAX_WORDS)}: " if error.path else "") + error.problem, error.hint
            if error.file is not None:
                name, group = str(Source(error.file, error.line, error.index)), error.file
        text = (f"at {name}", f"cannot be read: {message}", *([f"hint: {hint}"] if hint else []))
        return Case(name, group, Problem("broke", "unreadable", f"cannot be read: {message}", text))


def _summary_case(one: ScorerSummary) -> Case:
    """A threshold over all runs, or a gate that was judged on none."""
    mean = "no mean" if one.mean is None else f"mean {one.mean:.3g}"
    counts = [f"{getattr(one, column)} {said}" for column, said in _words.COLUMNS.items() if getattr(one, column)]
    told = ", ".join([mean, *counts])
    name = f"{one.scorer} {one.threshold}" if one.threshold is not None else one.scorer
    if one.verdict == "passed":
        return Case(name, "checks", output=(f"passed: {told}",))
    message = f"{one.scorer}: {told}" + (f", needs {one.threshold}" if one.threshold is not None else "")
    text = [f"✗ {message}", *([f"why: {one.why}"] if one.why else [])]
    if one.furthest is not None:
        text += [f"furthest off: {one.furthest.place}", f"reason: {one.furthest.reason}"]
    if one.no_evidence_reason:
        text.append(f"no evidence: {one.no_evidence_reason}")
    return Case(name, "checks", Problem("failure", one.verdict or "", message, tuple(text)))


def _key(one: Assertion) -> _Key:
    return (one.turn, one.identity, one.bounds)


def _asserted(one: Assertion) -> bool:
    return one.mode is None and (one.role == "gate" or one.bounds is not None)


def _aggregated(one: Assertion) -> bool:
    """Whether it judges all items together, so that single items may fall short of it."""
    return one.bounds is not None or one.pass_rate < 1


def _item_case(
    item: ItemResult, name: str, missed: Mapping[_Key, AssertionResult], *, numbered: bool, too_many: bool
) -> tuple[Case, set[str]]:
    """The case of an item, and the labels of the gates whose fall it shows."""
    pairs = list(zip(item.plan, item.scores, strict=False))
    wrong = [(one, score) for one, score in pairs if _key(one) in missed and _falls_short(one, score, errored=item.errored)]
    broken = [(one, score) for one, score in pairs if score.outcome == "error" and one.mode is None and (one, score) not in wrong]
    text = [f"at {item.item.source}"] if item.item.source is not None else []
    text += [line for one, score in wrong + broken for line in _why(score, one.turn)]
    text += _asked_and_answered(item)
    said = tuple(_said(score, one.turn) for one, score in pairs if one.mode != "shadow")
    scores = _failed_first(score for _, score in wrong)
    problem = None
    if item.error is not None and (too_many or not wrong):
        error = item.error
        message = f"the target broke: {error.message}"
        text += ["\n".join(frames(error.traceback))] if error.traceback else []
        problem = Problem("broke", error.type or error.kind, message, tuple(text))
    elif wrong:
        problem = Problem(_kind_of(scores), _type_of(scores[0]), _first(scores), tuple(text))
    elif broken:
        problem = Problem("broke", "error", _first([score for _, score in broken]), tuple(text))
    elif not any(score.value is not None for score in item.scores):
        problem = Problem("skipped", "not_judged", "nothing was judged", tuple(text))
    named = f"{item.id} [{item.repetition + 1}]" if numbered else item.id
    return Case(named, name, problem, said, item.seconds), {one.label for one, _ in wrong}


def _falls_short(one: Assertion, score: Score, *, errored: bool) -> bool:
    """Whether an item is one that a gate falls for."""
    if one.role != "gate" or one.mode is not None:
        return False
    if errored:
        return score.outcome in ("failed", "error")
    return score.outcome in ("failed", "error", "no_evidence") or (score.value is not None and score.value < 1)


def _assertion_case(one: Assertion, found: AssertionResult, group: str) -> Case:
    """A gate or a threshold over all items."""
    asked = str(one.bounds) if one.bounds is not None else f"on {100 * one.pass_rate:g} % of the items"
    name = f"{one.label} {asked}" if _aggregated(one) else one.label
    if found.passed:
        return Case(name, group, output=(f"passed: {found.explanation}",))
    text = [f"✗ {name}: {found.explanation}"] + ([f"why: {one.scorer.why}"] if one.scorer.why else [])
    text += [f"below: {item}" for item in found.below[:_MAX_ITEMS]]
    if len(found.below) > _MAX_ITEMS:
        text.append(f"and {len(found.below) - _MAX_ITEMS} more")
    return Case(name, group, Problem("failure", found.verdict, f"{name}: {found.explanation}", tuple(text)))


def _verdict_problem(result: EvalResult) -> Problem:
    """The verdict, where no item and no check says why it is what it is."""
    why = result.incomplete or ("nothing was scored" if nothing_scored(result) else "")
    message = ": ".join(part for part in (_words.said(result), why) if part)
    return Problem("failure", result.verdict or "nothing", message, (result.explain(),))


def _asked_and_answered(item: ItemResult) -> Iterator[str]:
    for asked in item.item.asked:
        yield f"asked: {asked}" if isinstance(asked, str) else f"asked: {_render.value(asked, _MAX_ASKED)}"
    if item.run is not None:
        yield f"answered: {item.run.text}"


def _compared_cases(comparison: EvalComparison, *, asked: bool) -> Iterator[Case]:
    moved: dict[str, list[str]] = {}
    for direction, changes in _comparison_words.by_direction(comparison).items():
        for one in changes:
            moved.setdefault(one.item, []).extend(_moved(direction, one))
    broke = {one.item: one for one in reversed(comparison.broke)}
    for item in dict.fromkeys((*comparison.common, *moved)):
        told = tuple(moved.get(item, ()))
        if item not in broke:
            yield Case(item, "comparison", output=told)
            continue
        first = broke[item]
        message = ": ".join(part for part in (_moved("broke", first)[0], first.reason) if part)
        if not asked:
            message += " (which --fail-on does not ask about)"
        yield Case(item, "comparison", Problem("failure" if asked else "skipped", "broke", message, told))
    for said, ids in _comparison_words.unmatched(comparison):
        for item in ids:
            yield Case(item, "comparison", Problem("skipped", "not_compared", f"not compared: {said}"))
    for scorer in _comparison_words.scorers(comparison):
        text = (f"scorer: {scorer.scorer}", f"said: {scorer.said}")
        fell = Problem("failure", "fell", f"{scorer.scorer}: {scorer.said}", text) if scorer.fell and asked else None
        yield Case(scorer.scorer, "comparison.checks", fell, () if fell else text[1:])
    if asked and comparison.verdict_fell:
        message = f"the verdict fell from {comparison.verdicts[0]} to {comparison.verdicts[1]}"
        yield Case("verdict", "comparison.checks", Problem("failure", "fell", message))


def _decision_problem(decision: Decision) -> Problem:
    return Problem("failure", "regressed" if decision.exit_code == 1 else "undecided", decision.said)


def _moved(direction: str, one: Change) -> list[str]:
    before, after = shortened(one.before, _MAX_WORDS), shortened(one.after, _MAX_WORDS)
    told = [f"{direction}: {shortened(one.scorer, _MAX_WORDS) or 'the target'}: {before} → {after}"]
    told += [f"reason: {one.reason}"] if one.reason else []
    return told + ([f"diverges: {one.divergence}"] if one.divergence else [])


def _said(score: Score, turn: int | None = None) -> str:
    """What a score says, in few words: `passed: includes('sunny')`, `0.812: similarity('It is sunny.')`."""
    told = f"{score.value:.3g}" if score.outcome == "graded" and score.value is not None else score.outcome.replace("_", " ")
    return f"{told}: {_who(score, turn)}"


def _why(score: Score, turn: int | None = None) -> Iterator[str]:
    """What a reader needs to see why a check failed."""
    told = "" if score.outcome == "failed" else f" ({_outcome(score)})"
    yield f"✗ {_who(score, turn)}{told}: {score.reason}"
    if score.scorer.why:
        yield f"  why: {score.scorer.why}"
    if score.run is not None:
        yield from (f"  {place}" for place in _evidence.told(score.run, score.evidence))


def _first(scores: Sequence[Score]) -> str:
    """The first reason, for a list of failures."""
    first = scores[0]
    told = "" if first.outcome == "failed" else f" ({_outcome(first)})"
    more = f" (and {many(len(scores) - 1, 'more check')})" if len(scores) > 1 else ""
    return f"{_who(first)}{told}: {first.reason}{more}"


def _who(score: Score, turn: int | None = None) -> str:
    who = shortened(score.scorer.identity, _MAX_WORDS)
    return who if turn is None else f"turn {turn}: {who}"


def _outcome(score: Score) -> str:
    return {"no_evidence": "no evidence", "error": "the check broke"}.get(score.outcome, score.outcome)


def _failed_first(wrong: Iterable[Score]) -> list[Score]:
    """The scores with those last that only lack evidence."""
    return sorted(wrong, key=lambda score: score.outcome == "no_evidence")


def _kind_of(wrong: Sequence[Score]) -> Literal["failure", "error"]:
    """A case fails where a check says so; where there is only no evidence it could not be judged, which is an error."""
    return "error" if all(score.outcome == "no_evidence" for score in wrong) else "failure"


def _type_of(score: Score) -> str:
    return "failed" if score.outcome == "graded" else score.outcome


def _numbered(what: str, texts: Sequence[str]) -> dict[str, str]:
    return {f"{what} {number}": text for number, text in enumerate(texts, start=1)}
