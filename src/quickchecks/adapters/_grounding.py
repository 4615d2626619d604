"""What Google's models looked up themselves for an answer: searches and pages, which stand beside the words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from quickchecks._run import Gap, Message, ToolCall
from quickchecks.adapters._contents import named, take
from quickchecks.adapters._objects import plain
from quickchecks.adapters._shapes import as_mapping

__all__ = ("searches",)

#: Under which name the searches of a tool stand.
_QUERIES = {
    "web_search_queries": "google_search",
    "image_search_queries": "google_search",
    "retrieval_queries": "retrieval",
}
_UNSEEN = "the answer is grounded in sources, and the searches that found them are not recorded"


def searches(answer: Mapping[str, Any], messages: list[Message], begun: int) -> list[Gap]:
    """Put what the provider looked up before the words of the answer, as calls that it ran itself.

    Args:
        answer: The candidate, or the event, that holds what the answer is grounded in.
        messages: The messages that were read; the calls are put into the first of the answer.
        begun: Where those of the answer begin.

    Returns:
        The gap about searches that must have been and are not shown.
    """
    grounding = as_mapping(take(answer, "grounding_metadata"))
    pages = as_mapping(take(answer, "url_context_metadata"))
    if grounding is None and pages is None:
        return []
    own = messages[begun:]
    shown = (part for one in own for part in one.parts if type(part) is ToolCall and part.kind == "provider")
    if any(call.name != "code_execution" for call in shown):
        return []  # the parts show them
    made = [*_searched(grounding or {}), *_read_pages(pages or {})]
    if made and own:
        messages[begun] = replace(own[0], parts=(*made, *own[0].parts))
        return []
    if made or (grounding is not None and take(grounding, "grounding_chunks")):
        return [Gap("calls", _UNSEEN)]
    return []


def _searched(grounding: Mapping[str, Any]) -> Iterator[ToolCall]:
    for key, name in _QUERIES.items():
        queries = take(grounding, key)
        for query in queries if isinstance(queries, (list, tuple)) else ():
            yield ToolCall(name, {"query": plain(query)}, None, "completed", "provider")


def _read_pages(pages: Mapping[str, Any]) -> Iterator[ToolCall]:
    listed = take(pages, "url_metadata")
    for value in listed if isinstance(listed, (list, tuple)) else ():
        page = as_mapping(value) or {}
        status = named(take(page, "url_retrieval_status"))
        failed = status not in ("", "URL_RETRIEVAL_STATUS_SUCCESS", "URL_RETRIEVAL_STATUS_UNSPECIFIED")
        url = plain(take(page, "retrieved_url"))
        yield ToolCall("url_context", {"url": url}, None, "failed" if failed else "completed", "provider")
