"""Loading OpenAI chat JSON Lines beside msgspec decoding the same lines untyped.

    python benchmarks/loading.py [megabytes] [rounds]

The lines are made here, from a fixed seed: runs of a handful of turns with parallel calls, results that are text or JSON,
failures, and an answer, a few kilobytes each. Both readers go over the same file in turn, so that a busy machine slows both.
"""

from __future__ import annotations

import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from quickchecks import load_runs

WORDS = (
    "the a of to in it is for on with that this from one two every about after again order weather parcel invoice harbour "
    "ticket customer window summary delay refund north valley careful quickly maybe"
).split()
#: One word in eighty is one of these: escapes and characters beyond ASCII, as answers have them.
ODD_WORDS = ("café", "Zürich", "naïve", "—", "“quoted”", "東京", "€42", "🚀", "\n\n", "\t-", '"literal"', "C:\\temp")
TOOLS = ("search_orders", "get_weather", "read_page", "send_mail", "book_table", "convert_currency")
FAILURES = ("timed out", "no such order", "not allowed")


def words(draw: random.Random, count: int) -> str:
    chosen = draw.choices(WORDS, k=count)
    if draw.random() < count / 80:
        chosen[draw.randrange(count)] = draw.choice(ODD_WORDS)
    return " ".join(chosen)


def result_of(draw: random.Random, call: dict[str, object], name: str) -> dict[str, object]:
    """A tool message: mostly text or rows, one in fifteen a failure."""
    message: dict[str, object] = {"role": "tool", "tool_call_id": call["id"], "name": name, "status": "success"}
    if draw.random() < 1 / 15:
        return {**message, "content": json.dumps({"error": draw.choice(FAILURES)}), "status": "error"}
    if draw.random() < 0.5:
        return {**message, "content": words(draw, draw.randrange(15, 200))}
    rows = [
        {"id": draw.randrange(9999), "name": words(draw, 2), "score": round(draw.random(), 4)}
        for _ in range(draw.randrange(1, 9))
    ]
    return {**message, "content": json.dumps({"rows": rows, "total": len(rows)})}


def run_of(draw: random.Random, number: int) -> dict[str, object]:
    messages: list[dict[str, object]] = [
        {"role": "system", "content": "Help the customer. " + words(draw, draw.randrange(20, 90))},
        {"role": "user", "content": words(draw, draw.randrange(8, 60))},
    ]
    for turn in range(draw.randrange(2, 7)):
        asked: list[dict[str, object]] = []
        names = draw.choices(TOOLS, k=1 if draw.random() < 0.75 else 2)
        for name in names:
            arguments = json.dumps({"query": words(draw, draw.randrange(3, 24)), "limit": draw.randrange(50)})
            function = {"name": name, "arguments": arguments}
            asked.append({"id": f"call_{number:x}_{turn}_{len(asked)}", "type": "function", "function": function})
        said = None if draw.random() < 0.6 else words(draw, draw.randrange(4, 24))
        messages.append({"role": "assistant", "content": said, "tool_calls": asked})
        messages += [result_of(draw, call, name) for call, name in zip(asked, names, strict=True)]
    messages.append({"role": "assistant", "content": words(draw, draw.randrange(30, 300))})
    usage = {"prompt_tokens": draw.randrange(9000), "completion_tokens": draw.randrange(900)}
    return {
        "id": f"run_{number:08x}",
        "model": "some-model",
        "created": 1_760_000_000 + number,
        "messages": messages,
        "usage": usage,
    }


def write(path: Path, megabytes: float) -> int:
    """Write about so many megabytes of runs, and give their number."""
    draw = random.Random(20261130)
    count = size = 0
    with path.open("wb") as file:
        while size < megabytes * 1e6:
            line = json.dumps(run_of(draw, count), ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
            size += file.write(line)
            count += 1
    return count


def seconds(action: Callable[[], object]) -> float:
    begun = time.perf_counter()
    action()
    return time.perf_counter() - begun


def main(megabytes: float = 25, rounds: int = 7) -> None:
    decode = msgspec.json.Decoder().decode
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "runs.jsonl"
        count = write(path, megabytes)
        size = path.stat().st_size / 1e6

        def decoded() -> None:
            with path.open("rb") as lines:
                for line in lines:
                    decode(line)

        def loaded() -> None:
            for _ in load_runs(path):
                pass

        decoded()
        loaded()
        times = [(seconds(decoded), seconds(loaded)) for _ in range(rounds)]
    floor, ours = (statistics.median(column) for column in zip(*times, strict=True))
    ratio = statistics.median(loading / decoding for decoding, loading in times)
    print(f"{count} runs, {size:.1f} MB, {rounds} rounds in turn, medians")
    print(f"msgspec, untyped   {size / floor:6.0f} MB/s  {floor / count * 1e6:6.1f} µs a run")
    print(f"load_runs          {size / ours:6.0f} MB/s  {ours / count * 1e6:6.1f} µs a run")
    print(f"ratio              {ratio:6.2f}  (median of the rounds; at most 2.5)")


if __name__ == "__main__":
    main(*(float(one) if at == 0 else int(one) for at, one in enumerate(sys.argv[1:3])))  # type: ignore[arg-type]
