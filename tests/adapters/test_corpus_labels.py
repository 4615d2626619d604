"""Recorded runs against facts that other scripts derived from the same files."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from quickchecks import Run
from quickchecks.adapters import read

#: How the labels call a format, and what it is called here.
FORMATS = {
    "agentdojo": "agentdojo",
    "mastra_db_messages": "reference",
    "openai_chat": "openai_chat",
    "tau_bench": "tau_bench",
}


@pytest.fixture(scope="module")
def labels(shared: Path) -> dict[str, list[dict[str, Any]]]:
    """The labels by format."""
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for line in (shared / "corpus" / "labels.jsonl").read_text(encoding="utf-8").splitlines():
        label = json.loads(line)
        found[label["format"]].append(label)
    return found


@pytest.mark.parametrize(("labelled_as", "format"), FORMATS.items())
def test_runs_are_read_as_their_labels_say(
    shared: Path, labels: dict[str, list[dict[str, Any]]], labelled_as: str, format: str
) -> None:
    rows = labels[labelled_as]
    files = {path: list(read(shared / path)) for path in {row["path"] for row in rows}}
    differences = [
        (row["path"], row["index"], difference)
        for row in rows
        for difference in differing(files[row["path"]][row["index"]], row, format)
    ]
    assert len(rows) >= 20
    assert differences == []


def differing(run: object, label: dict[str, Any], format: str) -> list[tuple[str, object, object]]:
    """What was read otherwise than labelled. Labels do not count a call without a result as an error, and checks do."""
    if not isinstance(run, Run):
        return [("not read", str(run), None)]
    failures = [failure for call in run.all_tool_calls if (failure := call.failure()) and failure.source != "unanswered"]
    found = {
        "format": (run.format, format),
        "calls": ([call.name for call in run.all_tool_calls], label["tool_calls"]),
        "errors": (len(failures), label["tool_error_count"]),
        "text": (hashlib.sha256(run.final_text.encode()).hexdigest(), label["final_text_sha256"]),
    }
    return [(what, *both) for what, both in found.items() if both[0] != both[1] and both[1] is not None]


@pytest.mark.parametrize(("folder", "format", "count"), [("agentdojo", "agentdojo", 185), ("tau_bench", "tau_bench", 100)])
def test_a_whole_folder_is_read_without_an_error(shared: Path, folder: str, format: str, count: int) -> None:
    runs = list(read(shared / "corpus" / folder))
    assert [run.format if isinstance(run, Run) else str(run) for run in runs] == [format] * count
    assert all(isinstance(run, Run) and run.source is not None for run in runs)
