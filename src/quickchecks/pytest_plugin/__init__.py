"""The pytest plugin: nothing of it is loaded, and no output is changed, until a test uses it.

This module holds the hooks and fixtures alone. What they need is imported when the first test asks for a fixture, has the mark,
or an option of the group is given; what is imported here is loaded by every run of pytest on a machine that has quickchecks.
"""

from __future__ import annotations

import sys
from collections.abc import Generator
from types import FunctionType
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from quickchecks.pytest_plugin._asking import Recorded
    from quickchecks.pytest_plugin._evals import Evals
    from quickchecks.pytest_plugin._from_data import evals_from as evals_from
    from quickchecks.pytest_plugin._recorded import Tape
    from quickchecks.pytest_plugin._session import Kept, Session

#: What a test has evaluated in its present attempt; on the test once it evaluates.
KEPT: pytest.StashKey[Kept] = pytest.StashKey()
#: What all tests have evaluated; in the process that reports alone, and once something was.
SESSION: pytest.StashKey[Session] = pytest.StashKey()

#: What the targets of a test answer, on the test where it is recorded or replayed.
TAPE: pytest.StashKey[Tape] = pytest.StashKey()
#: Which repetition of a test runs, from 0; on the test while it is repeated.
REPETITION: pytest.StashKey[int] = pytest.StashKey()
#: That the setup of a later repetition broke, and what the teardowns of earlier ones raised.
BROKEN_SETUP: pytest.StashKey[bool] = pytest.StashKey()
BROKEN_TEARDOWNS: pytest.StashKey[list[BaseException]] = pytest.StashKey()

#: The attribute of a function that makes one test of each item of a dataset.
DATASET = "__quickchecks_dataset__"
#: The argument in which a test made by `evals_from` gets its item.
ITEM_ARGUMENT = "quickchecks_item"
_FROM_DATA = "quickchecks.pytest_plugin._from_data"
MARK = "quickchecks"
#: The property of a repeated test that says how many repetitions passed.
REPEATED = "quickchecks.repetitions"
_MARKER = f"{MARK}(repetitions, pass_rate, confidence): run the test several times, and let it pass by rate"


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options, in a group of their own."""
    group = parser.getgroup("quickchecks", "quickchecks: evals of agents")
    group.addoption(
        "--quickchecks-output",
        action="append",
        default=[],
        metavar="FILE",
        dest="quickchecks_output",
        help="Write what the evals of all tests say together, in the form of the suffix; may be given again",
    )
    group.addoption(
        "--quickchecks-record",
        action="store_true",
        dest="quickchecks_record",
        help="Record what the targets of evals answer, in one file for each test",
    )
    group.addoption(
        "--quickchecks-replay",
        action="store_true",
        dest="quickchecks_replay",
        help="Take what was recorded, and ask no target",
    )
    group.addoption(
        "--quickchecks-recordings",
        metavar="DIR",
        dest="quickchecks_recordings",
        help="The folder of the recordings, from the root directory (.quickchecks/recordings)",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker, and refuse what could only fail when everything has run."""
    config.addinivalue_line("markers", _MARKER)
    if config.option.quickchecks_record and config.option.quickchecks_replay:
        raise pytest.UsageError("--quickchecks-record asks the targets, and --quickchecks-replay does not: give one of them")
    if hasattr(config, "workerinput"):  # a worker of xdist, whose reports travel to the controller
        return
    if config.option.quickchecks_output:
        from quickchecks.pytest_plugin._session import Session

        config.stash[SESSION] = Session(config)
    config.pluginmanager.register(_Reporting(config), "quickchecks-reporting")


