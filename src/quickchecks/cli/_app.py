"""The group of commands: what all of them have in common.

A command is a module of this package whose name does not begin with an underscore; it holds a click command of the same
name and is loaded when it is asked for. Errors of ours become one message without a traceback, and exit code 2.
"""

from __future__ import annotations

import logging
import os
import pkgutil
import signal
import sys
from contextlib import redirect_stderr, suppress
from importlib import import_module
from io import TextIOWrapper
from typing import IO, TYPE_CHECKING, NoReturn, TextIO

import click

import quickchecks.cli
from quickchecks._results.result import INTERRUPTED
from quickchecks.errors import QuickchecksError

if TYPE_CHECKING:
    from quickchecks.reports._workflow_commands import Harmless

__all__ = ("COMPLETE", "Problem", "cli", "main")

#: The variable by which a shell asks what it may complete.
COMPLETE = "_QUICKCHECKS_COMPLETE"

#: What a shell says of a command that was ended because nobody read its output any more.
_NOBODY_READS = 141


class Problem(click.ClickException):
    """Something that the user has to change; shown as one message."""

    exit_code = 2

    def show(self, file: IO[str] | None = None) -> None:
        """Print the message on standard error."""
        from quickchecks.reports._safe import lines

        message = "\n".join(lines(self.message))
        click.echo(f"Error: {message}", file=file or sys.stderr)


#: The commands, in the order in which people need them.
_SECTIONS = {
    "Evaluate an agent": ("run", "compare"),
    "Look at recorded runs": ("score", "inspect", "share"),
    "Begin, and look things up": ("demo", "init", "checks", "doctor", "completion"),
}
_IN_SECTIONS = {name for names in _SECTIONS.values() for name in names}


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        modules = pkgutil.iter_modules(quickchecks.cli.__path__)
        names = [module.name for module in modules if not module.name.startswith("_")]
        order = [name for names in _SECTIONS.values() for name in names]
        return sorted(names, key=lambda name: (order.index(name) if name in order else len(order), name))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        left = self.list_commands(ctx)
        width = formatter.width - 6 - max(map(len, left))
        for title, names in {**_SECTIONS, "More": tuple(name for name in left if name not in _IN_SECTIONS)}.items():
            found = [(name, self.get_command(ctx, name)) for name in names if name in left]
            rows = [(name, command.get_short_help_str(width)) for name, command in found if command is not None]
            if rows:
                with formatter.section(title):
                    formatter.write_dl([(f"{name:<{max(map(len, left))}}", text) for name, text in rows])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        command: click.Command = getattr(import_module(f"quickchecks.cli.{cmd_name}"), cmd_name)
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in self.list_commands(ctx) and not name.startswith("-") and not ctx.resilient_parsing:
            from quickchecks.errors import nearest_names

            hint = nearest_names(name, self.list_commands(ctx))
            if os.path.exists(name):
                hint = f"to score recordings, write: quickchecks score {name} --check …"
            raise click.UsageError(f"there is no command {name!r}: {hint}", ctx)
        return super().resolve_command(ctx, args)

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: object
    ) -> click.Context:
        try:
            return super().make_context(info_name, args, parent, **extra)  # which prints the help, when that is asked for
        except BrokenPipeError:
            _end_without_reader()

    def invoke(self, ctx: click.Context) -> object:
        try:
            try:
                result: object = super().invoke(ctx)
                return result
            finally:
                sys.stdout.flush()  # while a reader that has gone can still be told from other ends
        except BrokenPipeError:
            _end_without_reader()
        except QuickchecksError as error:
            raise Problem(str(error)) from error
        except SystemExit as error:
            # Nothing here ends the process like that: an adapter or a scorer did, and its code may well have been 0.
            raise Problem(
                f"an adapter or a scorer ended the command, by SystemExit({error.code!r}): nothing was decided\n"
                "  let it raise another exception, or return"
            ) from error


def _end_without_reader() -> NoReturn:
    """End quietly when the reader of a pipe has gone, as `… | head` does."""
    _write_no_more()
    sys.exit(_NOBODY_READS)


