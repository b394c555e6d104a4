"""Runs any benchmark: samples, ideas, questions, and judging again."""
