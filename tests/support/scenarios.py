"""What every framework is put through, and what each of the eleven checks must say about it.

`two`: get_weather(city="Paris") answers "Sunny", then book_hotel(city="Paris") fails with "no rooms left", then the agent says
"Sunny; booking failed.". `none`: it says "Hello there." and calls nothing. `cut`: the model was cut off in the middle of a call
of get_weather. `raised`: book_hotel raises with the default settings of the framework, which may end the run.
`remembers`: a conversation of two turns; the second is answered from what was said in the first.
"""

from __future__ import annotations

from collections.abc import Callable

from quickchecks import Run, Score, checks, run_evals_sync
from quickchecks._mocks import ToolMocks, mock_plan
from quickchecks.adapters import as_run

TWO = "Sunny; booking failed."
NONE = "Hello there."


def outcomes(value: object) -> dict[str, str]:
    """The outcome of each of the eleven checks, some of them asked twice so that both outcomes are seen."""
    return {check.identity: check.score(value).outcome for check in CHECKS}


CHECKS = (
    checks.includes("sunny"),
    checks.includes("hello there"),
    checks.excludes("no rooms left"),
    checks.equals(TWO),
    checks.equals(NONE),
    checks.matches(r"booking \w+\.$"),
    checks.similarity(TWO, threshold=0.99),
    checks.called_tool("get_weather"),
    checks.called_tool("book_hotel", times=2),
    checks.did_not_call("refund"),
    checks.did_not_call("book_hotel"),
    checks.tool_order(["get_weather", "book_hotel"]),
    checks.tool_order(["book_hotel", "get_weather"]),
    checks.max_tool_calls(2),
    checks.max_tool_calls(1),
    checks.used_no_tools(),
    checks.no_tool_errors(),
)

EXPECTED_TWO = {
    "includes('sunny')": "passed",
    "includes('hello there')": "failed",
    "excludes('no rooms left')": "passed",
    f"equals('{TWO}')": "passed",
    f"equals('{NONE}')": "failed",
    r"matches('booking \\w+\\.$')": "passed",
    f"similarity('{TWO}', threshold=0.99)": "passed",
    "called_tool('get_weather')": "passed",
    "called_tool('book_hotel', times=2)": "failed",
    "did_not_call('refund')": "passed",
    "did_not_call('book_hotel')": "failed",
    "tool_order(['get_weather', 'book_hotel'])": "passed",
    "tool_order(['book_hotel', 'get_weather'])": "failed",
    "max_tool_calls(2)": "passed",
    "max_tool_calls(1)": "failed",
    "used_no_tools()": "failed",
    "no_tool_errors()": "failed",
}

EXPECTED_NONE = {
    **dict.fromkeys(EXPECTED_TWO, "failed"),
    "includes('hello there')": "passed",
    "excludes('no rooms left')": "passed",
    f"equals('{NONE}')": "passed",
    "did_not_call('refund')": "passed",
    "did_not_call('book_hotel')": "passed",
    "max_tool_calls(2)": "passed",
    "max_tool_calls(1)": "passed",
    "used_no_tools()": "passed",
    "no_tool_errors()": "passed",
}

#: What holds of a run that ended when book_hotel raised, before the agent said anything more.
EXPECTED_RAISED = {
    "called_tool('get_weather')": "passed",
    "called_tool('book_hotel', times=2)": "failed",
    "did_not_call('refund')": "passed",
    "did_not_call('book_hotel')": "failed",
    "tool_order(['get_weather', 'book_hotel'])": "passed",
    "max_tool_calls(2)": "passed",
    "max_tool_calls(1)": "failed",
    "used_no_tools()": "failed",
    "no_tool_errors()": "failed",
    f"equals('{TWO}')": "failed",
}


def assert_two(value: object, *, city: str = "Paris") -> Run:
    """A run of `two`, complete: both calls with their arguments, what came of them, and the answer."""
    assert outcomes(value) == EXPECTED_TWO
    run = as_run(value)
    weather, hotel = run.tool_calls
    assert weather.name == "get_weather"
    assert isinstance(weather.arguments, dict)
    assert weather.arguments["city"] == city
    assert "Sunny" in str(weather.result)
    assert weather.failure() is None
    assert hotel.failure() is not None
    reason = checks.no_tool_errors().score(run).reason
    assert "book_hotel" in reason
    assert "get_weather" not in reason
    return run


def assert_none(value: object) -> Run:
    """A run of `none`."""
    assert outcomes(value) == EXPECTED_NONE
    return as_run(value)


def assert_raised(value: object) -> Run:
    """A run of `raised`: the failing call is there, and no check takes it for a success."""
    found = outcomes(value)
    assert {name: found[name] for name in EXPECTED_RAISED} == EXPECTED_RAISED
    run = as_run(value)
    assert "book_hotel" in checks.no_tool_errors().score(run).reason
    return run


def score(value: object, check: str) -> Score:
    """The score of one of the checks by its identity."""
    return next(one for one in CHECKS if one.identity == check).score(value)


def assert_mocks_find(converse: Callable[..., list[Run]], make: Callable[[], object], tool: str = "book_hotel") -> None:
    """A mock of a tool that the agent has and does not call is no trouble; one of a tool that nobody finds is."""
    for name, is_found in ((tool, True), ("fly", False)):
        mocks = ToolMocks(mock_plan([{"tool": name, "result": "mocked"}], "item"))
        [run] = converse(make(), "Hi", mocks=mocks)
        assert (mocks.trouble(run) == "") is is_found, name


def assert_kept_when_late(agent: object) -> None:
    """What an agent did before its time was over is kept: it called get_weather, and then something that takes too long."""
    [item] = run_evals_sync(["Plan"], agent, gates=[checks.called_tool("get_weather")], timeout=1.0).items
    assert item.error is not None
    assert (item.error.kind, item.scores) == ("timeout", ())
    assert item.run is not None
    assert item.run.tool_names == ("get_weather", "wait")
    assert [call.state == "completed" for call in item.run.tool_calls] == [True, False]
