"""Drawings as SVG: chains of ideas and graphs of agents."""
