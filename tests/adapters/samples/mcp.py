"""Results of MCP tools, in the spelling of either version of the SDK, and one that uses most of what the format has."""

from __future__ import annotations

from typing import Any

from foreign import foreign

TEXT = {"type": "text", "text": "Sunny"}


def result(module: str, **fields: Any) -> Any:
    """An object of the SDK, which shows itself as a dict as pydantic's models do."""
    return foreign(f"{module}:CallToolResult", model_dump=lambda **options: fields)


SAMPLES: list[Any] = [
    {"content": [TEXT], "isError": False},
    {"content": [TEXT], "is_error": True},
    {"content": [], "structuredContent": {"result": 5}},
    {"content": [TEXT], "structured_content": None, "is_error": False, "meta": None},
    result("mcp.types", content=[TEXT], isError=False),
    result("mcp_types._types", content=[TEXT], is_error=True),
]

VALID: Any = {
    "content": [TEXT, {"type": "image", "data": "", "mimeType": "image/png"}, {"type": "resource", "resource": {"text": "x"}}],
    "structuredContent": {"city": "Paris"},
    "isError": True,
    "_meta": {"a": 1},
}
