"""What the tests share: the repository, the recorded material beside it, and the settings of hypothesis."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).parent.parent
IN_CI = os.environ.get("CI", "").lower() in ("1", "true", "yes")

# The tests say themselves when they are on GitHub, and where its summary is.
for name in [name for name in os.environ if name.startswith("GITHUB_")]:
    del os.environ[name]

# A shell that starts the tests in the background may have them ignore Ctrl-C, which the programs that they start would inherit.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# A busy machine is not a bug, so there is no deadline; CI draws the same examples each time, so that it fails for a reason.
settings.register_profile("quickchecks", deadline=None, derandomize=IN_CI, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("quickchecks")


@pytest.fixture(scope="session")
def root() -> Path:
    """The folder of the repository."""
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """The recorded cases and runs that lie beside the repository; without them a test skips, but never in CI."""
    folder = Path(os.environ.get("QUICKCHECKS_SHARED") or ROOT.parent / "shared")
    if (folder / "cases").is_dir():
        return folder
    missing = f"no recorded material in {folder}: set QUICKCHECKS_SHARED to its folder"
    if IN_CI:
        pytest.fail(missing)
    pytest.skip(missing)
