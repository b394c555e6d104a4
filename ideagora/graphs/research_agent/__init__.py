"""ResearchAgent: from a core paper, its references and related entities to an idea."""
