"""The files that `quickchecks init` writes: which there are, where each goes, and what of that is there already."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib.resources import files
from pathlib import Path
from typing import Literal

from msgspec import Struct

from quickchecks.cli._app import Problem
from quickchecks.cli._files import NewFile
from quickchecks.cli._project import main_branch, pytest_settings, read_pyproject

__all__ = ("Planned", "as_argument", "plan", "put")

#: What is left out of the CI step where another test stands in the place of ours.
_WITHOUT_TEST = {"      - name: Test\n        if: ${{ !cancelled() }}\n        run: pytest TEST\n": ""}

#: Words that are no texts in YAML.
_NO_TEXTS = ("y", "n", "yes", "no", "on", "off", "true", "false", "null")

State = Literal["new", "same", "kept"]

#: The folder of what is evaluated, and what lies in it.
_EVALS = "evals"
_MEANINGS = {
    "checks.yaml": "what must hold in every run",
    "cases.jsonl": "the dataset: one question so far",
    "eval.yaml": "the agent, the dataset and the checks, put together",
    "example_agent.py": "a made-up agent: replace it by yours",
    "test_agent.py": "the same as a test of pytest",
    "quickchecks.yml": "all of it, for every pull request",
}


class Planned(Struct, frozen=True):
    """A file to write.

    Args:
        name: The name of its template.
        path: Where it goes.
        content: What stands in it.
        meaning: What it is for, in a few words.
        state: Whether it is new, is there with the same content, or another file of its name is there.
    """

    name: str
    path: Path
    content: bytes
    meaning: str
    state: State

    @property
    def is_foreign(self) -> bool:
        """Whether a file was kept that has nothing to do with quickchecks; one of ours that was changed since has."""
        return self.state == "kept" and not (self.path.is_file() and b"quickchecks" in self.path.read_bytes())


def as_argument(path: str) -> str:
    """A path that no program takes for an option."""
    return f"./{path}" if path.startswith("-") else path


def plan(folder: str) -> tuple[Planned, ...]:
    """Say which files belong into a folder.

    Args:
        folder: The folder of a project; it need not be there yet.

    Returns:
        The files, those that are there included.

    Raises:
        Problem: It is no folder, cannot be looked into, or a link in it leads out of it or nowhere.
    """
    root = Path(folder)
    if os.path.lexists(root) and not root.is_dir():
        raise Problem(f"{folder} is a file, not a folder: name the folder of your project")
    tests = _tests_folder(root)
    places = {name: root / _EVALS / name for name in ("checks.yaml", "cases.jsonl", "eval.yaml", "example_agent.py")}
    places["test_agent.py"] = tests / "test_agent.py"
    repository = _repository(root)
    places["quickchecks.yml"] = repository / ".github" / "workflows" / "quickchecks.yml"
    values = _values(root, repository, places["test_agent.py"])
    found: list[Planned] = []
    try:
        for name, path in places.items():
            one = _planned(name, path, values)
            if one.state == "new":
                _refuse_links(path, repository if name == "quickchecks.yml" else root)
            if name == "test_agent.py" and one.is_foreign:
                values = {**_WITHOUT_TEST, **values}
            found.append(one)
        return tuple(found)
    except OSError as error:
        raise Problem(f"{error.filename or folder} cannot be read: {error.strerror or error}") from error


def put(planned: Sequence[Planned]) -> None:
    """Write the files that are not there yet: all of them, or none.

    Raises:
        Problem: One cannot be written.
    """
    opened: list[NewFile] = []
    placed: list[Path] = []
    try:
        for one in planned:
            if one.state == "new":
                opened.append(NewFile(str(one.path)))
                opened[-1].stream.write(one.content)
        for file in opened:
            file.keep()
            placed.append(Path(file.path))
    except BaseException:
        for path in placed:
            with suppress(OSError):
                path.unlink()
        for file in reversed(opened):  # the first has made the folder of the others
            file.drop()
        raise


def _refuse_links(path: Path, root: Path) -> None:
    """Refuse to write where somebody does not expect it.

    Raises:
        Problem: A folder on the way is a link that leads out of the root, or nowhere.
    """
    for folder in reversed(path.parents):
        below = folder != root and folder.is_relative_to(root)
        if below and folder.is_symlink() and not (folder.exists() and folder.resolve().is_relative_to(root.resolve())):
            where = f"out of {root.resolve()}" if folder.exists() else "nowhere"
            raise Problem(f"{folder} is a link that leads {where}: nothing was written; put a folder in its place")


def _planned(name: str, path: Path, values: Mapping[str, str]) -> Planned:
    stored = f"{name}.txt" if name.endswith(".py") else name  # no module of ours
    template = files("quickchecks").joinpath("cli", "templates", stored).read_text(encoding="utf-8")
    content = _filled(template, values if name in ("test_agent.py", "quickchecks.yml") else {}).encode()
    state: State = "new"
    if os.path.lexists(path):
        state = "same" if path.is_file() and path.read_bytes().replace(b"\r\n", b"\n") == content else "kept"
    return Planned(name, path, content, _MEANINGS[name], state)


def _filled(template: str, values: Mapping[str, str]) -> str:
    for placeholder, value in values.items():
        template = template.replace(placeholder, value)
    return template


def _values(root: Path, repository: Path, test: Path) -> dict[str, str]:
    """What stands in the templates in place of each placeholder."""
    folder = Path(os.path.relpath(root, repository)).as_posix()
    up = len(Path(os.path.relpath(test.parent, root)).parts)
    found = {
        "parents[1]": f"parents[{up}]",
        'python-version: "PYTHON"': f'python-version: "{sys.version_info.major}.{sys.version_info.minor}"',
        "pip install PACKAGES": f"pip install {_packages(root)}",
        "pytest TEST": f"pytest {shlex.quote(as_argument(Path(os.path.relpath(test, root)).as_posix()))}",
        "branches: [main]": f"branches: [{_in_yaml(_exactly(main_branch(repository)))}]",
    }
    if folder == ".":
        found["    defaults:\n      run:\n        working-directory: FOLDER\n"] = ""
        found["FOLDER/"] = ""
    else:
        found[": FOLDER/result.json"] = f": {_in_yaml(f'{folder}/result.json')}"
        found[": FOLDER"] = f": {_in_yaml(folder)}"
    return found


def _exactly(branch: str) -> str:
    """A filter of branches that only one has: GitHub takes some signs of a name for a pattern."""
    return re.sub(r"(?=[+!])", r"\\", branch)


def _in_yaml(text: str) -> str:
    """A text in YAML, in quotation marks unless it is sure to be a text without."""
    plain = re.fullmatch(r"[a-z][a-z_-]*(/[a-z][a-z_.-]*)*", text) and text not in _NO_TEXTS
    return text if plain else json.dumps(text, ensure_ascii=False)


def _packages(root: Path) -> str:
    """What pip installs for a test of this project."""
    own = ""
    if "project" in read_pyproject(root) or (root / "setup.py").is_file():
        own = "-e . "
    elif (root / "requirements.txt").is_file():
        own = "-r requirements.txt "
    return f"{own}quickchecks pytest"


def _repository(root: Path) -> Path:
    """Where GitHub looks for workflows: the root of the repository that a folder lies in, or the folder, where there is none."""
    absolute = root.resolve()
    for folder in (absolute, *absolute.parents):
        if (folder / ".git").exists():
            return root if folder == absolute else folder
    return root


def _tests_folder(root: Path) -> Path:
    """Where the tests of a project lie, or would."""
    for named in pytest_settings(root).get("testpaths", ()):
        if not re.search(r"[*?\[]", named) and not os.path.isabs(named) and (root / named).is_dir():
            inside = (root / named).resolve().is_relative_to(root.resolve())
            if inside:
                return root / named
    return next((root / name for name in ("tests", "test") if (root / name).is_dir()), root / "tests")
