"""Run every example in the documentation and compare what it prints with what stands beside it.

    python scripts/run_docs.py           shows where the two differ, and exits 1 when they do
    python scripts/run_docs.py --write   writes the outputs as they are now

A document is run from top to bottom in one folder, which begins as a copy of examples/; its Python blocks share one
namespace. What each kind of fenced block means:

    python      is run. What it prints, and the message of an exception that ends it, stand in the `text` block right
                after it; a block that prints nothing has none.
    console     each line that begins with "$ " is run by bash; what it prints, errors included, follows it. A duration
                at the end of a line may differ.
    text        the output of the `python` block right before it; anywhere else it is a picture and is left alone.
    yaml, json  must be readable; with title="checks.yaml" it is written to that file, for what comes after it.
    sh          commands that set up or check the project: each line must stand in .ci/run, word for word.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from contextlib import chdir, redirect_stdout
from dataclasses import dataclass, field
from difflib import unified_diff
from io import StringIO
from pathlib import Path
from traceback import format_exception_only

import yaml

__all__ = ("DocumentError", "documents", "rerun")

ROOT = Path(__file__).parent.parent
COLUMNS = 100
SECONDS = 60
#: Plugins that are installed here and print something of their own.
PYTEST = "-p no:asyncio -p no:cacheprovider"

_OPENING = re.compile(r"(?P<indent> *)(?P<fence>`{3,})(?P<language>\w*)(?P<rest>.*)")
_TITLE = re.compile(r'\btitle="([^"]+)"')
_DURATION = re.compile(r"\s+\d+(?:\.\d+)? ?m?s$")


class DocumentError(Exception):
    """An example that cannot be run."""


@dataclass
class Block:
    """A fenced block.

    Args:
        place: The document and the line of the opening fence.
        opening: The opening fence, as it stands.
        indent: The spaces before it.
        fence: Its backticks.
        language: The word after them.
        lines: What stands between the fences, without the indent.
    """

    place: str
    opening: str
    indent: str = ""
    fence: str = "```"
    language: str = ""
    lines: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        inside = [self.indent + line if line else "" for line in self.lines]
        return "\n".join([self.opening, *inside, self.indent + self.fence])


def documents() -> list[Path]:
    """Every Markdown file that people read."""
    return sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


def rerun(document: Path) -> str:
    """Run the examples of a document.

    Args:
        document: A Markdown file.

    Returns:
        Its text, with every output as it is now.

    Raises:
        DocumentError: An example cannot be run, or a block is of no known kind.
    """
    pieces = list(_split(document))
    namespace: dict[str, object] = {"__name__": "__main__"}
    with tempfile.TemporaryDirectory() as folder:
        if (ROOT / "examples").is_dir():
            shutil.copytree(ROOT / "examples", folder, dirs_exist_ok=True)
        with chdir(folder):
            index = 0
            while index < len(pieces):
                block = pieces[index]
                if isinstance(block, Block):
                    output = _output_of(pieces, index)
                    printed = _run(block, document, namespace, expects_output=output is not None)
                    if output is not None:
                        output.lines = _unless_equal(output.lines, printed)
                    elif printed:
                        new = Block(block.place, f"{block.indent}```text", block.indent, language="text", lines=printed)
                        pieces[index + 1 : index + 1] = ["", new]
                index += 1
    return "\n".join(str(piece) for piece in pieces) + "\n"


def _split(document: Path) -> list[str | Block]:
    """The lines of prose and the blocks of a document, in order."""
    found: list[str | Block] = []
    block: Block | None = None
    for number, line in enumerate(document.read_text(encoding="utf-8").splitlines(), 1):
        if block is not None and line.strip() == block.fence:
            block = None
        elif block is not None:
            block.lines.append(line.removeprefix(block.indent))
        elif opened := _OPENING.fullmatch(line):
            place = f"{document.name}:{number}"
            block = Block(place, line, opened["indent"], opened["fence"], opened["language"])
            found.append(block)
        else:
            found.append(line)
    if block is not None:
        raise DocumentError(f"{block.place}: this block is never closed")
    return found


def _output_of(pieces: list[str | Block], index: int) -> Block | None:
    """The block that holds what a Python block prints: the `text` block after it, with only blank lines between."""
    block = pieces[index]
    if isinstance(block, str) or block.language != "python":
        return None
    after = next((piece for piece in pieces[index + 1 :] if piece), None)
    return after if isinstance(after, Block) and after.language == "text" else None


def _run(block: Block, document: Path, namespace: dict[str, object], expects_output: bool) -> list[str]:
    """Run a block; what a console block prints is put into it, what a Python block prints is returned."""
    match block.language:
        case "python":
            return _run_python(block, document, namespace, expects_output)
        case "console":
            block.lines = _run_console(block)
        case "yaml" | "json":
            text = "\n".join(block.lines) + "\n"
            yaml.safe_load(text) if block.language == "yaml" else json.loads(text)
            if title := _TITLE.search(block.opening):
                Path(title[1]).write_text(text, encoding="utf-8")
        case "sh":
            known = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
            unknown = [line for line in block.lines if line and not line.startswith("#") and line not in known]
            if unknown:
                raise DocumentError(f"{block.place}: .ci/run does not run this command: {unknown[0]}")
        case "text":
            pass
        case _:
            raise DocumentError(f"{block.place}: say what this block is: python, console, yaml, json, sh or text")
    return []


def _run_python(block: Block, document: Path, namespace: dict[str, object], expects_output: bool) -> list[str]:
    line = int(block.place.rpartition(":")[2])
    printed = StringIO()
    try:
        # The lines before it are blank, so that tracebacks and inspect.getsource find the line of the document.
        code = compile("\n" * line + "\n".join(block.lines), str(document), "exec")
        with redirect_stdout(printed):
            exec(code, namespace)
    except Exception as error:
        if not expects_output:
            raise DocumentError(f"{block.place}: this block raises {type(error).__name__}: {error}") from error
        printed.write("".join(format_exception_only(error)))
    return _lines(printed.getvalue())


def _run_console(block: Block) -> list[str]:
    commands = [index for index, line in enumerate(block.lines) if line.startswith("$ ")]
    if not commands or commands[0] != 0:
        raise DocumentError(f'{block.place}: a console block begins with a command, "$ …"')
    lines: list[str] = []
    for start, end in zip(commands, [*commands[1:], len(block.lines)], strict=True):
        expected = block.lines[start + 1 : end]
        blank_end = [""] if expected[-1:] == [""] else []  # a blank line may stand before the next command
        printed = _unless_equal(expected, [*_shell(block, block.lines[start][2:]), *blank_end])
        lines.extend([block.lines[start], *printed])
    return lines


def _shell(block: Block, command: str) -> list[str]:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    elsewhere = ("FORCE_", "CLICOLOR", "GITHUB_", "CI", "BUILD_NUMBER")  # where pytest and others print something else
    environment = {name: value for name, value in os.environ.items() if not name.startswith(elsewhere)}
    environment.update(PATH=path, COLUMNS=str(COLUMNS), NO_COLOR="1", TERM="dumb", PYTEST_ADDOPTS=PYTEST)
    try:
        result = subprocess.run(
            ["bash", "-c", command],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise DocumentError(f"{block.place}: {command!r} did not end within {SECONDS} s") from None
    return _lines(result.stdout.decode("utf-8"))


def _lines(printed: str) -> list[str]:
    return [line.rstrip() for line in printed.rstrip().splitlines()]


def _unless_equal(expected: list[str], printed: list[str]) -> list[str]:
    """What was printed; where only a duration differs, the line that was expected."""
    if len(expected) != len(printed):
        return printed
    same = [_DURATION.sub("", old) == _DURATION.sub("", new) for old, new in zip(expected, printed, strict=True)]
    return [old if equal else new for old, new, equal in zip(expected, printed, same, strict=True)]


def main(arguments: list[str]) -> int:
    """Run all documents; the return value is the exit code."""
    differing = 0
    for document in documents():
        before = document.read_text(encoding="utf-8")
        after = rerun(document)
        if before != after:
            differing += 1
            if "--write" in arguments:
                document.write_text(after, encoding="utf-8")
            names = (f"{document.name} as written", f"{document.name} as run")
            print("\n".join(unified_diff(before.splitlines(), after.splitlines(), *names, lineterm="")))
    return 1 if differing and "--write" not in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
