"""The scorer pipeline: every check, code-based scorer and judge is a `Scorer` made by `create_scorer`.

A scorer is up to four steps, which run in this order however they were chained: `preprocess`, `analyze`,
`generate_score` (required) and `generate_reason`. Each is a function that takes what it needs by name, or a prompt
object that asks a model. There is one core, the generator `Scorer._evaluate`, which yields what must be awaited; the
synchronous and the asynchronous door drive it. A scorer whose one step is a plain function of the run, as every check
is, skips even that.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, Protocol

import msgspec
from msgspec import UNSET, Struct, UnsetType

from quickchecks import _render, _wire
from quickchecks._cached import cached
from quickchecks._read_only import read_only
from quickchecks._run import Run
from quickchecks._score import Abstention, Explanation, Score
from quickchecks._scorer.answers import ABSTAINED, WITHOUT_VALUE, number, plain_score, text_reason, value_and_reason
from quickchecks._scorer.context import Context, Judged, StepResults
from quickchecks._scorer.prompts import Judge, Prompt
from quickchecks._scorer.read_only import guarded, read_only_run
from quickchecks.errors import MissingExtraError, NoVerdictError, ScorerDefinitionError, ScorerError

if TYPE_CHECKING:
    from quickchecks._scorer.passing import Passing
    from quickchecks._scorer.signatures import Names

__all__ = ("Scorer", "Stage")

Stage = Literal["preprocess", "analyze", "generate_score", "generate_reason"]
STAGES: tuple[Stage, ...] = ("preprocess", "analyze", "generate_score", "generate_reason")

#: What a step may ask for; the reason step also gets `score`.
_STEP_NAMES: tuple[str, ...] = ("run", "input", "output", "expected", "item", "results")

Evaluation = Generator[Awaitable[object], object, "Score"]


class SupportsText(Protocol):
    """The expression of a check: something that can be written as text."""

    def text(self, name: str | None = None, why: str = "") -> str: ...


class _Step(Struct, frozen=True, gc=False):
    stage: Stage
    definition: Callable[..., object] | Prompt
    names: Names

    def start(self, context: Context) -> object:
        """Run the step; the answer may have to be awaited."""
        if isinstance(self.definition, Prompt):
            return self.definition.execute(context)
        return self.definition(**self.names.select(context))


class Scorer(Struct, frozen=True, dict=True, eq=False):
    """Something that scores runs. Make one with `create_scorer`, `@scorer` or a function of `quickchecks.checks`.

    A scorer is frozen and keeps nothing between two scorings, so that threads may share it. Scorers compose:
    `a & b`, `a | b` and `~a` are scorers.

    Args:
        id: The kind of scorer, such as "check-includes".
        description: What it scores, as one sentence.
        name: The identity that the user gave it.
        why: Why the user has it, as one plain sentence; shown beside every failure.
        steps: The steps, in the order in which they run.
        explain: Makes the reason when it is read, from the run and the score.
        expression: The expression that makes this scorer, for checks.
        judge: The model that prompt steps ask.
        prepare_run: Trims what the steps see.
        score_range: The lowest and the highest value.
        graded: Whether the value is known to be a number instead of a pass or fail.
        given_version: What the user says its version is.
        asserts: Whether an AssertionError in the score step is a failed score.
        quick: The score step, when it is a plain function of the run and the only one.
    """

    id: str
    description: str = ""
    name: str | None = None
    why: str = ""
    steps: tuple[_Step, ...] = ()
    explain: Callable[[Run, Score], Explanation] | None = None
    expression: SupportsText | None = None
    judge: Judge | None = None
    prepare_run: Callable[[Run], object] | None = None
    score_range: tuple[float, float] = (0.0, 1.0)
    graded: bool = False
    given_version: str = ""
    asserts: bool = False
    quick: Callable[[Run], object] | None = None

    @cached
    def identity(self) -> str:
        """The name, when there is one; else the expression of a check, or the id."""
        return self.name or (self.expression.text() if self.expression is not None else self.id)

    @cached
    def version(self) -> str:
        """A fingerprint of the arguments and the code; empty when the code cannot be read, which means "score again"."""
        from quickchecks._scorer.versions import fingerprint

        kind = self.expression.text() if self.expression is not None else self.id
        return self.given_version or fingerprint(
            kind if self.score_range == (0.0, 1.0) else f"{kind} {self.score_range}",
            [step.definition for step in self.steps] + ([self.prepare_run] if self.prepare_run is not None else []),
        )

    def preprocess(self, step: Callable[..., object] | Prompt) -> Scorer:
        """Add the step that runs first, and return the new scorer.

        Args:
            step: A function that takes, by name, any of run, input, output, expected, item; or a Prompt.

        Raises:
            ScorerDefinitionError: The step is not callable, is there already, or asks for a name that no step gets.
        """
        return self._with("preprocess", step)

    def analyze(self, step: Callable[..., object] | Prompt) -> Scorer:
        """Add the step that runs after `preprocess`, and return the new scorer. See `preprocess` for its arguments."""
        return self._with("analyze", step)

    def generate_score(self, step: Callable[..., object] | Prompt) -> Scorer:
        """Add the step that gives the value, and return the new scorer.

        Args:
            step: A function that takes, by name, any of run, input, output, expected, item, results, and returns a
                bool, a number within the score range, `not_applicable(...)` or `no_evidence(...)`; or a Prompt.

        Raises:
            ScorerDefinitionError: The step is not callable, is there already, or asks for a name that no step gets.
        """
        return self._with("generate_score", step)

    def generate_reason(self, step: Callable[..., object] | Prompt) -> Scorer:
        """Add the step that gives the reason, and return the new scorer. It may ask for `score` too; it returns text."""
        return self._with("generate_reason", step)

    def _with(self, stage: Stage, definition: Callable[..., object] | Prompt) -> Scorer:
        from quickchecks._scorer.signatures import names_of

        if any(step.stage == stage for step in self.steps):
            raise ScorerDefinitionError(f"scorer {self.id!r} has a step {stage!r} already; each step is defined once")
        if not callable(definition) and not isinstance(definition, Prompt):
            raise ScorerDefinitionError(
                f"step {stage!r} of scorer {self.id!r} must be a function or a Prompt, not {_render.value(definition)}"
            )
        known = (*_STEP_NAMES, "score") if stage == "generate_reason" else _STEP_NAMES
        step = _Step(stage, definition, names_of(definition, known, f"step {stage!r} of scorer {self.id!r}"))
        steps = tuple(sorted((*self.steps, step), key=lambda one: STAGES.index(one.stage)))
        return msgspec.structs.replace(self, steps=steps, quick=self._quick(steps))

    def _quick(self, steps: tuple[_Step, ...]) -> Callable[[Run], object] | None:
        if len(steps) != 1 or steps[0].stage != "generate_score" or self.prepare_run is not None or self.asserts:
            return None
        definition = steps[0].definition
        if isinstance(definition, Prompt) or steps[0].names.asked != ("run",):
            return None
        flags = getattr(getattr(definition, "__code__", None), "co_flags", 0)
        if flags & 0x80 or getattr(definition, "is_async", False):  # 0x80: a coroutine function
            return None
        return definition if hasattr(definition, "parameter_names") else guarded(definition)  # the built-in ones change nothing

    def named(self, name: str | None = None, why: str = "") -> Scorer:
        """The same scorer under a name of its own, with the reason why the user has it.

        Args:
            name: The new identity; None keeps the present one.
            why: One plain sentence; empty keeps the present one.
        """
        return msgspec.structs.replace(self, name=name or self.name, why=why or self.why)

    def score(
        self,
        run: object = UNSET,
        *,
        input: object = None,
        output: object = UNSET,
        expected: object = None,
        item: object = None,
    ) -> Score:
        """Score a run.

        Args:
            run: A Run, or anything an adapter recognises: a string, a list of messages, a framework's result.
            input: What the agent was asked, when that is not in the run.
            output: Instead of `run`: what the agent answered.
            expected: What the item expects.
            item: The item of a dataset.

        Returns:
            The score. An exception of a step is a score with the outcome "error".

        Raises:
            RecordingError: The run is not recognised, or malformed.
            ScorerDefinitionError: The scorer cannot be run: it has no score step, or a step has to be awaited.
        """
        if type(run) is not Run or output is not UNSET:
            run = _as_run(run, input, output)
        quick = self.quick
        if quick is None:
            return _drive(self, Context(run, input, expected, item))
        try:
            value = quick(run)
            if value is True:
                return Score(self, "passed", 1.0, run, self.explain)
            if value is False:
                return Score(self, "failed", 0.0, run, self.explain)
            if not hasattr(value, "__await__"):
                return self._judged(run, value, {})
        except MissingExtraError:
            raise
        except (Exception, SystemExit) as error:
            return self._broken(run, "generate_score", {}, error)
        raise _must_be_awaited(self, value)

    async def score_async(
        self,
        run: object = UNSET,
        *,
        input: object = None,
        output: object = UNSET,
        expected: object = None,
        item: object = None,
    ) -> Score:
        """Score a run with a scorer of which some step has to be awaited. See `score`."""
        if type(run) is not Run or output is not UNSET:
            run = _as_run(run, input, output)
        evaluation = self._evaluate(Context(run, input, expected, item))
        try:
            waiting = next(evaluation)
            while True:
                try:
                    answer = await waiting
                except (Exception, SystemExit) as error:
                    waiting = evaluation.throw(error)
                else:
                    waiting = evaluation.send(answer)
        except StopIteration as end:
            found: Score = end.value
            return found

    run = score_async  # the reference's name

    def passes(self, run: object) -> Passing:
        """Whether a run passes: true or false, for `assert check.passes(run)`, with a repr that says why.

        Only a score that passed is true: no evidence, an error, and a check that does not apply are not, nor is anything on a run
        that itself broke off. `assert_checks` asserts several checks at once.

        Args:
            run: A Run, or anything an adapter recognises.

        Raises:
            NoVerdictError: The scorer grades, so that there is no pass or fail.

        Example:
            >>> from quickchecks import checks
            >>> checks.excludes("rain").passes("It rains.")
            <does not pass: excludes('rain'): "rain" is in the answer, at 3: "It rains.">
        """
        from quickchecks._scorer.passing import Passing
        from quickchecks._scorer.unsaid import run_of_answer

        found = self.score(run_of_answer(run))
        if found.outcome == "graded":
            raise NoVerdictError(
                f"{self.identity} is graded {found.value:g}, which is neither passed nor failed: give it a threshold"
            )
        return Passing(found)

    def _evaluate(self, context: Context) -> Evaluation:
        """Run the steps; yields what must be awaited, returns the score."""
        if not any(step.stage == "generate_score" for step in self.steps):
            raise ScorerDefinitionError(f"scorer {self.id!r} cannot be run: it has no score step; add .generate_score(function)")
        stage = "prepare_run"
        done: dict[str, object] = {}
        run = context.run
        judged: Score | None = None
        try:
            if self.prepare_run is not None:
                run = yield from self._prepared(run)
                context = msgspec.structs.replace(context, run=run)
            for step in self.steps:
                stage = step.stage
                evaluate = getattr(step.definition, "evaluate", None)
                if evaluate is not None:
                    answer = yield from evaluate(context)
                else:
                    answer = step.start(msgspec.structs.replace(context, results=StepResults(dict(done))))
                    if isinstance(answer, Awaitable):
                        answer = yield answer
                if stage == "generate_score":
                    judged = self._judged(run, answer, done)
                    if judged.outcome in WITHOUT_VALUE:
                        return judged
                    answer = plain_score(answer, judged.value)
                    context = msgspec.structs.replace(context, score=answer)
                elif isinstance(answer, Abstention):
                    return self._judged(run, answer, done)
                elif stage == "generate_reason":
                    assert judged is not None  # the steps are in order, and there is a score step
                    judged = msgspec.structs.replace(judged, note=text_reason(answer))
                done[stage] = read_only(answer)
        except MissingExtraError:
            raise
        except AssertionError as error:
            if not self.asserts or stage != "generate_score":
                return self._broken(run, stage, done, error)
            message = _wire.as_text(error) or "an assertion of the scorer does not hold"
            return Score(self, "failed", 0.0, run, note=message, results=self._kept(done))
        except (Exception, SystemExit) as error:
            return self._broken(run, stage, done, error)
        assert judged is not None
        return msgspec.structs.replace(judged, results=self._kept(done))

    def _prepared(self, run: Run) -> Generator[Awaitable[object], object, Run]:
        assert self.prepare_run is not None
        prepared = self.prepare_run(read_only_run(run))
        if isinstance(prepared, Awaitable):
            prepared = yield prepared
        if not isinstance(prepared, Run):
            raise TypeError(f"prepare_run must return a Run, not {type(prepared).__name__}")
        return prepared

    def _judged(self, run: Run, value: object, done: dict[str, object]) -> Score:
        """Turn what the score step returned into a score; raises for what is no score."""
        results = self._kept(done)
        if isinstance(value, Abstention):
            return Score(self, value.outcome, None, run, note=value.reason or ABSTAINED[value.outcome], results=results)
        if isinstance(value, Judged):
            return Score(
                self, value.outcome, value.value, run, self.explain, error=value.error, results=results, parts=value.parts
            )
        if isinstance(value, Score):
            given = None if value.value is None else number(value.value, self.score_range)
            note = value.explanation
            return Score(self, value.outcome, given, run, note=note, error=value.error, results=results, parts=value.parts)
        value, reason = value_and_reason(value)
        if isinstance(value, bool):
            return Score(self, "passed" if value else "failed", float(value), run, self.explain, reason, results=results)
        return Score(self, "graded", number(value, self.score_range), run, self.explain, reason, results=results)

    def _kept(self, done: dict[str, object]) -> Mapping[str, object] | None:
        """What the steps returned. Of a scorer of one step that is the value, which the score holds already."""
        return MappingProxyType(done) if done and len(self.steps) > 1 else None

    def _broken(self, run: Run, stage: str, done: dict[str, object], error: Exception | SystemExit) -> Score:
        message = f"{self.identity} broke in {stage}: {type(error).__name__}: {_wire.as_text(error)}"
        wrapped = ScorerError(message, scorer=self.identity, failed_step=stage, completed_steps=tuple(done), results=dict(done))
        wrapped.__cause__ = error
        return Score(self, "error", None, run, error=wrapped, results=self._kept(done))

    def __and__(self, other: Scorer) -> Scorer:
        from quickchecks._scorer.compose import all_of

        return all_of(self, other) if isinstance(other, Scorer) else NotImplemented

    def __or__(self, other: Scorer) -> Scorer:
        from quickchecks._scorer.compose import any_of

        return any_of(self, other) if isinstance(other, Scorer) else NotImplemented

    def __invert__(self) -> Scorer:
        from quickchecks._scorer.compose import none_of

        return none_of(self)

    def __bool__(self) -> bool:
        raise NoVerdictError(
            f"{self.identity} is a scorer, not a score: combine scorers with & | ~ instead of and, or, not; "
            "score a run with .score(run)"
        )

    def __repr__(self) -> str:
        if self.expression is not None:
            return self.expression.text(self.name, self.why)
        return f"<scorer {self.identity}>"


def _drive(scorer: Scorer, context: Context) -> Score:
    """Drive the core without an event loop."""
    evaluation = scorer._evaluate(context)
    try:
        waiting = next(evaluation)
    except StopIteration as end:
        found: Score = end.value
        return found
    evaluation.close()
    raise _must_be_awaited(scorer, waiting)


def _must_be_awaited(scorer: Scorer, waiting: object) -> ScorerDefinitionError:
    close = getattr(waiting, "close", None)
    if close is not None:
        close()  # a coroutine that nobody awaits would warn
    return ScorerDefinitionError(
        f"{scorer.identity} has a step that must be awaited: use `await scorer.score_async(run)` instead of score(run), and "
        "`await assert_checks_async(run, ...)` instead of assert_checks(run, ...)"
    )


def _as_run(run: object, input: object, output: object) -> Run:
    from quickchecks.adapters import as_run

    if isinstance(run, UnsetType):
        if isinstance(output, UnsetType):
            raise TypeError("score() takes a run, or output=")
        run = output
    elif not isinstance(output, UnsetType):
        raise TypeError("score() takes a run or output=, not both")
    found = as_run(run)
    return found if input is None or found.input is not None else msgspec.structs.replace(found, input=input)
