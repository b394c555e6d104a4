"""Stored answers: the cache, its repair after damage, and recordings of whole runs."""
