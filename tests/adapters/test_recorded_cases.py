"""Every message list of the recorded cases can be read in the format that it is written in."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from quickchecks import load_run
from quickchecks.errors import RecordingError


def test_every_output_of_the_reference_cases_is_read(shared: Path) -> None:
    lines = (shared / "cases" / "reference" / "checks.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) > 4000
    for line in lines:
        case = json.loads(line)
        assert load_run(case["output"], format="reference").format == "reference", case["id"]


def test_every_conversation_of_the_field_reports_is_read_or_refused_for_its_dialect(shared: Path) -> None:
    """Cases in other dialects must be refused, because reading them as this one would lose their calls."""
    cases = json.loads((shared / "cases" / "field-reports.json").read_text(encoding="utf-8"))
    checks = [case for case in cases if case["kind"] == "check"]
    assert len(checks) > 100
    for case in checks:
        if "format" in case:
            with pytest.raises(RecordingError, match="another format"):
                load_run(case["messages"], format="openai_chat")
        else:
            assert load_run(case["messages"], format="openai_chat").format == "openai_chat", case["id"]
