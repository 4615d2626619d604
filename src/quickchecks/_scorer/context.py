"""What goes into the steps of a scorer and what comes out of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct

from quickchecks._read_only import read_only
from quickchecks._run import Run
from quickchecks._score import Outcome, Score
from quickchecks._scorer.read_only import read_only_run
from quickchecks.errors import ScorerError

__all__ = ("Context", "Judged", "StepResults")


class Judged(Struct, frozen=True, gc=False):
    """What the score step of a combined scorer returns: an outcome, a value and the scores that it came from."""

    outcome: Outcome
    value: float | None
    parts: tuple[Score, ...] = ()

    @property
    def error(self) -> ScorerError | None:
        """What broke, when a branch did."""
        if self.outcome != "error":
            return None
        return next((part.error for part in self.parts if part.error is not None), None)


class Context(Struct, frozen=True, gc=False):
    """What the steps of one scoring may ask for, by name.

    Args:
        run: The run.
        input: What the agent was asked.
        expected: What the item expects.
        item: The item of the dataset.
        results: What the steps before returned.
        score: What the score step gave, in the reason step only.
    """

    run: Run
    input: object = None
    expected: object = None
    item: object = None
    results: StepResults | None = None
    score: bool | float | None = None

    def get(self, name: str) -> object:
        """The value that a step asks for under this name; what several scorers share is read-only."""
        if name == "output":
            return self.run.text
        if name == "run":
            return read_only_run(self.run)
        if name == "input" and self.input is None:
            return read_only(self.run.input)
        return read_only(getattr(self, name))


class StepResults(Mapping[str, object]):
    """What the steps before returned: `results.preprocess`, `results.analyze`, `results.generate_score`.

    Args:
        values: What they returned, read-only.
    """

    __slots__ = ("_values",)

    def __init__(self, values: Mapping[str, object]) -> None:
        self._values = values

    def __getitem__(self, stage: str) -> object:
        return self._values[stage]

    def __getattr__(self, stage: str) -> object:
        if stage.startswith("_"):
            raise AttributeError(stage)
        if stage not in self._values:
            ran = ", ".join(self._values) or "none"
            raise AttributeError(f"no step {stage!r} has run before this one (ran: {ran})")
        return self._values[stage]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"StepResults({dict(self._values)!r})"
