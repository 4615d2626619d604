"""Arguments of checks that come from the item: one check serves a whole dataset."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Iterator, Mapping
from functools import wraps
from typing import TypeVar, cast

import msgspec
from msgspec import UNSET, Struct, UnsetType

from quickchecks import _render
from quickchecks._run import Run
from quickchecks._score import Explanation, Score
from quickchecks._scorer.context import Context, Judged
from quickchecks._scorer.definition import create_scorer
from quickchecks._scorer.pipeline import Scorer
from quickchecks.errors import CheckArgumentError, CheckArgumentTypeError

__all__ = ("FromItem", "deferrable", "from_item", "holds_fields", "item_fields")

_F = TypeVar("_F", bound=Callable[..., Scorer])

#: A check is made once for each different value; so many of them are kept.
_MOST_CHECKS = 1000


class FromItem(Struct, frozen=True, gc=False):
    """Stands for a field of the item in the arguments of a check.

    Args:
        field: The field, such as "expected", or one of the item's metadata; "metadata.city" reaches into it.
    """

    field: str

    def __repr__(self) -> str:
        return f"from_item({self.field!r})"


def from_item(field: str) -> FromItem:
    """Take the argument of a check from each item.

    Args:
        field: The field of the item, such as "expected", or the name of something in its metadata.

    Returns:
        A placeholder; `checks.includes(from_item("expected"))` is one check for a whole dataset. Where an item has no
        such field, the score is an error that says so.

    Raises:
        CheckArgumentTypeError: The field is no name.

    Example:
        >>> from quickchecks import checks, from_item
        >>> check = checks.includes(from_item("expected"))
        >>> check
        includes(from_item('expected'))
        >>> check.score("It is sunny.", expected="sunny").outcome
        'passed'
    """
    if not isinstance(field, str) or not field:
        raise CheckArgumentTypeError(f"from_item() takes the name of a field of the item, not {_render.value(field)}")
    return FromItem(field)


def deferrable(function: _F) -> _F:
    """Let a function that makes a check take `from_item(...)` for any of its arguments.

    The check is then made when the item is known, once for each different value.

    Args:
        function: The function.
    """

    @wraps(function)
    def make(*arguments: object, **options: object) -> Scorer:
        for value in (*arguments, *options.values()):
            if holds_fields(value):
                return _deferred(function, arguments, options)
        return function(*arguments, **options)

    # Whoever writes the expression of a check leaves out what equals the defaults, which `wraps` does not copy.
    made = cast(_F, make)
    made.__kwdefaults__ = getattr(function, "__kwdefaults__", None)
    return made


def holds_fields(value: object) -> bool:
    """Whether an argument is `from_item(...)`, or a list or a mapping with one inside."""
    return type(value) is FromItem or (type(value) in (list, tuple, dict) and any(True for _ in _fields(value)))


def item_fields(scorer: Scorer) -> tuple[str, ...]:
    """The fields of an item that a scorer needs for its arguments, those of the scorers inside it included.

    Example:
        >>> from quickchecks import checks
        >>> item_fields(~checks.includes(from_item("expected")) & checks.excludes("error"))
        ('expected',)
    """
    return tuple(dict.fromkeys(_fields_of_scorer(scorer)))


def _fields_of_scorer(scorer: Scorer) -> Iterator[str]:
    for step in scorer.steps:
        if isinstance(step.definition, _Deferred):
            yield from _fields((step.definition.arguments, dict(step.definition.options)))
        parts = getattr(step.definition, "parts", ())
        for part in parts if isinstance(parts, tuple) else ():
            if isinstance(part, Scorer):
                yield from _fields_of_scorer(part)


def _fields(value: object) -> Iterator[str]:
    if type(value) is FromItem:
        yield value.field
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _fields(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _fields(item)


def _deferred(function: Callable[..., Scorer], arguments: tuple[object, ...], options: Mapping[str, object]) -> Scorer:
    arguments, options = _in_order(function, arguments, options)
    # A check like those that will be made: it refuses what is wrong with the other arguments now, and not on every item.
    sample = _sample(function, arguments, options)
    given = {key: value for key, value in options.items() if key not in ("name", "why")}
    empty = create_scorer(
        id=sample.id,
        description=sample.description,
        name=sample.name,
        why=sample.why,
        score_range=sample.score_range,
        explain=_explain,
    )
    expression = _DeferredCall(function.__name__, arguments, given)
    empty = msgspec.structs.replace(empty, expression=expression, graded=sample.graded)
    revision = " ".join(str(getattr(step.definition, "revision", "")) for step in sample.steps)
    return empty.generate_score(_Deferred(function, arguments, given, {}, revision))


def _in_order(
    function: Callable[..., Scorer], arguments: tuple[object, ...], options: Mapping[str, object]
) -> tuple[tuple[object, ...], dict[str, object]]:
    """The arguments as the expression has them: the subject by position, no defaults."""
    from inspect import signature

    known = signature(function)
    try:
        bound = known.bind(*arguments, **options)
    except TypeError as error:
        raise TypeError(f"{function.__name__}() {error}") from None
    options = {key: value for key, value in bound.kwargs.items() if value != known.parameters[key].default}
    return bound.args, options


def _sample(function: Callable[..., Scorer], arguments: tuple[object, ...], options: Mapping[str, object]) -> Scorer:
    from inspect import signature

    from quickchecks._scorer.catalogue import describe, value_kinds

    kinds = {one.name: one.kinds for one in describe(function).parameters}
    bound = signature(function).bind(*arguments, **options)

    def stand_in(parameter: str, value: object) -> object:
        if not holds_fields(value) or parameter in ("name", "why"):
            return value  # an identity cannot differ from item to item; the check refuses it
        if type(value) is not FromItem:
            return [_example("text") if type(one) is FromItem else one for one in value] if isinstance(value, list) else value
        known = kinds.get(parameter) or value_kinds(object)
        kind = next((kind for kind in known if kind.name != "none"), known[0])
        return kind.choices[0] if kind.choices else _example(kind.name)

    for name, value in bound.arguments.items():
        bound.arguments[name] = stand_in(name, value)
    return function(*bound.args, **bound.kwargs)


def _example(kind: str) -> object:
    examples: dict[str, object] = {"bool": True, "int": 1, "float": 0.5, "list": ["x"], "mapping": {"x": "x"}}
    return examples.get(kind, "x")


class _DeferredCall(Struct, frozen=True, gc=False):
    function: str
    arguments: tuple[object, ...]
    options: Mapping[str, object]

    def text(self, name: str | None = None, why: str = "") -> str:
        options = {**self.options, **({"name": name} if name else {}), **({"why": why} if why else {})}
        written = [*map(repr, self.arguments), *(f"{key}={options[key]!r}" for key in sorted(options))]
        return f"{self.function}({', '.join(written)})"


class _Deferred(Struct, frozen=True):
    """The score step: makes the check for the item's values and asks it."""

    function: Callable[..., Scorer]
    arguments: tuple[object, ...]
    options: Mapping[str, object]
    made: dict[str, Scorer]
    revision: str
    is_async: bool = True  # the check that is made may be
    parameter_names: tuple[str, ...] = ("run",)

    def evaluate(self, context: Context) -> Generator[Awaitable[object], object, Judged]:
        check = self._check(context.item, context.expected)
        if check.quick is not None:
            score = check.score(context.run)
        else:
            score = yield from check._evaluate(msgspec.structs.replace(context, results=None))
        return Judged(score.outcome, score.value, (score,))

    def __call__(self, run: Run) -> object:
        raise NotImplementedError  # `evaluate` is what is driven

    def _check(self, item: object, expected: object) -> Scorer:
        arguments = [self._filled(value, item, expected) for value in self.arguments]
        options = {key: self._filled(value, item, expected) for key, value in self.options.items()}
        key = repr((arguments, options))
        check = self.made.get(key)
        if check is None:
            try:
                check = self.function(*arguments, **options)
            except CheckArgumentError as error:
                fields = ", ".join(map(repr, dict.fromkeys(_fields((self.arguments, dict(self.options))))))
                raise CheckArgumentError(f"the {fields} of {_who(item)} cannot be used: {error}") from error
            if len(self.made) >= _MOST_CHECKS:
                self.made.clear()
            self.made[key] = check
        return check

    def _filled(self, value: object, item: object, expected: object) -> object:
        if type(value) is list or type(value) is tuple:
            return [self._filled(one, item, expected) for one in value]
        if type(value) is dict:
            return {key: self._filled(one, item, expected) for key, one in value.items()}
        if type(value) is not FromItem:
            return value
        found = _looked_up(value.field, item, expected)
        if isinstance(found, UnsetType):
            raise ValueError(f"{_who(item)} has no {value.field!r}, which {self.function.__name__}({value!r}) asks for")
        return found


def _who(item: object) -> str:
    if item is None:
        return "what is scored"
    identity = item.get("id") if isinstance(item, Mapping) else getattr(item, "id", None)
    return "the item" if identity is None else f"the item {identity!r}"


def _looked_up(field: str, item: object, expected: object) -> object:
    """The value of a field; UNSET when there is none, or nothing in it."""
    found = _field(item, field)
    if isinstance(found, UnsetType) and field == "expected" and expected is not None:
        return expected
    if isinstance(found, UnsetType) and "." in field:
        first, *path = field.split(".")
        found = expected if first == "expected" and expected is not None else _field(item, first)
        for name in path:
            found = found.get(name) if isinstance(found, Mapping) else UNSET
    return UNSET if found is None else found


def _field(item: object, name: str) -> object:
    if isinstance(item, Mapping):
        metadata = item.get("metadata")
        found = item.get(name, metadata.get(name, UNSET) if isinstance(metadata, Mapping) else UNSET)
    else:
        read = getattr(item, "field", None)
        found = read(name) if callable(read) else UNSET
    return UNSET if found is None else found


def _explain(run: Run, score: Score) -> Explanation:
    return score.parts[0].explanation
