"""Roles of the agent ``gpt-researcher``."""
