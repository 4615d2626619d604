"""A model behind an OpenAI-compatible HTTP endpoint as a target, with tools that are Python functions and run here."""

from __future__ import annotations

import json
import re
from asyncio import CancelledError
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from http.client import HTTPException
from inspect import isawaitable
from os import environ
from threading import current_thread, main_thread
from typing import Any, NoReturn
from urllib.error import HTTPError
from urllib.parse import SplitResult, parse_qsl, quote, urlsplit
from urllib.request import (
    HTTPDefaultErrorHandler,
    HTTPErrorProcessor,
    HTTPHandler,
    HTTPSHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
)

from msgspec.structs import replace

from quickchecks import _render, _wire
from quickchecks._loops import AbandonableThread, RaisedInThread
from quickchecks._mocks import LIVE, ToolMocks
from quickchecks._run import Gap, Run
from quickchecks._scorer.read_only import read_only_run
from quickchecks._targets.function_tools import FunctionTool, function_tools
from quickchecks._targets.masking import LOOKED_AT, Mask, header_secrets, setting_secrets
from quickchecks.adapters import BrokenOff, Dialogue, load_run
from quickchecks.adapters._endings import CUT
from quickchecks.errors import TargetError, nearest_names

__all__ = ("Endpoint", "EndpointError")

#: The longest answer that is read, in bytes.
LONGEST_ANSWER = 64 * 2**20
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_OPTIONS = ("model", "tools", "system", "api_key", "api_key_env", "headers", "max_rounds", "request_timeout", "settings")


class EndpointError(Exception):
    """The endpoint refused a request, or answered what is no chat completion."""


