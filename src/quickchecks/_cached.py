"""A property that is computed once."""

from __future__ import annotations

from typing import TYPE_CHECKING

__all__ = ("cached",)

if TYPE_CHECKING:
    from builtins import property as cached  # what it is to whoever reads it, so that protocols take it for one
else:

    class cached:  # noqa: N801 - used as a decorator
        """A property computed once per frozen value and then read like a plain attribute.

        `functools.cached_property` takes a lock and imports more; two threads that compute the same value at once do no
        harm here, because the values are frozen.
        """

        def __init__(self, compute):
            self._compute = compute
            self._name = compute.__name__
            self.__doc__ = compute.__doc__

        def __get__(self, instance, owner):
            if instance is None:
                return self
            value = instance.__dict__[self._name] = self._compute(instance)
            return value
