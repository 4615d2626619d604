"""What `target:` of an eval file in YAML names: it is imported, and looked at, when it is asked for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from quickchecks import _render
from quickchecks._evalfile import _modules
from quickchecks._scorer.binding import Place
from quickchecks._targets import target_of
from quickchecks.adapters import agent_kind
from quickchecks.errors import TargetError

__all__ = ("Elsewhere", "InModule")


class InModule(Struct, frozen=True):
    """What `target:` names; imported when it is called."""

    module: str
    attribute: str
    is_factory: bool
    folders: tuple[Path, ...]
    place: Place

    def __call__(self) -> object:
        try:
            found = _modules.attribute(_modules.import_module(self.module, self.folders), self.attribute)
            if self.is_factory:
                found = _modules.call(found, self.attribute)
            if not callable(found) and agent_kind(found) is None:
                raise TargetError(f"the target is {_render.value(found)}, which cannot be called with an input")
            return found
        except TargetError as error:
            raise TargetError(f"{self.place}: {error}") from error


class Elsewhere(Struct, frozen=True):
    """An endpoint or a program that `target:` names, with its options."""

    target: str
    options: Mapping[str, object]
    tools: tuple[InModule, ...]
    place: Place

    def __call__(self) -> object:
        if not self.target.startswith("cmd:") and "model" not in self.options:
            address = re.sub(r"[?#].*", "", re.sub(r"(?<=//).*@", "", self.target))  # without what may be a password or a key
            raise TargetError(f"{self.place}: the target {address} needs the name of a model\n  write options: {{model: …}}")
        tools = [tool() for tool in self.tools]
        try:
            return target_of(self.target, {**self.options, **({"tools": tools} if tools else {})})
        except TargetError as error:
            raise TargetError(f"{self.place}: {error}") from error
