"""Run the pytest suites of other packages without quickchecks, with it, and with `-p no:quickchecks`: nothing may differ.

    python scripts/pytest_compat.py [NAME ...]

Each suite comes with the source distribution of its package, and runs in a new environment, three times in the same place. What
is compared is the exit code, the outcome of every test, and all that is printed but times, addresses and the line in which pytest
names its plugins; of `pytest --help`, which lines quickchecks adds. It ends with 1 when something differs, and with 2 when a
suite could not be run: it needs the registry of packages.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import venv
from collections import Counter
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path
from time import perf_counter
from xml.etree import ElementTree

__all__ = ("Ended", "differences", "help_differences", "lasting")

ROOT = Path(__file__).parent.parent
SECONDS = 300
MOST_LINES = 40


@dataclass(frozen=True)
class Suite:
    """A package whose tests are run.

    Args:
        wanted: The package and its version, as pip takes it.
        needs: What its tests need besides it.
        arguments: What its pytest is told, so that it does the same each time.
    """

    wanted: str
    needs: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()


SUITES = {
    "itsdangerous": Suite("itsdangerous==2.2.0", ("freezegun==1.5.5",)),
    "click": Suite("click==8.5.1"),
    "attrs": Suite("attrs==26.1.0", ("hypothesis==6.170.17",), ("--hypothesis-seed=0",)),
}

#: The three ways to run, in the order of the table.
WAYS = ("not installed", "installed", "-p no:quickchecks")

#: What differs from one run to the next whoever runs it.
_CHANGING = (
    (re.compile(r"\b\d+\.\d+s( \(\d:\d\d:\d\d\))?"), "TIME"),
    (re.compile(r"\b0x[0-9a-f]{6,}\b"), "ADDRESS"),
    (re.compile(r"^=+ (.*) =+$", re.MULTILINE), r"== \1 =="),  # as wide as the time in it lets it
)
#: pytest itself names every plugin that is installed.
_NAMED = re.compile(r"^(plugins: .*?)(?:, )?quickchecks-[^\s,]+(?:, )?(.*)\n", re.MULTILINE)


class NotRun(Exception):
    """A suite could not be run at all."""


@dataclass(frozen=True)
class Ended:
    """How one run of a suite ended.

    Args:
        code: The exit code.
        outcomes: What became of each test.
        printed: What was printed, without what changes from run to run.
        seconds: How long it took.
    """

    code: int
    outcomes: tuple[tuple[str, str], ...]
    printed: str
    seconds: float

    @property
    def counts(self) -> str:
        """How many tests had each outcome."""
        found = Counter(outcome for _, outcome in self.outcomes)
        return ", ".join(f"{number:,} {outcome}" for outcome, number in sorted(found.items(), key=lambda one: -one[1]))


def run_pip(python: Path, *arguments: str | Path) -> None:
    """Run pip in an environment.

    Raises:
        NotRun: It ended with an error.
    """
    command = [python, "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode:
        said = (ended.stderr or ended.stdout).strip()[-1500:]
        raise NotRun(f"pip {' '.join(map(str, arguments))} failed; this needs the registry of packages:\n{said}")


def run_pytest(python: Path, folder: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run pytest in a folder, with nothing in its environment that would change what it does."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYTEST", "QUICKCHECKS"))}
    kept.update(PYTHONHASHSEED="0", COLUMNS="120", NO_COLOR="1")
    command = [python, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
    try:
        return subprocess.run(command, cwd=folder, env=kept, capture_output=True, text=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise NotRun(f"its tests did not end within {SECONDS} s") from None


def run_suite(python: Path, archive: Path, suite: Suite, work: Path, *arguments: str) -> Ended:
    """Run the tests of a source distribution that is unpacked anew, always in the same place."""
    folder = work / "suite"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.unpack_archive(archive, folder, filter="data")
    [source] = folder.iterdir()
    report = work / "report.xml"
    report.unlink(missing_ok=True)
    options = ("-v", f"--junitxml={report}", f"--basetemp={work / 'temporary'}")
    start = perf_counter()
    ended = run_pytest(python, source, *options, *suite.arguments, *arguments)
    seconds = perf_counter() - start
    printed = f"{ended.stdout}\n{ended.stderr}"
    if not report.exists():
        raise NotRun(f"pytest wrote no report, exit {ended.returncode}:\n{printed[-1500:]}")
    return Ended(ended.returncode, _outcomes(report), lasting(printed), seconds)


def _outcomes(report: Path) -> tuple[tuple[str, str], ...]:
    """What became of each test, in order, and what else stands in its entry of the report."""
    found: list[tuple[str, str]] = []
    for case in ElementTree.parse(report).iter("testcase"):
        inside = [part.tag for part in case] or ["passed"]
        found.append((f"{case.get('classname')}::{case.get('name')}", " and ".join(inside)))
    return tuple(found)


def lasting(printed: str) -> str:
    """What was printed, without what changes from run to run, and without our name among the plugins."""
    for pattern, instead in _CHANGING:
        printed = pattern.sub(instead, printed)
    named = _NAMED.search(printed)
    if named is None:
        return printed
    others = ", ".join(part for part in (named[1].removeprefix("plugins: "), named[2]) if part)
    return printed.replace(named[0], f"plugins: {others}\n" if others else "")


def differences(before: Ended, after: Ended) -> list[str]:
    """What is not the same in two runs of a suite."""
    found: list[str] = []
    if before.code != after.code:
        found.append(f"the exit code is {after.code} and not {before.code}")
    if before.outcomes != after.outcomes:
        found.extend(_changes([f"{name}: {outcome}" for name, outcome in before.outcomes], after.outcomes))
    if before.printed != after.printed:
        lines = unified_diff(before.printed.splitlines(), after.printed.splitlines(), "without", "with", lineterm="", n=1)
        found.extend(list(lines)[:MOST_LINES])
    return found


def _changes(before: list[str], outcomes: tuple[tuple[str, str], ...]) -> list[str]:
    after = [f"{name}: {outcome}" for name, outcome in outcomes]
    return list(unified_diff(before, after, "outcomes without", "outcomes with", lineterm="", n=0))[:MOST_LINES]


def help_differences(before: str, after: str) -> list[str]:
    """What `pytest --help` says otherwise, but for one group of options, all with our prefix."""
    changed = unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=0)
    lines = [line for line in changed if not line.startswith(("---", "+++"))]
    added = [line[1:] for line in lines if line.startswith("+")]
    wrong = [line for line in lines if line.startswith("-")]
    hunks = sum(line.startswith("@@") for line in lines)
    groups = [line for line in added if re.match(r"\S.*:$", line)]
    if hunks != 1 or len(groups) != 1 or not groups[0].startswith("quickchecks"):
        wrong.append(f"it gains {hunks} pieces of text with the groups {groups}, not the one group of quickchecks")
    options = [line.split()[0] for line in added if re.match(r" +-", line)]
    wrong.extend(f"the option {name} has another prefix" for name in options if not name.startswith("--quickchecks"))
    return wrong


def compare(name: str, suite: Suite, wheel: Path, folder: Path) -> bool:
    """Run a suite in the three ways, and print a line for each; returns whether they are the same."""
    work = folder / name
    work.mkdir()
    environment = work / "environment"
    venv.create(environment, with_pip=True)
    python = environment / ("Scripts" if os.name == "nt" else "bin") / "python"
    run_pip(python, "download", "--no-deps", f"--no-binary={name}", "--dest", work, suite.wanted)
    [archive] = work.glob("*.tar.gz")
    run_pip(python, "install", "pytest>=9.0", *suite.needs, archive, wheel)
    run_pip(python, "uninstall", "--yes", "quickchecks")  # what it needs stays, so that it alone makes the difference
    ended = [run_suite(python, archive, suite, work)]
    helped = [run_pytest(python, work, "--help").stdout]
    run_pip(python, "install", "--no-deps", "--no-index", wheel)
    ended.append(run_suite(python, archive, suite, work))
    helped.append(run_pytest(python, work, "--help").stdout)
    ended.append(run_suite(python, archive, suite, work, "-p", "no:quickchecks"))
    helped.append(run_pytest(python, work, "--help", "-p", "no:quickchecks").stdout)
    found = [[], differences(ended[0], ended[1]), differences(ended[0], ended[2])]
    found[1].extend(f"pytest --help: {one}" for one in help_differences(helped[0], helped[1]))
    if helped[0] != helped[2]:
        found[2].append("pytest --help is not the same")
    for way, end, wrong in zip(WAYS, ended, found, strict=True):
        same = "" if way == WAYS[0] else "different" if wrong else "the same"
        print(f"{suite.wanted:<22} {way:<18} exit {end.code}  {end.counts:<42} {end.seconds:5.1f} s  {same}", flush=True)
        for one in wrong:
            print(f"    {one}", flush=True)
    return not any(found)


def main(names: list[str]) -> int:
    """Compare all suites, or those named; the return value is the exit code."""
    unknown = [name for name in names if name not in SUITES]
    if unknown:
        print(f"no such suite: {', '.join(unknown)}; there are {', '.join(SUITES)}")
        return 2
    same = True
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        try:
            run_pip(Path(sys.executable), "wheel", "--no-deps", "--wheel-dir", folder, ROOT)
            [wheel] = folder.glob("*.whl")
            for name in names or SUITES:
                same = compare(name, SUITES[name], wheel, folder) and same
        except NotRun as problem:
            print(f"not compared: {problem}", file=sys.stderr)
            return 2
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
