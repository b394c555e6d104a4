"""Readers of local files, one module per format."""
