"""SciPIP (Wang et al., arXiv 2410.23166): retrieval in three ways, and two paths to ideas that are merged."""
