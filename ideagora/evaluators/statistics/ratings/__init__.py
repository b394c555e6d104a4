"""Ratings from verdicts: strengths, intervals, corrections for judges' biases."""
