"""Tests that run several times and pass by rate: `@pytest.mark.quickchecks(repetitions=5, pass_rate=0.8)`.

Everything happens within the one call phase of the test, so that for pytest, its options and its other plugins it is one test
with one outcome. Between two repetitions the test is torn down and set up again, as between two tests of one module.
"""

from __future__ import annotations

from bdb import BdbQuit
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Literal, cast

import pytest
from msgspec import Struct

from quickchecks import _render, _stats
from quickchecks._gates import AssertionResult, Gate, gates_of, judge
from quickchecks._results.evaluation import EvalResult
from quickchecks._score import Outcome, Score
from quickchecks.errors import QuickchecksError
from quickchecks.pytest_plugin import BROKEN_SETUP, BROKEN_TEARDOWNS, KEPT, REPEATED, REPETITION
from quickchecks.pytest_plugin._joining import joined
from quickchecks.pytest_plugin._marking import STANDS_FOR_A_TEST, Settings, percent, repeatable, settings_of
from quickchecks.reports._safe import one_line

__all__ = ("Repetitions", "show")

#: The most repetitions that are told one by one, and the most whose failure is shown in full.
_MOST_TOLD = 20
_MOST_SHOWN = 3
#: The longest that is shown of one failure.
_LONGEST = 4000
_WIDEST = 80
#: What must go on its way at once, whatever runs.
_END = (KeyboardInterrupt, pytest.exit.Exception, BdbQuit)


class Repetition(Struct, frozen=True):
    """What came of one repetition.

    Args:
        outcome: "passed", "failed", or "not_applicable" for one that skipped.
        message: What it raised, in one line.
        shown: What it raised, as pytest shows it.
        raised: What it raised.
        expected: Why that was expected, where a mark `xfail` says it; None where it was not.
    """

    outcome: Outcome
    message: str = ""
    shown: str = ""
    raised: BaseException | None = None
    expected: str | None = None


