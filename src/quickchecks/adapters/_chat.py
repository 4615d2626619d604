"""Messages as OpenAI's chat completions have them, which many frameworks and benchmarks write as well.

Well-formed messages, which are nearly all, take the short way in `ChatReader.read`; every odd one takes the careful way in
the methods below it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from msgspec import UNSET
from msgspec.structs import force_setattr

from quickchecks._run import Gap, Message, Other, Part, Reasoning, Text, ToolCall, ToolError, ToolResult
from quickchecks.adapters._answers import answer_parts
from quickchecks.adapters._dialects import ROLES, UNTYPED_CALLS, is_foreign_call
from quickchecks.adapters._endings import told_end, unwrapped
from quickchecks.adapters._objects import is_foreign, plain
from quickchecks.adapters._pairing import Pairing, complete
from quickchecks.adapters._shapes import as_mapping, described, expected, join, others, text_id
from quickchecks.adapters._strays import stray_calls, unread_calls, unread_text
from quickchecks.errors import RecordingError

__all__ = ("ChatReader", "error_of", "result_value")

_ASSISTANT_KEYS = frozenset(
    ("role", "content", "tool_calls", "function_call", "refusal", "reasoning_content", "reasoning", "audio", "name", "parsed")
)
_TOOL_KEYS = frozenset(("role", "content", "tool_call_id", "name", "status"))
_CALL_KEYS = frozenset(("id", "type", "function", "custom", "name", "arguments", "args", "input"))
_PLAIN_KEYS = frozenset(("role", "content"))

#: How a call may name its tool and itself, where it is not in the shape that this format describes.
_CALL_NAMES = ("name", "toolName", "tool_name", "tool")
_CALL_IDS = ("id", "toolCallId", "tool_call_id", "call_id", "toolUseId")
#: Where a message without content may hold what the agent said.
_MAYBE_TEXT = ("output_text", "message", "answer", "response", "output", "completion", "value", "body")

#: What the `status` of a tool message says when the call failed.
_FAILED = frozenset(("error", "failed", "failure"))


def error_of(value: Any, source: Literal["flag", "payload"] = "flag") -> ToolError | None:
    """Read the `error` that stands beside a result: text, or an object with a message. None when it says nothing."""
    if not value:
        return None
    if isinstance(value, BaseException):
        return ToolError(str(value), type(value).__name__, source)
    found = as_mapping(value)
    if found is None:
        return ToolError(value if isinstance(value, str) else described(value), "", source)
    message = found.get("message")
    kind = found.get("type")
    return ToolError(message if isinstance(message, str) else described(found), kind if isinstance(kind, str) else "", source)


def _flagged_error(message: Mapping[str, Any], result: Any) -> ToolError | None:
    """Read the marks by which a tool message says that the call failed."""
    if (error := error_of(message.get("error"))) is not None:
        return error
    status = message.get("status")
    marked = isinstance(status, str) and status.lower() in _FAILED
    if marked or message.get("is_error") or message.get("isError"):
        return ToolError(result if isinstance(result, str) else "" if result is None else described(result))
    return None


def result_value(content: Any, text_key: str = "text") -> Any:
    """Read the content of a tool message: a text part, or a list that holds only text parts, is the text of them."""
    if type(content) is str:
        return content
    if isinstance(content, Mapping) and (content.get("type") == "text" or content.keys() == {text_key}):
        text = _text_of(content, text_key)
        return content if text is None else text
    if isinstance(content, (list, tuple)) and content:
        texts = [part if isinstance(part, str) else _text_of(part, text_key) for part in content]
        known = [text for text in texts if text is not None]
        if len(known) == len(texts):
            return "".join(known)
    # Whoever writes the messages of a loop may put an object of a library here, such as the result of an MCP tool.
    return plain(content) if is_foreign(content) or (type(content) is list and any(map(is_foreign, content))) else content


def _text_of(part: Any, key: str) -> str | None:
    found = as_mapping(part)
    text = found.get(key) if found is not None and found.get("type", "text") == "text" else None
    return text if isinstance(text, str) else None


class ChatReader:
    """Reads the messages of one run.

    Args:
        path: Where the list of messages stands inside the record.
        alone: The path is that of the one message there is, not of a list.
    """

    __slots__ = ("_alone", "_next", "_pairing", "_path", "gaps", "messages")

    def __init__(self, path: str = "", *, alone: bool = False) -> None:
        self._path = path
        self._alone = alone
        self._pairing = Pairing()
        self._next = 0
        self.messages: list[Message] = []
        self.gaps: list[Gap] = []

    def read(self, messages: Any) -> None:
        """Read messages; those of several calls follow one another.

        Args:
            messages: The list, as it came.

        Raises:
            RecordingError: A message is malformed; the path says which.
        """
        if not isinstance(messages, (list, tuple)):
            raise expected("a list of messages", messages, self._path)
        built = self.messages
        total = len(messages)
        number = 0
        while number < total:
            message = messages[number]
            self._next = number + 1
            # Where a message has as many keys as are looked at, nothing is left over that would have to be kept.
            if type(message) is dict and "role" in message and "content" in message:
                role = message["role"]
                content = message["content"]
                size = len(message)
                if role == "assistant" and (content is None or type(content) is str):
                    if size == 2:
                        built.append(Message("assistant", (Text(content),) if content else ()))
                        number += 1
                        continue
                    if size == 3 and "tool_calls" in message:
                        calls: list[Part] = [Text(content)] if content else []
                        calls += self._calls(message["tool_calls"], number, messages)
                        built.append(Message("assistant", tuple(calls)))
                        number = self._next
                        continue
                elif size == 2 and (role == "user" or role == "system") and type(content) is str:
                    built.append(Message(role, (Text(content),) if content else ()))
                    number += 1
                    continue
            self._odd_message(message, number, messages)
            number = self._next

    def at(self, number: int, inner: str = "") -> str:
        """Say where a message, or something in it, stands inside the record."""
        return join(self._path if self._alone else f"{self._path}[{number}]", inner)

    # The careful way

    def _odd_message(self, value: Any, number: int, messages: Sequence[Any]) -> None:
        message = as_mapping(value)
        if message is None:
            raise expected("a message, that is an object with a role", value, self.at(number))
        if "role" not in message:
            message = unwrapped(message)
        role = message.get("role")
        known = ROLES.get(role) if isinstance(role, str) else None
        if known is None:
            raise expected(f"one of the roles {', '.join(sorted(ROLES))}", role, self.at(number, "role"))
        if known == "assistant":
            self._assistant_message(message, number, messages)
            return
        if known == "tool":
            self._tool_message(message)
            return
        content = message.get("content")
        asked = as_mapping(content)
        if asked is not None:  # what a person asked is judged by no check: an object is kept as it came
            words = asked.get("text", asked.get("content"))
            parts: tuple[Part, ...] = (Text(words) if isinstance(words, str) and words else Other("object", asked),)
        else:
            parts = tuple(self._content(message.get("text") if content is None else content, number))
        metadata = others(message, _PLAIN_KEYS)
        if role != known:
            metadata = {**(metadata or {}), "role": role}
        self.messages.append(Message(known, parts, None, metadata))

    def _assistant_message(self, message: Mapping[str, Any], number: int, messages: Sequence[Any]) -> None:
        if type(message.get("parts")) is list or "toolInvocations" in message:
            problem = "an assistant message with parts or toolInvocations beside its content is of another format"
            raise RecordingError(problem, path=self.at(number))
        parts: list[Part] = []
        for key in ("reasoning_content", "reasoning"):
            if isinstance(thoughts := message.get(key), str) and thoughts and not parts:
                parts.append(Reasoning(thoughts))
        said = message.get("content")
        if said is None and isinstance(message.get("text"), str):
            said = message["text"]
        parts += self._content(said, number, judged=True)
        if message.get("parsed") is not None:
            parts = _with_value(parts, plain(message["parsed"]))
        refusal = message.get("refusal")
        if refusal:
            if not isinstance(refusal, str):
                raise expected("text", refusal, self.at(number, "refusal"))
            parts.append(Text(refusal))
        audio = as_mapping(message.get("audio"))
        if audio is not None:
            transcript = audio.get("transcript")
            if isinstance(transcript, str) and transcript and not message.get("content"):
                parts.append(Text(transcript))
            parts.append(Other("audio", audio))
        calls = self._calls(message.get("tool_calls"), number, messages)
        parts += calls
        parts += self._function_call(message.get("function_call"), number, calls)
        name = message.get("name")
        agent = name if isinstance(name, str) and name else None
        metadata = others(message, _ASSISTANT_KEYS)
        if metadata is not None:
            parts += self._strays(metadata, number, [part for part in parts if type(part) is ToolCall])
            if not parts and (places := [place for place in _MAYBE_TEXT if isinstance(metadata.get(place), str)]):
                self.gaps.append(Gap("text", f"what stands at {self.at(number, places[0])} may be what the agent said"))
            self.gaps += told_end(metadata, [part for part in parts if type(part) is ToolCall])
        if isinstance(message.get("reasoning"), (dict, list)):
            metadata = {**(metadata or {}), "reasoning": message["reasoning"]}
        self.messages.append(Message("assistant", tuple(parts), agent, metadata))

    def _strays(self, beside: Mapping[str, Any], number: int, calls: Sequence[ToolCall]) -> list[ToolCall]:
        """Calls under other names. Those that stand in the known place as well are the same calls."""
        fresh: list[ToolCall] = []
        for path, value, direct in stray_calls(beside, self.at(number)):
            entries = value if isinstance(value, (list, tuple)) else (value,)
            try:
                found = [self.call(entry, f"{path}[{at}]") for at, entry in enumerate(entries)]
            except RecordingError:
                if direct:
                    raise
                self.gaps.append(Gap("calls", f"what stands at {path} may be calls, and cannot be read"))
                continue
            known = [*calls, *fresh]
            fresh += [call for call in found if not any(_is_same(call, other) for other in known)]
        if fresh:
            self._pairing.begin([*calls, *fresh])
        return fresh

    def _function_call(self, call: Any, number: int, calls: Sequence[ToolCall]) -> list[ToolCall]:
        """The call in the old place. When it also stands in the new one, it is the same call."""
        if not call:
            return []
        read = self.call(call, self.at(number, "function_call"))
        if any(read.name == other.name and read.raw_arguments == other.raw_arguments for other in calls):
            return []
        self._pairing.begin([*calls, read])
        return [read]

    def _calls(self, calls: Any, number: int, messages: Sequence[Any]) -> list[ToolCall]:
        """The calls of one message. Results that follow at once, in the order of the calls, are read along with them."""
        if calls is None:
            return []
        if type(calls) is not list and not isinstance(calls, (list, tuple)):
            raise expected("a list of tool calls", calls, self.at(number, "tool_calls"))
        read: list[ToolCall] = []
        follows = number + 1
        for call in calls:
            if type(call) is dict and len(call) == 3 and "function" in call and "id" in call and call.get("type") == "function":
                function = call["function"]
                id = call["id"]
                if type(function) is dict and len(function) == 2 and "name" in function and "arguments" in function:
                    name = function["name"]
                    arguments = function["arguments"]
                    if type(name) is str and name and type(arguments) is str and type(id) is str and id:
                        answer = messages[follows] if follows < len(messages) else None
                        if type(answer) is dict and answer.get("tool_call_id") == id and answer.get("role") == "tool":
                            follows += 1
                            if _is_plain_result(answer):
                                read.append(ToolCall(name, arguments, id, "completed", "tool", answer["content"], None, "text"))
                                continue
                            made = ToolCall(name, arguments, id, "requested", "tool", UNSET, None, "text")
                            _put(answer, result_value(answer.get("content")), made)
                            read.append(made)
                        else:
                            read.append(ToolCall(name, arguments, id, "requested", "tool", UNSET, None, "text"))
                        continue
            read.append(self.call(call, self.at(number, f"tool_calls[{len(read)}]")))
        self._next = follows
        if len(read) > follows - number - 1:
            self._pairing.begin(read)
        return read

    def call(self, value: Any, path: str) -> ToolCall:
        """Read one call of any shape that is clear: with a function, custom, or with the name directly.

        Args:
            value: The call, as it came.
            path: Where it stands inside the record.

        Returns:
            The call, requested.

        Raises:
            RecordingError: It is no object, or has no name.
        """
        call = as_mapping(value)
        if call is None:
            raise expected("a tool call, that is an object with a function", value, path)
        body: Mapping[str, Any] = call
        for key in ("function", "custom", "functionCall", "toolUse"):
            if call.get(key) is not None:
                found = as_mapping(call[key])
                if found is None:
                    raise expected("an object with the name and arguments of the function", call[key], join(path, key))
                body, path = found, join(path, key)
                break
        name = next((body[key] for key in _CALL_NAMES if body.get(key) is not None), None)
        if not isinstance(name, str) or not name:
            raise expected("the name of the tool", name, join(path, "name"))
        arguments = next((body[key] for key in ("arguments", "args", "input") if body.get(key) is not None), None)
        metadata = others(call, _CALL_KEYS)
        if call.get("type") not in (None, "function"):
            metadata = {**(metadata or {}), "type": call["type"]}
        if body is not call and (inside := others(body, _CALL_KEYS)):
            metadata = {**(metadata or {}), "function": inside}
        return ToolCall(name, arguments, _id_of(call, body), "requested", errors_shown_in="text", metadata=metadata)

    def _tool_message(self, message: Mapping[str, Any]) -> None:
        result = result_value(message.get("content"))
        id = text_id(message.get("tool_call_id"))
        named = message.get("name")
        name = named if isinstance(named, str) and named else None
        call = self._pairing.find(id, name)
        if call is not None:
            _put(message, result, call)
            return
        error = _flagged_error(message, result)
        self.messages.append(Message("tool", (ToolResult(result, id, name, error),), None, others(message, _TOOL_KEYS)))
        note = f"a result of {name or 'a tool'} is recorded without the call that it answers"
        self.gaps.append(Gap("orphan_result", note, name))

    def _content(self, content: Any, number: int, *, judged: bool = False) -> list[Part]:
        """What a message says: text, or a list of parts."""
        if content is None or content == "":
            return []
        if isinstance(content, str):
            return [Text(content)]
        if not isinstance(content, (list, tuple)):
            raise expected("text, a list of parts, or null", content, self.at(number, "content"))
        parts = [part for at, value in enumerate(content) if (part := self._part(value, number, at)) is not None]
        if judged:
            self.gaps += (*unread_text(parts), *unread_calls(parts))
        return parts

    def _part(self, value: Any, number: int, position: int) -> Part | None:
        if isinstance(value, str):
            return Text(value) if value else None
        path = self.at(number, f"content[{position}]")
        part = as_mapping(value)
        if part is None:
            raise expected("a part of a message, that is an object with a type", value, path)
        if is_foreign_call(part):
            kind = part.get("type") or next(iter(UNTYPED_CALLS & part.keys()))
            raise RecordingError(
                f"a part of the type {kind} is a tool call or a result in the manner of another format",
                path=path,
                hint="in this format calls stand in tool_calls, and results in messages of the role tool",
            )
        kind = part.get("type")
        if kind in ("text", "input_text", "output_text") or (kind is None and "text" in part):
            text = part.get("text")
            if (boxed := as_mapping(text)) is not None:
                text = boxed.get("value")
            if text is not None and not isinstance(text, str):
                raise expected("text", text, join(path, "text"))
            return Text(text) if text else None
        if kind == "refusal":
            refusal = part.get("refusal")
            return Text(refusal) if isinstance(refusal, str) and refusal else None
        if kind in ("reasoning", "thinking", "redacted_thinking"):
            thoughts = part.get("text") or part.get("thinking") or part.get("reasoning")
            return Reasoning(thoughts if isinstance(thoughts, str) else "")
        return Other(kind if isinstance(kind, str) else "unknown", part)


def _with_value(parts: list[Part], value: Any) -> list[Part]:
    """Put the value that an SDK has parsed out of the answer beside the words that hold it."""
    words = [part for part in parts if type(part) is Text]
    if not words:
        return [*parts, *answer_parts(value, "parsed")]
    return [Text(part.text, value) if type(part) is Text and part is words[0] else part for part in parts]


def _id_of(*places: Mapping[str, Any]) -> str | None:
    return next((id for place in places for key in _CALL_IDS if (id := text_id(place.get(key))) is not None), None)


def _is_same(one: ToolCall, other: ToolCall) -> bool:
    """Whether two places of one message show the same call."""
    if one.id is not None and one.id == other.id:
        return True
    return one.name == other.name and (one.id is None or other.id is None) and one.arguments == other.arguments


def _put(message: Mapping[str, Any], result: Any, call: ToolCall) -> None:
    """Put the result that a tool message holds on the call that it answers."""
    error = _flagged_error(message, result)
    complete(call, result, error)
    if error is None and _says_succeeded(message) and not (isinstance(result, str) and result.lstrip()[:1] == "{"):
        force_setattr(call, "errors_shown_in", "state")
    if kept := others(message, _TOOL_KEYS):
        force_setattr(call, "metadata", {**(call.metadata or {}), "result": kept})


def _is_plain_result(message: dict[str, Any]) -> bool:
    """Whether a tool message holds a text, unmarked, with nothing beside it that would have to be kept."""
    if "content" not in message or type(message["content"]) is not str:
        return False
    if "status" in message and message["status"] not in (None, "success"):
        return False
    return len(message) == 3 + ("name" in message) + ("status" in message)


def _says_succeeded(message: Mapping[str, Any]) -> bool:
    """An explicit `is_error: false` is a statement; `status: "success"` is what frameworks write when nobody said anything."""
    return message.get("is_error") is False or message.get("isError") is False
