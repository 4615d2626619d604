"""Readers of recorded runs: one module for each format, and the functions that find the right one.

A module here whose name does not begin with an underscore is a format; its name is that of the file. It offers

    recognises(value) -> bool
        Whether the value has the shape of this format. It looks at keys and types only, imports nothing of a vendor, and
        is true for no value of another format.
    load(value) -> Run
        The one run that the value holds. What is malformed raises a RecordingError whose path says where inside the value;
        what the source cannot show goes to the gaps of the run.
    split(value) -> list of (path, value), or None                                          (optional)
        Divides a value that holds several runs: one value for each, given to `load`, and where it stood. None when the
        value holds one. An array of values that `recognises` knows needs no `split`.

    OBJECTS_ONLY = True                                                                     (optional)
        It reads objects of a library alone, and never JSON, so that it need not be asked about a record of a file.

What a framework's agents need is described in `_agents`. The first sentence of its docstring describes it. Other
distributions add formats by the entry point group `quickchecks.adapters`, whose entries name such a module.
"""

from __future__ import annotations

from quickchecks.adapters._agents import AgentKind, BrokenOff, Dialogue
from quickchecks.adapters._files import stored_values
from quickchecks.adapters._load import as_run, load_run, load_runs, read
from quickchecks.adapters._mapping import MAP_KEYS
from quickchecks.adapters._registry import Format, agent_kind, draining, formats, recognise

__all__ = (
    "MAP_KEYS",
    "AgentKind",
    "BrokenOff",
    "Dialogue",
    "Format",
    "agent_kind",
    "as_run",
    "draining",
    "formats",
    "load_run",
    "load_runs",
    "read",
    "recognise",
    "stored_values",
)
