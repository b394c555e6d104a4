"""Roles of the agent ``ai-researcher`` (Si et al., arXiv 2409.04109)."""
