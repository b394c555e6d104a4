"""Roles of the agent ``research-agent``."""
