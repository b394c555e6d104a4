"""LiveIdeaBench: ideas from a single keyword, judged by a panel (arXiv 2412.17596)."""
