"""Whose conversation a list of messages is: the marks that formats leave on messages with roles."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any, Literal

from quickchecks._run import Message, Role
from quickchecks.adapters._shapes import as_mapping

__all__ = (
    "LOOK_AT",
    "RESPONSE_ITEMS",
    "ROLES",
    "UNTYPED_CALLS",
    "dialect",
    "is_conversation",
    "is_foreign_call",
    "is_haystack_message",
    "is_message",
)

#: The roles of chat messages, and what they are called here. "function" is the old name of "tool".
ROLES: dict[str, Role] = {
    "assistant": "assistant",
    "developer": "system",
    "function": "tool",
    "system": "system",
    "tool": "tool",
    "user": "user",
}

#: So many elements say whether a long list may be a conversation: an answer of a million numbers need not be read for it.
LOOK_AT = 50

#: Parts without a `type` that are calls or results in the formats of Bedrock, Gemini and Haystack.
UNTYPED_CALLS = frozenset(
    (
        *("toolUse", "toolResult", "functionCall", "functionResponse", "function_call", "function_response"),
        *("tool_call", "tool_call_result"),
    )
)


_ANSWERED_CALLS = (
    "apply_patch_call",
    "computer_call",
    "custom_tool_call",
    "function_call",
    "local_shell_call",
    "shell_call",
)
#: Kinds of item that OpenAI's Responses API has beside messages. They have no role.
RESPONSE_ITEMS = frozenset(
    (
        *(f"{name}{end}" for name in _ANSWERED_CALLS for end in ("", "_output")),
        "code_interpreter_call",
        "compaction",
        "file_search_call",
        "image_generation_call",
        "item_reference",
        "mcp_approval_request",
        "mcp_approval_response",
        "mcp_call",
        "mcp_list_tools",
        "reasoning",
        "tool_search_call",
        "tool_search_output",
        "web_search_call",
    )
)

#: Parts about calls that are neither calls nor results.
_APPROVALS = frozenset(("tool-approval-request", "tool-approval-response"))


def is_conversation(value: Any) -> bool:
    """Whether a value is a list of messages of some format: a list that holds objects with a role."""
    return isinstance(value, (list, tuple)) and any(
        type(item.get("role")) is str for item in map(as_mapping, islice(value, LOOK_AT)) if item is not None
    )


def is_message(value: Any) -> bool:
    """Whether a value is one message by itself, of whatever format."""
    return isinstance(value, Mapping) and value.get("role") in (*ROLES, "model") and ("content" in value or "parts" in value)


def dialect(messages: Any) -> Literal["chat", "reference", "responses", "other", ""]:
    """Say whose list of messages this is, by the marks that a format leaves on them.

    Returns:
        "chat" for OpenAI's shape, also for the least that any format has (roles and text); "reference" for messages with
        `content.parts` or tool invocations; "responses" for one in which items without a role are calls, results or thoughts as
        OpenAI's Responses API has them; "other" for a conversation that carries calls in a shape that neither has;
        "" when it is no conversation.
    """
    if not isinstance(messages, (list, tuple)):
        return ""
    found: Literal["chat", "reference", "other", ""] = ""
    strangers = 0
    for item in messages:
        # Words of somebody, which nearly all messages are, bear no mark.
        if type(item) is dict and type(item.get("content")) is str and "tool_calls" not in item and "parts" not in item:
            if not found and type(role := item.get("role")) is str and role in ROLES:
                found = "chat"
            if found:
                continue
        if type(item) is not dict and _is_of_a_provider(item):
            return "other"
        message = item if type(item) is dict else as_mapping(item)
        if message is None:
            if type(item) is Message:
                return ""
            strangers += 1
            if strangers > LOOK_AT and not found:
                return ""
            continue
        if "role" not in message and "type" in message and type(kind := message["type"]) is str and kind in RESPONSE_ITEMS:
            return "responses"
        content = message.get("content")
        if content is not None and type(content) is not str and type(role := message.get("role")) is str:
            mark = "other" if is_haystack_message(message) else _mark_of_content(content, role)
            if mark == "reference" or (mark == "text" and not any(map(_is_chat_only, messages))):
                return "reference"
            found = "other" if mark else found
        if _has_parts(message, content):
            found = "other"
        calls = message.get("tool_calls")
        if calls and type(calls) is list and type(calls[0]) is dict and type(calls[0].get("function")) is str:
            found = "other"  # AgentDojo names the function directly and gives the arguments beside it
        if not found:
            role = message.get("role")
            if type(role) is str and role in ROLES:
                found = "chat"
    return found


_HAYSTACK_KEYS = frozenset(("role", "meta", "name", "content"))


def is_haystack_message(message: Any) -> bool:
    """Whether a message is one that Haystack wrote: always with the same four keys, the content a list of parts."""
    return type(message) is dict and message.keys() == _HAYSTACK_KEYS and type(message["content"]) is list


def _has_parts(message: Mapping[str, Any], content: Any) -> bool:
    """Whether what a message holds stands under the names that Gemini, LlamaIndex and Microsoft's framework have for it."""
    if "parts" in message:
        return type(message["parts"]) is list and type(message.get("role")) is str
    return content is None and list in (type(message.get("blocks")), type(message.get("contents")))


def _is_chat_only(message: Any) -> bool:
    """Whether a message has calls or a result as OpenAI's has them, and the reference's never."""
    return type(message) is dict and any(map(message.get, ("tool_calls", "tool_call_id", "function_call")))


def _mark_of_content(content: Any, role: str) -> Literal["reference", "text", "other", ""]:
    """The mark that content which is more than text bears. What a tool returned may be any object, and marks nothing.

    "text" is that of an object with words only: where nothing speaks against it, it is the reference's.
    """
    if type(content) is dict:
        if role in ("tool", "function"):
            return ""
        if list in (type(content.get("parts")), type(content.get("toolInvocations"))) or type(content.get("format")) is int:
            return "reference"
        if role != "assistant":
            return ""
        return "text" if type(content.get("text", content.get("content"))) is str else "other"
    mark: Literal["other", ""] = ""
    if type(content) is list:
        for part in content:
            if type(part) is dict and is_foreign_call(part):
                if part.get("type") == "tool-invocation" and role == "assistant":
                    return "reference"
                mark = "other"
            elif type(part) is not dict and _is_of_a_provider(part):
                mark = "other"
    return mark


def _is_of_a_provider(value: Any) -> bool:
    """Whether a value is an object of an SDK whose messages have roles and text as OpenAI's do, and are a format of their own."""
    return type(value).__module__.startswith(("anthropic.", "langchain_core."))


def is_foreign_call(part: Mapping[str, Any]) -> bool:
    """Whether a part of a message is a call or a result in the manner of another format."""
    kind = part.get("type")
    if type(kind) is str:
        if kind.startswith("data-") or kind in _APPROVALS:
            return False
        return "tool" in kind or "function" in kind or kind.endswith("_call")
    return kind is None and not UNTYPED_CALLS.isdisjoint(part)
