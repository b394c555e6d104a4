"""Options of Chain-of-Ideas, with the paper's defaults (section 4.1)."""

from __future__ import annotations

from pydantic import Field

from ideagora.graphs.agent import AgentOptions

MILESTONE_CITATIONS = 1000
"""A paper with more citations than this ends the chain backward (section 3.2)."""


class ChainOptions(AgentOptions):
    """Options of the agent; the three switches are the paper's ablations (section 5)."""

    branches: int = Field(default=3, ge=1, le=20)
    """Number of chains; each yields one idea."""
    length: int = Field(default=5, ge=1, le=20)
    """Maximum number of papers in a chain."""
    refinements: int = Field(default=1, ge=0, le=5)
    """Rounds of experiment review and refinement."""
    experiments: int = Field(default=1, ge=1, le=20)
    """Number of ideas, best first, that get an experiment; in the paper, only the best one does."""
    rewrites: int = Field(default=2, ge=0, le=5)
    """Maximum number of rewrites of an idea that is too close to a paper."""
    reword: bool = True
    """Reword a query that finds little, once (beyond the paper)."""
    apart: bool = True
    """Use no paper in two branches (beyond the paper)."""
    cures: bool = True
    """Search for mechanisms that could resolve what a chain leaves open (beyond the paper)."""
    memory: bool = True
    """Let the forecaster use a mechanism from the model's memory (beyond the paper)."""
    candidates: int = Field(default=3, ge=0, le=6)
    """Candidate ideas to compare first; the obvious one is not chosen (beyond the paper; 0: none)."""
    twins: bool = True
    """Draft an idea again if it duplicates that of an earlier branch (beyond the paper)."""
    allow_thin: bool = False
    """Continue if the relevance judge finds nothing on the topic."""
    chain: bool = True
    """Build chains; if not, the retrieved papers are used without them (ablation)."""
    trend: bool = True
    """Analyse the trend and predict a direction (ablation)."""
    entities: bool = True
    """Show the key terms of the papers (ablation)."""
