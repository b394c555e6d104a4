"""Benchmarks: data set, task for the agents, judge roles and scorers, as their papers prescribe."""
