"""What importing costs: quickchecks with two checks built, beside other evaluation libraries.

    python benchmarks/imports.py [rounds]

Install `autoevals` and `pydantic-evals` to have them measured in the same run. Each command is a fresh interpreter. The
commands take turns, so that whatever else the machine does falls on all of them alike, and the median of each is
compared with that of an interpreter that does nothing. The bytecode of the environment is compiled first: without it
an import costs two to three times as much.
"""

from __future__ import annotations

import compileall
import os
import subprocess
import sys
import sysconfig
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from time import perf_counter

import quickchecks

QUICKCHECKS = "import quickchecks; quickchecks.checks.includes('sunny'); quickchecks.checks.called_tool('get_weather')"
LIMIT = 4.5


def commands() -> dict[str, str]:
    """The code to measure, by the name it is shown under."""
    found = {"python -c pass": "pass", "quickchecks, includes, called_tool": QUICKCHECKS}
    peers = [name for name in ("autoevals", "pydantic_evals") if find_spec(name)]
    return {**found, **{name: f"import {name}" for name in peers}}


def seconds(code: str, environment: dict[str, str]) -> float:
    """How long a fresh interpreter takes to run the code."""
    start = perf_counter()
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)
    return perf_counter() - start


def main(rounds: int) -> int:
    """Measure, print a table, and exit 1 when quickchecks costs more than its limit."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    for folder in {sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), str(Path(quickchecks.__file__).parent)}:
        compileall.compile_dir(folder, quiet=2)
    measured: dict[str, list[float]] = {name: [] for name in commands()}
    for _ in range(rounds + 1):
        for name, code in commands().items():
            measured[name].append(seconds(code, environment))
    medians = {name: median(times[1:]) for name, times in measured.items()}  # the first round warms the disk
    floor = medians["python -c pass"]
    print(f"{'median of ' + str(rounds) + ' rounds':<40}{'ms':>8}{'ratio':>8}")
    for name, value in medians.items():
        print(f"{name:<40}{value * 1000:>8.1f}{value / floor:>8.2f}")
    ratio = medians["quickchecks, includes, called_tool"] / floor
    print(f"limit {LIMIT}: {'kept' if ratio <= LIMIT else 'broken'}")
    return 0 if ratio <= LIMIT else 1


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 21))