def _write_no_more() -> None:
    """Let what is still to be written go nowhere: else the interpreter would try again at its end, and complain."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(nowhere, stream.fileno())


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    epilog="The first minute: quickchecks demo",
)
@click.version_option(package_name="quickchecks", prog_name="quickchecks")
def cli() -> None:
    """Check what recorded agent runs said and which tools they called, and say why.

    Results go to standard output, progress and notes to standard error. Exit codes: 0 passed, or nothing was asserted;
    1 failed; 2 wrong usage; 3 undecided, or nothing was scored.
    """


class _Notes(logging.Handler):
    """Shows what the library has to note, on standard error."""

    def emit(self, record: logging.LogRecord) -> None:
        from quickchecks.reports._safe import one_line

        click.echo(f"note: {one_line(record.getMessage())}", err=True)


def main() -> None:
    """Run the command with the arguments of the process."""
    _open_streams()
    for name in ("stdout", "stderr"):
        if isinstance(stream := getattr(sys, name), TextIOWrapper):
            lasting = _LastingStream(stream, _harmless())
            setattr(sys, name, lasting)
            setattr(sys, f"__{name}__", lasting)
    logger = logging.getLogger("quickchecks")
    logger.addHandler(_Notes())
    logger.propagate = False
    try:
        code = _run()
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # all is said: Ctrl-C ends what is left without a traceback
        sys.exit(code)
    except BrokenPipeError:
        _end_without_reader()
    except ValueError:
        if not (_is_lost(sys.stdout) or _is_lost(sys.stderr)):
            raise
        _end_without_stream()
    except OSError as error:
        # Whatever else was decided, nobody has been told of it.
        with suppress(OSError):
            where = error.filename or "the output"
            click.echo(f"Error: {where} cannot be written: {error.strerror or error}", err=True)
        _write_no_more()
        sys.exit(Problem.exit_code)


def _is_lost(stream: TextIO) -> bool:
    try:
        return stream.closed
    except ValueError:  # what was under it was taken away
        return True


def _end_without_stream() -> NoReturn:
    """End with one line when somebody has closed what is under a stream; else the interpreter would complain at its end."""
    text = "Error: an adapter, a target or a scorer closed the output of the command: nobody can be told the result\n"
    with suppress(OSError):
        os.write(2, text.encode())
    for name in ("stdout", "stderr"):
        nowhere = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - open as long as the process
        setattr(sys, name, nowhere)
        setattr(sys, f"__{name}__", nowhere)
    sys.exit(Problem.exit_code)


class _LastingStream(TextIOWrapper):
    """A standard stream that code of a user's cannot close: what was decided has still to be told.

    Args:
        stream: The stream in whose place it stands.
        harmless: Makes text harmless for who reads it, where that is needed.
    """

    def __init__(self, stream: TextIOWrapper, harmless: Harmless | None) -> None:
        self._harmless = harmless
        by_line, at_once = stream.line_buffering, stream.write_through
        # Reports hold what models wrote, in any language, whatever the locale is.
        super().__init__(
            stream.detach(), encoding="utf-8", errors="backslashreplace", line_buffering=by_line, write_through=at_once
        )

    def write(self, text: str, /) -> int:
        """Write a text."""
        super().write(text if self._harmless is None else self._harmless(text))
        return len(text)

    def close(self) -> None:
        """Only write out what is still to be written."""
        if not self.closed:
            self.flush()


def _harmless() -> Harmless | None:
    """What keeps the texts of others from being commands, on GitHub."""
    if not os.environ.get("GITHUB_ACTIONS"):
        return None  # what else is needed takes its time to load
    from quickchecks.reports._step import is_github
    from quickchecks.reports._workflow_commands import Harmless

    return Harmless() if is_github(os.environ) else None


def _run() -> int:
    """Run the command; returns its exit code."""
    if COMPLETE in os.environ:
        return _complete()
    try:
        code = cli.main(prog_name="quickchecks", standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except click.ClickException as error:
        from quickchecks.cli._github import tell_problem

        error.show()
        tell_problem(error.message)
        return error.exit_code
    except click.Abort:
        click.echo("interrupted", err=True)
        return INTERRUPTED


def _complete() -> int:
    """Tell a shell what it may complete; returns the exit code. Somebody is typing: nothing is said of what goes wrong."""
    with open(os.devnull, "w", encoding="utf-8") as nowhere, redirect_stderr(nowhere), suppress(Exception):
        cli.main(prog_name="quickchecks", complete_var=COMPLETE)
    return 0


def _open_streams() -> None:
    """Open those of the three standard streams that the process was started without, as `>&-` does: to nothing.

    Whoever closes the output wants the exit code alone. And no file that is opened later must take the place of a stream.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - open as long as the process
