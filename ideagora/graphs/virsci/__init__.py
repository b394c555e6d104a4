"""VirSci (Su et al., arXiv 2410.09403): a team of virtual scientists proposes ideas and votes on them."""
