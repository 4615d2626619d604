"""The reports of an evaluation and of a comparison that stand in files."""

from __future__ import annotations

import pytest

from quickchecks import checks, run_evals_sync
from quickchecks.errors import UnknownNameError
from quickchecks.reports.comparisons import COMPARISON_FORMS
from quickchecks.reports.evals import EVAL_FORMS, eval_lines, form_for


@pytest.mark.parametrize("forms", [EVAL_FORMS, COMPARISON_FORMS])
def test_a_form_is_found_by_the_suffix_in_any_case(forms: dict[str, object]) -> None:
    assert form_for("out/A.JSON", forms) is forms[".json"]  # type: ignore[arg-type]


def test_an_unknown_suffix_lists_the_known_ones() -> None:
    with pytest.raises(UnknownNameError, match=r"a\.xml: .*'\.xml': a report ends in \.json, \.jsonl, \.csv or \.md"):
        form_for("a.xml", EVAL_FORMS)


def test_a_cell_is_no_formula() -> None:
    result = run_evals_sync([{"id": "=1+1", "input": "a", "output": "b"}], None, gates=[checks.includes("z")])
    assert b"\r\n'=1+1,0,," in EVAL_FORMS[".csv"](result)


def test_a_page_shows_failures_with_their_reasons_and_repetitions() -> None:
    answers = iter(["sunny", "rain"])
    result = run_evals_sync(
        ["Weather?"], lambda text: next(answers), gates=[checks.includes("sunny", why="people ask")], repetitions=2, name="w|x"
    )
    page = EVAL_FORMS[".md"](result).decode()
    assert page.startswith("## `w\\|x`: failed\n\n1 item × 2, ")
    assert "  why: `people ask`" in page
    assert "- flaky: `includes('sunny')` on " in page


def test_what_broke_stands_in_every_form() -> None:
    def broken(text: str) -> str:
        raise ValueError("no answer")

    result = run_evals_sync(["a"], broken, gates=[checks.includes("a")])
    for form in EVAL_FORMS.values():
        assert b"no answer" in form(result)
    assert any("no answer" in line.text for line in eval_lines(result, 1))
