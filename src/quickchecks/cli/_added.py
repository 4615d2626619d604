"""What other packages add to quickchecks by entry points, loaded one after the other."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from contextlib import redirect_stdout
from importlib.metadata import EntryPoint, entry_points

from msgspec import Struct

__all__ = ("GROUPS", "Added", "added", "unknown_groups")


class Added(Struct, frozen=True):
    """One entry point.

    Args:
        group: Its group, such as `quickchecks.adapters`.
        name: Its name.
        value: What it points at.
        distribution: The package that it comes with, and its version.
        error: Why it cannot be used; None where it can.
    """

    group: str
    name: str
    value: str
    distribution: str
    error: str | None = None


def _lacks(*names: str) -> Callable[[object], str | None]:
    def judge(found: object) -> str | None:
        missing = [name for name in names if not callable(getattr(found, name, None))]
        return f"it has no function {' and no function '.join(missing)}" if missing else None

    return judge


def _not_callable(found: object) -> str | None:
    return None if callable(found) else f"it is {type(found).__name__}, which cannot be called"


#: What an entry point of each group must be.
GROUPS: dict[str, Callable[[object], str | None]] = {
    "quickchecks.adapters": _lacks("recognises", "load"),
    "quickchecks.checks": _not_callable,
    "quickchecks.reports": lambda found: None,
}


def added() -> tuple[Added, ...]:
    """The entry points of our groups, each of them loaded."""
    return tuple(_added(point) for group in GROUPS for point in sorted(entry_points(group=group), key=_place))


def unknown_groups() -> tuple[str, ...]:
    """Groups whose names begin as ours do, and that nobody looks at."""
    return tuple(sorted(group for group in entry_points().groups if group.startswith("quickchecks.") and group not in GROUPS))


def _added(point: EntryPoint) -> Added:
    from quickchecks.reports import _safe

    error: str | None
    try:
        with redirect_stdout(sys.stderr):
            error = GROUPS[point.group](point.load())
    except (Exception, SystemExit) as raised:
        error = f"it cannot be loaded: {type(raised).__name__}: {raised}"
    if error is None and point.name in _own(point.group):
        error = f"quickchecks has one of the name {point.name} itself, which is used instead"
    comes_with = f"{point.dist.name} {point.dist.version}" if point.dist is not None else ""
    return Added(point.group, point.name, point.value, comes_with, _safe.one_line(error) if error else None)


def _own(group: str) -> Iterable[str]:
    """The names that quickchecks itself has in a group."""
    import pkgutil

    if group == "quickchecks.checks":
        from quickchecks.checks import __all__ as names

        return names
    from quickchecks import adapters, reports

    if group == "quickchecks.adapters":
        return [module.name for module in pkgutil.iter_modules(adapters.__path__) if not module.name.startswith("_")]
    forms = [module.name for module in pkgutil.iter_modules(reports.__path__) if module.name.startswith("as_")]
    return [name.removeprefix("as_").replace("_", ".") for name in forms]


def _place(point: EntryPoint) -> tuple[str, str]:
    return point.name, point.value
