"""Mocks of the tools of Claude's agent: those of servers inside this process are answered, and any other can only be refused."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Mapping
from typing import Any

from quickchecks import _wire
from quickchecks._mocks import LIVE, ToolMocks
from quickchecks.adapters._objects import field, library, plain
from quickchecks.errors import ToolMockError

__all__ = ("ClaudeMocks",)

#: The program's own tools by which it hands work over or takes an answer.
_PSEUDO_TOOLS = frozenset(("Agent", "StructuredOutput", "Task"))
_CALL = "tools/call"


class ClaudeMocks:
    """The mocks of one conversation.

    Args:
        mocks: What tools answer.
    """

    def __init__(self, mocks: ToolMocks) -> None:
        self._mocks = mocks
        self._servers: set[str] = set()
        #: Why an item cannot be run as it is; empty when it can.
        self.impossible = ""

    def put_into(self, options: Any) -> Any:
        """Give options with the mocks in them; the user's stay as they are."""
        servers = options.mcp_servers
        if isinstance(servers, Mapping):
            servers = {name: self._server(name, config) for name, config in servers.items()}
        matcher = library("claude_agent_sdk").HookMatcher(hooks=[self._asked])
        hooks = dict(options.hooks or {})
        hooks["PreToolUse"] = [matcher, *hooks.get("PreToolUse", ())]
        return dataclasses.replace(options, mcp_servers=servers, hooks=hooks)

    def note(self, item: Any) -> None:
        """Take note of the tools that there are, which the program names in the beginning."""
        data = field(item, "data")
        if field(item, "subtype") == "init" and isinstance(data, Mapping):
            for tool in data.get("tools") or ():
                self._mocks.placed(str(tool), str(tool).rpartition("__")[2])

    def _server(self, name: str, config: Any) -> Any:
        server = config.get("instance") if isinstance(config, Mapping) else None
        if server is None:
            return config
        wrapped = copy.copy(server)
        if hasattr(server, "get_request_handler"):
            entry = server.get_request_handler(_CALL)
            if entry is None:
                return config
            wrapped._request_handlers = dict(server._request_handlers)
            wrapped.add_request_handler(_CALL, entry.params_type, self._handler(name, entry.handler))
        else:  # version 1 of mcp
            kind = library("mcp.types").CallToolRequest
            handler = server.request_handlers.get(kind)
            if handler is None:
                return config
            wrapped.request_handlers = {**server.request_handlers, kind: self._older_handler(name, handler)}
        self._servers.add(name)
        return {**config, "instance": wrapped}

    def _handler(self, server: str, handler: Any) -> Any:
        async def answer(context: Any, params: Any) -> Any:
            found = self._result(server, params)
            return await handler(context, params) if found is LIVE else found

        return answer

    def _older_handler(self, server: str, handler: Any) -> Any:
        async def answer(request: Any) -> Any:
            found = self._result(server, request.params)
            return await handler(request) if found is LIVE else library("mcp.types").ServerResult(found)

        return answer

    def _result(self, server: str, params: Any) -> Any:
        """What a mock answers as a tool of a server does; LIVE when the tool shall run."""
        failed = False
        try:
            found = self._mocks.answer(self._name(params.name, server), field(params, "arguments") or {})
        except ToolMockError as error:
            found, failed = str(error), True
        if found is LIVE:
            return LIVE
        content = found.get("content") if isinstance(found, Mapping) else None
        if isinstance(found, Mapping) and isinstance(content, list):
            failed = bool(found.get("is_error") or found.get("isError"))
        else:
            content = [{"type": "text", "text": found if isinstance(found, str) else _wire.shown(plain(found))}]
        return library("mcp.types").CallToolResult.model_validate({"content": content, "isError": failed})

    def _name(self, name: str, server: str) -> str:
        """What an item calls a tool: by its name, or by the one that the program has for it."""
        whole = f"mcp__{server}__{name}"
        return whole if whole in self._mocks.tools else name

    async def _asked(self, asked: Any, tool_use_id: Any, context: Any) -> dict[str, Any]:
        """Refuse what runs outside this process and must not run."""
        tool = str(asked.get("tool_name"))
        prefix, _, rest = tool.partition("__")
        server, _, name = rest.partition("__")
        if prefix != "mcp" or not name:
            server, name = "", tool
        if server in self._servers or tool in _PSEUDO_TOOLS:
            return {}
        try:
            found = self._mocks.answer(self._name(name, server) if server else name, asked.get("tool_input"))
        except ToolMockError as error:
            reason = str(error)
        else:
            if found is LIVE:
                return {}
            reason = f"{name} runs outside this process: its mock can have an error, and no result"
            self.impossible = reason
        decision = {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": reason}
        return {"hookSpecificOutput": decision}
