"""From verdicts to scores, intervals, tests and records."""