class Repetitions:
    """The repetitions of one test.

    Args:
        node: The test.
        settings: How it is repeated.
    """

    def __init__(self, node: pytest.Function, settings: Settings) -> None:
        self._node = node
        self._settings = settings
        self._made: list[Repetition] = []
        self._kept: list[list[EvalResult]] = []
        self._counted = 0  # what fixtures evaluated in the setup belongs to the first repetition
        self._sections = list(node._report_sections)
        node._report_sections.clear()
        self._stops_at_failure = bool(node.config.getoption("usepdb", False))

    @classmethod
    def of(cls, node: pytest.Item) -> Repetitions | None:
        """The repetitions of a test that has the mark; None when it runs once.

        Raises:
            pytest.fail.Exception: The mark makes no sense, or the test cannot be repeated.
        """
        problem = ""
        try:
            settings = settings_of(node)
            if settings is None:
                return None
            return cls(repeatable(node), settings)
        except QuickchecksError as error:
            problem = str(error)
        pytest.fail(problem, pytrace=False)

    @contextmanager
    def before_the_last(self) -> Iterator[None]:
        """Run all repetitions but the last, which runs inside the context. Each is torn down, and the next set up."""
        node = self._node
        node.stash[REPETITION] = 0
        for number in range(self._settings.repetitions - 1):
            if len(self._made) == number:  # its setup has not skipped it
                self._ended(self._phase("call", node.ihook.pytest_runtest_call))
            self._begin_next(number + 1)
        skipped = len(self._made) == self._settings.repetitions
        if skipped:
            node.runtest = lambda: None  # type: ignore[method-assign]  # a hook must give way, also where nothing is left to run
        try:
            yield
        except BaseException as raised:
            self._ended(self._phase("call", _raising(raised)))
        else:
            if not skipped:
                self._ended(self._phase("call", lambda item: None))
        finally:
            if skipped:
                del node.runtest

    def _phase(
        self, when: Literal["setup", "call"], run: Callable[..., object]
    ) -> tuple[BaseException | None, pytest.TestReport]:
        """Run one phase. Its report is made, because fixtures look at it, and shown to nobody.

        Returns:
            What was raised, and the report.
        """
        node = self._node
        call = pytest.CallInfo.from_call(lambda: run(item=node), when=when, reraise=_END)
        report = node.ihook.pytest_runtest_makereport(item=node, call=call)
        return (None if call.excinfo is None else call.excinfo.value), report

    def _ended(self, ended: tuple[BaseException | None, pytest.TestReport]) -> None:
        """Take note of how a repetition ended."""
        raised, report = ended
        if raised is None:
            self._made.append(Repetition("passed"))
        elif isinstance(raised, pytest.skip.Exception):
            self._made.append(Repetition("not_applicable", str(raised.msg), raised=raised))
        elif self._stops_at_failure:
            raise raised
        else:
            info = pytest.ExceptionInfo.from_exception(raised)
            first = next((line for line in info.exconly(tryshort=True).splitlines() if line.strip()), type(raised).__name__)
            # The mark asks for the class of what is raised, and what the repetitions raise together is of another.
            expected = str(getattr(report, "wasxfail", "")) if report.skipped else None
            self._made.append(Repetition("failed", _render.capped(first, 200), report.longreprtext, raised, expected))
        self._take_output(len(self._made))
        results = self._results()
        self._kept.append(results[self._counted :])
        self._counted = len(results)

    def _begin_next(self, number: int) -> None:
        node = self._node
        try:
            # The next item is another child of the same parent, so that only what belongs to this test is torn down.
            node.ihook.pytest_runtest_teardown(item=node, nextitem=node.parent)
        except _END:
            raise
        except BaseException as raised:
            raised.add_note(f"in the teardown of repetition {number} of {self._settings.repetitions}")
            node.stash.setdefault(BROKEN_TEARDOWNS, []).append(raised)
        self._take_output(number)
        node.stash[REPETITION] = number
        node._request = False  # type: ignore[assignment]
        if node.cls is not None:
            vars(node).pop("_instance", None)
            node.obj = getattr(node.instance, node.originalname)
        node._initrequest()
        broke, report = self._phase("setup", node.ihook.pytest_runtest_setup)
        if isinstance(broke, pytest.skip.Exception):
            self._ended((broke, report))
        elif broke is not None:
            broke.add_note(f"in the setup of repetition {number + 1} of {self._settings.repetitions}")
            self._finish()
            node.stash[BROKEN_SETUP] = True
            raise broke

    def conclude(self) -> None:
        """Let the test pass, fail or be skipped.

        Raises:
            pytest.fail.Exception: Too few passed, or too few to be sure of it.
            pytest.skip.Exception: All were skipped.
            pytest.xfail.Exception: Too few passed, and each that failed said that this is expected.
        """
        __tracebackhide__ = True
        judged = self._judged()
        skipped = [one for one in self._made if one.outcome == "not_applicable"]
        failed = [one for one in self._made if one.outcome == "failed"]
        said = "" if len(skipped) == len(self._made) else self._rate(judged)
        self._finish(said, passed=judged.verdict == "passed")
        if not said:
            first = skipped[0].raised  # it knows where it was skipped
            assert isinstance(first, pytest.skip.Exception)
            first.msg = f"all {_render.many(len(skipped), 'repetition')}: {skipped[0].message}"
            raise first
        if judged.verdict == "passed":
            return
        if failed and all(one.expected is not None for one in failed):
            pytest.xfail(f"{said}: {failed[0].expected or failed[0].message}")
        self._show_failed_output()
        pytest.fail(self._explained(judged, said), pytrace=False)

    def _judged(self) -> AssertionResult:
        scores = {
            str(number): [Score(STANDS_FOR_A_TEST, one.outcome, {"passed": 1.0, "failed": 0.0}.get(one.outcome))]
            for number, one in enumerate(self._made)
        }
        settings = self._settings
        entry = gates_of([Gate(STANDS_FOR_A_TEST, settings.pass_rate, settings.confidence)])[0]
        return cast(AssertionResult, judge(entry, cast("Mapping[str, Sequence[Score | None]]", scores)))

    def _rate(self, judged: AssertionResult) -> str:
        counts, (low, high) = judged.counts, judged.interval or (0.0, 1.0)
        skipped = f", {counts.not_applicable} skipped" if counts.not_applicable else ""
        return (
            f"{counts.passed} of {_render.many(counts.judged, 'repetition')} passed ({percent(counts.passed / counts.judged)}, "
            f"95 % interval {100 * low:.0f}–{100 * high:.0f} %){skipped}"
        )

    def _explained(self, judged: AssertionResult, said: str) -> str:
        settings, counts = self._settings, judged.counts
        wanted = f"{percent(settings.pass_rate)} are wanted"
        if settings.confidence is not None:
            wanted = f"{percent(settings.pass_rate)} with {percent(settings.confidence)} confidence is wanted"
        lines = [f"{said}; {wanted}"]
        if judged.verdict == "undecided" and settings.confidence is not None:
            more = _stats.clean_items_needed(counts.passed, counts.judged, settings.pass_rate, settings.confidence)
            hint = "" if more is None else f"; {_render.many(more, 'more repetition')} that pass would decide"
            proved = _stats.lower_bound(counts.passed, counts.judged, settings.confidence)
            lines = [f"undecided: {said}, which proves {100 * proved:.0f} %; {wanted}{hint}"]
        told = [f"  {number}  {_word(one)}" for number, one in enumerate(self._made, 1)]
        lines += ["", *told[:_MOST_TOLD]]
        if len(told) > _MOST_TOLD:
            lines.append(f"  … and {len(told) - _MOST_TOLD} more")
        for number in self._shown():
            lines += ["", f"repetition {number}:", _render_lines(self._made[number - 1].shown)]
        return "\n".join(lines)

    def _shown(self) -> list[int]:
        """The repetitions whose failure is shown in full: the first of each kind."""
        kinds: dict[str, int] = {}
        for number, one in enumerate(self._made, 1):
            if one.outcome == "failed":
                kinds.setdefault(one.message, number)
        return list(kinds.values())[:_MOST_SHOWN]

    def _finish(self, said: str = "", *, passed: bool = False) -> None:
        """Leave the test as if it had run once: its output, what it evaluated, and a word on how it went."""
        node = self._node
        node._report_sections[:] = self._sections
        kept = node.stash.get(KEPT, None)
        if kept is not None:
            before = len(kept.results) - sum(map(len, self._kept))
            kept.replace(before, joined(self._kept, self._settings.pass_rate if passed else 1.0))
        node.user_properties[:] = [one for one in node.user_properties if one[0] != REPEATED]
        if said:
            node.user_properties.append((REPEATED, said))

    def _show_failed_output(self) -> None:
        """Keep the output of the repetitions whose failure is shown."""
        left_out = [number for number in range(1, len(self._made) + 1) if number not in self._shown()]
        endings = tuple(f" of repetition {number}" for number in left_out)
        sections = self._node._report_sections
        sections[:] = [one for one in sections if not (endings and one[0].endswith(endings))]

    def _take_output(self, number: int) -> None:
        """Keep apart what was printed in a repetition."""
        sections = self._node._report_sections
        # "teardown" in its title would have pytest show it twice.
        self._sections += [
            (f"{when.replace('teardown', 'end')} of repetition {number}", key, content) for when, key, content in sections
        ]
        sections.clear()

    def _results(self) -> list[EvalResult]:
        return self._node.stash[KEPT].results if KEPT in self._node.stash else []


