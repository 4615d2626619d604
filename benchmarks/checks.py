"""What a check costs: five checks on a fresh run, and similarity, beside hand-written code that does the same.

    python benchmarks/checks.py

Prints the median of alternating rounds, in microseconds, and the ratio to the hand-written floor measured in the same
run. "Fresh" means a Run that nothing was asked of yet; its messages are made before, as loading made them (loading is
measured in loading.py).
"""

from __future__ import annotations

import random
import re
import statistics
import time
from collections.abc import Callable

from quickchecks import checks
from quickchecks._run import Message, Run, Text, ToolCall

WORDS = """the order was found in our records and the customer asked about shipping status while the warehouse reported
a delay because the carrier scanned the package late please allow two more business days before we issue a refund""".split()
TOOLS = ["search_orders", "get_order", "check_policy", "issue_refund", "send_email"]


def words(count: int, seed: int) -> str:
    """A text of about this many characters."""
    random.seed(seed)
    text = ""
    while len(text) < count:
        text += random.choice(WORDS) + " "
    return text[:count]


def messages(extra: str = "") -> tuple[Message, ...]:
    """Eight messages, five calls, 2 KB of answer."""
    calls = [ToolCall(tool, '{"query": "order"}', f"call_{i}", result=words(150, i)) for i, tool in enumerate(TOOLS)]
    made = [Message("system", (Text(words(200, 8)),)), Message("user", (Text("Where is my order? I want a refund."),))]
    made += [Message("assistant", (Text(words(200, i)), call)) for i, call in enumerate(calls)]
    made.append(Message("assistant", (Text(words(950, 9) + extra + " Your order #48213-QX is refunded. FINAL Answer: done."),)))
    return tuple(made)


class FloorRun:
    """The floor: a run that keeps its text, its lower-cased text and its tool names."""

    __slots__ = ("_low", "_text", "_tools", "messages")

    def __init__(self, made: tuple[Message, ...]) -> None:
        self.messages = made
        self._text: str | None = None
        self._low: str | None = None
        self._tools: list[str] | None = None

    @property
    def text(self) -> str:
        if self._text is None:
            said = [p.text for m in self.messages if m.role == "assistant" for p in m.parts if type(p) is Text]
            self._text = " ".join(said)
        return self._text

    @property
    def low(self) -> str:
        if self._low is None:
            self._low = self.text.lower()
        return self._low

    @property
    def tools(self) -> list[str]:
        if self._tools is None:
            self._tools = [p.name for m in self.messages if m.role == "assistant" for p in m.parts if type(p) is ToolCall]
        return self._tools


class FloorScore:
    """The floor: a result object."""

    __slots__ = ("name", "passed", "value")

    def __init__(self, name: str, passed: bool) -> None:
        self.name = name
        self.passed = passed
        self.value = 1.0 if passed else 0.0


def floor(text: str) -> Callable[[FloorRun], list[FloorScore]]:
    """The floor: five checks by hand."""
    search = re.compile(r"order #\d{5}-[A-Z]{2}").search
    whole = text.lower()

    def score(run: FloorRun) -> list[FloorScore]:
        called = iter(run.tools)
        return [
            FloorScore("includes", "final answer" in run.low),
            FloorScore("matches", search(run.text) is not None),
            FloorScore("equals", whole == run.low),
            FloorScore("called_tool", run.tools.count("check_policy") >= 1),
            FloorScore("tool_order", all(tool in called for tool in ("search_orders", "check_policy", "send_email"))),
        ]

    return score


def timed(function: Callable[[], object], rounds: int = 2000) -> float:
    """Microseconds a call."""
    start = time.perf_counter()
    for _ in range(rounds):
        function()
    return (time.perf_counter() - start) / rounds * 1e6


def compare(cases: dict[str, Callable[[], object]], rounds: int = 15) -> dict[str, float]:
    """Medians over alternating rounds."""
    taken: dict[str, list[float]] = {name: [] for name in cases}
    for _ in range(rounds):
        for name, function in cases.items():
            taken[name].append(timed(function))
    return {name: statistics.median(times) for name, times in taken.items()}


def five(made: tuple[Message, ...]) -> tuple[Callable[[], object], Callable[[], object]]:
    """Five checks of the library, and the floor, both on a fresh run of the same messages."""
    text = Run(made).spoken_closed_up.raw
    suite = [
        checks.includes("final answer"),
        checks.matches(r"order #\d{5}-[A-Z]{2}"),
        checks.equals(text),
        checks.called_tool("check_policy"),
        checks.tool_order(["search_orders", "check_policy", "send_email"]),
    ]
    by_hand = floor(" ".join(part.text for m in made if m.role == "assistant" for part in m.parts if type(part) is Text))

    def ours() -> object:
        run = Run(made)
        return [check.score(run) for check in suite]

    scores = [check.score(Run(made)) for check in suite]
    assert all(score.passed for score in scores), scores
    assert all(score.passed for score in by_hand(FloorRun(made)))
    return ours, lambda: by_hand(FloorRun(made))


def main() -> None:
    """Measure and print."""
    ascii_ours, ascii_floor = five(messages())
    other_ours, other_floor = five(messages(" Zürich — 72°F, naïve café. Заказ найден. 訂單已找到。"))
    wanted = checks.similarity(words(500, 3))
    alike = (Message("assistant", (Text(words(480, 3) + " and then some more"),)),)
    found = compare(
        {
            "five checks, fresh run, ASCII": ascii_ours,
            "  floor": ascii_floor,
            "five checks, fresh run, non-ASCII": other_ours,
            "  floor, non-ASCII": other_floor,
            "similarity, 500 characters": lambda: wanted.score(Run(alike)),
        }
    )
    for name, taken in found.items():
        print(f"{name:36} {taken:7.2f} us")
    print(f"ASCII: {found['five checks, fresh run, ASCII'] / found['  floor']:.2f} x the floor")


if __name__ == "__main__":
    main()
