"""`quickchecks compare`."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import junit
import pytest
from jsonschema import Draft202012Validator
from make_schemas import FOLDER
from msgspec.structs import replace

from quickchecks import EvalResult, Run, Usage, checks, create_scorer, not_applicable, run_evals_sync, testing

if TYPE_CHECKING:
    from tests.cli.conftest import Command

Save = Callable[..., str]


@pytest.fixture
def save(quickchecks: Command) -> Save:
    """Saves the result of an evaluation whose items were answered so, by id."""

    def write(name: str, answers: Mapping[str, Run | str], *, gates: object = None, input: str = "Weather?") -> str:
        data = [
            {"id": key, "input": input, "run" if isinstance(answer, Run) else "output": answer} for key, answer in answers.items()
        ]
        result = run_evals_sync(data, None, gates=[checks.includes("sunny")] if gates is None else gates)  # type: ignore[arg-type]
        result.save(name)
        return name

    return write


def answer(*calls: str, text: str = "It is sunny.", **usage: float) -> Run:
    run = testing.run(*(testing.call(name) for name in calls), text)
    return replace(run, usage=Usage(**usage) if usage else None)  # type: ignore[arg-type]


def test_what_broke_is_shown_with_the_first_divergence(quickchecks: Command, save: Save) -> None:
    before = save("a.json", {"1": answer("search", "book"), "2": "rainy", "3": "sunny"})
    after = save("b.json", {"1": answer("search", "refund", text="Done."), "2": "sunny", "3": "sunny"})
    ended = quickchecks("compare", before, after)
    lines = [line.strip() for line in ended.out.splitlines()]
    assert lines[0] == "3 items in both a.json and b.json"
    assert "includes('sunny')" in lines
    at = lines.index("broke (1)")
    assert lines[at + 1 : at + 4] == [
        "1  includes('sunny'): passed → failed",
        '"sunny" is not in the answer; nothing like it is in "Done."',
        "diverges: same until call 2: book → refund",
    ]
    assert lines[lines.index("mended (1)") + 1] == "2  includes('sunny'): failed → passed"
    assert (ended.code, lines[-1], ended.err) == (1, "regressed: 1 broke · exit 1", "")


def test_without_a_regression_it_passes(quickchecks: Command, save: Save) -> None:
    ended = quickchecks("compare", save("a.json", {"1": "rainy"}), save("b.json", {"1": "sunny"}))
    assert (ended.code, ended.out.splitlines()[-1]) == (
        0,
        "no regression: 0 broke, 1 mended, on 1 item in both · exit 0",
    )


def test_items_that_do_not_match_are_reported(quickchecks: Command, save: Save) -> None:
    before = save("a.json", {"1": "sunny", "2": "sunny"})
    after = save("b.json", {"1": "sunny", "3": "sunny"})
    ended = quickchecks("compare", before, after)
    assert "  1 item only in the first: 2\n" in ended.out
    assert "  1 item only in the second: 3\n" in ended.out


def test_scorers_that_only_one_has_are_reported(quickchecks: Command, save: Save) -> None:
    before = save("a.json", {"1": "sunny"}, gates=[checks.includes("sunny"), checks.excludes("rain")])
    ended = quickchecks("compare", before, save("b.json", {"1": "sunny"}))
    assert "scorers only in the first: excludes('rain')" in ended.out


@pytest.mark.parametrize(
    ("limit", "code", "last"),
    [
        ("cost>+10%", 1, "regressed: cost grew by 50.0 %, at most 10 % allowed · exit 1"),
        (
            "cost>50%",
            0,
            "within the limit: cost changed by +50.0 %, at most +50 % allowed; nothing was asked about the rest: "
            "0 broke, 0 mended, on 1 item in both · exit 0",
        ),
        ("tokens > +0.5 %", 1, "regressed: tokens grew by 10.0 %, at most 0.5 % allowed · exit 1"),
        (
            "tokens>+10%",
            0,
            "within the limit: tokens changed by +10.0 %, at most +10 % allowed; nothing was asked about the rest: "
            "0 broke, 0 mended, on 1 item in both · exit 0",
        ),
    ],
)
def test_a_limit_on_growth(limit: str, code: int, last: str, quickchecks: Command, save: Save) -> None:
    before = save("a.json", {"1": answer(cost=1.0, input_tokens=100)})
    after = save("b.json", {"1": answer(cost=1.5, input_tokens=110)})
    ended = quickchecks("compare", before, after, "--fail-on", limit)
    assert "cost     $1.0000 → $1.5000 (+50.0 %)" in ended.out
    assert (ended.code, ended.out.splitlines()[-1]) == (code, last)


def test_a_limit_on_what_no_run_carries_decides_nothing(quickchecks: Command, save: Save) -> None:
    ended = quickchecks("compare", save("a.json", {"1": "sunny"}), save("b.json", {"1": "sunny"}), "--fail-on", "cost>+10%")
    assert ended.code == 3
    assert ended.out.splitlines()[-1] == "undecided: cost is known on no item in common · exit 3"


def test_several_conditions(quickchecks: Command, save: Save) -> None:
    before, after = save("a.json", {"1": answer(cost=1.0)}), save("b.json", {"1": answer(cost=2.0, text="rain")})
    ended = quickchecks("compare", before, after, "--fail-on", "regression", "--fail-on", "cost>+10%")
    assert ended.out.splitlines()[-1] == "regressed: 1 broke; cost grew by 100.0 %, at most 10 % allowed · exit 1"


def test_never(quickchecks: Command, save: Save) -> None:
    ended = quickchecks("compare", save("a.json", {"1": "sunny"}), save("b.json", {"1": "rain"}), "--fail-on", "never")
    assert (ended.code, ended.out.splitlines()[-1]) == (
        0,
        "nothing decided: 1 broke, 0 mended, on 1 item in both · exit 0",
    )


def test_results_that_have_nothing_in_common(quickchecks: Command, save: Save) -> None:
    ended = quickchecks("compare", save("a.json", {"1": "sunny"}), save("b.json", {"2": "sunny"}))
    assert ended.code == 3
    assert ended.out.splitlines()[-1].startswith("nothing compared: the results have no item in common")


def test_items_that_ask_something_else_are_not_compared(quickchecks: Command, save: Save) -> None:
    before = save("a.json", {"1": "sunny"})
    ended = quickchecks("compare", before, save("b.json", {"1": "rain"}, input="What else?"))
    assert "1 item asked or expected something else, so not compared: 1" in ended.out
    assert ended.code == 3


def test_every_form_of_report(quickchecks: Command, save: Save) -> None:
    before, after = save("a.json", {"1": "sunny", "2": "rain"}), save("b.json", {"1": "rain", "2": "sunny"})
    names = ["c.json", "c.jsonl", "c.csv", "c.md"]
    ended = quickchecks("compare", before, after, *[part for name in names for part in ("-o", name)])
    assert ended.err.splitlines() == [f"wrote {name}" for name in names]
    assert json.loads(Path("c.json").read_text())["schema"] == "quickchecks.comparison/1"
    lines = [json.loads(line) for line in Path("c.jsonl").read_text().splitlines()]
    assert [(line["direction"], line["change"]["item"]) for line in lines] == [("broke", "1"), ("mended", "2")]
    rows = list(csv.DictReader(Path("c.csv").read_text().splitlines()))
    assert [(row["direction"], row["after"]) for row in rows] == [("broke", "failed"), ("mended", "passed")]
    assert Path("c.md").read_text().startswith("## 1 broke, 1 mended\n")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["a.json", "no.json"], "no.json: the result cannot be read"),
        (["a.json", "other.json"], "expected a saved result"),
        (["a.json", "a.json", "--fail-on", f"cost>{'9' * 400}%"], "is none of regression, never"),
        (["a.json", "a.json", "--fail-on", "cost>much"], "'cost>much' is none of regression, never"),
        (["a.json", "a.json", "--fail-on", "never", "--fail-on", "regression"], "--fail-on never stands alone"),
        (["a.json", "a.json", "-o", "a.json"], "is what is read here"),
        (["a.json", "a.json", "-o", "c.xls"], "there is no form of report"),
    ],
)
def test_wrong_usage(arguments: list[str], problem: str, quickchecks: Command, save: Save) -> None:
    save("a.json", {"1": "sunny"})
    Path("other.json").write_text("{}")
    ended = quickchecks("compare", *arguments)
    assert (ended.code, ended.out) == (2, "")
    assert problem in ended.err


def test_what_an_agent_said_cannot_drive_the_terminal(quickchecks: Command, save: Save) -> None:
    before, after = save("a.json", {"\x1b[31m": "sunny"}), save("b.json", {"\x1b[31m": "rain \x1b[31m"})
    ended = quickchecks("compare", before, after, "-o", "c.md")
    assert ended.code == 1
    assert "\x1b" not in ended.out + Path("c.md").read_text()


GONE = OSError("gone")
OK = checks.includes("ok")


def result(answers: Mapping[str, object], gates: Sequence[object] = (OK,), scorers: Sequence[object] = ()) -> EvalResult:
    """What comes of an evaluation; a list is one answer for each repetition, and an exception is what the target raises."""
    repetitions = max(len(said) if isinstance(said, list) else 1 for said in answers.values())
    left = {item: list(said) if isinstance(said, list) else [said] * repetitions for item, said in answers.items()}

    def target(item: str) -> object:
        said = left[item].pop(0)
        if isinstance(said, Exception):
            raise said
        return said

    data = [{"id": item, "input": item} for item in answers]
    return run_evals_sync(data, target, scorers, gates, repetitions=repetitions, concurrency=1)


def asked(result: EvalResult, other: str) -> EvalResult:
    """A result whose items keep their ids and asked something else."""
    return replace(result, items=tuple(replace(one, item=replace(one.item, input=other)) for one in result.items))


def costing(*costs: float | None) -> EvalResult:
    return result({str(n): testing.run("ok", usage=Usage(cost=cost)) for n, cost in enumerate(costs)})


def number(id: str = "given") -> object:
    return create_scorer(id=id).generate_score(lambda output: float(output))


def judging(answer: object) -> object:
    return create_scorer(id="check", version="1").generate_score(lambda: answer)


def applying(*items: str) -> object:
    """A check that passes on these items, and does not apply to others."""
    return create_scorer(id="check", version="1").generate_score(lambda input: True if input in items else not_applicable())


EIGHT = {str(n): "ok" for n in range(8)}
WHOLE = result(EIGHT)
#: Two results, what is asked, and the only honest exit code with the sentence that says why.
NO_FALSE_GREEN: dict[str, tuple[EvalResult, EvalResult, Sequence[str], int, str]] = {
    "an item broke": (WHOLE, result({**EIGHT, "3": "no"}), [], 1, "regressed: 1 broke"),
    "an item broke and another mended": (
        result({"1": "ok", "2": "no"}),
        result({"1": "no", "2": "ok"}),
        [],
        1,
        "regressed: 1 broke",
    ),
    "one of three repetitions fails now": (
        result({"1": ["ok"] * 3}),
        result({"1": ["ok", "no", "ok"]}),
        [],
        1,
        "regressed: 1 broke",
    ),
    "no repetition passes any more": (
        result({"1": ["ok", "ok", "no"]}),
        result({"1": ["no"] * 3}),
        [],
        1,
        "regressed: 1 broke",
    ),
    "every repetition breaks, and one did before": (
        result({"1": ["ok", "ok", GONE], "2": ["ok"] * 3}),
        result({"1": [GONE] * 3, "2": ["ok"] * 3}),
        [],
        1,
        "regressed: 1 broke",
    ),
    "eight items pass less often": (
        result({item: ["ok", "ok", "no"] for item in EIGHT}),
        result({item: ["ok", "no", "no"] for item in EIGHT}),
        [],
        1,
        "regressed: includes('ok') fell",
    ),
    "eight items break more often": (
        result({item: ["ok", "ok", GONE] for item in EIGHT}),
        result({item: ["ok", GONE, GONE] for item in EIGHT}),
        [],
        1,
        "regressed: answered fell",
    ),
    "a gate fails on an item that only the second has": (
        WHOLE,
        result({**EIGHT, "new": "no"}),
        [],
        1,
        "regressed: the verdict fell to failed",
    ),
    "numbers fell on every one of many items": (
        result(dict.fromkeys(EIGHT, "1"), [], [number()]),
        result(dict.fromkeys(EIGHT, "0.5"), [], [number()]),
        [],
        1,
        "regressed: given fell",
    ),
    "numbers fell on too few items to tell": (
        result({"1": "1"}, [], [number()]),
        result({"1": "0.1"}, [], [number()]),
        [],
        0,
        "no regression: 0 broke, 0 mended, on 1 item in both; beside these: 1 note above; "
        "lower, by no more than chance can explain: given",
    ),
    "a number became an error": (
        result({"1": "1"}, [], [number(), OK]),
        result({"1": "one"}, [], [number(), OK]),
        [],
        1,
        "regressed: 1 broke",
    ),
    "what did not apply fails now": (
        result({"1": "a"}, [], [judging(not_applicable())]),
        result({"1": "a"}, [], [judging(False)]),
        [],
        1,
        "regressed: 1 broke",
    ),
    "no item in common": (
        result({"a": "ok"}),
        result({"b": "ok"}),
        [],
        3,
        "nothing compared: the results have no item in common that asks and expects the same; beside these: "
        "1 item only in the first, 1 item only in the second",
    ),
    "every item asks something else": (
        WHOLE,
        asked(WHOLE, "else"),
        [],
        3,
        "nothing compared: the results have no item in common that asks and expects the same; beside these: "
        "8 items asked or expected something else, so not compared",
    ),
    "no scorer in common, and an item mended": (
        result({"1": GONE, "2": "ok"}, [], [OK]),
        result({"1": "ok", "2": "ok"}, [], [checks.includes("o")]),
        [],
        3,
        "nothing compared: no scorer judged an item in both; beside these: 1 scorer only in the first, "
        "1 scorer only in the second, 1 note above",
    ),
    "every item broke in both": (
        result({"1": GONE}),
        result({"1": GONE}),
        [],
        3,
        "nothing compared: no scorer judged an item in both; beside these: 1 note above",
    ),
    "a scorer applies to nothing now": (
        result({"1": "ok"}, [], [OK, judging(False)]),
        result({"1": "ok"}, [], [OK, judging(not_applicable())]),
        [],
        3,
        "undecided: check judged 1 item before and none of them now",
    ),
    "a gate applies to few of its items now": (
        result(EIGHT, [OK, applying(*EIGHT)]),
        result(EIGHT, [OK, applying("3")]),
        [],
        3,
        "undecided: check judged 8 items before and 1 of them now",
    ),
    "a gate applies to some of its items no longer": (
        result(EIGHT, [OK, applying(*EIGHT)]),
        result(EIGHT, [OK, applying("0", "1", "2", "3", "4", "5", "6")]),
        [],
        0,
        "no regression: 0 broke, 0 mended, on 8 items in both; beside these: 1 note above",
    ),
    "the gates became scorers": (
        WHOLE,
        result(EIGHT, [], [OK]),
        [],
        3,
        "undecided: the second result asserts nothing, and the first did",
    ),
    "the second was broken off": (
        WHOLE,
        replace(WHOLE, items=WHOLE.items[:5], interrupted=True),
        [],
        3,
        "undecided: the second result was broken off",
    ),
    "the first was broken off": (
        replace(WHOLE, items=WHOLE.items[:5], interrupted=True),
        WHOLE,
        [],
        3,
        "undecided: the first result was broken off",
    ),
    "the second is not whole, and only cost is asked about": (
        costing(1, 1),
        replace(costing(1, 1), incomplete="\x1b[31m2 items"),
        ["--fail-on", "cost>+10%"],
        3,
        "undecided: the second result is not whole: \\u001b[31m2 items",
    ),
    "cost is known on some items before": (
        costing(1, None, 1),
        costing(1, 9, 1),
        ["--fail-on", "cost>+10%"],
        3,
        "undecided: cost is known on 2 of the 3 items in common in the first, on 3 in the second",
    ),
    "cost is known on some items now": (
        costing(1, 1, 1),
        costing(1, None, None),
        ["--fail-on", "regression", "--fail-on", "cost>+10%"],
        3,
        "undecided: cost is known on 3 of the 3 items in common in the first, on 1 in the second",
    ),
    "cost is known on different items": (
        costing(1, None),
        costing(None, 9),
        ["--fail-on", "cost>+10%"],
        3,
        "undecided: cost is known on 1 of the 2 items in common in the first, on 1 in the second",
    ),
    "cost is no number": (
        costing(1, 1),
        costing(1, float("nan")),
        ["--fail-on", "cost>+10%"],
        3,
        "undecided: cost is known on 2 of the 2 items in common in the first, on 1 in the second",
    ),
    "cost is unknown, and an item broke": (
        costing(1, None),
        result({"0": "no", "1": "ok"}),
        ["--fail-on", "regression", "--fail-on", "cost>+10%"],
        1,
        "regressed: 1 broke",
    ),
    "cost grew from nothing": (
        costing(0),
        costing(1),
        ["--fail-on", "cost>+10%"],
        1,
        "regressed: cost grew from nothing, at most 10 % allowed",
    ),
    # What does pass says on how much that rests, and what it leaves out.
    "nothing changed": (WHOLE, result(EIGHT), [], 0, "no regression: 0 broke, 0 mended, on 8 items in both"),
    "an item is gone, and one is new": (
        result({**EIGHT, "a": "ok"}),
        result({**EIGHT, "b": "ok"}),
        [],
        0,
        "no regression: 0 broke, 0 mended, on 8 items in both; beside these: 1 item only in the first, 1 item only in the second",
    ),
    "a gate is gone": (
        result(EIGHT, [OK, checks.excludes("rain")]),
        WHOLE,
        [],
        0,
        "no regression: 0 broke, 0 mended, on 8 items in both; beside these: 1 scorer only in the first",
    ),
    "a check is another than before": (
        result(EIGHT, [checks.includes("ok", name="said")]),
        result(EIGHT, [checks.includes("k", name="said")]),
        [],
        0,
        "no regression: 0 broke, 0 mended, on 8 items in both; beside these: 1 check that changed",
    ),
    "an item broke in both": (
        result({**EIGHT, "1": GONE}),
        result({**EIGHT, "1": GONE}),
        [],
        0,
        "no regression: 0 broke, 0 mended, on 8 items in both; beside these: 1 note above",
    ),
    "two flaky items pass less often, within noise": (
        result({**{item: ["ok"] * 3 for item in EIGHT}, "a": ["ok", "ok", "no"]}),
        result({**{item: ["ok"] * 3 for item in EIGHT}, "a": ["ok", "no", "no"]}),
        [],
        0,
        "no regression: 0 broke, 0 mended, 1 worse, on 9 items in both; "
        "lower, by no more than chance can explain: includes('ok')",
    ),
    "an item broke, and only cost is asked about": (
        costing(1, 1),
        result({"0": testing.run("no", usage=Usage(cost=1)), "1": testing.run("ok", usage=Usage(cost=1))}),
        ["--fail-on", "cost>+10%"],
        0,
        "within the limit: cost changed by +0.0 %, at most +10 % allowed; nothing was asked about the rest: "
        "1 broke, 0 mended, on 2 items in both; lower, by no more than chance can explain: includes('ok')",
    ),
}


@pytest.mark.parametrize("case", NO_FALSE_GREEN)
def test_there_is_no_false_green(case: str, quickchecks: Command) -> None:
    before, after, options, code, last = NO_FALSE_GREEN[case]
    before.save("a.json")
    after.save("b.json")
    ended = quickchecks("compare", "a.json", "b.json", *options)
    assert (ended.code, ended.out.splitlines()[-1]) == (code, f"{last} · exit {code}")


def test_one_file_is_not_compared_with_itself(quickchecks: Command, save: Save) -> None:
    ended = quickchecks("compare", save("a.json", {"1": "sunny"}), "./a.json")
    assert (ended.code, ended.out.splitlines()[-1]) == (3, "nothing compared: both are the same file · exit 3")


def test_only_scorers_that_fell_by_more_than_chance_are_named(quickchecks: Command) -> None:
    data = {str(n): "1 a" if n else "1" for n in range(8)}
    one = create_scorer(id="\x1b[31mone").generate_score(lambda output: float(output[0]))
    result(data, [], [one, checks.similarity("1 a")]).save("a.json")
    result({**data, **{str(n): f"0 {'a' * n}" for n in range(8)}}, [], [one, checks.similarity("0 a")]).save("b.json")
    ended = quickchecks("compare", "a.json", "b.json")
    assert (ended.code, ended.out.splitlines()[-1]) == (1, "regressed: \\u001b[31mone fell · exit 1")


@pytest.mark.parametrize("options", [[], ["--fail-on", "never"], ["--fail-on", "cost>+10%"]])
def test_a_gate_that_is_lost_is_shown_whatever_is_decided(options: list[str], quickchecks: Command) -> None:
    result({"a": "ok", "b": "ok"}, [OK, applying("a", "b")]).save("a.json")
    result({"a": "ok", "b": "no"}, [OK, applying()]).save("b.json")
    ended = quickchecks("compare", "a.json", "b.json", *options, "-o", "c.md", "-o", "c.json")
    said = "note: check judged 2 items before and none of them now; not applicable: a, b"
    assert f"  {said}\n" in ended.out
    assert said.removeprefix("note: ") in Path("c.md").read_text()
    assert said.removeprefix("note: ") in json.loads(Path("c.json").read_text())["notes"]


def test_an_item_that_was_not_reached_does_not_look_removed(quickchecks: Command) -> None:
    WHOLE.save("a.json")
    replace(WHOLE, items=WHOLE.items[:5], interrupted=True).save("b.json")
    ended = quickchecks("compare", "a.json", "b.json")
    assert "3 items missing from the second, which was broken off: 5, 6, 7" in ended.out
    ended = quickchecks("compare", "b.json", "a.json")
    assert "3 items missing from the first, which was broken off: 5, 6, 7" in ended.out


def test_what_is_written_follows_the_published_schemas(quickchecks: Command) -> None:
    """Every list, field and kind of change, with ids that are no text and gigantic numbers."""
    comparison, change = (
        Draft202012Validator(json.loads((FOLDER / name).read_text(encoding="utf-8")))
        for name in ("comparison-1.json", "change-1.json")
    )
    for schema in (comparison, change):
        Draft202012Validator.check_schema(schema.schema)
        assert not schema.is_valid({})
    sizes = {"1": 1e300, "2": 1e307, "3": 1.0, "4": 1e200}
    big = create_scorer(id="big", score_range=(-1e308, 1e308)).generate_score(
        lambda input, output: sizes.get(input, 0.0) * (1 if output == "ok" else -1)
    )
    odd = "\ud800\n\x1b[31m"
    before = {"1": ["ok"] * 3, "2": ["ok", "ok", "no"], "3": ["ok", "no", "no"], "4": ["no"] * 3}
    after = {"1": ["no"] * 3, "2": ["ok", "no", "no"], "3": ["ok", "ok", "no"], "4": ["ok"] * 3}
    odd_run = testing.run("ok", usage=Usage(10**300, 1, cost=1e99))
    result({**before, odd: odd_run, "5": GONE, "old": "ok"}, [OK, checks.excludes("x")], [big]).save("a.json")
    result({**after, odd: odd_run, "5": GONE, "new": "ok"}, [OK, checks.excludes("y")], [big]).save("b.json")
    ended = quickchecks("compare", "a.json", "b.json", "-o", "c.json", "-o", "c.jsonl", "-o", "c.csv", "-o", "c.md")
    assert ended.code == 1, ended
    written = json.loads(Path("c.json").read_text())
    comparison.validate(written)
    assert {"broke", "worse", "better", "mended", "answered", "measures", "only_before", "notes"} <= set(written)
    lines = [json.loads(line) for line in Path("c.jsonl").read_text().splitlines()]
    for line in lines:
        change.validate(line)
    assert {line["direction"] for line in lines} == {"broke", "worse", "better", "mended"}
    assert not change.is_valid({**lines[0], "direction": "sideways"})
    assert "\x1b" not in ended.out + Path("c.md").read_text() + Path("c.csv").read_text()


def test_every_file_says_what_was_decided(quickchecks: Command, save: Save) -> None:
    """A limit is no part of the comparison itself, and still the files of a command that fails for it say so."""
    before, after = save("a.json", {"1": answer(cost=1.0)}), save("b.json", {"1": answer(cost=1.5)})
    files = ("c.json", "c.md", "c.junit.xml")
    ended = quickchecks("compare", before, after, "--fail-on", "cost>10%", *(part for file in files for part in ("-o", file)))
    said = "regressed: cost grew by 50.0 %, at most 10 % allowed"
    assert (ended.code, ended.out.splitlines()[-1]) == (1, f"{said} · exit 1")
    assert json.loads(Path("c.json").read_text())["decision"] == {"exit_code": 1, "said": said, "conditions": ["cost>10%"]}
    assert "**regressed**: `cost grew by 50.0 %, at most 10 % allowed`" in Path("c.md").read_text(encoding="utf-8")
    assert junit.kinds(Path("c.junit.xml").read_bytes()) == {"1": "passed", "includes('sunny')": "passed", "decision": "failure"}
