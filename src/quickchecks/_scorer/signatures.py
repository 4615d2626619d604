"""What a step function asks for: the names of its parameters."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING

from msgspec import Struct

from quickchecks._scorer.prompts import Prompt
from quickchecks.errors import ScorerDefinitionError, nearest_names

if TYPE_CHECKING:
    from quickchecks._scorer.context import Context

__all__ = ("Names", "names_of")


class Names(Struct, frozen=True, gc=False):
    """The names that a step is called with."""

    asked: tuple[str, ...]

    def select(self, context: Context) -> dict[str, object]:
        """The values to call the step with."""
        return {name: context.get(name) for name in self.asked}


def names_of(definition: Callable[..., object] | Prompt, known: tuple[str, ...], where: str) -> Names:
    """Read which of the known names a step takes.

    Args:
        definition: The step: a function, any other callable, or a Prompt (whose `create_prompt` is read).
        known: The names that this step may ask for.
        where: The step, for the message.

    Raises:
        ScorerDefinitionError: The step asks for another name, or its parameters cannot be read.
    """
    function = definition.create_prompt if isinstance(definition, Prompt) else definition
    given = getattr(function, "parameter_names", None)  # the built-in checks say it themselves
    if given is not None:
        return Names(given)
    required, optional, takes_all = _parameters(function, where)
    for name in required:
        if name not in known:
            raise ScorerDefinitionError(
                f"{where} asks for {name!r}, which it does not get{_hint(name, known)} (it may take {', '.join(known)})"
            )
    if takes_all:
        return Names(known)
    return Names((*required, *(name for name in optional if name in known)))


#: What steps ask for under the names that other tools give it.
_ELSEWHERE = {
    "output": "answer completion generated_text response text prediction actual_output",
    "expected": "expected_output ground_truth groundTruth gold label reference target",
    "input": "input_text prompt query question user_input",
    "run": "conversation messages trace trajectory tool_calls",
    "item": "case context example metadata row",
    "results": "preprocess preprocessStepResult analyze analyzeStepResult result",
}


def _hint(name: str, known: tuple[str, ...]) -> str:
    here = next((word for word, others in _ELSEWHERE.items() if name in others.split() and word in known), "")
    if here:
        return f": here it is called {here!r}"
    near = nearest_names(name, known)
    return f": {near}" if near.startswith("did you mean") else ""


def _parameters(function: Callable[..., object], where: str) -> tuple[list[str], list[str], bool]:
    """Required names, optional names, and whether it takes any keyword."""
    if type(function) is FunctionType:  # as inspect.signature would say, without importing it
        code = function.__code__
        if not code.co_flags & 0x0C and not code.co_posonlyargcount and not hasattr(function, "__wrapped__"):
            count = code.co_argcount
            positional = list(code.co_varnames[:count])
            keyword = list(code.co_varnames[count : count + code.co_kwonlyargcount])
            defaults = len(function.__defaults__ or ())
            with_default = set(function.__kwdefaults__ or ())
            required = positional[: count - defaults] + [name for name in keyword if name not in with_default]
            return required, [name for name in positional + keyword if name not in required], False
    from inspect import Parameter, signature

    try:
        parameters = signature(function).parameters.values()
    except (TypeError, ValueError):
        raise ScorerDefinitionError(
            f"{where}: the parameters of {function!r} cannot be read; wrap it in a function with named parameters"
        ) from None
    takes_all = any(parameter.kind is Parameter.VAR_KEYWORD for parameter in parameters)
    by_name = [p for p in parameters if p.kind in (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)]
    nameless = [p.name for p in parameters if p.kind is Parameter.POSITIONAL_ONLY and p.default is Parameter.empty]
    if nameless:
        raise ScorerDefinitionError(f"{where} takes {nameless[0]!r} by position only; steps are called by name")
    required = [p.name for p in by_name if p.default is Parameter.empty]
    return required, [p.name for p in by_name if p.default is not Parameter.empty], takes_all
