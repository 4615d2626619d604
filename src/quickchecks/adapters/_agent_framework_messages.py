"""The messages of the Microsoft Agent Framework, and the contents that they hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import force_setattr

from quickchecks._run import Gap, Message, Other, Part, Reasoning, Role, Run, Text, ToolCall, ToolError, ToolResult
from quickchecks.adapters._objects import field, plain
from quickchecks.adapters._pairing import Pairing, complete
from quickchecks.adapters._shapes import expected, join, text_id

__all__ = ("MessageReader",)

_ROLES: dict[str, Role] = {"assistant": "assistant", "developer": "system", "system": "system", "tool": "tool", "user": "user"}
#: Calls that the provider runs itself, and where each keeps what it was called with.
_HOSTED = {
    "code_interpreter_tool_call": "inputs",
    "computer_tool_call": "actions",
    "image_generation_tool_call": "arguments",
    "mcp_server_tool_call": "arguments",
    "search_tool_call": "arguments",
    "shell_tool_call": "commands",
}
_HOSTED_RESULTS = {
    "code_interpreter_tool_result": "outputs",
    "computer_tool_result": "screenshot",
    "image_generation_tool_result": "outputs",
    "mcp_server_tool_result": "output",
    "search_tool_result": "result",
    "shell_tool_result": "outputs",
}
#: Contents that are neither words nor calls.
_SILENT = frozenset(
    ("data", "error", "hosted_file", "hosted_vector_store", "oauth_consent_request", "shell_command_output", "uri", "usage")
)


class MessageReader:
    """Reads the messages of one run."""

    def __init__(self) -> None:
        self._pairing = Pairing()
        #: How many of the calls wait for results.
        self._noted = 0
        self.messages: list[Message] = []
        self.calls: list[ToolCall] = []
        self.gaps: list[Gap] = []

    def run(self) -> Run:
        """The run so far."""
        agents = list(dict.fromkeys(message.agent for message in self.messages if message.agent))
        return Run(tuple(self.messages), agent=agents[0] if agents else None, gaps=tuple(self.gaps))

    def read(self, messages: Any, path: str) -> None:
        """Read a list of messages.

        Args:
            messages: The list, as it came.
            path: Where it stands inside the record.

        Raises:
            RecordingError: A message is malformed; the path says which.
        """
        if not isinstance(messages, (list, tuple)):
            raise expected("a list of messages", messages, path)
        for number, message in enumerate(messages):
            self._message(message, f"{path}[{number}]")

    def _message(self, message: Any, path: str) -> None:
        role = field(message, "role")
        role = field(role, "value", role)
        known = _ROLES.get(role) if isinstance(role, str) else None
        if known is None:
            raise expected(f"one of the roles {', '.join(_ROLES)}", role, join(path, "role"))
        contents = field(message, "contents")
        if not isinstance(contents, (list, tuple)):
            raise expected("a list of contents", contents, join(path, "contents"))
        parts: list[Part] = []
        for at, content in enumerate(contents):
            parts += self._content(content, f"{join(path, 'contents')}[{at}]", known)
        self._await_results()
        author = field(message, "author_name")
        if parts or known != "tool":
            agent = author if isinstance(author, str) and author and known == "assistant" else None
            self.messages.append(Message(known, tuple(parts), agent))

    def _await_results(self) -> None:
        """Calls of the provider stand in one message with their results."""
        if len(self.calls) > self._noted:
            self._pairing.begin(self.calls[self._noted :])
        self._noted = len(self.calls)

    def _content(self, content: Any, path: str, role: Role) -> list[Part]:
        kind = field(content, "type")
        if isinstance(content, str):
            return [Text(content)] if content else []
        if not isinstance(kind, str):
            raise expected("a content, that is an object with a type", content, path)
        if kind in ("text", "text_reasoning"):
            said = field(content, "text")
            if said is not None and not isinstance(said, str):
                raise expected("text", said, join(path, "text"))
            return ([Text(said)] if kind == "text" else [Reasoning(said)]) if said else []
        if kind == "function_result" or kind in _HOSTED_RESULTS:
            return self._result(content, kind)
        if kind == "function_approval_response":
            self._approval(content)
            return []
        if kind == "function_approval_request":
            return self._waiting(content, path)
        if kind == "function_call" or kind in _HOSTED:
            if role != "assistant":
                return [Other(kind, plain(_shown(content)))]  # what the agent did not do is no call of its
            return [self._call(content, kind, path)]
        if kind not in _SILENT and role == "assistant":
            self.gaps.append(Gap("calls", f"a content of the unknown kind {kind[:40]!r} may be a call"))
        return [Other(kind, plain(_shown(content)))]

    def _call(self, content: Any, kind: str, path: str) -> ToolCall:
        hosted = kind in _HOSTED
        name = field(content, "tool_name") or kind.removesuffix("_tool_call") if hosted else field(content, "name")
        if not isinstance(name, str) or not name:
            raise expected("the name of the tool", name, join(path, "name"))
        arguments = plain(field(content, _HOSTED.get(kind, "arguments")))
        if hosted and arguments is not None and not isinstance(arguments, (str, dict)):
            arguments = {_HOSTED[kind]: arguments}
        provider = hosted or field(content, "hosted") is True or field(content, "informational_only") is True
        call = ToolCall(name, arguments, _id(content), "requested", "provider" if provider else "tool", errors_shown_in="text")
        if isinstance(server := field(content, "server_name"), str):
            force_setattr(call, "metadata", {"server": server})
        self.calls.append(call)
        return call

    def _result(self, content: Any, kind: str) -> list[Part]:
        result = plain(_plain_result(field(content, _HOSTED_RESULTS.get(kind, "result"))))
        raised = field(content, "exception")
        error: ToolError | None = None
        if raised is not None and raised is not False:
            said = result if isinstance(result, str) else ""
            # What is stored of an exception is its class alone; in memory it is the message, which may be a word such as "full".
            stored = isinstance(raised, str) and raised.isidentifier() and not raised.islower()
            error = ToolError(said, raised) if stored else ToolError(str(raised))
        self._await_results()
        id = _id(content)
        call = self._pairing.find(id, None)
        if call is None:
            self.gaps.append(Gap("orphan_result", "a result is recorded without the call that it answers"))
            return [ToolResult(result, id, None, error)]
        complete(call, result, error)
        return []

    def _waiting(self, content: Any, path: str) -> list[Part]:
        """A call that a person has to allow; some models show the call beside the request."""
        asked = field(content, "function_call")
        call = self._call(asked, str(field(asked, "type")), join(path, "function_call"))
        known = next((one for one in self.calls[:-1] if one.id == call.id and one.name == call.name), None)
        if known is not None and call.id is not None:
            self.calls.pop()
            if known.state == "requested":
                force_setattr(known, "state", "awaiting")
            return []
        force_setattr(call, "state", "awaiting")
        return [call]

    def _approval(self, content: Any) -> None:
        if field(content, "approved") is not False:
            return
        id = _id(field(content, "function_call"))
        for call in self.calls:
            if call.id == id and call.state in ("awaiting", "requested"):
                force_setattr(call, "state", "denied")


def _id(content: Any) -> str | None:
    return text_id(field(content, "call_id")) or text_id(field(content, "image_id"))


def _plain_result(result: Any) -> Any:
    """The words of a result that is a list of contents."""
    if not isinstance(result, (list, tuple)) or not result:
        return result
    texts = [text for part in result if field(part, "type") == "text" and isinstance(text := field(part, "text"), str)]
    if len(texts) == len(result):
        return "\n".join(texts)
    return [_shown(part) for part in result]


def _shown(content: Any) -> Any:
    if isinstance(content, Mapping):
        return content
    try:
        return content.to_dict()
    except Exception:  # foreign code
        return str(content)
