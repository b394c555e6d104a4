"""IdeaBench (arXiv 2411.02429): ideas from a paper's references, ranked with the paper's own idea."""
