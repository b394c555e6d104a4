"""Run a graph in a folder: record, checkpoints, events, continuation after a stop."""
