"""Portfolio: several agents draft, their ideas are merged and varied, and the most different ones remain."""
