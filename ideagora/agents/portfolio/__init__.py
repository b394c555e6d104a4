"""Roles of the agent ``portfolio``: ideas made from other ideas, and the overview of all."""
