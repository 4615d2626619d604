"""Objects of foreign libraries: known by the names of their classes, so that nothing has to be imported to know them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from itertools import islice
from typing import Any
from weakref import WeakKeyDictionary

import msgspec

from quickchecks import _wire
from quickchecks.adapters._dialects import LOOK_AT

__all__ = ("field", "first_foreign", "is_a", "is_foreign", "library", "plain")

_PLAIN = frozenset((dict, list, tuple, str, int, float, bool, bytes, type(None)))

_names: WeakKeyDictionary[type, tuple[tuple[str, str], ...]] = WeakKeyDictionary()


def is_a(value: Any, *classes: str) -> bool:
    """Whether a value is an instance of a class of a foreign library.

    Args:
        value: The value.
        classes: Where the class is defined and what it is called, as "package.module:Name"; a module further down counts too,
            because libraries move their classes about.

    Example:
        >>> from collections import OrderedDict
        >>> is_a(OrderedDict(), "collections:OrderedDict"), is_a({}, "collections:OrderedDict")
        (True, False)
    """
    cls = type(value)
    if cls in _PLAIN:
        return False
    names = _names.get(cls)
    if names is None:
        names = _names[cls] = tuple((str(base.__module__), base.__name__) for base in cls.__mro__)
    for wanted in classes:
        module, _, name = wanted.partition(":")
        for where, called in names:
            if called == name and (where == module or where.startswith(f"{module}.")):
                return True
    return False


def is_foreign(value: Any) -> bool:
    """Whether a value is neither JSON nor a value of ours, so that it may be an object of a library."""
    return type(value) not in _PLAIN


def first_foreign(value: Any) -> Any:
    """The object by which a value may be known: itself, the first in a list, or the first under `messages`; else None."""
    if type(value) is dict:
        value = value.get("messages")
        if value is None:
            return None
    if type(value) is list or type(value) is tuple:
        return next((item for item in islice(value, LOOK_AT) if type(item) not in _PLAIN), None)
    return value if type(value) not in _PLAIN else None


def library(name: str) -> Any:
    """A module of a framework whose agent the user holds, so that it is loaded already."""
    return import_module(name)


def field(value: Any, name: str, default: Any = None) -> Any:
    """A field of an object or of a mapping; the default where there is none, or where reading it raises."""
    if isinstance(value, Mapping):
        return value.get(name, default)
    try:
        return getattr(value, name, default)
    except Exception:  # a property of foreign code
        return default


def plain(value: Any) -> Any:
    """A value as dicts, lists and scalars, so that it can be kept and written; what cannot be so is its text.

    Args:
        value: What a tool returned, or what it was given.
    """
    if type(value) is str or value is None or type(value) is bool or type(value) is int:
        return value

    def inner(foreign: Any) -> Any:
        for dump in _dumps(foreign):
            try:
                return dump()
            except Exception:  # foreign code
                continue
        text = _wire.as_text(foreign)
        return f"{type(foreign).__name__}: {text}" if isinstance(foreign, BaseException) else text  # which reads as an error

    try:
        return msgspec.to_builtins(value, str_keys=True, enc_hook=inner)
    except Exception:  # such as a dataclass whose property raises
        return _wire.as_text(value)


def _dumps(foreign: Any) -> Iterator[Any]:
    if isinstance(foreign, type):
        return
    dump = getattr(foreign, "model_dump", None)
    if callable(dump):
        yield lambda: dump(mode="json", warnings=False)
        yield lambda: dump(mode="json")
        yield dump
