"""A model and a topic: the baseline without literature."""