def show(terminal: pytest.TerminalReporter, repeated: Mapping[str, str]) -> None:
    """Show at the end of the session how many repetitions of each test passed.

    Args:
        terminal: The terminal.
        repeated: What is said of each test, by its name.
    """
    if terminal.verbosity < 0:
        return
    terminal.write_sep("=", "repeated tests")
    shown = list(repeated.items())[: None if terminal.verbosity > 0 else _MOST_TOLD]
    names = [one_line(name) for name, _ in shown]
    names = [name if len(name) <= _WIDEST else f"…{name[1 - _WIDEST :]}" for name in names]
    for name, (_, said) in zip(names, shown, strict=True):
        terminal.write_line(f"{name:<{max(map(len, names))}}  {one_line(said)}")
    if len(repeated) > len(shown):
        terminal.write_line(f"… and {len(repeated) - len(shown)} more: -v shows them")


def _raising(raised: BaseException) -> Callable[..., object]:
    def again(item: pytest.Item) -> None:
        raise raised

    return again


def _word(one: Repetition) -> str:
    word = "skipped" if one.outcome == "not_applicable" else one.outcome
    return f"{word}: {one.message}" if one.message else word


def _render_lines(shown: str) -> str:
    if len(shown) <= _LONGEST:
        return shown
    return f"{shown[: _LONGEST // 2]}\n… {len(shown) - _LONGEST} characters left out …\n{shown[-_LONGEST // 2 :]}"
