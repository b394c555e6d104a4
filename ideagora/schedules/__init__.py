"""Schedules: pure functions from the verdicts so far to the next pairings, for agents and for the arena."""
