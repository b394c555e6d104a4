"""Roles of the agent ``sci-agents`` (Ghafarollahi and Buehler, arXiv 2409.05556)."""
