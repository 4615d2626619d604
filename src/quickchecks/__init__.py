"""Checks of what an agent said and which tools it called, without a model, that always say why.

    from quickchecks import checks, load_runs

    for run in load_runs("runs.jsonl"):
        score = checks.no_tool_errors().score(run)
        if score.failed:
            print(run.source, score.reason)

Everything that users need is importable from here; modules whose name begins with an underscore are private. Nothing is
loaded before it is asked for, so that `import quickchecks` costs next to nothing.

PYTEST_DONT_REWRITE: nothing is asserted here, and a program that imports this before it starts pytest needs no warning of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.metadata import version

    from quickchecks import checks, errors, testing
    from quickchecks._evals import ScoredRun, run_evals, run_evals_sync, score_runs
    from quickchecks._gates import Gate, Threshold
    from quickchecks._items import Item, Turn
    from quickchecks._mocks import mockable
    from quickchecks._results.comparison import compare_results
    from quickchecks._results.evaluation import EvalResult, ItemResult
    from quickchecks._results.saved import load_result
    from quickchecks._run import Message, Reasoning, Run, Source, Text, ToolCall, ToolError, Usage
    from quickchecks._score import Score, no_evidence, not_applicable, not_scorable
    from quickchecks._scorer.asserting import assert_checks, assert_checks_async
    from quickchecks._scorer.compose import all_of, any_of, none_of, when
    from quickchecks._scorer.definition import create_scorer, scorer
    from quickchecks._scorer.filters import filter_run
    from quickchecks._scorer.from_item import from_item
    from quickchecks._scorer.pipeline import Scorer
    from quickchecks._scorer.prompts import Judge, Prompt
    from quickchecks._scorer.within import within
    from quickchecks.adapters import load_run, load_runs

    __version__ = version("quickchecks")

__all__ = [
    "EvalResult",
    "Gate",
    "Item",
    "ItemResult",
    "Judge",
    "Message",
    "Prompt",
    "Reasoning",
    "Run",
    "Score",
    "ScoredRun",
    "Scorer",
    "Source",
    "Text",
    "Threshold",
    "ToolCall",
    "ToolError",
    "Turn",
    "Usage",
    "__version__",
    "all_of",
    "any_of",
    "assert_checks",
    "assert_checks_async",
    "checks",
    "compare_results",
    "create_scorer",
    "errors",
    "filter_run",
    "from_item",
    "load_result",
    "load_run",
    "load_runs",
    "mockable",
    "no_evidence",
    "none_of",
    "not_applicable",
    "not_scorable",
    "run_evals",
    "run_evals_sync",
    "score_runs",
    "scorer",
    "testing",
    "when",
    "within",
]

#: The module that holds each name; a public name that stands nowhere here is a module itself.
_NAMES_IN = {
    "_evals": ("ScoredRun", "run_evals", "run_evals_sync", "score_runs"),
    "_gates": ("Gate", "Threshold"),
    "_items": ("Item", "Turn"),
    "_mocks": ("mockable",),
    "_results.comparison": ("compare_results",),
    "_results.evaluation": ("EvalResult", "ItemResult"),
    "_results.saved": ("load_result",),
    "_run": ("Message", "Reasoning", "Run", "Source", "Text", "ToolCall", "ToolError", "Usage"),
    "_score": ("Score", "no_evidence", "not_applicable", "not_scorable"),
    "_scorer.asserting": ("assert_checks", "assert_checks_async"),
    "_scorer.compose": ("all_of", "any_of", "none_of", "when"),
    "_scorer.definition": ("create_scorer", "scorer"),
    "_scorer.filters": ("filter_run",),
    "_scorer.from_item": ("from_item",),
    "_scorer.pipeline": ("Scorer",),
    "_scorer.prompts": ("Judge", "Prompt"),
    "_scorer.within": ("within",),
    "adapters": ("load_run", "load_runs"),
}


if not TYPE_CHECKING:  # hidden from type checkers, so that they refuse names that do not exist

    def __getattr__(name: str) -> object:
        """Load a public name when it is first asked for, and keep it."""
        import sys
        from importlib import import_module

        value: object
        if name == "__version__":
            value = import_module("importlib.metadata").version(__name__)
        elif name in __all__:
            home = next((module for module, names in _NAMES_IN.items() if name in names), None)
            value = getattr(import_module(f"{__name__}.{home}"), name) if home else import_module(f"{__name__}.{name}")
        else:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name, obj=sys.modules[__name__])
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return __all__
