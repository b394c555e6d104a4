"""Which pairs are judged next: pure functions from what was seen to pairings."""
