"""Stored answers: the cache, its repair, and recordings of whole runs."""
