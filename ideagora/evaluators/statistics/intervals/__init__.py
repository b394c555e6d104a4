"""Intervals of ratings and ranks over topics."""
