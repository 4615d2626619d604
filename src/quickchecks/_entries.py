"""The entries of `gates` and `scorers`: what the user may write, and the one form in which the rest of the code has it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal

from msgspec import Struct

from quickchecks import _render
from quickchecks._cached import cached
from quickchecks._items import Item
from quickchecks._scorer.definition import as_scorer
from quickchecks._scorer.pipeline import Scorer
from quickchecks._scorer.prompts import Prompt
from quickchecks._scorer.thresholds import Bounds
from quickchecks.errors import CheckArgumentError, CheckArgumentTypeError, ScorerDefinitionError

__all__ = ("Assertion", "Gate", "Observed", "ObservedMode", "Threshold", "entries_of_turns", "gates_of", "scorers_of")

#: What a scorer does that decides nothing, whatever becomes of it: "watch" is shown, "shadow" is only recorded.
ObservedMode = Literal["watch", "shadow"]


#: Less would hardly ever fail, and is mostly meant as something else.
_LEAST_RATE = 0.001
#: Below it, what items there are would prove more than they show.
_LEAST_CONFIDENCE = 0.5


class Gate(Struct, frozen=True):
    """A scorer that must score 1 on every item it applies to, or on a share of them.

    Args:
        scorer: The scorer.
        pass_rate: The share of items that must pass, from 0.001 to 1. Where no item passes, the gate fails.
        confidence: How sure the pass rate must be, such as 0.95, and at least 0.5: an exact one-sided bound decides, and
            too few items leave the gate undecided.

    Raises:
        CheckArgumentError: A number is out of its range, or a confidence is asked for a pass rate of 1, which no number
            of items can prove.

    Example:
        >>> from quickchecks import Gate, checks
        >>> Gate(checks.called_tool("search"), pass_rate=0.95, confidence=0.95).pass_rate
        0.95
    """

    scorer: Scorer | Callable[..., object]
    pass_rate: float = 1.0
    confidence: float | None = None

    def __post_init__(self) -> None:
        for name, value in (("pass_rate", self.pass_rate), ("confidence", self.confidence)):
            if value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                raise CheckArgumentTypeError(f"a gate takes {name} as a number, not {_render.value(value)}")
            least, below = (_LEAST_RATE, "up to 1") if name == "pass_rate" else (_LEAST_CONFIDENCE, "to below 1")
            if not least <= value <= 1 or (name == "confidence" and value == 1):
                percent = f"; for {value:g} % write {value / 100:g}" if 1 < value <= 100 else ""
                raise CheckArgumentError(f"a gate takes {name} from {least:g} {below}, not {value:g}{percent}")
        if self.confidence is not None and self.pass_rate == 1:
            raise CheckArgumentError(
                "a gate with a confidence needs a pass_rate below 1: no number of items proves that all pass"
            )
        if isinstance(self.scorer, (Threshold, Gate)):
            raise ScorerDefinitionError("a gate takes a scorer, not a threshold or another gate")


class Threshold(Struct, frozen=True):
    """A scorer whose mean over all items must keep bounds.

    Args:
        scorer: The scorer.
        min: The lowest mean.
        max: The highest mean.

    Raises:
        CheckArgumentError: There is no bound, or one is outside the range of the scorer.

    Example:
        >>> from quickchecks import Threshold, checks
        >>> Threshold(checks.similarity("It is sunny."), min=0.7).min
        0.7
    """

    scorer: Scorer | Callable[..., object]
    min: float | None = None
    max: float | None = None

    def __post_init__(self) -> None:
        self.bounds()

    def bounds(self) -> Bounds:
        """The bounds, once they are known to be sensible."""
        return Bounds(self.min, self.max).within(as_scorer(self.scorer).score_range)


class Observed(Struct, frozen=True):
    """A scorer that decides nothing: neither what it says nor that it breaks counts for the verdict.

    Args:
        scorer: The scorer.
        mode: Whether it is shown or only recorded.
    """

    scorer: Scorer
    mode: ObservedMode


class Assertion(Struct, frozen=True, dict=True):
    """One entry of gates or scorers, in one form.

    Args:
        scorer: The scorer.
        role: Whether it is a gate or only measured.
        bounds: What the mean must keep, for a scorer with a threshold.
        pass_rate: The share that must pass, for a gate.
        confidence: How sure that must be.
        turn: The turn that it judges; None for the whole item.
        mode: "watch" or "shadow" for a scorer that decides nothing, not even by breaking.
    """

    scorer: Scorer
    role: Literal["gate", "scorer"] = "scorer"
    bounds: Bounds | None = None
    pass_rate: float = 1.0
    confidence: float | None = None
    turn: int | None = None
    mode: ObservedMode | None = None

    @property
    def identity(self) -> str:
        """The identity of the scorer."""
        return self.scorer.identity

    @property
    def label(self) -> str:
        """The identity, with the turn where it judges one."""
        return self.identity if self.turn is None else f"turn {self.turn}: {self.identity}"

    @cached
    def key(self) -> tuple[object, ...]:
        """What makes two entries the same, over the items of a dataset."""
        return (self.turn, self.role, self.identity, self.bounds, self.pass_rate, self.confidence, self.mode)

    @cached
    def may_block(self) -> bool:
        """Whether its steps are plain functions of the user, which may wait for something, as a judge does."""
        from inspect import iscoroutinefunction

        return all(
            not isinstance(step.definition, Prompt)
            and not str(getattr(step.definition, "__module__", "")).startswith("quickchecks.")
            and not iscoroutinefunction(step.definition)
            and not iscoroutinefunction(type(step.definition).__call__)
            for step in self.scorer.steps
        )


def gates_of(entries: Iterable[object], *, turn: int | None = None) -> tuple[Assertion, ...]:
    """Read the entries of a list of gates.

    Args:
        entries: Scorers, plain functions, Gates.
        turn: The turn that they judge.

    Raises:
        ScorerDefinitionError: An entry has a threshold, or is no scorer, or two have the same identity.
    """
    found: list[Assertion] = []
    for entry in _listed(entries, "gates"):
        if isinstance(entry, Threshold) or (isinstance(entry, Mapping) and "threshold" in entry):
            raise ScorerDefinitionError(
                "an entry with a threshold stands among the gates: a gate must pass on every item; "
                "put it in scorers=[...], or ask for less with Gate(check, pass_rate=0.95)"
            )
        if isinstance(entry, Gate):
            found.append(Assertion(_ready(entry.scorer), "gate", None, entry.pass_rate, entry.confidence, turn))
        else:
            scorer = entry["scorer"] if isinstance(entry, Mapping) and set(entry) == {"scorer"} else entry
            found.append(Assertion(_ready(scorer), "gate", turn=turn))
    for one in found:
        if one.scorer.score_range != (0.0, 1.0):
            low, high = one.scorer.score_range
            raise ScorerDefinitionError(
                f"a gate must score 1, and {one.identity} scores {low:g}..{high:g}: put it in scorers with a threshold"
            )
    return _distinct(found, "gates", turn)


def scorers_of(entries: Iterable[object], *, turn: int | None = None) -> tuple[Assertion, ...]:
    """Read the entries of a list of scorers.

    Args:
        entries: Scorers, plain functions, Thresholds, or mappings such as {"scorer": s, "threshold": 0.7}.
        turn: The turn that they judge.

    Raises:
        ScorerDefinitionError: An entry is no scorer, or two have the same identity.
        CheckArgumentError: A threshold is no number within the range of its scorer.
    """
    found: list[Assertion] = []
    for entry in _listed(entries, "scorers"):
        if isinstance(entry, Gate):
            raise ScorerDefinitionError("a Gate stands among the scorers: put it in gates=[...]")
        if isinstance(entry, Threshold):
            found.append(Assertion(_ready(entry.scorer), "scorer", entry.bounds(), turn=turn))
        elif isinstance(entry, Observed):
            found.append(Assertion(_ready(entry.scorer), "scorer", turn=turn, mode=entry.mode))
        elif isinstance(entry, Mapping):
            found.append(_of_mapping(entry, turn))
        else:
            found.append(Assertion(_ready(entry), "scorer", turn=turn))
    return _distinct(found, "scorers", turn)


def entries_of_turns(item: Item) -> tuple[Assertion, ...]:
    """The entries that judge single turns of an item: of each turn its gates, then its scorers.

    Args:
        item: The item.
    """
    return tuple(
        entry
        for turn, one in enumerate(item.turns)
        for entry in (*gates_of(one.gates, turn=turn), *scorers_of(one.scorers, turn=turn))
    )


def _listed(entries: object, name: str) -> list[object]:
    if isinstance(entries, (str, Mapping, Scorer)) or not isinstance(entries, Iterable):
        raise ScorerDefinitionError(f"{name} is a list, not {_render.value(entries)}: write {name}=[...]")
    return list(entries)


def _ready(value: object) -> Scorer:
    scorer = as_scorer(value)
    if not any(step.stage == "generate_score" for step in scorer.steps):
        raise ScorerDefinitionError(
            f"scorer {scorer.identity!r} cannot be run: it has no score step; add .generate_score(function)"
        )
    return scorer


def _of_mapping(entry: Mapping[str, object], turn: int | None) -> Assertion:
    unknown = [str(key) for key in entry if key not in ("scorer", "threshold")]
    if unknown or "scorer" not in entry:
        raise ScorerDefinitionError(
            f"an entry of scorers is {{'scorer': ..., 'threshold': ...}}, not one with {', '.join(map(str, entry))}"
        )
    scorer = _ready(entry["scorer"])
    threshold = entry.get("threshold")
    if threshold is None:
        return Assertion(scorer, "scorer", turn=turn)
    if isinstance(threshold, Mapping):
        wrong = [str(key) for key in threshold if key not in ("min", "max")]
        if wrong or any(value is None for value in threshold.values()):
            raise CheckArgumentError(f"a threshold is a number, or {{'min': ..., 'max': ...}}, not {_render.value(threshold)}")
        bounds = Bounds(**threshold)
    else:
        bounds = Bounds(threshold)  # type: ignore[arg-type]  # Bounds says what it is when it is no number
    return Assertion(scorer, "scorer", bounds.within(scorer.score_range), turn=turn)


def _distinct(found: Sequence[Assertion], name: str, turn: int | None) -> tuple[Assertion, ...]:
    seen: set[str] = set()
    where = name if turn is None else f"the {name} of turn {turn}"
    for one in found:
        if one.identity in seen:
            raise ScorerDefinitionError(
                f"two of {where} have the identity {one.identity!r}, so that nobody could tell their scores apart: "
                "leave one out, or give one a name="
            )
        seen.add(one.identity)
    return tuple(found)
