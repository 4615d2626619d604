"""The options of an eval file in YAML: what each takes, within which range."""

from __future__ import annotations

import re
from collections.abc import Mapping

from quickchecks._evalfile._variables import typed
from quickchecks._evaluation import Options
from quickchecks._scorer.yaml_nodes import YamlMapping, YamlNode, YamlScalar
from quickchecks._scorer.yaml_values import TRUTHS, number, said
from quickchecks.errors import SettingsError

__all__ = ("MOST", "OPTIONS", "option")

#: The options that a file may give, with what they take.
OPTIONS: Mapping[str, str] = {
    "concurrency": "a whole number",
    "timeout": "a number of seconds above 0, or null",
    "retries": "a whole number",
    "retry_timeouts": "yes or no",
    "repetitions": "a whole number",
    "max_errors": "a whole number",
    "name": "a text",
    "record": "the name of a file",
    "target_options": "a mapping",
    "model": "a text",
    "tools": "a list of functions, each as module:function",
}
#: The least that a whole number may be, and the most: nobody waits for more.
_LEAST = {"concurrency": 1, "retries": 0, "repetitions": 1, "max_errors": 0}
MOST = 999_999_999


def option(name: str, node: YamlNode) -> object:
    """What an option says; not `tools`, which is a list of functions.

    Args:
        name: The option.
        node: What stands under it.

    Raises:
        CheckSyntaxError: It takes no such value.
    """
    kind = OPTIONS[name]
    if kind == "a mapping" and isinstance(node, YamlMapping):
        return typed(node)
    if isinstance(node, YamlScalar):
        written = node.text.strip()
        if kind == "yes or no" and written.lower() in TRUTHS:
            return TRUTHS[written.lower()]
        if name in _LEAST and re.fullmatch(r"0*[0-9]{1,9}", written) and int(written) >= _LEAST[name]:
            return int(written)
        if name == "timeout" and node.plain and written.lower() in ("none", "null", "~"):
            return None
        if name == "timeout" and (seconds := number(written)) is not None and seconds > 0:
            try:
                return Options.of({name: seconds}).timeout
            except SettingsError as error:
                raise node.place.error(str(error)) from None
        if kind in ("a text", "the name of a file") and written:
            return node.text
    if name in _LEAST:
        kind = f"{kind} from {_LEAST[name]} to {MOST}"
    raise node.place.error(f"{name} is {kind}, not {said(node)}")
