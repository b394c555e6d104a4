"""The agents that draft for a portfolio, each at a small setting."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ideagora.graphs.agent import Agent, with_ideas

SMALL: dict[str, dict[str, Any]] = {
    "ai-researcher": {"actions": 2, "papers": 12, "seeds": 6, "proposals": 3, "rounds": 1},
    "ai-scientist": {"drafts": 2, "reflections": 0, "searches": 1},
    "chain-of-ideas": {"branches": 2, "length": 3, "refinements": 0, "rewrites": 0},
    "gpt-researcher": {"questions": 2, "papers": 4},
    "research-agent": {"rounds": 0, "papers": 6, "entities": 5},
    "sci-agents": {"papers": 8, "expansions": 0},
    "scipip": {"papers": 6, "clusters": 4, "sketches": 3},
    "virsci": {"papers": 10, "team": 2, "turns": 1, "rounds": 1, "revisions": 0},
}
"""Options by agent; all others draft at their defaults."""
OF_DRAFTERS = 3
"""Searches of a web service by novelty checks that the first drafters have, one each; the others are for the
ideas that nobody has checked."""


def small_agent(name: str, ideas: int, allow_thin: bool = False) -> Agent:
    """A built-in agent that writes this number of ideas at a small setting.

    Args:
        name: its name.
        ideas: the number of ideas.
        allow_thin: whether it continues with papers off the topic, if it has the choice.

    Raises:
        UsageError: there is no such agent.
    """
    from ideagora.registry import find_agent

    agent = find_agent(name)
    defaults = agent.options.model_dump()
    wish = {"allow_thin": allow_thin} if "allow_thin" in defaults else {}
    options = type(agent.options)(**{**defaults, **SMALL.get(name, {}), **wish})
    return with_ideas(replace(agent, options=options), ideas)