def pytest_report_header(config: pytest.Config) -> str | None:
    """Say where answers are recorded, or that no target is asked."""
    if not (config.option.quickchecks_record or config.option.quickchecks_replay):
        return None
    from quickchecks.pytest_plugin._recorded import header

    return header(config)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Forget what an earlier attempt at the test has evaluated."""
    kept = item.stash.get(KEPT, None)
    if REPETITION in item.stash:
        return
    if kept is not None:
        kept.begin_again()
    if TAPE in item.stash:
        del item.stash[TAPE]


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Run a test several times that has the mark with repetitions."""
    if REPETITION in item.stash or item.get_closest_marker(MARK) is None:
        return (yield)
    from quickchecks.pytest_plugin._repeating import Repetitions

    repetitions = Repetitions.of(item)
    if repetitions is None:
        return (yield)
    result: object = None
    try:
        with repetitions.before_the_last():
            result = yield
        repetitions.conclude()
    finally:
        del item.stash[REPETITION]
    return result


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, object, object]:
    """Let a recording take its place, and raise what the teardowns of earlier repetitions raised."""
    if REPETITION in item.stash or not (TAPE in item.stash or BROKEN_TEARDOWNS in item.stash):
        return (yield)
    broken = item.stash.get(BROKEN_TEARDOWNS, [])
    item.stash[BROKEN_TEARDOWNS] = []
    try:
        yield
    except (KeyboardInterrupt, pytest.exit.Exception):
        raise
    except BaseException as raised:
        broken.append(raised)
    if TAPE in item.stash:
        try:
            item.stash[TAPE].finish()
        except Exception as raised:
            broken.append(raised)
    if len(broken) > 1:
        raise BaseExceptionGroup("errors in the teardown", broken)
    if broken:
        raise broken[0]
    return None


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(collector: pytest.Module | pytest.Class, name: str, obj: object) -> None:
    """Refuse a function of `evals_from` that pytest would pass over, because of its name."""
    if _FROM_DATA in sys.modules and isinstance(obj, FunctionType) and DATASET in vars(obj):
        from quickchecks.pytest_plugin._from_data import refuse_uncollected

        refuse_uncollected(collector, name, obj)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Refuse a mark that makes no sense; make one test of each item of a dataset."""
    definition = metafunc.definition
    if definition.get_closest_marker(MARK) is not None:
        from quickchecks.pytest_plugin._marking import refuse_senseless

        refuse_senseless(definition)
    dataset = getattr(metafunc.function, DATASET, None)
    if dataset is not None:
        from quickchecks.pytest_plugin._from_data import parametrize

        parametrize(metafunc, dataset)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Explain an assertion that failed, and send what was evaluated along with the report."""
    ours = False
    if call.excinfo is not None and "quickchecks._score" in sys.modules:
        from quickchecks.pytest_plugin._explaining import explain
        from quickchecks.pytest_plugin._github import make_harmless

        ours = explain(item, call.excinfo.value) or any(name == REPEATED for name, _ in item.user_properties)
        if ours:
            make_harmless(call.excinfo.value)
    report = yield
    if REPETITION in item.stash:
        return report
    if BROKEN_SETUP in item.stash:  # what breaks while a repetition is set up is no failure of the test
        del item.stash[BROKEN_SETUP]
        report.when = "setup"
    kept = item.stash.get(KEPT, None)
    if report.failed and (ours or kept is not None):
        vars(report)["quickchecks_failed"] = True  # xdist sends it along
    sure = kept is not None or (call.when == "setup" and evaluates(item))
    if sure or (call.when == "setup" and _may_evaluate(item)):
        from quickchecks.pytest_plugin._session import attach

        attach(item, report, sure=sure)
    return report


def evaluates(item: pytest.Item) -> bool:
    """Whether a test has a fixture of ours that evaluates, or is made by `evals_from`. A fixture of others may have its name."""
    names = getattr(item, "fixturenames", ())
    return ITEM_ARGUMENT in names or any(name in names and _is_ours(item, name) for name in ("evals", "recorded"))


def _is_ours(item: pytest.Item, name: str) -> bool:
    known = getattr(getattr(item, "_fixtureinfo", None), "name2fixturedefs", {}).get(name, ())
    for definition in reversed(known):  # the nearest to the test is the one that it gets
        if getattr(definition.func, "__module__", None) == __name__:
            return True
        if name not in definition.argnames:
            return False
    return False


def _may_evaluate(item: pytest.Item) -> bool:
    """Whether a test may ask for such a fixture while it runs. It is only missed when its worker is killed."""
    return "request" in getattr(item, "fixturenames", ()) and "quickchecks._score" in sys.modules


