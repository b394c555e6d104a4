"""Roles of the agent ``ai-scientist``."""
