"""Two results side by side: what is compared, what broke and mended, how sure that is, and where the runs part."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from quickchecks import (
    EvalResult,
    Run,
    Scorer,
    Usage,
    checks,
    compare_results,
    create_scorer,
    load_result,
    no_evidence,
    not_applicable,
    run_evals_sync,
)
from quickchecks import testing as t
from quickchecks._results.comparison import EvalComparison, ScorerChange

OK = checks.includes("ok")


def evaluated(answers: Mapping[str, object], *scorers: object, gates: Sequence[object] = (), repetitions: int = 1) -> EvalResult:
    """What comes of recorded answers, by the id of the item; an exception is what the target raises.

    With repetitions an answer is a list of one for each.
    """
    left = {item: list(said) if isinstance(said, list) else [said] for item, said in answers.items()}

    def target(item: str) -> object:
        said = left[item].pop(0)
        if isinstance(said, Exception):
            raise said
        return said

    entries = scorers or ((OK,) if not gates else ())
    data = [{"id": item, "input": item} for item in answers]
    return run_evals_sync(data, target, entries, gates, repetitions=repetitions, concurrency=1)


def compared(before: Mapping[str, object], after: Mapping[str, object], *scorers: object, **options: int) -> EvalComparison:
    return compare_results(evaluated(before, *scorers, **options), evaluated(after, *scorers, **options))  # type: ignore[arg-type]


def only(found: EvalComparison) -> ScorerChange:
    (one,) = found.scorers
    return one


def given() -> Scorer:
    """A graded scorer: the answer is the number."""
    return create_scorer(id="given").generate_score(lambda output: float(output))


def test_the_case_of_the_field_reports(shared: Path) -> None:
    """Items join by id and content; what only one side has, or what changed, is named and not compared."""
    cases = json.loads((shared / "cases/field-reports.json").read_text(encoding="utf-8"))
    cases = [case for case in cases if case["kind"] == "compare"]
    assert [case["id"] for case in cases] == ["B53a"]
    for case in cases:
        sides = []
        for name in ("runA", "runB"):
            data = [{"id": one["item"], "input": one["item"], "expected": one["version"]} for one in case[name]]
            scores = {one["item"]: one["score"] for one in case[name]}
            sides.append(run_evals_sync(data, lambda item, scores=scores: str(scores[item]), [given()]))
        found, expected = compare_results(*sides), case["expected"]
        assert list(found.common) == expected["common"]
        assert list(found.only_before) == expected["onlyInA"]
        assert list(found.only_after) == expected["onlyInB"]
        assert list(found.changed_items) == expected["changed"]
        assert {item: only(found).difference for item in found.common} == expected["deltaOnCommon"]
        assert only(found).items == len(expected["common"])


def test_nothing_in_common_is_nothing_compared() -> None:
    found = compared({"1": "ok"}, {"2": "ok"})
    assert (found.common, found.scorers, found.broke, found.regressed) == ((), (), (), False)


def test_scorers_that_only_one_side_has_are_named() -> None:
    found = compare_results(evaluated({"1": "ok"}, OK, checks.includes("a")), evaluated({"1": "ok"}, OK, checks.includes("b")))
    assert (found.only_scorers_before, found.only_scorers_after) == (("includes('a')",), ("includes('b')",))
    assert only(found).scorer == "includes('ok')"


def test_what_broke_and_mended_is_told_item_by_item() -> None:
    found = compared({"1": "ok", "2": "ok", "3": "no"}, {"1": "ok", "2": "no", "3": "ok"})
    assert [(one.item, one.scorer, one.before, one.after) for one in found.broke] == [("2", "includes('ok')", "passed", "failed")]
    assert [(one.item, one.before, one.after) for one in found.mended] == [("3", "failed", "passed")]
    assert found.broke[0].reason == '"ok" is not in the answer; nothing like it is in "no"'
    assert found.broke[0].divergence == 'the answer differs from 0 on: "ok" → "no"'
    assert found.mended[0].divergence == 'the answer differs from 0 on: "no" → "ok"'
    assert found.regressed
    assert (only(found).broke, only(found).mended) == (1, 1)


def test_an_item_that_broke_is_told_as_such_and_never_counted_as_0() -> None:
    found = compared({"1": "ok", "2": "ok", "3": OSError("gone")}, {"1": "ok", "2": ValueError("boom"), "3": "ok"})
    assert [(one.item, one.scorer, one.after, one.reason) for one in found.broke] == [
        ("2", "", "broke: exception", "ValueError: boom")
    ]
    assert [(one.item, one.before, one.after) for one in found.mended] == [("3", "broke: exception", "answered")]
    assert (only(found).items, only(found).before, only(found).after) == (1, 1, 1)
    assert found.regressed


@pytest.mark.parametrize(
    ("now", "outcome"), [(None, "error"), (no_evidence("it is hidden"), "no evidence"), (False, "failed"), (0.5, None)]
)
def test_a_scorer_that_says_less_than_before_broke_the_item_and_is_never_0(now: object, outcome: str | None) -> None:
    def answering(answer: object) -> Scorer:
        return create_scorer(id="check", version="1").generate_score(lambda: answer)

    found = compare_results(evaluated({"1": "a"}, answering(True)), evaluated({"1": "a"}, answering(now)))
    assert [one.after for one in found.broke] == ([outcome] if outcome else [])
    assert [one.after for one in found.scorers if one.after == 0] == ([0] if outcome == "failed" else [])
    back = compare_results(evaluated({"1": "a"}, answering(now)), evaluated({"1": "a"}, answering(True)))
    assert [one.before for one in back.mended] == ([outcome] if outcome else [])


def test_what_no_longer_applies_did_not_break() -> None:
    def answering(answer: object) -> Scorer:
        return create_scorer(id="check", version="1").generate_score(lambda: answer)

    found = compare_results(evaluated({"1": "a"}, answering(True)), evaluated({"1": "a"}, answering(not_applicable())))
    assert (found.broke, found.mended, found.scorers) == ((), (), ())


def test_numbers_do_not_break_but_fall() -> None:
    found = compared({str(n): "1" for n in range(12)}, {str(n): "0.8" for n in range(12)}, given())
    assert (found.broke, only(found).test) == ((), "permutation")
    assert only(found).said == "1 → 0.8 (-0.2, 95 % interval -0.2 to -0.2) on 12 items: worse (p = 0.00049)"
    assert found.regressed


def test_a_graded_gate_passes_at_1_and_so_breaks_below() -> None:
    sides = [evaluated({"1": said}, gates=[checks.similarity("It is sunny.")]) for said in ("It is sunny.", "It is rainy.")]
    assert [one.after for one in compare_results(*sides).broke] == ["graded"]


def test_what_chance_explains_is_no_difference() -> None:
    before = {str(n): "ok" for n in range(20)}
    found = compared(before, {**before, "3": "no", "4": "no"})
    assert only(found).p_value == 0.5
    assert only(found).said == (
        "1 → 0.9 (-0.1, 95 % interval -0.24 to +0.0586) on 20 items: not more than chance explains (p = 0.5); 2 broke, 0 mended"
    )


def test_what_chance_does_not_explain_is_worse_or_better() -> None:
    good, bad = {str(n): "ok" for n in range(20)}, {str(n): "no" if n < 8 else "ok" for n in range(20)}
    assert "worse (p = 0.0078); 8 broke, 0 mended" in only(compared(good, bad)).said
    assert "better (p = 0.0078); 0 broke, 8 mended" in only(compared(bad, good)).said
    assert not compared(bad, good).regressed


def test_no_change_is_said_and_not_called_certain() -> None:
    one = only(compared({"1": "ok", "2": "no"}, {"1": "ok", "2": "no"}))
    assert one.said == "0.5 → 0.5 (+0, 95 % interval -0.49 to +0.49) on 2 items: no change"
    assert one.p_value == 1


def test_a_number_on_one_item_has_no_interval() -> None:
    one = only(compared({"1": "0.5"}, {"1": "0.75"}, given()))
    assert one.interval is None
    assert one.said == "0.5 → 0.75 (+0.25) on 1 item: not more than chance explains (p = 1)"


def test_the_interval_of_numbers_up_to_1_is_no_wider_than_they_can_differ() -> None:
    one = only(compared({"1": "0.5", "2": "0.25"}, {"1": "0.75", "2": "0.25"}, given()))
    assert one.interval == (-1, 1)


def test_several_scorers_are_adjusted_for_being_several() -> None:
    good, bad = {str(n): "ok a" for n in range(20)}, {str(n): "a" if n < 6 else "ok a" for n in range(20)}
    alone = only(compared(good, bad, OK))
    both = compared(good, bad, OK, checks.includes("a")).scorers
    assert alone.p_value == 0.03125
    assert [one.p_value for one in both] == [0.0625, 1]
    assert "not more than chance explains (p = 0.062)" in both[0].said


def test_a_check_that_is_a_gate_and_measured_is_told_once() -> None:
    sides = [evaluated({"1": said}, OK, gates=[OK]) for said in ("ok", "no")]
    found = compare_results(*sides)
    assert [(one.item, one.before, one.after) for one in found.broke] == [("1", "passed", "failed")]
    assert len(found.scorers) == 1


def test_two_checks_of_one_name_are_told_apart_by_their_role() -> None:
    def sides(said: str) -> EvalResult:
        return evaluated({"1": said}, checks.includes("b", name="x"), gates=[checks.includes("a", name="x")])

    found = compare_results(sides("a b"), sides("a"))
    assert [(one.scorer, one.before, one.after) for one in found.scorers] == [("x", 1, 1), ("x", 1, 0)]
    assert [one.reason for one in found.broke] == ['"b" is not in the answer; nothing like it is in "a"']


def test_a_check_that_became_a_gate_is_still_compared() -> None:
    found = compare_results(evaluated({"1": "ok"}, OK), evaluated({"1": "no"}, gates=[OK]))
    assert [one.item for one in found.broke] == ["1"]
    assert found.only_scorers_before == found.only_scorers_after == ()


def test_a_check_that_itself_changed_is_named() -> None:
    sides = [evaluated({"1": "ok"}, checks.includes(text, name="said")) for text in ("o", "k")]
    assert only(compare_results(*sides)).said.endswith("; the check itself changed")


def test_a_check_whose_code_cannot_be_read_is_not_called_changed() -> None:
    unknown = create_scorer(id="x").generate_score(partial(lambda run: True))
    known = create_scorer(id="x", version="1").generate_score(lambda run: True)
    assert (unknown.version, known.version) == ("", "1")
    assert not only(compare_results(evaluated({"1": "ok"}, unknown), evaluated({"1": "ok"}, known))).version_changed


def test_repetitions_are_compared_item_by_item() -> None:
    found = compared(
        {"1": ["ok", "ok"], "2": ["ok", "no"], "3": ["no", "no"]},
        {"1": ["ok", "no"], "2": ["no", "ok"], "3": ["ok", "ok"]},
        repetitions=2,
    )
    assert (only(found).items, only(found).test) == (3, "permutation")
    assert [(one.item, one.before, one.after) for one in found.broke] == [("1", "2 × passed", "1 × passed, 1 × failed")]
    assert [(one.item, one.before, one.after) for one in found.mended] == [("3", "2 × failed", "2 × passed")]
    assert found.broke[0].reason == '"ok" is not in the answer; nothing like it is in "no"'
    assert found.broke[0].divergence == 'the answer differs from 0 on: "ok" → "no"'
    assert only(found).before == 0.5
    assert only(found).after == pytest.approx(2 / 3)


def test_a_repetition_that_broke_is_left_out_of_the_mean_and_told() -> None:
    found = compared({"1": ["ok", "ok"]}, {"1": ["ok", OSError("gone")]}, repetitions=2)
    assert [(one.scorer, one.after) for one in found.broke] == [("", "broke: exception")]
    assert only(found).after == 1


def test_turns_are_compared_apart() -> None:
    def sides(second: str) -> EvalResult:
        answers = iter(["ok", second])
        turns = [{"input": "a", "gates": [OK]}, {"input": "b", "gates": [OK]}]
        return run_evals_sync([{"id": "1", "turns": turns}], lambda text, history: next(answers))

    found = compare_results(sides("ok"), sides("no"))
    assert [one.scorer for one in found.scorers] == ["turn 0: includes('ok')", "turn 1: includes('ok')"]
    assert [one.scorer for one in found.broke] == ["turn 1: includes('ok')"]


def test_cost_tokens_and_seconds_are_compared_where_both_know_them() -> None:
    def run(cost: float | None, tokens: int) -> Run:
        return t.run("ok", usage=Usage(tokens, 10, cost=cost))

    found = compared({"1": run(1, 90), "2": run(5, 90), "3": "ok"}, {"1": run(1.5, 190), "2": run(None, 90), "3": "ok"})
    measures = {one.name: one for one in found.measures}
    assert (measures["cost"].items, measures["cost"].before, measures["cost"].after) == (1, 1, 1.5)
    assert measures["cost"].growth == 0.5
    assert (measures["tokens"].items, measures["tokens"].before, measures["tokens"].after) == (2, 200, 300)
    assert measures["seconds"].items == 3


def test_what_is_measured_does_not_grow_with_the_repetitions() -> None:
    def run() -> Run:
        return t.run("ok", usage=Usage(100, 0, cost=2))

    found = compare_results(evaluated({"1": run()}), evaluated({"1": [run(), run()]}, repetitions=2))
    assert [(one.before, one.after) for one in found.measures if one.name != "seconds"] == [(2, 2), (100, 100)]


def test_a_measure_that_was_nothing_grows_without_bound() -> None:
    (cost,) = [
        one
        for one in compared({"1": t.run("ok", usage=Usage(cost=0))}, {"1": t.run("ok", usage=Usage(cost=1))}).measures
        if one.name == "cost"
    ]
    assert cost.growth == float("inf")


def test_results_read_from_files_compare_the_same(tmp_path: Path) -> None:
    sides = []
    for name, second in (("a", "ok"), ("b", "no")):
        result = evaluated({"1": t.run(t.call("search"), "ok"), "2": t.run(t.call("search"), t.call("refund"), second)})
        result.save(tmp_path / f"{name}.json")
        sides.append(result)
    read = compare_results(load_result(tmp_path / "a.json"), load_result(tmp_path / "b.json"))
    direct = compare_results(*sides)
    assert msgspec.structs.replace(read, measures=()) == msgspec.structs.replace(direct, measures=())
    assert json.loads(msgspec.json.encode(read))["schema"] == "quickchecks.comparison/1"


def test_without_runs_nothing_is_said_of_where_they_part(tmp_path: Path) -> None:
    data = [{"id": "1", "input": "a"}]
    for name in ("ok", "no"):
        result = run_evals_sync(data, lambda text, name=name: name, [OK], record=tmp_path / f"{name}.jsonl")
        result.save(tmp_path / f"{name}.json")
        (tmp_path / f"{name}.jsonl").unlink()
    found = compare_results(load_result(tmp_path / "ok.json"), load_result(tmp_path / "no.json"))
    assert [(one.item, one.divergence) for one in found.broke] == [("1", "")]


def gated(answers: dict[str, str]) -> EvalResult:
    data = [{"id": item, "input": item} for item in answers]
    return run_evals_sync(data, answers.__getitem__, gates=[checks.includes("ok")])


def test_a_result_that_was_broken_off_clears_nothing() -> None:
    whole = gated({"a": "ok", "b": "ok"})
    part = replace(whole, items=whole.items[:1], interrupted=True)
    found = compare_results(whole, part)
    assert found.open_ended == "the second result was broken off"
    assert found.verdicts == ("passed", "undecided")


def test_a_verdict_that_fell_is_a_regression_whatever_the_items_in_common_say() -> None:
    found = compare_results(gated({"a": "ok"}), gated({"a": "ok", "new": "no"}))
    assert found.regressed
    assert not found.broke
