"""Roles of the agent ``scipip`` (Wang et al., arXiv 2410.23166)."""
