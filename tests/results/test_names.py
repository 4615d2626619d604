"""Names that checks ask about and no run has."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from quickchecks import checks
from quickchecks._results.names import MAX_NAMES, NamesInRuns
from quickchecks._results.tally import Tally, entry_of
from quickchecks._run import Gap, Run
from quickchecks._scorer.pipeline import Scorer
from quickchecks.testing import assistant, call, run

STRING = run("It is sunny.", gaps=(Gap("calls", "a text does not show calls"),))
includes = checks.includes("sunny")


def warnings(check: Scorer, runs: Sequence[Run]) -> tuple[str, ...]:
    tally = Tally([entry_of(check)])
    for one in runs:
        tally.add(one, [scorer.score(one) for scorer in tally.scorers])
    return tally.result().warnings


@pytest.mark.parametrize(
    ("check", "warning"),
    [
        (checks.did_not_call("delete_users"), r"no run here ever called 'delete_users'; near: 'delete_user' \(2 runs\)"),
        (checks.tool_order(["delete_user", "zzz"]), r"no run here ever called 'zzz'"),
        (includes & ~checks.called_tool("zzz"), r"no run here ever called 'zzz'"),
        (checks.called_tool("delete_user"), None),
    ],
)
def test_a_tool_that_no_run_ever_called_is_warned_of(check: Scorer, warning: str | None) -> None:
    found = warnings(check, [run(call("delete_user"), call("delete_user")), run(call("delete_user"))])
    assert len(found) == (warning is not None)
    assert warning is None or re.fullmatch(warning, found[0])


def test_nothing_is_warned_of_where_calls_are_not_visible() -> None:
    assert warnings(checks.did_not_call("refund"), [STRING]) == ()
    assert warnings(checks.did_not_call("refund"), [run("hi")]) == ("no run here ever called 'refund', or any other tool",)


BOT = run(call("search"), agent="bot")
SPOKEN = run(assistant("It is sunny.", agent="speaker"))
NESTED = run(call("ask", run=run(call("ask", run=BOT), agent="middle")), agent="chief")


@pytest.mark.parametrize(
    ("agent", "runs", "warning"),
    [
        ("bto", [BOT, STRING], "no run here has an agent called 'bto'; near: 'bot' (1 run)"),
        ("bots", [BOT, NESTED], "no run here has an agent called 'bots'; near: 'bot' (2 runs)"),
        ("zzz", [BOT], "no run here has an agent called 'zzz'"),
        ("zzz", [run("hi")], "no run here has an agent called 'zzz', or names any agent"),
        ("bot", [NESTED], None),
        ("middle", [NESTED], None),
        ("speaker", [SPOKEN], None),
        ("root", [run("hi")], None),
        ("bot", [STRING], None),
    ],
)
def test_an_agent_that_no_run_has_is_warned_of(agent: str, runs: list[Run], warning: str | None) -> None:
    expected = () if warning is None else (warning,)
    assert warnings(checks.used_no_tools(agent=agent), runs) == expected
    assert warnings(includes | ~checks.max_tool_calls(3, agent=agent), runs) == expected


def test_the_agent_of_a_call_counts() -> None:
    made = replace(call("search"), agent="caller")
    assert warnings(checks.used_no_tools(agent="caller"), [run(made)]) == ()


def test_a_tool_and_an_agent_are_warned_of_apart() -> None:
    assert warnings(checks.did_not_call("serach", agent="bto"), [BOT, BOT]) == (
        "no run here ever called 'serach'; near: 'search' (2 runs)",
        "no run here has an agent called 'bto'; near: 'bot' (2 runs)",
    )


def test_nothing_is_said_of_agents_when_there_were_too_many_to_keep() -> None:
    many = [run("hi", agent=f"agent {n}") for n in range(MAX_NAMES)]
    assert warnings(checks.used_no_tools(agent="bto"), many) == ()


def test_no_agents_are_looked_for_where_no_check_names_one() -> None:
    names = NamesInRuns([checks.did_not_call("search")])
    names.add(BOT)
    assert names.warnings() == ()
    assert names._agent_runs == {}
