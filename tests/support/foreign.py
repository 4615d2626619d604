"""Objects that look like those of a library that is not installed: what is recognised by the names of classes alone."""

from __future__ import annotations

from typing import Any


def foreign(path: str, *bases: type, **fields: Any) -> Any:
    """Make an object of a class "package.module:Name", with these fields.

    Args:
        path: Where the class says that it is defined, and its name.
        bases: The classes that it inherits from; see `foreign_class`.
        fields: What the object holds.
    """
    made = foreign_class(path, *bases)()
    vars(made).update(fields)
    return made


def foreign_class(path: str, *bases: type) -> type:
    """Make a class "package.module:Name"."""
    module, _, name = path.partition(":")
    return type(name, bases or (object,), {"__module__": module})
