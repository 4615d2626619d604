"""Run the tests against real frameworks, each file in an environment with its own framework.

    python scripts/framework_tests.py [NAME ...]

An environment is made once for its requirements and kept, in the folder that QUICKCHECKS_CACHE names (`~/.cache/quickchecks` by
default); what is tested is installed into it each time. Two run side by side. It ends with 1 when a file failed, or ran no test.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tomllib
import venv
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import perf_counter

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "tests" / "frameworks"
INSTALL = ("-m", "pip", "install", "-q", "--disable-pip-version-check")
#: What these tests need of the extra `test`: its other packages would only make every environment larger.
NEEDED = ("hypothesis", "pytest>")


def requirements(name: str) -> list[str]:
    """What stands in the environment of a framework: the framework, what quickchecks needs, and what builds it."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        about = tomllib.load(file)
    wanted = (FOLDER / "requirements" / f"{name}.txt").read_text().splitlines()
    tests = [one for one in about["project"]["optional-dependencies"]["test"] if one.startswith(NEEDED)]
    return [*about["build-system"]["requires"], "editables", *about["project"]["dependencies"], *tests, *filter(None, wanted)]


def environment(name: str) -> Path:
    """The Python of the environment for a framework; it is made where it is not there yet."""
    wanted = requirements(name)
    mark = hashlib.sha256("\n".join([sys.version, *wanted]).encode()).hexdigest()[:12]
    folder = Path(os.environ.get("QUICKCHECKS_CACHE") or Path.home() / ".cache" / "quickchecks") / f"{name}-{mark}"
    python = folder / "bin" / "python"
    done = folder / "complete"
    if not done.exists():
        venv.create(folder, clear=True, with_pip=True)
        subprocess.run([python, *INSTALL, *wanted], check=True, capture_output=True, text=True)
        done.touch()
    own: list[str | Path] = [python, *INSTALL, "--no-deps", "--no-build-isolation", "-e", ROOT]
    subprocess.run(own, check=True, capture_output=True, text=True)
    return python


def run(name: str) -> tuple[str, bool, str]:
    """Run the tests of a framework; gives its name, whether they passed, and what was printed."""
    start = perf_counter()
    try:
        python = environment(name)
    except subprocess.CalledProcessError as error:
        return name, False, f"the environment could not be made:\n{error.stderr}"
    made = perf_counter() - start
    # Warnings of a framework about itself are no faults of ours. A file whose framework is missing collects nothing, which fails.
    command: list[str | Path] = [
        python,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-o",
        "filterwarnings=default",
        "--disable-warnings",
    ]
    variables = {**os.environ, "CREWAI_DISABLE_TELEMETRY": "true", "OTEL_SDK_DISABLED": "true", "DO_NOT_TRACK": "1"}
    try:
        found = subprocess.run(
            [*command, FOLDER / f"test_{name}.py"], cwd=ROOT, capture_output=True, text=True, env=variables, timeout=600
        )
    except subprocess.TimeoutExpired as error:
        return name, False, f"not finished after {error.timeout:.0f} s:\n{_text(error.stdout)}{_text(error.stderr)}"
    seconds = perf_counter() - start
    times = f"({seconds:.0f} s, {made:.0f} of them for the environment)"
    return name, found.returncode == 0, f"{found.stdout}{found.stderr}{times}"


def _text(printed: bytes | str | None) -> str:
    return printed.decode(errors="replace") if isinstance(printed, bytes) else printed or ""


def main(names: list[str]) -> int:
    """Run all, or those named."""
    known = sorted(path.stem for path in (FOLDER / "requirements").glob("*.txt"))
    unknown = sorted(set(names) - set(known))
    if unknown:
        print(f"no such framework: {', '.join(unknown)}; there are {', '.join(known)}")
        return 2
    failed = []
    with ThreadPoolExecutor(2) as pool:
        for name, passed, printed in pool.map(run, names or known):
            print(f"\n--- {name}: {'passed' if passed else 'FAILED'}\n{printed}", flush=True)
            if not passed:
                failed.append(name)
    print(f"\nframeworks: {len(names or known) - len(failed)} passed, {len(failed)} failed {' '.join(failed)}")
    return bool(failed)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
