"""Eval files in Python: a dictionary called `evaluation`, or a function that returns one."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from importlib.util import module_from_spec, spec_from_file_location
from inspect import Parameter, iscoroutinefunction, signature
from os import PathLike, fspath
from pathlib import Path
from typing import cast

from quickchecks import _render
from quickchecks._evalfile._found import EvalFile
from quickchecks._evalfile._modules import forget, importable, loaded_files, note_loaded
from quickchecks._evaluation import EvalOptions
from quickchecks._items import items_of, load_items
from quickchecks.errors import SettingsError, TargetError, nearest_names

__all__ = ("load",)

#: Under which name the file is imported; its own may be that of another module.
_MODULE = "quickchecks_eval_file"
_NAME = "evaluation"
_KEYS = ("data", "target", "gates", "scorers")
_EXAMPLE = "write: evaluation = dict(data=[...], target=..., gates=[...], scorers=[...])"


def load(file: str, variables: Mapping[str, str]) -> EvalFile:
    """Read an eval file in Python.

    Args:
        file: The file.
        variables: Arguments for the function `evaluation`.

    Raises:
        SettingsError: It defines no evaluation, or one that makes no sense.
        TargetError: It raises when it is imported.
    """
    path = Path(file)
    content = _content(path)
    folders = (path.parent, Path())
    forget()
    importable(folders)
    before = set(sys.modules)
    try:
        found = _evaluation(path, variables)
    finally:
        note_loaded(before - {_MODULE}, folders)
    unknown = next((str(key) for key in found if key not in (*_KEYS, *EvalOptions.__annotations__)), None)
    if unknown is not None:
        near = nearest_names(unknown, (*_KEYS, *EvalOptions.__annotations__))
        raise SettingsError(f"{file}: {_NAME} has the key {unknown!r}, which run_evals does not take: {near}".rstrip(": "))
    if "data" not in found:
        raise SettingsError(f"{file}: {_NAME} has no data\n  {_EXAMPLE}")
    options = {key: value for key, value in found.items() if key in EvalOptions.__annotations__}
    record = options.get("record")
    if isinstance(record, (str, PathLike)):
        options["record"] = path.parent / fspath(record)
    data, target = found["data"], found.get("target")
    files = [path, *loaded_files()]
    if isinstance(data, (str, PathLike)):
        files.append(path.parent / fspath(data))
        items = load_items(files[-1])
    else:
        items = items_of(cast("Iterable[object]", data))
    return EvalFile(
        path=path,
        items=items,
        gates=_listed(found.get("gates"), "gates", file),
        scorers=_listed(found.get("scorers"), "scorers", file),
        options=cast("EvalOptions", options),
        load_target=lambda: target,
        files=tuple(dict.fromkeys(files)),
        beside_checks=content,
    )


def _content(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise SettingsError(f"{path}: this eval file cannot be read: {reason}") from error


def _evaluation(path: Path, variables: Mapping[str, str]) -> Mapping[str, object]:
    spec = spec_from_file_location(_MODULE, path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[_MODULE] = module
    wrote = sys.dont_write_bytecode
    sys.dont_write_bytecode = True
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        place = f":{error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
        raise TargetError(f"{path}{place}: it cannot be imported: {type(error).__name__}: {error}") from error
    finally:
        sys.dont_write_bytecode = wrote
    if not hasattr(module, _NAME):
        near = nearest_names(_NAME, [name for name in vars(module) if not name.startswith("_")])
        hint = near if near.startswith("did") else _EXAMPLE
        raise SettingsError(f"{path}: it defines no `{_NAME}`\n  {hint}")
    found: object = vars(module)[_NAME]
    if callable(found):
        found = _called(found, path, variables)
    elif variables:
        raise SettingsError(f"{path}: --set needs a function: def evaluation({', '.join(variables)}): return dict(...)")
    if not isinstance(found, Mapping):
        raise SettingsError(f"{path}: {_NAME} is a dictionary, not {_render.value(found)}\n  {_EXAMPLE}")
    return cast("Mapping[str, object]", found)


def _called(function: Callable[..., object], path: Path, variables: Mapping[str, str]) -> object:
    parameters = signature(function).parameters
    if iscoroutinefunction(function):
        raise SettingsError(f"{path}: the function {_NAME} is asynchronous: make it a plain one that returns a dictionary")
    takes_all = any(one.kind is Parameter.VAR_KEYWORD for one in parameters.values())
    unknown = next((name for name in variables if name not in parameters and not takes_all), None)
    if unknown is not None:
        hint = nearest_names(unknown, parameters) or "it takes none"
        raise SettingsError(f"{path}: the function {_NAME} takes no {unknown!r}: {hint}")
    kinds = (Parameter.VAR_KEYWORD, Parameter.VAR_POSITIONAL)
    for name, one in parameters.items():
        if one.default is Parameter.empty and one.kind not in kinds and name not in variables:
            raise SettingsError(f"{path}: the function {_NAME} needs {name!r}: give it with --set {name}=…")
    try:
        return function(**variables)
    except (Exception, SystemExit) as error:
        raise TargetError(f"{path}: {_NAME}() raised {type(error).__name__}: {error}") from error


def _listed(entries: object, name: str, file: str) -> tuple[object, ...]:
    if entries is None:
        return ()
    if not isinstance(entries, (list, tuple)):
        raise SettingsError(f"{file}: {name} is a list, not {_render.value(entries)}")
    return tuple(entries)
