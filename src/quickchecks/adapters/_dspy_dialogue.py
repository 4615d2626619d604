"""Conversations with modules of DSPy.

A module keeps no conversation: what was said before goes in as a `dspy.History`, where the module has a field for one. Callbacks
tell which tools were called, also by modules inside. Mocks stand in a copy of the module.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from copy import copy
from inspect import Parameter, signature
from time import perf_counter
from typing import Any, ClassVar

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import force_setattr, replace

from quickchecks import _wire
from quickchecks._mocks import ToolMocks
from quickchecks._run import Gap, Message, Run, RunError, Text, ToolCall, ToolError
from quickchecks.adapters._agents import BrokenOff, Dialogue
from quickchecks.adapters._dspy_predictions import read_prediction, usage_of
from quickchecks.adapters._objects import field, is_a, library, plain
from quickchecks.adapters._pairing import complete
from quickchecks.errors import TargetError

__all__ = ("dialogue_with",)

_MODULE = "dspy.primitives.module:Module"
_TOOL = "dspy.adapters.types.tool:Tool"
_INTERPRETED = ("dspy.predict:CodeAct", "dspy.predict:ProgramOfThought", "dspy.predict:RLM")
_IN_CODE = Gap("calls", "the tools that the module called in its code are not shown")


class _Seen(Struct):
    """What a tool was seen to do."""

    name: str
    arguments: object
    started: float
    result: object | UnsetType = UNSET
    error: BaseException | None = None
    seconds: float | None = None
    inner: list[_Seen] = []
    parent: _Seen | None = None

    def settle(self, call: ToolCall) -> None:
        if self.error is not None:
            complete(call, UNSET, ToolError(_wire.as_text(self.error), type(self.error).__name__, "exception"))
        elif self.result is not UNSET:
            complete(call, plain(self.result))
        force_setattr(call, "duration", self.seconds)
        if self.inner:
            force_setattr(call, "run", Run((Message("assistant", tuple(one.call() for one in self.inner)),)))

    def call(self) -> ToolCall:
        made = ToolCall(self.name, plain(self.arguments), state="requested")
        self.settle(made)
        return made


#: The tool that runs, in the context in which it does.
_running: ContextVar[_Seen | None] = ContextVar("quickchecks_dspy_tool", default=None)


def dialogue_with(agent: Any, options: Mapping[str, Any], mocks: ToolMocks | None) -> Dialogue:
    """Begin a conversation: one that waits for a module which can only be awaited, else one that blocks."""
    kind = _Blocking if callable(_own(agent, "forward")) else _Awaited
    return kind(agent, options, mocks)


def _own(module: Any, name: str) -> Any:
    """A method of a module, or None: DSPy warns whoever asks a module for its `forward`."""
    try:
        return object.__getattribute__(module, name)
    except AttributeError:
        return None


class _Talk(Dialogue):
    def __init__(self, agent: Any, options: Mapping[str, Any], mocks: ToolMocks | None) -> None:
        self._fields = _Fields.of(agent)
        self._module = agent if mocks is None else _with_mocks(agent, mocks, {})
        self._options = dict(options)
        self._said: list[dict[str, Any]] = []
        self._turns = 0
        self._in_code = any(is_a(one, *_INTERPRETED) for one in _modules(agent, {}))

    def _inputs(self, asked: Any) -> dict[str, Any]:
        self._turns += 1
        fields = self._fields
        if self._turns > 1 and fields.history is None:
            raise TargetError(
                "this module cannot be told what was said before, because its signature has no input of the type dspy.History: "
                "an item for it has one turn"
            )
        given = dict(self._options)
        if isinstance(asked, Mapping):
            given.update(asked)
        else:
            left = [name for name in fields.inputs if name not in given]
            if len(left) != 1:
                names = ", ".join(left) or "none"
                raise TargetError(f"this module has several inputs or none ({names}): give a mapping of their names as the input")
            given[left[0]] = asked
        if fields.history is not None and fields.history not in given and (self._said or fields.needs_history):
            given[fields.history] = library("dspy").History(messages=list(self._said))
        return given

    def _run(self, output: Any, given: Mapping[str, Any], asked: Any, seen: list[_Seen]) -> Run:
        """The run of a turn that ended well."""
        question = Message("user", (Text(asked) if isinstance(asked, str) else Text(_wire.shown(plain(asked)), plain(asked)),))
        if not is_a(output, "dspy.primitives.prediction:Prediction"):
            value = plain(output)
            answer = Text(value) if isinstance(value, str) else Text(_wire.shown(value), value)
            return self._complete(Run((question, Message("assistant", (answer,)))), seen)
        run = read_prediction(output, self._fields.outputs)
        self._remember(output, given)
        new = [message for message in run.messages[run.history_length :] if message.role == "assistant"]
        gaps = tuple(gap for gap in run.gaps if gap.kind not in ("input", "calls"))
        return self._complete(replace(run, messages=(question, *new), history_length=0, gaps=gaps), seen)

    def _complete(self, run: Run, seen: list[_Seen]) -> Run:
        """Put what was seen on the calls, and the calls that nothing else shows before the answer."""
        left = list(seen)
        calls = [part for message in run.messages for part in message.parts if type(part) is ToolCall and part.kind == "tool"]
        for exactly in (True, False):
            for call in [call for call in calls if call.duration is None]:
                for one in left:
                    if one.name == call.name and (not exactly or plain(one.arguments) == call.arguments):
                        left.remove(one)
                        one.settle(call)
                        break
        messages = run.messages
        if left:
            messages = (*messages[:-1], Message("assistant", tuple(one.call() for one in left)), *messages[-1:])
        return replace(run, messages=messages, gaps=(*run.gaps, _IN_CODE) if self._in_code else run.gaps)

    def _remember(self, output: Any, given: Mapping[str, Any]) -> None:
        if self._fields.history is None:
            return
        history = field(output, "history")
        if is_a(history, "dspy.adapters.types.history:History"):
            self._said = list(history.messages)  # ReActV2 keeps it itself
            return
        outputs = {name: field(output, name) for name in self._fields.outputs or ()}
        self._said.append({**{name: given[name] for name in self._fields.inputs if name in given}, **outputs})

    def _broken(self, asked: Any, seen: list[_Seen], error: Exception) -> BrokenOff:
        question = Message("user", (Text(asked if isinstance(asked, str) else _wire.shown(plain(asked))),))
        messages = [question, Message("assistant", tuple(one.call() for one in seen))] if seen else [question]
        raised = RunError(_wire.as_text(error), type(error).__name__)
        return BrokenOff(Run(tuple(messages), error=raised, gaps=(_IN_CODE,) if self._in_code else ()))


class _Blocking(_Talk):
    blocks: ClassVar[bool] = True

    def ask(self, asked: Any, session: Any = None) -> Run:
        """Ask one turn."""
        given = self._inputs(asked)
        start = perf_counter()
        with _listening() as (seen, tracker):
            try:
                output = self._module(**given)
            except Exception as error:
                raise self._broken(asked, seen, error) from error
            usage = usage_of(tracker.get_total_tokens())
        run = self._run(output, given, asked, seen)
        return replace(run, usage=usage, duration=perf_counter() - start)


class _Awaited(_Talk):
    async def ask(self, asked: Any, session: Any = None) -> Run:
        """Ask one turn."""
        given = self._inputs(asked)
        start = perf_counter()
        with _listening() as (seen, tracker):
            try:
                output = await self._module.acall(**given)
            except Exception as error:
                raise self._broken(asked, seen, error) from error
            usage = usage_of(tracker.get_total_tokens())
        run = self._run(output, given, asked, seen)
        return replace(run, usage=usage, duration=perf_counter() - start)


@contextmanager
def _listening() -> Iterator[tuple[list[_Seen], Any]]:
    dspy = library("dspy")
    seen: list[_Seen] = []
    known = list(dspy.settings.get("callbacks", None) or [])
    listener = _listener(seen)
    token = _running.set(None)
    try:
        # An asynchronous tool can be called by a module that is not: the thread is ours.
        with dspy.context(callbacks=[*known, listener], allow_tool_async_sync_conversion=True), dspy.track_usage() as tracker:
            yield seen, tracker
    finally:
        _running.reset(token)


def _listener(seen: list[_Seen]) -> Any:
    """A callback that notes what tools do."""
    open_calls: dict[str, _Seen] = {}

    class Listener(library("dspy.utils.callback").BaseCallback):  # type: ignore[misc]
        def on_tool_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:
            if str(field(instance.func, "__module__")).startswith("dspy.predict.react"):
                return  # the tool by which the answer is given
            parent = _running.get()
            made = _Seen(instance.name, inputs.get("kwargs", inputs), perf_counter(), inner=[], parent=parent)
            (seen if parent is None else parent.inner).append(made)
            open_calls[call_id] = made
            _running.set(made)

        def on_tool_end(self, call_id: str, outputs: Any, exception: BaseException | None = None) -> None:
            made = open_calls.pop(call_id, None)
            if made is not None:
                made.seconds = perf_counter() - made.started
                made.error = exception
                if exception is None:
                    made.result = outputs
                _running.set(made.parent)

    return Listener()


class _Fields(Struct, frozen=True):
    """What a module takes and gives.

    Args:
        inputs: The inputs, but the history.
        history: The input that takes what was said before, where there is one.
        needs_history: Whether it must be given.
        outputs: The outputs, where they are known.
    """

    inputs: tuple[str, ...]
    history: str | None
    needs_history: bool
    outputs: tuple[str, ...] | None

    @classmethod
    def of(cls, module: Any) -> _Fields:
        found = field(module, "signature") or field(field(module, "predict"), "signature")
        given, outputs = field(found, "input_fields"), field(found, "output_fields")
        if isinstance(given, Mapping) and isinstance(outputs, Mapping):
            history = next((name for name, one in given.items() if _is_history(field(one, "annotation"))), None)
            own = tuple(name for name in given if name != history)
            if history is None and is_a(module, "dspy.predict:ReActV2"):
                return cls(own, "history", False, tuple(outputs))
            return cls(own, history, history is not None, tuple(outputs))
        parameters = signature(_own(module, "forward") or module.aforward).parameters.values()
        named = [one for one in parameters if one.kind in (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)]
        history = next((one.name for one in named if one.name == "history" or _is_history(one.annotation)), None)
        required = [one.name for one in named if one.name != history and one.default is Parameter.empty]
        names = required or [one.name for one in named if one.name != history]
        needs = any(one.name == history and one.default is Parameter.empty for one in named)
        return cls(tuple(names), history, needs, None)


def _is_history(annotation: Any) -> bool:
    if isinstance(annotation, str):
        return annotation.rpartition(".")[2] == "History"
    return field(annotation, "__name__") == "History" and str(field(annotation, "__module__")).startswith("dspy.")


def _modules(value: Any, seen: dict[int, Any]) -> Iterator[Any]:
    """A module and those inside it."""
    if id(value) in seen:
        return
    seen[id(value)] = value
    if is_a(value, _MODULE):
        yield value
        for inner in vars(value).values():
            yield from _modules(inner, seen)
    elif type(value) in (list, tuple, dict):
        for inner in value.values() if type(value) is dict else value:
            yield from _modules(inner, seen)


def _with_mocks(value: Any, mocks: ToolMocks, copies: dict[int, Any]) -> Any:
    """A copy of a module in which tools ask the mocks before they run; models and everything else are shared."""
    known = copies.get(id(value))
    if known is not None:
        return known
    if is_a(value, _MODULE):
        copied = copies[id(value)] = copy(value)
        for name, inner in vars(value).items():
            vars(copied)[name] = _with_mocks(inner, mocks, copies)
        return copied
    if is_a(value, _TOOL):
        if str(field(value.func, "__module__")).startswith("dspy.predict.react"):
            return value
        return value.model_copy(update={"func": mocks.wrapped(value.name, value.func)})
    if type(value) is dict:
        return {key: _with_mocks(inner, mocks, copies) for key, inner in value.items()}
    return type(value)([_with_mocks(inner, mocks, copies) for inner in value]) if type(value) in (list, tuple) else value
