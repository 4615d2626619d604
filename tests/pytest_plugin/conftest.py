"""Running pytest on tests that use the plugin: in this process where that is enough, else as a process of its own."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable

import pytest

import quickchecks

#: Plugins of others that warn, or add lines to the output; tests that need one ask for it.
QUIET = ("-p", "no:cacheprovider", "-p", "no:asyncio", "-p", "no:randomly")

RunPytest = Callable[..., pytest.RunResult]


# A run in this process forgets the modules that it was the first to load, and two copies of a class are two classes.
for _module in pkgutil.walk_packages(quickchecks.__path__, "quickchecks."):
    if not _module.name.endswith("__main__"):
        importlib.import_module(_module.name)


@pytest.fixture(autouse=True)
def _as_at_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have pytest cut long messages off, which it does not where it takes itself to be in CI."""
    for name in ("CI", "BUILD_NUMBER"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def run_pytest(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> RunPytest:
    """Runs pytest in this process, in a folder of its own."""
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    return lambda *arguments: pytester.runpytest_inprocess(*QUIET, *arguments)


@pytest.fixture
def start_pytest(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> RunPytest:
    """Runs pytest as a process, in a folder of its own."""
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    return lambda *arguments: pytester.runpytest_subprocess(*QUIET, *arguments, timeout=300)
