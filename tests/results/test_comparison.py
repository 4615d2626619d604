"""Two results side by side: what is compared, what broke and mended, how sure that is, and where the runs part."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Literal

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
from quickchecks._results.changes import EvalComparison, ScorerChange

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
    assert only(found).said == (
        "1 → 0.8 (-0.2; no interval can be told: all differ by the same) on 12 items: worse (p = 0.00049)"
    )
    assert found.regressed


def test_a_graded_gate_passes_at_1_and_so_breaks_below() -> None:
    sides = [evaluated({"1": said}, gates=[checks.similarity("It is sunny.")]) for said in ("It is sunny.", "It is rainy.")]
    assert [one.after for one in compare_results(*sides).broke] == ["graded"]


def test_what_chance_explains_is_no_difference() -> None:
    before = {str(n): "ok" for n in range(20)}
    found = compared(before, {**before, "3": "no", "4": "no"})
    assert only(found).p_value == 0.5
    assert only(found).said == (
        "1 → 0.9 (-0.1; 95 % interval -0.24 to +0.0586) on 20 items: over all items no more than chance explains (p = 0.5); "
        "2 broke, 0 mended"
    )


def test_what_chance_does_not_explain_is_worse_or_better() -> None:
    good, bad = {str(n): "ok" for n in range(20)}, {str(n): "no" if n < 8 else "ok" for n in range(20)}
    assert "worse (p = 0.0078); 8 broke, 0 mended" in only(compared(good, bad)).said
    assert "better (p = 0.0078); 0 broke, 8 mended" in only(compared(bad, good)).said
    assert not compared(bad, good).regressed


def test_no_change_is_said_and_not_called_certain() -> None:
    one = only(compared({"1": "ok", "2": "no"}, {"1": "ok", "2": "no"}))
    assert one.said == "0.5 → 0.5 (+0; 95 % interval -0.49 to +0.49) on 2 items: no change"
    assert one.p_value == 1


def test_a_number_on_one_item_has_no_interval() -> None:
    one = only(compared({"1": "0.5"}, {"1": "0.75"}, given()))
    assert one.interval is None
    assert one.said == (
        "0.5 → 0.75 (+0.25; no interval can be told from 1 item) on 1 item: over all items no more than chance explains (p = 1)"
    )


def test_the_interval_of_numbers_up_to_1_is_no_wider_than_they_can_differ() -> None:
    one = only(compared({"1": "0.5", "2": "0.25"}, {"1": "0.75", "2": "0.25"}, given()))
    assert one.interval == (-1, 1)


def test_several_scorers_are_adjusted_for_being_several() -> None:
    good, bad = {str(n): "ok a" for n in range(20)}, {str(n): "a" if n < 6 else "ok a" for n in range(20)}
    alone = only(compared(good, bad, OK))
    both = compared(good, bad, OK, checks.includes("a")).scorers
    assert alone.p_value == 0.03125
    assert [one.p_value for one in both] == [0.0625, 1]
    assert "over all items no more than chance explains (p = 0.062, adjusted for 2 scorers)" in both[0].said


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
    assert [(one.scorer, one.after) for one in found.broke] == [("", "1 of 2 broke: exception")]
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


@pytest.mark.parametrize(
    ("before", "after", "fell"),
    [
        ("passed", "failed", True),
        ("passed", "scored", True),
        ("scored", "failed", True),
        ("undecided", "failed", True),
        (None, "failed", False),
        ("failed", "scored", False),
        ("undecided", "scored", False),
        ("failed", "failed", False),
        ("passed", "undecided", False),
    ],
)
def test_which_verdicts_have_fallen(before: str | None, after: str, fell: bool) -> None:
    assert EvalComparison(verdicts=(before, after)).regressed is fell


#: The answers of one item before and now, how it moved, and under which scorer ("" is the target itself).
GONE = OSError("gone")
MOVES = [
    (["ok", "ok", "ok"], ["ok", "ok", "no"], "broke", "includes('ok')"),
    (["ok", "ok", "no"], ["no", "no", "no"], "broke", "includes('ok')"),
    (["ok", "no", "no"], ["ok", "no", "no"], None, ""),
    (["ok", "ok", "no"], ["ok", "no", "no"], "worse", "includes('ok')"),
    (["ok", "no", "no"], ["ok", "ok", "no"], "better", "includes('ok')"),
    (["no", "no", "no"], ["ok", "no", "no"], "better", "includes('ok')"),
    (["ok", "no", "no"], ["ok", "ok", "ok"], "mended", "includes('ok')"),
    ([GONE, "ok", "ok"], [GONE, GONE, GONE], "broke", ""),
    (["ok", "ok", "ok"], [GONE, "ok", "ok"], "broke", ""),
    ([GONE, "ok", "ok"], [GONE, GONE, "ok"], "worse", ""),
    ([GONE, GONE, "ok"], [GONE, "ok", "ok"], "better", ""),
    ([GONE, GONE, GONE], [GONE, GONE, "ok"], "better", ""),
    ([GONE, GONE, GONE], ["ok", "ok", "ok"], "mended", ""),
]


def directions(found: EvalComparison) -> list[tuple[str, str]]:
    lists = {"broke": found.broke, "worse": found.worse, "better": found.better, "mended": found.mended}
    return [(direction, one.scorer) for direction, changes in lists.items() for one in changes]


@pytest.mark.parametrize(("before", "after", "direction", "scorer"), MOVES)
def test_how_an_item_moves_by_its_repetitions(before: object, after: object, direction: str | None, scorer: str) -> None:
    found = compared({"1": before}, {"1": after}, repetitions=3)
    assert directions(found) == ([] if direction is None else [(direction, scorer)])
    assert found.regressed is (direction == "broke")


def test_what_an_item_says_whose_repetitions_broke_more_often() -> None:
    (one,) = compared({"1": [GONE, "ok", "ok"]}, {"1": [GONE, GONE, GONE]}, repetitions=3).broke
    assert (one.before, one.after, one.reason) == ("1 of 3 broke: exception", "3 of 3 broke: exception", "OSError: gone")


def test_items_that_pass_less_count_when_the_scorer_fell_over_all() -> None:
    before, after = ["ok", "ok", "no"], ["ok", "no", "no"]
    few = compared({str(n): before for n in range(3)}, {str(n): after for n in range(3)}, repetitions=3)
    many = compared({str(n): before for n in range(8)}, {str(n): after for n in range(8)}, repetitions=3)
    assert (len(few.worse), few.fallen, few.regressed) == (3, (), False)
    assert (len(many.worse), many.broke, many.fallen, many.regressed) == (8, (), ("includes('ok')",), True)


def test_items_that_break_more_often_count_when_they_do_over_all() -> None:
    before, after = [GONE, "ok", "ok"], [GONE, GONE, "ok"]
    few = compared({str(n): before for n in range(3)}, {str(n): after for n in range(3)}, repetitions=3)
    many = compared({str(n): before for n in range(8)}, {str(n): after for n in range(8)}, repetitions=3)
    assert (len(few.worse), few.fallen, few.regressed) == (3, (), False)
    assert (len(many.worse), many.broke, many.fallen, many.regressed) == (8, (), ("answered",), True)


def test_a_different_number_of_repetitions_is_compared_by_share_and_told() -> None:
    thrice = {"1": ["ok", "ok", "ok"], "2": ["no", "no", "no"], "3": ["ok", "no", "no"]}
    found = compare_results(evaluated({"1": "ok", "2": "no", "3": "ok"}), evaluated(thrice, repetitions=3))
    assert [(one.item, one.before, one.after) for one in found.broke] == [("3", "passed", "1 × passed, 2 × failed")]
    assert (found.worse, found.better, found.mended) == ((), (), ())
    assert found.notes == ("an item was run up to 1 × before and 3 × now, so shares of repetitions are compared",)


def answering(answer: object) -> Scorer:
    return create_scorer(id="check", version="1").generate_score(lambda: answer)


@pytest.mark.parametrize(
    ("before", "after", "direction"),
    [
        (0.5, None, "broke"),
        (0.5, no_evidence("it is hidden"), "broke"),
        (None, 0.5, "mended"),
        (not_applicable(), False, "broke"),
        (not_applicable(), None, "broke"),
        (not_applicable(), True, None),
        (False, None, "worse"),
        (False, no_evidence("it is hidden"), "worse"),
        (None, None, None),
    ],
)
def test_a_scorer_that_can_judge_no_longer_does_not_vanish(before: object, after: object, direction: str | None) -> None:
    found = compare_results(evaluated({"1": "a"}, answering(before)), evaluated({"1": "a"}, answering(after)))
    assert [name for name, _ in directions(found)] == ([direction] if direction else [])


def test_a_scorer_that_judged_before_and_judges_nothing_now_leaves_it_open() -> None:
    found = compare_results(evaluated({"1": "a"}, answering(False), OK), evaluated({"1": "a"}, answering(not_applicable()), OK))
    assert found.open_ended == "check judged 1 item before and none of them now"


def test_items_that_a_scorer_no_longer_judges_are_told() -> None:
    def scorer(skipped: str) -> Scorer:
        return create_scorer(id="check", version="1").generate_score(lambda input: not_applicable() if input == skipped else True)

    data = {"1": "a", "2": "a"}
    found = compare_results(evaluated(data, scorer("")), evaluated(data, scorer("2")))
    said = "check judged 2 items before and 1 of them now; not applicable: 2"
    assert (found.notes, found.open_ended) == ((said, "no scorer judged 1 item in both: 2"), "")


def skipping(*skipped: str, what: object = None) -> Scorer:
    """Judges every item but some."""
    instead = not_applicable() if what is None else what
    return create_scorer(id="check", version="1").generate_score(lambda input: instead if input in skipped else True)


TEN = {str(n): "ok" for n in range(10)}


@pytest.mark.parametrize(
    ("kept", "open_ended"),
    [
        (10, ""),
        (9, ""),
        (5, ""),
        (4, "check judged 10 items before and 4 of them now"),
        (1, "check judged 10 items before and 1 of them now"),
        (0, "check judged 10 items before and none of them now"),
    ],
)
def test_a_gate_that_judges_less_than_half_of_what_it_judged_leaves_it_open(kept: int, open_ended: str) -> None:
    gone = [str(n) for n in range(kept, 10)]
    found = compare_results(evaluated(TEN, gates=[OK, skipping()]), evaluated(TEN, gates=[OK, skipping(*gone)]))
    assert (found.open_ended, found.regressed) == (open_ended, False)
    named = f"check judged 10 items before and {kept or 'none'} of them now; not applicable: {', '.join(gone)}"
    assert found.notes == ((named,) if gone else ())


def test_a_loss_is_told_when_something_else_regressed_too() -> None:
    after = evaluated({**TEN, "3": "no"}, gates=[OK, skipping(*TEN)])
    found = compare_results(evaluated(TEN, gates=[OK, skipping()]), after)
    assert (found.regressed, len(found.broke)) == (True, 1)
    assert found.notes[0].startswith("check judged 10 items before and none of them now; not applicable: 0, 1, 2")


def test_what_broke_counts_as_lost_and_is_named_once() -> None:
    hidden = skipping(*TEN, what=no_evidence("it is hidden"))
    found = compare_results(evaluated(TEN, skipping(), OK), evaluated(TEN, hidden, OK))
    assert (len(found.broke), found.notes) == (10, ("check judged 10 items before and none of them now",))
    few = compare_results(evaluated(TEN, skipping(), OK), evaluated(TEN, skipping("1", what=no_evidence("it is hidden")), OK))
    assert (len(few.broke), few.notes, few.open_ended) == (1, (), "")


def test_what_failed_and_can_no_longer_be_judged_on_most_items_leaves_it_open() -> None:
    found = compare_results(evaluated(TEN, answering(False), OK), evaluated(TEN, answering(no_evidence("it is hidden")), OK))
    assert (found.regressed, found.open_ended) == (False, "check judged 10 items before and none of them now")


def test_a_scorer_that_judges_fewer_repetitions_is_told() -> None:
    def scorer(says: list[object]) -> Scorer:
        return create_scorer(id="check", version="1").generate_score(lambda: says.pop(0))

    data = {"1": ["ok"] * 3}
    before = evaluated(data, scorer([True] * 3), OK, repetitions=3)
    found = compare_results(before, evaluated(data, scorer([True, True, not_applicable()]), OK, repetitions=3))
    said = "check judged more repetitions of 1 item before than now"
    assert (found.notes, found.open_ended) == ((f"{said}; in fewer repetitions: 1",), "")
    found = compare_results(before, evaluated(data, scorer([True, not_applicable(), not_applicable()]), OK, repetitions=3))
    assert (found.notes, found.open_ended) == ((f"{said}; in fewer repetitions: 1",), said)


def test_a_check_of_a_turn_that_is_no_longer_asked_is_told() -> None:
    def talked(*with_gate: str) -> EvalResult:
        gates: dict[str, object] = {"gates": [OK]}
        data = [{"id": item, "turns": [{"input": item, **(gates if item in with_gate else {})}]} for item in "abc"]
        return run_evals_sync(data, lambda item: "ok", [checks.excludes("no")])

    found = compare_results(talked("a", "b", "c"), talked("a", "b"))
    assert found.notes == ("turn 0: includes('ok') judged 3 items before and 2 of them now; not asked: c",)


def test_items_that_broke_are_no_loss_of_their_scorers() -> None:
    found = compared(TEN, {**TEN, **{str(n): GONE for n in range(9)}})
    assert (len(found.broke), found.open_ended) == (9, "")


def test_an_item_that_broke_in_both_is_told() -> None:
    found = compared({"1": GONE, "2": "ok"}, {"1": GONE, "2": "ok"})
    assert found.notes == ("no scorer judged 1 item in both (1 broke in both): 1",)
    assert not found.regressed


def test_numbers_that_fell_on_too_few_items_to_tell_are_told() -> None:
    found = compared({str(n): "1" for n in range(5)}, {str(n): "0.2" for n in range(5)}, given())
    assert not found.regressed
    assert found.notes == ("given is lower by 0.8 on 5 items, and only 6 or more can tell a fall from chance",)
    assert compared({"1": "0.2"}, {"1": "1"}, given()).notes == ()
    assert compared({str(n): "1" for n in range(6)}, {str(n): "0.2" for n in range(6)}, given()).regressed


def test_a_second_result_that_asserts_nothing_clears_nothing() -> None:
    data = {"1": "ok"}
    found = compare_results(evaluated(data, gates=[OK]), evaluated(data, OK))
    assert (found.verdicts, found.open_ended) == (("passed", None), "the second result asserts nothing, and the first did")


def test_a_result_that_is_not_whole_says_so_of_itself() -> None:
    whole = gated({"a": "ok", "b": "ok"})
    found = compare_results(replace(whole, items=whole.items[:1], incomplete="1 item not run"), whole)
    assert (found.unfinished, found.only_after) == (("is not whole: 1 item not run", ""), ("b",))


def test_a_scorer_that_is_only_watched_decides_nothing() -> None:
    def watched(said: str, mode: Literal["watch", "shadow"]) -> EvalResult:
        result = evaluated({"1": said}, OK, checks.includes("o"))
        plan = (replace(result.plan[0], mode=mode), result.plan[1])
        return replace(result, plan=plan, items=tuple(replace(item, plan=plan) for item in result.items))

    found = compare_results(watched("ok", "watch"), watched("no", "watch"))
    assert (found.broke, found.regressed) == ((), False)
    by_scorer = {one.scorer: one for one in found.scorers}
    assert by_scorer["includes('ok')"].said.endswith("1 broke, 0 mended; only watched, so it decides nothing")
    hidden = compare_results(watched("ok", "shadow"), watched("no", "shadow"))
    assert ([one.scorer for one in hidden.scorers], hidden.broke) == (["includes('o')"], ())
    demoted = compare_results(evaluated({"1": "ok"}, OK, checks.includes("o")), watched("no", "watch"))
    assert demoted.notes[0] == "includes('ok') decided before and is only observed now"


@pytest.mark.parametrize("cost", [float("nan"), float("inf"), -1.0, 1e308])
def test_a_cost_that_is_none_is_not_known(cost: float) -> None:
    def run(cost: float) -> Run:
        return t.run("ok", usage=Usage(10, 0, cost=cost))

    found = compared({"1": run(1), "2": run(1)}, {"1": run(1), "2": run(cost)})
    one = next(one for one in found.measures if one.name == "cost")
    assert (one.items, one.known_before, one.known_after, one.before, one.after) == (1, 2, 1, 1, 1)


def test_tokens_without_measure_are_not_known() -> None:
    found = compared({"1": t.run("ok", usage=Usage(10**400, 0))}, {"1": t.run("ok", usage=Usage(10, 0))})
    (one,) = [one for one in found.measures if one.name == "tokens"]
    assert (one.items, one.known_before, one.known_after) == (0, 0, 1)


def test_ids_that_a_hand_put_twice_are_no_repetitions_of_one_content() -> None:
    first, second = evaluated({"1": "ok"}), evaluated({"2": "ok"})
    forged = replace(first.items[0], item=replace(second.items[0].item, id="1"))
    found = compare_results(first, replace(first, items=(first.items[0], forged)))
    assert (found.common, found.changed_items) == ((), ("1",))


def test_a_result_without_a_score_is_judged_by_nobody() -> None:
    whole = gated({"a": "ok"})
    bare = replace(whole, plan=(), items=tuple(replace(item, plan=(), scores=()) for item in whole.items))
    for before, after in ((bare, bare), (whole, bare), (bare, whole)):
        found = compare_results(before, after)
        assert (found.judged, found.regressed) == (False, False)
        assert found.notes == ("no scorer judged 1 item in both: a",)


def test_gigantic_scores_are_compared() -> None:
    big = create_scorer(id="big", score_range=(-1.7e308, 1.7e308)).generate_score(lambda output: float(output))
    before, after = {str(n): ["1.7e308"] * 2 for n in range(8)}, {str(n): [f"-{n}.7e307"] * 2 for n in range(8)}
    assert compared(before, after, big, repetitions=2).fallen == ("big",)
