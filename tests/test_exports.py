"""The public face: what is exported exists, and every module can be imported on its own."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import quickchecks

PACKAGE = Path(quickchecks.__file__).parent


def modules() -> list[str]:
    """Every module of the package, by its dotted name."""
    files = sorted(PACKAGE.rglob("*.py"))
    parts = [("quickchecks", *file.relative_to(PACKAGE).with_suffix("").parts) for file in files]
    return [".".join(names).removesuffix(".__init__") for names in parts if names[-1] != "__main__"]


@pytest.mark.parametrize("name", quickchecks.__all__)
def test_every_exported_name_resolves(name: str) -> None:
    assert getattr(quickchecks, name) is not None


def test_the_exported_names_are_sorted_and_listed_once() -> None:
    assert quickchecks.__all__ == sorted(set(quickchecks.__all__))


def test_a_star_import_gives_exactly_the_exported_names() -> None:
    namespace: dict[str, object] = {}
    exec("from quickchecks import *", namespace)
    assert set(namespace) - {"__builtins__"} == set(quickchecks.__all__)


def test_dir_lists_the_exported_names() -> None:
    assert dir(quickchecks) == quickchecks.__all__


def test_type_checkers_see_exactly_the_exported_names() -> None:
    """The imports under TYPE_CHECKING, which checkers and editors read, are the names that exist when it runs."""
    tree = ast.parse(Path(quickchecks.__file__).read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
    own = [node for node in block.body if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("quickchecks")]
    seen = {alias.asname or alias.name for node in own for alias in node.names}
    assert seen | {"__version__"} == set(quickchecks.__all__)


def test_an_unknown_name_is_an_attribute_error_that_names_it() -> None:
    with pytest.raises(AttributeError, match="'quickchecks' has no attribute 'chekcs'") as caught:
        quickchecks.chekcs  # type: ignore[attr-defined]  # noqa: B018
    assert caught.value.name == "chekcs"


def test_the_version_is_that_of_the_installed_distribution() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", quickchecks.__version__)


@pytest.mark.parametrize("module", modules())
def test_each_module_can_be_imported_first(module: str) -> None:
    """No module relies on another having been imported before it, and none warns."""
    command = [sys.executable, "-W", "error", "-c", f"import {module}"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("module", [name for name in modules() if not any(part.startswith("_") for part in name.split("."))])
def test_the_public_names_of_public_modules_exist(module: str) -> None:
    loaded = sys.modules.get(module) or __import__(module, fromlist=["__name__"])
    missing = [name for name in getattr(loaded, "__all__", ()) if not hasattr(loaded, name)]
    assert missing == []


def public_functions_and_classes(name: str) -> dict[str, object]:
    """What stands under an exported name: itself, or what the module that it names exports."""
    value = getattr(quickchecks, name)
    found = {name: value}
    if isinstance(value, ModuleType):
        found = {f"{name}.{inner}": getattr(value, inner) for inner in value.__all__}
    return {place: one for place, one in found.items() if inspect.isfunction(one) or inspect.isclass(one)}


@pytest.mark.parametrize("name", quickchecks.__all__)
def test_public_functions_and_classes_have_docstrings_that_describe_every_parameter(name: str) -> None:
    for place, value in public_functions_and_classes(name).items():
        text = inspect.getdoc(value) or ""
        assert text, f"{place} has no docstring"
        if inspect.isfunction(value):
            described = set(re.findall(r"^ +\*{0,2}(\w+)(?: \([^)]*\))?:", text, re.MULTILINE))
            assert set(inspect.signature(value).parameters) - described == set(), f"{place} leaves parameters undescribed"
