"""Lists and dicts that refuse to be changed, for values that several steps or scorers see."""

from __future__ import annotations

from types import MappingProxyType
from typing import NoReturn, cast

from msgspec import UnsetType

__all__ = ("UNCHANGEABLE", "ReadOnlyDict", "ReadOnlyList", "read_only")


def read_only(value: object) -> object:
    """Copy lists, dicts and sets, at every depth, into ones that cannot be changed; everything else stays what it is.

    The copies are still lists and dicts: they compare equal to the originals, and JSON encoders take them.

    Example:
        >>> read_only({"found": [1, 2]}) == {"found": [1, 2]}
        True
    """
    return value if type(value) in UNCHANGEABLE else _copy(value)


def _copy(value: object) -> object:
    """Copy without recursion, because what models write may be nested as deeply as it likes."""
    made: dict[int, object] = {}  # what is copied already, by id: a value that holds itself becomes one that does
    left: list[tuple[dict[object, object] | list[object], object]] = []

    def begun(value: object) -> object:
        if type(value) in UNCHANGEABLE:
            return value
        if id(value) in made:
            return made[id(value)]
        if isinstance(value, (dict, MappingProxyType)):
            mapping = made[id(value)] = ReadOnlyDict()
            left.append((mapping, value))
            return mapping
        if isinstance(value, list):
            items = made[id(value)] = ReadOnlyList()
            left.append((items, value))
            return items
        if isinstance(value, set):
            return frozenset(value)
        if isinstance(value, bytearray):
            return bytes(value)
        if isinstance(value, tuple):
            copied = tuple([begun(item) for item in value])
            make = getattr(type(value), "_make", None)  # a named tuple keeps its names
            return make(copied) if make is not None else copied if type(value) is tuple else value
        return value

    found = begun(value)
    while left:
        copy, original = left.pop()
        if isinstance(copy, dict):
            dict.update(copy, {key: begun(item) for key, item in cast(dict[object, object], original).items()})
        else:
            list.extend(copy, [begun(item) for item in cast(list[object], original)])
    return found


def _refuse(self: object, *_: object, **__: object) -> NoReturn:
    raise TypeError("what a step gets is read-only: change a copy of it, and return that")


class ReadOnlyDict(dict[object, object]):
    """A dict that refuses to be changed."""

    __slots__ = ()
    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[type, tuple[object]]:
        return dict, (dict(self),)  # a copy is an ordinary dict


class ReadOnlyList(list[object]):
    """A list that refuses to be changed."""

    __slots__ = ()
    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
    append = clear = extend = insert = pop = remove = reverse = sort = _refuse

    def __reduce__(self) -> tuple[type, tuple[object]]:
        return list, (list(self),)


#: The types of what nobody can change.
UNCHANGEABLE = frozenset((str, int, float, bool, bytes, type(None), UnsetType, frozenset, ReadOnlyDict, ReadOnlyList))
