"""Checks: deterministic scorers that need no model.

Every check is a scorer, takes its options by keyword, has a `repr` that is the expression that makes it, and explains
itself in both directions. A new check is one function in one of the families (`text`, `tools`) and its test.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import cast

from quickchecks._render import not_loaded
from quickchecks._scorer.catalogue import WithUnusable, describe
from quickchecks._scorer.compose import all_of, any_of, none_of, when
from quickchecks._scorer.pipeline import Scorer
from quickchecks._scorer.within import within
from quickchecks.checks import text, tools
from quickchecks.checks.text import *  # noqa: F403 - made safe by __all__, which a test holds
from quickchecks.checks.tools import *  # noqa: F403
from quickchecks.errors import nearest_names

__all__ = ["all_of", "any_of", "none_of", "when", "within"]
__all__ += text.__all__
__all__ += tools.__all__

#: What checks are called elsewhere, and here.
ALIASES: Mapping[str, str] = {
    "contains": "includes",
    "icontains": "includes",
    "include": "includes",
    "has_text": "includes",
    "to_contain": "includes",
    "string_contains": "includes",
    "not_contains": "excludes",
    "not_includes": "excludes",
    "not_icontains": "excludes",
    "does_not_contain": "excludes",
    "exclude": "excludes",
    "exact_match": "equals",
    "exact": "equals",
    "equal": "equals",
    "is_equal": "equals",
    "string_match": "equals",
    "regex": "matches",
    "regex_match": "matches",
    "pattern": "matches",
    "match": "matches",
    "not_regex": "~matches",
    "levenshtein": "similarity",
    "similar": "similarity",
    "string_similarity": "similarity",
    "dice": "similarity",
    "tool_called": "called_tool",
    "tool_used": "called_tool",
    "used_tool": "called_tool",
    "call_tool": "called_tool",
    "called": "called_tool",
    "not_called": "did_not_call",
    "tool_not_called": "did_not_call",
    "did_not_call_tool": "did_not_call",
    "tool_sequence": "tool_order",
    "trajectory": "tool_order",
    "tools_in_order": "tool_order",
    "max_calls": "max_tool_calls",
    "no_tools": "used_no_tools",
    "no_tool_calls": "used_no_tools",
    "tool_errors": "~no_tool_errors",
    "no_errors": "no_tool_errors",
    "and": "all_of",
    "or": "any_of",
    "not": "none_of",
    "if": "when",
}


def vocabulary() -> WithUnusable:
    """Every check by name, those of other packages (entry points of the group `quickchecks.checks`) included.

    Returns:
        The functions that make checks, as expressions and checks files name them; and why those that cannot be used are
        not among them. A package that is broken takes nothing else away.

    Example:
        >>> sorted(vocabulary())[:3]
        ['all_of', 'any_of', 'called_tool']
    """
    from importlib.metadata import entry_points

    found = WithUnusable({name: globals()[name] for name in __all__})
    for point in entry_points(group="quickchecks.checks"):
        if point.name in found:
            continue
        try:
            function = point.load()
            if callable(function):
                describe(function, point.name)
                found[point.name] = cast(Callable[..., Scorer], function)
            else:
                found.unusable[point.name] = not_loaded(point, f"is {type(function).__name__}, which cannot be called")
        except (Exception, SystemExit) as error:
            found.unusable[point.name] = not_loaded(point, error)
    return found


def suggestion(name: str) -> str:
    """What a check that does not exist is called here, as half a sentence; empty when nothing is near.

    Example:
        >>> suggestion("calledTool")
        'here it is called called_tool'
    """
    import re

    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|-", "_", name).lower()
    here = snake if snake in __all__ else ALIASES.get(snake, "")
    return f"here it is called {here}" if here else nearest_names(name, __all__)


def __getattr__(name: str) -> object:
    if name.startswith("__"):
        raise AttributeError(name)
    hint = suggestion(name)
    raise AttributeError(f"there is no check {name!r}{': ' + hint if hint else ''}")
