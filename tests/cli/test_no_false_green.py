"""Where an eval shows nothing, `quickchecks run` does not say that it passed: in the file, on the screen, in its exit code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Command, Ended

PREAMBLE = """
from quickchecks import Threshold, Gate, checks, create_scorer, no_evidence, not_applicable

def boom(output): raise ValueError("boom")
def ends(output): raise SystemExit(0)
def never(output): return not_applicable("nothing here")
def blind(output): return no_evidence("not recorded")
def says(value):
    def said(output): return value
    return said
def sometimes(output):
    return not_applicable("nothing here") if output == "b" else 1
def target(text):
    if text == "boom": raise ValueError("no answer")
    if text == "exit": raise SystemExit(0)
    return None if text == "nothing" else text
def refuses(result): raise ValueError("the callback broke")
def leaves(result): raise SystemExit(0)
ANY = checks.matches(".")
"""

#: A call whose result the source did not keep.
LOST = {
    "messages": [
        {"role": "user", "content": "Pay."},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "pay", "arguments": "{}"}}],
        },
        {"role": "assistant", "content": "Done."},
    ]
}


def run(quickchecks: Command, name: str, text: str, *arguments: str) -> tuple[Ended, str | None]:
    """How the command ends on an eval file, and the verdict in the file that it wrote; "no file" when it wrote none."""
    Path(name).write_text(text, encoding="utf-8")
    Path("agent.py").write_text(PREAMBLE, encoding="utf-8")
    Path("lost.jsonl").write_text(json.dumps(LOST) + "\n", encoding="utf-8")
    ended = quickchecks("run", name, "-o", "result.json", *arguments)
    written = Path("result.json")
    return ended, json.loads(written.read_text(encoding="utf-8")).get("verdict") if written.exists() else "no file"


@pytest.mark.parametrize(
    ("evaluation", "verdict", "code", "said"),
    [
        ("gates=[boom]", "failed", 1, "the scorer broke on 2"),
        ("gates=[ANY, boom], max_errors=9", "failed", 1, "the scorer broke on 2"),
        ("gates=[ends]", "failed", 1, "the scorer broke on 2"),
        ("gates=[says(float('nan'))]", "failed", 1, "the scorer broke on 2"),
        ("gates=[says(float('inf'))]", "failed", 1, "the scorer broke on 2"),
        ("gates=[says(2)]", "failed", 1, "the scorer broke on 2"),
        ("gates=[says(None)]", "failed", 1, "the scorer broke on 2"),
        ("gates=[says('yes')]", "failed", 1, "the scorer broke on 2"),
        ("gates=[says(0.999999999)]", "failed", 1, "0 of 2 items passed"),
        ("gates=[Gate(checks.includes('z'), pass_rate=0.001)]", "failed", 1, "0 of 2 items passed"),
        ("gates=[ANY], scorers=[boom]", "failed", 1, "2 errors, none may be"),
        ("scorers=[Threshold(boom, min=0)]", "failed", 1, "2 errors, none may be"),
        ("scorers=[Threshold(boom, min=0)], max_errors=9", "undecided", 3, "no item was judged: the scorer broke on 2"),
        ("gates=[never]", "undecided", 3, "no item was judged: it does not apply to 2"),
        ("gates=[ANY, never]", "undecided", 3, "no item was judged: it does not apply to 2"),
        ("scorers=[Threshold(never, min=0)]", "undecided", 3, "no item was judged: it does not apply to 2"),
        ("gates=[blind]", "undecided", 3, "no evidence on 2"),
        ("scorers=[Threshold(blind, min=0)]", "undecided", 3, "no evidence on 2"),
        ("gates=[checks.used_no_tools()]", "undecided", 3, "no evidence on 2"),
        ("gates=[Gate(ANY, pass_rate=0.9, confidence=0.95)]", "undecided", 3, "more clean items would decide"),
        ("data=['boom'], gates=[ANY]", "failed", 1, "no item was judged: 1 broke"),
        ("data=['boom'], gates=[ANY], max_errors=1", "undecided", 3, "no item was judged: 1 broke"),
        ("data=['a', 'boom'], gates=[ANY]", "failed", 1, "1 of 1 judged items passed"),
        ("data=['exit'], gates=[ANY]", "failed", 1, "no item was judged: 1 broke"),
        ("data=['nothing'], gates=[checks.excludes('z')]", "undecided", 3, "no evidence on 1"),
        ("data=['boom'], scorers=[ANY]", None, 1, "nothing was asserted"),
        ("data=['boom'], scorers=[ANY], max_errors=1", None, 3, "nothing was asserted"),
        ("data=[{'run': LOST}], target=None, gates=[checks.no_tool_errors()]", "failed", 1, "pay(), has no result"),
        ("data='lost.jsonl', target=None, gates=[checks.no_tool_errors()]", "failed", 1, "pay(), has no result"),
        ("data=[{'input': 'a', 'turns': []}], gates=[ANY]", "no file", 2, "it takes exactly one of"),
        ("data=[], gates=[ANY]", "no file", 2, "there is no data"),
        ("gates=[], scorers=[]", "no file", 2, "there is nothing to score with"),
        ("gates=[ANY, checks.matches('.')]", "no file", 2, "two of gates have the identity"),
        ("gates=[checks.includes('a', name='x'), checks.includes('z', name='x')]", "no file", 2, "the identity 'x'"),
        ("target=None, gates=[ANY]", "no file", 2, "has to be asked, and eval.py has no target"),
        ("gates=[Gate(ANY, pass_rate=1e-10)]", "no file", 2, "a gate takes pass_rate from 0.001"),
        ("gates=[checks.includes('')]", "no file", 2, "includes"),
    ],
)
@pytest.mark.parametrize("fail_on", ["any", "gates"])
def test_what_shows_nothing_does_not_pass(
    fail_on: str, evaluation: str, verdict: str | None, code: int, said: str, quickchecks: Command
) -> None:
    text = f"{PREAMBLE}\nLOST = {LOST!r}\nevaluation = {{**dict(data=['a', 'b'], target=target), **dict({evaluation})}}\n"
    ended, written = run(quickchecks, "eval.py", text, "--fail-on", fail_on)
    assert (written, ended.code) == (verdict, code)
    assert said in (ended.err if verdict == "no file" else ended.out)
    assert "passed" not in ended.out.splitlines()[-1:]


@pytest.mark.parametrize(
    ("checks", "verdict", "code", "said"),
    [
        (
            "data: [a]\ngates: [{when: {condition: {includes: z}, check: {includes: y}}}]",
            "undecided",
            3,
            "it does not apply to 1",
        ),
        ("data: [a]\ngates: [no_tool_errors]", "undecided", 3, "no evidence on 1"),
        ("data: [a]\ngates: [{includes: $expected}]", "failed", 1, "has no 'expected'"),
        ("data: [boom]\ngates: [{matches: .}]", "failed", 1, "no item was judged: 1 broke"),
        ("data: [a]\nchecks: [{check: {matches: .}, mode: watch}]", None, 0, "nothing was asserted"),
        ("data: [a]\nchecks: [{check: {matches: .}, mode: shadow}]", None, 0, "nothing was asserted"),
        (
            "data: [a]\ngates: [{includes: a}, 'includes(\"a\")']",
            "no file",
            2,
            "eval.yaml:3:24: includes('a') stands here a second time",
        ),
        ("data: []\ngates: [{includes: a}]", "no file", 2, "there is no data"),
        ("data: [a]\ngates: [{excludes: $expectd}]", "no file", 2, "did you mean $expected?"),
        ("data: [a]", "no file", 2, "there is nothing to score with"),
    ],
)
def test_nor_does_it_in_yaml(checks: str, verdict: str | None, code: int, said: str, quickchecks: Command) -> None:
    ended, written = run(quickchecks, "eval.yaml", f"target: agent:target\n{checks}\n")
    assert (written, ended.code) == (verdict, code)
    assert said in (ended.err if verdict == "no file" else ended.out)


@pytest.mark.parametrize("mode", ["watch", "shadow"])
@pytest.mark.parametrize("key", ["checks", "scorers"])
def test_what_decides_nothing_does_not_by_breaking_either(key: str, mode: str, quickchecks: Command) -> None:
    entry = f"{{check: {{includes: $expected}}, mode: {mode}}}"
    ended, written = run(
        quickchecks, "eval.yaml", f"target: agent:target\ndata: [a]\ngates: [{{includes: a}}]\n{key}: [{entry}]\n"
    )
    assert (written, ended.code) == ("passed", 0)
    shown = {
        "watch": "watched    includes(from_item('expected'))  –",
        "shadow": "shadow     includes(from_item('expected'))  only",
    }
    assert shown[mode] in ended.out
    assert ("✗ includes(from_item('expected'))" in ended.out) is (mode == "watch")
    record = json.loads(Path("result.json").read_text(encoding="utf-8"))
    assert [score["outcome"] for score in record["items"][0]["scores"]] == ["passed", "error"]
    assert "(1 broke)" in ended.out


def test_a_shadow_is_nothing_to_run_again(quickchecks: Command) -> None:
    text = "target: agent:target\ndata: [a]\ngates: [{includes: a}]\nscorers: [{check: {includes: z}, mode: shadow}]\n"
    run(quickchecks, "eval.yaml", text)
    assert quickchecks("run", "eval.yaml", "--only-failed", "result.json").code == 3


@pytest.mark.parametrize("callback", ["refuses", "leaves"])
def test_a_callback_that_raises_is_told_and_changes_nothing(callback: str, quickchecks: Command) -> None:
    for gate, verdict, code in (("'a'", "passed", 0), ("'z'", "failed", 1)):
        options = f"gates=[checks.includes({gate})], on_item_complete={callback}"
        text = f"{PREAMBLE}\nevaluation = dict(data=['a'], target=target, {options})"
        ended, written = run(quickchecks, "eval.py", text)
        assert (written, ended.code) == (verdict, code)
        assert "warning: on_item_complete raised" in ended.out
