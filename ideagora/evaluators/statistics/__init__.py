"""Statistics of verdicts: pure functions on columns, without graphs, models or files."""
