"""Evals written in a file: what is asked, of whom, and what must hold, in YAML or in Python.

    target: agent:answer                # module:attribute, or module:factory()
    data: dataset.jsonl                 # or a list of items, or {file: …, map: {input: question}}
    gates:                              # must pass on every item
      - no_tool_errors
    scorers:                            # measured; with a threshold, asserted too
      - check: {similarity: $expected}
        threshold: 0.7
    options: {concurrency: 4, timeout: 30}

In Python it is a dictionary called `evaluation`, with what `run_evals` takes, or a function of that name that returns one.
"""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike, fspath

from quickchecks._evalfile._found import EvalFile

__all__ = ("EvalFile", "load_eval_file")


def load_eval_file(path: str | PathLike[str], variables: Mapping[str, str] | None = None) -> EvalFile:
    """Read an eval file. The target is not imported yet, where the file is YAML.

    Args:
        path: The file: YAML, or Python when its name ends in `.py`.
        variables: Values for the variables of the file.

    Raises:
        QuickchecksError: The file, or its data, cannot be read; the message says where and why.
    """
    file = fspath(path)
    if file.lower().endswith(".py"):
        from quickchecks._evalfile._python import load

        return load(file, variables or {})
    from quickchecks._evalfile._yaml import load as load_yaml

    return load_yaml(file, variables or {})
