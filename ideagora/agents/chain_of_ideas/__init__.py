"""Roles of Chain-of-Ideas: trend, direction, idea."""
