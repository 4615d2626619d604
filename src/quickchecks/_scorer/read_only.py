"""Lists and dicts that refuse to be changed, for values that several steps or scorers see."""

from __future__ import annotations

from typing import NoReturn

__all__ = ("read_only",)


def read_only(value: object) -> object:
    """Copy lists, dicts and sets, at every depth, into ones that cannot be changed; everything else stays what it is.

    The copies are still lists and dicts: they compare equal to the originals, and JSON encoders take them.

    Example:
        >>> read_only({"found": [1, 2]}) == {"found": [1, 2]}
        True
    """
    return _copy(value, {}) if type(value) in (dict, list, set, tuple) else value


def _copy(value: object, made: dict[int, object]) -> object:
    """`made` holds what is copied already, by id, so that a value that holds itself is copied into one that does."""
    kind = type(value)
    if kind not in (dict, list, set, tuple):
        return value
    if id(value) in made:
        return made[id(value)]
    if isinstance(value, dict):
        mapping = made[id(value)] = _ReadOnlyDict()
        dict.update(mapping, {key: _copy(item, made) for key, item in value.items()})
        return mapping
    if isinstance(value, list):
        items = made[id(value)] = _ReadOnlyList()
        list.extend(items, [_copy(item, made) for item in value])
        return items
    if isinstance(value, set):
        return frozenset(value)
    assert isinstance(value, tuple)
    return tuple([_copy(item, made) for item in value])


def _refuse(self: object, *_: object, **__: object) -> NoReturn:
    raise TypeError("what a step gets is read-only: change a copy of it, and return that")


class _ReadOnlyDict(dict[object, object]):
    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[type, tuple[object]]:
        return dict, (dict(self),)  # a copy is an ordinary dict


class _ReadOnlyList(list[object]):
    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
    append = clear = extend = insert = pop = remove = reverse = sort = _refuse

    def __reduce__(self) -> tuple[type, tuple[object]]:
        return list, (list(self),)
