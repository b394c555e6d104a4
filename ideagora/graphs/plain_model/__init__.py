"""A language model as it is: one call per idea, from a keyword alone."""
