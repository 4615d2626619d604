"""Importing what an eval file names: from its folder, or from the current directory."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType

from quickchecks import _render
from quickchecks.errors import TargetError, nearest_names

__all__ = ("attribute", "call", "forget", "import_module", "importable", "loaded_files", "note_loaded")

#: The modules that were loaded for eval files, with their files.
_LOADED: dict[str, Path] = {}


def importable(folders: Sequence[Path]) -> None:
    """Put folders before all others in which Python looks for modules."""
    for folder in reversed([str(folder.resolve()) for folder in folders]):
        if folder in sys.path:
            sys.path.remove(folder)
        sys.path.insert(0, folder)
    importlib.invalidate_caches()


def import_module(name: str, folders: Sequence[Path]) -> ModuleType:
    """Import a module, the nearest of its name.

    Args:
        name: The module.
        folders: Where to look first.

    Raises:
        TargetError: There is none, or it raises when it is imported.
    """
    importable(folders)
    _forget_namesake(name.partition(".")[0], folders)
    before = set(sys.modules)
    wrote = sys.dont_write_bytecode
    sys.dont_write_bytecode = True  # a file that changes twice in a second would be taken for the same
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        missing = error.name or ""
        if name == missing or name.startswith(f"{missing}."):
            raise TargetError(f"there is no module {_render.quoted(name)}{_hint(name, folders)}") from None
        raise TargetError(f"{name} imports {_render.quoted(missing)}, which is not installed") from error
    except (Exception, SystemExit) as error:
        raise TargetError(f"{name} cannot be imported: {_where(error)}{type(error).__name__}: {error}") from error
    finally:
        sys.dont_write_bytecode = wrote
        note_loaded(before, folders)
        spec = PathFinder.find_spec(name.partition(".")[0], [str(folder.resolve()) for folder in folders])
        if spec is not None and spec.origin is not None:  # a module that breaks is not kept, and is mended in its file
            _LOADED[spec.name] = Path(spec.origin)


def note_loaded(before: set[str], folders: Sequence[Path]) -> None:
    """Remember the modules in these folders that were loaded since.

    Args:
        before: The names of the modules that were loaded before.
        folders: The folders.
    """
    roots = [folder.resolve() for folder in folders]
    for name in set(sys.modules) - before:
        file = getattr(sys.modules[name], "__file__", None)
        if isinstance(file, str) and "site-packages" not in file and any(Path(file).is_relative_to(root) for root in roots):
            _LOADED[name] = Path(file)


def loaded_files() -> tuple[Path, ...]:
    """The files of the modules that were loaded for eval files."""
    return tuple(_LOADED.values())


def forget() -> None:
    """Forget the modules that were loaded for eval files, so that they are read again."""
    for name in _LOADED:
        sys.modules.pop(name, None)
    _LOADED.clear()


def attribute(module: ModuleType, dotted: str) -> object:
    """Find what a name stands for in a module.

    Raises:
        TargetError: There is no such name; the message has the nearest.
    """
    found: object = module
    for part in dotted.split("."):
        if not hasattr(found, part):
            names = [name for name in vars(found) if not name.startswith("_")] if hasattr(found, "__dict__") else []
            near = nearest_names(part, names)
            hint = f": {near}" if near.startswith("did") else ""
            raise TargetError(f"{module.__name__} has no {_render.quoted(part)}{hint}")
        found = getattr(found, part)
    return found


def call(factory: object, name: str) -> object:
    """Call a factory without arguments.

    Raises:
        TargetError: It is no function, or raises.
    """
    if not callable(factory):
        raise TargetError(f"{name}() calls what cannot be called: leave out the ()")
    make: Callable[[], object] = factory
    try:
        return make()
    except (Exception, SystemExit) as error:
        raise TargetError(f"{name}() raised {type(error).__name__}: {error}") from error


def _forget_namesake(top: str, folders: Sequence[Path]) -> None:
    """Forget a module of the same name that was loaded for another eval file."""
    known = sys.modules.get(top)
    if known is None or top not in _LOADED:
        return
    spec = PathFinder.find_spec(top, [str(folder.resolve()) for folder in folders])
    if spec is not None and spec.origin is not None and spec.origin != getattr(known, "__file__", None):
        for name in [name for name in _LOADED if name == top or name.startswith(f"{top}.")]:
            sys.modules.pop(name, None)
            del _LOADED[name]


def _hint(name: str, folders: Sequence[Path]) -> str:
    near = nearest_names(name.partition(".")[0], sorted(set(_modules_in(folders))))
    if near.startswith("did"):
        return f": {near}"
    return "; modules are looked for in " + " and ".join(dict.fromkeys(str(folder) for folder in folders))


def _modules_in(folders: Sequence[Path]) -> Iterator[str]:
    for folder in folders:
        for entry in os.scandir(folder):
            if entry.name.endswith(".py"):
                yield entry.name.removesuffix(".py")
            elif entry.is_dir() and os.path.exists(os.path.join(entry.path, "__init__.py")):
                yield entry.name


def _where(error: BaseException) -> str:
    """The place in the user's code where an import broke."""
    traceback, place = error.__traceback__, ""
    while traceback is not None:
        file = traceback.tb_frame.f_code.co_filename
        if not file.startswith("<frozen") and file != __file__ and os.sep + "importlib" + os.sep not in file:
            place = f"{file}:{traceback.tb_lineno}: "
        traceback = traceback.tb_next
    return place
