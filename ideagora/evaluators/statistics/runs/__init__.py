"""Several runs of an agent on the same topics: how much they vary, and the best of them."""
