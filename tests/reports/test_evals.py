"""The reports of an evaluation and of a comparison that stand in files."""

from __future__ import annotations

from quickchecks import checks, run_evals_sync
from quickchecks.reports import form_of, suffixes
from quickchecks.reports.terminal_evaluation import eval_lines


def test_a_cell_is_no_formula() -> None:
    result = run_evals_sync([{"id": "=1+1", "input": "a", "output": "b"}], None, gates=[checks.includes("z")])
    assert b"\r\n'=1+1,0,," in form_of("a.csv", "evaluation")(result)


def test_a_page_shows_failures_with_their_reasons_and_repetitions() -> None:
    answers = iter(["sunny", "rain"])
    result = run_evals_sync(
        ["Weather?"], lambda text: next(answers), gates=[checks.includes("sunny", why="people ask")], repetitions=2, name="w|x"
    )
    page = form_of("a.md", "evaluation")(result).decode()
    assert page.startswith("## `w\\|x`: failed\n\n1 item × 2, ")
    assert "  why: `people ask`" in page
    assert "- flaky: `includes('sunny')` on " in page


def test_what_broke_stands_in_every_form() -> None:
    def broken(text: str) -> str:
        raise ValueError("no answer")

    result = run_evals_sync(["a"], broken, gates=[checks.includes("a")])
    for suffix in suffixes("evaluation"):
        assert b"no answer" in form_of(f"a{suffix}", "evaluation")(result)
    assert any("no answer" in line.text for line in eval_lines(result, 1))
