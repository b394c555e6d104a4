"""Benchmarks: ``python -m bench [name …]``. Each prints a table and, last, one JSON line."""
