"""The recorded cases of the reference's eleven checks: every one gives what it should."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from quickchecks import checks, load_run

#: How many cases there are of each check, so that a file that lost its lines does not pass.
CASES = {
    "includes": 508,
    "excludes": 477,
    "equals": 478,
    "matches": 364,
    "similarity": 630,
    "called_tool": 408,
    "did_not_call": 265,
    "tool_order": 352,
    "max_tool_calls": 278,
    "used_no_tools": 228,
    "no_tool_errors": 298,
}


def snake(name: str) -> str:
    """The reference's `calledTool` as we write it."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


@pytest.fixture(scope="module")
def cases(shared: Path) -> Mapping[str, list[dict[str, Any]]]:
    """The cases by the check that they are about."""
    found: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    for line in (shared / "cases/reference/checks.jsonl").read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        found[snake(case["check"])].append(case)
    return found


def outcome(check: str, case: Mapping[str, Any]) -> object:
    """What we do with a case, in the words of `expected`."""
    options = {snake(name): value for name, value in case["options"].items()}
    try:
        made = getattr(checks, check)(*case["args"], **options)
    except ValueError:
        return {"raises": "ValueError", "when": "construction"}
    score = made.score(load_run(case["output"], format="reference"))
    assert len(score.reason) <= 500
    return {"score": score.value} if score.value is not None else score.outcome


def agrees(found: object, expected: Mapping[str, Any]) -> bool:
    """0 and 1 exactly, other values to 1e-9."""
    if isinstance(found, dict) and "score" in found and "score" in expected:
        wanted = expected["score"]
        return bool(found["score"] == wanted if wanted in (0, 1) else abs(found["score"] - wanted) <= 1e-9)
    return found == expected


def test_every_check_has_its_cases(cases: Mapping[str, list[dict[str, Any]]]) -> None:
    assert {check: len(of_check) for check, of_check in cases.items()} == CASES
    assert sum(CASES.values()) == 4286


@pytest.mark.parametrize("check", CASES)
def test_every_case_gives_what_is_expected(check: str, cases: Mapping[str, list[dict[str, Any]]]) -> None:
    wrong = []
    for case in cases[check]:
        found = outcome(check, case)
        if not agrees(found, case["expected"]):
            wrong.append(
                f"{case['id']} ({case['note']}): {check}({case['args']}, {case['options']}) gives {found}, not {case['expected']}"
            )
    assert not wrong, f"{len(wrong)} of {len(cases[check])} cases differ:\n" + "\n".join(wrong[:20])
