"""Checks of what an agent said and which tools it called, without a model, that always say why.

    from quickchecks import checks, load_runs

    for run in load_runs("runs.jsonl"):
        score = checks.no_tool_errors().score(run)
        if score.failed:
            print(run.source, score.reason)

Everything that users need is importable from here; modules whose name begins with an underscore are private. Nothing is
loaded before it is asked for, so that `import quickchecks` costs next to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.metadata import version

    from quickchecks import checks, errors, testing
    from quickchecks._evals import ScoredRun, score_runs
    from quickchecks._run import Message, Reasoning, Run, Source, Text, ToolCall, ToolError, Usage
    from quickchecks._score import Score, no_evidence, not_applicable, not_scorable
    from quickchecks._scorer.compose import all_of, any_of, none_of, when
    from quickchecks._scorer.definition import create_scorer, scorer
    from quickchecks._scorer.filters import filter_run
    from quickchecks._scorer.pipeline import Scorer
    from quickchecks._scorer.prompts import Judge, Prompt
    from quickchecks.adapters import load_run, load_runs

    __version__ = version("quickchecks")

__all__ = [
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
    "ToolCall",
    "ToolError",
    "Usage",
    "__version__",
    "all_of",
    "any_of",
    "checks",
    "create_scorer",
    "errors",
    "filter_run",
    "load_run",
    "load_runs",
    "no_evidence",
    "none_of",
    "not_applicable",
    "not_scorable",
    "score_runs",
    "scorer",
    "testing",
    "when",
]

#: The module that holds each name; a public name that stands nowhere here is a module itself.
_NAMES_IN = {
    "_evals": ("ScoredRun", "score_runs"),
    "_run": ("Message", "Reasoning", "Run", "Source", "Text", "ToolCall", "ToolError", "Usage"),
    "_score": ("Score", "no_evidence", "not_applicable", "not_scorable"),
    "_scorer.compose": ("all_of", "any_of", "none_of", "when"),
    "_scorer.definition": ("create_scorer", "scorer"),
    "_scorer.filters": ("filter_run",),
    "_scorer.pipeline": ("Scorer",),
    "_scorer.prompts": ("Judge", "Prompt"),
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
