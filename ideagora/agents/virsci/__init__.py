"""Roles of the agent ``virsci`` (Su et al., arXiv 2410.09403)."""