class Endpoint:
    """An endpoint and how it is asked.

    Args:
        url: The base address, such as "http://127.0.0.1:8000/v1"; requests go to its "/chat/completions", with its query.
        options: `model` (required); `tools` (Python functions, run here); `system` (a system message); `api_key` or
            `api_key_env` (the name of the variable that holds it; no key is sent unless one of them is given); `headers`;
            `settings` (more fields of each request, such as {"temperature": 0}); `max_rounds` (how often the model is asked in
            one turn, 20); `request_timeout` (seconds for each request, 120).

    Raises:
        TargetError: An option is unknown, missing or of no use.
    """

    def __init__(self, url: str, options: Mapping[str, object]) -> None:
        parts = _address(url)
        #: What to call it in messages: the address without its query, which may hold a key.
        self.name = f"{parts.scheme}://{parts.netloc}{parts.path}"
        path = quote(f"{parts.path.rstrip('/')}/chat/completions", safe="/%:@!$&'()*+,;=~")
        query = quote(parts.query, safe="/?%:@!$&'()*+,;=~")
        self.url = f"{parts.scheme}://{parts.netloc}{path}"
        self._full_url = f"{self.url}?{query}" if query else self.url
        for name in options:
            if name not in _OPTIONS:
                raise TargetError(f"an endpoint takes no {name!r}: {nearest_names(str(name), _OPTIONS)}")
        model = options.get("model")
        if not isinstance(model, str) or not model:
            raise TargetError(f"the target {self.name} needs the name of a model: run_evals(..., target=..., model='...')")
        self.model = model
        self.tools = function_tools(_listed(options.get("tools")))
        self.system = _text(options, "system")
        self.settings = _mapping(options, "settings")
        self.max_rounds = _number(options, "max_rounds", 20)
        self.request_timeout = _number(options, "request_timeout", 120)
        headers = _headers(options)
        self._headers = {"Content-Type": "application/json", "User-Agent": "quickchecks", **headers}
        key = _key(options)
        if key is not None:
            self._headers["Authorization"] = f"Bearer {key}"
        in_query = [query, parts.query, *(value for _, value in parse_qsl(parts.query))]
        in_headers = [secret for value in headers.values() for secret in header_secrets(value)]
        self.mask = Mask([*in_query, *in_headers, *setting_secrets(self.settings), *([key] if key else [])])
        self._opener = _opener(parts.hostname or "")

    def converse(self, mocks: ToolMocks | None) -> Dialogue:
        """Begin a conversation."""
        return _EndpointDialogue(self, mocks)

    def close(self) -> None:
        """There is nothing to give back."""

    def ask(self, messages: list[dict[str, Any]]) -> dict[str, Any]:
        """Send one request and wait for the answer.

        Raises:
            EndpointError: It was refused, or the answer is no chat completion.
        """
        body: dict[str, Any] = {**self.settings, "model": self.model, "messages": messages}
        if self.tools:
            body["tools"] = [tool.described() for tool in self.tools.values()]
        request = Request(self._full_url, json.dumps(body).encode(), self._headers)
        # What urllib raises may repeat the address or a header, so that it is nobody's cause.
        try:
            with self._opener.open(request, timeout=self.request_timeout) as response:
                answer = response.read(LONGEST_ANSWER + 1)
        except HTTPError as error:
            said = f"{self.mask(str(error.reason))}{self._said(error)}"
            raise EndpointError(f"{self.url} answered {error.code} {said}") from None
        except (HTTPException, OSError, ValueError) as error:
            reason = getattr(error, "reason", None) or error
            raise EndpointError(f"{self.url} cannot be reached: {self.mask(str(reason))}; is the server running?") from None
        if len(answer) > LONGEST_ANSWER:
            raise EndpointError(f"{self.url} answered more than {LONGEST_ANSWER // 2**20} MB")
        try:
            found = _wire.loads(answer)
        except ValueError:
            raise EndpointError(f"{self.url} answered what is no JSON: {self._excerpt(answer)}") from None
        if not isinstance(found, dict) or not isinstance(found.get("choices"), list) or not found["choices"]:
            raise EndpointError(f"{self.url} answered what is no chat completion: {self._excerpt(answer)}")
        return found

    def message(self, completion: dict[str, Any]) -> tuple[dict[str, Any], Any]:
        """The message of a completion, and why it ended.

        Raises:
            EndpointError: It holds none, or calls that nobody could make.
        """
        choice = completion["choices"][0]
        message = choice.get("message") if isinstance(choice, dict) else None
        if not isinstance(message, dict) or not isinstance(message.get("tool_calls") or [], list):
            raise EndpointError(f"{self.url} answered what is no chat completion: {self._excerpt(_wire.dumps(choice))}")
        for call in message.get("tool_calls") or ():
            function = call.get("function") if isinstance(call, dict) else None
            if not isinstance(function, dict) or not isinstance(function.get("name"), str):
                raise EndpointError(f"{self.url} answered a tool call without a name: {self._excerpt(_wire.dumps(call))}")
        finish = choice.get("finish_reason")
        return {**message, "role": "assistant"}, finish if finish is None or isinstance(finish, str) else self.mask(str(finish))

    def _said(self, error: HTTPError) -> str:
        try:
            return f": {self._excerpt(error.read(LOOKED_AT))}"
        except (OSError, HTTPException):
            return ""

    def _excerpt(self, answer: bytes) -> str:
        return _render.value(self.mask(answer[:LOOKED_AT].decode("utf-8", "replace"))[:500])


