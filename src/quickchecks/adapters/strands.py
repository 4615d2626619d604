"""Strands Agents: results of agents, graphs and swarms, and the messages of an agent (Bedrock's Converse)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from quickchecks._mocks import ToolMocks
from quickchecks.adapters._agents import Dialogue
from quickchecks.adapters._strands_results import load, recognises

__all__ = ("AGENTS", "MOCKS_TOOLS", "STATEFUL", "converse", "load", "recognises")

AGENTS = ("strands.agent:AgentBase", "strands.agent:Agent", "strands.multiagent:MultiAgentBase")
STATEFUL = True
MOCKS_TOOLS = True


def converse(agent: Any, options: Mapping[str, Any], mocks: ToolMocks | None) -> Dialogue:
    """Begin a conversation with an agent, a graph or a swarm; see `_agents`."""
    from quickchecks.adapters._strands_dialogue import StrandsDialogue

    return StrandsDialogue(agent, options, mocks)
