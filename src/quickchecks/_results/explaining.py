"""A result as text: the verdict, what decided it, and what failed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quickchecks import _render
from quickchecks._render import many

if TYPE_CHECKING:
    from quickchecks._gates import Counts
    from quickchecks._results.evaluation import EvalResult

__all__ = ("explained",)

_MOST_GROUPS = 20
_MAX_NAME = 300
#: The most lines and characters of a message that is not ours.
_MOST_LINES = 20
_MAX_TEXT = 10_000
#: What is said of scorers that assert nothing, by mode.
_UNASSERTED = {None: "measured", "watch": "watched", "shadow": "shadow"}


def explained(result: EvalResult) -> str:
    """Write a result as a table and sentences.

    Args:
        result: The result.
    """
    lines = [_headline(result), ""]
    lines += _assertions(result)
    lines += _means(result)
    lines += _failures(result)
    lines += _flaky(result)
    lines += [f"warning: {_hanging(warning, 2)}" for warning in result.warnings]
    return "\n".join(lines).rstrip()


def _headline(result: EvalResult) -> str:
    summary = result.summary
    verdict = result.verdict or "no verdict: nothing was asserted (there are no gates, and no scorers with a threshold)"
    items = many(summary.total_items, "item")
    runs = items if result.repetitions == 1 else f"{items} × {result.repetitions}"
    if result.parts:
        runs = items if summary.total_runs == summary.total_items else f"{items}, {many(summary.total_runs, 'run')}"
    parts = [many(len(result.parts), "evaluation")] if result.parts else []
    parts.append(runs)
    if summary.errored:
        parts.append(f"{summary.errored} broke")
    usage = result.usage
    if usage is not None and (usage.input_tokens or usage.output_tokens):
        parts.append(f"{(usage.input_tokens or 0) + (usage.output_tokens or 0):,} tokens")
    if usage is not None and usage.cost:
        parts.append(f"${usage.cost:.4f}")
    parts.append(f"{result.seconds:.1f} s")
    name = f"{_render.name(result.name, _MAX_NAME)}: " if result.name else ""
    interrupted = (
        " (interrupted)"
        if result.interrupted
        else f" ({_render.name(result.incomplete, _MAX_NAME)})"
        if result.incomplete
        else ""
    )
    return f"{name}{verdict}{interrupted} · {' · '.join(parts)}"


def _assertions(result: EvalResult) -> list[str]:
    found = []
    for gate in result.gate_results:
        found.append((gate.verdict, f"gate {gate.label}", gate.explanation))
    for threshold in result.threshold_results:
        found.append((threshold.verdict, f"{threshold.label} {threshold.bounds}", threshold.explanation))
    if found and result.error_count > result.max_errors:
        allowed = f"at most {result.max_errors} may be" if result.max_errors else "none may be"
        found.append(("failed", "errors", f"{many(result.error_count, 'error')}, {allowed} (max_errors)"))
    worst = [part for part in result.parts if part.verdict not in (None, "passed")]
    for verdict in ("failed", "undecided", "scored"):
        names = [part.name for part in worst if part.verdict == verdict]
        if names:
            found.append((verdict, many(len(names), "evaluation"), _render.listed(names, limit=5)))
    width = max((len(name) for _, name, _ in found), default=0)
    width = min(width, 60)
    return [f"  {verdict:<9}  {_render.name(name):<{width}}  {_hanging(why, 6)}" for verdict, name, why in found]


def _means(result: EvalResult) -> list[str]:
    means: dict[tuple[int | None, str], float] = {(None, identity): mean for identity, mean in result.scores.items()}
    for turn in result.turn_results:
        means.update({(turn.index, identity): mean for identity, mean in turn.scores.items()})
    asserted = {one.label for one in (*result.gate_results, *result.threshold_results)}
    found = []
    for one in result.assertions:
        if one.role != "scorer" or one.bounds is not None:
            continue
        mean = means.get((one.turn, one.identity))
        shown = "only recorded" if one.mode == "shadow" else "–" if mean is None else f"{mean:.3g}"
        # What is a gate too shares its counts, which stand there already.
        counted = "" if one.label in asserted else f"  ({_counted(result.summary.scorers[one.label])})"
        found.append(f"  {_UNASSERTED[one.mode]:<9}  {_render.name(one.label)}  {shown}{counted}")
    return found


def _counted(counts: Counts) -> str:
    told = [
        f"{count} {name}"
        for name, count in (
            ("passed", counts.passed),
            ("failed", counts.failed),
            ("graded", counts.graded),
            ("not applicable", counts.not_applicable),
            ("no evidence", counts.no_evidence),
            ("broke", counts.errors),
            ("unscored", counts.unscored),
        )
        if count
    ]
    return ", ".join(told) or "nothing scored"


def _failures(result: EvalResult) -> list[str]:
    lines: list[str] = []
    for group in result.failures[:_MOST_GROUPS]:
        who = _render.name(group.scorer, _MAX_NAME) or "the target"
        lines.append(f"  ✗ {who}  ({_render.listed(list(group.items), limit=5)})")
        lines.append(f"      {_hanging(group.reason, 6)}")
        if group.why:
            lines.append(f"      why: {_hanging(group.why, 8)}")
    if len(result.failures) > _MOST_GROUPS:
        lines.append(f"  … and {len(result.failures) - _MOST_GROUPS} more kinds of failure")
    return ["", *lines, ""] if lines else []


def _flaky(result: EvalResult) -> list[str]:
    return [
        f"  flaky: {_render.name(label, _MAX_NAME)}: {_render.listed(list(items), limit=8)}"
        for label, items in result.flaky.items()
    ]


def _hanging(text: str, indent: int) -> str:
    """A text that may have several lines, the later ones indented, so that none of them looks like one of ours."""
    shown = [line for line in text[:_MAX_TEXT].splitlines() if line.strip()]
    cut = len(shown) > _MOST_LINES or len(text) > _MAX_TEXT
    return f"\n{' ' * indent}".join([*shown[:_MOST_LINES], *(["…"] if cut else [])])
