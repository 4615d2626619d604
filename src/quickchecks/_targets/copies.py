"""Copies of what a target is given, which it may change as it likes."""

from __future__ import annotations

from typing import cast

from quickchecks._read_only import ReadOnlyDict, ReadOnlyList

__all__ = ("own_copy",)


def own_copy(value: object) -> object:
    """A value that the target may change: the item keeps its own, for other repetitions and for whoever looks at it later.

    Lists, dicts, sets and what is made of fields are copied, at every depth; everything else stays what it is.

    Example:
        >>> asked = {"numbers": [1, 2]}
        >>> own_copy(asked) == asked, own_copy(asked) is asked
        (True, False)
    """
    if type(value) in _NEVER_CHANGE:
        return value
    try:
        return _copied(value, {})
    except RecursionError:
        return value


_NEVER_CHANGE = frozenset((str, int, float, bool, bytes, type(None)))
_MADE_OF_FIELDS = ("__dataclass_fields__", "__struct_fields__", "__attrs_attrs__", "model_dump")


def _copied(value: object, made: dict[int, object]) -> object:
    """`made` holds what is copied already, by id, so that a value that holds itself is copied into one that does."""
    kind = type(value)
    if kind in _NEVER_CHANGE:
        return value
    if id(value) in made:
        return made[id(value)]
    if kind is dict or kind is ReadOnlyDict:
        mapping: dict[object, object] = {}
        made[id(value)] = mapping
        mapping.update((key, _copied(item, made)) for key, item in cast(dict[object, object], value).items())
        return mapping
    if kind is list or kind is ReadOnlyList:
        items: list[object] = []
        made[id(value)] = items
        items.extend(_copied(item, made) for item in cast(list[object], value))
        return items
    if kind is tuple:
        return tuple([_copied(item, made) for item in cast(tuple[object, ...], value)])
    if isinstance(value, (dict, list, set, bytearray)) or any(hasattr(kind, mark) for mark in _MADE_OF_FIELDS):
        from copy import deepcopy

        try:
            return deepcopy(value)
        except Exception:  # it holds a connection, a lock or the like
            return value
    return value
