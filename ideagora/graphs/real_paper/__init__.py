"""The human baseline: a published paper as an idea."""
