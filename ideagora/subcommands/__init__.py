"""Declares the command line: names, options and help. ``commands`` does the work."""
