"""What is installed here, as its metadata say: dependencies, extras, frameworks. Nothing of it is imported."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution, version

from msgspec import Struct

__all__ = ("ADAPTERS", "Dependency", "Extra", "Framework", "dependencies", "extras", "fits", "frameworks")

#: The frameworks and clients that an adapter reads, with the version from which on it is tested with them.
ADAPTERS = {
    "agent-framework-core": ("agent_framework", "1.23.0"),
    "agno": ("agno", "3.1.10"),
    "anthropic": ("anthropic", "2.14"),
    "autogen-agentchat": ("autogen", "0.7.5"),
    "claude-agent-sdk": ("claude_agent_sdk", "0.2.189"),
    "crewai": ("crewai", "1.15"),
    "dspy": ("dspy", "3.4"),
    "google-adk": ("google_adk", "2.13"),
    "google-genai": ("gemini", "2.34"),
    "haystack-ai": ("haystack", "3.4.1"),
    "langchain": ("langchain", "1.5.2"),
    "langgraph": ("langchain", "1.2.24"),
    "litellm": ("openai_chat", "1.110"),
    "llama-index-core": ("llama_index", "0.14.25"),
    "mcp": ("mcp", "2.3"),
    "openai": ("openai_chat", "3.57"),
    "openai-agents": ("openai_agents", "0.24.0"),
    "pydantic-ai-slim": ("pydantic_ai", "1.107.10"),
    "smolagents": ("smolagents", "1.26"),
    "strands-agents": ("strands", "1.62"),
}
#: Frameworks that no adapter reads.
_OTHERS = (
    "ag2",
    "atomic-agents",
    "camel-ai",
    "griptape",
    "instructor",
    "langroid",
    "letta",
    "marvin",
    "mirascope",
    "semantic-kernel",
)

_REQUIREMENT = re.compile(r"([A-Za-z0-9][\w.-]*)\s*(?:\[([^\]]*)\])?\s*\(?([^;)]*)\)?\s*(?:;(.*))?")
_EXTRA = re.compile(r"""\bextra\s*==\s*['"]([^'"]+)['"]""")
_BOUND = re.compile(r"(>=|<)\s*([\d.]+)")


class Dependency(Struct, frozen=True):
    """A distribution that quickchecks needs.

    Args:
        name: Its name.
        version: Its version; None where it is not installed.
        needs: Which versions are needed, such as `>=8.1.8`; empty where any will do.
        fits: Whether what is installed is one of them.
    """

    name: str
    version: str | None
    needs: str
    fits: bool


class Extra(Struct, frozen=True):
    """An optional part of quickchecks.

    Args:
        name: Its name.
        missing: The distributions of it that are not installed, or too old.
        install: The command that installs it.
    """

    name: str
    missing: tuple[str, ...]
    install: str


class Framework(Struct, frozen=True):
    """A framework, or the client of a model, that is installed.

    Args:
        name: The name of its distribution.
        version: Its version.
        adapter: The format that reads what it gives; None where there is none.
        tested_from: The version from which on the adapter is tested with it.
        tested: Whether this version is one of those.
    """

    name: str
    version: str
    adapter: str | None = None
    tested_from: str | None = None
    tested: bool = False


def dependencies(own: Distribution) -> tuple[Dependency, ...]:
    """What a distribution needs always."""
    return tuple(_dependency(name, needs) for name, _, needs, extra in _requirements(own) if extra is None)


def extras(own: Distribution) -> tuple[Extra, ...]:
    """The optional parts of a distribution, in the order in which it names them."""
    requirements = list(_requirements(own))
    names = own.metadata.get_all("Provides-Extra") or []
    return tuple(_extra(name, requirements, _name(own)) for name in names)


def frameworks() -> tuple[Framework, ...]:
    """The frameworks that are installed."""
    found: list[Framework] = []
    for name in sorted((*ADAPTERS, *_OTHERS)):
        installed = _version(name)
        if installed is not None:
            adapter, tested_from = ADAPTERS.get(name, (None, None))
            tested = tested_from is not None and fits(installed, f">={tested_from}")
            found.append(Framework(name, installed, adapter, tested_from, tested))
    return tuple(found)


def fits(installed: str, needs: str) -> bool:
    """Whether a version is within the bounds of a requirement.

    Args:
        installed: The version.
        needs: The bounds, such as `>=8.1,<9`; what else stands there decides nothing.

    Example:
        >>> fits("8.10.1", ">=8.9"), fits("8.2", ">=8.1.8,<8.2")
        (True, False)
    """
    here = _numbers(installed)
    return all((sign == ">=") == (here >= _numbers(bound)) for sign, bound in _BOUND.findall(needs))


def _numbers(text: str) -> tuple[int, ...]:
    """The numbers of a release, without zeros at their end: 8.1 and 8.1.0 are the same."""
    release = re.match(r"(?:\d+!)?(\d+(?:\.\d+)*)", text)
    numbers = [int(number) for number in release[1].split(".")] if release else []
    while numbers and not numbers[-1]:
        numbers.pop()
    return tuple(numbers)


def _requirements(own: Distribution) -> Iterator[tuple[str, str, str, str | None]]:
    """Name, its extras, the versions that will do, and the extra that it belongs to, of each requirement."""
    for text in own.requires or []:
        found = _REQUIREMENT.fullmatch(text.strip())
        if found is not None:
            extra = _EXTRA.search(found[4] or "")
            yield found[1], found[2] or "", found[3].strip(), extra[1] if extra else None


def _dependency(name: str, needs: str) -> Dependency:
    installed = _version(name)
    return Dependency(name, installed, needs, installed is not None and fits(installed, needs))


def _extra(name: str, requirements: list[tuple[str, str, str, str | None]], own: str) -> Extra:
    missing: dict[str, None] = {}
    asked: set[str] = set()
    waiting = [name]
    while waiting:
        asked.add(one := waiting.pop())
        for wanted, inside, needs, extra in requirements:
            if extra != one:
                continue
            if wanted.lower() == own.lower():  # an extra may hold others
                waiting.extend({part.strip() for part in inside.split(",")} - asked - {""})
            elif not _dependency(wanted, needs).fits:
                missing[wanted] = None
    return Extra(name, tuple(missing), f'pip install "{own}[{name}]"')


def _name(own: Distribution) -> str:
    return str(own.metadata["Name"])


def _version(name: str) -> str | None:
    try:
        distribution(name)
        return version(name)
    except (PackageNotFoundError, KeyError):  # or metadata without a version, of something that was taken away
        return None
