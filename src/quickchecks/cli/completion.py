"""`quickchecks completion`: what a shell needs to complete this command."""

from __future__ import annotations

import click

__all__ = ("completion",)

_EPILOG = """\b
Where the script goes:
  bash   add to ~/.bashrc:  eval "$(quickchecks completion bash)"     (bash 4.4 or later)
  zsh    add to ~/.zshrc, after compinit:  eval "$(quickchecks completion zsh)"
  fish   quickchecks completion fish > ~/.config/fish/completions/quickchecks.fish

\b
Examples:
  quickchecks completion bash
"""


@click.command(short_help="Print the script that completes it in a shell.", epilog=_EPILOG)
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
def completion(shell: str) -> None:
    """Print the script that lets a shell complete commands, options, checks, formats and files of quickchecks."""
    from click.shell_completion import get_completion_class

    from quickchecks.cli._app import COMPLETE, cli

    found = get_completion_class(shell)
    assert found is not None
    # Without the look at the version of bash that click takes, which needs a bash here.
    script = found(cli, {}, "quickchecks", COMPLETE)
    click.echo(script.source_template % script.source_vars(), nl=False)
