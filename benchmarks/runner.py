"""What the runner costs beside the target and the checks: items that answer at once, items that sleep, a whole process.

    python benchmarks/runner.py

Everything is measured in one run with its floor (one asyncio task an item behind a semaphore, a result object a check) and,
where it is installed, pydantic-evals, in turns; medians are printed. The limits: 40 µs an item at 10,000 items and linear
from 1,000 to 50,000; 4 KB an item beyond the runs; 1.10 of the ideal time when items sleep; 1.7 of the floor for a whole
process of 100 items.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import statistics
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import checks as single

from quickchecks import Run, checks, run_evals

MESSAGES = single.messages()
TEXT = Run(MESSAGES).text
TOOLS = list(Run(MESSAGES).tool_names)
SLEEP = 0.05


def suite() -> list[object]:
    """Five checks that pass."""
    return [
        checks.includes("final answer"),
        checks.excludes("password"),
        checks.matches(r"order #\d{5}-[A-Z]{2}"),
        checks.called_tool("check_policy"),
        checks.tool_order(["search_orders", "check_policy", "send_email"]),
    ]


async def answer(asked: object) -> Run:
    """A target that answers at once."""
    return Run(MESSAGES)


async def answer_late(asked: object) -> Run:
    """A target that takes 50 ms."""
    await asyncio.sleep(SLEEP)
    return Run(MESSAGES)


async def ours(count: int, target: Callable[[object], Awaitable[Run]], concurrency: int) -> object:
    """An evaluation with the library, a timeout set."""
    data = [{"input": "q"} for _ in range(count)]
    result = await run_evals(data, target, suite(), concurrency=concurrency, timeout=60, progress=False)
    assert len(result.items) == count
    assert all(score.passed for score in result.items[-1].scores)
    return result


@dataclass(slots=True)
class FloorScore:
    name: str
    value: float
    reason: str | None
    seconds: float


@dataclass(slots=True)
class FloorItem:
    number: int
    output: object
    scores: list[FloorScore]
    seconds: float
    error: str | None


async def floor(count: int, sleep: float, concurrency: int) -> object:
    """A task an item, by hand."""
    import re

    search = re.compile(r"order #\d{5}-[A-Z]{2}").search
    order = ("search_orders", "check_policy", "send_email")
    predicates: dict[str, Callable[[str, list[str]], bool]] = {
        "includes": lambda text, tools: "final answer" in text.lower(),
        "excludes": lambda text, tools: "password" not in text.lower(),
        "matches": lambda text, tools: search(text) is not None,
        "called": lambda text, tools: tools.count("check_policy") >= 1,
        "order": lambda text, tools: (lambda called: all(tool in called for tool in order))(iter(tools)),
    }
    semaphore = asyncio.Semaphore(concurrency)
    clock = time.perf_counter

    async def target(asked: object) -> tuple[str, list[str]]:
        if sleep:
            await asyncio.sleep(sleep)
        return TEXT, TOOLS

    async def one(number: int) -> FloorItem:
        async with semaphore:
            start = clock()
            text, tools = await target(number)
            taken = clock() - start
            scores = []
            for name, predicate in predicates.items():
                begun = clock()
                scores.append(FloorScore(name, float(predicate(text, tools)), None, clock() - begun))
            return FloorItem(number, (text, tools), scores, taken, None)

    return await asyncio.gather(*(one(number) for number in range(count)))


async def pydantic_evals(count: int, sleep: float, concurrency: int) -> object:
    """The same with pydantic-evals."""
    from pydantic_evals import Case, Dataset
    from pydantic_evals.evaluators import Evaluator, EvaluatorContext

    def of(predicate: Callable[[str, list[str]], bool], name: str) -> object:
        class One(Evaluator):
            def evaluate(self, ctx: EvaluatorContext) -> bool:
                return predicate(ctx.output["text"], ctx.output["tools"])

        One.__name__ = One.__qualname__ = name
        return dataclass(One)()

    import re

    search = re.compile(r"order #\d{5}-[A-Z]{2}").search

    async def target(asked: object) -> dict[str, object]:
        if sleep:
            await asyncio.sleep(sleep)
        return {"text": TEXT, "tools": TOOLS}

    evaluators = [
        of(lambda text, tools: "final answer" in text.lower(), "Includes"),
        of(lambda text, tools: "password" not in text.lower(), "Excludes"),
        of(lambda text, tools: search(text) is not None, "Matches"),
        of(lambda text, tools: tools.count("check_policy") >= 1, "Called"),
        of(lambda text, tools: tools[0] == "search_orders", "Order"),
    ]
    cases = [Case(name=f"c{number}", inputs="q") for number in range(count)]
    dataset = Dataset(name="d", cases=cases, evaluators=evaluators)
    return await dataset.evaluate(target, max_concurrency=concurrency, progress=False)


def seconds(work: Callable[[], Awaitable[object]]) -> float:
    """How long one evaluation takes, its result freed before."""
    gc.collect()
    start = time.perf_counter()
    asyncio.run(work())  # type: ignore[arg-type]
    return time.perf_counter() - start


def median(work: Callable[[], Awaitable[object]], rounds: int = 3) -> float:
    """The median of a few evaluations."""
    return statistics.median(seconds(work) for _ in range(rounds))


def memory(count: int) -> float:
    """Bytes an item that a result keeps beyond its runs."""
    gc.collect()
    tracemalloc.start()
    runs = [Run(MESSAGES) for _ in range(count)]
    of_runs = tracemalloc.get_traced_memory()[0]
    del runs
    gc.collect()
    before = tracemalloc.get_traced_memory()[0]
    kept = asyncio.run(ours(count, answer, 10))
    gc.collect()
    of_result = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert kept is not None
    return (of_result - of_runs) / count


def process(code: str) -> float:
    """The median time of a whole process, in seconds."""
    taken = []
    for _ in range(9):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True, cwd=sys.path[0])
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


WHOLE_FLOOR = """
import asyncio, time, re, json
from dataclasses import dataclass
@dataclass(slots=True)
class Score: name: str; value: float; reason: str | None; seconds: float
@dataclass(slots=True)
class Item: number: int; output: object; scores: list; seconds: float; error: str | None
TEXT, TOOLS = json.loads({data!r})
search = re.compile(r"order #\\d{{5}}-[A-Z]{{2}}").search
CHECKS = dict(includes=lambda t, u: "final answer" in t.lower(), excludes=lambda t, u: "password" not in t.lower(),
              matches=lambda t, u: search(t) is not None, called=lambda t, u: u.count("check_policy") >= 1,
              order=lambda t, u: (lambda it: all(o in it for o in ("search_orders", "check_policy", "send_email")))(iter(u)))
