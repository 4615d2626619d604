"""The step of a GitHub job in which the process runs: where its files lie, and its summary."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping

from msgspec import Struct

from quickchecks.errors import SettingsError

__all__ = ("SWITCH", "Step", "is_github", "say")

#: The variable that turns the summary and the annotations off.
SWITCH = "QUICKCHECKS_GITHUB"
#: The value of it that makes every annotation a warning: the exit code is not what decides.
_WARNINGS = "warnings"
#: GitHub drops a summary that is longer than this many bytes, all of it.
MAX_SUMMARY = 1024 * 1024

_YES = ("1", "true", "yes", "on")
_NO = ("0", "false", "no", "off")
_CUT = b"\n*Cut here: the summary of a step holds at most 1 MiB. Write the whole report with `-o report.md`.*\n"


def is_github(environment: Mapping[str, str]) -> bool:
    """Whether the process is a step of a job on GitHub.

    Args:
        environment: The variables of the process.
    """
    return environment.get("GITHUB_ACTIONS", "").lower() == "true"


class Step(Struct, frozen=True):
    """A step, with what is known of it before anything runs.

    Args:
        folder: The current directory.
        workspace: The folder that the repository was checked out to.
        summary: The file that holds the summary of the step.
        forgives: Whether every annotation is a warning, because the exit code is not what decides.
    """

    folder: str
    workspace: str = ""
    summary: str = ""
    forgives: bool = False

    @classmethod
    def present(cls, environment: Mapping[str, str]) -> Step | None:
        """The step in which the process runs; None when it is none, or nothing is to be told to GitHub.

        Args:
            environment: The variables of the process.

        Raises:
            SettingsError: The variable that turns it off has another value than those that there are.
        """
        wanted = environment.get(SWITCH, "").strip().lower()
        if wanted and wanted not in (*_YES, *_NO, _WARNINGS):
            raise SettingsError(f"the variable {SWITCH} is true or false, or {_WARNINGS}, not {environment[SWITCH]!r}")
        if not is_github(environment) or wanted in _NO:
            return None
        workspace, summary = environment.get("GITHUB_WORKSPACE", ""), environment.get("GITHUB_STEP_SUMMARY", "")
        return cls(os.getcwd(), workspace, summary, wanted == _WARNINGS)

    def in_repository(self, file: str) -> str:
        """The path of a file in the repository; empty when it lies elsewhere, and as it is where no repository is known.

        Args:
            file: The file, as the user named it.
        """
        if not file or not self.workspace:
            return file
        for normal in (os.path.abspath, os.path.realpath):
            root, path = normal(self.workspace), normal(os.path.join(self.folder, file))
            if path.startswith(root.rstrip(os.sep) + os.sep):
                return os.path.relpath(path, root).replace(os.sep, "/")
        return ""

    def add_to_summary(self, report: bytes) -> str:
        """Write a report to the end of the summary.

        Args:
            report: The report, in Markdown.

        Returns:
            Why that could not be done, or not with all of it, as a sentence; empty when it was.
        """
        if not self.summary:
            return ""
        try:
            how = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0)  # else Windows writes other line ends
            target = os.open(self.summary, how, 0o666)
        except (OSError, ValueError) as error:
            return f"the step summary cannot be written: {_reason(error)}"
        try:
            piece = fitting(report, os.fstat(target).st_size)
            if not piece:
                return "the step summary is full: nothing was added to it"
            while piece:
                piece = piece[os.write(target, piece) :]
        except OSError as error:
            return f"the step summary cannot be written: {_reason(error)}"
        finally:
            os.close(target)
        return ""


def _reason(error: OSError | ValueError) -> str:
    return getattr(error, "strerror", None) or str(error)


def fitting(report: bytes, before: int) -> bytes:
    """As much of a report as a summary has room for, cut after a line.

    Args:
        report: The report.
        before: How many bytes the summary has already.
    """
    report = (b"\n" if before else b"") + report
    if before + len(report) <= MAX_SUMMARY:
        return report
    room = MAX_SUMMARY - before - len(_CUT)
    cut = report[: max(room, 0)]
    cut = cut[: cut.rfind(b"\n") + 1]
    return cut + _CUT if cut.strip() else b""


def say(lines: Iterable[str]) -> None:
    """Write commands to standard error, where GitHub reads them too: standard output holds results alone.

    Args:
        lines: The commands.
    """
    written = "".join(f"{line}\n" for line in lines)
    if not written:
        return
    sys.stderr.flush()
    below = getattr(sys.stderr, "buffer", None)  # the text layer lets no command through
    if below is None:
        sys.stderr.write(written)
    else:
        below.write(written.encode("utf-8", "backslashreplace"))
        below.flush()
