"""The pytest plugin: nothing of it is loaded, and no output is changed, until a test uses it.

This module holds the hooks and fixtures alone. What they need is imported when the first test asks for a fixture, has the mark,
or an option of the group is given; what is imported here is loaded by every run of pytest on a machine that has quickchecks.
"""

from __future__ import annotations

import sys
from collections.abc import Generator
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
    if kept is not None or (call.when == "setup" and "evals" in getattr(item, "fixturenames", ())):
        from quickchecks.pytest_plugin._session import attach

        attach(item, report)
    return report


def __getattr__(name: str) -> object:
    if name == "evals_from":  # loads more than a run of pytest that does not use it should
        from quickchecks.pytest_plugin._from_data import evals_from

        return evals_from
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class _Reporting:
    """The hooks of the process that reports: the only one, or the controller of xdist."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._repeated: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Collect what came with the report of a test."""
        for name, said in report.user_properties:
            if name == REPEATED:
                self._repeated[report.nodeid] = str(said)
        if hasattr(report, "quickchecks"):
            from quickchecks.pytest_plugin._session import session_of

            session_of(self._config).add(report)
        elif SESSION in self._config.stash:
            self._config.stash[SESSION].heard_of(report)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Put everything together, and write it."""
        if SESSION in self._config.stash:
            self._config.stash[SESSION].finish(session)

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
        tell(terminalreporter, failed, None if session is None else session.result)


@pytest.fixture
def evals(request: pytest.FixtureRequest) -> Evals:
    """Runs evals: call it as `run_evals_sync`, or in an async test await its `run`, and `assert result.passed`."""
    from quickchecks.pytest_plugin._evals import Evals

    return Evals(request.node)


@pytest.fixture
def recorded(request: pytest.FixtureRequest) -> Recorded:
    """A function that asks a target and gives the run; --quickchecks-record and --quickchecks-replay know of what it asks."""
    from quickchecks.pytest_plugin._asking import Recorded

    return Recorded(request.node)
