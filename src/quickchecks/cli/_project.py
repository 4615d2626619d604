"""What a project says of itself: its pyproject.toml, and the settings of its pytest."""

from __future__ import annotations

import os
import re
import shlex
import tomllib
from collections.abc import Mapping, Sequence
from configparser import ConfigParser
from configparser import Error as ConfigError
from pathlib import Path

__all__ = ("main_branch", "project_folder", "pytest_settings", "read_pyproject", "settings_file")

#: Where pytest looks for its settings, in its order, with the table that they stand in.
_FILES = (
    ("pytest.toml", "pytest"),
    (".pytest.toml", "pytest"),
    ("pytest.ini", "pytest"),
    (".pytest.ini", "pytest"),
    ("pyproject.toml", "tool.pytest"),
    ("tox.ini", "pytest"),
    ("setup.cfg", "tool:pytest"),
)


def read_pyproject(folder: Path) -> Mapping[str, object]:
    """What stands in the pyproject.toml of a folder; nothing, where there is none or it cannot be read."""
    return _toml(folder / "pyproject.toml") or {}


def settings_file(folder: Path) -> Path | None:
    """The file with the settings of pytest that a folder has; None where there is none."""
    return next((folder / name for name, table in _FILES if _table(folder / name, table) is not None), None)


def pytest_settings(folder: Path) -> Mapping[str, Sequence[str]]:
    """The settings of pytest in a folder, each as the words that it consists of."""
    for name, table in _FILES:
        found = _table(folder / name, table)
        if found is not None:
            return {key: _words(value) for key, value in found.items()}
    return {}


def _table(file: Path, table: str) -> Mapping[str, object] | None:
    """The settings in a file; None when it has none, or cannot be read."""
    if not file.is_file():
        return None
    if file.suffix == ".toml":
        found: object = _toml(file)
        for key in table.split("."):
            found = found.get(key) if isinstance(found, Mapping) else None
        if isinstance(found, Mapping) and table == "tool.pytest" and "ini_options" in found:
            found = found["ini_options"]
        return found if isinstance(found, Mapping) else None
    parser = ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(file.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError, ConfigError):
        return None
    if not parser.has_section(table):
        return {} if file.name.endswith("pytest.ini") else None
    return dict(parser[table])


def _toml(file: Path) -> Mapping[str, object] | None:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
        return None


def _words(value: object) -> Sequence[str]:
    if isinstance(value, str):
        try:
            return shlex.split(value, posix=os.name != "nt", comments=True)
        except ValueError:  # a quotation mark that is never closed
            return value.split()
    return [str(one) for one in value] if isinstance(value, Sequence) else [str(value)]


def project_folder(start: Path) -> Path:
    """The folder that pytest takes its settings from when it is started in one: the nearest above that has some, or that one."""
    return next((folder for folder in (start, *start.parents) if settings_file(folder) is not None), start)


def main_branch(repository: Path) -> str:
    """The branch that a repository goes on from, read without git: that of its origin, main or master, or the one that is there.

    Args:
        repository: The folder of the repository.

    Returns:
        Its name; "main" where that cannot be told.
    """
    own = repository / ".git"
    pointed = re.fullmatch(r"gitdir: (.+)", _text(own)) if own.is_file() else None  # of a worktree, or a submodule
    own = repository / pointed[1] if pointed else own
    common = own / (_text(own / "commondir") or ".")
    of_origin = re.fullmatch(r"ref: refs/remotes/origin/(.+)", _text(common / "refs" / "remotes" / "origin" / "HEAD"))
    if of_origin:
        return of_origin[1]
    packed = _text(common / "packed-refs").splitlines()
    for name in ("main", "master"):
        if (common / "refs" / "heads" / name).is_file() or any(line.endswith(f" refs/heads/{name}") for line in packed):
            return name
    current = re.fullmatch(r"ref: refs/heads/([^.].*)", _text(own / "HEAD"))
    return current[1] if current else "main"


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return ""
