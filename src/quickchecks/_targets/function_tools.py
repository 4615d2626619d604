"""Python functions as tools of a model: described by their signatures, called with what the model wrote."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from inspect import Parameter, getdoc, iscoroutinefunction, signature
from typing import Any, get_type_hints

import msgspec

from quickchecks import _render, _wire
from quickchecks.errors import TargetError

__all__ = ("FunctionTool", "function_tools")


class FunctionTool:
    """A function and the form of its arguments.

    Args:
        function: The function; its name, docstring, and the annotations of its parameters describe the tool.

    Raises:
        TargetError: It is no function, or its arguments cannot be described to a model.
    """

    def __init__(self, function: Callable[..., object]) -> None:
        if not callable(function) or isinstance(function, type):
            raise TargetError(f"a tool is a function, not {_render.value(function)}")
        self.name = str(getattr(function, "__name__", type(function).__name__))
        self.description = getdoc(function) or ""
        self.is_async = iscoroutinefunction(function)
        self._function = function
        self._form = _form(self.name, function)

    def described(self) -> dict[str, Any]:
        """The tool as a chat completion request describes it."""
        schema = msgspec.json.schema(self._form)
        parameters = schema["$defs"].pop(self._form.__name__)
        parameters.pop("title", None)
        if schema["$defs"]:
            parameters["$defs"] = schema["$defs"]
        function = {"name": self.name, "description": self.description, "parameters": parameters}
        return {"type": "function", "function": function}

    @staticmethod
    def parsed(arguments: object) -> dict[str, Any]:
        """The arguments that a model wrote, as a mapping.

        Raises:
            ValueError: They are no JSON object.
        """
        found = _wire.loads(arguments or "{}") if isinstance(arguments, str) or arguments is None else arguments
        if not isinstance(found, Mapping):
            raise ValueError(f"the arguments are a JSON object, not {_render.value(found)}")
        return dict(found)

    def bound(self, arguments: Mapping[str, Any]) -> Callable[[], Any]:
        """The call with these arguments, ready to be made.

        Raises:
            ValueError: They do not fit the signature.
        """
        unknown = [name for name in arguments if name not in self._form.__struct_fields__]
        if unknown:
            raise ValueError(f"{self.name} takes no argument {unknown[0]!r}")
        found = msgspec.convert(dict(arguments), self._form)
        return partial(self._function, **{name: getattr(found, name) for name in self._form.__struct_fields__})


def function_tools(functions: Iterable[Callable[..., object]]) -> dict[str, FunctionTool]:
    """Describe functions as tools, by name.

    Raises:
        TargetError: One is no function, or two have the same name.
    """
    found: dict[str, FunctionTool] = {}
    for function in functions:
        tool = FunctionTool(function)
        if tool.name in found:
            raise TargetError(f"two tools are called {tool.name}")
        found[tool.name] = tool
    return found


def _same(value: object) -> object:
    return value


def _form(name: str, function: Callable[..., object]) -> type[msgspec.Struct]:
    try:
        parameters = signature(function).parameters
        hints = get_type_hints(function)
    except Exception as error:  # annotations are code of the user's
        raise TargetError(f"the tool {name} cannot be described: {type(error).__name__}: {error}") from error
    fields: list[tuple[str, Any] | tuple[str, Any, Any]] = []
    for parameter in parameters.values():
        if parameter.kind not in (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY):
            raise TargetError(f"the tool {name} takes {parameter}, and a model gives arguments by their names alone")
        kind = hints.get(parameter.name, object if parameter.default is Parameter.empty else Any)
        kind = Any if kind is object else kind
        if parameter.default is Parameter.empty:
            fields.append((parameter.name, kind))
        else:
            fields.append((parameter.name, kind, msgspec.field(default_factory=partial(_same, parameter.default))))
    try:
        form = msgspec.defstruct("Arguments", fields, kw_only=True)
        msgspec.json.schema(form)
    except Exception as error:
        raise TargetError(f"the tool {name} cannot be described: {error}; annotate its parameters with types of JSON") from error
    return form
