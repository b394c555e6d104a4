"""Sentences of reports on leads, novelty checks, provenance and similarity."""