class _EndpointDialogue(Dialogue):
    """A conversation: the messages so far are sent with every request."""

    def __init__(self, endpoint: Endpoint, mocks: ToolMocks | None) -> None:
        self._endpoint = endpoint
        self._mocks = mocks
        self._thread = AbandonableThread()
        system = endpoint.system
        #: What is sent.
        self._sent: list[dict[str, Any]] = [{"role": "system", "content": system}] if system else []
        #: The same with what is known of the tools that ran here.
        self._kept: list[dict[str, Any]] = list(self._sent)
        self._finish: Any = None

    async def ask(self, asked: Any, session: Any = None) -> Run:
        """Ask until the model calls no more tools."""
        begin = len(self._kept) if any(message["role"] == "assistant" for message in self._kept) else 0
        self._add(*_questions(asked))
        usages: list[Any] = []
        self._finish = None
        try:
            for _ in range(self._endpoint.max_rounds):
                completion = await self._thread.run(partial(self._endpoint.ask, list(self._sent)))
                usages.append(completion.get("usage"))
                message, finish = self._endpoint.message(completion)
                self._finish = finish
                calls = message.get("tool_calls")
                is_usual = finish in (None, "tool_calls" if calls else "stop")
                self._kept.append(message if is_usual else {**message, "finish_reason": finish})
                if finish in CUT and calls:
                    self._stop(f"the model was cut off in the middle of a tool call (finish_reason is {finish})")
                self._sent.append(message)
                if not calls:
                    return await self._thread.run(partial(self._run, begin, usages))
                for call in calls:
                    await self._answer(call)
            self._stop(f"the model still called tools after {self._endpoint.max_rounds} rounds (max_rounds)")
        except EndpointError as error:
            raise BrokenOff(await self._thread.run(partial(self._run, begin, usages))) from error

    async def close(self) -> None:
        """Let the thread end."""
        self._thread.close()

    def _stop(self, reason: str) -> NoReturn:
        raise EndpointError(reason)

    def _add(self, *messages: dict[str, Any]) -> None:
        self._sent.extend(messages)
        self._kept.extend(messages)

    async def _answer(self, call: Any) -> None:
        """Run the tool of a call, and give the model what it returned, or why it failed."""
        function = call["function"]
        name, identity = function["name"], call.get("id")
        error: dict[str, str] | None = None
        try:
            found = await self._called(name, function.get("arguments"))
            content = found if isinstance(found, str) else _wire.shown(found)
        except BaseException as caught:  # whatever a tool raises belongs to the call
            raised = caught.error if isinstance(caught, RaisedInThread) else caught
            if caught is raised and _is_for_others(raised):
                raise
            content = f"Error: {_wire.as_text(raised)}"
            error = {"type": type(raised).__name__, "message": _wire.as_text(raised)}
        message = {"role": "tool", "tool_call_id": identity, "content": content}
        self._sent.append(message)
        self._kept.append(message if error is None else {**message, "error": error})

    async def _called(self, name: str, arguments: object) -> Any:
        tool: FunctionTool | None = self._endpoint.tools.get(name)
        mocked = self._mocks is not None and name in self._mocks.tools
        if tool is None and not mocked:
            raise LookupError(f"there is no tool {name}; there are {', '.join(self._endpoint.tools) or 'none'}")
        given = FunctionTool.parsed(arguments)
        if self._mocks is not None and (found := self._mocks.answer(name, given)) is not LIVE:
            return found
        assert tool is not None
        call = tool.bound(given)
        if tool.is_async:
            return await call()
        found = await self._thread.run(call)
        return await found if isawaitable(found) else found

    def _run(self, begin: int, usages: list[Any]) -> Run:
        finish = {} if self._finish is None else {"finish_reason": self._finish}
        run = load_run({"messages": self._kept[begin:], "usage": _summed(usages), **finish}, format="openai_chat")
        cut = (Gap("other", "the model was cut off by the limit of tokens (length)"),) if self._finish == "length" else ()
        run = replace(run, gaps=(*run.gaps, *cut), metadata={**(run.metadata or {}), "model": self._endpoint.model})
        return read_only_run(run)  # here, because a long answer would hold up the loop


def _questions(asked: object) -> list[dict[str, Any]]:
    if isinstance(asked, list) and asked and all(isinstance(one, dict) and "role" in one for one in asked):
        return asked
    return [{"role": "user", "content": asked if isinstance(asked, str) else _wire.shown(asked)}]


def _summed(usages: list[Any]) -> dict[str, Any] | None:
    known = [usage for usage in usages if isinstance(usage, dict)]
    if not known or len(known) < len(usages):
        return None  # what is known of some requests only is no sum
    names = {name for usage in known for name, value in usage.items() if type(value) in (int, float)}
    found: dict[str, Any] = {name: sum(usage.get(name) or 0 for usage in known) for name in names}
    for details in ("prompt_tokens_details", "completion_tokens_details"):
        inner = [usage[details] for usage in known if isinstance(usage.get(details), dict)]
        if inner:
            found[details] = _summed(inner)
    return {**found, **({} if "requests" in found else {"requests": len(known)})}


