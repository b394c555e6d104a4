"""Sentence embeddings: the model, its weights, and a cache of vectors."""
