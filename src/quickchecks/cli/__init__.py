"""The command `quickchecks`, one module a subcommand; `python -m quickchecks` is the same."""

from __future__ import annotations

__all__ = ("main",)


def main() -> None:
    """Run the command with the arguments of the process."""
    from quickchecks.cli._app import main

    main()
