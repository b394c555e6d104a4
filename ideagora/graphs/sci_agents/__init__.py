"""SciAgents (Ghafarollahi and Buehler, arXiv 2409.05556): an idea from a path through a graph of concepts."""
