"""`quickchecks run`: run an agent over a dataset and say whether it passes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from quickchecks.cli import _completing

if TYPE_CHECKING:
    from quickchecks._evaluation import EvalOptions
    from quickchecks._results.evaluation import EvalResult
    from quickchecks._results.result import FailOn
    from quickchecks.cli._files import Files
    from quickchecks.reports._step import Step

__all__ = ("run",)

_EPILOG = """\b
Examples:
  quickchecks run eval.yaml -o result.json
  quickchecks run eval.yaml --set model=small --repeat 5 --record runs.jsonl
  quickchecks run eval.yaml --only-failed result.json
  quickchecks run eval.yaml --rescore result.json      with other checks; the agent is not asked
  quickchecks run eval.yaml --watch
"""


@click.command(short_help="Run an agent over a dataset, from an eval file.", epilog=_EPILOG)
@click.argument("file", metavar="FILE", shell_complete=_completing.eval_files)
@click.option(
    "-o",
    "--output",
    "reports",
    metavar="FILE",
    multiple=True,
    shell_complete=_completing.reports_of("evaluation"),
    help="Write the result: .html, .md, .junit.xml, .json, .jsonl or .csv. Repeatable.",
)
@click.option("--set", "variables", metavar="NAME=VALUE", multiple=True, help="A value for a variable of the file. Repeatable.")
@click.option("--repeat", type=click.IntRange(min=1), metavar="N", help="Run each item so many times.")
@click.option("--concurrency", type=click.IntRange(min=1), metavar="N", help="The most items at once.")
@click.option("--timeout", type=click.FloatRange(min=0, min_open=True), metavar="SECONDS", help="What an item may take.")
@click.option(
    "--record", metavar="FILE", shell_complete=_completing.files, help="Keep every run, as JSON Lines that can be scored again."
)
@click.option(
    "--only-failed",
    metavar="RESULT",
    shell_complete=_completing.files,
    help="Run only the items that did not pass in this result, or are not in it.",
)
@click.option(
    "--rescore",
    metavar="RESULT",
    shell_complete=_completing.files,
    help="Score the runs in this result; the target is not called.",
)
@click.option("--watch", is_flag=True, help="Run again when a file changes; where only checks did, score again. Ctrl-C ends it.")
@click.option(
    "--fail-on",
    type=click.Choice(("any", "gates", "never")),
    default="any",
    show_default=True,
    help="What makes the exit code 1: anything asserted, gates and errors only, or nothing.",
)
def run(
    file: str,
    reports: tuple[str, ...],
    variables: tuple[str, ...],
    repeat: int | None,
    concurrency: int | None,
    timeout: float | None,
    record: str | None,
    only_failed: str | None,
    rescore: str | None,
    watch: bool,
    fail_on: FailOn,
) -> None:
    """Run the eval in FILE: ask its target every item of its data, and judge the answers.

    FILE is YAML with the keys target, data, gates, scorers and options, or Python that defines `evaluation`. A folder that
    a file to write lies in is made.
    """
    from quickchecks.cli._evaluating import Request, evaluate, nothing_failed, outputs, read_variables
    from quickchecks.cli._github import present_step
    from quickchecks.cli._interrupts import Interrupts

    if only_failed and rescore:
        raise click.UsageError("--only-failed runs the target, --rescore does not: use one of them")
    for name, value in (("--repeat", repeat), ("--record", record), ("--concurrency", concurrency), ("--timeout", timeout)):
        if rescore and value:
            raise click.UsageError(f"{name} is about runs to come, and --rescore scores those that there are: leave one out")
    if watch and rescore:
        raise click.UsageError("--watch scores the last runs again by itself where only checks changed: leave --rescore out")
    given = {"repetitions": repeat, "concurrency": concurrency, "timeout": timeout, "record": record}
    options: EvalOptions = {key: value for key, value in given.items() if value is not None}  # type: ignore[assignment]
    request = Request(file, read_variables(variables), options, only_failed, rescore, reports)
    context = click.get_current_context()
    step = present_step()
    if watch:
        from quickchecks.cli._watching import watch as keep_watching

        context.exit(keep_watching(request, lambda result, files: _show_round(result, fail_on, files)))
    found = request.load()
    files = outputs(request, found)
    with Interrupts() as interrupts:
        try:
            result = evaluate(request, found, interrupts)
        except BaseException:
            files.drop()
            raise
        if result is None:
            files.drop()
            click.echo(f"{nothing_failed(request)} · exit 3")
            context.exit(3)
        with interrupts.whole():
            files.write(result)
            code = _show(result, fail_on, files.files)
            if step is not None:
                _tell(step, result, code, file)
    files.files.check()
    context.exit(code)


def _show_round(result: EvalResult, fail_on: FailOn, files: Files) -> int:
    """Print a result, and which files could not be written; returns the exit code."""
    code = _show(result, fail_on, files)
    files.check()
    return code


def _show(result: EvalResult, fail_on: FailOn, files: Files) -> int:
    """Print a result; returns the exit code."""
    from quickchecks._results.deciding import eval_exit_code
    from quickchecks.cli._output import print_lines
    from quickchecks.reports.terminal_evaluation import eval_lines

    code = eval_exit_code(result, fail_on)
    print_lines(eval_lines(result, code))
    for path in files.written:
        click.echo(f"wrote {path}", err=True)
    return code


def _tell(step: Step, result: EvalResult, code: int, file: str) -> None:
    """Show a result on GitHub."""
    from quickchecks.cli._github import tell
    from quickchecks.reports import as_md, github

    tell(step, code, github.of_evaluation(result, file, code), as_md.evaluation(result))