def _address(url: str) -> SplitResult:
    """The parts of an address. What is said of one that is none does not repeat it: it may hold a password anywhere."""
    no_address = "the target is no address of an endpoint, such as http://127.0.0.1:8000/v1"
    try:
        parts = urlsplit(url)
        usable = bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
        parts = urlsplit("")
    if not usable or not re.fullmatch(r"[\w.\-:\[\]%]+", parts.netloc.rpartition("@")[2]):
        raise TargetError(no_address)
    if "@" in parts.netloc:
        raise TargetError(
            f"the address of the endpoint at {parts.hostname} holds a user or a password, which are not sent: give "
            "target_options={'api_key_env': ...} or {'headers': {'Authorization': ...}}"
        )
    return parts


def _is_for_others(raised: BaseException) -> bool:
    """Whether what came up while a tool was awaited is not the tool's: a cancellation, or Ctrl-C where that arrives."""
    if isinstance(raised, KeyboardInterrupt):
        return current_thread() is main_thread()
    return isinstance(raised, (CancelledError, GeneratorExit))


def _opener(host: str) -> OpenerDirector:
    """What sends: it follows no redirection, which could take a key elsewhere, and asks no proxy about this machine."""
    opener = OpenerDirector()
    proxies = ProxyHandler({}) if host in _LOOPBACK else ProxyHandler()
    for handler in (proxies, HTTPHandler(), HTTPSHandler(), HTTPDefaultErrorHandler(), HTTPErrorProcessor()):
        opener.add_handler(handler)
    return opener


def _key(options: Mapping[str, object]) -> str | None:
    key, name = options.get("api_key"), options.get("api_key_env")
    if key is not None and name is not None:
        raise TargetError("an endpoint takes api_key or api_key_env, not both")
    if name is not None:
        key = environ.get(str(name))
        if not key:
            shown = f"variable {name}" if re.fullmatch(r"[A-Z]+(_[A-Z]+)+", str(name)) else "variable"  # it may be the key itself
            raise TargetError(f"the {shown} is not set, which api_key_env names")
    if key is not None and (not isinstance(key, str) or not _is_sendable(key)):
        raise TargetError("api_key is a text of one line, of letters that a header can hold (Latin-1)")
    return key


def _headers(options: Mapping[str, object]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in _mapping(options, "headers").items():
        if not re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", name):
            raise TargetError("headers is a mapping of names to texts, and one of its names is no name of a header")
        text = value if isinstance(value, str) else str(value) if isinstance(value, (int, float)) else None
        if text is None or not _is_sendable(text):
            raise TargetError(f"the header {name} is a text of one line, of letters that a header can hold (Latin-1)")
        found[name] = text
    return found


def _is_sendable(text: str) -> bool:
    return all(sign == "\t" or " " <= sign <= "~" or "\xa0" <= sign <= "\xff" for sign in text)


def _listed(tools: object) -> Iterable[Callable[..., object]]:
    if tools is None:
        return ()
    if isinstance(tools, (str, bytes)) or not isinstance(tools, Iterable):
        raise TargetError(f"tools is a list of functions, not {_render.value(tools)}")
    return tools


def _text(options: Mapping[str, object], name: str) -> str | None:
    value = options.get(name)
    if value is not None and not isinstance(value, str):
        raise TargetError(f"{name} is a text, not {_render.value(value)}")
    return value


def _mapping(options: Mapping[str, object], name: str) -> dict[str, Any]:
    value = options.get(name)
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise TargetError(f"{name} is a mapping, not a value of type {type(value).__name__}")
    return {str(key): item for key, item in value.items()}


def _number(options: Mapping[str, object], name: str, default: int) -> int:
    value = options.get(name, default)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < 1e9:
        raise TargetError(f"{name} is a number above 0, not {_render.value(value)}")
    return int(value) if name == "max_rounds" else value  # type: ignore[return-value]
