"""Which target an evaluation of a test asks, and how: names that are the same in the next process."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from hashlib import sha256
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType

from msgspec import Struct

from quickchecks import _render, _wire
from quickchecks._evaluation import Options
from quickchecks._targets import is_address

__all__ = ("Identity", "identity_of")

#: The options of an endpoint that say how it is reached, and not what it answers. They may be secret.
_OF_THE_WAY = ("api_key", "api_key_env", "headers", "request_timeout")
_LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
#: How deep wrappers and options are looked into.
_DEEPEST = 6


class Identity(Struct, frozen=True):
    """What the answers of an evaluation depend on, beside the items.

    Args:
        target: The name of the target.
        name: The name of the evaluation.
        options: A hash of each option that changes what is answered, by its name: the values may be secret. Of an endpoint,
            the name of the model itself.
    """

    target: str
    name: str = ""
    options: Mapping[str, str] = {}

    def other(self, now: Identity) -> str:
        """What is not the same any more, as the end of a sentence; empty where everything is.

        Args:
            now: What is asked now.
        """
        if self.target != now.target:
            return f"of the target {_shown(self.target)}, and {_shown(now.target)} is the target now"
        if self.name != now.name:
            return f"in the evaluation named {_shown(self.name)}, and its name is {_shown(now.name)} now"
        names = sorted({*self.options, *now.options})
        changed = [name for name in names if self.options.get(name) != now.options.get(name)]
        if "model" in changed and "://" in self.target:
            told = [_shown(one.options.get("model", "")) for one in (self, now)]
            return f"of the model {told[0]}, and {told[1]} is the model now"
        return f"with other options of the target: {_render.listed(changed)} changed since" if changed else ""


def identity_of(target: object, options: Options) -> Identity:
    """Name what an evaluation asks.

    Args:
        target: What is asked, as `run_evals` takes it.
        options: How.
    """
    given: dict[str, object] = {} if not isinstance(options.target_options, Mapping) else dict(options.target_options)
    for name, value in (("model", options.model), ("tools", options.tools)):
        if value is not None:
            given[name] = value
    left_out = _OF_THE_WAY if is_address(target) else ()
    hashes = {str(name): _hashed(_plain(value)) for name, value in given.items() if name not in left_out}
    if is_address(target) and isinstance(given.get("model"), str):
        hashes["model"] = str(given["model"])  # it is told, and no secret
    return Identity(_named(target), options.name, hashes)


def _shown(name: str) -> str:
    return _render.quoted(name, 120)


def _hashed(value: object) -> str:
    return sha256(_wire.dumps(value)).hexdigest()[:8]


def _named(value: object, depth: int = 0) -> str:
    """The name of a target, or of what one is made of."""
    if is_address(value):
        return _address(value)
    if isinstance(value, str):
        return value
    if isinstance(value, MethodType):
        return f"{_named(value.__self__, depth + 1)}.{value.__name__}"
    if isinstance(value, partial):
        given = [value.args, sorted(value.keywords.items())]
        return f"{_named(value.func, depth + 1)}#{_hashed(_plain(given, depth + 1))}"
    if isinstance(value, FunctionType):
        name = f"{value.__module__}:{value.__qualname__}"
        if "<" not in value.__qualname__ or depth > _DEEPEST:
            return name
        parts = list(_parts(value, depth))
        return f"{name}#{_hashed(parts)}" if parts else name
    if isinstance(value, (type, BuiltinFunctionType)):
        return f"{value.__module__}:{value.__qualname__}"
    name = f"{type(value).__module__}:{type(value).__qualname__}"
    own = getattr(value, "__dict__", None)
    called = own.get("name", own.get("_name")) if isinstance(own, dict) else None
    return f"{name}({called!r})" if isinstance(called, str) else name


def _parts(function: FunctionType, depth: int) -> Iterator[str]:
    """What tells functions of the same name apart, as those that are made in a function: the names and texts in them.

    Numbers and lists are left out: those that a function closes over mostly count what it was asked.
    """
    if function.__name__ == "<lambda>":
        yield from sorted(set(_words(function.__code__)))
    cells = [_content(cell) for cell in function.__closure__ or ()]
    for held in (*cells, *(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
        if held is not function:
            yield _named(held, depth + 1)


def _words(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for one in code.co_consts:
        if isinstance(one, str):
            yield one
        elif isinstance(one, CodeType):
            yield from _words(one)


def _content(cell: object) -> object:
    try:
        return cell.cell_contents  # type: ignore[attr-defined]
    except ValueError:  # it has none yet
        return None


def _address(value: str) -> str:
    """An address without what may be secret, and without a port that the next process does not get again."""
    scheme, _, rest = value.partition("://")
    place, slash, path = re.split(r"[?#]", rest, maxsplit=1)[0].partition("/")
    place = place.rpartition("@")[2]
    host = re.sub(r":\d*$", "", place)
    return f"{scheme}://{host if host in _LOOPBACK else place}{slash}{path}"


def _plain(value: object, depth: int = 0) -> object:
    """A value as what is the same in the next process, to be hashed."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return [type(value).__name__, repr(value)]
    if depth > _DEEPEST:
        return type(value).__qualname__
    if isinstance(value, Mapping):
        return sorted(([str(key), _plain(held, depth + 1)] for key, held in value.items()), key=lambda pair: str(pair[0]))
    if isinstance(value, (list, tuple)):
        return [_plain(held, depth + 1) for held in value]
    if isinstance(value, (set, frozenset)):
        return sorted((_plain(held, depth + 1) for held in value), key=str)
    return _named(value, depth + 1)
