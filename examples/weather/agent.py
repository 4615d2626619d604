"""A weather agent with real tools, scripted instead of asked of a model, so that it answers the same each time.

`careful` says so when it does not know; `hasty` guesses, and puts the weather in its own words.
"""

from __future__ import annotations

import re
from collections.abc import Callable

WEATHER = {
    "Brooklyn": ("sunny", 72),
    "Lisbon": ("sunny", 81),
    "London": ("cloudy", 57),
    "Oslo": ("snowy", 27),
    "Tokyo": ("rainy", 64),
}


def get_weather(city: str) -> dict[str, object]:
    """Look the weather of a city up."""
    if city not in WEATHER:
        raise LookupError(f"there is no weather station in {city!r}")
    sky, degrees = WEATHER[city]
    return {"city": city, "sky": sky, "fahrenheit": degrees}


def summarize(report: dict[str, object]) -> str:
    """Put a report of `get_weather` into a sentence."""
    return f"It is {report['sky']} and {report['fahrenheit']}°F in {report['city']}."


class Calls:
    """The calls of one answer, in the form of the answer."""

    def __init__(self) -> None:
        self.made: list[dict[str, object]] = []

    def call(self, tool: Callable[..., object], **arguments: object) -> object:
        """Call a tool; gives None where it fails."""
        made: dict[str, object] = {"name": tool.__name__, "arguments": arguments}
        self.made.append(made)
        try:
            made["result"] = tool(**arguments)
        except LookupError as error:
            made["error"] = str(error)
        return made.get("result")


def careful(question: str) -> dict[str, object]:
    """Answer a question with what the tools say."""
    calls = Calls()
    city = city_of(question)
    if city is None:
        return {"text": "I know about the weather. Which city do you mean?", "tool_calls": []}
    report = calls.call(get_weather, city=city)
    if report is None:
        return {"text": f"I do not know the weather in {city}.", "tool_calls": calls.made}
    return {"text": str(calls.call(summarize, report=report)), "tool_calls": calls.made}


def hasty(question: str) -> dict[str, object]:
    """Answer a question somehow."""
    calls = Calls()
    city = city_of(question) or "Brooklyn"
    report = calls.call(get_weather, city=city)
    sky = report["sky"] if isinstance(report, dict) else "probably sunny"
    return {"text": f"It is {sky} in {city}.", "tool_calls": calls.made}


def city_of(question: str) -> str | None:
    """The city that a question names."""
    found = re.search(r"\bin ([A-Z]\w+)", question)
    return found[1] if found else None
