"""What the tests of a session have evaluated: one result, however many workers ran them.

A test hands its results over with `keep`. They travel on the report of the test, as JSON, so that a worker of xdist that is
killed loses nothing of what it had finished; without workers they go the same way. The process that reports collects them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec
import pytest

from quickchecks import _render, _wire
from quickchecks._render import many
from quickchecks._results.records import EvalRecord
from quickchecks._results.saved import record_of, result_of
from quickchecks.pytest_plugin import KEPT, SESSION, evaluates
from quickchecks.pytest_plugin._marking import is_repeated
from quickchecks.pytest_plugin._merging import Evaluated, merged
from quickchecks.pytest_plugin._properties import properties_of

if TYPE_CHECKING:
    from quickchecks._results.evaluation import EvalResult
    from quickchecks.pytest_plugin import Seen

__all__ = ("Kept", "Session", "attach", "expect", "keep", "name_of", "results_of", "session_of")

#: The options with which pytest shows what there is, or sets it up, and runs no test.
_LISTING = ("collectonly", "showfixtures", "show_fixtures_per_test", "setuponly", "setupplan")
#: The place of each test among those that were collected.
_PLACES: pytest.StashKey[Mapping[int, int]] = pytest.StashKey()


class Kept:
    """What a test has evaluated in its present attempt.

    Args:
        node: The test.
    """

    def __init__(self, node: pytest.Item) -> None:
        self._node = node
        self.results: list[EvalResult] = []
        self.sent = 0
        self._properties: list[tuple[str, object]] = []

    def begin_again(self) -> None:
        """Forget the attempt before this one."""
        self.results.clear()
        self.sent = 0
        self._show([])

    def add(self, result: EvalResult) -> None:
        """Add what came of an evaluation."""
        self.replace(len(self.results), [result])

    def replace(self, start: int, results: Sequence[EvalResult]) -> None:
        """Put results instead of those from a place on."""
        self.results[start:] = results
        self._show(list(properties_of(self.results)))

    def _show(self, properties: list[tuple[str, object]]) -> None:
        """Put properties on the test instead of those that this has put there before."""
        shown = self._node.user_properties
        shown[:] = [one for one in shown if one not in self._properties]
        shown += properties
        self._properties = properties


def expect(node: pytest.Item) -> None:
    """Say that a test is about to evaluate something, so that it is missed when its worker is killed.

    Args:
        node: The test.
    """
    if KEPT not in node.stash:
        node.stash[KEPT] = Kept(node)
    if not hasattr(node.config, "workerinput"):
        session_of(node.config).running[node.nodeid] = node


def keep(node: pytest.Item, result: EvalResult) -> None:
    """Remember what a test has evaluated: for its report, its properties, and the result of the session.

    Args:
        node: The test.
        result: What came of it.
    """
    expect(node)
    node.stash[KEPT].add(result)


def results_of(node: pytest.Item) -> Sequence[EvalResult]:
    """What a test has evaluated in its present attempt.

    Args:
        node: The test.
    """
    return node.stash[KEPT].results if KEPT in node.stash else ()


def attach(node: pytest.Item, report: pytest.TestReport, *, sure: bool = True) -> None:
    """Send what a test has evaluated since its last report along with this one.

    Args:
        node: The test.
        report: Its report, which gets an attribute of plain values: xdist sends nothing else.
        sure: Whether the test evaluates something; else it may.
    """
    kept = node.stash.get(KEPT, None)
    waiting = report.when == "setup" and report.passed and is_repeated(node)  # for the other repetitions
    results = [] if kept is None or waiting else kept.results[kept.sent :]
    if kept is not None:
        kept.sent += len(results)
    sent: dict[str, object] = {"test": name_of(node), "place": _place(node), "sure": sure}
    try:
        sent["results"] = [_as_text(one) for one in results]
    except Exception as error:  # what a target returned may be anything, and the test must not fail for it
        sent["problem"] = f"what it evaluated cannot be written: {type(error).__name__}: {_wire.as_text(error)}"
    vars(report)["quickchecks"] = sent


def _as_text(result: EvalResult) -> str:
    # Its runs come along, wherever they are recorded; where it ran is looked up once, at the end.
    whole = msgspec.structs.replace(result, recording=None, environment={})
    return _wire.dumps(record_of(whole)).decode()


def _unfinished(told: str) -> str:
    return f"it did not finish: {' '.join(told.split())}"


def _first_line(report: pytest.TestReport) -> str:
    """Why a test failed, in one line."""
    crash = getattr(report.longrepr, "reprcrash", None)
    told = crash.message if crash is not None else report.longreprtext
    phase = "" if report.when == "call" else f"in its {report.when}: "
    return phase + next((_render.capped(line.strip()) for line in told.splitlines() if line.strip()), "it failed")


def _of_text(text: str) -> EvalResult:
    return result_of(msgspec.convert(_wire.loads(text), EvalRecord))


def name_of(node: pytest.Item) -> str:
    """The id of a test, without the group that xdist writes behind it for --dist loadgroup.

    Args:
        node: The test.
    """
    if not node.config.getoption("loadgroup", False):
        return node.nodeid
    groups = {str(mark.args[0] if mark.args else mark.kwargs.get("name", "default")) for mark in node.iter_markers("xdist_group")}
    return node.nodeid.removesuffix(f"@{'_'.join(sorted(groups))}") if groups else node.nodeid


def _place(node: pytest.Item) -> int:
    places = node.config.stash.get(_PLACES, None)
    if places is None:
        places = {id(item): place for place, item in enumerate(node.session.items)}
        node.config.stash[_PLACES] = places
    return places.get(id(node), len(places))


def session_of(config: pytest.Config) -> Session:
    """What all tests have evaluated; begins with the first that does.

    Args:
        config: The configuration of the process that reports.
    """
    if SESSION not in config.stash:
        config.stash[SESSION] = Session(config)
    return config.stash[SESSION]


class Session:
    """What all tests have evaluated.

    Args:
        config: The configuration of the process that reports.
    """

    def __init__(self, config: pytest.Config) -> None:
        from quickchecks.pytest_plugin._output import Outputs

        self._outputs = Outputs(config)
        self._only_lists = any(getattr(config.option, name, False) for name in _LISTING)
        self._tests: dict[str, Evaluated] = {}
        self._crashed: dict[str, str] = {}
        #: The tests of this process that have begun and not reported.
        self.running: dict[str, pytest.Item] = {}
        #: All of it together, once the session has ended.
        self.result: EvalResult | None = None

    def add(self, report: pytest.TestReport) -> None:
        """Collect what came with the report of a test.

        Args:
            report: The report; what it brought is taken from it, because reports are kept until the end.
        """
        sent = vars(report).pop("quickchecks")
        if report.when == "setup":  # the first, or the next attempt: only the last one counts
            self._tests.pop(report.nodeid, None)
        test = self._tests.setdefault(report.nodeid, Evaluated(sent["test"], sent["place"]))
        test.sure = test.sure or sent["sure"]
        test.problem = sent.get("problem", test.problem)
        try:
            test.results += [_of_text(text) for text in sent.get("results", ())]
        except Exception as error:
            test.problem = f"what it evaluated cannot be read: {type(error).__name__}: {_wire.as_text(error)}"
        self.heard_of(report)

    def heard_of(self, report: pytest.TestReport) -> None:
        """Take note of how a test that evaluates something came out.

        Args:
            report: One of its reports; that of a killed worker is of no phase.
        """
        test = self._tests.get(report.nodeid)
        if test is None:
            return
        if report.when == "teardown":
            self.running.pop(report.nodeid, None)
        if report.when not in ("setup", "call", "teardown") and report.failed:
            self._crashed[report.nodeid] = _unfinished(str(report.longrepr))
        elif report.failed:
            test.failure = test.failure or _first_line(report)
        elif report.skipped and hasattr(report, "wasxfail"):
            test.set_aside = f"it is expected to fail, and did: {report.wasxfail}".removesuffix(": ")
        if report.when != "setup":
            test.passed = report.passed and (report.when == "call" or test.passed)

    def begin(self) -> None:
        """Write files that are true if the session does not come to its end, over those of an earlier one."""
        if not self._only_lists:
            self._outputs.write_for_now(merged((), stopped="the session did not come to its end"))

    def finish(self, session: pytest.Session, seen: Seen) -> None:
        """Put everything together, and write it. Whatever goes wrong with it is told, and does not end the session otherwise.

        Args:
            session: The session that ends.
            seen: What became of it as a whole.
        """
        broken_off = seen.broken_off or session.exitstatus == pytest.ExitCode.INTERRUPTED
        if self._only_lists or not (seen.runs or broken_off):  # such as one that is asked for a file that does not exist
            return
        try:
            self._put_together(session, seen)
        except Exception as error:
            what = f"{type(error).__name__}: {_wire.as_text(error)}"
            self._outputs.notes.append((f"the evals of the session could not be put together: {what}", False))
            self.result = merged((), stopped="the evals of the session could not be put together")
        else:
            assert self.result is not None
            self._outputs.write(self.result)

    @property
    def told(self) -> EvalResult | None:
        """All of it together, where there is something to tell or files were asked for."""
        return self.result if self.result is not None and (self.result.parts or self._outputs.notes) else None

    def _put_together(self, session: pytest.Session, seen: Seen) -> None:
        for node in self.running.values():  # what Ctrl-C ended makes no report
            rest = node.stash[KEPT].results[node.stash[KEPT].sent :] if KEPT in node.stash else []
            if rest:
                self._tests.setdefault(node.nodeid, Evaluated(name_of(node), _place(node))).results += rest
        items = {item.nodeid: item for item in getattr(session, "items", ())}
        places = {nodeid: place for place, nodeid in enumerate(seen.collected or items)}
        for nodeid, told in seen.died.items():
            if nodeid not in self._tests and (nodeid not in items or evaluates(items[nodeid])):
                self._tests[nodeid] = Evaluated(nodeid, places.get(nodeid, len(places)))
                self._crashed[nodeid] = _unfinished(told)
        for nodeid, told in self._crashed.items():  # also where xdist ran it again, because pytest counts it as failed
            self._tests[nodeid].problem = told
        stopped = str(session.shouldfail or session.shouldstop or "") or seen.broken_off
        if not stopped and seen.uncollected:
            stopped = f"{many(len(seen.uncollected), 'error')} during collection"
        left = places.keys() - seen.ended
        if not stopped and left:
            stopped = f"{many(len(left), 'test')} of {len(places)} did not come to an end"
        interrupted = session.exitstatus == pytest.ExitCode.INTERRUPTED
        self.result = merged(self._tests.values(), stopped=stopped, interrupted=interrupted)

    def show(self, terminal: pytest.TerminalReporter) -> None:
        """Show what the evals say.

        Args:
            terminal: The terminal.
        """
        from quickchecks.pytest_plugin._summary import show

        if self.result is not None:
            show(terminal, sorted(self._tests.values(), key=lambda test: test.place), self.result, self._outputs.notes)
