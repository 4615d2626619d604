"""Objects that look like those of the OpenAI Agents SDK."""

from __future__ import annotations

from typing import Any

from foreign import foreign, foreign_class

BASE = foreign_class("agents.result:RunResultBase")

SAMPLES: list[Any] = [
    foreign("agents.result:RunResult", BASE, input="q", new_items=[], raw_responses=[], final_output="x"),
    foreign("agents.result:RunResultStreaming", BASE, input="q", new_items=[], is_complete=True),
    foreign("agents.exceptions:RunErrorDetails", input="q", new_items=[]),
    foreign_class("agents.exceptions:AgentsException", Exception)(),
]
