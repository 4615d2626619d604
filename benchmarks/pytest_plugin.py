"""What the pytest plugin adds to the start of pytest where nobody uses it: an empty test file, with and without the plugin.

    python benchmarks/pytest_plugin.py [rounds]

The two take turns, now one first and now the other, so that whatever else the machine does falls on both alike. What counts is
the median of the differences, of the time that passed and of the time that the processor worked; the second is steadier.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

LIMIT_MS = 5.0
WITHOUT = ("-p", "no:quickchecks")
#: Plugins that would only take time, and make the difference harder to see.
OTHERS = ("anyio", "asyncio", "cacheprovider", "hypothesispytest", "rerunfailures", "xdist", "xdist.looponfail")


def measure(folder: str, *arguments: str) -> tuple[float, float]:
    """How many milliseconds a run of pytest takes, and for how many the processor works."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-m", "pytest", "-q", *(f"-pno:{name}" for name in OTHERS), *arguments]
    used, start = getrusage(RUSAGE_CHILDREN), perf_counter()
    ended = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False)
    passed = perf_counter() - start
    assert ended.returncode == 5, ended.stdout  # no tests were collected
    now = getrusage(RUSAGE_CHILDREN)
    return passed * 1000, (now.ru_utime - used.ru_utime + now.ru_stime - used.ru_stime) * 1000


def main(rounds: int) -> int:
    """Measure, print a table, and exit 1 when the plugin costs more than its limit."""
    found: dict[tuple[str, ...], list[tuple[float, float]]] = {(): [], WITHOUT: []}
    with TemporaryDirectory() as folder:
        Path(folder, "test_empty.py").touch()
        for turn in range(rounds + 1):
            for arguments in ((), WITHOUT) if turn % 2 else (WITHOUT, ()):
                found[arguments].append(measure(folder, *arguments))
    print(f"{'median of ' + str(rounds) + ' rounds':<32}{'ms passed':>12}{'ms worked':>12}")
    for name, arguments in (("pytest -p no:quickchecks", WITHOUT), ("pytest", ())):
        times = found[arguments][1:]  # the first round warms the disk
        print(f"{name:<32}{median(one[0] for one in times):>12.1f}{median(one[1] for one in times):>12.1f}")
    pairs = list(zip(found[()], found[WITHOUT], strict=True))[1:]
    passed, worked = (median(after[kind] - before[kind] for after, before in pairs) for kind in (0, 1))
    print(f"{'difference':<32}{passed:>12.1f}{worked:>12.1f}")
    kept = min(passed, worked) <= LIMIT_MS
    print(f"limit {LIMIT_MS:g} ms: {'kept' if kept else 'broken'}")
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 31))
