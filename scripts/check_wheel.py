"""Build the wheel, install it in a new environment without the source, and use it as a user would.

python scripts/check_wheel.py
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from zipfile import ZipFile

ROOT = Path(__file__).parent.parent
MOST_DISTRIBUTIONS = 12
PART_OF_EVERY_ENVIRONMENT = {"pip", "setuptools", "wheel"}

#: Run in the new environment: prints where the package is, what is installed beside it, and what it carries.
REPORT = """
import json, quickchecks
from importlib import metadata, resources
for name in quickchecks.__all__:
    getattr(quickchecks, name)
files = resources.files("quickchecks")
print(json.dumps({
    "location": quickchecks.__file__,
    "version": quickchecks.__version__,
    "distributions": sorted({found.metadata["Name"].lower() for found in metadata.distributions()}),
    "schemas": sorted(json.loads(path.read_text())["$id"] for path in files.joinpath("schemas").iterdir()),
    "typed": files.joinpath("py.typed").is_file(),
    "outcome": quickchecks.checks.includes("sunny").score("It is sunny.").outcome,
}))
"""

#: The commands that a new user tries, and what each must print.
COMMANDS = {
    ("--version",): "0.",
    ("demo",): "passed",
    ("checks",): "includes",
    ("init", "project"): "wrote",
    ("run", "project/evals/eval.yaml"): "passed",
    ("doctor",): "all is well",
    ("completion", "bash"): "complete",
}


def run(*command: str | Path, folder: Path) -> str:
    """Run a command outside the repository and without anything that would lead back into it."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    result = subprocess.run(command, cwd=folder, env=environment, capture_output=True, encoding="utf-8", check=False)
    if result.returncode:
        sys.exit(f"{' '.join(map(str, command))}: exit {result.returncode}\n{result.stdout}{result.stderr}")
    return result.stdout


def main() -> None:
    """Build, install, use; exits with a sentence when something is wrong."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, ROOT, folder=folder)
        [wheel] = folder.glob("*.whl")
        strangers = [file for file in ZipFile(wheel).namelist() if not file.startswith(("quickchecks/", "quickchecks-"))]
        if strangers:
            sys.exit(f"the wheel holds files of its own outside the package: {strangers}")

        environment = folder / "environment"
        venv.create(environment, with_pip=True)
        programs = environment / ("Scripts" if os.name == "nt" else "bin")
        run(programs / "python", "-m", "pip", "install", "--quiet", wheel, folder=folder)

        report = json.loads(run(programs / "python", "-W", "error", "-c", REPORT, folder=folder))
        if not Path(report["location"]).is_relative_to(environment.resolve()):
            sys.exit(f"this is not the installed package: {report['location']}")
        published = (ROOT / "src" / "quickchecks" / "schemas").iterdir()
        if report["schemas"] != sorted(json.loads(file.read_text())["$id"] for file in published) or not report["typed"]:
            sys.exit(f"the wheel lacks its schemas or py.typed: {report}")
        if report["outcome"] != "passed":
            sys.exit(f"a check that passes does not: {report}")
        distributions = set(report["distributions"]) - PART_OF_EVERY_ENVIRONMENT
        if len(distributions) > MOST_DISTRIBUTIONS:
            sys.exit(f"{len(distributions)} distributions, at most {MOST_DISTRIBUTIONS} are allowed: {distributions}")

        for arguments, expected in COMMANDS.items():
            printed = run(programs / "quickchecks", *arguments, folder=folder)
            if expected not in printed:
                sys.exit(f"quickchecks {' '.join(arguments)} does not print {expected!r}:\n{printed}")
    print(f"{wheel.name}: {len(distributions)} distributions ({', '.join(sorted(distributions))})")


if __name__ == "__main__":
    main()