async def target(x): return TEXT, TOOLS
async def main():
    sem = asyncio.Semaphore(10); pc = time.perf_counter
    async def one(i):
        async with sem:
            t0 = pc(); t, u = await target(i); dt = pc() - t0; rs = []
            for k, f in CHECKS.items():
                t1 = pc(); s = float(f(t, u)); rs.append(Score(k, s, None, pc() - t1))
            return Item(i, (t, u), rs, dt, None)
    return await asyncio.gather(*(one(i) for i in range(100)))
assert all(s.value for item in asyncio.run(main()) for s in item.scores)
"""

WHOLE_OURS = """
import asyncio, json
from quickchecks import checks, run_evals
TEXT, TOOLS = json.loads({data!r})
CALLS = [{{"id": name, "type": "function", "function": {{"name": name, "arguments": "{{}}"}}}} for name in TOOLS]
async def target(x): return [{{"role": "assistant", "content": TEXT, "tool_calls": CALLS}}]
result = asyncio.run(run_evals([{{"input": "q"}} for _ in range(100)], target, [
    checks.includes("final answer"), checks.excludes("password"), checks.matches(r"order #\\d{{5}}-[A-Z]{{2}}"),
    checks.called_tool("check_policy"), checks.tool_order(["search_orders", "check_policy", "send_email"])], concurrency=10))
assert all(value == 1 for value in result.scores.values()), result.scores
"""


def main() -> None:
    """Measure and print."""
    try:
        import pydantic_evals as peer  # noqa: F401

        has_peer = True
    except ImportError:
        has_peer = False

    subprocess.run([sys.executable, "-m", "compileall", "-qq", *filter(os.path.isdir, sys.path[1:])], check=False)
    asyncio.run(ours(100, answer, 10))
    by_hand = median(lambda: floor(10_000, 0, 10)) / 10_000 * 1e6
    print("items that answer at once, five checks, concurrency 10")
    for count in (1_000, 10_000, 50_000):
        taken = median(lambda count=count: ours(count, answer, 10)) / count * 1e6  # type: ignore[misc]
        print(f"  {count:>6} items   {taken:6.1f} us an item   {taken / by_hand:.1f} x the floor of {by_hand:.1f}")
    if has_peer:
        taken = seconds(lambda: pydantic_evals(1_000, 0, 10)) / 1_000 * 1e6
        print(f"  pydantic-evals  {taken:6.1f} us an item")
    print(f"  memory          {memory(10_000) / 1024:6.2f} KB an item beyond the runs")

    print("1,000 items that take 50 ms, concurrency 100")
    ideal = 1_000 / 100 * SLEEP
    print(f"  quickchecks     {median(lambda: ours(1_000, answer_late, 100)) / ideal:6.2f} x the ideal time")
    print(f"  floor           {median(lambda: floor(1_000, SLEEP, 100)) / ideal:6.2f} x")
    if has_peer:
        print(f"  pydantic-evals  {median(lambda: pydantic_evals(1_000, SLEEP, 100)) / ideal:6.2f} x")

    data = json.dumps([TEXT, TOOLS])
    print("a whole process, 100 items")
    print(f"  {process(WHOLE_OURS.format(data=data)) / process(WHOLE_FLOOR.format(data=data)):.2f} x the floor")


if __name__ == "__main__":
    main()