def __getattr__(name: str) -> object:
    if name == "evals_from":  # loads more than a run of pytest that does not use it should
        from quickchecks.pytest_plugin._from_data import evals_from

        return evals_from
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class Seen:
    """What became of the session as a whole, whether its tests evaluate something or not."""

    def __init__(self) -> None:
        #: Whether tests are run, and not only listed.
        self.runs = False
        #: The ids of the tests as the workers of xdist have collected them; empty without workers.
        self.collected: list[str] = []
        #: What could not be collected.
        self.uncollected: set[str] = set()
        #: The tests of which more is known than that they began.
        self.ended: set[str] = set()
        #: The tests whose process died before they were set up, and what is said of it.
        self.died: dict[str, str] = {}
        #: Why the session was broken off, as a sentence; empty when it was not.
        self.broken_off = ""
        self._begun: set[str] = set()

    def hear(self, report: pytest.TestReport) -> None:
        """Take note of a report; that of a test whose process died is of no phase."""
        if report.when == "setup":
            self._begun.add(report.nodeid)
        elif report.when not in ("call", "teardown") and report.failed and report.nodeid not in self._begun:
            self.died[report.nodeid] = str(report.longrepr)
        if report.when != "setup" or not report.passed:
            self.ended.add(report.nodeid)
        if report.when != "setup" and report.when != "call":
            self._begun.discard(report.nodeid)


class _Reporting:
    """The hooks of the process that reports: the only one, or the controller of xdist."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._repeated: dict[str, str] = {}
        self._seen = Seen()

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Take note of what could not be collected."""
        if report.failed:
            self._seen.uncollected.add(report.nodeid)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        """Take note of the tests that workers are to run."""
        self._seen.collected = self._seen.collected or list(ids)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self) -> None:
        """Let no file of an earlier session stand there as if it were that of this one."""
        self._seen.runs = True
        if SESSION in self._config.stash:
            self._config.stash[SESSION].begin()

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Take note of Ctrl-C, and of `pytest.exit`, which may ask for the exit status of a session that passed."""
        self._seen.broken_off = " ".join(f"{excinfo.typename}: {excinfo.value}".rstrip(": ").split())

    def pytest_internalerror(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Take note of a plugin that broke."""
        self._seen.broken_off = f"an internal error: {' '.join(excinfo.exconly(tryshort=True).split())}"

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Collect what came with the report of a test."""
        self._seen.hear(report)
        for name, said in report.user_properties:
            if name == REPEATED:
                self._repeated[report.nodeid] = str(said)
        if hasattr(report, "quickchecks"):
            from quickchecks.pytest_plugin._session import session_of

            session_of(self._config).add(report)
        elif SESSION in self._config.stash:
            self._config.stash[SESSION].heard_of(report)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Put everything together, and write it."""
        if SESSION in self._config.stash:
            self._config.stash[SESSION].finish(session, self._seen)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Show what the evals say."""
        session = self._config.stash.get(SESSION, None)
        reports = [*terminalreporter.getreports("failed"), *terminalreporter.getreports("error")]
        failed = [report for report in reports if hasattr(report, "quickchecks_failed")]
        if not (session or failed or self._repeated):
            return
        from quickchecks.pytest_plugin._github import no_commands, tell

        with no_commands(terminalreporter):
            if session is not None:
                session.show(terminalreporter)
            if self._repeated:
                from quickchecks.pytest_plugin._repeating import show

                show(terminalreporter, self._repeated)
        tell(terminalreporter, failed, None if session is None else session.told)


@pytest.fixture
def evals(request: pytest.FixtureRequest) -> Evals:
    """Runs evals: call it as `run_evals_sync`, or in an async test await its `run`, and `assert result.passed`."""
    from quickchecks.pytest_plugin._evals import Evals

    return Evals(request)


@pytest.fixture
def recorded(request: pytest.FixtureRequest) -> Recorded:
    """A function that asks a target and gives the run; --quickchecks-record and --quickchecks-replay know of what it asks."""
    from quickchecks.pytest_plugin._asking import Recorded
    from quickchecks.pytest_plugin._session import expect

    expect(request.node)
    return Recorded(request)
