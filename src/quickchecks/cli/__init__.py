"""The command `quickchecks`, one module a subcommand; `python -m quickchecks` is the same."""

from __future__ import annotations

from typing import NoReturn

__all__ = ("main",)


def main() -> None:
    """Run the command with the arguments of the process."""
    import os
    import signal

    if os.environ.get("GITHUB_ACTIONS"):
        import atexit

        atexit.register(_take_commands_again)  # what is registered first is called last: nothing of the user's comes after it
    handled = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if handled:
        signal.signal(signal.SIGINT, _end)
    from quickchecks.cli._app import main

    try:
        if handled:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        main()
    except KeyboardInterrupt:  # between two steps, where nobody else takes it
        _end()


def _take_commands_again() -> None:
    """Let GitHub take commands again, where it was told not to."""
    import sys

    if "quickchecks.cli._github" in sys.modules:
        from quickchecks.cli._github import take_commands_again

        take_commands_again()


def _end(*_: object) -> NoReturn:
    """End quietly: there is nothing to tidy up, and an exception would only show where the program was."""
    import os

    os._exit(130)
