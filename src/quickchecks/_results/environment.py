"""Where an evaluation ran."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

__all__ = ("environment",)


def environment() -> dict[str, str]:
    """The versions that matter, and the git commit that is checked out, when there is one.

    The files of git are read, and no other program is run; so what is not committed does not show.

    Example:
        >>> "python" in environment()
        True
    """
    import platform
    from importlib.metadata import PackageNotFoundError, version

    found = {"python": platform.python_version(), "platform": platform.system().lower()}
    with suppress(PackageNotFoundError):
        found["quickchecks"] = version("quickchecks")
    with suppress(OSError, ValueError):
        commit = _commit(Path.cwd())
        if commit:
            found["git"] = commit
    return found


def _commit(folder: Path) -> str:
    """The commit of the repository that a folder lies in; empty when it lies in none."""
    git = next((one / ".git" for one in (folder, *folder.parents) if (one / ".git").exists()), None)
    if git is None:
        return ""
    if git.is_file():  # of a worktree or a submodule: it says where the folder is
        git = git.parent / _text(git).removeprefix("gitdir:").strip()
    head = _text(git / "HEAD")
    if not head.startswith("ref:"):
        return _as_commit(head)
    name = head.removeprefix("ref:").strip()
    common = git / _text(git / "commondir") if (git / "commondir").is_file() else git
    for place in (git, common):
        if (place / name).is_file():
            return _as_commit(_text(place / name))
    if (common / "packed-refs").is_file():
        lines = (line.split(" ") for line in (common / "packed-refs").read_text("utf-8").splitlines())
        return next((_as_commit(line[0]) for line in lines if line[1:] == [name]), "")
    return ""  # nothing was committed yet


def _text(path: Path) -> str:
    with path.open(encoding="utf-8") as file:
        return file.read(4096).strip()


def _as_commit(text: str) -> str:
    return text[:12] if len(text) >= 40 and not text.strip("0123456789abcdef") else ""
