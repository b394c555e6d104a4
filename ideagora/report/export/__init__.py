"""Exports of a benchmark's folder to the formats of other tools."""
