"""The judging runtime that all evaluators share: one graph, one log of verdicts."""
