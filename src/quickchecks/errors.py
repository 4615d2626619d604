"""Every exception that quickchecks raises.

    QuickchecksError
    ├── RecordingError          a recording cannot be read (also a ValueError)
    │   └── UnknownFormatError  nothing recognises its shape
    ├── CheckArgumentError      a check was built with an argument that makes no sense (also a ValueError)
    │   └── CheckArgumentTypeError   the argument is of the wrong type (also a TypeError)
    ├── CheckSyntaxError        a check written as text, or a checks file, cannot be read (also a ValueError)
    ├── UnknownNameError        no check, format or report has this name (also a LookupError)
    │   └── UnknownScoreError   a result has no such score (also a KeyError)
    ├── ScorerDefinitionError   create_scorer or @scorer was used wrongly (also a ValueError)
    ├── ScorerError             a step of a scorer raised while scoring; kept on the score
    ├── ItemError               the items of a dataset cannot be understood (also a ValueError)
    ├── TargetError             what should be evaluated cannot be called (also a TypeError)
    ├── ToolMockError           a tool mock fails as it was told to, or fits no call (raised inside the agent)
    ├── SettingsError           an option of an evaluation makes no sense (also a ValueError)
    ├── EvalFailed              an evaluation did not pass (also an AssertionError)
    ├── ChecksFailed            a run did not pass the checks that were asserted (also an AssertionError)
    ├── NoVerdictError          a score that is neither passed nor failed was used as a bool (also a TypeError)
    └── MissingExtraError       an optional dependency is not installed (also an ImportError)

Each message says what was expected, what came, where, and what to do next.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

__all__ = (
    "CheckArgumentError",
    "CheckArgumentTypeError",
    "CheckSyntaxError",
    "ChecksFailed",
    "EvalFailed",
    "ItemError",
    "MissingExtraError",
    "NoVerdictError",
    "QuickchecksError",
    "RecordingError",
    "ScorerDefinitionError",
    "ScorerError",
    "SettingsError",
    "TargetError",
    "ToolMockError",
    "UnknownFormatError",
    "UnknownNameError",
    "UnknownScoreError",
)


class QuickchecksError(Exception):
    """The base of every error that quickchecks raises on purpose."""


class RecordingError(QuickchecksError, ValueError):
    """A recording cannot be read.

    Args:
        problem: What was expected and what came, as one sentence.
        file: The file it came from, as the user named it; None for a value in memory.
        line: The line in the file, counted from 1.
        index: The record within the file (or within an array), counted from 0.
        path: Where inside the record, such as `messages[3].tool_calls[0]`.
        hint: What to do next.
    """

    def __init__(
        self,
        problem: str,
        *,
        file: str | None = None,
        line: int | None = None,
        index: int | None = None,
        path: str = "",
        hint: str = "",
    ) -> None:
        super().__init__(problem)
        self.problem = problem
        self.file = file
        self.line = line
        self.index = index
        self.path = path
        self.hint = hint

    def located(self, *, file: str | None = None, line: int | None = None, index: int | None = None) -> RecordingError:
        """Fill in the place that only the caller knows, and return the same error."""
        self.file = self.file if self.file is not None else file
        self.line = self.line if self.line is not None else line
        self.index = self.index if self.index is not None else index
        return self

    def __str__(self) -> str:
        place = self.file or ""
        if self.line is not None:
            place += f":{self.line}" if place else f"line {self.line}"
        if self.index is not None and self.line is None:
            place += f"[{self.index}]" if place else f"record {self.index}"
        if self.path:
            place += f", at {self.path}" if place else f"at {self.path}"
        text = f"{place}: {self.problem}" if place else self.problem
        return f"{text}\n  {self.hint}" if self.hint else text


class UnknownFormatError(RecordingError):
    """Nothing recognises the shape of a recording or value."""


class CheckArgumentError(QuickchecksError, ValueError):
    """A check was built with an argument that could never decide anything."""


class CheckArgumentTypeError(CheckArgumentError, TypeError):
    """A check was built with an argument of the wrong type."""


class CheckSyntaxError(QuickchecksError, ValueError):
    """A check written as text, or a checks file, cannot be read.

    Args:
        problem: What was expected and what came.
        file: The checks file, when there is one.
        line: The line, counted from 1.
        column: The column, counted from 1.
        hint: What to do next.
    """

    def __init__(
        self, problem: str, *, file: str | None = None, line: int | None = None, column: int | None = None, hint: str = ""
    ) -> None:
        super().__init__(problem)
        self.problem = problem
        self.file = file
        self.line = line
        self.column = column
        self.hint = hint

    def __str__(self) -> str:
        place = place_in_text(self.file, self.line, self.column)
        text = f"{place}: {self.problem}" if place else self.problem
        return f"{text}\n  {self.hint}" if self.hint else text


class UnknownNameError(QuickchecksError, LookupError):
    """No check, format or report has this name; the message lists the nearest ones.

    Args:
        kind: What was looked for: "check", "format", "report".
        name: The name that was given.
        known: The names that exist.
        hint: What the name is called here, when that is known; else the nearest names are listed.
        place: Where the name stands, when it was read from a text or a file.
    """

    def __init__(self, kind: str, name: str = "", known: Iterable[str] = (), *, hint: str = "", place: str = "") -> None:
        self.kind = kind
        self.name = name
        self.known = tuple(known)
        self.place = place
        self.hint = hint or nearest_names(name, self.known)
        super().__init__(kind, name, self.known)

    def __str__(self) -> str:
        text = f"{self.place}: " if self.place else ""
        text += f"there is no {self.kind} {self.name!r}"
        return f"{text}: {self.hint}" if self.hint else text


class UnknownScoreError(UnknownNameError, KeyError):
    """A result has no score of this name, or several scorers have it."""


class ScorerDefinitionError(QuickchecksError, ValueError):
    """create_scorer or @scorer was used in a way that can never score."""


class ScorerError(QuickchecksError):
    """A step of a scorer raised; `score.error` holds it and `__cause__` is the original exception.

    Args:
        message: The sentence with the scorer, the step and the original message.
        scorer: The identity of the scorer.
        failed_step: The step that raised, such as "analyze".
        completed_steps: The steps that had ended before, in order.
        results: What those steps returned, by step.
    """

    def __init__(
        self,
        message: str,
        *,
        scorer: str = "",
        failed_step: str = "",
        completed_steps: tuple[str, ...] = (),
        results: Mapping[str, object] | None = None,
    ) -> None:
        super().__init__(message)
        self.scorer = scorer
        self.failed_step = failed_step
        self.completed_steps = completed_steps
        self.results = dict(results or {})


class ItemError(QuickchecksError, ValueError):
    """The items of a dataset cannot be understood: none, two of one id, or one that asks nothing."""


class TargetError(QuickchecksError, TypeError):
    """What should be evaluated cannot be called with an input."""


class ToolMockError(QuickchecksError):
    """A tool mock fails as it was told to, or none fits the call. The agent gets it as the exception of its tool."""


class SettingsError(QuickchecksError, ValueError):
    """An option of an evaluation makes no sense."""


class EvalFailed(QuickchecksError, AssertionError):
    """An evaluation did not pass; the message explains why."""


class ChecksFailed(QuickchecksError, AssertionError):
    """A run did not pass the checks that were asserted; the message says why.

    Args:
        message: The message.
        scores: The scores that are no pass.
    """

    def __init__(self, message: str, scores: tuple[object, ...] = ()) -> None:
        super().__init__(message)
        self.scores = scores


class NoVerdictError(QuickchecksError, TypeError):
    """A score that is neither passed nor failed was used where a yes or no is needed."""


class MissingExtraError(QuickchecksError, ImportError):
    """An optional dependency is not installed.

    Args:
        purpose: What it is needed for, as the start of a sentence.
        extra: The extra of quickchecks that brings it.
    """

    def __init__(self, purpose: str, extra: str = "") -> None:
        self.purpose = purpose
        self.extra = extra
        super().__init__(purpose, extra)

    def __str__(self) -> str:
        return f'{self.purpose} needs an optional part of quickchecks: pip install "quickchecks[{self.extra}]"'


def place_in_text(file: str | None, line: int | None, column: int | None) -> str:
    """Write a place in a text as `checks.yaml:3:5`, or as `line 3, column 5` where there is no file."""
    if file is not None:
        return ":".join(str(part) for part in (file, line, column) if part is not None)
    named = (("line", line), ("column", column))
    return ", ".join(f"{name} {number}" for name, number in named if number is not None)


def nearest_names(name: str, known: Iterable[str]) -> str:
    """Say which of the known names are near to a name, or list them all when there are few.

    Args:
        name: The name that was not found.
        known: The names that exist.

    Returns:
        Half a sentence such as "did you mean 'includes'?", or an empty string.

    Example:
        >>> nearest_names("include", ["includes", "excludes", "equals"])
        "did you mean 'includes'?"
    """
    from difflib import get_close_matches

    names = sorted(set(known))
    near = get_close_matches(name, names, n=3, cutoff=0.7)
    if near:
        return f"did you mean {' or '.join(repr(one) for one in near)}?"
    if names and len(names) <= 20:
        return f"there are {', '.join(names)}"
    return ""
