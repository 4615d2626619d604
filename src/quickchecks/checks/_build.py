"""How a check is made: a frozen judgement, its explanation, and the expression that makes it again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import msgspec
from msgspec import Struct

from quickchecks._run import Run
from quickchecks._score import Explanation, Score
from quickchecks._scorer.definition import create_scorer
from quickchecks._scorer.pipeline import Scorer

__all__ = ("Judgement", "build")


class Judgement(Struct, frozen=True):
    """The core of a check: two pure functions of a run.

    Calling it judges: True, False, a number, or an abstention. That is all that is done when a run is scored.
    `explain` says why, and is called when somebody reads the reason. Raise `revision` whenever either would answer
    differently for the same run, so that stored scores are known to be of an older check.
    """

    revision: ClassVar[int] = 1
    parameter_names: ClassVar[tuple[str, ...]] = ("run",)
    graded: ClassVar[bool] = False

    def __call__(self, run: Run) -> object:
        """Judge a run."""
        raise NotImplementedError

    def explain(self, run: Run, score: Score) -> Explanation:
        """Say why this run got this score."""
        raise NotImplementedError


class _Call(Struct, frozen=True, gc=False):
    """The expression of a check: a call of the function that makes it, with only what differs from the defaults."""

    function: str
    arguments: tuple[object, ...]
    options: Mapping[str, object]

    def text(self, name: str | None = None, why: str = "") -> str:
        """Write it as Python: the subject by position, then the options by name, sorted."""
        options = {**self.options, **({"name": name} if name else {}), **({"why": why} if why else {})}
        written = [repr(argument) for argument in self.arguments]
        written += [f"{key}={options[key]!r}" for key in sorted(options)]
        return f"{self.function}({', '.join(written)})"


def build(
    function: Callable[..., Scorer],
    judgement: Judgement,
    arguments: tuple[object, ...] = (),
    *,
    name: str | None,
    why: str,
    graded: bool = False,
    **options: object,
) -> Scorer:
    """Make the scorer of a check.

    Args:
        function: The public function that makes the check; it gives the name, the defaults and the description.
        judgement: What judges and explains.
        arguments: The arguments by position, in a form that has a literal.
        name: The user's name for it.
        why: The user's reason for it.
        graded: Whether it gives a number instead of a pass or fail.
        options: The arguments by keyword; those that equal the defaults are left out of the expression.
    """
    defaults: Mapping[str, Any] = function.__kwdefaults__ or {}
    given = {key: value for key, value in options.items() if value != defaults.get(key)}
    kind = function.__name__
    empty = create_scorer(
        id="check-" + kind.replace("_", "-"),
        description=(function.__doc__ or "").split("\n", 1)[0],
        name=name,
        why=why,
        explain=judgement.explain,
    )
    call = _Call(kind, arguments, given)
    return msgspec.structs.replace(empty, expression=call, graded=graded).generate_score(judgement)
