"""The baseline without literature: a model and a topic."""
