"""The RAG baseline: retrieved papers in one prompt."""
