"""Find and load the Python objects that are external agents."""
